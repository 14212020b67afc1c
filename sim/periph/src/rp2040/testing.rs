//! A stand-in for the machine in unit tests.

use crate::{Access, ClockTree, Effects, ElapsedTime};

/// Owns what an [`Access`] borrows.
pub(crate) struct Bench {
    pub now: u64,
    pub core: usize,
    pub tree: ClockTree,
    pub effects: Effects,
}

impl Bench {
    /// 125 MHz clk_sys and clk_peri, 12 MHz clk_ref, 1 MHz tick.
    pub fn new() -> Self {
        let tree = ClockTree {
            sys_hz: 125_000_000,
            ref_hz: 12_000_000,
            peri_hz: 125_000_000,
            usb_hz: 48_000_000,
            adc_hz: 48_000_000,
            rtc_hz: 46_875,
            tick_hz_num: 12_000_000,
            tick_hz_den: 12,
            elapsed: ElapsedTime::new_at_power_on(125_000_000),
        };
        Self { now: 0, core: 0, tree, effects: Effects::default() }
    }

    pub fn access(&mut self) -> Access<'_> {
        Access { now_cycles: self.now, core: self.core, clocks: &self.tree, effects: &mut self.effects }
    }

    pub fn access_at(&mut self, now: u64) -> Access<'_> {
        self.now = now;
        self.access()
    }
}
