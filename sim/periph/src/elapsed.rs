//! The time since power-on, through changes of the clock that counts cycles.

use crate::FractionalRateCounter;

const NS_PER_S: u64 = 1_000_000_000;

/// A converter of cycles since power-on into nanoseconds and back. It stores the clock before a change too, because a
/// core may be a few cycles ahead of its board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElapsedTime {
    hz: u64,
    /// Counts nanoseconds from the last change of the clock on.
    present: FractionalRateCounter,
    /// Cycle of that change.
    since: u64,
    /// Counted them before.
    past: FractionalRateCounter,
}

impl ElapsedTime {
    /// Creates the converter at power-on, with a clock of `hz`.
    #[must_use]
    pub fn new_at_power_on(hz: u64) -> Self {
        let present = FractionalRateCounter::new_running_counter(0, 0, NS_PER_S, 1, hz);
        Self { hz, present, since: 0, past: present }
    }

    /// Sets the clock to `hz` from cycle `now` on. While it is 0, no time passes.
    pub fn set_clock_frequency(&mut self, now: u64, hz: u64) {
        if hz != self.hz {
            self.past = self.present;
            self.present.change_counting_rate(now, NS_PER_S, 1, hz);
            (self.hz, self.since) = (hz, now);
        }
    }

    /// Returns whether time passes with the cycles.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.hz != 0
    }

    /// Returns the nanoseconds since power-on at the begin of a cycle, rounded down.
    #[must_use]
    pub fn ns_at(&self, cycle: u64) -> u64 {
        if cycle < self.since { self.past.value_at_cycle(cycle) } else { self.present.value_at_cycle(cycle) }
    }

    /// Returns the first cycle at or past a time, if the clock stays as it is. [`crate::NEVER`] while no time passes.
    #[must_use]
    pub fn first_cycle_at_time(&self, ns: u64) -> u64 {
        let cycle = self.past.first_cycle_at_counter_value(ns);
        if cycle <= self.since { cycle } else { self.present.first_cycle_at_counter_value(ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NEVER;

    #[test]
    fn time_sums_over_clock_changes() {
        let mut time = ElapsedTime::new_at_power_on(16_000_000);
        assert_eq!((time.ns_at(16), time.first_cycle_at_time(1000)), (1000, 16));
        time.set_clock_frequency(16_000_000, 84_000_000);
        assert_eq!(time.ns_at(16_000_000 + 42_000_000), 1_500_000_000);
        assert_eq!(time.first_cycle_at_time(1_500_000_000), 58_000_000);
        assert_eq!(
            (time.ns_at(15_999_984), time.first_cycle_at_time(999_999_000)),
            (999_999_000, 15_999_984),
            "before the change"
        );
        time.set_clock_frequency(58_000_000, 0);
        assert_eq!((time.ns_at(u64::MAX), time.first_cycle_at_time(1_500_000_001)), (1_500_000_000, NEVER));
        assert!(!time.is_running());
        time.set_clock_frequency(60_000_000, 1_000_000_000);
        assert_eq!(time.ns_at(60_000_007), 1_500_000_007);
    }

    #[test]
    fn many_changes_lose_no_time() {
        let mut time = ElapsedTime::new_at_power_on(3);
        for change in 0..1_000_000 {
            time.set_clock_frequency(change, if change % 2 == 0 { 300_000_000 } else { 150_000_000 });
        }
        // Half a million cycles of each clock, 10 ns together, but for the first one, which the last change ended.
        let expected = 500_000 * 10 - 7;
        assert!(time.ns_at(999_999).abs_diff(expected) <= 2, "{}", time.ns_at(999_999));
    }

    #[test]
    fn long_elapsed_time_does_not_overflow() {
        assert_eq!(ElapsedTime::new_at_power_on(1 << 30).ns_at(1 << 60), 1_000_000_000 << 30);
    }
}
