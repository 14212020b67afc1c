//! The 32-entry FIFO of a PL011 (8 data bits, 4 error bits when receiving).

use super::FIFO_DEPTH;

/// A FIFO of a UART, as a ring of at most 32 entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Fifo {
    entries: [u16; FIFO_DEPTH],
    head: usize,
    len: usize,
}

impl Fifo {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends an entry. The caller has checked that there is room.
    pub fn push(&mut self, value: u16) {
        debug_assert!(self.len < FIFO_DEPTH, "UART FIFO overfilled");
        self.entries[(self.head + self.len) % FIFO_DEPTH] = value;
        self.len += 1;
    }

    /// Removes the oldest entry.
    pub fn pop(&mut self) -> Option<u16> {
        if self.len == 0 {
            return None;
        }
        let value = self.entries[self.head];
        self.head = (self.head + 1) % FIFO_DEPTH;
        self.len -= 1;
        Some(value)
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
