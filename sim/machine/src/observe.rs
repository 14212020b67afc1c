//! The observation of cores, the same for all machines: a machine brings its cores, and hands over what they do.

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::step::{Step, watch};
use rtoslab_cpu::{v6m, v7m};
use rtoslab_lab::observer::locks::LockEvent;
pub use rtoslab_lab::observer::{Account, Arrival, ObservationReport, ObservationRequest};
use rtoslab_lab::{CoreView, Kind, Observer, Probes};

use crate::image::Symbol;

/// Cycles after which the executors hand over their steps at the latest, so that these stay in the host's caches.
pub const TURN_CYCLES: u64 = 20_000;

/// SCR.SLEEPDEEP.
pub const SLEEPDEEP: u32 = 1 << 2;
/// The request.
pub const DEEP_SLEEP: &str = "SCR.SLEEPDEEP: deep sleep is like sleep, and all clocks continue";

/// A core that an observer can look at.
pub(crate) trait ObservableCore {
    /// Returns what an observer sees of the core, between instructions.
    fn view_for_observer(&self) -> CoreView;

    /// Returns whether the core executes, and neither sleeps nor is inside an exception's entry.
    fn is_running(&self) -> bool;

    /// Returns the steps that its executor has logged.
    fn steps_in_log(&mut self) -> &mut Vec<Step>;
}

macro_rules! observed_core {
    ($version:ident) => {
        impl ObservableCore for $version::core::Core {
            /// Returns what an observer sees of the core, between instructions.
            fn view_for_observer(&self) -> CoreView {
                use $version::core::Phase;
                CoreView {
                    t: self.t,
                    sleep_cycles: self.sleep_cycles,
                    asleep_since: self.is_asleep().then_some(self.slept_at),
                    stopped: matches!(self.phase, Phase::Reset | Phase::Lockup),
                    pc: if self.ip.is_null() { 0 } else { self.next_instruction_address() },
                    sp: self.r[13],
                    process_stack: self.sp_is_psp,
                    priority: self.execution_priority() as i16,
                }
            }

            /// Returns whether the core executes, and neither sleeps nor is inside an exception's entry.
            fn is_running(&self) -> bool {
                self.phase == $version::core::Phase::Run
            }

            /// Returns the steps that its executor has logged.
            fn steps_in_log(&mut self) -> &mut Vec<Step> {
                &mut self.steps
            }
        }
    };
}

observed_core!(v6m);
observed_core!(v7m);

/// The parts of a machine that its observer needs: cores, observer and the executors' mode.
pub(crate) struct ObservedParts<'a, C> {
    pub cores: &'a mut [C],
    pub observer: &'a mut Option<Box<Observer>>,
    /// The mode of the executors.
    pub watch: &'a mut u8,
}

/// A machine whose cores can be observed.
pub(crate) trait CycleObservableMachine {
    /// The type of the machine's cores.
    type Core: ObservableCore;

    /// Returns the machine's cores, its observer, and the mode of the executors (the interpreters of instructions).
    fn observed_parts(&mut self) -> ObservedParts<'_, Self::Core>;

    /// Returns the symbols of the machine's image, and the current cycle.
    fn observed_image(&self) -> (&[Symbol], u64);

    /// Switches the log of spinlock accesses, which the observer reads, on or off.
    fn set_lock_logging(&mut self, _on: bool) {}

    /// Starts the observation, or ends it.
    fn start_or_end_cycle_observation(&mut self, request: Option<ObservationRequest>) {
        let looks = observer_views_of_cores(self.observed_parts().cores);
        let (symbols, now) = self.observed_image();
        let functions = symbols.iter().filter(|symbol| !symbol.label).map(|symbol| (symbol.address, symbol.bytes));
        let observer = request.map(|request| Box::new(Observer::new(request, functions, now, &looks)));
        self.set_lock_logging(observer.is_some());
        let parts = self.observed_parts();
        (*parts.observer, *parts.watch) = (observer, watch::NOTHING);
        self.enable_step_logging_for_observer();
    }

    /// Makes the executors log steps while an observer reads them.
    fn enable_step_logging_for_observer(&mut self) {
        let ObservedParts { observer, watch, .. } = self.observed_parts();
        if observer.is_some() {
            *watch = watch::STEPS;
        }
    }

    /// Ends the observation, because time went back: the account would not add up.
    fn abandon_cycle_observation(&mut self) {
        if self.observed_parts().observer.is_some() {
            self.start_or_end_cycle_observation(None);
        }
    }

    /// Returns the observations since the last call. `None` while nothing observes.
    fn take_new_core_observations(&mut self) -> Option<ObservationReport> {
        let (_, now) = self.observed_image();
        let ObservedParts { cores, observer, .. } = self.observed_parts();
        Some(observer.as_mut()?.take_observations(now, &observer_views_of_cores(cores)))
    }

    /// Attributes the time of the executing cores, up to the cycles in which they continue.
    fn attribute_cycles_to_executing_cores(&mut self) {
        let ObservedParts { cores, observer: Some(observer), .. } = self.observed_parts() else { return };
        for (index, core) in cores.iter().enumerate().filter(|(_, core)| core.is_running()) {
            observer.attribute_cycles_since_last_instruction(index, &core.view_for_observer());
        }
    }

    /// Gives the observer the instructions that a core executed in its turn, and its accesses to spinlocks.
    fn pass_instructions_to_observer(&mut self, index: usize, locks: &[LockEvent]) {
        let ObservedParts { cores, observer, .. } = self.observed_parts();
        let steps = cores[index].steps_in_log();
        if let Some(observer) = observer {
            observer.attribute_cycles_of_executed_instructions(index, steps, locks);
        }
        steps.clear();
    }

    /// Reports the outcome of a core's exception step to the observer.
    fn report_exception_outcome_to_observer(&mut self, index: usize, outcome: ExceptionStepResult) {
        let ObservedParts { cores, observer: Some(observer), .. } = self.observed_parts() else { return };
        let look = cores[index].view_for_observer();
        match outcome {
            ExceptionStepResult::Entered(number) => observer.note_handler_entry(index, number, &look),
            ExceptionStepResult::Chained(_, to) => observer.note_tail_chained_handler(index, to, &look),
            ExceptionStepResult::Returned(_) => observer.note_handler_return(index, &look),
            ExceptionStepResult::Slept(_) => observer.attribute_sleep_on_exit(index, &look),
            ExceptionStepResult::Woken
            | ExceptionStepResult::Begun
            | ExceptionStepResult::LockedUp
            | ExceptionStepResult::None => {}
        }
    }
}

/// Returns what an observer sees of each core.
fn observer_views_of_cores<C: ObservableCore>(cores: &[C]) -> Vec<CoreView> {
    cores.iter().map(ObservableCore::view_for_observer).collect()
}

/// Records the events of an exception step of a core since cycle `before`. The core executes at `pc` from cycle `t` on.
pub(crate) fn record_exception_events(
    probes: &mut Probes,
    core: usize,
    (pc, t): (u32, u64),
    outcome: ExceptionStepResult,
    before: u64,
) {
    if !probes.trace_exceptions {
        return;
    }
    let mut enter = |number: u32| {
        probes.append_event(Kind::ExceptionEnter, core, t, number as u16, t.saturating_sub(before) as u32, pc);
    };
    match outcome {
        ExceptionStepResult::Entered(number) => enter(number),
        ExceptionStepResult::Chained(from, to) => {
            enter(to);
            probes.append_event(Kind::ExceptionExit, core, before, from as u16, 0, pc);
        }
        ExceptionStepResult::Returned(number) | ExceptionStepResult::Slept(number) => {
            probes.append_event(Kind::ExceptionExit, core, before, number as u16, 0, pc);
        }
        ExceptionStepResult::Woken
        | ExceptionStepResult::Begun
        | ExceptionStepResult::LockedUp
        | ExceptionStepResult::None => {}
    }
}
