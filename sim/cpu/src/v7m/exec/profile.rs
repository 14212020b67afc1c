//! Notes on each instruction: none, a profile of its address, or a step.

use crate::profile::ProfileCell;
use crate::step::{Step, watch};
use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::op::Op;

/// The state at the begin of the current instruction, from which its profile and its record for observers ([`Step`])
/// are made. Empty without observers.
#[derive(Clone, Copy)]
pub(super) struct InstructionObservation {
    watch: u8,
    cell: *mut ProfileCell,
    pc: u32,
    before: u64,
    bus_wait: u64,
    flash_wait: u64,
}

impl InstructionObservation {
    /// Records the state before the instruction at `core.ip`.
    #[inline(always)]
    pub(super) fn start_instruction(core: &Core, watch: u8) -> InstructionObservation {
        if watch == watch::NOTHING {
            return InstructionObservation {
                watch,
                cell: std::ptr::null_mut(),
                pc: 0,
                before: 0,
                bus_wait: 0,
                flash_wait: 0,
            };
        }
        let index = (core.ip as usize).wrapping_sub(core.region.ops as usize) >> 4;
        InstructionObservation {
            watch,
            cell: core.region.profile.wrapping_add(index),
            pc: if watch == watch::STEPS { core.address_of_op(core.ip) } else { 0 },
            before: core.t,
            bus_wait: core.bus_wait,
            flash_wait: core.flash_wait,
        }
    }

    /// Adds the instruction, which ends now, to the profile. `executions` is 0 for a part of an instruction.
    ///
    /// # Safety
    /// It began in a region that lives and has profile cells for all its ops, if `watch` asks for a profile.
    #[inline(always)]
    pub(super) unsafe fn end_instruction(self, core: &mut Core, op: Op, executions: u8) {
        match self.watch {
            watch::PROFILE => {
                // SAFETY: the caller's promise: the cells run parallel to the ops.
                let cell = unsafe { &mut *self.cell };
                cell.cycles += core.t - self.before;
                cell.executions += u64::from(executions);
                cell.wait_cycles += core.bus_wait + core.flash_wait - self.bus_wait - self.flash_wait;
            }
            watch::STEPS => self.log_instruction_step(core, op, executions),
            _ => {}
        }
    }

    /// Appends the instruction to the core's steps, for observers.
    #[inline(never)]
    fn log_instruction_step(self, core: &mut Core, op: Op, executions: u8) {
        core.steps.push(Step {
            start: self.before,
            end: core.t,
            bus_wait: (core.bus_wait - self.bus_wait) as u32,
            flash_wait: (core.flash_wait - self.flash_wait) as u32,
            pc: self.pc,
            next: core.next_instruction_address(),
            sp: core.r[13],
            r0: core.r[0],
            lr: core.r[14],
            priority: core.execution_priority() as i16,
            executions,
            call: matches!(op.code, Code::Bl | Code::BlFar | Code::Blx) && executions != 0,
            process_stack: core.sp_is_psp,
        });
    }
}
