//! Power control: voltage scaling, over-drive and the key to the backup domain, with their ready flags.
//!
//! Low-power modes are registers only: a core in deep sleep sleeps.

use super::block::{Access, Block};
use crate::{FractionalRateCounter, NEVER};

/// The kind of this block, by family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PwrKind {
    /// RM0008 chapter 5.
    F1,
    /// F407 and F411 (RM0090 5.4, RM0383 5.4): VOSRDY; reset value of CR.
    F4(u32),
    /// F446 and F7 (RM0390 5.4, RM0410 4.4): over-drive too.
    OverDrive,
    /// RM0367 6.4.
    L0,
    /// RM0433 6.8.
    H7,
}

/// Settling of a new voltage, assumed (the data sheets give "a few tens of microseconds" at most).
const SETTLE_NS: u64 = 20_000;
const DBP: u32 = 1 << 8;
const H7_CSR1: usize = 1;
const H7_CR3: usize = 3;
const H7_D3CR: usize = 6;
/// BYPASS, LDOEN, SCUEN.
const SUPPLY: u32 = 7;

/// The power control (PWR).
#[derive(Debug, Clone)]
pub struct Pwr {
    kind: PwrKind,
    words: [u32; 16],
    /// The main PLL is locked: F4 and F7 scale only then.
    pll: bool,
    /// H7: CR3 was written since power-on, which it takes once.
    supply_set: bool,
    /// Nanoseconds since the voltage was changed.
    settling: Option<FractionalRateCounter>,
}

impl Pwr {
    /// Returns the power control of a chip family in its reset state.
    pub(super) fn new(kind: PwrKind) -> Self {
        let mut pwr = Self { kind, words: [0; 16], pll: false, supply_set: false, settling: None };
        pwr.reset_registers();
        pwr
    }

    /// Returns whether the backup domain may be written.
    #[must_use]
    pub fn is_backup_domain_writable(&self) -> bool {
        self.words[0] & DBP != 0
    }

    /// Sets whether the PLL is ready.
    pub(super) fn set_pll_ready(&mut self, ready: bool) {
        self.pll = ready;
    }

    /// Returns the voltage scale field as it was written. The limits of the flash's wait states depend on it.
    #[must_use]
    pub fn voltage_scale(&self) -> u32 {
        match self.kind {
            PwrKind::F1 => 0,
            PwrKind::L0 => self.words[0] >> 11 & 3,
            PwrKind::H7 => self.words[H7_D3CR] >> 14 & 3,
            _ => self.words[0] >> 14 & 3,
        }
    }

    /// Begins the settling time of the voltage regulator.
    fn start_regulator_settling(&mut self, access: &Access) {
        self.settling =
            Some(FractionalRateCounter::new_running_counter(access.now, 0, 1_000_000_000, 1, access.core_hz));
    }

    /// Returns the value of the status register.
    fn status_register(&self) -> u32 {
        let (cr, csr) = (self.words[0], self.words[1]);
        let stable = self.settling.is_none();
        let bit = |on: bool, number: u32| u32::from(on) << number;
        match self.kind {
            PwrKind::F1 => csr,
            // BRR follows BRE. The over-drive bits follow the requests.
            PwrKind::F4(_) => csr | bit(csr >> 9 & 1 != 0, 3) | bit(self.pll && stable, 14),
            PwrKind::OverDrive => {
                let over_drive = bit(cr >> 16 & 1 != 0 && stable, 16) | bit(cr >> 17 & 1 != 0 && stable, 17);
                csr | bit(csr >> 9 & 1 != 0, 3) | bit(self.pll && stable, 14) | over_drive
            }
            PwrKind::L0 => csr | 1 << 3 | bit(!stable, 4) | bit(cr >> 14 & 1 != 0, 5),
            PwrKind::H7 => bit(self.supply_set && stable, 13) | (self.words[H7_D3CR] & 3 << 14),
        }
    }

    /// Writes CR.
    fn write_control_register(&mut self, value: u32, access: &Access) {
        let changed = self.words[0] ^ value;
        // CWUF and CSBF (bits 2 and 3) clear flags and read 0.
        let (strobes, scale) = match self.kind {
            PwrKind::F1 => (0xc, 0),
            PwrKind::F4(_) => (0xc, 3 << 14),
            PwrKind::OverDrive => (0xc, 3 << 14 | 3 << 16),
            PwrKind::L0 => (0xc, 3 << 11),
            PwrKind::H7 => (0, 0),
        };
        self.words[0] = value & !strobes;
        if changed & scale != 0 {
            self.start_regulator_settling(access);
        }
    }

    /// Writes a register of the H7.
    fn write_h7_power_register(&mut self, word: usize, value: u32, access: &Access) {
        match word {
            H7_CR3 => {
                let supply = if self.supply_set { self.words[word] } else { value } & SUPPLY;
                self.words[word] = value & 0x0300_0300 | supply;
                if !self.supply_set {
                    self.supply_set = true;
                    self.start_regulator_settling(access);
                }
            }
            H7_D3CR => {
                // VOS cannot be changed before the supply is configured (Run* mode).
                if self.supply_set && (self.words[word] ^ value) & 3 << 14 != 0 {
                    self.words[word] = value & 3 << 14;
                    self.start_regulator_settling(access);
                }
            }
            H7_CSR1 => {}
            _ => self.words[word] = value,
        }
    }
}

impl Block for Pwr {
    /// Puts the registers of the power control (PWR) to their reset values.
    fn reset_registers(&mut self) {
        let supply = self.words[H7_CR3] & SUPPLY;
        self.words = [0; 16];
        self.words[0] = match self.kind {
            PwrKind::F1 => 0,
            PwrKind::F4(cr) => cr,
            PwrKind::OverDrive => 0xc000,
            PwrKind::L0 => 0x1000,
            PwrKind::H7 => 0xf000_c000,
        };
        if self.kind == PwrKind::H7 {
            self.words[H7_CR3] = if self.supply_set { supply } else { 6 };
            self.words[H7_D3CR] = 1 << 14;
        }
        self.settling = None;
    }

    /// Reads a register of the power control (PWR) at a byte offset. `access` holds the time in core cycles and the
    /// number of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        self.peek_register(offset, access)
    }

    /// Writes a register of the power control (PWR) at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match (self.kind, offset) {
            (_, 0) => self.write_control_register(value, access),
            (PwrKind::H7, 0x04..=0x3c) => self.write_h7_power_register(offset as usize / 4, value, access),
            // EWUP, BRE: the low flags are the hardware's.
            (_, 4) => self.words[1] = value & 0xffff_ff00 & !(1 << 14 | 3 << 16),
            (PwrKind::OverDrive, 8 | 0xc) => self.words[offset as usize / 4] = value,
            _ => {}
        }
    }

    /// Returns the value of a register of the power control (PWR) at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let word = self.words.get(offset as usize / 4).copied().unwrap_or(0);
        match (self.kind, offset) {
            (_, 4) => self.status_register(),
            // BREN gives BRRDY. USB33DEN gives USB33RDY. VOSRDY.
            (PwrKind::H7, 0x08) => word | (word & 1) << 16,
            (PwrKind::H7, 0x0c) => word | (word >> 24 & 1) << 26,
            (PwrKind::H7, 0x18) => word | u32::from(self.supply_set && self.settling.is_none()) << 13,
            _ => word,
        }
    }

    /// Returns the core cycle at which the voltage regulator has settled, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.settling.as_ref().map_or(NEVER, |ns| ns.first_cycle_at_counter_value(SETTLE_NS))
    }

    /// Ends the settling of the voltage regulator if its time is over at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() <= access.now {
            self.settling = None;
        }
    }

    /// Adapts the remaining settling time to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        if let Some(ns) = &mut self.settling {
            ns.change_counting_rate(access.now, 1_000_000_000, 1, access.core_hz);
        }
    }
}

#[cfg(test)]
mod tests;
