//! Transitions that were not seen before: both basic blocks are simulated in time, on shadow cores.

use super::order::must_wait_for_other_core;
use super::table::{Outcome, Transition};
use super::{DualCoreBus, Node, Place, State, report_watched_store};
use crate::step::watch;
use crate::v6m::block::{Block, NextCoreChoice, Step, UntimedBlockRemainder};
use crate::v6m::core::{Core, Phase};
use crate::v6m::exception;
use crate::v6m::exec;
use crate::v6m::op::Code;
use crate::v6m::region::{Region, SLOTS};
use crate::v6m::speculation::SpeculationLog;

/// Simulates, after a miss of the timing cache, how far both cores come until one of them reaches the end of its block,
/// and caches this transition. Returns which core continues.
///
/// # Safety
/// As for [`time_block`](super::time_block).
#[cold]
#[inline(never)]
pub(super) unsafe fn simulate_missing_transition<B: DualCoreBus>(
    bus: &mut B,
    [core, other]: [*mut Core; 2],
    mine: *mut SpeculationLog,
    block: Block,
) -> Option<NextCoreChoice> {
    // SAFETY: `time_block`'s promise: the block was executed, so that its instructions are ops, and so are the other
    // core's.
    unsafe {
        let regions = [(*core).region, (*other).region];
        let Some(outcome) = simulate_transition(bus, regions, block) else {
            (*mine).roll_back(&mut *core, bus.main_ram().main_ram_pointer());
            return None;
        };
        let Outcome { node, cycles, waits, instructions, swaps, stored } = outcome;
        let pairs = bus.pair_timing_cache();
        let began = pairs.now;
        debug_assert!(cycles <= Block::CYCLES);
        if pairs.table.account.is_counting_timing_transitions() {
            pairs.table.account.count_simulated_timing_transition(pairs.turn);
        }
        (*mine).instructions = instructions[0];
        (*core).instructions += instructions[0];
        (*other).instructions += instructions[1];
        (*core).bus_wait += waits[0];
        (*other).bus_wait += waits[1];
        let before = pairs.node;
        pairs.now += cycles;
        pairs.turn ^= usize::from(swaps);
        match pairs.table.number_of_node(node) {
            Some(next) => {
                let key = Transition::timing_transition_key(before, block.shape);
                pairs.node = next;
                if let Some(transition) = Transition::new(&outcome, next) {
                    pairs.table.add_timing_transition_to_cache(key, &block, transition);
                }
            }
            None => pairs.node = pairs.table.timing_node_number_or_clear_table(node),
        }
        let turn =
            if pairs.count_timing_cache_miss() { NextCoreChoice::Stop } else { pairs.core_executing_next(swaps) };
        if stored != 0 {
            report_watched_store(bus, began + stored - 1);
        }
        Some(turn)
    }
}

/// Returns the transition of a block that the first of two cores has executed, from the current node. The cores are in
/// these regions. `None` if the state after it is too unusual to be cached.
///
/// # Safety
/// The instructions of both cores' blocks are ops of their regions.
unsafe fn simulate_transition<B: DualCoreBus>(bus: &mut B, regions: [Region; 2], block: Block) -> Option<Outcome> {
    let pairs = bus.pair_timing_cache();
    let node = *pairs.table.node_with_number(pairs.node);
    pairs.table.account.clear_simulated_cycle_shares();
    if let Some((step, memory, to)) = block.exception_step_of_block(node.address) {
        return simulate_timing_of_exception_step(bus, regions, &node, step, (memory, to));
    }
    if block.is_wait_for_other_core() {
        // SAFETY: the caller's promise.
        return unsafe { simulate_wait(bus, regions, &node, block) };
    }
    let place = regions[0].op_at_address(node.address);
    // SAFETY: as above, here and below.
    let shown = unsafe { *place };
    let first = if shown.code == Code::Attend { bus.op_behind_stub(node.address) } else { shown };
    // SAFETY: as above.
    let instructions = unsafe { block.instruction_count(place, first) };
    let remainder = block.block_remainder_to_simulate(node.address, instructions);
    let begun = Place { remainder, ..Place::core_position_before_basic_block(node.address) };
    if let Some(before) = block.other_core_wait_before_block() {
        // SAFETY: as above.
        return unsafe { simulate_wait_and_access(bus, regions, &node, before, begun) };
    }
    if node.other.remainder.instructions == 0 && (!block.is_block_ordered_between_cores() || block.is_busy_wait()) {
        // The other core has not executed its own one yet: that is handed in next, and no time passes before.
        return Some(Outcome::with_cores_swapped(&node, begun));
    }
    // SAFETY: as above.
    unsafe { simulate_blocks(bus, regions, &node, begun) }
}

/// Simulates `begun`, a basic block of the first core, and the rest of the other core's block, from `node` on until one
/// ends. `None` if the state there is too unusual to be cached.
///
/// # Safety
/// All instructions of `begun` and of the rest of the other basic block were executed: they are ops of these regions.
unsafe fn simulate_blocks<B: DualCoreBus>(
    bus: &mut B,
    regions: [Region; 2],
    node: &Node,
    begun: Place,
) -> Option<Outcome> {
    let now = bus.pair_timing_cache().now;
    let mut shadows = restore_shadow_cores_and_bus(bus, regions, [begun, node.other], &node.state);
    let start = usize::from(shadows[0].t >= shadows[1].t + u64::from(bus.tie_winner() == 0));
    shadows[start].limit = shadows[1 - start].t + u64::from(bus.tie_winner() == start);
    let is_single = node.state.are_cores_in_exception_entry()[1]
        .then(|| SingleCore::begin_single_core_simulation(bus, &mut shadows[0]));
    // SAFETY: the caller's promise; the shadows are two cores in one allocation, which nothing else uses meanwhile.
    unsafe { exec::run_cores::<B, true, { watch::PAIRS }>(shadows.as_mut_ptr(), start, bus) };
    if let Some(alone) = is_single {
        alone.restore_arbitration_of_both_cores(bus, &mut shadows[0]);
    }
    let ended = usize::from(shadows[0].remainder.instructions != 0);
    let (at_end, under_way) = (&shadows[ended], &shadows[1 - ended]);
    let ends = [begun, node.other][ended].remainder;
    assert!(
        at_end.address_of_op(at_end.ip) == ends.next
            && at_end.remainder.accesses == 0
            && at_end.remainder.instructions == 0,
        "a basic block of {} instructions took another way when it was timed",
        begun.remainder.instructions
    );
    let outcome = bus.timing_state(at_end, under_way).map(|state| Outcome {
        node: Node { state, address: at_end.address_of_op(at_end.ip), other: block_position_of_shadow_core(under_way) },
        cycles: at_end.t.min(under_way.t) - now,
        waits: shadows.each_ref().map(|shadow| shadow.bus_wait),
        instructions: [
            if begun.remainder.spin == 0 { begun.remainder.instructions } else { shadows[0].instructions },
            busy_wait_instruction_count(&node.other, &shadows[1]),
        ],
        swaps: ended != 0,
        stored: cycles_to_last_store(&ends, at_end, now),
    });
    add_instruction_cycles_to_profile(bus, &shadows);
    bus.pair_timing_cache().shadows = Some(shadows);
    outcome
}

/// Simulates a wait of the first core: the other core executes up to the same cycle, or to the end of its block. If the
/// first one gives way, the other core also goes first in that cycle.
///
/// # Safety
/// As for [`simulate_blocks`].
unsafe fn simulate_wait<B: DualCoreBus>(
    bus: &mut B,
    regions: [Region; 2],
    node: &Node,
    block: Block,
) -> Option<Outcome> {
    let mut state = node.state;
    if block.shape & Block::GIVES_WAY != 0 {
        state.times &= !State::FIRST;
    }
    let node = Node { state, ..*node };
    let place = Place::core_position_before_basic_block(node.address);
    if node.other.remainder.instructions == 0 {
        return Some(Outcome::with_cores_swapped(&node, place));
    }
    let now = bus.pair_timing_cache().now;
    let mut shadows = restore_shadow_cores_and_bus(bus, regions, [place, node.other], &state);
    // The end of an entry goes before the other core's instruction of the same cycle.
    let may_tie = bus.tie_winner() == 1 && !state.are_cores_in_exception_entry()[0];
    shadows[1].limit = shadows[0].t + u64::from(may_tie);
    let is_single =
        state.are_cores_in_exception_entry()[0].then(|| SingleCore::begin_single_core_simulation(bus, &mut shadows[1]));
    // SAFETY: the caller's promise; the shadows are two cores in one allocation, which nothing else uses meanwhile.
    unsafe { exec::execute_turn(shadows.as_mut_ptr(), 1, bus) };
    if let Some(alone) = is_single {
        alone.restore_arbitration_of_both_cores(bus, &mut shadows[1]);
    }
    let swaps = shadows[1].remainder.instructions == 0;
    let (at_end, under_way) = (&shadows[usize::from(swaps)], &shadows[usize::from(!swaps)]);
    let outcome = bus.timing_state(at_end, under_way).map(|state| Outcome {
        node: Node { state, address: at_end.address_of_op(at_end.ip), other: block_position_of_shadow_core(under_way) },
        cycles: at_end.t.min(under_way.t) - now,
        waits: shadows.each_ref().map(|shadow| shadow.bus_wait),
        instructions: [0, busy_wait_instruction_count(&node.other, &shadows[1])],
        swaps,
        stored: if swaps { cycles_to_last_store(&node.other.remainder, at_end, now) } else { 0 },
    });
    add_instruction_cycles_to_profile(bus, &shadows);
    bus.pair_timing_cache().shadows = Some(shadows);
    outcome
}

/// Waits like [`simulate_wait`] and then performs the ordered access `begun`, if the other core's block has not ended
/// and nothing else needs waiting.
///
/// # Safety
/// As for [`simulate_blocks`].
unsafe fn simulate_wait_and_access<B: DualCoreBus>(
    bus: &mut B,
    regions: [Region; 2],
    node: &Node,
    before: Block,
    begun: Place,
) -> Option<Outcome> {
    // SAFETY: the caller's promise, here and below.
    let waited = unsafe { simulate_wait(bus, regions, node, before) }?;
    if waited.swaps
        || must_wait_for_other_core(bus, &waited.node.state, waited.node.other.address, begun.remainder.gives_way)
            .is_some()
    {
        return Some(waited);
    }
    bus.pair_timing_cache().now += waited.cycles;
    // SAFETY: as above.
    let passed = unsafe { simulate_blocks(bus, regions, &waited.node, begun) };
    bus.pair_timing_cache().now -= waited.cycles;
    let passed = passed?;
    debug_assert!(!passed.swaps, "an access in order is made before anything else");
    let sum = |[first, other]: [u64; 2], [more, other_more]: [u64; 2]| [first + more, other + other_more];
    Some(Outcome {
        cycles: waited.cycles + passed.cycles,
        waits: sum(waited.waits, passed.waits),
        instructions: sum(waited.instructions, passed.instructions),
        ..passed
    })
}

/// Simulates a step of an exception of the first core, whose frame is in this memory and which leads to that address.
/// The other core gets no turn.
fn simulate_timing_of_exception_step<B: DualCoreBus>(
    bus: &mut B,
    regions: [Region; 2],
    node: &Node,
    step: Step,
    (memory, to): (u32, u32),
) -> Option<Outcome> {
    let timing = bus.exception_timing()?;
    let now = bus.pair_timing_cache().now;
    let mut shadows = restore_shadow_cores_and_bus(
        bus,
        regions,
        [Place::core_position_before_basic_block(node.address), node.other],
        &node.state,
    );
    let [core, other] = &mut *shadows;
    let wait = match step {
        Step::Enter | Step::Return => {
            exception::stack_frame_arbitration_cycles(core, bus, B::sample_address_in_memory(memory))
        }
        Step::Vector | Step::Chain => 0,
    };
    // Slots further ahead are not in the state.
    let is_far = core.t + u64::from(exception::FRAME_BYTES) / 4 + wait >= now + SLOTS as u64;
    core.t += wait
        + match step {
            Step::Enter => timing.late_arrival,
            Step::Vector => timing.entry - timing.late_arrival,
            Step::Return => timing.exit,
            Step::Chain => timing.tail_chain,
        };
    if step == Step::Enter {
        core.phase = IN_ENTRY;
    } else {
        (core.phase, core.fetch_ready) = (Phase::Run, 0);
    }
    let outcome = bus.timing_state(core, other).filter(|_| !is_far).map(|state| Outcome {
        node: Node { state, address: to, other: node.other },
        cycles: core.t.min(other.t) - now,
        waits: [core.bus_wait, 0],
        instructions: [0; 2],
        swaps: false,
        stored: 0,
    });
    bus.pair_timing_cache().shadows = Some(shadows);
    outcome
}

/// The state of the bus from before one core was simulated alone on it, without arbitration.
struct SingleCore {
    slots: Vec<u64>,
    bus_free: u64,
}

impl SingleCore {
    /// Simulates the core alone on the bus from now on, and saves the bus's arbitration state of both cores.
    fn begin_single_core_simulation<B: DualCoreBus>(bus: &mut B, core: &mut Core) -> SingleCore {
        let slots = bus.memory_slots().to_vec();
        bus.memory_slots().fill(NEVER);
        core.fetch_ready = 0;
        SingleCore { slots, bus_free: std::mem::take(&mut core.bus_free) }
    }

    /// Restores the bus's arbitration state of both cores.
    fn restore_arbitration_of_both_cores<B: DualCoreBus>(self, bus: &mut B, core: &mut Core) {
        bus.memory_slots().copy_from_slice(&self.slots);
        core.bus_free = self.bus_free;
        debug_assert!(core.fetch_ready == 0 && core.bus_wait == 0, "no core is in the way of one that is alone");
    }
}

/// The only phase of a shadow core that matters.
const IN_ENTRY: Phase = Phase::Entry { number: 0, exc_return: 0, wait: 0, recognised: 0 };
/// No cycle.
const NEVER: u64 = u64::MAX;

/// Returns the shadow cores, set to these places, with the bus set to that state.
fn restore_shadow_cores_and_bus<B: DualCoreBus>(
    bus: &mut B,
    regions: [Region; 2],
    places: [Place; 2],
    state: &State,
) -> Box<[Core; 2]> {
    let now = bus.pair_timing_cache().now;
    let mut shadows = bus.pair_timing_cache().shadows.take().unwrap_or_else(|| Box::new([Core::new(0), Core::new(1)]));
    for (((shadow, region), place), enters) in
        shadows.iter_mut().zip(regions).zip(places).zip(state.are_cores_in_exception_entry())
    {
        shadow.phase = if enters { IN_ENTRY } else { Phase::Run };
        shadow.region = region;
        (shadow.ip, shadow.remainder) = (region.op_at_address(place.address), place.remainder);
        (shadow.transfer.mask, shadow.transfer.address) = (place.mask, place.data);
        (shadow.bus_wait, shadow.instructions, shadow.stored) = (0, 0, 0);
        shadow.steps.clear();
    }
    let [first, other] = &mut *shadows;
    bus.restore_timing_state(state, now, first, other);
    shadows
}

/// Returns [`Outcome::stored`] of a transition that began in cycle `now` and in which the shadow core came to the end
/// of `rest`.
fn cycles_to_last_store(rest: &UntimedBlockRemainder, shadow: &Core, now: u64) -> u64 {
    if rest.does_block_end_with_instruction_kind(Block::REPORTS_STORE) { shadow.stored + 1 - now } else { 0 }
}

/// Adds the cycles of each instruction that the shadow cores executed to the account.
fn add_instruction_cycles_to_profile<B: DualCoreBus>(bus: &mut B, shadows: &[Core; 2]) {
    let account = &mut bus.pair_timing_cache().table.account;
    for (shadow, is_other) in shadows.iter().zip([false, true]) {
        shadow
            .steps
            .iter()
            .for_each(|step| account.add_cycle_share_to_transition(step.step_as_transition_cycle_share(is_other)));
    }
}

/// Returns the number of instructions of a busy wait that the shadow core has executed.
fn busy_wait_instruction_count(began: &Place, shadow: &Core) -> u64 {
    if began.remainder.spin == 0 { 0 } else { shadow.instructions }
}

/// Returns the position of a shadow core inside its block.
fn block_position_of_shadow_core(shadow: &Core) -> Place {
    let mask = shadow.transfer.mask;
    let data = if mask == 0 { 0 } else { shadow.transfer.address };
    Place { address: shadow.address_of_op(shadow.ip), remainder: shadow.remainder, mask, data }
}
