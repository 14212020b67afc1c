//! The functions of a pipeline and a bus that cached timing needs.

use std::hash::Hash;

use super::Home;
use super::log::{HOME_BITS, Log};
use super::ram::QuickRam;
use crate::host::{Constants, ConstantsAt, Foresight, Repeating, Repeats};
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
    /// All that future timing depends on, times as distances from now. Ancient ones are alike.
    type State: Copy + Eq + Hash;

    /// The inputs of its log. `None`: it logs the home of an access, and of a branch nothing.
    const FORESIGHT: Option<Foresight> = None;

    /// Whether the pipeline logs only what it predicts (`predict_*`).
    #[inline(always)]
    fn logs_by_foresight(_core: &Core) -> bool {
        true
    }

    /// Returns the pipeline's state before the instruction at `core.ip`. `None` if it cannot be cached.
    fn state(&self, core: &Core) -> Option<Self::State>;

    /// Sets the pipeline to a cached state, before the instruction at `core.ip`, at time `core.t`.
    fn resume(&mut self, state: &Self::State, core: &Core);

    /// Returns the cycles that depend on the operands, as [`Pipeline::cycles`] does.
    fn operand_cycles(op: Op, first: u32, second: u32) -> u64;

    /// Sets the cycles of the current instruction that `operand_cycles` returned.
    fn set_cycles(&mut self, op: Op, cycles: u64);

    /// Logs what the timing of a load depends on, whose first word is at `_address`. False if the log has no room for
    /// it.
    #[inline(always)]
    fn predict_load(&mut self, log: &mut Log, home: Home, _address: u32) -> bool {
        log.push(home as u64, HOME_BITS);
        true
    }

    /// Logs what the timing of one word of a store depends on. `index` counts the words.
    #[inline(always)]
    fn predict_store(&mut self, log: &mut Log, home: Home, _address: u32, index: u32) {
        if index == 0 {
            log.push(home as u64, HOME_BITS);
        }
    }

    /// Logs whether the branch at `_from`, to `_target` or not taken, was predicted right.
    #[inline(always)]
    fn predict_branch(&mut self, _core: &Core, _log: &mut Log, _from: u32, _target: Option<u32>) {}

    /// Logs what the timing of a predicated instruction at `_from` that did not execute depends on.
    #[inline(always)]
    fn predict_skip(&mut self, _core: &Core, _log: &mut Log, _op: Op, _from: u32) {}

    /// Removes the entry of the accesses of `_op` from a log, `_left` instructions before the end of the longest trace,
    /// and returns which memory they reached.
    fn log_entry_of_access(&self, log: &mut Log, _op: Op, _left: u32) -> Home {
        Home::of(log.take_oldest(HOME_BITS))
    }

    /// Removes the entry of a branch from a log.
    fn log_entry_of_branch(_log: &mut Log) {}

    /// Removes the entry of a predicated instruction that did not execute from a log.
    fn log_entry_of_skip(_log: &mut Log, _op: Op) {}

    /// Removes the entry of the accesses of `op` from a log during a replay. Returns which memory they reached, and an
    /// address that stands for that of the first.
    fn recall_access<B: QuickBus>(&mut self, bus: &B, log: &mut Log, op: Op) -> (Home, u32) {
        let home = self.log_entry_of_access(log, op, 0);
        (home, bus.address_in(home))
    }

    /// Removes the logged outcome of a branch during a replay, for the pipeline to use.
    fn recall_branch(&mut self, _log: &mut Log) {}

    /// Removes the entry of a predicated instruction that did not execute during a replay, for the pipeline to use.
    fn recall_skip(&mut self, _log: &mut Log, _op: Op) {}

    /// Tells the pipeline that a replay begins or ends.
    fn set_replaying(&mut self, _on: bool) {}
}

/// A bus with memories whose timing does not depend on addresses, so that it can be cached.
pub trait QuickBus: Bus {
    /// The state that the timing of future fetches depends on, without caches. Times as distances from `t`.
    type State: Copy + Eq + Hash;
    /// The lookups of a run of fetches in caches, and their answers.
    type Lookups: Copy + Default;

    /// Returns a number that changes when opcodes or timing rules do. Everything cached before is void then.
    fn epoch(&self) -> u64;

    /// Whether the timing of traces is worth caching for code at this address.
    fn caches_at(&self, address: u32) -> bool;

    /// Returns the state of the bus at time `t`. `None` if it cannot be cached.
    fn state(&self, t: u64) -> Option<Self::State>;

    /// Sets the bus to a cached state at time `t`.
    fn resume(&mut self, state: &Self::State, t: u64);

    /// Returns main RAM, if it may be accessed without [`QuickBus::ram_load`] and [`QuickBus::ram_store`], to the same
    /// effect.
    fn ram(&mut self) -> Option<QuickRam<'_>>;

    /// Loads from main RAM. `None` for other addresses.
    fn ram_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// Returns the constant memory that [`Home::Cached`] loads read, if native code can read it by itself.
    fn constants(&self) -> Option<Constants>;

    /// Returns the current host address of the constant memory.
    fn constants_at(&mut self) -> ConstantsAt;

    /// Loads from any memory that answers without a peripheral. `None` for other addresses.
    fn quick_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// Stores to main RAM, if that has no consequences. `None` otherwise.
    fn ram_store(&mut self, address: u32, bytes: u32, value: u32) -> Option<Home>;

    /// Stores to any memory, if that has no consequences other than that somebody may watch the word. Only where a
    /// `watched` one is in order.
    fn quick_store(&mut self, address: u32, bytes: u32, value: u32, watched: bool) -> Option<(Home, WatchedCore)>;

    /// Reports a store to a watched word, made in cycle `at` by the instruction at `pc` ([`QuickBus::quick_store`]).
    fn tell_watched(&mut self, core: &mut Core, address: u32, pc: u32, at: u64);

    /// Returns the instruction behind a stub op, without firing its probes.
    fn behind(&mut self, core: &Core, address: u32) -> Op;

    /// Whether all loads (or stores) in this range would succeed and reach the same kind of memory.
    fn quick_range(&self, address: u32, bytes: u32, store: bool) -> bool;

    /// Returns some address in this kind of memory.
    fn address_in(&self, home: Home) -> u32;

    /// Begins to record the lookups in the flash interface's caches.
    fn record(&mut self);

    /// Returns the recorded lookups, if they can be repeated.
    fn recorded(&mut self) -> Option<Self::Lookups>;

    /// Repeats recorded lookups. True if the answers were the same. If not, nothing was changed.
    fn repeat(&mut self, lookups: &mut Self::Lookups) -> bool;

    /// How code does that, where it is simple.
    const REPEATS: Repeats;

    /// Returns what native code needs to repeat lookups by itself. It holds until something else is looked up, or
    /// fetched.
    fn repeating(&mut self) -> Repeating;
}

/// Whether somebody watches a word that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchedCore {
    /// Nobody.
    No,
    /// Somebody, who gets a report.
    Yes,
}
