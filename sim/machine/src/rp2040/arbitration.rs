//! Transfer slots: which core has a bus slave in which cycle, and what is remembered of that.

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::pair::{Paired, Pairs, State};
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_periph::NEVER;

use super::map::slave;
use super::system::System;

impl System {
    /// A slave takes nothing before cycle `until`: a transfer there lasts longer than others. Data accesses look at that
    /// themselves; of the flash the machine also tells the other core's fetches, as soon as it has its turn.
    pub(super) fn keep_busy<const CONTEND: bool>(&mut self, slave: usize, until: u64) {
        self.busy[slave] = self.busy[slave].max(until);
        if CONTEND && slave == slave::XIP {
            self.due = 0;
        }
    }

    /// A data transfer to any slave, which may also be busy with a long transfer.
    pub(super) fn claim_data(&mut self, core: &mut Core, slave: usize, at: u64) -> u64 {
        core.bus_free = core.bus_free.max(self.busy[slave]);
        self.claim(core, System::row(slave), at, true)
    }

    /// First transfer slot of a slave.
    #[inline(always)]
    pub(super) fn row(slave: usize) -> usize {
        slave * SLOTS
    }

    /// The slot of a cycle in the row that begins with slot `row`.
    #[inline(always)]
    pub(super) fn slot(&mut self, row: usize, cycle: u64) -> &mut u64 {
        let all = self.slots.len();
        &mut self.slots[(row + cycle as usize % SLOTS) % all]
    }

    /// The core lost its slot: it goes first in the next tie, unless the chip fixes who does.
    #[inline(always)]
    pub(super) fn lost(&mut self, core: &mut Core) {
        if self.fixed_first.is_none() {
            self.first = core.id;
            core.wins_ties();
        }
    }

    /// A claim that lost its slot: to the other core, or to this core's own delayed fetch.
    #[cold]
    #[inline(never)]
    pub(super) fn claim_later(&mut self, core: &mut Core, row: usize, wanted: u64, stalls: bool) -> u64 {
        let mut slot = wanted.max(core.bus_free);
        while *self.slot(row, slot) == slot {
            slot += 1;
        }
        *self.slot(row, slot) = slot;
        core.bus_free = slot + 1;
        if stalls {
            core.bus_wait += slot - wanted;
        } else {
            core.fetch_ready = slot + 2;
        }
        self.lost(core);
        slot
    }
}

/// Slaves that a basic block's transfers go to: all memories.
const MEMORIES: usize = slave::ROM + 1;
const _: () = assert!(MEMORIES * SLOTS == 2 * u64::BITS as usize);

impl Paired for System {
    fn pairs(&mut self) -> &mut Pairs {
        &mut self.pairs
    }

    fn state(&self, first: &Core, other: &Core) -> Option<State> {
        let now = first.t.min(other.t);
        if self.busy.iter().any(|&free| free > now) {
            return None;
        }
        let (memories, others) = self.slots.split_at(MEMORIES * SLOTS);
        if others.iter().any(|&cycle| cycle >= now && cycle != NEVER) {
            return None;
        }
        let mut state = State::default();
        for (slave, row) in memories.chunks_exact(SLOTS).enumerate() {
            let taken = |ahead: usize| row[(now as usize + ahead) % SLOTS] == now + ahead as u64;
            let mask = (0..SLOTS).fold(0, |mask, ahead| mask | u64::from(taken(ahead)) << ahead);
            state.slots[slave / 4] |= mask << (slave % 4 * SLOTS);
        }
        // What lies behind a core does not matter to it any more.
        let pending = |cycle: u64, core: &Core| if cycle > core.t { cycle - now } else { 0 };
        let times = [
            first.t - now,
            other.t - now,
            pending(first.bus_free, first),
            pending(other.bus_free, other),
            pending(first.fetch_ready, first),
            pending(other.fetch_ready, other),
        ];
        for (index, time) in times.into_iter().enumerate() {
            state.times |= u64::from(u8::try_from(time).ok()?) << (8 * index);
        }
        state.times |= State::FIRST * u64::from(self.first == first.id);
        Some(state)
    }

    fn resume(&mut self, state: &State, now: u64, first: &mut Core, other: &mut Core) {
        for (index, slot) in self.slots[..MEMORIES * SLOTS].iter_mut().enumerate() {
            // The cycle that this place stands for, from now on.
            let ahead = (index as u64).wrapping_sub(now) % SLOTS as u64;
            let slave = index / SLOTS;
            if state.slots[slave / 4] >> (slave % 4 * SLOTS + ahead as usize) & 1 != 0 {
                *slot = now + ahead;
            } else if *slot >= now {
                *slot = NEVER;
            }
        }
        let time = |index: u32| now + (state.times >> (8 * index) & 0xff);
        (first.t, other.t) = (time(0), time(1));
        (first.bus_free, other.bus_free) = (time(2), time(3));
        (first.fetch_ready, other.fetch_ready) = (time(4), time(5));
        self.first = if state.times & State::FIRST != 0 { first.id } else { other.id };
    }
}
