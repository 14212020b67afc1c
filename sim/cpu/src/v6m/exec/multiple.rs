//! Multiple transfers: PUSH, POP, STM, LDM. They give way between words, and an interrupt can abandon them.
//!
//! `Core::transfer` says how far one has come.

use super::branch::returns_from_exception;
use super::cursor::{Flow, InterpreterRegisters};
use super::operands::{are_words_in_constant_memory, are_words_in_plain_ram};
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::trace::Trace;

/// Stands for PC in the mask of a POP, in which it is the last word.
const PC: u32 = 8;
/// No register of a transfer: all that it loads is committed at once.
const NONE: u32 = u32::MAX;

impl<const CONTEND: bool, const WATCH: u8> InterpreterRegisters<CONTEND, WATCH> {
    /// Executes PUSH.
    #[inline(always)]
    pub fn execute_push<B: Bus>(&mut self, core: &mut Core, other: &Core, bus: &mut B) -> Result<(), Flow> {
        let bottom = core.r[13].wrapping_sub(u32::from(self.word.c()) * 4);
        self.store_words(core, other, bus, bottom)?;
        core.r[13] = bottom;
        self.t += 1;
        Ok(())
    }

    /// Executes STM.
    #[inline(always)]
    pub fn execute_stm<B: Bus>(&mut self, core: &mut Core, other: &Core, bus: &mut B) -> Result<(), Flow> {
        let register = (self.word.b() & 15) as usize;
        let base = core.r[register];
        self.store_words(core, other, bus, base)?;
        core.r[register] = base.wrapping_add(u32::from(self.word.c()) * 4);
        self.t += 1;
        Ok(())
    }

    /// Executes POP without PC.
    #[inline(always)]
    pub fn execute_pop<B: Bus>(&mut self, core: &mut Core, other: &Core, bus: &mut B) -> Result<(), Flow> {
        let (mask, words) = (self.word.imm(), self.word.c());
        self.load_words(core, other, bus, (mask, words), core.r[13], NONE)?;
        core.r[13] = core.r[13].wrapping_add(u32::from(words) * 4);
        self.t += 1;
        Ok(())
    }

    /// Executes POP with PC, which branches.
    #[inline(always)]
    pub fn execute_pop_with_pc<B: Bus>(&mut self, core: &mut Core, other: &Core, bus: &mut B) -> Result<Flow, Flow> {
        let words = self.word.c();
        if Self::AHEAD {
            let last = core.r[13].wrapping_add(u32::from(words) * 4);
            if !are_words_in_plain_ram(bus, last, 1, false) {
                return Err(Flow::InTime);
            }
            let target = self.load_from_address::<B, 4, false>(core, other, bus, last)?;
            let offset = (target & !1).wrapping_sub(core.region.base);
            let is_near = target & 1 != 0 && offset < core.region.bytes;
            if !(is_near || Self::PAIRED && returns_from_exception(core, target)) {
                return Err(Flow::InTime);
            }
            if !Self::PAIRED && self.indirect != Trace::NO_INDIRECT {
                return Err(Flow::NextTrace);
            }
        }
        self.load_words(core, other, bus, (self.word.imm() | 1 << PC, words + 1), core.r[13], PC)?;
        core.r[13] = core.r[13].wrapping_add(u32::from(words) * 4 + 4);
        Ok(self.execute_bx(core, bus, core.transfer.held, self.t + 1))
    }

    /// Executes LDM.
    #[inline(always)]
    pub fn execute_ldm<B: Bus>(&mut self, core: &mut Core, other: &Core, bus: &mut B) -> Result<(), Flow> {
        let (mask, words, register) = (self.word.imm(), self.word.c(), self.word.b());
        let base = core.r[(register & 15) as usize];
        self.load_words(core, other, bus, (mask, words), base, u32::from(register))?;
        core.r[(register & 15) as usize] =
            if mask & 1 << register != 0 { core.transfer.held } else { base.wrapping_add(u32::from(words) * 4) };
        self.t += 1;
        Ok(())
    }

    /// Stores the registers of the instruction's mask from `address` on.
    #[inline(always)]
    fn store_words<B: Bus>(&mut self, core: &mut Core, other: &Core, bus: &mut B, address: u32) -> Result<(), Flow> {
        let (mask, words) = (self.word.imm(), self.word.c());
        let mut first = self.begin_transfer::<B, true>(core, bus, mask, address, words)?;
        if Self::PAIRED && Self::AHEAD {
            let mask = std::mem::take(&mut core.transfer.mask);
            // SAFETY: all of it is plain RAM; the bus's logs live as long as it.
            unsafe {
                (*self.log).store_words(
                    core,
                    mask,
                    bus.main_ram().main_ram_pointer(),
                    address.wrapping_sub(B::RAM_BASE),
                )
            };
            return Ok(());
        }
        while core.transfer.mask != 0 {
            if self.must_transfer_pause(core, first) {
                return Err(Flow::Stalled);
            }
            let slot = self.t;
            let address = if Self::TIMES && !Self::PAIRED { B::RAM_BASE } else { core.transfer.address };
            let value = core.r[(core.transfer.mask.trailing_zeros() & 15) as usize];
            self.store_to_address::<B, 4, false>(core, other, bus, address, value)?;
            self.account_transferred_word_cycles(core, slot);
            first = false;
        }
        Ok(())
    }

    /// Loads the registers of a mask from consecutive words at `address`. The `held` one goes to `Core::transfer`.
    #[inline(always)]
    fn load_words<B: Bus>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
        (mask, words): (u32, u8),
        address: u32,
        held: u32,
    ) -> Result<(), Flow> {
        let mut first = self.begin_transfer::<B, false>(core, bus, mask, address, words)?;
        if Self::PAIRED && Self::AHEAD && address.wrapping_sub(B::RAM_BASE) < bus.main_ram().length_in_bytes() {
            let offset = address.wrapping_sub(B::RAM_BASE);
            let mask = std::mem::take(&mut core.transfer.mask);
            // SAFETY: as for stores.
            unsafe { (*self.log).load_words(core, (mask, held), (bus.main_ram().main_ram_pointer(), offset)) };
            return Ok(());
        }
        while core.transfer.mask != 0 {
            if self.must_transfer_pause(core, first) {
                return Err(Flow::Stalled);
            }
            let slot = self.t;
            let register = core.transfer.mask.trailing_zeros();
            let value = self.load_word::<B, 4, false>(core, other, bus, core.transfer.address)?;
            if register == held {
                core.transfer.held = value;
            } else {
                core.r[(register & 15) as usize] = value;
            }
            self.account_transferred_word_cycles(core, slot);
            first = false;
        }
        Ok(())
    }

    /// Begins a multiple transfer, or continues an interrupted one. True if it begins.
    #[inline(always)]
    fn begin_transfer<B: Bus, const STORE: bool>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        mask: u32,
        address: u32,
        words: u8,
    ) -> Result<bool, Flow> {
        let plain = !Self::AHEAD || are_words_in_plain_ram(bus, address, words, STORE);
        if !plain && (!Self::PAIRED || STORE || !are_words_in_constant_memory(bus, address, words)) {
            return Err(Flow::InTime);
        }
        if core.transfer.mask != 0 {
            return Ok(false);
        }
        if Self::PAIRED && Self::AHEAD {
            let offset = address.wrapping_sub(B::RAM_BASE);
            let memory =
                if plain { B::memory_number_at(offset, 4 * u32::from(words)) } else { Some(B::CONSTANT_MEMORY) };
            self.log_accessed_memory(memory)?;
        }
        core.transfer.mask = mask;
        core.transfer.address = if Self::PAIRED && CONTEND {
            B::sample_address_in_memory(core.remainder.take_memory_of_next_access())
        } else {
            address
        };
        Ok(true)
    }

    /// Returns whether a multiple transfer must pause between two words, because the turn's limit is reached.
    #[inline(always)]
    fn must_transfer_pause(&self, core: &Core, first: bool) -> bool {
        (!Self::TRACED || Self::PAIRED && CONTEND) && !first && self.t >= core.limit
    }

    /// Charges one word of a multiple transfer in this slot: a slot each, and one more cycle after the last.
    #[inline(always)]
    fn account_transferred_word_cycles(&mut self, core: &mut Core, slot: u64) {
        // There nobody asks for time, and none has passed.
        if !(Self::PAIRED && Self::AHEAD) {
            self.t = (self.t - 1).max(slot + 1);
        }
        let transfer = &mut core.transfer;
        transfer.address = transfer.address.wrapping_add(4);
        transfer.mask &= transfer.mask - 1;
    }
}
