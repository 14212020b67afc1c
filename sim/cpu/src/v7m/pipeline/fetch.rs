//! The prefetch unit of the M3 and M4: a queue of three 32-bit words in front of the decoder.
//!
//! A word is fetched when there is room for it: in flight or waiting, it occupies one of three places until the decoder
//! has taken its last halfword (or its first, as the end of a 32-bit opcode: the other half then waits apart). An
//! instruction can leave the queue while the one before it is still being decoded. From these rules follow the cost of
//! unaligned targets and of groups of unaligned 32-bit opcodes, of untaken branches in 32-bit code, and how far flash
//! waits are hidden.
//!
//! Words are fetched lazily: the bus is asked for one when the first instruction that needs it is issued, with the
//! cycle in which its address went out. [`Prefetch::catch_up`] brings the bus up to date where order matters.

use super::super::bus::Bus;
use super::super::core::Core;
use rtoslab_timing::cortex_m3::PREFETCH_WORDS;

/// A word in use whose last halfword is still in the queue.
const IN_USE: u64 = u64::MAX / 2;

/// State of the prefetch unit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prefetch {
    /// Address of the next instruction to be issued.
    pub pc: u32,
    /// First word not fetched yet (address / 4).
    next_word: u32,
    /// Earliest cycle of the next address phase.
    slot: u64,
    /// Cycle in which each of the last words, by number modulo 4, is there.
    ready: [u64; 4],
    /// Cycle in which each of the last words, by number modulo 4, gave up its place.
    freed: [u64; 4],
    /// Cycles in which no address goes out because the pipeline waits for a load: from the first to before the second.
    held: (u64, u64),
    /// Cycle in which the last instruction issued entered the decoder.
    pub decoded: u64,
    /// Its first execute cycle.
    pub executed: u64,
    /// Extra cycles of a fetch over the System bus.
    system_extra: u64,
}

impl Prefetch {
    /// An empty queue.
    pub fn new(system_extra: u64) -> Prefetch {
        Prefetch { system_extra, ..Prefetch::default() }
    }

    /// Issues the instruction at `pc`, which could execute at `earliest` if it were there: returns its execute cycle.
    #[inline(always)]
    pub fn enter<B: Bus>(&mut self, core: &mut Core, bus: &mut B, wide: bool, earliest: u64) -> u64 {
        let at = self.pc;
        let word = at >> 2;
        let last = (at + 2 * u32::from(wide)) >> 2;
        self.pc = at + 2 + 2 * u32::from(wide);
        if last >= self.next_word {
            self.fetch_through(core, bus, last);
        }
        let ready = self.ready[last as usize & 3];
        let left_queue = ready.max(self.decoded);
        let own = &mut self.freed[word as usize & 3];
        if at & 2 == 0 {
            *own = if wide { left_queue } else { IN_USE };
        } else {
            *own = (*own).min(left_queue);
            if wide {
                self.freed[last as usize & 3] = left_queue;
            }
        }
        self.decoded = ready.max(self.executed);
        if ready >= earliest {
            core.flash_wait += ready + 1 - earliest;
            self.executed = ready + 1;
        } else {
            self.executed = earliest;
        }
        self.executed
    }

    /// Whether the 16-bit instruction at `pc` is in the queue while the instruction before it is decoded.
    pub fn holds_narrow<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> bool {
        let word = self.pc >> 2;
        if word >= self.next_word {
            self.fetch_through(core, bus, word);
        }
        self.ready[word as usize & 3] <= self.decoded
    }

    /// Takes the 16-bit instruction at `pc` out of the queue together with the one before it.
    pub fn pass_narrow(&mut self) {
        let own = &mut self.freed[(self.pc >> 2) as usize & 3];
        *own = if self.pc & 2 == 0 { IN_USE } else { (*own).min(self.decoded) };
        self.pc += 2;
    }

    /// Fetches all words up to `last`.
    #[inline(always)]
    fn fetch_through<B: Bus>(&mut self, core: &mut Core, bus: &mut B, last: u32) {
        loop {
            let at = self.next_address_phase();
            self.fetch(core, bus, at);
            if self.next_word > last {
                break;
            }
        }
    }

    /// Cycle in which the address of the next word goes out: the bus is free, the queue has room, no load holds it up.
    #[inline(always)]
    fn next_address_phase(&self) -> u64 {
        let room = self.freed[self.next_word.wrapping_sub(PREFETCH_WORDS) as usize & 3] + 1;
        let at = self.slot.max(room);
        let (from, until) = self.held;
        if at >= from && at < until { until } else { at }
    }

    /// No address goes out from cycle `from` to before `until`.
    #[inline(always)]
    pub fn hold(&mut self, from: u64, until: u64) {
        self.held = (from, until);
    }

    /// Fetches the next word, address phase in cycle `at`.
    #[inline(always)]
    fn fetch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, at: u64) {
        let address = self.next_word << 2;
        let there = bus.fetch(core, address, at);
        self.slot = there - 1;
        self.ready[self.next_word as usize & 3] = if address < 0x2000_0000 { there } else { there + self.system_extra };
        self.next_word += 1;
    }

    /// Fetches what was fetched before cycle `until` even if nobody needed it yet.
    #[inline(never)]
    pub fn catch_up<B: Bus>(&mut self, core: &mut Core, bus: &mut B, until: u64) {
        // A word that the decoder has not reached yet holds its place.
        while self.next_word < (self.pc >> 2) + PREFETCH_WORDS {
            let at = self.next_address_phase();
            if at >= until {
                break;
            }
            self.fetch(core, bus, at);
        }
    }

    /// The bus belongs to somebody else in the cycles before `until`.
    #[inline(always)]
    pub fn give_up_bus(&mut self, until: u64) {
        self.slot = self.slot.max(until);
    }

    /// Fetches `target` while a branch to it is decoded that is not taken after all; the word is dropped. If the bus
    /// is busy in that cycle, the branch is resolved before the fetch can begin.
    pub fn speculate<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32) {
        let at = self.decoded;
        self.catch_up(core, bus, at);
        if self.slot <= at {
            self.slot = bus.fetch(core, target & !3, at) - 1;
        }
    }

    /// Goes on at `target`: its first address phase is in cycle `at`, the second not before `second`, and it executes
    /// at `earliest` at the earliest.
    #[inline(always)]
    pub fn redirect<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, at: u64, second: u64, earliest: u64) {
        if bus.fetch_waits() {
            self.catch_up(core, bus, at);
        }
        let at = at.max(self.slot);
        bus.redirect(core, target, at);
        self.pc = target;
        self.next_word = target >> 2;
        self.freed = [0; 4];
        self.fetch(core, bus, at);
        self.slot = self.slot.max(second);
        self.decoded = earliest - 1;
        self.executed = earliest - 1;
    }

    /// Drops what is in the queue and fetches from `pc` again, first address phase in cycle `at`.
    pub fn refill(&mut self, at: u64) {
        self.next_word = self.pc >> 2;
        self.freed = [0; 4];
        self.slot = self.slot.max(at);
        self.decoded = at;
        self.executed = at;
    }
}
