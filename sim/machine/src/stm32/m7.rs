//! Between the Cortex-M7 and its memories: caches, AXI, the flash's two paths.
//!
//! The TCMs answer at once and never come here. Everything else is behind AXI: the caches answer at once for lines they
//! hold. A line that is missing costs the way to memory, after which all of it is there (critical word first and the
//! rest after it, ARM DDI0489F 5.9: the words that follow are taken as hidden). Written-back victims and buffered
//! stores do not hold the core up [assumed].

use std::mem::offset_of;

use rtoslab_cpu::v7m::attributes::{CachePolicy, Kind as MemoryKind, MemoryAttributes};
use rtoslab_cpu::v7m::cache::Operation;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_cpu::v7m::l1::{Caches, address_of_empty_cache_table};
use rtoslab_cpu::v7m::mpu;
use rtoslab_cpu::v7m::timing_cache::{CacheLookupReplayData, Home, Repeats};
use rtoslab_timing::cortex_m7::{CACHE_LINE_BYTES, DATA_CACHE_SETS};
use rtoslab_timing::{stm32_bus, stm32_flash};

use super::chip::{FLASH_BASE, Kind, Map};
use super::flash::{CacheableFlash, FlashAxi, FlashF7Itcm};
use super::flash_port::FlashPort;

/// The caches and memory paths of a Cortex-M7 part.
#[derive(Debug, Clone)]
pub struct Port {
    axi: FlashAxi,
    /// The F7's flash as the ITCM bus sees it, and where.
    itcm: Option<(u32, FlashF7Itcm)>,
    caches: Caches,
    instructions_on: bool,
    data_on: bool,
    /// Extra cycles of a RAM behind AXI.
    ram_wait: u64,
    fetches: Recorder,
}

/// Lines that a trace is worth remembering with.
const LINES: usize = 8;

/// The lines of the instruction cache in which a trace's fetches found their words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lines {
    /// Addresses in them.
    addresses: [u32; LINES],
    count: u32,
    /// Version of the cache that is known to hold them.
    held_in: u64,
}

/// A recorder of these lines, while it is on.
#[derive(Debug, Clone, Copy, Default)]
struct Recorder {
    on: bool,
    /// Something else answered, or there were more lines than can be held.
    spoiled: bool,
    lines: Lines,
}

impl Recorder {
    /// Adds the line of an address, if it is not among the recorded lines yet.
    #[inline(never)]
    fn record_cache_line_of_address(&mut self, address: u32) {
        let address = address & !(CACHE_LINE_BYTES - 1);
        let Lines { addresses, count, .. } = &mut self.lines;
        if addresses[..*count as usize].contains(&address) {
            return;
        }
        match addresses.get_mut(*count as usize) {
            Some(place) => {
                *place = address;
                *count += 1;
            }
            None => self.spoiled = true,
        }
    }
}

impl Port {
    /// Creates the interface of the F7, with two paths to the flash.
    pub fn new_f7_bus_with_flash_paths(
        map: &Map,
        flash: [u64; stm32_flash::SETTINGS.len()],
        bus: [u64; stm32_bus::SETTINGS.len()],
    ) -> Port {
        let itcm = map.flash_alias.map(|base| (base, FlashF7Itcm::new(base, map.flash_bytes)));
        Port::new(FlashAxi::f7_flash_interface_with_one_bank(&flash), itcm, bus)
    }

    /// Creates the interface of the H7, with one path to the flash.
    pub fn h7_flash_interface_with_one_path(
        flash: [u64; stm32_flash::SETTINGS.len()],
        bus: [u64; stm32_bus::SETTINGS.len()],
    ) -> Port {
        Port::new(FlashAxi::h7_with_two_banks(&flash), None, bus)
    }

    /// Returns the interface with all caches off. `itcm` is the second path to the flash with its base address, `bus`
    /// has the settings of the bus.
    fn new(axi: FlashAxi, itcm: Option<(u32, FlashF7Itcm)>, bus: [u64; stm32_bus::SETTINGS.len()]) -> Port {
        let ram_wait = bus[stm32_bus::key::M7_AXI_RAM];
        Port {
            axi,
            itcm,
            caches: Caches::default(),
            instructions_on: false,
            data_on: false,
            ram_wait,
            fetches: Recorder::default(),
        }
    }

    /// Returns the memory attributes of an address, by the MPU or the default map.
    fn memory_attributes_at(core: &Core, address: u32) -> MemoryAttributes {
        if core.mpu.is_enabled() {
            mpu::memory_attributes(core, address)
        } else {
            MemoryAttributes::from_default_memory_map(address)
        }
    }

    /// Returns whether memory with these attributes is cached.
    fn is_cacheable(attributes: MemoryAttributes) -> bool {
        attributes.kind == MemoryKind::Normal && attributes.policy != CachePolicy::NonCacheable
    }

    /// Fetches through the instruction cache, and returns the cycle in which the decoder can have the word. `wait`
    /// returns the memory's wait states.
    #[inline(always)]
    fn fetch_through_cache(&mut self, core: &Core, address: u32, at: u64, wait: impl FnOnce(&mut Port) -> u64) -> u64 {
        if self.instructions_on && self.caches.instruction.is_line_cached(address) {
            if self.fetches.on {
                self.fetches.record_cache_line_of_address(address);
            }
            return at + 2;
        }
        at + 2 + self.fetch_uncached_word(core, address, wait)
    }

    /// Fetches a word whose line is not in the cache. Returns the extra cycles.
    #[inline(never)]
    fn fetch_uncached_word(&mut self, core: &Core, address: u32, wait: impl FnOnce(&mut Port) -> u64) -> u64 {
        self.fetches.spoiled = true;
        if self.instructions_on && Port::is_cacheable(Port::memory_attributes_at(core, address)) {
            self.caches.instruction.load_line(address);
        }
        wait(self)
    }

    /// Loads through the data cache, and returns the wait states. `wait` returns those of the memory.
    #[inline(always)]
    fn load_through_cache(&mut self, core: &Core, address: u32, wait: impl FnOnce(&mut Port) -> u64) -> u64 {
        if self.data_on && self.caches.data.is_line_cached(address) {
            return 0;
        }
        self.load_uncached_word(core, address, wait)
    }

    /// Loads a word whose line is not in the cache. Returns the extra cycles.
    #[inline(never)]
    fn load_uncached_word(&mut self, core: &Core, address: u32, wait: impl FnOnce(&mut Port) -> u64) -> u64 {
        if self.data_on {
            let attributes = Port::memory_attributes_at(core, address);
            if Port::is_cacheable(attributes) && !attributes.shareable {
                self.caches.data.load_line(address);
            }
        }
        wait(self)
    }
}

impl FlashPort for Port {
    /// Returns the first cycle in which the decoder can have a code word of the flash. Its address phase is in cycle
    /// `at`.
    #[inline(always)]
    fn fetch_code(&mut self, core: &Core, address: u32, at: u64) -> u64 {
        self.fetch_through_cache(core, address, at, |port| port.axi.data_read_waits(address - FLASH_BASE, at))
    }

    /// Returns the wait states of a data read from the flash in cycle `at`.
    #[inline(always)]
    fn data_read_waits(&mut self, core: &Core, address: u32, at: u64) -> u64 {
        self.load_through_cache(core, address, |port| port.axi.data_read_waits(address - FLASH_BASE, at))
    }

    /// Applies FLASH_ACR (wait states, prefetch, caches), after firmware or a setting has changed it.
    fn apply_access_control_register(&mut self, acr: u32) {
        self.axi.set_acr(acr);
        if let Some((_, itcm)) = &mut self.itcm {
            itcm.set_acr(acr);
        }
    }

    /// Returns true: fetches over AXI may have to wait.
    #[inline(always)]
    fn may_fetches_wait(&self) -> bool {
        true
    }

    /// Returns what [`FlashPort::fetch_code`] returns, for a fetch through the flash's other address, at a byte offset
    /// in it.
    fn fetch_through_alias(&mut self, _: &Core, offset: u32, at: u64) -> u64 {
        self.fetches.spoiled = true;
        self.itcm.as_mut().map_or(at + 2, |(base, itcm)| itcm.fetch_code(*base + offset, at))
    }

    /// Returns the wait states of a data read through the flash's other address, at a byte offset in it.
    fn alias_read_waits(&mut self, _: &Core, offset: u32, at: u64) -> u64 {
        self.itcm.as_mut().map_or(0, |(base, itcm)| itcm.data_read_waits(*base + offset, at))
    }

    /// Returns the first cycle in which the decoder can have a code word from a RAM.
    fn fetch_from_ram(&mut self, core: &Core, kind: Kind, address: u32, at: u64) -> u64 {
        if kind != Kind::Axi {
            return at + 2;
        }
        self.fetch_through_cache(core, address, at, |port| port.ram_wait)
    }

    /// Returns the wait states of a load from a RAM.
    fn ram_read_waits(&mut self, core: &Core, kind: Kind, address: u32, _: u64) -> u64 {
        if kind == Kind::Axi { self.load_through_cache(core, address, |port| port.ram_wait) } else { 0 }
    }

    /// Returns the wait states of a store to a RAM.
    fn ram_write_waits(&mut self, core: &Core, kind: Kind, address: u32, _: u64) -> u64 {
        if kind != Kind::Axi {
            return 0;
        }
        if self.data_on {
            let attributes = Port::memory_attributes_at(core, address);
            let cached = Port::is_cacheable(attributes) && !attributes.shareable;
            if cached && attributes.policy != CachePolicy::WriteThrough {
                if !self.caches.data.is_line_cached(address) && attributes.policy == CachePolicy::WriteBackWriteAllocate
                {
                    self.caches.data.load_line(address);
                }
                if self.caches.data.is_line_cached(address) {
                    self.caches.data.mark_cache_line_dirty(address);
                    return 0;
                }
            }
        }
        self.ram_wait
    }

    /// Switches the core's instruction cache and its data cache on or off.
    fn switch_caches(&mut self, instructions: bool, data: bool) {
        (self.instructions_on, self.data_on) = (instructions, data);
    }

    /// Carries out a maintenance operation on the core's caches.
    fn maintain_caches(&mut self, operation: Operation) {
        self.caches.execute_cache_maintenance(operation);
    }

    /// Restores the state in a snapshot. The version numbers of cache contents go on: none returns with another
    /// content.
    fn restore_state(&mut self, saved: &Port) {
        let version = self.caches.instruction.content_version();
        self.clone_from(saved);
        self.caches.instruction.set_version_after(version);
    }
}

/// Only what answers at once is cached, so that the state of the paths to memory does not matter.
impl CacheableFlash for Port {
    /// Nothing: no cycle depends on the interface's state but for the caches.
    type State = ();
    /// The look-ups of a trace's fetches in the interface's caches, with their answers.
    type Lookups = Lines;

    /// Returns `()`, as no cycle depends on the interface's state but for the caches.
    fn timing_state(&self, _: u64) -> Option<()> {
        Some(())
    }

    /// Does nothing, as no cycle depends on the interface's state but for the caches.
    fn restore_timing_state(&mut self, (): &(), _: u64) {}

    /// Returns which memory answers a data read at an address, if its wait states follow a fixed rule. Otherwise
    /// `None`.
    #[inline(always)]
    fn data_read_source(&mut self, address: u32) -> Option<Home> {
        (self.data_on && self.caches.data.is_line_cached(address)).then_some(Home::Cached)
    }

    const CONSTANTS: Option<(u32, u32)> = Some((CACHE_LINE_BYTES, DATA_CACHE_SETS as u32));

    /// Returns the host address of the table of the cache lines that were hit last, for native code. 0 without a cache.
    #[inline(always)]
    fn hit_line_table_address(&self) -> u64 {
        if self.data_on { self.caches.data.hit_line_table_address() } else { address_of_empty_cache_table() }
    }

    /// Returns whether fetches from the flash go through a cache of the core.
    fn are_fetches_cached(&self) -> bool {
        self.instructions_on
    }

    /// Begins to record the cache look-ups of fetches.
    fn record_lookups(&mut self) {
        self.fetches = Recorder { on: true, ..Recorder::default() };
    }

    /// Ends the recording and returns the look-ups. `None` if they cannot be repeated.
    fn take_recorded_lookups(&mut self) -> Option<Lines> {
        self.fetches.on = false;
        (!self.fetches.spoiled).then_some(self.fetches.lines)
    }

    /// Repeats recorded cache look-ups. Returns true if the answers are the same as before. If not, nothing is changed.
    #[inline(always)]
    fn repeat_lookups(&mut self, lines: &mut Lines) -> bool {
        lines.held_in == self.caches.instruction.content_version() || self.are_lines_cached(lines)
    }

    const REPEATS: Repeats = Repeats::Held { version: offset_of!(Lines, held_in) };

    /// Returns what native code needs to repeat cache look-ups by itself.
    #[inline(always)]
    fn native_lookup_data(&mut self) -> CacheLookupReplayData {
        CacheLookupReplayData { version: self.caches.instruction.content_version(), ..CacheLookupReplayData::default() }
    }
}

impl Port {
    /// Returns whether the instruction cache contains all these lines.
    #[inline(never)]
    fn are_lines_cached(&mut self, lines: &mut Lines) -> bool {
        let cache = &mut self.caches.instruction;
        let held = lines.addresses[..lines.count as usize].iter().all(|&address| cache.is_line_cached(address));
        if held {
            lines.held_in = cache.content_version();
        }
        held
    }
}
