//! STM32L0: a 32-bit array and six 32-bit buffers that instructions, data, prefetch and pre-read share (RM0367 3.3).

use super::array::Array;
use rtoslab_timing::stm32_flash::{L0_BUFFERS, L0_LINE_BYTES};

/// Bits of FLASH_ACR.
mod acr {
    pub const LATENCY: u32 = 1 << 0;
    pub const PRFTEN: u32 = 1 << 1;
    pub const DISAB_BUF: u32 = 1 << 5;
    pub const PRE_READ: u32 = 1 << 6;
}

/// A word in a buffer, and from which cycle on.
#[derive(Debug, Clone, Copy)]
struct Buffer {
    word: u32,
    there: u64,
    used: u64,
}

const EMPTY: Buffer = Buffer { word: u32::MAX, there: 0, used: 0 };

/// The L0's flash interface. The least recently used buffer takes the next word [RM0367].
#[derive(Debug, Clone, Copy)]
pub struct FlashL0 {
    array: Array,
    acr: u32,
    buffers: [Buffer; L0_BUFFERS],
    clock: u64,
}

impl Default for FlashL0 {
    fn default() -> FlashL0 {
        FlashL0::new()
    }
}

impl FlashL0 {
    /// After reset: no wait state, buffers on, prefetch and pre-read off.
    pub fn new() -> FlashL0 {
        FlashL0 { array: Array::default(), acr: 0, buffers: [EMPTY; L0_BUFFERS], clock: 0 }
    }

    /// FLASH_ACR was written. Without buffers there is neither prefetch nor pre-read.
    pub fn set_acr(&mut self, value: u32) {
        self.array.wait_states = u64::from(value & acr::LATENCY);
        self.acr = if value & acr::DISAB_BUF != 0 { value & !(acr::PRFTEN | acr::PRE_READ) } else { value };
        self.buffers = [EMPTY; L0_BUFFERS];
    }

    /// Whether a fetch can wait at all.
    pub fn waits(&self) -> bool {
        self.array.wait_states != 0
    }

    /// An instruction fetch; returns the cycle behind its data phase: `at + 2` without wait.
    #[inline(always)]
    pub fn fetch(&mut self, address: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return at + 2;
        }
        let word = address / L0_LINE_BYTES;
        let there = self.word(word, at);
        if self.acr & acr::PRFTEN != 0 {
            self.read_ahead(word + 1, there);
        }
        there
    }

    /// A data read; returns its extra cycles.
    pub fn read(&mut self, address: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return 0;
        }
        let word = address / L0_LINE_BYTES;
        let there = self.word(word, at);
        if self.acr & acr::PRE_READ != 0 {
            self.read_ahead(word + 1, there);
        }
        there - (at + 2)
    }

    /// From a buffer, or from the array.
    fn word(&mut self, word: u32, at: u64) -> u64 {
        if self.acr & acr::DISAB_BUF != 0 {
            return self.array.read(at + 1);
        }
        self.clock += 1;
        if let Some(buffer) = self.buffers.iter_mut().find(|buffer| buffer.word == word) {
            buffer.used = self.clock;
            return buffer.there.max(at + 2);
        }
        self.load(word, at + 1)
    }

    /// Reads a word that nobody asked for yet when the array is idle.
    fn read_ahead(&mut self, word: u32, from: u64) {
        if self.buffers.iter().all(|buffer| buffer.word != word) {
            self.load(word, from);
        }
    }

    fn load(&mut self, word: u32, from: u64) -> u64 {
        let there = self.array.read(from);
        self.clock += 1;
        let oldest = self.buffers.iter_mut().min_by_key(|buffer| buffer.used).expect("there are six");
        *oldest = Buffer { word, there, used: self.clock };
        there
    }
}
