//! Multiplications of the DSP extension, and what long multiplications and divisions share (ARMv7-M A7.7).

use super::Flow;
use crate::v7m::bus::Bus;
use crate::v7m::code::Code;
use crate::v7m::core::{Core, Request};
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::Pipeline;
use crate::v7m::scb::ccr;

/// Returns the top or bottom half of a word, sign-extended.
fn signed_half_of_word(value: u32, top: bool) -> i64 {
    i64::from(if top { (value >> 16) as i16 } else { value as i16 })
}

/// Returns a long accumulator: RdHi in `ra`, RdLo in `rd`.
pub(super) fn long_accumulator(core: &Core, op: Op) -> u64 {
    u64::from(core.core_register(op.ra)) << 32 | u64::from(core.core_register(op.rd))
}

/// Writes a 64-bit result to RdHi and RdLo.
pub(super) fn set_long_result(core: &mut Core, op: Op, value: u64) {
    core.set_register(op.rd, value as u32);
    core.set_register(op.ra, (value >> 32) as u32);
}

/// Returns the low 32 bits of an exact result, and sets Q if they do not hold it.
fn truncate_to_word_setting_q_flag(core: &mut Core, exact: i64) -> u32 {
    core.q |= exact != i64::from(exact as i32);
    exact as u32
}

/// Executes a multiplication of the DSP extension.
#[inline(always)]
pub(super) fn execute_multiply(core: &mut Core, op: Op) {
    let (n, m) = (core.core_register(op.rn), core.core_register(op.rm));
    let by_halves = signed_half_of_word(n, op.shift & 2 != 0) * signed_half_of_word(m, op.shift & 1 != 0);
    let by_word = (i64::from(n as i32) * signed_half_of_word(m, op.shift & 1 != 0)) >> 16;
    let dual = {
        let exchanged = if op.shift & 1 != 0 { m.rotate_left(16) } else { m };
        let (low, high) = (
            signed_half_of_word(n, false) * signed_half_of_word(exchanged, false),
            signed_half_of_word(n, true) * signed_half_of_word(exchanged, true),
        );
        if op.shift & 2 != 0 { low - high } else { low + high }
    };
    let long = i64::from(n as i32) * i64::from(m as i32);
    let rounding = if op.shift & 1 != 0 { 1i64 << 31 } else { 0 };
    let value = match op.code {
        Code::Smulxy => by_halves as u32,
        Code::Smlaxy => {
            let exact = by_halves + i64::from(core.core_register(op.ra) as i32);
            truncate_to_word_setting_q_flag(core, exact)
        }
        Code::Smulwy => by_word as u32,
        Code::Smlawy => {
            let exact = by_word + i64::from(core.core_register(op.ra) as i32);
            truncate_to_word_setting_q_flag(core, exact)
        }
        Code::Smuad => {
            // A difference of two products always fits: SMUSD leaves Q alone by itself.
            truncate_to_word_setting_q_flag(core, dual)
        }
        Code::Smlad => {
            let exact = dual + i64::from(core.core_register(op.ra) as i32);
            truncate_to_word_setting_q_flag(core, exact)
        }
        Code::Smmul => (long.wrapping_add(rounding) >> 32) as u32,
        Code::Smmla => (accumulator_as_upper_half(core, op).wrapping_add(long).wrapping_add(rounding) >> 32) as u32,
        Code::Smmls => (accumulator_as_upper_half(core, op).wrapping_sub(long).wrapping_add(rounding) >> 32) as u32,
        Code::Smlalxy => return set_long_result(core, op, long_accumulator(core, op).wrapping_add(by_halves as u64)),
        _ => return set_long_result(core, op, long_accumulator(core, op).wrapping_add(dual as u64)),
    };
    core.set_register(op.rd, value);
}

/// Returns the accumulator of SMMLA or SMMLS, which is the upper half of a long.
fn accumulator_as_upper_half(core: &Core, op: Op) -> i64 {
    i64::from(core.core_register(op.ra) as i32) << 32
}

/// Returns whether a division or long multiplication would run beyond the limit, so that the machine must decide
/// whether it may.
#[inline(always)]
pub(super) fn must_pause_before_division<P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    op: Op,
    first: u32,
    second: u32,
) -> bool {
    if std::mem::take(&mut core.committed) {
        return false;
    }
    let end = core.t + pipe.operation_cycles(op, first, second);
    if end > core.limit {
        core.request = Request::Abandonable(end);
        return true;
    }
    false
}

/// Executes SDIV or UDIV.
#[inline(always)]
pub(super) fn execute_divide<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    _: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (n, m) = (core.core_register(op.rn), core.core_register(op.rm));
    if m == 0 && core.scb.ccr & ccr::DIV_0_TRP != 0 {
        return Err(Fault::DivideByZero);
    }
    if must_pause_before_division(core, pipe, op, n, m) {
        return Ok(Flow::Paused);
    }
    let quotient = match (op.code, m) {
        (_, 0) => 0,
        (Code::Udiv, _) => n / m,
        _ => (n as i32).wrapping_div(m as i32) as u32,
    };
    core.set_register(op.rd, quotient);
    Ok(Flow::Next)
}
