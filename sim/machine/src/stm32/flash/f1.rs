//! STM32F1: two 64-bit blocks of prefetch on the instruction side, nothing on the data side (RM0008 3.3.3, PM0075).
//!
//! While instructions come from one block, the other is filled with the line after it. The reading ahead starts with
//! the first fetch from the line in use, later by the length of a read if that fetch did not follow the one before at
//! once, and a branch out of both blocks gives it up. All three are assumed: of the 500 combinations of such
//! rules that were tried they fit the cycle counts best that are published for an STM32F103 at two wait states.

use super::array::Array;
use rtoslab_timing::stm32_flash::F1_LINE_BYTES;

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
    pub(super) array: Array,
    prefetch: bool,
    /// Line that instructions come from, and from which cycle on.
    pub(super) line: u32,
    pub(super) there: u64,
    /// Line in the other block, likewise.
    pub(super) next: u32,
    pub(super) next_there: u64,
    /// When the last word fetched was there.
    pub(super) last_there: u64,
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
        FlashF1 { array: Array::IDLE, prefetch: true, line: EMPTY, there: 0, next: EMPTY, next_there: 0, last_there: 0 }
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
    pub fn may_wait(&self) -> bool {
        self.array.wait_states != 0
    }

    /// Fetches an instruction word in cycle `at`. Returns the cycle in which the decoder can have it.
    #[inline(always)]
    pub fn fetch_code(&mut self, address: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return at + 2;
        }
        let line = address / F1_LINE_BYTES;
        if line != self.line {
            self.enter_line(line, at);
        }
        if self.prefetch && self.next != line + 1 {
            let pause = if at >= self.last_there { 1 + self.array.wait_states } else { 0 };
            self.next = line + 1;
            self.next_there = self.array.begin_read(at + 1 + pause);
        }
        self.last_there = self.there.max(at + 2);
        self.last_there
    }

    /// Makes another line the current one: from the read-ahead buffer or the array.
    fn enter_line(&mut self, line: u32, at: u64) {
        if line == self.next {
            (self.line, self.there) = (self.next, self.next_there);
        } else {
            if self.next != EMPTY && self.next_there > at + 1 {
                self.array.abandon(at + 1);
            }
            (self.line, self.there) = (line, self.array.begin_read(at + 1));
        }
        self.next = EMPTY;
    }

    /// Reads data in cycle `at`. Returns the wait states.
    pub fn data_read_waits(&mut self, _: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 { 0 } else { self.array.begin_read(at + 1) - (at + 2) }
    }
}
