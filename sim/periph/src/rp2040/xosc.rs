//! Crystal oscillator (RP2040 data sheet 2.16).
//!
//! Its output is dead until STATUS.STABLE. DORMANT is accepted but never stops the clock.

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const ENABLE: u32 = 0xfab;
const DISABLE: u32 = 0xd1e;
const RANGE_1_15MHZ: u32 = 0xaa0;
const STARTUP_RESET: u32 = 0xc4;
const DORMANT_COMA: u32 = 0x636f_6d61;
const DORMANT_WAKE: u32 = 0x7761_6b65;

const STATUS_STABLE: u32 = 1 << 31;
const STATUS_BADWRITE: u32 = 1 << 24;
const STATUS_ENABLED: u32 = 1 << 12;

/// The crystal oscillator of the RP2040 (XOSC).
#[derive(Debug, Clone)]
pub struct Xosc {
    crystal_hz: u64,
    ctrl: u32,
    startup: u32,
    dormant: u32,
    badwrite: bool,
    enabled: bool,
    stable: bool,
    /// Crystal cycles since the oscillator was enabled.
    cycles: FractionalRateCounter,
    count_from: u32,
    count: FractionalRateCounter,
}

impl Xosc {
    /// Creates an oscillator with a crystal of `crystal_hz` on its pins.
    #[must_use]
    pub fn new(crystal_hz: u64) -> Self {
        Self {
            crystal_hz,
            ctrl: 0,
            startup: STARTUP_RESET,
            dormant: DORMANT_WAKE,
            badwrite: false,
            enabled: false,
            stable: false,
            cycles: FractionalRateCounter::default(),
            count_from: 0,
            count: FractionalRateCounter::default(),
        }
    }

    /// Returns the output frequency in Hz: the crystal's once stable, else 0.
    #[must_use]
    pub fn hz(&self) -> u64 {
        if self.stable { self.crystal_hz } else { 0 }
    }

    /// Returns the start-up delay in crystal cycles (STARTUP.DELAY counts 256; X4 multiplies by four).
    fn startup_cycles(&self) -> u64 {
        let unit = if self.startup & 1 << 20 != 0 { 1024 } else { 256 };
        u64::from(self.startup & 0x3fff) * unit
    }

    /// Writes CTRL: enables or disables the oscillator.
    fn write_control_register(&mut self, value: u32, access: &mut Access) {
        if value & 0xfff != RANGE_1_15MHZ && value & 0xfff != 0 {
            self.badwrite = true;
        }
        match (value >> 12) & 0xfff {
            ENABLE if !self.enabled => {
                self.enabled = true;
                self.stable = false;
                self.cycles = FractionalRateCounter::new_running_counter(
                    access.now_cycles,
                    0,
                    self.crystal_hz,
                    1,
                    access.clocks.sys_hz,
                );
                self.advance_to_now(access);
            }
            DISABLE => {
                access.effects.clocks_changed |= self.stable;
                self.enabled = false;
                self.stable = false;
            }
            ENABLE => {}
            _ => self.badwrite = true,
        }
        self.ctrl = value & 0x00ff_ffff;
    }
}

impl Peripheral for Xosc {
    const NAME: &'static str = "XOSC";

    /// Puts the registers of the crystal oscillator to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::new(self.crystal_hz);
    }

    /// Reads a register of the crystal oscillator at a byte offset. `access` holds the time in cycles and the
    /// requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if !matches!(offset, 0x00 | 0x04 | 0x08 | 0x0c | 0x1c) {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the crystal oscillator at a byte offset. `access` holds the time in cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.write_control_register(value, access),
            0x04 => self.badwrite &= value & STATUS_BADWRITE == 0,
            0x08 => {
                self.badwrite |= value != DORMANT_COMA && value != DORMANT_WAKE;
                self.dormant = value;
            }
            0x0c => self.startup = value & 0x0010_3fff,
            0x1c => {
                self.count_from = value & 0xff;
                let hz = if self.enabled { self.crystal_hz } else { 0 };
                self.count =
                    FractionalRateCounter::new_running_counter(access.now_cycles, 0, hz, 1, access.clocks.sys_hz);
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the crystal oscillator at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        match offset {
            0x00 => self.ctrl,
            0x04 => {
                let mut status = 0;
                status |= if self.stable { STATUS_STABLE } else { 0 };
                status |= if self.badwrite { STATUS_BADWRITE } else { 0 };
                status | if self.enabled { STATUS_ENABLED } else { 0 }
            }
            0x08 => self.dormant,
            0x0c => self.startup,
            0x1c => self.count_from.saturating_sub(self.count.value_at_cycle(access.now_cycles).min(255) as u32),
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for STATUS only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x04
    }

    /// Returns the cycle at which the started oscillator becomes stable, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        if self.enabled && !self.stable {
            self.cycles.first_cycle_at_counter_value(self.startup_cycles())
        } else {
            NEVER
        }
    }

    /// Makes the oscillator stable if its start-up time is over at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() <= access.now_cycles {
            self.stable = true;
            access.effects.clocks_changed = true;
        }
    }

    /// Adapts the start-up time and the COUNT register to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        let sys_hz = access.clocks.sys_hz;
        self.cycles.change_counting_rate(access.now_cycles, self.crystal_hz, 1, sys_hz);
        if self.count.is_counting() {
            self.count.change_counting_rate(access.now_cycles, self.crystal_hz, 1, sys_hz);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn stable_after_the_programmed_delay() {
        let mut bench = Bench::new();
        bench.tree.sys_hz = 6_500_000;
        let mut xosc = Xosc::new(12_000_000);
        xosc.write_register(0x0c, 47, &mut bench.access());
        xosc.write_register(0x00, 0xfab_aa0, &mut bench.access());
        // 47 * 256 crystal cycles = 1.00267 ms = 6517.33 cycles at 6.5 MHz.
        assert_eq!(xosc.next_event_cycle(), 6518);
        assert_eq!(xosc.read_register(0x04, &mut bench.access()), STATUS_ENABLED);
        xosc.advance_to_now(&mut bench.access_at(6517));
        assert_eq!(xosc.hz(), 0);
        xosc.advance_to_now(&mut bench.access_at(6518));
        assert_eq!((xosc.hz(), xosc.next_event_cycle()), (12_000_000, NEVER));
        assert!(bench.effects.clocks_changed);
        assert_eq!(xosc.read_register(0x04, &mut bench.access()), STATUS_ENABLED | STATUS_STABLE);
    }

    #[test]
    fn x4_multiplies_the_delay_and_disable_stops() {
        let mut bench = Bench::new();
        bench.tree.sys_hz = 12_000_000;
        let mut xosc = Xosc::new(12_000_000);
        xosc.write_register(0x0c, 1 << 20 | 2, &mut bench.access());
        xosc.write_register(0x00, 0xfab_aa0, &mut bench.access());
        assert_eq!(xosc.next_event_cycle(), 2048);
        xosc.advance_to_now(&mut bench.access_at(2048));
        xosc.write_register(0x00, 0xd1e_aa0, &mut bench.access());
        assert_eq!(xosc.hz(), 0);
    }

    #[test]
    fn bad_write_is_flagged_and_cleared_by_one() {
        let mut bench = Bench::new();
        let mut xosc = Xosc::new(12_000_000);
        xosc.write_register(0x00, 0x123_aa0, &mut bench.access());
        assert_eq!(xosc.read_register(0x04, &mut bench.access()), STATUS_BADWRITE);
        xosc.write_register(0x04, STATUS_BADWRITE, &mut bench.access());
        assert_eq!(xosc.read_register(0x04, &mut bench.access()), 0);
    }

    #[test]
    fn count_runs_down_at_the_crystal_rate() {
        let mut bench = Bench::new();
        bench.tree.sys_hz = 12_000_000;
        let mut xosc = Xosc::new(12_000_000);
        xosc.write_register(0x00, 0xfab_aa0, &mut bench.access());
        xosc.write_register(0x1c, 10, &mut bench.access());
        assert_eq!(xosc.read_register(0x1c, &mut bench.access_at(4)), 6);
        assert_eq!(xosc.read_register(0x1c, &mut bench.access_at(400)), 0);
    }

    #[test]
    fn dormant_takes_its_two_words_only() {
        let mut bench = Bench::new();
        let mut xosc = Xosc::new(12_000_000);
        for (value, bad) in [(DORMANT_COMA, 0), (DORMANT_WAKE, 0), (1, STATUS_BADWRITE)] {
            xosc.write_register(0x08, value, &mut bench.access());
            assert_eq!(xosc.read_register(0x04, &mut bench.access()), bad);
            assert_eq!(xosc.read_register(0x08, &mut bench.access()), value);
        }
    }

    #[test]
    fn clock_change_moves_the_stable_cycle() {
        let mut bench = Bench::new();
        bench.tree.sys_hz = 12_000_000;
        let mut xosc = Xosc::new(12_000_000);
        xosc.write_register(0x0c, 1, &mut bench.access());
        xosc.write_register(0x00, 0xfab_aa0, &mut bench.access());
        xosc.write_register(0x1c, 200, &mut bench.access());
        bench.tree.sys_hz = 6_000_000;
        xosc.clocks_changed(&mut bench.access_at(100));
        assert_eq!(xosc.next_event_cycle(), 100 + 78);
        assert_eq!(xosc.read_register(0x1c, &mut bench.access_at(110)), 80);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(STATUS_STABLE, 31), (STATUS_BADWRITE, 24), (STATUS_ENABLED, 12)] {
            assert_eq!(mask, 1u32 << number);
        }
    }

    #[test]
    fn crystal_oscillator_control_reads_back() {
        let mut bench = Bench::new();
        let mut xosc = Xosc::new(12_000_000);
        xosc.write_register(0x00, 0x123_aa0, &mut bench.access());
        assert_eq!(xosc.read_register(0x00, &mut bench.access()), 0x123_aa0);
        xosc.write_register(0x04, !STATUS_BADWRITE, &mut bench.access());
        assert_eq!(xosc.read_register(0x04, &mut bench.access()), STATUS_BADWRITE);
        let strobes: Vec<u32> = (0..0x20).step_by(4).filter(|&offset| xosc.is_strobe(offset)).collect();
        assert_eq!(strobes, [0x04]);
    }
}
