//! Special registers: PRIMASK and the stack pointers of a privileged core for which no interrupt is pending.

use std::mem::offset_of;

use crate::host::x64::NativeCodeEmitter;
use crate::v6m::core::Core;
use crate::v6m::nvic::Nvic;
use crate::v6m::op::{Code, Op};

/// Numbers of special registers (ARMv6-M B5.2.3).
const IPSR: u32 = 5;
const MSP: u32 = 8;
const PSP: u32 = 9;
const PRIMASK: u32 = 16;

const UNPRIVILEGED: i32 = offset_of!(Core, unprivileged) as i32;
const MASKED: i32 = offset_of!(Core, primask) as i32;
const SP_IS_PSP: i32 = offset_of!(Core, sp_is_psp) as i32;
const OTHER_SP: i32 = offset_of!(Core, other_sp) as i32;
const INTERRUPTS: [i32; 2] = [
    (offset_of!(Core, nvic) + offset_of!(Nvic, pending)) as i32,
    (offset_of!(Core, nvic) + offset_of!(Nvic, enabled)) as i32,
];

/// Emits a barrier, CPS, MRS or MSR. Returns false if it cannot be JIT-compiled. `before` is the number of the exit
/// before it.
pub(super) fn emit_special_instruction(writer: &mut NativeCodeEmitter, core: &Core, op: Op, before: u32) -> bool {
    if op.code == Code::Barrier {
        return true;
    }
    writer.emit_exit_unless_core_byte_is(before, UNPRIVILEGED, 0);
    if matches!(op.code, Code::Cpsie | Code::Msr) {
        // What may be taken then is looked at after the block.
        writer.emit_exit_if_core_doublewords_overlap(before, INTERRUPTS);
    }
    let is_stack = matches!(op.imm, MSP | PSP);
    if matches!(op.code, Code::Mrs | Code::Msr) && is_stack {
        writer.emit_exit_unless_core_byte_is(before, SP_IS_PSP, u8::from(core.sp_is_psp));
    }
    let is_active = is_stack && (op.imm == PSP) == core.sp_is_psp;
    match (op.code, op.imm) {
        (Code::Cpsid, _) => writer.emit_core_byte_store(MASKED, 1),
        (Code::Cpsie, _) => writer.emit_core_byte_store(MASKED, 0),
        (Code::Mrs, _) if op.a > 12 => return false,
        (Code::Mrs, PRIMASK) => writer.emit_core_struct_byte_load(op.a, MASKED),
        (Code::Mrs, IPSR) => writer.emit_core_struct_word_load(op.a, offset_of!(Core, ipsr) as i32),
        (Code::Mrs, _) if is_active => writer.emit_register_copy(op.a, 13),
        (Code::Mrs, _) if is_stack => writer.emit_core_struct_word_load(op.a, OTHER_SP),
        (Code::Msr, _) if op.b > 12 => return false,
        (Code::Msr, PRIMASK) => writer.emit_core_struct_bit_store(op.b, MASKED),
        (Code::Msr, _) if is_stack && !is_active => writer.store_aligned_word(op.b, OTHER_SP),
        _ => return false,
    }
    true
}
