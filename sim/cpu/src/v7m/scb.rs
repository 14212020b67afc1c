//! System control block: the state behind 0xE000ED00–0xE000EDFF and the registers around it that are no other
//! unit's (ARMv7-M B3.2).

use super::core::Core;
use super::fault::{Record, cfsr, hfsr};
use super::features::Features;
use super::nvic::exception;

/// Bits of CCR.
pub mod ccr {
    /// Return to thread mode with exceptions active is allowed.
    pub const NONBASETHRDENA: u32 = 1 << 0;
    /// Unprivileged code may write STIR.
    pub const USERSETMPEND: u32 = 1 << 1;
    /// Unaligned accesses fault.
    pub const UNALIGN_TRP: u32 = 1 << 3;
    /// Division by zero faults.
    pub const DIV_0_TRP: u32 = 1 << 4;
    /// NMI, HardFault and FAULTMASK ignore data bus faults.
    pub const BFHFNMIGN: u32 = 1 << 8;
    /// Frames begin at a multiple of 8.
    pub const STKALIGN: u32 = 1 << 9;
    /// Data cache on (M7).
    pub const DC: u32 = 1 << 16;
    /// Instruction cache on (M7).
    pub const IC: u32 = 1 << 17;
    /// Branch prediction on (M7: always).
    pub const BP: u32 = 1 << 18;
}

/// Bits of SCR.
pub mod scr {
    /// Sleep when the last handler returns.
    pub const SLEEPONEXIT: u32 = 1 << 1;
    /// Deep sleep.
    pub const SLEEPDEEP: u32 = 1 << 2;
    /// A freshly pending interrupt is an event.
    pub const SEVONPEND: u32 = 1 << 4;
}

/// Bits of FPCCR.
pub mod fpccr {
    /// Exception entry sets FPCA and saves state.
    pub const ASPEN: u32 = 1 << 31;
    /// It saves lazily.
    pub const LSPEN: u32 = 1 << 30;
    /// DebugMonitor could be taken when the frame was allocated.
    pub const MONRDY: u32 = 1 << 8;
    /// BusFault could.
    pub const BFRDY: u32 = 1 << 6;
    /// MemManage could.
    pub const MMRDY: u32 = 1 << 5;
    /// HardFault could.
    pub const HFRDY: u32 = 1 << 4;
    /// The frame was allocated in thread mode.
    pub const THREAD: u32 = 1 << 3;
    /// It was allocated by unprivileged code.
    pub const USER: u32 = 1 << 1;
    /// Preservation is still due.
    pub const LSPACT: u32 = 1 << 0;
}

/// DEMCR.MON_EN.
pub const DEMCR_MON_EN: u32 = 1 << 16;
/// DEMCR.MON_PEND.
pub const DEMCR_MON_PEND: u32 = 1 << 17;
/// DEMCR.TRCENA.
pub const DEMCR_TRCENA: u32 = 1 << 24;

/// SHCSR's bits: position, exception, what it shows.
const SHCSR: [(u32, u32, Shown); 14] = [
    (0, exception::MEM_MANAGE, Shown::Active),
    (1, exception::BUS_FAULT, Shown::Active),
    (3, exception::USAGE_FAULT, Shown::Active),
    (7, exception::SVCALL, Shown::Active),
    (8, exception::DEBUG_MONITOR, Shown::Active),
    (10, exception::PENDSV, Shown::Active),
    (11, exception::SYSTICK, Shown::Active),
    (12, exception::USAGE_FAULT, Shown::Pending),
    (13, exception::MEM_MANAGE, Shown::Pending),
    (14, exception::BUS_FAULT, Shown::Pending),
    (15, exception::SVCALL, Shown::Pending),
    (16, exception::MEM_MANAGE, Shown::Enabled),
    (17, exception::BUS_FAULT, Shown::Enabled),
    (18, exception::USAGE_FAULT, Shown::Enabled),
];

#[derive(Debug, Clone, Copy)]
enum Shown {
    Active,
    Pending,
    Enabled,
}

/// Registers that keep what is written to them.
#[derive(Debug, Clone)]
pub struct Scb {
    /// Vector table address.
    pub vtor: u32,
    /// System control: [`scr`].
    pub scr: u32,
    /// Configuration and control: [`ccr`].
    pub ccr: u32,
    /// Auxiliary control: no effect on what instructions do; pipelines may look.
    pub actlr: u32,
    /// Coprocessor access.
    pub cpacr: u32,
    /// Configurable fault status: [`cfsr`].
    pub cfsr: u32,
    /// HardFault status: [`hfsr`].
    pub hfsr: u32,
    /// Debug fault status.
    pub dfsr: u32,
    /// MemManage fault address.
    pub mmfar: u32,
    /// BusFault address.
    pub bfar: u32,
    /// Debug exception and monitor control.
    pub demcr: u32,
    /// Floating-point context control: [`fpccr`].
    pub fpccr: u32,
    /// Floating-point context address.
    pub fpcar: u32,
    /// Floating-point defaults.
    pub fpdscr: u32,
    /// AIRCR.SYSRESETREQ was written: the chip resets.
    pub reset_request: bool,
}

impl Scb {
    /// Reset state.
    pub fn new(features: &Features) -> Scb {
        let align = if features.stack_align { ccr::STKALIGN } else { 0 };
        let float = if features.float { fpccr::ASPEN | fpccr::LSPEN } else { 0 };
        Scb {
            vtor: 0,
            scr: 0,
            ccr: align | if features.caches { ccr::BP } else { 0 },
            actlr: 0,
            cpacr: 0,
            cfsr: 0,
            hfsr: 0,
            dfsr: 0,
            mmfar: 0,
            bfar: 0,
            demcr: 0,
            fpccr: float,
            fpcar: 0,
            fpdscr: 0,
            reset_request: false,
        }
    }

    /// Enters a fault into the status registers.
    pub fn note(&mut self, record: Record) {
        self.cfsr |= record.cfsr;
        if record.cfsr & cfsr::MMARVALID != 0 {
            self.mmfar = record.address;
        }
        if record.cfsr & cfsr::BFARVALID != 0 {
            self.bfar = record.address;
        }
    }
}

/// ICSR (B3.2.4). VECTPENDING knows BASEPRI and FAULTMASK but not PRIMASK.
fn icsr(core: &Core) -> u32 {
    let bit = |number: u32| u32::from(core.nvic.is_pending(number));
    let mask = core.boosted_priority(false);
    let vectpending = match core.nvic.candidate() {
        Some((number, priority)) if priority < mask => number,
        _ => 0,
    };
    bit(exception::NMI) << 31
        | bit(exception::PENDSV) << 28
        | bit(exception::SYSTICK) << 26
        | u32::from(core.nvic.any_line_pending()) << 22
        | vectpending << 12
        | u32::from(core.nvic.none_active_but(core.ipsr)) << 11
        | core.ipsr
}

fn set_icsr(core: &mut Core, value: u32) {
    if value >> 31 != 0 {
        super::exception::pend(core, exception::NMI);
    }
    for (number, set, clear) in [(exception::PENDSV, 28, 27), (exception::SYSTICK, 26, 25)] {
        if value >> set & 1 != 0 {
            super::exception::pend(core, number);
        } else if value >> clear & 1 != 0 {
            core.nvic.set_pending(number, false);
        }
    }
}

fn shcsr(core: &Core) -> u32 {
    SHCSR.iter().fold(0, |value, &(bit, number, shown)| {
        let on = match shown {
            Shown::Active => core.nvic.is_active(number),
            Shown::Pending => core.nvic.is_pending(number),
            Shown::Enabled => core.nvic.is_enabled(number),
        };
        value | u32::from(on) << bit
    })
}

fn set_shcsr(core: &mut Core, value: u32) {
    for (bit, number, shown) in SHCSR {
        let on = value >> bit & 1 != 0;
        match shown {
            Shown::Active => core.nvic.set_active(number, on),
            Shown::Pending => {
                core.nvic.set_pending(number, on);
            }
            Shown::Enabled => core.nvic.set_enabled(number, on),
        }
    }
}

fn set_aircr(core: &mut Core, value: u32) {
    const KEY: u32 = 0x05fa;
    if value >> 16 != KEY {
        return;
    }
    core.nvic.set_prigroup((value >> 8 & 7) as u8);
    if value & 4 != 0 {
        core.scb.reset_request = true;
        core.limit = 0;
    }
    if value & 2 != 0 {
        core.nvic.clear_active();
        core.ipsr = 0;
    }
}

/// Writable bits of CCR on this core.
fn ccr_mask(core: &Core) -> u32 {
    let common = ccr::NONBASETHRDENA | ccr::USERSETMPEND | ccr::UNALIGN_TRP | ccr::DIV_0_TRP | ccr::BFHFNMIGN;
    // STKALIGN is fixed on the M7.
    common | if core.features.caches { ccr::DC | ccr::IC } else { ccr::STKALIGN }
}

/// VTOR: the M3's table lies in the lower gigabyte.
fn vtor_mask(core: &Core) -> u32 {
    if core.features.dsp { 0xffff_ff80 } else { 0x3fff_ff80 }
}

/// CPACR: CP10 and CP11 where there is floating point.
fn cpacr_mask(core: &Core) -> u32 {
    if core.features.float { 0xf << 20 } else { 0 }
}

/// Reads a whole register at an offset from 0xE000E000; `None` if it is none of this block's.
pub fn read(core: &Core, offset: u32) -> Option<u32> {
    let scb = &core.scb;
    Some(match offset {
        0x004 => (core.nvic.line_count().div_ceil(32)).saturating_sub(1),
        0x008 => scb.actlr,
        0xd00 => core.features.cpuid,
        0xd04 => icsr(core),
        0xd08 => scb.vtor,
        0xd0c => 0xfa05_0000 | u32::from(core.nvic.prigroup()) << 8,
        0xd10 => scb.scr,
        0xd14 => scb.ccr,
        0xd18 | 0xd1c | 0xd20 => core.nvic.priority_word(4 + offset - 0xd18),
        0xd24 => shcsr(core),
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

/// Writes the byte lanes in `mask` of a register at an offset from 0xE000E000; false if it is none of this block's.
pub fn write(core: &mut Core, offset: u32, value: u32, mask: u32, now: u64) -> bool {
    let merge = |old: u32, writable: u32| old & !(mask & writable) | value & mask & writable;
    match offset {
        0x008 => core.scb.actlr = merge(core.scb.actlr, u32::MAX),
        0xd04 => set_icsr(core, value & mask),
        0xd08 => core.scb.vtor = merge(core.scb.vtor, vtor_mask(core)),
        0xd0c => set_aircr(core, value & mask),
        0xd10 => core.scb.scr = merge(core.scb.scr, scr::SLEEPONEXIT | scr::SLEEPDEEP | scr::SEVONPEND),
        0xd14 => core.scb.ccr = merge(core.scb.ccr, ccr_mask(core)),
        0xd18 | 0xd1c | 0xd20 => core.nvic.set_priority_word(4 + offset - 0xd18, value, mask),
        0xd24 => set_shcsr(core, merge(shcsr(core), u32::MAX)),
        0xd28 => core.scb.cfsr &= !(value & mask),
        0xd2c => core.scb.hfsr &= !(value & mask & (hfsr::VECTTBL | hfsr::FORCED | hfsr::DEBUGEVT)),
        0xd30 => core.scb.dfsr &= !(value & mask),
        0xd34 => core.scb.mmfar = merge(core.scb.mmfar, u32::MAX),
        0xd38 => core.scb.bfar = merge(core.scb.bfar, u32::MAX),
        0xd88 => {
            core.scb.cpacr = merge(core.scb.cpacr, cpacr_mask(core));
            core.float_ready = false;
        }
        0xdfc => set_demcr(core, merge(core.scb.demcr, 0x010f_07f1), now),
        0xf00 => {
            let line = value & 0x1ff;
            if line < core.nvic.line_count() {
                super::exception::pend(core, exception::IRQ0 + line);
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

fn set_demcr(core: &mut Core, value: u32, now: u64) {
    let clock = core.dwt.clock(now, core.sleep_cycles);
    core.scb.demcr = value & !DEMCR_MON_PEND;
    core.nvic.set_enabled(exception::DEBUG_MONITOR, value & DEMCR_MON_EN != 0);
    core.nvic.set_pending(exception::DEBUG_MONITOR, value & DEMCR_MON_PEND != 0);
    core.dwt.set_trace(value & DEMCR_TRCENA != 0, clock);
}
