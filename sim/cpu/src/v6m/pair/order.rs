//! Accesses that both cores make in time order: a core comes to one when the other core has come as far.

use super::spin::{self, Spin};
use super::{Node, Paired, hand_in};
use crate::v6m::block::{Block, Turn};
use crate::v6m::core::Core;
use crate::v6m::speculation::SpeculationLog;

/// What [`Bus::order`](crate::v6m::bus::Bus::order) does.
///
/// # Safety
/// As for [`paired`](super::paired); the core stands before the instruction and has begun no block.
pub unsafe fn order<B: Paired>(bus: &mut B, cores: [*mut Core; 2], mine: *mut SpeculationLog) -> Turn {
    // SAFETY: the caller's promise, here and below; nothing was executed that a block handed in would have to undo.
    unsafe {
        if let Some(spin) = begin_spin(bus, &*cores[0]) {
            let turn = hand_in(bus, cores, mine, spin);
            if turn.is_none() {
                bus.pairs().spin = None;
            }
            return turn.unwrap_or(Turn::Stop);
        }
    }
    loop {
        let pairs = bus.pairs();
        let (node, now) = (pairs.table.node(pairs.node), pairs.now);
        let [at, other_at] = node.state.cores();
        let mut waits = at > other_at || at == other_at && !node.state.wins_ties();
        let mut gives_way = false;
        // SAFETY: as above.
        let is_second = unsafe { (*cores[0]).id } == 1;
        if !waits && at == other_at && is_second {
            let address = node.other.address;
            gives_way = !bus.minds_no_order(address);
            waits = gives_way;
        }
        let block = if waits { Block::wait(gives_way) } else { Block::ordered(B::ORDERED_MEMORY, is_second) };
        // SAFETY: as above.
        let Some(turn) = (unsafe { hand_in(bus, cores, mine, block) }) else {
            return Turn::Stop;
        };
        if !waits {
            let pairs = bus.pairs();
            (pairs.granted, pairs.stops) = (Some(now + at), turn == Turn::Stop);
            return Turn::Same;
        }
        if turn != Turn::Same {
            return turn;
        }
    }
}

/// The wait that this core is in, if it is in one and the other core is not.
fn begin_spin<B: Paired>(bus: &mut B, core: &Core) -> Option<Block> {
    let failed = bus.pairs().failed[core.id]?;
    let instructions = failed.repeats(core)?;
    if bus.pairs().spin.is_some() || !bus.is_locked(failed.lock()) {
        return None;
    }
    bus.pairs().spin = Some(Spin { lock: failed.lock(), began: core.instructions });
    Some(Block::spin(instructions, B::ORDERED_MEMORY, core.id == 1))
}

/// What [`Bus::ordered`](crate::v6m::bus::Bus::ordered) does.
///
/// # Safety
/// As for [`paired`](super::paired).
pub unsafe fn ordered<B: Paired>(bus: &mut B, cores: [*mut Core; 2]) -> Turn {
    let pairs = bus.pairs();
    if std::mem::take(&mut pairs.freed) {
        let node = *pairs.table.node(pairs.node);
        // SAFETY: the caller's promise.
        let other = spin::end(unsafe { &*cores[1] }, &node.other, bus);
        let pairs = bus.pairs();
        pairs.node = pairs.table.number_anew(Node { other, ..node });
    }
    if bus.pairs().stops { Turn::Stop } else { Turn::Same }
}
