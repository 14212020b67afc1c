//! 32-bit data processing with immediates and shifted registers (A5.3.1, A5.3.3, A5.3.11).

use super::build::{new_one_cycle_alu_op, new_op_with_optional_flag_setting};
use super::{Place, UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// The codes of one data-processing opcode: with an immediate, with a plain register (`None` if it has no code of its
/// own) and with a shifted register. The first two are the variants that set flags. With a destination of 15 some
/// opcodes are a comparison, which has other codes.
#[derive(Clone, Copy)]
struct Row {
    immediate: Code,
    register: Option<Code>,
    shifted: Code,
    compare: Option<[Code; 3]>,
    reads_flags: bool,
    arithmetic: bool,
}

/// Creates a row from the codes with an immediate, a plain register and a shifted register.
const fn opcode_row(immediate: Code, register: Option<Code>, shifted: Code) -> Row {
    Row { immediate, register, shifted, compare: None, reads_flags: false, arithmetic: false }
}

impl Row {
    /// Adds the codes of the comparison into which a destination of 15 turns the operation.
    const fn with_comparison(mut self, codes: [Code; 3]) -> Row {
        self.compare = Some(codes);
        self
    }

    /// Marks the row as arithmetic, not logical. `reads_flags`: its operation adds the carry.
    const fn mark_arithmetic(mut self, reads_flags: bool) -> Row {
        self.arithmetic = true;
        self.reads_flags = reads_flags;
        self
    }
}

const AND: Row = opcode_row(Code::AndImmS, Some(Code::AndRegS), Code::AndShift).with_comparison([
    Code::TstImm,
    Code::TstReg,
    Code::TstShift,
]);
const BIC: Row = opcode_row(Code::BicImmS, Some(Code::BicRegS), Code::BicShift);
const ORR: Row = opcode_row(Code::OrrImmS, Some(Code::OrrRegS), Code::OrrShift);
const ORN: Row = opcode_row(Code::OrnImmS, None, Code::OrnShift);
const MOV: Row = opcode_row(Code::MovImmS, Some(Code::MovRegS), Code::MovShift);
const MVN: Row = opcode_row(Code::MvnImmS, Some(Code::MvnRegS), Code::MvnShift);
const EOR: Row = opcode_row(Code::EorImmS, Some(Code::EorRegS), Code::EorShift).with_comparison([
    Code::TeqImm,
    Code::TeqShift,
    Code::TeqShift,
]);
const ADD: Row = opcode_row(Code::AddImmS, Some(Code::AddRegS), Code::AddShift)
    .with_comparison([Code::CmnImm, Code::CmnReg, Code::CmnShift])
    .mark_arithmetic(false);
const ADC: Row = opcode_row(Code::AdcImmS, Some(Code::AdcRegS), Code::AdcShift).mark_arithmetic(true);
const SBC: Row = opcode_row(Code::SbcImmS, Some(Code::SbcRegS), Code::SbcShift).mark_arithmetic(true);
const SUB: Row = opcode_row(Code::SubImmS, Some(Code::SubRegS), Code::SubShift)
    .with_comparison([Code::CmpImm, Code::CmpReg, Code::CmpShift])
    .mark_arithmetic(false);
const RSB: Row = opcode_row(Code::RsbImmS, None, Code::RsbShift).mark_arithmetic(false);

/// Returns the row of an opcode. ORR and ORN without first operand are MOV and MVN.
fn find_opcode_table_row(opcode: u32, rn: u32) -> Option<Row> {
    Some(match opcode {
        0b0000 => AND,
        0b0001 => BIC,
        0b0010 if rn == 15 => MOV,
        0b0010 => ORR,
        0b0011 if rn == 15 => MVN,
        0b0011 => ORN,
        0b0100 => EOR,
        0b1000 => ADD,
        0b1010 => ADC,
        0b1011 => SBC,
        0b1101 => SUB,
        0b1110 => RSB,
        _ => return None,
    })
}

/// Returns whether the manual permits SP and PC as this destination and first operand, the same for immediates and
/// registers.
fn are_sp_and_pc_permitted(row: Row, opcode: u32, rd: u32, rn: u32, sets: bool) -> bool {
    let compares = row.compare.is_some() && rd == 15 && sets;
    let sum = matches!(opcode, 0b1000 | 0b1101);
    let destination = !is_sp_or_pc(rd) || compares || sum && rd == 13 && rn == 13;
    let first = match opcode {
        0b0010 | 0b0011 => rn != 13,
        0b1000 | 0b1101 => rn != 15,
        _ => !is_sp_or_pc(rn),
    };
    destination && first
}

/// Expands a modified immediate (A5.3.2): the constant, and the `shift` field for the carry of logical operations.
/// `None`: unpredictable.
fn expand_immediate(imm12: u32) -> Option<(u32, u32)> {
    let byte = imm12 & 0xff;
    if imm12 >> 10 != 0 {
        let value = (0x80 | imm12 & 0x7f).rotate_right(imm12 >> 7);
        return Some((value, 2 | value >> 31));
    }
    let pattern = [1, 0x0001_0001, 0x0100_0100, 0x0101_0101][bit_field(imm12, 8, 2) as usize];
    (byte != 0 || pattern == 1).then_some((byte * pattern, 0))
}

/// Returns the 12-bit immediate field `i:imm3:imm8`.
fn immediate12(h: u32, k: u32) -> u32 {
    bit_field(h, 10, 1) << 11 | bit_field(k, 12, 3) << 8 | bit_field(k, 0, 8)
}

/// Decodes data processing with a modified immediate (A5.3.1).
pub(super) fn decode_modified_immediate(h: u32, k: u32) -> Op {
    let (opcode, sets, rn, rd) = (bit_field(h, 5, 4), bit_field(h, 4, 1) != 0, bit_field(h, 0, 4), bit_field(k, 8, 4));
    let (Some(row), Some((value, carry))) = (find_opcode_table_row(opcode, rn), expand_immediate(immediate12(h, k)))
    else {
        return UNDEFINED;
    };
    if !are_sp_and_pc_permitted(row, opcode, rd, rn, sets) {
        return UNDEFINED;
    }
    let carry = if row.arithmetic { 0 } else { carry };
    let operands = |op: Op| {
        op.set_first_operand_register(rn)
            .set_immediate_operand(value)
            .set_shift_field(carry)
            .add_op_attribute_flags_if(row.reads_flags, flag::READS_FLAGS)
    };
    match row.compare {
        Some(compare) if rd == 15 => operands(new_one_cycle_alu_op(compare[0]).with_flags(flag::SETS)),
        _ if rd == 13 => new_add_to_sp_op(add_or_subtract_variant_field(opcode), sets)
            .set_second_operand(15)
            .set_immediate_operand(value),
        _ => operands(
            new_op_with_optional_flag_setting(row.immediate, InstructionTimingClass::Alu, sets)
                .set_destination_register(rd),
        ),
    }
}

/// Creates the op of ADD or SUB to SP.
fn new_add_to_sp_op(kind: u32, sets: bool) -> Op {
    new_one_cycle_alu_op(Code::AddToSp)
        .set_destination_register(13)
        .set_first_operand_register(13)
        .set_instruction_variant_field(kind)
        .add_op_attribute_flags_if(sets, flag::SETS)
}

/// Returns the field `ra` of `AddToSp`: 1 for SUB.
fn add_or_subtract_variant_field(opcode: u32) -> u32 {
    u32::from(opcode == 0b1101)
}

/// Returns shift type and amount as ops hold them (DecodeImmShift).
fn immediate_shift(k: u32) -> (u32, u32) {
    match (bit_field(k, 4, 2), bit_field(k, 12, 3) << 2 | bit_field(k, 6, 2)) {
        (3, 0) => (4, 1),
        (0, 0) => (0, 0),
        (kind, 0) => (kind, 32),
        (kind, amount) => (kind, amount),
    }
}

/// Decodes data processing with a shifted register (A5.3.11).
pub(super) fn decode_shifted_register(h: u32, k: u32, features: Features) -> Op {
    let (opcode, sets, rn) = (bit_field(h, 5, 4), bit_field(h, 4, 1) != 0, bit_field(h, 0, 4));
    let (rd, rm) = (bit_field(k, 8, 4), bit_field(k, 0, 4));
    if opcode == 0b0110 {
        return decode_pack(h, k, features);
    }
    let (kind, amount) = immediate_shift(k);
    let Some(row) = find_opcode_table_row(opcode, rn) else { return UNDEFINED };
    let plain = amount == 0;
    let to_or_from_sp = matches!(row.shifted, Code::MovShift) && plain && !sets && rd != 15 && rm != 15;
    if k & 0x8000 != 0
        || to_or_from_sp && rd == 13 && rm == 13
        || !to_or_from_sp && (is_sp_or_pc(rm) || !are_sp_and_pc_permitted(row, opcode, rd, rn, sets))
    {
        return UNDEFINED;
    }
    let operands = |op: Op| {
        let op = op
            .set_first_operand_register(rn)
            .set_second_operand(rm)
            .add_op_attribute_flags_if(row.reads_flags || kind == 4, flag::READS_FLAGS);
        if plain {
            op
        } else {
            op.set_instruction_variant_field(kind).set_shift_field(amount).with_flags(flag::SHIFTED)
        }
    };
    match (row.compare, row.register) {
        (Some(compare), _) if rd == 15 => {
            operands(new_one_cycle_alu_op(compare[if plain { 1 } else { 2 }]).with_flags(flag::SETS))
        }
        _ if rd == 13 && to_or_from_sp => {
            new_one_cycle_alu_op(Code::MovToSp).set_destination_register(13).set_second_operand(rm)
        }
        _ if rd == 13 && (kind != 0 || amount > 3) => UNDEFINED,
        _ if rd == 13 => {
            operands(new_add_to_sp_op(0, sets)).set_instruction_variant_field(add_or_subtract_variant_field(opcode))
        }
        (_, Some(register)) if plain => operands(
            new_op_with_optional_flag_setting(register, InstructionTimingClass::Alu, sets).set_destination_register(rd),
        ),
        _ if matches!(row.shifted, Code::MovShift) => {
            new_shifted_move_op(kind, amount, sets).set_destination_register(rd).set_second_operand(rm)
        }
        _ if kind == 0 && !sets && opcode == 0b1000 => {
            operands(new_one_cycle_alu_op(Code::AddLsl).set_destination_register(rd))
        }
        _ => operands(
            new_one_cycle_alu_op(row.shifted).set_destination_register(rd).add_op_attribute_flags_if(sets, flag::SETS),
        ),
    }
}

/// Creates the op of MOV with a shifted register: LSL, LSR, ASR, ROR or RRX.
fn new_shifted_move_op(kind: u32, amount: u32, sets: bool) -> Op {
    let op = match kind {
        0 => new_op_with_optional_flag_setting(Code::LslImmS, InstructionTimingClass::ShiftImmediate, sets),
        1 => new_op_with_optional_flag_setting(Code::LsrImmS, InstructionTimingClass::ShiftImmediate, sets),
        2 => new_op_with_optional_flag_setting(Code::AsrImmS, InstructionTimingClass::ShiftImmediate, sets),
        _ => Op::without_operands(Code::MovShift, InstructionTimingClass::ShiftImmediate)
            .set_instruction_variant_field(kind)
            .add_op_attribute_flags_if(sets, flag::SETS),
    };
    op.set_shift_field(amount).add_op_attribute_flags_if(kind == 4, flag::READS_FLAGS)
}

/// Decodes PKHBT and PKHTB.
fn decode_pack(h: u32, k: u32, features: Features) -> Op {
    let (rn, rd, rm) = (bit_field(h, 0, 4), bit_field(k, 8, 4), bit_field(k, 0, 4));
    if !features.dsp || h & 0x10 != 0 || k & 0x8010 != 0 || is_sp_or_pc(rn) || is_sp_or_pc(rd) || is_sp_or_pc(rm) {
        return UNDEFINED;
    }
    let (kind, amount) = immediate_shift(k & !0x10);
    let op = Op::without_operands(Code::Pkh, InstructionTimingClass::Dsp)
        .set_destination_register(rd)
        .set_first_operand_register(rn)
        .set_second_operand(rm)
        .set_instruction_variant_field(kind >> 1)
        .set_shift_field(amount);
    op.add_op_attribute_flags_if(amount != 0, flag::SHIFTED)
}

/// Decodes data processing with a plain binary immediate (A5.3.3).
pub(super) fn decode_plain_immediate(h: u32, k: u32, place: Place, features: Features) -> Op {
    let (rn, rd, imm12) = (bit_field(h, 0, 4), bit_field(k, 8, 4), immediate12(h, k));
    let imm16 = rn << 12 | imm12;
    match bit_field(h, 4, 5) {
        0b00000 => addw_subw_op(Code::AddImm, rd, rn, imm12, place.literal_base().wrapping_add(imm12)),
        0b01010 => addw_subw_op(Code::SubImm, rd, rn, imm12, place.literal_base().wrapping_sub(imm12)),
        0b00100 => new_one_cycle_alu_op(Code::MovImm)
            .set_destination_register(rd)
            .set_immediate_operand(imm16)
            .replace_with_undefined_op_if(is_sp_or_pc(rd)),
        0b01100 => new_one_cycle_alu_op(Code::Movt)
            .set_transfer_operand_register(rd)
            .set_destination_register(rd)
            .set_immediate_operand(imm16 << 16)
            .replace_with_undefined_op_if(is_sp_or_pc(rd)),
        _ if h & 0x400 != 0 || k & 0x20 != 0 => UNDEFINED,
        0b10000 | 0b10010 => decode_saturation(Code::Ssat, Code::Ssat16, 1, h, k, features),
        0b11000 | 0b11010 => decode_saturation(Code::Usat, Code::Usat16, 0, h, k, features),
        opcode @ (0b10100 | 0b10110 | 0b11100) => decode_bit_field(opcode, rd, rn, k),
        _ => UNDEFINED,
    }
}

/// Creates the decoded form of ADDW or SUBW (12-bit constant), or of ADR if the base register is the PC.
fn addw_subw_op(code: Code, rd: u32, rn: u32, imm12: u32, adr: u32) -> Op {
    match (rd, rn) {
        (15, _) => UNDEFINED,
        (13, 13) => new_add_to_sp_op(u32::from(code as u8 == Code::SubImm as u8), false)
            .set_second_operand(15)
            .set_immediate_operand(imm12),
        (13, _) => UNDEFINED,
        (_, 15) => new_one_cycle_alu_op(Code::MovImm).set_destination_register(rd).set_immediate_operand(adr),
        _ => new_one_cycle_alu_op(code)
            .set_destination_register(rd)
            .set_first_operand_register(rn)
            .set_immediate_operand(imm12),
    }
}

/// Decodes SSAT, USAT, SSAT16 and USAT16.
fn decode_saturation(code: Code, of_halves: Code, bias: u32, h: u32, k: u32, features: Features) -> Op {
    let (rn, rd) = (bit_field(h, 0, 4), bit_field(k, 8, 4));
    let (kind, amount) = (bit_field(h, 5, 1) * 2, bit_field(k, 12, 3) << 2 | bit_field(k, 6, 2));
    let op = Op::without_operands(code, InstructionTimingClass::Bits)
        .set_destination_register(rd)
        .set_first_operand_register(rn);
    let op = if kind == 2 && amount == 0 {
        let op = Op { code: of_halves, ..op };
        op.set_immediate_operand(bit_field(k, 0, 4) + bias).replace_with_undefined_op_if(!features.dsp || k & 0x10 != 0)
    } else {
        op.set_immediate_operand(bit_field(k, 0, 5) + bias)
            .set_instruction_variant_field(kind)
            .set_shift_field(amount)
            .add_op_attribute_flags_if(amount != 0, flag::SHIFTED)
    };
    op.replace_with_undefined_op_if(is_sp_or_pc(rd) || is_sp_or_pc(rn))
}

/// Decodes BFI, BFC, SBFX and UBFX.
fn decode_bit_field(opcode: u32, rd: u32, rn: u32, k: u32) -> Op {
    let (low, field) = (bit_field(k, 12, 3) << 2 | bit_field(k, 6, 2), bit_field(k, 0, 5));
    let one = |code| {
        Op::without_operands(code, InstructionTimingClass::Bits)
            .set_first_operand_register(rn)
            .set_instruction_variant_field(low)
    };
    let op = match opcode {
        0b10110 => one(Code::Bfi)
            .set_transfer_operand_register(rd)
            .set_destination_register(rd)
            .set_shift_field((field + 1).wrapping_sub(low))
            .replace_with_undefined_op_if(field < low || rn == 13),
        _ => {
            let code = if opcode == 0b10100 { Code::Sbfx } else { Code::Ubfx };
            one(code)
                .set_destination_register(rd)
                .set_shift_field(field + 1)
                .replace_with_undefined_op_if(low + field > 31 || is_sp_or_pc(rn))
        }
    };
    op.replace_with_undefined_op_if(is_sp_or_pc(rd))
}
