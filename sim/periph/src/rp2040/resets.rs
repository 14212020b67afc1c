//! Subsystem resets (RP2040 data sheet 2.14).
//!
//! A released block is done at once, except that UART, SPI, RTC, ADC and USB need their own clock for it.

use crate::{Access, ClockTree, Peripheral};

/// Every block bit: ADC 0 to USBCTRL 24.
pub const RESETS_MASK: u32 = 0x01ff_ffff;
/// Bit numbers in RESETS.RESET (data sheet table "RESET Register").
pub mod bit {
    #![allow(missing_docs, reason = "the names are the data sheet's block names")]
    pub const ADC: u32 = 0;
    pub const BUSCTRL: u32 = 1;
    pub const DMA: u32 = 2;
    pub const I2C0: u32 = 3;
    pub const I2C1: u32 = 4;
    pub const IO_BANK0: u32 = 5;
    pub const IO_QSPI: u32 = 6;
    pub const PADS_BANK0: u32 = 8;
    pub const PADS_QSPI: u32 = 9;
    pub const PIO0: u32 = 10;
    pub const PIO1: u32 = 11;
    pub const PLL_SYS: u32 = 12;
    pub const PLL_USB: u32 = 13;
    pub const PWM: u32 = 14;
    pub const RTC: u32 = 15;
    pub const SPI0: u32 = 16;
    pub const SPI1: u32 = 17;
    pub const SYSCFG: u32 = 18;
    pub const SYSINFO: u32 = 19;
    pub const TBMAN: u32 = 20;
    pub const TIMER: u32 = 21;
    pub const UART0: u32 = 22;
    pub const UART1: u32 = 23;
    pub const USBCTRL: u32 = 24;
}

/// The reset controller of the RP2040's peripherals (RESETS).
#[derive(Debug, Clone)]
pub struct Resets {
    reset: u32,
    wdsel: u32,
}

impl Default for Resets {
    /// Returns the reset controller after power-on, with all blocks held in reset.
    fn default() -> Self {
        Self { reset: RESETS_MASK, wdsel: 0 }
    }
}

impl Resets {
    /// Returns the bits of the blocks that are in reset.
    #[must_use]
    #[inline]
    pub fn blocks_in_reset(&self) -> u32 {
        self.reset
    }

    /// Returns the blocks that a watchdog reset puts back into reset (WDSEL).
    #[must_use]
    pub fn blocks_reset_by_watchdog(&self) -> u32 {
        self.wdsel
    }

    /// Sets which blocks are in reset, as the boot ROM or a watchdog reset does.
    pub fn force_resets(&mut self, reset: u32) {
        self.reset = reset & RESETS_MASK;
    }

    /// Returns the value of RESET_DONE: blocks out of reset whose clock runs.
    fn reset_done_register(&self, clocks: &ClockTree) -> u32 {
        let mut clocked = RESETS_MASK;
        if clocks.peri_hz == 0 {
            clocked &= !(1 << bit::UART0 | 1 << bit::UART1 | 1 << bit::SPI0 | 1 << bit::SPI1);
        }
        for (hz, number) in [(clocks.usb_hz, bit::USBCTRL), (clocks.adc_hz, bit::ADC), (clocks.rtc_hz, bit::RTC)] {
            if hz == 0 {
                clocked &= !(1 << number);
            }
        }
        !self.reset & clocked
    }
}

impl Peripheral for Resets {
    const NAME: &'static str = "RESETS";

    /// Puts the registers of the reset controller (RESETS) to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the reset controller (RESETS) at a byte offset. `access` holds the time in cycles and the
    /// requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 8 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the reset controller (RESETS) at a byte offset. `access` holds the time in cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => {
                let value = value & RESETS_MASK;
                let (asserted, released) = (value & !self.reset, self.reset & !value);
                self.reset = value;
                if asserted | released != 0 {
                    access.effects.resets = Some((asserted, released));
                }
            }
            0x04 => self.wdsel = value & RESETS_MASK,
            0x08 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the reset controller (RESETS) at a byte offset, without the side effects of a
    /// read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00 => self.reset,
            0x04 => self.wdsel,
            0x08 => self.reset_done_register(access.clocks),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn everything_is_held_at_reset() {
        let mut bench = Bench::new();
        let mut resets = Resets::default();
        assert_eq!(resets.read_register(0, &mut bench.access()), 0x01ff_ffff);
        assert_eq!(resets.read_register(8, &mut bench.access()), 0);
    }

    #[test]
    fn release_and_assert_report_only_the_changed_bits() {
        let mut bench = Bench::new();
        let mut resets = Resets::default();
        resets.write_register(0, RESETS_MASK & !(1 << bit::TIMER), &mut bench.access());
        assert_eq!(bench.effects.resets.take(), Some((0, 1 << 21)));
        assert_eq!(resets.read_register(8, &mut bench.access()), 1 << 21);
        resets.write_register(0, RESETS_MASK & !(1 << bit::TIMER), &mut bench.access());
        assert_eq!(bench.effects.resets, None);
        resets.write_register(0, RESETS_MASK, &mut bench.access());
        assert_eq!(bench.effects.resets, Some((1 << 21, 0)));
    }

    #[test]
    fn reset_done_waits_for_peripheral_clock() {
        let mut bench = Bench::new();
        bench.tree.peri_hz = 0;
        let mut resets = Resets::default();
        resets.write_register(0, 0, &mut bench.access());
        assert_eq!(resets.read_register(8, &mut bench.access()), 0x013c_ffff);
        bench.tree.peri_hz = 1;
        bench.tree.usb_hz = 0;
        assert_eq!(resets.read_register(8, &mut bench.access()), 0x00ff_ffff);
        bench.tree.adc_hz = 0;
        bench.tree.rtc_hz = 0;
        assert_eq!(resets.read_register(8, &mut bench.access()), 0x00ff_7ffe);
    }
}
