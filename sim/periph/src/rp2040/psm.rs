//! Power-on state machine (RP2040 data sheet 2.13).
//!
//! Only the core 1 bit has an effect here: holding core 0 or a memory in reset would stop the machine anyway.

use crate::{Access, Peripheral};

/// ROSC 0 to PROC1 16.
const MASK: u32 = 0x1_ffff;
const PROC1: u32 = 1 << 16;

/// The power-on state machine of the RP2040 (PSM).
#[derive(Debug, Clone, Default)]
pub struct Psm {
    force_on: u32,
    force_off: u32,
    wdsel: u32,
}

impl Psm {
    /// Returns the stages that a watchdog reset restarts (WDSEL).
    #[must_use]
    pub fn stages_restarted_by_watchdog(&self) -> u32 {
        self.wdsel
    }
}

impl Peripheral for Psm {
    const NAME: &'static str = "PSM";

    /// Puts the registers of the power-on state machine (PSM) to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the power-on state machine (PSM) at a byte offset. `access` holds the time in cycles and the
    /// requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x0c {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the power-on state machine (PSM) at a byte offset. `access` holds the time in cycles and
    /// takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.force_on = value & MASK,
            0x04 => {
                let changed = (self.force_off ^ value) & PROC1 != 0;
                self.force_off = value & MASK;
                if changed {
                    access.effects.core1_reset = Some(value & PROC1 != 0);
                }
            }
            0x08 => self.wdsel = value & MASK,
            0x0c => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the power-on state machine (PSM) at a byte offset, without the side effects
    /// of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.force_on,
            0x04 => self.force_off,
            0x08 => self.wdsel,
            0x0c => MASK & !self.force_off,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn core1_is_held_and_released_once_each() {
        let mut bench = Bench::new();
        let mut psm = Psm::default();
        assert_eq!(psm.read_register(0x0c, &mut bench.access()), 0x1_ffff);
        psm.write_register(0x04, PROC1, &mut bench.access());
        assert_eq!(bench.effects.core1_reset.take(), Some(true));
        assert_eq!(psm.read_register(0x04, &mut bench.access()), PROC1);
        assert_eq!(psm.read_register(0x0c, &mut bench.access()), 0xffff);
        psm.write_register(0x04, PROC1 | 1, &mut bench.access());
        assert_eq!(bench.effects.core1_reset, None);
        psm.write_register(0x04, 0, &mut bench.access());
        assert_eq!(bench.effects.core1_reset, Some(false));
    }

    #[test]
    fn watchdog_select_is_masked() {
        let mut bench = Bench::new();
        let mut psm = Psm::default();
        psm.write_register(0x08, u32::MAX, &mut bench.access());
        assert_eq!(psm.stages_restarted_by_watchdog(), 0x1_ffff);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        assert_eq!(PROC1, 0x1_0000);
    }
}
