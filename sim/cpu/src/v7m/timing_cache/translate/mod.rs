//! Traces as native code: what is executed again and again the same way is translated, its time is looked up as ever.
//!
//! A translation is one path: the instructions of a trace in the order in which they were executed, with the branches
//! taken that were taken then, and accesses to the memories that answered then. If the execution deviates, the trace
//! ends before that instruction, and the next one begins there. The end of a trace does not affect its time. A trace
//! that deviates often at its very first instruction is translated, too. Rare or long cases are not translated but
//! called: the function of [`super::trace`] for one instruction.

#[cfg(native_code)]
mod assemble;
mod plan;
mod record;

use std::mem::offset_of;

use super::log::TraceTimingLog;
use super::ram::{DirectRamAccess, RamLayout};
use super::replay::Trace;
use super::table::CachedTransitionKey;
use super::trace::{EndReason, TraceEndRecord};
use super::{CacheLookupReplayData, CacheableTiming, QuickBus, TRACE_INSTRUCTIONS};
use crate::host::registry::Paths;
use crate::host::{self, CALLED, ConstantMemoryAddresses, Entry, TraceLogLayout};
use crate::timing_store::Counts;
use crate::v7m::core::Core;
use crate::v7m::op::Op;
#[cfg(native_code)]
use assemble::assemble;
use plan::{Step, plan_path};
pub(super) use record::PathExitNumber;
use record::{DONE, NOWHERE, Record, create_path_exit_records};

/// Executions of a trace, whatever its path, before it is translated: short runs take no longer with it than without.
const TRANSLATED_AFTER: u32 = 1000;

/// The JIT-compiled traces of a core, by the address at which they begin
/// ([`Key::board_op_address_without_host_bias`](super::table::Key::host_independent_op_address)).
#[derive(Debug)]
pub(super) struct Translations {
    paths: Paths<Translation, { size_of::<Op>() }>,
    /// The entry to native code.
    entry: Option<Entry>,
}

/// A JIT-compiled trace with its exits and their records.
#[derive(Debug)]
struct Translation {
    /// The begin of its code.
    code: u64,
    /// The steps that native code points to in its calls.
    steps: Vec<Step>,
    /// Before each of its steps, and after the last.
    exits: Vec<Exit>,
    /// The records that native code uses there.
    records: Box<[Record]>,
}

/// A place at which native code may leave a trace.
#[derive(Debug, Clone, Copy)]
struct Exit {
    /// The trace that ends there.
    trace: Trace,
    /// The key by which it is found, from state 0.
    key: CachedTransitionKey,
    /// The code has said where execution continues.
    jumped: bool,
}

/// How native code returned.
#[derive(Debug, Clone, Copy)]
pub(super) enum NativeReturnReason {
    /// A path was executed up to there, and its time is taken.
    Done(PathExitNumber),
    /// A path was executed up to there: a trace with this key but for its state, of so many instructions.
    To(PathExitNumber, CachedTransitionKey, u32),
    /// A trace that a call ended, so.
    Called(Trace, EndReason),
    /// The next trace is another way than all paths at its first instruction.
    Otherwise,
}

/// The data that native code of a trace gets at its call, passes to functions that it calls, and returns.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context<'a, P, B> {
    core: &'a mut Core,
    pipe: &'a mut P,
    bus: &'a mut B,
    /// The log, where the pipeline has foresight.
    log: u64,
    /// Number of the state before the current trace.
    state: u32,
    /// Traces whose time code has taken by itself.
    executed: u64,
    /// 1 if traces are counted for a profile, else 0.
    counts: u64,
    /// How lookups are repeated.
    repeating: CacheLookupReplayData,
    /// Where constants are.
    constants: ConstantMemoryAddresses,
    /// How the trace ended, if a call ended it.
    ended: TraceEndRecord,
}

impl<'a, P, B> Context<'a, P, B> {
    /// Creates the context for this core, pipeline and bus.
    #[inline(always)]
    pub fn new(core: &'a mut Core, pipe: &'a mut P, bus: &'a mut B, is_profiled: bool) -> Context<'a, P, B> {
        let (repeating, constants) = (CacheLookupReplayData::default(), ConstantMemoryAddresses::default());
        let counts = is_profiled.into();
        Context {
            core,
            pipe,
            bus,
            log: 1,
            state: NOWHERE,
            executed: 0,
            counts,
            repeating,
            constants,
            ended: TraceEndRecord::NOTHING,
        }
    }

    /// Returns the number of the state before the first trace whose cycles native code did not add.
    pub fn state_number(&self) -> u32 {
        self.state
    }

    /// Returns core, pipeline and bus.
    #[inline(always)]
    pub fn core_pipeline_and_bus(&mut self) -> (&mut Core, &mut P, &mut B) {
        (self.core, self.pipe, self.bus)
    }
}

/// Offsets in a context for native code that logs. The function is not known here.
const LOGGING: TraceLogLayout = TraceLogLayout {
    pipe: offset_of!(Context<'_, (), ()>, pipe) as i32,
    log: offset_of!(Context<'_, (), ()>, log) as i32,
    constants: offset_of!(Context<'_, (), ()>, constants) as i32,
    judge: 0,
};

impl Default for Translations {
    /// Returns a registry without translations.
    fn default() -> Translations {
        Translations { paths: Paths::new(TRANSLATED_AFTER), entry: None }
    }
}

impl Translations {
    /// Forgets all translations and counts.
    pub fn forget_all_translations(&mut self) {
        if self.paths.forget_all_translations() {
            self.entry = None;
        }
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.forget_all_translations();
        self.paths.set_translation_threshold(executions);
    }

    /// Returns how many traces were JIT-compiled so far, and how many they executed.
    pub fn native_code_counts(&self) -> Counts {
        self.paths.native_code_counts()
    }

    /// Adds to the number of traces that native code has executed.
    #[inline(always)]
    pub fn count_native_traces(&mut self, traces: u64) {
        self.paths.count_native_traces(traces);
    }

    /// Begins a trace at this place, and returns the number of its first translation.
    #[inline(always)]
    pub fn begin_trace(&mut self, place: u64) -> Option<u32> {
        self.paths.begin_trace(place)
    }

    /// Executes the JIT-compiled trace with this number from this state on, and those after it as long as their cycles
    /// are known. Returns how many traces were executed in this way, and how native code returned.
    ///
    /// # Safety
    /// As for [`exec::run_until_limit`](crate::v7m::exec::run_until_limit), with the core at the begin of the path and
    /// far enough from its limit. Ops and memories are those that it was translated with.
    #[inline(always)]
    pub unsafe fn run_translation<P: CacheableTiming, B: QuickBus>(
        &mut self,
        number: u32,
        state: u32,
        context: &mut Context<'_, P, B>,
    ) -> (u64, NativeReturnReason) {
        let Some(DirectRamAccess { bytes, marks, .. }) = context.bus.native_ram() else {
            unreachable!("without it nothing is translated")
        };
        let (bytes, marks) = (bytes.as_mut_ptr(), marks.as_ptr());
        (context.state, context.log, context.executed) = (state, 1, 0);
        context.repeating = context.bus.native_lookup_data();
        if P::FORESIGHT.is_some() {
            context.constants = context.bus.constants_at();
        }
        let code = self.paths.path_with_number(number).code;
        let Some(entry) = self.entry else { unreachable!("there is code") };
        let core = (&raw mut *context.core).cast();
        // SAFETY: the caller's promise; where a path is left, everything is as it is before that step.
        let left = unsafe { entry.call_native(core, (bytes, marks), std::ptr::from_mut(context).cast(), code) };
        (context.executed, self.native_return_reason_of_exit(PathExitNumber(left), context))
    }

    /// Returns how native code returned, from the exit by which it left a trace.
    #[inline(always)]
    fn native_return_reason_of_exit<P: CacheableTiming, B: QuickBus>(
        &mut self,
        left: PathExitNumber,
        context: &mut Context<'_, P, B>,
    ) -> NativeReturnReason {
        let translation = self.paths.path_with_number(left.number_of_trace_translation());
        if left.0 as u32 == CALLED {
            let (log, end) = context.ended.trace_log_and_end_reason();
            return NativeReturnReason::Called(
                Trace::new(translation.steps[0].ip, context.core.ip, TRACE_INSTRUCTIONS, log, end),
                end,
            );
        }
        let Exit { trace, key, jumped } = translation.exits[left.index_of_path_exit()];
        if !jumped {
            context.core.ip = trace.end;
        }
        if left.0 & DONE != 0 {
            return NativeReturnReason::Done(PathExitNumber(left.0 & !DONE));
        }
        if trace.instructions == 0 {
            self.paths.record_compiled_path_mismatch(left.number_of_trace_translation());
            return NativeReturnReason::Otherwise;
        }
        let key = match P::FORESIGHT {
            Some(_) => key.with_trace_log(context.log),
            None => key,
        };
        NativeReturnReason::To(left, key, trace.instructions)
    }

    /// Returns the op at which a trace that left by this exit ended, unless the native code has stored another one.
    pub fn op_at_trace_end(&self, left: PathExitNumber) -> *mut Op {
        self.paths.path_with_number(left.number_of_trace_translation()).exits[left.index_of_path_exit()].trace.end
    }

    /// Stores the cached transition of a trace that left by this exit, from this state and with this log, in a record
    /// of the exit. Native code uses it the next time.
    pub fn add_timing_transition_to_exit_record(
        &mut self,
        left: PathExitNumber,
        (state, log): (u32, u64),
        ip: *mut Op,
        (transition, serial): (u64, u32),
    ) {
        let record = &mut self.paths.path_with_number_mut(left.number_of_trace_translation()).records
            [left.index_of_path_exit_record()];
        let ip = ip as u64;
        let next = if record.ip == ip { record.next } else { 0 };
        *record = Record { state, serial, transition, log, ip, next, ..*record };
    }

    /// Makes the translation with this number follow a trace that leaves by this exit, without a return from native
    /// code.
    pub fn link_native_code_after_exit(&mut self, left: PathExitNumber, ip: *mut Op, number: u32) {
        let next = self.paths.path_with_number(number).code;
        let record = &mut self.paths.path_with_number_mut(left.number_of_trace_translation()).records
            [left.index_of_path_exit_record()];
        if record.ip == ip as u64 {
            record.next = next;
        }
    }

    /// Counts a trace that the interpreter has executed at its full length, and JIT-compiles it if it is hot.
    ///
    /// # Safety
    /// The trace was executed: its instructions are ops of the region.
    #[inline(always)]
    pub unsafe fn count_trace_execution<P: CacheableTiming, B: QuickBus>(
        &mut self,
        core: &Core,
        pipe: &P,
        bus: &mut B,
        trace: Trace,
        bias: u64,
    ) {
        if self.paths.is_compilation_due(CachedTransitionKey::board_op_address_without_host_bias(bias, trace.start)) {
            // SAFETY: the caller's promise.
            unsafe { self.compile_executed_trace(core, pipe, bus, trace, bias) };
        }
    }

    /// JIT-compiles a trace that was executed just now, and registers it.
    ///
    /// # Safety
    /// As for [`Translations::count_trace_execution`].
    #[cold]
    #[inline(never)]
    unsafe fn compile_executed_trace<P: CacheableTiming, B: QuickBus>(
        &mut self,
        core: &Core,
        pipe: &P,
        bus: &mut B,
        trace: Trace,
        bias: u64,
    ) {
        let place = CachedTransitionKey::board_op_address_without_host_bias(bias, trace.start);
        // SAFETY: the caller's promise.
        match unsafe { self.translate_trace(core, pipe, bus, trace, bias) } {
            Some(translation) => {
                if let Some(missed) = self.paths.last_mismatching_compiled_path() {
                    missed.records[0].next = translation.code;
                }
                self.paths.add_translation(place, translation);
            }
            None => self.paths.exclude_trace_from_compilation(place),
        }
    }

    /// Returns the translation of a trace that was executed just now. `None` if there is no room for it, or it cannot
    /// be compiled.
    ///
    /// # Safety
    /// As for [`Translations::count_trace_execution`].
    unsafe fn translate_trace<P: CacheableTiming, B: QuickBus>(
        &mut self,
        core: &Core,
        pipe: &P,
        bus: &mut B,
        trace: Trace,
        bias: u64,
    ) -> Option<Translation> {
        let number = self.paths.next_path_number()?;
        // SAFETY: the caller's promise.
        let steps = unsafe { plan_path(pipe, trace) };
        let first = |steps: &[Step]| steps.first().map(|step| step.kind);
        // A store that had consequences has them again, and would leave this path as well.
        let again =
            self.paths.last_mismatching_compiled_path().is_some_and(|missed| first(&missed.steps) == first(&steps));
        let exits = new_exits_of_trace(trace, &steps, bias);
        let records = create_path_exit_records(number, &exits);
        let constants = bus.native_constants();
        let layout = bus.native_ram()?.layout;
        let store = self.paths.native_code_memory();
        if self.entry.is_none() {
            self.entry = host::write_path_entry_function(store, P::FORESIGHT.map(|foresight| (foresight, LOGGING)));
        }
        self.entry?;
        let code = assemble::<P, B>(store, core, (layout, constants), number, (&steps, &records), again)?;
        Some(Translation { code, steps, exits, records })
    }
}

/// Returns `None`: this host has no native code.
#[cfg(not(native_code))]
#[allow(clippy::extra_unused_type_parameters)] // it is called as the real one is
fn assemble<P: CacheableTiming, B: QuickBus>(
    _: &mut host::Store,
    _: &Core,
    _: (RamLayout, Option<host::CachedConstantMemory>),
    _: u32,
    _: (&[Step], &[Record]),
    _: bool,
) -> Option<u64> {
    None
}

/// Returns the exits of a trace: one before each of its steps, and one after the last.
fn new_exits_of_trace(trace: Trace, steps: &[Step], bias: u64) -> Vec<Exit> {
    let places =
        steps.iter().map(|step| (step.ip, step.before)).chain(steps.last().map(|last| (trace.end, last.after)));
    let exit = |(end, log): (*mut Op, TraceTimingLog)| {
        let trace = Trace::new(trace.start, end, TRACE_INSTRUCTIONS, log, EndReason::Complete);
        Exit { trace, key: CachedTransitionKey::new(bias, trace, 0), jumped: false }
    };
    let mut exits: Vec<_> = places.map(exit).collect();
    if let (Some(exit), Some(last)) = (exits.last_mut(), steps.last()) {
        exit.jumped = last.may_jump();
    }
    exits
}
