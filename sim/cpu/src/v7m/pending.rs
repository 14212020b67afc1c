//! Exceptions that something asks for: the chip by a line, firmware by a register (ARMv7-M B1.5.6).

use super::core::Core;
use super::scb_state::scr;

/// Makes an exception pending. With SEVONPEND a newly pending interrupt is an event, too.
pub fn pend_exception(core: &mut Core, number: u32) {
    if core.nvic.set_exception_pending(number, true) {
        note_pending_exception(core);
    }
}

/// Sets the level of an external interrupt line: a rising edge pends, and a line that is high when its handler returns
/// pends again.
pub fn set_line_level(core: &mut Core, line: u32, level: bool) {
    if core.nvic.set_line_level(line, level) {
        note_pending_exception(core);
    }
}

/// Pulses an external interrupt line, which pends.
pub fn pulse_line(core: &mut Core, line: u32) {
    set_line_level(core, line, true);
    set_line_level(core, line, false);
}

/// Sets the event register under SEVONPEND, and makes the executor return to the machine if an exception is to be taken
/// now.
fn note_pending_exception(core: &mut Core) {
    if core.scb.scr & scr::SEVONPEND != 0 {
        core.event = true;
    }
    core.request_executor_exit_for_exception();
}
