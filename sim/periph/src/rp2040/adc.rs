//! ADC (RP2040 data sheet 4.9): conversions finish at once with constant values.

use std::collections::VecDeque;

use crate::{Access, Peripheral};

const CS_EN: u32 = 1;
const CS_START_ONCE: u32 = 1 << 2;
const CS_START_MANY: u32 = 1 << 3;
const CS_READY: u32 = 1 << 8;
const CS_MASK: u32 = 0x001f_700b;
const FCS_EN: u32 = 1;
const FIFO_DEPTH: usize = 4;
const IRQ_ADC_FIFO: u32 = 22;
const INPUT_TEMPERATURE: u32 = 4;
/// 27 degrees: 0.706 V of 3.3 V in 12 bits.
const TEMPERATURE: u32 = 876;

/// The ADC block.
#[derive(Debug, Clone, Default)]
pub struct Adc {
    cs: u32,
    result: u32,
    fcs: u32,
    div: u32,
    fifo: VecDeque<u32>,
    overrun: bool,
    underrun: bool,
    inte: bool,
    intf: bool,
    /// 12-bit level of the four pin inputs.
    inputs: [u32; 4],
}

impl Adc {
    /// Sets what input 0 to 3 converts to (12 bits).
    pub fn set_input(&mut self, input: usize, level: u32) {
        self.inputs[input] = level & 0xfff;
    }

    /// Completes a conversion: takes the selected input's value, and pushes it into the FIFO if that is enabled.
    fn convert(&mut self) {
        let selected = (self.cs >> 12) & 7;
        self.result = match selected {
            INPUT_TEMPERATURE => TEMPERATURE,
            0..=3 => self.inputs[selected as usize],
            _ => 0,
        };
        if self.fcs & FCS_EN != 0 {
            // FCS.SHIFT keeps the upper 8 bits.
            let value = if self.fcs & 2 != 0 { self.result >> 4 } else { self.result };
            if self.fifo.len() < FIFO_DEPTH { self.fifo.push_back(value) } else { self.overrun = true }
        }
        let robin = (self.cs >> 16) & 0x1f;
        if robin != 0 {
            let next = (1..=5).map(|n| (selected + n) % 5).find(|n| robin >> n & 1 != 0).unwrap_or(selected);
            self.cs = self.cs & !(7 << 12) | next << 12;
        }
    }

    /// Value of FCS, with level and flags of the FIFO.
    fn fifo_status(&self) -> u32 {
        let len = self.fifo.len();
        self.fcs
            | u32::from(len == 0) << 8
            | u32::from(len == FIFO_DEPTH) << 9
            | u32::from(self.underrun) << 10
            | u32::from(self.overrun) << 11
            | (len as u32) << 16
    }

    /// INTR: whether the FIFO has reached its threshold.
    fn raw(&self) -> bool {
        let threshold = ((self.fcs >> 24) & 15) as usize;
        self.fcs & FCS_EN != 0 && self.fifo.len() >= threshold.max(1)
    }

    /// INTS: the interrupt after enable and force.
    fn ints(&self) -> bool {
        (self.raw() && self.inte) || self.intf
    }
}

impl Peripheral for Adc {
    const NAME: &'static str = "ADC";

    fn reset(&mut self) {
        *self = Self { inputs: self.inputs, ..Self::default() };
    }

    fn read(&mut self, offset: u32, access: &mut Access) -> u32 {
        match offset {
            0x0c => {
                let value = self.fifo.pop_front();
                self.underrun |= value.is_none();
                // Free-running conversions are made when somebody looks: the FIFO never runs dry.
                if self.cs & CS_START_MANY != 0 {
                    self.convert();
                }
                value.unwrap_or(0)
            }
            0x00..=0x20 => self.peek(offset, access),
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    fn write(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => {
                self.cs = value & CS_MASK;
                if self.cs & CS_EN != 0 && value & (CS_START_ONCE | CS_START_MANY) != 0 {
                    self.convert();
                }
            }
            0x08 => {
                self.fcs = value & 0x0f00_000f;
                self.underrun &= value & 1 << 10 == 0;
                self.overrun &= value & 1 << 11 == 0;
            }
            0x10 => self.div = value & 0xff_ffff,
            0x18 => self.inte = value & 1 != 0,
            0x1c => self.intf = value & 1 != 0,
            0x04 | 0x0c | 0x14 | 0x20 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    fn peek(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cs | if self.cs & CS_EN != 0 { CS_READY } else { 0 },
            0x04 => self.result,
            0x08 => self.fifo_status(),
            0x10 => self.div,
            0x14 => u32::from(self.raw()),
            0x18 => u32::from(self.inte),
            0x1c => u32::from(self.intf),
            0x20 => u32::from(self.ints()),
            _ => 0,
        }
    }

    fn irq_levels(&self) -> u32 {
        u32::from(self.ints()) << IRQ_ADC_FIFO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn ready_once_enabled_and_converts_the_selected_input() {
        let mut bench = Bench::new();
        let mut adc = Adc::default();
        assert_eq!(adc.read(0, &mut bench.access()), 0);
        adc.set_input(2, 0x1234);
        adc.write(0, CS_EN | 2 << 12, &mut bench.access());
        assert_eq!(adc.read(0, &mut bench.access()) & CS_READY, CS_READY);
        assert_eq!(adc.read(4, &mut bench.access()), 0);
        adc.write(0, CS_EN | CS_START_ONCE | 2 << 12, &mut bench.access());
        assert_eq!(adc.read(4, &mut bench.access()), 0x234);
        adc.write(0, CS_EN | 2 | CS_START_ONCE | 4 << 12, &mut bench.access());
        assert_eq!(adc.read(4, &mut bench.access()), TEMPERATURE);
    }

    #[test]
    fn fifo_round_robin_and_interrupt() {
        let mut bench = Bench::new();
        let mut adc = Adc::default();
        adc.set_input(0, 0x100);
        adc.set_input(1, 0x200);
        adc.write(8, FCS_EN | 2 << 24, &mut bench.access());
        adc.write(0x18, 1, &mut bench.access());
        adc.write(0, CS_EN | CS_START_ONCE | 3 << 16, &mut bench.access());
        assert_eq!(adc.irq_levels(), 0);
        let cs = adc.read(0, &mut bench.access());
        adc.write(0, cs | CS_START_ONCE, &mut bench.access());
        assert_eq!(adc.irq_levels(), 1 << 22);
        assert_eq!((adc.read(0xc, &mut bench.access()), adc.read(0xc, &mut bench.access())), (0x100, 0x200));
        assert_eq!(adc.read(8, &mut bench.access()) >> 8 & 0xf, 1);
        adc.read(0xc, &mut bench.access());
        assert_eq!(adc.read(8, &mut bench.access()) >> 10 & 1, 1);
    }

    #[test]
    fn fifo_errors_clear_separately_and_shift_keeps_eight_bits() {
        let mut bench = Bench::new();
        let mut adc = Adc::default();
        adc.set_input(0, 0xabc);
        adc.write(8, FCS_EN | 2, &mut bench.access());
        adc.read(0xc, &mut bench.access());
        for _ in 0..5 {
            adc.write(0, CS_EN | CS_START_ONCE, &mut bench.access());
        }
        assert_eq!(adc.read(8, &mut bench.access()) >> 8 & 0xf, 0b1110);
        adc.write(8, FCS_EN | 2 | 1 << 10, &mut bench.access());
        assert_eq!(adc.read(8, &mut bench.access()) >> 8 & 0xf, 0b1010);
        adc.write(8, FCS_EN | 2 | 1 << 11, &mut bench.access());
        assert_eq!(adc.read(8, &mut bench.access()), 4 << 16 | 1 << 9 | FCS_EN | 2);
        assert_eq!(adc.read(0xc, &mut bench.access()), 0xab);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(CS_EN, 0), (CS_START_ONCE, 2), (CS_START_MANY, 3), (CS_READY, 8), (FCS_EN, 0)] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
