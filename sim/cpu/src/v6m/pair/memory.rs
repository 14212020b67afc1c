//! What is remembered, and the back-off of remembering where it does not pay.

use super::table::Table;
use crate::states::Counts;
use crate::v6m::core::Core;
use crate::v6m::speculation::{SpeculationLog, SpeculationLogs};

/// Back-off after runs of less than [`WORTH_CYCLES`]; each doubles the one before.
const BACKOFF_CYCLES: std::ops::Range<u64> = 16..1 << 16;
/// A run with remembered timing pays from here on.
const WORTH_CYCLES: u64 = 300;
/// Unseen transitions (misses of the table) after which their frequency is judged, and fewest cycles from one to the next
/// with which remembering pays.
const JUDGED: u64 = 512;
const WORTH_CYCLES_A_MISS: u64 = 64;
/// Cycles without remembering after it did not pay.
const LONG_BACKOFF_CYCLES: u64 = 1 << 17;

/// What is remembered of two cores' timing, and what they have done ahead of their time.
#[derive(Debug, Default)]
pub struct Pairs {
    pub(super) table: Table,
    /// The node that the cores have reached, and its cycle.
    pub(super) node: u32,
    pub(super) now: u64,
    /// No basic block may begin behind this.
    pub(super) until: u64,
    /// Which core goes on: 0 or 1.
    pub(super) turn: usize,
    pub(super) logs: SpeculationLogs,
    /// Shadow cores: unseen transitions are simulated on them. The core that goes on first is the first.
    pub(super) shadows: Option<Box<[Core; 2]>>,
    backoff_since: u64,
    backoff_cycles: u64,
    /// Half the back-off after the next short run.
    next_backoff_cycles: u64,
    /// Unseen transitions (misses of the table) since the last judgement, and its cycle.
    misses: u64,
    judged_at: u64,
    /// The last judgement was that they are too frequent.
    thrashes: bool,
    pub(super) counts: Counts,
}

impl Pairs {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// How often it was of use so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Until when nothing is looked up, if time `t` is in a back-off.
    pub fn backoff_end(&self, t: u64) -> Option<u64> {
        (t.wrapping_sub(self.backoff_since) < self.backoff_cycles).then(|| self.backoff_since + self.backoff_cycles)
    }

    /// What a core has done ahead of its time, and what the other one has.
    pub fn logs(&self, core: usize) -> [*mut SpeculationLog; 2] {
        self.logs.of(core)
    }

    /// Backs off for a little from `t` on.
    pub fn back_off(&mut self, t: u64) {
        (self.backoff_since, self.backoff_cycles) = (t, BACKOFF_CYCLES.start);
    }

    /// Backs off after a run that began at `start`.
    pub(super) fn back_off_after(&mut self, start: u64) {
        self.backoff_since = self.now;
        self.next_backoff_cycles = if self.now - start >= WORTH_CYCLES {
            BACKOFF_CYCLES.start
        } else {
            (2 * self.next_backoff_cycles).clamp(BACKOFF_CYCLES.start, BACKOFF_CYCLES.end)
        };
        self.backoff_cycles =
            if std::mem::take(&mut self.thrashes) { LONG_BACKOFF_CYCLES } else { self.next_backoff_cycles };
    }

    /// Counts an unseen transition; true if they are too frequent: where timing depends on addresses, say.
    pub(super) fn judge(&mut self) -> bool {
        self.misses += 1;
        self.counts.learnt += 1;
        if self.misses < JUDGED {
            return false;
        }
        self.thrashes = self.now.wrapping_sub(self.judged_at) < JUDGED * WORTH_CYCLES_A_MISS;
        (self.misses, self.judged_at) = (0, self.now);
        self.thrashes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_backs_off_longer_after_short_runs_and_not_after_a_long_one() {
        let mut pairs = Pairs::default();
        let mut back_off = |run: u64| {
            let start = pairs.now;
            pairs.now += run;
            pairs.back_off_after(start);
            pairs.backoff_end(pairs.now).expect("a back-off") - pairs.now
        };
        assert_eq!([0, 10, 20].map(&mut back_off), [16, 32, 64]);
        assert_eq!([WORTH_CYCLES, 0].map(&mut back_off), [16, 32]);
        assert_eq!((0..20).map(|_| back_off(1)).last(), Some(BACKOFF_CYCLES.end));
        let end = pairs.now + BACKOFF_CYCLES.end;
        assert_eq!(pairs.backoff_end(end), None);
        pairs.back_off(end);
        assert_eq!(pairs.backoff_end(end), Some(end + BACKOFF_CYCLES.start));
    }
}
