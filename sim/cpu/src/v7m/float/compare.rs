//! Comparison, maximum and minimum.

use super::format::{Format, Kind, Number, process_nans, unpack_bits};
use super::fpscr::{IOC, NZCV};
use std::cmp::Ordering;

/// Compares a with b, and writes the relation to FPSCR.NZCV (FPCompare).
pub fn compare_to_fpscr<F: Format>(f: F, a: u64, b: u64, quiet_signals: bool, fpscr: &mut u32) {
    let x = unpack_bits(f, a, fpscr);
    let y = unpack_bits(f, b, fpscr);
    let nzcv = if x.is_nan() || y.is_nan() {
        if quiet_signals || x.is_of_kind(Kind::SignalingNan) || y.is_of_kind(Kind::SignalingNan) {
            *fpscr |= IOC;
        }
        0b0011
    } else {
        match compare_numbers(&x, &y) {
            Ordering::Equal => 0b0110,
            Ordering::Less => 0b1000,
            Ordering::Greater => 0b0010,
        }
    };
    *fpscr = *fpscr & !NZCV | nzcv << 28;
}

/// Returns the order of two numbers that are no NaNs. Zeros are equal.
fn compare_numbers(x: &Number, y: &Number) -> Ordering {
    let rank = |n: &Number| match n.kind {
        Kind::Zero => (0, 0, 0),
        Kind::Infinity => (1 - 2 * i32::from(n.sign), i32::MAX, 0),
        _ => (1 - 2 * i32::from(n.sign), n.exponent, n.significand),
    };
    let ((sign_x, exponent_x, significand_x), (sign_y, exponent_y, significand_y)) = (rank(x), rank(y));
    let magnitude = exponent_x.cmp(&exponent_y).then(significand_x.cmp(&significand_y));
    sign_x.cmp(&sign_y).then(if sign_x < 0 { magnitude.reverse() } else { magnitude })
}

/// Returns the larger of two numbers. A single quiet NaN gives way to the number (FPMaxNum).
pub fn maxnm<F: Format>(f: F, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    minimum_or_maximum_operand(f, a, b, Ordering::Greater, fpscr)
}

/// Returns the smaller of two numbers. A single quiet NaN gives way to the number (FPMinNum).
pub fn minnm<F: Format>(f: F, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    minimum_or_maximum_operand(f, a, b, Ordering::Less, fpscr)
}

/// Returns the operand that is `wanted` (larger or smaller) than the other one.
fn minimum_or_maximum_operand<F: Format>(f: F, a: u64, b: u64, wanted: Ordering, fpscr: &mut u32) -> u64 {
    let mut operands = [(unpack_bits(f, a, fpscr), a), (unpack_bits(f, b, fpscr), b)];
    for i in [0, 1] {
        if operands[i].0.is_of_kind(Kind::QuietNan) && !operands[1 - i].0.is_of_kind(Kind::QuietNan) {
            // The infinity that loses against everything.
            let worst = F::infinity(wanted == Ordering::Greater);
            operands[i] = (unpack_bits(f, worst, fpscr), worst);
            break;
        }
    }
    if let Some(nan) = process_nans(f, operands, fpscr) {
        return nan;
    }
    let [(x, a), (y, b)] = operands;
    let (winner, pattern) = if compare_numbers(&x, &y) == wanted { (x, a) } else { (y, b) };
    if winner.is_of_kind(Kind::Zero) {
        // Of two zeros the one on the wanted side. A flushed denormal comes out as zero.
        let sign = if wanted == Ordering::Greater { x.sign & y.sign } else { x.sign | y.sign };
        return F::signed_zero(sign);
    }
    pattern
}
