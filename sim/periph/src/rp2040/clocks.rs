//! Clock generators, frequency counter and resuscitation (RP2040 data sheet 2.15).
//!
//! Simplifications: a glitchless switch takes effect in the cycle of the write (SELECTED never reads 0), the
//! wake and sleep enables gate nothing, and the GPIN inputs carry no clock.

use crate::{Access, ClockTree, ElapsedTime, NEVER, Peripheral};

use super::{Pll, Rosc, Watchdog, Xosc};

const GPOUT_COUNT: usize = 4;
const REF: usize = 4;
const SYS: usize = 5;
const PERI: usize = 6;
const USB: usize = 7;
const ADC: usize = 8;
const RTC: usize = 9;
const SLICE_COUNT: usize = 10;

/// Implemented CTRL bits per slice, in register order.
const CTRL_MASK: [u32; SLICE_COUNT] =
    [0x0013_1de0, 0x0013_1de0, 0x0013_1de0, 0x0013_1de0, 0x63, 0xe1, 0xce0, 0x0013_0ce0, 0x0013_0ce0, 0x0013_0ce0];
/// Implemented DIV bits per slice: REF, USB and ADC divide by 1 to 3 only, PERI has no divider.
const DIV_MASK: [u32; SLICE_COUNT] =
    [u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0x300, u32::MAX, 0, 0x300, 0x300, u32::MAX];
const DIV_RESET: u32 = 0x100;
const CTRL_KILL: u32 = 1 << 10;
const CTRL_ENABLE: u32 = 1 << 11;

const RESUS_ENABLE: u32 = 1 << 8;
const RESUS_FORCE: u32 = 1 << 12;
const RESUS_CLEAR: u32 = 1 << 16;
const IRQ_CLOCKS: u32 = 17;
/// Gates that exist in WAKE_EN0 and 1, SLEEP_EN0 and 1.
const GATE_MASK: [u32; 2] = [u32::MAX, 0x7fff];

/// The frequencies of the oscillators and PLLs, in Hz, before any clock generator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockSourceFrequencies {
    /// Ring oscillator.
    pub rosc_hz: u64,
    /// Crystal oscillator, 0 until stable.
    pub xosc_hz: u64,
    /// PLL_SYS after its post dividers.
    pub pll_sys_hz: u64,
    /// PLL_USB after its post dividers.
    pub pll_usb_hz: u64,
}

/// The registers of one clock generator.
#[derive(Debug, Clone, Copy)]
struct ClockGenerator {
    ctrl: u32,
    div: u32,
}

/// The frequency counter FC0 (data sheet 2.15.6.2).
#[derive(Debug, Clone, Default)]
struct FrequencyCounter {
    ref_khz: u32,
    min_khz: u32,
    max_khz: u32,
    delay: u32,
    interval: u32,
    source: u32,
    done_at: u64,
    hz: u64,
}

/// The clock generators of the RP2040 (CLOCKS), with the frequency counter.
#[derive(Debug, Clone)]
pub struct Clocks {
    slices: [ClockGenerator; SLICE_COUNT],
    resus_ctrl: u32,
    resussed: bool,
    inte: u32,
    intf: u32,
    wake_en: [u32; 2],
    sleep_en: [u32; 2],
    fc0: FrequencyCounter,
    sources: ClockSourceFrequencies,
}

impl Default for Clocks {
    /// Returns the clock generators in their reset state.
    fn default() -> Self {
        let fc0 = FrequencyCounter {
            max_khz: 0x01ff_ffff,
            delay: 1,
            interval: 8,
            done_at: NEVER,
            ..FrequencyCounter::default()
        };
        Self {
            slices: [ClockGenerator { ctrl: 0, div: DIV_RESET }; SLICE_COUNT],
            resus_ctrl: 0xff,
            resussed: false,
            inte: 0,
            intf: 0,
            wake_en: GATE_MASK,
            sleep_en: GATE_MASK,
            fc0,
            sources: ClockSourceFrequencies::default(),
        }
    }
}

/// Returns a frequency divided by a 24.8 fixed-point divider. An integer part of 0 means 2^16 (header
/// "CLK_SYS_DIV.INT").
fn divide_frequency(hz: u64, div: u32) -> u64 {
    let div = if div >> 8 == 0 { (1 << 24) | u64::from(div) } else { u64::from(div) };
    hz * 256 / div
}

impl Clocks {
    /// Returns whether a clock generator with an enable bit runs.
    fn is_enabled(&self, slice: usize) -> bool {
        self.slices[slice].ctrl & (CTRL_ENABLE | CTRL_KILL) == CTRL_ENABLE
    }

    /// Returns the frequency of clk_ref in Hz. 0 without a source.
    fn ref_hz(&self, sources: &ClockSourceFrequencies) -> u64 {
        let slice = self.slices[REF];
        let hz = match (slice.ctrl & 3, (slice.ctrl >> 5) & 3) {
            (0, _) => sources.rosc_hz,
            (1, 0) => sources.pll_usb_hz,
            (2, _) => sources.xosc_hz,
            _ => 0,
        };
        divide_frequency(hz, slice.div)
    }

    /// Returns the frequency of clk_sys in Hz. After a resuscitation it is that of clk_ref.
    fn sys_hz(&self, sources: &ClockSourceFrequencies) -> u64 {
        let slice = self.slices[SYS];
        let hz = match (slice.ctrl & 1, (slice.ctrl >> 5) & 7) {
            _ if self.resussed => self.ref_hz(sources),
            (0, _) => self.ref_hz(sources),
            (1, 0) => sources.pll_sys_hz,
            (1, 1) => sources.pll_usb_hz,
            (1, 2) => sources.rosc_hz,
            (1, 3) => sources.xosc_hz,
            _ => 0,
        };
        divide_frequency(hz, slice.div)
    }

    /// Returns the frequency of clk_peri in Hz. 0 while it is off.
    fn peri_hz(&self, sources: &ClockSourceFrequencies) -> u64 {
        if !self.is_enabled(PERI) {
            return 0;
        }
        match (self.slices[PERI].ctrl >> 5) & 7 {
            0 => self.sys_hz(sources),
            1 => sources.pll_sys_hz,
            2 => sources.pll_usb_hz,
            3 => sources.rosc_hz,
            4 => sources.xosc_hz,
            _ => 0,
        }
    }

    /// Returns the frequency of clk_usb, clk_adc or clk_rtc in Hz, which share one list of auxiliary sources.
    fn undivided_clock_hz(&self, number: usize, sources: &ClockSourceFrequencies) -> u64 {
        if !self.is_enabled(number) {
            return 0;
        }
        let slice = self.slices[number];
        let hz = match (slice.ctrl >> 5) & 7 {
            0 => sources.pll_usb_hz,
            1 => sources.pll_sys_hz,
            2 => sources.rosc_hz,
            3 => sources.xosc_hz,
            _ => 0,
        };
        divide_frequency(hz, slice.div)
    }

    /// Returns the frequency that FC0_SRC selects, in Hz.
    fn measured_clock_hz(&self, source: u32) -> u64 {
        let sources = &self.sources;
        match source {
            1 => sources.pll_sys_hz,
            2 => sources.pll_usb_hz,
            3 | 4 => sources.rosc_hz,
            5 => sources.xosc_hz,
            8 => self.ref_hz(sources),
            9 => self.sys_hz(sources),
            10 => self.peri_hz(sources),
            11 => self.undivided_clock_hz(USB, sources),
            12 => self.undivided_clock_hz(ADC, sources),
            13 => self.undivided_clock_hz(RTC, sources),
            _ => 0,
        }
    }

    /// Sets the sources' frequencies (for FC0), and resuscitates clk_sys if it has died and RESUS is enabled. Returns
    /// true if the resuscitation happened now.
    pub fn update_clock_source_frequencies(&mut self, sources: ClockSourceFrequencies) -> bool {
        self.sources = sources;
        let dead = self.sys_hz(&sources) == 0;
        let forced = self.resus_ctrl & RESUS_FORCE != 0;
        let resus = !self.resussed && ((dead && self.resus_ctrl & RESUS_ENABLE != 0) || forced);
        self.resussed |= resus;
        resus
    }

    /// Returns the value of SELECTED: a bit for the selected input of a glitchless multiplexer.
    fn glitchless_mux_selected_bits(&self, slice: usize) -> u32 {
        match slice {
            REF => 1 << (self.slices[REF].ctrl & 3),
            SYS if self.resussed => 1,
            SYS => 1 << (self.slices[SYS].ctrl & 1),
            _ => 1,
        }
    }

    /// Returns the resuscitation's interrupt after enable and force (INTS).
    fn interrupt_status_register(&self) -> u32 {
        (u32::from(self.resussed) & self.inte) | self.intf
    }

    /// Returns the value of FC0_STATUS at cycle `now`.
    fn frequency_counter_status(&self, now: u64) -> u32 {
        if now < self.fc0.done_at {
            return if self.fc0.done_at == NEVER { 0 } else { 1 << 8 };
        }
        let khz = self.fc0.hz / 1000;
        let mut status = 1 << 4;
        status |= u32::from(khz >= u64::from(self.fc0.min_khz) && khz <= u64::from(self.fc0.max_khz));
        status |= u32::from(khz < u64::from(self.fc0.min_khz)) << 20;
        status |= u32::from(khz > u64::from(self.fc0.max_khz)) << 24;
        status | u32::from(self.fc0.hz == 0) << 28
    }

    /// Starts a measurement by FC0. It takes 0.98 us * 2^INTERVAL (data sheet 2.15.6.2).
    fn start_frequency_count(&mut self, source: u32, access: &Access) {
        self.fc0.source = source & 0xff;
        self.fc0.hz = self.measured_clock_hz(self.fc0.source);
        let cycles = (access.clocks.sys_hz << self.fc0.interval).div_ceil(1_024_000);
        self.fc0.done_at = if self.fc0.source == 0 { NEVER } else { access.now_cycles + cycles };
    }

    /// Writes a register outside the clock generators.
    fn write_other_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let gate = (offset as usize / 4) % 2;
        match offset {
            0x78 => {
                self.resus_ctrl = value & 0x1_11ff;
                if value & RESUS_CLEAR != 0 {
                    self.resussed = false;
                }
                access.effects.clocks_changed = true;
            }
            0x80 => self.fc0.ref_khz = value & 0xf_ffff,
            0x84 => self.fc0.min_khz = value & 0x1ff_ffff,
            0x88 => self.fc0.max_khz = value & 0x1ff_ffff,
            0x8c => self.fc0.delay = value & 7,
            0x90 => self.fc0.interval = value & 15,
            0x94 => self.start_frequency_count(value, access),
            0x7c | 0x98 | 0x9c | 0xb0 | 0xb4 | 0xb8 | 0xc4 => {}
            0xa0 | 0xa4 => self.wake_en[gate] = value & GATE_MASK[gate],
            0xa8 | 0xac => self.sleep_en[gate] = value & GATE_MASK[gate],
            0xbc => self.inte = value & 1,
            0xc0 => self.intf = value & 1,
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }
}

/// Returns the frequencies of all clocks (data sheet figure "Clocks overview"). Whole Hz, rounded down.
#[must_use]
pub fn frequencies_of_all_clocks(
    clocks: &Clocks,
    pll_sys: &Pll,
    pll_usb: &Pll,
    xosc: &Xosc,
    rosc: &Rosc,
    watchdog: &Watchdog,
) -> ClockTree {
    let sources = oscillator_and_pll_frequencies(pll_sys, pll_usb, xosc, rosc);
    let ref_hz = clocks.ref_hz(&sources);
    let (tick_hz_num, tick_hz_den) = watchdog.tick_rate_as_fraction(ref_hz);
    let sys_hz = clocks.sys_hz(&sources);
    ClockTree {
        sys_hz,
        elapsed: ElapsedTime::new_at_power_on(sys_hz),
        ref_hz,
        peri_hz: clocks.peri_hz(&sources),
        usb_hz: clocks.undivided_clock_hz(USB, &sources),
        adc_hz: clocks.undivided_clock_hz(ADC, &sources),
        rtc_hz: clocks.undivided_clock_hz(RTC, &sources),
        tick_hz_num,
        tick_hz_den,
    }
}

/// Returns the frequencies of the oscillators and PLLs.
#[must_use]
pub fn oscillator_and_pll_frequencies(
    pll_sys: &Pll,
    pll_usb: &Pll,
    xosc: &Xosc,
    rosc: &Rosc,
) -> ClockSourceFrequencies {
    let xosc_hz = xosc.hz();
    ClockSourceFrequencies {
        rosc_hz: rosc.hz(),
        xosc_hz,
        pll_sys_hz: pll_sys.hz(xosc_hz),
        pll_usb_hz: pll_usb.hz(xosc_hz),
    }
}

impl Peripheral for Clocks {
    const NAME: &'static str = "CLOCKS";

    /// Puts the registers of the clock generators to their reset values.
    fn reset_registers(&mut self) {
        *self = Self { sources: self.sources, ..Self::default() };
    }

    /// Reads a register of the clock generators at a byte offset. `access` holds the time in cycles and the requesting
    /// core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0xc4 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the clock generators at a byte offset. `access` holds the time in cycles and takes requests
    /// to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let number = (offset / 12) as usize;
        if number >= SLICE_COUNT {
            self.write_other_register(offset, value, access);
            return;
        }
        match offset % 12 {
            0 => self.slices[number].ctrl = value & CTRL_MASK[number],
            4 => self.slices[number].div = value & DIV_MASK[number],
            _ => return,
        }
        access.effects.clocks_changed |= number >= GPOUT_COUNT;
    }

    /// Returns the value of a register of the clock generators at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        let number = (offset / 12) as usize;
        if number < SLICE_COUNT {
            return match offset % 12 {
                0 => self.slices[number].ctrl,
                4 => self.slices[number].div & DIV_MASK[number],
                _ => self.glitchless_mux_selected_bits(number),
            };
        }
        match offset {
            0x78 => self.resus_ctrl,
            0x7c => u32::from(self.resussed),
            0x80 => self.fc0.ref_khz,
            0x84 => self.fc0.min_khz,
            0x88 => self.fc0.max_khz,
            0x8c => self.fc0.delay,
            0x90 => self.fc0.interval,
            0x94 => self.fc0.source,
            0x98 => self.frequency_counter_status(access.now_cycles),
            0x9c if access.now_cycles >= self.fc0.done_at => (self.fc0.hz * 32 / 1000) as u32 & 0x3fff_ffff,
            0xa0 | 0xa4 => self.wake_en[(offset as usize - 0xa0) / 4],
            0xa8 | 0xac => self.sleep_en[(offset as usize - 0xa8) / 4],
            0xb0 | 0xb4 => self.wake_en[(offset as usize - 0xb0) / 4],
            0xb8 => u32::from(self.resussed),
            0xbc => self.inte,
            0xc0 => self.intf,
            0xc4 => self.interrupt_status_register(),
            _ => 0,
        }
    }

    /// Returns the level of the clocks' interrupt (resuscitation), at its NVIC line's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.interrupt_status_register() != 0) << IRQ_CLOCKS
    }
}

#[cfg(test)]
mod tests;
