//! Phase-locked loops PLL_SYS and PLL_USB (RP2040 data sheet 2.18).
//!
//! Lock is immediate once the loop is powered: the settling time is not documented.

use crate::{Access, Peripheral};

const PWR_PD: u32 = 1 << 0;
const PWR_POSTDIVPD: u32 = 1 << 3;
const PWR_VCOPD: u32 = 1 << 5;
const CS_BYPASS: u32 = 1 << 8;
const CS_LOCK: u32 = 1 << 31;

/// One phase-locked loop (PLL) of the RP2040.
#[derive(Debug, Clone)]
pub struct Pll {
    cs: u32,
    pwr: u32,
    fbdiv: u32,
    prim: u32,
}

impl Default for Pll {
    /// Returns a PLL in its reset state, without power.
    fn default() -> Self {
        Self { cs: 1, pwr: 0x2d, fbdiv: 0, prim: 0x77000 }
    }
}

impl Pll {
    /// Returns whether the loop is powered, its VCO runs and a feedback divider is set.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.pwr & (PWR_PD | PWR_VCOPD) == 0 && self.fbdiv != 0
    }

    /// Returns the oscillator's frequency in Hz while the loop runs and its output is in use; else 0.
    #[must_use]
    pub fn vco_hz(&self, reference_hz: u64) -> u64 {
        if self.cs & CS_BYPASS != 0 || !self.is_locked() || self.pwr & PWR_POSTDIVPD != 0 {
            return 0;
        }
        reference_hz * u64::from(self.fbdiv) / u64::from(self.cs & 0x3f).max(1)
    }

    /// Returns the output in Hz from a reference of `reference_hz` (the crystal oscillator).
    #[must_use]
    pub fn hz(&self, reference_hz: u64) -> u64 {
        if self.cs & CS_BYPASS != 0 {
            return reference_hz;
        }
        if !self.is_locked() || self.pwr & PWR_POSTDIVPD != 0 {
            return 0;
        }
        let refdiv = u64::from(self.cs & 0x3f).max(1);
        let post = u64::from((self.prim >> 16) & 7).max(1) * u64::from((self.prim >> 12) & 7).max(1);
        reference_hz * u64::from(self.fbdiv) / (refdiv * post)
    }
}

impl Peripheral for Pll {
    const NAME: &'static str = "PLL";

    /// Puts the registers of a PLL to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of a PLL at a byte offset. `access` holds the time in cycles and the requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x0c {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of a PLL at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.cs = value & (CS_BYPASS | 0x3f),
            0x04 => self.pwr = value & 0x2d,
            0x08 => self.fbdiv = value & 0xfff,
            0x0c => self.prim = value & 0x77000,
            _ => {
                access.effects.unmodelled = Some((offset, true));
                return;
            }
        }
        access.effects.clocks_changed = true;
    }

    /// Returns the value of a register of a PLL at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cs | if self.is_locked() { CS_LOCK } else { 0 },
            0x04 => self.pwr,
            0x08 => self.fbdiv,
            0x0c => self.prim,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    fn program(pll: &mut Pll, bench: &mut Bench, refdiv: u32, fbdiv: u32, prim: u32) {
        pll.write_register(0x00, refdiv, &mut bench.access());
        pll.write_register(0x08, fbdiv, &mut bench.access());
        pll.write_register(0x04, 0x2d & !(PWR_PD | PWR_VCOPD), &mut bench.access());
        pll.write_register(0x0c, prim, &mut bench.access());
        pll.write_register(0x04, 4, &mut bench.access());
    }

    #[test]
    fn common_pll_frequencies() {
        let mut bench = Bench::new();
        for (fbdiv, prim, hz) in [
            (125, 0x62000, 125_000_000),
            (100, 0x55000, 48_000_000),
            (133, 0x62000, 133_000_000),
            (100, 0x61000, 200_000_000),
        ] {
            let mut pll = Pll::default();
            program(&mut pll, &mut bench, 1, fbdiv, prim);
            assert_eq!(pll.hz(12_000_000), hz);
        }
    }

    #[test]
    fn lock_needs_power_and_output_needs_the_post_dividers() {
        let mut bench = Bench::new();
        let mut pll = Pll::default();
        pll.write_register(0x08, 125, &mut bench.access());
        assert_eq!(pll.read_register(0x00, &mut bench.access()) & CS_LOCK, 0);
        pll.write_register(0x04, 0x2d & !(PWR_PD | PWR_VCOPD), &mut bench.access());
        assert_eq!(pll.read_register(0x00, &mut bench.access()) & CS_LOCK, CS_LOCK);
        assert_eq!(pll.hz(12_000_000), 0);
        pll.write_register(0x00, CS_BYPASS | 1, &mut bench.access());
        assert_eq!(pll.hz(12_000_000), 12_000_000);
    }

    #[test]
    fn reference_divider() {
        let mut bench = Bench::new();
        let mut pll = Pll::default();
        program(&mut pll, &mut bench, 2, 133, 0x61000);
        assert_eq!(pll.hz(12_000_000), 133_000_000);
        pll.reset_registers();
        assert_eq!(pll.read_register(0x04, &mut bench.access()), 0x2d);
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(PWR_PD, 0), (PWR_POSTDIVPD, 3), (PWR_VCOPD, 5), (CS_BYPASS, 8), (CS_LOCK, 31)] {
            assert_eq!(mask, 1u32 << number);
        }
    }

    #[test]
    fn either_power_down_bit_unlocks() {
        let mut bench = Bench::new();
        for (pwr, locked) in [(0, true), (1, false), (4, true), (8, true), (0x20, false)] {
            let mut pll = Pll::default();
            pll.write_register(0x08, 125, &mut bench.access());
            pll.write_register(0x04, pwr, &mut bench.access());
            assert_eq!(pll.is_locked(), locked, "PWR {pwr:#x}");
        }
    }
}
