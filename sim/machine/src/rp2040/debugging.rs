//! Semihosting calls of the cores.

use rtoslab_cpu::v6m::core::{Core, Request};

use super::system::System;
use crate::debugger::semihosting::{Answer, SemihostingMemory, firmware_exit_sentence};
use crate::m0plus::debugging::{CYCLES, is_semihosting_call, step_over_breakpoint};
use crate::stop::StopReason;

impl SemihostingMemory for System {
    /// Returns bytes of memory, without side effects. `None` where there is no memory.
    fn read_bytes(&self, address: u32, count: usize) -> Option<Vec<u8>> {
        self.memory_content_at(address, count).map(<[u8]>::to_vec)
    }

    /// Writes bytes to RAM. Returns false outside of RAM.
    fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.write_sram(address, bytes)
    }
}

impl System {
    /// Returns whether a request of a core is a semihosting call that a debugger serves.
    pub(super) fn is_semihosting_request(&self, core: &Core, request: Request) -> bool {
        let halfword = |pc| self.memory_content_at(pc, 2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        self.debugger.serves && is_semihosting_call(core, request, halfword)
    }

    /// Carries out the semihosting call at whose breakpoint a core has halted.
    pub(super) fn serve_semihosting(&mut self, core: &mut Core) {
        let (pc, at) = (core.next_instruction_address(), core.t);
        let mut debugger = std::mem::take(&mut self.debugger);
        let answer = debugger.execute_call(core.r[0], core.r[1], self.periph.clock_tree().elapsed.ns_at(at), self);
        self.debugger = debugger;
        match answer {
            Answer::Value(value) => core.r[0] = value,
            Answer::Unsupported(value, about) => {
                core.r[0] = value;
                self.warn_unsupported(core, &about, at);
            }
            Answer::Exit(code) => self.stop_for_reason(StopReason::Exit, core, pc, at, firmware_exit_sentence(code)),
        }
        self.add_cycles_to_profile(core, CYCLES, 1);
        step_over_breakpoint(core, self);
    }
}
