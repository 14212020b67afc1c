//! Flash on the AXI bus of the Cortex-M7 parts (RM0410 3.3, RM0433 4.3): 256-bit reads, and the last one kept.
//!
//! The bus asks for lines. The core's caches use them in a way that this model does not cover.

use super::array::FlashArrayState;
use rtoslab_timing::stm32_flash::{F7_LINE_BYTES, H7_LINE_BYTES, SETTINGS, key};

/// No line.
const EMPTY: u32 = u32::MAX;

/// One bank of flash: its array, in flash clocks, and the line in its read buffer.
#[derive(Debug, Clone, Copy)]
struct Bank {
    array: FlashArrayState,
    line: u32,
    there: u64,
}

const BANK: Bank = Bank { array: FlashArrayState::IDLE, line: EMPTY, there: 0 };

/// The flash interface of an M7 part on the AXI bus.
#[derive(Debug, Clone, Copy)]
pub struct FlashAxi {
    banks: [Bank; 2],
    /// log2 of the bytes in a bank. Larger than any address offset if there is one bank.
    bank_shift: u32,
    /// Core cycles a flash clock.
    ratio: u64,
    /// Core cycles on the way, both directions.
    extra: u64,
}

impl FlashAxi {
    /// Creates the interface of the F7, with one bank.
    pub fn f7_flash_interface_with_one_bank(settings: &[u64; SETTINGS.len()]) -> FlashAxi {
        FlashAxi { banks: [BANK; 2], bank_shift: 31, ratio: 1, extra: settings[key::F7_AXI] }
    }

    /// Creates the interface of the H7, with two banks of 1 MB.
    pub fn h7_with_two_banks(settings: &[u64; SETTINGS.len()]) -> FlashAxi {
        FlashAxi { banks: [BANK; 2], bank_shift: 20, ratio: settings[key::H7_RATIO], extra: settings[key::H7_AXI] }
    }

    /// Applies a new value of FLASH_ACR (wait states, prefetch, caches).
    pub fn set_acr(&mut self, value: u32) {
        for bank in &mut self.banks {
            bank.array.wait_states = u64::from(value & 15);
            bank.line = EMPTY;
        }
    }

    /// Reads up to 32 bytes of a line in cycle `at`, at this offset from the start of the flash. Returns the extra core
    /// cycles until the first word is there.
    pub fn data_read_waits(&mut self, offset: u32, at: u64) -> u64 {
        let line = offset / F7_LINE_BYTES;
        let bank = &mut self.banks[(offset >> self.bank_shift & 1) as usize];
        let from = (at + 1).div_ceil(self.ratio);
        if bank.line != line {
            bank.there = bank.array.begin_array_read(from);
            bank.line = line;
        }
        bank.there.max(from + 1) * self.ratio + self.extra - (at + 2)
    }
}

const _: () = assert!(F7_LINE_BYTES == H7_LINE_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> [u64; SETTINGS.len()] {
        SETTINGS.map(|setting| setting.default)
    }

    #[test]
    fn f7_keeps_its_last_line() {
        let mut flash = FlashAxi::f7_flash_interface_with_one_bank(&defaults());
        flash.set_acr(7);
        assert_eq!(flash.data_read_waits(0, 100), 7 + 4);
        assert_eq!(flash.data_read_waits(28, 120), 4);
        assert_eq!(flash.data_read_waits(32, 140), 7 + 4);
    }

    #[test]
    fn h7_counts_in_flash_clocks_and_its_banks_work_side_by_side() {
        let mut flash = FlashAxi::h7_with_two_banks(&defaults());
        flash.set_acr(4);
        // Asked in cycle 99: flash clock 50, there in 55 = core cycle 110, and 8 on the way.
        assert_eq!(flash.data_read_waits(0, 99), 110 + 8 - 101);
        assert_eq!(flash.data_read_waits(1 << 20, 99), 110 + 8 - 101, "the other bank is free");
        assert_eq!(flash.data_read_waits(64, 99), 120 + 8 - 101, "the same bank is not");
    }
}
