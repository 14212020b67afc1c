//! ADC of the L0 (RM0367 chapter 14) and the H7 (RM0433 chapter 25, revision V): regular conversions, single,
//! continuous, discontinuous, of a sequence, with oversampling.
//!
//! A conversion takes the sampling time and the approximation of its bits, in periods of the ADC's clock, which the H7
//! halves. Pins have the voltage that the user sets. Regulator, calibration and start take no time. The end of sampling
//! is flagged with the end of the conversion.

use super::block::{Access, Block};
use crate::NEVER;

/// The register layout of a family's ADC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdcV4Layout {
    /// L0: one converter of 12 bits, a sequence by channel numbers.
    L0,
    /// ADC1 and ADC2 of the H7.
    H7First,
    /// ADC3 of the H7.
    H7Third,
}

use AdcV4Layout::{H7First, H7Third, L0};

const ISR_ADRDY: u32 = 1;
const ISR_EOSMP: u32 = 1 << 1;
const ISR_EOC: u32 = 1 << 2;
const ISR_EOS: u32 = 1 << 3;
const ISR_OVR: u32 = 1 << 4;
/// L0.
const ISR_EOCAL: u32 = 1 << 11;
/// H7: the regulator is ready.
const ISR_LDORDY: u32 = 1 << 12;
const CR_ADEN: u32 = 1;
const CR_ADDIS: u32 = 1 << 1;
const CR_ADSTART: u32 = 1 << 2;
const CR_ADSTP: u32 = 1 << 4;
const CR_ADVREGEN: u32 = 1 << 28;
const CR_DEEPPWD: u32 = 1 << 29;
const CR_ADCAL: u32 = 1 << 31;
const CFGR_OVRMOD: u32 = 1 << 12;
const CFGR_CONT: u32 = 1 << 13;
/// WAIT of the L0, AUTDLY of the H7.
const CFGR_WAIT: u32 = 1 << 14;
const CFGR_DISCEN: u32 = 1 << 16;
const L0_SCANDIR: u32 = 1 << 2;
const L0_ALIGN: u32 = 1 << 5;
/// Oversampling of regular conversions.
const CFGR2_OVSE: u32 = 1;
/// The H7 starts in deep power-down, with the queue of injected conversions off.
const H7_CR_RESET: u32 = CR_DEEPPWD;
const H7_CFGR_RESET: u32 = 1 << 31;
/// Sampling times in half periods.
const L0_SAMPLING: [u64; 8] = [3, 7, 15, 25, 39, 79, 159, 321];
const H7_SAMPLING: [u64; 8] = [3, 5, 17, 33, 65, 129, 775, 1621];
/// Prescalers of an asynchronous clock.
const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
const CHANNELS: usize = 20;
const SUPPLY_MILLIVOLTS: u32 = 3300;
/// The common registers of the H7, and of the L0 only CCR.
const CCR: u32 = 0x308;
/// Words of registers of a converter.
const WORDS: usize = 0x100 / 4;

/// Registers by their offsets.
mod at {
    pub const ISR: u32 = 0x00;
    pub const IER: u32 = 0x04;
    pub const CR: u32 = 0x08;
    pub const CFGR: u32 = 0x0c;
    pub const CFGR2: u32 = 0x10;
    pub const SMPR: u32 = 0x14;
    pub const PCSEL: u32 = 0x1c;
    pub const CHSELR: u32 = 0x28;
    pub const SQR1: u32 = 0x30;
    pub const DR: u32 = 0x40;
}

/// The pin of each channel, from channel 0 on: 16 times its port's number plus its own, 0xff for a channel without pin.
type Pins = [u8; CHANNELS];

/// Returns the number of a pin, such as port `b'A'` and pin 3: 16 for each port, plus the pin.
const fn pin_number_of_port(port: u8, pin: u8) -> u8 {
    (port - b'A') * 16 + pin
}

const NO: u8 = 0xff;

/// DS10152, DS10685.
const L0_PINS: Pins = [
    pin_number_of_port(b'A', 0),
    pin_number_of_port(b'A', 1),
    pin_number_of_port(b'A', 2),
    pin_number_of_port(b'A', 3),
    pin_number_of_port(b'A', 4),
    pin_number_of_port(b'A', 5),
    pin_number_of_port(b'A', 6),
    pin_number_of_port(b'A', 7),
    pin_number_of_port(b'B', 0),
    pin_number_of_port(b'B', 1),
    pin_number_of_port(b'C', 0),
    pin_number_of_port(b'C', 1),
    pin_number_of_port(b'C', 2),
    pin_number_of_port(b'C', 3),
    pin_number_of_port(b'C', 4),
    pin_number_of_port(b'C', 5),
    NO,
    NO,
    NO,
    NO,
];

/// DS12110: positive inputs of ADC1. Switches connect PA0_C and PA1_C with PA0 and PA1 after reset.
const H7_PINS_1: Pins = [
    pin_number_of_port(b'A', 0),
    pin_number_of_port(b'A', 1),
    pin_number_of_port(b'F', 11),
    pin_number_of_port(b'A', 6),
    pin_number_of_port(b'C', 4),
    pin_number_of_port(b'B', 1),
    pin_number_of_port(b'F', 12),
    pin_number_of_port(b'A', 7),
    pin_number_of_port(b'C', 5),
    pin_number_of_port(b'B', 0),
    pin_number_of_port(b'C', 0),
    pin_number_of_port(b'C', 1),
    pin_number_of_port(b'C', 2),
    pin_number_of_port(b'C', 3),
    pin_number_of_port(b'A', 2),
    pin_number_of_port(b'A', 3),
    pin_number_of_port(b'A', 0),
    pin_number_of_port(b'A', 1),
    pin_number_of_port(b'A', 4),
    pin_number_of_port(b'A', 5),
];

/// ADC2 differs in four channels.
const H7_PINS_2: Pins = {
    let mut pins = H7_PINS_1;
    pins[2] = pin_number_of_port(b'F', 13);
    pins[6] = pin_number_of_port(b'F', 14);
    pins[16] = NO;
    pins[17] = NO;
    pins
};

/// ADC3.
const H7_PINS_3: Pins = [
    pin_number_of_port(b'C', 2),
    pin_number_of_port(b'C', 3),
    pin_number_of_port(b'F', 9),
    pin_number_of_port(b'F', 7),
    pin_number_of_port(b'F', 5),
    pin_number_of_port(b'F', 3),
    pin_number_of_port(b'F', 10),
    pin_number_of_port(b'F', 8),
    pin_number_of_port(b'F', 6),
    pin_number_of_port(b'F', 4),
    pin_number_of_port(b'C', 0),
    pin_number_of_port(b'C', 1),
    pin_number_of_port(b'C', 2),
    pin_number_of_port(b'H', 2),
    pin_number_of_port(b'H', 3),
    pin_number_of_port(b'H', 4),
    pin_number_of_port(b'H', 5),
    NO,
    NO,
    NO,
];

/// One converter of an ADC block, with its own registers.
#[derive(Debug, Clone)]
struct Converter {
    pins: &'static Pins,
    /// Millivolts of the channels.
    millivolts: [u32; CHANNELS],
    isr: u32,
    cr: u32,
    words: [u32; WORDS],
    data: u32,
    /// Number of the next conversion in its sequence.
    position: usize,
    /// Conversions left of a discontinuous group.
    group_left: u32,
    /// The result is out, but AUTDLY or WAIT holds the next conversion back until it is read.
    held: bool,
    /// In one-shot mode the DMA has fetched its last result. It gets no more until CFGR is written.
    dma_ended: bool,
    end: u64,
}

impl Converter {
    /// Returns a converter in its reset state. `pins` gives the pin of each channel.
    fn new(layout: AdcV4Layout, pins: &'static Pins) -> Self {
        let mut converter = Self {
            pins,
            millivolts: [0; CHANNELS],
            isr: 0,
            cr: 0,
            words: [0; WORDS],
            data: 0,
            position: 0,
            group_left: 0,
            held: false,
            dma_ended: false,
            end: NEVER,
        };
        match layout {
            L0 => {
                converter.millivolts[17] = 1224;
                converter.words[0x20 / 4] = 0x0fff_0000;
            }
            H7First | H7Third => {
                if layout == H7Third {
                    converter.millivolts[19] = 1216;
                }
                converter.cr = H7_CR_RESET;
                converter.words[at::CFGR as usize / 4] = H7_CFGR_RESET;
                for register in [0x24, 0xb4, 0xbc] {
                    converter.words[register / 4] = 0x03ff_ffff;
                }
            }
        }
        converter
    }

    /// Puts the converter's registers to their reset values. The voltages at the pins stay.
    fn reset(&mut self, layout: AdcV4Layout) {
        *self = Self { millivolts: self.millivolts, ..Self::new(layout, self.pins) };
    }

    /// Returns one of the registers that only store a value, by its offset in the converter.
    fn stored_register(&self, offset: u32) -> u32 {
        self.words[offset as usize / 4]
    }

    /// Returns whether results request DMA transfers, and whether they do so without end: DMAEN and DMACFG of L0, DMNGT
    /// of H7 (RM0367 14.5.4, RM0433 25.4.27).
    fn adc_dma_mode(&self, layout: AdcV4Layout) -> (bool, bool) {
        let cfgr = self.stored_register(at::CFGR);
        if layout == L0 { (cfgr & 1 != 0, cfgr & 2 != 0) } else { (matches!(cfgr & 3, 1 | 3), cfgr & 3 == 3) }
    }

    /// Returns the channels of the conversion sequence, in its order.
    fn adc_channel_sequence(&self, layout: AdcV4Layout) -> Vec<usize> {
        if layout == L0 {
            let chosen = self.stored_register(at::CHSELR);
            let mut channels: Vec<usize> = (0..19).filter(|channel| chosen >> channel & 1 != 0).collect();
            if self.stored_register(at::CFGR) & L0_SCANDIR != 0 {
                channels.reverse();
            }
            return channels;
        }
        // Four places in the first register after the length, five in the others.
        let place = |n: u32| self.stored_register(at::SQR1 + 4 * ((n + 1) / 5)) >> (6 * ((n + 1) % 5)) & 31;
        (0..=self.stored_register(at::SQR1) & 15).map(|n| place(n) as usize).collect()
    }

    /// Returns the number of bits of a result.
    fn adc_result_bit_count(&self, layout: AdcV4Layout) -> u32 {
        let cfgr = self.stored_register(at::CFGR);
        if layout == L0 {
            return 12 - 2 * (cfgr >> 3 & 3);
        }
        match cfgr >> 2 & 7 {
            0 => 16,
            1 | 5 => 14,
            2 | 6 => 12,
            3 => 10,
            _ => 8,
        }
    }

    /// Returns how many samples make a result, and by how many bits their sum is shifted right.
    fn oversampling_count_and_shift(&self, layout: AdcV4Layout) -> (u32, u32) {
        let cfgr2 = self.stored_register(at::CFGR2);
        if cfgr2 & CFGR2_OVSE == 0 {
            return (1, 0);
        }
        let ratio = if layout == L0 { 2 << (cfgr2 >> 2 & 7) } else { (cfgr2 >> 16 & 0x3ff) + 1 };
        (ratio, cfgr2 >> 5 & 15)
    }

    /// Returns the duration of a channel's conversion in half periods of the ADC's clock.
    fn adc_conversion_half_periods(&self, layout: AdcV4Layout, channel: usize) -> u64 {
        let bits = u64::from(self.adc_result_bit_count(layout));
        let one = if layout == L0 {
            // 12.5, 11.5, 9.5 and 7.5 periods.
            let approximation = if bits == 12 { 25 } else { 2 * bits + 3 };
            L0_SAMPLING[(self.stored_register(at::SMPR) & 7) as usize] + approximation
        } else {
            let register = self.stored_register(at::SMPR + 4 * (channel as u32 / 10));
            H7_SAMPLING[(register >> (3 * (channel % 10)) & 7) as usize] + bits + 1
        };
        one * u64::from(self.oversampling_count_and_shift(layout).0)
    }

    /// Returns the result of converting a channel's voltage.
    fn adc_conversion_result(&self, layout: AdcV4Layout, channel: usize) -> u32 {
        let bits = self.adc_result_bit_count(layout);
        // A channel of the H7 must be connected by PCSEL.
        let connected = layout == L0 || self.stored_register(at::PCSEL) >> channel & 1 != 0;
        let millivolts = self.millivolts.get(channel).copied().filter(|_| connected).unwrap_or(0);
        let full = 1 << bits;
        let level = (millivolts.min(SUPPLY_MILLIVOLTS) * full / SUPPLY_MILLIVOLTS).min(full - 1);
        let (ratio, shift) = self.oversampling_count_and_shift(layout);
        let result = (level * ratio) >> shift;
        if layout != L0 {
            return result << (self.stored_register(at::CFGR2) >> 28);
        }
        // RM0367 figure "Data alignment and resolution".
        let aligned = match bits {
            _ if ratio > 1 || self.stored_register(at::CFGR) & L0_ALIGN == 0 => result,
            6 => result << 2,
            bits => result << (16 - bits),
        };
        aligned & 0xffff
    }

    /// Returns the number of conversions that one start triggers in discontinuous mode.
    fn discontinuous_group_length(&self, layout: AdcV4Layout) -> u32 {
        if layout == L0 { 1 } else { (self.stored_register(at::CFGR) >> 17 & 7) + 1 }
    }

    /// Ends the conversion and its sequence, as ADSTP does.
    fn stop_conversion(&mut self) {
        (self.end, self.held, self.position) = (NEVER, false, 0);
        self.cr &= !(CR_ADSTART | CR_ADSTP);
    }
}

/// An ADC block with up to three converters.
#[derive(Debug, Clone)]
pub struct AdcV4 {
    layout: AdcV4Layout,
    converters: Vec<Converter>,
    common: u32,
    /// The clock of an asynchronous mode: HSI16 of the L0, the kernel clock of the H7.
    asynchronous_hz: u64,
}

impl AdcV4 {
    /// Creates the ADC in its reset state.
    #[must_use]
    pub fn new(layout: AdcV4Layout) -> Self {
        let pins: &[&'static Pins] = match layout {
            L0 => &[&L0_PINS],
            H7First => &[&H7_PINS_1, &H7_PINS_2],
            H7Third => &[&H7_PINS_3],
        };
        let converters = pins.iter().map(|pins| Converter::new(layout, pins)).collect();
        Self { layout, converters, common: 0, asynchronous_hz: 0 }
    }

    /// Sets the voltage at a pin. Returns false if it is no input of this block.
    pub(super) fn set_pin_voltage(&mut self, pin: u16, millivolts: u32) -> bool {
        let mut is_input = false;
        for converter in &mut self.converters {
            for channel in (0..CHANNELS)
                .filter(|&channel| converter.pins[channel] != NO && u16::from(converter.pins[channel]) == pin)
            {
                converter.millivolts[channel] = millivolts;
                is_input = true;
            }
        }
        is_input
    }

    /// Sets the frequency of the asynchronous clock in Hz.
    pub(super) fn set_asynchronous_clock_hz(&mut self, hz: u64) {
        self.asynchronous_hz = hz;
    }

    /// Returns the clock of the conversions in Hz, as numerator and denominator.
    fn conversion_clock_as_fraction(&self, access: &Access) -> (u64, u64) {
        let code = self.common >> 18 & 15;
        let asynchronous = (self.asynchronous_hz, PRESCALERS[(code as usize).min(11)]);
        if self.layout == L0 {
            return match self.converters[0].stored_register(at::CFGR2) >> 30 {
                0 => asynchronous,
                1 => (access.clock_hz, 2),
                2 => (access.clock_hz, 4),
                _ => (access.clock_hz, 1),
            };
        }
        let (hz, divider) = match self.common >> 16 & 3 {
            0 => asynchronous,
            1 => (access.clock_hz, 1),
            2 => (access.clock_hz, 2),
            _ => (access.clock_hz, 4),
        };
        // Revision V halves it.
        (hz, 2 * divider)
    }

    /// Begins the next conversion at cycle `at`.
    fn begin_conversion(&mut self, n: usize, at: u64, access: &Access) {
        let (hz, divider) = self.conversion_clock_as_fraction(access);
        let (layout, converter) = (self.layout, &mut self.converters[n]);
        let sequence = converter.adc_channel_sequence(layout);
        let Some(&channel) = sequence.get(converter.position).or(sequence.first()) else {
            // An L0 without a channel chosen converts nothing.
            converter.stop_conversion();
            return;
        };
        let units = converter.adc_conversion_half_periods(layout, channel) * divider * access.core_hz;
        converter.end = if hz == 0 { NEVER } else { at.saturating_add(units.div_ceil(2 * hz)) };
    }

    /// Completes a conversion of converter `n` at cycle `at`, and begins the next one.
    fn complete_conversion(&mut self, n: usize, at: u64, access: &Access) {
        let (layout, converter) = (self.layout, &mut self.converters[n]);
        let sequence = converter.adc_channel_sequence(layout);
        let channel = sequence.get(converter.position).or(sequence.first()).copied().unwrap_or(0);
        let (result, cfgr) = (converter.adc_conversion_result(layout, channel), converter.stored_register(at::CFGR));
        let was_read = converter.isr & ISR_EOC == 0;
        if was_read || cfgr & CFGR_OVRMOD != 0 {
            converter.data = result;
        }
        converter.isr |= ISR_EOSMP | ISR_EOC | if was_read { 0 } else { ISR_OVR };
        converter.end = NEVER;
        converter.position += 1;
        let is_last = converter.position >= sequence.len();
        if is_last {
            converter.position = 0;
            converter.isr |= ISR_EOS;
        }
        converter.group_left = converter.group_left.saturating_sub(1);
        let goes_on = if cfgr & CFGR_DISCEN != 0 {
            converter.group_left > 0 && !is_last
        } else {
            !is_last || cfgr & CFGR_CONT != 0
        };
        if !goes_on {
            converter.cr &= !CR_ADSTART;
        } else if cfgr & CFGR_WAIT != 0 {
            converter.held = true;
        } else {
            self.begin_conversion(n, at, access);
        }
    }

    /// Begins a conversion that waited until EOC was cleared.
    fn resume_waiting_conversion(&mut self, n: usize, access: &Access) {
        let converter = &mut self.converters[n];
        if converter.isr & ISR_EOC == 0 && std::mem::take(&mut converter.held) {
            self.begin_conversion(n, access.now, access);
        }
    }

    /// Writes CR: requests, whose bits the hardware clears again, and settings.
    fn write_control(&mut self, n: usize, value: u32, access: &Access) {
        let (layout, converter) = (self.layout, &mut self.converters[n]);
        let kept = if layout == L0 { CR_ADVREGEN } else { !(CR_ADCAL | 0x3f) };
        converter.cr = converter.cr & !kept | value & kept;
        let has_power = layout == L0 || converter.cr & (CR_ADVREGEN | CR_DEEPPWD) == CR_ADVREGEN;
        if !has_power {
            converter.stop_conversion();
            converter.cr &= !CR_ADEN;
            converter.isr &= !ISR_ADRDY;
            return;
        }
        let was_on = converter.cr & CR_ADEN != 0;
        if value & CR_ADCAL != 0 && !was_on && layout == L0 {
            converter.isr |= ISR_EOCAL;
        }
        if value & CR_ADSTP != 0 && converter.cr & CR_ADSTART != 0 {
            // Software that sets one bit writes ADSTART as it read it: that starts nothing.
            converter.stop_conversion();
            return;
        }
        if value & CR_ADDIS != 0 && was_on && converter.cr & CR_ADSTART == 0 {
            converter.cr &= !CR_ADEN;
            converter.isr &= !ISR_ADRDY;
            return;
        }
        if value & CR_ADEN != 0 && !was_on {
            converter.cr |= CR_ADEN;
            converter.isr |= ISR_ADRDY;
        }
        let starts = value & CR_ADSTART != 0 && converter.cr & (CR_ADEN | CR_ADSTART) == CR_ADEN;
        if starts {
            converter.cr |= CR_ADSTART;
            converter.group_left = converter.discontinuous_group_length(layout);
            self.begin_conversion(n, access.now, access);
        }
    }

    /// Returns whether a converter requests a DMA transfer. An overrun ends its requests.
    pub(super) fn is_dma_requested(&self, n: usize) -> bool {
        self.converters.get(n).is_some_and(|converter| {
            converter.adc_dma_mode(self.layout).0
                && !converter.dma_ended
                && converter.isr & (ISR_EOC | ISR_OVR) == ISR_EOC
        })
    }

    /// Ends the converter's DMA request, because the DMA has read the result. The last one of a one-shot transfer also
    /// ends the conversions.
    pub(super) fn end_dma_request(&mut self, n: usize, is_last: bool) {
        let converter = &mut self.converters[n];
        if is_last && !converter.adc_dma_mode(self.layout).1 {
            converter.dma_ended = true;
            converter.stop_conversion();
        }
    }

    /// Returns the number of the converter at an offset, and the offset in it. `None` if there is none.
    fn converter_at(&self, offset: u32) -> Option<(usize, u32)> {
        let n = (offset / 0x100) as usize;
        (n < self.converters.len()).then_some((n, offset & 0xfc))
    }

    /// Returns the ISR register of converter `n`, with LDORDY while its regulator is on.
    fn interrupt_and_status_register(&self, n: usize) -> u32 {
        let converter = &self.converters[n];
        let has_power = converter.cr & (CR_ADVREGEN | CR_DEEPPWD) == CR_ADVREGEN;
        converter.isr | if self.layout != L0 && has_power { ISR_LDORDY } else { 0 }
    }
}

impl Block for AdcV4 {
    /// Puts the registers of the ADC to their reset values. The voltages at the pins stay.
    fn reset_registers(&mut self) {
        let layout = self.layout;
        self.converters.iter_mut().for_each(|converter| converter.reset(layout));
        self.common = 0;
    }

    /// Reads a register of the ADC at a byte offset. `access` holds the time in core cycles and the number of bytes. A
    /// read of DR clears the flag of the conversion's end, and a conversion that waited for the read begins.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        let value = self.peek_register(offset, access);
        if let Some((n, at::DR)) = self.converter_at(offset) {
            self.converters[n].isr &= !ISR_EOC;
            self.resume_waiting_conversion(n, access);
        }
        value
    }

    /// Writes a register of the ADC at a byte offset. `access` holds the time in core cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        if offset == CCR {
            self.common = value & 0x01ff_ff1f;
            return;
        }
        let Some((n, register)) = self.converter_at(offset) else {
            if !matches!(offset, 0x300 | 0x30c | 0x310) {
                access.effects.unmodelled = Some((offset, true));
            }
            return;
        };
        match register {
            at::ISR => {
                self.converters[n].isr &= !value;
                self.resume_waiting_conversion(n, access);
            }
            at::CR => self.write_control(n, value, access),
            at::DR | 0x80..=0x8c => {}
            _ => {
                self.converters[n].words[register as usize / 4] = value;
                self.converters[n].dma_ended &= register != at::CFGR;
            }
        }
    }

    /// Returns the value of a register of the ADC at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match (offset, self.converter_at(offset)) {
            (CCR, _) => self.common,
            // CSR: flags of the master, then of the slave.
            (0x300, _) => (0..self.converters.len())
                .fold(0, |word, n| word | (self.interrupt_and_status_register(n) & 0x7ff) << (16 * n)),
            (_, Some((n, at::ISR))) => self.interrupt_and_status_register(n),
            (_, Some((n, at::CR))) => self.converters[n].cr,
            (_, Some((n, at::DR))) => self.converters[n].data,
            (_, Some((n, register))) => self.converters[n].stored_register(register),
            _ => 0,
        }
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for ISR only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(self.converter_at(offset), Some((_, at::ISR)))
    }

    /// Returns the core cycle of the next end of a conversion, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.converters.iter().map(|converter| converter.end).min().unwrap_or(NEVER)
    }

    /// Completes the conversions that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        for n in 0..self.converters.len() {
            while self.converters[n].end <= access.now {
                let end = self.converters[n].end;
                self.complete_conversion(n, end, access);
            }
        }
    }

    /// Begins the conversions that waited for a clock, with the new frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        for n in 0..self.converters.len() {
            let converter = &self.converters[n];
            // A conversion that waits for its clock.
            if converter.cr & CR_ADSTART != 0 && converter.end == NEVER && !converter.held {
                self.begin_conversion(n, access.now, access);
            }
        }
    }

    /// Returns 1 while a converter requests its interrupt: an enabled flag of its ISR is set.
    fn interrupt_outputs(&self) -> u32 {
        let asks = |converter: &Converter| converter.isr & converter.stored_register(at::IER) & 0xfff != 0;
        u32::from(self.converters.iter().any(asks))
    }
}

#[cfg(test)]
mod tests;
