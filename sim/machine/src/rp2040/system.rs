//! Everything behind the cores: memories, code tables, arbitration. Implements the interpreter's [`Bus`].

use rtoslab_cpu::v6m::bus::{Bus, SLOTS, Trap};
use rtoslab_cpu::v6m::core::{Core, ProfileCell, Region};
use rtoslab_cpu::v6m::decode::{Place, decode};
use rtoslab_cpu::v6m::op::{Code, Op};
use rtoslab_cpu::v6m::pair::{self, Flight, Paired, Pairs, State, Stretch, Turn};
use rtoslab_lab::{Console, Held, Injections, Probes};
use rtoslab_periph::rp2040::Rp2040Peripherals;
use rtoslab_periph::{ClockTree, Effects, NEVER};

use super::access::{bank_of, get};
use super::settings::Timing;
use crate::code::CodeTable;
use crate::stop::{Stop, StopReason};
use crate::xip::{LINE_BYTES, XipCache};

/// Bus slaves of the crossbar (RP2040 data sheet 2.1).
pub mod slave {
    /// First of the six SRAM banks.
    pub const SRAM0: usize = 0;
    /// First of the two unstriped banks.
    pub const SRAM4: usize = 4;
    /// XIP cache and flash.
    pub const XIP: usize = 6;
    /// Boot ROM.
    pub const ROM: usize = 7;
    /// APB bridge.
    pub const APB: usize = 8;
    /// Fast AHB-Lite peripherals.
    pub const FASTPERI: usize = 9;
}

/// Striped and unstriped SRAM together.
pub const SRAM_BYTES: u32 = 0x42000;
/// The part that is interleaved word by word.
const STRIPED_BYTES: u32 = 0x40000;
/// Base of the SRAM.
pub const SRAM_BASE: u32 = 0x2000_0000;
/// Base of the cached flash window.
pub const FLASH_BASE: u32 = 0x1000_0000;
/// Boot ROM size.
pub const ROM_BYTES: u32 = 0x4000;

pub(super) const MARK_CODE: u8 = 1;
const MARK_WATCH: u8 = 2;
/// One for each 256 bytes of SRAM, and as many more as make a power of two: their number needs no comparison.
const MARKS: usize = (SRAM_BYTES as usize >> 8).next_power_of_two();

/// What wrote to memory, for those who watch. DMA stands for core 0 with no instruction: a `pc` of 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriterAt {
    pub core: usize,
    pub pc: u32,
    pub cycle: u64,
}

/// The chip without its cores. The memories that the interpreter touches all the time lie inline.
pub struct System {
    pub(super) sram: [u8; SRAM_BYTES as usize],
    pub(super) rom: Box<[u8]>,
    /// Content of the XIP cache while it serves as SRAM.
    pub(super) cache_sram: Box<[u8]>,
    pub(super) marks: [u8; MARKS],
    pub(super) rom_code: CodeTable,
    pub(super) flash_code: CodeTable,
    pub(super) sram_code: CodeTable,
    pub(super) xip: XipCache,
    /// clk_sys cycles of one cache line fill.
    pub(super) line_cycles: u64,
    /// clk_sys cycles of one uncached word.
    pub(super) word_cycles: u64,
    /// Cycle of the transfer that holds each slave's slot.
    pub(super) slots: [u64; SLOTS * 16],
    /// First cycle in which a slave with multi-cycle transfers is free.
    pub(super) busy: [u64; 16],
    /// The core that BUS_PRIORITY puts first; otherwise the loser of a collision goes first.
    pub(super) fixed_first: Option<usize>,
    /// The core that goes first when both issue in the same cycle.
    pub(super) first: usize,
    pub(super) due: u64,
    pub(super) periph: Rp2040Peripherals,
    pub(super) clocks: ClockTree,
    pub(super) effects: Effects,
    pub(super) timing: Timing,
    pub(super) probes: Probes,
    pub(super) injections: Injections,
    pub(super) consoles: [Console; 2],
    pub(super) stop: Option<Stop>,
    /// Stops that instruments asked for and whose cycles have not come.
    pub(super) held: Vec<Stop>,
    /// Core whose `until` address has been reported already.
    pub(super) passed_until: [Option<u32>; 2],
    pub(super) warnings: Vec<String>,
    pub(super) strict: bool,
    pub(super) misses: [u64; 2],
    /// Interrupt lines as last driven into each core.
    pub(super) driven_lines: [u32; 2],
    /// Pad levels as last traced.
    pub(super) pins: u32,
    /// What is remembered of the cores' interleaving.
    pub(super) pairs: Pairs,
}

impl System {
    /// A chip with erased flash.
    pub fn new(crystal_hz: u64, flash_bytes: u32, strict: bool) -> Box<System> {
        let rom = rtoslab_periph::rp2040::bootrom::image().into_boxed_slice();
        let zeros = |bytes: u32| vec![0u8; bytes as usize].into_boxed_slice();
        let periph = Rp2040Peripherals::new(crystal_hz, flash_bytes as usize);
        Box::new(System {
            sram: [0; SRAM_BYTES as usize],
            rom,
            cache_sram: zeros(0x4000),
            marks: [0; MARKS],
            rom_code: CodeTable::new(0, ROM_BYTES),
            flash_code: CodeTable::new(FLASH_BASE, flash_bytes),
            sram_code: CodeTable::new(SRAM_BASE, SRAM_BYTES),
            xip: XipCache::new(flash_bytes),
            line_cycles: 0,
            word_cycles: 0,
            slots: [NEVER; SLOTS * 16],
            busy: [0; 16],
            fixed_first: None,
            first: 0,
            due: NEVER,
            clocks: periph.clock_tree().clone(),
            periph,
            driven_lines: [0; 2],
            pins: 0,
            effects: Effects::default(),
            timing: Timing::new(),
            probes: Probes::default(),
            injections: Injections::default(),
            consoles: [Console::default(), Console::default()],
            stop: None,
            held: Vec::new(),
            passed_until: [None; 2],
            warnings: Vec::new(),
            strict,
            misses: [0; 2],
            pairs: Pairs::default(),
        })
    }

    /// Size of the flash in bytes.
    pub(super) fn flash_len(&self) -> usize {
        self.periph.ssi.flash.bytes().len()
    }

    /// Offset into flash of a cached-window address; smaller flashes repeat in the 16 MB window.
    pub(super) fn flash_offset(&self, address: u32) -> u32 {
        (address & 0x00ff_ffff) & (self.flash_len() as u32 - 1)
    }

    /// An aligned load through the cached window: constant tables, the one frequent load that is not SRAM's.
    #[inline(never)]
    pub(super) fn load_cached_flash<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> u32 {
        let offset = self.flash_offset(address);
        let line = offset / LINE_BYTES;
        if !self.xip.resident(line) {
            self.fill_line::<CONTEND>(core, line, t);
        }
        let slot = if CONTEND { self.claim_data(core, slave::XIP, *t) } else { *t };
        *t = slot + 2;
        let at = self.periph.ssi.flash.bytes().as_ptr().wrapping_add((offset & !3) as usize).cast::<u32>();
        // SAFETY: `flash_offset` is below the flash's length, a multiple of four.
        let word = u32::from_le(unsafe { at.read_unaligned() });
        word >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * bytes))
    }

    /// Loads a line into the cache and charges the core; nothing happens if it is there.
    #[cold]
    #[inline(never)]
    pub(super) fn fill_line<const CONTEND: bool>(&mut self, core: &mut Core, line: u32, t: &mut u64) {
        if self.xip.resident(line) {
            return;
        }
        let start = if CONTEND { (*t).max(self.busy[slave::XIP]) } else { *t };
        core.bus_wait += start - *t;
        core.flash_wait += self.line_cycles;
        self.misses[core.id] += 1;
        *t = start + self.line_cycles;
        self.keep_busy::<CONTEND>(slave::XIP, *t);
        if let Some(evicted) = self.xip.fill(line) {
            self.refresh_line(evicted);
        }
        self.refresh_line(line);
    }

    /// A slave takes nothing before cycle `until`: a transfer there lasts longer than others. Data accesses look at that
    /// themselves; of the flash the machine also tells the other core's fetches, as soon as it has its turn.
    pub(super) fn keep_busy<const CONTEND: bool>(&mut self, slave: usize, until: u64) {
        self.busy[slave] = self.busy[slave].max(until);
        if CONTEND && slave == slave::XIP {
            self.due = 0;
        }
    }

    /// Brings the stand-ins of a line up to date, and that of a 32-bit opcode which reaches into it.
    pub(super) fn refresh_line(&mut self, line: u32) {
        let first = (line * LINE_BYTES).saturating_sub(2);
        let last = (line * LINE_BYTES + LINE_BYTES).min(self.flash_len() as u32);
        for offset in (first..last).step_by(2) {
            self.refresh(FLASH_BASE + offset);
        }
    }

    /// Makes the interpreter look at an address again after probes on it or its cache line changed.
    pub(super) fn refresh(&mut self, address: u32) {
        let Some(ip) = self.op_at(address) else {
            return;
        };
        // SAFETY: `op_at` returns pointers into the tables.
        unsafe {
            if (*ip).code != Code::Undecoded {
                *ip = self.visible(address, self.decode_at(address));
            }
        }
    }

    /// The table entry of an address in the default windows.
    fn op_at(&mut self, address: u32) -> Option<*mut Op> {
        match address {
            FLASH_BASE..=0x10ff_ffff => {
                let offset = self.flash_offset(address);
                Some(self.flash_code.op(offset))
            }
            SRAM_BASE..=0x2004_1fff => Some(self.sram_code.op(address - SRAM_BASE)),
            0..ROM_BYTES => Some(self.rom_code.op(address)),
            _ => None,
        }
    }

    /// Decodes the instruction at an address, whatever stands in the table.
    pub(super) fn decode_at(&self, address: u32) -> Op {
        let (region_base, region_bytes) = match address >> 28 {
            0 => (0, ROM_BYTES),
            1 => (FLASH_BASE, self.flash_len() as u32),
            _ => (SRAM_BASE, SRAM_BYTES),
        };
        let place = Place { address, region_base, region_bytes, cached: address >> 28 == 1, rom: address >> 28 == 0 };
        decode(self.fetch_halfword(address), self.fetch_halfword(address.wrapping_add(2)), place)
    }

    /// What the table shows of an instruction: itself, or the stand-in that asks for attention.
    fn visible(&self, address: u32, decoded: Op) -> Op {
        let away = address >> 28 == 1 && {
            let offset = self.flash_offset(address);
            !self.xip.resident(offset / LINE_BYTES)
                || decoded.is_wide() && !self.xip.resident((offset + 2) / LINE_BYTES)
        };
        if away || self.probes.watches_code(address) { Op::bare(Code::Attend) } else { decoded }
    }

    /// Marks the page of a watched SRAM word.
    pub(super) fn mark_watch(&mut self, address: u32) {
        let offset = address.wrapping_sub(SRAM_BASE);
        if offset < SRAM_BYTES {
            self.marks[(offset >> 8) as usize] |= MARK_WATCH;
        }
    }

    /// The word around an offset was written: tells its watch, if it has one. True if the run must stop.
    pub(super) fn look_at_watches(&mut self, offset: u32, writer: WriterAt) -> bool {
        let offset = offset & !3;
        if self.marks[(offset >> 8) as usize] & MARK_WATCH == 0 {
            return false;
        }
        let (address, word) = (SRAM_BASE + offset, get(&self.sram, offset, 4));
        let WriterAt { core, pc, cycle } = writer;
        let stops = self.probes.written(address, word, core, cycle, pc);
        if stops {
            let detail = format!("the watched word at 0x{address:08x} became {word}");
            self.stop_now(Stop { reason: StopReason::Watch, core, cycle, address, detail });
        }
        stops
    }

    /// Forgets decoded SRAM code in `offset..offset + bytes`, and a 32-bit opcode that reaches into it.
    pub(super) fn invalidate_sram(&mut self, offset: u32, bytes: u32) {
        let first = (offset & !1).saturating_sub(2);
        for at in (first..offset + bytes).step_by(2) {
            // SAFETY: `op` returns a pointer into the table.
            let old = unsafe { std::mem::take(&mut *self.sram_code.op(at)) };
            if old.code != Code::Undecoded {
                self.pairs.clear();
            }
        }
    }

    /// Forgets decoded SRAM code that was overwritten, if there was any.
    pub(super) fn forget_code(&mut self, offset: u32, bytes: u32) {
        if self.marks[(offset >> 8) as usize] & MARK_CODE != 0 {
            self.invalidate_sram(offset, bytes);
        }
    }

    /// Forgets all decoded flash code (flash was programmed).
    pub(super) fn invalidate_flash(&mut self, offset: u32, bytes: u32) {
        self.pairs.clear();
        for at in (offset..offset + bytes).step_by(2) {
            // SAFETY: `op` returns a pointer into the table.
            unsafe { *self.flash_code.op(at) = Op::default() };
        }
    }

    fn fetch_halfword(&self, address: u32) -> u16 {
        let at = |memory: &[u8], offset: u32| {
            let offset = offset as usize;
            memory.get(offset..offset + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
        };
        match address >> 28 {
            0 => at(&self.rom, address),
            1 => at(self.periph.ssi.flash.bytes(), self.flash_offset(address)),
            _ => at(&self.sram, address.wrapping_sub(SRAM_BASE)),
        }
    }

    /// Cycle of the next stop that is held.
    pub(super) fn next_held(&self) -> u64 {
        self.held.iter().map(|stop| stop.cycle).min().unwrap_or(NEVER)
    }

    /// Stops the run with a reason that carries one sentence.
    pub(super) fn stop_at(&mut self, reason: StopReason, core: &Core, address: u32, cycle: u64, detail: String) {
        self.stop_now(Stop { reason, core: core.id, cycle, address, detail });
    }

    fn stop_now(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
        self.due = 0;
    }

    /// Warns once about an address that is not modelled; under `strict` the run stops.
    pub(super) fn not_modelled(&mut self, core: &mut Core, address: u32, what: &str, cycle: u64) {
        let text = format!("{what} at 0x{address:08x} is not modelled (first used by 0x{:08x})", core.pc());
        let key = format!("at 0x{address:08x} ");
        if !self.warnings.iter().any(|w| w.contains(&key)) {
            self.warnings.push(text.clone());
        }
        if self.strict {
            core.limit = 0;
            self.stop_at(StopReason::Strict, core, address, cycle, text);
        }
    }

    /// Warns once that something was asked for that does not happen here; under `strict` the run stops.
    pub(super) fn falls_short(&mut self, core: &mut Core, about: &str, cycle: u64) {
        let known = self.warnings.iter().any(|warning| warning.starts_with(about));
        if known && !self.strict {
            return;
        }
        let address = if core.ip.is_null() { 0 } else { core.pc() };
        let text = format!("{about} (first asked for at 0x{address:08x})");
        if !known {
            self.warnings.push(text.clone());
        }
        if self.strict {
            core.limit = 0;
            self.stop_at(StopReason::Strict, core, address, cycle, text);
        }
    }

    /// A data transfer to any slave, which may also be busy with a long transfer.
    pub(super) fn claim_data(&mut self, core: &mut Core, slave: usize, at: u64) -> u64 {
        core.bus_free = core.bus_free.max(self.busy[slave]);
        self.claim(core, System::row(slave), at, true)
    }

    /// First transfer slot of a slave.
    #[inline(always)]
    pub(super) fn row(slave: usize) -> usize {
        slave * SLOTS
    }

    /// The slot of a cycle in the row that begins with slot `row`.
    #[inline(always)]
    pub(super) fn slot(&mut self, row: usize, cycle: u64) -> &mut u64 {
        let all = self.slots.len();
        &mut self.slots[(row + cycle as usize % SLOTS) % all]
    }

    /// The core lost its slot: it goes first in the next tie, unless the chip fixes who does.
    #[inline(always)]
    fn lost(&mut self, core: &mut Core) {
        if self.fixed_first.is_none() {
            self.first = core.id;
            core.wins_ties();
        }
    }

    /// A claim that lost its slot: to the other core, or to this core's own delayed fetch.
    #[cold]
    #[inline(never)]
    fn claim_later(&mut self, core: &mut Core, row: usize, wanted: u64, stalls: bool) -> u64 {
        let mut slot = wanted.max(core.bus_free);
        while *self.slot(row, slot) == slot {
            slot += 1;
        }
        *self.slot(row, slot) = slot;
        core.bus_free = slot + 1;
        if stalls {
            core.bus_wait += slot - wanted;
        } else {
            core.fetch_ready = slot + 2;
        }
        self.lost(core);
        slot
    }

    fn sram_region(&mut self, offset: u32) -> Region {
        if offset < 0x40000 {
            return Region { bytes: 0x40000, ..self.sram_code.region(System::row(slave::SRAM0), 4) };
        }
        let bank = offset >> 12 & 1;
        let start = 0x40000 + bank * 0x1000;
        let whole = self.sram_code.region(System::row(slave::SRAM4 + bank as usize), 1);
        // SAFETY: ops and profile cells of the bank start `start / 2` elements into the table.
        let skip =
            |cells: *mut ProfileCell| unsafe { if cells.is_null() { cells } else { cells.add(start as usize / 2) } };
        Region {
            base: SRAM_BASE + start,
            bytes: 0x1000,
            ops: self.sram_code.op(start),
            profile: whole.profile.map(skip),
            ..whole
        }
    }
}

// SAFETY: the SRAM is an array of so many bytes, the ops are those of the code tables.
unsafe impl Bus for System {
    const TWO_CORES: bool = true;
    const RAM_BASE: u32 = SRAM_BASE;
    const RAM_BYTES: u32 = SRAM_BYTES;

    #[inline(always)]
    fn ram(&mut self) -> *mut u8 {
        self.sram.as_mut_ptr()
    }

    #[inline(always)]
    fn ram_row(&self, offset: u32) -> usize {
        if offset < STRIPED_BYTES {
            // The word's bank, times the slots of a row.
            return (offset & 0xc) as usize * (SLOTS / 4);
        }
        System::row(bank_of(offset))
    }

    #[inline(always)]
    fn marks(&self, offset: u32) -> u8 {
        self.marks[(offset >> 8) as usize % MARKS]
    }

    #[cold]
    #[inline(never)]
    fn store_marked(&mut self, core: &mut Core, offset: u32, bytes: u32, value: u32, now: u64) {
        let at = offset as usize;
        self.sram[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        self.forget_code(offset, bytes);
        if self.look_at_watches(offset, WriterAt { core: core.id, pc: core.pc(), cycle: now }) {
            core.limit = 0;
        }
    }

    #[inline(always)]
    fn claim(&mut self, core: &mut Core, row: usize, at: u64, stalls: bool) -> u64 {
        if at < core.bus_free {
            return self.claim_later(core, row, at, stalls);
        }
        let held = self.slot(row, at);
        if *held != at {
            *held = at;
            return at;
        }
        // Lost by one cycle, which is nearly every collision: the other core has the slot.
        let slot = at + 1;
        let next = self.slot(row, slot);
        if *next == slot {
            return self.claim_later(core, row, at, stalls);
        }
        *next = slot;
        core.bus_free = slot + 1;
        if stalls {
            core.bus_wait += 1;
        } else {
            core.fetch_ready = slot + 2;
        }
        self.lost(core);
        slot
    }

    #[inline(always)]
    fn first(&self) -> usize {
        self.first
    }

    #[inline]
    fn region_free(&self, core: &Core) -> u64 {
        if core.region.cached { self.busy[slave::XIP] } else { 0 }
    }

    #[inline(always)]
    fn load<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        if address >> 24 == FLASH_BASE >> 24 && address & (bytes - 1) == 0 {
            return Ok(self.load_cached_flash::<CONTEND>(core, address, bytes, t));
        }
        self.load_elsewhere::<CONTEND>(core, other, address, bytes, t)
    }

    #[inline(always)]
    fn store<const CONTEND: bool>(
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

    #[inline(always)]
    fn load_literal<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, t: &mut u64) -> u32 {
        let offset = (address - FLASH_BASE) as usize;
        let line = offset as u32 / LINE_BYTES;
        if !self.xip.resident(line) {
            self.fill_line::<CONTEND>(core, line, t);
        }
        let slot = if CONTEND { self.claim_data(core, slave::XIP, *t) } else { *t };
        *t = slot + 2;
        // SAFETY: the decoder makes this op only for aligned words inside the flash.
        u32::from_le(unsafe { self.periph.ssi.flash.bytes().as_ptr().add(offset).cast::<u32>().read_unaligned() })
    }

    #[cold]
    #[inline(never)]
    fn region(&mut self, address: u32) -> Option<Region> {
        let flash_end = FLASH_BASE + self.flash_len() as u32;
        match address {
            0..ROM_BYTES => Some(Region { rom: true, ..self.rom_code.region(System::row(slave::ROM), 1) }),
            FLASH_BASE.. if address < flash_end => {
                Some(Region { cached: true, ..self.flash_code.region(System::row(slave::XIP), 1) })
            }
            SRAM_BASE..=0x2004_1fff => Some(self.sram_region(address - SRAM_BASE)),
            _ => None,
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn decode(&mut self, core: &Core, ip: *mut Op) {
        let address = core.address_of(ip);
        let decoded = self.visible(address, self.decode_at(address));
        // SAFETY: the caller passes a pointer into the ops of the core's region.
        unsafe { *ip = decoded };
        if address >> 28 == 2 {
            let offset = address - SRAM_BASE;
            self.marks[(offset >> 8) as usize] |= MARK_CODE;
            let end = (offset + 3).min(SRAM_BYTES - 1);
            self.marks[(end >> 8) as usize] |= MARK_CODE;
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn bring<const CONTEND: bool>(&mut self, core: &mut Core, ip: *mut Op, t: &mut u64) -> bool {
        if core.region.cached {
            let address = core.address_of(ip);
            let offset = address - FLASH_BASE;
            self.fill_line::<CONTEND>(core, offset / LINE_BYTES, t);
            if self.decode_at(address).is_wide() {
                self.fill_line::<CONTEND>(core, (offset + 2) / LINE_BYTES, t);
            }
        }
        self.xip.enabled
    }

    #[cold]
    #[inline(never)]
    unsafe fn attend<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        ip: *mut Op,
        served: bool,
        t: &mut u64,
    ) -> Option<Op> {
        let address = core.address_of(ip);
        let instruction = self.decode_at(address);
        if served {
            return Some(instruction);
        }
        let skip = self.passed_until[core.id].take() == Some(address);
        if self.probes.issue(address, core.id, *t, Held::of(&core.r), skip) {
            self.passed_until[core.id] = Some(address);
            self.stop_at(StopReason::Until, core, address, *t, format!("0x{address:08x} is about to execute"));
            return None;
        }
        Some(instruction)
    }

    #[inline(always)]
    fn memory_of(&self, offset: u32, bytes: u32) -> Option<u32> {
        let last = offset + bytes - 1;
        if last < STRIPED_BYTES {
            return Some(offset >> 2 & 3);
        }
        (offset >> 12 == last >> 12).then(|| bank_of(offset) as u32)
    }

    #[inline(always)]
    fn sample_of(&self, memory: u32) -> u32 {
        let bank = memory % slave::SRAM4 as u32;
        SRAM_BASE + if memory == bank { 4 * bank } else { STRIPED_BYTES + 0x1000 * bank }
    }

    #[inline(never)]
    fn time_constant(&mut self, core: &mut Core, t: u64) -> u64 {
        self.claim_data(core, slave::XIP, t) + 2
    }

    #[inline(always)]
    fn constant(&mut self, address: u32, bytes: u32) -> Option<u32> {
        if address >> 24 != FLASH_BASE >> 24 || address & (bytes - 1) != 0 {
            return None;
        }
        let offset = self.flash_offset(address);
        self.xip.resident(offset / LINE_BYTES).then(|| get(self.periph.ssi.flash.bytes(), offset, bytes))
    }

    #[inline(always)]
    fn flights(&mut self, core: usize) -> [*mut Flight; 2] {
        self.pairs.flights(core)
    }

    #[inline(always)]
    unsafe fn paired(&mut self, cores: [*mut Core; 2], flights: [*mut Flight; 2], stretch: Stretch) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::paired(self, cores, flights, stretch) }
    }

    #[inline(always)]
    fn due(&self) -> u64 {
        self.due
    }

    #[inline(always)]
    fn request_attention(&mut self) {
        self.due = 0;
    }
}

/// Slaves that a stretch's transfers go to: all memories.
const MEMORIES: usize = slave::ROM + 1;
const _: () = assert!(MEMORIES * SLOTS == 2 * u64::BITS as usize);

impl Paired for System {
    fn pairs(&mut self) -> &mut Pairs {
        &mut self.pairs
    }

    fn state(&self, first: &Core, other: &Core) -> Option<State> {
        let now = first.t.min(other.t);
        if self.busy.iter().any(|&free| free > now) {
            return None;
        }
        let (memories, others) = self.slots.split_at(MEMORIES * SLOTS);
        if others.iter().any(|&cycle| cycle >= now && cycle != NEVER) {
            return None;
        }
        let mut state = State::default();
        for (slave, row) in memories.chunks_exact(SLOTS).enumerate() {
            let taken = |ahead: usize| row[(now as usize + ahead) % SLOTS] == now + ahead as u64;
            let mask = (0..SLOTS).fold(0, |mask, ahead| mask | u64::from(taken(ahead)) << ahead);
            state.slots[slave / 4] |= mask << (slave % 4 * SLOTS);
        }
        // What lies behind a core does not matter to it any more.
        let pending = |cycle: u64, core: &Core| if cycle > core.t { cycle - now } else { 0 };
        let times = [
            first.t - now,
            other.t - now,
            pending(first.bus_free, first),
            pending(other.bus_free, other),
            pending(first.fetch_ready, first),
            pending(other.fetch_ready, other),
        ];
        for (index, time) in times.into_iter().enumerate() {
            state.times |= u64::from(u8::try_from(time).ok()?) << (8 * index);
        }
        state.times |= State::FIRST * u64::from(self.first == first.id);
        Some(state)
    }

    fn resume(&mut self, state: &State, now: u64, first: &mut Core, other: &mut Core) {
        for (index, slot) in self.slots[..MEMORIES * SLOTS].iter_mut().enumerate() {
            // The cycle that this place stands for, from now on.
            let ahead = (index as u64).wrapping_sub(now) % SLOTS as u64;
            let slave = index / SLOTS;
            if state.slots[slave / 4] >> (slave % 4 * SLOTS + ahead as usize) & 1 != 0 {
                *slot = now + ahead;
            } else if *slot >= now {
                *slot = NEVER;
            }
        }
        let time = |index: u32| now + (state.times >> (8 * index) & 0xff);
        (first.t, other.t) = (time(0), time(1));
        (first.bus_free, other.bus_free) = (time(2), time(3));
        (first.fetch_ready, other.fetch_ready) = (time(4), time(5));
        self.first = if state.times & State::FIRST != 0 { first.id } else { other.id };
    }
}
