//! The cache, and its back-off where caching does not pay.

use super::code::CompiledBlockRegistry;
use super::order::CrossCoreOrderedInstructionKind;
use super::spin::{FailedSpinlockRead, SpinlockBusyWait};
use super::table::Table;
use crate::profile::ProfileCell;
use crate::timing_store::{Counts, MissRate, TimingCacheBackoff};
use crate::v6m::block::NextCoreChoice;
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

/// The timing cache of two cores, their speculative execution and their native code.
#[derive(Debug, Default)]
pub struct DualCoreTimingCache {
    pub(super) table: Table,
    /// Blocks that are translated.
    pub(super) blocks: CompiledBlockRegistry,
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
    pub(super) failed: [Option<FailedSpinlockRead>; 2],
    /// The wait of the core that spins.
    pub(super) spin: Option<SpinlockBusyWait>,
    /// Its lock was released.
    pub(super) freed: bool,
    /// An ordered access is executed next: its cycle.
    pub(super) granted: Option<u64>,
    /// The event that the core whose turn it is waits for.
    pub(super) asked: CrossCoreOrderedInstructionKind,
    /// The machine must act after it.
    pub(super) stops: bool,
    backoff: TimingCacheBackoff,
    /// Half the back-off after the next short run.
    next_backoff_cycles: u64,
    miss_rate: MissRate<JUDGED, WORTH_CYCLES_A_MISS>,
    /// The last judgement was that they are too frequent.
    thrashes: bool,
    pub(super) counts: Counts,
}

impl DualCoreTimingCache {
    /// Forgets all cached timing and native code.
    pub fn forget_timing_and_native_code(&mut self) {
        self.table.clear_timing_nodes_and_transitions();
        self.blocks.forget_all_translations();
    }

    /// Forgets all native code, because probes changed.
    pub fn forget_native_code(&mut self) {
        self.blocks.forget_all_translations();
    }

    /// Sets after how many executions basic blocks are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.blocks.set_translation_threshold(executions);
    }

    /// Returns how often cached timing was used, and what native code did.
    pub fn timing_cache_counts(&self) -> Counts {
        self.counts + self.blocks.native_code_counts()
    }

    /// Returns the cycle at which the back-off ends, if time `t` is in one.
    pub fn backoff_end(&self, t: u64) -> Option<u64> {
        self.backoff.timing_cache_pause_end_cycle(t)
    }

    /// Returns the speculation logs of this core and of the other one.
    pub fn own_and_other_speculation_logs(&self, core: usize) -> [*mut SpeculationLog; 2] {
        self.logs.speculation_log_pointers(core)
    }

    /// Returns the cycle of the next ordered access (one that both cores make in the order of their cycles), and
    /// forgets it. `None` if it is not this access's turn.
    pub fn take_cycle_of_next_ordered_access(&mut self) -> Option<u64> {
        self.granted.take()
    }

    /// Returns whether the next ordered access (one that both cores make in the order of their cycles) has a cycle
    /// already.
    pub fn is_ordered_access_granted(&self) -> bool {
        self.granted.is_some()
    }

    /// Returns the cycle in which the current basic block begins.
    pub fn basic_block_begin_cycle(&self) -> u64 {
        self.now + self.table.node_with_number(self.node).state.relative_times_of_both_cores()[0]
    }

    /// Returns the cycle of the core whose turn it is. `None` if the other core has not reached that cycle.
    pub fn cycle_of_active_core(&self) -> Option<u64> {
        let state = &self.table.node_with_number(self.node).state;
        (!state.does_first_core_run_after_other()).then(|| self.now + state.relative_times_of_both_cores()[0])
    }

    /// Notes that a core is before an instruction of this kind, which it cannot execute before the other core has
    /// reached the same cycle.
    pub fn request_cycle_ordered_execution(&mut self, what: CrossCoreOrderedInstructionKind) {
        self.asked = what;
    }

    /// Returns whether the probes on the instruction that this core is before have fired.
    pub fn has_core_fired_its_probes(&self, core: usize) -> bool {
        // SAFETY: the log lives as long as this, and nothing else uses it meanwhile.
        unsafe { (*self.logs.speculation_log_pointers(core)[0]).served }
    }

    /// Notes that the probes on the instruction that this core is before have fired.
    pub fn note_probes_fired(&mut self, core: usize) {
        // SAFETY: as above.
        unsafe { (*self.logs.speculation_log_pointers(core)[0]).served = true };
    }

    /// Switches the profile of cached timing on (from zero) or off.
    pub fn set_cached_profiling(&mut self, on: bool) {
        self.table.account.set_cached_timing_profiling(on);
    }

    /// Removes the profile of cached timing and returns it, as (core, instruction address, cycles and executions).
    pub fn take_profile(&mut self) -> Vec<(usize, u32, ProfileCell)> {
        self.table.take_profile().collect()
    }

    /// Notes that the core's current load read this spinlock as taken.
    pub fn note_failed_lock_read(&mut self, core: &Core, lock: u8) {
        self.failed[core.id] = Some(FailedSpinlockRead::new(core, lock));
    }

    /// Forgets which loads read a spinlock as taken, because the cores may have moved.
    pub fn forget_failed_lock_reads(&mut self) {
        self.failed = [None; 2];
    }

    /// Notes that the current store released this spinlock.
    pub fn note_released_lock(&mut self, lock: u8) {
        self.freed = self.spin.is_some_and(|spin| spin.lock == lock);
    }

    /// Returns which core executes next: the same one, or with `swaps` the other one. [`Turn::Stop`] if the machine
    /// must act first.
    #[inline(always)]
    pub(super) fn core_executing_next(&self, swaps: bool) -> NextCoreChoice {
        if self.now > self.until {
            NextCoreChoice::Stop
        } else if swaps {
            NextCoreChoice::Other
        } else {
            NextCoreChoice::Same
        }
    }

    /// Starts a short back-off at cycle `t`.
    pub fn start_short_caching_backoff(&mut self, t: u64) {
        self.backoff.begin_timing_cache_backoff(t, BACKOFF_CYCLES.start);
    }

    /// Ends the back-off, because the board was moved to another time.
    pub fn end_backoff(&mut self) {
        self.backoff.end_timing_cache_backoff();
        self.next_backoff_cycles = 0;
    }

    /// Starts a back-off after a run that began at cycle `start`, for longer than `at_least` cycles.
    pub(super) fn start_timing_cache_backoff_after_run(&mut self, start: u64, at_least: u64) {
        self.next_backoff_cycles = if self.now - start >= WORTH_CYCLES {
            BACKOFF_CYCLES.start
        } else {
            (2 * self.next_backoff_cycles).clamp(BACKOFF_CYCLES.start, BACKOFF_CYCLES.end)
        };
        let backoff = if std::mem::take(&mut self.thrashes) { LONG_BACKOFF_CYCLES } else { self.next_backoff_cycles };
        self.backoff.begin_timing_cache_backoff(self.now, at_least + backoff);
    }

    /// Counts a miss of the timing cache. Returns true if misses are too frequent.
    pub(super) fn count_timing_cache_miss(&mut self) -> bool {
        self.counts.misses += 1;
        let judgement = self.miss_rate.count_miss(self.now);
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
    fn only_short_runs_lengthen_backoff() {
        let mut pairs = DualCoreTimingCache::default();
        let mut back_off = |run: u64| {
            let start = pairs.now;
            pairs.now += run;
            pairs.start_timing_cache_backoff_after_run(start, 0);
            pairs.backoff_end(pairs.now).expect("a back-off") - pairs.now
        };
        assert_eq!([0, 10, 20].map(&mut back_off), [1, 2, 4]);
        assert_eq!([WORTH_CYCLES, 0].map(&mut back_off), [1, 2]);
        assert_eq!((0..20).map(|_| back_off(1)).last(), Some(BACKOFF_CYCLES.end));
        let end = pairs.now + BACKOFF_CYCLES.end;
        assert_eq!(pairs.backoff_end(end), None);
        pairs.start_short_caching_backoff(end);
        assert_eq!(pairs.backoff_end(end), Some(end + BACKOFF_CYCLES.start));
        pairs.end_backoff();
        assert_eq!(pairs.backoff_end(end), None);
    }
}
