//! The transit from one trace to the next: its time, from the record at its end.

use std::mem::offset_of;

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::super::super::table::Transition;
use super::super::super::{CacheableTiming, QuickBus, Repeating, Repeats, TRACE_CYCLES};
use super::super::{Context, DONE, Record, WAYS};
use crate::host::x64::{Ways, Writer};
use crate::v7m::core::Core;

/// Offsets in a context.
const STATE: i32 = offset_of!(Context<'_, (), ()>, state) as i32;
const EXECUTED: i32 = offset_of!(Context<'_, (), ()>, executed) as i32;
const COUNTS: i32 = offset_of!(Context<'_, (), ()>, counts) as i32;
const REPEATING: usize = offset_of!(Context<'_, (), ()>, repeating);
const VERSION: i32 = (REPEATING + offset_of!(Repeating, version)) as i32;
const CLOCK: i32 = (REPEATING + offset_of!(Repeating, clock)) as i32;
const GROUPS: i32 = (REPEATING + offset_of!(Repeating, groups)) as i32;
/// Offsets in a record.
const RECORD_STATE: i32 = offset_of!(Record, state) as i32;
const SERIAL: i32 = offset_of!(Record, serial) as i32;
const TRANSITION: i32 = offset_of!(Record, transition) as i32;
const LOG: i32 = offset_of!(Record, log) as i32;
const IP: i32 = offset_of!(Record, ip) as i32;
const NEXT: i32 = offset_of!(Record, next) as i32;
const RECORD_INSTRUCTIONS: i32 = offset_of!(Record, instructions) as i32;
const LEFT: i32 = offset_of!(Record, left) as i32;
/// Offsets in the core.
const CORE_IP: i32 = offset_of!(Core, ip) as i32;
const T: i32 = offset_of!(Core, t) as i32;
const LIMIT: i32 = offset_of!(Core, limit) as i32;
const INSTRUCTIONS: i32 = offset_of!(Core, instructions) as i32;
const BUS_WAIT: i32 = offset_of!(Core, bus_wait) as i32;
const FLASH_WAIT: i32 = offset_of!(Core, flash_wait) as i32;

/// Writes the ways from a path to the next.
pub(super) fn transit<P: CacheableTiming, B: QuickBus>(writer: &mut Writer, ways: Ways) {
    let Ways { executed, jumped, otherwise, leave } = ways;
    dynasm!(writer.asm
        ; .arch x64
        ; =>otherwise
        ; mov rcx, [rax + NEXT]
        ; test rcx, rcx
        ; jz >asks
        ; jmp rcx
        ; =>jumped
    );
    choose::<P>(writer);
    dynasm!(writer.asm
        ; .arch x64
        ; mov rdx, [rbx + CORE_IP]
        ; cmp [rax + IP], rdx
        ; jne >asks
        ; jmp >chosen
        ; =>executed
    );
    choose::<P>(writer);
    dynasm!(writer.asm ; .arch x64 ; chosen:);
    if P::FORESIGHT.is_some() {
        dynasm!(writer.asm ; .arch x64 ; cmp [rax + LOG], r14 ; jne >asks);
    }
    dynasm!(writer.asm
        ; .arch x64
        ; cmp [rax + RECORD_STATE], ecx
        ; jne >asks
        ; mov rcx, [rax + TRANSITION]
        ; mov edx, [rax + SERIAL]
        ; cmp [rcx + offset_of!(Transition<B::Lookups>, serial) as i32], edx
        ; jne >asks
    );
    repeat::<B>(writer);
    dynasm!(writer.asm
        ; .arch x64
        ; mov edx, [rcx + offset_of!(Transition<B::Lookups>, bus_wait) as i32]
        ; add [rbx + BUS_WAIT], rdx
        ; mov edx, [rcx + offset_of!(Transition<B::Lookups>, flash_wait) as i32]
        ; add [rbx + FLASH_WAIT], rdx
        ; mov rdx, [rax + RECORD_INSTRUCTIONS]
        ; add [rbx + INSTRUCTIONS], rdx
        ; mov edx, [rcx + offset_of!(Transition<B::Lookups>, next) as i32]
        ; mov [r13 + STATE], edx
        ; mov rdx, [r13 + COUNTS]
        ; add [rcx + offset_of!(Transition<B::Lookups>, taken) as i32], rdx
        ; inc QWORD [r13 + EXECUTED]
        ; mov edx, [rcx + offset_of!(Transition<B::Lookups>, cycles) as i32]
        ; add rdx, [rbx + T]
        ; mov [rbx + T], rdx
        ; add rdx, TRACE_CYCLES as i32
        ; cmp rdx, [rbx + LIMIT]
        ; ja >done
        ; mov rcx, [rax + NEXT]
        ; test rcx, rcx
        ; jz >done
    );
    writer.begin_log();
    dynasm!(writer.asm
        ; .arch x64
        ; jmp rcx
        ; done:
        ; mov rax, [rax + LEFT]
        ; bts rax, BYTE DONE.ilog2() as i8
        ; jmp =>leave
        ; asks:
        ; mov rax, [rax + LEFT]
        ; jmp =>leave
    );
}

/// Chooses, from the first record of an exit, that for the state, which is in ecx then, and the log.
fn choose<P: CacheableTiming>(writer: &mut Writer) {
    const _: () = assert!(WAYS.is_power_of_two());
    writer.context();
    dynasm!(writer.asm ; .arch x64 ; mov ecx, [r13 + STATE] ; mov edx, ecx);
    if P::FORESIGHT.is_some() {
        // All bits of the log. The last ones belong to the first accesses.
        dynasm!(writer.asm
            ; .arch x64
            ; mov rsi, r14
            ; shr rsi, 27
            ; xor rsi, r14
            ; add edx, esi
            ; imul edx, edx, 0x9e37_79b1_u32 as i32
            ; shr edx, (u32::BITS - WAYS.ilog2()) as i8
        );
    } else {
        dynasm!(writer.asm ; .arch x64 ; and edx, (WAYS - 1) as i32);
    }
    dynasm!(writer.asm ; .arch x64 ; shl edx, size_of::<Record>().ilog2() as i8 ; add rax, rdx);
}

/// Asks if the lookups of the transition at rcx cannot be repeated by [`Repeats`].
fn repeat<B: QuickBus>(writer: &mut Writer) {
    const fn lookups<B: QuickBus>(at: usize) -> i32 {
        (offset_of!(Transition<B::Lookups>, lookups) + at) as i32
    }
    let (Repeats::Held { version } | Repeats::Touched { version, .. }) = B::REPEATS else { return };
    dynasm!(writer.asm
        ; .arch x64
        ; mov rdx, [r13 + VERSION]
        ; cmp [rcx + lookups::<B>(version)], rdx
        ; jne >asks
    );
    let Repeats::Touched { group, group_bytes, used, ticks, .. } = B::REPEATS else { return };
    dynasm!(writer.asm
        ; .arch x64
        ; mov rsi, [r13 + CLOCK]
        ; mov rdi, [rsi]
        ; add rdi, ticks as i32
        ; mov [rsi], rdi
        ; mov edx, [rcx + lookups::<B>(group)]
        ; imul rdx, rdx, group_bytes as i32
        ; add rdx, [r13 + GROUPS]
        ; mov [rdx + used as i32], rdi
    );
}
