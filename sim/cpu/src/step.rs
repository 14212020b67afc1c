//! The executors' log of each instruction for the instruments, in the mode that observes.

use crate::timing_store::InstructionCycleShare;

/// Notes that an executor takes besides executing. A constant, so that unused modes cost nothing.
pub mod watch {
    /// Nothing.
    pub const NOTHING: u8 = 0;
    /// Cycles, executions and waits of each address.
    pub const PROFILE: u8 = 1;
    /// A [`Step`](super::Step) of each instruction.
    pub const STEPS: u8 = 2;
    /// The inputs of a [`Trace`](crate::v6m::trace::Trace)'s timing, instead of that timing.
    pub const TRACES: u8 = 3;
    /// The inputs of two cores' timing, instead of that timing: `Block`s.
    pub const PAIRS: u8 = 4;
}

/// One executed instruction, or the part of one between two turns of the run loop, as observers see it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Cycle in which it begins.
    pub start: u64,
    /// Cycle in which what follows begins.
    pub end: u64,
    /// Cycles it lost to buses.
    pub bus_wait: u32,
    /// Cycles it lost to flash.
    pub flash_wait: u32,
    /// Its address.
    pub pc: u32,
    /// Address of the next instruction on this core, if no exception comes between.
    pub next: u32,
    /// Active stack pointer after it.
    pub sp: u32,
    /// R0 after it: the argument of a call, the result of a return.
    pub r0: u32,
    /// LR after it.
    pub lr: u32,
    /// Execution priority after it: what an exception must beat, lower is more urgent.
    pub priority: i16,
    /// It ended here: 0 for a part that gave way or faulted.
    pub executions: u8,
    /// It is a branch with link.
    pub call: bool,
    /// The process stack is active after it.
    pub process_stack: bool,
}

impl Step {
    /// Returns the step as its share of a cached transition (an entry of the timing cache), for the profile.
    /// `is_rare_data_processing`: it is a step of the core that continued second.
    pub(crate) fn step_as_transition_cycle_share(&self, is_other: bool) -> InstructionCycleShare {
        let cycles = (self.end - self.start) as u32;
        InstructionCycleShare {
            address: self.pc,
            cycles,
            waits: self.bus_wait as u16,
            executions: self.executions,
            is_other,
        }
    }
}
