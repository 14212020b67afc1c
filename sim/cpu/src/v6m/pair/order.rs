//! Accesses that both cores make in time order: a core comes to one when the other core has come as far.

use super::spin::{self, Spin};
use super::{Node, Paired, hand_in};
use crate::v6m::block::{Block, Turn};
use crate::v6m::core::Core;
use crate::v6m::op::Code;
use crate::v6m::speculation::SpeculationLog;

/// What an instruction that must come in time order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asked {
    /// An access to what lies behind no bus.
    #[default]
    Port,
    /// One with a probe, which fires when it begins.
    Probe,
    /// A store to a word of RAM that is watched, at this offset, in this memory.
    Store {
        /// Offset in the RAM.
        offset: u32,
        /// Number of its memory.
        memory: u32,
    },
}

/// What [`Bus::order`](crate::v6m::bus::Bus::order) does.
///
/// # Safety
/// As for [`paired`](super::paired); the core stands before the instruction and has begun no block.
pub unsafe fn order<B: Paired>(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2]) -> Turn {
    let [mine, theirs] = logs;
    // SAFETY: the caller's promise, here and below; nothing was executed that a block handed in would have to undo.
    unsafe {
        if bus.pairs().asked == Asked::Port
            && let Some(spin) = begin_spin(bus, &*cores[0])
        {
            let turn = hand_in(bus, cores, mine, spin);
            if turn.is_none() {
                bus.pairs().spin = None;
            }
            return turn.unwrap_or(Turn::Stop);
        }
    }
    // SAFETY: as above.
    let is_second = unsafe { (*cores[0]).id } == 1;
    loop {
        let pairs = bus.pairs();
        let (node, now, asked) = (pairs.table.node(pairs.node), pairs.now, pairs.asked);
        let [at, other_at] = node.state.cores();
        let mut waits = node.state.comes_second();
        let mut gives_way = false;
        if !waits && at == other_at && is_second && asked == Asked::Port && !node.state.enter()[1] {
            let address = node.other.address;
            gives_way = !bus.minds_no_order(address);
            waits = gives_way;
        }
        let block = match asked {
            _ if waits => Block::wait(gives_way),
            Asked::Probe => {
                bus.pairs().granted = Some(now + at);
                return Turn::Same;
            }
            Asked::Port => Block::ordered(B::ORDERED_MEMORY, is_second),
            // SAFETY: as above.
            Asked::Store { offset, .. } if unsafe { is_accessed(bus, offset, mine, theirs) } => return Turn::Stop,
            Asked::Store { memory, .. } => Block::ordered(memory, false),
        };
        // SAFETY: as above.
        let Some(turn) = (unsafe { hand_in(bus, cores, mine, block) }) else {
            return Turn::Stop;
        };
        if !waits {
            let pairs = bus.pairs();
            let stored = if asked == Asked::Port { at } else { pairs.stored };
            (pairs.granted, pairs.stops) = (Some(now + stored), turn == Turn::Stop);
            return Turn::Same;
        }
        if turn != Turn::Same {
            return turn;
        }
    }
}

/// Whether the other core's basic block, of which part may have been executed ahead of now, accesses the word at this offset.
///
/// # Safety
/// As for [`order`].
unsafe fn is_accessed<B: Paired>(
    bus: &mut B,
    offset: u32,
    mine: *mut SpeculationLog,
    theirs: *mut SpeculationLog,
) -> bool {
    // SAFETY: the caller's promise; the word is in the RAM.
    unsafe {
        let word = bus.ram().add((offset & !3) as usize).cast::<u32>().read_unaligned();
        (*mine).write::<4>(offset & !3, word);
        let meets = (*mine).may_meet(&*theirs) && (*mine).meets(&*theirs);
        (*mine).forget();
        meets
    }
}

/// The wait that this core is in, if it is in one and the other core is not.
fn begin_spin<B: Paired>(bus: &mut B, core: &Core) -> Option<Block> {
    let pairs = bus.pairs();
    let failed = pairs.failed[core.id].as_ref().filter(|failed| failed.is_at(core))?;
    // SAFETY: `ip` points into the ops of the region.
    if unsafe { *core.ip }.code == Code::Attend {
        return None;
    }
    let (instructions, lock) = (failed.repeats(core)?, failed.lock());
    if pairs.spin.is_some() || !bus.is_locked(lock) {
        return None;
    }
    bus.pairs().spin = Some(Spin { lock, began: core.instructions });
    Some(Block::spin(instructions, B::ORDERED_MEMORY, core.id == 1))
}

/// What [`Bus::ordered`](crate::v6m::bus::Bus::ordered) does.
///
/// # Safety
/// As for [`paired`](super::paired).
pub unsafe fn ordered<B: Paired>(bus: &mut B, cores: [*mut Core; 2], mine: *mut SpeculationLog) -> Turn {
    // SAFETY: the caller's promise.
    unsafe { (*mine).served = false };
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
