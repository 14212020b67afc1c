//! The arithmetic of the Cortex-M4F and M7 floating-point units, on bit patterns and FPSCR.
//!
//! Every function is the pseudocode function of the ARMv7-M manual (DDI0403E A2.5) for an instruction: rounding mode,
//! flush-to-zero, default NaN and alternative half precision come from `fpscr`, cumulative exceptions go there. Single
//! precision is a `u32`, double a `u64`, half the low 16 bits of a `u32`.
//!
//! The general path is integer arithmetic and the definition of the results. Rounding to nearest on normal operands
//! goes through the host's IEEE arithmetic in [`fast`], where result and inexactness are provably the same. Nothing
//! depends on the host's NaNs, rounding mode or fused operations.

mod arith;
mod compare;
mod convert;
mod fast;
mod format;
#[cfg(test)]
mod tests;

use format::{Binary16, Binary32, Binary64};

/// Bits of FPSCR.
pub mod fpscr {
    /// Invalid operation.
    pub const IOC: u32 = 1 << 0;
    /// Division by zero.
    pub const DZC: u32 = 1 << 1;
    /// Overflow.
    pub const OFC: u32 = 1 << 2;
    /// Underflow.
    pub const UFC: u32 = 1 << 3;
    /// Inexact.
    pub const IXC: u32 = 1 << 4;
    /// Denormal input flushed to zero.
    pub const IDC: u32 = 1 << 7;
    /// Rounding mode, bits 23:22.
    pub const RMODE: u32 = 3 << 22;
    /// Flush-to-zero mode.
    pub const FZ: u32 = 1 << 24;
    /// Default NaN mode.
    pub const DN: u32 = 1 << 25;
    /// Alternative half precision.
    pub const AHP: u32 = 1 << 26;
    /// N, Z, C and V of the last comparison.
    pub const NZCV: u32 = 15 << 28;
}

/// The rounding mode of a result that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Rounds to nearest, ties to even.
    Nearest,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
    /// Rounds to nearest, ties away from zero (VCVTA, VRINTA).
    Away,
}

impl Rounding {
    /// Returns the rounding mode that FPSCR selects.
    #[inline]
    pub fn from_fpscr(fpscr: u32) -> Rounding {
        [Rounding::Nearest, Rounding::Up, Rounding::Down, Rounding::Zero][(fpscr >> 22 & 3) as usize]
    }
}

/// The integer or fixed-point side of a conversion: its size, sign and fraction bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedPoint {
    /// Width, 16 or 32.
    pub bits: u32,
    /// Two's complement, otherwise unsigned.
    pub signed: bool,
    /// Bits after the binary point, 0 for an integer.
    pub fraction: u32,
}

impl FixedPoint {
    /// A signed 32-bit integer.
    pub const I32: FixedPoint = FixedPoint { bits: 32, signed: true, fraction: 0 };
    /// An unsigned 32-bit integer.
    pub const U32: FixedPoint = FixedPoint { bits: 32, signed: false, fraction: 0 };
}

/// Functions that exist in both precisions: a fast path, and the general one where it does not answer.
macro_rules! both {
    ($($(#[$doc:meta])* $single:ident $double:ident ($($arg:ident),+) = $name:ident;)+) => { $(
        $(#[$doc])*
        #[inline]
        pub fn $single($($arg: u32,)+ fpscr: &mut u32) -> u32 {
            fast::single::$name($($arg,)+ fpscr)
                .unwrap_or_else(|| arith::$name(Binary32, $(u64::from($arg),)+ fpscr) as u32)
        }

        $(#[$doc])*
        #[inline]
        pub fn $double($($arg: u64,)+ fpscr: &mut u32) -> u64 {
            fast::double::$name($($arg,)+ fpscr).unwrap_or_else(|| arith::$name(Binary64, $($arg,)+ fpscr))
        }
    )+ };
}

both! {
    /// Returns a + b (VADD).
    f32_add f64_add (a, b) = add;
    /// Returns a − b (VSUB).
    f32_sub f64_sub (a, b) = sub;
    /// Returns a × b (VMUL). For VNMUL the caller negates the result.
    f32_mul f64_mul (a, b) = mul;
    /// Returns a / b (VDIV).
    f32_div f64_div (a, b) = div;
    /// Returns the square root of a (VSQRT).
    f32_sqrt f64_sqrt (a) = sqrt;
}

/// Returns addend + a × b, rounded once (VFMA). For VFMS the caller negates `a`, for VFNMS the addend, for VFNMA both.
#[inline]
pub fn f32_fma(addend: u32, a: u32, b: u32, fpscr: &mut u32) -> u32 {
    fast::single::fma(addend, a, b, fpscr)
        .unwrap_or_else(|| arith::fma(Binary32, u64::from(addend), u64::from(a), u64::from(b), fpscr) as u32)
}

/// Returns addend + a × b, rounded once (VFMA). For VFMS the caller negates `a`, for VFNMS the addend, for VFNMA both.
#[inline]
pub fn f64_fma(addend: u64, a: u64, b: u64, fpscr: &mut u32) -> u64 {
    arith::fma(Binary64, addend, a, b, fpscr)
}

/// Returns `a` with the opposite sign, also for a NaN (VNEG).
#[inline]
pub fn f32_neg(a: u32) -> u32 {
    a ^ 1 << 31
}

/// Returns `a` with the opposite sign, also for a NaN (VNEG).
#[inline]
pub fn f64_neg(a: u64) -> u64 {
    a ^ 1 << 63
}

/// Returns `a` without its sign, also for a NaN (VABS).
#[inline]
pub fn f32_abs(a: u32) -> u32 {
    a & !(1 << 31)
}

/// Returns `a` without its sign, also for a NaN (VABS).
#[inline]
pub fn f64_abs(a: u64) -> u64 {
    a & !(1 << 63)
}

/// Returns addend + a × b, with the product rounded before the sum (VMLA). VMLS and VNMLA negate the product
/// (`negate_product`), for VNMLS and VNMLA the caller negates the addend.
#[inline]
pub fn f32_mla(addend: u32, a: u32, b: u32, negate_product: bool, fpscr: &mut u32) -> u32 {
    let product = f32_mul(a, b, fpscr) ^ u32::from(negate_product) << 31;
    f32_add(addend, product, fpscr)
}

/// Returns addend + a × b, with the product rounded before the sum (VMLA). VMLS and VNMLA negate the product
/// (`negate_product`), for VNMLS and VNMLA the caller negates the addend.
#[inline]
pub fn f64_mla(addend: u64, a: u64, b: u64, negate_product: bool, fpscr: &mut u32) -> u64 {
    let product = f64_mul(a, b, fpscr) ^ u64::from(negate_product) << 63;
    f64_add(addend, product, fpscr)
}

/// Compares `a` with `b`, and writes the relation to FPSCR.NZCV (VCMP). `quiet_signals`: a quiet NaN is an invalid
/// operation (VCMPE).
#[inline]
pub fn f32_cmp(a: u32, b: u32, quiet_signals: bool, fpscr: &mut u32) {
    compare::compare_to_fpscr(Binary32, u64::from(a), u64::from(b), quiet_signals, fpscr);
}

/// Compares `a` with `b`, and writes the relation to FPSCR.NZCV (VCMP). `quiet_signals`: a quiet NaN is an invalid
/// operation (VCMPE).
#[inline]
pub fn f64_cmp(a: u64, b: u64, quiet_signals: bool, fpscr: &mut u32) {
    compare::compare_to_fpscr(Binary64, a, b, quiet_signals, fpscr);
}

/// Returns the larger of two numbers, or the number if the other one is a quiet NaN (VMAXNM).
#[inline]
pub fn f32_maxnm(a: u32, b: u32, fpscr: &mut u32) -> u32 {
    compare::maxnm(Binary32, u64::from(a), u64::from(b), fpscr) as u32
}

/// Returns the larger of two numbers, or the number if the other one is a quiet NaN (VMAXNM).
#[inline]
pub fn f64_maxnm(a: u64, b: u64, fpscr: &mut u32) -> u64 {
    compare::maxnm(Binary64, a, b, fpscr)
}

/// Returns the smaller of two numbers, or the number if the other one is a quiet NaN (VMINNM).
#[inline]
pub fn f32_minnm(a: u32, b: u32, fpscr: &mut u32) -> u32 {
    compare::minnm(Binary32, u64::from(a), u64::from(b), fpscr) as u32
}

/// Returns the smaller of two numbers, or the number if the other one is a quiet NaN (VMINNM).
#[inline]
pub fn f64_minnm(a: u64, b: u64, fpscr: &mut u32) -> u64 {
    compare::minnm(Binary64, a, b, fpscr)
}

/// Returns `a` rounded to an integral value (VRINT{A,N,P,M,Z,R}). `exact`: sets FPSCR's flag of inexact results if that
/// changes the value (VRINTX).
#[inline]
pub fn f32_rint(a: u32, rounding: Rounding, exact: bool, fpscr: &mut u32) -> u32 {
    convert::round_to_integral(Binary32, u64::from(a), rounding, exact, fpscr) as u32
}

/// Returns `a` rounded to an integral value (VRINT{A,N,P,M,Z,R}). `exact`: sets FPSCR's flag of inexact results if that
/// changes the value (VRINTX).
#[inline]
pub fn f64_rint(a: u64, rounding: Rounding, exact: bool, fpscr: &mut u32) -> u64 {
    convert::round_to_integral(Binary64, a, rounding, exact, fpscr)
}

/// Converts a floating-point number to an integer or fixed-point number, saturating (VCVT, VCVTR, VCVT{A,N,P,M}). The
/// result is sign- or zero-extended to 32 bits.
#[inline]
pub fn f32_to_fixed(a: u32, to: FixedPoint, rounding: Rounding, fpscr: &mut u32) -> u32 {
    convert::float_to_fixed_point(Binary32, u64::from(a), to, rounding, fpscr)
}

/// Converts a floating-point number to an integer or fixed-point number, saturating (VCVT, VCVTR, VCVT{A,N,P,M}). The
/// result is sign- or zero-extended to 32 bits.
#[inline]
pub fn f64_to_fixed(a: u64, to: FixedPoint, rounding: Rounding, fpscr: &mut u32) -> u32 {
    convert::float_to_fixed_point(Binary64, a, to, rounding, fpscr)
}

/// Converts an integer, with FPSCR's rounding, or the low bits of a fixed-point number, with rounding to nearest, to a
/// single (VCVT.F32).
#[inline]
pub fn fixed_to_f32(value: u32, from: FixedPoint, rounding: Rounding, fpscr: &mut u32) -> u32 {
    convert::convert_fixed_point_to_float(Binary32, value, from, rounding, fpscr) as u32
}

/// Converts an integer, with FPSCR's rounding, or the low bits of a fixed-point number, with rounding to nearest, to a
/// double (VCVT.F64).
#[inline]
pub fn fixed_to_f64(value: u32, from: FixedPoint, rounding: Rounding, fpscr: &mut u32) -> u64 {
    convert::convert_fixed_point_to_float(Binary64, value, from, rounding, fpscr)
}

/// Converts a single to a double (VCVT.F64.F32).
#[inline]
pub fn f32_to_f64(a: u32, fpscr: &mut u32) -> u64 {
    convert::convert_float_format(Binary32, Binary64, u64::from(a), fpscr)
}

/// Converts a double to a single (VCVT.F32.F64).
#[inline]
pub fn f64_to_f32(a: u64, fpscr: &mut u32) -> u32 {
    convert::convert_float_format(Binary64, Binary32, a, fpscr) as u32
}

/// Converts the half in the low 16 bits of `a` to a single (VCVTB and VCVTT .F32.F16).
#[inline]
pub fn f16_to_f32(a: u32, fpscr: &mut u32) -> u32 {
    convert::convert_float_format(Binary16, Binary32, u64::from(a & 0xFFFF), fpscr) as u32
}

/// Converts a single to a half, in the low 16 bits of the result (VCVTB and VCVTT .F16.F32).
#[inline]
pub fn f32_to_f16(a: u32, fpscr: &mut u32) -> u32 {
    convert::convert_float_format(Binary32, Binary16, u64::from(a), fpscr) as u32
}

/// Converts the half in the low 16 bits of `a` to a double (VCVTB and VCVTT .F64.F16).
#[inline]
pub fn f16_to_f64(a: u32, fpscr: &mut u32) -> u64 {
    convert::convert_float_format(Binary16, Binary64, u64::from(a & 0xFFFF), fpscr)
}

/// Converts a double to a half, in the low 16 bits of the result (VCVTB and VCVTT .F16.F64).
#[inline]
pub fn f64_to_f16(a: u64, fpscr: &mut u32) -> u32 {
    convert::convert_float_format(Binary64, Binary16, a, fpscr) as u32
}
