//! The machine as its observer sees it.

use rtoslab_cpu::v6m::core::Core;

use super::machine::Machine;
use crate::image::Symbol;
use crate::observe::{CycleObservableMachine, ObservedParts};

impl CycleObservableMachine for Machine {
    /// The type of the machine's cores.
    type Core = Core;

    /// Returns the machine's cores, its observer, and the mode of the executors (the interpreters of instructions).
    fn observed_parts(&mut self) -> ObservedParts<'_, Core> {
        let Machine { cores, observer, watch, .. } = self;
        ObservedParts { cores: &mut cores[..1], observer, watch }
    }

    /// Returns the symbols of the machine's image, and the current cycle.
    fn observed_image(&self) -> (&[Symbol], u64) {
        (self.image_symbols(), self.current_cycle())
    }
}

impl Machine {
    /// Gives the observer the instructions that the core executed in its turn.
    pub(super) fn observe_finished_turn(&mut self) {
        for step in &mut self.cores[0].steps {
            // As `waits` has it.
            (step.bus_wait, step.flash_wait) = (step.flash_wait, step.bus_wait.saturating_sub(step.flash_wait));
        }
        self.pass_instructions_to_observer(0, &[]);
    }
}
