//! Semihosting calls of the core.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v7m::halt::step_over_breakpoint;

use super::families::Run;
use super::family::Stm32ChipFamily;
use super::machine::Machine;
use super::system::System;
use crate::debugger::semihosting::{Answer, BREAKPOINT, SemihostingMemory, firmware_exit_sentence};
use crate::observe::ObservableCore;
use crate::stop::StopReason;

impl<F: Stm32ChipFamily> SemihostingMemory for System<F> {
    /// Returns bytes of memory, without side effects. `None` where there is no memory.
    fn read_bytes(&self, address: u32, count: usize) -> Option<Vec<u8>> {
        self.memory_content_at(address, count).map(<[u8]>::to_vec)
    }

    /// Writes bytes to RAM. Returns false outside of RAM.
    fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.write_ram(address, bytes)
    }
}

impl<F: Run> Machine<F> {
    /// Returns whether the breakpoint at which the core has halted is a semihosting call that a debugger serves.
    pub(super) fn has_halted_at_semihosting_call(&self) -> bool {
        self.system.debugger.serves
            && self.core.stray.is_none()
            && self.system.halfword_at(self.core.next_instruction_address()) == BREAKPOINT
    }

    /// Carries out the semihosting call of the instruction that began at cycle `before`.
    pub(super) fn serve_semihosting(&mut self, before: u64) {
        let (pc, at) = (self.core.next_instruction_address(), self.core.t);
        let [operation, parameter] = [self.core.r[0], self.core.r[1]];
        let ns = self.system.periph.elapsed_time().ns_at(at);
        let mut debugger = std::mem::take(&mut self.system.debugger);
        let answer = debugger.execute_call(operation, parameter, ns, &mut *self.system);
        self.system.debugger = debugger;
        match answer {
            Answer::Value(value) => self.core.r[0] = value,
            Answer::Unsupported(value, about) => {
                self.core.r[0] = value;
                self.system.warn_unsupported(&mut self.core, &about, at);
            }
            Answer::Exit(code) => self.system.stop_for_reason(StopReason::Exit, pc, at, firmware_exit_sentence(code)),
        }
        step_over_breakpoint(&mut self.core, &mut *self.system, &mut self.pipe);
        let cell = ProfileCell { cycles: self.core.t - before, executions: 1, wait_cycles: 0 };
        self.system.add_to_instruction_profile(pc, cell);
        let look = self.core.view_for_observer();
        self.observer.iter_mut().for_each(|observer| observer.attribute_cycles_to_instruction(0, pc, &look));
    }
}
