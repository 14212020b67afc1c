//! How a machine runs its core.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_cpu::v7m::pipeline::Pipeline;

/// The execution of a machine's core, with cached timing.
pub trait Runner<P: Pipeline, B>: Default {
    /// Executes instructions until `core.t` reaches `core.limit` or the core requests something of the machine. Logs no
    /// steps for observers, and checks no MPU.
    ///
    /// # Safety
    /// As for [`exec::run_until_limit`](rtoslab_cpu::v7m::exec::run_until_limit).
    unsafe fn run_to_limit<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B);

    /// The state on which the future timing of pipeline and memories depends. Times are relative to now.
    type State: Copy + PartialEq;

    /// Returns the state before the core's next instruction. `None` if it cannot be cached.
    fn timing_state(core: &Core, pipe: &P, bus: &B) -> Option<Self::State>;

    /// Sets pipeline and bus to a state, before the core's next instruction and at the core's time.
    fn restore_timing_state(state: &Self::State, core: &mut Core, pipe: &mut P, bus: &mut B);

    /// Removes the profile of instructions with cached timing and returns it, as addresses and their cycles.
    fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)>;

    /// Empties the timing cache, because timing rules changed.
    fn clear_timing_cache(&mut self) {}

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn set_translation_threshold(&mut self, _executions: u32) {}

    /// Returns how often cached timing was used, and what native code did.
    fn timing_cache_counts(&self) -> Counts;
}
