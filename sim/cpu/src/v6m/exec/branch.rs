//! Branches: inside the region by distance, anywhere by address, and exception return.

use super::cursor::{Flow, InterpreterRegisters};
use super::fetching::{fetch_code_word, second_half_ready};
use super::operands::is_condition_met;
use crate::v6m::block::Block;
use crate::v6m::bus::Bus;
use crate::v6m::core::{Core, Request};
use crate::v6m::op::Op;
use crate::v6m::trace::Trace;
use rtoslab_timing::cortex_m0plus as timing;

const NO_CODE: &str = "instruction fetch from an address without code";
const NO_THUMB_BIT: &str = "branch to an address without the Thumb bit";

/// Returns the reason why nothing can be executed at the core's address, for a fault report.
#[cold]
pub(super) fn non_executable_address_reason(core: &Core) -> &'static str {
    match core.stray {
        None => "execution continued past the end of a memory",
        Some(_) if core.thumb => NO_CODE,
        Some(_) => NO_THUMB_BIT,
    }
}

/// Returns whether a branch to this value is an exception return: in handler mode, to an EXC_RETURN value.
#[inline(always)]
pub(super) fn returns_from_exception(core: &Core, value: u32) -> bool {
    core.ipsr != 0 && value >= 0xf000_0000
}

impl<const CONTEND: bool, const WATCH: u8> InterpreterRegisters<CONTEND, WATCH> {
    /// Executes a conditional branch inside the region.
    #[inline(always)]
    pub fn execute_conditional_branch_in_region<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        condition: bool,
    ) -> Flow {
        let taken = match (Self::TIMES, Self::PAIRED) {
            (false, _) => condition,
            (true, false) => core.trace.take_next_branch_outcome(),
            (true, true) => core.remainder.take_next_branch_outcome(),
        };
        if Self::AHEAD {
            self.branches = self.branches << 1 | u64::from(taken);
        }
        if taken {
            return self.execute_branch_in_code_region(core, bus, self.t);
        }
        self.t += timing::SINGLE_CYCLES;
        Flow::Next
    }

    /// Executes a branch inside the region, with its target fetched in cycle `at`.
    #[inline(always)]
    pub fn execute_branch_in_code_region<B: Bus>(&mut self, core: &mut Core, bus: &mut B, at: u64) -> Flow {
        self.ip = self.ip.wrapping_offset(self.word.imm() as i32 as isize);
        self.fetch_branch_target(core, bus, at);
        if Self::PAIRED && Self::AHEAD { Flow::Turned } else { Flow::Jumped }
    }

    /// Executes a BL inside the region.
    #[inline(always)]
    pub fn execute_call_in_code_region<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        core.r[14] = core.address_of_op(self.ip).wrapping_add(5);
        let second_half = second_half_ready::<CONTEND>(core, self.ip, self.t);
        self.execute_branch_in_code_region(core, bus, second_half + 1)
    }

    /// Executes a conditional branch to another region.
    #[inline(always)]
    pub fn execute_conditional_region_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        if is_condition_met(core, self.word.a()) {
            return self.branch_to_address(core, bus, self.word.imm(), self.t);
        }
        self.t += timing::SINGLE_CYCLES;
        Flow::Next
    }

    /// Executes a BL to another region.
    #[inline(always)]
    pub fn execute_call_to_other_code_region<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        core.r[14] = core.address_of_op(self.ip).wrapping_add(5);
        self.branch_to_address(core, bus, self.word.imm(), self.t + 1)
    }

    /// Executes BLX.
    #[inline(always)]
    pub fn execute_blx<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32) -> Flow {
        let link = core.address_of_op(self.ip).wrapping_add(3);
        if Self::TRACED {
            return self.branch_by_register(core, bus, target, self.t, true, Some(link));
        }
        core.r[14] = link;
        self.branch_to_thumb_address(core, bus, target, self.t)
    }

    /// Executes BX or POP {PC}: an exception return in handler mode, else the Thumb bit must be set.
    #[inline(always)]
    pub fn execute_bx<B: Bus>(&mut self, core: &mut Core, bus: &mut B, value: u32, at: u64) -> Flow {
        if Self::PAIRED && Self::TIMES && core.remainder.does_block_end_with_instruction_kind(Block::LEAVES) {
            self.t = at;
            return Flow::Jumped;
        }
        if Self::PAIRED && Self::AHEAD && returns_from_exception(core, value) {
            self.request_exception_check(Block::LEAVES);
            core.request = Request::ExceptionReturn(value);
            return Flow::Taken;
        }
        if Self::TRACED {
            return self.branch_by_register(core, bus, value, at, true, None);
        }
        if returns_from_exception(core, value) {
            self.t = at;
            return self.retire_instruction_with_request(core, Request::ExceptionReturn(value));
        }
        self.branch_to_thumb_address(core, bus, value, at)
    }

    /// Branches to another region, as [`Cursor::branch_to_address`] does, at an address that must have the Thumb bit.
    #[inline(always)]
    fn branch_to_thumb_address<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, at: u64) -> Flow {
        let flow = self.branch_to_address(core, bus, target, at);
        if flow == Flow::Jumped && target & 1 == 0 {
            self.count_retired_instruction(core);
            core.thumb = false;
            return self.fault_current_instruction(core, NO_THUMB_BIT);
        }
        flow
    }

    /// Branches to an absolute address. `at` is the cycle of the target's fetch.
    #[inline(always)]
    pub fn branch_to_address<B: Bus>(&mut self, core: &mut Core, bus: &mut B, address: u32, at: u64) -> Flow {
        if Self::TRACED {
            return self.branch_by_register(core, bus, address, at, false, None);
        }
        let address = address & !1;
        let offset = address.wrapping_sub(core.region.base);
        if offset >= core.region.bytes {
            match bus.code_region(address) {
                Some(region) => {
                    core.region = region;
                    core.bus_free = core.bus_free.max(bus.code_memory_free_cycle(core));
                }
                None => {
                    self.t = at + 2;
                    self.count_retired_instruction(core);
                    core.stray = Some(address);
                    return self.fault_current_instruction(core, NO_CODE);
                }
            }
        }
        let offset = address.wrapping_sub(core.region.base);
        self.ip = core.region.ops.wrapping_add(offset as usize / 2);
        self.fetch_branch_target(core, bus, at);
        Flow::Jumped
    }

    /// Executes a branch by register in a trace or block, which ends with it. `odd`: the target must have the Thumb
    /// bit. `link` goes to LR.
    #[inline(always)]
    fn branch_by_register<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        address: u32,
        at: u64,
        odd: bool,
        link: Option<u32>,
    ) -> Flow {
        self.ip = if CONTEND && Self::PAIRED {
            core.region.op_at_address(core.remainder.next)
        } else if CONTEND {
            core.trace.indirect_branch_target(&core.region)
        } else {
            match self.op_at_indirect_branch_target(core, address, odd) {
                Ok(target) => {
                    if let Some(link) = link {
                        core.r[14] = link;
                    }
                    target
                }
                Err(flow) => return flow,
            }
        };
        self.fetch_branch_target(core, bus, at);
        if Self::PAIRED && Self::AHEAD { Flow::Taken } else { Flow::Jumped }
    }

    /// Returns the op at the target of a branch by register, and logs it for a trace. An error if only timed execution
    /// can go there.
    #[inline(always)]
    fn op_at_indirect_branch_target(&mut self, core: &Core, address: u32, odd: bool) -> Result<*mut Op, Flow> {
        if odd && address & 1 == 0 {
            return Err(Flow::InTime);
        }
        let offset = (address & !1).wrapping_sub(core.region.base);
        if offset >= core.region.bytes {
            return Err(Flow::InTime);
        }
        let target = core.region.ops.wrapping_add(offset as usize / 2);
        if !Self::PAIRED {
            self.log_indirect_target(Trace::indirect_branch(offset))?;
        }
        Ok(target)
    }

    /// Fetches the word at a branch's target. The instruction there issues two cycles later.
    #[inline(always)]
    fn fetch_branch_target<B: Bus>(&mut self, core: &mut Core, bus: &mut B, at: u64) {
        if !CONTEND {
            self.t = at + 2;
            return;
        }
        let fetched = fetch_code_word(bus, core, self.ip, 0, at, true);
        self.t = fetched + 2;
        // A late fetch ahead is over: this one had to wait for its slot.
        if self.ip as usize & 8 != 0 {
            fetch_code_word(bus, core, self.ip, 1, fetched + 1, false);
        }
    }
}
