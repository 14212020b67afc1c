//! The system as the Cortex-M0+ of an STM32L0 sees it. Implements the ARMv6-M interpreter's [`Bus`].
//!
//! The interpreter's mode with arbitration serves flash with wait states: there the fetches are told to the bus one by
//! one, and what is late keeps the core's only port busy. At zero wait states the other mode, which does without, takes
//! the same cycles.

use rtoslab_cpu::v6m::bus::{Bus, ChipBusFabric, OrderedAccess, Ram, Trap};
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::decode::{Place, decode_instruction};
use rtoslab_cpu::v6m::engine::SingleCoreEngine;
use rtoslab_cpu::v6m::op::{Code, Op};
use rtoslab_cpu::v6m::region::Region;
use rtoslab_cpu::v6m::timing_cache::TimingCache;
use rtoslab_cpu::v6m::translate::MARKED_BYTES;
use rtoslab_cpu::v6m::watched::WatchedStore;
use rtoslab_lab::{ProbedRegisters, Stimulus};
use rtoslab_periph::stm32::FlashStore;
use rtoslab_timing::cortex_m0plus::MEMORY_CYCLES;

use super::chip::{FLASH_BASE, Kind, RAM_BASE, memories_and_address_windows_of_chip};
use super::devices::{BoardPeripherals, Changes};
use super::memory::{MARK_CODE, MARK_SHIFT, MARK_WATCH, Memories};
use crate::known::DecodedOpCache;
use crate::m0plus::UNALIGNED;
use crate::m0plus::private_bus::PrivateBus;
use crate::polling::BusyWaitDetector;
use crate::stm32::flash::FlashL0;

/// The STM32L0 without its core: memories, flash interface and devices.
pub struct System {
    pub(super) memories: Memories,
    pub(super) devices: BoardPeripherals,
    pub(super) flash: FlashL0,
    /// Instructions with probes.
    pub(super) known: DecodedOpCache<Op>,
    /// Next event. 0 when the machine must look first.
    pub(super) due: u64,
    /// Timing of execution in the flash's wait states.
    pub(super) timing_cache: TimingCache,
    /// The code that the timing_cache is about. See [`Memories::decoded_code_version`].
    pub(super) cached_edition: u64,
    /// Another memory shows at address 0: the core must look again at where it is.
    pub(super) refetch: bool,
    /// Reads of registers, for waits that are passed over.
    pub(super) polling: BusyWaitDetector,
}

impl System {
    /// Creates a chip with erased flash.
    pub fn new(devices: BoardPeripherals) -> System {
        let (memories, windows) = memories_and_address_windows_of_chip(devices.periph.chip());
        System {
            memories: Memories::new(&memories, &windows),
            devices,
            flash: FlashL0::new(),
            known: DecodedOpCache::default(),
            due: 0,
            timing_cache: TimingCache::default(),
            cached_edition: 0,
            refetch: false,
            polling: BusyWaitDetector::default(),
        }
    }

    /// Applies the settings of flash timing, and which memory is visible at address 0.
    pub(super) fn apply_memory_settings(&mut self) {
        let at_zero = self.devices.periph.memory_at_zero();
        self.refetch |= self.memories.at_zero != at_zero;
        self.memories.at_zero = at_zero;
        self.flash.apply_access_control_register(self.devices.flash_access_control());
        self.timing_cache.forget_timing_and_native_code();
        // The interpreter may have to change its mode.
        self.due = 0;
    }

    /// Ends the core's turn, so that the machine looks at interrupts and events.
    pub(super) fn end_core_turn(&mut self, core: &mut Core) {
        core.limit = 0;
        self.due = 0;
    }

    /// Applies the effects of an access or event at cycle `now` to interrupt lines, clocks and memories.
    pub(super) fn apply_event_effects(&mut self, core: &mut Core, now: u64) {
        let lines = self.devices.periph.irq_levels()[0];
        if lines != self.devices.driven {
            self.devices.driven = lines;
            if core.nvic.set_interrupt_line_levels(lines) != 0 && core.nvic.scr & 0x10 != 0 {
                core.event = true;
            }
            self.end_core_turn(core);
        }
        let pc = if core.ip.is_null() { 0 } else { core.next_instruction_address() };
        let changes = self.devices.apply_event_effects(pc, now);
        if std::mem::take(&mut self.devices.effects.event) {
            core.event = true;
            self.end_core_turn(core);
        }
        self.apply_requested_system_changes(core, changes, now);
        let due = self.devices.periph.next_advance_cycle();
        if due < self.due || self.devices.stop.is_some() || self.devices.reset.is_some() {
            self.end_core_turn(core);
        }
    }

    /// Applies a stimulus from outside at cycle `now`.
    pub(super) fn apply_stimulus(&mut self, core: &mut Core, stimulus: Stimulus, now: u64) {
        match stimulus {
            Stimulus::Exception { number, .. } => {
                if core.nvic.make_exception_pending(number) && core.nvic.scr & 0x10 != 0 {
                    core.event = true;
                }
            }
            Stimulus::Pin { pin, level } => {
                let devices = &mut self.devices;
                devices.periph.drive_pin((pin / 16) as u8, (pin % 16) as u8, level, now, &mut devices.effects);
                self.apply_event_effects(core, now);
            }
        }
    }

    /// Returns the core's registers, and the stack's words if a probe of this site reports them.
    fn probed_registers(&self, core: &Core, site: u32) -> ProbedRegisters {
        self.devices.probes.probed_registers(site, &core.r, |address| {
            self.memories.read_bytes(address, 4)?.try_into().ok().map(u32::from_le_bytes)
        })
    }

    /// Carries out changes of clocks, memories and interrupt lines.
    fn apply_requested_system_changes(&mut self, core: &mut Core, changes: Changes, now: u64) {
        if changes.clocks {
            core.systick.set_external_clock_rate(self.devices.systick_reference_rate(), now);
            self.end_core_turn(core);
        }
        if changes.memory {
            self.apply_memory_settings();
            self.end_core_turn(core);
        }
        for erase in changes.erase {
            self.memories.write_bytes(erase.address, &vec![erase.value; erase.bytes as usize]);
        }
    }

    /// Returns a value in the flash that is read through its alias at address 0. `None` for other addresses.
    #[cold]
    #[inline(never)]
    fn read_flash_through_zero_alias(&self, address: u32, bytes: u32) -> Option<u32> {
        if address & (bytes - 1) != 0 {
            return None;
        }
        let (window, offset) = self.memories.address_window_of_access(address, bytes)?;
        let (memory, offset) = self.memories.memory_at(window, offset);
        let memory = &self.memories.all[memory];
        (memory.kind == Kind::Flash).then(|| memory.little_endian_value_at_offset(offset, bytes))
    }

    /// Returns the instruction at an address with a probe, and the number of the probe's site (place in the list of
    /// probed addresses). `None` if the address is in no memory.
    fn instruction_with_probes_at(&mut self, address: u32) -> Option<(Op, u32)> {
        let (window, offset) = self.memories.address_window_of_access(address, 2)?;
        let (first, second) = self.memories.instruction_halfwords(window, offset);
        // What shows at an address for a time only is decoded anew.
        let stays = self.memories.windows[window].spec.remap.is_none();
        if let Some(known) = self.known.find_decoded_instruction(address, [first, second]).filter(|_| stays) {
            return Some(known);
        }
        let (decoded, site) =
            (self.decode_instruction_at(window, offset, address), self.devices.probes.probe_site_number(address));
        Some(self.known.cache_decoded_instruction(address, [first, second], decoded, site))
    }

    /// Decodes the instruction at an address.
    fn decode_instruction_at(&self, window: usize, offset: u32, address: u32) -> Op {
        let spec = &self.memories.windows[window].spec;
        let place = Place { address, region_base: spec.base, region_bytes: spec.bytes, cached: false, rom: false };
        let (first, second) = self.memories.instruction_halfwords(window, offset);
        decode_instruction(first, second, place)
    }
}

impl ChipBusFabric for System {
    /// Returns the first cycle in which the RAM takes a transfer: at once, unless the core's own port is busy.
    #[inline(always)]
    fn claim_transfer_slot(&mut self, core: &mut Core, _: usize, at: u64, _: bool) -> u64 {
        if core.bus_free <= at {
            return at;
        }
        core.bus_wait += core.bus_free - at;
        core.bus_free
    }

    /// Fetches the word of code that is `words` words after the one with `ip`, from cycle `at` on. Returns the cycle of
    /// the transfer. Only asked under `CONTEND`.
    #[inline(always)]
    fn fetch_code(&mut self, core: &mut Core, ip: *mut Op, words: usize, at: u64, stalls: bool) -> u64 {
        let address = (core.address_of_op(ip) & !3).wrapping_add(4 * words as u32);
        let from = at.max(core.bus_free);
        let arrival = if address < RAM_BASE { self.flash.fetch_code(address, from) } else { from + 2 };
        let late = arrival - (at + 2);
        if late != 0 {
            core.bus_free = arrival - 1;
            if stalls {
                core.bus_wait += late;
            } else {
                core.fetch_ready = arrival;
            }
        }
        arrival - 2
    }
}

// SAFETY: the RAM and the ops are allocations of their own, the tables of `Memories`.
unsafe impl Bus for System {
    /// The engine that times instructions which its cores execute speculatively.
    type Ahead = SingleCoreEngine;
    const TWO_CORES: bool = false;
    const RAM_BASE: u32 = RAM_BASE;

    /// Returns main RAM.
    #[inline(always)]
    fn main_ram(&mut self) -> Ram<'_> {
        const { assert!(1 << MARK_SHIFT == MARKED_BYTES) };
        let memory = &mut self.memories.all[1];
        Ram { bytes: &mut memory.bytes, marks: &memory.marks }
    }

    /// Stores to marked bytes of RAM in cycle `now`: reports it if the word is watched, and decodes anew if it is code.
    #[cold]
    #[inline(never)]
    fn store_to_marked_ram(&mut self, core: &mut Core, offset: u32, bytes: u32, value: u32, now: u64) {
        let mark = self.memories.all[1].store_value_at_offset(offset, bytes, value);
        if mark & MARK_CODE != 0 {
            self.memories.drop_decoded_ops(1, offset, bytes);
        }
        if mark & MARK_WATCH != 0 {
            let word = self.memories.all[1].little_endian_value_at_offset(offset & !3, 4);
            let pc = core.next_instruction_address();
            if self.devices.note_watched_store(RAM_BASE + (offset & !3), word, now, pc) {
                self.end_core_turn(core);
            }
        }
    }

    /// Loads from anywhere but plain RAM, and advances `t` by the cycles that this takes. `other` is the other core,
    /// which may have to go first, or `None` if the order is settled. `LITERAL`: an aligned word known to be in cached
    /// flash.
    #[cold]
    #[inline(never)]
    fn load_data<const CONTEND: bool, const LITERAL: bool>(
        &mut self,
        core: &mut Core,
        _: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        if address & (bytes - 1) != 0 {
            return Err(UNALIGNED);
        }
        if let Some((window, offset)) = self.memories.address_window_of_access(address, bytes) {
            let flash = self.memories.windows[window].spec.flash;
            let (memory, offset) = self.memories.memory_at(window, offset);
            let at = self.bus_port_free_cycle::<CONTEND>(core, *t);
            let wait = if flash { self.flash.data_read_waits(address, at) } else { 0 };
            *t = self.access_end_cycle(core, at, wait);
            return Ok(self.memories.all[memory].little_endian_value_at_offset(offset, bytes));
        }
        match address >> 28 {
            0xe => {
                let value = self.load_from_private_bus(core, address, bytes, t)?;
                self.report_watched_register_access(core, address, None, *t);
                Ok(value)
            }
            0x1 => {
                let value = self.load_system_memory(core, address, bytes, *t)?;
                *t += MEMORY_CYCLES;
                Ok(value)
            }
            _ => self.load_register::<CONTEND>(core, address, bytes, t),
        }
    }

    /// Stores to anywhere but plain RAM, and advances `t` by the cycles that this takes. `other` is the other core,
    /// which may have to go first, or `None` if the order is settled.
    #[cold]
    #[inline(never)]
    fn store_data<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        _: Option<&Core>,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        if address & (bytes - 1) != 0 {
            return Err(UNALIGNED);
        }
        if let Some((window, offset)) = self.memories.address_window_of_access(address, bytes) {
            let (memory, offset) = self.memories.memory_at(window, offset);
            let at = self.bus_port_free_cycle::<CONTEND>(core, *t);
            *t = self.access_end_cycle(core, at, 0);
            if self.memories.all[memory].kind == Kind::Ram {
                self.store_to_marked_ram(core, offset, bytes, value, at);
                return Ok(());
            }
            let array = if memory == 0 { FLASH_BASE + offset } else { address };
            let store = self.devices.periph.store_to_flash_array(array, bytes, at, &mut self.devices.effects);
            if store == FlashStore::Program {
                // Programming sets bits (RM0367 3.3.4). A word of EEPROM is erased first.
                let old = if memory == 0 {
                    self.memories.all[memory].little_endian_value_at_offset(offset, bytes)
                } else {
                    0
                };
                self.memories.all[memory].store_value_at_offset(offset, bytes, old | value);
                self.memories.drop_decoded_ops(memory, offset, bytes);
            } else {
                self.devices.warnings.warn_of_ignored_store(address, core.next_instruction_address());
            }
            self.apply_event_effects(core, at);
            return Ok(());
        }
        if address >> 28 == 0xe {
            self.store_to_private_bus(core, address, bytes, value, t)?;
            self.report_watched_register_access(core, address, Some(value), *t);
            return Ok(());
        }
        self.store_register::<CONTEND>(core, address, bytes, value, t)
    }

    /// Loads from constant memory before the cycle is known. Returns `None` for other addresses. `LITERAL` as for
    /// [`Bus::load_data`].
    #[inline(always)]
    fn load_constant<const LITERAL: bool>(&mut self, address: u32, bytes: u32) -> Option<u32> {
        let flash = &self.memories.all[0];
        let offset = address.wrapping_sub(FLASH_BASE);
        if address & (bytes - 1) == 0 && (offset as usize) < flash.bytes.len() {
            return Some(flash.little_endian_value_at_offset(offset, bytes));
        }
        self.read_flash_through_zero_alias(address, bytes)
    }

    /// Returns whether a store to this offset of RAM writes a watched word. `None` if the store cannot be executed
    /// speculatively.
    #[cold]
    #[inline(never)]
    fn watches_store(&self, offset: u32) -> Option<bool> {
        let ram = &self.memories.all[1];
        if ram.marks[(offset >> MARK_SHIFT) as usize] & MARK_CODE != 0 {
            return None;
        }
        let stops = || self.devices.probes.does_run_stop_after_write(RAM_BASE + (offset & !3));
        if ram.is_word_watched(offset) { (!stops()).then_some(true) } else { Some(false) }
    }

    /// Reports a store to a watched word, which was made speculatively and has a cycle now. Returns true if the machine
    /// must act before anything else executes.
    #[cold]
    #[inline(never)]
    fn report_store(&mut self, _: usize, WatchedStore { pc, offset, word }: WatchedStore, cycle: u64) -> bool {
        self.devices.note_watched_store(RAM_BASE + offset, word, cycle, pc)
    }

    /// Fires the probes on the first instruction of a trace or block, before its cycle is known, and returns the
    /// instruction. [`Core::retried`] says that the probes have fired, in case the instruction is only executed later.
    #[cold]
    #[inline(never)]
    fn fire_probes_ahead(&mut self, core: &mut Core, address: u32) -> OrderedAccess<Op> {
        if self.devices.probes.does_run_stop_before_address(address) {
            return OrderedAccess::InTime;
        }
        let Some((instruction, site)) = self.instruction_with_probes_at(address) else { return OrderedAccess::InTime };
        let held = self.probed_registers(core, site);
        self.devices.fire_probes_at(site, address, core.t, held);
        core.retried = true;
        OrderedAccess::Now(instruction)
    }

    /// Returns the instruction at this address, even if a stub op is in its place, without firing its probes.
    #[cold]
    #[inline(never)]
    fn op_behind_stub(&mut self, address: u32) -> Op {
        self.instruction_with_probes_at(address).map_or(Op::default(), |(instruction, _)| instruction)
    }

    /// Returns the region of code that contains `address`. `None` if no code can be fetched there.
    #[cold]
    #[inline(never)]
    fn code_region(&mut self, address: u32) -> Option<Region> {
        let (window, _) = self.memories.address_window_of_access(address, 2)?;
        let window = &self.memories.windows[window];
        window.spec.code.then(|| Region {
            base: window.spec.base,
            bytes: window.spec.bytes,
            ops: window.first_op_pointer(),
            row: 0,
            row_mask: 0,
            cached: false,
            rom: false,
            profile: [window.memory_window_profile_pointer(), std::ptr::null_mut()],
        })
    }

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    #[cold]
    #[inline(never)]
    fn decode_op(&mut self, _: &Core, address: u32) {
        let Some((window, offset)) = self.memories.address_window_of_access(address, 2) else { return };
        let op = if self.devices.probes.is_instruction_probed(address) {
            Op::without_operands(Code::Attend)
        } else {
            self.decode_instruction_at(window, offset, address)
        };
        self.memories.mark_instruction_memory_as_decoded(window, offset);
        if let Some(place) = self.memories.windows[window].op_at_offset(offset) {
            *place = op;
        }
    }

    /// Fires the probes on an instruction in cycle `t`, and returns the instruction, in whose place is
    /// [`Code::Attend`](crate::v6m::op::Code::Attend). `None`: the run stops before it.
    #[cold]
    #[inline(never)]
    fn serve_stub_op(&mut self, core: &mut Core, address: u32, t: u64) -> Option<Op> {
        let (instruction, site) = self.instruction_with_probes_at(address)?;
        let held = self.probed_registers(core, site);
        (!self.devices.fire_probes_at(site, address, t, held)).then_some(instruction)
    }

    /// Returns the cycle of the chip's next event. It is 0 when the machine must look at the cores before anything else
    /// executes. The interpreter sets it to 0 to ask for that.
    #[inline(always)]
    fn next_event_cycle(&mut self) -> &mut u64 {
        &mut self.due
    }
}
