//! The path that a trace took, instruction by instruction.

use super::thumb::convert_to_v7m_op;
use crate::v6m::op::{Code, Op};
use crate::v6m::region::Region;
use crate::v6m::trace::Trace;
use crate::v7m::op::Op as Thumb;

/// An instruction of a path that is JIT-compiled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub ip: *mut Op,
    pub op: Op,
    /// The same as ARMv7-M knows it. The Thumb bit, which does not matter for POP with PC.
    pub thumb: Thumb,
    pub kind: StepKind,
    /// Verdicts on the conditional branches before it. See [`Trace::branches`].
    pub branches: u64,
}

/// What native code must do for an instruction of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Registers and flags only.
    On,
    /// An access to RAM. Or a load of a literal.
    Access,
    /// A load from constant memory, whose address is part of the trace.
    Read,
    /// It branched by distance, or did not.
    Branch(bool),
    /// It branched by register, or by a word of the stack, to this address.
    Jump(u32),
}

impl StepKind {
    /// Returns whether the same instruction can also be of another kind that can be JIT-compiled.
    pub fn has_other_compilable_op_kind(self) -> bool {
        matches!(self, StepKind::Branch(_) | StepKind::Jump(_))
    }
}

/// A path that is JIT-compiled: its instructions and where it ends.
#[derive(Debug)]
pub(super) struct Path {
    pub steps: Vec<Step>,
    /// The instruction after it.
    pub end: *mut Op,
    pub branches: u64,
}

/// Returns the path of a trace that began at `start`, up to the first instruction that cannot be JIT-compiled.
///
/// # Safety
/// The trace was executed in this region: its instructions are ops of it.
pub(super) unsafe fn plan_path(region: &Region, start: *mut Op, trace: Trace) -> Path {
    let mut verdicts = trace.trace_with_branches_in_top_bits();
    let mut path = Path { steps: Vec::new(), end: start, branches: Trace::NO_BRANCHES };
    for index in 0..trace.instructions {
        let ip = path.end;
        // SAFETY: the caller's promise.
        let op = unsafe { *ip };
        let known = if op.code == Code::PopPc { Some(Thumb::default()) } else { convert_to_v7m_op(op) };
        let Some(thumb) = known else { break };
        let mut next = ip.wrapping_add(1);
        let branches = path.branches;
        let kind = match op.code {
            Code::Bx | Code::Blx | Code::MovPc | Code::AddPc | Code::PopPc => {
                next = trace.indirect_branch_target(region);
                StepKind::Jump(region.address_of_op(next))
            }
            Code::B | Code::Bl => {
                next = ip.wrapping_offset(op.imm as i32 as isize);
                StepKind::Branch(true)
            }
            _ if op.is_branch_within_code_region() => {
                let taken = verdicts.take_next_branch_outcome();
                path.branches = branches << 1 | u64::from(taken);
                if taken {
                    next = ip.wrapping_offset(op.imm as i32 as isize);
                }
                StepKind::Branch(taken)
            }
            _ if op.is_core_local_instruction() => StepKind::On,
            _ if trace.address_of_constant_read(index).is_some() => StepKind::Read,
            _ => StepKind::Access,
        };
        path.steps.push(Step { ip, op, thumb, kind, branches });
        path.end = next;
    }
    path
}
