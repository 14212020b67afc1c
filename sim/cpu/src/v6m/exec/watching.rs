//! Notes on an instruction in the watching modes: its [`Step`] for the observer, its part of the profile.

use crate::profile::ProfileCell;
use crate::step::Step;
use crate::v6m::core::Core;
use crate::v6m::op::{Op, op};

/// The state at the start of the current instruction, from which the record for observers ([`Step`]) is made.
#[derive(Clone, Copy, Default)]
pub(super) struct InstructionStartState {
    pc: u32,
    t: u64,
    executed: u64,
    bus_wait: u64,
    flash_wait: u64,
}

impl InstructionStartState {
    /// Records the state before the instruction at `ip`, which issues in cycle `t`.
    pub(super) fn new(core: &Core, ip: *mut Op, t: u64, executed: u64) -> InstructionStartState {
        let (bus_wait, flash_wait) = (core.bus_wait, core.flash_wait);
        InstructionStartState { pc: core.address_of_op(ip), t, executed, bus_wait, flash_wait }
    }

    /// Appends the current instruction's cycles to the core's steps, for the profile of a shadow core.
    #[inline(always)]
    pub(super) fn append_instruction_cycles_to_core(self, core: &mut Core, t: u64) {
        core.steps.push(Step {
            start: self.t,
            end: t,
            bus_wait: (core.bus_wait - self.bus_wait) as u32,
            pc: self.pc,
            executions: (core.instructions - self.executed) as u8,
            ..Step::default()
        });
    }

    /// Appends the current instruction to the core's steps, for observers. `executed` tells whether it was completed,
    /// `code` what it was.
    #[inline(never)]
    pub(super) fn log_instruction_step(self, core: &mut Core, ip: *mut Op, t: u64, executed: u64, code: u8) {
        let next = core.stray.unwrap_or_else(|| core.address_of_op(ip));
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

/// The profile cell of the current instruction.
#[derive(Clone, Copy)]
pub(super) struct CurrentInstructionProfile {
    /// Null in a region without code.
    cell: *mut ProfileCell,
    t: u64,
    waits: u64,
    retired: u64,
}

impl Default for CurrentInstructionProfile {
    /// Returns notes without an instruction.
    fn default() -> CurrentInstructionProfile {
        CurrentInstructionProfile { cell: std::ptr::null_mut(), t: 0, waits: 0, retired: 0 }
    }
}

impl CurrentInstructionProfile {
    /// Starts the profile of the instruction at `ip`, which issues in cycle `t` after `retired` others.
    ///
    /// # Safety
    /// `ip` points into the ops of `core.region`, whose profile cells exist if it has code.
    #[inline(always)]
    pub(super) unsafe fn new(core: &Core, ip: *mut Op, t: u64, retired: u64) -> CurrentInstructionProfile {
        let index = (ip as usize).wrapping_sub(core.region.ops as usize) >> 3;
        let cells = core.region.profile[core.id];
        // SAFETY: the cells run parallel to the ops.
        let cell = if cells.is_null() { cells } else { unsafe { cells.add(index) } };
        CurrentInstructionProfile { cell, t, waits: core.bus_wait + core.flash_wait, retired }
    }

    /// Counts the instruction as executed.
    ///
    /// # Safety
    /// The region has code, and its profile cells still exist.
    #[inline(always)]
    pub(super) unsafe fn count_retired_instruction(&self) {
        // SAFETY: the caller's promise.
        unsafe { (*self.cell).executions += 1 };
    }

    /// Charges the time up to cycle `t` to the instruction.
    ///
    /// # Safety
    /// As for [`CurrentInstructionProfile::count_retired_instruction`].
    #[inline(always)]
    pub(super) unsafe fn charge_time_until(&self, core: &Core, t: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            (*self.cell).cycles += t - self.t;
            (*self.cell).wait_cycles += core.bus_wait + core.flash_wait - self.waits;
        }
    }

    /// Charges the profile with an instruction that left a request to the machine in cycle `t`. An SVC or exception
    /// return counts as executed, a fault does not.
    ///
    /// # Safety
    /// The profile cells still exist. In a region without code there is nothing to count.
    #[inline(always)]
    pub(super) unsafe fn charge_requesting_instruction(&self, core: &Core, t: u64, retired: u64) {
        if !self.cell.is_null() {
            // SAFETY: the caller's promise.
            unsafe {
                self.charge_time_until(core, t);
                (*self.cell).executions += retired - self.retired;
            }
        }
    }
}
