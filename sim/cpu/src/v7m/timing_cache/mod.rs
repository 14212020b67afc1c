//! The timing cache of one core with a pipeline: M3, M4 and M7.
//!
//! Reporting every instruction to the pipeline is slow, and mostly the answer is known: the same instructions ran
//! before, in the same state of pipeline and flash interface. So the executor executes speculatively: a trace
//! (instructions up to a branch by register) without any time, and logs what their time depends on. Then a table says
//! what the trace takes.
//!
//! ```text
//!   execute a trace ──> state + start, end, log ──found──> add its cycles; the new state is known, too
//!   without time           name a transition    │
//!                                               └─new──> replay the log to the pipeline; cache the outcome
//! ```
//!
//! Besides the opcodes, time depends on which branches were taken, which memory answered each access, which predicated
//! instructions were skipped, how long divisions took. On the M7 also on banks, on how many stores ago a loaded
//! doubleword was stored, and on whether the predictor was right. That is what the log contains. A state holds times as
//! distances from now, so that the same state recurs. [`replay`] reports a new transition to the pipeline.
//!
//! So the timing rules are in the pipelines alone, and nothing is approximated. A trace contains only what [`op_kind`]
//! lists, accesses only memories that answer by fixed rules, and begins so far from the next event that it cannot reach
//! it. Everything else takes the executor's usual path, one instruction at a time.

mod distance;
mod log;
mod op_kind;
mod ram;
mod replay;
mod table;
mod time;
mod trace;
mod traits;
mod translate;
mod untimed;

use super::code::Code;
use super::core::{Core, Request};
use super::exec;
use super::op::Op;
pub use crate::host::{CacheLookupReplayData, CachedConstantMemory, ConstantMemoryAddresses, Repeats};
use crate::profile::ProfileCell;
use crate::step::watch;
use crate::timing_store::Counts;
pub use distance::{CycleDistanceConverter, OPEN, cycle_at_distance_from_now};
pub use log::TraceTimingLog;
pub use op_kind::is_store;
use op_kind::{OP_KINDS, TraceInstructionKind};
pub use ram::{DirectRamAccess, MARKED_BYTES, RamLayout};
use replay::Trace;
use table::{CachedTransitionKey, Table};
use time::NodePosition;
use trace::{EndReason, execute_trace};
pub use traits::{CacheableTiming, QuickBus, StoreWatchStatus};
use translate::{Context, NativeReturnReason, PathExitNumber, Translations};

/// Most instructions in a trace.
const TRACE_INSTRUCTIONS: u32 = 18;
/// Most instructions in a trace that may not be that long because an event is near. An IT block fits.
const SHORT_INSTRUCTIONS: u32 = 6;
/// More cycles than any instruction takes: it moves up to 32 words and waits for two reads of the flash.
const INSTRUCTION_CYCLES: u64 = 72;
/// More cycles than any trace takes, and any short one.
const TRACE_CYCLES: u64 = INSTRUCTION_CYCLES * TRACE_INSTRUCTIONS as u64;
const SHORT_CYCLES: u64 = INSTRUCTION_CYCLES * SHORT_INSTRUCTIONS as u64;

/// The kind of memory that an access reached, as far as its timing is concerned. Native code gets the first two as the
/// outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Home {
    /// Main RAM, its second block.
    Second = 0,
    /// Main RAM, its first block.
    First = 1,
    /// Flash, in a cache that answers at once.
    Cached = 2,
    /// Flash, whose answer takes the time the interface says. The address does not matter.
    Waiting = 3,
}

impl Home {
    /// Returns the kind of memory that these logged bits name.
    #[inline(always)]
    fn memory_kind_from_logged_bits(bits: u64) -> Home {
        match bits & 3 {
            0 => Home::Second,
            1 => Home::First,
            2 => Home::Cached,
            _ => Home::Waiting,
        }
    }
}

/// The timing cache of one ARMv7-M core, with its native code.
#[derive(Debug)]
pub struct TimingCache<P: CacheableTiming, B: QuickBus> {
    table: Table<(P::State, B::State), B::Lookups>,
    /// [`Transition::serial`](table::Transition::serial) of the last transition.
    serial: u32,
    translations: Translations,
    epoch: u64,
    counts: Counts,
}

impl<P: CacheableTiming, B: QuickBus> Default for TimingCache<P, B> {
    /// Returns an empty timing cache.
    fn default() -> TimingCache<P, B> {
        TimingCache {
            table: Table::default(),
            serial: 0,
            translations: Translations::default(),
            epoch: 0,
            counts: Counts::default(),
        }
    }
}

impl<P: CacheableTiming, B: QuickBus> TimingCache<P, B> {
    /// Forgets all cached timing and native code.
    pub fn forget_timing_and_native_code(&mut self) {
        self.table.clear_timing_nodes_and_transitions();
    }

    /// Returns how often cached timing was used, and what native code did.
    pub fn timing_cache_counts(&self) -> Counts {
        self.counts + self.translations.native_code_counts()
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.translations.set_translation_threshold(executions);
    }

    /// Removes the profile of cached traces, which were executed under `watch::PROFILE`, and returns it, as
    /// (instruction address, cycles and executions). The cells of regions contain the rest of the profile.
    pub fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)> {
        self.table.take_profile().map(|(_, address, cell)| (address, cell))
    }

    /// Runs the core like [`exec::run_until_limit`] without MPU, to the same cycle, but with cached timing. Under
    /// `watch::PROFILE` the profile of speculative execution is in [`TimingCache::take_profile`].
    ///
    /// # Safety
    /// As for [`exec::run_until_limit`]. The cache belongs to this bus and its regions.
    pub unsafe fn run_with_cached_timing<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) {
        while core.request == Request::None && core.t < core.limit {
            let special = core.committed || core.words_moved != 0 || core.it != 0 || core.ici != 0 || !core.thumb;
            if special {
                // SAFETY: the caller's promise, here and below.
                if !unsafe { exec::execute_instruction_or_block(core, pipe, bus, WATCH, false) } {
                    return;
                }
                continue;
            }
            if core.t + SHORT_CYCLES > core.limit || !bus.is_timing_cached_at(core.address_of_op(core.ip)) {
                // SAFETY: as above.
                return unsafe { exec::run_until_limit(core, pipe, bus, WATCH) };
            }
            // SAFETY: `ip` points into the ops of the region.
            let code = unsafe { (*core.ip).code };
            if matches!(code, Code::It | Code::Attend) || OP_KINDS[code as usize] != TraceInstructionKind::Apart {
                // SAFETY: as above.
                let attended = unsafe { self.execute_traces::<WATCH>(core, pipe, bus) };
                if attended {
                    // SAFETY: as above.
                    if !unsafe { exec::execute_instruction_or_block(core, pipe, bus, WATCH, true) } {
                        return;
                    }
                    continue;
                }
                if core.t + SHORT_CYCLES > core.limit || core.it != 0 || core.request != Request::None {
                    continue;
                }
            }
            // SAFETY: as above.
            if !unsafe { exec::execute_instruction_or_block(core, pipe, bus, WATCH, false) } {
                return;
            }
        }
    }

    /// Executes traces as long as possible. Pipeline and bus are up to date before and after. Returns true if the
    /// probes on the next instruction have fired.
    ///
    /// # Safety
    /// As for [`TimingCache::run_with_cached_timing`].
    unsafe fn execute_traces<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) -> bool {
        if bus.timing_epoch() != self.epoch {
            self.epoch = bus.timing_epoch();
            self.forget_timing_and_native_code();
            self.translations.forget_all_translations();
        }
        let Some(state) = self.current_timing_state_number(core, pipe, bus) else { return false };
        let mut at = NodePosition::position_at_timing_state(state);
        // Traces stay inside their region.
        let bias = CachedTransitionKey::host_to_board_address_offset(&core.region);
        let mut most = if core.t + TRACE_CYCLES > core.limit { SHORT_INSTRUCTIONS } else { TRACE_INSTRUCTIONS };
        loop {
            let translated = if most == TRACE_INSTRUCTIONS && P::logs_by_foresight(core) {
                // SAFETY: the caller's promise.
                unsafe { self.run_translations::<WATCH>(core, pipe, bus, bias, at) }
            } else {
                (at, None)
            };
            let end;
            (at, end) = match translated {
                (at, Some(end)) => (at, end),
                // SAFETY: as above.
                (at, None) => unsafe { self.execute_one_trace::<WATCH>(core, pipe, bus, bias, most, at) },
            };
            if at == NodePosition::NOWHERE {
                return false;
            }
            let is_near = core.t + SHORT_CYCLES > core.limit;
            let mut attended = false;
            if end == EndReason::Barred && !is_near {
                let probed;
                // SAFETY: as above.
                (at, probed) = unsafe { self.fire_probes_and_execute::<WATCH>(core, pipe, bus, bias, at) };
                match probed {
                    ProbedInstructionResult::Executed if at == NodePosition::NOWHERE => return false,
                    ProbedInstructionResult::Executed if core.t + SHORT_CYCLES <= core.limit => {
                        most = if core.t + TRACE_CYCLES > core.limit { SHORT_INSTRUCTIONS } else { TRACE_INSTRUCTIONS };
                        continue;
                    }
                    ProbedInstructionResult::Executed | ProbedInstructionResult::Apart => {}
                    ProbedInstructionResult::Fired => attended = true,
                }
            }
            if end == EndReason::Barred || core.t + TRACE_CYCLES > core.limit {
                if end == EndReason::Barred || is_near {
                    let ip = core.ip;
                    self.restore_timing_state(core, pipe, bus, at, ip);
                    return attended;
                }
                most = SHORT_INSTRUCTIONS;
            }
        }
    }

    // In line, its loop would share the host's registers with the caller's.
    /// Executes JIT-compiled traces, one after the other, and adds their cycles. Returns the node that they reach, and
    /// how the last one ended, or `None` if no native code continues there.
    ///
    /// # Safety
    /// As for [`TimingCache::run_with_cached_timing`].
    #[inline(never)]
    unsafe fn run_translations<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        mut at: NodePosition,
    ) -> (NodePosition, Option<EndReason>) {
        let Some(mut number) =
            self.translations.begin_trace(CachedTransitionKey::board_op_address_without_host_bias(bias, core.ip))
        else {
            return (at, None);
        };
        let mut context = Context::new(core, pipe, bus, WATCH == watch::PROFILE);
        loop {
            let Some(state) = at.state_number() else { return (at, Some(EndReason::Complete)) };
            // SAFETY: the caller's promise.
            let (executed, ran) = unsafe { self.translations.run_translation(number, state, &mut context) };
            let ahead = context.state_number();
            let (core, pipe, bus) = context.core_pipeline_and_bus();
            if executed != 0 {
                self.counts.hits += executed;
                self.translations.count_native_traces(executed);
                at = NodePosition::position_before_timing_state(ahead);
            }
            let left = match ran {
                NativeReturnReason::Done(left) => Some(left),
                NativeReturnReason::To(left, key, instructions) => {
                    // SAFETY: the trace was executed just now.
                    at = unsafe {
                        self.note_executed_trace::<WATCH>(core, pipe, bus, bias, (left, key, instructions), at)
                    };
                    Some(left)
                }
                NativeReturnReason::Called(Trace { instructions: 0, .. }, end) => return (at, Some(end)),
                NativeReturnReason::Called(trace, end) => {
                    self.translations.count_native_traces(1);
                    let begun = core.t;
                    let stored_after;
                    // SAFETY: as above.
                    (at, stored_after) = unsafe { self.add_trace_cycles::<WATCH>(core, pipe, bus, bias, trace, at) };
                    report_watched_store(core, bus, end, begun, stored_after);
                    if end != EndReason::Complete {
                        return (at, Some(end));
                    }
                    None
                }
                NativeReturnReason::Otherwise => return (at, None),
            };
            if core.t + TRACE_CYCLES > core.limit {
                return (at, Some(EndReason::Complete));
            }
            number = match self
                .translations
                .begin_trace(CachedTransitionKey::board_op_address_without_host_bias(bias, core.ip))
            {
                Some(next) => next,
                None => return (at, None),
            };
            if let Some(left) = left {
                self.translations.link_native_code_after_exit(left, core.ip, number);
            }
        }
    }

    /// Adds the cycles of a trace that native code has executed without knowing them. Returns the node to which it
    /// leads.
    ///
    /// # Safety
    /// The trace, with this key but for its state and of so many instructions, was executed by this core.
    #[inline(always)]
    unsafe fn note_executed_trace<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        (left, key, instructions): (PathExitNumber, CachedTransitionKey, u32),
        at: NodePosition,
    ) -> NodePosition {
        self.translations.count_native_traces(1);
        let Some(state) = at.state_number() else { return at };
        let behind = (core.ip as u64).wrapping_sub(self.translations.op_at_trace_end(left) as u64);
        let key = key.from(state).with_later_trace_end(behind);
        let Some((known, _)) = self.add_cached_trace_cycles::<WATCH>(core, bus, key, instructions) else {
            // SAFETY: the caller's promise.
            return unsafe {
                self.add_replayed_trace_cycles::<WATCH>(
                    core,
                    pipe,
                    bus,
                    key.trace_of_transition_key(bias, core.ip),
                    key,
                    at,
                )
            }
            .0;
        };
        let transition = self.table.transition_row_with_number_mut(key.row_of_cached_transition());
        if transition.key == key {
            let (address, serial) = (&raw mut *transition as u64, transition.serial);
            self.translations.add_timing_transition_to_exit_record(
                left,
                (state, key.timing_log_bits_of_key()),
                core.ip,
                (address, serial),
            );
        }
        known
    }

    /// Executes a trace of at most `most` instructions, and adds its cycles. Returns the node to which it leads and how
    /// it ended.
    ///
    /// # Safety
    /// As for [`TimingCache::run_with_cached_timing`].
    #[inline(always)]
    unsafe fn execute_one_trace<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        most: u32,
        at: NodePosition,
    ) -> (NodePosition, EndReason) {
        if at == NodePosition::NOWHERE {
            return (at, EndReason::Barred);
        }
        let start = core.ip;
        // SAFETY: the caller's promise.
        let (log, end) = unsafe { execute_trace(core, pipe, bus, TraceTimingLog::new(most)) };
        let trace = Trace::new(start, core.ip, most, log, end);
        if trace.instructions == 0 {
            return (at, end);
        }
        let begun = core.t;
        // SAFETY: the trace was executed just now.
        let (at, stored_after) = unsafe { self.add_trace_cycles::<WATCH>(core, pipe, bus, bias, trace, at) };
        // Otherwise nobody has said where the trace began ([`Translations::begin_trace`]).
        if most == TRACE_INSTRUCTIONS && P::logs_by_foresight(core) && end == EndReason::Complete {
            // SAFETY: as above.
            unsafe { self.translations.count_trace_execution(core, pipe, bus, trace, bias) };
        }
        report_watched_store(core, bus, end, begun, stored_after);
        (at, end)
    }

    /// Fires the probes on the instruction before which a trace ended, if it has any, and executes it as a trace of its
    /// own.
    ///
    /// # Safety
    /// As for [`TimingCache::run_with_cached_timing`].
    #[cold]
    #[inline(never)]
    unsafe fn fire_probes_and_execute<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        at: NodePosition,
    ) -> (NodePosition, ProbedInstructionResult) {
        // Inside an IT block an instruction is not what its op says.
        if core.it != 0 {
            return (at, ProbedInstructionResult::Apart);
        }
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region, here and below.
        let stand_in = unsafe { *ip };
        let address = core.address_of_op(ip);
        if stand_in.code != Code::Attend
            || OP_KINDS[bus.op_behind_stub(core, address).code as usize] == TraceInstructionKind::Apart
        {
            return (at, ProbedInstructionResult::Apart);
        }
        let Some(op) = bus.serve_stub_op(core, address, false) else {
            core.request = Request::Stopped;
            return (at, ProbedInstructionResult::Apart);
        };
        let before = core.instructions;
        // SAFETY: as above; the op is that of its place, where the stand-in stands again before anybody looks.
        let (at, _) = unsafe {
            *ip = op;
            let executed = self.execute_one_trace::<WATCH>(core, pipe, bus, bias, 1, at);
            *ip = stand_in;
            executed
        };
        (
            at,
            if core.instructions == before {
                ProbedInstructionResult::Fired
            } else {
                ProbedInstructionResult::Executed
            },
        )
    }

    /// Returns the number of the current state of pipeline and bus in the timing cache. `None` if the state cannot be
    /// cached. A full cache is cleared first.
    fn current_timing_state_number(&mut self, core: &Core, pipe: &P, bus: &B) -> Option<u32> {
        let state = (pipe.timing_state(core)?, bus.timing_state(core.t)?);
        let address = core.address_of_op(core.ip);
        Some(
            self.table
                .timing_node_number_with_hint(address, state)
                .unwrap_or_else(|| self.table.timing_node_number_or_clear_table(state)),
        )
    }
}

/// Reports the store to a watched word with which a trace ended. Does nothing if the trace ended otherwise. `begun` is
/// the trace's first cycle, `stored_after` the cycles from there to the store.
#[inline(always)]
fn report_watched_store<B: QuickBus>(core: &mut Core, bus: &mut B, end: EndReason, begun: u64, stored_after: i32) {
    if let EndReason::Watched { word, wide } = end {
        let pc = core.address_of_op(core.ip.wrapping_sub(1 + usize::from(wide)));
        bus.report_watched_store(core, word, pc, begun.saturating_add_signed(stored_after.into()));
    }
}

/// The result of an attempt to execute an instruction before which a trace ended, perhaps because it has probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbedInstructionResult {
    /// It had probes, and was executed.
    Executed,
    /// It has none, no trace holds it, or the run stops before it.
    Apart,
    /// Its probes have fired, and it is to be executed in time.
    Fired,
}
