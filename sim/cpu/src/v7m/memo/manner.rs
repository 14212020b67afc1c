//! What a trace can hold, and what its instructions access.

use super::QuickBus;
use crate::v7m::code::number as code;
use crate::v7m::core::Core;
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
}

impl Manner {
    const fn of(number: u8) -> Manner {
        match number {
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

/// Whether an instruction that could fail half-way will not.
#[inline(always)]
pub(super) fn allowed<B: QuickBus>(core: &Core, bus: &mut B, op: Op) -> bool {
    let within = |target: u32| target & 1 != 0 && target.wrapping_sub(core.region.base) < core.region.bytes;
    let base = core.reg(op.rn);
    match op.class {
        Class::BranchRegister => within(core.reg(op.rm)),
        Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => {
            let bytes = 4 * u32::from(op.shift);
            let lowest = if op.ra == 0 { base } else { base.wrapping_sub(bytes) };
            let store = op.class == Class::StoreMultiple;
            core.ici == 0
                && lowest & 3 == 0
                && bus.quick_range(lowest, bytes, store)
                && (op.class != Class::LoadMultiplePc
                    || bus.quick_load(lowest + bytes - 4, 4).is_some_and(|(target, _)| within(target)))
        }
        Class::LoadDouble | Class::StoreDouble => {
            let first = if op.has(flag::POST_INDEXED) { base } else { base.wrapping_add(op.imm) };
            op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, op.class == Class::StoreDouble)
        }
        Class::FloatLoadMultiple | Class::FloatStoreMultiple => {
            let lowest = if op.ra == 0 { base } else { base.wrapping_sub(op.imm) };
            let bytes = 4 * u32::from(op.shift);
            let store = op.class == Class::FloatStoreMultiple;
            core.float_ready && lowest & 3 == 0 && bus.quick_range(lowest, bytes, store)
        }
        Class::FloatLoad | Class::FloatStore if op.has(flag::DOUBLE) => {
            let first = base.wrapping_add(op.imm);
            let store = op.class == Class::FloatStore;
            core.float_ready && op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, store)
        }
        _ => core.float_ready,
    }
}
