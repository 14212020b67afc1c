//! What is remembered: states that a trace can begin in, and what became of them.

use super::TRACE_INSTRUCTIONS;
use super::account::{Account, NO_SHARES, Shares};
use super::replay::Trace;
use crate::profile::ProfileCell;
use crate::v7m::core::Region;
use crate::v7m::op::Op;

/// log2 of the transitions kept.
const TRANSITIONS: u32 = 14;
/// States kept before all is forgotten.
pub(super) const STATES: usize = 1 << 16;

/// Which trace, from which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key {
    /// Where it starts: its [`Key::place`].
    start: u64,
    /// The bits of its log.
    log: u64,
    /// State number, instructions, whether the last one wrote a watched word, distance to where execution goes on.
    rest: u64,
}

impl Key {
    /// What the address of an op in this region differs by in the target and in the host, in bytes of ops.
    pub fn bias(region: &Region) -> u64 {
        let base = u64::from(region.base) * (size_of::<Op>() as u64 / 2);
        base.wrapping_sub(region.ops as u64)
    }

    /// Where an op stands: its address, times the bytes of ops for each byte of code.
    #[inline(always)]
    pub fn place(bias: u64, op: *mut Op) -> u64 {
        (op as u64).wrapping_add(bias)
    }

    /// The key of a trace of ops. Nothing of it depends on where the host keeps them.
    #[inline(always)]
    pub fn new(bias: u64, trace: Trace, state: u32) -> Key {
        const _: () = assert!(STATES <= 1 << 16 && size_of::<Op>() == 16 && TRACE_INSTRUCTIONS < 1 << 11);
        let Trace { start, end, instructions, log, .. } = trace;
        let distance = (end as u64).wrapping_sub(start as u64) << 28;
        let rest = u64::from(state) | u64::from(instructions) << 16 | u64::from(trace.is_watched) << 27 | distance;
        Key { start: Key::place(bias, start), log: log.bits(), rest }
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
    /// Cycles from its begin to the address phase of its last store, which may overlap the end of what was before.
    pub stored_after: i32,
    /// How often it was taken since its share of a profile was settled.
    pub taken: u64,
    /// What it asked of the flash interface's caches.
    pub lookups: L,
}

/// A direct-mapped table of transitions.
#[derive(Debug)]
pub(super) struct Transitions<L> {
    slots: Vec<Transition<L>>,
    /// What the instructions of each take. (Memory of zeros costs nothing until it is touched.)
    shares: Vec<Shares>,
    account: Account,
}

impl<L: Copy + Default> Transitions<L> {
    pub fn new() -> Transitions<L> {
        Transitions {
            slots: vec![Transition::default(); 1 << TRANSITIONS],
            shares: vec![NO_SHARES; 1 << TRANSITIONS],
            account: Account::default(),
        }
    }

    /// What is known of a trace. (No trace has the default key: it would have no instruction.)
    #[inline(always)]
    pub fn find(&mut self, key: Key) -> Option<&mut Transition<L>> {
        // SAFETY: a slot number has as many bits as the table's length.
        let found = unsafe { self.slots.get_unchecked_mut(key.slot()) };
        (found.key == key).then_some(found)
    }

    pub fn insert(&mut self, transition: Transition<L>, shares: Shares) {
        let slot = transition.key.slot();
        self.settle(slot);
        self.slots[slot] = transition;
        self.shares[slot] = shares;
    }

    pub fn clear(&mut self) {
        self.settle_all();
        self.slots.fill(Transition::default());
    }

    /// A trace that is not remembered was taken once.
    pub fn account(&mut self, shares: &Shares) {
        self.account.add(shares, 1);
    }

    /// Takes the profile of all traces taken since the last time.
    pub fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)> {
        self.settle_all();
        self.account.take()
    }

    fn settle_all(&mut self) {
        (0..self.slots.len()).for_each(|slot| self.settle(slot));
    }

    fn settle(&mut self, slot: usize) {
        let times = std::mem::take(&mut self.slots[slot].taken);
        if times != 0 {
            self.account.add(&self.shares[slot], times);
        }
    }
}
