//! The fetch side of the Cortex-M7: doublewords on their way to the decoder.

use super::super::super::bus::Bus;
use super::super::super::core::Core;
use rtoslab_timing::cortex_m7::PREFETCH_QUEUE_ENTRIES;

/// Cycles from a doubleword's arrival to the issue of an instruction in it: decoder and issue stage.
const DECODE: u64 = 2;
/// Cycles from the address phase of a fetch to issue, in memory without wait states.
pub const REFILL: u64 = 2 + DECODE;

/// The prefetch queue. It runs ahead of execution by up to its length; that is worked out afterwards, when a
/// doubleword is first needed: it was asked for one cycle after the one before it, or when an entry became free.
#[derive(Debug, Clone, Copy)]
pub struct Fetch {
    /// Halfwords of arrived doublewords not issued yet; negative: so many are missing.
    pub left: i32,
    /// First cycle in which an instruction of the doubleword at hand can issue.
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
    /// An empty queue.
    pub const fn new() -> Fetch {
        Fetch { left: 0, ready: 0, next: 0, skip: 0, at: 0, freed: [0; PREFETCH_QUEUE_ENTRIES], turn: 0 }
    }

    /// Brings the next doubleword; the instruction before it issued in cycle `core.t` or before.
    pub fn more<B: Bus>(&mut self, core: &mut Core, bus: &mut B) {
        let entry = self.turn % PREFETCH_QUEUE_ENTRIES;
        let at = self.at.max(self.freed[entry]);
        let arrived = bus.fetch(core, self.next, at);
        self.freed[entry] = (core.t + 1).saturating_sub(DECODE);
        self.turn += 1;
        let late = (arrived + DECODE).saturating_sub(core.t).min(arrived - at - 2);
        core.flash_wait += late;
        // Address phases follow each other; a doubleword that is late holds up the next.
        self.at = (at + 1).max(arrived - 1);
        self.ready = arrived + DECODE;
        self.left += 4 - self.skip;
        self.next = self.next.wrapping_add(8);
        self.skip = 0;
    }

    /// Goes on at a predicted target without losing a fetch cycle.
    pub fn follow(&mut self, target: u32) {
        self.left = 0;
        self.next = target & !7;
        self.skip = (target >> 1 & 3) as i32;
    }

    /// Starts again at a target, address phase in cycle `at`.
    pub fn restart(&mut self, target: u32, at: u64) {
        self.follow(target);
        self.at = at;
        self.freed = [0; PREFETCH_QUEUE_ENTRIES];
    }
}
