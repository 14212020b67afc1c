//! The cache's content: states that a trace can begin in, and their outcome.

use super::TRACE_INSTRUCTIONS;
use super::account::{Account, NO_SHARES, Shares};
use super::log::Log;
use super::replay::Trace;
use crate::profile::ProfileCell;
use crate::v7m::core::Region;
use crate::v7m::op::Op;

/// log2 of the transitions kept.
const TRANSITIONS: u32 = 14;
/// The bit positions of a key's parts.
const INSTRUCTIONS: u32 = 16;
const MOST_INSTRUCTIONS: u32 = 0x7ff;
const WATCHED: u32 = 27;
const DISTANCE: u32 = 28;
/// States kept before all is forgotten.
pub(super) const STATES: usize = 1 << 16;

/// Which trace, from which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key {
    /// The start: its [`Key::place`].
    start: u64,
    /// The bits of its log.
    log: u64,
    /// State number, instructions, whether the last one wrote a watched word, distance to where execution continues.
    rest: u64,
}

impl Key {
    /// Returns what the address of an op in this region differs by in the target and in the host, in bytes of ops.
    pub fn bias(region: &Region) -> u64 {
        let base = u64::from(region.base) * (size_of::<Op>() as u64 / 2);
        base.wrapping_sub(region.ops as u64)
    }

    /// The place of an op: its address, times the bytes of ops for each byte of code.
    #[inline(always)]
    pub fn place(bias: u64, op: *mut Op) -> u64 {
        (op as u64).wrapping_add(bias)
    }

    /// The key of a trace of ops. Nothing of it depends on where the host keeps them.
    #[inline(always)]
    pub fn new(bias: u64, trace: Trace, state: u32) -> Key {
        const _: () = assert!(STATES <= 1 << INSTRUCTIONS && TRACE_INSTRUCTIONS <= MOST_INSTRUCTIONS);
        const _: () = assert!(INSTRUCTIONS + MOST_INSTRUCTIONS.count_ones() == WATCHED && WATCHED < DISTANCE);
        let Trace { start, end, instructions, log, .. } = trace;
        let distance = (end as u64).wrapping_sub(start as u64) << DISTANCE;
        let rest = u64::from(state)
            | u64::from(instructions) << INSTRUCTIONS
            | u64::from(trace.is_watched) << WATCHED
            | distance;
        Key { start: Key::place(bias, start), log: log.bits(), rest }
    }

    /// The trace, which continued at `end`.
    pub fn trace(self, bias: u64, end: *mut Op) -> Trace {
        let distance = (self.rest as i64 >> DISTANCE) as isize;
        let instructions = (self.rest >> INSTRUCTIONS) as u32 & MOST_INSTRUCTIONS;
        let (start, is_watched) = (end.wrapping_byte_sub(distance as usize), self.rest >> WATCHED & 1 != 0);
        debug_assert!(Key::place(bias, start) == self.start);
        Trace { start, end, instructions, is_watched, log: Log { bits: self.log, left: 0 } }
    }

    /// That of the same trace from another state than 0.
    #[inline(always)]
    pub fn from(self, state: u32) -> Key {
        Key { rest: self.rest | u64::from(state), ..self }
    }

    /// The bits of its log.
    pub fn log(self) -> u64 {
        self.log
    }

    /// That of the same trace with another log.
    #[inline(always)]
    pub fn with(self, log: u64) -> Key {
        Key { log, ..self }
    }

    /// That of the same trace, which ends so far behind where this one says, in bytes of ops.
    #[inline(always)]
    pub fn on(self, behind: u64) -> Key {
        Key { rest: self.rest.wrapping_add(behind << DISTANCE), ..self }
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
#[repr(C)]
pub(super) struct Transition<L> {
    /// No other one that is or was in the table has the same. 0: none.
    pub serial: u32,
    /// Cycles it took.
    pub cycles: u32,
    /// The part of these that are waits for the bus and for the flash.
    pub bus_wait: u32,
    pub flash_wait: u32,
    /// Number of the state after it.
    pub next: u32,
    /// Cycles from its begin to the address phase of its last store, which may overlap the end of the earlier one.
    pub stored_after: i32,
    /// How often it was taken since its share of a profile was settled.
    pub taken: u64,
    /// The lookups in the flash interface's caches.
    pub lookups: L,
    pub key: Key,
}

/// A direct-mapped table of transitions.
#[derive(Debug)]
pub(super) struct Transitions<L> {
    slots: Vec<Transition<L>>,
    /// The instructions' shares of each one. (Memory of zeros costs nothing until it is touched.)
    shares: Vec<Shares>,
    /// [`Transition::serial`] of the last one.
    serial: u32,
    account: Account,
}

impl<L: Copy + Default> Transitions<L> {
    pub fn new() -> Transitions<L> {
        Transitions {
            slots: vec![Transition::default(); 1 << TRANSITIONS],
            shares: vec![NO_SHARES; 1 << TRANSITIONS],
            serial: 0,
            account: Account::default(),
        }
    }

    /// Returns what is known of a trace. (No trace has the default key: it would have no instruction.)
    #[inline(always)]
    pub fn find(&mut self, key: Key) -> Option<&mut Transition<L>> {
        // SAFETY: a slot number has as many bits as the table's length.
        let slot = unsafe { self.slots.get_unchecked_mut(key.slot()) };
        (slot.key == key).then_some(slot)
    }

    pub fn insert(&mut self, transition: Transition<L>, shares: Shares) {
        let slot = transition.key.slot();
        self.settle(slot);
        self.serial = self.serial.wrapping_add(1).max(1);
        self.slots[slot] = Transition { serial: self.serial, ..transition };
        self.shares[slot] = shares;
    }

    pub fn clear(&mut self) {
        self.settle_all();
        self.slots.fill(Transition::default());
    }

    /// A trace that is not cached was taken once.
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
