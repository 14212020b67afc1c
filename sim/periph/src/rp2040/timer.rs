//! The 64-bit microsecond timer and its four alarms (RP2040 data sheet 4.6).
//!
//! An alarm fires when its 32 bits equal the low word of the counter. Written equal, it fires at once (assumed).

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const ALARM_COUNT: usize = 4;

/// The microsecond timer of the RP2040 (TIMER) with its four alarms.
#[derive(Debug, Clone)]
pub struct Timer {
    counter: FractionalRateCounter,
    /// High word captured by the last read of TIMELR.
    latched_high: u32,
    /// Low word waiting for TIMEHW to complete the write.
    write_low: u32,
    alarm: [u32; ALARM_COUNT],
    armed: u32,
    /// First cycle at which each armed alarm matches.
    alarm_due: [u64; ALARM_COUNT],
    dbgpause: u32,
    paused: bool,
    intr: u32,
    inte: u32,
    intf: u32,
}

impl Default for Timer {
    /// Returns the microsecond timer in its reset state.
    fn default() -> Self {
        Self {
            counter: FractionalRateCounter::default(),
            latched_high: 0,
            write_low: 0,
            alarm: [0; ALARM_COUNT],
            armed: 0,
            alarm_due: [NEVER; ALARM_COUNT],
            dbgpause: 7,
            paused: false,
            intr: 0,
            inte: 0,
            intf: 0,
        }
    }
}

impl Timer {
    /// Returns the counter's value in ticks (microseconds once the watchdog tick is set up).
    #[must_use]
    #[inline]
    pub fn counter_value(&self, now_cycles: u64) -> u64 {
        self.counter.value_at_cycle(now_cycles)
    }

    /// Returns the alarms' interrupts after enable and force (INTS).
    fn interrupt_status_register(&self) -> u32 {
        (self.intr & self.inte) | self.intf
    }

    /// Recomputes when each armed alarm matches, from the counter as it is at cycle `now`.
    fn schedule_alarms(&mut self, now: u64) {
        let value = self.counter.value_at_cycle(now);
        for n in 0..ALARM_COUNT {
            self.alarm_due[n] = if self.armed & 1 << n == 0 {
                NEVER
            } else {
                let ahead = self.alarm[n].wrapping_sub(value as u32);
                if ahead == 0 { now } else { self.counter.first_cycle_at_counter_value(value + u64::from(ahead)) }
            };
        }
    }

    /// Sets the counter's rate to that of the tick, or stops the counter while it is paused.
    fn update_tick_rate(&mut self, access: &Access) {
        let clocks = access.clocks;
        let num = if self.paused { 0 } else { clocks.tick_hz_num };
        self.counter.change_counting_rate(access.now_cycles, num, clocks.tick_hz_den, clocks.sys_hz);
        self.schedule_alarms(access.now_cycles);
    }
}

impl Peripheral for Timer {
    const NAME: &'static str = "TIMER";

    /// Puts the registers of the microsecond timer to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the microsecond timer at a byte offset. `access` holds the time in cycles and the requesting
    /// core. A read of TIMELR latches the high word for TIMEHR.
    #[inline]
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match offset {
            0x0c => {
                let value = self.counter.value_at_cycle(access.now_cycles);
                self.latched_high = (value >> 32) as u32;
                value as u32
            }
            0x00..=0x40 => self.peek_register(offset, access),
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    /// Writes a register of the microsecond timer at a byte offset. `access` holds the time in cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        let now = access.now_cycles;
        match offset {
            0x00 => {
                self.counter.set_value(now, u64::from(value) << 32 | u64::from(self.write_low));
                self.schedule_alarms(now);
            }
            0x04 => self.write_low = value,
            0x10..=0x1c => {
                let n = (offset as usize - 0x10) / 4;
                self.alarm[n] = value;
                self.armed |= 1 << n;
                self.schedule_alarms(now);
                self.advance_to_now(access);
            }
            0x20 => {
                self.armed &= !value;
                self.schedule_alarms(now);
            }
            0x2c => self.dbgpause = value & 6,
            0x30 => {
                self.paused = value & 1 != 0;
                self.update_tick_rate(access);
            }
            0x34 => self.intr &= !value,
            0x38 => self.inte = value & 15,
            0x3c => self.intf = value & 15,
            0x08 | 0x0c | 0x24 | 0x28 | 0x40 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the microsecond timer at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x08 => self.latched_high,
            0x0c | 0x28 => self.counter.value_at_cycle(access.now_cycles) as u32,
            0x10..=0x1c => self.alarm[(offset as usize - 0x10) / 4],
            0x24 => (self.counter.value_at_cycle(access.now_cycles) >> 32) as u32,
            0x2c => self.dbgpause,
            0x30 => u32::from(self.paused),
            0x38 => self.inte,
            0x3c => self.intf,
            0x20 => self.armed,
            0x34 => self.intr,
            0x40 => self.interrupt_status_register(),
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for ARMED and INTR only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x20 | 0x34)
    }

    /// Returns the cycle of the next alarm, or [`NEVER`].
    #[inline]
    fn next_event_cycle(&self) -> u64 {
        let [a, b, c, d] = self.alarm_due;
        a.min(b).min(c.min(d))
    }

    /// Fires the alarms that are due, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() > access.now_cycles {
            return;
        }
        for n in 0..ALARM_COUNT {
            if self.alarm_due[n] <= access.now_cycles {
                self.intr |= 1 << n;
                self.armed &= !(1 << n);
                self.alarm_due[n] = NEVER;
            }
        }
    }

    /// Adapts the counter's rate to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        self.update_tick_rate(access);
    }

    /// Returns the levels of the four alarms' NVIC lines, each at its number's bit.
    #[inline]
    fn irq_levels(&self) -> u32 {
        self.interrupt_status_register()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    fn start(bench: &mut Bench) -> Timer {
        let mut timer = Timer::default();
        timer.clocks_changed(&mut bench.access());
        timer
    }

    #[test]
    fn counts_microseconds() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        assert_eq!(timer.read_register(0x28, &mut bench.access_at(124)), 0);
        assert_eq!(timer.read_register(0x28, &mut bench.access_at(125)), 1);
        assert_eq!(timer.read_register(0x24, &mut bench.access_at(125 << 32)), 1);
        assert_eq!(timer.read_register(0x28, &mut bench.access_at(125 << 32)), 0);
    }

    #[test]
    fn timelr_latches_timehr() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        let wrap = 125u64 << 32;
        assert_eq!(timer.read_register(0x0c, &mut bench.access_at(wrap - 1)), u32::MAX);
        assert_eq!(timer.read_register(0x08, &mut bench.access_at(wrap + 1000)), 0);
        assert_eq!(timer.read_register(0x0c, &mut bench.access()), 8);
        assert_eq!(timer.read_register(0x08, &mut bench.access()), 1);
    }

    #[test]
    fn alarm_fires_at_its_microsecond_and_disarms() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        timer.write_register(0x38, 0b0100, &mut bench.access());
        timer.write_register(0x18, 10, &mut bench.access());
        timer.write_register(0x10, 5, &mut bench.access());
        assert_eq!(timer.read_register(0x20, &mut bench.access()), 0b0101);
        assert_eq!(timer.next_event_cycle(), 625);
        timer.advance_to_now(&mut bench.access_at(625));
        assert_eq!((timer.irq_levels(), timer.next_event_cycle()), (0, 1250));
        timer.advance_to_now(&mut bench.access_at(1250));
        assert_eq!(timer.irq_levels(), 0b0100);
        assert_eq!(timer.read_register(0x34, &mut bench.access()), 0b0101);
        timer.write_register(0x34, 0b0100, &mut bench.access());
        assert_eq!((timer.irq_levels(), timer.read_register(0x20, &mut bench.access())), (0, 0));
    }

    #[test]
    fn alarm_behind_the_counter_waits_for_the_wrap() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        timer.write_register(0x10, 3, &mut bench.access_at(125 * 4));
        assert_eq!(timer.next_event_cycle(), 125 * ((1 << 32) + 3));
        timer.write_register(0x20, 1, &mut bench.access());
        assert_eq!(timer.next_event_cycle(), NEVER);
    }

    #[test]
    fn pause_stops_and_writes_set_the_time() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        timer.write_register(0x10, 100, &mut bench.access());
        timer.write_register(0x30, 1, &mut bench.access_at(250));
        assert_eq!((timer.read_register(0x28, &mut bench.access_at(99_999)), timer.next_event_cycle()), (2, NEVER));
        timer.write_register(0x04, 50, &mut bench.access());
        timer.write_register(0x00, 1, &mut bench.access());
        timer.write_register(0x30, 0, &mut bench.access_at(100_000));
        assert_eq!(timer.counter_value(100_000), 1 << 32 | 50);
        assert_eq!(timer.next_event_cycle(), 100_000 + 50 * 125);
    }

    #[test]
    fn clock_change_keeps_time_and_moves_alarms() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        timer.write_register(0x10, 100, &mut bench.access());
        bench.tree.sys_hz = 250_000_000;
        timer.clocks_changed(&mut bench.access_at(125 * 40));
        assert_eq!((timer.counter_value(125 * 40), timer.next_event_cycle()), (40, 125 * 40 + 250 * 60));
    }

    #[test]
    fn forced_interrupt_ignores_enable() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        timer.write_register(0x3c, 0b1000, &mut bench.access());
        assert_eq!(timer.irq_levels(), 0b1000);
        assert_eq!(timer.read_register(0x40, &mut bench.access()), 0b1000);
    }

    #[test]
    fn timer_ignores_read_only_register_writes() {
        let mut bench = Bench::new();
        let mut timer = start(&mut bench);
        let strobes: Vec<u32> = (0..0x44).step_by(4).filter(|&offset| timer.is_strobe(offset)).collect();
        assert_eq!(strobes, [0x20, 0x34]);
        for offset in [0x08, 0x0c, 0x24, 0x28, 0x40] {
            timer.write_register(offset, u32::MAX, &mut bench.access());
        }
        assert_eq!((timer.counter_value(0), bench.effects.unmodelled), (0, None));
        timer.write_register(0x44, 0, &mut bench.access());
        assert_eq!(bench.effects.unmodelled, Some((0x44, true)));
    }
}
