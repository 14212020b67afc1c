//! Branches: where they go, and what they are instead (ARMv7-M A2.3.1, B1.5.8).

use super::{Flow, memory};
use crate::v7m::bus::Bus;
use crate::v7m::code::Code;
use crate::v7m::core::{Core, Request};
use crate::v7m::exception;
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::{Jump, Pipeline};

/// Executes a branch to an absolute address, whose bit 0 is ignored.
#[inline(always)]
pub(super) fn branch_to_address<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    jump: Jump,
    target: u32,
) -> Result<Flow, Fault> {
    let target = target & !1;
    let offset = target.wrapping_sub(core.region.base);
    if offset < core.region.bytes {
        core.ip = core.region.ops.wrapping_add(offset as usize / 2);
    } else if !enter_executable_region_of_target(core, bus, target) {
        return Ok(Flow::Jumped);
    }
    pipe.take_branch(core, bus, op, jump, target);
    Ok(Flow::Jumped)
}

/// Enters another region, or another part of one under an MPU, at `target`. Returns false if nothing may execute there.
/// That is the fault of the instruction at `target`, not of the branch.
#[cold]
#[inline(never)]
pub(super) fn enter_executable_region_of_target<B: Bus>(core: &mut Core, bus: &mut B, target: u32) -> bool {
    exception::jump_to_interworking_address(core, bus, target | 1);
    core.request == Request::None
}

/// Executes BX or BLX to an address. An even one clears the Thumb bit.
#[inline(always)]
pub(super) fn execute_bx_or_blx<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    jump: Jump,
    target: u32,
) -> Result<Flow, Fault> {
    let flow = branch_to_address(core, pipe, bus, op, jump, target)?;
    if target & 1 == 0 {
        core.thumb = false;
        core.request = Request::Fault(Fault::InvalidState);
    }
    Ok(flow)
}

/// Executes BX or a load of the PC, which in handler mode may be an exception return.
#[inline(always)]
fn execute_bx_or_exception_return<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    jump: Jump,
    target: u32,
) -> Result<Flow, Fault> {
    if core.ipsr != 0 && target >= 0xf000_0000 {
        core.request = Request::ExceptionReturn(target);
        return Ok(Flow::Jumped);
    }
    execute_bx_or_blx(core, pipe, bus, op, jump, target)
}

/// Executes BX.
#[inline(always)]
pub(super) fn execute_bx<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let target = core.core_register(op.rm);
    execute_bx_or_exception_return(core, pipe, bus, op, Jump::Register, target)
}

/// Branches to the value that POP, LDM or LDR has loaded into the PC.
#[inline(always)]
pub(super) fn load_pc_value<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    target: u32,
) -> Result<Flow, Fault> {
    execute_bx_or_exception_return(core, pipe, bus, op, Jump::Loaded, target)
}

/// Executes LDR to the PC.
#[inline(always)]
pub(super) fn execute_load_to_pc<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (address, base) = memory::access_address_and_new_base(core, op);
    let target = memory::load_any_address::<B, P, 4>(core, pipe, bus, op, address)?;
    memory::write_base_register_back(core, op, base);
    load_pc_value(core, pipe, bus, op, target)
}

/// Executes TBB or TBH.
#[inline(always)]
pub(super) fn execute_table_branch<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let base = if op.rn == 15 { op.imm } else { core.core_register(op.rn) };
    let entry = base.wrapping_add(core.core_register(op.rm) << op.shift);
    let distance = match op.shift {
        0 => memory::load_any_address::<B, P, 1>(core, pipe, bus, op, entry)?,
        _ => memory::load_any_address::<B, P, 2>(core, pipe, bus, op, entry)?,
    };
    let pc = core.address_of_op(core.ip).wrapping_add(4);
    branch_to_address(core, pipe, bus, op, Jump::Loaded, pc.wrapping_add(2 * distance))
}

/// Executes branches to another region, calls by register and writes to the PC.
#[inline(always)]
pub(super) fn execute_far_or_register_branch<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let next = core.address_of_op(core.ip).wrapping_add(2 * op.halfword_count() as u32) | 1;
    match op.code {
        Code::BccFar if core.is_condition_met(op.ra) => {
            branch_to_address(core, pipe, bus, op, Jump::Conditional, op.imm)
        }
        Code::CompareBranchFar if (core.core_register(op.rn) == 0) == (op.ra == 0) => {
            branch_to_address(core, pipe, bus, op, Jump::Conditional, op.imm)
        }
        Code::BccFar | Code::CompareBranchFar => Ok(Flow::NotTaken),
        Code::BFar => branch_to_address(core, pipe, bus, op, Jump::Immediate, op.imm),
        Code::BlFar => {
            core.set_register(14, next);
            branch_to_address(core, pipe, bus, op, Jump::Immediate, op.imm)
        }
        Code::Blx => {
            let target = core.core_register(op.rm);
            core.set_register(14, next);
            execute_bx_or_blx(core, pipe, bus, op, Jump::Register, target)
        }
        // MOV PC and ADD PC.
        _ => {
            let offset = if op.code == Code::AddPc { op.imm } else { 0 };
            let target = core.core_register(op.rm).wrapping_add(offset);
            branch_to_address(core, pipe, bus, op, Jump::Register, target)
        }
    }
}
