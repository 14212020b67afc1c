//! Loads and stores beyond main RAM: what each address is and what it costs.

use std::sync::Arc;

use rtoslab_cpu::v7m::bitband;
use rtoslab_cpu::v7m::bus::LoadResult;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_cpu::v7m::fault::Fault;
use rtoslab_cpu::v7m::itm::Stimulus;
use rtoslab_cpu::v7m::scs;
use rtoslab_periph::stm32::{Bus as PeripheralBus, FlashStore};
use rtoslab_timing::stm32_bus::{apb_access_wait_cycles, buffered_apb_store_wait_cycles, key};

use super::chip::{FLASH_BASE, Kind};
use super::family::Stm32ChipFamily;
use super::flash_port::FlashPort;
use super::system::{Home, System, read_little_endian};
use crate::debugger::Channel;

/// The debug unit's registers on the private peripheral bus: the chip's, not the core's.
const DBGMCU_PAGE: u32 = 0xe004_2000 >> 12;
/// Returns the answer to a load with this value and without wait states.
const fn answer_without_wait_states(value: u32) -> LoadResult {
    LoadResult { value, wait: 0 }
}

impl<F: Stm32ChipFamily> System<F> {
    /// Fetches a code word from anywhere but the main flash at its own address. Returns the cycle in which the decoder
    /// can have it.
    #[inline(never)]
    pub(super) fn fetch_outside_main_flash(&mut self, core: &mut Core, address: u32, at: u64) -> u64 {
        match self.memory_at(address) {
            Some((Home::Flash, offset)) => self.flash_port.fetch_through_alias(core, offset, at),
            Some((home, offset)) => {
                self.flash_port.fetch_from_ram(core, self.memory_kind_at(home, offset), address, at)
            }
            None => at + 2,
        }
    }

    /// Returns whether an address is in system memory or option bytes.
    pub(super) fn is_read_only_memory(&self, address: u32) -> bool {
        self.memory_at(address).is_some_and(|(home, offset)| self.memory_kind_at(home, offset) == Kind::Rom)
    }

    /// Returns the kind of the memory at an offset, by which its accesses are timed.
    pub(super) fn memory_kind_at(&self, home: Home, offset: u32) -> Kind {
        match home {
            Home::Area(index) => self.memories[index].area.kind,
            Home::Ram if self.map.tcm_bytes != 0 && offset >= self.map.tcm_bytes => Kind::Axi,
            Home::Ram | Home::Flash => Kind::Ram,
        }
    }

    /// Loads from outside ordinary memory: flash, aliases, registers, bit bands.
    #[inline(never)]
    pub(super) fn load_elsewhere(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        at: u64,
    ) -> Result<LoadResult, Fault> {
        let offset = address.wrapping_sub(FLASH_BASE);
        if self.is_in_flash(offset, bytes) {
            let wait = self.flash_port.data_read_waits(core, address, at);
            // SAFETY: it is in the flash.
            let value = unsafe { read_little_endian(self.flash.as_ptr().add(offset as usize), bytes) };
            return Ok(LoadResult { value, wait });
        }
        match address >> 28 {
            0xe if address >> 20 == 0xe00 && address >> 12 != DBGMCU_PAGE => {
                if let Some(about) = scs::unmodelled_feature_of_access(core, address, None) {
                    self.warn_unsupported(core, about, at);
                }
                if self.watched_elsewhere {
                    self.report_register_read(core, address, at);
                }
                return scs::read_register(core, address, bytes, at).map(answer_without_wait_states);
            }
            0x2 | 0x4 if core.features.bit_band => {
                if let Some(bit) = bitband::bit_of_alias_address(address) {
                    let word = self.load_from_any_bus_target(core, bit.address_of_aliased_bit(bytes), bytes, at)?;
                    return Ok(LoadResult {
                        value: u32::from(word.value & bit.bit_mask_in_bit_band_access(bytes) != 0),
                        ..word
                    });
                }
            }
            _ => {}
        }
        if let Some(word) = self.periph.factory_programmed_word(address) {
            return Ok(answer_without_wait_states(word >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * bytes))));
        }
        if let Some((home, offset)) = self.memory_at(address) {
            if self.memory_kind_at(home, offset) == Kind::Rom {
                self.warn_of_unmodelled_address(core, address & !3, "system memory", at);
            }
            return Ok(self.load_from_memory(core, home, address, offset, bytes, at));
        }
        if let Some(wait) = self.bus_bridge_cycles(address, false, at) {
            let now = at + 1 + wait;
            let value = self.periph.read_register(address, bytes, now, &mut self.effects);
            self.apply_event_effects(core, now);
            self.cleared = None;
            if self.watched_elsewhere {
                self.report_register_read(core, address, now);
            }
            if self
                .polling
                .note_register_read(core.next_instruction_address(), value, || self.periph.is_register_steady(address))
            {
                core.limit = 0;
            }
            return Ok(LoadResult { value, wait });
        }
        self.handle_unmapped_address_access(core, address, "load", at).map(|()| answer_without_wait_states(0))
    }

    /// Loads by any path: memory, registers or bit bands.
    fn load_from_any_bus_target(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        at: u64,
    ) -> Result<LoadResult, Fault> {
        rtoslab_cpu::v7m::bus::Bus::load_data(self, core, address, bytes, at)
    }

    /// Loads from a memory, with its wait cycles.
    fn load_from_memory(
        &mut self,
        core: &Core,
        home: Home,
        address: u32,
        offset: u32,
        bytes: u32,
        at: u64,
    ) -> LoadResult {
        let value = self.memory_content_at(address, bytes as usize).map_or(0, |memory| {
            // SAFETY: the slice has `bytes` bytes.
            unsafe { read_little_endian(memory.as_ptr(), bytes) }
        });
        let wait = match home {
            Home::Flash => self.flash_port.alias_read_waits(core, offset, at),
            _ => self.flash_port.ram_read_waits(core, self.memory_kind_at(home, offset), address, at),
        };
        LoadResult { value, wait }
    }

    /// Stores to outside ordinary memory: flash, aliases, registers, bit bands.
    #[inline(never)]
    pub(super) fn store_elsewhere(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        value: u32,
        at: u64,
    ) -> Result<u64, Fault> {
        match address >> 28 {
            0xe if address >> 20 == 0xe00 && address >> 12 != DBGMCU_PAGE => {
                if let Some(about) = scs::unmodelled_feature_of_access(core, address, Some(value)) {
                    self.warn_unsupported(core, about, at);
                }
                let effect = scs::write_register(core, address, bytes, value, at)?;
                self.apply_core_register_request(core, effect);
                if self.watched_elsewhere {
                    self.report_register_write(core, address, value, at);
                }
                return Ok(0);
            }
            0x2 | 0x4 if core.features.bit_band => {
                if let Some(bit) = bitband::bit_of_alias_address(address) {
                    let (behind, mask) = (bit.address_of_aliased_bit(bytes), bit.bit_mask_in_bit_band_access(bytes));
                    let old = self.load_from_any_bus_target(core, behind, bytes, at)?;
                    let new = if value & 1 != 0 { old.value | mask } else { old.value & !mask };
                    // Read and write, each an access of its own on the bus.
                    let read = self.bus_rules[key::BIT_BAND] + old.wait;
                    let wait = rtoslab_cpu::v7m::bus::Bus::store_data(self, core, behind, bytes, new, at + read)?;
                    return Ok(read + wait);
                }
            }
            _ => {}
        }
        if let Some((home, offset)) = self.memory_at(address) {
            if !self.store_to_memory(core, home, offset, bytes, value, at) {
                self.warnings.warn_of_ignored_store(address, core.next_instruction_address());
            }
            // Of main RAM the marks tell.
            if self.watched_elsewhere && home != Home::Ram {
                let pc = core.next_instruction_address();
                self.report_watched_store_at(core, address, pc, at);
            }
            return Ok(self.flash_port.ram_write_waits(core, self.memory_kind_at(home, offset), address, at));
        }
        if let Some(wait) = self.bus_bridge_cycles(address, true, at) {
            let now = at + 1 + wait;
            let lines = self.lines;
            self.periph.write_register(address, bytes, value, now, &mut self.effects);
            self.apply_event_effects(core, now);
            self.cleared = self.current_store_clearing_own_interrupt(core, &lines);
            if self.watched_elsewhere {
                self.report_register_write(core, address, value, now);
            }
            return Ok(wait);
        }
        self.handle_unmapped_address_access(core, address, "store", at).map(|()| 0)
    }

    /// Stores to a memory, and forgets code that was decoded there. Returns false if the memory ignores the store.
    fn store_to_memory(&mut self, core: &mut Core, home: Home, offset: u32, bytes: u32, value: u32, at: u64) -> bool {
        let (start, data) = (offset as usize, value.to_le_bytes());
        match home {
            Home::Ram => {
                self.ram[start..start + bytes as usize].copy_from_slice(&data[..bytes as usize]);
                if self.is_near_code_or_watched_word(offset) {
                    self.handle_store_near_code_or_watch(core, offset, bytes, at);
                }
                return true;
            }
            Home::Area(index) if self.memories[index].area.kind != Kind::Rom => {
                self.memories[index].bytes[start..start + bytes as usize].copy_from_slice(&data[..bytes as usize]);
            }
            Home::Area(_) => return false,
            Home::Flash => {
                let verdict = self.periph.store_to_flash_array(FLASH_BASE + offset, bytes, at + 1, &mut self.effects);
                self.apply_event_effects(core, at + 1);
                if verdict == FlashStore::Refused {
                    return false;
                }
                // Programming only clears bits.
                for (byte, new) in Arc::make_mut(&mut self.flash)[start..].iter_mut().zip(&data[..bytes as usize]) {
                    *byte &= new;
                }
            }
        }
        self.drop_decoded_ops(home, offset, bytes);
        true
    }

    /// Carries out the request of a write to the core's own registers to the memories.
    fn apply_core_register_request(&mut self, core: &Core, effect: scs::PrivateBusWriteEffect) {
        match effect {
            scs::PrivateBusWriteEffect::Cache(operation) => self.flash_port.maintain_caches(operation),
            scs::PrivateBusWriteEffect::CacheControl => self.switch_caches(core),
            scs::PrivateBusWriteEffect::Stimulus(Stimulus { port, bytes, value }) => {
                self.debugger.append_printed_text(Channel::Stimulus(port), &value.to_le_bytes()[..usize::from(bytes)]);
            }
            scs::PrivateBusWriteEffect::None | scs::PrivateBusWriteEffect::Protection => {}
        }
    }

    /// Switches the core's caches on or off, as CCR or a setting of the run says.
    pub(super) fn switch_caches(&mut self, core: &Core) {
        let (instructions, data) = self.settings.are_caches_on(core.scb.ccr);
        self.flash_port.switch_caches(instructions, data);
        self.epoch += 1;
    }

    /// Returns the extra cycles of an access on its way to a peripheral. `None` if none answers at the address.
    fn bus_bridge_cycles(&self, address: u32, write: bool, at: u64) -> Option<u64> {
        let bus = self.periph.bus_at_address(address)?;
        let rules = &self.bus_rules;
        let own = if bus.is_on_apb() {
            let apb = if write { buffered_apb_store_wait_cycles } else { apb_access_wait_cycles };
            apb(rules, at, self.periph.clock_frequencies().core_cycles_per_bus_cycle(bus))
        } else if bus == PeripheralBus::Ppb {
            return Some(0);
        } else {
            rules[if write { key::AHB_WRITE } else { key::AHB_READ }]
        };
        let way = if F::CACHES && !write { rules[key::M7_AHBP] } else { 0 };
        // The H7's peripherals are in other power domains than the core, but those of AHB3 and APB3.
        let near = matches!(bus, PeripheralBus::Ahb3 | PeripheralBus::Apb3);
        let domain = if self.map.domains && !near { rules[key::H7_DOMAIN] } else { 0 };
        Some(own + way + domain)
    }

    /// Handles an access to an address at which nothing answers. Between the blocks of peripherals it is only reported,
    /// elsewhere it is a bus fault.
    #[cold]
    fn handle_unmapped_address_access(
        &mut self,
        core: &mut Core,
        address: u32,
        what: &str,
        at: u64,
    ) -> Result<(), Fault> {
        if matches!(address >> 28, 4 | 5) {
            // Reserved places between blocks read as zero. Firmware for a bigger part of the family touches them.
            self.warn_of_unmodelled_address(
                core,
                address,
                &format!("{what} of an address that belongs to no block"),
                at,
            );
            return Ok(());
        }
        if core.ignores_bus_faults() { Ok(()) } else { Err(Fault::DataBus(address)) }
    }
}
