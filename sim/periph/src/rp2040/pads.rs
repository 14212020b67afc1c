//! Pad controls of bank 0 and of the QSPI pins (RP2040 data sheet 2.19.6).

use crate::{Access, Peripheral};

const OD: u32 = 1 << 7;
const IE: u32 = 1 << 6;
const PUE: u32 = 1 << 3;
const PAD_MASK: u32 = 0xff;

/// Reset values of the QSPI pads: SCLK, SD0 to SD3, SS.
const QSPI_RESET: [u32; 6] = [0x56, 0x52, 0x52, 0x52, 0x52, 0x5a];
const GPIO_RESET: u32 = 0x56;
/// Pads of bank 0 that are GPIOs. The two debug pads follow them.
const GPIO_COUNT: usize = 30;
const SWCLK_RESET: u32 = 0xda;
const SWD_RESET: u32 = 0x5a;

/// One bank of the RP2040's pads: pulls, input enables and output disables.
#[derive(Debug, Clone)]
pub struct Pads {
    voltage_select: u32,
    pads: Vec<u32>,
    qspi: bool,
    input_enable: u32,
    output_disable: u32,
    pull_up: u32,
}

impl Pads {
    /// Creates bank 0: 30 GPIOs, SWCLK, SWD.
    #[must_use]
    pub fn gpio_bank() -> Self {
        let mut pads = vec![GPIO_RESET; 30];
        pads.extend([SWCLK_RESET, SWD_RESET]);
        Self::with_reset_values(pads, false)
    }

    /// Creates the bank of the six QSPI pads.
    #[must_use]
    pub fn flash_pin_bank() -> Self {
        Self::with_reset_values(QSPI_RESET.to_vec(), true)
    }

    /// Creates a bank with these reset values.
    fn with_reset_values(pads: Vec<u32>, qspi: bool) -> Self {
        let mut bank = Self { voltage_select: 0, pads, qspi, input_enable: 0, output_disable: 0, pull_up: 0 };
        bank.update_pad_masks();
        bank
    }

    /// Recomputes the masks of input enables, output disables and pull-ups.
    fn update_pad_masks(&mut self) {
        let collect = |flag: u32| {
            self.pads
                .iter()
                .take(GPIO_COUNT)
                .enumerate()
                .fold(0, |mask, (pin, pad)| mask | u32::from(pad & flag != 0) << pin)
        };
        (self.input_enable, self.output_disable, self.pull_up) = (collect(IE), collect(OD), collect(PUE));
    }

    /// Returns the pad levels and the pins that drive, from what the multiplexer and the outside drive.
    #[inline]
    #[must_use]
    pub fn pad_levels(&self, out: u32, oe: u32, outside_driven: u32, outside: u32) -> (u32, u32) {
        let oe = oe & !self.output_disable;
        let idle = (outside & outside_driven) | (self.pull_up & !outside_driven);
        ((out & oe) | (idle & !oe), oe)
    }

    /// Returns the levels that the input buffers pass on.
    #[inline]
    #[must_use]
    pub fn enabled_input_levels(&self, levels: u32) -> u32 {
        levels & self.input_enable
    }
}

impl Peripheral for Pads {
    const NAME: &'static str = "PADS";

    /// Puts the registers of the pad controls to their reset values.
    fn reset_registers(&mut self) {
        *self = if self.qspi { Self::flash_pin_bank() } else { Self::gpio_bank() };
    }

    /// Reads a register of the pad controls at a byte offset. `access` holds the time in cycles and the requesting
    /// core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset as usize > 4 * self.pads.len() {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the pad controls at a byte offset. `access` holds the time in cycles and takes requests to
    /// the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        if offset == 0 {
            self.voltage_select = value & 1;
        } else if let Some(pad) = self.pads.get_mut(offset as usize / 4 - 1) {
            *pad = value & PAD_MASK;
            self.update_pad_masks();
            access.effects.pins_changed = true;
        } else {
            access.effects.unmodelled = Some((offset, true));
        }
    }

    /// Returns the value of a register of the pad controls at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0 => self.voltage_select,
            _ => self.pads.get(offset as usize / 4 - 1).copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn reset_values() {
        let mut bench = Bench::new();
        let mut pads = Pads::gpio_bank();
        for (offset, value) in [(4, 0x56), (4 + 29 * 4, 0x56), (0x7c, 0xda), (0x80, 0x5a)] {
            assert_eq!(pads.read_register(offset, &mut bench.access()), value);
        }
        assert_eq!(bench.effects.unmodelled, None);
        pads.read_register(0x84, &mut bench.access());
        assert_eq!(bench.effects.unmodelled, Some((0x84, false)));
        assert_eq!(Pads::flash_pin_bank().read_register(0x18, &mut bench.access()), 0x5a);
    }

    #[test]
    fn pad_bits_disable_output_and_input() {
        let mut bench = Bench::new();
        let mut pads = Pads::gpio_bank();
        assert_eq!(pads.pad_levels(0b11, 0b01, 0b00, 0b00), (0b01, 0b01));
        pads.write_register(4, 0x56 | OD, &mut bench.access());
        assert_eq!(pads.pad_levels(0b11, 0b01, 0b00, 0b00), (0, 0));
        pads.write_register(8, 0x5a, &mut bench.access());
        assert_eq!(pads.pad_levels(0, 0, 0, 0).0, 0b10);
        assert_eq!(pads.pad_levels(0, 0, 0b10, 0).0, 0);
        pads.write_register(8, 0x1a, &mut bench.access());
        assert_eq!(pads.enabled_input_levels(0b111), 0b101);
    }

    #[test]
    fn qspi_pads_start_with_their_own_pulls() {
        let mut bench = Bench::new();
        let mut pads = Pads::flash_pin_bank();
        let got: Vec<u32> = (1..7).map(|n| pads.read_register(4 * n, &mut bench.access())).collect();
        assert_eq!(got, [0x56, 0x52, 0x52, 0x52, 0x52, 0x5a]);
        pads.write_register(4, 0, &mut bench.access());
        pads.reset_registers();
        assert_eq!(pads.read_register(4, &mut bench.access()), 0x56);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(OD, 7), (IE, 6), (PUE, 3)] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
