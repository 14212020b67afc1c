//! The timing of a trace that was executed already: its log is replayed into the pipeline, without effects.

use super::log::{BRANCH_BITS, CYCLES_BITS, PREDICATE_BITS, TraceTimingLog};
use super::op_kind::{do_cycles_depend_on_operands, is_store, moved_word_count, transferred_item_bytes};
use super::trace::EndReason;
use super::{CacheableTiming, Home, QuickBus};
use crate::timing_store::{Account, InstructionCycleShare};
use crate::v7m::bus::{Bus, LoadResult};
use crate::v7m::code::Code;
use crate::v7m::core::{Core, Region};
use crate::v7m::exec::block;
use crate::v7m::fault::Fault;
use crate::v7m::op::{InstructionTimingClass, Op};
use crate::v7m::pipeline::Jump;

/// A trace as it was executed: its begin, end and log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trace {
    /// First instruction.
    pub start: *mut Op,
    /// The next address.
    pub end: *mut Op,
    /// Instructions, those of failed conditions included.
    pub instructions: u32,
    /// The last one wrote a word that somebody watches.
    pub is_watched: bool,
    pub log: TraceTimingLog,
}

impl Trace {
    /// Creates a trace with at most `most` instructions that ended in the way `how`.
    #[inline(always)]
    pub fn new(start: *mut Op, ends: *mut Op, most: u32, log: TraceTimingLog, how: EndReason) -> Trace {
        let is_watched = matches!(how, EndReason::Watched { .. });
        Trace { start, end: ends, instructions: most - log.left, is_watched, log }
    }
}

/// The bus during a replay: fetches are real, but data is not accessed again.
struct TraceReplayBus<'a, B> {
    bus: &'a mut B,
    home: Home,
    /// Cycle of the last store's address phase.
    stored_at: u64,
}

// SAFETY: it gives no region and decodes nothing.
unsafe impl<B: QuickBus> Bus for TraceReplayBus<'_, B> {
    /// Fetches a code word from the real bus, because a replay repeats the fetches. Returns the cycle in which the
    /// decoder can have it.
    fn fetch_code(&mut self, core: &mut Core, address: u32, at: u64) -> u64 {
        self.bus.fetch_code(core, address, at)
    }

    /// Returns whether fetches from the real bus may have to wait.
    fn may_fetches_wait(&self) -> bool {
        self.bus.may_fetches_wait()
    }

    /// Passes a branch to `target` on to the real bus's prefetcher, because fetches are real.
    fn redirect_prefetch(&mut self, core: &mut Core, target: u32, at: u64) {
        self.bus.redirect_prefetch(core, target, at);
    }

    /// Returns the wait states of a load, with 0 for its value: the trace has the real value already. Only flash whose
    /// interface answers by time is asked again.
    fn load_data(&mut self, core: &mut Core, address: u32, bytes: u32, at: u64) -> Result<LoadResult, Fault> {
        match self.home {
            Home::Waiting => self.bus.load_data(core, address, bytes, at),
            _ => Ok(LoadResult { value: 0, wait: 0 }),
        }
    }

    /// Notes the cycle of a store that the trace has made already.
    fn store_data(&mut self, _: &mut Core, _: u32, _: u32, _: u32, at: u64) -> Result<u64, Fault> {
        self.stored_at = at;
        Ok(0)
    }

    /// Returns the number of the memory block that serves a data address.
    fn memory_block(&self, address: u32) -> u8 {
        self.bus.memory_block(address)
    }

    /// Panics: a replay enters no region of code.
    fn code_region(&mut self, _: u32) -> Option<Region> {
        unreachable!("a replay enters no region");
    }

    /// Panics: a replay decodes nothing.
    fn decode_op(&mut self, _: &Core, _: u32) {
        unreachable!("a replay decodes nothing");
    }

    /// Panics: a replay fires no probe.
    fn serve_stub_op(&mut self, _: &mut Core, _: u32, _: bool) -> Option<Op> {
        unreachable!("a replay fires no probe");
    }
}

/// The times at the start of an instruction, from which its share of the trace's cycles is computed, for the profile.
#[derive(Debug, Clone, Copy)]
struct InstructionStartTimes {
    address: u32,
    t: u64,
    waits: u64,
}

impl InstructionStartTimes {
    /// Records the state before the instruction at which the core is.
    fn record_instruction_start_times(core: &Core) -> InstructionStartTimes {
        InstructionStartTimes {
            address: core.address_of_op(core.ip),
            t: core.t,
            waits: core.bus_wait + core.flash_wait,
        }
    }

    /// Returns the share of the instruction, which has just ended.
    fn cycle_share_of_instruction(self, core: &Core) -> InstructionCycleShare {
        let (cycles, waits) = (core.t - self.t, core.bus_wait + core.flash_wait - self.waits);
        debug_assert!(waits <= u16::MAX.into());
        InstructionCycleShare {
            address: self.address,
            cycles: cycles as u32,
            waits: waits as u16,
            executions: 1,
            is_other: false,
        }
    }
}

/// Computes the cycles of an executed trace by replaying its log in the pipeline model: advances `core.t`, the pipeline
/// and the bus to the end of the trace. Notes the share of each instruction for the profile. Returns the cycle of the
/// last store's address phase.
///
/// # Safety
/// The trace was executed by this core: its instructions are ops of the region.
pub(super) unsafe fn replay_trace<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    trace: Trace,
    account: &mut Account,
) -> u64 {
    let mut log = trace.log;
    let mut bus = TraceReplayBus { bus, home: Home::First, stored_at: 0 };
    account.clear_simulated_cycle_shares();
    let mut it = 0;
    core.ip = trace.start;
    pipe.set_replaying(true);
    for _ in 0..trace.instructions {
        let begun = InstructionStartTimes::record_instruction_start_times(core);
        // SAFETY: the caller's promise.
        let mut op = unsafe { *core.ip };
        let next = core.ip.wrapping_add(op.halfword_count());
        if it != 0 {
            it = block::next_it_state(it);
            if log.take_oldest_timing_log_value(PREDICATE_BITS) == 0 {
                pipe.recall_skip(&mut log, op);
                pipe.skip_op(core, &mut bus, op);
                core.ip = next;
                core.instructions += 1;
                account.add_cycle_share_to_transition(begun.cycle_share_of_instruction(core));
                continue;
            }
            op = block::op_variant_without_flag_setting(op);
        }
        pipe.issue_op(core, &mut bus, op);
        replay_accesses(core, pipe, &mut bus, op, &mut log);
        if do_cycles_depend_on_operands(op) {
            pipe.set_cycles(op, log.take_oldest_timing_log_value(CYCLES_BITS));
        }
        if op.code == Code::It {
            it = op.imm as u8;
        }
        let near = core.ip.wrapping_offset(op.imm as i32 as isize);
        match op.class {
            InstructionTimingClass::BranchConditional | InstructionTimingClass::CompareBranch => {
                let taken = log.take_oldest_timing_log_value(BRANCH_BITS) != 0;
                pipe.recall_branch(&mut log);
                if taken {
                    replay_branch_timing(core, pipe, &mut bus, op, Jump::Conditional, near);
                } else {
                    pipe.end_untaken_branch(core, &mut bus, op);
                    core.ip = next;
                }
            }
            // MOV PC, PC among them.
            _ if matches!(op.code, Code::B | Code::Bl) => {
                pipe.recall_branch(&mut log);
                replay_branch_timing(core, pipe, &mut bus, op, Jump::Immediate, near);
            }
            // The last instruction.
            InstructionTimingClass::BranchRegister | InstructionTimingClass::LoadMultiplePc => {
                pipe.recall_branch(&mut log);
                let jump =
                    if op.class == InstructionTimingClass::BranchRegister { Jump::Register } else { Jump::Loaded };
                replay_branch_timing(core, pipe, &mut bus, op, jump, trace.end);
            }
            _ => {
                pipe.finish_op(core, op);
                core.ip = next;
            }
        }
        core.instructions += 1;
        account.add_cycle_share_to_transition(begun.cycle_share_of_instruction(core));
    }
    pipe.set_replaying(false);
    debug_assert!(core.ip == trace.end && log.is_empty(), "the replay of a trace lost its way");
    bus.stored_at
}

/// Times a taken branch to `ip`, which is in the same region of code, in a replay.
fn replay_branch_timing<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut TraceReplayBus<'_, B>,
    op: Op,
    jump: Jump,
    ip: *mut Op,
) {
    core.ip = ip;
    let target = core.address_of_op(ip);
    pipe.take_branch(core, bus, op, jump, target);
}

/// Times the memory accesses of an instruction in a replay. They all reach one memory.
fn replay_accesses<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut TraceReplayBus<'_, B>,
    op: Op,
    log: &mut TraceTimingLog,
) {
    let count = moved_word_count(op);
    if count == 0 {
        return;
    }
    let (home, first) = pipe.recall_access(bus.bus, log, op);
    bus.home = home;
    let bytes = transferred_item_bytes(op);
    for index in 0..count {
        let address = first + 4 * index;
        let answered = if is_store(op) {
            pipe.issue_store(core, bus, op, address, bytes, 0, index)
        } else {
            pipe.issue_load(core, bus, op, address, bytes, index).map(drop)
        };
        debug_assert!(answered.is_ok(), "a replayed access cannot fault");
    }
}
