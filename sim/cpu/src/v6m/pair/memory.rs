//! The cache, and its back-off where caching does not pay.

use super::code::Blocks;
use super::order::TurnRequest;
use super::spin::{FailedRead, Spin};
use super::table::Table;
use crate::profile::ProfileCell;
use crate::timing_store::{Backoff, Counts, MissRate};
use crate::v6m::block::Turn;
use crate::v6m::core::Core;
use crate::v6m::speculation::{SpeculationLog, SpeculationLogs};

/// Back-off after runs of less than [`WORTH_CYCLES`]. Each doubles the one before.
const BACKOFF_CYCLES: std::ops::Range<u64> = 1..1 << 16;
/// A run with cached timing pays from here on.
const WORTH_CYCLES: u64 = 60;
/// Misses after which their frequency is judged, and fewest cycles from one to the next with which caching pays.
const JUDGED: u64 = 512;
const WORTH_CYCLES_A_MISS: u64 = 64;
/// Cycles without the cache after it did not pay.
const LONG_BACKOFF_CYCLES: u64 = 1 << 17;

/// The cached timing of two cores, and their speculative execution.
#[derive(Debug, Default)]
pub struct Pairs {
    pub(super) table: Table,
    /// Blocks that are translated.
    pub(super) blocks: Blocks,
    /// The node that the cores have reached, and its cycle.
    pub(super) node: u32,
    pub(super) now: u64,
    /// No basic block may begin after this.
    pub(super) until: u64,
    /// Which core continues: 0 or 1.
    pub(super) turn: usize,
    pub(super) logs: SpeculationLogs,
    /// Shadow cores: misses are simulated on them. The core that continues first is the first.
    pub(super) shadows: Option<Box<[Core; 2]>>,
    /// The last load of each core that read a lock as taken.
    pub(super) failed: [Option<FailedRead>; 2],
    /// The wait of the core that spins.
    pub(super) spin: Option<Spin>,
    /// Its lock was released.
    pub(super) freed: bool,
    /// An ordered access is executed next: its cycle.
    pub(super) granted: Option<u64>,
    /// The event that the core whose turn it is waits for.
    pub(super) asked: TurnRequest,
    /// The machine must act after it.
    pub(super) stops: bool,
    backoff: Backoff,
    /// Half the back-off after the next short run.
    next_backoff_cycles: u64,
    miss_rate: MissRate<JUDGED, WORTH_CYCLES_A_MISS>,
    /// The last judgement was that they are too frequent.
    thrashes: bool,
    pub(super) counts: Counts,
}

impl Pairs {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.clear();
        self.blocks.clear();
    }

    /// Code is the same, but probes on it are others.
    pub fn clear_code(&mut self) {
        self.blocks.clear();
    }

    /// Basic blocks are translated when they were executed so often. 0: never.
    pub fn translate_after(&mut self, executions: u32) {
        self.blocks.translate_after(executions);
    }

    /// How often it was of use so far.
    pub fn counts(&self) -> Counts {
        self.counts + self.blocks.counts()
    }

    /// Until when nothing is looked up, if time `t` is in a back-off.
    pub fn backoff_end(&self, t: u64) -> Option<u64> {
        self.backoff.end(t)
    }

    /// Returns what a core has done ahead of its time, and what the other one has.
    pub fn logs(&self, core: usize) -> [*mut SpeculationLog; 2] {
        self.logs.of(core)
    }

    /// The cycle of the ordered access in hand. `None` if it is not its turn.
    pub fn grant(&mut self) -> Option<u64> {
        self.granted.take()
    }

    /// Whether there is such a cycle.
    pub fn is_granted(&self) -> bool {
        self.granted.is_some()
    }

    /// The cycle in which the basic block in hand begins.
    pub fn begun_at(&self) -> u64 {
        self.now + self.table.node(self.node).state.cores()[0]
    }

    /// The cycle at which the core whose turn it is stands, if the other one has come as far.
    pub fn in_order(&self) -> Option<u64> {
        let state = &self.table.node(self.node).state;
        (!state.comes_second()).then(|| self.now + state.cores()[0])
    }

    /// The instruction at which a core stands cannot be executed before the other core has come as far, for that.
    pub fn ask(&mut self, what: TurnRequest) {
        self.asked = what;
    }

    /// Whether the probes on the instruction at which a core stands have fired.
    pub fn is_served(&self, core: usize) -> bool {
        // SAFETY: the log lives as long as this, and nothing else uses it meanwhile.
        unsafe { (*self.logs.of(core)[0]).served }
    }

    /// They have.
    pub fn serve(&mut self, core: usize) {
        // SAFETY: as above.
        unsafe { (*self.logs.of(core)[0]).served = true };
    }

    /// Switches the profile of the cache on (from zero) or off.
    pub fn profile(&mut self, on: bool) {
        self.table.account.switch(on);
    }

    /// Takes it: core, address and cell.
    pub fn take_profile(&mut self) -> Vec<(usize, u32, ProfileCell)> {
        self.table.take_profile().collect()
    }

    /// The current load read this lock as taken.
    pub fn failed(&mut self, core: &Core, lock: u8) {
        self.failed[core.id] = Some(FailedRead::new(core, lock));
    }

    /// The cores may not be where they were.
    pub fn forget_reads(&mut self) {
        self.failed = [None; 2];
    }

    /// The current store released this lock.
    pub fn note_freed(&mut self, lock: u8) {
        self.freed = self.spin.is_some_and(|spin| spin.lock == lock);
    }

    /// Who continues.
    #[inline(always)]
    pub(super) fn goes_on(&self, swaps: bool) -> Turn {
        if self.now > self.until {
            Turn::Stop
        } else if swaps {
            Turn::Other
        } else {
            Turn::Same
        }
    }

    /// Backs off for a little from `t` on.
    pub fn back_off(&mut self, t: u64) {
        self.backoff.begin(t, BACKOFF_CYCLES.start);
    }

    /// The board is put to another time: back-offs tell nothing of it.
    pub fn end_back_off(&mut self) {
        self.backoff.cancel();
        self.next_backoff_cycles = 0;
    }

    /// Backs off after a run that began at `start`, for longer than so many cycles.
    pub(super) fn back_off_after(&mut self, start: u64, at_least: u64) {
        self.next_backoff_cycles = if self.now - start >= WORTH_CYCLES {
            BACKOFF_CYCLES.start
        } else {
            (2 * self.next_backoff_cycles).clamp(BACKOFF_CYCLES.start, BACKOFF_CYCLES.end)
        };
        let backoff = if std::mem::take(&mut self.thrashes) { LONG_BACKOFF_CYCLES } else { self.next_backoff_cycles };
        self.backoff.begin(self.now, at_least + backoff);
    }

    /// Counts a miss. True if they are too frequent.
    pub(super) fn count_miss(&mut self) -> bool {
        self.counts.misses += 1;
        let judgement = self.miss_rate.count(self.now);
        if let Some(is_too_frequent) = judgement {
            self.thrashes = is_too_frequent;
        }
        judgement == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_grows_after_short_runs_only() {
        let mut pairs = Pairs::default();
        let mut back_off = |run: u64| {
            let start = pairs.now;
            pairs.now += run;
            pairs.back_off_after(start, 0);
            pairs.backoff_end(pairs.now).expect("a back-off") - pairs.now
        };
        assert_eq!([0, 10, 20].map(&mut back_off), [1, 2, 4]);
        assert_eq!([WORTH_CYCLES, 0].map(&mut back_off), [1, 2]);
        assert_eq!((0..20).map(|_| back_off(1)).last(), Some(BACKOFF_CYCLES.end));
        let end = pairs.now + BACKOFF_CYCLES.end;
        assert_eq!(pairs.backoff_end(end), None);
        pairs.back_off(end);
        assert_eq!(pairs.backoff_end(end), Some(end + BACKOFF_CYCLES.start));
        pairs.end_back_off();
        assert_eq!(pairs.backoff_end(end), None);
    }
}
