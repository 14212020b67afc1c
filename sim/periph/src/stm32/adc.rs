//! ADC of F1, F4 and F7 (RM0008, RM0090 and RM0410 "ADC"): regular conversions, single, continuous and of a sequence.
//!
//! A conversion takes its channel's sampling time and 12 cycles of ADCCLK (12.5 on the F1). Pins have the voltage that
//! the user sets. On F4 and F7 one block has three converters, 0x100 apart, and common registers.

use super::block::{Access, Block};
use crate::NEVER;

/// The register layout of a family's ADC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdcLayout {
    /// F1: a converter, started by ADON or SWSTART.
    F1,
    /// F4 and F7: up to three converters.
    F4,
}

const SR_EOC: u32 = 1 << 1;
const SR_STRT: u32 = 1 << 4;
const SR_OVR: u32 = 1 << 5;
const CR1_EOCIE: u32 = 1 << 5;
const CR1_SCAN: u32 = 1 << 8;
const CR1_OVRIE: u32 = 1 << 26;
const CR2_ADON: u32 = 1;
const CR2_CONT: u32 = 1 << 1;
const CR2_DMA: u32 = 1 << 8;
/// F4: requests go on after the DMA's last transfer.
const CR2_DDS: u32 = 1 << 9;
/// F4: EOC after each conversion of a sequence.
const CR2_EOCS: u32 = 1 << 10;
const CR2_ALIGN: u32 = 1 << 11;
const CHANNELS: usize = 19;
/// Sampling times in half cycles of ADCCLK.
const F1_SAMPLING: [u64; 8] = [3, 15, 27, 57, 83, 111, 143, 479];
const F4_SAMPLING: [u64; 8] = [6, 30, 56, 112, 168, 224, 288, 960];
/// Millivolts of VDDA, and of the reference that the chip measures by itself: VREFINT.
const SUPPLY_MILLIVOLTS: u32 = 3300;
const REFERENCE_MILLIVOLTS: u32 = 1200;
const REFERENCE_CHANNEL: usize = 17;
/// Common registers of F4 and F7, from here on.
const COMMON: u32 = 0x300;

/// One converter of an ADC block, with its own registers.
#[derive(Debug, Clone, Copy)]
struct Converter {
    sr: u32,
    cr1: u32,
    cr2: u32,
    /// Sampling times and offsets, thresholds, sequences: 0x0c to 0x38.
    plain: [u32; 12],
    injected: [u32; 4],
    data: u32,
    /// Number of the conversion in its sequence.
    position: u32,
    /// A conversion is to be fetched by the DMA.
    requests: bool,
    /// The DMA's last transfer was made, and without DDS there are no further requests.
    ended: bool,
    end: u64,
}

/// Offsets of the registers in `plain`.
const PLAIN_FIRST: u32 = 0x0c;
const PLAIN_LAST: u32 = 0x38;
/// HTR is all ones after reset.
const HTR: usize = 6;

impl Converter {
    /// Returns a converter in its reset state.
    const fn new() -> Self {
        let mut plain = [0; 12];
        plain[HTR] = 0xfff;
        Self {
            sr: 0,
            cr1: 0,
            cr2: 0,
            plain,
            injected: [0; 4],
            data: 0,
            position: 0,
            requests: false,
            ended: false,
            end: NEVER,
        }
    }

    /// Returns one of the registers that only store a value, by its offset in the converter.
    fn stored_register(&self, offset: u32) -> u32 {
        self.plain[((offset - PLAIN_FIRST) / 4) as usize]
    }

    /// Returns the channel of the present conversion. SQR3 has the first six of a sequence, SQR2 and SQR1 the others.
    fn current_conversion_channel(&self) -> usize {
        let (offset, place) = match self.position {
            n @ 0..6 => (0x34, n),
            n @ 6..12 => (0x30, n - 6),
            n => (0x2c, n - 12),
        };
        (self.stored_register(offset) >> (5 * place) & 31) as usize
    }

    /// Returns the number of conversions in a sequence.
    fn adc_sequence_length(&self) -> u32 {
        if self.cr1 & CR1_SCAN != 0 { (self.stored_register(0x2c) >> 20 & 15) + 1 } else { 1 }
    }

    /// Returns the duration of the present conversion in half cycles of ADCCLK.
    fn conversion_half_cycles(&self, layout: AdcLayout) -> u64 {
        let channel = self.current_conversion_channel();
        let code = if channel < 10 {
            self.stored_register(0x10) >> (3 * channel)
        } else {
            self.stored_register(0x0c) >> (3 * (channel - 10).min(8))
        } as usize
            & 7;
        match layout {
            AdcLayout::F1 => F1_SAMPLING[code] + 25,
            // Fewer bits take fewer cycles: 12, 10, 8, 6.
            AdcLayout::F4 => F4_SAMPLING[code] + 24 - 4 * u64::from(self.cr1 >> 24 & 3),
        }
    }
}

/// An ADC block with up to three converters.
#[derive(Debug, Clone)]
pub struct Adc {
    layout: AdcLayout,
    converters: Vec<Converter>,
    /// CCR.
    common: u32,
    /// The value that each channel converts to, in 12 bits.
    levels: [u32; CHANNELS],
}

/// Returns the 12-bit level of a voltage.
fn conversion_level_of_voltage(millivolts: u32) -> u32 {
    (millivolts.min(SUPPLY_MILLIVOLTS) * 4096 / SUPPLY_MILLIVOLTS).min(4095)
}

impl Adc {
    /// Creates the ADC in its reset state.
    #[must_use]
    pub fn new(layout: AdcLayout) -> Self {
        let count = if layout == AdcLayout::F1 { 1 } else { 3 };
        let mut levels = [0; CHANNELS];
        levels[REFERENCE_CHANNEL] = conversion_level_of_voltage(REFERENCE_MILLIVOLTS);
        Self { layout, converters: vec![Converter::new(); count], common: 0, levels }
    }

    /// Sets the voltage at a channel's pin, in mV.
    pub fn set_channel_voltage(&mut self, channel: usize, millivolts: u32) {
        self.levels[channel] = conversion_level_of_voltage(millivolts);
    }

    /// Returns whether a converter requests a DMA transfer.
    #[must_use]
    pub fn is_dma_requested(&self, n: usize) -> bool {
        self.converters.get(n).is_some_and(|converter| converter.requests)
    }

    /// Ends the converter's DMA request, because the DMA has read the result.
    pub(super) fn end_dma_request(&mut self, n: usize, is_last: bool) {
        let converter = &mut self.converters[n];
        converter.requests = false;
        converter.ended |= is_last && self.layout == AdcLayout::F4 && converter.cr2 & CR2_DDS == 0;
    }

    /// Begins a conversion of converter `n` at cycle `at`.
    fn begin_conversion(&mut self, n: usize, at: u64, access: &Access) {
        // F4: PCLK2 by 2, 4, 6 or 8. The F1's clock is divided in RCC.
        let divider = if self.layout == AdcLayout::F4 { 2 * (u64::from(self.common >> 16 & 3) + 1) } else { 1 };
        let converter = &mut self.converters[n];
        let units = converter.conversion_half_cycles(self.layout) * divider * access.core_hz;
        converter.end = match access.clock_hz {
            0 => NEVER,
            hz => at.saturating_add(units.div_ceil(2 * hz)),
        };
    }

    /// Starts a sequence of conversions.
    fn start_conversion_sequence(&mut self, n: usize, access: &Access) {
        let converter = &mut self.converters[n];
        if converter.cr2 & CR2_ADON == 0 {
            return;
        }
        converter.sr |= SR_STRT;
        converter.position = 0;
        self.begin_conversion(n, access.now, access);
    }

    /// Completes a conversion of converter `n` at cycle `at`, and begins the next one.
    fn complete_conversion(&mut self, n: usize, at: u64, access: &Access) {
        let layout = self.layout;
        let converter = &mut self.converters[n];
        let level = self.levels.get(converter.current_conversion_channel()).copied().unwrap_or(0);
        let level = if layout == AdcLayout::F4 { level >> (2 * (converter.cr1 >> 24 & 3)) } else { level };
        let each = layout == AdcLayout::F4 && converter.cr2 & CR2_EOCS != 0;
        converter.end = NEVER;
        // A result that nobody has read: F4 and F7 notice it where they flag each conversion, or where DMA fetches it.
        // It stops the requests, and with them the conversions.
        let uses_dma = converter.cr2 & CR2_DMA != 0 && !converter.ended;
        if each && converter.sr & SR_EOC != 0 || layout == AdcLayout::F4 && uses_dma && converter.requests {
            converter.sr |= SR_OVR;
            converter.requests = false;
            return;
        }
        converter.requests = uses_dma && converter.sr & SR_OVR == 0;
        converter.data = if converter.cr2 & CR2_ALIGN != 0 { level << 4 } else { level };
        converter.position += 1;
        let is_last = converter.position >= converter.adc_sequence_length();
        if is_last || each {
            converter.sr |= SR_EOC;
        }
        if is_last {
            converter.position = 0;
        }
        if !is_last || converter.cr2 & CR2_CONT != 0 {
            self.begin_conversion(n, at, access);
        }
    }

    /// Writes CR2. The start bits read 0.
    fn write_control(&mut self, n: usize, value: u32, access: &Access) {
        let before = self.converters[n].cr2;
        let (start, kept) = match self.layout {
            AdcLayout::F1 => {
                // ADON written again, with nothing else changed, starts too. Calibration takes no time.
                let again = value & before & CR2_ADON != 0 && value == before;
                (value & 1 << 22 != 0 || again, value & 0x00be_f903)
            }
            AdcLayout::F4 => (value & 1 << 30 != 0, value & 0x3f3f_0f03),
        };
        self.converters[n].cr2 = kept;
        if kept & CR2_DMA == 0 {
            (self.converters[n].requests, self.converters[n].ended) = (false, false);
        }
        if kept & CR2_ADON == 0 {
            self.converters[n].end = NEVER;
        } else if start {
            self.start_conversion_sequence(n, access);
        }
    }

    /// Returns the number of the converter at an offset, and the offset in it. `None` if there is none.
    fn converter_at(&self, offset: u32) -> Option<(usize, u32)> {
        let n = (offset / 0x100) as usize;
        (n < self.converters.len() && offset & 0xff <= 0x4c).then_some((n, offset & 0xff))
    }
}

impl Block for Adc {
    /// Puts the registers of the ADC to their reset values. The voltages at the pins stay.
    fn reset_registers(&mut self) {
        *self = Self { levels: self.levels, ..Self::new(self.layout) };
    }

    /// Reads a register of the ADC at a byte offset. `access` holds the time in core cycles and the number of bytes. A
    /// read of DR clears the flag of the conversion's end.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        let value = self.peek_register(offset, access);
        if let Some((n, 0x4c)) = self.converter_at(offset) {
            self.converters[n].sr &= !SR_EOC;
        }
        value
    }

    /// Writes a register of the ADC at a byte offset. `access` holds the time in core cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        if self.layout == AdcLayout::F4 && offset >= COMMON {
            match offset - COMMON {
                0x04 => self.common = value & 0x00c3_ef1f,
                0x00 | 0x08 => {}
                _ => access.effects.unmodelled = Some((offset, true)),
            }
            return;
        }
        let Some((n, register)) = self.converter_at(offset) else {
            access.effects.unmodelled = Some((offset, true));
            return;
        };
        let converter = &mut self.converters[n];
        match register {
            0x00 => converter.sr &= value,
            0x04 => converter.cr1 = value,
            0x08 => self.write_control(n, value, access),
            PLAIN_FIRST..=PLAIN_LAST => converter.plain[((register - PLAIN_FIRST) / 4) as usize] = value,
            _ => {}
        }
    }

    /// Returns the value of a register of the ADC at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        if self.layout == AdcLayout::F4 && offset >= COMMON {
            return match offset - COMMON {
                0x00 => self.converters.iter().rev().fold(0, |word, converter| word << 8 | converter.sr),
                0x04 => self.common,
                _ => 0,
            };
        }
        let Some((n, register)) = self.converter_at(offset) else { return 0 };
        let converter = &self.converters[n];
        match register {
            0x00 => converter.sr,
            0x04 => converter.cr1,
            0x08 => converter.cr2,
            PLAIN_FIRST..=PLAIN_LAST => converter.stored_register(register),
            0x3c..=0x48 => converter.injected[((register - 0x3c) / 4) as usize],
            _ => converter.data,
        }
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

    /// Returns 1 while a converter requests its interrupt, for a conversion's end or an overrun.
    fn interrupt_outputs(&self) -> u32 {
        let requests = |converter: &Converter| {
            converter.cr1 & CR1_EOCIE != 0 && converter.sr & SR_EOC != 0
                || converter.cr1 & CR1_OVRIE != 0 && converter.sr & SR_OVR != 0
        };
        u32::from(self.converters.iter().any(requests))
    }
}

#[cfg(test)]
mod tests;
