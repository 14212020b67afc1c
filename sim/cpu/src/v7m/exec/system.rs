//! Instructions about the core itself: special registers, masks, sleep, traps (ARMv7-M B5.2).

use super::Flow;
use crate::v7m::bus::Bus;
use crate::v7m::code::number as code;
use crate::v7m::core::{Core, Phase, Request};
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::Pipeline;

/// Executes an op of this group. What changes who may interrupt asks for attention by the limit.
#[inline(always)]
pub(super) fn execute<B: Bus, P: Pipeline>(core: &mut Core, _: &mut P, _: &mut B, op: Op) -> Result<Flow, Fault> {
    match op.code {
        code::Mrs => {
            let value = core.special(op.imm);
            core.set(op.rd, value);
        }
        code::Msr => core.set_special(op.imm, u32::from(op.ra), core.reg(op.rn)),
        code::Cps => core.change_masks(op.ra != 0, op.imm & 2 != 0, op.imm & 1 != 0),
        code::Clrex => core.exclusive = false,
        code::Sev => core.event = true,
        code::Wfe if core.event => core.event = false,
        code::Wfe => return Ok(asleep(core, Phase::SleepEvent)),
        code::Wfi => return Ok(asleep(core, Phase::SleepInterrupt { on_exit: None })),
        code::Svc => {
            core.request = Request::Svc;
            return Ok(Flow::Left);
        }
        code::Bkpt => return Err(Fault::Breakpoint),
        code::NoCoprocessor => return Err(Fault::NoCoprocessor),
        _ => return Err(Fault::Undefined),
    }
    Ok(Flow::Next)
}

/// Falls asleep; since when is known once the instruction has ended.
fn asleep(core: &mut Core, phase: Phase) -> Flow {
    core.phase = phase;
    Flow::Left
}
