//! The escalation of a synchronous fault: its own exception, HardFault, or lock-up (ARMv7-M B1.5.14).

use super::core::{Core, Phase};
use super::fault::{Record, hfsr};
use super::nvic::exception;

/// Returns the exception that a synchronous fault with this number becomes: itself, HardFault if it is disabled or
/// cannot pre-empt, `None` for lock-up.
pub(super) fn escalate_fault(core: &mut Core, number: u32) -> Option<u32> {
    let priority = core.execution_priority();
    let group = core.nvic.group_priority(core.nvic.priority_of(number));
    if core.nvic.is_enabled(number) && group < priority {
        return Some(number);
    }
    if priority <= -1 {
        return None;
    }
    core.scb.hfsr |= hfsr::FORCED;
    Some(exception::HARD_FAULT)
}

/// Enters a fault into the status registers and pends the exception that it raises. False: the core is locked up.
pub(super) fn pend_fault(core: &mut Core, record: Record) -> bool {
    core.scb.record_fault(record);
    match escalate_fault(core, record.exception) {
        Some(number) => core.nvic.set_exception_pending(number, true),
        None => {
            core.phase = Phase::Lockup;
            return false;
        }
    };
    true
}
