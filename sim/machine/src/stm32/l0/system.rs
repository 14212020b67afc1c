//! What the Cortex-M0+ of an STM32L0 sees. Implements the ARMv6-M interpreter's [`Bus`].
//!
//! The interpreter's mode with arbitration serves flash with wait states: there the fetches are told to the bus one by
//! one, and what is late keeps the core's only port busy. At zero wait states the other mode, which does without, takes
//! the same cycles.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::bus::{Bus, Trap};
use rtoslab_cpu::v6m::core::{Core, Phase, Region, Request};
use rtoslab_cpu::v6m::decode::{Place, decode};
use rtoslab_cpu::v6m::exec;
use rtoslab_cpu::v6m::memo::{self, Memo, Remembered, State};
use rtoslab_cpu::v6m::op::{Code, Op};
use rtoslab_cpu::v6m::ppb;
use rtoslab_cpu::v6m::trace::Trace;
use rtoslab_lab::{Held, Stimulus};
use rtoslab_periph::stm32::FlashStore;

use super::chip::{FLASH_BASE, Kind, RAM_BASE, SYSTEM_MEMORY, map};
use super::devices::{Changes, Devices};
use super::memory::{MARK_CODE, MARK_SHIFT, MARK_WATCH, Memories};
use crate::stm32::flash::FlashL0;

const UNALIGNED: Trap = Trap::Fault("unaligned access");
const UNMAPPED: Trap = Trap::Fault("access to an address where nothing is mapped");
const PPB_WORDS_ONLY: Trap = Trap::Fault("narrow or unprivileged access to the private peripheral bus");
/// A load or store takes the core two cycles, at its single-cycle I/O port one.
const ACCESS_CYCLES: u64 = 2;

/// Everything behind the core; `RAM` is the length of its RAM.
pub struct System<const RAM: u32> {
    pub(super) memories: Memories,
    pub(super) devices: Devices,
    pub(super) flash: FlashL0,
    /// Next event; 0 when the machine must look first.
    pub(super) due: u64,
    /// Timing of what executed in the flash's wait states.
    pub(super) memo: Memo,
    /// The code that the memo is about; see [`Memories::edition`].
    pub(super) memo_edition: u64,
    /// Another memory shows at address 0: the core must look again at where it is.
    pub(super) refetch: bool,
}

impl<const RAM: u32> System<RAM> {
    /// A chip with erased flash.
    pub fn new(devices: Devices) -> System<RAM> {
        let (memories, windows) = map(devices.periph.chip());
        assert_eq!(memories[1].bytes, RAM, "the chip's RAM");
        System {
            memories: Memories::new(&memories, &windows),
            devices,
            flash: FlashL0::new(),
            due: 0,
            memo: Memo::default(),
            memo_edition: 0,
            refetch: false,
        }
    }

    /// Takes over flash timing and remapping.
    pub(super) fn reconfigure(&mut self) {
        let at_zero = self.devices.periph.memory_at_zero();
        self.refetch |= self.memories.at_zero != at_zero;
        self.memories.at_zero = at_zero;
        self.flash.set_acr(self.devices.acr());
        self.memo.clear();
        // The interpreter may have to change its mode.
        self.due = 0;
    }

    fn ask_for_attention(&mut self, core: &mut Core) {
        core.limit = 0;
        self.due = 0;
    }

    /// Deals with the effects of an access or an event at cycle `now`.
    pub(super) fn settle(&mut self, core: &mut Core, now: u64) {
        let lines = self.devices.periph.irq_levels()[0];
        if lines != self.devices.driven {
            self.devices.driven = lines;
            if core.nvic.drive_lines(lines) != 0 && core.nvic.scr & 0x10 != 0 {
                core.event = true;
            }
            self.ask_for_attention(core);
        }
        let pc = if core.ip.is_null() { 0 } else { core.pc() };
        let changes = self.devices.settle(pc, now);
        if std::mem::take(&mut self.devices.effects.event) {
            core.event = true;
            self.ask_for_attention(core);
        }
        self.carry_out(core, changes, now);
        let due = self.devices.periph.due();
        if due < self.due || self.devices.stop.is_some() || self.devices.reset.is_some() {
            self.ask_for_attention(core);
        }
    }

    /// Brings a stimulus about at cycle `now`.
    pub(super) fn stimulate(&mut self, core: &mut Core, stimulus: Stimulus, now: u64) {
        match stimulus {
            Stimulus::Exception { number, .. } => {
                if core.nvic.pend(number) && core.nvic.scr & 0x10 != 0 {
                    core.event = true;
                }
            }
            Stimulus::Pin { pin, level } => {
                let devices = &mut self.devices;
                devices.periph.drive_pin((pin / 16) as u8, (pin % 16) as u8, level, now, &mut devices.effects);
                self.settle(core, now);
            }
        }
    }

    fn carry_out(&mut self, core: &mut Core, changes: Changes, now: u64) {
        if changes.clocks {
            core.systick.set_external(self.devices.systick_reference(), now);
            self.ask_for_attention(core);
        }
        if changes.memory {
            self.reconfigure();
            self.ask_for_attention(core);
        }
        for erase in changes.erase {
            self.memories.write(erase.address, &vec![erase.value; erase.bytes as usize]);
        }
    }

    /// First cycle from `t` on in which the core's port is free.
    fn port<const CONTEND: bool>(&mut self, core: &mut Core, t: u64) -> u64 {
        if !CONTEND || core.bus_free <= t {
            return t;
        }
        core.bus_wait += core.bus_free - t;
        core.bus_free
    }

    /// The data phase of an access begun in cycle `at` waits: the port is busy so much longer.
    fn ends(&mut self, core: &mut Core, at: u64, wait: u64) -> u64 {
        core.bus_wait += wait;
        core.bus_free = at + 1 + wait;
        at + ACCESS_CYCLES + wait
    }

    fn load_register<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        let bus = self.devices.periph.bus(address).ok_or(UNMAPPED)?;
        let io_port = bus == rtoslab_periph::stm32::Bus::IoPort;
        let at = if io_port { *t } else { self.port::<CONTEND>(core, *t) };
        let wait = self.devices.bus_wait(bus, false, at);
        core.flash_wait += wait;
        let now = at + u64::from(!io_port) + wait;
        let value = self.devices.periph.read(address, bytes, now, &mut self.devices.effects);
        *t = if io_port { *t + 1 } else { self.ends(core, at, wait) };
        self.settle(core, now);
        Ok(value)
    }

    fn store_register<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        let bus = self.devices.periph.bus(address).ok_or(UNMAPPED)?;
        let io_port = bus == rtoslab_periph::stm32::Bus::IoPort;
        let at = if io_port { *t } else { self.port::<CONTEND>(core, *t) };
        let wait = self.devices.bus_wait(bus, true, at);
        core.flash_wait += wait;
        let now = at + u64::from(!io_port) + wait;
        self.devices.periph.write(address, bytes, value, now, &mut self.devices.effects);
        *t = if io_port { *t + 1 } else { self.ends(core, at, wait) };
        self.settle(core, now);
        Ok(())
    }

    fn load_ppb(&mut self, core: &mut Core, address: u32, now: u64) -> Result<u32, Trap> {
        let (value, unmodelled) = ppb::load(core, address, now).ok_or(UNMAPPED)?;
        self.after_ppb(core);
        if let Some(what) = unmodelled {
            self.warn_of_ppb(core, address, what, now);
        }
        Ok(value)
    }

    fn store_ppb(&mut self, core: &mut Core, address: u32, value: u32, now: u64) -> Result<(), Trap> {
        if let Some(what) = ppb::store(core, address, value, now).ok_or(UNMAPPED)? {
            self.warn_of_ppb(core, address, what, now);
        }
        self.after_ppb(core);
        Ok(())
    }

    fn warn_of_ppb(&mut self, core: &mut Core, address: u32, what: &str, now: u64) {
        let pc = core.pc();
        let text = format!("{what} at 0x{address:08x} is not modelled (first used by 0x{pc:08x})");
        self.devices.not_modelled(&format!("{what} at 0x{address:08x}"), text, pc, now);
        if self.devices.stop.is_some() {
            self.ask_for_attention(core);
        }
    }

    /// An access to the private bus may have pended, enabled or rescheduled something.
    fn after_ppb(&mut self, core: &mut Core) {
        let due = core.systick.due();
        if due < self.due {
            self.due = due;
            core.limit = core.limit.min(due);
        }
        if core.nvic.pending & core.nvic.enabled != 0 || core.nvic.reset_request {
            self.ask_for_attention(core);
        }
    }

    fn load_system_memory(&mut self, core: &mut Core, address: u32, bytes: u32, now: u64) -> Result<u32, Trap> {
        let (first, end) = SYSTEM_MEMORY;
        if !(first..end).contains(&address) {
            return Err(UNMAPPED);
        }
        let word = self.devices.periph.factory_word(address);
        if word.is_none() {
            self.warn_of_ppb(core, address, "system memory", now);
        }
        Ok(word.unwrap_or(0) >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * bytes)))
    }

    /// Executes up to `core.limit`, remembering and using the timing of what executed before.
    ///
    /// # Safety
    /// As for [`exec::run`]; `cores[0]` is the core that this bus serves.
    pub(super) unsafe fn run_remembered(&mut self, cores: *mut Core) {
        // SAFETY: the caller's promise.
        unsafe {
            let until = (*cores).limit;
            loop {
                if self.memories.edition() != self.memo_edition {
                    self.memo_edition = self.memories.edition();
                    self.memo.clear();
                }
                if let Some(end) = self.memo.rests_until((*cores).t) {
                    (*cores).limit = end.min(until);
                    self.due = (*cores).limit;
                    exec::run::<_, true, { watch::NOTHING }>(cores, 0, self);
                    if !self.goes_on(&mut *cores, until) {
                        return;
                    }
                    continue;
                }
                let whole = (*cores).transfer.mask == 0 && !(*cores).retried;
                let usual = (*cores).thumb && (*cores).stray.is_none();
                if !(whole && usual && memo::run(cores, self)) && (*cores).t + Trace::CYCLES > until {
                    return exec::run::<_, true, { watch::NOTHING }>(cores, 0, self);
                }
                // Up to the next instruction, or word of a multiple transfer.
                let core = &mut *cores;
                core.limit = core.t + 1;
                self.due = core.limit;
                exec::run::<_, true, { watch::NOTHING }>(cores, 0, self);
                if !self.goes_on(&mut *cores, until) {
                    return;
                }
            }
        }
    }

    /// Whether the core goes on without the machine after it executed in time; its limit is `until` again, or sooner.
    fn goes_on(&mut self, core: &mut Core, until: u64) -> bool {
        if self.due == 0 || core.request != Request::None || core.phase != Phase::Run {
            self.due = 0;
            return false;
        }
        // It may have begun something that ends sooner.
        self.due = until.min(core.systick.due()).min(self.devices.periph.due());
        core.limit = self.due;
        core.t < self.due
    }

    /// A constant in the flash where it shows at address 0.
    #[cold]
    #[inline(never)]
    fn remapped_constant(&self, address: u32, bytes: u32) -> Option<u32> {
        if address & (bytes - 1) != 0 {
            return None;
        }
        let (window, offset) = self.memories.find(address, bytes)?;
        let (memory, offset) = self.memories.place(window, offset);
        let memory = &self.memories.all[memory];
        (memory.kind == Kind::Flash).then(|| memory.get(offset, bytes))
    }

    fn instruction(&self, window: usize, offset: u32, address: u32) -> Op {
        let spec = &self.memories.windows[window].spec;
        let place = Place { address, region_base: spec.base, region_bytes: spec.bytes, cached: false, rom: false };
        let (first, second) = self.memories.halfwords(window, offset);
        decode(first, second, place)
    }
}

impl<const RAM: u32> Remembered for System<RAM> {
    #[inline(always)]
    fn memo(&mut self) -> &mut Memo {
        &mut self.memo
    }

    fn state(&self, core: &Core) -> Option<State> {
        let [first, second, third] = self.flash.state(core.t)?;
        let port = core.bus_free.saturating_sub(core.t);
        let fetch = core.fetch_ready.saturating_sub(core.t);
        (port <= 0xff && fetch <= 0xff).then_some([first, second, third | port << 48 | fetch << 56])
    }

    fn resume(&mut self, core: &mut Core, state: &State) {
        self.flash.resume(state, core.t);
        core.bus_free = core.t + (state[2] >> 48 & 0xff);
        core.fetch_ready = core.t + (state[2] >> 56);
    }
}

// SAFETY: the RAM and the ops are allocations of their own, the tables of `Memories`.
unsafe impl<const RAM: u32> Bus for System<RAM> {
    const TWO_CORES: bool = false;
    const RAM_BASE: u32 = RAM_BASE;
    const RAM_BYTES: u32 = RAM;

    #[inline(always)]
    fn ram(&mut self) -> *mut u8 {
        self.memories.all[1].bytes.as_mut_ptr()
    }

    #[inline(always)]
    fn ram_row(&self, _: u32) -> usize {
        0
    }

    #[inline(always)]
    fn marks(&self, offset: u32) -> u8 {
        self.memories.all[1].marks[(offset >> MARK_SHIFT) as usize]
    }

    #[cold]
    #[inline(never)]
    fn store_marked(&mut self, core: &mut Core, offset: u32, bytes: u32, value: u32, now: u64) {
        let mark = self.memories.all[1].put(offset, bytes, value);
        if mark & MARK_CODE != 0 {
            self.memories.forget(1, offset, bytes);
        }
        if mark & MARK_WATCH != 0 {
            let word = self.memories.all[1].get(offset & !3, 4);
            let pc = core.pc();
            if self.devices.watched(RAM_BASE + (offset & !3), word, now, pc) {
                self.ask_for_attention(core);
            }
        }
    }

    /// The RAM answers at once; only the core's own port can be busy.
    #[inline(always)]
    fn claim(&mut self, core: &mut Core, _: usize, at: u64, _: bool) -> u64 {
        if core.bus_free <= at {
            return at;
        }
        core.bus_wait += core.bus_free - at;
        core.bus_free
    }

    #[inline(always)]
    fn fetch(&mut self, core: &mut Core, ip: *mut Op, words: usize, at: u64, stalls: bool) -> u64 {
        let address = (core.address_of(ip) & !3).wrapping_add(4 * words as u32);
        let from = at.max(core.bus_free);
        let there = if address < RAM_BASE { self.flash.fetch(address, from) } else { from + 2 };
        let late = there - (at + 2);
        if late != 0 {
            core.bus_free = there - 1;
            if stalls {
                core.bus_wait += late;
            } else {
                core.fetch_ready = there;
            }
        }
        there - 2
    }

    fn region_free(&self, _: &Core) -> u64 {
        0
    }

    #[cold]
    #[inline(never)]
    fn load<const CONTEND: bool>(
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
        if let Some((window, offset)) = self.memories.find(address, bytes) {
            let flash = self.memories.windows[window].spec.flash;
            let (memory, offset) = self.memories.place(window, offset);
            let at = self.port::<CONTEND>(core, *t);
            let wait = if flash { self.flash.read(address, at) } else { 0 };
            *t = self.ends(core, at, wait);
            return Ok(self.memories.all[memory].get(offset, bytes));
        }
        match address >> 28 {
            0xe => {
                if bytes != 4 || !core.privileged() {
                    return Err(PPB_WORDS_ONLY);
                }
                let value = self.load_ppb(core, address, *t)?;
                *t += ACCESS_CYCLES;
                Ok(value)
            }
            0x1 => {
                let value = self.load_system_memory(core, address, bytes, *t)?;
                *t += ACCESS_CYCLES;
                Ok(value)
            }
            _ => self.load_register::<CONTEND>(core, address, bytes, t),
        }
    }

    #[cold]
    #[inline(never)]
    fn store<const CONTEND: bool>(
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
        if let Some((window, offset)) = self.memories.find(address, bytes) {
            let (memory, offset) = self.memories.place(window, offset);
            let at = self.port::<CONTEND>(core, *t);
            *t = self.ends(core, at, 0);
            if self.memories.all[memory].kind == Kind::Ram {
                self.store_marked(core, offset, bytes, value, at);
                return Ok(());
            }
            let array = if memory == 0 { FLASH_BASE + offset } else { address };
            let store = self.devices.periph.flash_store(array, bytes, at, &mut self.devices.effects);
            if store == FlashStore::Program {
                // Programming sets bits (RM0367 3.3.4); a word of EEPROM is erased first.
                let old = if memory == 0 { self.memories.all[memory].get(offset, bytes) } else { 0 };
                self.memories.all[memory].put(offset, bytes, old | value);
                self.memories.forget(memory, offset, bytes);
            }
            self.settle(core, at);
            return Ok(());
        }
        if address >> 28 == 0xe {
            if bytes != 4 || !core.privileged() {
                return Err(PPB_WORDS_ONLY);
            }
            self.store_ppb(core, address, value, *t)?;
            *t += ACCESS_CYCLES;
            return Ok(());
        }
        self.store_register::<CONTEND>(core, address, bytes, value, t)
    }

    /// The decoder makes this op only for code behind the RP2040's cache.
    fn load_literal<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, t: &mut u64) -> u32 {
        self.load::<CONTEND>(core, None, address, 4, t).unwrap_or(0)
    }

    #[inline(always)]
    fn constant(&mut self, address: u32, bytes: u32) -> Option<u32> {
        let flash = &self.memories.all[0];
        let offset = address.wrapping_sub(FLASH_BASE);
        if address & (bytes - 1) == 0 && (offset as usize) < flash.bytes.len() {
            return Some(flash.get(offset, bytes));
        }
        self.remapped_constant(address, bytes)
    }

    #[inline(always)]
    fn traced(&mut self, core: &mut Core, trace: Trace) -> bool {
        memo::traced(self, core, trace)
    }

    #[cold]
    #[inline(never)]
    fn region(&mut self, address: u32) -> Option<Region> {
        let (window, _) = self.memories.find(address, 2)?;
        let window = &self.memories.windows[window];
        window.spec.code.then(|| Region {
            base: window.spec.base,
            bytes: window.spec.bytes,
            ops: window.ops(),
            row: 0,
            row_mask: 0,
            cached: false,
            rom: false,
            profile: [window.cells(), std::ptr::null_mut()],
        })
    }

    #[cold]
    #[inline(never)]
    unsafe fn decode(&mut self, core: &Core, ip: *mut Op) {
        let address = core.address_of(ip);
        let Some((window, offset)) = self.memories.find(address, 2) else { return };
        let op = if self.devices.probes.watches_code(address) {
            Op::bare(Code::Attend)
        } else {
            self.instruction(window, offset, address)
        };
        self.memories.mark_code(window, offset);
        // SAFETY: the caller's promise.
        unsafe { *ip = op };
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
        let (window, offset) = self.memories.find(address, 2)?;
        if !served && self.devices.attend(address, *t, Held::of(&core.r)) {
            return None;
        }
        Some(self.instruction(window, offset, address))
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
