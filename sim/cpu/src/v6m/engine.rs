//! The two engines that execute ARMv6-M ahead of its time, as the interpreter calls them.

use crate::v6m::block::{Block, Turn};
use crate::v6m::bus::Ahead;
use crate::v6m::core::Core;
use crate::v6m::leap::{self, Leaping};
use crate::v6m::memo::{self, Remembered};
use crate::v6m::pair::{self, Paired};
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::trace::Trace;

/// One core whose flash makes it wait: traces, with their time from the timing cache of [`memo`].
#[derive(Debug)]
pub struct OneCore;

// SAFETY: it gives no logs.
unsafe impl<B: Remembered> Ahead<B> for OneCore {
    #[inline(always)]
    fn time_trace(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
        memo::traced::<_, false>(bus, core, trace)
    }

    fn stored_at(bus: &mut B, began: u64) -> u64 {
        bus.memo().stored_at(began)
    }

    #[inline(always)]
    fn run_native_traces(bus: &mut B, core: &mut Core) -> bool {
        memo::lead(bus, core)
    }
}

/// Two cores: basic blocks, with their time from the timing cache of [`pair`]. While one of them executes alone, native code
/// has its cycles with it ([`leap`]).
#[derive(Debug)]
pub struct TwoCores;

// SAFETY: the logs are those of [`pair::Pairs`], which the bus keeps.
unsafe impl<B: Paired + Leaping> Ahead<B> for TwoCores {
    const HAS_NATIVE_PATHS: bool = true;

    #[inline(always)]
    fn time_trace(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
        leap::traced(bus, core, trace)
    }

    fn stored_at(bus: &mut B, _: u64) -> u64 {
        bus.leaps().stored_at()
    }

    #[inline(always)]
    fn has_native_path(bus: &mut B, address: u32) -> bool {
        bus.is_alone() && leap::leaps_to(bus, address)
    }

    unsafe fn run_native_paths(bus: &mut B, core: &mut Core, other: &mut Core) {
        // SAFETY: the caller's promise.
        unsafe { leap::leap(bus, core, other) };
    }

    #[inline(always)]
    fn logs(bus: &mut B, core: usize) -> [*mut SpeculationLog; 2] {
        bus.pairs().logs(core)
    }

    #[inline(always)]
    unsafe fn time_block(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2], block: Block) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::paired(bus, cores, logs, block) }
    }

    #[inline(always)]
    unsafe fn run_native_blocks(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2]) -> Option<Turn> {
        // SAFETY: the caller's promise.
        unsafe { pair::go_on(bus, cores, logs) }
    }

    #[inline(never)]
    unsafe fn wait_for_turn(bus: &mut B, cores: [*mut Core; 2], log: *mut SpeculationLog) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::order(bus, cores, log) }
    }

    #[inline(always)]
    unsafe fn end_turn(bus: &mut B, cores: [*mut Core; 2], log: *mut SpeculationLog) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::ordered(bus, cores, log) }
    }

    #[inline(never)]
    unsafe fn take_exception(bus: &mut B, cores: [*mut Core; 2], logs: [*mut SpeculationLog; 2]) -> Turn {
        // SAFETY: the caller's promise.
        unsafe { pair::summoned(bus, cores, logs) }
    }
}
