//! Conversions between formats, to and from integers and fixed point, and to integral values.

use super::format::{
    Format, Kind, does_rounding_increase, process_nan, round_to_format, split_integer_and_fraction, unpack_bits,
};
use super::fpscr::{AHP, DN, IOC, IXC};
use super::{FixedPoint, Rounding};

/// Converts a floating-point number to an integer or fixed-point number, saturating (FPToFixed).
pub fn float_to_fixed_point<F: Format>(f: F, a: u64, to: FixedPoint, rounding: Rounding, fpscr: &mut u32) -> u32 {
    let x = unpack_bits(f, a, fpscr);
    let (highest, lowest) = match to.signed {
        true => ((1i128 << (to.bits - 1)) - 1, -(1i128 << (to.bits - 1))),
        false => ((1i128 << to.bits) - 1, 0),
    };
    let scaled = x.exponent + to.fraction as i32;
    let (value, inexact) = match x.kind {
        Kind::QuietNan | Kind::SignalingNan => {
            *fpscr |= IOC;
            return 0;
        }
        Kind::Zero => (0, false),
        Kind::Finite if scaled < 64 => {
            let (whole, rest) = split_integer_and_fraction(u128::from(x.significand), 63 - scaled);
            let up = does_rounding_increase(rounding, x.sign, whole & 1 != 0, rest);
            let magnitude = (whole + u128::from(up)) as i128;
            (if x.sign { -magnitude } else { magnitude }, rest != 0)
        }
        _ if x.sign => (i128::MIN, false),
        _ => (i128::MAX, false),
    };
    let result = value.clamp(lowest, highest);
    if result != value {
        *fpscr |= IOC;
    } else if inexact {
        *fpscr |= IXC;
    }
    result as u32
}

/// Converts an integer or fixed-point number to floating point (FixedToFP).
pub fn convert_fixed_point_to_float<F: Format>(
    f: F,
    value: u32,
    from: FixedPoint,
    rounding: Rounding,
    fpscr: &mut u32,
) -> u64 {
    let value = match (from.signed, from.bits) {
        (true, 16) => i64::from(value as i16),
        (true, _) => i64::from(value as i32),
        (false, 16) => i64::from(value as u16),
        (false, _) => i64::from(value),
    };
    if value == 0 {
        return 0;
    }
    round_to_format(f, value < 0, -(from.fraction as i32), u128::from(value.unsigned_abs()), rounding, fpscr)
}

/// Rounds a floating-point number to an integral value, which stays floating-point (FPRoundInt).
/// `exact`: sets the cumulative flag of inexact results in `fpscr` if rounding changed the value.
pub fn round_to_integral<F: Format>(f: F, a: u64, rounding: Rounding, exact: bool, fpscr: &mut u32) -> u64 {
    let x = unpack_bits(f, a, fpscr);
    match x.kind {
        Kind::QuietNan | Kind::SignalingNan => process_nan(f, a, fpscr),
        Kind::Infinity => a,
        Kind::Zero => F::signed_zero(x.sign),
        Kind::Finite if x.exponent >= F::FRACTION as i32 => a,
        Kind::Finite => {
            let (whole, rest) = split_integer_and_fraction(u128::from(x.significand), 63 - x.exponent);
            let whole = whole + u128::from(does_rounding_increase(rounding, x.sign, whole & 1 != 0, rest));
            if exact && rest != 0 {
                *fpscr |= IXC;
            }
            if whole == 0 {
                return F::signed_zero(x.sign);
            }
            round_to_format(f, x.sign, 0, whole, rounding, fpscr)
        }
    }
}

/// Converts a number from one floating-point format to another.
pub fn convert_float_format<F: Format, T: Format>(from: F, to: T, a: u64, fpscr: &mut u32) -> u64 {
    let x = unpack_bits(from, a, fpscr);
    let alternative = T::BITS == 16 && *fpscr & AHP != 0;
    match x.kind {
        Kind::QuietNan | Kind::SignalingNan => {
            if alternative || x.is_of_kind(Kind::SignalingNan) {
                *fpscr |= IOC;
            }
            if alternative {
                return T::signed_zero(x.sign);
            }
            if *fpscr & DN != 0 {
                return T::DEFAULT_NAN;
            }
            // The fraction is cut off or filled up at its low end.
            let fraction = match F::FRACTION.checked_sub(T::FRACTION) {
                Some(cut) => x.significand >> cut,
                None => x.significand << (T::FRACTION - F::FRACTION),
            };
            T::signed_zero(x.sign) | T::DEFAULT_NAN | fraction
        }
        Kind::Infinity if alternative => {
            *fpscr |= IOC;
            T::signed_zero(x.sign) | 0x7FFF
        }
        Kind::Infinity => T::infinity(x.sign),
        Kind::Zero => T::signed_zero(x.sign),
        Kind::Finite => {
            round_to_format(to, x.sign, x.exponent - 63, u128::from(x.significand), Rounding::from_fpscr(*fpscr), fpscr)
        }
    }
}
