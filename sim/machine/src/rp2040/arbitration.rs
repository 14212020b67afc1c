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

/// Whether one of these slots is taken in a cycle from `now` on.
fn any_ahead(slots: &[u64], now: u64) -> bool {
    // Without a branch, for several at once: what is less than a row away becomes 0, and that less one negative.
    const ROW_BITS: u32 = SLOTS.trailing_zeros();
    let less_one = |cycle: &u64| (cycle.wrapping_sub(now) >> ROW_BITS).wrapping_sub(1);
    slots.iter().fold(0, |any, cycle| any | less_one(cycle)) >> (u64::BITS - 1) != 0
}

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
        if any_ahead(others, now) {
            return None;
        }
        let mut state = State::default();
        for (slave, row) in memories.chunks_exact(SLOTS).enumerate().filter(|(_, row)| any_ahead(row, now)) {
            for ahead in row.iter().map(|cycle| cycle.wrapping_sub(now)).filter(|&ahead| ahead < SLOTS as u64) {
                state.slots[slave / 4] |= 1 << (slave % 4 * SLOTS + ahead as usize);
            }
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

    fn minds_no_order(&self, address: u32) -> bool {
        self.is_local_at(address)
    }

    fn is_locked(&self, lock: u8) -> bool {
        self.periph.sio.is_locked(lock)
    }

    fn read_as_locked(&mut self, lock: u8, core: usize, times: u64) {
        self.periph.sio.read_as_locked(lock, core, times);
    }

    fn resume(&mut self, state: &State, now: u64, first: &mut Core, other: &mut Core) {
        self.slots[..MEMORIES * SLOTS].fill(NEVER);
        for (half, mut taken) in state.slots.into_iter().enumerate() {
            while taken != 0 {
                let bit = taken.trailing_zeros() as usize;
                taken &= taken - 1;
                let cycle = now + (bit % SLOTS) as u64;
                *self.slot(half * u64::BITS as usize + bit / SLOTS * SLOTS, cycle) = cycle;
            }
        }
        let time = |index: u32| now + (state.times >> (8 * index) & 0xff);
        (first.t, other.t) = (time(0), time(1));
        (first.bus_free, other.bus_free) = (time(2), time(3));
        (first.fetch_ready, other.fetch_ready) = (time(4), time(5));
        self.first = if state.times & State::FIRST != 0 { first.id } else { other.id };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_is_taken_from_now_on_is_seen() {
        let now = 1000;
        let mut slots = [NEVER; SLOTS];
        assert!(!any_ahead(&slots, now) && !any_ahead(&slots, 0));
        for (cycle, ahead) in [(0, false), (now - 1, false), (now, true), (now + 15, true), (now + 16, false)] {
            slots[7] = cycle;
            assert_eq!(any_ahead(&slots, now), ahead, "{cycle}");
        }
    }
}
