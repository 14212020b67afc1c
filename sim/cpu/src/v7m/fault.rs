//! Why an instruction could not complete, and what that becomes: status bits, an address, an exception.

use super::nvic::exception;

/// A synchronous fault of the current instruction. The exception model turns it into a status bit and an exception
/// (ARMv7-M B1.5.14, B3.2.15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Undefined or unpredictable encoding: UFSR.UNDEFINSTR.
    Undefined,
    /// Coprocessor or FPU instruction without access: UFSR.NOCP.
    NoCoprocessor,
    /// Execution with the Thumb bit clear, or an illegal IT state: UFSR.INVSTATE.
    InvalidState,
    /// Illegal EXC_RETURN or return state: UFSR.INVPC.
    InvalidPc,
    /// Unaligned access that may not be, or is trapped: UFSR.UNALIGNED.
    Unaligned,
    /// Division by zero under CCR.DIV_0_TRP: UFSR.DIVBYZERO.
    DivideByZero,
    /// Instruction fetch from where nothing answers: BFSR.IBUSERR.
    FetchBus,
    /// Data access to an address that answers with an error: BFSR.PRECISERR with BFAR.
    DataBus(u32),
    /// Instruction fetch that the MPU or the default map forbids: MMFSR.IACCVIOL.
    FetchProtection,
    /// Data access that the MPU forbids: MMFSR.DACCVIOL with MMFAR.
    DataProtection(u32),
    /// Lazy preservation of floating-point state met an error: BFSR.LSPERR.
    LazyBus,
    /// Lazy preservation of floating-point state is forbidden by the MPU: MMFSR.MLSPERR.
    LazyProtection,
    /// BKPT with no debugger: HardFault with HFSR.DEBUGEVT.
    Breakpoint,
}

/// Bits of CFSR: MMFSR in 7:0, BFSR in 15:8, UFSR in 31:16.
pub mod cfsr {
    /// Instruction fetch forbidden.
    pub const IACCVIOL: u32 = 1 << 0;
    /// Data access forbidden.
    pub const DACCVIOL: u32 = 1 << 1;
    /// Unstacking forbidden.
    pub const MUNSTKERR: u32 = 1 << 3;
    /// Stacking forbidden.
    pub const MSTKERR: u32 = 1 << 4;
    /// Lazy preservation forbidden.
    pub const MLSPERR: u32 = 1 << 5;
    /// MMFAR holds the address.
    pub const MMARVALID: u32 = 1 << 7;
    /// Bus error on an instruction fetch.
    pub const IBUSERR: u32 = 1 << 8;
    /// Bus error of this instruction's data access.
    pub const PRECISERR: u32 = 1 << 9;
    /// Bus error of an earlier, buffered store.
    pub const IMPRECISERR: u32 = 1 << 10;
    /// Bus error on unstacking.
    pub const UNSTKERR: u32 = 1 << 11;
    /// Bus error on stacking.
    pub const STKERR: u32 = 1 << 12;
    /// Bus error on lazy preservation.
    pub const LSPERR: u32 = 1 << 13;
    /// BFAR holds the address.
    pub const BFARVALID: u32 = 1 << 15;
    /// Undefined instruction.
    pub const UNDEFINSTR: u32 = 1 << 16;
    /// EPSR.T or EPSR.IT illegal.
    pub const INVSTATE: u32 = 1 << 17;
    /// Integrity check of an exception return failed.
    pub const INVPC: u32 = 1 << 18;
    /// No coprocessor.
    pub const NOCP: u32 = 1 << 19;
    /// Unaligned access.
    pub const UNALIGNED: u32 = 1 << 24;
    /// Division by zero.
    pub const DIVBYZERO: u32 = 1 << 25;
}

/// Bits of HFSR.
pub mod hfsr {
    /// Error on reading a vector.
    pub const VECTTBL: u32 = 1 << 1;
    /// A configurable fault that could not be taken.
    pub const FORCED: u32 = 1 << 30;
    /// Debug event without a monitor that could take it.
    pub const DEBUGEVT: u32 = 1 << 31;
}

/// DFSR.BKPT.
pub const DFSR_BKPT: u32 = 1 << 1;

/// The status flags that a fault sets, its address, and the exception that it raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Bits set in CFSR. With a `VALID` bit `address` goes to MMFAR or BFAR.
    pub cfsr: u32,
    /// Address of the access, or 0.
    pub address: u32,
    /// Exception raised, if it is enabled and can be taken.
    pub exception: u32,
}

impl Fault {
    /// Returns the status flags, the address and the exception of a fault.
    pub fn record_of_fault(self) -> Record {
        let usage = |cfsr| Record { cfsr, address: 0, exception: exception::USAGE_FAULT };
        let bus = |cfsr, address| Record { cfsr, address, exception: exception::BUS_FAULT };
        let protection = |cfsr, address| Record { cfsr, address, exception: exception::MEM_MANAGE };
        match self {
            Fault::Undefined => usage(cfsr::UNDEFINSTR),
            Fault::NoCoprocessor => usage(cfsr::NOCP),
            Fault::InvalidState => usage(cfsr::INVSTATE),
            Fault::InvalidPc => usage(cfsr::INVPC),
            Fault::Unaligned => usage(cfsr::UNALIGNED),
            Fault::DivideByZero => usage(cfsr::DIVBYZERO),
            Fault::FetchBus => bus(cfsr::IBUSERR, 0),
            Fault::DataBus(address) => bus(cfsr::PRECISERR | cfsr::BFARVALID, address),
            Fault::LazyBus => bus(cfsr::LSPERR, 0),
            Fault::FetchProtection => protection(cfsr::IACCVIOL, 0),
            Fault::DataProtection(address) => protection(cfsr::DACCVIOL | cfsr::MMARVALID, address),
            Fault::LazyProtection => protection(cfsr::MLSPERR, 0),
            Fault::Breakpoint => Record { cfsr: 0, address: 0, exception: exception::DEBUG_MONITOR },
        }
    }

    /// Returns the record of a fault of a stacking access, which is reported as such, without the address.
    pub fn fault_record_of_stacking(self) -> Record {
        self.fault_record_of_frame_access(cfsr::MSTKERR, cfsr::STKERR)
    }

    /// Returns the record of a fault of an unstacking access, which is reported as such, without the address.
    pub fn fault_record_of_unstacking(self) -> Record {
        self.fault_record_of_frame_access(cfsr::MUNSTKERR, cfsr::UNSTKERR)
    }

    /// Returns the record of a fault of a frame access, with one of two flags for a protection or a bus fault.
    fn fault_record_of_frame_access(self, protection: u32, bus: u32) -> Record {
        let record = self.record_of_fault();
        let cfsr = match record.exception {
            exception::MEM_MANAGE => protection,
            exception::BUS_FAULT => bus,
            // NOCP of a frame with floating-point state, UNALIGNED of a misplaced one.
            _ => record.cfsr,
        };
        Record { cfsr, address: 0, exception: record.exception }
    }
}
