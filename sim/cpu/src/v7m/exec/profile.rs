//! Profile bookkeeping: cycles, executions and waits of each instruction.

use crate::v7m::core::{Core, ProfileCell};

/// What was known when the instruction in hand began; nothing if profiling is off.
#[derive(Clone, Copy)]
pub(super) struct Profile<const ON: bool> {
    cell: *mut ProfileCell,
    before: u64,
    waits_before: u64,
}

impl<const ON: bool> Profile<ON> {
    /// Begins with the instruction at `core.ip`.
    #[inline(always)]
    pub(super) fn start(core: &Core) -> Profile<ON> {
        if !ON {
            return Profile { cell: std::ptr::null_mut(), before: 0, waits_before: 0 };
        }
        let index = (core.ip as usize).wrapping_sub(core.region.ops as usize) >> 4;
        Profile {
            cell: core.region.profile.wrapping_add(index),
            before: core.t,
            waits_before: core.bus_wait + core.flash_wait,
        }
    }

    /// Ends with the time as it is: `executions` is 0 for a part of an instruction.
    #[inline(always)]
    pub(super) fn end(self, core: &Core, executions: u64) {
        if !ON {
            return;
        }
        // SAFETY: with profiling on, the region's cells run parallel to its ops.
        let cell = unsafe { &mut *self.cell };
        cell.cycles += core.t - self.before;
        cell.executions += executions;
        cell.wait_cycles += core.bus_wait + core.flash_wait - self.waits_before;
    }
}
