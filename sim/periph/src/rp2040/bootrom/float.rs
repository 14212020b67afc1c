//! The ROM's single-precision functions (data sheet 2.8.3.2).
//!
//! Arithmetic is IEEE 754 with round-to-nearest-even, done natively (bit-identical on every host). The scientific
//! functions come from `libm`, pure Rust, and are closer to the true value than the ROM's. As in the ROM, denormals
//! count as zero and are returned as zero, and there are no NaNs: one that comes in counts as infinity, and where
//! IEEE would make one the result is infinite (assumed from how the pico-sdk wraps these functions).

use std::cmp::Ordering;

use super::RomFunctionHost;

/// Average cycles in table order. Assumed: remembered from the data sheet's table, not checked against a chip.
const CYCLES: [u32; 32] = [
    71, 74, 69, 71, 37, 37, 63, 37, 39, 38, 38, 55, 53, 55, 52, 587, 589, 669, 600, 542, 775, 40, 599, 62, 59, 57, 56,
    54, 53, 48, 44, 25,
];

/// Returns a float as the ROM's functions read it: denormals become zero, NaNs become infinity, both with their sign.
pub(super) fn flush_denormal_and_nan(bits: u32) -> f32 {
    let sign = bits & 0x8000_0000;
    match bits >> 23 & 0xff {
        0 => f32::from_bits(sign),
        0xff => f32::from_bits(sign | 0x7f80_0000),
        _ => f32::from_bits(bits),
    }
}

/// Returns a result's bits as the ROM returns it. `negative` is the sign of the infinity that stands for a NaN.
fn pack_result(value: f32, negative: bool) -> u32 {
    if value.is_nan() {
        return if negative { 0xff80_0000 } else { 0x7f80_0000 };
    }
    flush_denormal_and_nan(value.to_bits()).to_bits()
}

/// Compares two floats. +0 equals -0 and nothing is unordered.
fn compare_floats(x: f32, y: f32) -> Ordering {
    x.partial_cmp(&y).unwrap_or(Ordering::Equal)
}

/// Sets the flags that a comparison function returns.
pub(super) fn set_compare_flags(host: &mut dyn RomFunctionHost, order: Ordering) {
    // As CMP would leave them: carry means "not below".
    host.set_flags(order == Ordering::Less, order == Ordering::Equal, order != Ordering::Less, false);
}

/// Returns `x * 2^n` rounded towards minus infinity, exact in double precision.
fn scale_by_power_of_two(x: f32, n: u32) -> f64 {
    libm::floor(libm::scalbn(f64::from(x), n as i32))
}

/// Returns the result of a table entry that calculates with floats.
fn float_arithmetic(index: u8, x: f32, y: f32) -> u32 {
    let (sx, sy) = (x.is_sign_negative(), y.is_sign_negative());
    match index {
        0 => pack_result(x + y, sx),
        1 => pack_result(x - y, sx),
        2 => pack_result(x * y, sx != sy),
        3 => pack_result(x / y, sx != sy),
        22 => pack_result(libm::atan2f(x, y), sx),
        // Negative arguments of square root and logarithm give minus infinity.
        6 => pack_result(libm::sqrtf(x), true),
        15 => pack_result(libm::cosf(x), false),
        16 => pack_result(libm::sinf(x), sx),
        17 => pack_result(libm::tanf(x), sx),
        19 => pack_result(libm::expf(x), false),
        _ => pack_result(libm::logf(x), true),
    }
}

/// Returns the result of a table entry that converts an integer or fixed-point number to float.
fn float_from_integer(index: u8, low: u32, high: u32, third: u32) -> f32 {
    let wide = u64::from(high) << 32 | u64::from(low);
    let scale = |value: f32, n: u32| libm::scalbnf(value, (n as i32).wrapping_neg());
    match index {
        11 => low as i32 as f32,
        12 => scale(low as i32 as f32, high),
        13 => low as f32,
        14 => scale(low as f32, high),
        23 => wide as i64 as f32,
        24 => scale(wide as i64 as f32, third),
        25 => wide as f32,
        _ => scale(wide as f32, third),
    }
}

/// Runs table entry `index` and returns its cycles.
pub(super) fn run_float_function(index: u8, host: &mut dyn RomFunctionHost) -> u32 {
    let (r0, r1, r2) = (host.core_register(0), host.core_register(1), host.core_register(2));
    let x = flush_denormal_and_nan(r0);
    match index {
        4 | 21 => host.set_core_register(0, compare_floats(x, flush_denormal_and_nan(r1)) as i32 as u32),
        5 => set_compare_flags(host, compare_floats(x, flush_denormal_and_nan(r1))),
        7 => host.set_core_register(0, scale_by_power_of_two(x, 0) as i32 as u32),
        8 => host.set_core_register(0, scale_by_power_of_two(x, r1) as i32 as u32),
        9 => host.set_core_register(0, scale_by_power_of_two(x, 0) as u32),
        10 => host.set_core_register(0, scale_by_power_of_two(x, r1) as u32),
        11..=14 | 23..=26 => host.set_core_register(0, pack_result(float_from_integer(index, r0, r1, r2), false)),
        27..=30 => {
            let n = if index.is_multiple_of(2) { r1 } else { 0 };
            let whole = scale_by_power_of_two(x, n);
            let bits = if index < 29 { whole as i64 as u64 } else { whole as u64 };
            host.set_core_register(0, bits as u32);
            host.set_core_register(1, (bits >> 32) as u32);
        }
        31 => {
            let bits = f64::from(x).to_bits();
            host.set_core_register(0, bits as u32);
            host.set_core_register(1, (bits >> 32) as u32);
        }
        // The ROM computes sine and cosine together and leaves the other one in R1, which the pico-sdk's
        // sincosf relies on.
        15 => {
            host.set_core_register(0, float_arithmetic(15, x, x));
            host.set_core_register(1, float_arithmetic(16, x, x));
        }
        16 | 18 => {
            host.set_core_register(0, float_arithmetic(16, x, x));
            host.set_core_register(1, float_arithmetic(15, x, x));
        }
        _ => host.set_core_register(0, float_arithmetic(index, x, flush_denormal_and_nan(r1))),
    }
    CYCLES[usize::from(index)]
}
