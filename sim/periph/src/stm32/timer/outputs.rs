//! The outputs of a timer (RM0090 17.3.9 to 17.3.14 and 17.4.9, RM0008 14.3.8 to 14.3.13): reference signals by their
//! compare modes, polarity, complementary outputs with dead time, main output enable, idle states.
//!
//! An output reaches its pin in the cycle in which the counter gets the value. The clock or two that the output stage
//! takes are not modelled. Reference signals are kept up to date whether or not a pin shows them. Edges are recorded,
//! and due, only for enabled outputs that a pin shows.

use super::{CEN, DIR, Timer};
use crate::NEVER;
use crate::stm32::block::Access;

/// Outputs of channels 1 to 4 are bits 0 to 3, complementary outputs of channels 1 to 3 bits 4 to 6.
pub(in crate::stm32) const COMPLEMENTARY: u8 = 4;

const CCER: usize = 0x20 / 4;
const BDTR: usize = 0x44 / 4;
const OSSI: u32 = 1 << 10;
const OSSR: u32 = 1 << 11;
const AOE: u32 = 1 << 14;
const MOE: u32 = 1 << 15;

/// Compare modes (OCxM).
mod mode {
    pub const ACTIVE: u32 = 1;
    pub const INACTIVE: u32 = 2;
    pub const TOGGLE: u32 = 3;
    pub const FORCE_INACTIVE: u32 = 4;
    pub const FORCE_ACTIVE: u32 = 5;
    pub const PWM1: u32 = 6;
    pub const PWM2: u32 = 7;
}

/// An edge of a timer's outputs: the driven outputs and their levels from a cycle on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stm32) struct OutputEdge {
    pub cycle: u64,
    /// Outputs that drive their pins, a bit each.
    pub driven: u8,
    pub levels: u8,
}

/// The state of a timer's output stage.
#[derive(Debug, Clone, Default)]
pub(super) struct TimerOutputState {
    /// Reference signals of the channels as far as matches set them: what the other modes hold is computed.
    held: u8,
    /// Outputs that pins show.
    shown: u8,
    /// Returns the driven outputs and their levels, as recorded last.
    last: (u8, u8),
    /// Reference signals then, and the cycle.
    references: u8,
    refreshed: u64,
    /// Cycle up to which both outputs of a channel are inactive.
    dead_until: [u64; 3],
    edges: Vec<OutputEdge>,
}

impl TimerOutputState {
    /// Returns the state after a reset.
    pub(super) fn after_reset(&mut self) -> TimerOutputState {
        TimerOutputState { shown: self.shown, last: self.last, ..TimerOutputState::default() }
    }
}

/// The enable and polarity bits of one channel in CCER.
#[derive(Clone, Copy)]
struct Enables {
    on: bool,
    inverted: bool,
    complementary_on: bool,
    complementary_inverted: bool,
}

impl Timer {
    /// Sets which outputs pins show.
    pub(in crate::stm32) fn set_shown_outputs(&mut self, shown: u8, access: &Access) {
        if shown != self.outputs.shown {
            self.advance_timer_to_now(access);
            self.outputs.shown = shown;
            self.outputs.references = self.timer_reference_signal_levels(access.now);
            self.update_timer_pin_outputs(access.now, access);
        }
    }

    /// Returns the driven outputs and their levels, as recorded last.
    pub(in crate::stm32) fn last_recorded_timer_outputs(&self) -> (u8, u8) {
        self.outputs.last
    }

    /// Removes the recorded edges of the outputs and returns them, in the order of time.
    pub(in crate::stm32) fn take_output_edges(&mut self) -> Vec<OutputEdge> {
        std::mem::take(&mut self.outputs.edges)
    }

    /// Returns whether there are recorded edges of the outputs.
    #[inline]
    pub(in crate::stm32) fn has_output_edges(&self) -> bool {
        !self.outputs.edges.is_empty()
    }

    /// Returns whether a pin shows an enabled output.
    #[inline]
    pub(in crate::stm32) fn drives_pins(&self) -> bool {
        self.outputs.shown != 0 && self.channels_shown_on_pins() != 0
    }

    /// Returns the number of channels with a complementary output.
    fn complementary_channel_count(&self) -> usize {
        match (self.kind.advanced, self.kind.channels) {
            (true, 4) => 3,
            (true, _) => 1,
            _ => 0,
        }
    }

    /// Returns the enable and polarity bits of a channel's two outputs (CCER). Channel 1 is 0.
    fn channel_output_enables(&self, channel: usize) -> Enables {
        let bit = |number: usize| self.stored[CCER] >> (4 * channel + number) & 1 != 0;
        Enables {
            on: bit(0),
            inverted: bit(1),
            complementary_on: channel < self.complementary_channel_count() && bit(2),
            complementary_inverted: bit(3),
        }
    }

    /// Returns the output mode of a channel (OCxM).
    fn timer_channel_output_mode(&self, channel: usize) -> u32 {
        self.timer_channel_mode_byte(channel) >> 4 & 7
    }

    /// Returns the channels whose outputs are enabled and shown by a pin, a bit each.
    fn channels_shown_on_pins(&self) -> u8 {
        let (shown, pairs) = (self.outputs.shown, self.outputs.shown >> COMPLEMENTARY);
        let is_shown = |channel: usize| {
            let enables = self.channel_output_enables(channel);
            (shown | pairs) >> channel & 1 != 0
                && (enables.on || enables.complementary_on)
                && self.is_output_channel(channel)
        };
        (0..4).filter(|&channel| is_shown(channel)).fold(0, |mask, channel| mask | 1 << channel)
    }

    /// Returns the reference signals (OCxREF) of all channels at `cycle`, which the counter has reached.
    fn timer_reference_signal_levels(&self, cycle: u64) -> u8 {
        let (count, up) = (self.counter_value(cycle), self.cr1 & DIR == 0);
        let reference = |channel: usize| {
            let compare = self.ccr[channel].1;
            // PWM1 is active below the compare value. Counting down it is at the value too.
            let below = if up { count < compare } else { count <= compare };
            match self.timer_channel_output_mode(channel) {
                mode::FORCE_INACTIVE => false,
                mode::FORCE_ACTIVE => true,
                mode::PWM1 => below,
                mode::PWM2 => !below,
                _ => self.outputs.held >> channel & 1 != 0,
            }
        };
        (0..4).filter(|&channel| self.is_output_channel(channel) && reference(channel)).fold(0, |mask, n| mask | 1 << n)
    }

    /// Returns the driven outputs and their levels (RM0090 table "Output control bits for complementary OCx and OCxN
    /// channels").
    fn output_levels(&self, references: u8, cycle: u64) -> (u8, u8) {
        let (mut driven, mut levels) = (0, 0);
        let mut drive = |output: usize, level: bool| {
            driven |= 1 << output;
            levels |= u8::from(level) << output;
        };
        let bdtr = self.stored[BDTR];
        for channel in (0..usize::from(self.kind.channels)).filter(|&channel| self.is_output_channel(channel)) {
            let Enables { on, inverted, complementary_on, complementary_inverted } =
                self.channel_output_enables(channel);
            let (reference, other) = (references >> channel & 1 != 0, channel + usize::from(COMPLEMENTARY));
            let has_pair = channel < self.complementary_channel_count();
            if !on && !complementary_on {
                continue;
            }
            if self.kind.advanced && bdtr & MOE == 0 {
                if bdtr & OSSI != 0 {
                    let idle = |bit: usize| self.stored[1] >> (8 + 2 * channel + bit) & 1 != 0;
                    drive(channel, idle(0));
                    if has_pair {
                        drive(other, idle(1));
                    }
                }
                continue;
            }
            if on && complementary_on {
                let settled = cycle >= self.outputs.dead_until[channel];
                drive(channel, (reference && settled) ^ inverted);
                drive(other, (!reference && settled) ^ complementary_inverted);
                continue;
            }
            let off_driven = has_pair && bdtr & OSSR != 0;
            if on {
                drive(channel, reference ^ inverted);
            } else if off_driven {
                drive(channel, inverted);
            }
            if complementary_on {
                drive(other, reference ^ complementary_inverted);
            } else if off_driven {
                drive(other, complementary_inverted);
            }
        }
        (driven, levels)
    }

    /// Returns the dead time in core cycles (BDTR.DTG and CR1.CKD).
    fn dead_time_cycles(&self, access: &Access) -> u64 {
        let code = u64::from(self.stored[BDTR] & 0xff);
        let clocks = match code >> 5 {
            0..=3 => code & 0x7f,
            4 | 5 => (64 + (code & 0x3f)) * 2,
            6 => (32 + (code & 0x1f)) * 8,
            _ => (32 + (code & 0x1f)) * 16,
        };
        let clocks = clocks << (self.cr1 >> 8 & 3).min(2);
        (clocks * access.core_hz).checked_div(access.clock_hz).unwrap_or(0)
    }

    /// Updates the outputs that pins show at `cycle`, which the counter has reached, and records their edges.
    pub(in crate::stm32) fn update_timer_pin_outputs(&mut self, cycle: u64, access: &Access) {
        if self.outputs.shown == 0 && self.outputs.last.0 == 0 {
            return;
        }
        let references = self.timer_reference_signal_levels(cycle);
        let turned = references ^ std::mem::replace(&mut self.outputs.references, references);
        for channel in (0..self.complementary_channel_count()).filter(|channel| turned >> channel & 1 != 0) {
            self.outputs.dead_until[channel] = cycle + self.dead_time_cycles(access);
        }
        self.outputs.refreshed = cycle;
        let (driven, levels) = self.output_levels(references, cycle);
        let shown = self.outputs.shown;
        let new = (driven & shown, levels & driven & shown);
        if new != std::mem::replace(&mut self.outputs.last, new) {
            self.outputs.edges.push(OutputEdge { cycle, driven: new.0, levels: new.1 });
        }
    }

    /// Returns the next cycle in which a shown output may change.
    pub(super) fn next_pin_output_change_cycle(&self) -> u64 {
        if !self.drives_pins() {
            return NEVER;
        }
        let shown = self.channels_shown_on_pins();
        let channels = || (0..4_usize).filter(|channel| shown >> channel & 1 != 0);
        let dead = self.outputs.dead_until.iter().enumerate().filter(|&(channel, _)| shown >> channel & 1 != 0);
        let dead = dead.map(|(_, &end)| end).filter(|&end| end > self.outputs.refreshed).min().unwrap_or(NEVER);
        let follows = |&channel: &usize| {
            matches!(self.timer_channel_output_mode(channel), mode::ACTIVE..=mode::TOGGLE | mode::PWM1 | mode::PWM2)
        };
        let waits_for_update = self.stored[BDTR] & (AOE | MOE) == AOE && self.kind.advanced;
        if !self.position.is_counting() || !waits_for_update && channels().all(|channel| !follows(&channel)) {
            return dead;
        }
        // Matches of the next run come after its begin.
        let (length, _) = self.counter_run_ticks_and_overflow();
        let places = channels().filter(follows).map(|channel| self.compare_match_position(channel));
        let next = places.filter(|&place| place > self.done).min().unwrap_or(length).min(length);
        self.position.first_cycle_at_counter_value(next).min(dead)
    }

    /// Applies the effect of a compare match on the reference signal of an output channel.
    pub(super) fn apply_compare_match(&mut self, channel: usize) {
        // The flag of a value beyond the range rises with the overflow, but nothing matches then.
        if self.ccr[channel].1 > self.arr.1 {
            return;
        }
        match self.timer_channel_output_mode(channel) {
            mode::ACTIVE => self.outputs.held |= 1 << channel,
            mode::INACTIVE => self.outputs.held &= !(1 << channel),
            mode::TOGGLE => self.outputs.held ^= 1 << channel,
            _ => {}
        }
    }

    /// Toggles the outputs that toggle in each run of the counter.
    pub(super) fn toggle_matching_outputs(&mut self) {
        for channel in 0..4 {
            let toggles = self.timer_channel_output_mode(channel) == mode::TOGGLE && self.is_output_channel(channel);
            if toggles && self.compare_match_position(channel) < self.counter_run_ticks_and_overflow().0 {
                self.apply_compare_match(channel);
            }
        }
    }

    /// Writes CCMR1 or CCMR2. A channel whose mode freezes the level keeps its present one.
    pub(super) fn write_channel_mode_register(&mut self, offset: u32, value: u32, access: &Access) {
        self.outputs.held = self.timer_reference_signal_levels(access.now);
        self.stored[offset as usize / 4] = value & self.existing_register_bits(offset);
    }

    /// Enables the outputs at an update event, if BDTR.AOE is set.
    pub(super) fn enable_outputs_at_update(&mut self) {
        if self.kind.advanced && self.stored[BDTR] & AOE != 0 {
            self.stored[BDTR] |= MOE;
        }
    }

    /// Returns whether the counter counts the timer's clock.
    pub(super) fn is_counting(&self) -> bool {
        self.cr1 & CEN != 0
    }
}

#[cfg(test)]
mod tests;
