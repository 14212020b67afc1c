//! Builds ops field by field: naming an operand also enters it into the register sets that pipelines schedule by.

use super::UNDEFINED;
use crate::v7m::code::Code;
use crate::v7m::op::{Class, Op, flag};

/// The register's bit in `reads` and `writes`. r15 is never in them.
const fn bit(register: u32) -> u16 {
    if register < 15 { 1 << register } else { 0 }
}

impl Op {
    /// Destination `rd`.
    pub(super) fn d(mut self, register: u32) -> Op {
        self.rd = register as u8;
        self.writes |= bit(register);
        self
    }

    /// Transferred or accumulated register `rd` that is read.
    pub(super) fn t(mut self, register: u32) -> Op {
        self.rd = register as u8;
        self.reads |= bit(register);
        self
    }

    /// First operand or base.
    pub(super) fn n(mut self, register: u32) -> Op {
        self.rn = register as u8;
        self.reads |= bit(register);
        self
    }

    /// Second operand or index.
    pub(super) fn m(mut self, register: u32) -> Op {
        self.rm = register as u8;
        self.reads |= bit(register);
        self
    }

    /// Third operand that is read.
    pub(super) fn a(mut self, register: u32) -> Op {
        self.ra = register as u8;
        self.reads |= bit(register);
        self
    }

    /// Second destination.
    pub(super) fn d2(mut self, register: u32) -> Op {
        self.ra = register as u8;
        self.writes |= bit(register);
        self
    }

    /// A base that is written back.
    pub(super) fn writes_base(mut self) -> Op {
        self.writes |= bit(u32::from(self.rn));
        self
    }

    /// Further core registers read.
    pub(super) fn also_reads(mut self, mask: u32) -> Op {
        self.reads |= mask as u16 & 0x7fff;
        self
    }

    /// Further core registers written.
    pub(super) fn also_writes(mut self, mask: u32) -> Op {
        self.writes |= mask as u16 & 0x7fff;
        self
    }

    /// The immediate.
    pub(super) fn imm(mut self, value: u32) -> Op {
        self.imm = value;
        self
    }

    /// The field `ra` where it is not a register.
    pub(super) fn kind(mut self, value: u32) -> Op {
        self.ra = value as u8;
        self
    }

    /// The field `shift`.
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

    /// Undefined if `condition` holds.
    pub(super) fn unless(self, condition: bool) -> Op {
        if condition { UNDEFINED } else { self }
    }
}

/// A data-processing instruction of one cycle.
pub(super) fn alu(code: Code) -> Op {
    Op::bare(code, Class::Alu)
}

/// The flag-setting variant of a pair of codes or, one after it, the other one.
pub(super) fn pair(code: Code, class: Class, sets: bool) -> Op {
    let mut op = Op::bare(code, class);
    if sets {
        op.flags = flag::SETS;
    } else {
        op.code = op.code.without_flags();
    }
    op
}
