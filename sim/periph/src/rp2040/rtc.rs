//! Real-time clock (RP2040 data sheet 4.8).
//!
//! It counts seconds of clk_rtc / (CLKDIV_M1 + 1) from the moment it is enabled. Time zones do not exist here.

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const CTRL_ENABLE: u32 = 1;
const CTRL_ACTIVE: u32 = 2;
const CTRL_LOAD: u32 = 1 << 4;
const CTRL_NOT_LEAP: u32 = 1 << 8;
const MATCH_ENABLE: u32 = 1 << 28;
const MATCH_ACTIVE: u32 = 1 << 29;
const IRQ_RTC: u32 = 25;

/// Year, month, day as in SETUP_0 and RTC_1.
const DATE_MASK: u32 = 0x00ff_ff1f;
/// Day of week, hour, minute, second as in SETUP_1 and RTC_0.
const TIME_MASK: u32 = 0x071f_3f3f;

/// The real-time clock of the RP2040 (RTC).
#[derive(Debug, Clone, Default)]
pub struct Rtc {
    clkdiv_m1: u32,
    setup: [u32; 2],
    ctrl: u32,
    irq_setup: [u32; 2],
    date: u32,
    time: u32,
    latched_date: u32,
    seconds: FractionalRateCounter,
    inte: bool,
    intf: bool,
    raw: bool,
}

/// Returns the days of a month. Every fourth year is a leap year unless `not_leap`.
fn days_in_month(year: u32, month: u32, not_leap: bool) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && !not_leap => 29,
        2 => 28,
        _ => 31,
    }
}

impl Rtc {
    /// Returns clk_rtc in Hz and its divider, whose quotient is the rate of seconds. The clock is 0 while the RTC is
    /// disabled.
    fn clock_hz_and_divider(&self, access: &Access) -> (u64, u64) {
        let on = self.ctrl & CTRL_ENABLE != 0;
        (if on { access.clocks.rtc_hz } else { 0 }, u64::from(self.clkdiv_m1) + 1)
    }

    /// Counts one second, with carries up to the year.
    fn advance_by_one_second(&mut self) {
        let field = |word: u32, shift: u32, mask: u32| word >> shift & mask;
        let (mut weekday, mut hour) = (field(self.time, 24, 7), field(self.time, 16, 31));
        let (mut minute, mut second) = (field(self.time, 8, 63), field(self.time, 0, 63));
        let (mut year, mut month, mut day) =
            (field(self.date, 12, 0xfff), field(self.date, 8, 15), field(self.date, 0, 31));
        let carry = |value: &mut u32, limit: u32| {
            *value = if *value >= limit { 0 } else { *value + 1 };
            *value == 0
        };
        if carry(&mut second, 59) && carry(&mut minute, 59) && carry(&mut hour, 23) {
            weekday = (weekday + 1) % 7;
            day += 1;
            if day > days_in_month(year, month, self.ctrl & CTRL_NOT_LEAP != 0) {
                day = 1;
                month += 1;
            }
            if month > 12 {
                month = 1;
                year = (year + 1) & 0xfff;
            }
        }
        self.date = year << 12 | month << 8 | day;
        self.time = weekday << 24 | hour << 16 | minute << 8 | second;
        if self.irq_setup[0] & MATCH_ENABLE != 0 && self.is_alarm_matched() {
            self.raw = true;
        }
    }

    /// Returns whether every enabled field equals its match value. With no field enabled, every second matches.
    fn is_alarm_matched(&self) -> bool {
        let [setup0, setup1] = self.irq_setup;
        let differ = |enable: bool, word: u32, setup: u32, mask: u32| enable && (word ^ setup) & mask != 0;
        !(differ(setup0 >> 26 & 1 != 0, self.date, setup0, 0xfff << 12)
            || differ(setup0 >> 25 & 1 != 0, self.date, setup0, 15 << 8)
            || differ(setup0 >> 24 & 1 != 0, self.date, setup0, 31)
            || differ(setup1 >> 31 != 0, self.time, setup1, 7 << 24)
            || differ(setup1 >> 30 & 1 != 0, self.time, setup1, 31 << 16)
            || differ(setup1 >> 29 & 1 != 0, self.time, setup1, 63 << 8)
            || differ(setup1 >> 28 & 1 != 0, self.time, setup1, 63))
    }

    /// Writes CTRL: enables the counter, and loads its setup.
    fn write_control_register(&mut self, value: u32, access: &Access) {
        let was = self.ctrl & CTRL_ENABLE;
        self.ctrl = value & (CTRL_ENABLE | CTRL_NOT_LEAP);
        if value & CTRL_LOAD != 0 {
            (self.date, self.time) = (self.setup[0] & DATE_MASK, self.setup[1] & TIME_MASK);
        }
        if was != self.ctrl & CTRL_ENABLE || value & CTRL_LOAD != 0 {
            let (num, den) = self.clock_hz_and_divider(access);
            self.seconds =
                FractionalRateCounter::new_running_counter(access.now_cycles, 0, num, den, access.clocks.sys_hz);
        }
    }

    /// Returns whether the alarm's interrupt is raised, after enable and force (INTS).
    fn interrupt_status_register(&self) -> bool {
        (self.raw && self.inte) || self.intf
    }
}

impl Peripheral for Rtc {
    const NAME: &'static str = "RTC";

    /// Puts the registers of the real-time clock to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the real-time clock at a byte offset. `access` holds the time in cycles and the requesting
    /// core. A read of the time also latches the date.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if offset == 0x1c {
            // The date is captured with the time, so that a midnight between two reads does no harm.
            self.latched_date = self.date;
        } else if offset > 0x2c {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the real-time clock at a byte offset. `access` holds the time in cycles and takes requests
    /// to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.clkdiv_m1 = value & 0xffff,
            0x04 => self.setup[0] = value & DATE_MASK,
            0x08 => self.setup[1] = value & TIME_MASK,
            0x0c => self.write_control_register(value, access),
            0x10 => {
                self.irq_setup[0] = value & (DATE_MASK | 0x1700_0000);
                self.raw &= value & MATCH_ENABLE != 0;
            }
            0x14 => self.irq_setup[1] = value & (TIME_MASK | 0xf000_0000),
            0x24 => self.inte = value & 1 != 0,
            0x28 => self.intf = value & 1 != 0,
            0x18..=0x20 | 0x2c => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the real-time clock at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.clkdiv_m1,
            0x04 | 0x08 => self.setup[(offset as usize - 4) / 4],
            0x0c => self.ctrl | if self.ctrl & CTRL_ENABLE != 0 { CTRL_ACTIVE } else { 0 },
            0x10 => {
                let active = if self.irq_setup[0] & MATCH_ENABLE != 0 { MATCH_ACTIVE } else { 0 };
                self.irq_setup[0] | active
            }
            0x14 => self.irq_setup[1],
            0x18 => self.latched_date,
            0x1c => self.time,
            0x20 => u32::from(self.raw),
            0x24 => u32::from(self.inte),
            0x28 => u32::from(self.intf),
            0x2c => u32::from(self.interrupt_status_register()),
            _ => 0,
        }
    }

    /// Returns the cycle of the next second, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        if self.ctrl & CTRL_ENABLE == 0 { NEVER } else { self.seconds.first_cycle_at_counter_value(1) }
    }

    /// Counts the seconds that have passed, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        while self.next_event_cycle() <= access.now_cycles {
            self.seconds.set_value(self.next_event_cycle(), 0);
            self.advance_by_one_second();
        }
    }

    /// Adapts the counting of seconds to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        let (num, den) = self.clock_hz_and_divider(access);
        self.seconds.change_counting_rate(access.now_cycles, num, den, access.clocks.sys_hz);
    }

    /// Returns the levels of the NVIC lines of the real-time clock, each at its number's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.interrupt_status_register()) << IRQ_RTC
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    const SECOND: u64 = 125_000_000;

    fn at(bench: &mut Bench, date: u32, time: u32) -> Rtc {
        let mut rtc = Rtc::default();
        rtc.write_register(0x00, 46_874, &mut bench.access());
        rtc.write_register(0x04, date, &mut bench.access());
        rtc.write_register(0x08, time, &mut bench.access());
        rtc.write_register(0x0c, CTRL_LOAD, &mut bench.access());
        assert_eq!(rtc.read_register(0x0c, &mut bench.access()), 0);
        rtc.write_register(0x0c, CTRL_ENABLE, &mut bench.access());
        assert_eq!(rtc.read_register(0x0c, &mut bench.access()), CTRL_ENABLE | CTRL_ACTIVE);
        rtc
    }

    #[test]
    fn midnight_at_the_end_of_a_leap_february() {
        let mut bench = Bench::new();
        let mut rtc = at(&mut bench, 2024 << 12 | 2 << 8 | 28, 6 << 24 | 23 << 16 | 59 << 8 | 59);
        assert_eq!(rtc.next_event_cycle(), SECOND);
        assert_eq!(rtc.read_register(0x1c, &mut bench.access_at(SECOND)), 0);
        assert_eq!(rtc.read_register(0x18, &mut bench.access()), 2024 << 12 | 2 << 8 | 29);
        assert_eq!(rtc.read_register(0x1c, &mut bench.access_at(SECOND * 86_401)), 1 << 24);
        assert_eq!(rtc.read_register(0x18, &mut bench.access()), 2024 << 12 | 3 << 8 | 1);
    }

    #[test]
    fn new_year_and_forced_common_year() {
        let mut bench = Bench::new();
        let mut rtc = at(&mut bench, 2023 << 12 | 12 << 8 | 31, 23 << 16 | 59 << 8 | 59);
        rtc.read_register(0x1c, &mut bench.access_at(SECOND));
        assert_eq!(rtc.read_register(0x18, &mut bench.access()), 2024 << 12 | 1 << 8 | 1);
        assert_eq!(
            (days_in_month(2100, 2, true), days_in_month(2024, 2, false), days_in_month(1, 11, false)),
            (28, 29, 30)
        );
    }

    #[test]
    fn rtc_alarm_fires_on_the_second() {
        let mut bench = Bench::new();
        let mut rtc = at(&mut bench, 2024 << 12 | 1 << 8 | 1, 0);
        rtc.write_register(0x24, 1, &mut bench.access());
        rtc.write_register(0x14, 1 << 28 | 3, &mut bench.access());
        rtc.write_register(0x10, MATCH_ENABLE, &mut bench.access());
        rtc.advance_to_now(&mut bench.access_at(2 * SECOND));
        assert_eq!(rtc.irq_levels(), 0);
        rtc.advance_to_now(&mut bench.access_at(3 * SECOND));
        assert_eq!(rtc.irq_levels(), 1 << 25);
        rtc.write_register(0x10, 0, &mut bench.access());
        assert_eq!(rtc.irq_levels(), 0);
    }

    #[test]
    fn every_enabled_field_must_match() {
        let date = 2024 << 12 | 5 << 8 | 17;
        let time = 3 << 24 | 13 << 16 | 47 << 8 | 21;
        let matches = |setup0: u32, setup1: u32| {
            Rtc { date, time, irq_setup: [setup0, setup1], ..Rtc::default() }.is_alarm_matched()
        };
        assert!(matches(0, 0));
        assert!(matches(7 << 24 | date, 15 << 28 | time));
        for (enable, wrong) in [(26, 1 << 12), (25, 1 << 8), (24, 1)] {
            assert!(!matches(1 << enable | date ^ wrong, 0));
            assert!(matches(7 << 24 & !(1 << enable) | date ^ wrong, 15 << 28 | time));
        }
        for (enable, wrong) in [(31, 1 << 24), (30, 1 << 16), (29, 1 << 8), (28, 1)] {
            assert!(!matches(0, 1 << enable | time ^ wrong));
            assert!(matches(7 << 24 | date, 15 << 28 & !(1 << enable) | time ^ wrong));
        }
    }

    #[test]
    fn reading_the_time_captures_the_date() {
        let mut bench = Bench::new();
        let mut rtc = at(&mut bench, 2024 << 12 | 1 << 8 | 1, 23 << 16 | 59 << 8 | 58);
        assert_eq!(rtc.read_register(0x1c, &mut bench.access_at(SECOND)), 23 << 16 | 59 << 8 | 59);
        assert_eq!(rtc.read_register(0x18, &mut bench.access_at(2 * SECOND)), 2024 << 12 | 1 << 8 | 1);
        bench.tree.rtc_hz = 0;
        rtc.clocks_changed(&mut bench.access());
        assert_eq!(rtc.next_event_cycle(), NEVER);
    }

    #[test]
    fn control_bits_are_the_data_sheets() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::default();
        rtc.write_register(0x04, 2001 << 12 | 2 << 8 | 28, &mut bench.access());
        rtc.write_register(0x0c, 1 << 4, &mut bench.access());
        rtc.read_register(0x1c, &mut bench.access());
        assert_eq!(rtc.read_register(0x18, &mut bench.access()), 2001 << 12 | 2 << 8 | 28);
        rtc.write_register(0x0c, 1 << 8 | 1, &mut bench.access());
        assert_eq!(rtc.read_register(0x0c, &mut bench.access()), 0x103);
        rtc.write_register(0x10, 1 << 28, &mut bench.access());
        assert_eq!(rtc.read_register(0x10, &mut bench.access()), 3 << 28);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [
            (CTRL_ENABLE, 0),
            (CTRL_ACTIVE, 1),
            (CTRL_LOAD, 4),
            (CTRL_NOT_LEAP, 8),
            (MATCH_ENABLE, 28),
            (MATCH_ACTIVE, 29),
        ] {
            assert_eq!(mask, 1u32 << number);
        }
    }

    #[test]
    fn loading_alone_does_not_start_rtc() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::default();
        rtc.write_register(0x0c, CTRL_LOAD, &mut bench.access());
        assert_eq!((rtc.next_event_cycle(), rtc.seconds.is_counting()), (NEVER, false));
    }
}
