//! What is remembered: states that a trace can begin in, and what became of them.

use super::Log;
use crate::v7m::core::Region;
use crate::v7m::op::Op;

/// log2 of the transitions kept.
const TRANSITIONS: u32 = 14;
/// States kept before all is forgotten.
pub(super) const STATES: usize = 1 << 16;

/// Which trace, from which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key {
    /// Where it starts: its address, times the bytes of ops for each byte of code.
    start: u64,
    /// The bits of its log.
    log: u64,
    /// State number, instructions, distance to where execution goes on.
    rest: u64,
}

impl Key {
    /// What the address of an op in this region differs by in the target and in the host, in bytes of ops.
    pub fn bias(region: &Region) -> u64 {
        let base = u64::from(region.base) * (size_of::<Op>() as u64 / 2);
        base.wrapping_sub(region.ops as u64)
    }

    /// The key of a trace of ops. Nothing of it depends on where the host keeps them.
    #[inline(always)]
    pub fn new(bias: u64, start: *mut Op, end: *mut Op, instructions: u32, log: Log, state: u32) -> Key {
        const _: () = assert!(STATES <= 1 << 16 && size_of::<Op>() == 16);
        let distance = (end as u64).wrapping_sub(start as u64) << 28;
        let rest = u64::from(state) | u64::from(instructions) << 16 | distance;
        Key { start: (start as u64).wrapping_add(bias), log: log.bits(), rest }
    }

    #[inline(always)]
    fn slot(self) -> usize {
        let mixed = (self.start ^ self.rest.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ self.log.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        (mixed >> (u64::BITS - TRANSITIONS)) as usize
    }
}

/// How a trace moved time and state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transition<L> {
    pub key: Key,
    /// Cycles it took.
    pub cycles: u32,
    /// Of those, waits for the bus and for the flash.
    pub bus_wait: u32,
    pub flash_wait: u32,
    /// Number of the state behind it.
    pub next: u32,
    /// What it asked of the flash interface's caches.
    pub lookups: L,
}

/// A direct-mapped table of transitions.
#[derive(Debug)]
pub(super) struct Transitions<L> {
    slots: Vec<Transition<L>>,
}

impl<L: Copy + Default> Transitions<L> {
    pub fn new() -> Transitions<L> {
        Transitions { slots: vec![Transition::default(); 1 << TRANSITIONS] }
    }

    /// What is known of a trace. (No trace has the default key: it would have no instruction.)
    #[inline(always)]
    pub fn find(&mut self, key: Key) -> Option<&mut Transition<L>> {
        // SAFETY: a slot number has as many bits as the table's length.
        let found = unsafe { self.slots.get_unchecked_mut(key.slot()) };
        (found.key == key).then_some(found)
    }

    pub fn insert(&mut self, transition: Transition<L>) {
        self.slots[transition.key.slot()] = transition;
    }

    pub fn clear(&mut self) {
        self.slots.fill(Transition::default());
    }
}
