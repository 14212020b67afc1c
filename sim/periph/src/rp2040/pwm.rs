//! PWM slices as counters and periodic interrupts (RP2040 data sheet 4.5).
//!
//! Free-running mode only: the outputs are not drawn on the pins, edge-counting modes stand still, and TOP takes effect at
//! once instead of at the next wrap.

use super::limits::TOP_AT_ONCE;
use crate::{Access, NEVER, Peripheral, RateCounter};

const SLICES: usize = 8;
const IRQ_PWM_WRAP: u32 = 4;
const CSR_EN: u32 = 1;
const CSR_PHASE_CORRECT: u32 = 2;
const DIV_RESET: u32 = 0x10;
const TOP_RESET: u32 = 0xffff;

#[derive(Debug, Clone, Copy)]
struct Slice {
    csr: u32,
    div: u32,
    cc: u32,
    top: u32,
    /// Steps of the counter since the start of a period.
    steps: RateCounter,
    /// Periods already reported as wraps.
    wraps_seen: u64,
}

impl Slice {
    const RESET: Self =
        Self { csr: 0, div: DIV_RESET, cc: 0, top: TOP_RESET, steps: RateCounter::stopped(0), wraps_seen: 0 };

    /// Steps in a period: up to TOP and back to 0, or up and down in phase-correct mode.
    fn period(&self) -> u64 {
        let top = u64::from(self.top);
        if self.csr & CSR_PHASE_CORRECT != 0 { (2 * top).max(1) } else { top + 1 }
    }

    fn counter(&self, now: u64) -> u64 {
        let position = self.steps.value(now) % self.period();
        if position > u64::from(self.top) { self.period() - position } else { position }
    }

    /// Restarts the step count from counter value `from`, at the present rate.
    fn restart(&mut self, now: u64, from: u64) {
        let on = self.csr & CSR_EN != 0 && (self.csr >> 4) & 3 == 0;
        let div = if self.div >> 4 == 0 { 256 * 16 + u64::from(self.div) } else { u64::from(self.div) };
        // 16 / div steps per clk_sys cycle; the wrap count starts again with the steps.
        self.steps = RateCounter::start(now, from, if on { 16 } else { 0 }, div, 1);
        self.wraps_seen = from / self.period();
    }

    fn due(&self) -> u64 {
        if self.steps.running() { self.steps.cycle_of((self.wraps_seen + 1) * self.period()) } else { NEVER }
    }
}

/// The PWM block.
#[derive(Debug, Clone)]
pub struct Pwm {
    slices: [Slice; SLICES],
    intr: u32,
    inte: u32,
    intf: u32,
    /// Earliest wrap of any slice with its interrupt enabled.
    due: u64,
}

impl Default for Pwm {
    fn default() -> Self {
        Self { slices: [Slice::RESET; SLICES], intr: 0, inte: 0, intf: 0, due: NEVER }
    }
}

impl Pwm {
    fn ints(&self) -> u32 {
        (self.intr & self.inte) | self.intf
    }

    fn reschedule(&mut self) {
        let enabled = |n: usize| self.inte >> n & 1 != 0;
        self.due = (0..SLICES).filter(|&n| enabled(n)).map(|n| self.slices[n].due()).min().unwrap_or(NEVER);
    }

    fn write_slice(&mut self, index: usize, register: u32, value: u32, now: u64) {
        let slice = &mut self.slices[index];
        let from = slice.counter(now);
        match register {
            0 => slice.csr = value & 0x3f,
            1 => slice.div = value & 0xfff,
            2 => {
                slice.restart(now, u64::from(value & 0xffff));
                return;
            }
            3 => {
                slice.cc = value;
                return;
            }
            _ => slice.top = value & 0xffff,
        }
        slice.restart(now, from);
    }
}

impl Peripheral for Pwm {
    const NAME: &'static str = "PWM";

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn read(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance(access);
        if offset > 0xb0 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek(offset, access)
    }

    fn write(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance(access);
        let now = access.now_cycles;
        match offset {
            0x00..=0x9c => {
                let (slice, register) = (offset as usize / 20, offset % 20 / 4);
                if register == 4 && self.slices[slice].steps.running() {
                    access.effects.limit = Some(&TOP_AT_ONCE);
                }
                self.write_slice(slice, register, value, now);
            }
            0xa0 => {
                for n in 0..SLICES {
                    let csr = self.slices[n].csr & !CSR_EN | (value >> n & 1);
                    if csr != self.slices[n].csr {
                        self.write_slice(n, 0, csr, now);
                    }
                }
            }
            0xa4 => self.intr &= !value,
            0xa8 => self.inte = value & 0xff,
            0xac => self.intf = value & 0xff,
            0xb0 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        self.reschedule();
    }

    fn peek(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00..=0x9c => {
                let slice = &self.slices[offset as usize / 20];
                match offset % 20 / 4 {
                    0 => slice.csr,
                    1 => slice.div,
                    2 => slice.counter(access.now_cycles) as u32,
                    3 => slice.cc,
                    _ => slice.top,
                }
            }
            0xa0 => (0..SLICES).fold(0, |mask, n| mask | (self.slices[n].csr & CSR_EN) << n),
            0xa4 => self.intr,
            0xa8 => self.inte,
            0xac => self.intf,
            0xb0 => self.ints(),
            _ => 0,
        }
    }

    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0xa4
    }

    fn due(&self) -> u64 {
        self.due
    }

    fn advance(&mut self, access: &mut Access) {
        for n in 0..SLICES {
            let slice = &mut self.slices[n];
            if slice.due() <= access.now_cycles {
                slice.wraps_seen = slice.steps.value(access.now_cycles) / slice.period();
                self.intr |= 1 << n;
            }
        }
        self.reschedule();
    }

    fn irq_levels(&self) -> u32 {
        u32::from(self.ints() != 0) << IRQ_PWM_WRAP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    fn slice(bench: &mut Bench, n: u32, csr: u32, div: u32, top: u32) -> Pwm {
        let mut pwm = Pwm::default();
        pwm.write(20 * n + 4, div, &mut bench.access());
        pwm.write(20 * n + 16, top, &mut bench.access());
        pwm.write(0xa8, 1 << n, &mut bench.access());
        pwm.write(20 * n, csr, &mut bench.access());
        pwm
    }

    #[test]
    fn counts_up_and_interrupts_on_each_wrap() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 3, CSR_EN, 0x25, 9);
        // 37/16 cycles per step, ten steps per period.
        assert_eq!(pwm.due(), 24);
        assert_eq!(pwm.read(60 + 8, &mut bench.at(7)), 3);
        pwm.advance(&mut bench.at(23));
        assert_eq!(pwm.irq_levels(), 0);
        pwm.advance(&mut bench.at(24));
        assert_eq!((pwm.irq_levels(), pwm.due()), (1 << 4, 47));
        pwm.write(0xa4, 1 << 3, &mut bench.access());
        assert_eq!(pwm.irq_levels(), 0);
    }

    #[test]
    fn phase_correct_goes_up_and_down() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 0, CSR_EN | CSR_PHASE_CORRECT, 0x10, 3);
        let got: Vec<u32> = (0..8).map(|now| pwm.read(8, &mut bench.at(now))).collect();
        assert_eq!(got, [0, 1, 2, 3, 2, 1, 0, 1]);
    }

    #[test]
    fn global_enable_stops_and_keeps_the_count() {
        let mut bench = Bench::new();
        let mut pwm = slice(&mut bench, 1, CSR_EN, 0x10, 99);
        assert_eq!(pwm.read(0xa0, &mut bench.access()), 2);
        pwm.write(0xa0, 0, &mut bench.at(42));
        assert_eq!((pwm.read(28, &mut bench.at(99_999)), pwm.due()), (42, NEVER));
        pwm.write(28, 7, &mut bench.access());
        pwm.write(0xa0, 2, &mut bench.at(100_000));
        assert_eq!(pwm.read(28, &mut bench.at(100_005)), 12);
        assert_eq!(pwm.due(), 100_093);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(CSR_EN, 0), (CSR_PHASE_CORRECT, 1)] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
