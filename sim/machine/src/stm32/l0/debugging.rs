//! Semihosting calls of the core.

use rtoslab_cpu::profile::ProfileCell;

use super::machine::Machine;
use super::memory::Memories;
use super::system::System;
use crate::debugger::semihosting::{Answer, SemihostingMemory, firmware_exit_sentence};
use crate::m0plus::debugging::{CYCLES, step_over_breakpoint};
use crate::observe::ObservableCore;
use crate::stop::StopReason;

impl SemihostingMemory for Memories {
    /// Returns bytes of memory, without side effects. `None` where there is no memory.
    fn read_bytes(&self, address: u32, count: usize) -> Option<Vec<u8>> {
        self.read_bytes(address, count)
    }

    /// Writes bytes to RAM. Returns false outside of RAM.
    fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.write_ram(address, bytes)
    }
}

impl System {
    /// Returns the halfword at an address. `None` where there is no memory.
    pub(super) fn halfword_at(&self, address: u32) -> Option<u16> {
        let bytes = self.memories.read_bytes(address, 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }
}

impl Machine {
    /// Carries out the semihosting call of the breakpoint at which the core has halted.
    pub(super) fn serve_semihosting(&mut self) {
        let (core, system) = (&mut self.cores[0], &mut *self.system);
        let (pc, at) = (core.next_instruction_address(), core.t);
        let ns = system.devices.periph.elapsed_time().ns_at(at);
        let answer = system.devices.debugger.execute_call(core.r[0], core.r[1], ns, &mut system.memories);
        match answer {
            Answer::Value(value) => core.r[0] = value,
            Answer::Unsupported(value, about) => {
                core.r[0] = value;
                system.devices.warn_unsupported(&about, pc, at);
            }
            Answer::Exit(code) => {
                system.devices.stop_for_reason(StopReason::Exit, pc, at, firmware_exit_sentence(code))
            }
        }
        step_over_breakpoint(core, system);
        system.memories.add_to_profile(pc, ProfileCell { cycles: CYCLES, executions: 1, wait_cycles: 0 });
        let look = core.view_for_observer();
        self.observer.iter_mut().for_each(|observer| observer.attribute_cycles_to_instruction(0, pc, &look));
    }
}
