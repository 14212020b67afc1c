//! Two cores whose interleaving is remembered: how they collide on the bus they have collided before.
//!
//! Instructions run in stretches ([`Stretch`]), first without any time, one core after the other, each ahead of its
//! time. Where both cores stand, what is left of the other core's stretch, and the state of the arbitration (times as
//! distances from now) name a node; node and stretch name a transition: how far both come until one of the stretches
//! ends. If it was seen before, its cycles are added and its end is the new node. If not, the interpreter goes through
//! both stretches in its mode with arbitration, on cores of its own and without effects.
//!
//! So rules of time are written down once, in the interpreter and the bus, and nothing is approximated. A stretch touches
//! only memories that answer by fixed rules, and no word that the other core's stretch writes ([`Flight`]): then their
//! order does not matter. Before an instruction that no stretch holds, what the other core did ahead of that cycle is
//! undone, and both go on in time.

mod flight;
mod learn;
mod memory;
mod stretch;
mod table;

use crate::step::watch;
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::exec;
use crate::v6m::op::Op;

pub use flight::Flight;
use learn::learn;
pub use memory::Pairs;
pub use stretch::{Rest, Stretch};
use table::Transition;

/// What the timing of two cores depends on, the one that goes on first, times as distances from the earlier one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct State {
    /// Transfer slots that are taken: one bit a cycle, 16 for each slave.
    pub slots: [u64; 2],
    /// Times of both cores, until when their ports are busy and until when their fetches are late, a byte each, and who
    /// goes first.
    pub times: u64,
}

impl State {
    /// The same, the other core first.
    fn swapped(&self) -> State {
        let pairs = 0x00ff_00ff_00ff;
        let times = (self.times & pairs) << 8 | self.times >> 8 & pairs | self.times >> 48 << 48;
        State { slots: self.slots, times: times ^ State::FIRST }
    }

    /// Set in `times` if the first core goes first when both issue in the same cycle.
    pub const FIRST: u64 = 1 << 48;
}

/// Where a core stands inside a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    ip: *mut Op,
    rest: Rest,
    /// Words left of a multiple transfer and where in its memory it is.
    mask: u32,
    address: u32,
}

/// Where both cores stand when one of them has come to the end of its stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    /// That core's next instruction.
    ip: *mut Op,
    other: Place,
}

/// A bus whose arbitration between two cores can be remembered.
pub trait Paired: Bus {
    /// What is remembered.
    fn pairs(&mut self) -> &mut Pairs;

    /// The state now, between instructions; `None` if it is too far from usual.
    fn state(&self, first: &Core, other: &Core) -> Option<State>;

    /// Takes a state up at cycle `now`.
    fn resume(&mut self, state: &State, now: u64, first: &mut Core, other: &mut Core);
}

/// Who goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The core whose stretch was handed in.
    Same,
    /// The other one.
    Other,
    /// Neither: the machine must act.
    Stop,
}

/// Executes stretches, `cores[turn]` first, until an instruction that no stretch holds or until an event at `due` is near,
/// which is later than [`Stretch::CYCLES`] from now. Cores and bus are up to date before and behind. Then remembering rests
/// for a while, so that the machine goes on in time.
///
/// # Safety
/// As for [`exec::run`]; both cores stand before an instruction and not inside one.
pub unsafe fn run<B: Paired>(cores: *mut Core, turn: usize, due: u64, bus: &mut B) {
    // SAFETY: the caller's promise.
    unsafe {
        let (first, other) = (&mut *cores.add(turn), &mut *cores.add(1 - turn));
        let now = first.t.min(other.t);
        let state = bus.state(first, other);
        let pairs = bus.pairs();
        let Some(state) = state else {
            pairs.put_off(now);
            return;
        };
        let place = Place { ip: other.ip, rest: Rest::NONE, mask: 0, address: 0 };
        pairs.node = pairs.table.number_anew(Node { state, ip: first.ip, other: place });
        (pairs.now, pairs.until, pairs.turn) = (now, due - Stretch::CYCLES, turn);
        pairs.flights.iter_mut().for_each(Flight::forget);
        exec::run::<B, false, { watch::PAIRS }>(cores, turn, bus);
        land(cores, bus);
        bus.pairs().rest_after(now);
    }
}

/// Brings both cores and the bus to the node that was reached: what the other core did ahead of it is undone.
unsafe fn land<B: Paired>(cores: *mut Core, bus: &mut B) {
    // SAFETY: `run`'s promise.
    unsafe {
        let ram = bus.ram();
        let pairs = bus.pairs();
        let (node, now) = (*pairs.table.node(pairs.node), pairs.now);
        let (first, other) = (&mut *cores.add(pairs.turn), &mut *cores.add(1 - pairs.turn));
        debug_assert!(first.ip == node.ip);
        let left = node.other.rest.instructions;
        if left != 0 {
            let flight = &mut pairs.flights[other.id & 1];
            flight.undo(other, ram);
            let target = other.instructions - left;
            other.instructions -= flight.instructions;
            // Without the other core nothing but the number of instructions and words says where it stands.
            (other.t, other.transfer.mask) = (0, 0);
            let index = other.id & 1;
            while other.instructions != target || other.transfer.mask != node.other.mask {
                other.limit = other.t + 1;
                exec::run::<B, false, { watch::NOTHING }>(cores, index, bus);
            }
            debug_assert!(other.ip == node.other.ip);
        }
        bus.resume(&node.state, now, first, other);
    }
}

/// What [`Bus::paired`] does.
///
/// # Safety
/// `core` has just executed the stretch; both are cores that [`run`] was given.
#[inline(always)]
pub unsafe fn paired<B: Paired>(
    bus: &mut B,
    [core, other]: [*mut Core; 2],
    [mine, theirs]: [*mut Flight; 2],
    stretch: Stretch,
) -> Turn {
    // SAFETY: the caller's promise.
    unsafe {
        let pairs = bus.pairs();
        if (*mine).may_meet(&*theirs) && (*mine).meets(&*theirs) {
            (*mine).undo(&mut *core, bus.ram());
            return Turn::Stop;
        }
        let key = Transition::key(pairs.node, stretch.shape);
        let found = &pairs.table.places(key, &stretch)[0];
        if !found.is(key, &stretch) && !pairs.table.bring(key, &stretch) {
            return learn(bus, [core, other], mine, stretch);
        }
        let found = pairs.table.places(key, &stretch)[0];
        (*mine).instructions = u64::from(found.instructions);
        (*core).instructions += u64::from(found.instructions);
        (*core).bus_wait += u64::from(found.waits[0]);
        (*other).bus_wait += u64::from(found.waits[1]);
        pairs.now += u64::from(found.cycles);
        pairs.node = u32::from(found.next);
        pairs.turn ^= usize::from(found.swaps);
        if pairs.now > pairs.until {
            Turn::Stop
        } else if found.swaps {
            Turn::Other
        } else {
            Turn::Same
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_the_same_seen_from_either_core() {
        let state = State { slots: [1, 2], times: 0x0000_0605_0403_0201 };
        assert_eq!(state.swapped(), State { slots: [1, 2], times: 0x0001_0506_0304_0102 });
        assert_eq!(state.swapped().swapped(), state);
    }
}
