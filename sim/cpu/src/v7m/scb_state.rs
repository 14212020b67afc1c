//! State of the system control block: what its registers hold (ARMv7-M B3.2).

use super::fault::{Record, cfsr};
use super::features::Features;

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

/// The registers of the system control block that keep what is written to them.
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
    /// HardFault status: `hfsr`.
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
    /// Creates the registers in their reset state.
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

    /// Records a fault in the fault status and address registers (CFSR, MMFAR, BFAR).
    pub fn record_fault(&mut self, record: Record) {
        self.cfsr |= record.cfsr;
        if record.cfsr & cfsr::MMARVALID != 0 {
            self.mmfar = record.address;
        }
        if record.cfsr & cfsr::BFARVALID != 0 {
            self.bfar = record.address;
        }
    }
}
