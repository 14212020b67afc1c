//! The machine as its observer sees it.

use rtoslab_cpu::v6m::core::Core;
use rtoslab_lab::observer::locks::{LockEvent, SpinlockEventKind};
use rtoslab_periph::rp2040::{LockAccess, LockAccessKind};

use super::machine::Machine;
use crate::image::Symbol;
use crate::observe::{CycleObservableMachine, ObservedParts};

impl CycleObservableMachine for Machine {
    /// The type of the machine's cores.
    type Core = Core;

    /// Returns the machine's cores, its observer, and the mode of the executors (the interpreters of instructions).
    fn observed_parts(&mut self) -> ObservedParts<'_, Core> {
        let Machine { cores, observer, watch, .. } = self;
        ObservedParts { cores: &mut cores[..], observer, watch }
    }

    /// Returns the symbols of the machine's image, and the current cycle.
    fn observed_image(&self) -> (&[Symbol], u64) {
        (self.image_symbols(), self.current_cycle())
    }

    /// Switches the log of spinlock accesses, which the observer reads, on or off.
    fn set_lock_logging(&mut self, on: bool) {
        self.system.periph.sio.set_lock_access_logging(on);
    }
}

impl Machine {
    /// Counts the words that the cores fetched, and gives the observer the instructions that they executed.
    pub(super) fn observe_finished_turn(&mut self) {
        for core in self.cores.iter() {
            self.system.count_fetched_words(core);
            self.system.fetched[core.id].begin_turn_without_steps();
        }
        if self.observer.is_none() {
            for core in self.cores.iter_mut() {
                self.system.add_turn_instructions_to_profile(core);
                core.steps.clear();
            }
            return;
        }
        let accesses = self.system.periph.sio.take_lock_accesses();
        for index in 0..self.cores.len() {
            let own: Vec<LockEvent> =
                accesses.iter().filter(|access| access.core == index).map(observed_lock_event).collect();
            self.pass_instructions_to_observer(index, &own);
        }
        self.observer.iter_mut().for_each(|observer| observer.record_spinlock_accesses_in_order());
    }
}

/// Returns an access to a spinlock as the observer's event.
fn observed_lock_event(access: &LockAccess) -> LockEvent {
    let act = match access.kind {
        LockAccessKind::Busy => SpinlockEventKind::Busy,
        LockAccessKind::Taken => SpinlockEventKind::Taken,
        LockAccessKind::Free => SpinlockEventKind::Free,
    };
    LockEvent { cycle: access.cycle, core: access.core, lock: access.lock, act }
}
