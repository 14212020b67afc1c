//! Exception return: the checks, then a tail-chain, sleep, or the frame comes back from memory.

use super::bus::Bus;
use super::core::{Core, Phase};
use super::entry::{BASIC_FRAME, FLOAT_FRAME, FLOAT_WORDS, chain, go};
use super::escalation::pend_fault;
use super::exception_timing::ExceptionTiming;
use super::fault::Fault;
use super::float_context;
use super::mpu::{self, Access};
use super::nvic::exception;
use super::pipeline::Pipeline;
use super::scb::{ccr, fpccr, scr};
use crate::exception_outcome::ExceptionOutcome;

/// Words of a basic frame.
const BASIC_WORDS: usize = BASIC_FRAME as usize / 4;

/// An EXC_RETURN value, with functions that return its fields.
#[derive(Debug, Clone, Copy)]
struct Return(u32);

impl Return {
    /// Returns whether the exception return goes to thread mode.
    fn to_thread(self) -> bool {
        self.0 & 0xf != 1
    }

    /// Returns whether the exception return's frame is on the process stack.
    fn psp(self) -> bool {
        self.0 & 0xf == 0xd
    }

    /// Returns whether the exception return's frame contains floating-point state.
    fn float(self) -> bool {
        self.0 & 0x10 == 0
    }
}

/// Executes a branch to an EXC_RETURN value in handler mode at `core.t`.
pub fn exception_return<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    value: u32,
    timing: &ExceptionTiming,
) -> ExceptionOutcome {
    let number = core.ipsr;
    let legal = is_legal(core, value);
    core.nvic.deactivate(number);
    if number != exception::NMI {
        core.faultmask = false;
    }
    if !legal {
        return fail(core, number, value, Fault::InvalidPc, timing);
    }
    core.event = true;
    core.exclusive = false;
    if core.takeable().is_some() {
        return chain(core, number, value, timing);
    }
    let last = core.nvic.active_count() == 0;
    if last && Return(value).to_thread() && core.scb.scr & scr::SLEEPONEXIT != 0 {
        core.sleep(Phase::SleepInterrupt { on_exit: Some(value) });
        return ExceptionOutcome::Slept(number);
    }
    unstack(core, bus, number, value, timing)
}

/// Returns whether an EXC_RETURN value passes the integrity checks before unstacking (B1.5.8).
fn is_legal(core: &Core, value: u32) -> bool {
    let float_bit = if core.features.float { 0x10 } else { 0 };
    let base_only = core.scb.ccr & ccr::NONBASETHRDENA == 0;
    value | float_bit | 0xf000_000f == u32::MAX
        && core.nvic.is_active(core.ipsr)
        && match value & 0xf {
            0x1 => true,
            0x9 | 0xd => core.nvic.active_count() == 1 || !base_only,
            _ => false,
        }
}

/// Makes an exception return fail: the fault's handler is entered instead, and the frame stays stacked.
fn fail(core: &mut Core, number: u32, value: u32, fault: Fault, timing: &ExceptionTiming) -> ExceptionOutcome {
    if pend_fault(core, fault.while_unstacking()) {
        chain(core, number, value | 0xf000_0000, timing)
    } else {
        ExceptionOutcome::LockedUp
    }
}

/// Starts to unstack an exception's frame at `core.t`. [`complete`] follows.
pub(super) fn unstack<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    number: u32,
    value: u32,
    timing: &ExceptionTiming,
) -> ExceptionOutcome {
    let started = core.t;
    let kind = Return(value);
    let frame = if kind.psp() { core.psp() } else { core.msp() };
    if kind.to_thread() {
        core.ipsr = 0;
    }
    let restores = kind.float() && core.scb.fpccr & fpccr::LSPACT == 0;
    let (words, mut delay) =
        if restores { (BASIC_WORDS + FLOAT_WORDS, timing.exit_float - timing.exit) } else { (BASIC_WORDS, 0) };
    let mut at = started + 1;
    for index in 0..words {
        let address = frame.wrapping_add(4 * index as u32);
        let granted = if index == BASIC_WORDS { float_context::access(core) } else { Ok(()) };
        let allowed = if core.mpu.is_enabled() { mpu::check(core, address, Access::Read) } else { Ok(()) };
        match granted.and(allowed).and_then(|()| bus.load_data(core, address, 4, at)) {
            Ok(loaded) => {
                core.frame[index] = loaded.value;
                at += 1 + loaded.wait;
                delay += loaded.wait;
            }
            Err(fault) => return fail(core, number, value, fault, timing),
        }
    }
    core.phase = Phase::Exit { number, exc_return: value, started, delay };
    core.t = started + timing.pop_preemption + delay;
    ExceptionOutcome::Begun
}

/// Completes the exception return that [`unstack`] started, unless a more urgent exception came.
pub(super) fn complete<B: Bus, P: Pipeline>(
    core: &mut Core,
    bus: &mut B,
    pipe: &mut P,
    timing: &ExceptionTiming,
) -> ExceptionOutcome {
    let Phase::Exit { number, exc_return, started, delay } = core.phase else {
        return ExceptionOutcome::None;
    };
    core.phase = Phase::Run;
    if core.takeable().is_some() {
        return chain(core, number, exc_return, timing);
    }
    let kind = Return(exc_return);
    let xpsr = core.frame[7];
    if (xpsr & 0x1ff == 0) != kind.to_thread() {
        return fail(core, number, exc_return, Fault::InvalidPc, timing);
    }
    restore(core, kind, xpsr);
    let target = core.frame[6] & !1 | xpsr >> 24 & 1;
    let resumed = started + timing.exit + delay;
    go(core, bus, pipe, target, resumed.saturating_sub(P::REFILL));
    core.exception_cycles += resumed - started;
    ExceptionOutcome::Returned(number)
}

/// Restores registers, flags and stack pointer from the unstacked frame.
fn restore(core: &mut Core, kind: Return, xpsr: u32) {
    let [r0, r1, r2, r3, r12, lr] = [0, 1, 2, 3, 4, 5].map(|index| core.frame[index]);
    core.r[..4].copy_from_slice(&[r0, r1, r2, r3]);
    (core.r[12], core.r[14]) = (r12, lr);
    core.select_psp(kind.psp());
    let (bytes, align) =
        if kind.float() { (FLOAT_FRAME, true) } else { (BASIC_FRAME, core.scb.ccr & ccr::STKALIGN != 0) };
    let padding = if align { (xpsr >> 9 & 1) << 2 } else { 0 };
    core.r[13] = core.r[13].wrapping_add(bytes) | padding;
    core.set_xpsr(xpsr);
    core.ipsr = xpsr & 0x1ff;
    if kind.float() {
        float_context::restore(core);
    }
    core.fpca = kind.float();
    core.float_ready = false;
}
