//! The machine tells its observer what the cores do.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::core::Phase;
use rtoslab_cpu::v6m::exception::Outcome;
use rtoslab_lab::observer::locks::{LockAct, LockEvent};
use rtoslab_periph::rp2040::{LockAccess, LockAccessKind};

use super::machine::Machine;
use crate::observe::{ObservationReport, ObservationRequest, look_v6m, observer};

impl Machine {
    /// Observes from now on, or no longer.
    pub fn observe(&mut self, request: Option<ObservationRequest>) {
        let looks = self.cores.each_ref().map(look_v6m);
        self.observer = request.map(|wanted| observer(wanted, self.symbols(), self.cycle(), &looks));
        self.system.periph.sio.log_lock_accesses(self.observer.is_some());
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
        let looks = self.cores.each_ref().map(look_v6m);
        Some(self.observer.as_mut()?.take(now, &looks))
    }

    /// Brings the account of the cores that execute up to the time at which they continue.
    pub(super) fn before_turn(&mut self) {
        let Some(observer) = &mut self.observer else { return };
        for (index, core) in self.cores.iter().enumerate().filter(|(_, core)| core.phase == Phase::Run) {
            observer.settle(index, &look_v6m(core));
        }
    }

    /// Counts what the cores fetched, and hands over what they executed.
    pub(super) fn after_turn(&mut self) {
        for core in self.cores.iter() {
            self.system.count_fetches(core);
            self.system.fetched[core.id].begin_turn();
        }
        let Some(observer) = &mut self.observer else {
            for core in self.cores.iter_mut() {
                self.system.profile_steps(core);
                core.steps.clear();
            }
            return;
        };
        let accesses = self.system.periph.sio.take_lock_accesses();
        for (index, core) in self.cores.iter_mut().enumerate() {
            let mine: Vec<LockEvent> = accesses.iter().filter(|access| access.core == index).map(lock_event).collect();
            observer.steps(index, &core.steps, &mine);
            core.steps.clear();
        }
        observer.end_of_turn();
    }

    /// Tells what became of an exception.
    pub(super) fn tell(&mut self, index: usize, outcome: Outcome) {
        let Some(observer) = &mut self.observer else { return };
        let look = look_v6m(&self.cores[index]);
        match outcome {
            Outcome::Entered(number) => observer.note_entry(index, number, &look),
            Outcome::Chained(_, to) => observer.note_chained(index, to, &look),
            Outcome::Returned(_) => observer.note_return(index, &look),
            Outcome::Slept(_) => observer.slept(index, &look),
            Outcome::None => {}
        }
    }
}

/// An access to a spinlock in the observer's form.
fn lock_event(access: &LockAccess) -> LockEvent {
    let act = match access.kind {
        LockAccessKind::Busy => LockAct::Busy,
        LockAccessKind::Taken => LockAct::Taken,
        LockAccessKind::Free => LockAct::Free,
    };
    LockEvent { cycle: access.cycle, core: access.core, lock: access.lock, act }
}
