//! Reset and clock control: what all families share. A family is a [`Spec`] and a function that does its arithmetic.
//!
//! Oscillators and PLLs become ready after a start-up time. A switch of the system clock waits until its source is
//! ready. Clock outputs (MCO), spread spectrum and the clock security system are registers only.

mod f1;
mod f4;
mod h7;
mod l0;
mod spec;
#[cfg(test)]
mod tests;

use super::block::{Access, Block};
use super::chips::Chip;
use super::clocks::{Bus, Clocks};
use super::effects::ResetCause;
use crate::{FractionalRateCounter, NEVER};

pub(super) use f1::F1;
pub(super) use f4::{F4, F7, F407, F411};
pub(super) use h7::{H7, KernelClock};
pub(super) use l0::L0;
pub use spec::OscillatorStartUpTimes;
pub(super) use spec::{Crystals, Spec};
use spec::{
    Field, OSCILLATORS, Osc, OscBits, ReadyFlags, ahb_divisor, apb_divisor, compute_ahb_and_apb_frequencies,
    register_field, timer_hz,
};

/// An oscillator's or PLL's progress from off to ready.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Nanoseconds since it was switched on. `None` while off or waiting for its source.
    starting: Option<FractionalRateCounter>,
    ready: bool,
}

const WORDS: usize = 0x180 / 4;

/// The reset and clock control (RCC).
#[derive(Debug, Clone)]
pub struct Rcc {
    spec: &'static Spec,
    crystals: Crystals,
    words: [u32; WORDS],
    states: [State; OSCILLATORS],
    system: Osc,
    /// PWR lets the backup domain be written.
    backup_open: bool,
}

impl Rcc {
    /// Returns RCC after power-on.
    pub(super) fn new(spec: &'static Spec, crystals: Crystals) -> Self {
        let mut rcc = Self {
            spec,
            crystals,
            words: [0; WORDS],
            states: [State::default(); OSCILLATORS],
            system: Osc::Hsi,
            backup_open: false,
        };
        rcc.reset_registers();
        rcc.set_reset_cause_flag(ResetCause::PowerOn);
        rcc
    }

    /// Returns the register at `offset` without side effects.
    fn register_value(&self, offset: u32) -> u32 {
        self.words[offset as usize / 4]
    }

    /// Sets or clears a bit, given as the offset of its register and its number.
    fn set_register_bit(&mut self, (offset, bit): (u32, u32), value: bool) {
        let word = &mut self.words[offset as usize / 4];
        *word = *word & !(1 << bit) | u32::from(value) << bit;
    }

    /// Returns a bit, given as the offset of its register and its number.
    fn register_bit(&self, (offset, bit): (u32, u32)) -> bool {
        self.register_value(offset) >> bit & 1 != 0
    }

    /// Returns the value of a register field.
    fn field_value(&self, field: Field) -> u32 {
        self.register_value(field.offset) >> field.shift & ((1 << field.width) - 1)
    }

    /// Returns whether the clock enable bit of a block is set.
    #[inline]
    #[must_use]
    pub fn is_block_clock_enabled(&self, gate: (u32, u32)) -> bool {
        self.register_bit(gate)
    }

    /// Returns whether RCC holds the block with this enable bit in reset.
    #[must_use]
    pub fn is_block_in_reset(&self, (offset, bit): (u32, u32)) -> bool {
        let (distance, first) = self.spec.reset_registers;
        offset >= first && self.register_bit((offset - distance, bit))
    }

    /// Returns whether the register at `offset` contains clock enable or reset bits of blocks.
    pub(super) fn is_enable_or_reset_register(&self, offset: u32) -> bool {
        let (distance, _) = self.spec.reset_registers;
        self.spec.enables.iter().any(|&enable| enable == offset || enable == offset + distance)
    }

    /// Sets whether PWR lets the backup domain be written.
    pub(super) fn set_backup_domain_writable(&mut self, open: bool) {
        self.backup_open = open;
    }

    /// Returns whether the main PLL is locked.
    #[must_use]
    pub fn is_main_pll_ready(&self) -> bool {
        self.is_clock_source_ready(Osc::Pll1)
    }

    /// Returns whether an oscillator or PLL runs and is stable.
    fn is_clock_source_ready(&self, osc: Osc) -> bool {
        self.states[osc as usize].ready
    }

    /// Returns the frequency of an oscillator in Hz while it is ready, else 0. The families' code computes that of
    /// PLLs.
    fn clock_source_hz(&self, osc: Osc) -> u64 {
        if !self.is_clock_source_ready(osc) {
            return 0;
        }
        match osc {
            Osc::Hsi => self.spec.hsi_hz,
            Osc::Hse => self.crystals.hse_hz,
            Osc::Lsi => self.spec.lsi_hz,
            Osc::Lse => self.crystals.lse_hz,
            Osc::Hsi48 => 48_000_000,
            Osc::Msi | Osc::Pll1 | Osc::Pll2 | Osc::Pll3 => 0,
        }
    }

    /// Returns all clock frequencies, by the registers and the sources that are ready now.
    #[must_use]
    pub fn clock_frequencies(&self) -> Clocks {
        let mut clocks = Clocks {
            hsi_hz: self.clock_source_hz(Osc::Hsi),
            hse_hz: self.clock_source_hz(Osc::Hse),
            lsi_hz: self.clock_source_hz(Osc::Lsi),
            lse_hz: self.clock_source_hz(Osc::Lse),
            ..Clocks::default()
        };
        (self.spec.tree)(self, &mut clocks);
        clocks
    }

    /// Returns the frequency in Hz that a block's clock multiplexer selects. Its field is at (offset, shift), and the
    /// block is on `bus`.
    pub(super) fn peripheral_kernel_clock_hz(&self, clocks: &Clocks, (offset, shift): (u32, u32), bus: Bus) -> u64 {
        let code = self.field_value(register_field(offset, shift, self.spec.kernel_width));
        (self.spec.kernel)(clocks, code, clocks.bus_hz(bus))
    }

    /// Returns the divider of the ADC's clock on the F1 (ADCPRE).
    pub(super) fn f1_adc_divider(&self) -> u64 {
        2 * (u64::from(self.field_value(register_field(0x04, 14, 2))) + 1)
    }

    /// Returns the frequency of the asynchronous clock of the ADCs of L0 and H7 in Hz.
    pub(super) fn adc_hz(&self, chip: Chip, clocks: &Clocks) -> u64 {
        match chip {
            Chip::L053 | Chip::L073 => self.clock_source_hz(Osc::Hsi),
            Chip::H743 => self.h7_peripheral_kernel_clock_hz(clocks, KernelClock::Adc, Bus::Ahb1),
            _ => 0,
        }
    }

    /// Returns the frequency of the random number generator's clock in Hz.
    pub(super) fn rng_hz(&self, clocks: &Clocks) -> u64 {
        (self.spec.rng)(self, clocks)
    }

    /// Returns whether the backup domain is held in reset.
    pub(super) fn is_backup_domain_in_reset(&self) -> bool {
        self.register_bit(self.spec.backup)
    }

    /// Returns the frequency of the RTC's clock in Hz, by RTCEN and RTCSEL (LSE, LSI; HSE through a divider is not
    /// modelled and counts as off).
    pub(super) fn rtc_hz(&self) -> u64 {
        match self.rtc_clock_enable_and_selection() {
            (true, 1) => self.clock_source_hz(Osc::Lse),
            (true, 2) => self.clock_source_hz(Osc::Lsi),
            _ => 0,
        }
    }

    /// Returns whether the RTC is clocked by HSE through its divider.
    pub(super) fn is_rtc_clocked_by_hse(&self) -> bool {
        self.rtc_clock_enable_and_selection() == (true, 3)
    }

    /// Returns RTCEN and RTCSEL: whether the RTC's clock is on, and the number of its source.
    fn rtc_clock_enable_and_selection(&self) -> (bool, u32) {
        let word = self.register_value(self.spec.backup.0);
        let (enable, select) = if self.spec.backup.0 == 0x50 { (18, 16) } else { (15, 8) };
        (word >> enable & 1 != 0, word >> select & 3)
    }

    /// Sets the flag of the cause of a reset.
    pub(super) fn set_reset_cause_flag(&mut self, cause: ResetCause) {
        let (register, _, _) = self.spec.flags_register;
        let pin = self.spec.causes[ResetCause::Pin as usize];
        self.words[register as usize / 4] |= pin | self.spec.causes[cause as usize];
    }

    /// Returns the nanoseconds that an oscillator or PLL needs from switching on until it is ready.
    fn start_up_nanoseconds(&self, osc: Osc) -> u64 {
        let times = &self.crystals.start_up;
        match osc {
            Osc::Hsi | Osc::Msi | Osc::Hsi48 => times.rc_ns,
            // HSEBYP is bit 18 of CR everywhere, LSEBYP two above LSEON.
            Osc::Hse if self.register_bit((0, 18)) => times.bypass_ns,
            Osc::Hse => times.hse_ns,
            Osc::Lsi => times.lsi_ns,
            Osc::Lse => times.lse_ns,
            Osc::Pll1 | Osc::Pll2 | Osc::Pll3 => times.pll_ns,
        }
    }

    /// Returns whether a clock source can start: it has its crystal, or a PLL its input.
    fn has_clock_source(&self, osc: Osc) -> bool {
        match osc {
            Osc::Hse => self.crystals.hse_hz != 0,
            Osc::Lse => self.crystals.lse_hz != 0,
            Osc::Pll1 | Osc::Pll2 | Osc::Pll3 => (self.spec.pll_source)(self, osc as usize - Osc::Pll1 as usize)
                .is_some_and(|source| self.is_clock_source_ready(source)),
            _ => true,
        }
    }

    /// Starts and stops the oscillators and PLLs by their "on" bits, and switches the system clock if its new source is
    /// ready.
    fn update_oscillators(&mut self, access: &mut Access) {
        for bits in self.spec.oscillators {
            // What the system clock runs from cannot be switched off.
            if self.drives_system_clock(bits.osc) {
                self.set_register_bit(bits.on, true);
            }
            let on = self.register_bit(bits.on) && self.has_clock_source(bits.osc);
            let state = &mut self.states[bits.osc as usize];
            if !on {
                *state = State::default();
                self.set_register_bit(bits.ready, false);
            } else if !state.ready && state.starting.is_none() {
                state.starting =
                    Some(FractionalRateCounter::new_running_counter(access.now, 0, 1_000_000_000, 1, access.core_hz));
            }
        }
        self.update_ready_oscillators(access);
    }

    /// Returns whether the system clock comes from this oscillator, directly or through PLL1.
    fn drives_system_clock(&self, osc: Osc) -> bool {
        let through = |pll: Osc| {
            self.system == pll && (self.spec.pll_source)(self, pll as usize - Osc::Pll1 as usize) == Some(osc)
        };
        self.is_clock_source_ready(self.system) && (osc == self.system || through(Osc::Pll1))
    }

    /// Returns the core cycle at which a started oscillator becomes ready, or [`NEVER`].
    fn oscillator_ready_cycle(&self, osc: Osc) -> u64 {
        let state = &self.states[osc as usize];
        state.starting.as_ref().map_or(NEVER, |ns| ns.first_cycle_at_counter_value(self.start_up_nanoseconds(osc)))
    }

    /// Marks the oscillators and PLLs that have started by now as ready, starts those that waited for them, and
    /// switches the system clock.
    fn update_ready_oscillators(&mut self, access: &mut Access) {
        let mut changed = false;
        for bits in self.spec.oscillators {
            if self.oscillator_ready_cycle(bits.osc) <= access.now {
                self.states[bits.osc as usize] = State { starting: None, ready: true };
                self.set_register_bit(bits.ready, true);
                self.raise_ready_flag(bits.flag);
                changed = true;
            }
        }
        if changed {
            self.update_oscillators(access);
        }
        let source = self.spec.sources.get(self.field_value(self.spec.sw) as usize).copied().flatten();
        if let Some(source) = source.filter(|&source| self.is_clock_source_ready(source)) {
            self.system = source;
            let Field { offset, shift, width } = self.spec.sws;
            let code = self.field_value(self.spec.sw);
            let word = &mut self.words[offset as usize / 4];
            *word = *word & !(((1 << width) - 1) << shift) | code << shift;
        }
        access.effects.clocks_changed = true;
    }

    /// Raises a ready flag if its interrupt is enabled.
    fn raise_ready_flag(&mut self, flag: u32) {
        let (enables, flags) = match self.spec.flags {
            ReadyFlags::Combined(offset) => (self.register_value(offset) >> 8, offset),
            ReadyFlags::Split(offset) => (self.register_value(offset), offset + 4),
        };
        if enables >> flag & 1 != 0 {
            self.words[flags as usize / 4] |= 1 << flag;
        }
    }

    /// Writes a register of the ready flags' interrupts. Returns false if the offset is none of these.
    fn write_ready_flag_register(&mut self, offset: u32, value: u32) -> bool {
        match self.spec.flags {
            ReadyFlags::Combined(cir) if offset == cir => {
                let flags = self.register_value(cir) & 0xff & !(value >> 16 & 0xff);
                self.words[cir as usize / 4] = flags | value & 0xff00;
            }
            ReadyFlags::Split(base) if offset == base + 4 => {}
            ReadyFlags::Split(base) if offset == base + 8 => self.words[base as usize / 4 + 1] &= !value,
            _ => return false,
        }
        true
    }

    /// Returns the bits of a register of the backup domain that a write may change now.
    fn write_protected_backup_bits(&self, offset: u32) -> u32 {
        if offset == self.spec.backup.0 && !self.backup_open { !self.spec.backup_mask } else { u32::MAX }
    }

    /// Returns the mask of the bits that firmware can write at this offset now.
    fn writable_bits_mask(&self, offset: u32) -> u32 {
        let masks = self.spec.read_only.iter().filter(|(at, _)| *at == offset).fold(0, |all, (_, mask)| all | mask);
        let locks = self.spec.locked.iter().filter(|(at, _, _)| *at == offset);
        let locked = locks.filter(|(_, _, on)| self.register_bit((0, *on))).fold(0, |all, (_, mask, _)| all | mask);
        !masks & !locked & self.write_protected_backup_bits(offset)
    }
}

impl Block for Rcc {
    /// Puts the registers of RCC to their reset values, except those of the backup domain and the reset flags.
    fn reset_registers(&mut self) {
        let spec = self.spec;
        let (backup, (flags, _, mask)) = (spec.backup.0 as usize / 4, spec.flags_register);
        let backup_bits = self.words[backup];
        let flag_bits = self.register_value(flags) & mask;
        self.words = [0; WORDS];
        for &(offset, value) in spec.resets {
            self.words[offset as usize / 4] = value;
        }
        self.words[backup] |= backup_bits & spec.backup_mask;
        self.words[flags as usize / 4] = self.register_value(flags) & !mask | flag_bits;
        let lse = self.states[Osc::Lse as usize];
        self.states = [State::default(); OSCILLATORS];
        self.states[Osc::Lse as usize] = lse;
        for bits in spec.oscillators {
            if bits.osc != Osc::Lse && self.register_bit(bits.on) {
                self.states[bits.osc as usize].ready = true;
                self.set_register_bit(bits.ready, true);
            }
        }
        self.system = spec.sources[0].unwrap_or(Osc::Hsi);
    }

    /// Reads a register of RCC at a byte offset. `access` holds the time in core cycles and the number of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        self.peek_register(offset, access)
    }

    /// Writes a register of RCC at a byte offset. `access` holds the time in core cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        if offset as usize >= WORDS * 4 || self.write_ready_flag_register(offset, value) {
            return;
        }
        let mask = self.writable_bits_mask(offset);
        let word = &mut self.words[offset as usize / 4];
        *word = *word & !mask | value & mask;
        let (flags, clear, flag_mask) = self.spec.flags_register;
        if offset == flags && value >> clear & 1 != 0 {
            self.words[flags as usize / 4] &= !(flag_mask | 1 << clear);
        }
        let (backup, reset_bit) = self.spec.backup;
        if offset == backup && self.backup_open && self.register_bit((backup, reset_bit)) {
            let retain = 1 << reset_bit | !self.spec.backup_mask;
            self.words[backup as usize / 4] &= retain;
        }
        if !self.is_enable_or_reset_register(offset) {
            self.update_oscillators(access);
        }
    }

    /// Returns the value of a register of RCC at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for the register that clears ready flags (CICR) only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(self.spec.flags, ReadyFlags::Split(base) if offset == base + 8)
    }

    /// Returns the core cycle of the next oscillator or PLL to become ready, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.spec.oscillators.iter().map(|bits| self.oscillator_ready_cycle(bits.osc)).min().unwrap_or(NEVER)
    }

    /// Makes the oscillators and PLLs ready whose start-up time is over, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() <= access.now {
            self.update_ready_oscillators(access);
        }
    }

    /// Adapts the remaining start-up times to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        for state in &mut self.states {
            if let Some(ns) = &mut state.starting {
                ns.change_counting_rate(access.now, 1_000_000_000, 1, access.core_hz);
            }
        }
    }

    /// Returns 1 while RCC requests its interrupt: an oscillator with an enabled interrupt became ready.
    fn interrupt_outputs(&self) -> u32 {
        let pending = match self.spec.flags {
            ReadyFlags::Combined(cir) => self.register_value(cir) & self.register_value(cir) >> 8 & 0xff,
            ReadyFlags::Split(base) => self.register_value(base) & self.register_value(base + 4),
        };
        u32::from(pending != 0)
    }
}
