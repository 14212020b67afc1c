//! Faults in a person's words.

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::v7m::fault::Fault;

use super::families::Run;
use super::machine::Machine;
use crate::stop::StopReason;

impl<F: Run> Machine<F> {
    /// Warns of a fault, or stops the run if the core is locked up by it.
    pub(super) fn report_core_fault(&mut self, fault: Fault, pc: u32, cycle: u64, outcome: ExceptionStepResult) {
        // The MPU cannot permit code in the system's region (DDI 0403E.e, B3.1).
        let never_executes = pc >> 29 == 7 || !self.core.mpu.is_enabled();
        let why = match fault {
            Fault::FetchProtection if never_executes => {
                "instruction fetch from a region that no core runs code from".to_owned()
            }
            _ => describe_fault(fault),
        };
        if outcome == ExceptionStepResult::LockedUp {
            let detail = format!("core 0 is locked up: {why} at 0x{pc:08x} inside a fault handler");
            self.system.stop_for_reason(StopReason::Lockup, pc, cycle, detail);
            return;
        }
        self.system.warnings.warn_of_handled_fault(format!("core 0 faulted at 0x{pc:08x} in cycle {cycle}: {why}"));
        if fault == Fault::FetchBus && self.system.is_read_only_memory(pc) {
            self.system.warn_of_unmodelled_address(&mut self.core, pc, "code in system memory", cycle);
        }
    }
}

/// Returns a description of a fault, for a warning.
fn describe_fault(fault: Fault) -> String {
    match fault {
        Fault::Undefined => "undefined instruction".to_owned(),
        Fault::NoCoprocessor => "floating-point or coprocessor instruction without access (CPACR)".to_owned(),
        Fault::InvalidState => "execution with the Thumb bit clear".to_owned(),
        Fault::InvalidPc => "illegal exception return".to_owned(),
        Fault::Unaligned => "unaligned access".to_owned(),
        Fault::DivideByZero => "division by zero".to_owned(),
        Fault::FetchBus => "instruction fetch from an address without code".to_owned(),
        Fault::DataBus(address) => format!("access to 0x{address:08x}, which is unmapped"),
        Fault::FetchProtection => "instruction fetch that the MPU forbids".to_owned(),
        Fault::DataProtection(address) => format!("access to 0x{address:08x} that the MPU forbids"),
        Fault::LazyBus => "saving floating-point registers to an unmapped address".to_owned(),
        Fault::LazyProtection => "saving floating-point registers to an address that the MPU forbids".to_owned(),
        Fault::Breakpoint => "BKPT without a debugger".to_owned(),
    }
}
