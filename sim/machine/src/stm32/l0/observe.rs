//! The machine tells its observer what the core does.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::exception::Outcome;

use super::machine::Machine;
use crate::observe::{ObservationReport, ObservationRequest, look_v6m, observer};

impl Machine {
    /// Observes from now on, or no longer.
    pub fn observe(&mut self, request: Option<ObservationRequest>) {
        let look = look_v6m(&self.cores[0]);
        self.observer = request.map(|wanted| observer(wanted, self.symbols(), self.cycle(), &[look]));
        self.watch = watch::NOTHING;
        self.continue_observing();
    }

    /// The executors log steps while there is somebody to read them.
    pub(super) fn continue_observing(&mut self) {
        if self.observer.is_some() {
            self.watch = watch::STEPS;
        }
    }

    /// Time went back: the account would not add up.
    pub(super) fn end_observing(&mut self) {
        if self.observer.is_some() {
            self.observe(None);
        }
    }

    /// Takes what was observed. `None` while nothing is.
    pub fn observed(&mut self) -> Option<ObservationReport> {
        let now = self.cycle();
        let look = look_v6m(&self.cores[0]);
        Some(self.observer.as_mut()?.take(now, &[look]))
    }

    /// Brings the core's account up to the time at which it continues.
    pub(super) fn before_turn(&mut self) {
        let look = look_v6m(&self.cores[0]);
        self.observer.iter_mut().for_each(|observer| observer.settle(0, &look));
    }

    /// Hands over what the core executed.
    pub(super) fn after_turn(&mut self) {
        let steps = &mut self.cores[0].steps;
        for step in steps.iter_mut() {
            // As `waits` has it.
            (step.bus_wait, step.flash_wait) = (step.flash_wait, step.bus_wait.saturating_sub(step.flash_wait));
        }
        self.observer.iter_mut().for_each(|observer| observer.steps(0, steps, &[]));
        steps.clear();
    }

    /// Tells what became of an exception.
    pub(super) fn tell(&mut self, outcome: Outcome) {
        let Some(observer) = &mut self.observer else { return };
        let look = look_v6m(&self.cores[0]);
        match outcome {
            Outcome::Entered(number) => observer.note_entry(0, number, &look),
            Outcome::Chained(_, to) => observer.note_chained(0, to, &look),
            Outcome::Returned(_) => observer.note_return(0, &look),
            Outcome::Slept(_) => observer.slept(0, &look),
            Outcome::None => {}
        }
    }
}
