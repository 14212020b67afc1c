//! Floating-point context: access, the state an exception stacks, lazy preservation (ARMv7-M B1.5.7, DDI0403 A2.5).

use super::bus::Bus;
use super::core::Core;
use super::fault::Fault;
use super::mpu::{self, Access};
use super::nvic::exception;
use super::scb::fpccr;

/// FPSCR bits that a new context takes from FPDSCR: AHP, DN, FZ, RMode.
const DEFAULTED: u32 = 0x07c0_0000;

/// Checks that CPACR lets the current code use the FPU. The error is its fault.
pub fn require_fpu_access(core: &Core) -> Result<(), Fault> {
    let granted = core.features.float
        && match core.scb.cpacr >> 20 & 3 {
            1 => core.is_privileged(),
            3 => true,
            _ => false,
        };
    if granted { Ok(()) } else { Err(Fault::NoCoprocessor) }
}

/// Prepares the FPU for the current floating-point instruction, if [`Core::float_ready`] is not set.
pub fn prepare_fpu_for_instruction<B: Bus>(core: &mut Core, bus: &mut B) -> Result<(), Fault> {
    require_fpu_access(core)?;
    if core.scb.fpccr & fpccr::LSPACT != 0 {
        preserve_float_state(core, bus)?;
    }
    if core.scb.fpccr & fpccr::ASPEN != 0 && !core.fpca {
        core.fpscr = core.fpscr & !DEFAULTED | core.scb.fpdscr & DEFAULTED;
        core.fpca = true;
    }
    core.float_ready = true;
    Ok(())
}

/// Writes the floating-point state into the frame reserved for it, one word a cycle (assumed), with the privilege it
/// belongs to.
fn preserve_float_state<B: Bus>(core: &mut Core, bus: &mut B) -> Result<(), Fault> {
    let privileged = core.scb.fpccr & fpccr::USER == 0;
    let mut address = core.scb.fpcar;
    for word in saved_float_registers(core) {
        if core.mpu.is_enabled() && mpu::check_access_with_privilege(core, address, Access::Write, privileged).is_err()
        {
            return Err(Fault::LazyProtection);
        }
        let wait = bus.store_data(core, address, 4, word, core.t).map_err(|_| Fault::LazyBus)?;
        core.t += 1 + wait;
        address = address.wrapping_add(4);
    }
    core.scb.fpccr &= !fpccr::LSPACT;
    Ok(())
}

/// Returns S0–S15 and FPSCR, as an exception frame contains them.
pub(super) fn saved_float_registers(core: &Core) -> [u32; 17] {
    std::array::from_fn(|index| if index < 16 { core.s[index] } else { core.fpscr })
}

/// Returns whether exception entry leaves the floating-point state to be preserved later.
pub(super) fn is_preservation_lazy(core: &Core) -> bool {
    core.scb.fpccr & fpccr::LSPEN != 0
}

/// Reserves the frame at `address` for lazy preservation, and notes which faults may be reported if writing there
/// fails.
pub(super) fn reserve_lazy_frame(core: &mut Core, address: u32) {
    let priority = core.execution_priority();
    let ready = |number: u32| {
        core.nvic.is_enabled(number) && core.nvic.group_priority(core.nvic.priority_of(number)) < priority
    };
    let flags = [
        (fpccr::LSPACT, true),
        (fpccr::USER, !core.is_privileged()),
        (fpccr::THREAD, core.ipsr == 0),
        (fpccr::HFRDY, priority > -1),
        (fpccr::BFRDY, ready(exception::BUS_FAULT)),
        (fpccr::MMRDY, ready(exception::MEM_MANAGE)),
        (fpccr::MONRDY, ready(exception::DEBUG_MONITOR)),
    ];
    let mut value = core.scb.fpccr & (fpccr::ASPEN | fpccr::LSPEN);
    for (flag, on) in flags {
        value |= if on { flag } else { 0 };
    }
    core.scb.fpccr = value;
    core.scb.fpcar = address & !7;
}

/// Restores the floating-point state from a frame, or from the registers, if lazy preservation did not write it to the
/// frame.
pub(super) fn restore_float_state(core: &mut Core) {
    if core.scb.fpccr & fpccr::LSPACT != 0 {
        core.scb.fpccr &= !fpccr::LSPACT;
        return;
    }
    core.s[..16].copy_from_slice(&core.frame[8..24]);
    core.fpscr = core.frame[24];
}
