//! What is remembered, and when remembering rests.

use super::flight::{Flight, Flights};
use super::table::Table;
use crate::states::Counts;
use crate::v6m::core::Core;

/// Rests after visits of less than [`WORTH_CYCLES`]; each doubles the one before.
const REST_CYCLES: std::ops::Range<u64> = 16..1 << 16;
/// A visit pays from here on.
const WORTH_CYCLES: u64 = 300;
/// Unseen transitions after which their frequency is judged, and fewest cycles from one to the next with which
/// remembering pays.
const JUDGED: u64 = 512;
const WORTH_CYCLES_A_LESSON: u64 = 64;
/// Cycles without remembering after it did not pay.
const LONG_REST_CYCLES: u64 = 1 << 17;

/// What is remembered of two cores' timing, and what they have done ahead of their time.
#[derive(Debug, Default)]
pub struct Pairs {
    pub(super) table: Table,
    /// The node that the cores have reached, and its cycle.
    pub(super) node: u32,
    pub(super) now: u64,
    /// No stretch may begin behind this.
    pub(super) until: u64,
    /// Which core goes on: 0 or 1.
    pub(super) turn: usize,
    pub(super) flights: Flights,
    /// Where unseen transitions are gone through, the core that goes on first.
    pub(super) doubles: Option<Box<[Core; 2]>>,
    rest_since: u64,
    rest_cycles: u64,
    /// Half the rest after the next short visit.
    patience_cycles: u64,
    /// Unseen transitions since the last judgement, and its cycle.
    lessons: u64,
    judged_at: u64,
    /// The last judgement was that they are too frequent.
    tired: bool,
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

    /// Until when remembering rests at time `t`, if it does.
    pub fn rests_until(&self, t: u64) -> Option<u64> {
        (t.wrapping_sub(self.rest_since) < self.rest_cycles).then(|| self.rest_since + self.rest_cycles)
    }

    /// What a core has done ahead of its time, and what the other one has.
    pub fn flights(&self, core: usize) -> [*mut Flight; 2] {
        self.flights.of(core)
    }

    /// Rests for a little from `t` on.
    pub fn put_off(&mut self, t: u64) {
        (self.rest_since, self.rest_cycles) = (t, REST_CYCLES.start);
    }

    /// Rests after a visit that began at `start`.
    pub(super) fn rest_after(&mut self, start: u64) {
        self.rest_since = self.now;
        self.patience_cycles = if self.now - start >= WORTH_CYCLES {
            REST_CYCLES.start
        } else {
            (2 * self.patience_cycles).clamp(REST_CYCLES.start, REST_CYCLES.end)
        };
        self.rest_cycles = if std::mem::take(&mut self.tired) { LONG_REST_CYCLES } else { self.patience_cycles };
    }

    /// Counts an unseen transition; true if they are too frequent: where timing depends on addresses, say.
    pub(super) fn judge(&mut self) -> bool {
        self.lessons += 1;
        self.counts.learnt += 1;
        if self.lessons < JUDGED {
            return false;
        }
        self.tired = self.now.wrapping_sub(self.judged_at) < JUDGED * WORTH_CYCLES_A_LESSON;
        (self.lessons, self.judged_at) = (0, self.now);
        self.tired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_longer_after_short_visits_and_not_after_a_long_one() {
        let mut pairs = Pairs::default();
        let mut rest = |visit: u64| {
            let start = pairs.now;
            pairs.now += visit;
            pairs.rest_after(start);
            pairs.rests_until(pairs.now).expect("a rest") - pairs.now
        };
        assert_eq!([0, 10, 20].map(&mut rest), [16, 32, 64]);
        assert_eq!([WORTH_CYCLES, 0].map(&mut rest), [16, 32]);
        assert_eq!((0..20).map(|_| rest(1)).last(), Some(REST_CYCLES.end));
        let end = pairs.now + REST_CYCLES.end;
        assert_eq!(pairs.rests_until(end), None);
        pairs.put_off(end);
        assert_eq!(pairs.rests_until(end), Some(end + REST_CYCLES.start));
    }
}
