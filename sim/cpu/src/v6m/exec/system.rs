//! Special registers, hints, sleep, and what leaves the interpreter on purpose.

use super::cursor::{Flow, InterpreterRegisters};
use super::fetching::fetch_after_wide_instruction;
use crate::v6m::block::Block;
use crate::v6m::bus::{Bus, OrderedAccess};
use crate::v6m::core::{Core, Phase, Request};
use crate::v6m::op::Word;
use rtoslab_timing::cortex_m0plus as timing;

/// Returns whether an enabled exception is pending.
#[inline(always)]
fn is_exception_pending_here(core: &Core) -> bool {
    core.nvic.pending & core.nvic.enabled != 0
}

/// Makes the interpreter return to the machine before the core's next instruction.
#[inline(always)]
fn request_interpreter_return<B: Bus>(core: &mut Core, bus: &mut B) {
    core.limit = 0;
    *bus.next_event_cycle() = 0;
}

impl<const CONTEND: bool, const WATCH: u8> InterpreterRegisters<CONTEND, WATCH> {
    /// Executes CPSID.
    #[inline(always)]
    pub fn execute_cpsid(&mut self, core: &mut Core) {
        if core.is_privileged() {
            core.primask = true;
        }
        self.t += timing::SINGLE_CYCLES;
    }

    /// Executes CPSIE.
    #[inline(always)]
    pub fn execute_cpsie<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        if Self::TRACED && is_exception_pending_here(core) {
            if !(Self::PAIRED && Self::AHEAD) {
                return Flow::InTime;
            }
            self.end_block_after_instruction(Block::UNMASKS);
        }
        if core.is_privileged() {
            core.primask = false;
            if !Self::TRACED && is_exception_pending_here(core) {
                request_interpreter_return(core, bus);
            }
        }
        self.t += timing::SINGLE_CYCLES;
        Flow::Next
    }

    /// Executes MRS.
    #[inline(always)]
    pub fn execute_mrs<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        let value = core.read_special_register(self.word.imm());
        let register = self.word.a();
        core.r[(register & 15) as usize] = if register == 13 { value & !3 } else { value };
        self.t += timing::SPECIAL_REGISTER_CYCLES;
        self.finish_32_bit_instruction(core, bus)
    }

    /// Executes MSR.
    #[inline(always)]
    pub fn execute_msr<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        // What CONTROL says is not undone.
        const CONTROL: u32 = 20;
        if Self::PAIRED && Self::AHEAD && self.word.imm() == CONTROL {
            return Flow::InTime;
        }
        if Self::TRACED && is_exception_pending_here(core) {
            if !(Self::PAIRED && Self::AHEAD) {
                return Flow::InTime;
            }
            self.end_block_after_instruction(Block::UNMASKS);
        }
        let value = core.r[(self.word.b() & 15) as usize];
        if core.write_special_register(self.word.imm(), value) && !Self::TRACED && is_exception_pending_here(core) {
            request_interpreter_return(core, bus);
        }
        self.t += timing::SPECIAL_REGISTER_CYCLES;
        self.finish_32_bit_instruction(core, bus)
    }

    /// Executes DMB, DSB or ISB.
    #[inline(always)]
    pub fn execute_barrier<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        self.t += timing::BARRIER_CYCLES;
        self.finish_32_bit_instruction(core, bus)
    }

    /// Executes SEV.
    #[inline(always)]
    pub fn execute_sev<B: Bus>(&mut self, core: &mut Core, other: &mut Core, bus: &mut B) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        core.event = true;
        other.event = true;
        if other.is_asleep() {
            request_interpreter_return(core, bus);
        }
        self.t += timing::SINGLE_CYCLES;
        Flow::Next
    }

    /// Executes WFE.
    #[inline(always)]
    pub fn execute_wfe<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        self.t += timing::SLEEP_CYCLES;
        if core.event {
            core.event = false;
        } else {
            self.put_core_to_sleep_and_return(core, bus, Phase::SleepEvent);
        }
        Flow::Next
    }

    /// Executes WFI.
    #[inline(always)]
    pub fn execute_wfi<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        self.t += timing::SLEEP_CYCLES;
        self.put_core_to_sleep_and_return(core, bus, Phase::SleepInterrupt { on_exit: None });
        Flow::Next
    }

    /// Puts the core to sleep, by WFI or WFE, and calls the machine.
    #[inline(always)]
    fn put_core_to_sleep_and_return<B: Bus>(&self, core: &mut Core, bus: &mut B, phase: Phase) {
        core.phase = phase;
        core.slept_at = self.t;
        request_interpreter_return(core, bus);
    }

    /// Executes SVC: the exception returns to the next instruction.
    #[inline(always)]
    pub fn execute_svc(&mut self, core: &mut Core) -> Flow {
        if Self::TRACED && !Self::PAIRED {
            return Flow::InTime;
        }
        self.ip = self.ip.wrapping_add(1);
        if Self::PAIRED && Self::TIMES {
            return Flow::Jumped;
        }
        if Self::PAIRED {
            self.request_exception_check(Block::LEAVES);
            core.request = Request::Svc;
            return Flow::Taken;
        }
        self.retire_instruction_with_request(core, Request::Svc)
    }

    /// Executes a call of a boot ROM function that the machine performs.
    #[inline(always)]
    pub fn call_rom(&mut self, core: &mut Core) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        self.retire_instruction_with_request(core, Request::RomHook(self.word.imm() as u8))
    }

    /// Returns the instruction in whose place is a stub op, after doing what the stub op stands for: a cache line is
    /// filled, or probes fire.
    #[inline(always)]
    pub fn execute_stub_op_and_get_original<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Result<Word, Flow> {
        let address = core.address_of_op(self.ip);
        if Self::TIMES {
            return Ok(bus.op_behind_stub(address).pack_op_into_word());
        }
        if Self::TRACED {
            let begins = if Self::PAIRED { self.basic_block_length_to(self.ip) == 0 } else { self.count == 0 };
            if !begins {
                return Err(Flow::NextTrace);
            }
            return match bus.fire_probes_ahead(core, address) {
                OrderedAccess::Now(op) | OrderedAccess::Always(op) => Ok(op.pack_op_into_word()),
                OrderedAccess::NotYet => Err(Flow::Ordered),
                OrderedAccess::Behind | OrderedAccess::InTime => Err(Flow::InTime),
            };
        }
        if core.brought.take() != Some(address) {
            let requested = self.t;
            let stays = self.advance_time_by_callback(|at| bus.fill_code_line::<CONTEND>(core, address, at));
            if self.t > requested && self.t >= core.limit {
                // It executes in its time: the other core, an event or the end of the run comes first.
                core.brought = (!stays).then_some(address);
                return Err(Flow::Stalled);
            }
        }
        let served = std::mem::take(&mut core.retried) || core.transfer.mask != 0;
        if served {
            return Ok(bus.op_behind_stub(address).pack_op_into_word());
        }
        let Some(instruction) = bus.serve_stub_op(core, address, self.t) else {
            core.request = Request::Stopped;
            return Err(Flow::Left);
        };
        Ok(instruction.pack_op_into_word())
    }

    /// Ends a 32-bit instruction, and fetches the next word where transfers contend.
    #[inline(always)]
    fn finish_32_bit_instruction<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        if !CONTEND {
            self.ip = self.ip.wrapping_add(1);
            return Flow::Next;
        }
        self.t = fetch_after_wide_instruction(bus, core, self.ip, self.t, timing::BARRIER_CYCLES);
        self.ip = self.ip.wrapping_add(2);
        Flow::Jumped
    }
}
