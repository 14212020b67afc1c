//! The three formats: taking patterns apart (FPUnpack), rounding into them (FPRound), NaNs (FPProcessNaNs).

use super::Rounding;
use super::fpscr::{AHP, DN, FZ, IDC, IOC, IXC, OFC, UFC};

/// A binary interchange format. A pattern of any of them is held in the low bits of a `u64`.
pub trait Format: Copy {
    /// Width of the whole pattern.
    const BITS: u32;
    /// Width of the stored fraction.
    const FRACTION: u32;
    /// The exponent field with all bits set.
    const EXPONENT_MAX: i32 = (1 << (Self::BITS - 1 - Self::FRACTION)) - 1;
    /// Exponent of the smallest normal number.
    const EXPONENT_MIN: i32 = 1 - (Self::EXPONENT_MAX >> 1);
    /// Mask of the stored fraction.
    const FRACTION_MASK: u64 = (1 << Self::FRACTION) - 1;
    /// The quiet NaN of default NaN mode.
    const DEFAULT_NAN: u64 = ((Self::EXPONENT_MAX as u64) << 1 | 1) << (Self::FRACTION - 1);

    /// Returns a zero with this sign.
    #[inline]
    fn signed_zero(sign: bool) -> u64 {
        u64::from(sign) << (Self::BITS - 1)
    }

    /// Returns an infinity with this sign.
    #[inline]
    fn infinity(sign: bool) -> u64 {
        Self::signed_zero(sign) | (Self::EXPONENT_MAX as u64) << Self::FRACTION
    }
}

/// Marks the floating-point format binary16 (half precision, IEEE 754).
#[derive(Clone, Copy)]
pub struct Binary16;
/// Marks the floating-point format binary32 (single precision, IEEE 754).
#[derive(Clone, Copy)]
pub struct Binary32;
/// Marks the floating-point format binary64 (double precision, IEEE 754).
#[derive(Clone, Copy)]
pub struct Binary64;

impl Format for Binary16 {
    const BITS: u32 = 16;
    const FRACTION: u32 = 10;
}

impl Format for Binary32 {
    const BITS: u32 = 32;
    const FRACTION: u32 = 23;
}

impl Format for Binary64 {
    const BITS: u32 = 64;
    const FRACTION: u32 = 52;
}

/// The kind of number that a bit pattern means: zero, finite, infinity, NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Zero,
    Finite,
    Infinity,
    QuietNan,
    SignalingNan,
}

/// A floating-point bit pattern taken apart into kind, sign, exponent and significand.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    pub kind: Kind,
    pub sign: bool,
    /// Exponent of the leading bit of a finite number.
    pub exponent: i32,
    /// Significand of a finite number, its leading bit in bit 63. The fraction of a NaN.
    pub significand: u64,
}

impl Number {
    /// Returns whether the number is of this kind.
    pub fn is_of_kind(&self, kind: Kind) -> bool {
        self.kind == kind
    }

    /// Returns whether the number is a quiet or signaling NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self.kind, Kind::QuietNan | Kind::SignalingNan)
    }
}

/// Takes a bit pattern apart (FPUnpack). Denormal singles and doubles are flushed in flush-to-zero mode.
#[inline]
pub fn unpack_bits<F: Format>(_: F, pattern: u64, fpscr: &mut u32) -> Number {
    let sign = pattern >> (F::BITS - 1) & 1 != 0;
    let field = (pattern >> F::FRACTION) as i32 & F::EXPONENT_MAX;
    let fraction = pattern & F::FRACTION_MASK;
    let number = |kind, exponent, significand| Number { kind, sign, exponent, significand };
    if field == F::EXPONENT_MAX && !(F::BITS == 16 && *fpscr & AHP != 0) {
        return match fraction {
            0 => number(Kind::Infinity, 0, 0),
            _ if fraction >> (F::FRACTION - 1) != 0 => number(Kind::QuietNan, 0, fraction),
            _ => number(Kind::SignalingNan, 0, fraction),
        };
    }
    if field != 0 {
        let significand = (fraction | 1 << F::FRACTION) << (63 - F::FRACTION);
        return number(Kind::Finite, field - 1 + F::EXPONENT_MIN, significand);
    }
    if fraction == 0 {
        return number(Kind::Zero, 0, 0);
    }
    if F::BITS != 16 && *fpscr & FZ != 0 {
        *fpscr |= IDC;
        return number(Kind::Zero, 0, 0);
    }
    let shift = fraction.leading_zeros();
    number(Kind::Finite, F::EXPONENT_MIN + 63 - F::FRACTION as i32 - shift as i32, fraction << shift)
}

/// Returns the quiet NaN that an operation gives for this NaN (FPProcessNaN).
pub fn process_nan<F: Format>(_: F, pattern: u64, fpscr: &mut u32) -> u64 {
    let quiet = 1 << (F::FRACTION - 1);
    if pattern & quiet == 0 {
        *fpscr |= IOC;
    }
    if *fpscr & DN != 0 { F::DEFAULT_NAN } else { pattern | quiet }
}

/// Returns the result of an operation with NaN operands: the first signaling NaN, else the first quiet one
/// (FPProcessNaNs and FPProcessNaNs3). `None` without NaNs.
#[inline]
pub fn process_nans<F: Format, const N: usize>(f: F, operands: [(Number, u64); N], fpscr: &mut u32) -> Option<u64> {
    let mut nan = None;
    for (number, pattern) in operands {
        if number.is_of_kind(Kind::SignalingNan) {
            return Some(process_nan(f, pattern, fpscr));
        }
        if number.is_of_kind(Kind::QuietNan) && nan.is_none() {
            nan = Some(pattern);
        }
    }
    nan.map(|pattern| process_nan(f, pattern, fpscr))
}

/// Returns the default NaN of an invalid operation, and records the exception.
pub fn default_nan<F: Format>(_: F, fpscr: &mut u32) -> u64 {
    *fpscr |= IOC;
    F::DEFAULT_NAN
}

/// Returns whether rounding increases a magnitude by one. `rest` is what was cut off, as a fraction of 2^128.
#[inline]
pub fn does_rounding_increase(rounding: Rounding, sign: bool, odd: bool, rest: u128) -> bool {
    const HALF: u128 = 1 << 127;
    match rounding {
        Rounding::Nearest => rest > HALF || (rest == HALF && odd),
        Rounding::Away => rest >= HALF,
        Rounding::Up => rest != 0 && !sign,
        Rounding::Down => rest != 0 && sign,
        Rounding::Zero => false,
    }
}

/// Splits `value` × 2^-`cut` into its integer part and the rest, as a fraction of 2^128. If the rest loses bits, it
/// stays correct in whether it is zero, and whether it is below, at or above one half.
#[inline]
pub fn split_integer_and_fraction(value: u128, cut: i32) -> (u128, u128) {
    match cut {
        ..=0 => (value << -cut, 0),
        1..=127 => (value >> cut, value << (128 - cut)),
        128 => (0, value),
        _ => (0, u128::from(value != 0)),
    }
}

/// Rounds ±`significand` × 2^`exponent`, not zero, to the format (FPRound). Bits lost before are or-ed into bit 0 of
/// the significand, far below what the format keeps.
pub fn round_to_format<F: Format>(
    _: F,
    sign: bool,
    exponent: i32,
    significand: u128,
    mode: Rounding,
    fpscr: &mut u32,
) -> u64 {
    let leading = exponent + 127 - significand.leading_zeros() as i32;
    let tiny = leading < F::EXPONENT_MIN;
    if tiny && F::BITS != 16 && *fpscr & FZ != 0 {
        *fpscr |= UFC;
        return F::signed_zero(sign);
    }
    // Exponent of the last bit kept, and the exponent field less the hidden bit that the significand carries itself.
    let last = leading.max(F::EXPONENT_MIN) - F::FRACTION as i32;
    let mut field = (leading - F::EXPONENT_MIN).max(0) as u64;
    let (whole, rest) = split_integer_and_fraction(significand, last - exponent);
    let up = does_rounding_increase(mode, sign, whole & 1 != 0, rest);
    // A carry out of the fraction runs into the exponent field, as it should.
    field = (field << F::FRACTION) + whole as u64 + u64::from(up);
    if tiny && rest != 0 {
        *fpscr |= UFC;
    }
    let alternative = F::BITS == 16 && *fpscr & AHP != 0;
    let exponent_limit = F::EXPONENT_MAX as u64 + u64::from(alternative);
    if field >> F::FRACTION >= exponent_limit {
        if alternative {
            *fpscr |= IOC;
            return F::signed_zero(sign) | 0x7FFF;
        }
        *fpscr |= OFC | IXC;
        let to_infinity = match mode {
            Rounding::Nearest | Rounding::Away => true,
            Rounding::Up => !sign,
            Rounding::Down => sign,
            Rounding::Zero => false,
        };
        return F::infinity(sign) - u64::from(!to_infinity);
    }
    if rest != 0 {
        *fpscr |= IXC;
    }
    F::signed_zero(sign) | field
}
