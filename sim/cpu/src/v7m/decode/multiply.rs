//! Multiplications and divisions (A5.3.16, A5.3.17).

use super::{UNDEFINED, bits, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{Class, Op};

/// Decodes multiply, multiply accumulate and absolute difference: results of 32 bits.
pub(super) fn decode_multiply(h: u32, k: u32, features: Features) -> Op {
    let (rn, ra, rd, rm) = (bits(h, 0, 4), bits(k, 12, 4), bits(k, 8, 4), bits(k, 0, 4));
    let (opcode, variant) = (bits(h, 4, 3), bits(k, 4, 2));
    let product = |code, class| Op::bare(code, class).d(rd).n(rn).m(rm).shift(variant);
    // The form with accumulator, or the one without if that is written as r15.
    let either = |plain, class, accumulating, accumulating_class| match ra {
        15 => product(plain, class),
        _ => product(accumulating, accumulating_class).a(ra),
    };
    let (dsp, dual) = (Class::MultiplyDsp, variant & 2 == 0);
    let op = match opcode {
        0 if variant == 0 => either(Code::Mul, Class::Multiply, Code::Mla, Class::MultiplyAccumulate),
        0 if variant == 1 && ra != 15 => product(Code::Mls, Class::MultiplyAccumulate).a(ra),
        _ if !features.dsp => UNDEFINED,
        1 => either(Code::Smulxy, dsp, Code::Smlaxy, dsp),
        2 if dual => either(Code::Smuad, dsp, Code::Smlad, dsp),
        3 if dual => either(Code::Smulwy, dsp, Code::Smlawy, dsp),
        4 if dual => either(Code::Smuad, dsp, Code::Smlad, dsp).shift(variant | 2),
        5 if dual => either(Code::Smmul, dsp, Code::Smmla, dsp),
        6 if dual && ra != 15 => product(Code::Smmls, dsp).a(ra),
        7 if variant == 0 => either(Code::Usad8, Class::Dsp, Code::Usada8, Class::Dsp),
        _ => UNDEFINED,
    };
    op.undefined_if(k & 0xc0 != 0 || ra == 13 || is_sp_or_pc(rd) || is_sp_or_pc(rn) || is_sp_or_pc(rm))
}

/// Decodes long multiplications and divisions.
pub(super) fn decode_long_multiply_or_divide(h: u32, k: u32, features: Features) -> Op {
    let (rn, low, high, rm) = (bits(h, 0, 4), bits(k, 12, 4), bits(k, 8, 4), bits(k, 0, 4));
    let variant = bits(k, 4, 4);
    let operands = |code, class| Op::bare(code, class).n(rn).m(rm);
    let long = |code, class| operands(code, class).d(low).d2(high);
    let accumulating = |code, class| long(code, class).t(low).a(high);
    let dsp = |code, shift| match features.dsp {
        true => accumulating(code, Class::MultiplyDsp).shift(shift),
        false => UNDEFINED,
    };
    let op = match (bits(h, 4, 3), variant) {
        (0, 0) => long(Code::Smull, Class::MultiplyLong),
        (2, 0) => long(Code::Umull, Class::MultiplyLong),
        (4, 0) => accumulating(Code::Smlal, Class::MultiplyAccumulateLong),
        (6, 0) => accumulating(Code::Umlal, Class::MultiplyAccumulateLong),
        (1, 15) | (3, 15) => {
            let code = if h & 0x20 == 0 { Code::Sdiv } else { Code::Udiv };
            return operands(code, Class::Divide)
                .d(high)
                .undefined_if(low != 15 || is_sp_or_pc(high) || is_sp_or_pc(rn) || is_sp_or_pc(rm));
        }
        (4, 8..=11) => dsp(Code::Smlalxy, variant & 3),
        (4, 12 | 13) => dsp(Code::Smlald, variant & 1),
        (5, 12 | 13) => dsp(Code::Smlald, variant & 1 | 2),
        (6, 6) => dsp(Code::Umaal, 0),
        _ => UNDEFINED,
    };
    op.undefined_if(low == high || is_sp_or_pc(low) || is_sp_or_pc(high) || is_sp_or_pc(rn) || is_sp_or_pc(rm))
}
