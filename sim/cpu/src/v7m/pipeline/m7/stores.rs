//! The store buffer of the Cortex-M7.

use rtoslab_timing::cortex_m7::STORE_BUFFER_ENTRIES;

/// Doublewords remembered for loads that follow a store to them.
const RECENT: usize = 8;

/// Stores on their way to the two banks (even and odd words) of TCM or cache, and to the bus.
#[derive(Debug, Clone, Copy)]
pub struct Stores {
    /// When the last stores had left the buffer.
    left: [u64; STORE_BUFFER_ENTRIES],
    turn: usize,
    bank_free: [u64; 2],
    recent: [(u32, u64); RECENT],
}

impl Stores {
    /// An empty buffer.
    pub const fn new() -> Stores {
        Stores { left: [0; STORE_BUFFER_ENTRIES], turn: 0, bank_free: [0; 2], recent: [(u32::MAX, 0); RECENT] }
    }

    /// First cycle at or after `at` in which the buffer takes a store.
    #[inline]
    pub fn room(&self, at: u64) -> u64 {
        at.max(self.left[self.turn])
    }

    /// A store enters in cycle `at` and occupies its bank for `cycles`; a store that makes the bus `wait` holds up
    /// both banks.
    #[inline]
    pub fn push(&mut self, at: u64, address: u32, cycles: u64, wait: u64) {
        let bank = (address >> 2 & 1) as usize;
        let gone = (at + 1).max(self.bank_free[bank]) + cycles + wait;
        self.bank_free[bank] = gone;
        if wait != 0 {
            self.bank_free = [gone; 2];
        }
        self.left[self.turn] = gone;
        self.turn = if self.turn + 1 == STORE_BUFFER_ENTRIES { 0 } else { self.turn + 1 };
        self.recent[(address >> 3) as usize % RECENT] = (address >> 3, at);
    }

    /// First cycle in which the doubleword of `address` can be loaded, `distance` behind the last store to it.
    #[inline]
    pub fn loadable(&self, address: u32, distance: u64) -> u64 {
        let (doubleword, at) = self.recent[(address >> 3) as usize % RECENT];
        if doubleword == address >> 3 { at + distance } else { 0 }
    }

    /// When everything stored so far has left.
    #[inline]
    pub fn drained(&self) -> u64 {
        self.bank_free[0].max(self.bank_free[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_over_the_bus_holds_up_both_banks() {
        let mut stores = Stores::new();
        stores.push(10, 0x4000_0000, 1, 7);
        assert_eq!(stores.drained(), 19);
        stores.push(11, 0x2000_0004, 1, 0);
        assert_eq!(stores.drained(), 20);
        let mut stores = Stores::new();
        stores.push(10, 0x2000_0000, 4, 0);
        stores.push(11, 0x2000_0004, 1, 0);
        assert_eq!(stores.drained(), 15);
    }

    #[test]
    fn only_the_doubleword_just_stored_waits() {
        let mut stores = Stores::new();
        stores.push(10, 0x2000_0000, 1, 0);
        assert_eq!(stores.loadable(0x2000_0007, 4), 14);
        assert_eq!(stores.loadable(0x2000_0008, 4), 0);
        assert_eq!(stores.loadable(0x2000_0040, 4), 0);
    }
}
