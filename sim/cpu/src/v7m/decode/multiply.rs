//! Multiplications and divisions (A5.3.16, A5.3.17).

use super::{UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{InstructionTimingClass, Op};

/// Decodes multiply, multiply accumulate and absolute difference: results of 32 bits.
pub(super) fn decode_multiply(h: u32, k: u32, features: Features) -> Op {
    let (rn, ra, rd, rm) = (bit_field(h, 0, 4), bit_field(k, 12, 4), bit_field(k, 8, 4), bit_field(k, 0, 4));
    let (opcode, variant) = (bit_field(h, 4, 3), bit_field(k, 4, 2));
    let product = |code, class| {
        Op::without_operands(code, class)
            .set_destination_register(rd)
            .set_first_operand_register(rn)
            .set_second_operand(rm)
            .set_shift_field(variant)
    };
    // The form with accumulator, or the one without if that is written as r15.
    let either = |plain, class, accumulating, accumulating_class| match ra {
        15 => product(plain, class),
        _ => product(accumulating, accumulating_class).set_third_operand_register(ra),
    };
    let (dsp, dual) = (InstructionTimingClass::MultiplyDsp, variant & 2 == 0);
    let op = match opcode {
        0 if variant == 0 => {
            either(Code::Mul, InstructionTimingClass::Multiply, Code::Mla, InstructionTimingClass::MultiplyAccumulate)
        }
        0 if variant == 1 && ra != 15 => {
            product(Code::Mls, InstructionTimingClass::MultiplyAccumulate).set_third_operand_register(ra)
        }
        _ if !features.dsp => UNDEFINED,
        1 => either(Code::Smulxy, dsp, Code::Smlaxy, dsp),
        2 if dual => either(Code::Smuad, dsp, Code::Smlad, dsp),
        3 if dual => either(Code::Smulwy, dsp, Code::Smlawy, dsp),
        4 if dual => either(Code::Smuad, dsp, Code::Smlad, dsp).set_shift_field(variant | 2),
        5 if dual => either(Code::Smmul, dsp, Code::Smmla, dsp),
        6 if dual && ra != 15 => product(Code::Smmls, dsp).set_third_operand_register(ra),
        7 if variant == 0 => {
            either(Code::Usad8, InstructionTimingClass::Dsp, Code::Usada8, InstructionTimingClass::Dsp)
        }
        _ => UNDEFINED,
    };
    op.replace_with_undefined_op_if(k & 0xc0 != 0 || ra == 13 || is_sp_or_pc(rd) || is_sp_or_pc(rn) || is_sp_or_pc(rm))
}

/// Decodes long multiplications and divisions.
pub(super) fn decode_long_multiply_or_divide(h: u32, k: u32, features: Features) -> Op {
    let (rn, low, high, rm) = (bit_field(h, 0, 4), bit_field(k, 12, 4), bit_field(k, 8, 4), bit_field(k, 0, 4));
    let variant = bit_field(k, 4, 4);
    let operands =
        |code, class| Op::without_operands(code, class).set_first_operand_register(rn).set_second_operand(rm);
    let long = |code, class| operands(code, class).set_destination_register(low).set_second_destination(high);
    let accumulating =
        |code, class| long(code, class).set_transfer_operand_register(low).set_third_operand_register(high);
    let dsp = |code, shift| match features.dsp {
        true => accumulating(code, InstructionTimingClass::MultiplyDsp).set_shift_field(shift),
        false => UNDEFINED,
    };
    let op = match (bit_field(h, 4, 3), variant) {
        (0, 0) => long(Code::Smull, InstructionTimingClass::MultiplyLong),
        (2, 0) => long(Code::Umull, InstructionTimingClass::MultiplyLong),
        (4, 0) => accumulating(Code::Smlal, InstructionTimingClass::MultiplyAccumulateLong),
        (6, 0) => accumulating(Code::Umlal, InstructionTimingClass::MultiplyAccumulateLong),
        (1, 15) | (3, 15) => {
            let code = if h & 0x20 == 0 { Code::Sdiv } else { Code::Udiv };
            return operands(code, InstructionTimingClass::Divide)
                .set_destination_register(high)
                .replace_with_undefined_op_if(low != 15 || is_sp_or_pc(high) || is_sp_or_pc(rn) || is_sp_or_pc(rm));
        }
        (4, 8..=11) => dsp(Code::Smlalxy, variant & 3),
        (4, 12 | 13) => dsp(Code::Smlald, variant & 1),
        (5, 12 | 13) => dsp(Code::Smlald, variant & 1 | 2),
        (6, 6) => dsp(Code::Umaal, 0),
        _ => UNDEFINED,
    };
    op.replace_with_undefined_op_if(
        low == high || is_sp_or_pc(low) || is_sp_or_pc(high) || is_sp_or_pc(rn) || is_sp_or_pc(rm),
    )
}
