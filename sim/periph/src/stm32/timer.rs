//! Timers: basic, general-purpose and the counting part of the advanced ones (RM0090 chapters 17 to 20).
//!
//! Nothing ticks: positions are computed from the cycle, and the machine is asked to come back only when a flag whose
//! interrupt is enabled rises, or when an output that a pin shows may change. Counting up, down and centre-aligned,
//! one-pulse, repetition, a timer that counts another one's updates (`chain`), outputs (`outputs`), captures and slave
//! modes (`inputs`). Not modelled: the external trigger input, slave modes by another timer's trigger.

use super::block::{Access, Block};
use crate::{FractionalRateCounter, NEVER};

pub(super) mod chain;
mod events;
mod inputs;
mod outputs;
pub(super) mod pins;
#[cfg(test)]
mod tests;

/// The features of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerKind {
    /// Capture/compare channels: 0 (basic), 1, 2 or 4.
    pub channels: u8,
    /// 32-bit counter.
    pub wide: bool,
    /// Repetition counter, break and commutation (TIM1, TIM8, TIM15 to 17).
    pub advanced: bool,
    /// CR1.UIFREMAP (F7, H7).
    pub remap: bool,
}

const CEN: u32 = 1 << 0;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const DIR: u32 = 1 << 4;
const CMS: u32 = 3 << 5;
const ARPE: u32 = 1 << 7;
const UIFREMAP: u32 = 1 << 11;
const UIF: u32 = 1 << 0;
/// CR2: the DMA requests of compare matches come with the update event.
const CCDS: u32 = 1 << 3;
const DCR: usize = 0x48 / 4;
const DMAR: u32 = 0x4c;

/// Registers that are only stored: CR2, SMCR, DIER, CCMR1, CCMR2, CCER, RCR, BDTR, DCR by their offsets.
const STORED: usize = 0x80 / 4;

/// One timer of the chip.
#[derive(Debug, Clone)]
pub struct Timer {
    kind: TimerKind,
    cr1: u32,
    sr: u32,
    stored: [u32; STORED],
    /// Preload and working values.
    psc: (u32, u32),
    arr: (u32, u32),
    ccr: [(u32, u32); 4],
    /// Overflows left before the next update event.
    repeats: u32,
    /// Ticks since the counter was last at the start of a run: at 0 counting up, at ARR counting down.
    position: FractionalRateCounter,
    /// Position up to which compare matches have been flagged.
    done: u64,
    /// Update events so far: what a timer that listens to this one counts.
    updates: u64,
    /// Requests to the DMA that are not served, at the places of their flags in SR.
    requests: u32,
    /// Number of the next register of a DMA burst.
    burst: u32,
    /// Listening: the other one's update events heard of already, and those that the prescaler holds back.
    heard: (Option<u64>, u64),
    outputs: outputs::TimerOutputState,
    inputs: inputs::TimerInputs,
}

impl Timer {
    /// Returns a timer of this kind in its reset state.
    pub(super) fn new(kind: TimerKind) -> Self {
        let top = if kind.wide { u32::MAX } else { 0xffff };
        Self {
            kind,
            cr1: 0,
            sr: 0,
            stored: [0; STORED],
            psc: (0, 0),
            arr: (top, top),
            ccr: [(0, 0); 4],
            repeats: 0,
            position: FractionalRateCounter::default(),
            done: 0,
            updates: 0,
            requests: 0,
            burst: 0,
            heard: (None, 0),
            outputs: outputs::TimerOutputState::default(),
            inputs: inputs::TimerInputs::default(),
        }
    }

    /// Returns the counter at `cycle`. Flags that rise until then are not set.
    #[must_use]
    pub fn counter_value(&self, cycle: u64) -> u32 {
        let position = self.position.value_at_cycle(cycle);
        let mask = u64::from(self.counter_maximum());
        let up = self.cr1 & DIR == 0;
        (if up { position } else { u64::from(self.arr.1).wrapping_sub(position) } & mask) as u32
    }

    /// Returns the largest value of the counter: 16 or 32 bits.
    fn counter_maximum(&self) -> u32 {
        if self.kind.wide { u32::MAX } else { 0xffff }
    }

    /// Returns DIER, the register of enabled interrupts and DMA requests.
    fn interrupt_enable_register(&self) -> u32 {
        self.stored[0x0c / 4]
    }

    /// Returns whether the event of a flag, given by its place in SR, requests a DMA transfer.
    pub(in crate::stm32) fn is_dma_requested_by_flag(&self, place: u8) -> bool {
        self.requests >> place & 1 != 0
    }

    /// Ends the DMA request of a flag, because it was served. That of a burst stays until its last register.
    pub(in crate::stm32) fn end_dma_request(&mut self, place: u8) {
        if self.burst == 0 {
            self.requests &= !(1 << place);
        }
    }

    /// Raises the DMA requests of flags, as far as DIER enables them.
    fn raise_enabled_dma_requests(&mut self, flags: u32) {
        self.requests |= flags & self.interrupt_enable_register() >> 8 & 0x1f;
    }

    /// Returns the offset of the register that an access to DMAR reaches: DCR has the first one and the number of them,
    /// less one. `None` if it is DMAR itself.
    fn burst_register_offset(&self) -> Option<u32> {
        let offset = 4 * ((self.stored[DCR] & 0x1f) + self.burst);
        (offset != DMAR && offset < 0x80).then_some(offset)
    }

    /// Makes the next register of a DMA burst the current one.
    fn select_next_burst_register(&mut self) {
        self.burst = if self.burst >= self.stored[DCR] >> 8 & 0x1f { 0 } else { self.burst + 1 };
    }

    /// Returns the counter's rate in Hz, as numerator and denominator. The numerator is 0 while the counter stands
    /// still.
    fn count_rate_as_fraction(&self, access: &Access) -> (u64, u64) {
        // A counter whose auto-reload value is 0 stands still.
        let on = self.cr1 & CEN != 0
            && self.arr.1 != 0
            && self.chained_trigger_input().is_none()
            && self.is_clocked_internally();
        (if on { access.clock_hz } else { 0 }, u64::from(self.psc.1) + 1)
    }

    /// Sets the counter's rate by the registers, from `access.now` on. The counter may start or stop.
    fn update_count_rate(&mut self, access: &Access) {
        let (num, den) = self.count_rate_as_fraction(access);
        self.position.change_counting_rate(access.now, num, den, access.core_hz);
    }

    /// Places the counter at `count` without touching the prescaler.
    fn set_counter_value(&mut self, count: u32, access: &Access) {
        let up = self.cr1 & DIR == 0;
        let position = if up { count } else { self.arr.1.wrapping_sub(count) & self.counter_maximum() };
        self.position.set_value(access.now, u64::from(position));
        self.done = u64::from(position);
    }

    /// Writes CR1, the control register: start and stop, direction, mode.
    fn write_cr1(&mut self, value: u32, access: &Access) {
        let count = self.counter_value(access.now);
        let remap = if self.kind.remap { UIFREMAP } else { 0 };
        let mask = if self.kind.channels == 0 { 0x8f } else { 0x3ff } | remap;
        let was_on = self.cr1 & CEN != 0;
        // In centre-aligned and encoder modes the direction is the hardware's.
        let by_hardware = value & CMS != 0 && self.kind.channels == 4 || self.is_in_encoder_mode();
        let direction = if by_hardware { self.cr1 } else { value } & DIR;
        let turned = (self.cr1 ^ direction) & DIR != 0;
        self.cr1 = value & mask & !DIR | direction & mask;
        if turned {
            self.set_counter_value(count, access);
        }
        if self.cr1 & CEN != 0 && !was_on {
            self.start_timer_counter(access);
        } else {
            self.update_count_rate(access);
        }
    }

    /// Starts the counter one timer clock after CEN was set.
    fn start_timer_counter(&mut self, access: &Access) {
        let (num, den) = self.count_rate_as_fraction(access);
        let delay = access.core_hz.checked_div(access.clock_hz).unwrap_or(0);
        self.position.change_counting_rate(access.now + delay, num, den, access.core_hz);
    }

    /// Writes ARR, the auto-reload value. Without preload it takes effect at once.
    fn write_auto_reload_register(&mut self, value: u32, access: &Access) {
        self.arr.0 = value & self.counter_maximum();
        if self.cr1 & ARPE == 0 {
            let count = self.counter_value(access.now);
            self.arr.1 = self.arr.0;
            self.set_counter_value(count, access);
            self.update_count_rate(access);
        }
    }

    /// Writes the compare value of a channel. Channel 1 is 0. Without preload it takes effect at once.
    fn write_compare_register(&mut self, channel: usize, value: u32) {
        // A capture register is read-only.
        if self.is_output_channel(channel) {
            self.ccr[channel].0 = value & self.counter_maximum();
            if !self.is_compare_value_preloaded(channel) {
                self.ccr[channel].1 = self.ccr[channel].0;
            }
        }
    }

    /// Returns the byte of CCMR1 or CCMR2 that configures a channel.
    fn timer_channel_mode_byte(&self, channel: usize) -> u32 {
        self.stored[0x18 / 4 + channel / 2] >> (channel % 2 * 8) & 0xff
    }

    /// Returns whether a channel's compare value is preloaded (OCxPE).
    fn is_compare_value_preloaded(&self, channel: usize) -> bool {
        self.timer_channel_mode_byte(channel) & 8 != 0
    }

    /// Returns whether a channel is an output, by CCxS.
    fn is_output_channel(&self, channel: usize) -> bool {
        channel < usize::from(self.kind.channels) && self.timer_channel_mode_byte(channel) & 3 == 0
    }

    /// Returns the value of CNT, the counter, at the time in `access`, with a copy of UIF if that is enabled.
    fn counter_register(&self, access: &Access) -> u32 {
        let count = self.counter_value(access.now);
        if self.cr1 & UIFREMAP != 0 { count & 0x7fff_ffff | (self.sr & UIF) << 31 } else { count }
    }

    /// Returns the bits of a stored register that exist.
    fn existing_register_bits(&self, offset: u32) -> u32 {
        let basic = self.kind.channels == 0;
        match offset {
            0x04 if basic => 0x70,
            0x0c if basic => 0x101,
            0x08 | 0x18 | 0x1c | 0x20 | 0x30 | 0x44 | 0x48 if basic => 0,
            0x30 | 0x44 if !self.kind.advanced => 0,
            0x0c if !self.kind.advanced => 0x5f5f,
            0x0c => 0x7fff,
            0x30 => 0xffff,
            _ => u32::MAX,
        }
    }
}

impl Block for Timer {
    /// Puts the registers of the timer to their reset values. Which outputs pins show, and the levels of input pins,
    /// stay.
    fn reset_registers(&mut self) {
        let (outputs, inputs) = (self.outputs.after_reset(), self.inputs.after_reset());
        *self = Self { outputs, inputs, ..Self::new(self.kind) };
    }

    /// Reads a register of the timer at a byte offset. `access` holds the time in core cycles and the number of bytes.
    /// A read of a capture value clears its flag.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if offset == DMAR {
            let value = self.burst_register_offset().map_or(0, |register| self.peek_register(register, access));
            self.select_next_burst_register();
            return value;
        }
        let value = self.peek_register(offset, access);
        if let 0x34..=0x40 = offset {
            self.clear_capture_flag_after_read((offset as usize - 0x34) / 4);
        }
        value
    }

    /// Writes a register of the timer at a byte offset. `access` holds the time in core cycles and takes requests to
    /// the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        if offset == DMAR {
            if let Some(register) = self.burst_register_offset() {
                self.write_register(register, value, access);
            }
            self.select_next_burst_register();
            return;
        }
        match offset {
            0x00 => self.write_cr1(value, access),
            0x10 => self.sr &= value,
            0x14 => self.write_event_generation_register(value, access),
            0x24 => self.set_counter_value(value & self.counter_maximum(), access),
            0x28 => self.psc.0 = value & 0xffff,
            0x2c => self.write_auto_reload_register(value, access),
            0x34..=0x40 => self.write_compare_register((offset as usize - 0x34) / 4, value),
            0x08 => {
                self.stored[2] = value & self.existing_register_bits(offset);
                self.heard = (None, 0);
                self.update_count_rate(access);
                if self.chained_trigger_input().is_none() && !self.has_modelled_trigger() {
                    access.effects.unmodelled = Some((offset, true));
                }
            }
            0x18 | 0x1c => self.write_channel_mode_register(offset, value, access),
            0x20 => self.write_capture_enable_register(value),
            0x04..=0x7c => self.stored[offset as usize / 4] = value & self.existing_register_bits(offset),
            _ => {}
        }
        match offset {
            // A request whose enable is cleared is withdrawn.
            0x0c => self.requests &= value >> 8,
            0x48 => self.burst = 0,
            _ => {}
        }
        self.advance_to_now(access);
        self.update_timer_pin_outputs(access.now, access);
    }

    /// Returns the value of a register of the timer at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00 => self.cr1,
            0x10 => self.sr,
            0x24 => self.counter_register(access),
            0x28 => self.psc.0,
            0x2c => self.arr.0,
            0x34..=0x40 => self.ccr[(offset as usize - 0x34) / 4].0,
            0x04..=0x7c if offset != 0x14 => self.stored[offset as usize / 4],
            _ => 0,
        }
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for EGR only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x14
    }

    /// Returns the core cycle of the next event: a flag whose interrupt is enabled, or a change of an output that a pin
    /// shows, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.next_interrupt_event_cycle().min(self.next_pin_output_change_cycle())
    }

    /// Advances the timer to the cycle in `access`: its flags and outputs.
    fn advance_to_now(&mut self, access: &mut Access) {
        self.advance_timer_to_now(access);
    }

    /// Adapts the counter's rate to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        self.update_count_rate(access);
    }

    /// Returns the levels of the interrupt outputs of TIM1, in the order break, update, trigger and commutation,
    /// compare. Other timers join them.
    fn interrupt_outputs(&self) -> u32 {
        let pending = self.sr & self.interrupt_enable_register();
        let bit = |mask: u32, number: u32| u32::from(pending & mask != 0) << number;
        bit(0x80, 0) | bit(UIF, 1) | bit(0x60, 2) | bit(0x1e, 3)
    }
}

/// Position that is never reached: the counter has left its range or matches nothing.
const NOWHERE: u64 = NEVER;
