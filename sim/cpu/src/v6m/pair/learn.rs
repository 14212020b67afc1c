//! Transitions that were not seen before: both basic blocks are simulated in time, on shadow cores.

use super::table::Transition;
use super::{Node, Paired, Place};
use crate::step::watch;
use crate::v6m::block::{Block, Turn};
use crate::v6m::core::Core;
use crate::v6m::exec;
use crate::v6m::region::Region;
use crate::v6m::speculation::SpeculationLog;

/// Where one transition leads.
struct Outcome {
    node: Node,
    cycles: u64,
    waits: [u64; 2],
    instructions: u64,
    swaps: bool,
}

/// Finds out how far both cores come until one is at the end of its block.
///
/// # Safety
/// As for [`paired`](super::paired).
#[cold]
#[inline(never)]
pub(super) unsafe fn learn<B: Paired>(
    bus: &mut B,
    [core, other]: [*mut Core; 2],
    mine: *mut SpeculationLog,
    block: Block,
) -> Turn {
    // SAFETY: `paired`'s promise: the block was executed, so that its instructions are ops, and so are the other core's.
    unsafe {
        let pairs = bus.pairs();
        let node = *pairs.table.node(pairs.node);
        let instructions = block.instructions((*core).region.op(node.address));
        let remainder = block.begun(node.address, instructions);
        let begun = Place { address: node.address, remainder, mask: 0, data: 0 };
        let outcome = if node.other.remainder.instructions == 0 {
            // The other core has not executed its own one yet: that is handed in next, and no time passes before.
            let node = Node { state: node.state.swapped(), address: node.other.address, other: begun };
            Some(Outcome { node, cycles: 0, waits: [0; 2], instructions, swaps: true })
        } else {
            go_through(bus, [(*core).region, (*other).region], &node, begun)
        };
        let Some(Outcome { node, cycles, waits, instructions, swaps }) = outcome else {
            (*mine).undo(&mut *core, bus.ram());
            return Turn::Stop;
        };
        let pairs = bus.pairs();
        debug_assert!(cycles <= Block::CYCLES);
        (*mine).instructions = instructions;
        (*core).instructions += instructions;
        (*core).bus_wait += waits[0];
        (*other).bus_wait += waits[1];
        let before = pairs.node;
        pairs.now += cycles;
        pairs.turn ^= usize::from(swaps);
        match pairs.table.number(node) {
            Some(next) => {
                let key = Transition::key(before, block.shape);
                if let Some(transition) = Transition::new(cycles, waits, instructions, swaps, next) {
                    pairs.table.keep(key, &block, transition);
                }
                pairs.node = next;
            }
            None => pairs.node = pairs.table.number_anew(node),
        }
        if pairs.judge() || pairs.now > pairs.until {
            Turn::Stop
        } else if swaps {
            Turn::Other
        } else {
            Turn::Same
        }
    }
}

/// Simulates `begun`, a basic block of the first of these cores, and what remains of the other one's, from `node` on until
/// one is at its end. `None` if the state there is too far from usual.
///
/// # Safety
/// All instructions of `begun` and of the rest of the other basic block were executed: they are ops of these regions.
unsafe fn go_through<B: Paired>(bus: &mut B, regions: [Region; 2], node: &Node, begun: Place) -> Option<Outcome> {
    let now = bus.pairs().now;
    let mut shadows = bus.pairs().shadows.take().unwrap_or_else(|| Box::new([Core::new(0), Core::new(1)]));
    for (index, place) in [begun, node.other].into_iter().enumerate() {
        let shadow = &mut shadows[index];
        shadow.region = regions[index];
        (shadow.ip, shadow.remainder) = (shadow.region.op(place.address), place.remainder);
        (shadow.transfer.mask, shadow.transfer.address) = (place.mask, place.data);
        shadow.bus_wait = 0;
    }
    let [first, other] = &mut *shadows;
    bus.resume(&node.state, now, first, other);
    let start = usize::from(first.t >= other.t + u64::from(bus.first() == 0));
    shadows[start].limit = shadows[1 - start].t + u64::from(bus.first() == start);
    // SAFETY: the caller's promise; the shadows are two cores in one allocation, which nothing else uses meanwhile.
    unsafe { exec::run::<B, true, { watch::PAIRS }>(shadows.as_mut_ptr(), start, bus) };
    let ended = usize::from(shadows[0].remainder.instructions != 0);
    let (at_end, under_way) = (&shadows[ended], &shadows[1 - ended]);
    let expected = [begun, node.other][ended].remainder.next;
    assert!(
        at_end.address_of(at_end.ip) == expected
            && at_end.remainder.accesses == 0
            && at_end.remainder.instructions == 0,
        "a basic block of {} instructions took another way when it was timed",
        begun.remainder.instructions
    );
    let mask = under_way.transfer.mask;
    let data = if mask == 0 { 0 } else { under_way.transfer.address };
    let address = under_way.address_of(under_way.ip);
    let place = Place { address, remainder: under_way.remainder, mask, data };
    let outcome = bus.state(at_end, under_way).map(|state| Outcome {
        node: Node { state, address: at_end.address_of(at_end.ip), other: place },
        cycles: at_end.t.min(under_way.t) - now,
        waits: shadows.each_ref().map(|shadow| shadow.bus_wait),
        instructions: begun.remainder.instructions,
        swaps: ended != 0,
    });
    bus.pairs().shadows = Some(shadows);
    outcome
}
