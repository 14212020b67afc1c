//! Data processing with registers: shifts, extensions, parallel arithmetic, miscellaneous (A5.3.12 to A5.3.15).

use super::build::pair;
use super::{UNDEFINED, bits, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{Class, Op, flag};

/// Decodes data processing with registers: shifts, extensions, parallel additions and miscellaneous operations
/// (A5.3.12).
pub(super) fn decode_register_data_processing(h: u32, k: u32, features: Features) -> Op {
    let (opcode, variant) = (bits(h, 4, 4), bits(k, 4, 4));
    let (rn, rd, rm) = (bits(h, 0, 4), bits(k, 8, 4), bits(k, 0, 4));
    let three = |code, class| Op::bare(code, class).d(rd).n(rn).m(rm);
    let op = match (opcode, variant) {
        (0..=7, 0) => {
            let code = [Code::LslRegS, Code::LsrRegS, Code::AsrRegS, Code::RorRegS][(opcode >> 1) as usize];
            pair(code, Class::ShiftRegister, opcode & 1 != 0).d(rd).n(rn).m(rm)
        }
        (0..=7, 8..=11) => return decode_extension(h, k, features),
        (8 | 9 | 10 | 12 | 13 | 14, 0..=2 | 4..=6) if features.dsp => {
            three(Code::Parallel, Class::Dsp).kind(opcode & 7).shift(variant)
        }
        (8, 8..=11) if features.dsp => three(Code::SaturatingAdd, Class::Dsp).kind(variant & 3),
        (10, 8) if features.dsp => three(Code::Sel, Class::Dsp).with(flag::READS_FLAGS),
        (9, 8) => one_operand_op(Code::Rev, rd, rn, rm),
        (9, 9) => one_operand_op(Code::Rev16, rd, rn, rm),
        (9, 10) => one_operand_op(Code::Rbit, rd, rn, rm),
        (9, 11) => one_operand_op(Code::Revsh, rd, rn, rm),
        (11, 8) => one_operand_op(Code::Clz, rd, rn, rm),
        _ => UNDEFINED,
    };
    op.undefined_if(k >> 12 != 15 || is_sp_or_pc(rd) || is_sp_or_pc(rn) || is_sp_or_pc(rm))
}

/// Creates an op with one operand, which is written in both register fields.
fn one_operand_op(code: Code, rd: u32, rn: u32, rm: u32) -> Op {
    Op::bare(code, Class::Bits).d(rd).m(rm).undefined_if(rn != rm)
}

/// Decodes sign and zero extensions, with or without addition.
fn decode_extension(h: u32, k: u32, features: Features) -> Op {
    let (rn, rd, rm) = (bits(h, 0, 4), bits(k, 8, 4), bits(k, 0, 4));
    let opcode = bits(h, 4, 3);
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
    let rotation = bits(k, 4, 2) * 8;
    let op = match rn {
        15 => Op::bare(plain, Class::Bits).d(rd).m(rm),
        _ => Op::bare(adding, Class::Bits).d(rd).n(rn).m(rm),
    };
    let op = op.kind(u32::from(of_halves && opcode == 2)).shift(rotation).with_if(rotation != 0, flag::SHIFTED);
    op.undefined_if(k >> 12 != 15 || k & 0x40 != 0 || rn == 13 || is_sp_or_pc(rd) || is_sp_or_pc(rm))
}
