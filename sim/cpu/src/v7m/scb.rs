//! System control block: reads and writes of 0xE000ED00–0xE000EDFF and of the registers around it that are no other
//! unit's (ARMv7-M B3.2).

use super::core::Core;
use super::fault::hfsr;
use super::nvic::exception;

pub use super::scb_state::{DEMCR_MON_EN, DEMCR_MON_PEND, DEMCR_TRCENA, Scb, ccr, fpccr, scr};

/// Which state of a system exception a bit of SHCSR shows.
#[derive(Debug, Clone, Copy)]
enum SystemHandlerStateKind {
    Active,
    Pending,
    Enabled,
}

/// SHCSR's bits: position, exception, what it shows.
const SHCSR: [(u32, u32, SystemHandlerStateKind); 14] = [
    (0, exception::MEM_MANAGE, SystemHandlerStateKind::Active),
    (1, exception::BUS_FAULT, SystemHandlerStateKind::Active),
    (3, exception::USAGE_FAULT, SystemHandlerStateKind::Active),
    (7, exception::SVCALL, SystemHandlerStateKind::Active),
    (8, exception::DEBUG_MONITOR, SystemHandlerStateKind::Active),
    (10, exception::PENDSV, SystemHandlerStateKind::Active),
    (11, exception::SYSTICK, SystemHandlerStateKind::Active),
    (12, exception::USAGE_FAULT, SystemHandlerStateKind::Pending),
    (13, exception::MEM_MANAGE, SystemHandlerStateKind::Pending),
    (14, exception::BUS_FAULT, SystemHandlerStateKind::Pending),
    (15, exception::SVCALL, SystemHandlerStateKind::Pending),
    (16, exception::MEM_MANAGE, SystemHandlerStateKind::Enabled),
    (17, exception::BUS_FAULT, SystemHandlerStateKind::Enabled),
    (18, exception::USAGE_FAULT, SystemHandlerStateKind::Enabled),
];

/// Returns ICSR (B3.2.4). VECTPENDING takes BASEPRI and FAULTMASK into account, but not PRIMASK.
fn interrupt_control_state(core: &Core) -> u32 {
    let bit = |number: u32| u32::from(core.nvic.is_pending(number));
    let mask = core.boosted_priority(false);
    let vectpending = match core.nvic.most_urgent_pending() {
        Some((number, priority)) if priority < mask => number,
        _ => 0,
    };
    bit(exception::NMI) << 31
        | bit(exception::PENDSV) << 28
        | bit(exception::SYSTICK) << 26
        | u32::from(core.nvic.is_any_interrupt_pending()) << 22
        | vectpending << 12
        | u32::from(core.nvic.is_only_active_exception(core.ipsr)) << 11
        | core.ipsr
}

/// Writes ICSR: pends NMI, and pends or unpends PendSV and SysTick.
fn write_interrupt_control_state(core: &mut Core, value: u32) {
    if value >> 31 != 0 {
        super::pending::pend_exception(core, exception::NMI);
    }
    for (number, set, clear) in [(exception::PENDSV, 28, 27), (exception::SYSTICK, 26, 25)] {
        if value >> set & 1 != 0 {
            super::pending::pend_exception(core, number);
        } else if value >> clear & 1 != 0 {
            core.nvic.set_exception_pending(number, false);
        }
    }
}

/// Returns SHCSR.
fn system_handler_control_register(core: &Core) -> u32 {
    SHCSR.iter().fold(0, |value, &(bit, number, shown)| {
        let on = match shown {
            SystemHandlerStateKind::Active => core.nvic.is_active(number),
            SystemHandlerStateKind::Pending => core.nvic.is_pending(number),
            SystemHandlerStateKind::Enabled => core.nvic.is_enabled(number),
        };
        value | u32::from(on) << bit
    })
}

/// Writes SHCSR: enables, pends and activates system handlers.
fn write_handler_control_state(core: &mut Core, value: u32) {
    for (bit, number, shown) in SHCSR {
        let on = value >> bit & 1 != 0;
        match shown {
            SystemHandlerStateKind::Active => core.nvic.set_exception_active(number, on),
            SystemHandlerStateKind::Pending => {
                core.nvic.set_exception_pending(number, on);
            }
            SystemHandlerStateKind::Enabled => core.nvic.set_enabled(number, on),
        }
    }
}

/// Writes AIRCR, if the key is right.
fn write_reset_control(core: &mut Core, value: u32) {
    const KEY: u32 = 0x05fa;
    if value >> 16 != KEY {
        return;
    }
    core.nvic.set_priority_grouping((value >> 8 & 7) as u8);
    if value & 4 != 0 {
        core.scb.reset_request = true;
        core.limit = 0;
    }
    if value & 2 != 0 {
        core.nvic.deactivate_all_exceptions();
        core.ipsr = 0;
    }
}

/// Returns the writable bits of CCR on this core.
fn ccr_writable_bits(core: &Core) -> u32 {
    let common = ccr::NONBASETHRDENA | ccr::USERSETMPEND | ccr::UNALIGN_TRP | ccr::DIV_0_TRP | ccr::BFHFNMIGN;
    // STKALIGN is fixed on the M7.
    common | if core.features.caches { ccr::DC | ccr::IC } else { ccr::STKALIGN }
}

/// Returns the writable bits of VTOR. The M3's table is in the lower gigabyte.
fn vtor_mask(core: &Core) -> u32 {
    if core.features.dsp { 0xffff_ff80 } else { 0x3fff_ff80 }
}

/// Returns the writable bits of CPACR: CP10 and CP11 where there is floating point.
fn cpacr_mask(core: &Core) -> u32 {
    if core.features.float { 0xf << 20 } else { 0 }
}

/// Reads a whole register of the system control block at an offset from 0xE000E000. `None` at other offsets.
pub fn read_register(core: &Core, offset: u32) -> Option<u32> {
    let scb = &core.scb;
    Some(match offset {
        0x004 => (core.nvic.external_interrupt_count().div_ceil(32)).saturating_sub(1),
        0x008 => scb.actlr,
        0xd00 => core.features.cpuid,
        0xd04 => interrupt_control_state(core),
        0xd08 => scb.vtor,
        0xd0c => 0xfa05_0000 | u32::from(core.nvic.priority_grouping()) << 8,
        0xd10 => scb.scr,
        0xd14 => scb.ccr,
        0xd18 | 0xd1c | 0xd20 => core.nvic.priority_word(4 + offset - 0xd18),
        0xd24 => system_handler_control_register(core),
        0xd28 => scb.cfsr,
        0xd2c => scb.hfsr,
        0xd30 => scb.dfsr,
        0xd34 => scb.mmfar,
        0xd38 => scb.bfar,
        // AFSR: none of the cores has an auxiliary fault.
        0xd3c => 0,
        0xd88 => scb.cpacr,
        // DHCSR, DCRSR, DCRDR without a debugger.
        0xdf0 | 0xdf4 | 0xdf8 => 0,
        0xdfc => scb.demcr | if core.nvic.is_pending(exception::DEBUG_MONITOR) { DEMCR_MON_PEND } else { 0 },
        0xf34 if core.features.float => scb.fpccr,
        0xf38 if core.features.float => scb.fpcar,
        0xf3c if core.features.float => scb.fpdscr,
        _ => return None,
    })
}

/// Writes the byte lanes in `mask` of a register of the system control block. False at other offsets.
pub fn write_register(core: &mut Core, offset: u32, value: u32, mask: u32, now: u64) -> bool {
    let merge = |old: u32, writable: u32| old & !(mask & writable) | value & mask & writable;
    match offset {
        0x008 => core.scb.actlr = merge(core.scb.actlr, u32::MAX),
        0xd04 => write_interrupt_control_state(core, value & mask),
        0xd08 => core.scb.vtor = merge(core.scb.vtor, vtor_mask(core)),
        0xd0c => write_reset_control(core, value & mask),
        0xd10 => core.scb.scr = merge(core.scb.scr, scr::SLEEPONEXIT | scr::SLEEPDEEP | scr::SEVONPEND),
        0xd14 => core.scb.ccr = merge(core.scb.ccr, ccr_writable_bits(core)),
        0xd18 | 0xd1c | 0xd20 => core.nvic.set_priority_word(4 + offset - 0xd18, value, mask),
        0xd24 => write_handler_control_state(core, merge(system_handler_control_register(core), u32::MAX)),
        0xd28 => core.scb.cfsr &= !(value & mask),
        0xd2c => core.scb.hfsr &= !(value & mask & (hfsr::VECTTBL | hfsr::FORCED | hfsr::DEBUGEVT)),
        0xd30 => core.scb.dfsr &= !(value & mask),
        0xd34 => core.scb.mmfar = merge(core.scb.mmfar, u32::MAX),
        0xd38 => core.scb.bfar = merge(core.scb.bfar, u32::MAX),
        0xd88 => {
            core.scb.cpacr = merge(core.scb.cpacr, cpacr_mask(core));
            core.float_ready = false;
        }
        0xdfc => write_debug_monitor_control(core, merge(core.scb.demcr, 0x010f_07f1), now),
        0xf00 => {
            let line = value & 0x1ff;
            if line < core.nvic.external_interrupt_count() {
                super::pending::pend_exception(core, exception::IRQ0 + line);
            }
        }
        0xf34 if core.features.float => {
            core.scb.fpccr = merge(core.scb.fpccr, 0xc000_017b);
            core.float_ready = false;
        }
        0xf38 if core.features.float => core.scb.fpcar = merge(core.scb.fpcar, !7),
        0xf3c if core.features.float => core.scb.fpdscr = merge(core.scb.fpdscr, 0x07c0_0000),
        0xd00 | 0x004 | 0xd3c | 0xdf0 | 0xdf4 | 0xdf8 => {}
        _ => return false,
    }
    true
}

/// Sets DEMCR.TRCENA, as a debugger that shows trace output does.
pub fn set_trace_enable_bit(core: &mut Core, now: u64) {
    write_debug_monitor_control(core, core.scb.demcr | DEMCR_TRCENA, now);
}

/// Writes DEMCR.
fn write_debug_monitor_control(core: &mut Core, value: u32, now: u64) {
    let clock = core.dwt.cycle_counter_time_base(now, core.sleep_cycles);
    core.scb.demcr = value & !DEMCR_MON_PEND;
    core.nvic.set_enabled(exception::DEBUG_MONITOR, value & DEMCR_MON_EN != 0);
    core.nvic.set_exception_pending(exception::DEBUG_MONITOR, value & DEMCR_MON_PEND != 0);
    core.dwt.set_trace_enable(value & DEMCR_TRCENA != 0, clock);
}
