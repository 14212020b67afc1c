//! Semihosting calls of a Cortex-M0+.

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::{Core, Request};
use rtoslab_cpu::v6m::exception;

use crate::debugger::semihosting::BREAKPOINT;

/// BKPT and the refill of the pipeline after it, as for a branch. The manual says no more of it.
pub const CYCLES: u64 = 2;

/// Returns whether a core has stopped at a semihosting call (BKPT 0xAB). `code` returns the halfword at an address.
pub fn is_semihosting_call(core: &Core, request: Request, code: impl FnOnce(u32) -> Option<u16>) -> bool {
    let stands = matches!(request, Request::Fault(_)) && core.thumb && core.stray.is_none() && !core.ip.is_null();
    stands && code(core.next_instruction_address()) == Some(BREAKPOINT)
}

/// Continues after the BKPT at which the core has halted. No cycles pass for the core while it is halted.
pub fn step_over_breakpoint<B: Bus>(core: &mut Core, bus: &mut B) {
    core.t += CYCLES;
    core.instructions += 1;
    let next = core.next_instruction_address().wrapping_add(2);
    exception::jump_to_interworking_address(core, bus, next | 1);
}
