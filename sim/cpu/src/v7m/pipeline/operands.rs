//! Cycles that depend on operands: divisions, and the M3's long multiplications.

use super::super::op::{InstructionTimingClass, Op};
use rtoslab_timing::cortex_m3 as rules;

/// Returns the cycles of SDIV or UDIV (signed: by magnitude).
pub(super) fn division_cycles(dividend: u32, divisor: u32) -> u64 {
    if dividend == 0 || divisor == 0 {
        return rules::DIVIDE_ZERO_CYCLES;
    }
    let (have, take) = (dividend.leading_zeros(), divisor.leading_zeros());
    if have > take {
        return rules::DIVIDE_SMALL_CYCLES;
    }
    let quotient_bits = u64::from(take - have) + 1;
    rules::DIVIDE_BASE_CYCLES + quotient_bits.div_ceil(rules::DIVIDE_BITS_PER_CYCLE)
}

/// Returns the cycles of SMULL, UMULL, SMLAL or UMLAL on the M3.
pub(super) fn long_multiplication_cycles(op: Op, first: u32, second: u32) -> u64 {
    let table = match op.class {
        InstructionTimingClass::MultiplyLong => rules::MULTIPLY_LONG_CYCLES,
        _ => rules::MULTIPLY_ACCUMULATE_LONG_CYCLES,
    };
    table[usize::from(first >> 16 != 0) + usize::from(second >> 16 != 0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_take_two_to_twelve_cycles() {
        for (dividend, divisor, cycles) in [
            (0, 5, 2),
            (5, 0, 2),
            (3, 4, 3),
            (7, 4, 5),
            (15, 1, 5),
            (16, 1, 6),
            (1000, 10, 6),
            (u32::MAX, 3, 12),
            (u32::MAX, 1, 12),
            (u32::MAX, u32::MAX, 5),
        ] {
            assert_eq!(division_cycles(dividend, divisor), cycles, "{dividend} / {divisor}");
        }
    }
}
