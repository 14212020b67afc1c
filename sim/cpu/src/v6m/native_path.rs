//! Native code where nothing but the code says what time it takes: a core that executes alone, without waits.
//!
//! The interpreter executes in time. After a jump it checks whether the target is translated. Then that is executed,
//! with its cycles added, and what follows likewise, for as long as it goes. Hot paths are translated: a trace is
//! executed speculatively, and a shadow core, without effects, determines the time of each of its instructions. So the
//! timing rules are in the interpreter alone.

use crate::v6m::core::Core;
use crate::v6m::exec;
use crate::v6m::op::Code;
use crate::v6m::timing_cache::simulate_trace;
use crate::v6m::trace::Trace;
use crate::v6m::translate::{NativeTrace, call_native_path, compile_executed_trace};

/// The bus of a chip with two cores. While only one of them executes, its native code contains the cycles, too.
pub trait TimedNativeCodeBus: NativeTrace {
    /// Returns the state of the native execution of a single core.
    fn native_paths(&mut self) -> &mut SingleCoreNativeState;

    /// Returns whether one core executes alone now. While it only repeats instructions that were rolled back, it does
    /// not count as alone.
    fn is_single_core(&self) -> bool;

    /// Begins or ends the simulation of a trace's timing. The effects of its fetches and accesses on the bus are undone
    /// at the end.
    fn isolate_simulation(&mut self, on: bool);
}

/// The state of the native execution of a core that executes alone.
#[derive(Debug, Default)]
pub struct SingleCoreNativeState {
    /// Shadow cores. The second one is not used.
    cores: Option<Box<[Core; 2]>>,
    /// The begin of the current trace.
    begun: u32,
    /// It is being executed.
    ahead: bool,
    /// Cycle of its last store's address phase.
    stored: u64,
}

impl SingleCoreNativeState {
    /// Returns whether a trace is being executed before its cycles are known.
    pub fn is_executing_speculative_trace(&self) -> bool {
        self.ahead
    }

    /// Returns the cycle of the last store of the trace that was executed ahead.
    pub fn last_store_cycle(&self) -> u64 {
        self.stored
    }
}

/// Returns whether native code, or a path that became hot, begins at this address
/// ([`Ahead::has_native_path`](crate::v6m::bus::Ahead::has_native_path)).
#[inline(always)]
pub fn has_native_path<B: TimedNativeCodeBus>(bus: &mut B, address: u32) -> bool {
    let translations = bus.compiled_traces();
    translations.begin_trace(address).is_some() || translations.is_compilation_due(address)
}

/// Executes native code of a core that is alone, as far as it goes
/// ([`Ahead::run_native_paths`](crate::v6m::bus::Ahead::run_native_paths)).
///
/// # Safety
/// As for [`exec::run_cores`]. `core` is before an instruction and not inside one.
#[inline(never)]
pub unsafe fn run_native_paths<B: TimedNativeCodeBus>(bus: &mut B, core: &mut Core, other: &mut Core) {
    'next: loop {
        let address = core.address_of_op(core.ip);
        let mut number = bus.compiled_traces().begin_trace(address);
        while let Some(this) = number {
            let (code, cycles) = bus.compiled_traces().native_function_and_fixed_cycles(this);
            if core.t + u64::from(cycles) > core.limit {
                return;
            }
            // SAFETY: it stands where the path begins; code that changes, or that has probes, is forgotten.
            let Some((how, _)) = (unsafe { call_native_path(bus, core, code) }) else { return };
            let exit = bus.compiled_traces().exit_record_of_compiled_trace(this, how);
            if exit.count != 0 {
                exit.taken[core.id & 1] += 1;
                core.ip = exit.ip;
                core.t += u64::from(exit.cycles);
                core.instructions += exit.count;
                bus.compiled_traces().count_executed_native_trace();
                continue 'next;
            }
            number = bus.compiled_traces().number_of_next_compiled_trace(this);
        }
        // SAFETY: the caller's promise.
        if !(bus.compiled_traces().is_compilation_due(address) && unsafe { translate_recorded_trace(bus, core, other) })
        {
            return;
        }
    }
}

/// Executes a trace, simulates its timing and JIT-compiles it. Returns false if no trace can begin here.
///
/// # Safety
/// As for [`run_native_paths`].
#[cold]
#[inline(never)]
unsafe fn translate_recorded_trace<B: TimedNativeCodeBus>(bus: &mut B, core: &mut Core, other: &mut Core) -> bool {
    // SAFETY: `ip` points into the ops of the region.
    let is_stub = unsafe { (*core.ip).code } == Code::Attend;
    if is_stub || core.t + Trace::CYCLES > core.limit {
        return false;
    }
    let address = core.address_of_op(core.ip);
    (bus.native_paths().begun, bus.native_paths().ahead) = (address, true);
    // SAFETY: the caller's promise.
    unsafe { exec::execute_trace_speculatively(core, other, bus) };
    bus.native_paths().ahead = false;
    let is_none = core.address_of_op(core.ip) == address && bus.compiled_traces().is_compilation_due(address);
    if is_none {
        bus.compiled_traces().exclude_address_from_compilation(address);
    }
    !is_none
}

/// Simulates the trace that was executed, adds its cycles to `core.t`, and JIT-compiles it if its cycles depend on
/// nothing else. Returns false: no other trace follows.
#[cold]
#[inline(never)]
pub fn simulate_trace_timing<B: TimedNativeCodeBus>(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
    let begun = bus.native_paths().begun;
    let mut cores = bus.native_paths().cores.take().unwrap_or_else(|| Box::new([Core::new(0), Core::new(1)]));
    // What it waited for when another core was awake is over for a core that is alone.
    let bus_state = (core.bus_free, core.fetch_ready);
    (core.bus_free, core.fetch_ready) = (0, 0);
    bus.isolate_simulation(true);
    let shadow = simulate_trace(bus, core, &mut cores, core.region.op_at_address(begun), trace);
    (core.bus_free, core.fetch_ready) = bus_state;
    (core.t, core.bus_wait) = (shadow.t, core.bus_wait + shadow.bus_wait);
    core.instructions += trace.instructions;
    let (waited, stored) = (shadow.bus_wait != 0, shadow.stored);
    bus.native_paths().stored = stored;
    bus.isolate_simulation(false);
    debug_assert!(!waited && cores[0].steps.len() as u64 == trace.instructions, "nobody contends");
    bus.compiled_traces().add_executed_instructions_to_profile(core.id, &cores[0].steps);
    // SAFETY: the trace was executed just now; traces stay in their region.
    unsafe { compile_executed_trace(bus, core, begun, trace, &cores[0].steps) };
    bus.native_paths().cores = Some(cores);
    false
}
