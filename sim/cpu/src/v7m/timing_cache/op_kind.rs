//! The contents that a trace can have, and the accesses of its instructions.

use super::QuickBus;
use crate::v7m::code::{Code, number as code};
use crate::v7m::core::Core;
use crate::v7m::op::{InstructionTimingClass, Op, flag};
use crate::v7m::special::sysm;

/// How an instruction is handled in a trace: without conditions, after a check, with its operand-dependent cycles
/// logged, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum TraceInstructionKind {
    /// Register work, a single access, a branch in the region: what fails leaves no trace.
    Plain,
    /// Not at all.
    Apart,
    /// Instructions that could fail half-way and need a check first.
    Careful,
    /// Cycles depend on operands: what they were is logged.
    Operands,
}

impl TraceInstructionKind {
    /// Returns how the code with this number is handled in a trace.
    pub const fn from_code_number(number: u8) -> TraceInstructionKind {
        match number {
            code::Smull..=code::Umlal | code::Sdiv | code::Udiv => TraceInstructionKind::Operands,
            code::Ldrd | code::Strd | code::Ldm | code::LdmPc | code::Stm | code::Bx | code::Blx => {
                TraceInstructionKind::Careful
            }
            code::Vadd32..=code::Vmsr => TraceInstructionKind::Careful,
            code::Mrs | code::Msr | code::Cps | code::Barrier => TraceInstructionKind::Careful,
            code::AndImmS..=code::LdrLit | code::Load | code::Store | code::Nop | code::Preload => {
                TraceInstructionKind::Plain
            }
            code::Beq..=code::Cbnz => TraceInstructionKind::Plain,
            _ => TraceInstructionKind::Apart,
        }
    }
}

/// Returns whether the code with this number accesses memory.
pub(super) const fn accesses_memory(number: u8) -> bool {
    matches!(number, code::LdrImm..=code::LdrLit | code::Load | code::Store | code::Ldrd | code::Strd)
        || matches!(number, code::Ldm | code::LdmPc | code::Stm | code::Vldr32..=code::Vstm)
}

/// How the codes behave.
pub(super) static OP_KINDS: [TraceInstructionKind; 256] = {
    let mut table = [TraceInstructionKind::Apart; 256];
    let mut number = 0;
    while number < table.len() {
        table[number] = TraceInstructionKind::from_code_number(number as u8);
        number += 1;
    }
    table
};

/// Returns the number of words (or narrower items) that an instruction of a trace moves.
pub(super) fn moved_word_count(op: Op) -> u32 {
    match op.class {
        InstructionTimingClass::Load | InstructionTimingClass::LoadLiteral | InstructionTimingClass::Store => 1,
        InstructionTimingClass::LoadDouble | InstructionTimingClass::StoreDouble => 2,
        InstructionTimingClass::LoadMultiple
        | InstructionTimingClass::LoadMultiplePc
        | InstructionTimingClass::StoreMultiple => u32::from(op.shift),
        InstructionTimingClass::FloatLoad | InstructionTimingClass::FloatStore => {
            1 + u32::from(op.has_flag(flag::DOUBLE))
        }
        InstructionTimingClass::FloatLoadMultiple | InstructionTimingClass::FloatStoreMultiple => u32::from(op.shift),
        _ => 0,
    }
}

/// Returns the size in bytes of each word (or narrower item) that an instruction moves.
pub(super) fn transferred_item_bytes(op: Op) -> u32 {
    match op.code {
        Code::LdrbImm | Code::LdrsbImm | Code::StrbImm | Code::LdrbReg | Code::LdrsbReg | Code::StrbReg => 1,
        Code::LdrhImm | Code::LdrshImm | Code::StrhImm | Code::LdrhReg | Code::LdrshReg | Code::StrhReg => 2,
        Code::Load | Code::Store => 1 << (op.ra & 3),
        _ => 4,
    }
}

/// Returns whether an instruction stores.
pub fn is_store(op: Op) -> bool {
    use InstructionTimingClass::{FloatStore, FloatStoreMultiple, Store, StoreDouble, StoreMultiple};
    matches!(op.class, Store | StoreDouble | StoreMultiple | FloatStore | FloatStoreMultiple)
}

/// Returns whether the cycles of an instruction depend on its operands.
pub(super) fn do_cycles_depend_on_operands(op: Op) -> bool {
    OP_KINDS[op.code as usize] == TraceInstructionKind::Operands
}

/// Returns whether an instruction that could fail half-way will not fail, so that a trace may contain it.
#[inline(always)]
pub(super) fn may_trace_contain<B: QuickBus>(core: &Core, bus: &mut B, op: Op) -> bool {
    let within = |target: u32| target & 1 != 0 && target.wrapping_sub(core.region.base) < core.region.bytes;
    // Only where it is a core register: of floating point it is a number of S or D.
    let base = || core.core_register(op.rn);
    let words = 4 * u32::from(op.shift);
    match op.code {
        Code::Bx | Code::Blx => within(core.core_register(op.rm)),
        Code::Mrs => true,
        // What waits to be taken might be let in. CONTROL changes more than a register.
        Code::Msr => op.imm != sysm::CONTROL && core.nvic.most_urgent_pending().is_none(),
        Code::Cps => core.nvic.most_urgent_pending().is_none(),
        // ACTLR takes effect at one (M7).
        Code::Barrier => core.scb.actlr == 0,
        Code::Ldm | Code::LdmPc | Code::Stm => {
            let lowest = if op.ra == 0 { base() } else { base().wrapping_sub(words) };
            core.ici == 0
                && lowest & 3 == 0
                && bus.quick_range(lowest, words, op.code == Code::Stm)
                && (op.code != Code::LdmPc
                    || bus.quick_load(lowest + words - 4, 4).is_some_and(|(target, _)| within(target)))
        }
        Code::Ldrd | Code::Strd => {
            let first = if op.has_flag(flag::POST_INDEXED) { base() } else { base().wrapping_add(op.imm) };
            op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, op.code == Code::Strd)
        }
        Code::Vldm | Code::Vstm => {
            let lowest = if op.ra == 0 { base() } else { base().wrapping_sub(op.imm) };
            core.float_ready && lowest & 3 == 0 && bus.quick_range(lowest, words, op.code == Code::Vstm)
        }
        Code::Vldr64 | Code::Vstr64 => {
            let first = base().wrapping_add(op.imm);
            core.float_ready && op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, op.code == Code::Vstr64)
        }
        _ => core.float_ready,
    }
}
