//! Accesses that both cores make in time order: a core comes to one when the other core has come as far.

use super::spin::{self, SpinlockBusyWait};
use super::{DualCoreBus, Node, State, advance_by_cached_transition};
use crate::v6m::block::{Block, NextCoreChoice};
use crate::v6m::core::Core;
use crate::v6m::op::Code;
use crate::v6m::speculation::SpeculationLog;

/// The kind of an instruction that both cores must execute in the order of their cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CrossCoreOrderedInstructionKind {
    /// An access to what lies behind no bus.
    #[default]
    Port,
    /// One with a probe, which fires when it begins.
    Probe,
}

/// Decides which core continues when the first one must wait for its turn
/// ([`Ahead::wait_for_turn`](crate::v6m::bus::Ahead::wait_for_turn)).
///
/// # Safety
/// As for [`time_block`](super::time_block). The core is before the instruction and has begun no block.
pub unsafe fn wait_for_turn<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    mine: *mut SpeculationLog,
) -> NextCoreChoice {
    // SAFETY: the caller's promise, here and below; nothing was executed that a block handed in would have to undo.
    unsafe {
        if bus.pair_timing_cache().asked == CrossCoreOrderedInstructionKind::Port
            && let Some(spin) = begin_spinlock_wait(bus, &*cores[0])
        {
            let turn = advance_by_cached_transition(bus, cores, mine, spin);
            if turn.is_none() {
                bus.pair_timing_cache().spin = None;
            }
            return turn.unwrap_or(NextCoreChoice::Stop);
        }
    }
    // SAFETY: as above.
    let is_second = unsafe { (*cores[0]).id } == 1;
    loop {
        let pairs = bus.pair_timing_cache();
        let Node { state, other, .. } = pairs.table.node_with_number(pairs.node);
        let (state, other, now, asked) = (*state, other.address, pairs.now, pairs.asked);
        let wait =
            must_wait_for_other_core(bus, &state, other, is_second && asked == CrossCoreOrderedInstructionKind::Port);
        let access = Block::new_cross_core_ordered_access_block(B::ORDERED_MEMORY, is_second);
        let block = match (asked, wait) {
            (CrossCoreOrderedInstructionKind::Probe, None) => return NextCoreChoice::Same,
            (CrossCoreOrderedInstructionKind::Probe, Some(gives_way)) => Block::wait_block(gives_way),
            (CrossCoreOrderedInstructionKind::Port, None) => access,
            (CrossCoreOrderedInstructionKind::Port, Some(gives_way)) => access.prepend_wait_for_other_core(gives_way),
        };
        // SAFETY: as above.
        let (turn, is_made) = unsafe {
            let Some(turn) = advance_by_cached_transition(bus, cores, mine, block) else {
                return NextCoreChoice::Stop;
            };
            (turn, (*mine).instructions != 0)
        };
        if is_made {
            let [at, _] = state.relative_times_of_both_cores();
            let pairs = bus.pair_timing_cache();
            (pairs.granted, pairs.stops) = (Some(now + at), turn == NextCoreChoice::Stop);
            return NextCoreChoice::Same;
        }
        if turn != NextCoreChoice::Same {
            return turn;
        }
    }
}

/// Returns whether the first core must wait for the other one, which is at the address `other`.
pub(super) fn must_wait_for_other_core<B: DualCoreBus>(
    bus: &B,
    state: &State,
    other: u32,
    may_give_way: bool,
) -> Option<bool> {
    if state.does_first_core_run_after_other() {
        return Some(false);
    }
    let [at, other_at] = state.relative_times_of_both_cores();
    let is_tie = at == other_at && may_give_way;
    (is_tie && !bus.is_order_irrelevant(other)).then_some(true)
}

/// Begins the busy wait for a spinlock that this core is in, and returns its block. `None` if it is in none, or if the
/// other core waits, too.
fn begin_spinlock_wait<B: DualCoreBus>(bus: &mut B, core: &Core) -> Option<Block> {
    let pairs = bus.pair_timing_cache();
    let failed = pairs.failed[core.id].as_ref().filter(|failed| failed.is_back_at_spinlock_load(core))?;
    // SAFETY: `ip` points into the ops of the region.
    if unsafe { *core.ip }.code == Code::Attend {
        return None;
    }
    let (instructions, lock) = (failed.repetition_instructions(core)?, failed.spinlock_number());
    if pairs.spin.is_some() || !bus.is_locked(lock) {
        return None;
    }
    bus.pair_timing_cache().spin = Some(SpinlockBusyWait { lock, began: core.instructions });
    Some(Block::new_busy_wait_block(instructions, B::ORDERED_MEMORY, core.id == 1))
}

/// Decides which core continues after the first one's ordered access
/// ([`Ahead::end_turn`](crate::v6m::bus::Ahead::end_turn)).
///
/// # Safety
/// As for [`time_block`](super::time_block).
pub unsafe fn end_turn<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    mine: *mut SpeculationLog,
) -> NextCoreChoice {
    // SAFETY: the caller's promise.
    unsafe { (*mine).served = false };
    let pairs = bus.pair_timing_cache();
    if std::mem::take(&mut pairs.freed) {
        let node = *pairs.table.node_with_number(pairs.node);
        // SAFETY: the caller's promise.
        let other = spin::end_busy_wait(unsafe { &*cores[1] }, &node.other, bus);
        let pairs = bus.pair_timing_cache();
        pairs.node = pairs.table.timing_node_number_or_clear_table(Node { other, ..node });
    }
    if bus.pair_timing_cache().stops { NextCoreChoice::Stop } else { NextCoreChoice::Same }
}
