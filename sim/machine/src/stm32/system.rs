//! Everything that the core accesses: memories, code tables, flash interface, peripherals. Implements the executor's
//! [`Bus`].

use std::sync::Arc;

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v7m::bus::{Bus, LoadResult};
use rtoslab_cpu::v7m::core::{Core, Region};
use rtoslab_cpu::v7m::decode::{Place, decode_instruction};
use rtoslab_cpu::v7m::exception;
use rtoslab_cpu::v7m::fault::Fault;
use rtoslab_cpu::v7m::op::Op;
use rtoslab_lab::{Console, Probes, Stimulus, StimulusSchedule};
use rtoslab_periph::stm32::{Effects, Stm32};
use rtoslab_timing::stm32_bus;

use super::chip::{FLASH_BASE, Map, Memory, RAM_BASE};
use super::cleared::InterruptClearingStore;
use super::code::CodeTable;
use super::family::Stm32ChipFamily;
use super::flash_port::FlashPort;
use super::settings::Settings;
use crate::board::ProfileRow;
use crate::debugger::Debugger;
use crate::known::DecodedOpCache;
use crate::polling::BusyWaitDetector;
use crate::stop::{Stop, StopReason};
use crate::warnings::Warnings;

/// The page of a store holds decoded code.
pub(super) const MARK_CODE: u8 = 1;
/// The page of a store holds a watched word.
pub(super) const MARK_WATCH: u8 = 2;
/// log2 of the bytes that share a mark.
pub(super) const MARK_SHIFT: u32 = 8;

/// The STM32 without its core: memories, code tables, flash interface, peripherals and instruments.
pub struct System<F: Stm32ChipFamily> {
    pub(super) map: &'static Map,
    pub(super) ram: Vec<u8>,
    /// Main RAM that answers at once: all of it, on the M7 the data TCM.
    pub(super) fast_bytes: u32,
    /// After the last offset at which a word fits into it.
    pub(super) fast_end: u32,
    /// The begin of its second block.
    pub(super) ram_split: u32,
    pub(super) marks: Vec<u8>,
    /// Words of main RAM that are watched, among those of pages with a mark for that.
    pub(super) watched: MemoryWordSet,
    /// Shared by snapshots until it is written to.
    pub(super) flash: Arc<[u8]>,
    pub(super) flash_port: F::Flash,
    pub(super) memories: Vec<Memory>,
    /// Code tables: main flash, main RAM, then alias and areas.
    pub(super) tables: Vec<CodeTable>,
    /// Instructions with probes.
    pub(super) known: DecodedOpCache<Op>,
    pub(super) periph: Stm32,
    pub(super) effects: Effects,
    /// Levels of the interrupt lines as the core knows them.
    pub(super) lines: [u32; 5],
    /// The last access to a peripheral cleared the interrupt that is being handled.
    pub(super) cleared: Option<InterruptClearingStore>,
    /// Changes when opcodes or the flash's timing do.
    pub(super) epoch: u64,
    pub(super) settings: Arc<Settings<F>>,
    /// The cost of the ways to peripherals, by `stm32_bus::key`.
    pub(super) bus_rules: [u64; stm32_bus::SETTINGS.len()],
    pub(super) probes: Probes,
    pub(super) injections: StimulusSchedule,
    /// A word outside main RAM, or a register, is watched.
    pub(super) watched_elsewhere: bool,
    pub(super) console: Console,
    /// Serial port that typed text goes to: the one that printed last.
    pub(super) console_port: u8,
    /// Address of an `until` stop that the next run passes.
    pub(super) passed_until: Option<u32>,
    pub(super) stop: Option<Stop>,
    pub(super) warnings: Warnings,
    /// A reset of the chip that the machine must carry out.
    pub(super) chip_reset: Option<rtoslab_periph::stm32::ResetCause>,
    /// Reads of registers, for waits that are passed over.
    pub(super) polling: BusyWaitDetector,
    pub(super) debugger: Debugger,
}

/// Returns how many bytes of main RAM answer without wait states: all of it, or the TCM at its begin.
fn ram_size_without_wait_states(map: &Map) -> u32 {
    if map.tcm_bytes == 0 { map.ram_bytes } else { map.tcm_bytes }
}

impl<F: Stm32ChipFamily> System<F> {
    /// Returns whether an access of up to a word at this offset is in the RAM that answers at once. Narrow accesses to
    /// its last three bytes are made otherwise, in the same time.
    #[inline(always)]
    pub(super) fn is_in_fast_ram(&self, offset: u32) -> bool {
        offset < self.fast_end
    }

    /// Returns whether all bytes of an access are in the flash.
    #[inline(always)]
    pub(super) fn is_in_flash(&self, offset: u32, bytes: u32) -> bool {
        u64::from(offset) + u64::from(bytes) <= u64::from(self.map.flash_bytes)
    }

    /// Creates a chip with erased flash and with its peripherals after power-on.
    pub(super) fn new(map: &'static Map, periph: Stm32, strict: bool, console_port: u8) -> Box<System<F>> {
        let settings = Settings::new(map);
        let mut tables = vec![CodeTable::new(FLASH_BASE, map.flash_bytes), CodeTable::new(RAM_BASE, map.ram_bytes)];
        tables.extend(map.flash_alias.map(|base| CodeTable::new(base, map.flash_bytes)));
        for area in map.areas.iter().filter(|area| area.code) {
            tables.push(CodeTable::new(area.base, area.bytes));
            tables.extend(area.alias.map(|base| CodeTable::new(base, area.bytes)));
        }
        let memories = map.areas.iter().map(|&area| Memory { area, bytes: vec![0; area.bytes as usize] }).collect();
        let flash_port = F::new_flash_interface(map, &|key| settings.timing_rule_value_of_key(key));
        let mut system = Box::new(System {
            map,
            ram: vec![0; map.ram_bytes as usize],
            fast_bytes: ram_size_without_wait_states(map),
            fast_end: ram_size_without_wait_states(map) - 3,
            ram_split: map.ram_split,
            marks: vec![0; (map.ram_bytes >> MARK_SHIFT) as usize],
            watched: MemoryWordSet::new(map.ram_bytes),
            flash: vec![0xff; map.flash_bytes as usize].into(),
            flash_port,
            memories,
            tables,
            known: DecodedOpCache::default(),
            periph,
            effects: Effects::default(),
            lines: [0; 5],
            cleared: None,
            epoch: 1,
            bus_rules: stm32_bus::SETTINGS.map(|rule| rule.default),
            settings: Arc::new(settings),
            probes: Probes::default(),
            injections: StimulusSchedule::default(),
            watched_elsewhere: false,
            console: Console::default(),
            console_port,
            passed_until: None,
            stop: None,
            warnings: Warnings::new(strict),
            chip_reset: None,
            polling: BusyWaitDetector::default(),
            debugger: Debugger::default(),
        });
        system.pass_flash_settings();
        system
    }

    /// Returns the halfword at an address that can hold code.
    pub(super) fn halfword_at(&self, address: u32) -> u16 {
        let bytes = self.memory_content_at(address, 2).unwrap_or(&[0, 0]);
        u16::from_le_bytes([bytes[0], bytes[1]])
    }

    /// Returns the two halfwords of an instruction. The second one may be in another memory.
    #[inline]
    fn instruction_halfwords(&self, address: u32) -> [u16; 2] {
        let flash = self.flash.get(address.wrapping_sub(FLASH_BASE) as usize..);
        let anywhere = || self.memory_content_at(address, 4).and_then(<[u8]>::first_chunk);
        match flash.and_then(<[u8]>::first_chunk).or_else(anywhere) {
            Some(&[a, b, c, d]) => [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])],
            None => [self.halfword_at(address), self.halfword_at(address.wrapping_add(2))],
        }
    }

    /// Returns `bytes` bytes of memory at an address. `None` if they are not in one memory.
    pub(super) fn memory_content_at(&self, address: u32, bytes: usize) -> Option<&[u8]> {
        let (memory, offset) = self.memory_at(address)?;
        let content: &[u8] = match memory {
            Home::Flash => &self.flash,
            Home::Ram => &self.ram,
            Home::Area(index) => &self.memories[index].bytes,
        };
        content.get(offset as usize..(offset as usize).checked_add(bytes)?)
    }

    /// Returns the memory that contains an address, and the offset in it.
    pub(super) fn memory_at(&self, address: u32) -> Option<(Home, u32)> {
        memory_and_offset_of(self.map, &self.memories, address, || self.periph.memory_at_zero() == 3)
    }

    /// Returns the table of decoded instructions for code at an address. `None` if no code can be there.
    pub(super) fn instruction_table_of_address(&mut self, address: u32) -> Option<&mut CodeTable> {
        self.tables.iter_mut().find(|table| table.contains_address(address))
    }

    /// Decodes the instruction at an address, without regard to the table of decoded code.
    pub(super) fn decode_instruction_at(&self, core_features: rtoslab_cpu::v7m::core::Features, address: u32) -> Op {
        let (region_base, region_bytes) = self
            .tables
            .iter()
            .find(|table| table.contains_address(address))
            .map_or((address, 4), CodeTable::address_and_length);
        let place = Place { address, region_base, region_bytes };
        let [first, second] = self.instruction_halfwords(address);
        decode_instruction(first, second, place, core_features)
    }

    /// Returns the instruction at an address with a probe, and the number of the probe's site (place in the list of
    /// probed addresses).
    pub(super) fn instruction_with_probes_at(
        &mut self,
        core_features: rtoslab_cpu::v7m::core::Features,
        address: u32,
    ) -> (Op, u32) {
        let halfwords = self.instruction_halfwords(address);
        if let Some(known) = self.known.find_decoded_instruction(address, halfwords) {
            return known;
        }
        let (decoded, site) =
            (self.decode_instruction_at(core_features, address), self.probes.probe_site_number(address));
        self.known.cache_decoded_instruction(address, halfwords, decoded, site)
    }

    /// Updates the op of an address, after probes on its instruction changed.
    pub(super) fn redecode_at(&mut self, address: u32) {
        let stand_in = if self.probes.is_instruction_probed(address) { Op::ATTEND } else { Op::default() };
        if let Some(table) = self.instruction_table_of_address(address) {
            *table.op_at_address(address) = stand_in;
            self.epoch += 1;
        }
    }

    /// Returns whether an address is that of a register, of a peripheral or of the core.
    pub(super) fn is_register_address(&self, address: u32) -> bool {
        address >> 20 == 0xe00 || self.periph.bus_at_address(address).is_some()
    }

    /// Makes the board report writes to a word from now on. Returns false if the address is in neither RAM nor a
    /// register.
    pub(super) fn watch_word(&mut self, address: u32) -> bool {
        let offset = address.wrapping_sub(RAM_BASE);
        if offset < self.map.ram_bytes {
            self.marks[(offset >> MARK_SHIFT) as usize] |= MARK_WATCH;
            self.watched.add_offset_to_word_set(offset);
        } else if matches!(self.memory_at(address), Some((Home::Area(_), _))) || self.is_register_address(address) {
            self.watched_elsewhere = true;
        } else {
            return false;
        }
        true
    }

    /// Writes RAM. Returns false outside of RAM.
    pub(super) fn write_ram(&mut self, address: u32, data: &[u8]) -> bool {
        let Some((home, offset)) = self.memory_at(address) else { return false };
        let memory = match home {
            Home::Flash => return false,
            Home::Ram => &mut self.ram,
            Home::Area(index) => &mut self.memories[index].bytes,
        };
        let Some(target) = memory.get_mut(offset as usize..offset as usize + data.len()) else { return false };
        target.copy_from_slice(data);
        self.drop_decoded_ops(home, offset, data.len() as u32);
        true
    }

    /// Writes the flash as a debugger does. Returns false outside of flash.
    pub(super) fn program_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let Some((Home::Flash, offset)) = self.memory_at(address) else { return false };
        let place =
            Arc::make_mut(&mut self.flash).get_mut(offset as usize..).and_then(|rest| rest.get_mut(..data.len()));
        let Some(place) = place else { return false };
        place.copy_from_slice(data);
        self.drop_decoded_ops(Home::Flash, offset, data.len() as u32);
        true
    }

    /// Drops the ops that were decoded from part of a memory, at all addresses at which it is visible.
    pub(super) fn drop_decoded_ops(&mut self, home: Home, offset: u32, bytes: u32) {
        let mut bases = [None; 3];
        match home {
            Home::Flash => bases = [Some(FLASH_BASE), self.map.flash_alias, None],
            Home::Ram => bases[0] = Some(RAM_BASE),
            Home::Area(index) => {
                let area = self.memories[index].area;
                bases = [Some(area.base), area.alias, None];
            }
        }
        for base in bases.into_iter().flatten() {
            let address = base + offset;
            let Some(table) = self.tables.iter_mut().find(|table| table.contains_address(address)) else { continue };
            self.epoch += u64::from(table.drop_decoded_ops(address, bytes));
            for at in (address.saturating_sub(2) & !1..address + bytes).step_by(2) {
                if self.probes.is_instruction_probed(at) && table.contains_address(at) {
                    *table.op_at_address(at) = Op::ATTEND;
                }
            }
        }
    }

    /// Returns whether code or a watched word is near this offset of main RAM, so that a store there must be checked.
    pub(super) fn is_near_code_or_watched_word(&self, offset: u32) -> bool {
        self.marks[(offset >> MARK_SHIFT) as usize] != 0
    }

    /// Returns the marks (code, watched words) of a part of the main RAM, or-ed.
    pub(super) fn marks_of_range(&self, offset: u32, bytes: u32) -> u8 {
        self.marks[(offset >> MARK_SHIFT) as usize] | self.marks[((offset + bytes - 1) >> MARK_SHIFT) as usize]
    }

    /// Handles a store to main RAM near decoded code or a watched word: drops ops, and reports a watched word. The
    /// bytes are written already.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_store_near_code_or_watch(&mut self, core: &mut Core, offset: u32, bytes: u32, at: u64) {
        let mark = self.marks[(offset >> MARK_SHIFT) as usize];
        if mark & MARK_CODE != 0 {
            self.drop_decoded_ops(Home::Ram, offset, bytes);
        }
        if mark & MARK_WATCH == 0 {
            return;
        }
        let pc = core.next_instruction_address();
        self.report_watched_store_at(core, RAM_BASE + offset, pc, at);
    }

    /// Reports the store at `pc` if the word is watched. The bytes are written already.
    #[cold]
    pub(super) fn report_watched_store_at(&mut self, core: &mut Core, address: u32, pc: u32, at: u64) {
        let address = address & !3;
        let Some(word) = self.memory_content_at(address, 4).and_then(|bytes| bytes.try_into().ok()) else {
            return;
        };
        self.record_watched_write(core, address, u32::from_le_bytes(word), pc, at);
    }

    /// Reports a store of `value` to a register that may be watched.
    pub(super) fn report_register_write(&mut self, core: &mut Core, address: u32, value: u32, at: u64) {
        let pc = core.next_instruction_address();
        self.record_watched_write(core, address & !3, value << (8 * (address & 3)), pc, at);
    }

    /// Stops the run after a read of a register, if a probe asks for it.
    pub(super) fn report_register_read(&mut self, core: &mut Core, address: u32, at: u64) {
        if self.probes.does_register_read_stop_run(address) {
            core.limit = 0;
            let detail = format!("the watched register at 0x{:08x} was read", address & !3);
            self.stop_for_reason(StopReason::Watch, address & !3, at, detail);
        }
    }

    /// Records a write of a watched word or register by the instruction at `pc` in cycle `at`. Stops the run if a probe
    /// asks for it.
    fn record_watched_write(&mut self, core: &mut Core, address: u32, word: u32, pc: u32, at: u64) {
        if self.probes.report_store_to_watched_word(address, word, 0, at, pc) {
            core.limit = 0;
            let detail = format!("the watched word at 0x{address:08x} changed to {word}");
            self.stop_for_reason(StopReason::Watch, address, at, detail);
        }
    }

    /// Applies a stimulus from outside at cycle `now`.
    pub(super) fn apply_stimulus(&mut self, core: &mut Core, stimulus: Stimulus, now: u64) {
        match stimulus {
            Stimulus::Exception { number, .. } => exception::pend_exception(core, number),
            Stimulus::Pin { pin, level } => {
                self.periph.drive_pin((pin / 16) as u8, (pin % 16) as u8, level, now, &mut self.effects);
                self.apply_event_effects(core, now);
            }
        }
    }

    /// Stops the run for a reason, with one sentence in `detail`.
    pub(super) fn stop_for_reason(&mut self, reason: StopReason, address: u32, cycle: u64, detail: String) {
        self.stop.get_or_insert(Stop { reason, core: 0, cycle, address, detail });
    }

    /// Warns once of an access to something that is not modelled. Under `strict` the run stops.
    pub(super) fn warn_of_unmodelled_address(&mut self, core: &mut Core, address: u32, what: &str, cycle: u64) {
        let stops = self.warnings.warn_of_unmodelled_address(what, address, core.next_instruction_address());
        self.stop_if_strict(core, address, cycle, stops);
    }

    /// Warns once that the firmware requested something unsupported. Under `strict` the run stops.
    pub(super) fn warn_unsupported(&mut self, core: &mut Core, about: &str, cycle: u64) {
        let address = if core.ip.is_null() { 0 } else { core.next_instruction_address() };
        let stops = self.warnings.warn_of_unsupported_hardware_request(about, address);
        self.stop_if_strict(core, address, cycle, stops);
    }

    /// Stops a strict run because of a warning.
    pub(super) fn stop_if_strict(&mut self, core: &mut Core, address: u32, cycle: u64, text: Option<String>) {
        if let Some(text) = text {
            core.limit = 0;
            self.stop_for_reason(StopReason::Strict, address, cycle, text);
        }
    }

    /// Switches the profile of all code on (from zero) or off.
    pub(super) fn set_profile(&mut self, on: bool) {
        for table in &mut self.tables {
            table.set_profile(on);
        }
    }

    /// Adds to the profile of the instruction at an address.
    pub(super) fn add_to_instruction_profile(&mut self, address: u32, more: ProfileCell) {
        self.instruction_table_of_address(address)
            .into_iter()
            .for_each(|table| table.add_to_instruction_profile(address, more));
    }

    /// Removes the profile of all code and returns it.
    pub(super) fn take_profile(&mut self) -> Vec<ProfileRow> {
        self.tables.iter_mut().flat_map(CodeTable::take_profile).collect()
    }
}

/// A set of words of a memory, with a bit for each word.
pub(super) struct MemoryWordSet(Vec<u64>);

impl MemoryWordSet {
    /// Creates an empty set for a memory of `bytes` bytes.
    fn new(bytes: u32) -> MemoryWordSet {
        MemoryWordSet(vec![0; (bytes as usize / 4).div_ceil(64)])
    }

    /// Adds the word at an offset to the set.
    fn add_offset_to_word_set(&mut self, offset: u32) {
        self.0[offset as usize / 256] |= 1 << (offset / 4 % 64);
    }

    /// Returns whether the set contains the word at an offset.
    pub(super) fn contains_word(&self, offset: u32) -> bool {
        self.0[offset as usize / 256] >> (offset / 4 % 64) & 1 != 0
    }
}

/// The memory that contains an address: main RAM, flash or another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// Main flash.
    Flash,
    /// Main RAM.
    Ram,
    /// Another memory, by its index.
    Area(usize),
}

/// Returns the little-endian value of up to four bytes.
///
/// # Safety
/// `memory..memory + bytes` can be read.
#[inline(always)]
pub(super) unsafe fn read_little_endian(memory: *const u8, bytes: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => u32::from(memory.read()),
            2 => u32::from(u16::from_le(memory.cast::<u16>().read_unaligned())),
            _ => u32::from_le(memory.cast::<u32>().read_unaligned()),
        }
    }
}

/// Stores the low `bytes` bytes of a value, little-endian.
///
/// # Safety
/// `memory..memory + bytes` can be written.
#[inline(always)]
pub(super) unsafe fn write_little_endian(memory: *mut u8, bytes: u32, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => memory.write(value as u8),
            2 => memory.cast::<u16>().write_unaligned((value as u16).to_le()),
            _ => memory.cast::<u32>().write_unaligned(value.to_le()),
        }
    }
}

// SAFETY: the ops are those of the code tables, which the system keeps.
unsafe impl<F: Stm32ChipFamily> Bus for System<F> {
    /// Fetches the code word (M7: doubleword) at `address`, address phase in cycle `at`. Returns the first cycle in
    /// which the decoder can have it: `at + 2` from memory without wait states on the fast code path.
    #[inline(always)]
    fn fetch_code(&mut self, core: &mut Core, address: u32, at: u64) -> u64 {
        if address.wrapping_sub(FLASH_BASE) < self.map.flash_bytes {
            return self.flash_port.fetch_code(core, address, at);
        }
        self.fetch_outside_main_flash(core, address, at)
    }

    /// Returns whether fetches may have to wait. False: every fetch answers at once, so that unused fetches cannot
    /// delay anything.
    #[inline(always)]
    fn may_fetches_wait(&self) -> bool {
        self.flash_port.may_fetches_wait()
    }

    /// Does nothing: the flash interface notices a branch by the address of its fetch.
    #[inline(always)]
    fn redirect_prefetch(&mut self, _: &mut Core, _: u32, _: u64) {}

    /// Loads 1, 2 or 4 bytes of data from an aligned address. The caller has checked the permissions. Returns
    /// [`Fault::DataBus`] where nothing answers, unless [`Core::ignores_bus_faults`].
    #[inline(always)]
    fn load_data(&mut self, core: &mut Core, address: u32, bytes: u32, at: u64) -> Result<LoadResult, Fault> {
        let offset = address.wrapping_sub(RAM_BASE);
        if self.is_in_fast_ram(offset) {
            // SAFETY: it is in the RAM.
            let value = unsafe { read_little_endian(self.ram.as_ptr().add(offset as usize), bytes) };
            return Ok(LoadResult { value, wait: 0 });
        }
        self.load_elsewhere(core, address, bytes, at)
    }

    /// Stores 1, 2 or 4 bytes of data to an aligned address. Returns the data phase's extra cycles.
    #[inline(always)]
    fn store_data(&mut self, core: &mut Core, address: u32, bytes: u32, value: u32, at: u64) -> Result<u64, Fault> {
        let offset = address.wrapping_sub(RAM_BASE);
        if self.is_in_fast_ram(offset) {
            // SAFETY: it is in the RAM, which has a mark for each page.
            let mark = unsafe {
                write_little_endian(self.ram.as_mut_ptr().add(offset as usize), bytes, value);
                *self.marks.get_unchecked((offset >> MARK_SHIFT) as usize)
            };
            if mark != 0 {
                self.handle_store_near_code_or_watch(core, offset, bytes, at);
            }
            return Ok(0);
        }
        self.store_elsewhere(core, address, bytes, value, at)
    }

    /// Returns the number of the memory block that serves a data address. Loads and stores pipeline only within one
    /// block.
    #[inline(always)]
    fn memory_block(&self, address: u32) -> u8 {
        match address >> 28 {
            2 => 1 + u8::from(address.wrapping_sub(RAM_BASE) >= self.ram_split),
            0 if address < 0x1000_0000 => 0,
            // CCM and system memory are in the same 256 MB.
            1 => 0x10 + u8::from(address >= 0x1f00_0000),
            other => 0x20 + other as u8,
        }
    }

    /// Returns the region of code that contains `address`. `None` if no code can be fetched there.
    #[cold]
    #[inline(never)]
    fn code_region(&mut self, address: u32) -> Option<Region> {
        self.memory_at(address)?;
        self.instruction_table_of_address(address).map(CodeTable::code_region)
    }

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    #[cold]
    #[inline(never)]
    fn decode_op(&mut self, core: &Core, address: u32) {
        let decoded = if self.probes.is_instruction_probed(address) {
            Op::ATTEND
        } else {
            self.decode_instruction_at(core.features, address)
        };
        if let Some(table) = self.instruction_table_of_address(address) {
            *table.op_at_address(address) = decoded;
        }
        if let Some((Home::Ram, offset)) = self.memory_at(address) {
            self.marks[(offset >> MARK_SHIFT) as usize] |= MARK_CODE;
            let end = (offset + 3).min(self.map.ram_bytes - 1);
            self.marks[(end >> MARK_SHIFT) as usize] |= MARK_CODE;
        }
    }

    /// Returns the instruction in whose place is a stub op, and fires its probes unless `served` says that they have
    /// fired. `None`: the run stops before it.
    #[cold]
    #[inline(never)]
    fn serve_stub_op(&mut self, core: &mut Core, address: u32, served: bool) -> Option<Op> {
        let (instruction, site) = self.instruction_with_probes_at(core.features, address);
        if served {
            return Some(instruction);
        }
        let skip = self.passed_until.take() == Some(address);
        let held = self.probes.probed_registers(site, &core.r, |address| {
            self.memory_content_at(address, 4)?.try_into().ok().map(u32::from_le_bytes)
        });
        if self.probes.fire_probes_at_known_site(site, address, 0, core.next_execution_cycle(), held, skip) {
            self.passed_until = Some(address);
            self.stop_for_reason(
                StopReason::Until,
                address,
                core.t,
                format!("the instruction at 0x{address:08x} is executed next"),
            );
            return None;
        }
        Some(instruction)
    }
}

/// Returns the memory of a chip that contains an address, and the offset in it. `ram_at_zero`: RAM shows at address 0
/// in place of the flash.
pub(super) fn memory_and_offset_of(
    map: &Map,
    areas: &[Memory],
    address: u32,
    ram_at_zero: impl FnOnce() -> bool,
) -> Option<(Home, u32)> {
    let inside = |base: u32, bytes: u32| Some(address.wrapping_sub(base)).filter(|&offset| offset < bytes);
    if let Some(offset) = inside(FLASH_BASE, map.flash_bytes) {
        return Some((Home::Flash, offset));
    }
    if let Some(offset) = inside(RAM_BASE, map.ram_bytes) {
        return Some((Home::Ram, offset));
    }
    for (index, memory) in areas.iter().enumerate() {
        let area = memory.area;
        let offset = inside(area.base, area.bytes).or_else(|| inside(area.alias?, area.bytes));
        if let Some(offset) = offset {
            return Some((Home::Area(index), offset));
        }
    }
    let offset = inside(map.flash_alias?, map.flash_bytes)?;
    if map.flash_alias == Some(0) && ram_at_zero() {
        return Some((Home::Ram, offset)).filter(|_| offset < map.ram_bytes);
    }
    Some((Home::Flash, offset))
}
