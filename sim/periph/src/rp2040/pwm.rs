//! PWM slices as counters and periodic interrupts (RP2040 data sheet 4.5).
//!
//! An output is high while its slice's counter is below its compare level, from the cycle on in which the counter
//! changes. So also while the slice stands still. A new compare level of a running slice holds from its next wrap on.
//! Free-running mode only: edge-counting modes stand still, and TOP takes effect at once instead of at the next wrap.

use super::limits::TOP_AT_ONCE;
use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const SLICES: usize = 8;
const IRQ_PWM_WRAP: u32 = 4;
const CSR_EN: u32 = 1;
const CSR_PHASE_CORRECT: u32 = 2;
/// A_INV and B_INV, one bit further up than the outputs they invert are in a slice's pair.
const CSR_INVERT_SHIFT: u32 = 2;
const DIV_RESET: u32 = 0x10;
const TOP_RESET: u32 = 0xffff;

/// The registers and state of one PWM slice.
#[derive(Debug, Clone, Copy)]
struct PwmSlice {
    csr: u32,
    div: u32,
    /// The value as last written: A in the lower half, B in the upper.
    cc: u32,
    /// The value that the outputs still compare with until the counter has done this many steps.
    cc_before: (u32, u64),
    top: u32,
    /// Steps of the counter since the start of a period.
    steps: FractionalRateCounter,
    /// Periods already reported as wraps.
    wraps_seen: u64,
}

impl PwmSlice {
    const RESET: Self = Self {
        csr: 0,
        div: DIV_RESET,
        cc: 0,
        cc_before: (0, 0),
        top: TOP_RESET,
        steps: FractionalRateCounter::stopped_at_value(0),
        wraps_seen: 0,
    };

    /// Returns the steps in a period: TOP + 1, and twice as many in phase-correct mode.
    fn counter_steps_in_pwm_period(&self) -> u64 {
        let up = u64::from(self.top) + 1;
        if self.csr & CSR_PHASE_CORRECT != 0 { 2 * up } else { up }
    }

    /// Returns the value of CTR at cycle `now`.
    fn counter_value(&self, now: u64) -> u64 {
        let position = self.steps.value_at_cycle(now) % self.counter_steps_in_pwm_period();
        if position > u64::from(self.top) { self.counter_steps_in_pwm_period() - 1 - position } else { position }
    }

    /// Returns the compare levels that hold after `steps` steps.
    fn compare_output_levels_after_steps(&self, steps: u64) -> u32 {
        if steps < self.cc_before.1 { self.cc_before.0 } else { self.cc }
    }

    /// Writes CC. Outputs are compared with the old value until the counter wraps.
    fn write_compare_register(&mut self, value: u32, now: u64) {
        let steps = self.steps.value_at_cycle(now);
        let wrap = if self.steps.is_counting() {
            (steps / self.counter_steps_in_pwm_period() + 1) * self.counter_steps_in_pwm_period()
        } else {
            0
        };
        self.cc_before = (self.compare_output_levels_after_steps(steps), wrap);
        self.cc = value;
    }

    /// Returns outputs A and B as bits 0 and 1.
    fn output_levels(&self, now: u64) -> u32 {
        let (counter, cc) =
            (self.counter_value(now), self.compare_output_levels_after_steps(self.steps.value_at_cycle(now)));
        let high = |level: u32| u32::from(counter < u64::from(level & 0xffff));
        (high(cc) | high(cc >> 16) << 1) ^ (self.csr >> CSR_INVERT_SHIFT & 3)
    }

    /// Returns the next cycle in which an output may change.
    fn next_output_edge_cycle(&self, now: u64) -> u64 {
        if !self.steps.is_counting() {
            return NEVER;
        }
        let (steps, period) = (self.steps.value_at_cycle(now), self.counter_steps_in_pwm_period());
        let begin = steps / period * period;
        let cc = self.compare_output_levels_after_steps(steps);
        let falls = [cc & 0xffff, cc >> 16].map(u64::from);
        let rises = falls.map(|level| period.saturating_sub(level));
        let rises = rises.into_iter().filter(|_| self.csr & CSR_PHASE_CORRECT != 0);
        let inside = falls.into_iter().chain(rises).map(|at| begin + at.min(period));
        let next = inside.filter(|&at| at > steps).min().unwrap_or(begin + period);
        self.steps.first_cycle_at_counter_value(next)
    }

    /// Restarts the step count from counter value `from`, at the present rate.
    fn restart_pwm_step_count(&mut self, now: u64, from: u64) {
        let on = self.csr & CSR_EN != 0 && (self.csr >> 4) & 3 == 0;
        let div = if self.div >> 4 == 0 { 256 * 16 + u64::from(self.div) } else { u64::from(self.div) };
        // 16 / div steps per clk_sys cycle. The wrap count starts again with the steps.
        let cc = self.compare_output_levels_after_steps(self.steps.value_at_cycle(now));
        self.steps = FractionalRateCounter::new_running_counter(now, from, if on { 16 } else { 0 }, div, 1);
        self.cc_before = (cc, if on && cc != self.cc { self.counter_steps_in_pwm_period() } else { 0 });
        self.wraps_seen = from / self.counter_steps_in_pwm_period();
    }

    /// Returns the cycle of the next wrap, or [`NEVER`].
    fn next_wrap_cycle(&self) -> u64 {
        if self.steps.is_counting() {
            self.steps.first_cycle_at_counter_value((self.wraps_seen + 1) * self.counter_steps_in_pwm_period())
        } else {
            NEVER
        }
    }
}

/// The pulse-width modulators of the RP2040 (PWM): eight slices.
#[derive(Debug, Clone)]
pub struct Pwm {
    slices: [PwmSlice; SLICES],
    intr: u32,
    inte: u32,
    intf: u32,
    /// Outputs that a pin shows: bit 2 N is A of slice N, the next one B.
    shown: u32,
    /// Levels of those outputs.
    levels: u32,
    /// Earliest wrap of any slice with its interrupt enabled, or edge of an output that is shown.
    due: u64,
}

impl Default for Pwm {
    /// Returns the PWM block in its reset state.
    fn default() -> Self {
        Self { slices: [PwmSlice::RESET; SLICES], intr: 0, inte: 0, intf: 0, shown: 0, levels: 0, due: NEVER }
    }
}

impl Pwm {
    /// Returns the slices' interrupts after enable and force (INTS).
    fn interrupt_status_register(&self) -> u32 {
        (self.intr & self.inte) | self.intf
    }

    /// Returns the levels of the outputs that pins show, as GPIO 0 to 15 have them and GPIO 16 to 29 again.
    #[inline]
    #[must_use]
    pub fn pwm_output_levels_at_pins(&self) -> u32 {
        self.levels
    }

    /// Sets which outputs pins show.
    pub fn set_shown_outputs(&mut self, outputs: u32, access: &mut Access) {
        self.shown = outputs;
        self.update_pwm_levels_and_next_event(access);
    }

    /// Updates the output levels, and computes the cycle of the next event.
    fn update_pwm_levels_and_next_event(&mut self, access: &mut Access) {
        let now = access.now_cycles;
        let enabled = |n: usize| self.inte >> n & 1 != 0;
        self.due = (0..SLICES).filter(|&n| enabled(n)).map(|n| self.slices[n].next_wrap_cycle()).min().unwrap_or(NEVER);
        let mut levels = 0;
        for (n, slice) in self.slices.iter().enumerate().filter(|(n, _)| self.shown >> (2 * n) & 3 != 0) {
            levels |= slice.output_levels(now) << (2 * n);
            self.due = self.due.min(slice.next_output_edge_cycle(now));
        }
        levels &= self.shown;
        access.effects.pins_changed |= levels != self.levels;
        self.levels = levels;
    }

    /// Writes a register of a slice at cycle `now`.
    fn write_pwm_slice_register(&mut self, index: usize, register: u32, value: u32, now: u64) {
        let slice = &mut self.slices[index];
        let from = slice.counter_value(now);
        match register {
            0 => slice.csr = value & 0x3f,
            1 => slice.div = value & 0xfff,
            2 => {
                slice.restart_pwm_step_count(now, u64::from(value & 0xffff));
                return;
            }
            3 => {
                slice.write_compare_register(value, now);
                return;
            }
            _ => slice.top = value & 0xffff,
        }
        slice.restart_pwm_step_count(now, from);
    }
}

impl Peripheral for Pwm {
    const NAME: &'static str = "PWM";

    /// Puts the registers of the PWM block to their reset values, so that all outputs are low. Which outputs the pins
    /// show stays, because IO_BANK0 selects it.
    fn reset_registers(&mut self) {
        *self = Self { shown: self.shown, ..Self::default() };
    }

    /// Reads a register of the PWM block at a byte offset. `access` holds the time in cycles and the requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if offset > 0xb0 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the PWM block at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        let now = access.now_cycles;
        match offset {
            0x00..=0x9c => {
                let (slice, register) = (offset as usize / 20, offset % 20 / 4);
                if register == 4 && self.slices[slice].steps.is_counting() {
                    access.effects.limit = Some(&TOP_AT_ONCE);
                }
                self.write_pwm_slice_register(slice, register, value, now);
            }
            0xa0 => {
                for n in 0..SLICES {
                    let csr = self.slices[n].csr & !CSR_EN | (value >> n & 1);
                    if csr != self.slices[n].csr {
                        self.write_pwm_slice_register(n, 0, csr, now);
                    }
                }
            }
            0xa4 => self.intr &= !value,
            0xa8 => self.inte = value & 0xff,
            0xac => self.intf = value & 0xff,
            0xb0 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        self.update_pwm_levels_and_next_event(access);
    }

    /// Returns the value of a register of the PWM block at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00..=0x9c => {
                let slice = &self.slices[offset as usize / 20];
                match offset % 20 / 4 {
                    0 => slice.csr,
                    1 => slice.div,
                    2 => slice.counter_value(access.now_cycles) as u32,
                    3 => slice.cc,
                    _ => slice.top,
                }
            }
            0xa0 => (0..SLICES).fold(0, |mask, n| mask | (self.slices[n].csr & CSR_EN) << n),
            0xa4 => self.intr,
            0xa8 => self.inte,
            0xac => self.intf,
            0xb0 => self.interrupt_status_register(),
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for INTR only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0xa4
    }

    /// Returns the cycle of the next event of a slice, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.due
    }

    /// Flags the wraps of the slices' counters up to the cycle in `access`, and updates the outputs.
    fn advance_to_now(&mut self, access: &mut Access) {
        for n in 0..SLICES {
            let slice = &mut self.slices[n];
            if slice.next_wrap_cycle() <= access.now_cycles {
                slice.wraps_seen = slice.steps.value_at_cycle(access.now_cycles) / slice.counter_steps_in_pwm_period();
                self.intr |= 1 << n;
            }
        }
        self.update_pwm_levels_and_next_event(access);
    }

    /// Returns the level of the PWM's wrap interrupt, at its NVIC line's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.interrupt_status_register() != 0) << IRQ_PWM_WRAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    fn slice(bench: &mut Bench, n: u32, csr: u32, div: u32, top: u32) -> Pwm {
        let mut pwm = Pwm::default();
        pwm.write_register(20 * n + 4, div, &mut bench.access());
        pwm.write_register(20 * n + 16, top, &mut bench.access());
        pwm.write_register(0xa8, 1 << n, &mut bench.access());
        pwm.write_register(20 * n, csr, &mut bench.access());
        pwm
    }

    #[test]
    fn counts_up_and_interrupts_on_each_wrap() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 3, CSR_EN, 0x25, 9);
        // 37/16 cycles per step, ten steps per period.
        assert_eq!(pwm.next_event_cycle(), 24);
        assert_eq!(pwm.read_register(60 + 8, &mut bench.access_at(7)), 3);
        pwm.advance_to_now(&mut bench.access_at(23));
        assert_eq!(pwm.irq_levels(), 0);
        pwm.advance_to_now(&mut bench.access_at(24));
        assert_eq!((pwm.irq_levels(), pwm.next_event_cycle()), (1 << 4, 47));
        pwm.write_register(0xa4, 1 << 3, &mut bench.access());
        assert_eq!(pwm.irq_levels(), 0);
    }

    #[test]
    fn phase_correct_goes_up_and_down() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 0, CSR_EN | CSR_PHASE_CORRECT, 0x10, 3);
        let got: Vec<u32> = (0..8).map(|now| pwm.read_register(8, &mut bench.access_at(now))).collect();
        assert_eq!(got, [0, 1, 2, 3, 3, 2, 1, 0]);
        assert_eq!((pwm.read_register(8, &mut bench.access_at(8)), pwm.next_event_cycle()), (0, 16));
    }

    #[test]
    fn global_enable_stops_and_keeps_the_count() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 1, CSR_EN, 0x10, 99);
        assert_eq!(pwm.read_register(0xa0, &mut bench.access()), 2);
        pwm.write_register(0xa0, 0, &mut bench.access_at(42));
        assert_eq!((pwm.read_register(28, &mut bench.access_at(99_999)), pwm.next_event_cycle()), (42, NEVER));
        pwm.write_register(28, 7, &mut bench.access());
        pwm.write_register(0xa0, 2, &mut bench.access_at(100_000));
        assert_eq!(pwm.read_register(28, &mut bench.access_at(100_005)), 12);
        assert_eq!(pwm.next_event_cycle(), 100_093);
    }

    const SLICE_3_A: u32 = 1 << 6;
    const SLICE_3_B: u32 = 2 << 6;

    /// (cycle, levels) of each edge of slice 3 up to a cycle.
    fn edges(pwm: &mut Pwm, bench: &mut Bench, end: u64) -> Vec<(u64, u32)> {
        let mut edges = Vec::new();
        pwm.set_shown_outputs(SLICE_3_A | SLICE_3_B, &mut bench.access());
        let mut before = pwm.pwm_output_levels_at_pins();
        while pwm.next_event_cycle() < end {
            let now = pwm.next_event_cycle();
            pwm.advance_to_now(&mut bench.access_at(now));
            assert!(pwm.next_event_cycle() > now);
            assert_eq!(std::mem::take(&mut bench.effects.pins_changed), pwm.pwm_output_levels_at_pins() != before);
            if pwm.pwm_output_levels_at_pins() != before {
                before = pwm.pwm_output_levels_at_pins();
                edges.push((now, before));
            }
        }
        edges
    }

    #[test]
    fn output_is_high_below_its_level() {
        let mut bench = Bench::new();
        // 2.5 cycles a step, ten steps a period. A high for three of them, B for none.
        let mut pwm = slice(&mut bench, 3, CSR_EN, 0x28, 9);
        pwm.write_register(0xa8, 0, &mut bench.access());
        pwm.write_register(0xa0, 0, &mut bench.access());
        pwm.write_register(60 + 8, 0, &mut bench.access());
        pwm.write_register(60 + 12, 3, &mut bench.access());
        pwm.write_register(0xa0, 8, &mut bench.access());
        let edges_of_run = edges(&mut pwm, &mut bench, 60);
        assert_eq!(edges_of_run, [(8, 0), (25, SLICE_3_A), (33, 0), (50, SLICE_3_A), (58, 0)]);
    }

    #[test]
    fn phase_correct_outputs_are_centred_and_may_be_inverted() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 3, 0, 0x10, 9);
        pwm.write_register(60 + 12, 4 << 16 | 10, &mut bench.access());
        pwm.write_register(60, CSR_EN | CSR_PHASE_CORRECT | 1 << 3, &mut bench.access());
        // A is above TOP, so it stays high. B is inverted: low for 4 steps up and 4 down, 20 steps in all.
        let edges_of_run = edges(&mut pwm, &mut bench, 27);
        let (low, high) = (SLICE_3_A, SLICE_3_A | SLICE_3_B);
        assert_eq!(edges_of_run, [(4, high), (16, low), (24, high)]);
    }

    #[test]
    fn new_level_applies_after_the_next_wrap() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 3, 0, 0x10, 9);
        pwm.write_register(60 + 12, 2, &mut bench.access());
        pwm.write_register(60, CSR_EN, &mut bench.access());
        pwm.write_register(60 + 12, 5, &mut bench.access_at(1));
        assert_eq!(pwm.read_register(60 + 12, &mut bench.access_at(1)), 5);
        let edges_of_run = edges(&mut pwm, &mut bench, 16);
        assert_eq!(edges_of_run, [(2, 0), (10, SLICE_3_A), (15, 0)]);
    }

    #[test]
    fn outputs_that_no_pin_shows_are_never_due() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 3, CSR_EN, 0x10, 9);
        pwm.write_register(0xa8, 0, &mut bench.access());
        pwm.write_register(60 + 12, 3, &mut bench.access());
        assert_eq!((pwm.next_event_cycle(), pwm.pwm_output_levels_at_pins()), (NEVER, 0));
        pwm.set_shown_outputs(SLICE_3_A, &mut bench.access());
        assert_ne!((pwm.next_event_cycle(), pwm.pwm_output_levels_at_pins()), (NEVER, 0));
        pwm.reset_registers();
        assert_eq!((pwm.next_event_cycle(), pwm.pwm_output_levels_at_pins(), pwm.shown), (NEVER, 0, SLICE_3_A));
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(CSR_EN, 0), (CSR_PHASE_CORRECT, 1), (1 << CSR_INVERT_SHIFT, 2)] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
