//! How an instruction class goes through the M3's and M4's execute stage, by table.

use super::super::op::InstructionTimingClass;

/// Number of classes.
pub(super) const CLASSES: usize = InstructionTimingClass::FloatSystem as usize + 1;

/// The timing rules that apply to a class of instructions besides a fixed number of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum InstructionTimingRule {
    /// Neither of them.
    Simple = 0,
    /// One load, which a neighbour may overlap.
    Load,
    /// One store, whose data phase the next instruction overlaps.
    Store,
    /// Several loads, or a load that nothing overlaps.
    LoadBlock,
    /// Several stores, or a store that nothing overlaps.
    StoreBlock,
    /// NOP: hidden after a load.
    Nop,
    /// IT: folded.
    It,
    /// Cycles depend on the operands.
    Operands,
    /// Waits for the store buffer.
    Barrier,
    /// MRS, MSR, CPS.
    System,
    /// Uses the floating-point unit's registers.
    Float,
}

/// Returns the rules and cycles of each class, as on the M4 if `m4`, else as on the M3.
const fn timing_rules_of_classes(m4: bool) -> [(InstructionTimingRule, u8); CLASSES] {
    let mut table = [(InstructionTimingRule::Simple, 1); CLASSES];
    table[InstructionTimingClass::Nop as usize].0 = InstructionTimingRule::Nop;
    table[InstructionTimingClass::It as usize].0 = InstructionTimingRule::It;
    table[InstructionTimingClass::Divide as usize].0 = InstructionTimingRule::Operands;
    if !m4 {
        table[InstructionTimingClass::MultiplyAccumulate as usize].1 =
            rtoslab_timing::cortex_m3::MULTIPLY_ACCUMULATE_CYCLES as u8;
        table[InstructionTimingClass::MultiplyLong as usize].0 = InstructionTimingRule::Operands;
        table[InstructionTimingClass::MultiplyAccumulateLong as usize].0 = InstructionTimingRule::Operands;
    }
    table[InstructionTimingClass::Load as usize].0 = InstructionTimingRule::Load;
    table[InstructionTimingClass::LoadLiteral as usize].0 = InstructionTimingRule::Load;
    table[InstructionTimingClass::LoadExclusive as usize].0 = InstructionTimingRule::Load;
    table[InstructionTimingClass::LoadPc as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::LoadDouble as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::LoadMultiple as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::LoadMultiplePc as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::TableBranch as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::FloatLoad as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::FloatLoadMultiple as usize].0 = InstructionTimingRule::LoadBlock;
    table[InstructionTimingClass::Store as usize].0 = InstructionTimingRule::Store;
    table[InstructionTimingClass::StoreExclusive as usize].0 = InstructionTimingRule::StoreBlock;
    table[InstructionTimingClass::StoreDouble as usize].0 = InstructionTimingRule::StoreBlock;
    table[InstructionTimingClass::StoreMultiple as usize].0 = InstructionTimingRule::StoreBlock;
    table[InstructionTimingClass::FloatStore as usize].0 = InstructionTimingRule::StoreBlock;
    table[InstructionTimingClass::FloatStoreMultiple as usize].0 = InstructionTimingRule::StoreBlock;
    table[InstructionTimingClass::Barrier as usize].0 = InstructionTimingRule::Barrier;
    table[InstructionTimingClass::System as usize].0 = InstructionTimingRule::System;
    let float = [
        (InstructionTimingClass::FloatSimple, rtoslab_timing::cortex_m4::FLOAT_CYCLES),
        (InstructionTimingClass::FloatMultiply, rtoslab_timing::cortex_m4::FLOAT_CYCLES),
        (InstructionTimingClass::FloatMultiplyAccumulate, rtoslab_timing::cortex_m4::FLOAT_MULTIPLY_ACCUMULATE_CYCLES),
        (InstructionTimingClass::FloatDivide, 1),
        (InstructionTimingClass::FloatSquareRoot, 1),
        (InstructionTimingClass::FloatMove, rtoslab_timing::cortex_m4::FLOAT_MOVE_CYCLES),
        (InstructionTimingClass::FloatMoveDouble, rtoslab_timing::cortex_m4::FLOAT_MOVE_DOUBLE_CYCLES),
        (InstructionTimingClass::FloatSystem, rtoslab_timing::cortex_m4::FLOAT_SYSTEM_CYCLES),
    ];
    let mut i = 0;
    while i < float.len() {
        table[float[i].0 as usize] = (InstructionTimingRule::Float, float[i].1 as u8);
        i += 1;
    }
    table
}

/// The M3's table.
pub(super) const M3: [(InstructionTimingRule, u8); CLASSES] = timing_rules_of_classes(false);
/// The M4's table.
pub(super) const M4: [(InstructionTimingRule, u8); CLASSES] = timing_rules_of_classes(true);

/// Returns the set of classes that take one cycle without any other rule, a bit each. Most instructions are of these
/// classes, and one test recognises them.
pub(super) const fn single_cycle_classes(lanes: &[(InstructionTimingRule, u8); CLASSES]) -> u64 {
    let (mut bits, mut class) = (0, 0);
    while class < CLASSES {
        if matches!(lanes[class], (InstructionTimingRule::Simple, 1)) {
            bits |= 1 << class;
        }
        class += 1;
    }
    bits
}
