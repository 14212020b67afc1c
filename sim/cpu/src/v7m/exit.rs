//! Exception return: the checks, then a tail-chain, sleep, or the frame comes back from memory.

use super::bus::Bus;
use super::core::{Core, Phase};
use super::entry::{BASIC_FRAME, FLOAT_FRAME, FLOAT_WORDS, continue_execution_at_target, start_tail_chaining};
use super::escalation::pend_fault;
use super::exception_timing::ExceptionTiming;
use super::fault::Fault;
use super::float_context;
use super::mpu::{self, Access};
use super::nvic::exception;
use super::pipeline::Pipeline;
use super::scb::{ccr, fpccr, scr};
use crate::exception_outcome::ExceptionStepResult;

/// Words of a basic frame.
const BASIC_WORDS: usize = BASIC_FRAME as usize / 4;

/// An EXC_RETURN value, with functions that return its fields.
#[derive(Debug, Clone, Copy)]
struct Return(u32);

impl Return {
    /// Returns whether the exception return goes to thread mode.
    fn returns_to_thread(self) -> bool {
        self.0 & 0xf != 1
    }

    /// Returns whether the exception return's frame is on the process stack.
    fn is_frame_on_process_stack(self) -> bool {
        self.0 & 0xf == 0xd
    }

    /// Returns whether the exception return's frame contains floating-point state.
    fn has_frame_float_state(self) -> bool {
        self.0 & 0x10 == 0
    }
}

/// Executes a branch to an EXC_RETURN value in handler mode at `core.t`.
pub fn exception_return<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    value: u32,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    let number = core.ipsr;
    let legal = does_exc_return_pass_integrity_checks(core, value);
    core.nvic.deactivate_exception(number);
    if number != exception::NMI {
        core.faultmask = false;
    }
    if !legal {
        return fail_exception_return(core, number, value, Fault::InvalidPc, timing);
    }
    core.event = true;
    core.exclusive = false;
    if core.exception_to_take().is_some() {
        return start_tail_chaining(core, number, value, timing);
    }
    let last = core.nvic.active_exception_count() == 0;
    if last && Return(value).returns_to_thread() && core.scb.scr & scr::SLEEPONEXIT != 0 {
        core.start_sleeping(Phase::SleepInterrupt { on_exit: Some(value) });
        return ExceptionStepResult::Slept(number);
    }
    start_unstacking(core, bus, number, value, timing)
}

/// Returns whether an EXC_RETURN value passes the integrity checks before unstacking (B1.5.8).
fn does_exc_return_pass_integrity_checks(core: &Core, value: u32) -> bool {
    let float_bit = if core.features.float { 0x10 } else { 0 };
    let base_only = core.scb.ccr & ccr::NONBASETHRDENA == 0;
    value | float_bit | 0xf000_000f == u32::MAX
        && core.nvic.is_active(core.ipsr)
        && match value & 0xf {
            0x1 => true,
            0x9 | 0xd => core.nvic.active_exception_count() == 1 || !base_only,
            _ => false,
        }
}

/// Makes an exception return fail: the fault's handler is entered instead, and the frame stays stacked.
fn fail_exception_return(
    core: &mut Core,
    number: u32,
    value: u32,
    fault: Fault,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    core.exception_origin = core.next_instruction_address();
    if pend_fault(core, fault.fault_record_of_unstacking()) {
        start_tail_chaining(core, number, value | 0xf000_0000, timing)
    } else {
        ExceptionStepResult::LockedUp
    }
}

/// Starts to unstack an exception's frame at `core.t`. [`complete_exception_return`] follows.
pub(super) fn start_unstacking<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    number: u32,
    value: u32,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    let started = core.t;
    let kind = Return(value);
    let frame = if kind.is_frame_on_process_stack() { core.process_stack_pointer() } else { core.main_stack_pointer() };
    if kind.returns_to_thread() {
        core.ipsr = 0;
    }
    let restores = kind.has_frame_float_state() && core.scb.fpccr & fpccr::LSPACT == 0;
    let (words, mut delay) =
        if restores { (BASIC_WORDS + FLOAT_WORDS, timing.exit_float - timing.exit) } else { (BASIC_WORDS, 0) };
    let mut at = started + 1;
    for index in 0..words {
        let address = frame.wrapping_add(4 * index as u32);
        let granted = if index == BASIC_WORDS { float_context::require_fpu_access(core) } else { Ok(()) };
        let allowed =
            if core.mpu.is_enabled() { mpu::check_mpu_access_permission(core, address, Access::Read) } else { Ok(()) };
        match granted.and(allowed).and_then(|()| bus.load_data(core, address, 4, at)) {
            Ok(loaded) => {
                core.frame[index] = loaded.value;
                at += 1 + loaded.wait;
                delay += loaded.wait;
            }
            Err(fault) => return fail_exception_return(core, number, value, fault, timing),
        }
    }
    core.phase = Phase::Exit { number, exc_return: value, started, delay };
    core.t = started + timing.pop_preemption + delay;
    ExceptionStepResult::Begun
}

/// Completes the exception return that [`start_unstacking`] started, unless a more urgent exception came.
pub(super) fn complete_exception_return<B: Bus, P: Pipeline>(
    core: &mut Core,
    bus: &mut B,
    pipe: &mut P,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    let Phase::Exit { number, exc_return, started, delay } = core.phase else {
        return ExceptionStepResult::None;
    };
    core.phase = Phase::Run;
    if core.exception_to_take().is_some() {
        return start_tail_chaining(core, number, exc_return, timing);
    }
    let kind = Return(exc_return);
    let xpsr = core.frame[7];
    if (xpsr & 0x1ff == 0) != kind.returns_to_thread() {
        return fail_exception_return(core, number, exc_return, Fault::InvalidPc, timing);
    }
    restore_registers_from_exception_frame(core, kind, xpsr);
    let target = core.frame[6] & !1 | xpsr >> 24 & 1;
    let resumed = started + timing.exit + delay;
    continue_execution_at_target(core, bus, pipe, target, resumed.saturating_sub(P::REFILL));
    core.exception_cycles += resumed - started;
    ExceptionStepResult::Returned(number)
}

/// Restores registers, flags and stack pointer from the unstacked frame.
fn restore_registers_from_exception_frame(core: &mut Core, kind: Return, xpsr: u32) {
    let [r0, r1, r2, r3, r12, lr] = [0, 1, 2, 3, 4, 5].map(|index| core.frame[index]);
    core.r[..4].copy_from_slice(&[r0, r1, r2, r3]);
    (core.r[12], core.r[14]) = (r12, lr);
    core.select_stack_pointer(kind.is_frame_on_process_stack());
    let (bytes, align) = if kind.has_frame_float_state() {
        (FLOAT_FRAME, true)
    } else {
        (BASIC_FRAME, core.scb.ccr & ccr::STKALIGN != 0)
    };
    let padding = if align { (xpsr >> 9 & 1) << 2 } else { 0 };
    core.r[13] = core.r[13].wrapping_add(bytes) | padding;
    core.set_xpsr(xpsr);
    core.ipsr = xpsr & 0x1ff;
    if kind.has_frame_float_state() {
        float_context::restore_float_state(core);
    }
    core.fpca = kind.has_frame_float_state();
    core.float_ready = false;
}
