//! Execution without time: the executor's pipeline and bus while a trace runs whose timing is looked up afterwards.

use super::log::{CYCLES_BITS, TraceTimingLog};
use super::op_kind::{TraceInstructionKind, may_trace_contain};
use super::{CacheableTiming, Home, QuickBus, StoreWatchStatus};
use crate::v7m::bus::{Bus, LoadResult};
use crate::v7m::core::{Core, Region};
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::{Jump, Pipeline};

/// A pipeline that takes no time and logs what the timing depends on.
pub(super) struct NoPipeline<'a, P> {
    pub log: TraceTimingLog,
    /// The current instruction did not execute only because the log is full.
    pub log_is_full: bool,
    /// The address of a word that was written and is watched.
    pub watched: Option<u32>,
    pipe: &'a mut P,
}

impl<P: CacheableTiming> NoPipeline<'_, P> {
    /// Creates a pipeline that continues a log.
    #[inline(always)]
    pub fn new(pipe: &mut P, log: TraceTimingLog) -> NoPipeline<'_, P> {
        NoPipeline { log, log_is_full: false, watched: None, pipe }
    }

    /// Logs the branch at `from`, which went to `to` or was not taken.
    #[inline(always)]
    pub fn log_branch(&mut self, core: &Core, from: *mut Op, to: Option<*mut Op>) {
        let target = to.map(|ip| core.address_of_op(ip));
        self.pipe.predict_branch(core, &mut self.log, core.address_of_op(from), target);
    }

    /// Logs that the predicated instruction at `from` was not executed.
    pub fn log_skipped_instruction(&mut self, core: &Core, op: Op, from: *mut Op) {
        self.pipe.predict_skip(core, &mut self.log, op, core.address_of_op(from));
    }
}

impl<P: CacheableTiming> Pipeline for NoPipeline<'_, P> {
    const SPLITS: bool = false;
    const IN_LINE: bool = true;

    /// Does nothing: while a trace executes speculatively, no time passes.
    #[inline(always)]
    fn issue_op<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    /// Does nothing: while a trace executes speculatively, no time passes.
    #[inline(always)]
    fn skip_op<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    /// Makes one aligned load of a trace without time, and logs what its timing will depend on.
    #[inline(always)]
    fn issue_load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        _: Op,
        address: u32,
        bytes: u32,
        index: u32,
    ) -> Result<u32, Fault> {
        let loaded = bus.load_data(core, address, bytes, 0)?;
        if index == 0
            && !self.pipe.predict_load(&mut self.log, Home::memory_kind_from_logged_bits(loaded.wait), address)
        {
            self.log_is_full = true;
            return Err(NOT_HERE);
        }
        Ok(loaded.value)
    }

    /// Makes one aligned store of a trace without time, and logs what its timing will depend on.
    #[inline(always)]
    fn issue_store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        _: Op,
        address: u32,
        bytes: u32,
        value: u32,
        index: u32,
    ) -> Result<(), Fault> {
        let home = bus.store_data(core, address, bytes, value, 0)?;
        if home & WATCHED != 0 {
            self.watched = Some(address);
        }
        self.pipe.predict_store(&mut self.log, Home::memory_kind_from_logged_bits(home), address, index);
        Ok(())
    }

    /// Does nothing: while a trace executes speculatively, no time passes.
    #[inline(always)]
    fn finish_op(&mut self, _: &mut Core, _: Op) {}

    /// Does nothing: while a trace executes speculatively, no time passes.
    #[inline(always)]
    fn end_untaken_branch<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    /// Does nothing: while a trace executes speculatively, no time passes.
    #[inline(always)]
    fn take_branch<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op, _: Jump, _: u32) {}

    /// Logs and returns the cycles that a division or long multiplication takes with these operands. Returns [`NEVER`]
    /// if the log is full.
    #[inline(always)]
    fn operation_cycles(&mut self, op: Op, first: u32, second: u32) -> u64 {
        if !self.log.has_room(CYCLES_BITS) {
            self.log_is_full = true;
            return NEVER;
        }
        let cycles = P::operand_cycles(op, first, second);
        self.log.append_rare_timing_log_entry(cycles, CYCLES_BITS);
        cycles
    }

    /// Panics: the pipeline is not flushed inside a trace.
    fn empty_pipeline<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: u32, _: u64) {
        unreachable!("nothing is flushed inside a trace");
    }
}

/// Which memories an instruction may access.
pub(super) mod reach {
    /// Main RAM alone, where no store has consequences: it takes the fewest registers.
    pub const RAM: u8 = 0;
    /// All that answer at once.
    pub const ALL: u8 = 1;
    /// The same, and words that somebody watches: the trace must end after the instruction.
    pub const WATCHED: u8 = 2;
}

/// The bus during speculative execution: only memories that answer at once, and of these what `REACH` ([`reach`])
/// allows. In place of wait states it returns the memory ([`super::Home`]), for stores with [`WATCHED`]. Its error
/// means that the trace cannot make this access.
#[repr(transparent)]
pub(super) struct Quick<B, const REACH: u8>(B);

impl<B, const REACH: u8> Quick<B, REACH> {
    /// Returns the same bus, restricted to memories that answer at once.
    #[inline(always)]
    pub fn restrict_bus_to_fixed_latency(bus: &mut B) -> &mut Quick<B, REACH> {
        // SAFETY: nothing but the bus is in it.
        unsafe { &mut *std::ptr::from_mut(bus).cast() }
    }
}

/// Added to the home of a store to a watched word.
const WATCHED: u64 = 1 << 8;

/// So many cycles that the instruction gives way.
const NEVER: u64 = u64::MAX / 2;

/// Any fault: the trace ends before the instruction, which is executed in time and faults then if it must.
const NOT_HERE: Fault = Fault::Undefined;

// SAFETY: regions are those of the bus inside; it decodes nothing.
unsafe impl<B: QuickBus, const REACH: u8> Bus for Quick<B, REACH> {
    /// Panics: a trace executes speculatively, without fetches.
    fn fetch_code(&mut self, _: &mut Core, _: u32, _: u64) -> u64 {
        unreachable!("nothing is fetched inside a trace");
    }

    /// Does nothing: a trace executes speculatively, without fetches.
    fn redirect_prefetch(&mut self, _: &mut Core, _: u32, _: u64) {}

    /// Loads 1, 2 or 4 bytes from a memory that answers without a peripheral. Returns the value, and the memory in
    /// place of the wait states, or the fault [`NOT_HERE`].
    #[inline(always)]
    fn load_data(&mut self, _: &mut Core, address: u32, bytes: u32, _: u64) -> Result<LoadResult, Fault> {
        let loaded =
            if REACH != reach::RAM { self.0.quick_load(address, bytes) } else { self.0.ram_load(address, bytes) };
        let (value, home) = loaded.ok_or(NOT_HERE)?;
        Ok(LoadResult { value, wait: home as u64 })
    }

    /// Stores 1, 2 or 4 bytes to RAM. Returns the memory in place of the wait states, with [`WATCHED`] for a watched
    /// word, or the fault [`NOT_HERE`].
    #[inline(always)]
    fn store_data(&mut self, _: &mut Core, address: u32, bytes: u32, value: u32, _: u64) -> Result<u64, Fault> {
        if REACH == reach::RAM {
            return self.0.ram_store(address, bytes, value).map(|home| home as u64).ok_or(NOT_HERE);
        }
        match self.0.quick_store(address, bytes, value, REACH == reach::WATCHED) {
            Some((home, StoreWatchStatus::No)) => Ok(home as u64),
            Some((home, StoreWatchStatus::Yes)) => Ok(home as u64 | WATCHED),
            None => Err(NOT_HERE),
        }
    }

    /// Returns whether a trace may contain this instruction.
    #[inline(always)]
    fn may_execute(&mut self, core: &Core, op: Op) -> bool {
        match TraceInstructionKind::from_code_number(op.code as u8) {
            TraceInstructionKind::Careful => may_trace_contain(core, &mut self.0, op),
            TraceInstructionKind::Apart => false,
            TraceInstructionKind::Plain | TraceInstructionKind::Operands => true,
        }
    }

    /// Returns the number of the memory block that serves a data address.
    fn memory_block(&self, address: u32) -> u8 {
        self.0.memory_block(address)
    }

    /// Returns the region of code that contains `address`. `None` if no code can be fetched there.
    fn code_region(&mut self, address: u32) -> Option<Region> {
        self.0.code_region(address)
    }

    /// Panics: a trace ends before an instruction that is not decoded.
    fn decode_op(&mut self, _: &Core, _: u32) {
        unreachable!("a trace ends before what is not decoded");
    }

    /// Panics: a trace ends before an instruction with a probe.
    fn serve_stub_op(&mut self, _: &mut Core, _: u32, _: bool) -> Option<Op> {
        unreachable!("a trace ends before what needs attention");
    }
}
