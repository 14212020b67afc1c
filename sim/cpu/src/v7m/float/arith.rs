//! Sum, product, quotient, root and fused multiply-add in integers.

use super::Rounding;
use super::format::{Format, Kind, Number, default_nan, process_nans, round_to_format, unpack_bits};
use super::fpscr::DZC;

/// A finite, non-zero term of a sum: ±`significand` × 2^`exponent`, leading bit in bit 124 or 125.
struct FiniteSumTerm {
    sign: bool,
    exponent: i32,
    significand: u128,
}

impl FiniteSumTerm {
    /// Returns a finite, non-zero number as a term.
    fn from_number(number: &Number) -> FiniteSumTerm {
        FiniteSumTerm {
            sign: number.sign,
            exponent: number.exponent - 125,
            significand: u128::from(number.significand) << 62,
        }
    }

    /// Returns the exact product of two numbers. Significands of at most 53 bits leave more than 20 zeros at its end.
    fn exact_product(a: &Number, b: &Number) -> FiniteSumTerm {
        let significand = (u128::from(a.significand) * u128::from(b.significand)) >> 2;
        FiniteSumTerm { sign: a.sign ^ b.sign, exponent: a.exponent + b.exponent - 124, significand }
    }
}

/// Returns the rounded sum of two terms. If the alignment cuts bits off, the smaller term is so small that the sum
/// keeps 120 bits and more, and one sticky bit represents them.
fn rounded_sum_of_terms<F: Format>(f: F, a: FiniteSumTerm, b: FiniteSumTerm, fpscr: &mut u32) -> u64 {
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let distance = (large.exponent - small.exponent) as u32;
    let aligned = match distance {
        0..=127 => {
            let shifted = small.significand >> distance;
            shifted | u128::from(shifted << distance != small.significand)
        }
        _ => 1,
    };
    let (sign, magnitude) = if large.sign == small.sign {
        (large.sign, large.significand + aligned)
    } else if large.significand >= aligned {
        (large.sign, large.significand - aligned)
    } else {
        (small.sign, aligned - large.significand)
    };
    let mode = Rounding::from_fpscr(*fpscr);
    if magnitude == 0 {
        return F::signed_zero(mode == Rounding::Down);
    }
    round_to_format(f, sign, large.exponent, magnitude, mode, fpscr)
}

/// Returns a + b, rounded to the format `F`.
pub fn add<F: Format>(f: F, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    add_or_subtract_floats(f, a, b, false, fpscr)
}

/// Returns a − b, rounded to the format `F`.
pub fn sub<F: Format>(f: F, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    add_or_subtract_floats(f, a, b, true, fpscr)
}

/// Returns a + b, or a − b if `negate`. A NaN operand passes through with its own sign.
fn add_or_subtract_floats<F: Format>(f: F, a: u64, b: u64, negate: bool, fpscr: &mut u32) -> u64 {
    let x = unpack_bits(f, a, fpscr);
    let mut y = unpack_bits(f, b, fpscr);
    if let Some(nan) = process_nans(f, [(x, a), (y, b)], fpscr) {
        return nan;
    }
    y.sign ^= negate;
    match (x.kind, y.kind) {
        (Kind::Infinity, Kind::Infinity) if x.sign != y.sign => default_nan(f, fpscr),
        (Kind::Infinity, _) => F::infinity(x.sign),
        (_, Kind::Infinity) => F::infinity(y.sign),
        (Kind::Zero, Kind::Zero) if x.sign == y.sign => F::signed_zero(x.sign),
        (Kind::Zero, Kind::Zero) => F::signed_zero(Rounding::from_fpscr(*fpscr) == Rounding::Down),
        (Kind::Zero, _) => round_to_float_format(f, &y, fpscr),
        (_, Kind::Zero) => round_to_float_format(f, &x, fpscr),
        _ => rounded_sum_of_terms(f, FiniteSumTerm::from_number(&x), FiniteSumTerm::from_number(&y), fpscr),
    }
}

/// Returns a number rounded to the format `F`.
fn round_to_float_format<F: Format>(f: F, number: &Number, fpscr: &mut u32) -> u64 {
    let mode = Rounding::from_fpscr(*fpscr);
    round_to_format(f, number.sign, number.exponent - 63, u128::from(number.significand), mode, fpscr)
}

/// Returns a × b, rounded to the format `F`.
pub fn mul<F: Format>(f: F, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    let x = unpack_bits(f, a, fpscr);
    let y = unpack_bits(f, b, fpscr);
    if let Some(nan) = process_nans(f, [(x, a), (y, b)], fpscr) {
        return nan;
    }
    let sign = x.sign ^ y.sign;
    match (x.kind, y.kind) {
        (Kind::Infinity, Kind::Zero) | (Kind::Zero, Kind::Infinity) => default_nan(f, fpscr),
        (Kind::Infinity, _) | (_, Kind::Infinity) => F::infinity(sign),
        (Kind::Zero, _) | (_, Kind::Zero) => F::signed_zero(sign),
        _ => {
            let product = FiniteSumTerm::exact_product(&x, &y);
            round_to_format(f, sign, product.exponent, product.significand, Rounding::from_fpscr(*fpscr), fpscr)
        }
    }
}

/// Returns a / b, rounded to the format `F`.
pub fn div<F: Format>(f: F, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    let x = unpack_bits(f, a, fpscr);
    let y = unpack_bits(f, b, fpscr);
    if let Some(nan) = process_nans(f, [(x, a), (y, b)], fpscr) {
        return nan;
    }
    let sign = x.sign ^ y.sign;
    match (x.kind, y.kind) {
        (Kind::Infinity, Kind::Infinity) | (Kind::Zero, Kind::Zero) => default_nan(f, fpscr),
        (Kind::Infinity, _) => F::infinity(sign),
        (_, Kind::Zero) => {
            *fpscr |= DZC;
            F::infinity(sign)
        }
        (Kind::Zero, _) | (_, Kind::Infinity) => F::signed_zero(sign),
        _ => {
            let dividend = u128::from(x.significand) << 64;
            let divisor = u128::from(y.significand);
            let quotient = (dividend / divisor) << 1 | u128::from(dividend % divisor != 0);
            round_to_format(f, sign, x.exponent - y.exponent - 65, quotient, Rounding::from_fpscr(*fpscr), fpscr)
        }
    }
}

/// Returns the square root of a, rounded to the format `F`.
pub fn sqrt<F: Format>(f: F, a: u64, fpscr: &mut u32) -> u64 {
    let x = unpack_bits(f, a, fpscr);
    if let Some(nan) = process_nans(f, [(x, a)], fpscr) {
        return nan;
    }
    match x.kind {
        Kind::Zero => F::signed_zero(x.sign),
        _ if x.sign => default_nan(f, fpscr),
        Kind::Infinity => F::infinity(false),
        _ => {
            // An even exponent, and a radicand of 127 or 128 bits: its root has 64.
            let odd = x.exponent & 1;
            let radicand = u128::from(x.significand) << (63 + odd);
            let root = radicand.isqrt();
            let sticky = u128::from(root * root != radicand);
            round_to_format(
                f,
                false,
                (x.exponent - odd) / 2 - 64,
                root << 1 | sticky,
                Rounding::from_fpscr(*fpscr),
                fpscr,
            )
        }
    }
}

/// Returns addend + a × b, rounded once (FPMulAdd).
pub fn fma<F: Format>(f: F, addend: u64, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    let z = unpack_bits(f, addend, fpscr);
    let x = unpack_bits(f, a, fpscr);
    let y = unpack_bits(f, b, fpscr);
    let nan = process_nans(f, [(z, addend), (x, a), (y, b)], fpscr);
    let no_product = matches!((x.kind, y.kind), (Kind::Infinity, Kind::Zero) | (Kind::Zero, Kind::Infinity));
    if no_product && z.is_of_kind(Kind::QuietNan) {
        return default_nan(f, fpscr);
    }
    if let Some(nan) = nan {
        return nan;
    }
    let sign = x.sign ^ y.sign;
    let infinite = x.is_of_kind(Kind::Infinity) || y.is_of_kind(Kind::Infinity);
    let zero = x.is_of_kind(Kind::Zero) || y.is_of_kind(Kind::Zero);
    if no_product || (z.is_of_kind(Kind::Infinity) && infinite && z.sign != sign) {
        default_nan(f, fpscr)
    } else if z.is_of_kind(Kind::Infinity) {
        F::infinity(z.sign)
    } else if infinite {
        F::infinity(sign)
    } else if z.is_of_kind(Kind::Zero) && zero {
        let negative = if z.sign == sign { sign } else { Rounding::from_fpscr(*fpscr) == Rounding::Down };
        F::signed_zero(negative)
    } else if zero {
        round_to_float_format(f, &z, fpscr)
    } else {
        let product = FiniteSumTerm::exact_product(&x, &y);
        if z.is_of_kind(Kind::Zero) {
            return round_to_format(
                f,
                sign,
                product.exponent,
                product.significand,
                Rounding::from_fpscr(*fpscr),
                fpscr,
            );
        }
        rounded_sum_of_terms(f, FiniteSumTerm::from_number(&z), product, fpscr)
    }
}
