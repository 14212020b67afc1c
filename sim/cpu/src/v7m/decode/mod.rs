//! ARMv7-M and ARMv7E-M decoder: halfwords to [`Op`]. One file per group of encoding tables of the manual (A5).
//!
//! UNDEFINED and UNPREDICTABLE encodings decode to `Code::Undefined`. The executor handles encodings that are
//! UNPREDICTABLE only inside an IT block, because it alone knows its position.

mod branch_control;
mod build;
mod data_processing;
mod dsp;
mod float;
mod load_store;
mod multiple;
mod multiply;
#[cfg(test)]
mod tests;
mod thumb16;

use super::code::Code;
use super::core::Features;
use super::op::{InstructionTimingClass, Op, flag};

/// The address and code region of an instruction. The decoder computes branch targets and places of literals with them.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Address of the instruction.
    pub address: u32,
    /// First address of its code region.
    pub region_base: u32,
    /// Length of the region in bytes.
    pub region_bytes: u32,
}

impl Place {
    /// Returns the PC as the instruction sees it.
    fn pc_seen_by_instruction(self) -> u32 {
        self.address.wrapping_add(4)
    }

    /// Returns the aligned PC from which literals and ADR count.
    fn literal_base(self) -> u32 {
        self.pc_seen_by_instruction() & !3
    }

    /// Creates the op of a branch: `near` with the distance in halfwords if the target is in the same region, else
    /// `far` with the absolute address.
    fn new_branch_op(self, near: Code, far: Code, class: InstructionTimingClass, target: u32) -> Op {
        if target.wrapping_sub(self.region_base) < self.region_bytes {
            let halfwords = target.wrapping_sub(self.address) as i32 >> 1;
            Op::without_operands(near, class).set_immediate_operand(halfwords as u32)
        } else {
            Op::without_operands(far, class).set_immediate_operand(target)
        }
    }
}

const UNDEFINED: Op = Op::without_operands(Code::Undefined, InstructionTimingClass::None);

/// Returns whether `first` is the first halfword of a 32-bit encoding.
pub fn is_wide_encoding(first: u16) -> bool {
    first >= 0xe800
}

/// Decodes the instruction at `place`. `second` is the following halfword (only read by 32-bit encodings).
pub fn decode_instruction(first: u16, second: u16, place: Place, features: Features) -> Op {
    let (h, k) = (u32::from(first), u32::from(second));
    if !is_wide_encoding(first) {
        return thumb16::decode_16_bit_instruction(h, place);
    }
    decode_32_bit(h, k, place, features).with_flags(flag::WIDE)
}

/// Decodes 32-bit encodings (A5.3).
fn decode_32_bit(h: u32, k: u32, place: Place, features: Features) -> Op {
    if h & 0xec00 == 0xec00 {
        return float::decode_coprocessor(h, k, place, features);
    }
    match (h >> 11 & 3, h >> 4 & 0x7f) {
        (1, op) if op & 0x64 == 0x00 => multiple::decode_load_store_multiple(h, k),
        (1, op) if op & 0x64 == 0x04 => multiple::decode_double_exclusive_table(h, k, place),
        (1, _) => data_processing::decode_shifted_register(h, k, features),
        (2, _) if k & 0x8000 != 0 => branch_control::decode_branch_or_control(h, k, place, features),
        (2, op) if op & 0x20 == 0 => data_processing::decode_modified_immediate(h, k),
        (2, _) => data_processing::decode_plain_immediate(h, k, place, features),
        (_, op) if op & 0x71 == 0x00 => load_store::decode_store_single(h, k),
        (_, op) if op & 0x61 == 0x01 => load_store::decode_load_single(h, k, place),
        (_, op) if op & 0x70 == 0x20 => dsp::decode_register_data_processing(h, k, features),
        (_, op) if op & 0x78 == 0x30 => multiply::decode_multiply(h, k, features),
        (_, op) if op & 0x78 == 0x38 => multiply::decode_long_multiply_or_divide(h, k, features),
        _ => UNDEFINED,
    }
}

/// Returns the field of `width` bits from bit `low` on.
const fn bit_field(word: u32, low: u32, width: u32) -> u32 {
    word >> low & ((1 << width) - 1)
}

/// Returns whether a register is SP or PC, which is not permitted where the manual says "d IN {13,15}".
const fn is_sp_or_pc(register: u32) -> bool {
    register == 13 || register == 15
}
