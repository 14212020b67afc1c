//! The observer: an exact account of every cycle by call path and instruction, the intervals with interrupts held off,
//! and who held and who waited for spinlocks. The machine tells it each [`Step`] and what exceptions do. It tells the
//! machine nothing.

pub mod calls;
pub mod costs;
pub mod functions;
pub mod locks;
pub mod masks;
pub mod paths;
mod report;
mod telling;
pub mod threads;

use rtoslab_cpu::step::Step;

use crate::event::{Event, Kind};
use calls::{Call, CallRecorder};
use costs::{CoreCycleAccount, CycleCause, CyclesByCause, Place};
use functions::Functions;
use locks::{LockEvent, SpinlockEventKind, SpinlockIntervalRecorder};
use masks::Masks;
use paths::Paths;
pub use report::{Account, Arrival, CoreView, ObservationReport, ObservationRequest};
use telling::{
    create_core_trace_event, record_function_entry_or_exit, record_thread_continues, resume_measured_calls_of_context,
    update_measured_function_calls,
};
use threads::{Context, SuspendedThreadSet};

/// The observation of one core: its cycle account, its thread and its handlers.
#[derive(Debug, Clone, Default)]
struct CoreObservation {
    costs: CoreCycleAccount,
    /// Sleep that is accounted for, as [`CoreView::sleep_cycles`] counts it.
    slept: u64,
    stopped: bool,
    priority: i16,
    thread: Option<Context>,
    handlers: Vec<Context>,
    /// The last instruction.
    place: Place,
    /// Instructions completed.
    executed: u64,
    /// Lock waited for, and the handlers and calls in progress there.
    waiting: Option<(u8, usize, usize)>,
}

/// The observer of all cores of a machine.
#[derive(Debug, Clone)]
pub struct Observer {
    wanted: ObservationRequest,
    functions: Functions,
    paths: Paths,
    threads: SuspendedThreadSet,
    cores: Vec<CoreObservation>,
    masks: Masks,
    locks: SpinlockIntervalRecorder,
    /// Accesses to spinlocks in this turn of the run loop.
    accesses: Vec<(LockEvent, Place)>,
    calls: Vec<Call>,
    arrivals: Vec<Arrival>,
    events: Vec<Event>,
}

impl Observer {
    /// Creates an observer that begins now, with the cores as they are. `symbols`: first address and size of each
    /// function.
    pub fn new(
        wanted: ObservationRequest,
        symbols: impl IntoIterator<Item = (u32, u32)>,
        now: u64,
        looks: &[CoreView],
    ) -> Observer {
        let begin = |look: &CoreView| {
            let slept = look.sleep_cycles + look.asleep_since.map_or(0, |since| now.saturating_sub(since));
            CoreObservation {
                costs: CoreCycleAccount::new(now),
                slept,
                stopped: look.stopped,
                priority: 256,
                ..CoreObservation::default()
            }
        };
        let mut observer = Observer {
            functions: Functions::new(symbols),
            paths: Paths::default(),
            threads: SuspendedThreadSet::default(),
            cores: looks.iter().map(begin).collect(),
            masks: Masks::new(wanted.levels.clone(), wanted.kept),
            locks: SpinlockIntervalRecorder::default(),
            accesses: Vec::new(),
            calls: Vec::new(),
            arrivals: Vec::new(),
            events: Vec::new(),
            wanted,
        };
        for (core, look) in looks.iter().enumerate().filter(|(_, look)| !look.stopped) {
            observer.continue_thread_at_position(core, look);
            let node = observer.cores[core].thread.as_ref().map_or(0, |thread| thread.node);
            let watched = &mut observer.cores[core];
            watched.place = Place { node, pc: look.pc };
            // The rest of an instruction in progress, or of reset.
            watched.costs.attribute_cycles_to_cause(watched.place, look.t, CycleCause::Execute);
            observer.note_execution_priority(core, look.t, look.priority);
        }
        observer
    }

    /// Attributes the cycles since a core's last instruction (sleep, exception entry) to their cause, before the core
    /// executes again.
    pub fn attribute_cycles_since_last_instruction(&mut self, core: usize, look: &CoreView) {
        let rest = if self.cores[core].stopped { CycleCause::Stopped } else { CycleCause::Exception };
        self.cores[core].stopped = false;
        self.attribute_cycles_of_ended_sleep(core, look);
        if self.cores[core].thread.is_none() && self.cores[core].handlers.is_empty() {
            self.continue_thread_at_position(core, look);
        }
        let watched = &mut self.cores[core];
        watched.costs.attribute_cycles_to_cause(watched.place, look.t, rest);
        self.note_execution_priority(core, look.t, look.priority);
    }

    /// Attributes cycles that the instruction at `pc` spent outside the executor (the interpreter of instructions).
    pub fn attribute_cycles_to_instruction(&mut self, core: usize, pc: u32, look: &CoreView) {
        let watched = &mut self.cores[core];
        let Some(context) = watched.handlers.last_mut().or(watched.thread.as_mut()) else { return };
        let place = Place { node: context.node, pc };
        let cycles = look.t.saturating_sub(watched.costs.accounted_until_cycle());
        let mut cost = CyclesByCause { executions: 0, ..CyclesByCause::default() };
        cost.cycles[CycleCause::Execute as usize] = cycles;
        watched.costs.attribute_cycles_to_code_location(place, look.t, cost);
        watched.place = place;
        // It returns like any function.
        let step = Step { end: look.t, pc, next: look.pc, sp: look.sp, ..Step::default() };
        let step = Step { process_stack: look.process_stack, priority: watched.priority, ..step };
        self.follow_calls_and_returns(core, &step);
    }

    /// Attributes the cycles of instructions that a core has executed. `locks` has the core's accesses to spinlocks in
    /// this time.
    pub fn attribute_cycles_of_executed_instructions(&mut self, core: usize, steps: &[Step], locks: &[LockEvent]) {
        let mut locks = locks.iter().peekable();
        for step in steps {
            let watched = &self.cores[core];
            let Some(context) = watched.handlers.last().or(watched.thread.as_ref()) else { return };
            let place = Place { node: context.node, pc: step.pc };
            while let Some(&event) = locks.next_if(|event| event.cycle < step.end) {
                self.record_lock_access(core, event, place);
            }
            self.attribute_instruction_cycles(core, step, place);
            self.cores[core].place = place;
            self.record_watched_execution(core, step);
            if step.priority != self.cores[core].priority {
                self.note_execution_priority(core, step.end, step.priority);
            }
            self.follow_calls_and_returns(core, step);
        }
    }

    /// Records the accesses of all cores to spinlocks in the order of time, after all cores have reported what they
    /// executed.
    pub fn record_spinlock_accesses_in_order(&mut self) {
        self.accesses.sort_by_key(|(access, _)| (access.cycle, access.act));
        for (access, place) in self.accesses.drain(..) {
            self.locks.record_lock_access(access, place);
        }
    }

    /// Records the execution of a watched address.
    fn record_watched_execution(&mut self, core: usize, step: &Step) {
        let instructions = self.cores[core].executed;
        self.cores[core].executed += u64::from(step.executions);
        if step.executions > 0 && self.wanted.arrivals.contains(&step.pc) {
            self.arrivals.push(Arrival { until: step.end, instructions, pc: step.pc, core: core as u32 });
        }
    }

    /// Attributes the cycles of an instruction to its place and causes.
    fn attribute_instruction_cycles(&mut self, core: usize, step: &Step, place: Place) {
        let watched = &mut self.cores[core];
        let cycles = step.end - watched.costs.accounted_until_cycle().min(step.end);
        let mut cost = CyclesByCause { executions: u64::from(step.executions), ..CyclesByCause::default() };
        let context = watched.handlers.last_mut().or(watched.thread.as_mut());
        let depth = context.as_ref().map_or(0, |context| context.call_depth());
        if let Some(context) = context.filter(|_| step.executions > 0) {
            cost.entries = u64::from(context.take_entry());
        }
        match watched.waiting {
            Some((_, handlers, calls)) if handlers == watched.handlers.len() && calls > depth => watched.waiting = None,
            _ => {}
        }
        match watched.waiting {
            Some((_, handlers, _)) if handlers == watched.handlers.len() => {
                cost.cycles[CycleCause::Lock as usize] = cycles
            }
            _ => {
                // What a pipeline hides of a wait cost nothing.
                let flash = cycles.min(u64::from(step.flash_wait));
                let bus = (cycles - flash).min(u64::from(step.bus_wait));
                cost.cycles[CycleCause::Flash as usize] = flash;
                cost.cycles[CycleCause::Bus as usize] = bus;
                cost.cycles[CycleCause::Execute as usize] = cycles - flash - bus;
            }
        }
        watched.costs.attribute_cycles_to_code_location(place, step.end, cost);
    }

    /// Follows calls and returns of the running thread or handler.
    fn follow_calls_and_returns(&mut self, core: usize, step: &Step) {
        let Observer { wanted, functions, paths, cores, events, threads, calls, .. } = self;
        let watched = &mut cores[core];
        let measuring = !wanted.measured.is_empty();
        if watched.handlers.is_empty() {
            let here = watched.thread.as_ref().is_some_and(|thread| thread.process_stack == step.process_stack);
            if !here {
                // The other stack pointer was selected: a kernel starts its first thread like that.
                if let Some(mut thread) = watched.thread.take() {
                    thread.activity.add_wait_cycles(step.end);
                    thread.activity.suspend_measured_call_cycles();
                    threads.suspend_thread(thread);
                }
                let goes_on = threads.take_suspended_thread_by_sp(step.sp);
                let mut thread =
                    goes_on.unwrap_or_else(|| threads.begin_thread_observation(step.next, functions, paths));
                thread.process_stack = step.process_stack;
                if measuring {
                    resume_measured_calls_of_context(&mut thread, wanted, paths, calls, core, step.end, step.sp);
                }
                watched.thread = Some(thread);
                record_thread_continues(wanted, events, watched.thread.as_ref(), core, step.end, paths);
            }
        }
        let Some(context) = watched.handlers.last_mut().or(watched.thread.as_mut()) else { return };
        let root = context.root_call_path_node();
        if measuring {
            context.activity.resume_measured_call_cycles(step.start, false);
            context.activity.add_instruction_cycles(step.end, step.sp, step.executions);
        }
        if wanted.calls.is_empty() && !measuring {
            context.update_call_path(step, functions, paths, |_| {});
        } else {
            let mut moves = Vec::new();
            context.update_call_path(step, functions, paths, |call| moves.push(call));
            for call in moves {
                if measuring {
                    update_measured_function_calls(context, call, wanted, paths, calls, core, step);
                }
                record_function_entry_or_exit(wanted, events, paths, core, call, context);
            }
        }
        if context.root_call_path_node() != root {
            // A tail call from a thread's first function: that is where the thread begins.
            record_thread_continues(wanted, events, watched.thread.as_ref(), core, step.end, paths);
        }
    }

    /// Records an access to a spinlock, in the statistics and as an event.
    fn record_lock_access(&mut self, core: usize, access: LockEvent, place: Place) {
        let watched = &mut self.cores[core];
        let kind = match access.act {
            SpinlockEventKind::Busy if watched.waiting.is_some_and(|waiting| waiting.0 == access.lock) => None,
            SpinlockEventKind::Busy => {
                let depth = watched.handlers.last().or(watched.thread.as_ref()).map_or(0, Context::call_depth);
                watched.waiting = Some((access.lock, watched.handlers.len(), depth));
                Some(Kind::LockBusy)
            }
            SpinlockEventKind::Taken => {
                watched.waiting = watched.waiting.filter(|waiting| waiting.0 != access.lock);
                Some(Kind::LockTaken)
            }
            SpinlockEventKind::Free => Some(Kind::LockFree),
        };
        self.accesses.push((access, place));
        if let Some(kind) = kind.filter(|_| self.wanted.events) {
            self.events.push(create_core_trace_event(kind, core, access.cycle, u16::from(access.lock), 0, place.pc));
        }
    }

    /// Notes that a core enters a handler, whose first instruction is next.
    pub fn note_handler_entry(&mut self, core: usize, exception: u32, look: &CoreView) {
        self.attribute_cycles_of_ended_sleep(core, look);
        let node = self.paths.call_path_node_of_handler(exception, self.functions.function_start_of(look.pc));
        let watched = &mut self.cores[core];
        watched.place = Place { node, pc: look.pc };
        watched.costs.attribute_cycles_to_cause(watched.place, look.t, CycleCause::Exception);
        if let Some(before) = watched.handlers.last_mut().or(watched.thread.as_mut()) {
            before.activity.suspend_measured_call_cycles();
        }
        let mut context = Context::new(0, node, look.pc, &self.functions);
        context.sp = look.sp;
        if !self.wanted.measured.is_empty() {
            resume_measured_calls_of_context(
                &mut context,
                &self.wanted,
                &self.paths,
                &mut self.calls,
                core,
                look.t,
                look.sp,
            );
        }
        watched.handlers.push(context);
        self.note_execution_priority(core, look.t, look.priority);
    }

    /// Notes that a handler returned straight into another one (tail-chaining).
    pub fn note_tail_chained_handler(&mut self, core: usize, exception: u32, look: &CoreView) {
        self.end_innermost_handler(core);
        self.note_handler_entry(core, exception, look);
    }

    /// Notes that a handler returned to the code that `look` shows.
    pub fn note_handler_return(&mut self, core: usize, look: &CoreView) {
        let watched = &mut self.cores[core];
        watched.costs.attribute_cycles_to_cause(watched.place, look.t, CycleCause::Exception);
        self.end_innermost_handler(core);
        self.note_execution_priority(core, look.t, look.priority);
        match self.cores[core].handlers.last_mut() {
            Some(handler) => handler.activity.resume_measured_call_cycles(look.t, false),
            None => self.continue_thread_at_position(core, look),
        }
    }

    /// Attributes the cycles of sleep into which a handler returned (sleep-on-exit).
    pub fn attribute_sleep_on_exit(&mut self, core: usize, look: &CoreView) {
        self.end_innermost_handler(core);
        self.note_execution_priority(core, look.t, look.priority);
    }

    /// Ends the innermost handler and its calls.
    fn end_innermost_handler(&mut self, core: usize) {
        if let Some(mut handler) = self.cores[core].handlers.pop() {
            let measured = &self.wanted.measured;
            handler.activity.end_measured_calls_at_return(&mut CallRecorder {
                wanted: measured,
                calls: &mut self.calls,
                thread: 0,
            });
            let mut moves = Vec::new();
            if !self.wanted.calls.is_empty() {
                handler.unwind_whole_call_path(&mut |call| moves.push(call));
            }
            for call in moves {
                record_function_entry_or_exit(&self.wanted, &mut self.events, &self.paths, core, call, &handler);
            }
        }
    }

    /// Notes that a core was reset, which ends all that it did.
    pub fn note_core_reset(&mut self, core: usize) {
        let watched = &mut self.cores[core];
        self.threads.end_thread_observation(watched.thread.take());
        watched.handlers.drain(..).for_each(|handler| self.threads.end_thread_observation(Some(handler)));
        watched.waiting = None;
        watched.stopped = true;
    }

    /// Returns all observations of the cores up to cycle `now`. The next observations begin there.
    pub fn take_observations(&mut self, now: u64, looks: &[CoreView]) -> ObservationReport {
        let mut accounts = Vec::new();
        for (core, look) in looks.iter().enumerate() {
            self.attribute_cycles_of_ended_sleep(core, look);
            let watched = &mut self.cores[core];
            watched.stopped |= look.stopped;
            if let Some(since) = look.asleep_since {
                let sum = look.sleep_cycles + now.saturating_sub(since);
                watched.costs.attribute_cycles_to_cause(
                    watched.place,
                    watched.costs.accounted_until_cycle() + sum.saturating_sub(watched.slept),
                    CycleCause::Sleep,
                );
                watched.slept = watched.slept.max(sum);
            }
            let rest = if watched.stopped { CycleCause::Stopped } else { CycleCause::Exception };
            let until = if watched.stopped { now } else { now.min(look.t) };
            watched.costs.attribute_cycles_to_cause(watched.place, until, rest);
            let (from, until, rows) = watched.costs.complete_and_take_cycle_account(now);
            accounts.push(Account { from, until, rows });
        }
        let (masked, intervals) = self.masks.take_interrupt_mask_intervals();
        let open_intervals = self.masks.intervals_in_progress(now);
        let (nodes, locks) =
            (self.paths.all_call_path_nodes().to_vec(), self.locks.take_spinlock_interval_statistics());
        let (calls, open_calls) = self.take_measured_function_calls();
        let arrivals = std::mem::take(&mut self.arrivals);
        ObservationReport { accounts, nodes, masked, intervals, open_intervals, locks, calls, open_calls, arrivals }
    }

    /// Returns the measured calls that have ended, and those in progress.
    fn take_measured_function_calls(&mut self) -> (Vec<Call>, Vec<Call>) {
        let measured = &self.wanted.measured;
        for mut context in self.threads.take_ended_threads() {
            context.activity.abandon_all_measured_calls(&mut CallRecorder {
                wanted: measured,
                calls: &mut self.calls,
                thread: context.number,
            });
        }
        let mut open = Vec::new();
        let running = self.cores.iter().flat_map(|watched| watched.thread.iter().chain(&watched.handlers));
        for context in running.chain(self.threads.contexts_of_waiting_threads()) {
            context.activity.append_calls_in_progress(&mut CallRecorder {
                wanted: measured,
                calls: &mut open,
                thread: context.number,
            });
        }
        open.sort_unstable_by_key(|call| (call.start, call.thread, call.id));
        (std::mem::take(&mut self.calls), open)
    }

    /// Removes the recorded events and returns them.
    pub fn take_recorded_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Attributes the cycles of a core's sleep that has ended.
    fn attribute_cycles_of_ended_sleep(&mut self, core: usize, look: &CoreView) {
        let watched = &mut self.cores[core];
        let cycles = look.sleep_cycles.saturating_sub(watched.slept);
        watched.costs.attribute_cycles_to_cause(
            watched.place,
            watched.costs.accounted_until_cycle() + cycles,
            CycleCause::Sleep,
        );
        watched.slept = watched.slept.max(look.sleep_cycles);
        if let Some(context) = watched.handlers.last_mut().or(watched.thread.as_mut()).filter(|_| cycles > 0) {
            context.activity.add_wait_cycles(watched.costs.accounted_until_cycle());
        }
    }

    /// Notes the execution priority of a core from cycle `at` on, for masked intervals.
    fn note_execution_priority(&mut self, core: usize, at: u64, priority: i16) {
        let watched = &mut self.cores[core];
        watched.priority = priority;
        self.masks.record_execution_priority(core, at, priority, watched.place);
    }

    /// Finds the thread that continues at the core's position in `look`: the one that was interrupted, another one, or
    /// a new one.
    fn continue_thread_at_position(&mut self, core: usize, look: &CoreView) {
        let is_there_now = |thread: &Context| thread.pc == look.pc && thread.sp == look.sp;
        if let Some(thread) = self.cores[core].thread.as_mut().filter(|thread| is_there_now(thread)) {
            thread.activity.resume_measured_call_cycles(look.t, false);
            return;
        }
        if let Some(mut thread) = self.cores[core].thread.take() {
            thread.activity.suspend_measured_call_cycles();
            self.threads.suspend_thread(thread);
        }
        // One that another core's handler has not put aside yet may continue here already.
        let elsewhere = self.cores.iter_mut().filter(|watched| !watched.handlers.is_empty());
        let context = self.threads.resume_suspended_thread(look.pc, look.sp).or_else(|| {
            let mut slots = elsewhere.map(|watched| &mut watched.thread);
            slots.find(|slot| slot.as_ref().is_some_and(is_there_now)).and_then(Option::take)
        });
        let mut thread =
            context.unwrap_or_else(|| self.threads.begin_thread_observation(look.pc, &self.functions, &mut self.paths));
        (thread.pc, thread.sp, thread.process_stack) = (look.pc, look.sp, look.process_stack);
        if !self.wanted.measured.is_empty() {
            resume_measured_calls_of_context(
                &mut thread,
                &self.wanted,
                &self.paths,
                &mut self.calls,
                core,
                look.t,
                look.sp,
            );
        }
        self.cores[core].thread = Some(thread);
        record_thread_continues(
            &self.wanted,
            &mut self.events,
            self.cores[core].thread.as_ref(),
            core,
            look.t,
            &self.paths,
        );
    }
}
