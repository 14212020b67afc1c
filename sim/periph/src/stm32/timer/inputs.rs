//! The inputs of a timer (RM0090 18.3.5, 18.3.6, 18.3.12 and 18.3.14, RM0008 15.3.5 and following). An edge captures
//! the counter, or it resets, gates, starts or clocks the counter, or it turns it as an encoder does.
//!
//! An edge acts in the cycle in which it reaches the pin. The clocks that resynchronisation and filters take are not
//! modelled.

use super::{CEN, Timer};
use crate::stm32::block::Access;

const TIF: u32 = 1 << 6;
const CC1OF: u32 = 1 << 9;
/// CR2.TI1S: the first input is the exclusive or of the first three.
const TI1S: u32 = 1 << 7;
/// SMCR.ECE, and the trigger selections beyond the first eight.
const OTHER_TRIGGERS: u32 = 1 << 14 | 3 << 20;

/// The state of a timer's input stage: pin levels, and edges in the capture prescalers.
#[derive(Debug, Clone, Default)]
pub(super) struct TimerInputs {
    /// Levels of the pins of channels 1 to 4.
    pins: u8,
    /// Edges that the prescaler of each capture channel holds back.
    held_back: [u8; 4],
}

impl TimerInputs {
    /// Returns the state after a reset.
    pub(super) fn after_reset(&self) -> TimerInputs {
        TimerInputs { pins: self.pins, ..TimerInputs::default() }
    }
}

/// The slave mode of a timer: the effect of a trigger on its counter (SMCR.SMS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimerSlaveMode {
    None,
    /// Edges of input 1, of input 2.
    Encoder(bool, bool),
    Reset,
    Gated,
    Start,
    Clock,
    ResetAndStart,
}

impl Timer {
    /// Returns the slave mode control register.
    fn slave_mode_register(&self) -> u32 {
        self.stored[2]
    }

    /// Returns the slave mode that firmware selected (SMCR.SMS): what a trigger does to the counter.
    fn selected_slave_mode(&self) -> TimerSlaveMode {
        // RM0433 38.4.3: mode 1 counts the edges of input 1. The older manuals say input 2. The vendor's driver agrees
        // with the newer one.
        match self.slave_mode_register() & 7 | self.slave_mode_register() >> 13 & 8 {
            0 => TimerSlaveMode::None,
            1 => TimerSlaveMode::Encoder(true, false),
            2 => TimerSlaveMode::Encoder(false, true),
            3 => TimerSlaveMode::Encoder(true, true),
            4 => TimerSlaveMode::Reset,
            5 => TimerSlaveMode::Gated,
            6 => TimerSlaveMode::Start,
            7 => TimerSlaveMode::Clock,
            _ => TimerSlaveMode::ResetAndStart,
        }
    }

    /// Returns SMCR.TS, the number of the selected trigger.
    fn timer_trigger_selection(&self) -> u32 {
        self.slave_mode_register() >> 4 & 7
    }

    /// Returns whether the slave mode, if there is one, is modelled with its trigger.
    pub(super) fn has_modelled_trigger(&self) -> bool {
        let by_input = self.slave_mode_register() & OTHER_TRIGGERS == 0;
        match self.selected_slave_mode() {
            TimerSlaveMode::None => self.slave_mode_register() & 1 << 14 == 0,
            TimerSlaveMode::Encoder(..) => by_input && self.kind.channels >= 2,
            // An edge detector has no level.
            TimerSlaveMode::Gated => by_input && matches!(self.timer_trigger_selection(), 5 | 6),
            TimerSlaveMode::ResetAndStart => {
                by_input && matches!(self.timer_trigger_selection(), 4..=6) && self.slave_mode_register() & 7 == 0
            }
            _ => by_input && matches!(self.timer_trigger_selection(), 4..=6),
        }
    }

    /// Returns the slave mode in force. [`Slave::None`] for modes that are not modelled.
    fn active_slave_mode(&self) -> TimerSlaveMode {
        if self.has_modelled_trigger() { self.selected_slave_mode() } else { TimerSlaveMode::None }
    }

    /// Returns whether the hardware sets the direction by an encoder.
    pub(super) fn is_in_encoder_mode(&self) -> bool {
        matches!(self.active_slave_mode(), TimerSlaveMode::Encoder(..))
    }

    /// Returns whether the counter counts its own clock now.
    pub(super) fn is_clocked_internally(&self) -> bool {
        match self.active_slave_mode() {
            TimerSlaveMode::Encoder(..) | TimerSlaveMode::Clock => false,
            TimerSlaveMode::Gated => self.gated_trigger_level(self.input_levels()),
            _ => true,
        }
    }

    /// Returns whether pins are inputs of the timer, as captures or as a trigger.
    #[inline]
    pub(in crate::stm32) fn listens_to_pins(&self) -> bool {
        (self.stored[6] | self.stored[7]) & 0x303 != 0 && (0..4).any(|channel| self.captured_input(channel).is_some())
            || self.slave_mode_register() & 0x1_0007 != 0 && self.active_slave_mode() != TimerSlaveMode::None
    }

    /// Returns the levels of the inputs TI1 to TI4, a bit each.
    fn input_levels(&self) -> u8 {
        let pins = self.inputs.pins;
        if self.stored[1] & TI1S == 0 {
            return pins;
        }
        pins & !1 | (pins ^ pins >> 1 ^ pins >> 2) & 1
    }

    /// Returns the input (0 to 3) of which a channel captures edges: its own one, or that of the other channel of the
    /// pair. `None` if it does not capture.
    fn captured_input(&self, channel: usize) -> Option<usize> {
        if channel >= usize::from(self.kind.channels) {
            return None;
        }
        match self.timer_channel_mode_byte(channel) & 3 {
            1 => Some(channel),
            2 => Some(channel ^ 1),
            _ => None,
        }
    }

    /// Returns whether a channel's polarity selects this edge: CCxP inverts, CCxP with CCxNP takes both edges.
    fn is_edge_captured(&self, channel: usize, rises: bool) -> bool {
        match self.stored[8] >> (4 * channel) & 0xa {
            0xa => true,
            2 => !rises,
            _ => rises,
        }
    }

    /// Returns the level of a channel's input after its polarity.
    fn polarized_level(&self, sources: u8, channel: usize) -> bool {
        (sources >> channel & 1 != 0) ^ (self.stored[8] >> (4 * channel) & 2 != 0)
    }

    /// Returns the level of the trigger in gated mode.
    fn gated_trigger_level(&self, sources: u8) -> bool {
        self.polarized_level(sources, if self.timer_trigger_selection() == 5 { 0 } else { 1 })
    }

    /// Returns the flags of EGR that trigger a capture, because their channels are inputs.
    pub(super) fn capture_event_flags(&self) -> u32 {
        (0..4).filter(|&channel| self.captured_input(channel).is_some()).fold(0, |mask, channel| mask | 2 << channel)
    }

    /// Captures the counter, if the channel is an input.
    pub(super) fn capture_counter_value(&mut self, channel: usize, access: &Access) {
        if self.captured_input(channel).is_none() {
            return;
        }
        let count = self.counter_value(access.now);
        self.ccr[channel] = (count, count);
        if self.sr & 2 << channel != 0 {
            self.sr |= CC1OF << channel;
        }
        self.sr |= 2 << channel;
        self.raise_enabled_dma_requests(2 << channel);
    }

    /// Clears the flag of a channel after a read of CCRx, if the channel captures.
    pub(super) fn clear_capture_flag_after_read(&mut self, channel: usize) {
        if self.captured_input(channel).is_some() {
            self.sr &= !(2 << channel);
        }
    }

    /// Writes CCER. A prescaler starts again where its channel is off.
    pub(super) fn write_capture_enable_register(&mut self, value: u32) {
        self.stored[8] = value & self.existing_register_bits(0x20);
        for channel in (0..4).filter(|channel| value >> (4 * channel) & 1 == 0) {
            self.inputs.held_back[channel] = 0;
        }
    }

    /// Sets the levels of the channels' pins without an edge.
    pub(in crate::stm32) fn preset_input_pin_levels(&mut self, pins: u8, access: &Access) {
        self.inputs.pins = pins;
        self.update_count_rate(access);
    }

    /// Sets the levels of the channels' pins from `access.now` on, with the effects of edges.
    pub(in crate::stm32) fn set_input_pin_levels(&mut self, pins: u8, access: &Access) {
        if pins == self.inputs.pins {
            return;
        }
        self.advance_timer_to_now(access);
        let before = self.input_levels();
        self.inputs.pins = pins;
        let after = self.input_levels();
        let changed = before ^ after;
        for channel in 0..4 {
            let Some(source) = self.captured_input(channel).filter(|source| changed >> source & 1 != 0) else {
                continue;
            };
            if self.stored[8] >> (4 * channel) & 1 != 0 && self.is_edge_captured(channel, after >> source & 1 != 0) {
                self.count_capture_edge(channel, access);
            }
        }
        self.apply_slave_mode_edges(changed, after, access);
        self.update_timer_pin_outputs(access.now, access);
    }

    /// Counts an edge of a capture channel. Every first, second, fourth or eighth one captures the counter (ICxPSC).
    fn count_capture_edge(&mut self, channel: usize, access: &Access) {
        self.inputs.held_back[channel] += 1;
        if self.inputs.held_back[channel] >= 1 << (self.timer_channel_mode_byte(channel) >> 2 & 3) {
            self.inputs.held_back[channel] = 0;
            self.capture_counter_value(channel, access);
        }
    }

    /// Applies the effect of input edges in the slave mode.
    fn apply_slave_mode_edges(&mut self, changed: u8, sources: u8, access: &Access) {
        let slave = self.active_slave_mode();
        let triggered = match self.timer_trigger_selection() {
            4 => changed & 1 != 0,
            5 => changed & 1 != 0 && self.is_edge_captured(0, sources & 1 != 0),
            6 => changed & 2 != 0 && self.is_edge_captured(1, sources & 2 != 0),
            _ => false,
        };
        match slave {
            TimerSlaveMode::None => {}
            TimerSlaveMode::Encoder(first, second) => {
                self.count_encoder_edges((first, second), changed, sources, access)
            }
            TimerSlaveMode::Gated => {
                let selected = if self.timer_trigger_selection() == 5 { 1 } else { 2 };
                if changed & selected != 0 {
                    self.sr |= TIF;
                    self.update_count_rate(access);
                }
            }
            _ if !triggered => {}
            TimerSlaveMode::Clock => {
                self.sr |= TIF;
                self.count_external_edge(access);
            }
            TimerSlaveMode::Reset | TimerSlaveMode::Start | TimerSlaveMode::ResetAndStart => {
                self.sr |= TIF;
                if slave != TimerSlaveMode::Start {
                    self.write_event_generation_register(1, access);
                }
                if slave != TimerSlaveMode::Reset && !self.is_counting() {
                    self.cr1 |= CEN;
                    self.start_timer_counter(access);
                }
            }
        }
    }

    /// Counts edges of an encoder (RM0090 table "Counting direction versus encoder signals").
    fn count_encoder_edges(&mut self, counts: (bool, bool), changed: u8, sources: u8, access: &Access) {
        let (first, second) = (self.polarized_level(sources, 0), self.polarized_level(sources, 1));
        if changed & 1 != 0 && counts.0 {
            self.set_count_direction(first != second, access);
            self.count_external_edge(access);
        }
        if changed & 2 != 0 && counts.1 {
            self.set_count_direction(first == second, access);
            self.count_external_edge(access);
        }
    }
}

#[cfg(test)]
mod tests;
