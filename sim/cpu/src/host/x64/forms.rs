//! Which data processing instructions are translated, what they do, and which flags they set and read.

use super::flags;
use crate::v7m::code::Code;
use crate::v7m::op::{Op, flag};

/// The binary operation of a data-processing instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sbc,
    Sub,
    /// The second less the first.
    Rsb,
    /// The second.
    Mov,
    Mvn,
}

/// The kind of an instruction's second operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    Constant,
    Register,
    Shifted,
}

/// A data-processing instruction taken apart: its operation, second operand and flags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub work: Work,
    pub second: Second,
    pub sets: bool,
    /// Only flags.
    pub tests: bool,
}

/// Returns the form of a data-processing instruction. `None` if the op is another instruction.
pub(super) fn data_processing_properties(op: Op) -> Option<Form> {
    use Second::{Constant, Register, Shifted};
    use Work::{Adc, Add, And, Bic, Eor, Mov, Mvn, Orn, Orr, Rsb, Sbc, Sub};
    let known = |work, second, sets, tests| Some(Form { work, second, sets, tests });
    let shifted = |work, tests| known(work, Shifted, tests || op.has_flag(flag::SETS), tests);
    match op.code {
        Code::AndImmS => known(And, Constant, true, false),
        Code::AndImm => known(And, Constant, false, false),
        Code::BicImmS => known(Bic, Constant, true, false),
        Code::BicImm => known(Bic, Constant, false, false),
        Code::OrrImmS => known(Orr, Constant, true, false),
        Code::OrrImm => known(Orr, Constant, false, false),
        Code::OrnImmS => known(Orn, Constant, true, false),
        Code::OrnImm => known(Orn, Constant, false, false),
        Code::EorImmS => known(Eor, Constant, true, false),
        Code::EorImm => known(Eor, Constant, false, false),
        Code::AddImmS => known(Add, Constant, true, false),
        Code::AddImm => known(Add, Constant, false, false),
        Code::AdcImmS => known(Adc, Constant, true, false),
        Code::AdcImm => known(Adc, Constant, false, false),
        Code::SbcImmS => known(Sbc, Constant, true, false),
        Code::SbcImm => known(Sbc, Constant, false, false),
        Code::SubImmS => known(Sub, Constant, true, false),
        Code::SubImm => known(Sub, Constant, false, false),
        Code::RsbImmS => known(Rsb, Constant, true, false),
        Code::RsbImm => known(Rsb, Constant, false, false),
        Code::MovImmS => known(Mov, Constant, true, false),
        Code::MovImm => known(Mov, Constant, false, false),
        Code::MvnImmS => known(Mvn, Constant, true, false),
        Code::MvnImm => known(Mvn, Constant, false, false),
        Code::TstImm => known(And, Constant, true, true),
        Code::TeqImm => known(Eor, Constant, true, true),
        Code::CmpImm => known(Sub, Constant, true, true),
        Code::CmnImm => known(Add, Constant, true, true),
        Code::AndRegS => known(And, Register, true, false),
        Code::AndReg => known(And, Register, false, false),
        Code::BicRegS => known(Bic, Register, true, false),
        Code::BicReg => known(Bic, Register, false, false),
        Code::OrrRegS => known(Orr, Register, true, false),
        Code::OrrReg => known(Orr, Register, false, false),
        Code::EorRegS => known(Eor, Register, true, false),
        Code::EorReg => known(Eor, Register, false, false),
        Code::AddRegS => known(Add, Register, true, false),
        Code::AddReg => known(Add, Register, false, false),
        Code::AdcRegS => known(Adc, Register, true, false),
        Code::AdcReg => known(Adc, Register, false, false),
        Code::SbcRegS => known(Sbc, Register, true, false),
        Code::SbcReg => known(Sbc, Register, false, false),
        Code::SubRegS => known(Sub, Register, true, false),
        Code::SubReg => known(Sub, Register, false, false),
        Code::MovRegS => known(Mov, Register, true, false),
        Code::MovReg => known(Mov, Register, false, false),
        Code::MvnRegS => known(Mvn, Register, true, false),
        Code::MvnReg => known(Mvn, Register, false, false),
        Code::TstReg => known(And, Register, true, true),
        Code::CmpReg => known(Sub, Register, true, true),
        Code::CmnReg => known(Add, Register, true, true),
        // RRX is rare, and so is the carry of a shift.
        _ if op.ra == 4 => None,
        Code::AndShift if !op.has_flag(flag::SETS) => shifted(And, false),
        Code::BicShift if !op.has_flag(flag::SETS) => shifted(Bic, false),
        Code::OrrShift if !op.has_flag(flag::SETS) => shifted(Orr, false),
        Code::OrnShift if !op.has_flag(flag::SETS) => shifted(Orn, false),
        Code::EorShift if !op.has_flag(flag::SETS) => shifted(Eor, false),
        Code::MovShift if !op.has_flag(flag::SETS) => shifted(Mov, false),
        Code::MvnShift if !op.has_flag(flag::SETS) => shifted(Mvn, false),
        Code::AddShift | Code::AddLsl => shifted(Add, false),
        Code::AdcShift => shifted(Adc, false),
        Code::SbcShift => shifted(Sbc, false),
        Code::SubShift => shifted(Sub, false),
        Code::RsbShift => shifted(Rsb, false),
        Code::CmpShift => shifted(Sub, true),
        Code::CmnShift => shifted(Add, true),
        _ => None,
    }
}

/// Returns the kind of a shift by a constant, as in its opcode, and whether it sets flags. `None` if the op is no such
/// shift.
pub(super) fn constant_shift_kind(op: Op) -> Option<(u8, bool)> {
    let form = match op.code {
        Code::LslImmS => (0, true),
        Code::LslImm => (0, false),
        Code::LsrImmS => (1, true),
        Code::LsrImm => (1, false),
        Code::AsrImmS => (2, true),
        Code::AsrImm => (2, false),
        _ => return None,
    };
    Some(form)
}

/// Returns the kind of a shift by a register, as in its opcode, and whether it sets flags. `None` if the op is no such
/// shift.
pub(super) fn register_shift_kind(op: Op) -> Option<(u8, bool)> {
    let form = match op.code {
        Code::LslRegS => (0, true),
        Code::LslReg => (0, false),
        Code::LsrRegS => (1, true),
        Code::LsrReg => (1, false),
        Code::AsrRegS => (2, true),
        Code::AsrReg => (2, false),
        Code::RorRegS => (3, true),
        Code::RorReg => (3, false),
        _ => return None,
    };
    Some(form)
}

/// Returns whether a data-processing instruction can be JIT-compiled.
pub fn can_compile_data_processing(op: Op) -> bool {
    data_processing_properties(op).is_some()
        || constant_shift_kind(op).is_some()
        || register_shift_kind(op).is_some()
        || is_rare_data_processing(op)
}

/// Returns whether the op is a bit-field, byte-reversal, extension, MOVT, move-to-SP or multiply instruction that can
/// be JIT-compiled.
pub(super) fn is_rare_data_processing(op: Op) -> bool {
    use Code::{Bfi, Mla, Mls, Movt, Mul, MulS, Rev, Sbfx, Sxtab, Sxtah, Sxtb, Sxth, Ubfx, Uxtab, Uxtah, Uxtb, Uxth};
    use Code::{MovToSp, Rev16, Revsh};
    matches!(op.code, Movt | Ubfx | Sbfx | Bfi | Rev | Rev16 | Revsh | Sxtb | Sxth | Uxtb | Uxth)
        || matches!(op.code, Sxtab | Sxtah | Uxtab | Uxtah | MulS | Mul | Mla | Mls | MovToSp)
}

/// Returns the flags that an instruction sets.
pub fn flags_set_by_op(op: Op) -> u8 {
    if let Some((_, sets)) = constant_shift_kind(op) {
        return if sets { flags::NZ | flags::C } else { 0 };
    }
    if let Some((_, sets)) = register_shift_kind(op) {
        // A shift by 0 leaves C alone.
        return if sets { flags::NZ } else { 0 };
    }
    match data_processing_properties(op) {
        Some(Form { sets: false, .. }) => 0,
        Some(Form { work: Work::Add | Work::Adc | Work::Sbc | Work::Sub | Work::Rsb, .. }) => flags::ALL,
        Some(Form { second: Second::Constant, .. }) if op.shift != 0 => flags::NZ | flags::C,
        Some(_) => flags::NZ,
        None if op.code == Code::MulS => flags::NZ,
        None => 0,
    }
}

/// Returns the flags that an instruction reads.
pub fn flags_read_by_op(op: Op) -> u8 {
    match data_processing_properties(op) {
        Some(Form { work: Work::Adc | Work::Sbc, .. }) => flags::C,
        _ => 0,
    }
}
