//! Independent watchdog (RM0090 chapter 21; the window of L0, F7 and H7: RM0410 chapter 29).
//!
//! It runs from the LSI, which it starts by itself. LSION is not shown as set meanwhile. The time a register update
//! takes is five LSI periods.

use super::block::{Access, Block};
use super::effects::ResetCause;
use crate::{FractionalRateCounter, NEVER};

const UNLOCK: u32 = 0x5555;
const RELOAD: u32 = 0xaaaa;
const START: u32 = 0xcccc;
/// LSI periods until an update flag falls (RM0090 21.4.4).
const UPDATE_PERIODS: u64 = 5;

/// The independent watchdog (IWDG).
#[derive(Debug, Clone)]
pub struct Iwdg {
    /// WINR exists.
    window: bool,
    open: bool,
    pr: u32,
    rlr: u32,
    /// The value last loaded into the counter.
    loaded: u32,
    winr: u32,
    /// Watchdog ticks since the last reload. `None` before the start.
    ticks: Option<FractionalRateCounter>,
    /// LSI periods since the last register write, and the flags it raised.
    updating: Option<(FractionalRateCounter, u32)>,
}

impl Iwdg {
    /// Returns the independent watchdog in its reset state. `window` is true if it has a window register.
    pub(super) fn new(window: bool) -> Self {
        Self { window, open: false, pr: 0, rlr: 0xfff, loaded: 0xfff, winr: 0xfff, ticks: None, updating: None }
    }

    /// Returns the divider of the prescaler.
    fn prescaler_divider(&self) -> u64 {
        4 << self.pr.min(6)
    }

    /// Returns the value of the counter at a cycle.
    fn counter_value(&self, cycle: u64) -> u32 {
        let done = self.ticks.as_ref().map_or(0, |ticks| ticks.value_at_cycle(cycle));
        self.loaded.saturating_sub(done.min(0xfff) as u32)
    }

    /// Loads the counter with the reload value.
    fn reload_watchdog_counter(&mut self, access: &Access) {
        self.loaded = self.rlr;
        self.ticks = Some(FractionalRateCounter::new_running_counter(
            access.now,
            0,
            access.clock_hz,
            self.prescaler_divider(),
            access.core_hz,
        ));
    }

    /// Sets a flag of a register update in progress, which the slow clock clears later.
    fn begin_watchdog_register_update(&mut self, flag: u32, access: &Access) {
        let flags = self.updating.as_ref().map_or(0, |(_, flags)| *flags);
        self.updating = Some((
            FractionalRateCounter::new_running_counter(access.now, 0, access.clock_hz, 1, access.core_hz),
            flags | flag,
        ));
    }

    /// Writes KR, the key register: starts the watchdog, reloads its counter or unlocks its registers.
    fn write_watchdog_key(&mut self, key: u32, access: &mut Access) {
        self.open = key == UNLOCK;
        match key {
            START if self.ticks.is_none() => self.reload_watchdog_counter(access),
            RELOAD | START if self.ticks.is_some() => {
                if self.window && self.counter_value(access.now) > self.winr {
                    access.effects.chip_reset = Some(ResetCause::Iwdg);
                }
                self.reload_watchdog_counter(access);
            }
            _ => {}
        }
    }

    /// Returns the cycle in which the watchdog resets the chip, or [`NEVER`].
    fn watchdog_reset_cycle(&self) -> u64 {
        // The counter has to pass 0.
        self.ticks.as_ref().map_or(NEVER, |ticks| ticks.first_cycle_at_counter_value(u64::from(self.loaded) + 1))
    }
}

impl Block for Iwdg {
    /// Puts the registers of the independent watchdog to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::new(self.window);
    }

    /// Reads a register of the independent watchdog at a byte offset. `access` holds the time in core cycles and the
    /// number of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        self.peek_register(offset, access)
    }

    /// Writes a register of the independent watchdog at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.write_watchdog_key(value & 0xffff, access),
            0x04 if self.open => {
                self.pr = value & 7;
                let divider = self.prescaler_divider();
                if let Some(ticks) = &mut self.ticks {
                    ticks.change_counting_rate(access.now, access.clock_hz, divider, access.core_hz);
                }
                self.begin_watchdog_register_update(1, access);
            }
            0x08 if self.open => {
                self.rlr = value & 0xfff;
                self.begin_watchdog_register_update(2, access);
            }
            0x10 if self.open && self.window => {
                self.winr = value & 0xfff;
                self.begin_watchdog_register_update(4, access);
                // Writing the window reloads the counter.
                if self.ticks.is_some() {
                    self.reload_watchdog_counter(access);
                }
            }
            _ => {}
        }
    }

    /// Returns the value of a register of the independent watchdog at a byte offset, without the side effects of a
    /// read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x04 => self.pr,
            0x08 => self.rlr,
            0x0c => self.updating.as_ref().map_or(0, |(_, flags)| *flags),
            0x10 if self.window => self.winr,
            _ => 0,
        }
    }

    /// Returns the core cycle of the next reset of the chip or end of a register update, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        let update =
            self.updating.as_ref().map_or(NEVER, |(periods, _)| periods.first_cycle_at_counter_value(UPDATE_PERIODS));
        self.watchdog_reset_cycle().min(update)
    }

    /// Ends a register update, or requests the chip's reset, if its time has come at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self
            .updating
            .as_ref()
            .is_some_and(|(periods, _)| periods.first_cycle_at_counter_value(UPDATE_PERIODS) <= access.now)
        {
            self.updating = None;
        }
        if self.watchdog_reset_cycle() <= access.now {
            access.effects.chip_reset = Some(ResetCause::Iwdg);
            self.reload_watchdog_counter(access);
        }
    }

    /// Adapts the watchdog's counter to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        let divider = self.prescaler_divider();
        if let Some(ticks) = &mut self.ticks {
            ticks.change_counting_rate(access.now, access.clock_hz, divider, access.core_hz);
        }
        if let Some((periods, _)) = &mut self.updating {
            periods.change_counting_rate(access.now, access.clock_hz, 1, access.core_hz);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stm32::testing::Bench;

    /// A watchdog on a 32 kHz LSI: 500 core cycles to a period.
    fn running(window: bool, writes: &[(u32, u32)]) -> (Bench, Iwdg) {
        let mut bench = Bench::new();
        bench.clock_hz = 32_000;
        let mut iwdg = Iwdg::new(window);
        for &(offset, value) in writes {
            iwdg.write_register(offset, value, &mut bench.access());
        }
        (bench, iwdg)
    }

    #[test]
    fn resets_the_chip_unless_fed() {
        // /4, reload 99: 100 ticks of 4 periods.
        let (mut bench, mut iwdg) = running(false, &[(0, UNLOCK), (8, 99), (0, RELOAD), (0, START)]);
        assert_eq!(iwdg.watchdog_reset_cycle(), 100 * 4 * 500);
        iwdg.write_register(0, RELOAD, &mut bench.access_at(150_000));
        assert_eq!(iwdg.watchdog_reset_cycle(), 350_000);
        iwdg.advance_to_now(&mut bench.access_at(349_999));
        assert_eq!(bench.effects.chip_reset, None);
        iwdg.advance_to_now(&mut bench.access_at(350_000));
        assert_eq!(bench.effects.chip_reset, Some(ResetCause::Iwdg));
    }

    #[test]
    fn new_reload_value_waits_for_the_next_reload() {
        let (mut bench, mut iwdg) = running(false, &[(0, UNLOCK), (8, 99), (0, START), (0, UNLOCK), (8, 9)]);
        assert_eq!(iwdg.watchdog_reset_cycle(), 100 * 4 * 500);
        iwdg.write_register(0, RELOAD, &mut bench.access_at(100_000));
        assert_eq!(iwdg.watchdog_reset_cycle(), 100_000 + 10 * 4 * 500);
    }

    /// IWDG_PR and IWDG_RLR accept writes only after the unlock key, and IWDG_SR shows the update for a while.
    #[test]
    fn prescaler_and_reload_need_the_key_and_time_to_update() {
        let (mut bench, mut iwdg) = running(false, &[(4, 3), (8, 5)]);
        assert_eq!(
            (iwdg.read_register(4, &mut bench.access()), iwdg.read_register(8, &mut bench.access())),
            (0, 0xfff)
        );
        iwdg.write_register(0, UNLOCK, &mut bench.access());
        iwdg.write_register(4, 3, &mut bench.access());
        iwdg.write_register(8, 5, &mut bench.access());
        assert_eq!((iwdg.read_register(4, &mut bench.access()), iwdg.read_register(8, &mut bench.access())), (3, 5));
        assert_eq!(iwdg.read_register(0xc, &mut bench.access_at(2499)), 3);
        assert_eq!((iwdg.read_register(0xc, &mut bench.access_at(2500)), iwdg.next_event_cycle()), (0, NEVER));
        iwdg.write_register(0, RELOAD, &mut bench.access());
        iwdg.write_register(4, 1, &mut bench.access());
        assert_eq!(iwdg.read_register(4, &mut bench.access()), 3, "any other key closes");
    }

    #[test]
    fn feeding_before_the_window_resets() {
        for (window, at, reset) in [(true, 1_000, true), (true, 120_000, false), (false, 1_000, false)] {
            let (mut bench, mut iwdg) = running(window, &[(0, UNLOCK), (8, 99), (0x10, 50), (0, START)]);
            iwdg.write_register(0, RELOAD, &mut bench.access_at(at));
            assert_eq!(bench.effects.chip_reset.is_some(), reset, "{window} {at}");
        }
    }
}
