//! The inputs of access and branch timing besides the path, on a core that determines them during speculative
//! execution: see [`TimingPredictorLayout`].
//!
//! r12 is its pipeline, r14 the log, r15 how many stores there were. r13 is for intermediate values, the context is on
//! the stack.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use std::mem::offset_of;

use super::super::{CachedConstantMemory, ConstantMemoryAddresses, TimingPredictorLayout};
use super::access_forms::Block;
use super::{HostCpuFlagsSource, NativeCodeEmitter};
use crate::v7m::op::Op;

/// log2 of the bytes of a doubleword.
const DOUBLEWORD: u32 = 3;
/// No target: the branch was not taken.
const NOT_TAKEN: u32 = 1;

/// The stack's layout. Its frame's size.
pub(super) const CONTEXT: i32 = 0;
pub(super) const MARKS: i32 = 8;
pub(super) const FOUND: i32 = 16;
pub(super) const FRAME: i32 = 24;

/// A load whose unlikely cases are emitted after the path: its labels and what the log has room for.
pub(super) struct Load {
    /// Its doubleword was stored to.
    hit: DynamicLabel,
    /// It was not, or that was too long ago.
    miss: DynamicLabel,
    done: DynamicLabel,
    exit: DynamicLabel,
    limit: Option<u32>,
    likely: bool,
}

/// The room in the timing log at the load that is emitted next, and whether the load will use it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limit {
    /// Bits that the log may have before it if it is to log how many stores ago something was. `None`: it has no more.
    pub bits: Option<u32>,
    /// It will log that.
    pub likely: bool,
}

/// A branch whose code asks the branch predictor by a call.
pub(super) struct BranchPredictorCall {
    label: DynamicLabel,
    done: DynamicLabel,
    from: u32,
    /// `None`: it is in r13.
    target: Option<u32>,
    /// The verdict on a conditional one.
    verdict: Option<bool>,
}

impl NativeCodeEmitter {
    /// Emits code that computes, into eax, the number of the doubleword that contains an item. The item's number is ecx
    /// plus `further`. Its bank goes to the carry, and is logged for the first item. Its place in the table of recent
    /// stores goes to r13.
    fn emit_doubleword_number_calculation(
        &mut self,
        TimingPredictorLayout { recent, origin, .. }: TimingPredictorLayout,
        block: Block,
        bytes: u32,
        further: u32,
    ) {
        let start = self.ram.wrapping_add(block.first).wrapping_sub(origin);
        debug_assert!(start.trailing_zeros() >= DOUBLEWORD && recent.is_power_of_two());
        let asm = &mut self.asm;
        match further {
            0 => dynasm!(asm ; .arch x64 ; mov eax, ecx),
            _ => dynasm!(asm ; .arch x64 ; lea eax, [rcx + further as i32]),
        }
        // Out goes last the bit that says which word of its doubleword it is.
        dynasm!(asm ; .arch x64 ; shr eax, (DOUBLEWORD - bytes.ilog2()) as i8);
        if further == 0 {
            dynasm!(asm ; .arch x64 ; adc r14, r14);
        }
        if start != 0 {
            dynasm!(asm ; .arch x64 ; add eax, (start >> DOUBLEWORD) as i32);
        }
        dynasm!(asm
            ; .arch x64
            ; mov r13d, eax
            ; and r13d, (recent - 1) as i32
        );
    }

    /// Emits code that logs how many stores ago the doubleword of a load was stored to. It leaves the path if the log
    /// has no room for that.
    pub(super) fn emit_log_of_stores_before_load(&mut self, block: Block, bytes: u32, exit: DynamicLabel) {
        let Some((at, _)) = self.foresight else { return };
        let [hit, miss, done] = std::array::from_fn(|_| self.asm.new_dynamic_label());
        self.emit_doubleword_number_calculation(at, block, bytes, 0);
        dynasm!(self.asm ; .arch x64 ; cmp [r12 + r13 * 4 + at.numbers], eax);
        let load = Load { hit, miss, done, exit, limit: self.limit.bits, likely: self.limit.likely };
        if load.likely {
            dynasm!(self.asm ; .arch x64 ; jne =>miss);
            self.emit_log_of_buffered_doubleword(at, &load);
        } else {
            dynasm!(self.asm ; .arch x64 ; je =>hit ; =>miss ; add r14, r14);
        }
        dynasm!(self.asm ; .arch x64 ; =>done);
        self.loads.push(load);
    }

    /// Emits code that logs how many stores ago the loaded doubleword was stored to, from the table entry at r13.
    fn emit_log_of_buffered_doubleword(&mut self, at: TimingPredictorLayout, &Load { miss, limit, exit, .. }: &Load) {
        dynasm!(self.asm
            ; .arch x64
            ; mov rax, r15
            ; sub rax, [r12 + r13 * 8 + at.counts]
            ; cmp rax, [r12 + at.reach]
            ; jae =>miss
        );
        if let Some(limit) = limit {
            let full = self.asm.new_dynamic_label();
            // The bank is logged already.
            dynasm!(self.asm ; .arch x64 ; mov r13, r14 ; shr r13, (limit + 1) as i8 ; jnz =>full);
            self.unlikely.push((full, exit));
        }
        dynasm!(self.asm
            ; .arch x64
            ; lea r14, [r14 * 2 + 1]
            ; shl r14, at.ago_bits as i8
            ; or r14, rax
        );
    }

    /// Emits a check that the cache contains the constant at the offset in ecx, and leaves the path otherwise. Loads
    /// its host address into r13.
    pub(super) fn emit_constant_in_cache_check(
        &mut self,
        CachedConstantMemory { base, bytes, line_bytes, sets }: CachedConstantMemory,
        size: u32,
        exit: DynamicLabel,
    ) {
        let Some((at, logging)) = self.foresight else { return };
        self.host_flags = HostCpuFlagsSource::None;
        let stored = self.asm.new_dynamic_label();
        if size > 1 {
            dynasm!(self.asm ; .arch x64 ; test cl, (size - 1) as i8 ; jnz =>exit);
        }
        debug_assert!(base.trailing_zeros() >= DOUBLEWORD && line_bytes.is_power_of_two() && sets.is_power_of_two());
        dynasm!(self.asm
            ; .arch x64
            ; cmp ecx, (bytes - size) as i32
            ; ja =>exit
            ; mov eax, ecx
            ; shr eax, line_bytes.ilog2() as i8
            ; add eax, (base / line_bytes) as i32
            ; mov r13d, eax
            ; and r13d, (sets - 1) as i32
            ; shl r13d, 2
            ; add r13, [rsp + FOUND]
            ; cmp [r13], eax
            ; jne =>exit
            ; mov eax, ecx
            ; shr eax, DOUBLEWORD as i8
            ; adc r14, r14
            ; add eax, (base.wrapping_sub(at.origin) >> DOUBLEWORD) as i32
            ; mov r13d, eax
            ; and r13d, (at.recent - 1) as i32
            ; cmp [r12 + r13 * 4 + at.numbers], eax
            ; je =>stored
            ; add r14, r14
            ; mov r13, [rsp + CONTEXT]
            ; mov r13, [r13 + logging.constants + offset_of!(ConstantMemoryAddresses, bytes) as i32]
        );
        self.unlikely.push((stored, exit));
    }

    /// Emits code that enters `count` stores, from item number ecx on, into the table of recent stores.
    pub(super) fn emit_recent_store_table_update(&mut self, block: Block, bytes: u32, count: u32) {
        let Some((at, _)) = self.foresight else { return };
        for further in 0..count {
            self.emit_doubleword_number_calculation(at, block, bytes, further);
            dynasm!(self.asm
                ; .arch x64
                ; inc r15
                ; mov [r12 + r13 * 4 + at.numbers], eax
                ; mov [r12 + r13 * 8 + at.counts], r15
            );
        }
    }

    /// Emits code that logs whether a branch to a fixed distance at `ip` was predicted right. `verdict` says whether a
    /// conditional branch was taken, and is `None` for others.
    pub(super) fn emit_branch_prediction_log(&mut self, op: Op, ip: u64, verdict: Option<bool>) {
        let Some((at, _)) = self.foresight else { return };
        self.host_flags = HostCpuFlagsSource::None;
        let from = self.place.instruction_address_of_op(ip);
        let (entry, asked) = (at.predictor_entry_offset(from), self.asm.new_dynamic_label());
        let done = self.asm.new_dynamic_label();
        let target = if verdict == Some(false) {
            let fine = self.asm.new_dynamic_label();
            dynasm!(self.asm
                ; .arch x64
                ; cmp DWORD [r12 + entry + at.branch], (from | 1) as i32
                ; jne =>fine
                ; cmp BYTE [r12 + entry + at.counter], (at.taken - 1) as i8
                ; ja =>asked
                ; mov BYTE [r12 + entry + at.counter], 0
                ; =>fine
                ; lea r14, [r14 * 4 + 1]
            );
            NOT_TAKEN
        } else {
            let distance = i64::from(op.imm as i32) * i64::from(self.place.op_bytes);
            let target = self.place.instruction_address_of_op(ip.wrapping_add_signed(distance));
            dynasm!(self.asm
                ; .arch x64
                ; cmp DWORD [r12 + entry + at.branch], (from | 1) as i32
                ; jne =>asked
                ; cmp DWORD [r12 + entry + at.target], target as i32
                ; jne =>asked
                ; cmp BYTE [r12 + entry + at.counter], at.taken as i8
                ; jb =>asked
                ; mov BYTE [r12 + entry + at.counter], (at.taken + 1) as i8
            );
            match verdict {
                Some(_) => dynasm!(self.asm ; .arch x64 ; lea r14, [r14 * 4 + 3]),
                None => dynasm!(self.asm ; .arch x64 ; lea r14, [r14 * 2 + 1]),
            }
            target
        };
        dynasm!(self.asm ; .arch x64 ; =>done);
        self.asked.push(BranchPredictorCall { label: asked, done, from, target: Some(target), verdict });
    }

    /// Emits code that logs whether a branch by register at `ip` to the address in eax, whose lowest bit is set, was
    /// predicted right.
    pub(super) fn emit_register_branch_prediction_log(&mut self, ip: u64) {
        let Some((at, _)) = self.foresight else { return };
        let from = self.place.instruction_address_of_op(ip);
        let (entry, asked) = (at.predictor_entry_offset(from), self.asm.new_dynamic_label());
        let done = self.asm.new_dynamic_label();
        dynasm!(self.asm
            ; .arch x64
            ; lea r13d, [rax - 1]
            ; cmp DWORD [r12 + entry + at.branch], (from | 1) as i32
            ; jne =>asked
            ; cmp [r12 + entry + at.target], r13d
            ; jne =>asked
            ; cmp BYTE [r12 + entry + at.counter], at.taken as i8
            ; jb =>asked
            ; mov BYTE [r12 + entry + at.counter], (at.taken + 1) as i8
            ; lea r14, [r14 * 2 + 1]
            ; =>done
        );
        self.asked.push(BranchPredictorCall { label: asked, done, from, target: None, verdict: None });
    }

    /// Emits the rare cases of load and branch prediction, after the path's own code.
    pub(super) fn emit_out_of_line_prediction_code(&mut self) {
        let Some((at, log)) = self.foresight else { return };
        for load in std::mem::take(&mut self.loads) {
            let Load { hit, miss, done, likely, .. } = load;
            if likely {
                dynasm!(self.asm ; .arch x64 ; =>miss ; add r14, r14 ; jmp =>done);
            } else {
                dynasm!(self.asm ; .arch x64 ; =>hit);
                self.emit_log_of_buffered_doubleword(at, &load);
                dynasm!(self.asm ; .arch x64 ; jmp =>done);
            }
        }
        // No room, or constants that were stored to.
        for (label, exit) in std::mem::take(&mut self.unlikely) {
            dynasm!(self.asm ; .arch x64 ; =>label ; shr r14, 1 ; jmp =>exit);
        }
        for BranchPredictorCall { label, done, from, target, verdict } in std::mem::take(&mut self.asked) {
            dynasm!(self.asm ; .arch x64 ; =>label);
            if let Some(target) = target {
                dynasm!(self.asm ; .arch x64 ; mov r13d, target as i32);
            }
            dynasm!(self.asm
                ; .arch x64
                ; push rax ; push rcx ; push rdx ; push rsi ; push rdi ; push r8 ; push r9 ; push r10 ; push r11
                ; mov rdi, [rsp + 9 * 8 + CONTEXT]
                ; sub rsp, 8
                ; mov esi, from as i32
                ; mov edx, r13d
                ; mov rax, QWORD log.judge as i64
                ; call rax
                ; mov r13d, eax
                ; add rsp, 8
                ; pop r11 ; pop r10 ; pop r9 ; pop r8 ; pop rdi ; pop rsi ; pop rdx ; pop rcx ; pop rax
            );
            if let Some(taken) = verdict {
                dynasm!(self.asm ; .arch x64 ; lea r14, [r14 * 2 + i32::from(taken)]);
            }
            dynasm!(self.asm ; .arch x64 ; lea r14, [r13 + r14 * 2] ; jmp =>done);
        }
    }
}
