//! IT blocks (ARMv7-M A7.3.2, A7.7.38).

use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::op::{InstructionTimingClass, Op, PackedOp, flag};

/// The op of an instruction whose condition fails.
pub(in crate::v7m) const SKIPPED: PackedOp = PackedOp::NONE;

/// Returns ITSTATE after one instruction of an IT block.
pub(in crate::v7m) fn next_it_state(it: u8) -> u8 {
    if it & 7 == 0 { 0 } else { it & 0xe0 | it << 1 & 0x1f }
}

/// Returns what an instruction inside an IT block executes as: itself, its variant without flags, [`SKIPPED`], or
/// undefined where it may not be.
#[inline(never)]
pub(in crate::v7m) fn op_as_executed_in_it_block(core: &Core, packed: PackedOp) -> PackedOp {
    let op = packed.op();
    let last = core.it & 7 == 0;
    let permitted = match op.class {
        InstructionTimingClass::It
        | InstructionTimingClass::BranchConditional
        | InstructionTimingClass::CompareBranch => false,
        InstructionTimingClass::Branch
        | InstructionTimingClass::BranchRegister
        | InstructionTimingClass::TableBranch
        | InstructionTimingClass::LoadPc
        | InstructionTimingClass::LoadMultiplePc => last,
        _ => op.code != Code::Cps && (op.code != Code::MovRegS || op.has_flag(flag::WIDE)),
    };
    if !permitted {
        return Op::without_operands(Code::Undefined, InstructionTimingClass::None).into();
    }
    // BKPT executes always.
    if op.code != Code::Bkpt && !core.is_condition_met(core.it >> 4) {
        return SKIPPED;
    }
    op_variant_without_flag_setting(op).into()
}

/// Returns an instruction's variant without flags, as it executes inside an IT block.
pub(in crate::v7m) fn op_variant_without_flag_setting(mut op: Op) -> Op {
    if op.has_flag(flag::SETS_OUTSIDE_IT) {
        op.code = op.code.code_without_flag_setting();
        op.flags &= !flag::SETS;
    }
    op
}
