//! The flash interface's registers: access control, locks, programming and erasing.
//!
//! The machine owns the bytes and the timing of reads. It reads [`Flash::current_flash_read_settings`] when ACR
//! changes, carries out the erasures it finds in the effects, and asks [`Flash::handle_store_to_flash`] about every
//! store into the array. Programming takes the typical times of the data sheets (assumed where a range is given). Reads
//! meanwhile are not held up. The bus errors of a wrong key and of a write to a locked array are not raised.

use super::block::{Access, Block};
use super::effects::FlashErase;
use crate::{FractionalRateCounter, NEVER};

mod banked;
mod l0;
#[cfg(test)]
mod tests;

pub(super) use banked::{F1, F4, F7, H7};
pub(super) use l0::L0;

/// The outcome of a store to the flash array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlashStore {
    /// Programmed: the machine combines the bytes with what is there (bits can only go to the programmed state).
    Program,
    /// Refused: nothing changes.
    Refused,
}

/// The settings of the flash's read accesses, decoded from ACR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashControl {
    /// Wait states.
    pub wait_states: u8,
    /// Prefetch enabled.
    pub prefetch: bool,
    /// F4: instruction cache; F7: the ART accelerator.
    pub instruction_cache: bool,
    /// F4: data cache.
    pub data_cache: bool,
    /// L0: DISAB_BUF switches all buffers off.
    pub buffers_off: bool,
    /// L0: PRE_READ.
    pub pre_read: bool,
    /// F1: half-cycle access.
    pub half_cycle: bool,
    /// ACR itself.
    pub acr: u32,
}

/// The bits of ACR, the access control register, in a family's flash interface.
#[derive(Debug)]
pub(super) struct AcrBits {
    reset: u32,
    writable: u32,
    latency: u32,
    prefetch: u32,
    instruction_cache: u32,
    data_cache: u32,
    /// (bit of the reset strobe, bit that must be 0 for it): instruction and data cache.
    cache_reset: [Option<(u32, u32)>; 2],
    /// Status bit that follows an enable: (enable, status).
    echo: Option<(u32, u32)>,
}

/// The way in which flash is programmed and erased in a family.
#[derive(Debug)]
pub(super) enum Program {
    /// Key, status and control registers per bank.
    Banked(&'static banked::Spec),
    /// L0: PECR.
    L0,
}

/// The properties of a family's flash interface.
#[derive(Debug)]
pub(super) struct Spec {
    acr: AcrBits,
    program: Program,
    /// Option bytes and other registers with fixed values: (offset, value).
    options: &'static [(u32, u32)],
}

/// The registers of the flash interface.
#[derive(Debug, Clone)]
pub struct Flash {
    spec: &'static Spec,
    acr: u32,
    banks: [Bank; 2],
    l0: l0::State,
    words: Vec<u32>,
    base: u32,
    bytes: u32,
}

/// The programming state of one bank of flash.
#[derive(Debug, Clone, Default)]
struct Bank {
    cr: u32,
    sr: u32,
    address: u32,
    keys: UnlockKeyProgress,
    option_keys: UnlockKeyProgress,
    busy: Option<(FractionalRateCounter, u64)>,
}

/// The progress of the key sequence that unlocks registers of the flash interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum UnlockKeyProgress {
    #[default]
    Locked,
    Half,
    Open,
    /// A wrong key: locked until reset.
    Barred,
}

impl UnlockKeyProgress {
    /// Takes a written key: the first and then the second key of `pair` unlock, any other key locks until a reset.
    fn accept_unlock_key(&mut self, key: u32, pair: [u32; 2]) {
        *self = match (*self, key) {
            (UnlockKeyProgress::Locked, key) if key == pair[0] => UnlockKeyProgress::Half,
            (UnlockKeyProgress::Half, key) if key == pair[1] => UnlockKeyProgress::Open,
            (UnlockKeyProgress::Open, _) => UnlockKeyProgress::Open,
            _ => UnlockKeyProgress::Barred,
        };
    }

    /// Returns whether both keys were entered, so that the registers are unlocked.
    fn are_flash_unlock_keys_entered(self) -> bool {
        self == UnlockKeyProgress::Open
    }

    /// Locks the registers again, as a write of the LOCK bit does.
    fn lock_flash_registers(&mut self) {
        *self = UnlockKeyProgress::Locked;
    }
}

impl Bank {
    /// Returns whether the bank is being programmed or erased.
    fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Begins to program or erase the bank, which takes `ns` nanoseconds.
    fn begin_flash_operation(&mut self, ns: u64, access: &Access) {
        self.busy =
            Some((FractionalRateCounter::new_running_counter(access.now, 0, 1_000_000_000, 1, access.core_hz), ns));
    }

    /// Returns the core cycle at which programming or erasing ends, or [`NEVER`].
    fn flash_operation_end_cycle(&self) -> u64 {
        self.busy.as_ref().map_or(NEVER, |(time, ns)| time.first_cycle_at_counter_value(*ns))
    }
}

impl Flash {
    /// Creates the interface of `bytes` of flash at the address `base`.
    pub(super) fn new(spec: &'static Spec, base: u32, bytes: u32) -> Self {
        let mut flash = Self {
            spec,
            acr: 0,
            banks: [Bank::default(), Bank::default()],
            l0: l0::State::default(),
            words: vec![0; 0x200 / 4],
            base,
            bytes,
        };
        flash.reset_registers();
        flash
    }

    /// Returns the settings of the flash's read accesses in force.
    #[must_use]
    pub fn current_flash_read_settings(&self) -> FlashControl {
        let (bits, acr) = (&self.spec.acr, self.acr);
        let l0 = matches!(self.spec.program, Program::L0);
        let buffers_off = l0 && acr & 1 << 5 != 0;
        FlashControl {
            wait_states: (acr & bits.latency) as u8,
            prefetch: acr & bits.prefetch != 0 && !buffers_off,
            instruction_cache: acr & bits.instruction_cache != 0,
            data_cache: acr & bits.data_cache != 0,
            buffers_off,
            pre_read: l0 && acr & 1 << 6 != 0 && !buffers_off,
            half_cycle: bits.echo.is_some() && acr & 1 << 3 != 0,
            acr,
        }
    }

    /// Stores `bytes` bytes at `address` in the flash array (or the L0's EEPROM). Returns whether that programs.
    pub fn handle_store_to_flash(&mut self, address: u32, bytes: u32, access: &mut Access) -> FlashStore {
        self.advance_to_now(access);
        match self.spec.program {
            Program::Banked(spec) => self.store_to_banked_flash(spec, address, bytes, access),
            Program::L0 => self.store_to_l0_flash(address, bytes, access),
        }
    }

    /// Returns the offset of a register without its alias: on the H7 the registers that both banks share appear in each
    /// bank's half.
    fn register_offset_without_bank_alias(&self, offset: u32) -> u32 {
        match (&self.spec.program, offset) {
            (Program::Banked(spec), 0x100 | 0x108 | 0x118 | 0x11c | 0x120) if spec.has_banks() => offset - 0x100,
            _ => offset,
        }
    }

    /// Writes ACR, the access control register: wait states and caches. Reports the change in `access`.
    fn write_access_control_register(&mut self, value: u32, access: &mut Access) {
        let bits = &self.spec.acr;
        let before = self.acr;
        let mut acr = before & !bits.writable | value & bits.writable;
        for (cache, strobe) in bits.cache_reset.iter().enumerate() {
            if let Some((reset, enable)) = *strobe
                && acr >> reset & 1 != 0
                && acr >> enable & 1 == 0
            {
                let flag = &mut access.effects.flash_cache_reset;
                *(if cache == 0 { &mut flag.0 } else { &mut flag.1 }) = true;
            }
        }
        if let Some((enable, status)) = bits.echo {
            acr = acr & !(1 << status) | (acr >> enable & 1) << status;
        }
        self.acr = acr;
        access.effects.flash_timing_changed |= before != acr;
    }
}

impl Block for Flash {
    /// Puts the registers of the flash interface to their reset values. The content of the flash stays.
    fn reset_registers(&mut self) {
        self.acr = self.spec.acr.reset;
        self.words.fill(0);
        for &(offset, value) in self.spec.options {
            self.words[offset as usize / 4] = value;
        }
        self.banks = [Bank::default(), Bank::default()];
        self.l0 = l0::State::default();
        if let Program::Banked(spec) = self.spec.program {
            for bank in &mut self.banks {
                bank.cr = spec.cr_reset;
            }
        }
    }

    /// Reads a register of the flash interface at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        self.peek_register(offset, access)
    }

    /// Writes a register of the flash interface at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        let offset = self.register_offset_without_bank_alias(offset);
        match self.spec.program {
            _ if offset == 0 => self.write_access_control_register(value, access),
            Program::Banked(spec) => self.write_banked_register(spec, offset, value, access),
            Program::L0 => self.write_l0_register(offset, value),
        }
    }

    /// Returns the value of a register of the flash interface at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let offset = self.register_offset_without_bank_alias(offset);
        if offset == 0 {
            return self.acr;
        }
        let special = match self.spec.program {
            Program::Banked(spec) => self.banked_register(spec, offset),
            Program::L0 => self.l0_flash_register_value(offset),
        };
        special.unwrap_or_else(|| self.words.get(offset as usize / 4).copied().unwrap_or(0))
    }

    /// Returns whether written 1 bits clear flags in the register at this offset: the status register, except on chips
    /// with a separate clear register.
    fn is_strobe(&self, offset: u32) -> bool {
        match self.spec.program {
            Program::Banked(spec) => spec.is_flag_cleared_in_status(offset),
            Program::L0 => offset == 0x18,
        }
    }

    /// Returns the core cycle of the next end of programming or erasing, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.banks[0].flash_operation_end_cycle().min(self.banks[1].flash_operation_end_cycle())
    }

    /// Ends the programming and erasing that is complete, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        for n in 0..2 {
            if self.banks[n].flash_operation_end_cycle() <= access.now {
                self.banks[n].busy = None;
                match self.spec.program {
                    Program::Banked(spec) => self.finish_flash_bank_operation(spec, n),
                    Program::L0 => self.banks[0].sr |= l0::EOP,
                }
            }
        }
    }

    /// Adapts the remaining time of programming and erasing to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        for bank in &mut self.banks {
            if let Some((time, _)) = &mut bank.busy {
                time.change_counting_rate(access.now, 1_000_000_000, 1, access.core_hz);
            }
        }
    }

    /// Returns 1 while the flash interface requests its interrupt, after an operation or an error.
    fn interrupt_outputs(&self) -> u32 {
        u32::from(match self.spec.program {
            Program::Banked(spec) => self.interrupt_level_of_banked_flash(spec),
            Program::L0 => self.l0_flash_interrupt_level(),
        })
    }
}

/// Requests the machine to set bytes of the flash to `value`.
fn request_erase(access: &mut Access, address: u32, bytes: u32, value: u8) {
    access.effects.erase.push(FlashErase { address, bytes, value });
}
