//! Against an oracle over corner values and generated ones, in every rounding mode with and without flush-to-zero;
//! NaNs, conversions and the rest against the manual's words.

mod oracle;

use super::fpscr::{AHP, DN, FZ, IDC, IOC, IXC};
use super::*;
use oracle::{MODES, Operation, Random, Shape, arm_result, check, widen};
use rustc_apfloat::ieee::{Double as ApDouble, Half as ApHalf, Single as ApSingle};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

fn corners_and_random<A: Shape>() {
    let corners = A::corners();
    for &a in &corners {
        check::<A>(Operation::Sqrt, [a, 0, 0]);
        for &b in &corners {
            for operation in [Operation::Add, Operation::Sub, Operation::Mul, Operation::Div] {
                check::<A>(operation, [a, b, 0]);
            }
            for &c in corners.iter().step_by(3) {
                check::<A>(Operation::Fma, [a, b, c]);
            }
        }
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let bias = (1 << (A::WIDTH - 2 - A::FRACTION)) - 1;
    for round in 0..20_000 {
        let spread = [4, 64, 2 * bias][round % 3];
        let [a, b] = [(); 2].map(|()| random.pattern::<A>(bias, spread));
        let product = (a >> A::FRACTION & (2 * bias + 1)) + (b >> A::FRACTION & (2 * bias + 1));
        let c = random.pattern::<A>(product.saturating_sub(bias), 2 * u64::from(A::FRACTION) + 10);
        for operation in [Operation::Add, Operation::Sub, Operation::Mul, Operation::Div, Operation::Fma] {
            check::<A>(operation, [a, b, c]);
        }
        if round % 20 == 0 {
            check::<A>(Operation::Sqrt, [a & !(1 << (A::WIDTH - 1)), 0, 0]);
        }
    }
}

#[test]
fn single_precision_equals_the_oracle() {
    corners_and_random::<ApSingle>();
}

#[test]
fn double_precision_equals_the_oracle() {
    corners_and_random::<ApDouble>();
}

/// Perfect squares and exact quotients: the fast paths must not call them inexact.
#[test]
fn exact_roots_and_quotients() {
    for n in 1..2000u32 {
        let (root, square) = (f64::from(n), f64::from(n * n));
        let mut fpscr = 0;
        assert_eq!(f64_sqrt(square.to_bits(), &mut fpscr), root.to_bits());
        assert_eq!(f64_div(square.to_bits(), root.to_bits(), &mut fpscr), root.to_bits());
        assert_eq!(f32_sqrt((square as f32).to_bits(), &mut fpscr), (root as f32).to_bits());
        assert_eq!(f32_div((square as f32).to_bits(), (root as f32).to_bits(), &mut fpscr), (root as f32).to_bits());
        assert_eq!(fpscr, 0, "{n}");
    }
}

#[test]
fn nans_are_propagated_in_the_manuals_order() {
    const QUIET: u32 = 0x7FC1_2345;
    const OTHER: u32 = 0xFFC5_4321;
    const SIGNALING: u32 = 0x7F81_2345;
    const ONE: u32 = 0x3F80_0000;
    const INFINITY: u32 = 0x7F80_0000;
    let quieted = SIGNALING | 1 << 22;
    for (a, b, result, flags) in [
        (QUIET, ONE, QUIET, 0),
        (ONE, OTHER, OTHER, 0),
        (QUIET, OTHER, QUIET, 0),
        (OTHER, QUIET, OTHER, 0),
        (QUIET, SIGNALING, quieted, IOC),
        (SIGNALING, QUIET, quieted, IOC),
        (INFINITY, SIGNALING, quieted, IOC),
    ] {
        for operation in [f32_add, f32_sub, f32_mul, f32_div] {
            let mut fpscr = 0;
            assert_eq!((operation(a, b, &mut fpscr), fpscr), (result, flags), "{a:x} {b:x}");
            let mut fpscr = DN;
            assert_eq!((operation(a, b, &mut fpscr), fpscr), (0x7FC0_0000, DN | flags), "{a:x} {b:x}");
        }
    }
    for (addend, a, b, result, flags) in [
        (QUIET, OTHER, ONE, QUIET, 0),
        (ONE, OTHER, QUIET, OTHER, 0),
        (ONE, ONE, QUIET, QUIET, 0),
        (QUIET, OTHER, SIGNALING, quieted, IOC),
        // Infinity by zero beside a quiet addend is invalid all the same; beside a signaling one the addend wins.
        (QUIET, INFINITY, 0, 0x7FC0_0000, IOC),
        (SIGNALING, 0, INFINITY, quieted, IOC),
        (ONE, 0, INFINITY, 0x7FC0_0000, IOC),
        (INFINITY | 1 << 31, INFINITY, ONE, 0x7FC0_0000, IOC),
    ] {
        let mut fpscr = 0;
        assert_eq!((f32_fma(addend, a, b, &mut fpscr), fpscr), (result, flags), "{addend:x} {a:x} {b:x}");
    }
    let mut fpscr = 0;
    assert_eq!(f64_add(0x7FF0_0000_0000_0001, 0, &mut fpscr), 0x7FF8_0000_0000_0001);
    assert_eq!(f64_sqrt(0x8000_0000_0000_0000, &mut fpscr), 0x8000_0000_0000_0000);
    assert_eq!(fpscr, IOC);
}

#[test]
fn chained_multiply_accumulate_rounds_twice() {
    let (a, b) = (0x3F80_0001, 0x3F80_0001);
    let mut fpscr = 0;
    let minus_one_and_two_ulps = 0xBF80_0002;
    assert_eq!(f32_mla(minus_one_and_two_ulps, a, b, false, &mut fpscr), 0);
    assert_eq!(f32_fma(minus_one_and_two_ulps, a, b, &mut fpscr), 0x2880_0000);
    assert_eq!(f32_mla(0x3F80_0002, a, b, true, &mut fpscr), 0);
    assert_eq!(fpscr, IXC);
}

#[test]
fn comparison_sets_nzcv() {
    let (one, two, nan, signaling) = (0x3F80_0000, 0x4000_0000, 0x7FC0_0000, 0x7F80_0001);
    let negative = 1 << 31;
    for (a, b, nzcv, quiet, always) in [
        (one, one, 6, 0, 0),
        (one, two, 8, 0, 0),
        (two, one, 2, 0, 0),
        (0, negative, 6, 0, 0),
        (one | negative, two | negative, 2, 0, 0),
        (one, two | negative, 2, 0, 0),
        (0x7F80_0000, two, 2, 0, 0),
        (0xFF80_0000, 1 | negative, 8, 0, 0),
        (0, 1, 8, 0, 0),
        (one, nan, 3, 0, IOC),
        (signaling, one, 3, IOC, IOC),
    ] {
        for (signals, flags) in [(false, quiet), (true, always)] {
            let mut fpscr = 0x5000_0000;
            f32_cmp(a, b, signals, &mut fpscr);
            assert_eq!(fpscr, nzcv << 28 | flags, "{a:x} {b:x}");
        }
    }
    let mut fpscr = FZ;
    f32_cmp(0, 1, false, &mut fpscr);
    assert_eq!(fpscr, FZ | 6 << 28 | IDC);
    let mut fpscr = 0;
    f64_cmp(0x3FF0_0000_0000_0001, 0x3FF0_0000_0000_0000, false, &mut fpscr);
    assert_eq!(fpscr, 2 << 28);
}

#[test]
fn maximum_and_minimum_prefer_numbers() {
    let (one, two, nan, signaling, negative) = (0x3F80_0000, 0x4000_0000, 0x7FC0_0001, 0x7F80_0001, 1u32 << 31);
    for (a, b, larger, smaller, flags) in [
        (one, two, two, one, 0),
        (nan, two, two, two, 0),
        (two, nan, two, two, 0),
        (nan, 0x7FC0_0002, nan, nan, 0),
        (nan, signaling, signaling | 1 << 22, signaling | 1 << 22, IOC),
        (0, negative, 0, negative, 0),
        (negative, 0, 0, negative, 0),
        (one | negative, negative, negative, one | negative, 0),
        (one, negative, one, negative, 0),
    ] {
        let mut fpscr = 0;
        assert_eq!(f32_maxnm(a, b, &mut fpscr), larger, "{a:x} {b:x}");
        assert_eq!(f32_minnm(a, b, &mut fpscr), smaller, "{a:x} {b:x}");
        assert_eq!(fpscr, flags);
    }
    let mut fpscr = 0;
    assert_eq!(f64_maxnm(1, 1 << 63, &mut fpscr), 1);
}

/// An integer or fixed-point result by the definition: scale, round, saturate.
#[test]
fn conversion_to_integers_equals_the_oracle() {
    let fixed = |bits, signed, fraction| FixedPoint { bits, signed, fraction };
    let targets = [
        FixedPoint::I32,
        FixedPoint::U32,
        fixed(32, true, 5),
        fixed(32, false, 32),
        fixed(16, true, 0),
        fixed(16, false, 3),
        fixed(16, true, 16),
    ];
    let mut random = Random(7);
    let mut patterns = <ApDouble as Shape>::corners();
    patterns.extend((0..3000).map(|_| random.pattern::<ApDouble>(1023 + 14, 64)));
    for a in patterns {
        for to in targets {
            for (rounding, round) in MODES.into_iter().chain([(Rounding::Away, Round::NearestTiesToAway)]) {
                let scaled = ApDouble::from_bits(u128::from(a)).scalbn(to.fraction as i32);
                let mut exact = false;
                let (bits, flags) = if to.signed {
                    let value = scaled.to_i128_r(to.bits as usize, round, &mut exact);
                    (value.value as u32, value.status)
                } else {
                    let value = scaled.to_u128_r(to.bits as usize, round, &mut exact);
                    (value.value as u32, value.status)
                };
                let flags = match flags {
                    Status::INVALID_OP => IOC,
                    Status::INEXACT => IXC,
                    _ => 0,
                };
                let mut fpscr = 0;
                assert_eq!(
                    (f64_to_fixed(a, to, rounding, &mut fpscr), fpscr),
                    (bits, flags),
                    "{a:x} {to:?} {rounding:?}"
                );
            }
        }
    }
    let mut fpscr = 0;
    assert_eq!((f32_to_fixed(0xFFC0_0000, FixedPoint::I32, Rounding::Zero, &mut fpscr), fpscr), (0, IOC));
}

#[test]
fn conversion_from_integers() {
    for (rounding, round) in MODES {
        for value in [0u32, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x0100_0001, 0x0100_0003, 0x8100_0080] {
            for (from, wide) in [(FixedPoint::I32, i128::from(value as i32)), (FixedPoint::U32, i128::from(value))] {
                let single = ApSingle::from_i128_r(wide, round);
                let flags = if single.status.contains(Status::INEXACT) { IXC } else { 0 };
                let mut fpscr = 0;
                let got = fixed_to_f32(value, from, rounding, &mut fpscr);
                assert_eq!((got, fpscr), (single.value.to_bits() as u32, flags));
                let mut fpscr = 0;
                let got = fixed_to_f64(value, from, rounding, &mut fpscr);
                assert_eq!((got, fpscr), ((wide as f64).to_bits(), 0));
            }
        }
    }
    let mut fpscr = 0;
    let sixteenth = FixedPoint { bits: 16, signed: true, fraction: 4 };
    assert_eq!(fixed_to_f32(0x1234_FFFF, sixteenth, Rounding::Nearest, &mut fpscr), (-0.0625f32).to_bits());
}

#[test]
fn integral_values() {
    let both: [(f64, [f64; 5]); 6] = [
        (0.5, [0.0, 1.0, 0.0, 0.0, 1.0]),
        (1.5, [2.0, 2.0, 1.0, 1.0, 2.0]),
        (-2.5, [-2.0, -2.0, -3.0, -2.0, -3.0]),
        (-0.25, [-0.0, -0.0, -1.0, -0.0, -0.0]),
        (8_388_607.5, [8_388_608.0, 8_388_608.0, 8_388_607.0, 8_388_607.0, 8_388_608.0]),
        (1e30, [1e30; 5]),
    ];
    let modes = [Rounding::Nearest, Rounding::Up, Rounding::Down, Rounding::Zero, Rounding::Away];
    for (value, results) in both {
        for (mode, result) in modes.into_iter().zip(results) {
            for exact in [false, true] {
                let flags = if exact && result != value { IXC } else { 0 };
                let mut fpscr = 0;
                let got = f32_rint((value as f32).to_bits(), mode, exact, &mut fpscr);
                assert_eq!((got, fpscr), ((result as f32).to_bits(), flags), "{value} {mode:?}");
                let mut fpscr = 0;
                assert_eq!((f64_rint(value.to_bits(), mode, exact, &mut fpscr), fpscr), (result.to_bits(), flags));
            }
        }
    }
    let mut fpscr = FZ;
    assert_eq!((f32_rint(0x8000_0001, Rounding::Up, true, &mut fpscr), fpscr), (1 << 31, FZ | IDC));
    assert_eq!(f32_rint(0x7F80_0001, Rounding::Up, false, &mut fpscr), 0x7FC0_0001);
    assert_eq!(fpscr, FZ | IDC | IOC);
}

/// A narrowing conversion in all modes against the oracle's.
fn narrow<A: Shape + FloatConvert<B>, B: Float>(a: u64, nan: u64, half: bool, convert: impl Fn(u64, &mut u32) -> u64) {
    for (rounding, round) in MODES {
        for flush in [false, true] {
            let mut value = A::from_bits(u128::from(a));
            let mut flags = 0;
            if flush && value.is_denormal() {
                value = if value.is_negative() { -A::ZERO } else { A::ZERO };
                flags = IDC;
            }
            let mut loses = false;
            let mut at = |round| FloatConvert::<B>::convert_r(value, round, &mut loses);
            let (bits, raised) = arm_result(at(round), at(Round::TowardZero), widen(value), nan, flush && !half);
            let mode = (rounding as u32) << 22 | if flush { FZ } else { 0 };
            let mut fpscr = mode;
            assert_eq!((convert(a, &mut fpscr), fpscr ^ mode), (bits, flags | raised), "{a:x} {rounding:?} {flush}");
        }
    }
}

#[test]
fn conversion_between_precisions_equals_the_oracle() {
    let mut random = Random(11);
    let mut doubles = <ApDouble as Shape>::corners();
    doubles.extend((0..4000).map(|_| random.pattern::<ApDouble>(1023, 320)));
    doubles.extend((0..4000).map(|_| random.pattern::<ApDouble>(1023, 50)));
    for a in doubles {
        narrow::<ApDouble, ApSingle>(a, 0x7FC0_0000, false, |a, fpscr| u64::from(f64_to_f32(a, fpscr)));
        narrow::<ApDouble, ApHalf>(a, 0x7E00, true, |a, fpscr| u64::from(f64_to_f16(a, fpscr)));
    }
    let mut singles = <ApSingle as Shape>::corners();
    singles.extend((0..4000).map(|_| random.pattern::<ApSingle>(127, 50)));
    for a in singles {
        narrow::<ApSingle, ApHalf>(a, 0x7E00, true, |a, fpscr| u64::from(f32_to_f16(a as u32, fpscr)));
        narrow::<ApSingle, ApDouble>(a, 0x7FF8_0000_0000_0000, false, |a, fpscr| f32_to_f64(a as u32, fpscr));
    }
    // Every half there is, through single and through double.
    for a in (0..0x1_0000u32).filter(|a| a & 0x7C00 != 0x7C00 || a & 0x3FF == 0) {
        let (mut fpscr, mut loses) = (0, false);
        let single: StatusAnd<ApSingle> = ApHalf::from_bits(u128::from(a)).convert(&mut loses);
        assert_eq!(f16_to_f32(a, &mut fpscr), single.value.to_bits() as u32);
        assert_eq!(f16_to_f64(a, &mut fpscr), f32_to_f64(single.value.to_bits() as u32, &mut fpscr));
        assert_eq!(f32_to_f16(single.value.to_bits() as u32, &mut fpscr), a);
        assert_eq!(fpscr, 0);
    }
}

#[test]
fn nans_between_precisions_and_alternative_halves() {
    let mut fpscr = 0;
    assert_eq!(f32_to_f64(0xFFC1_2345, &mut fpscr), 0xFFF8_2468_A000_0000);
    assert_eq!(f64_to_f32(0xFFF8_2468_A000_0001, &mut fpscr), 0xFFC1_2345);
    assert_eq!(f32_to_f16(0x7FC0_2000, &mut fpscr), 0x7E01);
    assert_eq!(f16_to_f32(0xFE01, &mut fpscr), 0xFFC0_2000);
    assert_eq!(fpscr, 0);
    assert_eq!(f16_to_f32(0x7C01, &mut fpscr), 0x7FC0_2000);
    assert_eq!(fpscr, IOC);
    for (single, half, flags) in [
        (0x7FC0_0000, 0, IOC),
        (0xFF80_0000, 0xFFFF, IOC),
        (131_008.0f32.to_bits(), 0x7FFF, 0),
        (131_072.0f32.to_bits(), 0x7FFF, IOC),
        (65_536.0f32.to_bits(), 0x7C00, 0),
        (1.000_1f32.to_bits(), 0x3C00, IXC),
    ] {
        let mut fpscr = AHP;
        assert_eq!((f32_to_f16(single, &mut fpscr), fpscr), (half, AHP | flags), "{single:x}");
    }
    let mut fpscr = AHP;
    assert_eq!(f16_to_f32(0x7FFF, &mut fpscr), 131_008.0f32.to_bits());
    let mut fpscr = DN;
    assert_eq!(f64_to_f32(0xFFF8_2468_A000_0001, &mut fpscr), 0x7FC0_0000);
    assert_eq!(f32_neg(0x7F80_0001), 0xFF80_0001);
    assert_eq!(f64_abs(f64_neg(1)), 1);
}
