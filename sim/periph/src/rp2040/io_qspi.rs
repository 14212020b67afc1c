//! QSPI pin multiplexer (RP2040 data sheet 2.19.6.2). Only the chip select override matters here.

use crate::{Access, Peripheral};

const CTRL_RESET: u32 = 0x1f;
const CTRL_MASK: u32 = 0x3003_331f;
const PIN_SS: usize = 1;
const IRQ_IO_QSPI: u32 = 14;
/// Edges of the six pins: the latched kinds. None of them arises here.
const INT_MASK: u32 = 0x00ff_ffff;

/// The multiplexer of the RP2040's six flash pins (IO_QSPI).
#[derive(Debug, Clone)]
pub struct IoQspi {
    ctrl: [u32; 6],
    inputs: u32,
    /// INTE and INTF of PROC0, PROC1 and the dormant wake.
    destinations: [[u32; 2]; 3],
}

impl Default for IoQspi {
    /// Returns the multiplexer of the QSPI pins in its reset state.
    fn default() -> Self {
        Self { ctrl: [CTRL_RESET; 6], inputs: 1 << PIN_SS, destinations: [[0; 2]; 3] }
    }
}

impl IoQspi {
    /// Returns the flash's chip select as software forces it: `Some(true)` driven low (selected), `Some(false)` high,
    /// `None` normal.
    #[must_use]
    pub fn forced_chip_select(&self) -> Option<bool> {
        match (self.ctrl[PIN_SS] >> 8) & 3 {
            2 => Some(true),
            3 => Some(false),
            _ => None,
        }
    }

    /// Ends the forcing of chip select, as the boot ROM's `flash_flush_cache` does.
    pub fn release_chip_select(&mut self) {
        self.ctrl[PIN_SS] &= !(3 << 8);
    }

    /// Sets the levels of the six pins: SCLK 0, SS 1, SD0 to SD3.
    pub fn set_pin_levels(&mut self, levels: u32) {
        self.inputs = levels & 0x3f;
    }

    /// Returns the level of each pin, in the layout of INTR.
    fn raw_pin_levels(&self) -> u32 {
        (0..6).fold(0, |word, pin| word | (1 + (self.inputs >> pin & 1)) << (4 * pin))
    }

    /// Returns the interrupts of a destination: levels after enable and force (INTS).
    fn interrupt_status_register(&self, destination: usize) -> u32 {
        let [inte, intf] = self.destinations[destination];
        (self.raw_pin_levels() & inte) | intf
    }

    /// Returns the interrupt levels for `core`: line 14 by that core's enables.
    #[must_use]
    pub fn irq_levels_of_core(&self, core: usize) -> u32 {
        u32::from(self.interrupt_status_register(core) != 0) << IRQ_IO_QSPI
    }
}

impl Peripheral for IoQspi {
    const NAME: &'static str = "IO_QSPI";

    /// Puts the registers of the multiplexer of the QSPI pins to their reset values. The levels of the pins stay.
    fn reset_registers(&mut self) {
        *self = Self { inputs: self.inputs, ..Self::default() };
    }

    /// Reads a register of the multiplexer of the QSPI pins at a byte offset. `access` holds the time in cycles and the
    /// requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x54 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the multiplexer of the QSPI pins at a byte offset. `access` holds the time in cycles and
    /// takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let index = (offset / 4) as usize;
        match offset {
            0x00..=0x2c if offset & 4 != 0 => self.ctrl[index / 2] = value & CTRL_MASK,
            0x00..=0x30 => {}
            0x34..=0x54 => {
                let (destination, register) = ((index - 13) / 3, (index - 13) % 3);
                if register < 2 {
                    self.destinations[destination][register] = value & INT_MASK;
                }
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the multiplexer of the QSPI pins at a byte offset, without the side effects
    /// of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let index = (offset / 4) as usize;
        match offset {
            0x00..=0x2c if offset & 4 != 0 => self.ctrl[index / 2],
            0x00..=0x2c => (self.inputs >> (index / 2) & 1) * (1 << 17 | 1 << 19),
            0x30 => self.raw_pin_levels(),
            0x34..=0x54 => {
                let (destination, register) = ((index - 13) / 3, (index - 13) % 3);
                if register < 2 {
                    self.destinations[destination][register]
                } else {
                    self.interrupt_status_register(destination)
                }
            }
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for INTR only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x30
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn chip_select_override() {
        let mut bench = Bench::new();
        let mut io = IoQspi::default();
        assert_eq!(io.forced_chip_select(), None);
        io.write_register(0x0c, 2 << 8, &mut bench.access());
        assert_eq!(io.forced_chip_select(), Some(true));
        io.write_register(0x0c, 3 << 8, &mut bench.access());
        assert_eq!(io.forced_chip_select(), Some(false));
        io.write_register(0x04, 2 << 8, &mut bench.access());
        assert_eq!(io.read_register(0x04, &mut bench.access()), 2 << 8);
        assert_eq!(io.forced_chip_select(), Some(false));
    }

    #[test]
    fn qspi_pin_levels_and_core_enables() {
        let mut bench = Bench::new();
        let mut io = IoQspi::default();
        assert_eq!(io.read_register(0x30, &mut bench.access()), 0x0011_1121);
        io.write_register(0x40, 2 << 4, &mut bench.access());
        assert_eq!((io.irq_levels_of_core(0), io.irq_levels_of_core(1)), (0, 1 << 14));
        io.set_pin_levels(0);
        assert_eq!(io.irq_levels_of_core(1), 0);
        io.write_register(0x38, 1, &mut bench.access());
        assert_eq!((io.irq_levels_of_core(0), io.read_register(0x3c, &mut bench.access())), (1 << 14, 1));
    }
}
