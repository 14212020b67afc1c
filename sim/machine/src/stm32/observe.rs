//! The machine as its observer sees it.

use rtoslab_cpu::v7m::core::Core;

use super::families::Run;
use super::machine::Machine;
use crate::image::Symbol;
use crate::observe::{CycleObservableMachine, ObservedParts};

impl<F: Run> CycleObservableMachine for Machine<F> {
    /// The type of the machine's cores.
    type Core = Core;

    /// Returns the machine's cores, its observer, and the mode of the executors (the interpreters of instructions).
    fn observed_parts(&mut self) -> ObservedParts<'_, Core> {
        let Machine { core, observer, watch, .. } = self;
        ObservedParts { cores: std::slice::from_mut(&mut **core), observer, watch }
    }

    /// Returns the symbols of the machine's image, and the current cycle.
    fn observed_image(&self) -> (&[Symbol], u64) {
        (self.image_symbols(), self.current_cycle())
    }
}
