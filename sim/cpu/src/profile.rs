//! The profile: where the time went, by instruction.

use std::ops::AddAssign;

/// The profile of one instruction: its executions and the cycles that it took.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct ProfileCell {
    /// ARMv6-M: cycles from its issue to the next issue. ARMv7-M: from the end of the instruction before to its own
    /// end.
    pub cycles: u64,
    /// Times executed.
    pub executions: u64,
    /// Part of `cycles` spent waiting for the bus or the flash.
    pub wait_cycles: u64,
}

impl AddAssign for ProfileCell {
    /// Adds the executions and cycles of another cell to this one.
    fn add_assign(&mut self, more: ProfileCell) {
        self.cycles += more.cycles;
        self.executions += more.executions;
        self.wait_cycles += more.wait_cycles;
    }
}
