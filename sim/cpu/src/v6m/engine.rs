//! The two engines that execute ARMv6-M ahead of its time, as the interpreter calls them.

use crate::v6m::block::{Block, Turn};
use crate::v6m::bus::Ahead;
use crate::v6m::core::Core;
use crate::v6m::native_path::{self, NativePathBus};
use crate::v6m::pair::{self, PairedBus};
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::timing_cache::{self, CacheableBus};
use crate::v6m::trace::Trace;

/// The execution engine of a chip with a single core. It executes traces and takes their cycles from [`timing_cache`].
#[derive(Debug)]
pub struct SingleCoreEngine;

// SAFETY: it gives no logs.
unsafe impl<B: CacheableBus> Ahead<B> for SingleCoreEngine {
    #[inline(always)]
    fn time_trace(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
        timing_cache::time_trace::<_, false>(bus, core, trace)
    }

    fn last_store_cycle(bus: &mut B, began: u64) -> u64 {
        bus.timing_cache().stored_at(began)
    }

    #[inline(always)]
    fn run_native_traces(bus: &mut B, core: &mut Core) -> bool {
        timing_cache::run_native(bus, core)
    }
}

/// The engine of a chip with two cores: basic blocks, with their cycles from [`pair`]. While one of them executes
/// alone, native code has its cycles with it ([`native_path`]).
#[derive(Debug)]
pub struct TwoCores;

// SAFETY: the logs are those of [`pair::Pairs`], which the bus keeps.
unsafe impl<B: PairedBus + NativePathBus> Ahead<B> for TwoCores {
    const HAS_NATIVE_PATHS: bool = true;

    #[inline(always)]
    fn time_trace(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
        native_path::time_trace(bus, core, trace)
    }

    fn last_store_cycle(bus: &mut B, _: u64) -> u64 {
        bus.native_paths().stored_at()
    }

    #[inline(always)]
    fn has_native_path(bus: &mut B, address: u32) -> bool {
        bus.is_single_core() && native_path::has_native_path(bus, address)
    }

    unsafe fn run_native_paths(bus: &mut B, core: &mut Core, other: &mut Core) {
        // SAFETY: the caller's promise.
        unsafe { native_path::run(bus, core, other) };
    }

    #[inline(always)]
    fn logs(bus: &mut B, core: usize) -> [*mut SpeculationLog; 2] {
        bus.pairs().logs(core)
    }

    #[inline(always)]
    unsafe fn time_block(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2], block: Block) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::time_block(bus, cores, logs, block) }
    }

    #[inline(always)]
    unsafe fn run_native_blocks(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2]) -> Option<Turn> {
        // SAFETY: the caller's promise.
        unsafe { pair::run_native(bus, cores, logs) }
    }

    #[inline(never)]
    unsafe fn wait_for_turn(bus: &mut B, cores: [*mut Core; 2], log: *mut SpeculationLog) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::wait_for_turn(bus, cores, log) }
    }

    #[inline(always)]
    unsafe fn end_turn(bus: &mut B, cores: [*mut Core; 2], log: *mut SpeculationLog) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::end_turn(bus, cores, log) }
    }

    #[inline(never)]
    unsafe fn take_exception(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2]) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::take_exception(bus, cores, logs) }
    }
}
