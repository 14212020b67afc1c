//! The events while the counter runs: overflows, update events, compare matches.

use super::{CCDS, CEN, CMS, DIR, NOWHERE, OPM, Timer, UDIS, UIF, URS};
use crate::stm32::block::Access;
use crate::{FractionalRateCounter, NEVER};

impl Timer {
    /// Returns whether the counter counts up and down.
    fn counts_up_and_down(&self) -> bool {
        self.cr1 & CMS != 0 && self.kind.channels == 4
    }

    /// Returns the ticks from the start of a run of the counter to its end, and whether that end is an overflow. A
    /// counter beyond its auto-reload value runs to the top of its width first.
    pub(super) fn counter_run_ticks_and_overflow(&self) -> (u64, bool) {
        let arr = u64::from(self.arr.1);
        if self.done > arr {
            return (u64::from(self.counter_maximum()) + 1, false);
        }
        (if self.counts_up_and_down() { arr } else { arr + 1 }, true)
    }

    /// Returns the position in a run of the counter at which the counter equals a channel's compare value.
    pub(super) fn compare_match_position(&self, channel: usize) -> u64 {
        let (arr, ccr) = (u64::from(self.arr.1), u64::from(self.ccr[channel].1));
        if self.cr1 & DIR == 0 {
            // Counting up, a value beyond the range matches at the overflow, which is the next run's start.
            if ccr > arr { 0 } else { ccr }
        } else if ccr > arr {
            NOWHERE
        } else {
            arr - ccr
        }
    }

    /// Sets the flags of compare matches in the positions `from..=to` of one run, and applies their effects on the
    /// outputs.
    pub(super) fn set_timer_compare_match_flags(&mut self, from: u64, to: u64) {
        for channel in 0..4 {
            if self.is_output_channel(channel) && (from..=to).contains(&self.compare_match_position(channel)) {
                self.sr |= 2 << channel;
                self.apply_compare_match(channel);
                if self.stored[1] & CCDS == 0 {
                    self.raise_enabled_dma_requests(2 << channel);
                }
            }
        }
    }

    /// Raises the DMA requests of an update event.
    fn request_update_dma(&mut self) {
        let compares = if self.stored[1] & CCDS != 0 { 0x1e } else { 0 };
        self.raise_enabled_dma_requests(UIF | compares);
    }

    /// Makes the preloaded values of prescaler, auto-reload and compare registers take effect.
    fn apply_preloaded_values(&mut self) {
        self.psc.1 = self.psc.0;
        self.arr.1 = self.arr.0;
        self.repeats = self.stored[0x30 / 4];
        for channel in 0..4 {
            self.ccr[channel].1 = self.ccr[channel].0;
        }
    }

    /// Handles an overflow of the counter at a cycle, which may be an update event.
    fn process_counter_overflow(&mut self, cycle: u64, access: &Access) {
        if self.repeats > 0 {
            self.repeats -= 1;
            return;
        }
        if self.cr1 & UDIS == 0 {
            self.apply_preloaded_values();
            self.sr |= UIF;
            self.request_update_dma();
            self.updates += 1;
            self.enable_outputs_at_update();
            if self.cr1 & OPM != 0 {
                self.cr1 &= !CEN;
            }
            let (num, den) = self.count_rate_as_fraction(access);
            self.position.change_counting_rate(cycle, num, den, access.core_hz);
        }
    }

    /// Advances counter, flags and outputs to the cycle `access.now`.
    pub(super) fn advance_timer_to_now(&mut self, access: &Access) {
        loop {
            let edge = self.next_pin_output_change_cycle();
            if edge > access.now {
                break;
            }
            self.advance_counter_to(edge, access);
            self.update_timer_pin_outputs(edge, access);
        }
        self.advance_counter_to(access.now, access);
    }

    /// Advances counter and flags to cycle `now`.
    fn advance_counter_to(&mut self, now: u64, access: &Access) {
        while self.position.is_counting() {
            let (length, real) = self.counter_run_ticks_and_overflow();
            let position = self.position.value_at_cycle(now);
            if position < length {
                if position > self.done {
                    self.set_timer_compare_match_flags(self.done + 1, position);
                    self.done = position;
                }
                return;
            }
            self.set_timer_compare_match_flags(self.done + 1, length - 1);
            let end = self.position.first_cycle_at_counter_value(length);
            self.end_timer_counting_period(end, real, access);
            if real {
                self.skip_uneventful_timer_periods(now);
            }
        }
    }

    /// Ends a run of the counter at cycle `end`. `real`: the end is an overflow.
    fn end_timer_counting_period(&mut self, end: u64, real: bool, access: &Access) {
        self.position.set_value(end, 0);
        self.done = 0;
        if real {
            if self.counts_up_and_down() {
                self.cr1 ^= DIR;
            }
            self.process_counter_overflow(end, access);
            self.set_timer_compare_match_flags(0, 0);
        }
    }

    /// Counts one edge of an external clock, if the prescaler lets it through.
    pub(super) fn count_external_edge(&mut self, access: &Access) {
        if self.cr1 & CEN == 0 || self.arr.1 == 0 {
            return;
        }
        self.heard.1 += 1;
        if self.heard.1 <= u64::from(self.psc.1) {
            return;
        }
        self.heard.1 = 0;
        let (length, real) = self.counter_run_ticks_and_overflow();
        let position = self.position.value_at_cycle(access.now) + 1;
        if position < length {
            self.position.set_value(access.now, position);
            self.done = position;
            self.set_timer_compare_match_flags(position, position);
        } else {
            self.end_timer_counting_period(access.now, real, access);
        }
    }

    /// Makes the counter count up or down from now on.
    pub(super) fn set_count_direction(&mut self, up: bool, access: &Access) {
        if (self.cr1 & DIR == 0) != up {
            let count = self.counter_value(access.now);
            self.cr1 ^= DIR;
            self.set_counter_value(count, access);
        }
    }

    /// Skips whole runs of the counter that change nothing, because the first one has set all flags.
    fn skip_uneventful_timer_periods(&mut self, now: u64) {
        let (length, _) = self.counter_run_ticks_and_overflow();
        let whole = self.position.value_at_cycle(now) / length;
        if whole < 2
            || self.repeats > 0
            || self.stored[0x30 / 4] > 0
            || self.counts_up_and_down()
            || !self.position.is_counting()
        {
            return;
        }
        self.set_timer_compare_match_flags(0, length - 1);
        if whole.is_multiple_of(2) {
            self.toggle_matching_outputs();
        }
        self.updates += if self.cr1 & UDIS == 0 { whole } else { 0 };
        self.position.set_value(self.position.first_cycle_at_counter_value(whole * length), 0);
    }

    /// Writes EGR: generates an update event, and sets flags.
    pub(super) fn write_event_generation_register(&mut self, value: u32, access: &Access) {
        let flags = if self.kind.channels == 0 { 0 } else { 0xfe };
        self.sr |= value & flags & !self.capture_event_flags();
        self.raise_enabled_dma_requests(value & flags & 0x1e);
        (0..4)
            .filter(|channel| value >> (channel + 1) & 1 != 0)
            .for_each(|channel| self.capture_counter_value(channel, access));
        if value & 1 == 0 {
            return;
        }
        if self.cr1 & UDIS == 0 {
            self.apply_preloaded_values();
            self.updates += 1;
            self.enable_outputs_at_update();
            if self.cr1 & URS == 0 {
                self.sr |= UIF;
                self.request_update_dma();
            }
        }
        if self.counts_up_and_down() {
            self.cr1 &= !DIR;
        }
        let (num, den) = self.count_rate_as_fraction(access);
        self.position = FractionalRateCounter::new_running_counter(access.now, 0, num, den, access.core_hz);
        self.done = 0;
    }

    /// Returns the next cycle in which a flag with an enabled interrupt rises, or in which the DMA is requested.
    pub(super) fn next_interrupt_event_cycle(&self) -> u64 {
        let pending = (self.interrupt_enable_register() & !self.sr
            | self.interrupt_enable_register() >> 8 & !self.requests)
            & 0x1f;
        if pending == 0 || !self.position.is_counting() {
            return NEVER;
        }
        let (length, _) = self.counter_run_ticks_and_overflow();
        // The end of the run also moves matches that are in the next one.
        let mut position = length;
        for channel in 0..4 {
            if pending >> (channel + 1) & 1 != 0 && self.is_output_channel(channel) {
                let place = self.compare_match_position(channel);
                if place > self.done {
                    position = position.min(place);
                }
            }
        }
        self.position.first_cycle_at_counter_value(position)
    }
}
