//! A core with its pipeline, a flash interface and two blocks of SRAM: enough to time code by the cycle.

#![allow(dead_code)]

use crate::stm32::flash::{FlashF1, FlashF4};
use rtoslab_cpu::step::watch;
use rtoslab_cpu::v7m::bus::{Bus, LoadResult};
use rtoslab_cpu::v7m::core::{Core, Phase, Region, Request};
use rtoslab_cpu::v7m::decode::{Place, decode_instruction};
use rtoslab_cpu::v7m::exec;
use rtoslab_cpu::v7m::fault::Fault;
use rtoslab_cpu::v7m::features::Features;
use rtoslab_cpu::v7m::op::Op;
use rtoslab_cpu::v7m::pipeline::Pipeline;
use rtoslab_cpu::v7m::pipeline::m3m4::{CortexM3, CortexM4};

/// First address of the flash.
pub const FLASH: u32 = 0x0800_0000;
/// First address of the first block of SRAM.
pub const SRAM: u32 = 0x2000_0000;
/// First address of the second block.
pub const SRAM2: u32 = 0x2001_0000;
const BYTES: u32 = 0x1_0000;
/// A slow peripheral: [`Bench::set_slow_wait`] wait states, three unless changed.
pub const SLOW: u32 = 0x4000_0000;

/// The flash interface behind the code.
#[derive(Debug, Clone)]
pub enum Interface {
    /// None: every fetch takes its two cycles.
    Direct,
    /// That of the STM32F1.
    F1(FlashF1),
    /// That of the STM32F4.
    F4(Box<FlashF4>),
}

impl Interface {
    /// The F1's with prefetch.
    pub fn f1(wait_states: u32) -> Interface {
        let mut flash = FlashF1::new();
        flash.set_acr(0x10 | wait_states);
        Interface::F1(flash)
    }

    /// The F4's with prefetch and both caches.
    pub fn f4(wait_states: u32) -> Interface {
        let mut flash = FlashF4::new(FLASH, BYTES);
        flash.set_acr(0x700 | wait_states);
        Interface::F4(Box::new(flash))
    }
}

struct Memory {
    flash: Vec<u8>,
    ram: Vec<u8>,
    flash_ops: Vec<Op>,
    ram_ops: Vec<Op>,
    interface: Interface,
    slow_wait: u64,
}

impl Memory {
    fn bytes(&mut self, address: u32) -> Option<&mut [u8]> {
        match address {
            FLASH..0x0801_0000 => Some(&mut self.flash[(address - FLASH) as usize..]),
            SRAM..0x2002_0000 => Some(&mut self.ram[(address - SRAM) as usize..]),
            _ => None,
        }
    }
}

// SAFETY: the ops are a vector of the memory, never resized.
unsafe impl Bus for Memory {
    fn fetch_code(&mut self, _: &mut Core, address: u32, at: u64) -> u64 {
        match &mut self.interface {
            _ if address >= SRAM => at + 2,
            Interface::Direct => at + 2,
            Interface::F1(flash) => flash.fetch_code(address, at),
            Interface::F4(flash) => flash.fetch_code(address, at),
        }
    }

    fn may_fetches_wait(&self) -> bool {
        match &self.interface {
            Interface::Direct => false,
            Interface::F1(flash) => flash.may_fetches_wait(),
            Interface::F4(flash) => flash.may_fetches_wait(),
        }
    }

    fn redirect_prefetch(&mut self, _: &mut Core, _: u32, _: u64) {}

    fn load_data(&mut self, _: &mut Core, address: u32, bytes: u32, at: u64) -> Result<LoadResult, Fault> {
        if address == SLOW {
            return Ok(LoadResult { value: 0, wait: self.slow_wait });
        }
        let wait = match &mut self.interface {
            Interface::F1(flash) if address < SRAM => flash.data_read_waits(address, at),
            Interface::F4(flash) if address < SRAM => flash.data_read_waits(address, at),
            _ => 0,
        };
        let data = self.bytes(address).ok_or(Fault::DataBus(address))?;
        let mut word = [0; 4];
        word[..bytes as usize].copy_from_slice(&data[..bytes as usize]);
        Ok(LoadResult { value: u32::from_le_bytes(word), wait })
    }

    fn store_data(&mut self, _: &mut Core, address: u32, bytes: u32, value: u32, _: u64) -> Result<u64, Fault> {
        if address == SLOW {
            return Ok(self.slow_wait);
        }
        let data = self.bytes(address).ok_or(Fault::DataBus(address))?;
        data[..bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        Ok(0)
    }

    fn memory_block(&self, address: u32) -> u8 {
        (address >> 16) as u8
    }

    fn code_region(&mut self, address: u32) -> Option<Region> {
        let profile = std::ptr::null_mut();
        match address {
            FLASH..0x0801_0000 => Some(Region { base: FLASH, bytes: BYTES, ops: self.flash_ops.as_mut_ptr(), profile }),
            SRAM..0x2001_0000 => Some(Region { base: SRAM, bytes: BYTES, ops: self.ram_ops.as_mut_ptr(), profile }),
            _ => None,
        }
    }

    fn decode_op(&mut self, core: &Core, address: u32) {
        let region = self.code_region(address).expect("code lies in a region");
        let place = Place { address, region_base: region.base, region_bytes: region.bytes };
        let bytes = self.bytes(address).expect("code lies in memory");
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let op = decode_instruction(half(0), if bytes.len() >= 4 { half(2) } else { 0 }, place, core.features);
        // SAFETY: the region holds the address.
        unsafe { *region.ops.add((address - region.base) as usize / 2) = op };
    }

    fn serve_stub_op(&mut self, _: &mut Core, _: u32, _: bool) -> Option<Op> {
        None
    }
}

/// The pipelines that can be timed.
pub enum Pipe {
    /// Cortex-M3.
    M3(CortexM3),
    /// Cortex-M4.
    M4(CortexM4),
}

/// Everything together.
pub struct Bench {
    /// The core.
    pub core: Box<Core>,
    pipe: Pipe,
    memory: Memory,
}

impl Bench {
    /// A Cortex-M3.
    pub fn m3(interface: Interface) -> Bench {
        Bench::new(Features::CORTEX_M3, Pipe::M3(CortexM3::with_default_timing_rules()), interface)
    }

    /// A Cortex-M4.
    pub fn m4(interface: Interface) -> Bench {
        Bench::new(Features::CORTEX_M4F, Pipe::M4(CortexM4::with_default_timing_rules()), interface)
    }

    fn new(features: Features, pipe: Pipe, interface: Interface) -> Bench {
        let ops = || {
            let mut ops = vec![Op::default(); BYTES as usize / 2];
            ops.extend([Op::OUT_OF_REGION; 4]);
            ops
        };
        let memory = Memory {
            flash: vec![0; BYTES as usize],
            ram: vec![0; 2 * BYTES as usize],
            flash_ops: ops(),
            ram_ops: ops(),
            interface,
            slow_wait: 3,
        };
        let mut core = Box::new(Core::new(features));
        core.phase = Phase::Run;
        core.thumb = true;
        core.scb.cpacr = 0xf << 20;
        core.r[13] = SRAM + 0xf000;
        Bench { core, pipe, memory }
    }

    /// Sets the wait states of the slow peripheral.
    pub fn set_slow_wait(&mut self, cycles: u64) {
        self.memory.slow_wait = cycles;
    }

    /// Writes bytes to memory.
    pub fn write_bytes(&mut self, address: u32, data: &[u8]) {
        let at = self.memory.bytes(address).expect("memory");
        at[..data.len()].copy_from_slice(data);
    }

    /// Writes halfwords of code.
    pub fn code(&mut self, address: u32, halfwords: &[u16]) {
        let bytes: Vec<u8> = halfwords.iter().flat_map(|half| half.to_le_bytes()).collect();
        self.write_bytes(address, &bytes);
    }

    /// Executes from `from` to `to`, as after a branch, and returns the cycles from the first execute cycle of the one
    /// to that of the other.
    pub fn cycles(&mut self, from: u32, to: u32) -> u64 {
        let region = self.memory.code_region(from).expect("code");
        self.core.region = region;
        self.core.ip = region.ops.wrapping_add((from - region.base) as usize / 2);
        let stop = self.memory.code_region(to).expect("code").ops.wrapping_add((to - region.base) as usize / 2);
        // SAFETY: `to` is in the region.
        let under = unsafe { std::mem::replace(&mut *stop, Op::ATTEND) };
        let at = self.core.t + 100;
        match &mut self.pipe {
            Pipe::M3(pipe) => pipe.empty_pipeline(&mut self.core, &mut self.memory, from, at),
            Pipe::M4(pipe) => pipe.empty_pipeline(&mut self.core, &mut self.memory, from, at),
        }
        let start = self.core.t;
        self.core.limit = u64::MAX;
        loop {
            self.core.request = Request::None;
            let (core, memory) = (&mut self.core, &mut self.memory);
            // SAFETY: `ip` was set by `jump` or the executor, in the one region, whose ops the memory keeps.
            unsafe {
                match &mut self.pipe {
                    Pipe::M3(pipe) => exec::run_until_limit(core, pipe, memory, watch::NOTHING),
                    Pipe::M4(pipe) => exec::run_until_limit(core, pipe, memory, watch::NOTHING),
                }
            }
            if !matches!(self.core.request, Request::Abandonable(_)) {
                break;
            }
            self.core.committed = true;
        }
        assert_eq!(self.core.request, Request::Stopped, "at {:#x}", self.core.address_of_op(self.core.ip));
        // SAFETY: as above.
        unsafe { *stop = under };
        self.core.t - start
    }
}
