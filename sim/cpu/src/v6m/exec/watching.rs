//! What the modes that watch note of an instruction.

use crate::step::Step;
use crate::v6m::core::{Core, ProfileCell};
use crate::v6m::op::{Op, op};

/// The instruction in hand, for its [`Step`].
#[derive(Clone, Copy, Default)]
pub(super) struct Started {
    pc: u32,
    t: u64,
    executed: u64,
    bus_wait: u64,
    flash_wait: u64,
}

impl Started {
    pub(super) fn new(core: &Core, ip: *mut Op, t: u64, executed: u64) -> Started {
        let (bus_wait, flash_wait) = (core.bus_wait, core.flash_wait);
        Started { pc: core.address_of(ip), t, executed, bus_wait, flash_wait }
    }

    /// Logs it as it stands: `executed` tells whether it was completed, `code` what it was.
    #[inline(never)]
    pub(super) fn log(self, core: &mut Core, ip: *mut Op, t: u64, executed: u64, code: u8) {
        let next = core.stray.unwrap_or_else(|| core.address_of(ip));
        core.steps.push(Step {
            start: self.t,
            end: t,
            bus_wait: (core.bus_wait - self.bus_wait) as u32,
            flash_wait: (core.flash_wait - self.flash_wait) as u32,
            pc: self.pc,
            next,
            sp: core.r[13],
            r0: core.r[0],
            lr: core.r[14],
            priority: core.execution_priority() as i16,
            executions: (executed - self.executed) as u8,
            call: matches!(code, op::Bl | op::BlFar | op::Blx),
            process_stack: core.sp_is_psp,
        });
    }
}

/// Profile cell of the instruction at `ip`; null in a region without code.
///
/// # Safety
/// `ip` points into the ops of `core.region`, whose profile cells exist if it has code.
#[inline(always)]
pub(super) unsafe fn profile_cell(core: &Core, ip: *mut Op) -> *mut ProfileCell {
    let index = (ip as usize).wrapping_sub(core.region.ops as usize) >> 3;
    let cells = core.region.profile[core.id];
    // SAFETY: the cells run parallel to the ops.
    if cells.is_null() { cells } else { unsafe { cells.add(index) } }
}
