//! Events and measured calls of a context: a thread, or a handler.

use rtoslab_cpu::step::Step;

use super::calls::{Call, CallRecorder, Entry, MeasuredCallEndReason};
use super::paths::Paths;
use super::report::ObservationRequest;
use super::threads::{Context, Move};
use crate::event::{Event, Kind};

/// Continues the measured calls of a thread or handler after others have executed, or begins its first function.
pub(super) fn resume_measured_calls_of_context(
    context: &mut Context,
    wanted: &ObservationRequest,
    paths: &Paths,
    calls: &mut Vec<Call>,
    core: usize,
    at: u64,
    sp: u32,
) {
    context.activity.resume_measured_call_cycles(at, true);
    if context.activity.has_no_measured_call_in_progress() {
        let to = Entry { node: context.node, entry: paths.node_with_number(context.node).entry, depth: 0, core, sp };
        context.activity.enter_call(
            at,
            to,
            &mut CallRecorder { wanted: &wanted.measured, calls, thread: context.number },
        );
    }
}

/// Updates the measured calls of a thread or handler that enters or leaves a function.
pub(super) fn update_measured_function_calls(
    context: &mut Context,
    change: Move,
    wanted: &ObservationRequest,
    paths: &Paths,
    calls: &mut Vec<Call>,
    core: usize,
    step: &Step,
) {
    let depth = context.call_depth();
    let book = &mut CallRecorder { wanted: &wanted.measured, calls, thread: context.number };
    match change {
        Move::Into(node) => {
            let to = Entry { node, entry: paths.node_with_number(node).entry, depth, core, sp: step.sp };
            context.activity.enter_call(step.end, to, book);
        }
        Move::Out(_) => context.activity.end_innermost_call(step.end, MeasuredCallEndReason::Returned, book),
        Move::Left(_) => context.activity.end_innermost_call(step.end, MeasuredCallEndReason::Left, book),
        Move::Onward(_) => {}
    }
}

/// Records the event that a thread or handler entered or left a watched function. `context` is its call path
/// afterwards.
pub(super) fn record_function_entry_or_exit(
    wanted: &ObservationRequest,
    events: &mut Vec<Event>,
    paths: &Paths,
    core: usize,
    change: Move,
    context: &Context,
) {
    let (kind, node) = match change {
        Move::Into(node) => (Kind::Call, node),
        Move::Out(node) | Move::Left(node) | Move::Onward(node) => (Kind::Return, node),
    };
    let entry = paths.node_with_number(node).entry;
    if let Some(&id) = wanted.calls.get(&entry) {
        let ((r0, end), pc) = (context.last, if kind == Kind::Call { entry } else { context.pc });
        events.push(create_core_trace_event(kind, core, end, id, r0, pc));
    }
}

/// Records the event that a thread continues.
pub(super) fn record_thread_continues(
    wanted: &ObservationRequest,
    events: &mut Vec<Event>,
    thread: Option<&Context>,
    core: usize,
    at: u64,
    paths: &Paths,
) {
    if let Some(thread) = thread.filter(|_| wanted.events) {
        let first = paths.node_with_number(thread.root_call_path_node()).entry;
        events.push(create_core_trace_event(Kind::Thread, core, at, 0, thread.number, first));
    }
}

/// Creates an event of a core.
pub(super) fn create_core_trace_event(kind: Kind, core: usize, cycle: u64, id: u16, value: u32, pc: u32) -> Event {
    Event { cycle, value, pc, id, kind: kind as u8, core: core as u8, more: 0 }
}
