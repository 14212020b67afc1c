//! The ROM's double-precision functions: the same list, the same rules as [`super::float`].

use std::cmp::Ordering;

use super::RomFunctionHost;
use super::float::{flush_denormal_and_nan as flush_single, set_compare_flags};

/// Average cycles in table order. The last two are the data sheet's. The others are assumed.
const CYCLES: [u32; 32] = [
    91, 95, 155, 183, 39, 39, 169, 75, 74, 63, 62, 69, 68, 64, 63, 1617, 1618, 1891, 1800, 804, 428, 45, 2168, 55, 58,
    55, 56, 64, 64, 53, 52, 23,
];

/// Returns a double as the ROM's functions read it: denormals become zero, NaNs become infinity, both with their sign.
fn flush_denormal_and_nan(bits: u64) -> f64 {
    let sign = bits & 1 << 63;
    match bits >> 52 & 0x7ff {
        0 => f64::from_bits(sign),
        0x7ff => f64::from_bits(sign | 0x7ff << 52),
        _ => f64::from_bits(bits),
    }
}

/// Returns a result's bits as the ROM returns it. `negative` is the sign of the infinity that stands for a NaN.
fn pack_result(value: f64, negative: bool) -> u64 {
    if value.is_nan() {
        return u64::from(negative) << 63 | 0x7ff << 52;
    }
    flush_denormal_and_nan(value.to_bits()).to_bits()
}

/// Compares two doubles. +0 equals -0 and nothing is unordered.
fn compare_doubles(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or(Ordering::Equal)
}

/// Returns `x * 2^n` rounded towards minus infinity.
fn scale_by_power_of_two(x: f64, n: u32) -> f64 {
    libm::floor(libm::scalbn(x, n as i32))
}

/// Returns the result of a table entry that calculates with doubles.
fn double_arithmetic(index: u8, x: f64, y: f64) -> u64 {
    let (sx, sy) = (x.is_sign_negative(), y.is_sign_negative());
    match index {
        0 => pack_result(x + y, sx),
        1 => pack_result(x - y, sx),
        2 => pack_result(x * y, sx != sy),
        3 => pack_result(x / y, sx != sy),
        22 => pack_result(libm::atan2(x, y), sx),
        6 => pack_result(libm::sqrt(x), true),
        15 => pack_result(libm::cos(x), false),
        16 => pack_result(libm::sin(x), sx),
        17 => pack_result(libm::tan(x), sx),
        19 => pack_result(libm::exp(x), false),
        _ => pack_result(libm::log(x), true),
    }
}

/// Returns the result of a table entry that converts an integer or fixed-point number to double.
fn double_from_integer(index: u8, low: u32, high: u32, third: u32) -> f64 {
    let wide = u64::from(high) << 32 | u64::from(low);
    let scale = |value: f64, n: u32| libm::scalbn(value, (n as i32).wrapping_neg());
    match index {
        11 => f64::from(low as i32),
        12 => scale(f64::from(low as i32), high),
        13 => f64::from(low),
        14 => scale(f64::from(low), high),
        23 => wide as i64 as f64,
        24 => scale(wide as i64 as f64, third),
        25 => wide as f64,
        _ => scale(wide as f64, third),
    }
}

/// Returns the 64 bits in two registers, `low` first.
fn doubleword_from_registers(host: &dyn RomFunctionHost, low: usize) -> u64 {
    u64::from(host.core_register(low + 1)) << 32 | u64::from(host.core_register(low))
}

/// Writes 64 bits into two registers, `low` first.
fn write_doubleword_to_registers(host: &mut dyn RomFunctionHost, low: usize, value: u64) {
    host.set_core_register(low, value as u32);
    host.set_core_register(low + 1, (value >> 32) as u32);
}

/// Runs table entry `index` and returns its cycles.
pub(super) fn run_rom_double_function(index: u8, host: &mut dyn RomFunctionHost) -> u32 {
    let (r0, r1, r2) = (host.core_register(0), host.core_register(1), host.core_register(2));
    let x = flush_denormal_and_nan(doubleword_from_registers(host, 0));
    let y = flush_denormal_and_nan(doubleword_from_registers(host, 2));
    match index {
        4 | 21 => host.set_core_register(0, compare_doubles(x, y) as i32 as u32),
        5 => set_compare_flags(host, compare_doubles(x, y)),
        7 => host.set_core_register(0, scale_by_power_of_two(x, 0) as i32 as u32),
        8 => host.set_core_register(0, scale_by_power_of_two(x, r2) as i32 as u32),
        9 => host.set_core_register(0, scale_by_power_of_two(x, 0) as u32),
        10 => host.set_core_register(0, scale_by_power_of_two(x, r2) as u32),
        11..=14 | 23..=26 => {
            write_doubleword_to_registers(host, 0, pack_result(double_from_integer(index, r0, r1, r2), false))
        }
        27..=30 => {
            let n = if index.is_multiple_of(2) { r2 } else { 0 };
            let whole = scale_by_power_of_two(x, n);
            write_doubleword_to_registers(host, 0, if index < 29 { whole as i64 as u64 } else { whole as u64 });
        }
        31 => host.set_core_register(0, flush_single((x as f32).to_bits()).to_bits()),
        18 => {
            write_doubleword_to_registers(host, 0, double_arithmetic(16, x, x));
            write_doubleword_to_registers(host, 2, double_arithmetic(15, x, x));
        }
        _ => write_doubleword_to_registers(host, 0, double_arithmetic(index, x, y)),
    }
    CYCLES[usize::from(index)]
}
