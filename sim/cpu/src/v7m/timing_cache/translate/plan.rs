//! The path that a trace took, instruction by instruction, as its log tells it.

use super::super::log::{BRANCH_BITS, CYCLES_BITS, PREDICATE_BITS, TraceTimingLog};
use super::super::op_kind::{do_cycles_depend_on_operands, moved_word_count};
use super::super::replay::Trace;
use super::super::{CacheableTiming, Home, TRACE_INSTRUCTIONS};
use crate::v7m::code::Code;
use crate::v7m::exec::block;
use crate::v7m::op::{InstructionTimingClass, Op};

/// An instruction of a path, or an IT block, that is JIT-compiled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub ip: *mut Op,
    pub op: Op,
    /// The log before it.
    pub before: TraceTimingLog,
    /// The log after it.
    pub after: TraceTimingLog,
    pub kind: StepKind,
    /// The address at which execution continued.
    pub next: *mut Op,
    /// The trace ends after it.
    pub is_last: bool,
}

impl Step {
    /// Returns the number of bits that the step logged.
    pub fn timing_log_bits_of_step(&self) -> u32 {
        self.after.timing_log_bit_count() - self.before.timing_log_bit_count()
    }

    /// Returns whether execution is still on the path after the step if it continues at this op.
    pub fn does_recorded_path_continue_at(&self, ip: *mut Op) -> bool {
        self.is_last || ip == self.next
    }

    /// Returns whether the next execution of the step may continue elsewhere.
    pub fn may_jump(&self) -> bool {
        matches!(self.op.code, Code::It | Code::Bx | Code::Blx | Code::LdmPc)
    }
}

/// What native code must do for a step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Execution continues after it.
    On,
    /// The same. Its accesses went to this memory.
    Access(Home),
    /// It branched, or did not.
    Branch(bool),
    /// An IT block.
    Block,
}

/// Returns the path of a trace that was executed at its full length.
///
/// # Safety
/// The trace was executed: its instructions are ops of the region.
pub(super) unsafe fn plan_path<P: CacheableTiming>(pipe: &P, trace: Trace) -> Vec<Step> {
    let mut walk =
        TraceInstructionWalk { pipe, log: trace.log, all: trace.log, left: TRACE_INSTRUCTIONS, ip: trace.start };
    let mut steps = Vec::new();
    let behind = TRACE_INSTRUCTIONS - trace.instructions;
    while walk.left != behind {
        // SAFETY: the caller's promise.
        steps.push(unsafe { walk.next_step() });
    }
    debug_assert!(walk.log.is_empty());
    if let Some(last) = steps.last_mut() {
        (last.next, last.is_last) = (trace.end, true);
    }
    steps
}

/// A walk over the instructions of a trace, along its log.
struct TraceInstructionWalk<'a, P> {
    pipe: &'a P,
    /// The rest of the log, and all of it.
    log: TraceTimingLog,
    all: TraceTimingLog,
    /// Instructions that may still come.
    left: u32,
    ip: *mut Op,
}

impl<P: CacheableTiming> TraceInstructionWalk<'_, P> {
    /// Returns the next instruction or IT block of the trace.
    ///
    /// # Safety
    /// As for [`plan_path`].
    unsafe fn next_step(&mut self) -> Step {
        let (ip, before) = (self.ip, self.timing_log_before_instruction());
        // SAFETY: the caller's promise.
        let op = unsafe { *ip };
        let kind = if op.code == Code::It {
            // SAFETY: as above.
            unsafe { self.pass_it_block(op) };
            StepKind::Block
        } else {
            self.pass_instruction(op)
        };
        Step { ip, op, before, after: self.timing_log_before_instruction(), kind, next: self.ip, is_last: false }
    }

    /// Moves the walk past the instructions of an IT block, and past their entries in the log.
    ///
    /// # Safety
    /// As for [`plan_path`].
    unsafe fn pass_it_block(&mut self, op: Op) {
        let mut it = op.imm as u8;
        self.ip = self.ip.wrapping_add(1);
        self.left -= 1;
        while it != 0 {
            it = block::next_it_state(it);
            // SAFETY: as above.
            let op = unsafe { *self.ip };
            if self.log.take_oldest_timing_log_value(PREDICATE_BITS) == 0 {
                P::log_entry_of_skip(&mut self.log, op);
                self.ip = self.ip.wrapping_add(op.halfword_count());
                self.left -= 1;
            } else {
                self.pass_instruction(block::op_variant_without_flag_setting(op));
            }
        }
    }

    /// Moves the walk past one instruction and its entries in the log. Returns what native code must do for the
    /// instruction.
    fn pass_instruction(&mut self, op: Op) -> StepKind {
        let mut kind = StepKind::On;
        if moved_word_count(op) != 0 {
            kind = StepKind::Access(self.pipe.log_entry_of_access(&mut self.log, op, self.left));
        }
        if do_cycles_depend_on_operands(op) {
            self.log.take_oldest_timing_log_value(CYCLES_BITS);
        }
        if matches!(op.class, InstructionTimingClass::BranchConditional | InstructionTimingClass::CompareBranch) {
            kind = StepKind::Branch(self.log.take_oldest_timing_log_value(BRANCH_BITS) != 0);
        } else if matches!(op.code, Code::B | Code::Bl) {
            kind = StepKind::Branch(true);
        }
        if matches!(kind, StepKind::Branch(_))
            || matches!(op.class, InstructionTimingClass::BranchRegister | InstructionTimingClass::LoadMultiplePc)
        {
            P::log_entry_of_branch(&mut self.log);
        }
        let distance =
            if kind == StepKind::Branch(true) { op.imm as i32 as isize } else { op.halfword_count() as isize };
        self.ip = self.ip.wrapping_offset(distance);
        self.left -= 1;
        kind
    }

    /// Returns what was logged before the next instruction.
    fn timing_log_before_instruction(&self) -> TraceTimingLog {
        TraceTimingLog { bits: self.all.bits >> self.log.timing_log_bit_count(), left: self.left }
    }
}
