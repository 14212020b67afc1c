//! Instructions about the core itself: special registers, masks, sleep, traps (ARMv7-M B5.2).

use super::Flow;
use crate::v7m::bus::Bus;
use crate::v7m::code::Code;
use crate::v7m::core::{Core, Phase, Request};
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::Pipeline;

/// Executes a system op: special registers, interrupt masks, hints and so on. If it may allow an exception to be taken,
/// it makes the executor return to the machine.
#[inline(always)]
pub(super) fn execute_system_op<B: Bus, P: Pipeline>(
    core: &mut Core,
    _: &mut P,
    _: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    match op.code {
        Code::Mrs => {
            let value = core.read_special_register(op.imm);
            core.set_register(op.rd, value);
        }
        Code::Msr => core.write_special_register(op.imm, u32::from(op.ra), core.core_register(op.rn)),
        Code::Cps => core.execute_cps(op.ra != 0, op.imm & 2 != 0, op.imm & 1 != 0),
        Code::Clrex => core.exclusive = false,
        Code::Sev => core.event = true,
        Code::Wfe if core.event => core.event = false,
        Code::Wfe => return Ok(sleep_after_instruction(core, Phase::SleepEvent)),
        Code::Wfi => return Ok(sleep_after_instruction(core, Phase::SleepInterrupt { on_exit: None })),
        Code::Svc => {
            core.request = Request::Svc;
            return Ok(Flow::Left);
        }
        Code::Bkpt => return Err(Fault::Breakpoint),
        Code::NoCoprocessor => return Err(Fault::NoCoprocessor),
        _ => return Err(Fault::Undefined),
    }
    Ok(Flow::Next)
}

/// Puts the core to sleep, from the end of the current instruction on.
fn sleep_after_instruction(core: &mut Core, phase: Phase) -> Flow {
    core.phase = phase;
    Flow::Left
}
