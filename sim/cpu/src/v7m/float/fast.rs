//! Rounding to nearest on normal operands by the host's IEEE arithmetic.
//!
//! Each function answers only when its result is that of the general path: operands normal or zero, result normal
//! (or an exact zero), not at the edge of underflow. Then the only exception possible is inexactness, and each decides
//! it exactly. `None` sends the caller to the general path.

use super::fpscr::{IXC, RMODE};

/// Returns a sum and its rounding error (Knuth's TwoSum): exact while nothing overflows.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// Returns whether FPSCR selects rounding to nearest, the only mode of the fast paths.
#[inline]
fn rounds_to_nearest(fpscr: u32) -> bool {
    fpscr & RMODE == 0
}

/// Sets the cumulative inexact flag in FPSCR if `inexact`.
#[inline]
fn record_inexact(inexact: bool, fpscr: &mut u32) {
    *fpscr |= if inexact { IXC } else { 0 };
}

/// Single precision by way of double: 53 bits are more than twice 24 and two, so that rounding twice is innocuous.
pub mod single {
    use super::{record_inexact, rounds_to_nearest, two_sum};

    /// Twice the smallest normal number: below it a result may have been tiny before it was rounded.
    const SAFE: f64 = f32::MIN_POSITIVE as f64 * 2.0;

    /// Returns the value of a normal number or zero. `None` for other patterns.
    #[inline]
    fn normal_or_zero_value(a: u32) -> Option<f64> {
        let normal = (a >> 23).wrapping_add(1) & 0xFF >= 2;
        (normal || a << 1 == 0).then(|| f64::from(f32::from_bits(a)))
    }

    /// Returns whether a result does not overflow and is far enough from underflow.
    #[inline]
    fn is_far_from_float_range_limits(value: f64, result: f32) -> bool {
        value.abs() >= SAFE && result.is_finite()
    }

    /// Returns a + b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn add(a: u32, b: u32, fpscr: &mut u32) -> Option<u32> {
        if !rounds_to_nearest(*fpscr) {
            return None;
        }
        let (sum, error) = two_sum(normal_or_zero_value(a)?, normal_or_zero_value(b)?);
        let result = sum as f32;
        if !is_far_from_float_range_limits(sum, result) && sum != 0.0 {
            return None;
        }
        record_inexact(error != 0.0 || f64::from(result) != sum, fpscr);
        Some(result.to_bits())
    }

    /// Returns a − b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn sub(a: u32, b: u32, fpscr: &mut u32) -> Option<u32> {
        add(a, b ^ 1 << 31, fpscr)
    }

    /// Returns a × b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn mul(a: u32, b: u32, fpscr: &mut u32) -> Option<u32> {
        if !rounds_to_nearest(*fpscr) {
            return None;
        }
        let product = normal_or_zero_value(a)? * normal_or_zero_value(b)?;
        let result = product as f32;
        if !is_far_from_float_range_limits(product, result) && product != 0.0 {
            return None;
        }
        record_inexact(f64::from(result) != product, fpscr);
        Some(result.to_bits())
    }

    /// Returns a / b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn div(a: u32, b: u32, fpscr: &mut u32) -> Option<u32> {
        let (x, y) = (normal_or_zero_value(a)?, normal_or_zero_value(b)?);
        if !rounds_to_nearest(*fpscr) || y == 0.0 {
            return None;
        }
        let quotient = x / y;
        let result = quotient as f32;
        if !is_far_from_float_range_limits(quotient, result) && x != 0.0 {
            return None;
        }
        record_inexact(f64::from(result) * y != x, fpscr);
        Some(result.to_bits())
    }

    /// Returns the square root of a by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn sqrt(a: u32, fpscr: &mut u32) -> Option<u32> {
        let x = normal_or_zero_value(a)?;
        if !rounds_to_nearest(*fpscr) || x <= 0.0 {
            return None;
        }
        let result = x.sqrt() as f32;
        record_inexact(f64::from(result) * f64::from(result) != x, fpscr);
        Some(result.to_bits())
    }

    /// Returns addend + a × b, rounded once, by the host's arithmetic. `None` if the general path must compute it. An
    /// inexact double-precision sum is made odd, so that rounding it to single precision gives the right result.
    #[inline]
    pub fn fma(addend: u32, a: u32, b: u32, fpscr: &mut u32) -> Option<u32> {
        if !rounds_to_nearest(*fpscr) {
            return None;
        }
        let (mut sum, error) =
            two_sum(normal_or_zero_value(a)? * normal_or_zero_value(b)?, normal_or_zero_value(addend)?);
        if error != 0.0 && sum.to_bits() & 1 == 0 {
            let away = (error > 0.0) == (sum > 0.0);
            sum = f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 });
        }
        let result = sum as f32;
        if !is_far_from_float_range_limits(sum, result) && (sum != 0.0 || error != 0.0) {
            return None;
        }
        record_inexact(error != 0.0 || f64::from(result) != sum, fpscr);
        Some(result.to_bits())
    }
}

/// Double precision. Exactness of products, quotients and roots is told by their integer significands.
pub mod double {
    use super::{record_inexact, rounds_to_nearest, two_sum};

    /// Returns the exponent field of a double.
    #[inline]
    fn exponent_field(a: u64) -> u64 {
        a >> 52 & 0x7FF
    }

    /// Returns the value of zero or of a number far enough from overflow and underflow that no intermediate result
    /// meets them.
    #[inline]
    fn normal_or_zero_value(a: u64) -> Option<f64> {
        ((2..0x7FD).contains(&exponent_field(a)) || a << 1 == 0).then(|| f64::from_bits(a))
    }

    /// Returns the significand of a double with its leading bit.
    #[inline]
    fn significand(a: u64) -> u128 {
        u128::from(a & ((1 << 52) - 1) | 1 << 52)
    }

    /// Returns whether the exact product of two significands equals the third one, apart from the position of the
    /// binary point.
    #[inline]
    fn is_exact_significand_product(a: u64, b: u64, product: u64) -> bool {
        let exact = significand(a) * significand(b);
        exact << exact.leading_zeros() == significand(product) << 75
    }

    /// Returns a + b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn add(a: u64, b: u64, fpscr: &mut u32) -> Option<u64> {
        if !rounds_to_nearest(*fpscr) {
            return None;
        }
        let (sum, error) = two_sum(normal_or_zero_value(a)?, normal_or_zero_value(b)?);
        normal_or_zero_value(sum.to_bits())?;
        record_inexact(error != 0.0, fpscr);
        Some(sum.to_bits())
    }

    /// Returns a − b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn sub(a: u64, b: u64, fpscr: &mut u32) -> Option<u64> {
        add(a, b ^ 1 << 63, fpscr)
    }

    /// Returns a × b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn mul(a: u64, b: u64, fpscr: &mut u32) -> Option<u64> {
        let (x, y) = (normal_or_zero_value(a)?, normal_or_zero_value(b)?);
        let result = (x * y).to_bits();
        normal_or_zero_value(result)?;
        if !rounds_to_nearest(*fpscr) || x == 0.0 || y == 0.0 || result << 1 == 0 {
            return None;
        }
        record_inexact(!is_exact_significand_product(a, b, result), fpscr);
        Some(result)
    }

    /// Returns a / b by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn div(a: u64, b: u64, fpscr: &mut u32) -> Option<u64> {
        let (x, y) = (normal_or_zero_value(a)?, normal_or_zero_value(b)?);
        if !rounds_to_nearest(*fpscr) || x == 0.0 || y == 0.0 {
            return None;
        }
        let result = (x / y).to_bits();
        normal_or_zero_value(result)?;
        if result << 1 == 0 {
            return None;
        }
        record_inexact(!is_exact_significand_product(result, b, a), fpscr);
        Some(result)
    }

    /// Returns the square root of a by the host's arithmetic. `None` if the general path must compute it.
    #[inline]
    pub fn sqrt(a: u64, fpscr: &mut u32) -> Option<u64> {
        let x = normal_or_zero_value(a)?;
        if !rounds_to_nearest(*fpscr) || x <= 0.0 {
            return None;
        }
        let result = x.sqrt().to_bits();
        record_inexact(!is_exact_significand_product(result, result, a), fpscr);
        Some(result)
    }
}
