//! 32-bit data processing with immediates and shifted registers (A5.3.1, A5.3.3, A5.3.11).

use super::build::{alu_op, pair};
use super::{Place, UNDEFINED, bits, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{Class, Op, flag};

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
    const fn compare(mut self, codes: [Code; 3]) -> Row {
        self.compare = Some(codes);
        self
    }

    /// Marks the row as arithmetic, not logical. `reads_flags`: its operation adds the carry.
    const fn arithmetic(mut self, reads_flags: bool) -> Row {
        self.arithmetic = true;
        self.reads_flags = reads_flags;
        self
    }
}

const AND: Row = opcode_row(Code::AndImmS, Some(Code::AndRegS), Code::AndShift).compare([
    Code::TstImm,
    Code::TstReg,
    Code::TstShift,
]);
const BIC: Row = opcode_row(Code::BicImmS, Some(Code::BicRegS), Code::BicShift);
const ORR: Row = opcode_row(Code::OrrImmS, Some(Code::OrrRegS), Code::OrrShift);
const ORN: Row = opcode_row(Code::OrnImmS, None, Code::OrnShift);
const MOV: Row = opcode_row(Code::MovImmS, Some(Code::MovRegS), Code::MovShift);
const MVN: Row = opcode_row(Code::MvnImmS, Some(Code::MvnRegS), Code::MvnShift);
const EOR: Row = opcode_row(Code::EorImmS, Some(Code::EorRegS), Code::EorShift).compare([
    Code::TeqImm,
    Code::TeqShift,
    Code::TeqShift,
]);
const ADD: Row = opcode_row(Code::AddImmS, Some(Code::AddRegS), Code::AddShift)
    .compare([Code::CmnImm, Code::CmnReg, Code::CmnShift])
    .arithmetic(false);
const ADC: Row = opcode_row(Code::AdcImmS, Some(Code::AdcRegS), Code::AdcShift).arithmetic(true);
const SBC: Row = opcode_row(Code::SbcImmS, Some(Code::SbcRegS), Code::SbcShift).arithmetic(true);
const SUB: Row = opcode_row(Code::SubImmS, Some(Code::SubRegS), Code::SubShift)
    .compare([Code::CmpImm, Code::CmpReg, Code::CmpShift])
    .arithmetic(false);
const RSB: Row = opcode_row(Code::RsbImmS, None, Code::RsbShift).arithmetic(false);

/// Returns the row of an opcode. ORR and ORN without first operand are MOV and MVN.
fn row_of_opcode(opcode: u32, rn: u32) -> Option<Row> {
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
fn is_permitted(row: Row, opcode: u32, rd: u32, rn: u32, sets: bool) -> bool {
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
    let pattern = [1, 0x0001_0001, 0x0100_0100, 0x0101_0101][bits(imm12, 8, 2) as usize];
    (byte != 0 || pattern == 1).then_some((byte * pattern, 0))
}

/// Returns the 12-bit immediate field `i:imm3:imm8`.
fn immediate12(h: u32, k: u32) -> u32 {
    bits(h, 10, 1) << 11 | bits(k, 12, 3) << 8 | bits(k, 0, 8)
}

/// Decodes data processing with a modified immediate (A5.3.1).
pub(super) fn decode_modified_immediate(h: u32, k: u32) -> Op {
    let (opcode, sets, rn, rd) = (bits(h, 5, 4), bits(h, 4, 1) != 0, bits(h, 0, 4), bits(k, 8, 4));
    let (Some(row), Some((value, carry))) = (row_of_opcode(opcode, rn), expand_immediate(immediate12(h, k))) else {
        return UNDEFINED;
    };
    if !is_permitted(row, opcode, rd, rn, sets) {
        return UNDEFINED;
    }
    let carry = if row.arithmetic { 0 } else { carry };
    let operands = |op: Op| op.n(rn).imm(value).shift(carry).with_if(row.reads_flags, flag::READS_FLAGS);
    match row.compare {
        Some(compare) if rd == 15 => operands(alu_op(compare[0]).with(flag::SETS)),
        _ if rd == 13 => add_to_sp_op(sum_kind(opcode), sets).m(15).imm(value),
        _ => operands(pair(row.immediate, Class::Alu, sets).d(rd)),
    }
}

/// Creates the op of ADD or SUB to SP.
fn add_to_sp_op(kind: u32, sets: bool) -> Op {
    alu_op(Code::AddToSp).d(13).n(13).kind(kind).with_if(sets, flag::SETS)
}

/// Returns the field `ra` of `AddToSp`: 1 for SUB.
fn sum_kind(opcode: u32) -> u32 {
    u32::from(opcode == 0b1101)
}

/// Returns shift type and amount as ops hold them (DecodeImmShift).
fn immediate_shift(k: u32) -> (u32, u32) {
    match (bits(k, 4, 2), bits(k, 12, 3) << 2 | bits(k, 6, 2)) {
        (3, 0) => (4, 1),
        (0, 0) => (0, 0),
        (kind, 0) => (kind, 32),
        (kind, amount) => (kind, amount),
    }
}

/// Decodes data processing with a shifted register (A5.3.11).
pub(super) fn decode_shifted_register(h: u32, k: u32, features: Features) -> Op {
    let (opcode, sets, rn) = (bits(h, 5, 4), bits(h, 4, 1) != 0, bits(h, 0, 4));
    let (rd, rm) = (bits(k, 8, 4), bits(k, 0, 4));
    if opcode == 0b0110 {
        return decode_pack(h, k, features);
    }
    let (kind, amount) = immediate_shift(k);
    let Some(row) = row_of_opcode(opcode, rn) else { return UNDEFINED };
    let plain = amount == 0;
    let to_or_from_sp = matches!(row.shifted, Code::MovShift) && plain && !sets && rd != 15 && rm != 15;
    if k & 0x8000 != 0
        || to_or_from_sp && rd == 13 && rm == 13
        || !to_or_from_sp && (is_sp_or_pc(rm) || !is_permitted(row, opcode, rd, rn, sets))
    {
        return UNDEFINED;
    }
    let operands = |op: Op| {
        let op = op.n(rn).m(rm).with_if(row.reads_flags || kind == 4, flag::READS_FLAGS);
        if plain { op } else { op.kind(kind).shift(amount).with(flag::SHIFTED) }
    };
    match (row.compare, row.register) {
        (Some(compare), _) if rd == 15 => operands(alu_op(compare[if plain { 1 } else { 2 }]).with(flag::SETS)),
        _ if rd == 13 && to_or_from_sp => alu_op(Code::MovToSp).d(13).m(rm),
        _ if rd == 13 && (kind != 0 || amount > 3) => UNDEFINED,
        _ if rd == 13 => operands(add_to_sp_op(0, sets)).kind(sum_kind(opcode)),
        (_, Some(register)) if plain => operands(pair(register, Class::Alu, sets).d(rd)),
        _ if matches!(row.shifted, Code::MovShift) => move_shifted_op(kind, amount, sets).d(rd).m(rm),
        _ if kind == 0 && !sets && opcode == 0b1000 => operands(alu_op(Code::AddLsl).d(rd)),
        _ => operands(alu_op(row.shifted).d(rd).with_if(sets, flag::SETS)),
    }
}

/// Creates the op of MOV with a shifted register: LSL, LSR, ASR, ROR or RRX.
fn move_shifted_op(kind: u32, amount: u32, sets: bool) -> Op {
    let op = match kind {
        0 => pair(Code::LslImmS, Class::ShiftImmediate, sets),
        1 => pair(Code::LsrImmS, Class::ShiftImmediate, sets),
        2 => pair(Code::AsrImmS, Class::ShiftImmediate, sets),
        _ => Op::bare(Code::MovShift, Class::ShiftImmediate).kind(kind).with_if(sets, flag::SETS),
    };
    op.shift(amount).with_if(kind == 4, flag::READS_FLAGS)
}

/// Decodes PKHBT and PKHTB.
fn decode_pack(h: u32, k: u32, features: Features) -> Op {
    let (rn, rd, rm) = (bits(h, 0, 4), bits(k, 8, 4), bits(k, 0, 4));
    if !features.dsp || h & 0x10 != 0 || k & 0x8010 != 0 || is_sp_or_pc(rn) || is_sp_or_pc(rd) || is_sp_or_pc(rm) {
        return UNDEFINED;
    }
    let (kind, amount) = immediate_shift(k & !0x10);
    let op = Op::bare(Code::Pkh, Class::Dsp).d(rd).n(rn).m(rm).kind(kind >> 1).shift(amount);
    op.with_if(amount != 0, flag::SHIFTED)
}

/// Decodes data processing with a plain binary immediate (A5.3.3).
pub(super) fn decode_plain_immediate(h: u32, k: u32, place: Place, features: Features) -> Op {
    let (rn, rd, imm12) = (bits(h, 0, 4), bits(k, 8, 4), immediate12(h, k));
    let imm16 = rn << 12 | imm12;
    match bits(h, 4, 5) {
        0b00000 => addw_subw_op(Code::AddImm, rd, rn, imm12, place.literal_base().wrapping_add(imm12)),
        0b01010 => addw_subw_op(Code::SubImm, rd, rn, imm12, place.literal_base().wrapping_sub(imm12)),
        0b00100 => alu_op(Code::MovImm).d(rd).imm(imm16).undefined_if(is_sp_or_pc(rd)),
        0b01100 => alu_op(Code::Movt).t(rd).d(rd).imm(imm16 << 16).undefined_if(is_sp_or_pc(rd)),
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
        (13, 13) => add_to_sp_op(u32::from(code as u8 == Code::SubImm as u8), false).m(15).imm(imm12),
        (13, _) => UNDEFINED,
        (_, 15) => alu_op(Code::MovImm).d(rd).imm(adr),
        _ => alu_op(code).d(rd).n(rn).imm(imm12),
    }
}

/// Decodes SSAT, USAT, SSAT16 and USAT16.
fn decode_saturation(code: Code, of_halves: Code, bias: u32, h: u32, k: u32, features: Features) -> Op {
    let (rn, rd) = (bits(h, 0, 4), bits(k, 8, 4));
    let (kind, amount) = (bits(h, 5, 1) * 2, bits(k, 12, 3) << 2 | bits(k, 6, 2));
    let op = Op::bare(code, Class::Bits).d(rd).n(rn);
    let op = if kind == 2 && amount == 0 {
        let op = Op { code: of_halves, ..op };
        op.imm(bits(k, 0, 4) + bias).undefined_if(!features.dsp || k & 0x10 != 0)
    } else {
        op.imm(bits(k, 0, 5) + bias).kind(kind).shift(amount).with_if(amount != 0, flag::SHIFTED)
    };
    op.undefined_if(is_sp_or_pc(rd) || is_sp_or_pc(rn))
}

/// Decodes BFI, BFC, SBFX and UBFX.
fn decode_bit_field(opcode: u32, rd: u32, rn: u32, k: u32) -> Op {
    let (low, field) = (bits(k, 12, 3) << 2 | bits(k, 6, 2), bits(k, 0, 5));
    let one = |code| Op::bare(code, Class::Bits).n(rn).kind(low);
    let op = match opcode {
        0b10110 => {
            one(Code::Bfi).t(rd).d(rd).shift((field + 1).wrapping_sub(low)).undefined_if(field < low || rn == 13)
        }
        _ => {
            let code = if opcode == 0b10100 { Code::Sbfx } else { Code::Ubfx };
            one(code).d(rd).shift(field + 1).undefined_if(low + field > 31 || is_sp_or_pc(rn))
        }
    };
    op.undefined_if(is_sp_or_pc(rd))
}
