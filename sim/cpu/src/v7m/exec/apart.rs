//! Instructions outside the flat match, in functions of their own, so that they take no registers and no room from the
//! others.

use super::Flow;
use crate::v7m::bus::Bus;
use crate::v7m::core::{Core, Request};
use crate::v7m::fault::Fault;
use crate::v7m::op::{Op, PackedOp};
use crate::v7m::pipeline::Pipeline;

/// Makes a fault the core's request to the machine, which ends execution.
#[cold]
#[inline(never)]
fn raise_fault(core: &mut Core, fault: Fault) -> Flow {
    core.request = Request::Fault(fault);
    Flow::Faulted
}

/// Executes an instruction in a function of its own, so that the code of other instructions has more host registers.
///
/// # Safety
/// `at` points to an op.
#[inline(never)]
pub(super) unsafe fn execute_apart<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
    execute: impl Fn(&mut Core, &mut P, &mut B, Op) -> Result<Flow, Fault>,
) -> Flow {
    // SAFETY: the caller's promise.
    let op = unsafe { PackedOp::read_op(at) }.op();
    let done = execute(core, pipe, bus, op);
    instruction_outcome::<P>(core, done)
}

/// Executes an instruction in a function of its own, if the bus allows it now ([`Bus::may_execute`]).
///
/// # Safety
/// `at` points to an op.
#[inline(never)]
pub(super) unsafe fn execute_checked<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
    execute: impl Fn(&mut Core, &mut P, &mut B, Op) -> Result<Flow, Fault>,
) -> Flow {
    // SAFETY: the caller's promise.
    let op = unsafe { PackedOp::read_op(at) }.op();
    if !bus.may_execute(core, op) {
        return Flow::Paused;
    }
    let done = execute(core, pipe, bus, op);
    instruction_outcome::<P>(core, done)
}

/// Returns how an instruction that may have faulted ended. A fault becomes the core's request.
#[inline(always)]
pub(super) fn instruction_outcome<P: Pipeline>(core: &mut Core, done: Result<Flow, Fault>) -> Flow {
    match done {
        Ok(flow) => flow,
        Err(_) if P::IN_LINE => Flow::Faulted,
        Err(fault) => raise_fault(core, fault),
    }
}

/// Executes an instruction that only changes registers, in a function of its own.
///
/// # Safety
/// `at` points to an op.
#[inline(never)]
pub(super) unsafe fn execute_registers_apart(core: &mut Core, at: *const Op, execute: impl Fn(&mut Core, Op)) {
    // SAFETY: the caller's promise.
    let op = unsafe { PackedOp::read_op(at) }.op();
    execute(core, op);
}
