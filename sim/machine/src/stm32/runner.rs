//! How a machine runs its core.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_cpu::v7m::pipeline::Pipeline;

/// How a family's machine runs its core.
pub trait Runner<P: Pipeline, B>: Default {
    /// Executes until `core.t` reaches `core.limit` or something is requested. No steps, no MPU.
    ///
    /// # Safety
    /// As for [`exec::run`](rtoslab_cpu::v7m::exec::run).
    unsafe fn run<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B);

    /// All that future timing of pipeline and memories depends on, as distances from now.
    type State: Copy + PartialEq;

    /// The state before the core's next instruction. `None` if it is unknown.
    fn state(core: &Core, pipe: &P, bus: &B) -> Option<Self::State>;

    /// Restores a state before the core's next instruction, at its time.
    fn resume(state: &Self::State, core: &mut Core, pipe: &mut P, bus: &mut B);

    /// Takes what of the profile is in no cell.
    fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)>;

    /// Forgets cached timing, because timing rules changed.
    fn clear(&mut self) {}

    /// When traces are translated to native code.
    fn translate_after(&mut self, _executions: u32) {}

    /// How often cached timing was used.
    fn counts(&self) -> Counts;
}
