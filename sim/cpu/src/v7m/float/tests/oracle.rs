//! What LLVM's APFloat, which shares nothing with this code, says an operation gives on ARM.

use super::super::fpscr::{DZC, FZ, IDC, IOC, IXC, OFC, UFC};
use super::super::*;
use rustc_apfloat::ieee::{Double as ApDouble, Quad, Single as ApSingle};
use rustc_apfloat::{Category, Float, FloatConvert, Round, Status, StatusAnd};

pub const MODES: [(Rounding, Round); 4] = [
    (Rounding::Nearest, Round::NearestTiesToEven),
    (Rounding::Up, Round::TowardPositive),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Zero, Round::TowardZero),
];

/// A generator of test patterns (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A pattern whose exponent is near `middle`, with often few bits in its fraction.
    pub fn pattern<A: Shape>(&mut self, middle: u64, spread: u64) -> u64 {
        let bits = self.next();
        let exponent = (middle + bits % spread).saturating_sub(spread / 2).min((1 << (A::WIDTH - 1 - A::FRACTION)) - 2);
        let mut fraction = self.next() & ((1 << A::FRACTION) - 1);
        if bits >> 32 & 3 == 0 {
            fraction &= u64::MAX << (self.next() % u64::from(A::FRACTION));
        }
        (bits >> 63) << (A::WIDTH - 1) | exponent << A::FRACTION | fraction
    }
}

/// One precision: how to call this code and the oracle.
pub trait Shape: Float + FloatConvert<Quad> {
    const WIDTH: u32;
    const FRACTION: u32;
    fn call(operation: Operation, operands: [u64; 3], fpscr: &mut u32) -> u64;

    /// Patterns at every edge of the format, both signs, no NaNs.
    fn corners() -> Vec<u64> {
        let one = ((1u64 << (Self::WIDTH - 2 - Self::FRACTION)) - 1) << Self::FRACTION;
        let ulp = 1 << Self::FRACTION;
        let top = ((1u64 << (Self::WIDTH - 1 - Self::FRACTION)) - 1) << Self::FRACTION;
        let positive = [
            0,
            1,
            2,
            3,
            ulp / 2,
            ulp - 1,
            ulp,
            ulp + 1,
            2 * ulp - 1,
            2 * ulp,
            3 * ulp + 5,
            one - 1,
            one,
            one + 1,
            one + ulp / 2,
            one + ulp,
            one + ulp + ulp / 4,
            one - ulp,
            one / 2,
            one / 2 + 1,
            one + one / 2,
            one + u64::from(Self::FRACTION) * ulp + 1,
            one + u64::from(Self::FRACTION + 1) * ulp,
            one - u64::from(Self::FRACTION) * ulp,
            top - 1,
            top - ulp,
            top - 2 * ulp + 1,
            top,
        ];
        positive.iter().flat_map(|&p| [p, p | 1 << (Self::WIDTH - 1)]).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Sqrt,
}

macro_rules! shape {
    ($ap:ty, $width:ty, $bits:literal, $fraction:literal, $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident) => {
        impl Shape for $ap {
            const WIDTH: u32 = $bits;
            const FRACTION: u32 = $fraction;
            fn call(operation: Operation, [a, b, c]: [u64; 3], fpscr: &mut u32) -> u64 {
                let (a, b, c) = (a as $width, b as $width, c as $width);
                u64::from(match operation {
                    Operation::Add => $add(a, b, fpscr),
                    Operation::Sub => $sub(a, b, fpscr),
                    Operation::Mul => $mul(a, b, fpscr),
                    Operation::Div => $div(a, b, fpscr),
                    Operation::Fma => $fma(c, a, b, fpscr),
                    Operation::Sqrt => $sqrt(a, fpscr),
                })
            }
        }
    };
}
shape!(ApSingle, u32, 32, 23, f32_add f32_sub f32_mul f32_div f32_fma f32_sqrt);
shape!(ApDouble, u64, 64, 52, f64_add f64_sub f64_mul f64_div f64_fma f64_sqrt);

/// Turns an oracle's answer in one rounding mode, and the one towards zero, into pattern and FPSCR flags. Tininess is
/// detected before rounding, as ARM does: what rounds towards zero to a denormal is tiny. The oracle does not call it
/// overflow when a result beyond the format is rounded to the largest finite number: `wide`, the result towards zero
/// in quadruple precision, tells.
pub fn arm_result<A: Float>(
    result: StatusAnd<A>,
    truncated: StatusAnd<A>,
    wide: Quad,
    default_nan: u64,
    flush: bool,
) -> (u64, u32) {
    if result.value.is_nan() {
        return (default_nan, IOC);
    }
    let beyond = wide.category() == Category::Normal && wide.ilogb() > A::largest().ilogb();
    let inexact = truncated.status.contains(Status::INEXACT);
    let zero = truncated.value.is_zero();
    if (zero && inexact) || truncated.value.is_denormal() {
        if flush {
            let sign = if truncated.value.is_negative() { -A::ZERO } else { A::ZERO };
            return (sign.to_bits() as u64, UFC);
        }
        return (result.value.to_bits() as u64, if inexact { UFC | IXC } else { 0 });
    }
    let mut flags = if beyond { OFC | IXC } else { 0 };
    for (status, flag) in
        [(Status::DIV_BY_ZERO, DZC), (Status::OVERFLOW, OFC | IXC), (Status::INEXACT, IXC), (Status::INVALID_OP, IOC)]
    {
        flags |= if result.status.contains(status) { flag } else { 0 };
    }
    (result.value.to_bits() as u64, flags)
}

fn default_nan<A: Shape>() -> u64 {
    (1u64 << (A::WIDTH - 1)) - (1 << (A::FRACTION - 1))
}

/// What the oracle expects, NaN operands excluded.
fn expected<A: Shape>(operation: Operation, operands: [u64; 3], round: Round, flush: bool) -> (u64, u32) {
    let mut flags = 0;
    let used = match operation {
        Operation::Sqrt => 1,
        Operation::Fma => 3,
        _ => 2,
    };
    let mut values = operands.map(|bits| A::from_bits(u128::from(bits)));
    for value in &mut values[..used] {
        if flush && value.is_denormal() {
            *value = if value.is_negative() { -A::ZERO } else { A::ZERO };
            flags |= IDC;
        }
    }
    let [a, b, c] = values;
    let at = |round| match operation {
        Operation::Add => a.add_r(b, round),
        Operation::Sub => a.sub_r(b, round),
        Operation::Mul => a.mul_r(b, round),
        Operation::Div => a.div_r(b, round),
        Operation::Fma => a.mul_add_r(b, c, round),
        Operation::Sqrt => root(a, round),
    };
    let [x, y, z] = values.map(widen);
    let wide = match operation {
        Operation::Add => x.add_r(y, Round::TowardZero).value,
        Operation::Sub => x.sub_r(y, Round::TowardZero).value,
        Operation::Mul => x.mul_r(y, Round::TowardZero).value,
        Operation::Div => x.div_r(y, Round::TowardZero).value,
        Operation::Fma => x.mul_add_r(y, z, Round::TowardZero).value,
        Operation::Sqrt => Quad::ZERO,
    };
    let (bits, raised) = arm_result(at(round), at(Round::TowardZero), wide, default_nan::<A>(), flush);
    (bits, flags | raised)
}

pub fn widen<A: FloatConvert<Quad>>(value: A) -> Quad {
    let mut loses = false;
    value.convert_r(Round::TowardZero, &mut loses).value
}

/// The root by definition: the candidate whose square in quadruple precision is on the right side of the operand.
fn root<A: Shape>(a: A, round: Round) -> StatusAnd<A> {
    if a.is_zero() || (a.category() == Category::Infinity && !a.is_negative()) {
        return Status::OK.and(a);
    }
    if a.is_negative() {
        return Status::INVALID_OP.and(A::NAN);
    }
    let operand = widen(a);
    // The largest A whose square does not exceed the operand, by bisection of its pattern.
    let (mut low, mut high) = (0u128, A::INFINITY.to_bits());
    while high - low > 1 {
        let middle = (low + high) / 2;
        let candidate = widen(A::from_bits(middle));
        if (candidate * candidate).value <= operand { low = middle } else { high = middle }
    }
    let floor = A::from_bits(low);
    let square = (widen(floor) * widen(floor)).value;
    if square == operand {
        return Status::OK.and(floor);
    }
    let next = A::from_bits(low + 1);
    let middle = (widen(floor) + widen(next)).value.scalbn(-1);
    let up = match round {
        Round::TowardPositive => true,
        Round::NearestTiesToEven => (middle * middle).value < operand,
        _ => false,
    };
    Status::INEXACT.and(if up { next } else { floor })
}

pub fn check<A: Shape>(operation: Operation, operands: [u64; 3]) {
    for (rounding, round) in MODES {
        for flush in [false, true] {
            let mode = (rounding as u32) << 22 | if flush { FZ } else { 0 };
            let mut fpscr = mode;
            let bits = A::call(operation, operands, &mut fpscr);
            let got = (bits, fpscr ^ mode);
            let wanted = expected::<A>(operation, operands, round, flush);
            assert_eq!(
                got, wanted,
                "{operation:?} {operands:x?} {rounding:?} flush {flush}: got {got:x?}, not {wanted:x?}"
            );
        }
    }
}
