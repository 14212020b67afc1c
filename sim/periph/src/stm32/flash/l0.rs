//! L0: PECR with its three locks; programming and erasing are stores into the array (RM0367 3.7).

use super::{AcrBits, Flash, FlashStore, Program, Spec, UnlockKeyProgress, request_erase};
use crate::stm32::block::Access;

/// SR.EOP.
pub(super) const EOP: u32 = 1 << 1;
const BSY: u32 = 1 << 0;
/// ENDHV and READY.
const IDLE: u32 = 1 << 2 | 1 << 3;
const WRPERR: u32 = 1 << 8;

const PELOCK: u32 = 1 << 0;
const PRGLOCK: u32 = 1 << 1;
const OPTLOCK: u32 = 1 << 2;
const PROG: u32 = 1 << 3;
const ERASE: u32 = 1 << 9;
const FPRG: u32 = 1 << 10;
const EOPIE: u32 = 1 << 16;
const ERRIE: u32 = 1 << 17;

const PAGE_BYTES: u32 = 128;
/// One word, half page or page: 3.2 ms (data sheet, typical).
const OPERATION_NS: u64 = 3_200_000;
const EEPROM_BASE: u32 = 0x0808_0000;

pub(in crate::stm32) static L0: Spec = Spec {
    acr: AcrBits {
        reset: 0,
        writable: 0x7b,
        latency: 1,
        prefetch: 1 << 1,
        instruction_cache: 0,
        data_cache: 0,
        cache_reset: [None; 2],
        echo: None,
    },
    program: Program::L0,
    options: &[(0x1c, 0x8070_00aa)],
};

/// The locks of the L0's flash interface.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// PECR without its lock bits.
    pecr: u32,
    data: UnlockKeyProgress,
    program: UnlockKeyProgress,
    options: UnlockKeyProgress,
}

impl Flash {
    /// Returns the value of PECR, the control register of programming and erasing.
    fn program_erase_control_register(&self) -> u32 {
        let lock = |keys: UnlockKeyProgress, bit: u32| if keys.are_flash_unlock_keys_entered() { 0 } else { bit };
        let locks = lock(self.l0.data, PELOCK) | lock(self.l0.program, PRGLOCK) | lock(self.l0.options, OPTLOCK);
        self.l0.pecr | locks
    }

    /// Returns the value of the register at an offset. `None` if the register only stores what is written.
    pub(super) fn l0_flash_register_value(&self, offset: u32) -> Option<u32> {
        match offset {
            0x04 => Some(self.program_erase_control_register()),
            0x08..=0x14 => Some(0),
            0x18 => Some(self.banks[0].sr | if self.banks[0].is_busy() { BSY } else { IDLE }),
            _ => None,
        }
    }

    /// Writes a register: PECR, or a key.
    pub(super) fn write_l0_register(&mut self, offset: u32, value: u32) {
        match offset {
            0x04 => self.write_program_erase_control(value),
            0x0c => self.l0.data.accept_unlock_key(value, [0x89ab_cdef, 0x0203_0405]),
            0x10 if self.l0.data.are_flash_unlock_keys_entered() => {
                self.l0.program.accept_unlock_key(value, [0x8c9d_aebf, 0x1314_1516])
            }
            0x14 if self.l0.data.are_flash_unlock_keys_entered() => {
                self.l0.options.accept_unlock_key(value, [0xfbea_d9c8, 0x2425_2627])
            }
            0x18 => self.banks[0].sr &= !value,
            _ => {}
        }
    }

    /// Writes PECR, if it is unlocked.
    fn write_program_erase_control(&mut self, value: u32) {
        if !self.l0.data.are_flash_unlock_keys_entered() {
            return;
        }
        if value & PRGLOCK != 0 && self.l0.program.are_flash_unlock_keys_entered() {
            self.l0.program.lock_flash_registers();
        }
        if value & OPTLOCK != 0 && self.l0.options.are_flash_unlock_keys_entered() {
            self.l0.options.lock_flash_registers();
        }
        self.l0.pecr = value & !(PELOCK | PRGLOCK | OPTLOCK);
        if value & PELOCK != 0 {
            self.l0 = State { pecr: self.l0.pecr, ..State::default() };
        }
    }

    /// Stores to flash or EEPROM. Returns whether that programs, or which error it sets.
    pub(super) fn store_to_l0_flash(&mut self, address: u32, bytes: u32, access: &mut Access) -> FlashStore {
        let eeprom = address >= EEPROM_BASE;
        let allowed = if eeprom {
            self.l0.data.are_flash_unlock_keys_entered()
        } else {
            self.l0.program.are_flash_unlock_keys_entered()
        };
        let mode = self.l0.pecr;
        if !allowed || self.banks[0].is_busy() || !eeprom && bytes != 4 {
            self.banks[0].sr |= WRPERR;
            return FlashStore::Refused;
        }
        // Half-page programming starts with the last of its 16 words.
        let half_page = mode & (FPRG | PROG) == FPRG | PROG && !eeprom;
        if !half_page || (address + 4).is_multiple_of(PAGE_BYTES / 2) {
            self.banks[0].begin_flash_operation(OPERATION_NS, access);
        }
        // A store to a page with ERASE and PROG set erases it. The word itself is not written.
        if mode & (ERASE | PROG) == ERASE | PROG && !eeprom {
            request_erase(access, address & !(PAGE_BYTES - 1), PAGE_BYTES, 0);
            return FlashStore::Refused;
        }
        FlashStore::Program
    }

    /// Returns the level of the interrupt line.
    pub(super) fn l0_flash_interrupt_level(&self) -> bool {
        let (sr, pecr) = (self.banks[0].sr, self.l0.pecr);
        sr & EOP != 0 && pecr & EOPIE != 0 || sr & WRPERR != 0 && pecr & ERRIE != 0
    }
}
