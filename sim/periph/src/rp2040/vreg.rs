//! Voltage regulator, brown-out detector and chip reset flags (RP2040 data sheet 2.10.6, 2.12).

use crate::{Access, Peripheral};

const VREG_RESET: u32 = 0xb1;
const VREG_ROK: u32 = 1 << 12;
const BOD_RESET: u32 = 0x91;
/// CHIP_RESET.HAD_POR.
pub const HAD_POR: u32 = 1 << 8;
/// CHIP_RESET.HAD_RUN: the RUN pin.
pub const HAD_RUN: u32 = 1 << 16;
/// CHIP_RESET.PSM_RESTART_FLAG: a debugger's rescue; the boot ROM halts on it.
pub const PSM_RESTART_FLAG: u32 = 1 << 24;

/// The voltage regulator and chip reset registers of the RP2040 (VREG_AND_CHIP_RESET).
#[derive(Debug, Clone)]
pub struct Vreg {
    vreg: u32,
    bod: u32,
    chip_reset: u32,
}

impl Default for Vreg {
    /// Returns the voltage regulator block in its reset state.
    fn default() -> Self {
        Self { vreg: VREG_RESET, bod: BOD_RESET, chip_reset: HAD_POR }
    }
}

impl Vreg {
    /// Returns the output voltage that VSEL selects (data sheet 2.10.6).
    #[must_use]
    pub fn output_millivolts(&self) -> u32 {
        match self.vreg >> 4 & 15 {
            0..=5 => 800,
            step => 850 + 50 * (step - 6),
        }
    }

    /// Sets the reason why the chip started: [`HAD_POR`], [`HAD_RUN`] or a rescue flag.
    pub fn set_reset_cause(&mut self, chip_reset: u32) {
        self.chip_reset = chip_reset;
    }
}

impl Peripheral for Vreg {
    const NAME: &'static str = "VREG_AND_CHIP_RESET";

    /// Puts the registers to their reset values, but not the chip reset flags, which only a power-on or RUN reset
    /// writes.
    fn reset_registers(&mut self) {
        *self = Self { chip_reset: self.chip_reset, ..Self::default() };
    }

    /// Reads a register of the voltage regulator block at a byte offset. `access` holds the time in cycles and the
    /// requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 8 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the voltage regulator block at a byte offset. `access` holds the time in cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.vreg = value & 0xf3,
            0x04 => self.bod = value & 0xf1,
            0x08 => self.chip_reset &= !(value & PSM_RESTART_FLAG),
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the voltage regulator block at a byte offset, without the side effects of a
    /// read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            // The output is in regulation at once, unless the regulator is off.
            0x00 => self.vreg | if self.vreg & 1 != 0 { VREG_ROK } else { 0 },
            0x04 => self.bod,
            0x08 => self.chip_reset,
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for CHIP_RESET only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x08
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn regulator_is_in_regulation_and_voltage_is_kept() {
        let mut bench = Bench::new();
        let mut vreg = Vreg::default();
        assert_eq!(vreg.read_register(0, &mut bench.access()), 0x10b1);
        vreg.write_register(0, 0xd1, &mut bench.access());
        assert_eq!(vreg.read_register(0, &mut bench.access()), 0x10d1);
        assert_eq!(vreg.read_register(4, &mut bench.access()), 0x91);
    }

    #[test]
    fn only_the_rescue_flag_is_cleared_by_software() {
        let mut bench = Bench::new();
        let mut vreg = Vreg::default();
        vreg.set_reset_cause(HAD_RUN | PSM_RESTART_FLAG);
        vreg.write_register(8, u32::MAX, &mut bench.access());
        assert_eq!(vreg.read_register(8, &mut bench.access()), 1 << 16);
        vreg.reset_registers();
        assert_eq!(vreg.read_register(8, &mut bench.access()), HAD_RUN);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(VREG_ROK, 12), (HAD_POR, 8), (HAD_RUN, 16), (PSM_RESTART_FLAG, 24)] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
