//! The back-off of a cache: it is left alone for a while where it costs more than it gains.

/// A pause of a timing cache, in which nothing is looked up or JIT-compiled.
#[derive(Debug, Default)]
pub(crate) struct TimingCacheBackoff {
    since: u64,
    cycles: u64,
}

impl TimingCacheBackoff {
    /// Starts a back-off of `cycles` cycles at cycle `t`.
    pub fn begin_timing_cache_backoff(&mut self, t: u64, cycles: u64) {
        *self = TimingCacheBackoff { since: t, cycles };
    }

    /// Ends the back-off.
    pub fn end_timing_cache_backoff(&mut self) {
        self.cycles = 0;
    }

    /// Returns the cycle at which the pause ends, if time `t` is inside it.
    pub fn timing_cache_pause_end_cycle(&self, t: u64) -> Option<u64> {
        (t.wrapping_sub(self.since) < self.cycles).then(|| self.since + self.cycles)
    }
}

/// A judge of whether the misses of a timing cache are too frequent. It judges after every `JUDGED` misses. `WORTH` is
/// the least progress (in instructions or cycles) from one miss to the next, on average, with which caching saves time.
#[derive(Debug, Default)]
pub(crate) struct MissRate<const JUDGED: u64, const WORTH: u64> {
    misses: u64,
    judged_at: u64,
}

impl<const JUDGED: u64, const WORTH: u64> MissRate<JUDGED, WORTH> {
    /// Counts a miss at this progress, in instructions or in cycles. Returns `None`, or after every `JUDGED` misses
    /// whether they are too frequent.
    pub fn count_miss(&mut self, progress: u64) -> Option<bool> {
        self.misses += 1;
        if self.misses < JUDGED {
            return None;
        }
        let is_too_frequent = progress.wrapping_sub(self.judged_at) < JUDGED * WORTH;
        *self = MissRate { misses: 0, judged_at: progress };
        Some(is_too_frequent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_cache_pause_ends_after_cycles() {
        let mut backoff = TimingCacheBackoff::default();
        assert_eq!(backoff.timing_cache_pause_end_cycle(0), None);
        backoff.begin_timing_cache_backoff(100, 50);
        assert_eq!(
            [99, 100, 149, 150].map(|t| backoff.timing_cache_pause_end_cycle(t)),
            [None, Some(150), Some(150), None]
        );
        backoff.end_timing_cache_backoff();
        assert_eq!(backoff.timing_cache_pause_end_cycle(100), None);
    }

    #[test]
    fn miss_rate_is_judged_by_progress() {
        let mut rate = MissRate::<3, 10>::default();
        let judgements = [10, 20, 29, 40, 50, 59, 100].map(|progress| rate.count_miss(progress));
        assert_eq!(judgements, [None, None, Some(true), None, None, Some(false), None]);
    }
}
