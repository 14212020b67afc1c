//! The functions of a pipeline and a bus that cached timing needs.

use std::hash::Hash;

use super::Home;
use super::log::{HOME_BITS, TraceTimingLog};
use super::ram::DirectRamAccess;
use crate::host::{
    CacheLookupReplayData, CachedConstantMemory, ConstantMemoryAddresses, Repeats, TimingPredictorLayout,
};
use crate::v7m::bus::Bus;
use crate::v7m::core::Core;
use crate::v7m::op::Op;
use crate::v7m::pipeline::Pipeline;

/// A pipeline whose timing can be cached.
///
/// While a trace runs without time, the pipeline logs what its timing will depend on besides its state (`predict_*`):
/// it may look into memories of its own that have nothing to do with time, and keeps them up to date. In a replay it
/// takes the same out of the log (`recall_*`) and leaves those memories alone.
pub trait CacheableTiming: Pipeline {
    /// The state on which the pipeline's future timing depends. Times are relative to now, and all that are long past
    /// are equal.
    type State: Copy + Eq + Hash;

    /// The inputs of its log. `None`: it logs the home of an access, and of a branch nothing.
    const FORESIGHT: Option<TimingPredictorLayout> = None;

    /// Returns whether the pipeline logs only what its `predict_*` functions find out.
    #[inline(always)]
    fn logs_by_foresight(_core: &Core) -> bool {
        true
    }

    /// Returns the pipeline's state before the instruction at `core.ip`. `None` if it cannot be cached.
    fn timing_state(&self, core: &Core) -> Option<Self::State>;

    /// Sets the pipeline to a cached state, before the instruction at `core.ip`, at time `core.t`.
    fn restore_timing_state(&mut self, state: &Self::State, core: &Core);

    /// Returns the cycles that depend on the operands, as [`Pipeline::operation_cycles`] does.
    fn operand_cycles(op: Op, first: u32, second: u32) -> u64;

    /// Sets the cycles of the current instruction that `operand_cycles` returned.
    fn set_cycles(&mut self, op: Op, cycles: u64);

    /// Appends what a load's timing depends on to the trace's log. Its first word is at `_address`. Returns false if
    /// the log has no room for it.
    #[inline(always)]
    fn predict_load(&mut self, log: &mut TraceTimingLog, home: Home, _address: u32) -> bool {
        log.append_bits(home as u64, HOME_BITS);
        true
    }

    /// Appends what the timing of one word of a store depends on to the trace's log. `index` counts the store's words.
    #[inline(always)]
    fn predict_store(&mut self, log: &mut TraceTimingLog, home: Home, _address: u32, index: u32) {
        if index == 0 {
            log.append_bits(home as u64, HOME_BITS);
        }
    }

    /// Appends to the trace's log whether a branch was predicted right. It is at `_from`, and goes to `_target` or is
    /// not taken.
    #[inline(always)]
    fn predict_branch(&mut self, _core: &Core, _log: &mut TraceTimingLog, _from: u32, _target: Option<u32>) {}

    /// Appends what the timing of a skipped instruction depends on to the trace's log. It is at `_from`, and its
    /// condition in an IT block failed.
    #[inline(always)]
    fn predict_skip(&mut self, _core: &Core, _log: &mut TraceTimingLog, _op: Op, _from: u32) {}

    /// Removes the entry of an instruction's memory accesses from a trace's log and returns which memory they reached.
    /// `_left` instructions could still follow in the longest trace.
    fn log_entry_of_access(&self, log: &mut TraceTimingLog, _op: Op, _left: u32) -> Home {
        Home::memory_kind_from_logged_bits(log.take_oldest_timing_log_value(HOME_BITS))
    }

    /// Removes the entry of a branch from a trace's log.
    fn log_entry_of_branch(_log: &mut TraceTimingLog) {}

    /// Removes the entry of a skipped instruction of an IT block from a trace's log.
    fn log_entry_of_skip(_log: &mut TraceTimingLog, _op: Op) {}

    /// Removes the entry of an instruction's accesses from the log of a trace that is timed by replay. Returns the
    /// memory that they reached, and an address in place of the first one's.
    fn recall_access<B: QuickBus>(&mut self, bus: &B, log: &mut TraceTimingLog, op: Op) -> (Home, u32) {
        let home = self.log_entry_of_access(log, op, 0);
        (home, bus.address_in_memory(home))
    }

    /// Moves the logged prediction of a branch to the pipeline, which times the trace by replaying its log.
    fn recall_branch(&mut self, _log: &mut TraceTimingLog) {}

    /// Moves the log entry of a skipped instruction of an IT block to the pipeline, which times the trace by replaying
    /// its log.
    fn recall_skip(&mut self, _log: &mut TraceTimingLog, _op: Op) {}

    /// Tells the pipeline that the replay of a trace's log, by which the trace gets its cycles, begins or ends.
    fn set_replaying(&mut self, _on: bool) {}
}

/// A bus with memories whose timing does not depend on addresses, so that it can be cached.
pub trait QuickBus: Bus {
    /// The state on which the timing of future fetches depends, without caches. Times are relative to now.
    type State: Copy + Eq + Hash;
    /// The look-ups of a trace's fetches in caches, with their answers.
    type Lookups: Copy + Default;

    /// Returns a number that changes with opcodes and timing rules. Timing that was cached under another number is
    /// void.
    fn timing_epoch(&self) -> u64;

    /// Returns whether to cache the timing of code at this address.
    fn is_timing_cached_at(&self, address: u32) -> bool;

    /// Returns the bus state at cycle `t`, for a node of the timing cache. `None` if it cannot be cached.
    fn timing_state(&self, t: u64) -> Option<Self::State>;

    /// Sets the bus to a cached state at cycle `t`.
    fn restore_timing_state(&mut self, state: &Self::State, t: u64);

    /// Returns main RAM, if native code may access it directly, to the same effect as [`QuickBus::ram_load`] and
    /// [`QuickBus::ram_store`].
    fn native_ram(&mut self) -> Option<DirectRamAccess<'_>>;

    /// Loads from main RAM. Returns the value and the part of RAM that answers, or `None` for other addresses.
    fn ram_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// Returns the constant memory from which loads get [`Home::Cached`], if native code can read it by itself.
    fn native_constants(&self) -> Option<CachedConstantMemory>;

    /// Returns the current host address of the constant memory, and of the table of its cache lines.
    fn constants_at(&mut self) -> ConstantMemoryAddresses;

    /// Loads from RAM or flash, if the timing follows a fixed rule. Returns the value and the memory that answers, or
    /// `None`.
    fn quick_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// Stores to main RAM and returns the part of RAM that was written. `None`, without a store, at other addresses,
    /// and if the store would change code or a watched word.
    fn ram_store(&mut self, address: u32, bytes: u32, value: u32) -> Option<Home>;

    /// Stores to main RAM and returns the part of RAM that was written, and whether the word is watched. `None`,
    /// without a store, at other addresses, and if the store would change code, or a watched word while `watched` is
    /// false.
    fn quick_store(&mut self, address: u32, bytes: u32, value: u32, watched: bool) -> Option<(Home, StoreWatchStatus)>;

    /// Reports a store to a watched word, made in cycle `at` by the instruction at `pc` ([`QuickBus::quick_store`]).
    fn report_watched_store(&mut self, core: &mut Core, address: u32, pc: u32, at: u64);

    /// Returns the instruction behind a stub op, without firing its probes.
    fn op_behind_stub(&mut self, core: &Core, address: u32) -> Op;

    /// Returns whether all loads (or stores) in this range of addresses succeed and reach the same memory.
    fn quick_range(&self, address: u32, bytes: u32, store: bool) -> bool;

    /// Returns an address in this memory.
    fn address_in_memory(&self, home: Home) -> u32;

    /// Begins to record the look-ups of fetches in caches.
    fn record_lookups(&mut self);

    /// Ends the recording and returns the look-ups. `None` if they cannot be repeated.
    fn take_recorded_lookups(&mut self) -> Option<Self::Lookups>;

    /// Repeats recorded cache look-ups. Returns true if the answers are the same as before. If not, nothing is changed.
    fn repeat_lookups(&mut self, lookups: &mut Self::Lookups) -> bool;

    /// The way in which native code repeats cache look-ups.
    const REPEATS: Repeats;

    /// Returns what native code needs to repeat cache look-ups by itself, until the next look-up or fetch.
    fn native_lookup_data(&mut self) -> CacheLookupReplayData;
}

/// Whether a written word is watched by a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreWatchStatus {
    /// Nobody.
    No,
    /// Somebody, who gets a report.
    Yes,
}
