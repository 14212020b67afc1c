//! Window watchdog (RM0090 chapter 22). Its prescaler starts over with every reload, which a real one does not.

use super::block::{Access, Block};
use super::effects::ResetCause;
use crate::{FractionalRateCounter, NEVER};

const WDGA: u32 = 1 << 7;
const EWI: u32 = 1 << 9;

/// The window watchdog (WWDG).
#[derive(Debug, Clone)]
pub struct Wwdg {
    /// Shift and mask of WDGTB in CFR.
    timebase: (u32, u32),
    cr: u32,
    cfr: u32,
    /// EWIF.
    flag: bool,
    /// T has passed 0x40 since CR was written.
    warned: bool,
    /// Ticks since CR was written. Stopped before the start.
    ticks: FractionalRateCounter,
}

impl Wwdg {
    /// Creates the window watchdog in its reset state. `wide`: three bits of prescaler at bit 11 (H7) instead of two at
    /// bit 7.
    pub(super) fn new(wide: bool) -> Self {
        let timebase = if wide { (11, 7) } else { (7, 3) };
        Self { timebase, cr: 0x7f, cfr: 0x7f, flag: false, warned: false, ticks: FractionalRateCounter::default() }
    }

    /// Returns the frequency of the watchdog's clock in Hz and the clock's cycles for one count. The frequency is 0
    /// while the watchdog is off.
    fn clock_hz_and_divider(&self, access: &Access) -> (u64, u64) {
        let (shift, mask) = self.timebase;
        (if self.cr & WDGA != 0 { access.clock_hz } else { 0 }, 4096 << (self.cfr >> shift & mask))
    }

    /// Returns the value of the counter T at a cycle.
    fn counter_value(&self, cycle: u64) -> u32 {
        (self.cr & 0x7f).wrapping_sub(self.ticks.value_at_cycle(cycle) as u32) & 0x7f
    }

    /// Writes CR: reloads the counter, or resets the chip if that is too early.
    fn write_control_register(&mut self, value: u32, access: &mut Access) {
        let running = self.cr & WDGA != 0;
        let early = running && self.counter_value(access.now) > self.cfr & 0x7f;
        self.cr = value & 0x7f | (self.cr | value) & WDGA;
        if self.cr & WDGA != 0 && (early || value & 0x40 == 0) {
            access.effects.chip_reset = Some(ResetCause::Wwdg);
        }
        let (num, den) = self.clock_hz_and_divider(access);
        self.ticks = FractionalRateCounter::new_running_counter(access.now, 0, num, den, access.core_hz);
        self.warned = false;
    }

    /// Returns the cycle at which the counter T reaches `value`.
    fn cycle_at_counter_value(&self, value: u32) -> u64 {
        let ticks = (self.cr & 0x7f).saturating_sub(value);
        if self.ticks.is_counting() { self.ticks.first_cycle_at_counter_value(u64::from(ticks)) } else { NEVER }
    }
}

impl Block for Wwdg {
    /// Puts the registers of the window watchdog to their reset values.
    fn reset_registers(&mut self) {
        *self = Self { timebase: self.timebase, ..Self::new(false) };
    }

    /// Reads a register of the window watchdog at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        self.peek_register(offset, access)
    }

    /// Writes a register of the window watchdog at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0 => self.write_control_register(value, access),
            4 => {
                let (shift, mask) = self.timebase;
                // EWI can only be set.
                self.cfr = value & (0x7f | EWI | mask << shift) | self.cfr & EWI;
                let (num, den) = self.clock_hz_and_divider(access);
                self.ticks.change_counting_rate(access.now, num, den, access.core_hz);
            }
            8 => self.flag &= value & 1 != 0,
            _ => {}
        }
    }

    /// Returns the value of a register of the window watchdog at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0 => self.cr & WDGA | self.counter_value(access.now),
            4 => self.cfr,
            8 => u32::from(self.flag),
            _ => 0,
        }
    }

    /// Returns the core cycle of the next early warning or reset of the chip, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        let warning = if self.warned { NEVER } else { self.cycle_at_counter_value(0x40) };
        warning.min(self.cycle_at_counter_value(0x3f))
    }

    /// Flags the early warning, or requests the chip's reset, if its time has come at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if !self.warned && self.cycle_at_counter_value(0x40) <= access.now {
            (self.warned, self.flag) = (true, true);
        }
        if self.cycle_at_counter_value(0x3f) <= access.now {
            access.effects.chip_reset = Some(ResetCause::Wwdg);
            self.cr &= !WDGA;
            self.ticks = FractionalRateCounter::default();
        }
    }

    /// Adapts the watchdog's counter to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        let (num, den) = self.clock_hz_and_divider(access);
        self.ticks.change_counting_rate(access.now, num, den, access.core_hz);
    }

    /// Returns 1 while the window watchdog requests its interrupt: the early warning is flagged and its interrupt
    /// enabled.
    fn interrupt_outputs(&self) -> u32 {
        u32::from(self.flag && self.cfr & EWI != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stm32::testing::Bench;

    #[test]
    fn window_watchdog_warns_then_resets() {
        for (wide, cfr, tick) in [(false, 0x7f | 1 << 7 | EWI, 8192), (true, 0x7f | 5 << 11 | EWI, 4096 << 5)] {
            let mut bench = Bench::new();
            let mut wwdg = Wwdg::new(wide);
            wwdg.write_register(4, cfr, &mut bench.access());
            wwdg.write_register(0, WDGA | 0x50, &mut bench.access());
            assert_eq!(wwdg.read_register(0, &mut bench.access_at(3 * tick)), WDGA | 0x4d);
            assert_eq!(wwdg.next_event_cycle(), 16 * tick);
            wwdg.advance_to_now(&mut bench.access_at(16 * tick));
            assert_eq!(
                (wwdg.interrupt_outputs(), wwdg.read_register(8, &mut bench.access()), bench.effects.chip_reset),
                (1, 1, None)
            );
            wwdg.write_register(8, 0, &mut bench.access());
            assert_eq!((wwdg.interrupt_outputs(), wwdg.read_register(8, &mut bench.access())), (0, 0));
            wwdg.advance_to_now(&mut bench.access_at(17 * tick));
            assert_eq!(bench.effects.chip_reset, Some(ResetCause::Wwdg), "{wide}");
        }
    }

    #[test]
    fn feeding_outside_the_window_resets() {
        // W, ticks waited, new T, reset.
        for (window, ticks, value, reset) in
            [(0x7f, 1, 0x7f, false), (0x60, 1, 0x7f, true), (0x60, 0x20, 0x7f, false), (0x7f, 1, 0x3f, true)]
        {
            let mut bench = Bench::new();
            let mut wwdg = Wwdg::new(false);
            wwdg.write_register(4, window, &mut bench.access());
            wwdg.write_register(0, WDGA | 0x7f, &mut bench.access());
            wwdg.write_register(0, value, &mut bench.access_at(ticks * 4096));
            assert_eq!(bench.effects.chip_reset.is_some(), reset, "{window:x} {ticks} {value:x}");
            if !reset {
                wwdg.write_register(0, 0x7f, &mut bench.access());
                assert_eq!(wwdg.read_register(0, &mut bench.access()) & WDGA, WDGA, "it cannot be stopped");
            }
        }
    }

    #[test]
    fn window_watchdog_is_off_until_started() {
        let mut bench = Bench::new();
        let mut wwdg = Wwdg::new(false);
        assert_eq!((wwdg.read_register(0, &mut bench.access_at(1 << 30)), wwdg.next_event_cycle()), (0x7f, NEVER));
        wwdg.write_register(0, 0x10, &mut bench.access());
        assert_eq!(bench.effects.chip_reset, None);
    }
}
