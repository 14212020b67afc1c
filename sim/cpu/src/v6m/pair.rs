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
    // SAFETY: the caller's promise; references to the cores end before the interpreter runs, and flights are the bus's.
    unsafe {
        if !enter(&*cores.add(turn), &*cores.add(1 - turn), due, bus) {
            return;
        }
        let now = bus.pairs().now;
        bus.pairs().turn = turn;
        bus.pairs().flights.of(0).into_iter().for_each(|flight| (*flight).forget());
        exec::run::<B, false, { watch::PAIRS }>(cores, turn, bus);
        land(cores, bus);
        bus.pairs().rest_after(now);
    }
}

/// Finds the node that both cores, the one that goes on first, and the bus are at; false if it is too far from usual.
fn enter<B: Paired>(first: &Core, other: &Core, due: u64, bus: &mut B) -> bool {
    let now = first.t.min(other.t);
    let state = bus.state(first, other);
    let pairs = bus.pairs();
    let Some(state) = state else {
        pairs.put_off(now);
        return false;
    };
    let place = Place { ip: other.ip, rest: Rest::NONE, mask: 0, address: 0 };
    pairs.node = pairs.table.number_anew(Node { state, ip: first.ip, other: place });
    (pairs.now, pairs.until) = (now, due - Stretch::CYCLES);
    true
}

/// Brings both cores and the bus to the node that was reached: what the other core did ahead of it is undone.
///
/// # Safety
/// As for [`run`].
unsafe fn land<B: Paired>(cores: *mut Core, bus: &mut B) {
    let pairs = bus.pairs();
    let (node, now, turn) = (*pairs.table.node(pairs.node), pairs.now, pairs.turn);
    // SAFETY: the caller's promise; a reference to a core ends before the interpreter runs again.
    unsafe {
        debug_assert!((*cores.add(turn)).ip == node.ip);
        if node.other.rest.instructions != 0 {
            go_back(cores, 1 - turn, &node.other, bus);
            debug_assert!((*cores.add(1 - turn)).ip == node.other.ip);
        }
        bus.resume(&node.state, now, &mut *cores.add(turn), &mut *cores.add(1 - turn));
    }
}

/// Brings a core back to a place in its stretch, all of which it has executed.
///
/// # Safety
/// As for [`run`]; the core's flight is that of the stretch.
unsafe fn go_back<B: Paired>(cores: *mut Core, index: usize, place: &Place, bus: &mut B) {
    let [flight, _] = bus.pairs().flights.of(index);
    let ram = bus.ram();
    // SAFETY: the caller's promise.
    unsafe {
        let core = cores.add(index);
        (*flight).undo(&mut *core, ram);
        let target = (*core).instructions - place.rest.instructions;
        (*core).instructions -= (*flight).instructions;
        // Without the other core nothing but the number of instructions and words says where it stands.
        ((*core).t, (*core).transfer.mask) = (0, 0);
        while (*core).instructions != target || (*core).transfer.mask != place.mask {
            (*core).limit = (*core).t + 1;
            exec::run::<B, false, { watch::NOTHING }>(cores, index, bus);
        }
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
        pairs.counts.known += 1;
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
