//! The path that a trace took, instruction by instruction, as its log tells it.

use super::super::log::{BRANCH_BITS, CYCLES_BITS, HOME_BITS, Log, PREDICATE_BITS};
use super::super::manner::{has_operand_cycles, words};
use super::super::replay::Trace;
use super::super::{Home, TRACE_INSTRUCTIONS};
use crate::v7m::code::Code;
use crate::v7m::exec::block;
use crate::v7m::op::{Class, Op};

/// An instruction of the path, or an IT block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub ip: *mut Op,
    pub op: Op,
    /// What was logged before it.
    pub before: Log,
    /// What is logged behind it.
    pub after: Log,
    pub course: Course,
    /// The trace ends behind it.
    pub is_last: bool,
}

/// What happened at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// Execution goes on behind it.
    On,
    /// The same; its accesses went to this memory.
    Access(Home),
    /// It branched, or did not.
    Branch(bool),
    /// An IT block.
    Block,
}

/// The path of a trace that was executed at its full length.
///
/// # Safety
/// The trace was executed: its instructions are ops of the region.
pub(super) unsafe fn plan(trace: Trace) -> Vec<Step> {
    let mut walk = Walk { log: trace.log, so_far: Log::new(TRACE_INSTRUCTIONS), ip: trace.start };
    let mut steps = Vec::new();
    let behind = TRACE_INSTRUCTIONS - trace.instructions;
    while walk.so_far.left != behind {
        // SAFETY: the caller's promise.
        steps.push(unsafe { walk.step() });
    }
    debug_assert!(walk.log.is_empty());
    if let Some(last) = steps.last_mut() {
        last.is_last = true;
    }
    steps
}

struct Walk {
    log: Log,
    so_far: Log,
    ip: *mut Op,
}

impl Walk {
    /// # Safety
    /// As for [`plan`].
    unsafe fn step(&mut self) -> Step {
        let (ip, before) = (self.ip, self.so_far);
        // SAFETY: the caller's promise.
        let op = unsafe { *ip };
        let course = if op.code == Code::It {
            // SAFETY: as above.
            unsafe { self.block(op) };
            Course::Block
        } else {
            self.instruction(op)
        };
        Step { ip, op, before, after: self.so_far, course, is_last: false }
    }

    /// # Safety
    /// As for [`plan`].
    unsafe fn block(&mut self, op: Op) {
        let mut it = op.imm as u8;
        self.ip = self.ip.wrapping_add(1);
        self.so_far.left -= 1;
        while it != 0 {
            it = block::advanced(it);
            // SAFETY: as above.
            let op = unsafe { *self.ip };
            if self.take(PREDICATE_BITS) == 0 {
                self.ip = self.ip.wrapping_add(op.halfwords());
                self.so_far.left -= 1;
            } else {
                self.instruction(block::without_flags(op));
            }
        }
    }

    fn instruction(&mut self, op: Op) -> Course {
        let mut course = Course::On;
        if words(op) != 0 {
            course = Course::Access(Home::of(self.take(HOME_BITS)));
        }
        if has_operand_cycles(op) {
            self.take(CYCLES_BITS);
        }
        if matches!(op.class, Class::BranchConditional | Class::CompareBranch) {
            course = Course::Branch(self.take(BRANCH_BITS) != 0);
        } else if matches!(op.code, Code::B | Code::Bl) {
            course = Course::Branch(true);
        }
        let distance = if course == Course::Branch(true) { op.imm as i32 as isize } else { op.halfwords() as isize };
        self.ip = self.ip.wrapping_offset(distance);
        self.so_far.left -= 1;
        course
    }

    fn take(&mut self, bits: u32) -> u64 {
        let value = self.log.take(bits);
        self.so_far.push(value, bits);
        value
    }
}
