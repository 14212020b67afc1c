//! The timing cache of two cores: mostly they have collided on the bus in the same way before.
//!
//! The interpreter runs ahead: each core in turn executes a basic block ([`Block`]) without any time. A node is the
//! position of both cores, the rest of the other core's block, and the state of the arbitration (times as distances
//! from now). Node and new block name a transition: how far both cores come until one of the two blocks ends.
//!
//! ```text
//!   core 0   |---- block A, under way ----|              node: both places, and the state of the arbitration
//!   core 1   |-- new block B --|
//!                              ^ B ends first: this cycle, what then remains of A, and the arbitration's state are
//!                                the next node; core 1 executes its next block
//! ```
//!
//! A transition that was seen before is looked up: its cycles are added and its end is the new node. A new one is
//! simulated: the interpreter goes through both blocks in its mode with arbitration on two shadow cores, which have no
//! effects. So the timing rules are in interpreter and bus alone, and nothing is approximated.
//!
//! With the profile on each transition counts how often it was taken, and keeps what each instruction took in it: the
//! profile is the product.
//!
//! Running ahead is speculation. A block accesses only memories that answer by fixed rules, and no word that the other
//! core's block writes: then their order does not matter. Each core logs its reads and writes ([`SpeculationLog`]). If
//! two blocks meet in a word, or before an instruction that no block holds, what a core did ahead of that cycle is
//! undone, and both cores continue in time. The cache backs off where it gains too little ([`DualCoreTimingCache`]).

mod code;
mod exception;
mod learn;
mod memory;
mod order;
mod spin;
mod table;

use crate::exception_outcome::ExceptionStepResult;
use crate::step::watch;
use crate::v6m::block::{Block, NextCoreChoice, UntimedBlockRemainder};
use crate::v6m::core::Core;
use crate::v6m::exception::ExceptionTiming;
use crate::v6m::exec;
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::translate::NativeTrace;

pub use code::{Bank, Probe, run_native_blocks};
pub use exception::take_exception;
use learn::simulate_missing_transition;
pub use memory::DualCoreTimingCache;
pub use order::{CrossCoreOrderedInstructionKind, end_turn, wait_for_turn};
use table::{Table, Transition};

/// The state, besides their positions, on which the timing of two cores depends. The core that continues is first, and
/// times are distances from the earlier core's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State {
    /// Transfer slots that are taken: one bit a cycle, 16 for each slave.
    pub slots: [u64; 2],
    /// Times of both cores, until when their ports are busy and until when their fetches are late, a byte each, and who
    /// goes first.
    pub times: u64,
}

impl std::hash::Hash for State {
    /// Adds the taken transfer slots and the times to a hash.
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        // As an array the slots would be hashed as bytes.
        [self.slots[0], self.slots[1], self.times].into_iter().for_each(|word| hasher.write_u64(word));
    }
}

impl State {
    /// Returns the timing state with the two cores swapped.
    fn with_cores_swapped(&self) -> State {
        let pairs = 0x00ff_00ff_00ff;
        let times = (self.times & pairs) << 8 | self.times >> 8 & pairs | (self.times ^ State::FIRST) & State::FIRST;
        let [first, other] = self.are_cores_in_exception_entry();
        State { slots: self.slots, times: times | State::cores_in_exception([other, first]) }
    }

    /// Returns whether the first core and the other one are in an exception's entry, which leaves the other core alone
    /// on the bus.
    fn are_cores_in_exception_entry(&self) -> [bool; 2] {
        [State::FIRST << 1, State::FIRST << 2].map(|bit| self.times & bit != 0)
    }

    /// Returns the bits of `times` that say which of the cores are in an exception's entry.
    pub fn cores_in_exception([first, other]: [bool; 2]) -> u64 {
        State::FIRST << 1 & u64::from(first).wrapping_neg() | State::FIRST << 2 & u64::from(other).wrapping_neg()
    }

    /// Returns whether the first core continues after the other one. The end of an exception's entry comes before
    /// anything else in its cycle, so that an interrupt which the other core pends in that cycle is no late arrival.
    fn does_first_core_run_after_other(&self) -> bool {
        let [at, other_at] = self.relative_times_of_both_cores();
        let goes_first = match self.are_cores_in_exception_entry() {
            [true, false] => true,
            [false, true] => false,
            _ => self.is_first_core_preferred_on_tie(),
        };
        at > other_at || at == other_at && !goes_first
    }

    /// Returns the times of the core that continues first and of the other one.
    #[inline(always)]
    fn relative_times_of_both_cores(&self) -> [u64; 2] {
        [self.times & 0xff, self.times >> 8 & 0xff]
    }

    /// Returns whether the first core goes first when both issue in the same cycle.
    #[inline(always)]
    fn is_first_core_preferred_on_tie(&self) -> bool {
        self.times & State::FIRST != 0
    }

    /// Set in `times` if the first core goes first when both issue in the same cycle.
    pub const FIRST: u64 = 1 << 48;
}

/// The position of a core inside a basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    /// The address of its next instruction.
    address: u32,
    remainder: UntimedBlockRemainder,
    /// Words left of a multiple transfer and where in its memory it is.
    mask: u32,
    data: u32,
}

impl Place {
    /// Returns the position in front of the next block, at this address.
    fn core_position_before_basic_block(address: u32) -> Place {
        Place { address, remainder: UntimedBlockRemainder::NONE, mask: 0, data: 0 }
    }
}

/// The state from which transitions are cached: the positions of both cores, one of which is at the end of its block,
/// and the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    /// Address of that core's next instruction.
    address: u32,
    other: Place,
}

/// A bus of two cores whose timing, with the arbitration between them, can be cached.
pub trait DualCoreBus: NativeTrace {
    /// Returns the timing cache of the two cores.
    fn pair_timing_cache(&mut self) -> &mut DualCoreTimingCache;

    /// Returns the bank of main RAM with a number of
    /// [`Fabric::memory_number_at`](crate::v6m::bus::Fabric::memory_number_at). `None` if it is no RAM.
    fn ram_bank(&self, memory: u32) -> Option<Bank>;

    /// The address of the register that reads as the core's number, which is in order at any time.
    const OWN_NUMBER: u32;

    /// Returns whether accesses of both cores to this address may have to be made in the order of their cycles.
    fn may_be_ordered(address: u32) -> bool;

    /// Returns the word of constant memory at this address, if there is one.
    fn word_of_code(&self, address: u32) -> Option<u32>;

    /// Returns how many lines the cache of code in flash has dropped so far.
    fn dropped_cache_line_count(&self) -> u64;

    /// Returns the current state of the cores' timing, between instructions. `None` if it is too unusual to be cached.
    fn timing_state(&self, first: &Core, other: &Core) -> Option<State>;

    /// Returns whether the instruction at this address has the same result before and after an access of the other core
    /// in the same cycle.
    fn is_order_irrelevant(&self, address: u32) -> bool;

    /// Returns whether a spinlock is taken now.
    fn is_locked(&self, lock: u8) -> bool;

    /// Adds to the lock's statistics that this core read it as taken `times` more times.
    fn count_failed_lock_reads(&mut self, lock: u8, core: usize, times: u64);

    /// Returns the probes on the instruction at this address.
    fn probe_at(&self, address: u32) -> Probe;

    /// Fires these probes on the core's next instruction, in this cycle. Returns false if a probe stops the run, so
    /// that it cannot fire ahead of time.
    fn fire_probes(&mut self, core: &Core, probe: Probe, cycle: u64) -> bool;

    /// Returns the table of the memories' transfer slots, which is a part of the timing state of two cores.
    fn memory_slots(&mut self) -> &mut [u64];

    /// Returns the settings of exception timing. `None` if exceptions cannot be taken while timing is cached.
    fn exception_timing(&self) -> Option<ExceptionTiming>;

    /// Reports the outcome of an exception step that a core made since cycle `before`.
    fn report_exception(&mut self, core: &Core, outcome: ExceptionStepResult, before: u64);

    /// Sets bus and cores to a cached state at cycle `now`.
    fn restore_timing_state(&mut self, state: &State, now: u64, first: &mut Core, other: &mut Core);
}

/// Executes basic blocks, `cores[turn]` first, until an instruction that no block can contain, or until the event at
/// `due` is near (it must be later than [`Block::CYCLES`] from now). Cores and bus are up to date before and after.
/// Afterwards the timing cache is not used for a while, so that the machine continues in timed execution.
///
/// # Safety
/// As for [`exec::run_cores`]. Both cores are before an instruction and not inside one.
pub unsafe fn run_basic_blocks<B: DualCoreBus>(cores: *mut Core, turn: usize, due: u64, bus: &mut B) {
    // SAFETY: the caller's promise; references to the cores end before the interpreter runs, and logs are the bus's.
    unsafe {
        if !find_current_node(&*cores.add(turn), &*cores.add(1 - turn), due, bus) {
            return;
        }
        let now = bus.pair_timing_cache().now;
        bus.pair_timing_cache().turn = turn;
        bus.pair_timing_cache()
            .logs
            .speculation_log_pointers(0)
            .into_iter()
            .for_each(|log| (*log).clear_speculation_log_and_probes());
        exec::run_cores::<B, false, { watch::PAIRS }>(cores, turn, bus);
        restore_reached_node(cores, bus);
        // Until the core has executed what no block holds.
        let ahead = (*cores.add(bus.pair_timing_cache().turn)).t - bus.pair_timing_cache().now;
        bus.pair_timing_cache().start_timing_cache_backoff_after_run(now, ahead);
    }
}

/// Finds the node of the current state. Returns false if it is too unusual to be cached.
fn find_current_node<B: DualCoreBus>(first: &Core, other: &Core, due: u64, bus: &mut B) -> bool {
    let now = first.t.min(other.t);
    let state = bus.timing_state(first, other);
    let pairs = bus.pair_timing_cache();
    let Some(state) = state else {
        pairs.start_short_caching_backoff(now);
        return false;
    };
    let place = Place::core_position_before_basic_block(other.address_of_op(other.ip));
    pairs.node = pairs.table.timing_node_number_or_clear_table(Node {
        state,
        address: first.address_of_op(first.ip),
        other: place,
    });
    (pairs.now, pairs.until) = (now, due - Block::CYCLES);
    true
}

/// Brings both cores and the bus to the node that was reached, and undoes what the other core did ahead of it.
///
/// # Safety
/// As for [`run_basic_blocks`].
unsafe fn restore_reached_node<B: DualCoreBus>(cores: *mut Core, bus: &mut B) {
    let pairs = bus.pair_timing_cache();
    let (node, now, turn) = (*pairs.table.node_with_number(pairs.node), pairs.now, pairs.turn);
    // SAFETY: the caller's promise; a reference to a core ends before the interpreter runs again.
    unsafe {
        debug_assert!((*cores.add(turn)).next_instruction_address() == node.address);
        for index in 0..2 {
            let [log, _] = bus.pair_timing_cache().logs.speculation_log_pointers(index);
            (*cores.add(index)).retried |= std::mem::take(&mut (*log).served);
        }
        if node.other.remainder.spin != 0 {
            let place = spin::end_busy_wait(&*cores.add(1 - turn), &node.other, bus);
            if place.remainder.spin != 0 {
                spin::execute_repetition_to(cores, 1 - turn, &place, bus);
            }
        } else if node.other.remainder.instructions != 0 {
            roll_back_to_place(cores, 1 - turn, &node.other, bus);
            debug_assert!((*cores.add(1 - turn)).next_instruction_address() == node.other.address);
        }
        bus.restore_timing_state(&node.state, now, &mut *cores.add(turn), &mut *cores.add(1 - turn));
        exception::make_last_private_store(bus, cores.add(turn), turn);
    }
}

/// Rolls a core back, after it has executed its whole block, and brings it to a place in that block.
///
/// # Safety
/// As for [`run_basic_blocks`]. The core's log is that of the block.
unsafe fn roll_back_to_place<B: DualCoreBus>(cores: *mut Core, index: usize, place: &Place, bus: &mut B) {
    let [log, _] = bus.pair_timing_cache().logs.speculation_log_pointers(index);
    let ram = bus.main_ram().main_ram_pointer();
    // SAFETY: the caller's promise.
    unsafe {
        let core = cores.add(index);
        (*log).roll_back(&mut *core, ram);
        (*core).retried = (*log).probed;
        let target = (*core).instructions - place.remainder.instructions;
        (*core).instructions -= (*log).instructions;
        // Without the other core nothing but the number of instructions and words says where it stands.
        ((*core).t, (*core).transfer.mask) = (0, 0);
        while (*core).instructions != target || (*core).transfer.mask != place.mask {
            // Every instruction takes a cycle or more: none is executed that was not.
            (*core).limit = (*core).t + (target - (*core).instructions).max(1);
            exec::run_cores::<B, false, { watch::NOTHING }>(cores, index, bus);
        }
    }
}

/// Adds the cycles of the block that the first core has just executed, and returns which core continues
/// ([`Ahead::time_block`](crate::v6m::bus::Ahead::time_block)).
///
/// # Safety
/// `core` has just executed the basic block. Both are cores that [`run_basic_blocks`] was given.
#[inline(always)]
pub unsafe fn time_block<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
    block: Block,
) -> NextCoreChoice {
    // SAFETY: the caller's promise.
    unsafe {
        code::count_interpreted_block(bus, &*cores[0], (*logs[0]).first_op_of_logged_block(), &block);
        advance_both_cores(bus, cores, logs, block)
    }
}

/// Advances both cores after the first one has executed this block ahead of time. Returns which core executes next.
///
/// # Safety
/// As for [`time_block`].
#[inline(always)]
unsafe fn advance_both_cores<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    [mine, theirs]: [*mut SpeculationLog; 2],
    block: Block,
) -> NextCoreChoice {
    // SAFETY: the caller's promise.
    unsafe {
        (*mine).probed = std::mem::take(&mut (*mine).served);
        if (*mine).may_conflict_with_other_log(&*theirs) && (*mine).has_memory_conflict_with(&*theirs) {
            (*mine).roll_back(&mut *cores[0], bus.main_ram().main_ram_pointer());
        } else if let Some(turn) = advance_by_cached_transition(bus, cores, mine, block) {
            return turn;
        }
        (*cores[0]).retried = (*mine).probed;
        NextCoreChoice::Stop
    }
}

/// Advances both cores by the cached transition of this block, which accesses no bytes of the other core's block.
/// Returns which core continues. `None` if there is no transition: the block is rolled back.
///
/// # Safety
/// As for [`time_block`].
#[inline(always)]
unsafe fn advance_by_cached_transition<B: DualCoreBus>(
    bus: &mut B,
    [core, other]: [*mut Core; 2],
    mine: *mut SpeculationLog,
    block: Block,
) -> Option<NextCoreChoice> {
    // SAFETY: the caller's promise.
    unsafe {
        let pairs = bus.pair_timing_cache();
        let key = Transition::timing_transition_key(pairs.node, block.shape);
        let place = Table::first_slot_of_timing_transition(key, &block);
        if !pairs.table.first_timing_transition_in_row(place).is_transition_of_node_and_block(key, &block)
            && !pairs.table.move_timing_transition_to_first_slot(place, key, &block)
        {
            return simulate_missing_transition(bus, [core, other], mine, block);
        }
        let row = *pairs.table.first_timing_transition_in_row(place);
        if pairs.table.account.is_counting_timing_transitions() {
            pairs.table.account.count_timing_transition(place, pairs.turn);
        }
        (*mine).instructions = u64::from(row.instructions);
        (*core).instructions += u64::from(row.instructions);
        (*core).bus_wait += u64::from(row.waits[0]);
        (*other).bus_wait += u64::from(row.waits[1]);
        (*other).instructions += u64::from(row.spun);
        pairs.now += u64::from(row.cycles);
        pairs.node = u32::from(row.next);
        pairs.turn ^= usize::from(row.swaps);
        pairs.counts.hits += 1;
        let turn = pairs.core_executing_next(row.swaps);
        if row.stored != 0 {
            let cycle = row.last_store_cycle(pairs.now);
            report_watched_store(bus, cycle);
        }
        Some(turn)
    }
}

/// Reports the store to a watched word, made in this cycle, with which the block of the core whose turn it is has
/// ended.
#[cold]
#[inline(never)]
fn report_watched_store<B: DualCoreBus>(bus: &mut B, cycle: u64) {
    let core = bus.pair_timing_cache().turn;
    let [log, _] = bus.pair_timing_cache().logs.speculation_log_pointers(core);
    // SAFETY: the log lives as long as the bus, and no reference to it does.
    let is_reported = unsafe { (*log).take_watched_store() };
    bus.report_store(core, is_reported, cycle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_state_is_symmetric_in_cores() {
        let state = State { slots: [1, 2], times: 0x0000_0605_0403_0201 };
        assert_eq!(state.with_cores_swapped(), State { slots: [1, 2], times: 0x0001_0506_0304_0102 });
        assert_eq!(state.with_cores_swapped().with_cores_swapped(), state);
        let entering = State { times: state.times | State::cores_in_exception([true, false]), ..state };
        assert_eq!(
            (entering.are_cores_in_exception_entry(), entering.with_cores_swapped().are_cores_in_exception_entry()),
            ([true, false], [false, true])
        );
        assert_eq!(entering.with_cores_swapped().with_cores_swapped(), entering);
    }
}
