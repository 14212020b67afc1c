//! STM32F1: two 64-bit blocks of prefetch on the instruction side, nothing on the data side (RM0008 3.3.3, PM0075).
//!
//! A fetch from the next line begins the read of this line in the cycle of its own address if it and the fetch before
//! directly followed other fetches. Otherwise the read begins one cycle later. If the fetches pause, the interface
//! reads the next line ahead into the other block. It gives that up if the core needs another line first. These rules
//! are derived from the cycle counts that are published for an STM32F103 at two wait states.

use super::array::FlashArrayState;
use rtoslab_timing::stm32_flash::{F1_LINE_BYTES, F1_PREFETCH_AFTER_FETCH, F1_PREFETCH_AFTER_LINE};

/// Bits of FLASH_ACR.
mod acr {
    pub const LATENCY: u32 = 7;
    pub const PRFTBE: u32 = 1 << 4;
}

/// No line.
const EMPTY: u32 = u32::MAX;

/// The flash interface of the F1.
#[derive(Debug, Clone, Copy)]
pub struct FlashF1 {
    pub(super) array: FlashArrayState,
    prefetch: bool,
    /// Line that instructions come from, and from which cycle on.
    pub(super) line: u32,
    pub(super) there: u64,
    /// Line that is read ahead into the other block, and from which cycle on it is there. The read may be yet to begin.
    pub(super) next: u32,
    pub(super) next_there: u64,
    /// When the last word fetched was there.
    pub(super) last_there: u64,
    /// Whether the last fetch directly followed the one before.
    pub(super) followed: bool,
}

impl Default for FlashF1 {
    /// Returns the interface with empty buffers, after reset.
    fn default() -> FlashF1 {
        FlashF1::new()
    }
}

impl FlashF1 {
    /// Creates the interface in its reset state: no wait states, prefetch on.
    pub fn new() -> FlashF1 {
        FlashF1 {
            array: FlashArrayState::IDLE,
            prefetch: true,
            line: EMPTY,
            there: 0,
            next: EMPTY,
            next_there: 0,
            last_there: 0,
            followed: false,
        }
    }

    /// Applies a new value of FLASH_ACR (wait states, prefetch, caches).
    pub fn set_acr(&mut self, value: u32) {
        self.array.wait_states = u64::from(value & acr::LATENCY);
        self.prefetch = value & acr::PRFTBE != 0;
        (self.line, self.next) = (EMPTY, EMPTY);
    }

    /// Restores the state in a snapshot.
    pub fn restore_state(&mut self, saved: &Self) {
        self.clone_from(saved);
    }

    /// Returns whether fetches from the flash may have to wait.
    pub fn may_fetches_wait(&self) -> bool {
        self.array.wait_states != 0
    }

    /// Fetches an instruction word in cycle `at`. Returns the cycle in which the decoder can have it.
    #[inline(always)]
    pub fn fetch_code(&mut self, address: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return at + 2;
        }
        let line = address / F1_LINE_BYTES;
        let follows = at < self.last_there;
        if line != self.line {
            self.switch_current_line(line, at, follows && self.followed);
        }
        if self.prefetch && self.next != line + 1 {
            let from = (at + 1 + F1_PREFETCH_AFTER_FETCH)
                .max(self.there + F1_PREFETCH_AFTER_LINE)
                .max(self.array.next_flash_read_cycle());
            self.next = line + 1;
            self.next_there = from + self.flash_array_read_cycles();
        }
        self.followed = follows;
        self.last_there = self.there.max(at + 2);
        self.last_there
    }

    /// Returns the cycles of a read of the array.
    #[inline(always)]
    fn flash_array_read_cycles(&self) -> u64 {
        1 + self.array.wait_states
    }

    /// Makes another line the current one: from the read-ahead buffer or the array. `streams`: the fetches make no
    /// pause.
    fn switch_current_line(&mut self, line: u32, at: u64, streams: bool) {
        let early = streams && self.prefetch && line == self.line.wrapping_add(1);
        let begin = (if early { at } else { at + 1 }).max(self.array.next_flash_read_cycle());
        if line == self.next && self.next_there <= begin + self.flash_array_read_cycles() {
            self.there = self.next_there;
            self.array.set_next_flash_read_cycle(self.next_there.max(self.array.next_flash_read_cycle()));
        } else {
            self.there = self.array.begin_array_read(begin);
        }
        self.line = line;
        self.next = EMPTY;
    }

    /// Reads data in cycle `at`. Returns the wait states.
    pub fn data_read_waits(&mut self, _: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return 0;
        }
        let begin = (at + 1).max(self.array.next_flash_read_cycle());
        if self.next == EMPTY {
            return self.array.begin_array_read(begin) - (at + 2);
        }
        if self.next_there < begin + self.flash_array_read_cycles() {
            // A read ahead that has begun is completed first.
            return self.array.begin_array_read(begin.max(self.next_there)) - (at + 2);
        }
        let arrival = self.array.begin_array_read(begin);
        self.next_there = self.next_there.max(arrival + self.flash_array_read_cycles());
        arrival - (at + 2)
    }
}
