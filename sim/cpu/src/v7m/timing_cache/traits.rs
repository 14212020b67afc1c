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

    /// True if it logs by that alone.
    #[inline(always)]
    fn logs_by_foresight(_core: &Core) -> bool {
        true
    }

    /// The state before the instruction at `core.ip`. `None` if it cannot be cached.
    fn state(&self, core: &Core) -> Option<Self::State>;

    /// Takes a state up, before the instruction at `core.ip`, at time `core.t`.
    fn resume(&mut self, state: &Self::State, core: &Core);

    /// Returns what [`Pipeline::cycles`] answers on this core.
    fn operand_cycles(op: Op, first: u32, second: u32) -> u64;

    /// Cycles of the current instruction as `operand_cycles` gave them.
    fn set_cycles(&mut self, op: Op, cycles: u64);

    /// A load, its first word at `address`. False: the log has no room for it.
    #[inline(always)]
    fn predict_load(&mut self, log: &mut Log, home: Home, _address: u32) -> bool {
        log.push(home as u64, HOME_BITS);
        true
    }

    /// A store, one word of it. `index` counts them.
    #[inline(always)]
    fn predict_store(&mut self, log: &mut Log, home: Home, _address: u32, index: u32) {
        if index == 0 {
            log.push(home as u64, HOME_BITS);
        }
    }

    /// The branch at `from` went to `target`, or was not taken.
    #[inline(always)]
    fn predict_branch(&mut self, _core: &Core, _log: &mut Log, _from: u32, _target: Option<u32>) {}

    /// A predicated instruction at `from` did not execute.
    #[inline(always)]
    fn predict_skip(&mut self, _core: &Core, _log: &mut Log, _op: Op, _from: u32) {}

    /// Takes what was logged of the accesses of `op`, so many instructions before the end of the longest trace, in the trace
    /// that was executed last: their home.
    fn log_entry_of_access(&self, log: &mut Log, _op: Op, _left: u32) -> Home {
        Home::of(log.take(HOME_BITS))
    }

    /// Takes what was logged of a branch.
    fn log_entry_of_branch(_log: &mut Log) {}

    /// Takes what was logged of a predicated instruction that did not execute.
    fn log_entry_of_skip(_log: &mut Log, _op: Op) {}

    /// Returns what was logged of the accesses of `op`: their home, and an address that stands for that of the first.
    fn recall_access<B: QuickBus>(&mut self, bus: &B, log: &mut Log, op: Op) -> (Home, u32) {
        let home = self.log_entry_of_access(log, op, 0);
        (home, bus.address_in(home))
    }

    /// Reads the logged outcome of a branch.
    fn recall_branch(&mut self, _log: &mut Log) {}

    /// Reads the logged outcome of a predicated instruction that did not execute.
    fn recall_skip(&mut self, _log: &mut Log, _op: Op) {}

    /// A replay begins or ends.
    fn recall(&mut self, _on: bool) {}
}

/// A bus after which some memories answer by rules that do not depend on addresses.
pub trait QuickBus: Bus {
    /// The state that the timing of future fetches depends on, without caches. Times as distances from `t`.
    type State: Copy + Eq + Hash;
    /// The lookups of a run of fetches in caches, and their answers.
    type Lookups: Copy + Default;

    /// A number that changes when opcodes or rules of time do: everything cached before is void.
    fn epoch(&self) -> u64;

    /// True if code around here is fetched from where the time of a trace is worth caching.
    fn caches_at(&self, address: u32) -> bool;

    /// The state at time `t`. `None` if it cannot be cached.
    fn state(&self, t: u64) -> Option<Self::State>;

    /// Takes a state up at time `t`.
    fn resume(&mut self, state: &Self::State, t: u64);

    /// The main RAM, if it may be accessed past [`QuickBus::ram_load`] and [`QuickBus::ram_store`], to the same effect.
    fn ram(&mut self) -> Option<QuickRam<'_>>;

    /// A load from main RAM.
    fn ram_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// Returns what [`QuickBus::quick_load`] says of [`Home::Cached`] memory, where that is as simple.
    fn constants(&self) -> Option<Constants>;

    /// The host's current address of them.
    fn constants_at(&mut self) -> ConstantsAt;

    /// A load that needs no more than a look into any memory.
    fn quick_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// A store to main RAM, without consequences.
    fn ram_store(&mut self, address: u32, bytes: u32, value: u32) -> Option<Home>;

    /// A store to any memory, without consequences other than that somebody may watch the word. Only where a `watched` one
    /// is in order.
    fn quick_store(&mut self, address: u32, bytes: u32, value: u32, watched: bool) -> Option<(Home, WatchedCore)>;

    /// The word at an address that [`QuickBus::quick_store`] reported as watched was written in cycle `at` by the
    /// instruction at `pc`.
    fn tell_watched(&mut self, core: &mut Core, address: u32, pc: u32, at: u64);

    /// The instruction after a stand-in, whose probes do not fire.
    fn behind(&mut self, core: &Core, address: u32) -> Op;

    /// True if all loads (stores) in this range would succeed at one home.
    fn quick_range(&self, address: u32, bytes: u32, store: bool) -> bool;

    /// Some address with this home.
    fn address_in(&self, home: Home) -> u32;

    /// Records lookups from now on.
    fn record(&mut self);

    /// Returns what was recorded, if it can be repeated.
    fn recorded(&mut self) -> Option<Self::Lookups>;

    /// Looks the same things up again. True if the answers were the same. If not, nothing was changed.
    fn repeat(&mut self, lookups: &mut Self::Lookups) -> bool;

    /// How code does that, where it is simple.
    const REPEATS: Repeats;

    /// Returns the repeated lookups. It holds until something else is looked up, or fetched.
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
