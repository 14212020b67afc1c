//! What translated code calls.

use super::super::super::log::Log;
use super::super::super::trace::{End, Ended, behind_block, execute_block, go_on};
use super::super::super::{Memorable, QuickBus};
use super::super::Context;
use super::super::plan::Step;

/// Executes one instruction. 0: it went as foreseen; else the trace has ended as the context says.
///
/// # Safety
/// The context is the one that the code was called with; its core, pipeline and bus are as
/// [`exec::run`](crate::v7m::exec::run) wants them, `step` is one of a trace that was executed.
pub(super) unsafe extern "sysv64" fn call_instruction<P: Memorable, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    step: *const Step,
) -> u32 {
    // SAFETY: the caller's promise.
    let (context, step) = unsafe { (&mut *context, &*step) };
    let (core, pipe, bus, ended) = context.parts();
    // SAFETY: as above. It is executed as the last of a trace, so that it comes back behind it.
    let how = unsafe { go_on(core, pipe, bus, step.ip, Log { bits: step.before.bits, left: 1 }) };
    if how.is_full_with(step.after.bits) {
        return 0;
    }
    let (log, end) = how.told();
    let executed = 1 - log.left;
    let log = Log { bits: log.bits, left: step.before.left - executed };
    *ended = if end == End::Complete && executed != 0 && log.left != 0 && !step.is_last {
        let ip = core.ip;
        // SAFETY: as above.
        unsafe { go_on(core, pipe, bus, ip, log) }
    } else {
        Ended::there(log, end)
    };
    1
}

/// The same of an IT block.
///
/// # Safety
/// As for [`call_instruction`].
pub(super) unsafe extern "sysv64" fn call_block<P: Memorable, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    step: *const Step,
) -> u32 {
    // SAFETY: the caller's promise.
    let (context, step) = unsafe { (&mut *context, &*step) };
    let (core, pipe, bus, ended) = context.parts();
    core.ip = step.ip;
    // SAFETY: as above.
    let block = unsafe { execute_block(core, pipe, bus, step.before) };
    // The end of a block may be that of the trace, and is a jump then.
    let foreseen = block.log == step.after && (block.end.is_none() || step.is_last && block.end == Some(End::Complete));
    if foreseen {
        return 0;
    }
    // SAFETY: as above.
    *ended = unsafe { behind_block(core, pipe, bus, &block) };
    1
}

/// A load from where [`QuickBus::quick_load`] gets it: the value, above it its home; all ones if it is not to be had.
///
/// # Safety
/// The context is the one that the code was called with.
pub(super) unsafe extern "sysv64" fn load_elsewhere<P: Memorable, B: QuickBus>(
    context: *mut Context<'_, P, B>,
    address: u32,
    bytes: u32,
) -> u64 {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    context.bus.quick_load(address, bytes).map_or(u64::MAX, |(value, home)| u64::from(value) | (home as u64) << 32)
}
