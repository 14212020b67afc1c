//! Builds ops field by field: naming an operand also enters it into the register sets that pipelines schedule by.

use super::UNDEFINED;
use crate::v7m::code::Code;
use crate::v7m::op::{Class, Op, flag};

/// Returns a register's bit in `reads` and `writes`. r15 is never in them.
const fn register_bit(register: u32) -> u16 {
    if register < 15 { 1 << register } else { 0 }
}

impl Op {
    /// Sets the destination register `rd`.
    pub(super) fn d(mut self, register: u32) -> Op {
        self.rd = register as u8;
        self.writes |= register_bit(register);
        self
    }

    /// Sets the register `rd` that is transferred or accumulated, and so read.
    pub(super) fn t(mut self, register: u32) -> Op {
        self.rd = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the first operand or base register.
    pub(super) fn n(mut self, register: u32) -> Op {
        self.rn = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the second operand or index register.
    pub(super) fn m(mut self, register: u32) -> Op {
        self.rm = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the third operand register.
    pub(super) fn a(mut self, register: u32) -> Op {
        self.ra = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the second destination register.
    pub(super) fn d2(mut self, register: u32) -> Op {
        self.ra = register as u8;
        self.writes |= register_bit(register);
        self
    }

    /// Marks the base register as written back.
    pub(super) fn writes_base(mut self) -> Op {
        self.writes |= register_bit(u32::from(self.rn));
        self
    }

    /// Adds further core registers that are read, as a mask.
    pub(super) fn also_reads(mut self, mask: u32) -> Op {
        self.reads |= mask as u16 & 0x7fff;
        self
    }

    /// Adds further core registers that are written, as a mask.
    pub(super) fn also_writes(mut self, mask: u32) -> Op {
        self.writes |= mask as u16 & 0x7fff;
        self
    }

    /// Sets the immediate.
    pub(super) fn imm(mut self, value: u32) -> Op {
        self.imm = value;
        self
    }

    /// Sets the field `ra`, where it is not a register but selects a variant.
    pub(super) fn kind(mut self, value: u32) -> Op {
        self.ra = value as u8;
        self
    }

    /// Sets the field `shift`.
    pub(super) fn shift(mut self, value: u32) -> Op {
        self.shift = value as u8;
        self
    }

    /// Sets these flags.
    pub(super) fn with(mut self, flags: u8) -> Op {
        self.flags |= flags;
        self
    }

    /// Sets these flags if `on`.
    pub(super) fn with_if(self, on: bool, flags: u8) -> Op {
        if on { self.with(flags) } else { self }
    }

    /// Makes the op undefined if `condition` holds.
    pub(super) fn undefined_if(self, condition: bool) -> Op {
        if condition { UNDEFINED } else { self }
    }
}

/// Creates a data-processing op of one cycle.
pub(super) fn alu_op(code: Code) -> Op {
    Op::bare(code, Class::Alu)
}

/// Creates an op with the flag-setting code of a pair, or with the code after it, which sets no flags.
pub(super) fn pair(code: Code, class: Class, sets: bool) -> Op {
    let mut op = Op::bare(code, class);
    if sets {
        op.flags = flag::SETS;
    } else {
        op.code = op.code.without_flags();
    }
    op
}
