//! F1, F4, F7 and H7: a key register, a status and a control register, on H7 once per bank
//! (RM0008/PM0075, RM0090 3.9, RM0410 3.7, RM0433 4.9).

use super::{AcrBits, Flash, FlashStore, Program, UnlockKeyProgress, request_erase};
use crate::stm32::block::Access;

const KEY_PAIR: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// The way in which firmware selects the part of the flash to erase: by sector or by page.
#[derive(Debug, Clone, Copy)]
enum Unit {
    /// Page that holds the address in AR, of this many bytes.
    Page(u32),
    /// Sector number in CR: (shift, bits), and the sizes in kB of the first sectors; the last one repeats.
    Sector(u32, u32, &'static [u32]),
}

/// The registers and bits of a kind of flash interface.
#[derive(Debug)]
pub(in crate::stm32) struct Spec {
    /// KEYR, OPTKEYR, SR, CR of bank 1, and the distance to those of bank 2 (0: one bank).
    key: u32,
    option_key: u32,
    option_pair: [u32; 2],
    sr: u32,
    cr: u32,
    stride: u32,
    /// Register that clears status bits. `None`: writing 1 to SR does.
    clear: Option<u32>,
    /// Address register of page erase.
    address: Option<u32>,
    pub(super) cr_reset: u32,
    pg: u32,
    erase: u32,
    mass: u32,
    start: u32,
    lock: u32,
    busy: u32,
    eop: u32,
    /// Programming without PG or of a forbidden size.
    sequence_error: u32,
    errors: u32,
    /// EOPIE and ERRIE in CR.
    interrupts: (u32, u32),
    unit: Unit,
    /// Bytes that make one programming operation, with its time. The H7 collects 32.
    word_bytes: u32,
    program_ns: u64,
    erase_ns_per_kb: u64,
    /// OPTCR, whose bit 0 is OPTLOCK.
    option_control: Option<u32>,
}

pub(in crate::stm32) static F1: super::Spec = super::Spec {
    acr: AcrBits {
        reset: 0x30,
        writable: 0x1f,
        latency: 7,
        prefetch: 1 << 4,
        instruction_cache: 0,
        data_cache: 0,
        cache_reset: [None; 2],
        echo: Some((4, 5)),
    },
    program: Program::Banked(&Spec {
        key: 0x04,
        option_key: 0x08,
        option_pair: KEY_PAIR,
        sr: 0x0c,
        cr: 0x10,
        stride: 0,
        clear: None,
        address: Some(0x14),
        cr_reset: 0x80,
        pg: 1 << 0,
        erase: 1 << 1,
        mass: 1 << 2,
        start: 1 << 6,
        lock: 1 << 7,
        busy: 1 << 0,
        eop: 1 << 5,
        sequence_error: 1 << 2,
        errors: 1 << 2 | 1 << 4,
        interrupts: (1 << 12, 1 << 10),
        unit: Unit::Page(1024),
        word_bytes: 2,
        program_ns: 52_500,
        erase_ns_per_kb: 20_000_000,
        option_control: None,
    }),
    options: &[(0x1c, 0x03ff_fffc), (0x20, u32::MAX)],
};

const F4_REGISTERS: Spec = Spec {
    key: 0x04,
    option_key: 0x08,
    option_pair: [0x0819_2a3b, 0x4c5d_6e7f],
    sr: 0x0c,
    cr: 0x10,
    stride: 0,
    clear: None,
    address: None,
    cr_reset: 1 << 31,
    pg: 1 << 0,
    erase: 1 << 1,
    mass: 1 << 2,
    start: 1 << 16,
    lock: 1 << 31,
    busy: 1 << 16,
    eop: 1 << 0,
    sequence_error: 1 << 7,
    errors: 0xf2,
    interrupts: (1 << 24, 1 << 25),
    unit: Unit::Sector(3, 4, &[16, 16, 16, 16, 64, 128]),
    word_bytes: 4,
    program_ns: 16_000,
    erase_ns_per_kb: 8_000_000,
    option_control: Some(0x14),
};

pub(in crate::stm32) static F4: super::Spec = super::Spec {
    acr: AcrBits {
        reset: 0,
        writable: 0x1f0f,
        latency: 0xf,
        prefetch: 1 << 8,
        instruction_cache: 1 << 9,
        data_cache: 1 << 10,
        cache_reset: [Some((11, 9)), Some((12, 10))],
        echo: None,
    },
    program: Program::Banked(&F4_REGISTERS),
    options: &[(0x14, 0x0fff_aaed)],
};

pub(in crate::stm32) static F7: super::Spec = super::Spec {
    acr: AcrBits {
        reset: 0,
        writable: 0x0b0f,
        latency: 0xf,
        prefetch: 1 << 8,
        instruction_cache: 1 << 9,
        data_cache: 0,
        cache_reset: [Some((11, 9)), None],
        echo: None,
    },
    // Single bank (nDBANK = 1, as delivered): sectors of 32, 128 and 256 kB.
    program: Program::Banked(&Spec { unit: Unit::Sector(3, 5, &[32, 32, 32, 32, 128, 256]), ..F4_REGISTERS }),
    // Boot from the ITCM alias of the flash, BOOT_ADD0 = 0x0080. Second address in system memory.
    options: &[(0x14, 0xffff_aafd), (0x18, 0x0040_0080)],
};

pub(in crate::stm32) static H7: super::Spec = super::Spec {
    acr: AcrBits {
        reset: 0x37,
        writable: 0x3f,
        latency: 0xf,
        prefetch: 0,
        instruction_cache: 0,
        data_cache: 0,
        cache_reset: [None; 2],
        echo: None,
    },
    program: Program::Banked(&Spec {
        key: 0x04,
        option_key: 0x08,
        option_pair: [0x0819_2a3b, 0x4c5d_6e7f],
        sr: 0x10,
        cr: 0x0c,
        stride: 0x100,
        clear: Some(0x14),
        address: None,
        cr_reset: 0x31,
        pg: 1 << 1,
        erase: 1 << 2,
        mass: 1 << 3,
        start: 1 << 7,
        lock: 1 << 0,
        busy: 1 << 0 | 1 << 2,
        eop: 1 << 16,
        sequence_error: 1 << 18,
        errors: 0x07ee_0000,
        interrupts: (1 << 16, 1 << 18),
        unit: Unit::Sector(8, 3, &[128]),
        word_bytes: 32,
        program_ns: 290_000,
        erase_ns_per_kb: 8_000_000,
        option_control: Some(0x18),
    }),
    options: &[
        (0x18, 1),
        (0x1c, 0x17c6_aad0),
        (0x20, 0x17c6_aad0),
        (0x28, 0xff),
        (0x2c, 0xff),
        (0x30, 0xff),
        (0x34, 0xff),
        (0x38, 0xff),
        (0x3c, 0xff),
        (0x40, 0x1ff0_0800),
        (0x44, 0x1ff0_0800),
    ],
};

impl Spec {
    /// Returns the bank of a register's offset, and the offset inside the bank.
    fn flash_bank_and_register_offset(&self, offset: u32) -> (usize, u32) {
        if self.stride != 0 && offset >= self.stride { (1, offset - self.stride) } else { (0, offset) }
    }

    /// Returns whether the register at an offset is the status register, and its bits are cleared by writing 1 to it.
    pub(super) fn is_flag_cleared_in_status(&self, offset: u32) -> bool {
        self.clear.is_none() && offset == self.sr
    }

    /// Returns whether each bank has registers of its own.
    pub(super) fn has_banks(&self) -> bool {
        self.stride != 0
    }

    /// Returns the number of banks.
    fn flash_bank_count(&self) -> u32 {
        1 + u32::from(self.has_banks())
    }
}

impl Flash {
    /// Returns the value of the register at an offset. `None` if the register only stores what is written.
    pub(super) fn banked_register(&self, spec: &Spec, offset: u32) -> Option<u32> {
        let (n, place) = spec.flash_bank_and_register_offset(offset);
        let bank = &self.banks[n];
        if place == spec.cr {
            Some(bank.cr)
        } else if place == spec.sr {
            Some(bank.sr | if bank.is_busy() { spec.busy } else { 0 })
        } else if place == spec.key || place == spec.option_key || Some(place) == spec.clear {
            Some(0)
        } else if Some(place) == spec.address {
            Some(bank.address)
        } else {
            None
        }
    }

    /// Writes a register.
    pub(super) fn write_banked_register(&mut self, spec: &Spec, offset: u32, value: u32, access: &mut Access) {
        let (n, place) = spec.flash_bank_and_register_offset(offset);
        let bank = &mut self.banks[n];
        if place == spec.key {
            bank.keys.accept_unlock_key(value, KEY_PAIR);
            if bank.keys.are_flash_unlock_keys_entered() {
                bank.cr &= !spec.lock;
            }
        } else if offset == spec.option_key {
            self.unlock_options(spec, value);
        } else if place == spec.sr && spec.clear.is_none() || Some(place) == spec.clear {
            bank.sr &= !value;
        } else if Some(place) == spec.address {
            bank.address = value;
        } else if place == spec.cr {
            self.write_control(spec, n, value, access);
        } else if Some(offset) == spec.option_control {
            self.write_option_control(offset, value);
        } else if self.banks[0].option_keys.are_flash_unlock_keys_entered() && matches!(offset, 0x18 | 0x20 | 0x44) {
            // Option bytes to come: stored; loading them needs a reset, which keeps the old ones here.
            self.words[offset as usize / 4] = value;
        }
    }

    /// Writes a key for the option bytes.
    fn unlock_options(&mut self, spec: &Spec, value: u32) {
        let bank = &mut self.banks[0];
        bank.option_keys.accept_unlock_key(value, spec.option_pair);
        if bank.option_keys.are_flash_unlock_keys_entered() {
            match spec.option_control {
                Some(offset) => self.words[offset as usize / 4] &= !1,
                // F1: OPTWRE in CR.
                None => bank.cr |= 1 << 9,
            }
        }
    }

    /// Writes the options' control register, if it is unlocked.
    fn write_option_control(&mut self, offset: u32, value: u32) {
        let bank = &mut self.banks[0];
        if !bank.option_keys.are_flash_unlock_keys_entered() {
            return;
        }
        // OPTSTRT (bit 1) reads 0: the options are taken at once.
        self.words[offset as usize / 4] = value & !2;
        if value & 1 != 0 {
            bank.option_keys.lock_flash_registers();
        }
    }

    /// Writes CR of a bank, if it is unlocked and idle.
    fn write_control(&mut self, spec: &Spec, n: usize, value: u32, access: &mut Access) {
        let bank = &mut self.banks[n];
        if !bank.keys.are_flash_unlock_keys_entered() || bank.is_busy() {
            return;
        }
        bank.cr = value & !spec.start & !spec.lock;
        if value & spec.lock != 0 {
            bank.cr |= spec.lock;
            bank.keys.lock_flash_registers();
        } else if value & spec.start != 0 {
            self.start_erase(spec, n, access);
        }
    }

    /// Starts the erasure that CR of a bank selects: a sector, a page or the whole bank.
    fn start_erase(&mut self, spec: &Spec, n: usize, access: &mut Access) {
        let bank_bytes = self.bytes / spec.flash_bank_count();
        let (bank_base, cr) = (self.base + n as u32 * bank_bytes, self.banks[n].cr);
        let (offset, bytes) = if cr & spec.mass != 0 {
            (0, bank_bytes)
        } else if cr & spec.erase == 0 {
            return;
        } else {
            match spec.unit {
                Unit::Page(bytes) => ((self.banks[n].address & !(bytes - 1)).wrapping_sub(bank_base), bytes),
                Unit::Sector(shift, bits, sizes_kb) => {
                    let number = cr >> shift & ((1 << bits) - 1);
                    let size = |n: u32| sizes_kb[(n as usize).min(sizes_kb.len() - 1)] * 1024;
                    ((0..number).map(size).sum(), size(number))
                }
            }
        };
        if offset >= bank_bytes || bytes > bank_bytes - offset {
            self.banks[n].sr |= spec.sequence_error;
            return;
        }
        request_erase(access, bank_base + offset, bytes, 0xff);
        // A mass erase is as fast as its largest unit, assumed.
        let unit_bytes = if cr & spec.mass != 0 { 128 * 1024 } else { bytes };
        let ns = match spec.unit {
            Unit::Page(_) => spec.erase_ns_per_kb,
            Unit::Sector(..) => u64::from(unit_bytes / 1024) * spec.erase_ns_per_kb,
        };
        self.banks[n].begin_flash_operation(ns, access);
    }

    /// Stores to the flash array. Returns whether that programs, or which error it sets.
    pub(super) fn store_to_banked_flash(
        &mut self,
        spec: &Spec,
        address: u32,
        bytes: u32,
        access: &mut Access,
    ) -> FlashStore {
        let bank_bytes = self.bytes / spec.flash_bank_count();
        let n = ((address.wrapping_sub(self.base)) / bank_bytes).min(spec.flash_bank_count() - 1) as usize;
        let bank = &mut self.banks[n];
        if bank.cr & spec.lock != 0 || bank.keys != UnlockKeyProgress::Open || bank.is_busy() {
            return FlashStore::Refused;
        }
        let size_ok = if spec.word_bytes == 2 { bytes == 2 } else { true };
        if bank.cr & spec.pg == 0 || !size_ok {
            bank.sr |= spec.sequence_error;
            return FlashStore::Refused;
        }
        // A wide flash word is programmed when its last bytes arrive.
        if spec.word_bytes <= 4 || (address + bytes).is_multiple_of(spec.word_bytes) {
            bank.begin_flash_operation(spec.program_ns, access);
        }
        FlashStore::Program
    }

    /// Ends the operation (programming or erasing) of bank `n`.
    pub(super) fn finish_flash_bank_operation(&mut self, spec: &Spec, n: usize) {
        let bank = &mut self.banks[n];
        // F4 and F7 show EOP only if its interrupt is enabled.
        if spec.lock != 1 << 31 || bank.cr & spec.interrupts.0 != 0 {
            bank.sr |= spec.eop;
        }
    }

    /// Returns the level of the interrupt line.
    pub(super) fn interrupt_level_of_banked_flash(&self, spec: &Spec) -> bool {
        let (end, error) = spec.interrupts;
        self.banks.iter().any(|bank| {
            bank.cr & end != 0 && bank.sr & spec.eop != 0 || bank.cr & error != 0 && bank.sr & spec.errors != 0
        })
    }
}
