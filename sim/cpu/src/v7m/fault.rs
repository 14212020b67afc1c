//! Why an instruction could not complete.

/// A synchronous fault of the current instruction; the exception model turns it into a status bit and an exception
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
    /// BKPT with no debugger: HardFault with HFSR.DEBUGEVT.
    Breakpoint,
}
