//! SysTick (ARMv6-M B3.3, ARMv7-M B3.3): a 24-bit down counter, evaluated lazily from the cycle count.
//!
//! It counts N, N−1 … 1, 0, N: the exception is raised at the step 1→0, so the first comes N+1 clocks after
//! enabling with CVR = 0 and every further one N+1 later.

/// The rate of a counter's clock: `num / den` counts per cycle of the core's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterClockRate {
    /// Counts …
    pub num: u64,
    /// … per this many cycles.
    pub den: u64,
}

impl CounterClockRate {
    /// One count per cycle.
    pub const CORE: CounterClockRate = CounterClockRate { num: 1, den: 1 };
}

/// The SysTick timer of a core: its registers and time base.
#[derive(Debug, Clone)]
pub struct SysTick {
    enable: bool,
    tick_interrupt: bool,
    core_clock: bool,
    count_flag: bool,
    reload: u32,
    /// Counter value at `base`.
    value: u32,
    /// Cycle at which `value` was true.
    base: u64,
    /// Numerator carried over from before `base`.
    remainder: u64,
    rate: CounterClockRate,
    external: CounterClockRate,
    due: u64,
    calibration: u32,
}

/// TENMS unknown, not skewed, reference present: what the RP2040 reports is 10 000 ticks of 1 us.
const RP2040_CALIBRATION: u32 = 10_000;

impl SysTick {
    /// Creates a timer in reset state: stopped, with the external reference selected. The calibration register is the
    /// RP2040's.
    pub fn new() -> SysTick {
        SysTick::with_calibration_value(RP2040_CALIBRATION)
    }

    /// Creates a timer in reset state whose calibration register has this value.
    pub fn with_calibration_value(calibration: u32) -> SysTick {
        SysTick {
            enable: false,
            tick_interrupt: false,
            core_clock: false,
            count_flag: false,
            reload: 0,
            value: 0,
            base: 0,
            remainder: 0,
            rate: CounterClockRate { num: 0, den: 1 },
            external: CounterClockRate { num: 0, den: 1 },
            due: u64::MAX,
            calibration,
        }
    }

    /// Returns the timer after a reset of its core. The chip's reference clock keeps its rate.
    pub fn after_reset(&self) -> SysTick {
        SysTick { external: self.external, rate: self.external, ..SysTick::with_calibration_value(self.calibration) }
    }

    /// Returns the cycle of the next step from 1 to 0, or `u64::MAX`.
    #[inline(always)]
    pub fn next_wrap_cycle(&self) -> u64 {
        self.due
    }

    /// Sets the rate of the chip's external reference clock, from cycle `now` on.
    pub fn set_external_clock_rate(&mut self, rate: CounterClockRate, now: u64) {
        self.external = rate;
        if !self.core_clock {
            self.advance_counter_to(now);
            self.restart_time_base(now);
        }
    }

    /// Counts SysTick down to cycle `now`. Returns true if the counter passed from 1 to 0 with its interrupt enabled.
    pub fn advance_counter_to(&mut self, now: u64) -> bool {
        if !self.enable || now <= self.base {
            return false;
        }
        let scaled = u128::from(now - self.base) * u128::from(self.rate.num) + u128::from(self.remainder);
        let counts = (scaled / u128::from(self.rate.den)) as u64;
        self.remainder = (scaled % u128::from(self.rate.den)) as u64;
        self.base = now;
        let reached_zero = self.count_down_by(counts);
        self.update_next_wrap_cycle();
        if reached_zero {
            self.count_flag = true;
        }
        reached_zero && self.tick_interrupt
    }

    /// Counts SysTick down `counts` times. Returns true if the counter stepped from 1 to 0 at least once.
    fn count_down_by(&mut self, counts: u64) -> bool {
        let value = u64::from(self.value);
        if counts < value {
            self.value -= counts as u32;
            return false;
        }
        let behind_zero = counts - value;
        let first_hit = value > 0;
        if self.reload == 0 {
            self.value = 0;
            return first_hit;
        }
        let period = u64::from(self.reload) + 1;
        let phase = behind_zero % period;
        self.value = if phase == 0 { 0 } else { (period - phase) as u32 };
        first_hit || behind_zero >= period
    }

    /// Restarts the time base at cycle `now`, after the counter or its rate changed.
    fn restart_time_base(&mut self, now: u64) {
        self.base = now;
        self.remainder = 0;
        self.rate = if self.core_clock { CounterClockRate::CORE } else { self.external };
        self.update_next_wrap_cycle();
    }

    /// Computes the cycle of SysTick's next step from 1 to 0.
    fn update_next_wrap_cycle(&mut self) {
        self.due = u64::MAX;
        if !self.enable || self.rate.num == 0 {
            return;
        }
        let counts = match (self.value, self.reload) {
            (0, 0) => return,
            (0, reload) => u64::from(reload) + 1,
            (value, _) => u64::from(value),
        };
        let needed = u128::from(counts) * u128::from(self.rate.den) - u128::from(self.remainder);
        self.due = self.base + needed.div_ceil(u128::from(self.rate.num)) as u64;
    }

    /// Reads a SysTick register at an offset from 0xE000E010. Reading CSR clears COUNTFLAG. The caller has called
    /// [`Self::advance_counter_to`].
    pub fn read_register(&mut self, offset: u32) -> u32 {
        match offset {
            0x0 => {
                let csr = u32::from(self.enable)
                    | u32::from(self.tick_interrupt) << 1
                    | u32::from(self.core_clock) << 2
                    | u32::from(self.count_flag) << 16;
                self.count_flag = false;
                csr
            }
            0x4 => self.reload,
            0x8 => self.value,
            _ => self.calibration,
        }
    }

    /// Writes a SysTick register at an offset from 0xE000E010. The caller has called [`Self::advance_counter_to`].
    pub fn write_register(&mut self, offset: u32, value: u32, now: u64) {
        match offset {
            0x0 => {
                self.enable = value & 1 != 0;
                self.tick_interrupt = value & 2 != 0;
                self.core_clock = value & 4 != 0;
                self.restart_time_base(now);
            }
            0x4 => {
                // The new value matters from the next reload on. Only the schedule may change.
                self.reload = value & 0x00ff_ffff;
                self.update_next_wrap_cycle();
            }
            0x8 => {
                self.value = 0;
                self.count_flag = false;
                self.restart_time_base(now);
            }
            _ => {}
        }
    }
}

impl Default for SysTick {
    /// Returns a SysTick in its reset state.
    fn default() -> SysTick {
        SysTick::new()
    }
}
