//! The prefetch unit of the M3 and M4: a queue of three 32-bit words in front of the decoder.
//!
//! A word is fetched when there is room for it: in flight or waiting, it occupies one of three places until the decoder
//! has taken its last halfword (or its first, as the end of a 32-bit opcode: the other half then waits apart). An
//! instruction can leave the queue while the one before it is still being decoded. At odd halfwords, a floating-point
//! one gives the place of its second word away a cycle later [ARM KA006138: in a long run one cycle more in three],
//! one of several cycles keeps both its places until the last of them, and a load that of its second word until its
//! data phase. On the M3, where fetches can wait, the first half of an opcode that waits for its second word does not
//! keep the place of its own word. From these rules follow the cost of unaligned targets and of groups of unaligned
//! 32-bit opcodes, of untaken branches in 32-bit code, and how far flash waits are hidden.
//!
//! Words are fetched lazily: the bus is asked for one when the first instruction that needs it is issued, with the
//! cycle in which its address went out. [`Prefetch::make_fetches_until`] brings the bus up to date where order matters.

use super::super::bus::Bus;
use super::super::core::Core;
use super::super::timing_cache::{CycleDistanceConverter, OPEN, cycle_at_distance_from_now};
use rtoslab_timing::cortex_m3::PREFETCH_WORDS;

/// A word whose last halfword is still in the queue has no time yet at which it gave up its place.
const IN_USE: u64 = OPEN;

/// A word of code on its way from the memory to the decoder.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    /// Cycle in which it is there.
    ready: u64,
    /// Cycle in which its place can be given to another one.
    free: u64,
}

/// The state of the prefetch queue between two instructions, for the timing cache. Times are distances from now. Values
/// that nothing can read any more are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PrefetchQueueState {
    /// Words fetched beyond the one that holds the next instruction's first halfword (itself included).
    ahead: u8,
    /// The last words fetched, the newest first: when they are there, when their places can be given away.
    ready: [i16; 3],
    free: [i16; 3],
    slot: i16,
    held: i16,
    goes_on: i16,
    decoded: i16,
    executed: i16,
}

/// The prefetch unit of the M3 or M4: a queue of words of code.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prefetch {
    /// Address of the next instruction to be issued.
    pub pc: u32,
    /// First word not fetched yet (address / 4).
    next_word: u32,
    /// The last words fetched, by number modulo 4.
    words: [Word; 4],
    /// Earliest cycle of the next address phase.
    slot: u64,
    /// First cycle, and the cycle after the last, in which no address goes out because the pipeline waits for a load.
    held: u64,
    goes_on: u64,
    /// Cycle in which the last instruction issued entered the decoder.
    pub decoded: u64,
    /// Its first execute cycle.
    pub executed: u64,
    /// Code comes over the System bus.
    pub system: bool,
    /// Extra cycles of a fetch where code comes from now.
    extra: u64,
    /// Extra cycles of a fetch over the System bus.
    system_extra: u64,
    /// The first half of an opcode that waits for its second word leaves the queue, where fetches can wait (the M3).
    halves_wait_apart: bool,
}

impl Prefetch {
    /// Creates an empty prefetch queue. `system_extra` are the cycles that a fetch over the System bus takes longer.
    /// `halves_wait_apart` says whether the first half of an opcode that waits for its second word leaves the queue,
    /// where fetches can wait.
    pub fn new(system_extra: u64, halves_wait_apart: bool) -> Prefetch {
        Prefetch { system_extra, halves_wait_apart, ..Prefetch::default() }
    }

    /// Returns the queue before the instruction at `pc`, which can execute now. `distances` count from now.
    pub fn timing_state(&self, distances: &CycleDistanceConverter) -> PrefetchQueueState {
        let word = |back: u32| self.words[self.next_word.wrapping_sub(1 + back) as usize & 3];
        let ahead = self.next_word.wrapping_sub(self.pc >> 2) as u8;
        PrefetchQueueState {
            ahead,
            ready: [0, 1, 2]
                .map(|back| if back < u32::from(ahead) { distances.cycle_distance(word(back).ready) } else { 0 }),
            free: [0, 1, 2].map(|back| distances.cycle_distance(word(back).free)),
            slot: distances.cycle_distance(self.slot),
            held: distances.cycle_distance(self.held),
            goes_on: distances.cycle_distance(self.goes_on),
            decoded: distances.cycle_distance(self.decoded),
            executed: distances.cycle_distance(self.executed),
        }
    }

    /// Sets the queue to a cached state before the instruction at `pc`, which can execute at `now`.
    pub fn restore_timing_state(&mut self, queue: &PrefetchQueueState, pc: u32, now: u64) {
        self.pc = pc;
        self.next_word = (pc >> 2) + u32::from(queue.ahead);
        for back in 0..3 {
            let (ready, free) = (queue.ready[back], queue.free[back]);
            let word = &mut self.words[self.next_word.wrapping_sub(1 + back as u32) as usize & 3];
            *word = Word { ready: cycle_at_distance_from_now(ready, now), free: cycle_at_distance_from_now(free, now) };
        }
        self.slot = cycle_at_distance_from_now(queue.slot, now);
        self.held = cycle_at_distance_from_now(queue.held, now);
        self.goes_on = cycle_at_distance_from_now(queue.goes_on, now);
        self.decoded = cycle_at_distance_from_now(queue.decoded, now);
        self.executed = cycle_at_distance_from_now(queue.executed, now);
        self.update_system_bus_fetch_cost(pc);
    }

    /// Notes whether code at `pc` is fetched over the System bus, and what that costs.
    fn update_system_bus_fetch_cost(&mut self, pc: u32) {
        self.system = pc >= 0x2000_0000;
        self.extra = if self.system { self.system_extra } else { 0 };
    }

    /// Returns whether fetches of code from where it comes now can have to wait.
    #[inline(always)]
    pub fn may_fetches_wait<B: Bus>(&self, bus: &B) -> bool {
        !self.system && bus.may_fetches_wait()
    }

    /// Issues the instruction at `pc`, which could execute at `earliest` if it were fetched. Returns its execute cycle.
    #[inline(always)]
    pub fn issue_at_pc<B: Bus>(&mut self, core: &mut Core, bus: &mut B, wide: bool, earliest: u64) -> u64 {
        let at = self.pc;
        let word = at >> 2;
        if at & 2 == 0 {
            self.pc = at + 2 + 2 * u32::from(wide);
            let ready = self.prefetch_word_ready_cycle(core, bus, word);
            let left_queue = ready.max(self.decoded);
            self.words[word as usize & 3].free = if wide { left_queue + 1 } else { IN_USE };
            self.issue_queued_instruction(core, ready, earliest)
        } else if wide {
            self.pc = at + 4;
            let ready = self.prefetch_word_ready_cycle(core, bus, word + 1);
            let free = ready.max(self.decoded) + 1;
            let waits_apart = self.halves_wait_apart && ready > self.executed && self.may_fetches_wait(bus);
            let own_free = if waits_apart { self.executed + 1 } else { free };
            let own = &mut self.words[word as usize & 3].free;
            *own = (*own).min(own_free);
            self.words[(word + 1) as usize & 3].free = free;
            self.issue_queued_instruction(core, ready, earliest)
        } else {
            // The upper half of a word that is there since the lower half was used or jumped over.
            self.pc = at + 2;
            let own = &mut self.words[word as usize & 3].free;
            *own = (*own).min(self.decoded + 1);
            self.decoded = self.executed;
            self.executed = earliest;
            earliest
        }
    }

    /// Makes a floating-point opcode at an odd halfword keep the queue's place of its second word a cycle longer.
    pub fn hold_queue_slot_of_float_opcode(&mut self) {
        if self.is_at_odd_halfword() {
            self.words[(self.pc >> 2) as usize & 3].free += 1;
        }
    }

    /// Makes a 32-bit opcode at an odd halfword keep the queue's place of its second word until cycle `until`.
    pub fn hold_second_word_in_fetch_queue(&mut self, until: u64) {
        if self.is_at_odd_halfword() {
            self.hold_prefetch_slot_until(self.pc >> 2, until);
        }
    }

    /// Makes a 32-bit opcode keep the queue's places of both its words until cycle `until`.
    pub fn hold_both_words_in_fetch_queue(&mut self, until: u64) {
        if self.is_at_odd_halfword() {
            self.hold_prefetch_slot_until(self.pc >> 2, until);
            self.hold_prefetch_slot_until((self.pc >> 2).wrapping_sub(1), until);
        }
    }

    /// Makes the queue keep the place of a word until cycle `until`.
    fn hold_prefetch_slot_until(&mut self, word: u32, until: u64) {
        let place = &mut self.words[word as usize & 3].free;
        *place = (*place).max(until);
    }

    /// Returns whether the next opcode is at an odd halfword. After a 32-bit opcode this also says whether that one
    /// was.
    #[inline(always)]
    pub fn is_at_odd_halfword(&self) -> bool {
        self.pc & 2 != 0
    }

    /// Returns the cycle in which a word is in the queue. Fetches it if it was not yet fetched.
    #[inline(always)]
    fn prefetch_word_ready_cycle<B: Bus>(&mut self, core: &mut Core, bus: &mut B, word: u32) -> u64 {
        if word == self.next_word {
            let at = self.next_fetch_address_phase_cycle();
            self.fetch_next_word(core, bus, at)
        } else {
            self.words[word as usize & 3].ready
        }
    }

    /// Sends an instruction, whose last word is in the queue in cycle `ready`, through decoder and execute stage.
    /// Returns its execute cycle.
    #[inline(always)]
    fn issue_queued_instruction(&mut self, core: &mut Core, ready: u64, earliest: u64) -> u64 {
        self.decoded = ready.max(self.executed);
        self.executed = earliest;
        if ready >= earliest {
            core.flash_wait += ready + 1 - earliest;
            self.executed = ready + 1;
        }
        self.executed
    }

    /// Returns whether the 16-bit instruction at `pc` is already in the queue while the instruction before it is
    /// decoded.
    pub fn is_16_bit_instruction_prefetched<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> bool {
        self.prefetch_word_ready_cycle(core, bus, self.pc >> 2) <= self.decoded
    }

    /// Takes the 16-bit instruction at `pc` out of the prefetch queue, in the cycle in which the instruction before it
    /// is decoded. So an IT instruction takes no cycle of its own.
    pub fn dequeue_narrow_instruction(&mut self) {
        let own = &mut self.words[(self.pc >> 2) as usize & 3].free;
        *own = if self.pc & 2 == 0 { IN_USE } else { (*own).min(self.decoded + 1) };
        self.pc += 2;
    }

    /// Returns the cycle of the next fetch's address phase: the bus is free, the queue has room, no load delays it.
    #[inline(always)]
    fn next_fetch_address_phase_cycle(&self) -> u64 {
        let room = self.words[self.next_word.wrapping_sub(PREFETCH_WORDS) as usize & 3].free;
        let at = self.slot.max(room);
        if at >= self.held { at.max(self.goes_on) } else { at }
    }

    /// Delays fetches from cycle `from` on until cycle `until`, except the fetch of a branch target.
    #[inline(always)]
    pub fn delay_fetches(&mut self, from: u64, until: u64) {
        self.held = from;
        self.goes_on = until;
    }

    /// Fetches the next word, with the address phase in cycle `at`. Returns the cycle in which it is in the queue.
    #[inline(always)]
    fn fetch_next_word<B: Bus>(&mut self, core: &mut Core, bus: &mut B, at: u64) -> u64 {
        let arrival = bus.fetch_code(core, self.next_word << 2, at);
        self.slot = arrival - 1;
        self.words[self.next_word as usize & 3].ready = arrival + self.extra;
        self.next_word += 1;
        arrival + self.extra
    }

    /// Makes all fetches that the prefetch unit makes before cycle `until`, even if no instruction needs them yet.
    #[inline(never)]
    pub fn make_fetches_until<B: Bus>(&mut self, core: &mut Core, bus: &mut B, until: u64) {
        // A word that the decoder has not reached yet holds its place.
        while self.next_word < (self.pc >> 2) + PREFETCH_WORDS {
            let at = self.next_fetch_address_phase_cycle();
            if at >= until {
                break;
            }
            self.fetch_next_word(core, bus, at);
        }
    }

    /// Reserves the bus for a data access in the cycles before `until`.
    #[inline(always)]
    pub fn reserve_bus_for_access(&mut self, until: u64) {
        self.slot = self.slot.max(until);
    }

    /// Fetches the target of a branch while the branch is decoded, though it is not taken. The word is dropped. If the
    /// bus is busy in that cycle, the fetch does not begin, because the branch is resolved first.
    pub fn fetch_untaken_target<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32) {
        let at = self.decoded;
        self.make_fetches_until(core, bus, at);
        if self.slot <= at {
            self.slot = bus.fetch_code(core, target & !3, at) - 1;
        }
    }

    /// Continues at a branch's `target`: the first address phase is in cycle `at`, and the target executes in cycle
    /// `earliest` at the earliest. Returns the cycle in which it can execute once its first word is there.
    #[inline(always)]
    pub fn continue_at_branch_target<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        target: u32,
        at: u64,
        earliest: u64,
    ) -> u64 {
        if bus.may_fetches_wait() {
            self.make_fetches_until(core, bus, at);
        }
        let at = at.max(self.slot);
        bus.redirect_prefetch(core, target, at);
        self.pc = target;
        self.next_word = target >> 2;
        self.update_system_bus_fetch_cost(target);
        for word in &mut self.words {
            word.free = 0;
        }
        self.goes_on = 0;
        let ready = self.fetch_next_word(core, bus, at);
        let start = earliest.max(ready + 1);
        core.flash_wait += start - earliest;
        self.decoded = start - 1;
        self.executed = start - 1;
        start
    }

    /// Empties the queue and fetches from `pc` again, with the first address phase in cycle `at`. Returns the cycle in
    /// which the instruction there can execute.
    pub fn flush_prefetch_queue_and_refetch<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        at: u64,
        earliest: u64,
    ) -> u64 {
        let pc = self.pc;
        self.continue_at_branch_target(core, bus, pc, at, earliest)
    }
}
