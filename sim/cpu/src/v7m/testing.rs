//! A chip for tests: flash with vectors at 0x08000000 and at 0, RAM at 0x20000000, the private peripheral bus, a
//! register that takes characters, nothing else.

use std::ops::Range;

use super::bus::{Bus, LoadResult};
use super::core::{Core, Features, Phase, Region, Request};
use super::decode::{self, Place};
use super::exception::{self, ExceptionTiming};
use super::exec;
use super::fault::Fault;
use super::op::Op;
use super::pipeline::{Pipeline, Plain};
use super::scs::{self, PrivateBusWriteEffect};
use crate::exception_outcome::ExceptionStepResult;
use crate::step::watch;

pub const FLASH: u32 = 0x0800_0000;
pub const RAM: u32 = 0x2000_0000;
const BYTES: u32 = 0x1_0000;
/// A serial port: what is written to its first register goes to [`TestBus::console`].
const CONSOLE: u32 = 0x4000_4000;
/// Address of the handler of exception `n`: FLASH + 0x1000 + 0x40·n.
pub const HANDLERS: u32 = FLASH + 0x1000;
/// Where tests execute.
pub const THREAD: u32 = FLASH + 0x8000;

/// One access that went over the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    pub address: u32,
    pub write: bool,
    pub at: u64,
}

/// The chip.
pub struct TestBus {
    flash: Vec<u8>,
    ram: Vec<u8>,
    flash_ops: Vec<Op>,
    alias_ops: Vec<Op>,
    ram_ops: Vec<Op>,
    /// Extra cycles of each access to flash and to RAM.
    pub flash_wait: u64,
    pub ram_wait: u64,
    /// Extra cycles of each fetch.
    pub fetch_wait: u64,
    /// Addresses that answer with an error.
    pub broken: Range<u32>,
    pub seen: Vec<Observation>,
    pub effects: Vec<PrivateBusWriteEffect>,
    pub console: String,
}

impl TestBus {
    pub fn new() -> TestBus {
        let ops = || [vec![Op::default(); BYTES as usize / 2], vec![Op::OUT_OF_REGION; 4]].concat();
        let mut bus = TestBus {
            flash: vec![0; BYTES as usize],
            ram: vec![0; BYTES as usize],
            flash_ops: ops(),
            alias_ops: ops(),
            ram_ops: ops(),
            flash_wait: 0,
            ram_wait: 0,
            fetch_wait: 0,
            broken: 0..0,
            seen: Vec::new(),
            effects: Vec::new(),
            console: String::new(),
        };
        bus.put(FLASH, RAM + 0x8000);
        bus.put(FLASH + 4, THREAD | 1);
        for number in 2..256 {
            bus.put(FLASH + 4 * number, handler(number) | 1);
        }
        bus
    }

    fn memory(&mut self, address: u32) -> Option<(&mut [u8], u64)> {
        if self.broken.contains(&address) {
            return None;
        }
        let (memory, base, wait) = match address >> 16 {
            0x0000 => (&mut self.flash, 0, self.flash_wait),
            0x0800 => (&mut self.flash, FLASH, self.flash_wait),
            0x2000 => (&mut self.ram, RAM, self.ram_wait),
            _ => return None,
        };
        Some((&mut memory[(address - base) as usize..], wait))
    }

    /// Loads an image to the beginning of the flash.
    pub fn load_image(&mut self, image: &[u8]) {
        self.flash[..image.len()].copy_from_slice(image);
    }

    /// Writes a word past the bus.
    pub fn put(&mut self, address: u32, value: u32) {
        let (memory, _) = self.memory(address).expect("an address of the test chip");
        memory[..4].copy_from_slice(&value.to_le_bytes());
    }

    /// Reads a word past the bus.
    pub fn get(&mut self, address: u32) -> u32 {
        let (memory, _) = self.memory(address).expect("an address of the test chip");
        u32::from_le_bytes([memory[0], memory[1], memory[2], memory[3]])
    }
}

/// The begin of an exception's handler.
pub fn handler(number: u32) -> u32 {
    HANDLERS + 0x40 * number
}

// SAFETY: the ops are a vector of the bus, never resized.
unsafe impl Bus for TestBus {
    fn fetch_code(&mut self, _: &mut Core, _: u32, at: u64) -> u64 {
        at + 2 + self.fetch_wait
    }

    fn redirect_prefetch(&mut self, _: &mut Core, _: u32, _: u64) {}

    fn load_data(&mut self, core: &mut Core, address: u32, bytes: u32, at: u64) -> Result<LoadResult, Fault> {
        if address >> 20 == 0xe00 {
            return scs::read_register(core, address, bytes, at).map(|value| LoadResult { value, wait: 0 });
        }
        self.seen.push(Observation { address, write: false, at });
        if address & !0xfff == CONSOLE {
            return Ok(LoadResult { value: 0, wait: 0 });
        }
        let (memory, wait) = match self.memory(address) {
            Some(found) => found,
            None if core.ignores_bus_faults() => return Ok(LoadResult { value: 0, wait: 0 }),
            None => return Err(Fault::DataBus(address)),
        };
        let mut value = [0; 4];
        value[..bytes as usize].copy_from_slice(&memory[..bytes as usize]);
        Ok(LoadResult { value: u32::from_le_bytes(value), wait })
    }

    fn store_data(&mut self, core: &mut Core, address: u32, bytes: u32, value: u32, at: u64) -> Result<u64, Fault> {
        if address >> 20 == 0xe00 {
            let effect = scs::write_register(core, address, bytes, value, at)?;
            self.effects.push(effect);
            return Ok(0);
        }
        self.seen.push(Observation { address, write: true, at });
        if address & !0xfff == CONSOLE {
            if address == CONSOLE {
                self.console.push(char::from(value as u8));
            }
            return Ok(0);
        }
        match self.memory(address) {
            Some((memory, wait)) => {
                memory[..bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                Ok(wait)
            }
            None if core.ignores_bus_faults() => Ok(0),
            None => Err(Fault::DataBus(address)),
        }
    }

    fn memory_block(&self, address: u32) -> u8 {
        (address >> 29) as u8
    }

    fn code_region(&mut self, address: u32) -> Option<Region> {
        let (base, ops) = match address >> 16 {
            0x0000 => (0, &mut self.alias_ops),
            0x0800 => (FLASH, &mut self.flash_ops),
            0x2000 => (RAM, &mut self.ram_ops),
            _ => return None,
        };
        Some(Region { base, bytes: BYTES, ops: ops.as_mut_ptr(), profile: std::ptr::null_mut() })
    }

    fn decode_op(&mut self, core: &Core, address: u32) {
        let mut halfword = |address| {
            let (memory, _) = self.memory(address).expect("code of the test chip");
            u16::from_le_bytes([memory[0], memory[1]])
        };
        let (first, second) = (halfword(address), halfword(address + 2));
        let place = Place { address, region_base: core.region.base, region_bytes: core.region.bytes };
        let op = decode::decode_instruction(first, second, place, core.features);
        let region = self.code_region(address).expect("code of the test chip");
        // SAFETY: the region holds the address.
        unsafe { *region.ops.add((address - region.base) as usize / 2) = op };
    }

    fn serve_stub_op(&mut self, _: &mut Core, _: u32, _: bool) -> Option<Op> {
        None
    }
}

/// A core on the test chip.
pub struct Bench<P = Plain> {
    pub core: Core,
    pub bus: TestBus,
    pub pipe: P,
    pub timing: ExceptionTiming,
}

impl Bench {
    /// Creates a bench like [`Bench::with`], with one cycle an instruction.
    pub fn new(features: Features) -> Bench {
        Bench::with(features, Plain)
    }

    pub fn m3() -> Bench {
        Bench::new(Features::CORTEX_M3)
    }

    /// A Cortex-M4F with access to its FPU.
    pub fn m4() -> Bench {
        let mut bench = Bench::new(Features::CORTEX_M4F);
        bench.write_register(0xe000_ed88, 0xf << 20);
        bench
    }

    pub fn m7() -> Bench {
        Bench::new(Features::CORTEX_M7)
    }
}

impl<P: Pipeline> Bench<P> {
    /// Out of reset, in thread mode at [`THREAD`], at cycle 100.
    pub fn with(features: Features, pipe: P) -> Bench<P> {
        let timing = match features.cpuid >> 4 & 0xf {
            3 => ExceptionTiming::CORTEX_M3,
            4 => ExceptionTiming::CORTEX_M4,
            _ => ExceptionTiming::CORTEX_M7,
        };
        let mut bench = Bench { core: Core::new(features), bus: TestBus::new(), pipe, timing };
        bench.core.t = 100;
        exception::start_core(&mut bench.core, &mut bench.bus, &mut bench.pipe, FLASH);
        bench.core.limit = u64::MAX;
        bench.bus.seen.clear();
        bench
    }

    /// Word read as by an instruction.
    pub fn read_register(&mut self, address: u32) -> u32 {
        let t = self.core.t;
        self.bus.load_data(&mut self.core, address, 4, t).expect("readable").value
    }

    /// Word written as by an instruction.
    pub fn write_register(&mut self, address: u32, value: u32) {
        let t = self.core.t;
        self.bus.store_data(&mut self.core, address, 4, value, t).expect("writable");
    }

    /// Byte written as by an instruction.
    pub fn write_byte(&mut self, address: u32, value: u32) {
        let t = self.core.t;
        self.bus.store_data(&mut self.core, address, 1, value, t).expect("writable");
    }

    /// One step of the exception model at cycle `now`.
    pub fn step_at(&mut self, now: u64) -> ExceptionStepResult {
        exception::execute_due_exception_step(&mut self.core, &mut self.bus, &mut self.pipe, &self.timing, now)
    }

    /// Goes on until the core executes, sleeps or is locked up. The last outcome that says something.
    pub fn settle(&mut self) -> ExceptionStepResult {
        let mut last = ExceptionStepResult::None;
        loop {
            let now = self.core.t;
            match self.step_at(now) {
                ExceptionStepResult::None => return last,
                ExceptionStepResult::Begun => {}
                outcome => last = outcome,
            }
            if self.core.phase == Phase::Lockup {
                return ExceptionStepResult::LockedUp;
            }
        }
    }

    /// Pends external interrupt `line` and takes what is to be taken.
    pub fn interrupt_level(&mut self, line: u32) -> ExceptionStepResult {
        exception::pulse_line(&mut self.core, line);
        self.settle()
    }

    /// Enables external interrupt `line` with a priority byte.
    pub fn enable(&mut self, line: u32, priority: u8) {
        self.core.nvic.set_enabled(16 + line, true);
        self.core.nvic.set_priority(16 + line, priority);
    }

    /// Raises a fault at the current instruction and takes it.
    pub fn fault(&mut self, fault: Fault) -> ExceptionStepResult {
        match exception::take_synchronous_fault(&mut self.core, &mut self.bus, fault, &self.timing) {
            ExceptionStepResult::LockedUp => ExceptionStepResult::LockedUp,
            _ => self.settle(),
        }
    }

    /// SVC.
    pub fn svc(&mut self) -> ExceptionStepResult {
        match exception::take_supervisor_call(&mut self.core, &mut self.bus, &self.timing) {
            ExceptionStepResult::LockedUp => ExceptionStepResult::LockedUp,
            _ => self.settle(),
        }
    }

    /// Branch to an EXC_RETURN value.
    pub fn ret(&mut self, value: u32) -> ExceptionStepResult {
        match exception::exception_return(&mut self.core, &mut self.bus, value, &self.timing) {
            ExceptionStepResult::Begun => self.settle(),
            outcome => outcome,
        }
    }

    /// Executes until the core sleeps with nothing to wake it, locks up, or `cycles` are over.
    pub fn run(&mut self, cycles: u64) {
        let end = self.core.t + cycles;
        while self.core.t < end && self.core.phase != Phase::Lockup {
            self.core.limit = end;
            match std::mem::replace(&mut self.core.request, Request::None) {
                Request::Fault(fault) => {
                    exception::take_synchronous_fault(&mut self.core, &mut self.bus, fault, &self.timing)
                }
                Request::Svc => exception::take_supervisor_call(&mut self.core, &mut self.bus, &self.timing),
                Request::ExceptionReturn(value) => {
                    exception::exception_return(&mut self.core, &mut self.bus, value, &self.timing)
                }
                Request::None | Request::Stopped => ExceptionStepResult::None,
                Request::Abandonable(_) => {
                    self.core.committed = true;
                    ExceptionStepResult::None
                }
            };
            let now = self.core.t;
            if self.step_at(now) != ExceptionStepResult::None || self.core.request != Request::None {
                continue;
            }
            if self.core.is_asleep() {
                return;
            }
            // SAFETY: `ip` is inside the bench's one region, which has a cell for each op.
            unsafe { exec::run_until_limit(&mut self.core, &mut self.pipe, &mut self.bus, watch::NOTHING) };
        }
    }
}
