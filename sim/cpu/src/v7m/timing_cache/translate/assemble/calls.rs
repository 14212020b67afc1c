//! The functions that native code calls.

use super::super::super::log::{CYCLES_BITS, TraceTimingLog};
use super::super::super::trace::{EndReason, TraceEndRecord, continue_trace_at, execute_block};
use super::super::super::{CacheableTiming, Home, QuickBus, TRACE_INSTRUCTIONS};
use super::super::Context;
use super::super::plan::Step;

/// Returns the log before a step of the path.
fn timing_log_before_path_instruction<P: CacheableTiming, B: QuickBus>(
    context: &Context<'_, P, B>,
    step: &Step,
) -> TraceTimingLog {
    match P::FORESIGHT {
        Some(_) => TraceTimingLog { bits: context.log, ..step.before },
        None => step.before,
    }
}

/// Executes one instruction for native code. Returns 0 if it went as recorded. Otherwise the trace has ended as the
/// context says.
///
/// # Safety
/// The context is the one that the code was called with. Its core, pipeline and bus are as
/// [`exec::run_until_limit`](crate::v7m::exec::run_until_limit) wants them, `step` is one of a trace that was executed.
pub(super) unsafe extern "sysv64" fn call_instruction<P: CacheableTiming, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    step: *const Step,
) -> u32 {
    // SAFETY: the caller's promise.
    let (context, step) = unsafe { (&mut *context, &*step) };
    let before = timing_log_before_path_instruction(context, step);
    // It could log more than has room with those after it.
    if P::FORESIGHT.is_some() && !before.has_room(CYCLES_BITS) {
        context.core.ip = step.ip;
        context.ended = TraceEndRecord::new_trace_end_record(before, EndReason::Complete);
        return 1;
    }
    let (core, pipe, bus) = context.core_pipeline_and_bus();
    // SAFETY: as above. It is executed as the last of a trace, so that it comes back after it.
    let how = unsafe { continue_trace_at(core, pipe, bus, step.ip, TraceTimingLog { left: 1, ..before }) };
    if P::FORESIGHT.is_none() && how.is_full_length_trace_with_log(step.after.bits) {
        return 0;
    }
    let (log, end) = how.trace_log_and_end_reason();
    if P::FORESIGHT.is_some()
        && log.left == 0
        && end == EndReason::Complete
        && step.does_recorded_path_continue_at(core.ip)
    {
        context.log = log.bits;
        return 0;
    }
    let executed = 1 - log.left;
    context.ended =
        TraceEndRecord::new_trace_end_record(TraceTimingLog { bits: log.bits, left: step.before.left - executed }, end);
    1
}

/// Executes one IT block for native code. Returns 0 if it went as recorded. Otherwise the trace has ended as the
/// context says.
///
/// # Safety
/// As for [`call_instruction`].
pub(super) unsafe extern "sysv64" fn call_block<P: CacheableTiming, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    step: *const Step,
) -> u32 {
    // SAFETY: the caller's promise.
    let (context, step) = unsafe { (&mut *context, &*step) };
    let before = timing_log_before_path_instruction(context, step);
    let (core, pipe, bus) = context.core_pipeline_and_bus();
    core.ip = step.ip;
    // SAFETY: as above.
    let block = unsafe { execute_block(core, pipe, bus, before) };
    // The end of a block may be that of the trace, and is a jump then.
    let ended = block.end.is_none() || step.is_last && block.end == Some(EndReason::Complete);
    let foreseen = match P::FORESIGHT {
        Some(_) => block.log.left == step.after.left && step.does_recorded_path_continue_at(core.ip),
        None => block.log == step.after,
    };
    if ended && foreseen {
        context.log = block.log.bits;
        return 0;
    }
    context.ended = TraceEndRecord::new_trace_end_record(block.log, block.end.unwrap_or(EndReason::Complete));
    1
}

/// Loads by [`QuickBus::quick_load`] for native code: the value, with its home above it, or all ones if it cannot be
/// loaded.
///
/// # Safety
/// The context is the one that the code was called with.
pub(super) unsafe extern "sysv64" fn load_elsewhere<P: CacheableTiming, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    address: u32,
    bytes: u32,
) -> u64 {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    let Some((value, home)) = context.bus.quick_load(address, bytes) else { return u64::MAX };
    if P::FORESIGHT.is_some() {
        // Of main RAM the code does not ask.
        let mut log = TraceTimingLog { bits: context.log, ..TraceTimingLog::new(TRACE_INSTRUCTIONS) };
        if home != Home::Cached || !context.pipe.predict_load(&mut log, home, address) {
            return u64::MAX;
        }
        context.log = log.bits;
    }
    u64::from(value) | (home as u64) << 32
}

/// Updates the branch predictor for native code ([`Logging::judge`]). Returns 1 if it was right, else 0.
///
/// # Safety
/// The context is the one that the code was called with.
pub(super) unsafe extern "sysv64" fn judge<P: CacheableTiming, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    from: u32,
    target: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    let mut log = TraceTimingLog::new(TRACE_INSTRUCTIONS);
    let target = (target & 1 == 0).then_some(target);
    context.pipe.predict_branch(context.core, &mut log, from, target);
    (log.bits & 1) as u32
}
