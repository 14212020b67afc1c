//! Real-time clock of the F1: a 32-bit counter after a prescaler (RM0008 chapter 18). Writes are complete at once
//! (RTOFF is always set). The key of the backup domain (PWR's DBP) is the aggregate's.

use super::block::{Access, Block};
use crate::{FractionalRateCounter, NEVER};

const SECF: u32 = 1 << 0;
const ALRF: u32 = 1 << 1;
const OWF: u32 = 1 << 2;
const RSF: u32 = 1 << 3;
const CNF: u32 = 1 << 4;
const RTOFF: u32 = 1 << 5;

/// The real-time clock (RTC) of the F1.
#[derive(Debug, Clone)]
pub struct RtcF1 {
    crh: u32,
    crl: u32,
    prl: u32,
    alarm: u32,
    /// Seconds, or whatever the prescaler makes of the clock.
    counter: FractionalRateCounter,
    /// Value up to which flags have been raised.
    done: u64,
}

impl RtcF1 {
    /// Returns the real-time clock after power-on.
    pub(super) fn new() -> Self {
        Self { crh: 0, crl: RTOFF, prl: 0x8000, alarm: u32::MAX, counter: FractionalRateCounter::default(), done: 0 }
    }

    /// Updates the rate of the counter after a change of clock or prescaler.
    fn update_count_rate(&mut self, access: &Access) {
        self.counter.change_counting_rate(access.now, access.clock_hz, u64::from(self.prl) + 1, access.core_hz);
    }

    /// Returns the word with its upper or lower half replaced.
    fn replace_word_half(word: u32, value: u32, high: bool) -> u32 {
        if high { word & 0xffff | value << 16 } else { word & 0xffff_0000 | value & 0xffff }
    }

    /// Writes PRL, CNT or ALR, which is possible in configuration mode.
    fn write_rtc_configuration_register(&mut self, offset: u32, value: u32, access: &Access) {
        match offset {
            0x08 => self.prl = Self::replace_word_half(self.prl, value & 0xf, true),
            0x0c => self.prl = Self::replace_word_half(self.prl, value, false),
            0x18 | 0x1c => {
                let count =
                    Self::replace_word_half(self.counter.value_at_cycle(access.now) as u32, value, offset == 0x18);
                self.counter.set_value(access.now, u64::from(count));
                self.done = u64::from(count);
            }
            0x20 | 0x24 => self.alarm = Self::replace_word_half(self.alarm, value, offset == 0x20),
            _ => {}
        }
        self.update_count_rate(access);
    }

    /// Returns the value of the counter, without wrapping, at which the alarm is next.
    fn unwrapped_alarm_value(&self) -> u64 {
        let base = self.done & !0xffff_ffff;
        let alarm = base | u64::from(self.alarm);
        if alarm > self.done { alarm } else { alarm + (1 << 32) }
    }
}

impl Block for RtcF1 {
    /// Puts the registers of the real-time clock to their values after a reset of the backup domain.
    fn reset_registers(&mut self) {
        *self = Self::new();
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
        match offset {
            0x00 => self.crh = value & 7,
            0x04 => {
                let flags = self.crl & value & (SECF | ALRF | OWF | RSF);
                self.crl = flags | value & CNF | RTOFF;
                // The registers synchronise again with the next edge of the clock: at once here.
                if access.clock_hz != 0 {
                    self.crl |= RSF;
                }
            }
            _ if self.crl & CNF != 0 => self.write_rtc_configuration_register(offset, value, access),
            _ => {}
        }
    }

    /// Returns the value of a register of the real-time clock at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        let count = self.counter.value_at_cycle(access.now) as u32;
        match offset {
            0x00 => self.crh,
            0x04 => self.crl,
            0x18 => count >> 16,
            0x1c => count & 0xffff,
            _ => 0,
        }
    }

    /// Returns the core cycle of the next second or alarm whose interrupt is enabled, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        let second = if self.crh & SECF & !self.crl != 0 {
            self.counter.first_cycle_at_counter_value(self.done + 1)
        } else {
            NEVER
        };
        let alarm = if self.crh & ALRF & !self.crl != 0 {
            self.counter.first_cycle_at_counter_value(self.unwrapped_alarm_value())
        } else {
            NEVER
        };
        second.min(alarm)
    }

    /// Sets the flags of seconds, alarm and overflow that have passed, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        let count = self.counter.value_at_cycle(access.now);
        if count > self.done {
            self.crl |= SECF;
            self.crl |= if self.unwrapped_alarm_value() <= count { ALRF } else { 0 };
            self.crl |= if count >> 32 != self.done >> 32 { OWF } else { 0 };
            self.done = count;
        }
    }

    /// Adapts the counter to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        self.update_count_rate(access);
        if access.clock_hz != 0 {
            self.crl |= RSF;
        }
    }

    /// Returns 1 while the real-time clock requests its interrupt: an enabled flag (second, alarm or overflow) is set.
    fn interrupt_outputs(&self) -> u32 {
        u32::from(self.crh & self.crl & 7 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stm32::testing::Bench;

    fn start() -> (Bench, RtcF1) {
        let mut bench = Bench::new();
        (bench.core_hz, bench.clock_hz) = (32_768_000, 32_768);
        let mut rtc = RtcF1::new();
        rtc.clocks_changed(&mut bench.access());
        (bench, rtc)
    }

    #[test]
    fn counts_seconds_with_alarm_and_interrupts() {
        let (mut bench, mut rtc) = start();
        rtc.write_register(0x04, CNF, &mut bench.access());
        for (offset, value) in [(0x08, 0), (0x0c, 0x7fff), (0x18, 0), (0x1c, 0xfffe), (0x20, 1), (0x24, 0)] {
            rtc.write_register(offset, value, &mut bench.access());
        }
        rtc.write_register(0x04, 0, &mut bench.access());
        rtc.write_register(0x00, SECF, &mut bench.access());
        assert_eq!(rtc.next_event_cycle(), 32_768_000);
        rtc.advance_to_now(&mut bench.access_at(32_768_000));
        assert_eq!((rtc.interrupt_outputs(), rtc.read_register(0x1c, &mut bench.access())), (1, 0xffff));
        rtc.write_register(0x00, ALRF, &mut bench.access());
        assert_eq!((rtc.interrupt_outputs(), rtc.next_event_cycle()), (0, 2 * 32_768_000));
        rtc.advance_to_now(&mut bench.access_at(2 * 32_768_000));
        assert_eq!(
            (
                rtc.interrupt_outputs(),
                rtc.read_register(0x18, &mut bench.access()),
                rtc.read_register(0x1c, &mut bench.access())
            ),
            (1, 1, 0)
        );
        rtc.write_register(0x04, !ALRF, &mut bench.access());
        assert_eq!((rtc.interrupt_outputs(), rtc.read_register(0x04, &mut bench.access()) & ALRF), (0, 0));
    }

    #[test]
    fn configuration_needs_cnf_and_rtoff_is_set() {
        let (mut bench, mut rtc) = start();
        rtc.write_register(0x1c, 55, &mut bench.access());
        assert_eq!(rtc.read_register(0x1c, &mut bench.access()), 0);
        assert_eq!(rtc.read_register(0x04, &mut bench.access()), RTOFF | RSF);
        rtc.write_register(0x04, CNF, &mut bench.access());
        rtc.write_register(0x1c, 55, &mut bench.access());
        assert_eq!(rtc.read_register(0x1c, &mut bench.access()), 55);
    }
}
