//! ADC (RP2040 data sheet 4.9): a conversion in 96 cycles of clk_adc, once or paced by DIV, and a FIFO of four results.
//!
//! Inputs have the level that the user gives, the temperature sensor reads 27 degrees.

use std::collections::VecDeque;

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const CS_EN: u32 = 1;
const CS_START_ONCE: u32 = 1 << 2;
const CS_START_MANY: u32 = 1 << 3;
const CS_READY: u32 = 1 << 8;
const CS_MASK: u32 = 0x001f_700b;
const FCS_EN: u32 = 1;
const FCS_SHIFT: u32 = 2;
const FCS_DREQ_EN: u32 = 8;
const FIFO_DEPTH: usize = 4;
const IRQ_ADC_FIFO: u32 = 22;
const INPUT_TEMPERATURE: u32 = 4;
/// 27 degrees: 0.706 V of 3.3 V in 12 bits.
const TEMPERATURE: u32 = 876;
/// clk_adc cycles of a conversion.
const CONVERSION: u64 = 96;

/// An analog-to-digital conversion that is under way or planned.
#[derive(Debug, Clone, Copy)]
struct AnalogConversion {
    start: u64,
    end: u64,
    input: u32,
}

/// The analog-to-digital converter of the RP2040, with its FIFO.
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
    conversion: Option<AnalogConversion>,
    /// Starts of free-running conversions, and how many there were.
    starts: FractionalRateCounter,
    started: u64,
    /// 12-bit level of the four pin inputs.
    inputs: [u32; 4],
}

impl Adc {
    /// Sets the result (12 bits) to which input 0 to 3 converts.
    pub fn set_adc_input_level(&mut self, input: usize, level: u32) {
        self.inputs[input] = level & 0xfff;
    }

    /// Returns whether the ADC requests a DMA transfer, because its FIFO has data.
    #[must_use]
    pub fn is_dma_requested(&self) -> bool {
        self.fcs & FCS_DREQ_EN != 0 && !self.fifo.is_empty()
    }

    /// Returns the number of the input that the next conversion converts.
    fn adc_input_of_next_conversion(&self) -> u32 {
        self.cs >> 12 & 7
    }

    /// Plans a conversion that starts at cycle `start`.
    fn schedule_adc_conversion(&mut self, start: u64, access: &Access) {
        let cycles = match access.clocks.adc_hz {
            0 => NEVER,
            hz => (CONVERSION * access.clocks.sys_hz).div_ceil(hz),
        };
        self.conversion = Some(AnalogConversion {
            start,
            end: start.saturating_add(cycles),
            input: self.adc_input_of_next_conversion(),
        });
    }

    /// Starts free-running conversions: one every 1 + DIV cycles of clk_adc, at least 96.
    fn start_free_running_adc_conversions(&mut self, access: &Access) {
        let units = u64::from(self.div) + 256;
        let period = units.max(256 * CONVERSION);
        let now = access.now_cycles;
        self.starts = FractionalRateCounter::new_running_counter(
            now,
            0,
            256 * access.clocks.adc_hz,
            period,
            access.clocks.sys_hz,
        );
        self.started = 0;
        self.schedule_adc_conversion(now, access);
    }

    /// Writes CS.
    fn write_control(&mut self, value: u32, access: &Access) {
        let ran = self.cs & (CS_EN | CS_START_MANY) == CS_EN | CS_START_MANY;
        self.cs = value & CS_MASK;
        let runs = self.cs & (CS_EN | CS_START_MANY) == CS_EN | CS_START_MANY;
        if self.cs & CS_EN == 0 {
            self.conversion = None;
        } else if runs && !ran {
            self.start_free_running_adc_conversions(access);
        } else if value & CS_START_ONCE != 0 && !runs && !self.is_busy(access.now_cycles) {
            self.schedule_adc_conversion(access.now_cycles, access);
        } else if ran && !runs && !self.is_busy(access.now_cycles) {
            self.conversion = None;
        }
    }

    /// Returns whether a conversion is under way.
    fn is_busy(&self, now: u64) -> bool {
        self.conversion.is_some_and(|conversion| conversion.start <= now)
    }

    /// Completes a conversion: converts its input's value, and pushes it into the FIFO if that is enabled.
    fn complete_conversion(&mut self, conversion: AnalogConversion, access: &Access) {
        self.result = match conversion.input {
            INPUT_TEMPERATURE => TEMPERATURE,
            0..=3 => self.inputs[conversion.input as usize],
            _ => 0,
        };
        if self.fcs & FCS_EN != 0 {
            // FCS.SHIFT keeps the upper 8 bits.
            let value = if self.fcs & FCS_SHIFT != 0 { self.result >> 4 } else { self.result };
            if self.fifo.len() < FIFO_DEPTH { self.fifo.push_back(value) } else { self.overrun = true }
        }
        let robin = self.cs >> 16 & 0x1f;
        if robin != 0 {
            let from = conversion.input;
            let next = (1..=5).map(|n| (from + n) % 5).find(|n| robin >> n & 1 != 0).unwrap_or(from);
            self.cs = self.cs & !(7 << 12) | next << 12;
        }
        if self.cs & CS_START_MANY != 0 {
            self.started += 1;
            let next = self.starts.first_cycle_at_counter_value(self.started);
            self.schedule_adc_conversion(next.max(conversion.end), access);
        }
    }

    /// Returns the value of FCS, with level and flags of the FIFO.
    fn fifo_status_register(&self) -> u32 {
        let len = self.fifo.len();
        self.fcs
            | u32::from(len == 0) << 8
            | u32::from(len == FIFO_DEPTH) << 9
            | u32::from(self.underrun) << 10
            | u32::from(self.overrun) << 11
            | (len as u32) << 16
    }

    /// Returns whether the FIFO has reached its threshold (INTR).
    fn is_fifo_threshold_reached(&self) -> bool {
        let threshold = ((self.fcs >> 24) & 15) as usize;
        self.fcs & FCS_EN != 0 && self.fifo.len() >= threshold.max(1)
    }

    /// Returns whether the interrupt is raised, after enable and force (INTS).
    fn interrupt_status_register(&self) -> bool {
        (self.is_fifo_threshold_reached() && self.inte) || self.intf
    }
}

impl Peripheral for Adc {
    const NAME: &'static str = "ADC";

    /// Puts the registers of the ADC to their reset values. The levels of the inputs stay.
    fn reset_registers(&mut self) {
        *self = Self { inputs: self.inputs, ..Self::default() };
    }

    /// Reads a register of the ADC at a byte offset. `access` holds the time in cycles and the requesting core. A read
    /// of FIFO removes its oldest result.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match offset {
            0x0c => {
                let value = self.fifo.pop_front();
                self.underrun |= value.is_none();
                value.unwrap_or(0)
            }
            0x00..=0x20 => self.peek_register(offset, access),
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    /// Writes a register of the ADC at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.write_control(value, access),
            0x08 => {
                self.fcs = value & 0x0f00_000f;
                self.underrun &= value & 1 << 10 == 0;
                self.overrun &= value & 1 << 11 == 0;
            }
            0x10 => {
                self.div = value & 0xff_ffff;
                if self.cs & (CS_EN | CS_START_MANY) == CS_EN | CS_START_MANY {
                    self.start_free_running_adc_conversions(access);
                }
            }
            0x18 => self.inte = value & 1 != 0,
            0x1c => self.intf = value & 1 != 0,
            0x04 | 0x0c | 0x14 | 0x20 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the ADC at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00 => {
                let ready = self.cs & CS_EN != 0 && !self.is_busy(access.now_cycles);
                self.cs | if ready { CS_READY } else { 0 }
            }
            0x04 => self.result,
            0x08 => self.fifo_status_register(),
            0x10 => self.div,
            0x14 => u32::from(self.is_fifo_threshold_reached()),
            0x18 => u32::from(self.inte),
            0x1c => u32::from(self.intf),
            0x20 => u32::from(self.interrupt_status_register()),
            _ => 0,
        }
    }

    /// Returns the cycle of the next end of a conversion, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.conversion.map_or(NEVER, |conversion| conversion.end)
    }

    /// Completes the conversions that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        while let Some(conversion) = self.conversion.take_if(|conversion| conversion.end <= access.now_cycles) {
            self.complete_conversion(conversion, access);
        }
    }

    /// Returns the level of the ADC's FIFO interrupt, at its NVIC line's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.interrupt_status_register()) << IRQ_ADC_FIFO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    /// 96 cycles of 48 MHz in cycles of 125 MHz.
    const CYCLES: u64 = 250;

    #[test]
    fn a_conversion_takes_its_cycles() {
        let mut bench = Bench::new();
        let mut adc = Adc::default();
        assert_eq!(adc.read_register(0, &mut bench.access()), 0);
        adc.set_adc_input_level(2, 0x1234);
        adc.write_register(0, CS_EN | 2 << 12, &mut bench.access());
        assert_eq!(adc.read_register(0, &mut bench.access()) & CS_READY, CS_READY);
        adc.write_register(0, CS_EN | CS_START_ONCE | 2 << 12, &mut bench.access_at(10));
        assert_eq!((adc.read_register(0, &mut bench.access()) & CS_READY, adc.next_event_cycle()), (0, 10 + CYCLES));
        assert_eq!(adc.read_register(4, &mut bench.access_at(9 + CYCLES)), 0);
        assert_eq!(adc.read_register(4, &mut bench.access_at(10 + CYCLES)), 0x234);
        assert_eq!(
            (adc.read_register(0, &mut bench.access()), adc.next_event_cycle()),
            (CS_EN | CS_READY | 2 << 12, NEVER)
        );
        adc.write_register(0, CS_EN | 2 | CS_START_ONCE | 4 << 12, &mut bench.access());
        assert_eq!(adc.read_register(4, &mut bench.access_at(1000)), TEMPERATURE);
    }

    #[test]
    fn free_running_conversions_are_paced_by_div() {
        for (div, period) in [(0, CYCLES), (95 << 8, CYCLES), (191 << 8, 2 * CYCLES), (287 << 8 | 128, 751)] {
            let mut bench = Bench::new();
            let mut adc = Adc::default();
            adc.write_register(8, FCS_EN, &mut bench.access());
            adc.write_register(0x10, div, &mut bench.access());
            adc.write_register(0, CS_EN | CS_START_MANY, &mut bench.access());
            let mut ends = Vec::new();
            for _ in 0..3 {
                ends.push(adc.next_event_cycle());
                adc.advance_to_now(&mut bench.access_at(*ends.last().unwrap()));
            }
            assert_eq!(ends[0], CYCLES);
            assert!(ends[1].abs_diff(CYCLES + period) <= 1, "{ends:?} {div:#x}");
            assert_eq!(adc.read_register(8, &mut bench.access()) >> 16, 3);
            adc.write_register(0, CS_EN, &mut bench.access());
            adc.advance_to_now(&mut bench.access_at(10_000));
            assert_eq!(adc.next_event_cycle(), NEVER);
        }
    }

    #[test]
    fn without_a_clock_nothing_is_converted() {
        let mut bench = Bench::new();
        bench.tree.adc_hz = 0;
        let mut adc = Adc::default();
        adc.write_register(0, CS_EN | CS_START_ONCE, &mut bench.access());
        assert_eq!(adc.next_event_cycle(), NEVER);
    }

    /// Converts once.
    fn convert(adc: &mut Adc, bench: &mut Bench, cs: u32) {
        adc.write_register(0, cs | CS_EN | CS_START_ONCE, &mut bench.access());
        let due = adc.next_event_cycle();
        adc.advance_to_now(&mut bench.access_at(due));
    }

    #[test]
    fn adc_fifo_round_robin_and_interrupt() {
        let mut bench = Bench::new();
        let mut adc = Adc::default();
        adc.set_adc_input_level(0, 0x100);
        adc.set_adc_input_level(1, 0x200);
        adc.write_register(8, FCS_EN | FCS_DREQ_EN | 2 << 24, &mut bench.access());
        adc.write_register(0x18, 1, &mut bench.access());
        assert!(!adc.is_dma_requested());
        convert(&mut adc, &mut bench, 3 << 16);
        assert_eq!((adc.irq_levels(), adc.is_dma_requested()), (0, true));
        let cs = adc.read_register(0, &mut bench.access());
        convert(&mut adc, &mut bench, cs);
        assert_eq!(adc.irq_levels(), 1 << 22);
        assert_eq!(
            (adc.read_register(0xc, &mut bench.access()), adc.read_register(0xc, &mut bench.access())),
            (0x100, 0x200)
        );
        assert_eq!(adc.read_register(8, &mut bench.access()) >> 8 & 0xf, 1);
        adc.read_register(0xc, &mut bench.access());
        assert_eq!(adc.read_register(8, &mut bench.access()) >> 10 & 1, 1);
    }

    #[test]
    fn fifo_errors_clear_separately_and_shift_keeps_eight_bits() {
        let mut bench = Bench::new();
        let mut adc = Adc::default();
        adc.set_adc_input_level(0, 0xabc);
        adc.write_register(8, FCS_EN | FCS_SHIFT, &mut bench.access());
        adc.read_register(0xc, &mut bench.access());
        for _ in 0..5 {
            convert(&mut adc, &mut bench, 0);
        }
        assert_eq!(adc.read_register(8, &mut bench.access()) >> 8 & 0xf, 0b1110);
        adc.write_register(8, FCS_EN | FCS_SHIFT | 1 << 10, &mut bench.access());
        assert_eq!(adc.read_register(8, &mut bench.access()) >> 8 & 0xf, 0b1010);
        adc.write_register(8, FCS_EN | FCS_SHIFT | 1 << 11, &mut bench.access());
        assert_eq!(adc.read_register(8, &mut bench.access()), 4 << 16 | 1 << 9 | FCS_EN | FCS_SHIFT);
        assert_eq!(adc.read_register(0xc, &mut bench.access()), 0xab);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        let bits = [
            (CS_EN, 0),
            (CS_START_ONCE, 2),
            (CS_START_MANY, 3),
            (CS_READY, 8),
            (FCS_EN, 0),
            (FCS_SHIFT, 1),
            (FCS_DREQ_EN, 3),
        ];
        for (mask, number) in bits {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
