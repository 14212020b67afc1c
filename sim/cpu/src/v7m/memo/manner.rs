//! What a trace can hold, and what its instructions access.

use crate::v7m::code::number as code;
use crate::v7m::op::{Class, Op, flag};

/// How the codes behave in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Manner {
    /// Register work, a single access, a branch in the region: what fails leaves no trace.
    Plain,
    /// Not at all.
    Apart,
    /// What could fail half-way: looked at first.
    Careful,
    /// Cycles depend on operands: what they were is logged.
    Operands,
    /// IT.
    Predicates,
}

impl Manner {
    const fn of(number: u8) -> Manner {
        match number {
            code::It => Manner::Predicates,
            code::Smull..=code::Umlal | code::Sdiv | code::Udiv => Manner::Operands,
            code::Ldrd | code::Strd | code::Ldm | code::LdmPc | code::Stm | code::Bx | code::Blx => Manner::Careful,
            code::Vadd32..=code::Vmsr => Manner::Careful,
            code::AndImmS..=code::LdrLit | code::Load | code::Store | code::Nop | code::Preload => Manner::Plain,
            code::Beq..=code::Cbnz => Manner::Plain,
            _ => Manner::Apart,
        }
    }
}

/// What a trace can hold, by code.
pub(super) static QUICK: [Manner; 256] = {
    let mut table = [Manner::Apart; 256];
    let mut number = 0;
    while number < table.len() {
        table[number] = Manner::of(number as u8);
        number += 1;
    }
    table
};

/// Words (or narrower items) that an instruction of a trace moves.
pub(super) fn words(op: Op) -> u32 {
    match op.class {
        Class::Load | Class::LoadLiteral | Class::Store => 1,
        Class::LoadDouble | Class::StoreDouble => 2,
        Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => u32::from(op.shift),
        Class::FloatLoad | Class::FloatStore => 1 + u32::from(op.has(flag::DOUBLE)),
        Class::FloatLoadMultiple | Class::FloatStoreMultiple => u32::from(op.shift),
        _ => 0,
    }
}

/// Bytes of each word (or narrower item) that it moves.
pub(super) fn bytes(op: Op) -> u32 {
    match op.code {
        code::LdrbImm | code::LdrsbImm | code::StrbImm | code::LdrbReg | code::LdrsbReg | code::StrbReg => 1,
        code::LdrhImm | code::LdrshImm | code::StrhImm | code::LdrhReg | code::LdrshReg | code::StrhReg => 2,
        code::Load | code::Store => 1 << (op.ra & 3),
        _ => 4,
    }
}

/// True for instructions that store.
pub(super) fn is_store(op: Op) -> bool {
    use Class::{FloatStore, FloatStoreMultiple, Store, StoreDouble, StoreMultiple};
    matches!(op.class, Store | StoreDouble | StoreMultiple | FloatStore | FloatStoreMultiple)
}

/// True for instructions whose cycles depend on operands.
pub(super) fn has_operand_cycles(op: Op) -> bool {
    QUICK[op.code as usize] == Manner::Operands
}
