//! The M3's and M4's pipeline as a state that can be cached: see [`crate::v7m::timing_cache`].

use super::super::core::Core;
use super::super::op::{InstructionTimingClass, Op};
use super::super::timing_cache::{CacheableTiming, CycleDistanceConverter, cycle_at_distance_from_now};
use super::fetch::PrefetchQueueState;
use super::float_unit::Pending;
use super::m3m4::{PrecedingInstructionTiming, ThreeStagePipeline};
use super::operands;

/// The state of the M3's or M4's pipeline on which the timing of the next instructions depends. Times are distances
/// from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    queue: PrefetchQueueState,
    float: Pending,
    wake: PrecedingInstructionTiming,
    last_block: u8,
    store_ends: i16,
}

impl<const M4: bool> CacheableTiming for ThreeStagePipeline<M4> {
    /// The state on which the pipeline's future timing depends. Times are relative to now, and all that are long past
    /// are equal.
    type State = State;

    /// Returns the pipeline's state before the instruction at `core.ip`. `None` if it cannot be cached.
    fn timing_state(&self, core: &Core) -> Option<State> {
        let distances = CycleDistanceConverter::from(core.t);
        distances.timing_state_if_distances_fit(State {
            queue: self.fetch.timing_state(&distances),
            float: self.float.timing_state(core.t, &distances),
            wake: self.wake,
            last_block: self.last_block,
            store_ends: distances.cycle_distance(self.store_ends),
        })
    }

    /// Sets the pipeline to a cached state, before the instruction at `core.ip`, at time `core.t`.
    fn restore_timing_state(&mut self, state: &State, core: &Core) {
        self.fetch.restore_timing_state(&state.queue, core.address_of_op(core.ip), core.t);
        self.float.restore_timing_state(state.float, core.t);
        self.wake = state.wake;
        self.last_block = state.last_block;
        self.store_ends = cycle_at_distance_from_now(state.store_ends, core.t);
    }

    /// Returns the cycles that depend on the operands, as `Pipeline::operation_cycles` does.
    fn operand_cycles(op: Op, first: u32, second: u32) -> u64 {
        match op.class {
            InstructionTimingClass::Divide => operands::division_cycles(first, second),
            InstructionTimingClass::MultiplyLong | InstructionTimingClass::MultiplyAccumulateLong if !M4 => {
                operands::long_multiplication_cycles(op, first, second)
            }
            _ => Self::reference_manual_instruction_cycles(op),
        }
    }

    /// Sets the cycles of the current instruction that `operand_cycles` returned.
    fn set_cycles(&mut self, _: Op, cycles: u64) {
        self.busy = cycles;
    }
}
