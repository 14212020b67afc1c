//! The execution of instructions: the loop that executes ops.
//!
//! `operate` has what each of them does, by subject in [`registers`], [`memory`], [`branch`], [`multiple`] and so on.
//! A [`Pipeline`] says when. Local time, flags and registers live in [`Core`]. `core.ip` is the instruction being
//! executed until it is done.

mod alu;
mod apart;
mod bits;
pub(super) mod block;
mod branch;
mod float;
mod memory;
mod multiple;
mod multiply;
mod operate;
mod profile;
mod registers;
mod system;
#[cfg(test)]
mod tests;

use super::bus::Bus;
use super::code::{Code, number as code};
use super::core::{Core, Request};
use super::fault::Fault;
use super::op::{Op, PackedOp};
use super::pipeline::{Jump, Pipeline};
pub(super) use operate::{execute_known_op, execute_op};
use profile::InstructionObservation;

/// How an instruction ended, for the executor's loop. A bare number, so that the common ways need no memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flow {
    /// Execution continues with the next one.
    Next,
    /// Its branch was not taken.
    NotTaken,
    /// It branches inside the region, by `imm`, always.
    Near,
    /// The same, by a condition.
    NearConditional,
    /// It branched, and all is done. A request may have come of it.
    Jumped,
    /// It is done and left a request or fell asleep. Execution continues after it.
    Left,
    /// It gives way between two words or before it starts. It is not done.
    Paused,
    /// It faulted. The request says why.
    Faulted,
}

/// Executes instructions until `core.t` reaches `core.limit` at an instruction boundary or `core.request` is set.
///
/// While an MPU is on, every fetch and every access is checked. `watch`: what is noted, one of
/// [`watch`](crate::step::watch)'s. Neither is a constant: there would be as many executors, each large, and what runs
/// often is cached.
///
/// The machine clears a request before it calls again.
///
/// # Safety
/// `core.ip` points into the ops of `core.region`, a region of `bus`: they are in no memory that `core`, `pipe` or
/// `bus` hold by value, end with an `OutOfRegion` op, and those that are decoded were made by
/// [`decode`](super::decode), whose near branches stay inside. With `watch::PROFILE` the region has profile cells, one
/// for each op.
pub unsafe fn run_until_limit<B: Bus, P: Pipeline>(core: &mut Core, pipe: &mut P, bus: &mut B, watch: u8) {
    if core.request != Request::None {
        return;
    }
    if !core.thumb {
        core.request = Request::Fault(Fault::InvalidState);
        return;
    }
    let special = core.committed || core.words_moved != 0 || core.it != 0;
    // SAFETY: the caller's promise.
    if special && !unsafe { execute_uncommon::<B, P>(core, pipe, bus, watch, false) } {
        return;
    }
    while core.t < core.limit {
        if core.mpu.is_enabled() && !is_fetch_allowed(core, bus) {
            return;
        }
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region: the caller promises it of the first, and every instruction
        // leads to another one inside, or to the op after the last.
        let packed = unsafe { PackedOp::read_op(ip) };
        if packed.code() <= code::It {
            // SAFETY: as above.
            if !unsafe { execute_uncommon::<B, P>(core, pipe, bus, watch, false) } {
                return;
            }
            continue;
        }
        let profile = InstructionObservation::start_instruction(core, watch);
        // SAFETY: as above.
        let flow = unsafe {
            pipe.issue_op(core, bus, *ip);
            execute_op::<B, P>(core, pipe, bus, ip)
        };
        // SAFETY: the profile is that of this instruction.
        if !unsafe { end_instruction::<B, P>(core, pipe, bus, packed.op(), flow, 0, profile, ip) } {
            return;
        }
    }
}

/// Executes one instruction, or one IT block. `attended`: the probes on the first instruction have fired. Returns false
/// if execution stops here.
///
/// # Safety
/// As for [`run_until_limit`].
pub(super) unsafe fn execute_instruction_or_block<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    watch: u8,
    attended: bool,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { execute_uncommon::<B, P>(core, pipe, bus, watch, attended) }
}

/// Executes what the common path omits: stub ops, whole IT blocks, interrupted instructions that continue. Returns
/// false if execution stops here.
///
/// # Safety
/// As for [`run_until_limit`].
#[cold]
#[inline(never)]
unsafe fn execute_uncommon<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    watch: u8,
    mut attended: bool,
) -> bool {
    while core.t < core.limit || core.committed {
        if core.mpu.is_enabled() && !is_fetch_allowed(core, bus) {
            return false;
        }
        // One that gave way was issued, and had its attention.
        let issued = core.committed || core.words_moved != 0;
        core.served = issued || std::mem::take(&mut attended);
        // SAFETY: the caller's promise, and as in `run`.
        let packed = unsafe { instruction_behind_stub(core, bus) };
        if packed == PackedOp::NONE {
            return false;
        }
        let (ip, it) = (core.ip, core.it);
        let profile = InstructionObservation::start_instruction(core, watch);
        let executed = if it == 0 { packed } else { block::op_as_executed_in_it_block(core, packed) };
        core.it = block::next_it_state(it);
        let op = executed.op();
        if executed == block::SKIPPED {
            let op = packed.op();
            pipe.skip_op(core, bus, op);
            core.ip = ip.wrapping_add(op.halfword_count());
            core.instructions += 1;
            // SAFETY: it began with this instruction.
            unsafe { profile.end_instruction(core, op, 1) };
        } else {
            if !issued {
                pipe.issue_op(core, bus, op);
            }
            // SAFETY: the op is one.
            let flow = unsafe { execute_op::<B, P>(core, pipe, bus, &raw const op) };
            // SAFETY: the profile is that of this instruction.
            if !unsafe { end_instruction::<B, P>(core, pipe, bus, op, flow, it, profile, ip) } {
                return false;
            }
        }
        if core.it == 0 {
            return true;
        }
    }
    true
}

/// Ends an instruction, and moves the core to where execution continues by `flow`. Returns false if execution stops
/// here.
///
/// # Safety
/// `profile` began with this instruction, in a region for which [`run_until_limit`]'s promise holds.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn end_instruction<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    flow: Flow,
    it: u8,
    profile: InstructionObservation,
    ip: *mut Op,
) -> bool {
    let mut goes_on = true;
    match flow {
        Flow::Next => {
            pipe.finish_op(core, op);
            core.ip = ip.wrapping_add(op.halfword_count());
        }
        Flow::NotTaken => {
            pipe.end_untaken_branch(core, bus, op);
            core.ip = ip.wrapping_add(op.halfword_count());
        }
        Flow::Near | Flow::NearConditional => {
            core.ip = ip.wrapping_offset(op.imm as i32 as isize);
            let target = core.address_of_op(core.ip);
            let jump = if matches!(flow, Flow::Near) { Jump::Immediate } else { Jump::Conditional };
            pipe.take_branch(core, bus, op, jump, target);
        }
        Flow::Jumped => goes_on = core.request == Request::None,
        Flow::Left => {
            pipe.finish_op(core, op);
            core.ip = ip.wrapping_add(op.halfword_count());
            if core.is_asleep() {
                core.slept_at = core.t;
            }
            goes_on = false;
        }
        Flow::Paused | Flow::Faulted => {
            if matches!(flow, Flow::Faulted) {
                pipe.end_after_fault(core);
            }
            core.it = it;
            // In an IT block the bits hold ITSTATE: after an interrupt the instruction starts anew.
            if it != 0 {
                core.ici = 0;
            }
            // SAFETY: the caller's promise.
            unsafe { profile.end_instruction(core, op, 0) };
            return false;
        }
    }
    core.instructions += 1;
    // SAFETY: the caller's promise.
    unsafe { profile.end_instruction(core, op, 1) };
    goes_on
}

/// Returns the instruction at `core.ip`, even if a stub op is in its place. `PackedOp::NONE`: execution stops before
/// it.
///
/// # Safety
/// As for [`run_until_limit`].
unsafe fn instruction_behind_stub<B: Bus>(core: &mut Core, bus: &mut B) -> PackedOp {
    loop {
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region.
        let op = unsafe { *ip };
        match op.code {
            Code::Undecoded => bus.decode_op(core, core.address_of_op(ip)),
            Code::Attend => {
                let served = std::mem::take(&mut core.served);
                return bus.serve_stub_op(core, core.address_of_op(ip), served).map_or_else(
                    || {
                        core.request = Request::Stopped;
                        PackedOp::NONE
                    },
                    PackedOp::from,
                );
            }
            Code::OutOfRegion => {
                let address = core.address_of_op(ip);
                if !branch::enter_executable_region_of_target(core, bus, address) {
                    return PackedOp::NONE;
                }
            }
            _ => return op.into(),
        }
    }
}

/// Returns whether the instruction at `core.ip` may be fetched under the MPU.
#[inline(always)]
fn is_fetch_allowed<B: Bus>(core: &mut Core, bus: &mut B) -> bool {
    let offset = (core.ip as usize).wrapping_sub(core.region.ops as usize);
    if offset < 8 * core.region.bytes as usize {
        return true;
    }
    let address = core.address_of_op(core.ip);
    branch::enter_executable_region_of_target(core, bus, address)
}
