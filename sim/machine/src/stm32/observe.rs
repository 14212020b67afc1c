//! The machine tells its observer what the core does.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v7m::exception::Outcome;

use super::families::Run;
use super::machine::Machine;
use crate::observe::{ObservationReport, ObservationRequest, look_v7m, observer};

impl<F: Run> Machine<F> {
    /// Observes from now on, or no longer.
    pub fn observe(&mut self, request: Option<ObservationRequest>) {
        let look = look_v7m(&self.core);
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

    /// Takes the observations so far. `None` while nothing observes.
    pub fn observed(&mut self) -> Option<ObservationReport> {
        let now = self.cycle();
        let look = look_v7m(&self.core);
        Some(self.observer.as_mut()?.take(now, &[look]))
    }

    /// Brings the core's account up to the time at which it continues.
    pub(super) fn before_turn(&mut self) {
        let look = look_v7m(&self.core);
        self.observer.iter_mut().for_each(|observer| observer.settle(0, &look));
    }

    /// Hands over what the core executed.
    pub(super) fn after_turn(&mut self) {
        let steps = &mut self.core.steps;
        self.observer.iter_mut().for_each(|observer| observer.steps(0, steps, &[]));
        steps.clear();
    }

    /// Tells what became of an exception.
    pub(super) fn tell(&mut self, outcome: Outcome) {
        let Some(observer) = &mut self.observer else { return };
        let look = look_v7m(&self.core);
        match outcome {
            Outcome::Entered(number) => observer.note_entry(0, number, &look),
            Outcome::Chained(_, to) => observer.note_chained(0, to, &look),
            Outcome::Returned(_) => observer.note_return(0, &look),
            Outcome::Slept(_) => observer.slept(0, &look),
            Outcome::Woken | Outcome::Begun | Outcome::LockedUp | Outcome::None => {}
        }
    }
}
