//! Data processing with registers: shifts, extensions, parallel arithmetic, miscellaneous (A5.3.12 to A5.3.15).

use super::build::new_op_with_optional_flag_setting;
use super::{UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// Decodes data processing with registers: shifts, extensions, parallel additions and miscellaneous operations
/// (A5.3.12).
pub(super) fn decode_register_data_processing(h: u32, k: u32, features: Features) -> Op {
    let (opcode, variant) = (bit_field(h, 4, 4), bit_field(k, 4, 4));
    let (rn, rd, rm) = (bit_field(h, 0, 4), bit_field(k, 8, 4), bit_field(k, 0, 4));
    let three = |code, class| {
        Op::without_operands(code, class)
            .set_destination_register(rd)
            .set_first_operand_register(rn)
            .set_second_operand(rm)
    };
    let op = match (opcode, variant) {
        (0..=7, 0) => {
            let code = [Code::LslRegS, Code::LsrRegS, Code::AsrRegS, Code::RorRegS][(opcode >> 1) as usize];
            new_op_with_optional_flag_setting(code, InstructionTimingClass::ShiftRegister, opcode & 1 != 0)
                .set_destination_register(rd)
                .set_first_operand_register(rn)
                .set_second_operand(rm)
        }
        (0..=7, 8..=11) => return decode_sign_or_zero_extension(h, k, features),
        (8 | 9 | 10 | 12 | 13 | 14, 0..=2 | 4..=6) if features.dsp => {
            three(Code::Parallel, InstructionTimingClass::Dsp)
                .set_instruction_variant_field(opcode & 7)
                .set_shift_field(variant)
        }
        (8, 8..=11) if features.dsp => {
            three(Code::SaturatingAdd, InstructionTimingClass::Dsp).set_instruction_variant_field(variant & 3)
        }
        (10, 8) if features.dsp => three(Code::Sel, InstructionTimingClass::Dsp).with_flags(flag::READS_FLAGS),
        (9, 8) => one_operand_op(Code::Rev, rd, rn, rm),
        (9, 9) => one_operand_op(Code::Rev16, rd, rn, rm),
        (9, 10) => one_operand_op(Code::Rbit, rd, rn, rm),
        (9, 11) => one_operand_op(Code::Revsh, rd, rn, rm),
        (11, 8) => one_operand_op(Code::Clz, rd, rn, rm),
        _ => UNDEFINED,
    };
    op.replace_with_undefined_op_if(k >> 12 != 15 || is_sp_or_pc(rd) || is_sp_or_pc(rn) || is_sp_or_pc(rm))
}

/// Creates an op with one operand, which is written in both register fields.
fn one_operand_op(code: Code, rd: u32, rn: u32, rm: u32) -> Op {
    Op::without_operands(code, InstructionTimingClass::Bits)
        .set_destination_register(rd)
        .set_second_operand(rm)
        .replace_with_undefined_op_if(rn != rm)
}

/// Decodes sign and zero extensions, with or without addition.
fn decode_sign_or_zero_extension(h: u32, k: u32, features: Features) -> Op {
    let (rn, rd, rm) = (bit_field(h, 0, 4), bit_field(k, 8, 4), bit_field(k, 0, 4));
    let opcode = bit_field(h, 4, 3);
    let plain = match opcode {
        0 => Code::Sxth,
        1 => Code::Uxth,
        2 | 3 => Code::Xtb16,
        4 => Code::Sxtb,
        5 => Code::Uxtb,
        _ => return UNDEFINED,
    };
    let adding = match opcode {
        0 => Code::Sxtah,
        1 => Code::Uxtah,
        2 | 3 => Code::Xtab16,
        4 => Code::Sxtab,
        _ => Code::Uxtab,
    };
    let of_halves = matches!(opcode, 2 | 3);
    if (rn != 15 || of_halves) && !features.dsp {
        return UNDEFINED;
    }
    let rotation = bit_field(k, 4, 2) * 8;
    let op = match rn {
        15 => Op::without_operands(plain, InstructionTimingClass::Bits)
            .set_destination_register(rd)
            .set_second_operand(rm),
        _ => Op::without_operands(adding, InstructionTimingClass::Bits)
            .set_destination_register(rd)
            .set_first_operand_register(rn)
            .set_second_operand(rm),
    };
    let op = op
        .set_instruction_variant_field(u32::from(of_halves && opcode == 2))
        .set_shift_field(rotation)
        .add_op_attribute_flags_if(rotation != 0, flag::SHIFTED);
    op.replace_with_undefined_op_if(k >> 12 != 15 || k & 0x40 != 0 || rn == 13 || is_sp_or_pc(rd) || is_sp_or_pc(rm))
}
