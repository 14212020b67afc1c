//! The two engines that execute ARMv6-M ahead of its time, as the interpreter calls them.

use crate::v6m::block::{Block, NextCoreChoice};
use crate::v6m::bus::Ahead;
use crate::v6m::core::Core;
use crate::v6m::native_path::{self, TimedNativeCodeBus};
use crate::v6m::pair::{self, DualCoreBus};
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::timing_cache::{self, CacheableTimingBus};
use crate::v6m::trace::Trace;

/// The execution engine of a chip with a single core. It executes traces and takes their cycles from [`timing_cache`].
#[derive(Debug)]
pub struct SingleCoreEngine;

// SAFETY: it gives no logs.
unsafe impl<B: CacheableTimingBus> Ahead<B> for SingleCoreEngine {
    /// Looks up the cycles of a trace that was executed speculatively, and adds them to `core.t`. Returns false if no
    /// other trace may follow now.
    #[inline(always)]
    fn time_trace(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
        timing_cache::add_trace_cycles::<_, false>(bus, core, trace)
    }

    /// Returns the cycle of the last store in the trace that [`Ahead::time_trace`] timed last, which began in cycle
    /// `began`.
    fn last_store_cycle(bus: &mut B, began: u64) -> u64 {
        bus.timing_cache().last_store_cycle(began)
    }

    /// Executes the JIT-compiled traces that begin at `core.ip`. Returns false if no trace may follow now.
    #[inline(always)]
    fn run_native_traces(bus: &mut B, core: &mut Core) -> bool {
        timing_cache::run_native_traces(bus, core)
    }
}

/// The execution engine of a chip with two cores. It executes basic blocks and takes their cycles from [`pair`]. While
/// one core executes alone, its native code contains the cycles ([`native_path`]).
#[derive(Debug)]
pub struct DualCoreEngine;

// SAFETY: the logs are those of [`pair::Pairs`], which the bus keeps.
unsafe impl<B: DualCoreBus + TimedNativeCodeBus> Ahead<B> for DualCoreEngine {
    const HAS_NATIVE_PATHS: bool = true;

    /// Looks up the cycles of a trace that was executed speculatively, and adds them to `core.t`. Returns false if no
    /// other trace may follow now.
    #[inline(always)]
    fn time_trace(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
        native_path::simulate_trace_timing(bus, core, trace)
    }

    /// Returns the cycle of the last store in the trace that [`Ahead::time_trace`] timed last, which began in cycle
    /// `began`.
    fn last_store_cycle(bus: &mut B, _: u64) -> u64 {
        bus.native_paths().last_store_cycle()
    }

    /// Returns whether native code, or a path that became hot, begins at this address. A core that executes alone has
    /// jumped there.
    #[inline(always)]
    fn has_native_path(bus: &mut B, address: u32) -> bool {
        bus.is_single_core() && native_path::has_native_path(bus, address)
    }

    /// Executes native code, with its cycles, from `core.ip` on, as far as it goes.
    unsafe fn run_native_paths(bus: &mut B, core: &mut Core, other: &mut Core) {
        // SAFETY: the caller's promise.
        unsafe { native_path::run_native_paths(bus, core, other) };
    }

    /// Returns the speculation logs of this core and of the other one.
    #[inline(always)]
    fn speculation_logs(bus: &mut B, core: usize) -> [*mut SpeculationLog; 2] {
        bus.pair_timing_cache().own_and_other_speculation_logs(core)
    }

    /// Looks up the cycles of a basic block that the first of these cores has executed speculatively. Returns which
    /// core executes next.
    #[inline(always)]
    unsafe fn time_block(
        bus: &mut B,
        cores: [*mut Core; 2],
        logs: [*mut SpeculationLog; 2],
        block: Block,
    ) -> NextCoreChoice {
        // SAFETY: the caller's promise.
        unsafe { pair::time_block(bus, cores, logs, block) }
    }

    /// Executes the JIT-compiled basic blocks that begin where the first of these cores is. Returns which core executes
    /// next, or `None` if there are none.
    #[inline(always)]
    unsafe fn run_native_blocks(
        bus: &mut B,
        cores: [*mut Core; 2],
        logs: [*mut SpeculationLog; 2],
    ) -> Option<NextCoreChoice> {
        // SAFETY: the caller's promise.
        unsafe { pair::run_native_blocks(bus, cores, logs) }
    }

    /// Decides which core executes next, when the first of these is before an instruction that said
    /// `OrderedAccess::NotYet`. Returns who continues. If it is that core, the instruction is executed next.
    #[inline(never)]
    unsafe fn wait_for_turn(bus: &mut B, cores: [*mut Core; 2], log: *mut SpeculationLog) -> NextCoreChoice {
        // SAFETY: the caller's promise.
        unsafe { pair::wait_for_turn(bus, cores, log) }
    }

    /// Decides which core executes next, when the first of these has executed an instruction that said
    /// `OrderedAccess::Now`. Returns who continues.
    #[inline(always)]
    unsafe fn end_turn(bus: &mut B, cores: [*mut Core; 2], log: *mut SpeculationLog) -> NextCoreChoice {
        // SAFETY: the caller's promise.
        unsafe { pair::end_turn(bus, cores, log) }
    }

    /// Takes an exception if one is due, when the first of these cores is after a basic block whose log says
    /// [`SpeculationLog::summons`]. Returns who continues. If it is that core, and the log says so no more, its next
    /// instruction does.
    #[inline(never)]
    unsafe fn take_exception(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2]) -> NextCoreChoice {
        // SAFETY: the caller's promise.
        unsafe { pair::take_exception(bus, cores, logs) }
    }
}
