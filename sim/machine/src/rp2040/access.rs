//! Loads and stores beyond plain SRAM: what each address is and what it costs (RP2040 data sheet 2.1, 2.2, 2.6).

use rtoslab_cpu::v6m::bus::{Bus, OrderedAccess, Trap};
use rtoslab_cpu::v6m::core::{Core, Phase};
use rtoslab_cpu::v6m::pair::CrossCoreOrderedInstructionKind;
use rtoslab_cpu::v6m::ppb;
use rtoslab_periph::rp2040::has_slow_atomic_alias;
use rtoslab_timing::rp2040::key;

use super::map::{ROM_BYTES, SIO, SRAM_BASE, SRAM_BYTES, slave, sram_bank_of, unstriped_offset};
use super::stops::may_address_be_register;
use super::system::System;
use crate::m0plus::private_bus::PrivateBus;
use crate::m0plus::{UNALIGNED, UNMAPPED};
use crate::words::{read_little_endian, write_little_endian};
use crate::xip::{FILL_BYTES, LINE_BYTES};

/// Returns the bytes of a register word that a narrow load selects.
fn bytes_selected_by_narrow_load(word: u32, address: u32, bytes: u32) -> u32 {
    match bytes {
        1 => word >> (8 * (address & 3)) & 0xff,
        2 => word >> (8 * (address & 2)) & 0xffff,
        _ => word,
    }
}

/// Returns a narrow store's value replicated over all byte lanes, as a register gets it (RP2040 data sheet 2.1.4).
fn replicate_on_byte_lanes(value: u32, bytes: u32) -> u32 {
    match bytes {
        1 => (value & 0xff) * 0x0101_0101,
        2 => (value & 0xffff) * 0x0001_0001,
        _ => value,
    }
}

/// The USB controller's memory takes narrow stores, unlike a register (RP2040 data sheet 4.1).
const USB_DPRAM_PAGE: u32 = 0x5_0100;

/// Registers of the divider in SIO. The one whose reading clears a flag, and its flags.
const DIVIDER: std::ops::RangeInclusive<u32> = 0x60..=DIVIDER_STATE;
const QUOTIENT: u32 = 0x70;
const DIVIDER_STATE: u32 = 0x78;

/// Returns the number of the spinlock at this offset in SIO.
fn spinlock_at_offset(offset: u32) -> u8 {
    ((offset - 0x100) / 4) as u8
}

impl System {
    /// Returns the word at `address` with a narrow store merged into it.
    fn merge_narrow_store(&mut self, core: &mut Core, address: u32, bytes: u32, value: u32, now: u64) -> u32 {
        let mut word = self.read_peripheral_register(core, address & !3, now).unwrap_or(0).to_le_bytes();
        write_little_endian(&mut word, address & 3, bytes, value);
        u32::from_le_bytes(word)
    }

    /// Returns whether the core's next instruction has the same result before and after the other core's access of the
    /// same cycle, because it accesses nothing and does not even fetch (`Op::is_core_local_instruction`, second in its
    /// word). False for a stub op.
    fn is_order_irrelevant(&self, core: &Core) -> bool {
        core.phase == Phase::Run
            && core.stray.is_none()
            && self.is_instruction_unaffected_by_other_core(core.next_instruction_address())
    }

    /// Returns whether the instruction at this address has the same result before and after the other core's access of
    /// the same cycle.
    pub(super) fn is_instruction_unaffected_by_other_core(&self, address: u32) -> bool {
        if address & 2 == 0 {
            return false;
        }
        let resident =
            address >> 28 != 1 || self.xip.is_cached(self.flash_offset_of_cached_address(address) / FILL_BYTES);
        resident && self.decode_instruction_at(address).is_core_local_instruction()
    }

    /// Returns whether core 0 must still execute an instruction of cycle `t` first: on a tie SIO serves core 0 first.
    fn must_wait_for_core0<const CONTEND: bool>(&mut self, core: &Core, other: Option<&Core>, t: u64) -> bool {
        if !CONTEND || core.id == 0 || core.limit > t + 1 {
            return false;
        }
        let Some(core0) = other else {
            return false;
        };
        let tied = core0.t == t && self.first == core.id && !self.is_order_irrelevant(core0);
        if tied {
            self.first = core0.id;
        }
        tied
    }

    /// Loads from a register in a speculatively executed basic block. This is possible for SIO, where the cores'
    /// accesses are made in the order of their cycles, and for registers whose reads have no effect.
    #[inline(never)]
    pub(super) fn load_ordered(&mut self, core: &mut Core, address: u32, bytes: u32) -> OrderedAccess<u32> {
        if address >> 28 != SIO || bytes != 4 || address & 3 != 0 || self.watches_registers {
            return OrderedAccess::InTime;
        }
        match address & 0xffc {
            0 => OrderedAccess::Always(core.id as u32),
            offset @ (0x5c..=0x7c | 0x100..=0x17c) => {
                if DIVIDER.contains(&offset)
                    && let Some(value) = self.divider_value_if_ready(core, offset)
                {
                    return OrderedAccess::Always(value);
                }
                let Some(at) = self.pairs.take_cycle_of_next_ordered_access() else {
                    self.pairs.request_cycle_ordered_execution(CrossCoreOrderedInstructionKind::Port);
                    return OrderedAccess::NotYet;
                };
                let value = self.read_sio_register(core, offset, at);
                if value == 0 && offset >= 0x100 && !self.periph.sio.logs_lock_accesses() {
                    self.pairs.note_failed_lock_read(core, spinlock_at_offset(offset));
                }
                OrderedAccess::Now(value)
            }
            _ => OrderedAccess::InTime,
        }
    }

    /// Returns the value of a register of the core's divider, if it does not change after the begin of the basic block
    /// and reading it has no effect. `None` otherwise. Each core has a divider of its own.
    #[inline(never)]
    fn divider_value_if_ready(&mut self, core: &mut Core, offset: u32) -> Option<u32> {
        const READY: u32 = 1;
        const DIRTY: u32 = 2;
        if self.pairs.is_ordered_access_granted() {
            return None;
        }
        let begun = self.pairs.basic_block_begin_cycle();
        let state = self.read_sio_register(core, DIVIDER_STATE, begun);
        let is_at = state & READY != 0 && (offset != QUOTIENT || state & DIRTY == 0);
        is_at.then(|| self.read_sio_register(core, offset, begun))
    }

    /// Stores to an SIO register (single-cycle I/O) while a core executes a basic block before the other core has
    /// reached that cycle. This is possible only for the interpolators and spinlocks, and when it is this core's turn.
    /// All other stores wait for their cycle.
    #[inline(never)]
    pub(super) fn try_store_in_core_order(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        value: u32,
    ) -> OrderedAccess<u32> {
        if self.watches_registers {
            return OrderedAccess::InTime;
        }
        if bytes == 4 && core.is_privileged() && ppb::does_store_change_only_exceptions(address) {
            return OrderedAccess::Behind;
        }
        if address >> 28 != SIO || bytes != 4 || address & 3 != 0 {
            return OrderedAccess::InTime;
        }
        match address & 0xffc {
            offset @ (0x60..=0x7c | 0x100..=0x17c) => {
                let Some(at) = self.pairs.take_cycle_of_next_ordered_access() else {
                    self.pairs.request_cycle_ordered_execution(CrossCoreOrderedInstructionKind::Port);
                    return OrderedAccess::NotYet;
                };
                self.write_sio_register(core, offset, value, at);
                if offset >= 0x100 {
                    self.pairs.note_released_lock(spinlock_at_offset(offset));
                }
                OrderedAccess::Now(0)
            }
            _ => OrderedAccess::InTime,
        }
    }

    /// Loads from outside ordinary memory: ROM, flash, aliases, registers. Advances `t`.
    #[cold]
    #[inline(never)]
    pub(super) fn load_elsewhere<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        let value = self.load_by_address::<CONTEND>(core, other, address, bytes, t)?;
        if self.watches_registers && may_address_be_register(address) {
            self.report_watched_register_access(core, address, None, *t);
        }
        Ok(value)
    }

    /// Loads from outside ordinary memory, by the address's top bits.
    #[inline(always)]
    fn load_by_address<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        if address & (bytes - 1) != 0 {
            return Err(UNALIGNED);
        }
        match address >> 28 {
            0xd => {
                if self.must_wait_for_core0::<CONTEND>(core, other, *t) {
                    return Err(Trap::Defer);
                }
                let value = self.read_sio_register(core, address & 0xffc, *t);
                *t += 1;
                Ok(bytes_selected_by_narrow_load(value, address, bytes))
            }
            0x1 => self.load_from_flash_area::<CONTEND>(core, address, bytes, t),
            0x0 if address < ROM_BYTES => {
                let slot = if CONTEND { self.claim_data_transfer_slot(core, slave::ROM, *t) } else { *t };
                *t = slot + 2;
                Ok(read_little_endian(&self.rom, address, bytes))
            }
            0x2 => {
                if let Some(offset) = address.checked_sub(SRAM_BASE).filter(|&o| o < SRAM_BYTES) {
                    let slot = if CONTEND { self.claim_data_transfer_slot(core, sram_bank_of(offset), *t) } else { *t };
                    *t = slot + 2;
                    return Ok(read_little_endian(&self.sram, offset, bytes));
                }
                let (offset, bank) = unstriped_offset(address).ok_or(UNMAPPED)?;
                let slot = if CONTEND { self.claim_data_transfer_slot(core, bank, *t) } else { *t };
                *t = slot + 2;
                Ok(read_little_endian(&self.sram, offset, bytes))
            }
            0x4 | 0x5 => {
                let word = self.load_register::<CONTEND>(core, address & !3, t)?;
                Ok(bytes_selected_by_narrow_load(word, address, bytes))
            }
            0xe => self.load_from_private_bus(core, address, bytes, t),
            _ => Err(UNMAPPED),
        }
    }

    /// Stores to outside ordinary memory: flash, aliases, registers. Advances `t`.
    #[cold]
    #[inline(never)]
    pub(super) fn store_elsewhere<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        self.store_by_address::<CONTEND>(core, other, address, bytes, value, t)?;
        if self.watches_registers && may_address_be_register(address) {
            self.report_watched_register_access(core, address, Some(value), *t);
        }
        Ok(())
    }

    /// Stores to outside ordinary memory, by the address's top bits.
    #[inline(always)]
    fn store_by_address<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        if address & (bytes - 1) != 0 {
            return Err(UNALIGNED);
        }
        match address >> 28 {
            0xd => {
                if self.must_wait_for_core0::<CONTEND>(core, other, *t) {
                    return Err(Trap::Defer);
                }
                self.write_sio_register(core, address & 0xffc, replicate_on_byte_lanes(value, bytes), *t);
                *t += 1;
                Ok(())
            }
            0x4 | 0x5 => {
                let word = if bytes < 4 && address >> 12 == USB_DPRAM_PAGE {
                    self.merge_narrow_store(core, address, bytes, value, *t)
                } else {
                    replicate_on_byte_lanes(value, bytes)
                };
                self.store_register::<CONTEND>(core, address & !3, word, t)
            }
            0xe => self.store_to_private_bus(core, address, bytes, value, t),
            0x1 => self.store_to_flash_area::<CONTEND>(core, address, bytes, value, t),
            0x2 => {
                let (offset, bank) = match address.checked_sub(SRAM_BASE).filter(|&o| o < SRAM_BYTES) {
                    Some(offset) => (offset, sram_bank_of(offset)),
                    None => unstriped_offset(address).ok_or(UNMAPPED)?,
                };
                let slot = if CONTEND { self.claim_data_transfer_slot(core, bank, *t) } else { *t };
                *t = slot + 2;
                self.store_to_marked_ram(core, offset, bytes, value, slot);
                Ok(())
            }
            // The ROM ignores stores.
            0x0 if address < ROM_BYTES => {
                self.warnings.warn_of_ignored_store(address, core.next_instruction_address());
                *t += 2;
                Ok(())
            }
            _ => Err(UNMAPPED),
        }
    }

    /// Loads from XIP windows, XIP and SSI registers, or the cache as SRAM.
    fn load_from_flash_area<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        match address >> 24 {
            0x10..=0x13 => {
                let offset = self.flash_offset_of_cached_address(address);
                let half = offset / FILL_BYTES;
                let window = address >> 24;
                self.periph.xip_ctrl.count_accesses(u32::from(window <= 0x11));
                if window == 0x10 || window == 0x11 && self.xip.is_cached(half) {
                    self.load_half_cache_line::<CONTEND>(core, half, t);
                    let slot = if CONTEND { self.claim_data_transfer_slot(core, slave::XIP, *t) } else { *t };
                    *t = slot + 2;
                } else if window == 0x12 {
                    self.xip.drop_cached_line(offset / LINE_BYTES);
                    self.update_stub_ops_of_cache_line(offset / LINE_BYTES);
                    self.load_half_cache_line::<CONTEND>(core, half, t);
                    *t += 2;
                } else {
                    if window == 0x11 {
                        self.periph.xip_ctrl.count_miss();
                    }
                    let start = if CONTEND { (*t).max(self.busy[slave::XIP]) } else { *t };
                    core.bus_wait += start - *t;
                    core.flash_wait += self.word_cycles;
                    *t = start + self.word_cycles + 2;
                    // The next address phase goes with the last cycle of this transfer, as everywhere.
                    self.keep_slave_busy_until::<CONTEND>(slave::XIP, *t - 1);
                }
                Ok(read_little_endian(self.periph.ssi.flash.flash_content(), offset, bytes))
            }
            0x15 if !self.xip.enabled && address & 0x00ff_ffff < 0x4000 => {
                *t += 2;
                Ok(read_little_endian(&self.cache_sram, address & 0x3fff, bytes))
            }
            0x14 | 0x18 => {
                let word = self.load_register::<CONTEND>(core, address & !3, t)?;
                Ok(bytes_selected_by_narrow_load(word, address, bytes))
            }
            _ => Err(UNMAPPED),
        }
    }

    /// Stores to an address of the flash: its cache's memory, its registers or its aliases.
    fn store_to_flash_area<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        match address >> 24 {
            0x10 => {
                let line = self.flash_offset_of_cached_address(address) / LINE_BYTES;
                self.xip.drop_cached_line(line);
                self.update_stub_ops_of_cache_line(line);
                *t += 2;
                Ok(())
            }
            0x11..=0x13 => Err(Trap::Fault("store to flash through an XIP alias (XIP CTRL.ERR_BADWRITE)")),
            0x15 if !self.xip.enabled && address & 0x00ff_ffff < 0x4000 => {
                *t += 2;
                write_little_endian(&mut self.cache_sram, address & 0x3fff, bytes, value);
                Ok(())
            }
            0x14 | 0x18 => self.store_register::<CONTEND>(core, address & !3, replicate_on_byte_lanes(value, bytes), t),
            _ => Err(UNMAPPED),
        }
    }

    /// Claims the way to a peripheral register. Returns the transfer's cycle, and the cycles that the access takes
    /// beyond the core's two.
    fn claim_register_path<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        write: bool,
        t: u64,
    ) -> (u64, u64) {
        let (slave, mut extra) = match address >> 28 {
            4 => {
                let rule = if write { key::APB_WRITE } else { key::APB_READ };
                (slave::APB, self.timing.chip_timing_rule_value(rule))
            }
            5 => (slave::FASTPERI, 0),
            _ => (slave::XIP, 0),
        };
        if has_slow_atomic_alias(address) {
            extra += self.timing.chip_timing_rule_value(key::APB_ALIAS);
        }
        let slot = if CONTEND { self.claim_data_transfer_slot(core, slave, t) } else { t };
        if extra > 0 {
            self.keep_slave_busy_until::<CONTEND>(slave, slot + 1 + extra);
        }
        (slot, extra)
    }

    /// Loads a peripheral register by its bus.
    fn load_register<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, t: &mut u64) -> Result<u32, Trap> {
        let (slot, extra) = self.claim_register_path::<CONTEND>(core, address, false, *t);
        let value = self.read_peripheral_register(core, address, slot).ok_or(UNMAPPED)?;
        *t = slot + 2 + extra;
        if self
            .polling
            .note_register_read(core.next_instruction_address(), value, || self.periph.is_register_steady(address))
        {
            self.end_core_turn(core);
        }
        Ok(value)
    }

    /// Stores to a peripheral register by its bus.
    fn store_register<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        let (slot, extra) = self.claim_register_path::<CONTEND>(core, address, true, *t);
        self.write_peripheral_register(core, address, value, slot).ok_or(UNMAPPED)?;
        *t = slot + 2 + extra;
        Ok(())
    }
}

impl PrivateBus for System {
    /// Returns the cycle of the chip's next event, to be changed: that of [`Bus::next_event_cycle`].
    fn next_event_cycle_mut(&mut self) -> &mut u64 {
        &mut self.due
    }

    /// Warns once of a missing register at an address, and stops a strict run.
    fn warn_of_unmodelled_register(&mut self, core: &mut Core, address: u32, what: &str, now: u64) {
        self.warn_once_of_unmodelled_address(core, address, what, now);
    }
}
