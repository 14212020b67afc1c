//! A counter that runs at a rational rate against the clk_sys cycle count.
//!
//! The trap it prevents: adding "cycles per tick" repeatedly drifts as soon as the quotient is not whole. Here
//! the count is always recomputed from the start point, so the value at a cycle and the first cycle at which a
//! value is reached are exact inverses for as long as the rate stays the same.

use crate::NEVER;

/// A counter that counts at `num / den` per clk_sys cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FractionalRateCounter {
    base_cycle: u64,
    base_value: u64,
    /// Fraction of the next count already done at `base_cycle`, in units of `1 / den`.
    phase: u64,
    /// Counts per cycle, numerator. 0 = stopped.
    num: u64,
    /// Counts per cycle, denominator. Never 0.
    den: u64,
}

/// Returns the greatest common divisor.
const fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the counts per cycle of a rate of `rate_num / rate_den` Hz at `sys_hz` cycles per second, as a fraction in
/// lowest terms. (0, 1) if any of them is 0.
fn counts_per_cycle_fraction(rate_num: u64, rate_den: u64, sys_hz: u64) -> (u64, u64) {
    if rate_num == 0 || rate_den == 0 || sys_hz == 0 {
        return (0, 1);
    }
    let den = u128::from(rate_den) * u128::from(sys_hz);
    let common = greatest_common_divisor(u128::from(rate_num), den);
    let den = u64::try_from(den / common).expect("rate denominator beyond 64 bits: no clock is that slow");
    ((u128::from(rate_num) / common) as u64, den)
}

impl Default for FractionalRateCounter {
    /// Returns a counter that stands still at 0.
    fn default() -> Self {
        Self::stopped_at_value(0)
    }
}

impl FractionalRateCounter {
    /// Creates a counter that stays at `value` until it is given a rate.
    #[must_use]
    pub const fn stopped_at_value(value: u64) -> Self {
        Self { base_cycle: 0, base_value: value, phase: 0, num: 0, den: 1 }
    }

    /// Creates a counter that is at `value` in cycle `now`, and counts at `rate_num / rate_den` Hz while clk_sys runs
    /// at `sys_hz`.
    #[must_use]
    pub fn new_running_counter(now: u64, value: u64, rate_num: u64, rate_den: u64, sys_hz: u64) -> Self {
        let (num, den) = counts_per_cycle_fraction(rate_num, rate_den, sys_hz);
        Self { base_cycle: now, base_value: value, phase: 0, num, den }
    }

    /// Returns whether the rate is not 0.
    #[must_use]
    pub const fn is_counting(&self) -> bool {
        self.num != 0
    }

    /// Returns the counts done at `cycle`, and the remainder in `1 / den`.
    fn counter_value_and_fraction_at_cycle(&self, cycle: u64) -> (u64, u64) {
        let elapsed = cycle.saturating_sub(self.base_cycle);
        // The 64-bit path covers every ordinary run. 128-bit division costs several times as much.
        match elapsed.checked_mul(self.num).and_then(|p| p.checked_add(self.phase)) {
            Some(total) => (total / self.den, total % self.den),
            None => {
                let total = u128::from(elapsed) * u128::from(self.num) + u128::from(self.phase);
                let den = u128::from(self.den);
                ((total / den) as u64, (total % den) as u64)
            }
        }
    }

    /// Returns the value at `cycle` (at or after the last start, set or rebase).
    #[must_use]
    pub fn value_at_cycle(&self, cycle: u64) -> u64 {
        self.base_value.wrapping_add(self.counter_value_and_fraction_at_cycle(cycle).0)
    }

    /// Returns the first cycle at which the value has reached `target`, or [`NEVER`] if stopped. A target at or below
    /// the value at the base is reached at the base cycle.
    #[must_use]
    pub fn first_cycle_at_counter_value(&self, target: u64) -> u64 {
        if target <= self.base_value {
            return self.base_cycle;
        }
        if self.num == 0 {
            return NEVER;
        }
        // As in `split`: 64 bits serve every ordinary run.
        let product = (target - self.base_value).checked_mul(self.den);
        if let Some(needed) = product.and_then(|product| product.checked_sub(self.phase)) {
            return self.base_cycle.saturating_add(needed.div_ceil(self.num));
        }
        let needed = u128::from(target - self.base_value) * u128::from(self.den) - u128::from(self.phase);
        let cycles = needed.div_ceil(u128::from(self.num));
        u64::try_from(u128::from(self.base_cycle) + cycles).unwrap_or(NEVER)
    }

    /// Sets the value at cycle `now`. The fraction of the running count stays, as a prescaler upstream has it.
    pub fn set_value(&mut self, now: u64, value: u64) {
        self.phase = self.counter_value_and_fraction_at_cycle(now).1;
        self.base_cycle = now;
        self.base_value = value;
    }

    /// Changes the rate at cycle `now`. Value and fraction carry over. The fraction is rounded down to the new
    /// denominator, so the error per change is below one new `1 / den` of a count, and never accumulates a count.
    pub fn change_counting_rate(&mut self, now: u64, rate_num: u64, rate_den: u64, sys_hz: u64) {
        let (done, rest) = self.counter_value_and_fraction_at_cycle(now);
        let (num, den) = counts_per_cycle_fraction(rate_num, rate_den, sys_hz);
        self.base_value = self.base_value.wrapping_add(done);
        self.base_cycle = now;
        // A stopped counter has den 1 and would lose the fraction: keep the old scale until it runs again.
        if num == 0 {
            self.phase = rest;
            self.num = 0;
            return;
        }
        self.phase = (u128::from(rest) * u128::from(den) / u128::from(self.den)) as u64;
        (self.num, self.den) = (num, den);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn microseconds_at_125_mhz() {
        let counter = FractionalRateCounter::new_running_counter(1000, 0, 12_000_000, 12, 125_000_000);
        assert_eq!(counter.value_at_cycle(1124), 0);
        assert_eq!(counter.value_at_cycle(1125), 1);
        assert_eq!(counter.first_cycle_at_counter_value(1), 1125);
        assert_eq!(counter.first_cycle_at_counter_value(1_000_000), 1000 + 125_000_000);
        assert_eq!(counter.first_cycle_at_counter_value(0), 1000);
    }

    #[test]
    fn non_integer_rate_does_not_drift() {
        // 115200 baud from 125 MHz: the 1000th bit ends at ceil(1000 * 125e6 / 115200).
        let counter = FractionalRateCounter::new_running_counter(0, 0, 115_200, 1, 125_000_000);
        assert_eq!(counter.first_cycle_at_counter_value(1000), 1_085_070);
        assert_eq!(counter.value_at_cycle(1_085_069), 999);
    }

    #[test]
    fn stop_and_resume_keeps_value_and_fraction() {
        let mut counter = FractionalRateCounter::new_running_counter(0, 5, 1, 1, 10);
        counter.change_counting_rate(27, 0, 1, 10);
        assert!(!counter.is_counting());
        assert_eq!(counter.value_at_cycle(500), 7);
        assert_eq!(counter.first_cycle_at_counter_value(8), NEVER);
        counter.change_counting_rate(500, 1, 1, 10);
        assert_eq!(counter.first_cycle_at_counter_value(8), 503);
    }

    #[test]
    fn distant_counts_use_wide_arithmetic() {
        let counter = FractionalRateCounter::new_running_counter(7, 0, 999_999_999_989, 1, 1_000_000_000_039);
        let target = 40_000_000_000u64;
        let exact = (u128::from(target) * 1_000_000_000_039).div_ceil(999_999_999_989) as u64;
        assert_eq!(counter.first_cycle_at_counter_value(target), 7 + exact);
        assert_eq!(
            FractionalRateCounter::new_running_counter(0, 0, 1, 1_000_000, 1_000_000_000)
                .first_cycle_at_counter_value(u64::MAX),
            NEVER
        );
    }

    #[test]
    fn far_future_uses_wide_arithmetic() {
        let counter = FractionalRateCounter::new_running_counter(0, 0, 999_999_999_989, 1, 1_000_000_000_039);
        assert_eq!(
            counter.value_at_cycle(u64::MAX),
            ((u128::from(u64::MAX) * 999_999_999_989) / 1_000_000_000_039) as u64
        );
    }

    proptest! {
        #[test]
        fn counter_value_and_cycle_are_inverse(
            now in 0u64..1_000_000, start in 0u64..1000, num in 1u64..200_000_000, den in 1u64..100_000,
            sys in 1u64..200_000_000, delta in 1u64..1_000_000,
        ) {
            let counter = FractionalRateCounter::new_running_counter(now, start, num, den, sys);
            let cycle = counter.first_cycle_at_counter_value(start + delta);
            prop_assert!(counter.value_at_cycle(cycle) >= start + delta);
            prop_assert!(counter.value_at_cycle(cycle - 1) < start + delta);
        }

        #[test]
        fn counter_rebase_loses_no_count(
            num in 1u64..200_000_000, den in 1u64..10_000, sys in 1_000_000u64..200_000_000,
            sys2 in 1_000_000u64..200_000_000, at in 0u64..10_000_000, target in 1u64..1_000_000,
        ) {
            let mut counter = FractionalRateCounter::new_running_counter(0, 0, num, den, sys);
            let before = counter.value_at_cycle(at);
            counter.change_counting_rate(at, num, den, sys2);
            prop_assert_eq!(counter.value_at_cycle(at), before);
            let same = counter;
            counter.change_counting_rate(at, num, den, sys2);
            prop_assert_eq!(counter, same);
            // Splitting a run by a rebase to the same rate changes nothing at all.
            let mut split = FractionalRateCounter::new_running_counter(0, 0, num, den, sys);
            let whole = split;
            split.change_counting_rate(at, num, den, sys);
            if whole.first_cycle_at_counter_value(target) >= at {
                prop_assert_eq!(split.first_cycle_at_counter_value(target), whole.first_cycle_at_counter_value(target));
            }
        }

        #[test]
        fn counter_set_keeps_fractional_part(sys in 1_000_000u64..200_000_000, at in 0u64..10_000_000, value in 0u64..1000) {
            let whole = FractionalRateCounter::new_running_counter(0, 0, 1_000_000, 1, sys);
            let mut moved = whole;
            moved.set_value(at, value);
            prop_assert_eq!(moved.first_cycle_at_counter_value(value + 1), whole.first_cycle_at_counter_value(whole.value_at_cycle(at) + 1));
        }
    }
}
