//! How an instruction class goes through the M3's and M4's execute stage, by table.

use super::super::op::Class;

/// Number of classes.
pub(super) const CLASSES: usize = Class::FloatSystem as usize + 1;

/// The timing rules that apply to a class of instructions besides a fixed number of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Lane {
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
const fn timing_rules_of_classes(m4: bool) -> [(Lane, u8); CLASSES] {
    let mut table = [(Lane::Simple, 1); CLASSES];
    table[Class::Nop as usize].0 = Lane::Nop;
    table[Class::It as usize].0 = Lane::It;
    table[Class::Divide as usize].0 = Lane::Operands;
    if !m4 {
        table[Class::MultiplyAccumulate as usize].1 = rtoslab_timing::cortex_m3::MULTIPLY_ACCUMULATE_CYCLES as u8;
        table[Class::MultiplyLong as usize].0 = Lane::Operands;
        table[Class::MultiplyAccumulateLong as usize].0 = Lane::Operands;
    }
    table[Class::Load as usize].0 = Lane::Load;
    table[Class::LoadLiteral as usize].0 = Lane::Load;
    table[Class::LoadExclusive as usize].0 = Lane::Load;
    table[Class::LoadPc as usize].0 = Lane::LoadBlock;
    table[Class::LoadDouble as usize].0 = Lane::LoadBlock;
    table[Class::LoadMultiple as usize].0 = Lane::LoadBlock;
    table[Class::LoadMultiplePc as usize].0 = Lane::LoadBlock;
    table[Class::TableBranch as usize].0 = Lane::LoadBlock;
    table[Class::FloatLoad as usize].0 = Lane::LoadBlock;
    table[Class::FloatLoadMultiple as usize].0 = Lane::LoadBlock;
    table[Class::Store as usize].0 = Lane::Store;
    table[Class::StoreExclusive as usize].0 = Lane::StoreBlock;
    table[Class::StoreDouble as usize].0 = Lane::StoreBlock;
    table[Class::StoreMultiple as usize].0 = Lane::StoreBlock;
    table[Class::FloatStore as usize].0 = Lane::StoreBlock;
    table[Class::FloatStoreMultiple as usize].0 = Lane::StoreBlock;
    table[Class::Barrier as usize].0 = Lane::Barrier;
    table[Class::System as usize].0 = Lane::System;
    let float = [
        (Class::FloatSimple, rtoslab_timing::cortex_m4::FLOAT_CYCLES),
        (Class::FloatMultiply, rtoslab_timing::cortex_m4::FLOAT_CYCLES),
        (Class::FloatMultiplyAccumulate, rtoslab_timing::cortex_m4::FLOAT_MULTIPLY_ACCUMULATE_CYCLES),
        (Class::FloatDivide, 1),
        (Class::FloatSquareRoot, 1),
        (Class::FloatMove, rtoslab_timing::cortex_m4::FLOAT_MOVE_CYCLES),
        (Class::FloatMoveDouble, rtoslab_timing::cortex_m4::FLOAT_MOVE_DOUBLE_CYCLES),
        (Class::FloatSystem, rtoslab_timing::cortex_m4::FLOAT_SYSTEM_CYCLES),
    ];
    let mut i = 0;
    while i < float.len() {
        table[float[i].0 as usize] = (Lane::Float, float[i].1 as u8);
        i += 1;
    }
    table
}

/// The M3's table.
pub(super) const M3: [(Lane, u8); CLASSES] = timing_rules_of_classes(false);
/// The M4's table.
pub(super) const M4: [(Lane, u8); CLASSES] = timing_rules_of_classes(true);

/// Returns the set of classes that take one cycle without any other rule, a bit each. Most instructions are of these
/// classes, and one test recognises them.
pub(super) const fn single_cycle_classes(lanes: &[(Lane, u8); CLASSES]) -> u64 {
    let (mut bits, mut class) = (0, 0);
    while class < CLASSES {
        if matches!(lanes[class], (Lane::Simple, 1)) {
            bits |= 1 << class;
        }
        class += 1;
    }
    bits
}
