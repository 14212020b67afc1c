//! Everything after the cores: memories, code tables, arbitration. Implements the interpreter's [`Bus`].

use rtoslab_cpu::v6m::bus::{Access, Bus, OrderedAccess, Ram, Trap};
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::engine::DualCoreEngine;
use rtoslab_cpu::v6m::op::Op;
use rtoslab_cpu::v6m::pair::DualCoreTimingCache;
use rtoslab_cpu::v6m::region::Region;
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_cpu::v6m::watched::WatchedStore;
use rtoslab_lab::{Console, ProbedRegisters, Probes, StimulusSchedule};
use rtoslab_periph::rp2040::Rp2040Peripherals;
use rtoslab_periph::{ClockTree, Effects, NEVER};

use super::fetches::FetchLog;
use super::map::{CPUID, FLASH_BASE, ROM_BYTES, SRAM_BASE, SRAM_BYTES, slave};
use super::settings::Rp2040TimingValues;
use super::single_core::SingleCoreState;
use crate::code::CodeTable;
use crate::debugger::Debugger;
use crate::known::DecodedOpCache;
use crate::polling::BusyWaitDetector;
use crate::stop::{Stop, StopReason};
use crate::warnings::Warnings;
use crate::words::read_little_endian;
use crate::xip::{FILL_BYTES, LINE_BYTES, XipCache};

pub(super) const MARK_CODE: u8 = 1;
pub(super) const MARK_WATCH: u8 = 2;
/// One for each 256 bytes of SRAM, and as many more as make a power of two: their number needs no comparison.
const MARKS: usize = (SRAM_BYTES as usize >> 8).next_power_of_two();

/// The writer of a word of memory, for probes: core, instruction and cycle. A DMA transfer counts as core 0 with a `pc`
/// of 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriterAt {
    pub core: usize,
    pub pc: u32,
    pub cycle: u64,
}

/// The RP2040 without its cores: memories, peripherals, arbitration and instruments.
pub struct System {
    pub(super) sram: [u8; SRAM_BYTES as usize],
    pub(super) rom: Box<[u8]>,
    /// Content of the XIP cache while it serves as SRAM.
    pub(super) cache_sram: Box<[u8]>,
    pub(super) marks: [u8; MARKS],
    /// The words of those 256 bytes that are watched, or were.
    pub(super) watched: [u64; MARKS],
    /// Whose decoded code was dropped once.
    pub(super) dropped: [bool; MARKS],
    pub(super) rom_code: CodeTable,
    pub(super) flash_code: CodeTable,
    pub(super) sram_code: CodeTable,
    /// Instructions behind stand-ins.
    pub(super) known: DecodedOpCache<Op>,
    pub(super) xip: XipCache,
    /// clk_sys cycles of a miss, which fills half a line.
    pub(super) fill_cycles: u64,
    /// clk_sys cycles of one uncached word.
    pub(super) word_cycles: u64,
    /// Cycle of the transfer that holds each slave's slot.
    pub(super) slots: [u64; SLOTS * 16],
    /// Cycle of the last transfer to a slave that is no memory.
    pub(super) others_claimed: u64,
    /// First cycle in which a slave with multi-cycle transfers is free.
    pub(super) busy: [u64; 16],
    /// The core that BUS_PRIORITY puts first. Otherwise the loser of a collision goes first.
    pub(super) fixed_first: Option<usize>,
    /// The core that goes first when both issue in the same cycle.
    pub(super) first: usize,
    pub(super) due: u64,
    pub(super) periph: Rp2040Peripherals,
    pub(super) clocks: ClockTree,
    pub(super) effects: Effects,
    pub(super) timing: Rp2040TimingValues,
    pub(super) probes: Probes,
    pub(super) injections: StimulusSchedule,
    pub(super) consoles: [Console; 2],
    pub(super) stop: Option<Stop>,
    /// Stops that instruments asked for and whose cycles have not come.
    pub(super) held: Vec<Stop>,
    /// Core whose `until` address has been reported already.
    pub(super) passed_until: [Option<u32>; 2],
    pub(super) warnings: Warnings,
    pub(super) misses: [u64; 2],
    /// Which steps of the cores are in the counters of XIP_CTRL.
    pub(super) fetched: [FetchLog; 2],
    /// Interrupt lines as last driven into each core.
    pub(super) driven_lines: [u32; 2],
    /// Something has happened by which they may be others now.
    pub(super) lines_may_differ: bool,
    /// Pad levels as last traced.
    pub(super) pins: u32,
    /// The cached interleaving of the cores.
    pub(super) pairs: DualCoreTimingCache,
    /// The cache of a core that executes alone.
    pub(super) alone: SingleCoreState,
    /// Reads of registers, for waits that are passed over.
    pub(super) polling: BusyWaitDetector,
    pub(super) debugger: Debugger,
    /// A register is watched.
    pub(super) watches_registers: bool,
}

impl System {
    /// Creates a chip with erased flash.
    pub fn new(crystal_hz: u64, flash_bytes: u32, strict: bool) -> Box<System> {
        let rom = rtoslab_periph::rp2040::bootrom::boot_rom_content().into_boxed_slice();
        let zeros = |bytes: u32| vec![0u8; bytes as usize].into_boxed_slice();
        let periph = Rp2040Peripherals::new(crystal_hz, flash_bytes as usize);
        Box::new(System {
            sram: [0; SRAM_BYTES as usize],
            rom,
            cache_sram: zeros(0x4000),
            marks: [0; MARKS],
            watched: [0; MARKS],
            dropped: [false; MARKS],
            rom_code: CodeTable::new(0, ROM_BYTES),
            flash_code: CodeTable::new(FLASH_BASE, flash_bytes),
            sram_code: CodeTable::new(SRAM_BASE, SRAM_BYTES),
            known: DecodedOpCache::default(),
            xip: XipCache::new(flash_bytes),
            fill_cycles: 0,
            word_cycles: 0,
            slots: [NEVER; SLOTS * 16],
            others_claimed: 0,
            busy: [0; 16],
            fixed_first: None,
            first: 0,
            due: NEVER,
            clocks: periph.clock_tree().clone(),
            periph,
            driven_lines: [0; 2],
            lines_may_differ: true,
            pins: 0,
            effects: Effects::default(),
            timing: Rp2040TimingValues::new(),
            probes: Probes::default(),
            injections: StimulusSchedule::default(),
            consoles: [Console::default(), Console::default()],
            stop: None,
            held: Vec::new(),
            passed_until: [None; 2],
            warnings: Warnings::new(strict),
            misses: [0; 2],
            fetched: [FetchLog::default(); 2],
            pairs: DualCoreTimingCache::default(),
            alone: SingleCoreState::default(),
            polling: BusyWaitDetector::default(),
            debugger: Debugger::default(),
            watches_registers: false,
        })
    }

    /// Returns the size of the flash in bytes.
    pub(super) fn flash_size(&self) -> usize {
        self.periph.ssi.flash.flash_content().len()
    }

    /// Returns the flash offset of a cached-window address. Smaller flashes repeat in the 16 MB window.
    pub(super) fn flash_offset_of_cached_address(&self, address: u32) -> u32 {
        (address & 0x00ff_ffff) & (self.flash_size() as u32 - 1)
    }

    /// Returns the literal at an offset of the flash, which is an aligned word inside of it.
    #[inline(always)]
    fn flash_literal_at(&self, offset: u32) -> u32 {
        let bytes = self.periph.ssi.flash.flash_content();
        debug_assert!(offset as usize + 4 <= bytes.len());
        // SAFETY: as said.
        u32::from_le(unsafe { bytes.as_ptr().add(offset as usize).cast::<u32>().read_unaligned() })
    }

    /// Makes an aligned load from cached flash, such as from a constant table.
    #[inline(never)]
    pub(super) fn load_cached_flash<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> u32 {
        let offset = self.flash_offset_of_cached_address(address);
        let half = offset / FILL_BYTES;
        self.periph.xip_ctrl.count_accesses(1);
        if !self.xip.is_cached(half) {
            self.load_half_cache_line::<CONTEND>(core, half, t);
        }
        let slot = if CONTEND { self.claim_data_transfer_slot(core, slave::XIP, *t) } else { *t };
        *t = slot + 2;
        let at = self.periph.ssi.flash.flash_content().as_ptr().wrapping_add((offset & !3) as usize).cast::<u32>();
        // SAFETY: `flash_offset_of_cached_address` is below the flash's length, a multiple of four.
        let word = u32::from_le(unsafe { at.read_unaligned() });
        word >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * bytes))
    }

    /// Loads a literal from cached flash.
    #[inline(always)]
    fn load_flash_literal<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, t: &mut u64) -> u32 {
        let offset = address - FLASH_BASE;
        let half = offset / FILL_BYTES;
        self.periph.xip_ctrl.count_accesses(1);
        if !self.xip.is_cached(half) {
            self.load_half_cache_line::<CONTEND>(core, half, t);
        }
        let slot = if CONTEND { self.claim_data_transfer_slot(core, slave::XIP, *t) } else { *t };
        *t = slot + 2;
        self.flash_literal_at(offset)
    }

    /// Loads half a line into the cache and charges the core, unless it is there.
    #[cold]
    #[inline(never)]
    pub(super) fn load_half_cache_line<const CONTEND: bool>(&mut self, core: &mut Core, half: u32, t: &mut u64) {
        if self.xip.is_cached(half) {
            return;
        }
        let start = if CONTEND { (*t).max(self.busy[slave::XIP]) } else { *t };
        core.bus_wait += start - *t;
        core.flash_wait += self.fill_cycles;
        self.misses[core.id] += 1;
        self.periph.xip_ctrl.count_miss();
        *t = start + self.fill_cycles;
        self.keep_slave_busy_until::<CONTEND>(slave::XIP, *t);
        if let Some(evicted) = self.xip.load_half_line(half) {
            self.update_stub_ops_of_cache_line(evicted);
        }
        self.update_stub_ops_of_cache_line(half * FILL_BYTES / LINE_BYTES);
    }

    /// Returns the content of memory (ROM, flash, SRAM). `None` outside of memory.
    pub(super) fn memory_content_at(&self, address: u32, bytes: usize) -> Option<&[u8]> {
        let (memory, offset): (&[u8], u32) = match address {
            0..ROM_BYTES => (&self.rom, address),
            FLASH_BASE..=0x10ff_ffff => {
                (self.periph.ssi.flash.flash_content(), self.flash_offset_of_cached_address(address))
            }
            SRAM_BASE.. => (&self.sram, address - SRAM_BASE),
            _ => return None,
        };
        memory.get(offset as usize..(offset as usize).checked_add(bytes)?)
    }

    /// Returns the registers of a core, and the stack's words if a probe of this site reports them.
    #[inline]
    pub(super) fn probed_registers(&self, core: &Core, site: u32) -> ProbedRegisters {
        self.probes.probed_registers(site, &core.r, |address| {
            self.memory_content_at(address, 4)?.try_into().ok().map(u32::from_le_bytes)
        })
    }

    /// Writes SRAM. Returns false outside of SRAM.
    pub(super) fn write_sram(&mut self, address: u32, data: &[u8]) -> bool {
        let offset = address.wrapping_sub(SRAM_BASE);
        let end = offset as usize + data.len();
        if offset >= SRAM_BYTES || end > SRAM_BYTES as usize {
            return false;
        }
        self.sram[offset as usize..end].copy_from_slice(data);
        self.invalidate_sram_code(offset, data.len() as u32);
        true
    }
}

// SAFETY: the SRAM is an array of so many bytes, the ops are those of the code tables.
unsafe impl Bus for System {
    /// The engine that times instructions which its cores execute speculatively.
    type Ahead = DualCoreEngine;
    const TWO_CORES: bool = true;
    const RAM_BASE: u32 = SRAM_BASE;

    /// Returns main RAM.
    #[inline(always)]
    fn main_ram(&mut self) -> Ram<'_> {
        Ram { bytes: &mut self.sram, marks: &self.marks }
    }

    /// Stores to marked bytes of RAM in cycle `now`: reports it if the word is watched, and decodes anew if it is code.
    #[cold]
    #[inline(never)]
    fn store_to_marked_ram(&mut self, core: &mut Core, offset: u32, bytes: u32, value: u32, now: u64) {
        let at = offset as usize;
        self.sram[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        self.forget_overwritten_code(offset, bytes);
        self.drop_decoded_code_page(core.next_instruction_address(), offset);
        if self
            .report_watched_write(offset, WriterAt { core: core.id, pc: core.next_instruction_address(), cycle: now })
        {
            core.limit = 0;
        }
    }

    /// Loads from anywhere but plain RAM, and advances `t` by the cycles that this takes. `other` is the other core,
    /// which may have to go first, or `None` if the order is settled. `LITERAL`: an aligned word known to be in cached
    /// flash.
    #[inline(always)]
    fn load_data<const CONTEND: bool, const LITERAL: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        if LITERAL {
            return Ok(self.load_flash_literal::<CONTEND>(core, address, t));
        }
        if address >> 24 == FLASH_BASE >> 24 && address & (bytes - 1) == 0 {
            return Ok(self.load_cached_flash::<CONTEND>(core, address, bytes, t));
        }
        self.load_elsewhere::<CONTEND>(core, other, address, bytes, t)
    }

    /// Stores to anywhere but plain RAM, and advances `t` by the cycles that this takes. `other` is the other core,
    /// which may have to go first, or `None` if the order is settled.
    #[inline(always)]
    fn store_data<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        self.store_elsewhere::<CONTEND>(core, other, address, bytes, value, t)
    }

    /// Returns the region of code that contains `address`. `None` if no code can be fetched there.
    #[cold]
    #[inline(never)]
    fn code_region(&mut self, address: u32) -> Option<Region> {
        let flash_end = FLASH_BASE + self.flash_size() as u32;
        match address {
            0..ROM_BYTES => {
                Some(Region { rom: true, ..self.rom_code.code_region(System::first_bus_slot_of_slave(slave::ROM), 1) })
            }
            FLASH_BASE.. if address < flash_end => Some(Region {
                cached: true,
                ..self.flash_code.code_region(System::first_bus_slot_of_slave(slave::XIP), 1)
            }),
            SRAM_BASE..=0x2004_1fff => Some(self.sram_region(address - SRAM_BASE)),
            _ => None,
        }
    }

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    #[cold]
    #[inline(never)]
    fn decode_op(&mut self, _: &Core, address: u32) {
        let decoded = self.op_in_decoded_code_table(address, self.decode_instruction_at(address));
        if let Some(op) = self.decoded_op_at(address) {
            // SAFETY: `decoded_op_at` returns pointers into the tables.
            unsafe { *op = decoded };
        }
        if address >> 28 == 2 {
            let offset = address - SRAM_BASE;
            self.marks[(offset >> 8) as usize] |= MARK_CODE;
            let end = (offset + 3).min(SRAM_BYTES - 1);
            self.marks[(end >> 8) as usize] |= MARK_CODE;
        }
    }

    /// Fills the cache line of an instruction in whose place is [`Code::Attend`](crate::v6m::op::Code::Attend), and
    /// advances `t` by the cycles that this takes. Returns false if the cache does not keep the line.
    #[cold]
    #[inline(never)]
    fn fill_code_line<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, t: &mut u64) -> bool {
        if core.region.cached {
            let offset = address - FLASH_BASE;
            self.load_half_cache_line::<CONTEND>(core, offset / FILL_BYTES, t);
            if self.instruction_with_probes_at(address).0.is_wide() {
                self.load_half_cache_line::<CONTEND>(core, (offset + 2) / FILL_BYTES, t);
            }
        }
        self.xip.enabled
    }

    /// Fires the probes on an instruction in cycle `t`, and returns the instruction, in whose place is
    /// [`Code::Attend`](crate::v6m::op::Code::Attend). `None`: the run stops before it.
    #[cold]
    #[inline(never)]
    fn serve_stub_op(&mut self, core: &mut Core, address: u32, t: u64) -> Option<Op> {
        let (instruction, site) = self.instruction_with_probes_at(address);
        let skip = self.passed_until[core.id].take() == Some(address);
        let held = self.probed_registers(core, site);
        if self.probes.fire_probes_at_known_site(site, address, core.id, t, held, skip) {
            self.passed_until[core.id] = Some(address);
            self.stop_for_reason(
                StopReason::Until,
                core,
                address,
                t,
                format!("the instruction at 0x{address:08x} is executed next"),
            );
            return None;
        }
        Some(instruction)
    }

    /// Fires the probes on the first instruction of a trace or block, before its cycle is known, and returns the
    /// instruction. [`Core::retried`] says that the probes have fired, in case the instruction is only executed later.
    #[inline(never)]
    fn fire_probes_ahead(&mut self, core: &mut Core, address: u32) -> OrderedAccess<Op> {
        if self.alone.native_paths.is_executing_speculative_trace() {
            OrderedAccess::InTime
        } else {
            self.issue_probed_instruction(core, address)
        }
    }

    /// Returns the instruction at this address, even if a stub op is in its place, without firing its probes.
    #[inline(never)]
    fn op_behind_stub(&mut self, address: u32) -> Op {
        self.instruction_with_probes_at(address).0
    }

    /// Loads from constant memory before the cycle is known. Returns `None` for other addresses. `LITERAL` as for
    /// [`Bus::load_data`].
    #[inline(always)]
    fn load_constant<const LITERAL: bool>(&mut self, address: u32, bytes: u32) -> Option<u32> {
        if LITERAL {
            let offset = address - FLASH_BASE;
            return self.xip.is_cached(offset / FILL_BYTES).then(|| self.flash_literal_at(offset));
        }
        if address >> 24 != FLASH_BASE >> 24 || address & (bytes - 1) != 0 {
            return None;
        }
        let offset = self.flash_offset_of_cached_address(address);
        self.xip
            .is_cached(offset / FILL_BYTES)
            .then(|| read_little_endian(self.periph.ssi.flash.flash_content(), offset, bytes))
    }

    /// Makes an access to a register before its cycle is known, if its order between the cores allows that. A store
    /// returns 0.
    #[inline(always)]
    fn access_register_speculatively(&mut self, core: &mut Core, address: u32, access: Access) -> OrderedAccess<u32> {
        match access {
            Access::Load(4) if address == CPUID => OrderedAccess::Always(core.id as u32),
            Access::Load(bytes) => self.load_ordered(core, address, bytes),
            Access::Store { bytes, value } => self.try_store_in_core_order(core, address, bytes, value),
        }
    }

    /// Returns whether a store to this offset of RAM writes a watched word. `None` if the store cannot be executed
    /// speculatively.
    #[inline(never)]
    fn watches_store(&self, offset: u32) -> Option<bool> {
        if self.marks[(offset >> 8) as usize] & MARK_CODE != 0 {
            return None;
        }
        let stops = || self.probes.does_run_stop_after_write(SRAM_BASE + (offset & !3));
        if self.is_word_watched(offset) { (!stops()).then_some(true) } else { Some(false) }
    }

    /// Reports a store to a watched word, which was made speculatively and has a cycle now. Returns true if the machine
    /// must act before anything else executes.
    #[cold]
    #[inline(never)]
    fn report_store(&mut self, core: usize, WatchedStore { pc, offset, word }: WatchedStore, cycle: u64) -> bool {
        let stops = self.probes.report_store_to_watched_word(SRAM_BASE + offset, word, core, cycle, pc);
        self.lines_may_differ |= stops;
        stops
    }

    /// Returns the cycle of the chip's next event. It is 0 when the machine must look at the cores before anything else
    /// executes. The interpreter sets it to 0 to ask for that.
    #[inline(always)]
    fn next_event_cycle(&mut self) -> &mut u64 {
        &mut self.due
    }
}
