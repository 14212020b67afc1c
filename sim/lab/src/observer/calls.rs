//! Calls of chosen functions: when each began and ended, what it took itself, what was taken from it meanwhile, and how
//! far down the stack it reached.
//!
//! A call's time is its context's. The time between the last instruction before an exception and the next one of the
//! same context belongs to interrupts if the context continued at once, and to other tasks if another thread ran in
//! between.

use std::collections::HashMap;

/// How the call of a measured function ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum MeasuredCallEndReason {
    /// It returned to its caller. A handler's to what it interrupted.
    #[default]
    Returned,
    /// It ended by a jump that left other calls with it, or because calls were too deep to be followed.
    Left,
    /// It ended with its thread: another one is on that stack, or the core was reset.
    Lost,
    /// Not yet.
    Open,
}

/// It was entered by a tail call.
pub const ENTERED_BY_JUMP: u8 = 1;
/// It continued as another function by a tail call, whose time is in it.
pub const WENT_ON: u8 = 2;
/// It is inside another call of the same function.
pub const INSIDE_ITSELF: u8 = 4;

/// The measurement of one call of a watched function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Call {
    /// The identifier given.
    pub id: u16,
    /// Core on which it began.
    pub core: u8,
    /// How it ended.
    pub end: MeasuredCallEndReason,
    /// [`ENTERED_BY_JUMP`], [`WENT_ON`], [`INSIDE_ITSELF`].
    pub flags: u8,
    /// Its call path.
    pub node: u32,
    /// Number of its thread. A handler's 0.
    pub thread: u32,
    /// Cycle of its first instruction.
    pub start: u64,
    /// Cycle after its last. The last cycle. For an open one it is the latest so far.
    pub until: u64,
    /// The part taken by exceptions after which it continued at once.
    pub interrupt_cycles: u64,
    /// The part in which other threads ran, including switches to and from them.
    pub away_cycles: u64,
    /// The cycles of the rest that it spent itself, not in functions that it called.
    pub own_cycles: u64,
    /// Instructions that its context completed in it.
    pub instructions: u64,
    /// Its own instructions, without those of functions that it called.
    pub own_instructions: u64,
    /// Bytes below its first stack pointer that it and what it called reached.
    pub stack_bytes: u32,
    /// How often it was interrupted, as `interrupt_cycles` counts it.
    pub interruptions: u32,
}

/// The cycles that interrupts and other threads have taken so far from a thread or handler.
#[derive(Debug, Clone, Copy, Default)]
struct PreemptionCycleCount {
    interrupt_cycles: u64,
    away_cycles: u64,
    interruptions: u32,
}

/// A measured call in progress.
#[derive(Debug, Clone, Copy)]
struct Open {
    node: u32,
    entry: u32,
    /// Calls in progress in it. Functions that a tail call joined share one.
    depth: usize,
    core: u8,
    start: u64,
    before: PreemptionCycleCount,
    /// Cycles of functions it called.
    inside: u64,
    /// Instructions of its context before it.
    executed_before: u64,
    /// Instructions of functions it called.
    executed_inside: u64,
    sp: u32,
    low: u32,
    flags: u8,
}

/// The measured calls in progress of one thread or handler, outermost first, and the cycles that others took from it.
#[derive(Debug, Clone, Default)]
pub struct ThreadCallMeasurementState {
    open: Vec<Open>,
    taken: PreemptionCycleCount,
    /// Instructions that it completed.
    executed: u64,
    /// Cycle after its last instruction.
    at: u64,
    left: Option<u64>,
}

/// The begin of a call: where, and how it was reached.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its call path.
    pub node: u32,
    /// Its function.
    pub entry: u32,
    /// Calls in progress.
    pub depth: usize,
    /// The core.
    pub core: usize,
    /// The stack pointer.
    pub sp: u32,
}

/// The functions to measure, with their identifiers, and the list to which their calls are appended.
pub struct CallRecorder<'a> {
    /// Functions by first address.
    pub wanted: &'a HashMap<u32, u16>,
    /// Calls that have ended.
    pub calls: &'a mut Vec<Call>,
    /// Number of the thread whose calls these are.
    pub thread: u32,
}

impl ThreadCallMeasurementState {
    /// Returns whether no measured call is in progress yet.
    pub fn has_no_measured_call_in_progress(&self) -> bool {
        self.open.is_empty()
    }

    /// Adds the cycles up to `at` to the measured calls in progress: of an instruction that ended, or of a part of one
    /// (`executions` is 0).
    pub fn add_instruction_cycles(&mut self, at: u64, sp: u32, executions: u8) {
        self.at = at;
        self.executed += u64::from(executions);
        if let Some(open) = self.open.last_mut() {
            open.low = open.low.min(sp);
        }
    }

    /// Adds cycles of sleep or waiting, up to a cycle, to the measured calls in progress.
    pub fn add_wait_cycles(&mut self, until: u64) {
        self.at = self.at.max(until);
    }

    /// Notes that another thread or handler executes from now on, so that its cycles are not the measured calls' own.
    pub fn suspend_measured_call_cycles(&mut self) {
        self.left.get_or_insert(self.at);
    }

    /// Continues the measured calls in cycle `at`, after other threads or handlers have executed. `switched`: one of
    /// them was another thread.
    pub fn resume_measured_call_cycles(&mut self, at: u64, switched: bool) {
        let Some(left) = self.left.take() else { return };
        let cycles = at.saturating_sub(left);
        if switched {
            self.taken.away_cycles += cycles;
        } else {
            self.taken.interrupt_cycles += cycles;
            self.taken.interruptions += 1;
        }
        self.at = at;
    }

    /// Begins the measurement of a call, or of the first function of a thread.
    pub fn enter_call(&mut self, at: u64, to: Entry, book: &mut CallRecorder) {
        let mut flags = 0;
        if let Some(before) = self.open.last_mut().filter(|open| open.depth == to.depth) {
            before.flags |= WENT_ON;
            flags = ENTERED_BY_JUMP;
            // Functions that take turns like that would never return.
            if let Some(again) = self.open.iter().position(|open| open.depth == to.depth && open.node == to.node) {
                while self.open.len() > again {
                    self.end_innermost_call(at, MeasuredCallEndReason::Returned, book);
                }
            }
        }
        let Entry { node, entry, depth, core, sp } = to;
        self.at = at;
        self.open.push(Open {
            node,
            entry,
            depth,
            core: core as u8,
            start: at,
            before: self.taken,
            inside: 0,
            executed_before: self.executed,
            executed_inside: 0,
            sp,
            low: sp,
            flags,
        });
    }

    /// Ends the innermost measured call.
    pub fn end_innermost_call(&mut self, at: u64, end: MeasuredCallEndReason, book: &mut CallRecorder) {
        let Some(open) = self.open.pop() else { return };
        let call = self.record_of_measured_call(&open, at, end, book.thread);
        if let Some(outer) = self.open.last_mut() {
            outer.inside += call.own_cycles + open.inside;
            outer.executed_inside += call.instructions;
            outer.low = outer.low.min(open.low);
        }
        self.append_call(&open, call, book);
    }

    /// Ends all measured calls, because the handler returns. Calls that have not returned themselves count as left.
    pub fn end_measured_calls_at_return(&mut self, book: &mut CallRecorder) {
        while let Some(open) = self.open.last() {
            let end = if open.depth == 0 { MeasuredCallEndReason::Returned } else { MeasuredCallEndReason::Left };
            self.end_innermost_call(self.at, end, book);
        }
    }

    /// Ends the measurement of all calls, whose returns cannot be observed any more.
    pub fn abandon_all_measured_calls(&mut self, book: &mut CallRecorder) {
        while !self.open.is_empty() {
            self.end_innermost_call(self.at, MeasuredCallEndReason::Lost, book);
        }
    }

    /// Appends the records of the calls in progress, as if they ended now.
    pub fn append_calls_in_progress(&self, book: &mut CallRecorder) {
        let mut so_far = self.clone();
        while !so_far.open.is_empty() {
            so_far.end_innermost_call(self.at, MeasuredCallEndReason::Open, book);
        }
    }

    /// Returns the record of a measured call that ends in cycle `at`.
    fn record_of_measured_call(&self, open: &Open, at: u64, end: MeasuredCallEndReason, thread: u32) -> Call {
        let until = at.max(open.start);
        let interrupt_cycles = self.taken.interrupt_cycles - open.before.interrupt_cycles;
        let away_cycles = self.taken.away_cycles - open.before.away_cycles;
        let spent = (until - open.start).saturating_sub(interrupt_cycles + away_cycles);
        let instructions = self.executed - open.executed_before;
        let Open { node, core, start, flags, .. } = *open;
        Call {
            id: 0,
            core,
            end,
            flags,
            node,
            thread,
            start,
            until,
            interrupt_cycles,
            away_cycles,
            own_cycles: spent.saturating_sub(open.inside),
            instructions,
            own_instructions: instructions.saturating_sub(open.executed_inside),
            stack_bytes: open.sp.saturating_sub(open.low),
            interruptions: self.taken.interruptions - open.before.interruptions,
        }
    }

    /// Appends the record of a call, if its function is measured.
    fn append_call(&self, open: &Open, call: Call, book: &mut CallRecorder) {
        if let Some(&id) = book.wanted.get(&open.entry) {
            let inside = self.open.iter().any(|outer| outer.entry == open.entry);
            let flags = call.flags | if inside { INSIDE_ITSELF } else { 0 };
            book.calls.push(Call { id, flags, ..call });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTER: u32 = 0x100;
    const INNER: u32 = 0x200;

    struct Bench {
        wanted: HashMap<u32, u16>,
        calls: Vec<Call>,
        activity: ThreadCallMeasurementState,
    }

    impl Bench {
        fn new() -> Bench {
            let functions = HashMap::from([(OUTER, 1), (INNER, 2)]);
            Bench { wanted: functions, calls: Vec::new(), activity: ThreadCallMeasurementState::default() }
        }

        fn enter(&mut self, at: u64, entry: u32, depth: usize, sp: u32) {
            let mut book = CallRecorder { wanted: &self.wanted, calls: &mut self.calls, thread: 7 };
            self.activity.enter_call(at, Entry { node: entry, entry, depth, core: 0, sp }, &mut book);
        }

        fn exit(&mut self, at: u64) {
            let mut book = CallRecorder { wanted: &self.wanted, calls: &mut self.calls, thread: 7 };
            self.activity.end_innermost_call(at, MeasuredCallEndReason::Returned, &mut book);
        }
    }

    #[test]
    fn call_splits_into_own_called_and_interrupted_cycles() {
        let mut bench = Bench::new();
        bench.enter(100, OUTER, 0, 0x1000);
        bench.activity.add_instruction_cycles(110, 0x0ff0, 3);
        bench.enter(110, INNER, 1, 0x0ff0);
        bench.activity.add_instruction_cycles(115, 0x0fe0, 3);
        bench.activity.suspend_measured_call_cycles();
        bench.activity.resume_measured_call_cycles(135, false);
        bench.activity.add_instruction_cycles(140, 0x0ff0, 3);
        bench.exit(140);
        bench.activity.suspend_measured_call_cycles();
        bench.activity.resume_measured_call_cycles(1140, true);
        bench.activity.add_instruction_cycles(1150, 0x1000, 3);
        bench.exit(1150);
        let [inner, outer] = bench.calls[..] else { panic!("two calls") };
        assert_eq!((inner.until - inner.start, inner.interrupt_cycles, inner.own_cycles), (30, 20, 10));
        assert_eq!((inner.instructions, inner.own_instructions), (6, 6));
        assert_eq!((outer.instructions, outer.own_instructions), (12, 6));
        assert_eq!((inner.stack_bytes, outer.stack_bytes), (0x10, 0x20));
        assert_eq!((outer.interrupt_cycles, outer.away_cycles, outer.own_cycles), (20, 1000, 20));
        assert_eq!((outer.until - outer.start, outer.interruptions, outer.thread), (1050, 1, 7));
    }

    #[test]
    fn tail_calls_and_recursion_are_reported() {
        let mut bench = Bench::new();
        bench.enter(0, OUTER, 0, 0x1000);
        bench.enter(10, INNER, 1, 0x1000);
        bench.enter(20, OUTER, 1, 0x1000);
        bench.enter(30, INNER, 2, 0x1000);
        for at in [40, 50, 50] {
            bench.exit(at);
        }
        let reports: Vec<_> = bench.calls.iter().map(|call| (call.id, call.flags, call.own_cycles)).collect();
        assert_eq!(reports, [(2, INSIDE_ITSELF, 10), (1, ENTERED_BY_JUMP | INSIDE_ITSELF, 20), (2, WENT_ON, 10)]);
    }

    #[test]
    fn alternating_functions_do_not_grow_the_stack() {
        let mut bench = Bench::new();
        for turn in 0..100 {
            bench.enter(turn * 20, OUTER, 0, 0x1000);
            bench.enter(turn * 20 + 10, INNER, 0, 0x1000);
        }
        assert!(bench.activity.open.len() < 3);
        assert!(bench.calls.len() > 190);
    }
}
