//! The fetch side of the Cortex-M7: doublewords on their way to the decoder.

use super::super::super::bus::Bus;
use super::super::super::core::Core;
use crate::v7m::timing_cache::{CycleDistanceConverter, cycle_at_distance_from_now};
use rtoslab_timing::cortex_m7::PREFETCH_QUEUE_ENTRIES;

/// Cycles from a doubleword's arrival to the issue of an instruction in it: decoder and issue stage.
const DECODE: u64 = 2;
/// Cycles from the address phase of a fetch to issue, in memory without wait states.
pub const REFILL: u64 = 2 + DECODE;

/// An address phase that lies further back than any flash takes to answer is as good as one this far back.
const ANCIENT: i64 = -250;

/// The M7's prefetch queue before an instruction, with times as distances from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    left: i8,
    skip: i8,
    ready: i16,
    at: i16,
    /// Freed entries in the order of their next use.
    freed: [i16; PREFETCH_QUEUE_ENTRIES],
}

/// The prefetch queue of the M7, which fetches ahead of execution by up to its length. The fetch of a doubleword is
/// computed later, when an instruction first needs it: it began one cycle after the one before it, or when an entry
/// became free.
#[derive(Debug, Clone, Copy)]
pub struct Fetch {
    /// Halfwords of arrived doublewords not issued yet. Negative: so many are missing.
    pub left: i32,
    /// First cycle in which an instruction of the current doubleword can issue.
    pub ready: u64,
    /// Next doubleword to ask for.
    next: u32,
    /// Halfwords of it before a branch's target.
    skip: i32,
    /// Earliest cycle of its address phase.
    at: u64,
    /// When the entries of the last doublewords became free.
    freed: [u64; PREFETCH_QUEUE_ENTRIES],
    turn: usize,
}

impl Fetch {
    /// Creates an empty prefetch queue.
    pub const fn new() -> Fetch {
        Fetch { left: 0, ready: 0, next: 0, skip: 0, at: 0, freed: [0; PREFETCH_QUEUE_ENTRIES], turn: 0 }
    }

    /// Fetches the next doubleword of code. The instruction before it issued in cycle `core.t` or before.
    pub fn fetch_next_doubleword<B: Bus>(&mut self, core: &mut Core, bus: &mut B) {
        let entry = self.turn % PREFETCH_QUEUE_ENTRIES;
        let at = self.at.max(self.freed[entry]);
        let arrived = bus.fetch_code(core, self.next, at);
        self.freed[entry] = (core.t + 1).saturating_sub(DECODE);
        self.turn += 1;
        let late = (arrived + DECODE).saturating_sub(core.t).min(arrived - at - 2);
        core.flash_wait += late;
        // Address phases follow each other. A doubleword that is late holds up the next.
        self.at = (at + 1).max(arrived - 1);
        self.ready = arrived + DECODE;
        self.left += 4 - self.skip;
        self.next = self.next.wrapping_add(8);
        self.skip = 0;
    }

    /// Continues at a predicted branch target without losing a fetch cycle.
    pub fn continue_at_predicted_target(&mut self, target: u32) {
        self.left = 0;
        self.next = target & !7;
        self.skip = (target >> 1 & 3) as i32;
    }

    /// Empties the queue and starts again at a target, with the address phase in cycle `at`.
    pub fn restart_fetch_queue_at_target(&mut self, target: u32, at: u64) {
        self.continue_at_predicted_target(target);
        self.at = at;
        self.freed = [0; PREFETCH_QUEUE_ENTRIES];
    }

    /// Returns the queue before an instruction that can issue in cycle `now`, from which the distances count.
    pub fn timing_state(&self, now: u64, distances: &CycleDistanceConverter) -> State {
        let distance = |cycle: u64| (cycle.wrapping_sub(now) as i64).max(ANCIENT);
        let at = distance(self.at);
        // An entry that is free before it can be used at all is as good as any other.
        let freed = |later: usize| {
            distances.convert_to_narrower_type(
                distance(self.freed[(self.turn + later) % PREFETCH_QUEUE_ENTRIES]).max(at + later as i64),
            )
        };
        State {
            left: distances.convert_to_narrower_type(self.left.into()),
            skip: distances.convert_to_narrower_type(self.skip.into()),
            ready: distances.future_cycle_distance(self.ready),
            at: distances.convert_to_narrower_type(at),
            freed: std::array::from_fn(freed),
        }
    }

    /// Sets the queue to a cached state before the instruction at `pc`, which can issue in cycle `now`.
    pub fn restore_timing_state(&mut self, state: &State, pc: u32, now: u64) {
        (self.left, self.skip) = (state.left.into(), state.skip.into());
        // What has arrived and is not issued is between the instruction and the next doubleword.
        self.next = pc.wrapping_add_signed(2 * (self.left - self.skip));
        self.ready = cycle_at_distance_from_now(state.ready, now);
        self.at = cycle_at_distance_from_now(state.at, now);
        self.turn = 0;
        self.freed = state.freed.map(|distance| cycle_at_distance_from_now(distance, now));
    }
}
