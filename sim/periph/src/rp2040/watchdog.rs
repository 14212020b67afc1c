//! Watchdog, scratch registers and the tick generator (RP2040 data sheet 4.7).
//!
//! Erratum RP2040-E1 is modelled: the counter falls by two per tick.

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const CTRL_RESET: u32 = 0x0700_0000;
const CTRL_ENABLE: u32 = 1 << 30;
const CTRL_TRIGGER: u32 = 1 << 31;
const TIME_MASK: u32 = 0x00ff_ffff;
const TICK_ENABLE: u32 = 1 << 9;
const TICK_RUNNING: u32 = 1 << 10;
const TICK_RESET: u32 = TICK_ENABLE;

/// REASON after the counter reached 0.
pub const REASON_TIMER: u32 = 1;
/// REASON after CTRL.TRIGGER.
pub const REASON_FORCE: u32 = 2;

/// The watchdog of the RP2040, with the tick generator and scratch registers.
#[derive(Debug, Clone)]
pub struct Watchdog {
    ctrl: u32,
    /// Counter value when `ticks` was last set to 0.
    loaded: u32,
    /// Ticks since then. Stopped while the watchdog is disabled.
    ticks: FractionalRateCounter,
    reason: u32,
    scratch: [u32; 8],
    tick: u32,
    /// Cycles of clk_ref, for TICK.COUNT.
    ref_cycles: FractionalRateCounter,
}

impl Default for Watchdog {
    /// Returns the watchdog in its reset state.
    fn default() -> Self {
        Self {
            ctrl: CTRL_RESET,
            loaded: 0,
            ticks: FractionalRateCounter::default(),
            reason: 0,
            scratch: [0; 8],
            tick: TICK_RESET,
            ref_cycles: FractionalRateCounter::default(),
        }
    }
}

impl Watchdog {
    /// Returns the rate of the tick as (numerator, denominator) in Hz, from a clk_ref of `ref_hz`. (0, 1) while off.
    #[must_use]
    pub fn tick_rate_as_fraction(&self, ref_hz: u64) -> (u64, u64) {
        let cycles = u64::from(self.tick & 0x1ff);
        if self.tick & TICK_ENABLE == 0 || cycles == 0 { (0, 1) } else { (ref_hz, cycles) }
    }

    /// Applies a watchdog reset: scratch registers and the reason survive, the rest restarts.
    pub fn reset_keeping_scratch(&mut self) {
        let (scratch, reason) = (self.scratch, self.reason);
        *self = Self { scratch, reason, ..Self::default() };
    }

    /// Returns whether the last reset by the watchdog came because its time was over, and not because software asked.
    #[must_use]
    pub fn has_timed_out(&self) -> bool {
        self.reason == REASON_TIMER
    }

    /// Returns scratch register `n` (0 to 7), as the boot ROM reads it.
    #[must_use]
    pub fn scratch_register(&self, n: usize) -> u32 {
        self.scratch[n]
    }

    /// Sets scratch register `n`, as the boot ROM does.
    pub fn set_scratch_register(&mut self, n: usize, value: u32) {
        self.scratch[n] = value;
    }

    /// Returns the value of the down counter, which falls by 2 in each tick.
    fn counter_value(&self, now: u64) -> u32 {
        let fallen = self.ticks.value_at_cycle(now).saturating_mul(2);
        u64::from(self.loaded).saturating_sub(fallen) as u32
    }

    /// Loads the down counter.
    fn load_down_counter(&mut self, now: u64, value: u32) {
        self.loaded = value;
        self.ticks.set_value(now, 0);
    }

    /// Writes CTRL: starts or stops the counter, or triggers a reset.
    fn write_control_register(&mut self, value: u32, access: &mut Access) {
        let now = access.now_cycles;
        let was = self.ctrl & CTRL_ENABLE != 0;
        self.ctrl = value & 0x4700_0000;
        let on = self.ctrl & CTRL_ENABLE != 0;
        if was != on {
            let time = self.counter_value(now);
            let num = if on { access.clocks.tick_hz_num } else { 0 };
            self.ticks = FractionalRateCounter::new_running_counter(
                now,
                0,
                num,
                access.clocks.tick_hz_den,
                access.clocks.sys_hz,
            );
            self.loaded = time;
        }
        if value & CTRL_TRIGGER != 0 {
            self.reason = REASON_FORCE;
            access.effects.chip_reset = true;
        }
    }
}

impl Peripheral for Watchdog {
    const NAME: &'static str = "WATCHDOG";

    /// Puts the registers of the watchdog to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the watchdog at a byte offset. `access` holds the time in cycles and the requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x2c {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the watchdog at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.write_control_register(value, access),
            0x04 => self.load_down_counter(access.now_cycles, value & TIME_MASK),
            0x08 => {}
            0x0c..=0x28 => self.scratch[(offset as usize - 0x0c) / 4] = value,
            0x2c => {
                self.tick = value & 0x3ff;
                self.ref_cycles = FractionalRateCounter::new_running_counter(
                    access.now_cycles,
                    0,
                    access.clocks.ref_hz,
                    1,
                    access.clocks.sys_hz,
                );
                access.effects.clocks_changed = true;
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the watchdog at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00 => self.ctrl | self.counter_value(access.now_cycles),
            0x08 => self.reason,
            0x0c..=0x28 => self.scratch[(offset as usize - 0x0c) / 4],
            0x2c => {
                let cycles = u64::from(self.tick & 0x1ff);
                if self.tick & TICK_ENABLE == 0 || cycles == 0 {
                    return self.tick;
                }
                let count = cycles - 1 - self.ref_cycles.value_at_cycle(access.now_cycles) % cycles;
                self.tick | TICK_RUNNING | (count as u32) << 11
            }
            _ => 0,
        }
    }

    /// Returns the cycle at which the watchdog resets the chip, or [`NEVER`] while it is disabled.
    fn next_event_cycle(&self) -> u64 {
        if self.ctrl & CTRL_ENABLE == 0 {
            return NEVER;
        }
        self.ticks.first_cycle_at_counter_value(u64::from(self.loaded.div_ceil(2)))
    }

    /// Requests a reset of the chip if the watchdog's time is over at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() <= access.now_cycles {
            self.reason = REASON_TIMER;
            // The reset takes the enable with it: without this the block would stay due for ever.
            self.ctrl &= !CTRL_ENABLE;
            access.effects.chip_reset = true;
        }
    }

    /// Adapts the watchdog's tick to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        let clocks = access.clocks;
        let num = if self.ctrl & CTRL_ENABLE != 0 { clocks.tick_hz_num } else { 0 };
        self.ticks.change_counting_rate(access.now_cycles, num, clocks.tick_hz_den, clocks.sys_hz);
        self.ref_cycles.change_counting_rate(access.now_cycles, clocks.ref_hz, 1, clocks.sys_hz);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn watchdog_counts_down_two_per_tick() {
        let mut bench = Bench::new();
        let mut dog = Watchdog::default();
        dog.write_register(0x04, 2_000, &mut bench.access());
        dog.write_register(0x00, CTRL_ENABLE, &mut bench.access());
        // 1000 ticks of 125 cycles.
        assert_eq!(dog.next_event_cycle(), 125_000);
        assert_eq!(dog.read_register(0x00, &mut bench.access_at(125)) & TIME_MASK, 1_998);
        dog.advance_to_now(&mut bench.access_at(124_999));
        assert!(!bench.effects.chip_reset);
        dog.advance_to_now(&mut bench.access_at(125_000));
        assert!(bench.effects.chip_reset);
        assert_eq!(dog.read_register(0x08, &mut bench.access()), REASON_TIMER);
        assert_eq!(dog.next_event_cycle(), NEVER);
    }

    #[test]
    fn feeding_moves_the_deadline_on_the_tick_grid() {
        let mut bench = Bench::new();
        let mut dog = Watchdog::default();
        dog.write_register(0x04, 2_000, &mut bench.access());
        dog.write_register(0x00, CTRL_ENABLE, &mut bench.access());
        dog.write_register(0x04, 2_000, &mut bench.access_at(12_510));
        assert_eq!(dog.next_event_cycle(), 12_500 + 125_000);
    }

    #[test]
    fn disabling_freezes_the_count() {
        let mut bench = Bench::new();
        let mut dog = Watchdog::default();
        dog.write_register(0x04, 100, &mut bench.access());
        dog.write_register(0x00, CTRL_ENABLE, &mut bench.access());
        dog.write_register(0x00, 0, &mut bench.access_at(1_250));
        assert_eq!(dog.read_register(0x00, &mut bench.access_at(99_999)) & TIME_MASK, 80);
        dog.write_register(0x00, CTRL_ENABLE, &mut bench.access_at(100_000));
        assert_eq!(dog.next_event_cycle(), 100_000 + 40 * 125);
    }

    #[test]
    fn watchdog_trigger_keeps_scratch_registers() {
        let mut bench = Bench::new();
        let mut dog = Watchdog::default();
        dog.write_register(0x1c, 0xb007_c0d3, &mut bench.access());
        dog.write_register(0x00, CTRL_TRIGGER, &mut bench.access());
        assert!(bench.effects.chip_reset);
        dog.reset_keeping_scratch();
        assert_eq!(
            (dog.scratch_register(4), dog.read_register(0x08, &mut bench.access())),
            (0xb007_c0d3, REASON_FORCE)
        );
        assert_eq!(dog.read_register(0x00, &mut bench.access()), CTRL_RESET);
    }

    #[test]
    fn tick_counts_clk_ref_cycles() {
        let mut bench = Bench::new();
        bench.tree.sys_hz = 12_000_000;
        let mut dog = Watchdog::default();
        assert_eq!(dog.read_register(0x2c, &mut bench.access()), 0x200);
        assert_eq!(dog.tick_rate_as_fraction(12_000_000), (0, 1));
        dog.write_register(0x2c, TICK_ENABLE | 12, &mut bench.access());
        assert!(bench.effects.clocks_changed);
        assert_eq!(dog.tick_rate_as_fraction(12_000_000), (12_000_000, 12));
        assert_eq!(dog.read_register(0x2c, &mut bench.access_at(13)), TICK_ENABLE | TICK_RUNNING | 12 | 10 << 11);
        dog.write_register(0x2c, 12, &mut bench.access());
        assert_eq!(dog.tick_rate_as_fraction(12_000_000), (0, 1));
    }

    #[test]
    fn clock_change_stretches_the_deadline_only_while_enabled() {
        let mut bench = Bench::new();
        let mut dog = Watchdog::default();
        dog.write_register(0x04, 200, &mut bench.access());
        dog.write_register(0x00, CTRL_ENABLE, &mut bench.access());
        bench.tree.sys_hz = 250_000_000;
        dog.clocks_changed(&mut bench.access_at(125 * 50));
        assert_eq!(dog.next_event_cycle(), 125 * 50 + 250 * 50);
        dog.write_register(0x00, 0, &mut bench.access());
        dog.clocks_changed(&mut bench.access());
        assert_eq!(dog.read_register(0x00, &mut bench.access_at(9_999_999)) & TIME_MASK, 100);
    }

    #[test]
    fn tick_register_keeps_its_ten_bits() {
        let mut bench = Bench::new();
        let mut dog = Watchdog::default();
        dog.write_register(0x2c, u32::MAX, &mut bench.access());
        assert_eq!(dog.tick_rate_as_fraction(511), (511, 511));
        dog.write_register(0x2c, 0x1ff, &mut bench.access());
        assert_eq!(dog.read_register(0x2c, &mut bench.access()), 0x1ff);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [
            (CTRL_ENABLE, 30),
            (CTRL_TRIGGER, 31),
            (TICK_ENABLE, 9),
            (TICK_RUNNING, 10),
            (REASON_TIMER, 0),
            (REASON_FORCE, 1),
        ] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
