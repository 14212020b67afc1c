//! The ways a basic block may take, instruction by instruction.

use super::super::super::DualCoreBus;
use super::super::Bank;
use crate::v6m::block::{Block, UntimedBlockRemainder};
use crate::v6m::core::Core;
use crate::v6m::op::{Code, Op};
use crate::v6m::translate::convert_to_v7m_op;
use crate::v7m::code::Code as ThumbCode;
use crate::v7m::op::{Op as Thumb, flag};

/// An instruction of a basic block that is JIT-compiled: its position, its kind, and what is known after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub at: BlockPosition,
    pub op: Op,
    /// The same as ARMv7-M knows it.
    pub thumb: Thumb,
    pub kind: StepKind,
    /// The facts known after it.
    pub known: KnownBlockState,
}

/// A position inside a block: the op, the length so far and the outcomes of its branches.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockPosition {
    pub ip: *mut Op,
    /// Bytes of ops so far, and verdicts on branches: see [`Block::shape_of_path`].
    pub length: u64,
    pub branches: u64,
}

impl BlockPosition {
    /// Returns the position after the branch `op` is taken from here.
    pub fn basic_block_position_after_branch(self, op: Op) -> BlockPosition {
        let ip = self.ip.wrapping_offset(op.imm as i32 as isize);
        BlockPosition { ip, length: self.length + size_of::<Op>() as u64, ..self }
    }

    /// Returns the position after the instruction `op`, which does not branch.
    pub fn position_after_instruction(self, op: Op) -> BlockPosition {
        let halfwords = if op.is_wide() { 2 } else { 1 };
        let length = self.length + (halfwords * size_of::<Op>()) as u64;
        BlockPosition { ip: self.ip.wrapping_add(halfwords), length, ..self }
    }

    /// Returns the position with one more branch outcome.
    pub fn block_position_after_branch(self, taken: bool) -> BlockPosition {
        BlockPosition { branches: self.branches << 1 | u64::from(taken), ..self }
    }

    /// Returns whether the block continues at this position, to which the instruction at `from` leads.
    pub fn is_later_position_in_block(self, from: BlockPosition) -> bool {
        self.ip > from.ip && self.length < Block::BYTES as u64
    }
}

/// The work of native code for an instruction of a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum StepKind {
    /// Registers and flags only.
    On,
    /// A load of a literal at this address.
    Literal(u32),
    /// An access to this memory, of this number.
    Access(Bank, u32),
    /// A store to a watched word there, which ends the way.
    WatchedStore(Bank, u32),
    /// A load from constant memory.
    Constant,
    /// A load of the core's number.
    Own,
    /// A barrier, or an access to a special register.
    Special,
    /// A branch by distance: with this verdict, if it has a condition.
    Branch(Option<bool>),
    /// A branch by register, or by a word of the stack in this memory.
    Jump(Option<(Bank, u32)>),
}

/// One way through a block: its instructions and where it ends.
#[derive(Debug)]
pub(super) struct Way {
    pub steps: Vec<Step>,
    pub end: BlockPosition,
    /// Its last instruction says where execution continues.
    pub jumps: bool,
    /// Its last instruction is a store to a watched word.
    pub ends_with_report: bool,
}

/// The known facts about the execution of a block before it is JIT-compiled: the rest of the recorded execution, and
/// register values.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownBlockState {
    /// The recorded rest of its execution. `None` after a branch that it took otherwise.
    rest: Option<UntimedBlockRemainder>,
    /// It ended with a store to a watched word, after so many bytes of ops.
    watched_store_end: Option<u64>,
    /// Registers whose values its opcodes tell.
    values: [Option<u32>; 16],
}

impl KnownBlockState {
    /// Creates the known state at the begin of a block that was executed.
    pub fn new(block: &Block) -> KnownBlockState {
        let length = (block.shape & Block::REPORTS_STORE != 0).then(|| block.block_length_in_op_bytes());
        KnownBlockState {
            rest: Some(block.block_remainder_to_simulate(0, 0)),
            watched_store_end: length,
            values: [None; 16],
        }
    }

    /// Returns what is known after a branch that goes the other way than it was recorded.
    pub fn block_state_after_opposite_branch(self) -> KnownBlockState {
        KnownBlockState { rest: None, watched_store_end: None, ..self }
    }

    /// Updates the known register values by the result of an instruction.
    fn update_known_register_values<B: DualCoreBus>(&mut self, bus: &mut B, op: Op) {
        let value = match op.code {
            Code::MovImm => Some(op.imm),
            Code::LslImm => self.values[usize::from(op.b & 15)].map(|value| value << (op.imm & 31)),
            Code::LdrLitFlash => bus.word_of_code(op.imm),
            _ => None,
        };
        match op.code {
            Code::Ldm | Code::Pop | Code::Stm | Code::Push | Code::PopPc => self.values = [None; 16],
            Code::Bl | Code::Blx => self.values[14] = None,
            _ => self.values[usize::from(op.a & 15)] = value,
        }
    }
}

/// Returns the way through a block from this position on: with the recorded branches, and after them without taking
/// any. `first` is its first instruction.
///
/// # Safety
/// The place is one of the region's ops.
pub(super) unsafe fn way_from_position<B: DualCoreBus>(
    bus: &mut B,
    core: &Core,
    (from, first): (BlockPosition, Op),
    mut known: KnownBlockState,
) -> Way {
    let mut way = Way { steps: Vec::new(), end: from, jumps: false, ends_with_report: false };
    loop {
        let at = way.end;
        // SAFETY: the caller's promise; a block stays in its region, after whose last op there are others.
        let op = if at.length == 0 { first } else { unsafe { *at.ip } };
        let Some((thumb, mut kind)) = convert_to_compilable_instruction(bus, core, op, &mut known) else {
            return way;
        };
        if let StepKind::Access(bank, number) = kind
            && known.watched_store_end == Some(at.position_after_instruction(op).length)
        {
            (kind, way.ends_with_report) = (StepKind::WatchedStore(bank, number), true);
        }
        known.update_known_register_values(bus, op);
        way.steps.push(Step { at, op, thumb, kind, known });
        way.end = match kind {
            StepKind::Branch(None) => at.basic_block_position_after_branch(op),
            StepKind::Branch(Some(true)) => at.block_position_after_branch(true).basic_block_position_after_branch(op),
            StepKind::Branch(Some(false)) => at.block_position_after_branch(false).position_after_instruction(op),
            _ => at.position_after_instruction(op),
        };
        way.jumps = matches!(kind, StepKind::Jump(_));
        if way.jumps || way.ends_with_report || !way.end.is_later_position_in_block(at) {
            return way;
        }
    }
}

/// Returns an instruction as the ARMv7-M op that the JIT compiler takes, and what native code must do for it. `None` if
/// it cannot be JIT-compiled.
fn convert_to_compilable_instruction<B: DualCoreBus>(
    bus: &mut B,
    core: &Core,
    op: Op,
    known: &mut KnownBlockState,
) -> Option<(Thumb, StepKind)> {
    let thumb = match op.code {
        Code::PopPc => pop_as_multiple_load(op),
        Code::Barrier | Code::Cpsid | Code::Cpsie | Code::Msr => {
            return Some((op_without_armv7m_form(NONE), StepKind::Special));
        }
        Code::Mrs => return Some((op_without_armv7m_form(op.a), StepKind::Special)),
        _ => convert_to_v7m_op(op)?,
    };
    let kind = match op.code {
        Code::MovPc | Code::AddPc => return None,
        Code::Bx | Code::Blx => StepKind::Jump(None),
        Code::B | Code::Bl => StepKind::Branch(None),
        _ if op.is_branch_within_code_region() => {
            StepKind::Branch(Some(known.rest.as_mut().is_some_and(UntimedBlockRemainder::take_next_branch_outcome)))
        }
        _ if op.is_core_local_instruction() => StepKind::On,
        Code::LdrLit | Code::LdrLitFlash => StepKind::Literal(op.imm),
        _ => {
            let number = accessed_memory(bus, core, op, known)?;
            match (op.code, bus.ram_bank(number)) {
                (Code::PopPc, Some(bank)) => StepKind::Jump(Some((bank, number))),
                (_, Some(bank)) => StepKind::Access(bank, number),
                (Code::PopPc, None) => return None,
                (_, None) if number == B::CONSTANT_MEMORY => StepKind::Constant,
                (Code::LdrImm, None) if number == B::ORDERED_MEMORY => StepKind::Own,
                (_, None) => return None,
            }
        }
    };
    Some((thumb, kind))
}

/// No register.
const NONE: u8 = 16;

/// Returns the op that stands for an instruction that has no ARMv7-M form and sets register `rd`. It is taken to read
/// all flags.
fn op_without_armv7m_form(rd: u8) -> Thumb {
    Thumb { code: ThumbCode::Undefined, rd, rn: NONE, rm: NONE, ra: NONE, ..Thumb::default() }
}

/// Returns the number of the memory that an instruction accesses, or may access if that is not known. `None` if it
/// accesses none that has a number.
fn accessed_memory<B: DualCoreBus>(bus: &mut B, core: &Core, op: Op, known: &mut KnownBlockState) -> Option<u32> {
    if let Some(rest) = &mut known.rest {
        return rest.has_access_left().then(|| rest.take_memory_of_next_access());
    }
    let by_stack = matches!(op.code, Code::Push | Code::Pop | Code::PopPc) || op.b == 13;
    let base = if by_stack { Some(core.r[13]) } else { known.values[usize::from(op.b & 15)] };
    let Some(address) = base.map(|base| base.wrapping_add(if by_stack { 0 } else { op.imm })) else {
        // In most of it.
        return Some(0);
    };
    let offset = address.wrapping_sub(B::RAM_BASE);
    match address {
        _ if offset < bus.main_ram().length_in_bytes() => B::memory_number_at(offset & !3, 4),
        _ if address == B::OWN_NUMBER => Some(B::ORDERED_MEMORY),
        _ => bus.word_of_code(address & !3).map(|_| B::CONSTANT_MEMORY),
    }
}

/// Returns POP with PC as a load of several registers.
fn pop_as_multiple_load(op: Op) -> Thumb {
    Thumb {
        code: ThumbCode::LdmPc,
        rn: 13,
        imm: op.imm,
        shift: op.c + 1,
        flags: flag::POST_INDEXED,
        ..Thumb::default()
    }
}
