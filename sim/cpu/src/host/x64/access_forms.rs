//! Which loads and stores are translated, and how each accesses memory.

use crate::v7m::code::Code;
use crate::v7m::op::{Op, flag};

/// A range of main RAM, in which an access was seen.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Its offset.
    pub first: u32,
    /// Its length.
    pub bytes: u32,
}

/// The kind of memory that an access reached when its path was recorded.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// This block of main RAM.
    Ram(Block),
    /// Memory for which the loader answers with this number.
    Elsewhere(u32),
}

impl Memory {
    /// Returns the range of main RAM, or `None` for other memory.
    pub fn main_ram_block(self) -> Option<Block> {
        match self {
            Memory::Ram(block) => Some(block),
            Memory::Elsewhere(_) => None,
        }
    }
}

/// The size, direction and sign extension of a load or store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub bytes: u32,
    pub signed: bool,
    pub store: bool,
    /// Whether it loads or stores a register of the floating-point unit.
    pub single: bool,
}

/// Returns the form of a load or store of one word or less. `None` if it cannot be JIT-compiled.
pub(super) fn load_store_properties(op: Op) -> Option<Form> {
    let (bytes, signed, store) = match op.code {
        Code::LdrImm | Code::LdrReg | Code::LdrLit | Code::Vldr32 => (4, false, false),
        Code::LdrhImm | Code::LdrhReg => (2, false, false),
        Code::LdrbImm | Code::LdrbReg => (1, false, false),
        Code::LdrshImm | Code::LdrshReg => (2, true, false),
        Code::LdrsbImm | Code::LdrsbReg => (1, true, false),
        Code::StrImm | Code::StrReg | Code::Vstr32 => (4, false, true),
        Code::StrhImm | Code::StrhReg => (2, false, true),
        Code::StrbImm | Code::StrbReg => (1, false, true),
        // What would load SP is rare.
        Code::Load if op.rd != 13 => (1 << (op.ra & 3), op.ra & 4 != 0, false),
        Code::Store => (1 << (op.ra & 3), false, true),
        _ => return None,
    };
    Some(Form { bytes, signed, store, single: matches!(op.code, Code::Vldr32 | Code::Vstr32) })
}

/// Returns whether the address of the access is the constant `imm`.
pub(super) fn is_literal_access(op: Op) -> bool {
    op.code == Code::LdrLit || op.rn == 15
}

/// Returns whether the address of the access is the base register plus an offset.
pub(super) fn has_constant_offset(op: Op) -> bool {
    !matches!(op.code, Code::Load | Code::Store) || !op.has_flag(flag::POST_INDEXED)
}

/// Returns whether the address of the access is the base register plus an index register.
pub(super) fn has_register_offset(op: Op) -> bool {
    match op.code {
        Code::LdrReg | Code::LdrhReg | Code::LdrbReg | Code::LdrshReg | Code::LdrsbReg => true,
        Code::StrReg | Code::StrhReg | Code::StrbReg => true,
        Code::Load | Code::Store => op.has_flag(flag::REGISTER_OFFSET),
        _ => false,
    }
}

/// Returns whether the access writes its base register back.
pub(super) fn writes_base_back(op: Op) -> bool {
    matches!(op.code, Code::Load | Code::Store) && op.has_flag(flag::PRE_INDEXED | flag::POST_INDEXED)
}

/// Returns the offset from the base register of the word that is accessed. `None` if the access is narrower, or depends
/// on an index.
pub(super) fn accessed_word_offset(op: Op) -> Option<i32> {
    let plain = load_store_properties(op)?.bytes == 4
        && !is_literal_access(op)
        && !has_register_offset(op)
        && !writes_base_back(op)
        && has_constant_offset(op);
    plain.then_some(op.imm as i32)
}
