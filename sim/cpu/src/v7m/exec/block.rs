//! IT blocks (ARMv7-M A7.3.2, A7.7.38).

use crate::v7m::code::number as code;
use crate::v7m::core::Core;
use crate::v7m::op::{Class, Op, flag};

/// What becomes of an instruction in an IT block.
pub(super) enum Verdict {
    /// Its condition fails.
    Skip,
    /// It executes, as this op.
    Execute(Op),
    /// It may not be in an IT block, or not there.
    Undefined,
}

/// ITSTATE behind the instruction.
pub(super) fn advanced(it: u8) -> u8 {
    if it & 7 == 0 { 0 } else { it & 0xe0 | it << 1 & 0x1f }
}

/// Judges the instruction that ITSTATE stands at.
#[inline(never)]
pub(super) fn judge(core: &Core, op: Op) -> Verdict {
    let last = core.it & 7 == 0;
    let permitted = match op.class {
        Class::It | Class::BranchConditional | Class::CompareBranch => false,
        Class::Branch | Class::BranchRegister | Class::TableBranch | Class::LoadPc | Class::LoadMultiplePc => last,
        _ => op.code != code::Cps && (op.code != code::MovRegS || op.has(flag::WIDE)),
    };
    if !permitted {
        return Verdict::Undefined;
    }
    // BKPT executes always.
    if op.code != code::Bkpt && !core.holds(core.it >> 4) {
        return Verdict::Skip;
    }
    let mut op = op;
    if op.has(flag::SETS_OUTSIDE_IT) {
        // The variant without flags is the next code; MULS, RSBS and the others are pairs like this.
        op.code += 1;
        op.flags &= !flag::SETS;
    }
    Verdict::Execute(op)
}
