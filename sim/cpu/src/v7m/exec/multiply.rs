//! Multiplications of the DSP extension (ARMv7-M A7.7).

use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::op::Op;

/// Top or bottom half, signed.
fn half(value: u32, top: bool) -> i64 {
    i64::from(if top { (value >> 16) as i16 } else { value as i16 })
}

/// A long accumulator: RdHi in `ra`, RdLo in `rd`.
pub(super) fn accumulator(core: &Core, op: Op) -> u64 {
    u64::from(core.reg(op.ra)) << 32 | u64::from(core.reg(op.rd))
}

/// Sets RdHi and RdLo.
pub(super) fn set_long(core: &mut Core, op: Op, value: u64) {
    core.set(op.rd, value as u32);
    core.set(op.ra, (value >> 32) as u32);
}

/// A 32-bit result that sets Q if it does not hold the exact one.
fn narrow(core: &mut Core, exact: i64) -> u32 {
    core.q |= exact != i64::from(exact as i32);
    exact as u32
}

/// Executes a multiplication of the DSP extension.
#[inline(always)]
pub(super) fn execute(core: &mut Core, op: Op) {
    let (n, m) = (core.reg(op.rn), core.reg(op.rm));
    let by_halves = half(n, op.shift & 2 != 0) * half(m, op.shift & 1 != 0);
    let by_word = (i64::from(n as i32) * half(m, op.shift & 1 != 0)) >> 16;
    let dual = {
        let exchanged = if op.shift & 1 != 0 { m.rotate_left(16) } else { m };
        let (low, high) = (half(n, false) * half(exchanged, false), half(n, true) * half(exchanged, true));
        if op.shift & 2 != 0 { low - high } else { low + high }
    };
    let long = i64::from(n as i32) * i64::from(m as i32);
    let rounding = if op.shift & 1 != 0 { 1i64 << 31 } else { 0 };
    let value = match op.code {
        Code::Smulxy => by_halves as u32,
        Code::Smlaxy => {
            let exact = by_halves + i64::from(core.reg(op.ra) as i32);
            narrow(core, exact)
        }
        Code::Smulwy => by_word as u32,
        Code::Smlawy => {
            let exact = by_word + i64::from(core.reg(op.ra) as i32);
            narrow(core, exact)
        }
        Code::Smuad => {
            // A difference of two products always fits: SMUSD leaves Q alone by itself.
            narrow(core, dual)
        }
        Code::Smlad => {
            let exact = dual + i64::from(core.reg(op.ra) as i32);
            narrow(core, exact)
        }
        Code::Smmul => (long.wrapping_add(rounding) >> 32) as u32,
        Code::Smmla => (high(core, op).wrapping_add(long).wrapping_add(rounding) >> 32) as u32,
        Code::Smmls => (high(core, op).wrapping_sub(long).wrapping_add(rounding) >> 32) as u32,
        Code::Smlalxy => return set_long(core, op, accumulator(core, op).wrapping_add(by_halves as u64)),
        _ => return set_long(core, op, accumulator(core, op).wrapping_add(dual as u64)),
    };
    core.set(op.rd, value);
}

/// The accumulator of SMMLA and SMMLS, which is the upper half of a long.
fn high(core: &Core, op: Op) -> i64 {
    i64::from(core.reg(op.ra) as i32) << 32
}
