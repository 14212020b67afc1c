//! Builds ops field by field: naming an operand also enters it into the register sets that pipelines schedule by.

use super::UNDEFINED;
use crate::v7m::code::Code;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// Returns a register's bit in `reads` and `writes`. r15 is never in them.
const fn register_bit(register: u32) -> u16 {
    if register < 15 { 1 << register } else { 0 }
}

impl Op {
    /// Sets the destination register `rd`.
    pub(super) fn set_destination_register(mut self, register: u32) -> Op {
        self.rd = register as u8;
        self.writes |= register_bit(register);
        self
    }

    /// Sets the register `rd` that is transferred or accumulated, and so read.
    pub(super) fn set_transfer_operand_register(mut self, register: u32) -> Op {
        self.rd = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the first operand or base register.
    pub(super) fn set_first_operand_register(mut self, register: u32) -> Op {
        self.rn = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the second operand or index register.
    pub(super) fn set_second_operand(mut self, register: u32) -> Op {
        self.rm = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the third operand register.
    pub(super) fn set_third_operand_register(mut self, register: u32) -> Op {
        self.ra = register as u8;
        self.reads |= register_bit(register);
        self
    }

    /// Sets the second destination register.
    pub(super) fn set_second_destination(mut self, register: u32) -> Op {
        self.ra = register as u8;
        self.writes |= register_bit(register);
        self
    }

    /// Marks the base register as written back.
    pub(super) fn mark_base_register_written_back(mut self) -> Op {
        self.writes |= register_bit(u32::from(self.rn));
        self
    }

    /// Adds further core registers that are read, as a mask.
    pub(super) fn add_read_registers(mut self, mask: u32) -> Op {
        self.reads |= mask as u16 & 0x7fff;
        self
    }

    /// Adds further core registers that are written, as a mask.
    pub(super) fn add_written_registers(mut self, mask: u32) -> Op {
        self.writes |= mask as u16 & 0x7fff;
        self
    }

    /// Sets the immediate.
    pub(super) fn set_immediate_operand(mut self, value: u32) -> Op {
        self.imm = value;
        self
    }

    /// Sets the field `ra`, where it is not a register but selects a variant.
    pub(super) fn set_instruction_variant_field(mut self, value: u32) -> Op {
        self.ra = value as u8;
        self
    }

    /// Sets the field `shift`.
    pub(super) fn set_shift_field(mut self, value: u32) -> Op {
        self.shift = value as u8;
        self
    }

    /// Sets these flags.
    pub(super) fn with_flags(mut self, flags: u8) -> Op {
        self.flags |= flags;
        self
    }

    /// Sets these flags if `on`.
    pub(super) fn add_op_attribute_flags_if(self, on: bool, flags: u8) -> Op {
        if on { self.with_flags(flags) } else { self }
    }

    /// Makes the op undefined if `condition` holds.
    pub(super) fn replace_with_undefined_op_if(self, condition: bool) -> Op {
        if condition { UNDEFINED } else { self }
    }
}

/// Creates a data-processing op of one cycle.
pub(super) fn new_one_cycle_alu_op(code: Code) -> Op {
    Op::without_operands(code, InstructionTimingClass::Alu)
}

/// Creates an op with the flag-setting code of a pair, or with the code after it, which sets no flags.
pub(super) fn new_op_with_optional_flag_setting(code: Code, class: InstructionTimingClass, sets: bool) -> Op {
    let mut op = Op::without_operands(code, class);
    if sets {
        op.flags = flag::SETS;
    } else {
        op.code = op.code.code_without_flag_setting();
    }
    op
}
