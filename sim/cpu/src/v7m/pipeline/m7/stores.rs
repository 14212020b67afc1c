//! The store buffer of the Cortex-M7.

use std::mem::offset_of;

use crate::v7m::timing_cache::{CycleDistanceConverter, cycle_at_distance_from_now};
use rtoslab_timing::cortex_m7::{SETTINGS, STORE_BUFFER_ENTRIES, key};

/// Longer than plain memory ever keeps the buffer busy.
const LONG: u64 = 128;

/// Doublewords remembered for loads that follow a store to them.
pub const RECENT: usize = 8;
/// Stores whose cycle is cached: two can enter in a cycle, and none holds up a load for longer than
/// [`STORE_TO_LOAD_MAX`].
pub const TIMES: usize = 16;
const STORE_TO_LOAD_MAX: u64 = SETTINGS[key::STORE_TO_LOAD].max;
const _: () = assert!(TIMES as u64 >= 2 * STORE_TO_LOAD_MAX);

/// The M7's store buffer: stores on their way to the two banks (even and odd words) of TCM or cache, and to the bus.
#[derive(Debug, Clone, Copy)]
pub struct M7StoreBuffer {
    /// When the last stores had left the buffer.
    left: [u64; STORE_BUFFER_ENTRIES],
    turn: usize,
    bank_free: [u64; 2],
    /// When the last stores entered, a ring.
    entered: [u64; TIMES],
    newest: usize,
}

/// A record of the doublewords that were stored to last.
#[derive(Debug, Clone, Copy)]
pub struct Doublewords {
    numbers: [u32; RECENT],
    /// Count of the store, by place.
    counts: [u64; RECENT],
    count: u64,
}

/// The times of the stores in the buffer, as distances from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    left: [i16; STORE_BUFFER_ENTRIES],
    bank_free: [i16; 2],
    entered: [i8; TIMES],
}

impl M7StoreBuffer {
    /// Creates an empty store buffer.
    pub const fn new() -> M7StoreBuffer {
        M7StoreBuffer { left: [0; STORE_BUFFER_ENTRIES], turn: 0, bank_free: [0; 2], entered: [0; TIMES], newest: 0 }
    }

    /// Returns the first cycle at or after `at` in which the buffer accepts a store.
    #[inline]
    pub fn first_cycle_accepting_store(&self, at: u64) -> u64 {
        at.max(self.left[self.turn])
    }

    /// Puts a store into the buffer in cycle `at`. The store occupies its bank for `cycles` cycles. A store with wait
    /// states (`wait`) on the bus delays both banks.
    #[inline]
    pub fn enqueue_store(&mut self, at: u64, address: u32, cycles: u64, wait: u64) {
        let bank = (address >> 2 & 1) as usize;
        let gone = (at + 1).max(self.bank_free[bank]) + cycles + wait;
        self.bank_free[bank] = gone;
        if wait != 0 {
            self.bank_free = [gone; 2];
        }
        self.left[self.turn] = gone;
        self.turn = if self.turn + 1 == STORE_BUFFER_ENTRIES { 0 } else { self.turn + 1 };
        self.newest = (self.newest + 1) % TIMES;
        self.entered[self.newest] = at;
    }

    /// Returns the first cycle in which data can be loaded that was stored `ago` stores ago. 1 is the last store, 0 no
    /// store.
    #[inline]
    pub fn first_load_cycle(&self, ago: usize, distance: u64) -> u64 {
        match ago {
            1..=TIMES => self.entered[(self.newest + TIMES + 1 - ago) % TIMES] + distance,
            _ => 0,
        }
    }

    /// Returns the cycle in which everything stored so far has left the buffer.
    #[inline]
    pub fn store_buffer_empty_cycle(&self) -> u64 {
        self.bank_free[0].max(self.bank_free[1])
    }

    /// Returns the state of the buffer that can delay instructions at time `now` or later. `None` if a store takes too
    /// long to be cached.
    pub fn timing_state(&self, now: u64, distances: &CycleDistanceConverter, distance: u64) -> Option<State> {
        let later = |cycle: u64| distances.future_cycle_distance(cycle);
        if self.store_buffer_empty_cycle() > now + LONG {
            return None;
        }
        // Ages of stores that no load can meet any more are alike.
        let forgotten = -i64::try_from(distance).ok()?;
        let ring = |back: usize| (self.newest + TIMES - back) % TIMES;
        Some(State {
            left: std::array::from_fn(|back| later(self.left[(self.turn + back) % STORE_BUFFER_ENTRIES])),
            bank_free: self.bank_free.map(later),
            entered: std::array::from_fn(|back| {
                distances.saturate_cycle_distance_to_byte(self.entered[ring(back)], forgotten)
            }),
        })
    }

    /// Sets the buffer to a cached state at time `now`.
    pub fn restore_timing_state(&mut self, state: &State, now: u64) {
        (self.turn, self.newest) = (0, TIMES - 1);
        self.left = state.left.map(|distance| cycle_at_distance_from_now(distance, now));
        self.bank_free = state.bank_free.map(|distance| cycle_at_distance_from_now(distance, now));
        for (back, &distance) in state.entered.iter().enumerate() {
            self.entered[TIMES - 1 - back] = cycle_at_distance_from_now(distance.into(), now);
        }
    }
}

impl Doublewords {
    /// Offsets of the fields.
    pub const NUMBERS: usize = offset_of!(Doublewords, numbers);
    pub const COUNTS: usize = offset_of!(Doublewords, counts);
    pub const COUNT: usize = offset_of!(Doublewords, count);

    /// The address of doubleword 0: the begin of most stores.
    pub const ORIGIN: u32 = 0x2000_0000;

    /// Creates the record without stores.
    pub const fn new() -> Doublewords {
        Doublewords { numbers: [u32::MAX; RECENT], counts: [0; RECENT], count: 0 }
    }

    /// Returns the number of an address's doubleword.
    #[inline(always)]
    fn doubleword_index_of_address(address: u32) -> u32 {
        address.wrapping_sub(Doublewords::ORIGIN) >> 3
    }

    /// Records the doubleword of a store to this address as the last one.
    #[inline(always)]
    pub fn record_store(&mut self, address: u32) {
        self.count += 1;
        let number = Doublewords::doubleword_index_of_address(address);
        let place = number as usize % RECENT;
        (self.numbers[place], self.counts[place]) = (number, self.count);
    }

    /// Returns how many stores ago the doubleword of an address was stored to, 1 being the last. 0 if that is not known
    /// or longer ago than `most`.
    #[inline(always)]
    pub fn stores_since_store_to_doubleword(&self, address: u32, most: usize) -> usize {
        let number = Doublewords::doubleword_index_of_address(address);
        let place = number as usize % RECENT;
        if self.numbers[place] != number {
            return 0;
        }
        let ago = self.count - self.counts[place];
        if ago < most as u64 { ago as usize + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_over_the_bus_holds_up_both_banks() {
        let mut stores = M7StoreBuffer::new();
        stores.enqueue_store(10, 0x4000_0000, 1, 7);
        assert_eq!(stores.store_buffer_empty_cycle(), 19);
        stores.enqueue_store(11, 0x2000_0004, 1, 0);
        assert_eq!(stores.store_buffer_empty_cycle(), 20);
        let mut stores = M7StoreBuffer::new();
        stores.enqueue_store(10, 0x2000_0000, 4, 0);
        stores.enqueue_store(11, 0x2000_0004, 1, 0);
        assert_eq!(stores.store_buffer_empty_cycle(), 15);
    }

    #[test]
    fn only_recent_store_delays_load() {
        let mut doublewords = Doublewords::new();
        doublewords.record_store(0x2000_0000);
        doublewords.record_store(0x2000_0010);
        assert_eq!(doublewords.stores_since_store_to_doubleword(0x2000_0007, TIMES), 2);
        assert_eq!(doublewords.stores_since_store_to_doubleword(0x2000_0007, 1), 0);
        assert_eq!(doublewords.stores_since_store_to_doubleword(0x2000_0008, TIMES), 0);
        assert_eq!(doublewords.stores_since_store_to_doubleword(0x2000_0040, TIMES), 0);
        let mut stores = M7StoreBuffer::new();
        stores.enqueue_store(10, 0x2000_0000, 1, 0);
        stores.enqueue_store(12, 0x2000_0010, 1, 0);
        assert_eq!([0, 1, 2].map(|ago| stores.first_load_cycle(ago, 4)), [0, 16, 14]);
    }

    #[test]
    fn store_buffer_state_survives_restore() {
        let mut stores = M7StoreBuffer::new();
        for n in 0..7 {
            stores.enqueue_store(100 + n, 0x2000_0000 + 4 * n as u32, 4, 0);
        }
        let state = stores.timing_state(107, &CycleDistanceConverter::from(107), 4).unwrap();
        let mut other = M7StoreBuffer::new();
        other.restore_timing_state(&state, 1107);
        assert_eq!(other.timing_state(1107, &CycleDistanceConverter::from(1107), 4), Some(state));
        assert_eq!(other.first_cycle_accepting_store(1107), stores.first_cycle_accepting_store(107) + 1000);
        assert_eq!(other.first_load_cycle(1, 4), stores.first_load_cycle(1, 4) + 1000);
    }
}
