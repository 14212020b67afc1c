//! The timing cache of one core whose flash makes it wait.
//!
//! Simulating every fetch is slow, and mostly the result is known: the same instructions ran before, with the flash's
//! buffers in the same state. So the interpreter runs ahead: it executes a [`Trace`], up to 16 instructions, without
//! time. Then the table below says what that trace takes from the state that core and flash are in.
//!
//! ```text
//!   execute a trace ──> (state, first instruction) + trace ──found──> add its cycles; the new state is known, too
//!   without time             names a transition    │
//!                                                  └─new──> simulate it on a shadow core; cache the outcome
//! ```
//!
//! A state holds times as distances from now, so that the same state recurs. A new transition is simulated by the
//! interpreter in its mode with arbitration, on a shadow core without effects, because what the trace does to registers
//! and memory is done already. So the timing rules are in interpreter and bus alone, and nothing is approximated.
//!
//! A trace accesses only memories that answer by fixed rules, and it begins so far from the next event that it cannot
//! reach it. An instruction with probes begins a trace, since its time is known then. A store to a watched word ends
//! one, and is reported when the trace has its time. The profile is the product of how often each trace was taken and
//! what its instructions take. All other instructions are executed in time, one after the
//! other. The cache backs off for a while where new transitions are too frequent (timing that depends on addresses,
//! say).

use crate::profile::ProfileCell;
use crate::step::watch;
use crate::timing_store::{Counts, MissRate, Row, TimingCacheBackoff, TimingTable};
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::exec;
use crate::v6m::op::Op;
use crate::v6m::trace::Trace;
use crate::v6m::translate::{Exit, NativeTrace, Translations, call_native_path, compile_executed_trace};

/// The state on which the timing of a core and its fetches depends. Times are distances from now.
pub type State = [u64; 3];

/// A bus of a single ARMv6-M core whose timing can be cached.
pub trait CacheableTimingBus: NativeTrace {
    /// Returns the timing cache of the core.
    fn timing_cache(&mut self) -> &mut TimingCache;

    /// Returns the state of the bus before the next instruction. `None` if it is too unusual to be cached.
    fn timing_state(&self, core: &Core) -> Option<State>;

    /// Sets the bus to a cached state, before the instruction at `core.t`.
    fn restore_timing_state(&mut self, core: &mut Core, state: &State);
}

/// log2 of the transitions kept.
const TRANSITIONS: u32 = 14;
/// log2 of the nodes kept.
const NODES: u32 = 16;
const _: () = assert!(NODES + Trace::KEY_BITS <= u64::BITS);
/// Misses after which their frequency is judged: they take ten times as long as hits.
const JUDGED: u64 = 256;
/// Fewest instructions from one miss to the next, on average, with which caching pays.
const WORTH_INSTRUCTIONS: u64 = 32;
/// Cycles without the cache after it did not.
const BACKOFF_CYCLES: u64 = 50_000;
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The begin of a trace: the bus state and the instruction's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    address: u32,
}

/// A cached transition: how a trace advances time and the bus state.
#[derive(Debug, Clone, Copy, Default)]
struct Transition {
    /// Number of the node and [`Trace::branches_and_length_key`].
    key: u64,
    indirect: u64,
    cycles: u32,
    /// The part of these that are waits for the bus.
    waits: u32,
    /// Number of the node after it.
    next: u32,
    /// Cycles from its begin to the address phase of its last store, if it has one.
    stored_after: u32,
}

impl Row for Transition {
    const WAYS: usize = 1;
}

/// The timing cache of a single ARMv6-M core.
#[derive(Debug, Default)]
pub struct TimingCache {
    table: TimingTable<Node, Transition, { 1 << TRANSITIONS }, { 1 << NODES }>,
    /// Number of the node that the core has reached.
    node: u32,
    /// Core and bus are still at a node before that one.
    stale: bool,
    miss_rate: MissRate<JUDGED, WORTH_INSTRUCTIONS>,
    backoff: TimingCacheBackoff,
    /// The last trace's [`Transition::stored_after`].
    stored_after: u32,
    /// Shadow cores: misses are simulated on the first. The second one is not used.
    cores: Option<Box<[Core; 2]>>,
    counts: Counts,
    translations: Translations,
}

impl TimingCache {
    /// Forgets all cached timing and native code.
    pub fn forget_timing_and_native_code(&mut self) {
        self.table.clear_timing_nodes_and_transitions();
        self.translations.forget_all_translations();
    }

    /// Returns how often cached timing was used, and what native code did.
    pub fn timing_cache_counts(&self) -> Counts {
        self.counts + self.translations.native_code_counts()
    }

    /// Returns the JIT-compiled traces.
    pub fn compiled_traces(&mut self) -> &mut Translations {
        &mut self.translations
    }

    /// Switches the profile of cached timing on (from zero) or off.
    pub fn set_cached_profiling(&mut self, on: bool) {
        self.table.account.set_cached_timing_profiling(on);
    }

    /// Removes the profile of cached timing and returns it, as (instruction address, cycles and executions).
    pub fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)> {
        self.table.take_profile().map(|(_, address, cell)| (address, cell))
    }

    /// Returns the cycle of the last store's address phase in the last trace, which began in cycle `began`.
    pub fn last_store_cycle(&self, began: u64) -> u64 {
        began + u64::from(self.stored_after)
    }

    /// Returns the cycle at which the back-off ends, if time `t` is in one.
    pub fn backoff_end(&self, t: u64) -> Option<u64> {
        self.backoff.timing_cache_pause_end_cycle(t)
    }

    /// Counts a miss, and starts a back-off if misses are too frequent.
    fn count_timing_cache_miss(&mut self, core: &Core) {
        match self.miss_rate.count_miss(core.instructions) {
            Some(true) => self.backoff.begin_timing_cache_backoff(core.t, BACKOFF_CYCLES),
            Some(false) => self.backoff.end_timing_cache_backoff(),
            None => {}
        }
    }

    /// Returns the place of a transition in the table.
    #[inline(always)]
    fn slot_of_timing_transition(key: u64, indirect: u64) -> usize {
        let mixed = (key ^ indirect.rotate_left(23)).wrapping_mul(ODD);
        (mixed >> (u64::BITS - TRANSITIONS)) as usize
    }

    /// Returns the key of a trace from the current node.
    #[inline(always)]
    fn timing_key_of_trace(&self, trace: Trace) -> u64 {
        u64::from(self.node) << Trace::KEY_BITS | trace.branches_and_length_key()
    }
}

// In line, the interpreter's loop would share the host's registers with the caller's.
/// Executes traces on `cores[0]` until an instruction that no trace can contain, or until the limit is near. Core and
/// bus are up to date before and after. Returns false if nothing was executed.
///
/// # Safety
/// As for [`exec::run_cores`]. `cores[0]` is before an instruction and not inside one.
#[inline(never)]
pub unsafe fn run_traces<B: CacheableTimingBus>(cores: *mut Core, bus: &mut B) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let core = &mut *cores;
        if core.t + Trace::CYCLES > core.limit || !find_current_node(core, bus) {
            return false;
        }
        exec::run_cores::<B, false, { watch::TRACES }>(cores, 0, bus);
        advance_core_to_reached_timing_node(&mut *cores, bus);
    }
    true
}

/// Finds the node of the current state. Returns false if it is too unusual to be cached.
fn find_current_node<B: CacheableTimingBus>(core: &Core, bus: &mut B) -> bool {
    let Some(state) = bus.timing_state(core) else { return false };
    let node = Node { state, address: core.address_of_op(core.ip) };
    let timing_cache = bus.timing_cache();
    timing_cache.node = match timing_cache.table.timing_node_number_with_hint(node.address, node) {
        Some(number) => number,
        None => timing_cache.table.timing_node_number_or_clear_table(node),
    };
    timing_cache.stale = false;
    true
}

/// Brings core and bus to the node that the traces have reached.
fn advance_core_to_reached_timing_node<B: CacheableTimingBus>(core: &mut Core, bus: &mut B) {
    let timing_cache = bus.timing_cache();
    if std::mem::take(&mut timing_cache.stale) {
        let state = timing_cache.table.node_with_number(timing_cache.node).state;
        bus.restore_timing_state(core, &state);
    }
}

/// Adds the cycles of a trace that was executed without time, and returns whether another one may follow
/// ([`Ahead::time_trace`](crate::v6m::bus::Ahead::time_trace)). `TRANSLATED`: native code executed all of the trace.
#[inline(always)]
pub fn add_trace_cycles<B: CacheableTimingBus, const TRANSLATED: bool>(
    bus: &mut B,
    core: &mut Core,
    trace: Trace,
) -> bool {
    core.instructions += trace.instructions;
    if !TRANSLATED && let Some(begun) = bus.compiled_traces().is_next_trace_address() {
        // SAFETY: it was executed just now; traces stay in their region.
        unsafe { compile_executed_trace(bus, core, begun, trace, &[]) };
    }
    let timing_cache = bus.timing_cache();
    let key = timing_cache.timing_key_of_trace(trace);
    let place = TimingCache::slot_of_timing_transition(key, trace.indirect);
    let row = *timing_cache.table.transition_row_with_number(place);
    if row.key == key && row.indirect == trace.indirect {
        core.t += u64::from(row.cycles);
        core.bus_wait += u64::from(row.waits);
        timing_cache.node = row.next;
        timing_cache.stored_after = row.stored_after;
        timing_cache.stale = true;
        timing_cache.counts.hits += 1;
        if timing_cache.table.account.is_counting_timing_transitions() {
            timing_cache.table.account.count_timing_transition(place, 0);
        }
    } else if !simulate_trace_after_cache_miss(bus, core, trace) {
        return false;
    }
    core.t + Trace::CYCLES <= core.limit
}

/// Executes the JIT-compiled traces that begin where the core is
/// ([`Ahead::run_native_traces`](crate::v6m::bus::Ahead::run_native_traces)).
#[inline(always)]
pub fn run_native_traces<B: CacheableTimingBus>(bus: &mut B, core: &mut Core) -> bool {
    let address = core.address_of_op(core.ip);
    let translations = bus.compiled_traces();
    translations.begun = address;
    match translations.begin_trace(address) {
        // SAFETY: the core stands where the translated trace begins, and nothing has changed in its code.
        Some(number) if !core.retried => unsafe { execute_translations(bus, core, number) },
        _ => true,
    }
}

/// Executes the JIT-compiled trace with this number, and those after it, up to one that is not compiled. Returns false
/// if no trace can begin now.
///
/// # Safety
/// The core is at its begin. Ops and memories are those that it was translated with.
#[inline(never)]
unsafe fn execute_translations<B: CacheableTimingBus>(bus: &mut B, core: &mut Core, mut number: u32) -> bool {
    loop {
        let (code, _) = bus.compiled_traces().native_function_and_fixed_cycles(number);
        // SAFETY: the caller's promise.
        let Some((how, indirect)) = (unsafe { call_native_path(bus, core, code) }) else { return true };
        let Exit { ip, count, branches, .. } = *bus.compiled_traces().exit_record_of_compiled_trace(number, how);
        if count == 0 {
            let Some(next) = bus.compiled_traces().number_of_next_compiled_trace(number) else { return true };
            number = next;
            continue;
        }
        bus.compiled_traces().count_executed_native_trace();
        core.ip = ip;
        let trace = Trace { branches, indirect, instructions: count };
        if !add_trace_cycles::<B, true>(bus, core, trace) {
            return false;
        }
        let address = core.address_of_op(ip);
        let translations = bus.compiled_traces();
        translations.begun = address;
        match translations.number_of_first_compiled_trace(address) {
            Some(next) => number = next,
            None => return true,
        }
    }
}

/// Simulates the timing of the trace from `start` to the core's position, on a shadow core whose instructions have no
/// effects, and returns the shadow core. The cycles of each instruction are in its [`Core::steps`].
pub(super) fn simulate_trace<'a, B: Bus>(
    bus: &mut B,
    core: &Core,
    cores: &'a mut [Core; 2],
    start: *mut Op,
    trace: Trace,
) -> &'a Core {
    let shadow = &mut cores[0];
    (shadow.id, shadow.region, shadow.ip, shadow.trace) =
        (core.id, core.region, start, trace.trace_with_branches_in_top_bits());
    (shadow.t, shadow.bus_free, shadow.fetch_ready) = (core.t, core.bus_free, core.fetch_ready);
    (shadow.instructions, shadow.bus_wait, shadow.stored) = (0, 0, core.t);
    shadow.steps.clear();
    // SAFETY: the trace was executed, so all its instructions are ops of the region.
    unsafe { exec::run_cores::<B, true, { watch::TRACES }>(cores.as_mut_ptr(), 0, bus) };
    let shadow = &cores[0];
    assert!(
        shadow.ip == core.ip && shadow.instructions == trace.instructions,
        "a trace of {} instructions took another way when it was timed",
        trace.instructions
    );
    shadow
}

/// Simulates a trace after a miss and caches its cycles. Returns false if no trace can begin in the state after it, or
/// none should.
#[cold]
#[inline(never)]
fn simulate_trace_after_cache_miss<B: CacheableTimingBus>(bus: &mut B, core: &mut Core, trace: Trace) -> bool {
    advance_core_to_reached_timing_node(core, bus);
    let timing_cache = bus.timing_cache();
    timing_cache.counts.misses += 1;
    let key = timing_cache.timing_key_of_trace(trace);
    let start = core.region.op_at_address(timing_cache.table.node_with_number(timing_cache.node).address);
    let mut cores = timing_cache.cores.take().unwrap_or_else(|| Box::new([Core::new(0), Core::new(1)]));
    let shadow = simulate_trace(bus, core, &mut cores, start, trace);
    let cycles = shadow.t - core.t;
    let waits = shadow.bus_wait;
    let stored_after = (shadow.stored - core.t) as u32;
    let timing_cache = bus.timing_cache();
    timing_cache.stored_after = stored_after;
    timing_cache.table.account.clear_simulated_cycle_shares();
    shadow.steps.iter().for_each(|step| {
        timing_cache.table.account.add_cycle_share_to_transition(step.step_as_transition_cycle_share(false))
    });
    if timing_cache.table.account.is_counting_timing_transitions() {
        timing_cache.table.account.count_simulated_timing_transition(0);
    }
    (core.t, core.bus_free, core.fetch_ready) = (shadow.t, shadow.bus_free, shadow.fetch_ready);
    core.bus_wait += waits;
    debug_assert!(cycles <= Trace::CYCLES);
    bus.timing_cache().cores = Some(cores);
    let Some(state) = bus.timing_state(core) else { return false };
    let node = Node { state, address: core.address_of_op(core.ip) };
    let timing_cache = bus.timing_cache();
    match timing_cache.table.number_of_node(node) {
        Some(next) => {
            let place = TimingCache::slot_of_timing_transition(key, trace.indirect);
            let (cycles, waits) = (cycles as u32, waits as u32);
            let transition = Transition { key, indirect: trace.indirect, cycles, waits, next, stored_after };
            timing_cache.table.store_simulated_timing_transition(place, |row| *row = transition);
            timing_cache.node = next;
            timing_cache.count_timing_cache_miss(core);
            timing_cache.backoff_end(core.t).is_none()
        }
        None => find_current_node(core, bus),
    }
}
