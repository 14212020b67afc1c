//! A bare v7-M core with one flat RAM for code and data: for tests of the instructions' results.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v7m::bus::{Bus, LoadResult};
use rtoslab_cpu::v7m::core::{Core, Phase, Region, Request};
use rtoslab_cpu::v7m::decode::{Place, decode_instruction};
use rtoslab_cpu::v7m::exec;
use rtoslab_cpu::v7m::fault::Fault;
use rtoslab_cpu::v7m::features::Features;
use rtoslab_cpu::v7m::op::Op;
use rtoslab_cpu::v7m::pipeline::{Pipeline, Plain};

/// First address of the RAM.
pub const BASE: u32 = 0x2000_0000;
/// Its length.
pub const BYTES: u32 = 0x4_0000;
/// Bytes per line of the map that tells which RAM holds decoded code.
const LINE: u32 = 64;

/// The RAM of a bare core, and the ops decoded from it.
struct Memory {
    ram: Vec<u8>,
    ops: Vec<Op>,
    decoded: Vec<bool>,
    until: u32,
}

impl Memory {
    /// Drops the ops that a store to `offset` may have changed: a 32-bit opcode can begin a halfword earlier.
    #[cold]
    fn drop_decoded_ops(&mut self, offset: u32, bytes: u32) {
        let first = (offset / 2).saturating_sub(1);
        for index in first..=(offset + bytes - 1) / 2 {
            if index != (self.until - BASE) / 2 {
                self.ops[index as usize] = Op::default();
            }
        }
    }

    /// Returns the offset of an access inside the RAM. `None` if it is not inside.
    fn ram_offset(address: u32, bytes: u32) -> Option<usize> {
        let offset = address.wrapping_sub(BASE);
        (offset <= BYTES - bytes).then_some(offset as usize)
    }

    /// Returns the halfword at this offset of the RAM.
    fn halfword_at(&self, offset: usize) -> u16 {
        let bytes = self.ram.get(offset..offset + 2).unwrap_or(&[0, 0]);
        u16::from_le_bytes([bytes[0], bytes[1]])
    }
}

// SAFETY: the ops are a vector of the memory, never resized.
unsafe impl Bus for Memory {
    /// Returns the cycle in which the decoder has a code word: two cycles after the address phase, as the RAM has no
    /// wait states.
    fn fetch_code(&mut self, _: &mut Core, _: u32, at: u64) -> u64 {
        at + 2
    }

    /// Does nothing: there is no prefetcher.
    fn redirect_prefetch(&mut self, _: &mut Core, _: u32, _: u64) {}

    /// Loads 1, 2 or 4 bytes of RAM without wait states. Any other address faults.
    #[inline(always)]
    fn load_data(&mut self, _: &mut Core, address: u32, bytes: u32, _: u64) -> Result<LoadResult, Fault> {
        let Some(offset) = Memory::ram_offset(address, bytes) else { return Err(Fault::DataBus(address)) };
        let word = &self.ram[offset..];
        let value = match bytes {
            1 => u32::from(word[0]),
            2 => u32::from(u16::from_le_bytes([word[0], word[1]])),
            _ => u32::from_le_bytes([word[0], word[1], word[2], word[3]]),
        };
        Ok(LoadResult { value, wait: 0 })
    }

    /// Stores 1, 2 or 4 bytes to RAM without wait states. Any other address faults.
    #[inline(always)]
    fn store_data(&mut self, _: &mut Core, address: u32, bytes: u32, value: u32, _: u64) -> Result<u64, Fault> {
        let Some(offset) = Memory::ram_offset(address, bytes) else { return Err(Fault::DataBus(address)) };
        self.ram[offset..offset + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        if self.decoded[offset / LINE as usize] {
            self.drop_decoded_ops(offset as u32, bytes);
        }
        Ok(0)
    }

    /// Returns 0, the number of the only memory.
    fn memory_block(&self, _: u32) -> u8 {
        0
    }

    /// Returns the RAM as a region of code, if `address` is in it.
    fn code_region(&mut self, address: u32) -> Option<Region> {
        Memory::ram_offset(address, 2)?;
        Some(Region { base: BASE, bytes: BYTES, ops: self.ops.as_mut_ptr(), profile: std::ptr::null_mut() })
    }

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    fn decode_op(&mut self, core: &Core, address: u32) {
        let offset = (address - BASE) as usize;
        let place = Place { address, region_base: BASE, region_bytes: BYTES };
        let op = decode_instruction(self.halfword_at(offset), self.halfword_at(offset + 2), place, core.features);
        // A store to the second half of an opcode changes it too.
        self.decoded[offset / LINE as usize] = true;
        self.decoded[(offset + 2).min(BYTES as usize - 1) / LINE as usize] = true;
        let region = self.code_region(address).expect("code lies in the RAM");
        // SAFETY: the region holds the address.
        unsafe { *region.ops.add((address - region.base) as usize / 2) = op };
    }

    /// Returns `None`: this core has no probes.
    fn serve_stub_op(&mut self, _: &mut Core, _: u32, _: bool) -> Option<Op> {
        None
    }
}

/// A bare ARMv7-M core with its pipeline and RAM. Its clock counts instructions.
pub struct Flat<P = Plain> {
    core: Box<Core>,
    pipe: P,
    memory: Memory,
}

/// Number of words in [`Flat::register_values`].
pub const STATE_WORDS: usize = 50;

impl<P: Pipeline + Default> Flat<P> {
    /// Creates a core of this kind in privileged thread mode, with its FPU enabled and in use.
    pub fn new(features: Features) -> Flat<P> {
        let halves = BYTES as usize / 2;
        let mut ops = vec![Op::default(); halves];
        ops.extend([Op::OUT_OF_REGION; 4]);
        let memory =
            Memory { ram: vec![0; BYTES as usize], ops, decoded: vec![false; (BYTES / LINE) as usize], until: BASE };
        let mut flat = Flat { core: Box::new(Core::new(features)), pipe: P::default(), memory };
        flat.core.phase = Phase::Run;
        flat.core.scb.cpacr = 0xf << 20;
        flat.core.fpca = true;
        flat.stop_before_address(BASE);
        flat
    }

    /// Creates a core by its short name: m3, m4 or m7.
    pub fn core_with_name(name: &str) -> Option<Flat<P>> {
        match name {
            "m3" => Some(Flat::new(Features::CORTEX_M3)),
            "m4" => Some(Flat::new(Features::CORTEX_M4F)),
            "m7" => Some(Flat::new(Features::CORTEX_M7)),
            _ => None,
        }
    }

    /// Makes runs stop before this address.
    pub fn stop_before_address(&mut self, address: u32) {
        let old = (self.memory.until - BASE) as usize / 2;
        self.memory.ops[old] = Op::default();
        self.memory.ops[(address - BASE) as usize / 2] = Op::ATTEND;
        self.memory.until = address;
    }

    /// Copies bytes into the RAM. Returns false if they do not fit.
    pub fn write_bytes(&mut self, address: u32, data: &[u8]) -> bool {
        let Ok(bytes) = u32::try_from(data.len()) else { return false };
        if bytes == 0 || bytes > BYTES {
            return bytes == 0;
        }
        let Some(offset) = Memory::ram_offset(address, bytes) else { return false };
        self.memory.ram[offset..offset + data.len()].copy_from_slice(data);
        self.memory.drop_decoded_ops(offset as u32, bytes);
        true
    }

    /// Returns bytes of the RAM. `None` if they are not inside.
    pub fn read_bytes(&self, address: u32, bytes: usize) -> Option<&[u8]> {
        let offset = Memory::ram_offset(address, u32::try_from(bytes).ok()?.min(BYTES))?;
        self.memory.ram.get(offset..offset + bytes)
    }

    /// Returns r0 to r12, SP, LR, PC, APSR, S0 to S31 and FPSCR.
    pub fn register_values(&self) -> [u32; STATE_WORDS] {
        let core = &self.core;
        let mut words = [0; STATE_WORDS];
        words[..15].copy_from_slice(&core.r[..15]);
        words[15] = core.next_instruction_address();
        words[16] = core.apsr();
        words[17..49].copy_from_slice(&core.s);
        words[49] = core.fpscr;
        words
    }

    /// Sets the registers that [`Flat::register_values`] returns, and leaves any IT block. The PC must be in the RAM.
    pub fn set_register_values(&mut self, words: &[u32; STATE_WORDS]) {
        let core = &mut self.core;
        core.r[..15].copy_from_slice(&words[..15]);
        core.set_condition_and_saturation_flags(words[16]);
        core.set_ge_flags(words[16]);
        core.s.copy_from_slice(&words[17..49]);
        core.fpscr = words[49];
        (core.it, core.ici, core.words_moved, core.exclusive, core.thumb) = (0, 0, 0, false, true);
        (core.stray, core.request) = (None, Request::None);
        let region = self.memory.code_region(BASE).expect("the RAM holds code");
        core.region = region;
        core.ip = region.ops.wrapping_add((words[15].wrapping_sub(BASE) % BYTES / 2) as usize);
    }

    /// Sets CCR, for the traps that it enables.
    pub fn write_configuration_control_register(&mut self, value: u32) {
        self.core.scb.ccr = value;
    }

    /// Sets CPACR.
    pub fn set_coprocessor_access(&mut self, value: u32) {
        self.core.scb.cpacr = value;
        self.core.float_ready = false;
    }

    /// Executes up to `cycles` instructions. Returns the reason of the stop. With `pause` the core gets no more than
    /// that many at a time.
    pub fn run_instructions(&mut self, cycles: u64, pause: u64) -> Request {
        let core = &mut self.core;
        let end = core.t + cycles;
        while core.t < end {
            core.request = Request::None;
            core.limit = end.min(core.t.saturating_add(pause));
            // SAFETY: `ip` was set by `jump` or the executor, in the one region, whose ops the memory keeps.
            unsafe { exec::run_until_limit(core, &mut self.pipe, &mut self.memory, watch::NOTHING) };
            match core.request {
                Request::None if core.phase == Phase::Run => {}
                Request::Abandonable(_) => core.committed = true,
                _ => break,
            }
        }
        core.phase = Phase::Run;
        core.request
    }

    /// Returns the number of instructions executed so far.
    pub fn executed_instruction_count(&self) -> u64 {
        self.core.instructions
    }
}
