//! When an exception is taken, and what a fault becomes (ARMv7-M B1.5). The frame's way to memory and back is in
//! `entry` and `exit`.

use super::bus::Bus;
use super::core::{Core, Phase};
use super::entry;
use super::exit;
use super::fault::{DFSR_BKPT, Fault, cfsr, hfsr};
use super::nvic::exception;
use super::pipeline::Pipeline;
use super::scb::fpccr;

pub use super::entry::begin_entry;
pub(super) use super::escalation::pend_fault;
pub use super::exception_timing::ExceptionTiming;
pub use super::exit::exception_return;
pub use super::jump::jump_to_interworking_address;
pub use super::pending::{pend_exception, pulse_line, set_line_level};
use crate::exception_outcome::ExceptionStepResult;

use super::escalation::escalate_fault;

/// Returns whether a sleeping core must wake: a pending exception would pre-empt if PRIMASK were 0.
pub fn must_core_wake(core: &Core) -> bool {
    let mask = core.nvic.active_priority().min(core.boosted_priority(false));
    core.nvic.most_urgent_pending().is_some_and(|(_, priority)| priority < mask)
}

/// Returns whether a sleeping core has a reason to wake, even one from before it fell asleep. PRIMASK alone does not
/// prevent it.
pub fn has_reason_to_wake(core: &Core) -> bool {
    match core.phase {
        Phase::SleepEvent => core.event || must_core_wake(core),
        Phase::SleepInterrupt { .. } => must_core_wake(core),
        _ => false,
    }
}

/// Executes the step of a core's exception handling that is due at cycle `now`: takes, completes or pre-empts an
/// exception, or wakes the core. The machine calls it after each event and whenever the executor returns without a
/// request. The core's own time may be later than `now` while a frame is stacked.
pub fn execute_due_exception_step<B: Bus, P: Pipeline>(
    core: &mut Core,
    bus: &mut B,
    pipe: &mut P,
    timing: &ExceptionTiming,
    now: u64,
) -> ExceptionStepResult {
    match core.phase {
        Phase::Entry { .. } if core.t <= now => entry::complete_entry(core, bus, pipe, timing),
        Phase::Exit { .. } if core.t <= now => exit::complete_exception_return(core, bus, pipe, timing),
        Phase::Exit { number, exc_return, started, .. } if core.exception_to_take().is_some() => {
            // What came while the returning instruction executed finds the return begun.
            core.t = now.max(started);
            entry::start_tail_chaining(core, number, exc_return, timing)
        }
        Phase::Run => {
            if core.refetch {
                look_up_code_region(core, bus);
            }
            match core.exception_to_take() {
                Some(number) => entry::begin_entry(core, bus, number, timing),
                None => ExceptionStepResult::None,
            }
        }
        Phase::SleepEvent if has_reason_to_wake(core) => {
            core.event = false;
            wake_core(core, now);
            ExceptionStepResult::Woken
        }
        Phase::SleepInterrupt { on_exit } if has_reason_to_wake(core) => {
            wake_core(core, now);
            match on_exit {
                None => ExceptionStepResult::Woken,
                Some(exc_return) if core.exception_to_take().is_some() => {
                    entry::start_tail_chaining(core, 0, exc_return, timing)
                }
                Some(exc_return) => exit::start_unstacking(core, bus, 0, exc_return, timing),
            }
        }
        _ => ExceptionStepResult::None,
    }
}

/// Wakes the core at cycle `now`.
fn wake_core(core: &mut Core, now: u64) {
    core.t = core.t.max(now);
    core.sleep_cycles += core.t - core.slept_at;
    core.phase = Phase::Run;
}

/// Takes a synchronous fault at the current instruction.
pub fn take_synchronous_fault<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    fault: Fault,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    match fault {
        Fault::Breakpoint => return take_breakpoint_exception(core, bus, timing),
        Fault::LazyBus | Fault::LazyProtection => return take_lazy_preservation_fault(core, bus, fault, timing),
        _ => {}
    }
    if !pend_fault(core, fault.record_of_fault()) {
        return ExceptionStepResult::LockedUp;
    }
    // The instruction did not complete: what it had moved it moves again.
    (core.ici, core.words_moved) = (0, 0);
    begin_pending_exception_entry(core, bus, timing)
}

/// Takes a BKPT without a debugger: DebugMonitor if that is enabled and can be taken, else HardFault.
fn take_breakpoint_exception<B: Bus>(core: &mut Core, bus: &mut B, timing: &ExceptionTiming) -> ExceptionStepResult {
    let priority = core.execution_priority();
    let monitor = exception::DEBUG_MONITOR;
    if core.nvic.is_enabled(monitor) && core.nvic.group_priority(core.nvic.priority_of(monitor)) < priority {
        core.scb.dfsr |= DFSR_BKPT;
        core.nvic.set_exception_pending(monitor, true);
    } else if priority > -1 {
        core.scb.hfsr |= hfsr::DEBUGEVT;
        core.scb.dfsr |= DFSR_BKPT;
        core.nvic.set_exception_pending(exception::HARD_FAULT, true);
    } else {
        core.phase = Phase::Lockup;
        return ExceptionStepResult::LockedUp;
    }
    begin_pending_exception_entry(core, bus, timing)
}

/// Takes the fault of a lazy preservation: floating-point state could not be written to its frame. The fault belongs to
/// code that an exception interrupted earlier, so it is reported as it could have been then. If its exception cannot be
/// taken now, the instruction continues.
fn take_lazy_preservation_fault<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    fault: Fault,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    let record = fault.record_of_fault();
    let ready = if record.exception == exception::BUS_FAULT { fpccr::BFRDY } else { fpccr::MMRDY };
    core.scb.record_fault(record);
    let number = if core.scb.fpccr & ready != 0 {
        record.exception
    } else if core.scb.fpccr & fpccr::HFRDY != 0 {
        core.scb.hfsr |= hfsr::FORCED;
        exception::HARD_FAULT
    } else {
        core.phase = Phase::Lockup;
        return ExceptionStepResult::LockedUp;
    };
    core.nvic.set_exception_pending(number, true);
    if core.exception_to_take().is_none() {
        core.scb.fpccr &= !fpccr::LSPACT;
    }
    begin_pending_exception_entry(core, bus, timing)
}

/// Takes an SVC at once, or a HardFault if it cannot pre-empt.
pub fn take_supervisor_call<B: Bus>(core: &mut Core, bus: &mut B, timing: &ExceptionTiming) -> ExceptionStepResult {
    match escalate_fault(core, exception::SVCALL) {
        Some(number) => {
            core.nvic.set_exception_pending(number, true);
            begin_pending_exception_entry(core, bus, timing)
        }
        None => {
            core.phase = Phase::Lockup;
            ExceptionStepResult::LockedUp
        }
    }
}

/// Pends a BusFault for a buffered store that met an error after its instruction had ended.
pub fn pend_imprecise_bus_fault(core: &mut Core) {
    core.scb.cfsr |= cfsr::IMPRECISERR;
    if core.nvic.is_enabled(exception::BUS_FAULT) {
        pend_exception(core, exception::BUS_FAULT);
    } else {
        core.scb.hfsr |= hfsr::FORCED;
        pend_exception(core, exception::HARD_FAULT);
    }
}

/// Starts the entry of the exception that is to be taken now, if there is one.
fn begin_pending_exception_entry<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    match core.exception_to_take() {
        Some(number) => entry::begin_entry(core, bus, number, timing),
        None => ExceptionStepResult::None,
    }
}

/// Looks up the core's region again, because execution permissions changed.
pub fn look_up_code_region<B: Bus>(core: &mut Core, bus: &mut B) {
    let target = core.next_instruction_address() | u32::from(core.thumb);
    jump_to_interworking_address(core, bus, target);
}

/// Starts a core after reset: stack pointer and start address from the vector table at `table`, first fetch in cycle
/// `core.t`.
pub fn start_core<B: Bus, P: Pipeline>(core: &mut Core, bus: &mut B, pipe: &mut P, table: u32) {
    core.scb.vtor = table;
    core.phase = Phase::Run;
    let at = core.t;
    let mut word = |core: &mut Core, address| bus.load_data(core, address, 4, at).map(|loaded| loaded.value);
    match (word(core, table), word(core, table.wrapping_add(4))) {
        (Ok(stack), Ok(target)) => {
            core.r[13] = stack & !3;
            core.r[14] = u32::MAX;
            entry::continue_execution_at_target(core, bus, pipe, target, at);
        }
        _ => core.phase = Phase::Lockup,
    }
}

#[cfg(test)]
mod tests;
