//! Cycle intervals from one address to another.

/// Statistics of the cycles from an instruction at one address to an instruction at another.
///
/// The interval opens each time the first address executes. The latest opening counts. It closes at the next execution
/// of the second address on the same core, or on the other core if this one has no open interval. If both addresses
/// are equal, it measures from one execution to the next.
#[derive(Debug, Clone, Default)]
pub struct CycleIntervalStatistics {
    open: [Option<u64>; 2],
    /// Intervals closed.
    pub count: u64,
    /// Shortest, in cycles.
    pub min_cycles: Option<u64>,
    /// Longest, in cycles.
    pub max_cycles: Option<u64>,
    /// Sum, in cycles.
    pub total_cycles: u64,
}

impl CycleIntervalStatistics {
    /// Opens an interval: the first address issues on `core` at `cycle`.
    pub fn open_cycle_interval(&mut self, core: usize, cycle: u64) {
        self.open[core] = Some(cycle);
    }

    /// Closes an interval: the second address issues on `core` at `cycle`.
    pub fn finish_measured_interval_at_cycle(&mut self, core: usize, cycle: u64) {
        let Some(start) = self.open[core].take().or_else(|| self.open[1 - core].take()) else {
            return;
        };
        let cycles = cycle.saturating_sub(start);
        self.count += 1;
        self.total_cycles += cycles;
        self.min_cycles = Some(self.min_cycles.map_or(cycles, |m| m.min(cycles)));
        self.max_cycles = Some(self.max_cycles.map_or(cycles, |m| m.max(cycles)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_statistics_keep_extremes_and_sum() {
        let mut between = CycleIntervalStatistics::default();
        for (start, end) in [(10, 17), (20, 22), (30, 35)] {
            between.open_cycle_interval(0, start);
            between.finish_measured_interval_at_cycle(0, end);
        }
        assert_eq!((between.count, between.total_cycles), (3, 14));
        assert_eq!((between.min_cycles, between.max_cycles), (Some(2), Some(7)));
    }

    #[test]
    fn interval_end_without_start_is_ignored() {
        let mut between = CycleIntervalStatistics::default();
        between.finish_measured_interval_at_cycle(0, 5);
        assert_eq!(between.count, 0);
    }

    #[test]
    fn interval_begins_at_latest_start() {
        let mut between = CycleIntervalStatistics::default();
        between.open_cycle_interval(0, 1);
        between.open_cycle_interval(0, 8);
        between.open_cycle_interval(1, 2);
        between.finish_measured_interval_at_cycle(1, 12);
        between.finish_measured_interval_at_cycle(0, 10);
        assert_eq!((between.min_cycles, between.max_cycles), (Some(2), Some(10)));
    }

    #[test]
    fn probe_interval_may_span_two_cores() {
        let mut between = CycleIntervalStatistics::default();
        between.open_cycle_interval(0, 100);
        between.finish_measured_interval_at_cycle(1, 130);
        assert_eq!(between.total_cycles, 30);
    }
}
