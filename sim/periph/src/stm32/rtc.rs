//! Real-time clock of the F4 and everything later (RM0090 chapter 26, RM0410 chapter 32): calendar, initialisation,
//! shadow synchronisation and backup registers. Alarms, wake-up timer, time stamps and calibration are registers
//! only. Setting one up is reported. The key of the backup domain (PWR's DBP) is the aggregate's.

use super::block::{Access, Block};
use crate::{FractionalRateCounter, NEVER};

const ISR: usize = 3;
const RSF: u32 = 1 << 5;
const INITF: u32 = 1 << 6;
const INIT: u32 = 1 << 7;
/// CR: 12-hour format.
const FMT: u32 = 1 << 6;
/// CR: alarms, wake-up timer, time stamp.
const INERT: u32 = 0xf << 8;
/// RTC clock periods until INITF or RSF rises (RM0090 26.3.5, 26.3.6).
const SYNC_PERIODS: u64 = 2;
const KEYS: [u32; 2] = [0xca, 0x53];

/// The real-time clock (RTC) of the F4 and later families.
#[derive(Debug, Clone)]
pub struct Rtc {
    words: [u32; 64],
    /// Progress of the key sequence: 2 is open.
    keys: usize,
    /// Seconds since 2000-01-01 at which `sub` counts from 0.
    base_seconds: u64,
    /// Weekday of day 0 of the calendar, 0 = Monday.
    weekday: u64,
    /// Periods of the asynchronous prescaler's output.
    sub: FractionalRateCounter,
    /// RTC clock periods since a synchronisation was asked for.
    sync: Option<FractionalRateCounter>,
}

impl Rtc {
    /// Returns the real-time clock after power-on.
    pub(super) fn new() -> Self {
        let mut rtc = Self {
            words: [0; 64],
            keys: 0,
            base_seconds: 0,
            weekday: 0,
            sub: FractionalRateCounter::default(),
            sync: None,
        };
        rtc.reset_registers();
        rtc
    }

    /// Returns the value of PRER, the prescaler register.
    fn prescaler_register(&self) -> u32 {
        self.words[4]
    }

    /// Returns the frequency of the RTC's clock in Hz and the asynchronous prescaler. The frequency is 0 during
    /// initialisation.
    fn clock_hz_and_prescaler(&self, access: &Access) -> (u64, u64) {
        let on = self.words[ISR] & INIT == 0;
        (if on { access.clock_hz } else { 0 }, u64::from(self.prescaler_register() >> 16 & 0x7f) + 1)
    }

    /// Returns the counts of the synchronous prescaler in a second.
    fn prescaler_counts_per_second(&self) -> u64 {
        u64::from(self.prescaler_register() & 0x7fff) + 1
    }

    /// Returns the seconds since the start of the calendar at a cycle.
    fn calendar_seconds_at(&self, cycle: u64) -> u64 {
        self.base_seconds + self.sub.value_at_cycle(cycle) / self.prescaler_counts_per_second()
    }

    /// Returns the value of TR, the time of day.
    fn time_register(&self, cycle: u64) -> u32 {
        let second = self.calendar_seconds_at(cycle) % 86_400;
        let hour = (second / 3600) as u32;
        let (pm, hour) = if self.words[2] & FMT == 0 { (0, hour) } else { (hour / 12, (hour + 11) % 12 + 1) };
        pm << 22 | to_bcd(hour) << 16 | to_bcd((second / 60 % 60) as u32) << 8 | to_bcd((second % 60) as u32)
    }

    /// Returns the value of DR, the date.
    fn date_register(&self, cycle: u64) -> u32 {
        let days = self.calendar_seconds_at(cycle) / 86_400;
        let (year, month, day) = date_from_days(days);
        let weekday = (self.weekday + days) % 7 + 1;
        to_bcd(year) << 16 | (weekday as u32) << 13 | to_bcd(month) << 8 | to_bcd(day)
    }

    /// Writes TR, the time of day, in initialisation mode.
    fn write_time_register(&mut self, tr: u32, access: &Access) {
        let hour = match (from_bcd(tr >> 16 & 0x3f), self.words[2] & FMT != 0) {
            (hour, false) => hour,
            (hour, true) => hour % 12 + 12 * (tr >> 22 & 1),
        };
        let second = u64::from(hour * 3600 + from_bcd(tr >> 8 & 0x7f) * 60 + from_bcd(tr & 0x7f));
        self.base_seconds = self.calendar_seconds_at(access.now) / 86_400 * 86_400 + second;
        self.sub.set_value(access.now, 0);
    }

    /// Writes DR, the date, in initialisation mode.
    fn write_date_register(&mut self, dr: u32, access: &Access) {
        let second = self.calendar_seconds_at(access.now) % 86_400;
        let days = days_from_date(from_bcd(dr >> 16 & 0xff), from_bcd(dr >> 8 & 0x1f), from_bcd(dr & 0x3f));
        self.weekday = (u64::from(dr >> 13 & 7) + 6 + 7 - days % 7) % 7;
        self.base_seconds = days * 86_400 + second;
        self.sub.set_value(access.now, 0);
    }

    /// Restarts the synchronisation of the shadow registers.
    fn restart_shadow_register_sync(&mut self, access: &Access) {
        self.sync = Some(FractionalRateCounter::new_running_counter(access.now, 0, access.clock_hz, 1, access.core_hz));
    }

    /// Writes ISR: clears flags, and enters or leaves initialisation.
    fn write_initialisation_register(&mut self, value: u32, access: &Access) {
        let isr = self.words[ISR];
        // Flags in bits 8 to 13 and RSF are cleared by writing 0.
        let preserved = isr & (0xffff_c05f | value & (0x3f00 | RSF));
        if self.keys < 2 {
            self.words[ISR] = preserved | isr & RSF;
            return;
        }
        self.words[ISR] = preserved & !INIT | value & INIT;
        if value & INIT == 0 {
            self.words[ISR] &= !INITF;
        }
        let (num, den) = self.clock_hz_and_prescaler(access);
        if (isr ^ value) & INIT != 0 || isr & RSF != 0 && value & RSF == 0 {
            self.sub.change_counting_rate(access.now, num, den, access.core_hz);
            self.restart_shadow_register_sync(access);
        }
    }

    /// Writes a register that the keys protect.
    fn write_protected_register(&mut self, word: usize, value: u32, access: &mut Access) {
        let initialising = self.words[ISR] & INITF != 0;
        match word {
            0 if initialising => self.write_time_register(value, access),
            1 if initialising => self.write_date_register(value, access),
            4 if initialising => {
                let seconds = self.calendar_seconds_at(access.now);
                self.words[4] = value & 0x007f_7fff;
                self.base_seconds = seconds;
                self.sub.set_value(access.now, 0);
            }
            0 | 1 | 4 => {}
            2 => {
                self.words[2] = value;
                if value & INERT != 0 {
                    access.effects.unmodelled = Some((8, true));
                }
            }
            _ => self.words[word] = value,
        }
    }
}

impl Block for Rtc {
    /// Puts the registers of the real-time clock to their values after a reset of the backup domain.
    fn reset_registers(&mut self) {
        self.words = [0; 64];
        self.words[ISR] = 7;
        self.words[4] = 0x007f_00ff;
        self.words[5] = 0xffff;
        (self.keys, self.base_seconds, self.weekday) = (0, 0, 0);
        self.sub = FractionalRateCounter::default();
        self.sync = None;
    }

    /// Reads a register of the real-time clock at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        self.peek_register(offset, access)
    }

    /// Writes a register of the real-time clock at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        let word = offset as usize / 4;
        match word {
            ISR => self.write_initialisation_register(value, access),
            9 => {
                let key = KEYS.get(self.keys).is_some_and(|&key| key == value & 0xff);
                self.keys = if key { self.keys + 1 } else { 0 };
            }
            10 | 12..=14 => {}
            // Tamper configuration and the backup registers are not after the keys.
            16 | 19..=63 => self.words[word] = value,
            _ if self.keys == 2 && word < 64 => self.write_protected_register(word, value, access),
            _ => {}
        }
    }

    /// Returns the value of a register of the real-time clock at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        let per_second = self.prescaler_counts_per_second();
        match offset {
            0x00 => self.time_register(access.now),
            0x04 => self.date_register(access.now),
            // INITS: the year is not 0.
            0x0c => self.words[ISR] | u32::from(self.date_register(access.now) >> 16 != 0) << 4,
            0x24 => 0,
            0x28 => (per_second - 1 - self.sub.value_at_cycle(access.now) % per_second) as u32,
            _ => self.words.get(offset as usize / 4).copied().unwrap_or(0),
        }
    }

    /// Returns the core cycle at which initialisation or synchronisation ends, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.sync.as_ref().map_or(NEVER, |periods| periods.first_cycle_at_counter_value(SYNC_PERIODS))
    }

    /// Ends the initialisation or synchronisation of the registers if its time is over at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() <= access.now {
            self.sync = None;
            self.words[ISR] |= if self.words[ISR] & INIT != 0 { INITF } else { RSF };
        }
    }

    /// Adapts the counting of seconds to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        let (num, den) = self.clock_hz_and_prescaler(access);
        self.sub.change_counting_rate(access.now, num, den, access.core_hz);
        match &mut self.sync {
            Some(periods) => periods.change_counting_rate(access.now, access.clock_hz, 1, access.core_hz),
            // The clock came up: the shadow registers follow.
            None if access.clock_hz != 0 && self.words[ISR] & RSF == 0 => self.restart_shadow_register_sync(access),
            None => {}
        }
    }
}

/// Returns a number below 100 in BCD.
fn to_bcd(value: u32) -> u32 {
    ((value / 10 % 10) << 4) | (value % 10)
}

/// Returns the number of two BCD digits.
fn from_bcd(value: u32) -> u32 {
    (value >> 4) * 10 + (value & 0xf)
}

/// Returns the days of the months before `month` (1 to 12) in a year of the 2000s. Every fourth year is a leap year.
fn days_before_month(year: u32, month: u32) -> u32 {
    const BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    BEFORE[(month.clamp(1, 12) - 1) as usize] + u32::from(month > 2 && year.is_multiple_of(4))
}

/// Returns the number of days from 2000-01-01 to a date.
fn days_from_date(year: u32, month: u32, day: u32) -> u64 {
    u64::from(year * 365 + year.div_ceil(4) + days_before_month(year, month) + day.max(1) - 1)
}

/// Returns the year (0 to 99), month and day of a number of days from 2000-01-01. It starts again after a century.
fn date_from_days(days: u64) -> (u32, u32, u32) {
    let days = days % 36_525;
    let mut year = (days / 366) as u32;
    while year < 99 && days_from_date(year + 1, 1, 1) <= days {
        year += 1;
    }
    let rest = (days - days_from_date(year, 1, 1)) as u32;
    let month = (1..=12).rev().find(|&month| days_before_month(year, month) <= rest).unwrap_or(1);
    (year, month, rest - days_before_month(year, month) + 1)
}

#[cfg(test)]
mod tests;
