//! 32-bit single loads and stores, memory hints (A5.3.7 to A5.3.10).

use super::{Place, UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// `ra` of the general codes: sign extension.
const SIGNED: u32 = 1 << 2;
/// `ra` of the general codes: access with the rights of unprivileged code.
const UNPRIVILEGED: u32 = 1 << 3;

/// The addressing mode of a load or store.
enum AddressingMode {
    /// Base plus offset.
    Offset(u32),
    /// The same, base written back: these flags.
    Indexed(u32, u8),
    /// Base plus offset, unprivileged.
    Unprivileged(u32),
    /// Base plus `rm << shift`.
    Register(u32, u32),
}

/// Returns the addressing mode of all but literal accesses. `None`: UNDEFINED or UNPREDICTABLE.
fn decode_load_store_addressing_mode(h: u32, k: u32) -> Option<AddressingMode> {
    if h & 0x80 != 0 {
        return Some(AddressingMode::Offset(bit_field(k, 0, 12)));
    }
    let imm8 = bit_field(k, 0, 8);
    let offset = if k & 0x200 != 0 { imm8 } else { imm8.wrapping_neg() };
    match bit_field(k, 6, 6) {
        0 => {
            let rm = bit_field(k, 0, 4);
            (!is_sp_or_pc(rm)).then_some(AddressingMode::Register(rm, bit_field(k, 4, 2)))
        }
        0b10_0000..=0b11_1111 => match bit_field(k, 8, 3) {
            0b100 => Some(AddressingMode::Offset(offset)),
            0b110 => Some(AddressingMode::Unprivileged(offset)),
            0b101 | 0b111 => Some(AddressingMode::Indexed(offset, flag::PRE_INDEXED)),
            0b001 | 0b011 => Some(AddressingMode::Indexed(offset, flag::POST_INDEXED)),
            _ => None,
        },
        _ => None,
    }
}

impl Op {
    /// Sets the addressing mode, with the code for plain offsets, for register offsets, and the general one.
    fn with_addressing_mode(self, how: &AddressingMode, codes: [Code; 3]) -> Op {
        let [offset, register, general] = codes.map(|code| Op { code, ..self });
        match *how {
            AddressingMode::Offset(imm) => offset.set_immediate_operand(imm),
            AddressingMode::Register(rm, amount) => {
                register.set_second_operand(rm).set_shift_field(amount).with_flags(flag::REGISTER_OFFSET)
            }
            AddressingMode::Indexed(imm, flags) => {
                general.set_immediate_operand(imm).mark_base_register_written_back().with_flags(flags)
            }
            AddressingMode::Unprivileged(imm) => {
                let kind = u32::from(self.ra) | UNPRIVILEGED;
                general.set_immediate_operand(imm).set_instruction_variant_field(kind)
            }
        }
    }
}

/// Decodes stores of one register (A5.3.10).
pub(super) fn decode_store_single(h: u32, k: u32) -> Op {
    let (size, rn, rt) = (bit_field(h, 5, 2), bit_field(h, 0, 4), bit_field(k, 12, 4));
    let codes = match size {
        0 => [Code::StrbImm, Code::StrbReg, Code::Store],
        1 => [Code::StrhImm, Code::StrhReg, Code::Store],
        2 => [Code::StrImm, Code::StrReg, Code::Store],
        _ => return UNDEFINED,
    };
    let Some(how) = decode_load_store_addressing_mode(h, k) else { return UNDEFINED };
    let sp_permitted = size == 2 && !matches!(how, AddressingMode::Unprivileged(_));
    let written_back = matches!(how, AddressingMode::Indexed(..));
    let op = Op::without_operands(Code::Store, InstructionTimingClass::Store)
        .set_transfer_operand_register(rt)
        .set_first_operand_register(rn)
        .set_instruction_variant_field(size)
        .with_addressing_mode(&how, codes);
    op.replace_with_undefined_op_if(rn == 15 || rt == 15 || rt == 13 && !sp_permitted || written_back && rn == rt)
}

/// Decodes loads of one register, and memory hints (A5.3.7 to A5.3.9).
pub(super) fn decode_load_single(h: u32, k: u32, place: Place) -> Op {
    let (size, signed) = (bit_field(h, 5, 2), bit_field(h, 8, 1));
    let (rn, rt) = (bit_field(h, 0, 4), bit_field(k, 12, 4));
    let codes = match (size, signed) {
        (0, 0) => [Code::LdrbImm, Code::LdrbReg, Code::Load],
        (0, _) => [Code::LdrsbImm, Code::LdrsbReg, Code::Load],
        (1, 0) => [Code::LdrhImm, Code::LdrhReg, Code::Load],
        (1, _) => [Code::LdrshImm, Code::LdrshReg, Code::Load],
        (2, 0) => [Code::LdrImm, Code::LdrReg, Code::Load],
        _ => return UNDEFINED,
    };
    if size != 2 && rt == 15 {
        return decode_hint(h, k);
    }
    let op = Op::without_operands(Code::Load, InstructionTimingClass::Load)
        .set_destination_register(rt)
        .set_instruction_variant_field(size | (signed * SIGNED));
    if rn == 15 {
        let offset = bit_field(k, 0, 12);
        let base = place.literal_base();
        let address = if h & 0x80 != 0 { base.wrapping_add(offset) } else { base.wrapping_sub(offset) };
        let op = Op {
            class: InstructionTimingClass::LoadLiteral,
            ..op.set_first_operand_register(15).set_immediate_operand(address)
        };
        return match (size, rt) {
            (2, 15) => Op { code: Code::LdrPc, class: InstructionTimingClass::LoadPc, ..op },
            (2, 13) => op,
            (2, _) => Op { code: Code::LdrLit, ra: 0, rn: 0, ..op },
            _ => op.replace_with_undefined_op_if(rt == 13),
        };
    }
    let Some(how) = decode_load_store_addressing_mode(h, k) else { return UNDEFINED };
    let unprivileged = matches!(how, AddressingMode::Unprivileged(_));
    let written_back = matches!(how, AddressingMode::Indexed(..));
    let special = size != 2 || unprivileged;
    if is_sp_or_pc(rt) && special || written_back && rn == rt {
        return UNDEFINED;
    }
    match rt {
        15 => Op {
            class: InstructionTimingClass::LoadPc,
            ..op.set_first_operand_register(rn).with_addressing_mode(&how, [Code::LdrPc; 3])
        },
        13 => op.set_first_operand_register(rn).with_addressing_mode(&how, [Code::Load; 3]),
        _ => op.set_first_operand_register(rn).with_addressing_mode(&how, codes),
    }
}

/// Decodes PLD, PLI and the unallocated memory hints, which do nothing (A5.3.8, A5.3.9).
fn decode_hint(h: u32, k: u32) -> Op {
    let (halfword, rn) = (bit_field(h, 5, 1) != 0, bit_field(h, 0, 4));
    let hint = Op::without_operands(Code::Preload, InstructionTimingClass::Preload);
    let op = match decode_load_store_addressing_mode(h, k) {
        _ if rn == 15 => return hint,
        Some(AddressingMode::Offset(imm)) => hint.set_first_operand_register(rn).set_immediate_operand(imm),
        Some(AddressingMode::Register(rm, amount)) => hint
            .set_first_operand_register(rn)
            .set_second_operand(rm)
            .set_shift_field(amount)
            .with_flags(flag::REGISTER_OFFSET),
        _ => return UNDEFINED,
    };
    if halfword { Op::without_operands(Code::Nop, InstructionTimingClass::Nop) } else { op }
}
