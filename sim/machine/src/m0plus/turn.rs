//! The steps of a run loop that concern one core: requests, waking, exception entry, execution.

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::exception::{self, ExceptionTiming};
use rtoslab_cpu::v6m::exec;

/// Returns whether a core executes, or stacks for an exception.
pub fn is_core_active(core: &Core) -> bool {
    matches!(core.phase, Phase::Run | Phase::Entry { .. })
}

/// A fault that a core took: the reason, its place, and the sentence of a lock-up.
pub struct FaultOutcome {
    /// The cause, in a few words.
    pub why: &'static str,
    /// Address of the instruction.
    pub pc: u32,
    /// Its cycle.
    pub cycle: u64,
    /// Whether the core locks up in a handler that must not fault. One sentence about that.
    pub lock_up: Option<String>,
}

/// Carries out the request for which a core has left the interpreter: an SVC, an exception return or a fault. Requests
/// of the chip, such as ROM functions, are not carried out here.
pub fn serve_core_request<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    request: Request,
    timing: ExceptionTiming,
) -> (ExceptionStepResult, Option<FaultOutcome>) {
    match request {
        Request::None | Request::Stopped | Request::RomHook(_) => (ExceptionStepResult::None, None),
        Request::Svc => {
            exception::take_supervisor_call::<B, true>(core, bus, timing);
            (ExceptionStepResult::None, None)
        }
        Request::ExceptionReturn(value) => (exception::exception_return::<B, true>(core, bus, value, timing), None),
        Request::Fault(why) => {
            let (pc, cycle) = (core.next_instruction_address(), core.t);
            exception::take_hard_fault::<B, true>(core, bus, timing);
            let lock_up = (core.phase == Phase::Lockup)
                .then(|| format!("core {} is locked up: {why} at 0x{pc:08x} inside a fault handler", core.id));
            (ExceptionStepResult::None, Some(FaultOutcome { why, pc, cycle, lock_up }))
        }
    }
}

/// Wakes a sleeping core if there is a reason, at cycle `now` or when it fell asleep. Returns the outcome of an
/// exception, and the cycle in which it began. `None` if it sleeps on.
pub fn wake_sleeping_core<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    now: u64,
    timing: ExceptionTiming,
) -> Option<(ExceptionStepResult, u64)> {
    let woken = match core.phase {
        Phase::SleepEvent => core.event || exception::must_core_wake(core),
        Phase::SleepInterrupt { .. } => exception::must_core_wake(core),
        _ => false,
    };
    if !woken {
        return None;
    }
    core.t = core.t.max(now);
    core.sleep_cycles += core.t - core.slept_at;
    let before = core.t;
    let outcome = match core.phase {
        Phase::SleepInterrupt { on_exit: Some(value) } => {
            exception::enter_handler_from_sleep_on_exit(core, bus, value, timing)
        }
        phase => {
            core.event &= phase != Phase::SleepEvent;
            core.phase = Phase::Run;
            ExceptionStepResult::None
        }
    };
    Some((outcome, before))
}

/// Begins an exception entry, or completes one whose time has come. Returns the outcome, and the cycle in which it
/// began. `None` if the core's time did not change.
pub fn advance_exception_entry<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    now: u64,
    timing: ExceptionTiming,
) -> Option<(ExceptionStepResult, u64)> {
    match core.phase {
        Phase::Entry { recognised, .. } if core.t <= now => {
            Some((exception::complete_entry(core, bus, timing), recognised))
        }
        Phase::Run => {
            let number = exception::exception_to_take(core)?;
            exception::begin_entry::<B, true>(core, bus, number, timing);
            Some((ExceptionStepResult::None, core.t))
        }
        _ => None,
    }
}

/// Returns the reason why a core is locked up that cannot store its frame or fetch its vector.
pub fn lock_up_reason_at_entry(core: &Core) -> String {
    format!("core {} is locked up: its stack or vector table cannot be accessed", core.id)
}

/// Executes `cores[turn]`, and under `contend` the other one too, in the mode that `watch` selects.
///
/// # Safety
/// As for [`exec::run_cores`].
pub unsafe fn execute_core_turn<B: Bus>(cores: *mut Core, turn: usize, bus: &mut B, contend: bool, watch: u8) {
    // SAFETY: the caller's promise.
    unsafe {
        match (contend, watch) {
            (true, watch::NOTHING) => exec::run_cores::<B, true, { watch::NOTHING }>(cores, turn, bus),
            (true, watch::PROFILE) => exec::run_cores::<B, true, { watch::PROFILE }>(cores, turn, bus),
            (true, _) => exec::run_cores::<B, true, { watch::STEPS }>(cores, turn, bus),
            (false, watch::NOTHING) => exec::run_cores::<B, false, { watch::NOTHING }>(cores, turn, bus),
            (false, watch::PROFILE) => exec::run_cores::<B, false, { watch::PROFILE }>(cores, turn, bus),
            (false, _) => exec::run_cores::<B, false, { watch::STEPS }>(cores, turn, bus),
        }
    }
}
