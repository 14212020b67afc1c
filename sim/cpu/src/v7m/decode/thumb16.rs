//! 16-bit encodings (A5.2).

use super::build::{new_one_cycle_alu_op, new_op_with_optional_flag_setting};
use super::{Place, UNDEFINED, bit_field};
use crate::v7m::code::{Code, number};
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// Creates a data-processing op that sets flags outside an IT block.
fn flag_setting_op(code: Code, class: InstructionTimingClass) -> Op {
    new_op_with_optional_flag_setting(code, class, true).with_flags(flag::SETS_OUTSIDE_IT)
}

/// Decodes a 16-bit instruction (A5.2).
pub(super) fn decode_16_bit_instruction(h: u32, place: Place) -> Op {
    let (r0, r3, r6, r8) = (bit_field(h, 0, 3), bit_field(h, 3, 3), bit_field(h, 6, 3), bit_field(h, 8, 3));
    let (imm5, imm8) = (bit_field(h, 6, 5), bit_field(h, 0, 8));
    let shift = |code| {
        flag_setting_op(code, InstructionTimingClass::ShiftImmediate)
            .set_destination_register(r0)
            .set_second_operand(r3)
    };
    let register =
        |code, class| Op::without_operands(code, class).set_first_operand_register(r3).set_second_operand(r6);
    let offset = |code, class, scale| {
        Op::without_operands(code, class).set_first_operand_register(r3).set_immediate_operand(imm5 * scale)
    };
    match h >> 11 {
        0b00000 if imm5 == 0 => flag_setting_op(Code::MovRegS, InstructionTimingClass::Alu)
            .set_destination_register(r0)
            .set_second_operand(r3),
        0b00000 => shift(Code::LslImmS).set_shift_field(imm5),
        0b00001 => shift(Code::LsrImmS).set_shift_field(if imm5 == 0 { 32 } else { imm5 }),
        0b00010 => shift(Code::AsrImmS).set_shift_field(if imm5 == 0 { 32 } else { imm5 }),
        0b00011 => match bit_field(h, 9, 2) {
            0 => flag_setting_op(Code::AddRegS, InstructionTimingClass::Alu)
                .set_destination_register(r0)
                .set_first_operand_register(r3)
                .set_second_operand(r6),
            1 => flag_setting_op(Code::SubRegS, InstructionTimingClass::Alu)
                .set_destination_register(r0)
                .set_first_operand_register(r3)
                .set_second_operand(r6),
            2 => flag_setting_op(Code::AddImmS, InstructionTimingClass::Alu)
                .set_destination_register(r0)
                .set_first_operand_register(r3)
                .set_immediate_operand(r6),
            _ => flag_setting_op(Code::SubImmS, InstructionTimingClass::Alu)
                .set_destination_register(r0)
                .set_first_operand_register(r3)
                .set_immediate_operand(r6),
        },
        0b00100 => flag_setting_op(Code::MovImmS, InstructionTimingClass::Alu)
            .set_destination_register(r8)
            .set_immediate_operand(imm8),
        0b00101 => new_one_cycle_alu_op(Code::CmpImm)
            .set_first_operand_register(r8)
            .set_immediate_operand(imm8)
            .with_flags(flag::SETS),
        0b00110 => flag_setting_op(Code::AddImmS, InstructionTimingClass::Alu)
            .set_destination_register(r8)
            .set_first_operand_register(r8)
            .set_immediate_operand(imm8),
        0b00111 => flag_setting_op(Code::SubImmS, InstructionTimingClass::Alu)
            .set_destination_register(r8)
            .set_first_operand_register(r8)
            .set_immediate_operand(imm8),
        0b01000 if h & 0x400 == 0 => decode_data_processing(bit_field(h, 6, 4), r0, r3),
        0b01000 => decode_special(h, place),
        0b01001 => Op::without_operands(Code::LdrLit, InstructionTimingClass::LoadLiteral)
            .set_destination_register(r8)
            .set_immediate_operand(place.literal_base().wrapping_add(imm8 * 4)),
        0b01010 | 0b01011 => {
            let access = match bit_field(h, 9, 3) {
                0 => register(Code::StrReg, InstructionTimingClass::Store).set_transfer_operand_register(r0),
                1 => register(Code::StrhReg, InstructionTimingClass::Store).set_transfer_operand_register(r0),
                2 => register(Code::StrbReg, InstructionTimingClass::Store).set_transfer_operand_register(r0),
                3 => register(Code::LdrsbReg, InstructionTimingClass::Load).set_destination_register(r0),
                4 => register(Code::LdrReg, InstructionTimingClass::Load).set_destination_register(r0),
                5 => register(Code::LdrhReg, InstructionTimingClass::Load).set_destination_register(r0),
                6 => register(Code::LdrbReg, InstructionTimingClass::Load).set_destination_register(r0),
                _ => register(Code::LdrshReg, InstructionTimingClass::Load).set_destination_register(r0),
            };
            access.with_flags(flag::REGISTER_OFFSET)
        }
        0b01100 => offset(Code::StrImm, InstructionTimingClass::Store, 4).set_transfer_operand_register(r0),
        0b01101 => offset(Code::LdrImm, InstructionTimingClass::Load, 4).set_destination_register(r0),
        0b01110 => offset(Code::StrbImm, InstructionTimingClass::Store, 1).set_transfer_operand_register(r0),
        0b01111 => offset(Code::LdrbImm, InstructionTimingClass::Load, 1).set_destination_register(r0),
        0b10000 => offset(Code::StrhImm, InstructionTimingClass::Store, 2).set_transfer_operand_register(r0),
        0b10001 => offset(Code::LdrhImm, InstructionTimingClass::Load, 2).set_destination_register(r0),
        0b10010 => Op::without_operands(Code::StrImm, InstructionTimingClass::Store)
            .set_transfer_operand_register(r8)
            .set_first_operand_register(13)
            .set_immediate_operand(imm8 * 4),
        0b10011 => Op::without_operands(Code::LdrImm, InstructionTimingClass::Load)
            .set_destination_register(r8)
            .set_first_operand_register(13)
            .set_immediate_operand(imm8 * 4),
        0b10100 => new_one_cycle_alu_op(Code::MovImm)
            .set_destination_register(r8)
            .set_immediate_operand(place.literal_base().wrapping_add(imm8 * 4)),
        0b10101 => new_one_cycle_alu_op(Code::AddImm)
            .set_destination_register(r8)
            .set_first_operand_register(13)
            .set_immediate_operand(imm8 * 4),
        0b10110 | 0b10111 => decode_miscellaneous(h, place),
        0b11000 | 0b11001 if imm8 == 0 => UNDEFINED,
        0b11000 => new_low_register_transfer_op(Code::Stm, InstructionTimingClass::StoreMultiple, r8, imm8)
            .add_read_registers(imm8)
            .with_flags(flag::POST_INDEXED),
        0b11001 => {
            let op = new_low_register_transfer_op(Code::Ldm, InstructionTimingClass::LoadMultiple, r8, imm8)
                .add_written_registers(imm8);
            op.add_op_attribute_flags_if(imm8 >> r8 & 1 == 0, flag::POST_INDEXED)
        }
        0b11010 | 0b11011 => decode_conditional_branch(h, place),
        0b11100 => {
            let distance = (bit_field(h, 0, 11) << 21) as i32 >> 20;
            place.new_branch_op(
                Code::B,
                Code::BFar,
                InstructionTimingClass::Branch,
                place.pc_seen_by_instruction().wrapping_add(distance as u32),
            )
        }
        _ => UNDEFINED,
    }
}

/// Creates the op of LDM, STM, PUSH or POP of the low registers: incrementing, base written back as the flags say.
fn new_low_register_transfer_op(code: Code, class: InstructionTimingClass, base: u32, mask: u32) -> Op {
    Op::without_operands(code, class)
        .set_first_operand_register(base)
        .set_immediate_operand(mask)
        .set_shift_field(mask.count_ones())
        .mark_base_register_written_back()
}

/// Decodes 16-bit data processing by its opcode field (A5.2.2).
fn decode_data_processing(opcode: u32, rd: u32, rm: u32) -> Op {
    let binary = |code| {
        flag_setting_op(code, InstructionTimingClass::Alu)
            .set_destination_register(rd)
            .set_first_operand_register(rd)
            .set_second_operand(rm)
    };
    let compare =
        |code| new_one_cycle_alu_op(code).set_first_operand_register(rd).set_second_operand(rm).with_flags(flag::SETS);
    let shift = |code| {
        flag_setting_op(code, InstructionTimingClass::ShiftRegister)
            .set_destination_register(rd)
            .set_first_operand_register(rd)
            .set_second_operand(rm)
    };
    match opcode {
        0 => binary(Code::AndRegS),
        1 => binary(Code::EorRegS),
        2 => shift(Code::LslRegS),
        3 => shift(Code::LsrRegS),
        4 => shift(Code::AsrRegS),
        5 => binary(Code::AdcRegS).with_flags(flag::READS_FLAGS),
        6 => binary(Code::SbcRegS).with_flags(flag::READS_FLAGS),
        7 => shift(Code::RorRegS),
        8 => compare(Code::TstReg),
        9 => flag_setting_op(Code::RsbImmS, InstructionTimingClass::Alu)
            .set_destination_register(rd)
            .set_first_operand_register(rm),
        10 => compare(Code::CmpReg),
        11 => compare(Code::CmnReg),
        12 => binary(Code::OrrRegS),
        13 => flag_setting_op(Code::MulS, InstructionTimingClass::Multiply)
            .set_destination_register(rd)
            .set_first_operand_register(rd)
            .set_second_operand(rm),
        14 => binary(Code::BicRegS),
        _ => flag_setting_op(Code::MvnRegS, InstructionTimingClass::Alu)
            .set_destination_register(rd)
            .set_second_operand(rm),
    }
}

/// Decodes special data instructions and branch-exchange (A5.2.3).
fn decode_special(h: u32, place: Place) -> Op {
    let rd = bit_field(h, 0, 3) | h >> 4 & 8;
    let rm = bit_field(h, 3, 4);
    let pc = place.pc_seen_by_instruction();
    match bit_field(h, 8, 2) {
        0 => match (rd, rm) {
            (15, 15) => UNDEFINED,
            (15, _) => Op::without_operands(Code::AddPc, InstructionTimingClass::BranchRegister)
                .set_second_operand(rm)
                .set_immediate_operand(pc),
            (13, 15) => new_one_cycle_alu_op(Code::AddToSp)
                .set_destination_register(13)
                .set_first_operand_register(13)
                .set_second_operand(15)
                .set_immediate_operand(pc),
            (_, 15) => new_one_cycle_alu_op(Code::AddImm)
                .set_destination_register(rd)
                .set_first_operand_register(rd)
                .set_immediate_operand(pc),
            (13, _) => new_one_cycle_alu_op(Code::AddToSp)
                .set_destination_register(13)
                .set_first_operand_register(13)
                .set_second_operand(rm),
            _ => new_one_cycle_alu_op(Code::AddReg)
                .set_destination_register(rd)
                .set_first_operand_register(rd)
                .set_second_operand(rm),
        },
        // Two low registers have an encoding of their own.
        1 if rd == 15 || rm == 15 || rd < 8 && rm < 8 => UNDEFINED,
        1 => new_one_cycle_alu_op(Code::CmpReg)
            .set_first_operand_register(rd)
            .set_second_operand(rm)
            .with_flags(flag::SETS),
        2 => match (rd, rm) {
            (15, 15) => place.new_branch_op(Code::B, Code::BFar, InstructionTimingClass::BranchRegister, pc),
            (15, _) => Op::without_operands(Code::MovPc, InstructionTimingClass::BranchRegister).set_second_operand(rm),
            (13, 15) => new_one_cycle_alu_op(Code::MovImm).set_destination_register(13).set_immediate_operand(pc & !3),
            (_, 15) => new_one_cycle_alu_op(Code::MovImm).set_destination_register(rd).set_immediate_operand(pc),
            (13, _) => new_one_cycle_alu_op(Code::MovToSp).set_destination_register(13).set_second_operand(rm),
            _ => new_one_cycle_alu_op(Code::MovReg).set_destination_register(rd).set_second_operand(rm),
        },
        _ if rm == 15 || h & 7 != 0 => UNDEFINED,
        _ if h & 0x80 == 0 => {
            Op::without_operands(Code::Bx, InstructionTimingClass::BranchRegister).set_second_operand(rm)
        }
        _ => Op::without_operands(Code::Blx, InstructionTimingClass::BranchRegister)
            .set_second_operand(rm)
            .add_written_registers(1 << 14),
    }
}

/// Decodes miscellaneous 16-bit instructions (A5.2.5).
fn decode_miscellaneous(h: u32, place: Place) -> Op {
    let (r0, r3) = (bit_field(h, 0, 3), bit_field(h, 3, 3));
    let one = |code| {
        Op::without_operands(code, InstructionTimingClass::Bits).set_destination_register(r0).set_second_operand(r3)
    };
    let stack = new_one_cycle_alu_op(Code::AddImm).set_destination_register(13).set_first_operand_register(13);
    match bit_field(h, 4, 8) {
        0x00..=0x07 => stack.set_immediate_operand(bit_field(h, 0, 7) * 4),
        0x08..=0x0f => Op { code: Code::SubImm, ..stack.set_immediate_operand(bit_field(h, 0, 7) * 4) },
        0x10..=0x1f | 0x30..=0x3f => new_compare_and_branch_op(Code::Cbz, h, place),
        0x90..=0x9f | 0xb0..=0xbf => new_compare_and_branch_op(Code::Cbnz, h, place),
        0x20..=0x23 => one(Code::Sxth),
        0x24..=0x27 => one(Code::Sxtb),
        0x28..=0x2b => one(Code::Uxth),
        0x2c..=0x2f => one(Code::Uxtb),
        0x40..=0x5f => {
            let mask = bit_field(h, 0, 8) | bit_field(h, 8, 1) << 14;
            let op = new_low_register_transfer_op(Code::Stm, InstructionTimingClass::StoreMultiple, 13, mask)
                .add_read_registers(mask)
                .set_instruction_variant_field(1);
            op.with_flags(flag::POST_INDEXED).replace_with_undefined_op_if(mask == 0)
        }
        0x66 | 0x67 => {
            let op = Op::without_operands(Code::Cps, InstructionTimingClass::System)
                .set_immediate_operand(h & 3)
                .set_instruction_variant_field(bit_field(h, 4, 1));
            op.replace_with_undefined_op_if(h & 0xc != 0 || h & 3 == 0)
        }
        0xa0..=0xa3 => one(Code::Rev),
        0xa4..=0xa7 => one(Code::Rev16),
        0xac..=0xaf => one(Code::Revsh),
        0xc0..=0xdf => {
            let mask = bit_field(h, 0, 8) | bit_field(h, 8, 1) << 15;
            let (code, class) = match mask >> 15 {
                0 => (Code::Ldm, InstructionTimingClass::LoadMultiple),
                _ => (Code::LdmPc, InstructionTimingClass::LoadMultiplePc),
            };
            new_low_register_transfer_op(code, class, 13, mask)
                .add_written_registers(mask)
                .with_flags(flag::POST_INDEXED)
                .replace_with_undefined_op_if(mask == 0)
        }
        0xe0..=0xef => {
            Op::without_operands(Code::Bkpt, InstructionTimingClass::Trap).set_immediate_operand(bit_field(h, 0, 8))
        }
        0xf0..=0xff if h & 15 != 0 => {
            let (condition, mask) = (bit_field(h, 4, 4), h & 15);
            let op =
                Op::without_operands(Code::It, InstructionTimingClass::It).set_immediate_operand(bit_field(h, 0, 8));
            op.replace_with_undefined_op_if(condition == 15 || condition == 14 && mask.count_ones() != 1)
        }
        0xf0..=0xff => decode_hint(bit_field(h, 4, 4)),
        _ => UNDEFINED,
    }
}

/// Decodes NOP-compatible hints (A5.2.5, A5.3.4). The unallocated ones do nothing.
pub(super) fn decode_hint(number: u32) -> Op {
    match number {
        2 => Op::without_operands(Code::Wfe, InstructionTimingClass::Hint),
        3 => Op::without_operands(Code::Wfi, InstructionTimingClass::Hint),
        4 => Op::without_operands(Code::Sev, InstructionTimingClass::Hint),
        _ => Op::without_operands(Code::Nop, InstructionTimingClass::Nop),
    }
}

/// Creates the op of CBZ or CBNZ.
fn new_compare_and_branch_op(code: Code, h: u32, place: Place) -> Op {
    let distance = bit_field(h, 3, 5) << 1 | bit_field(h, 9, 1) << 6;
    let target = place.pc_seen_by_instruction().wrapping_add(distance);
    let op = place.new_branch_op(code, Code::CompareBranchFar, InstructionTimingClass::CompareBranch, target);
    op.set_first_operand_register(bit_field(h, 0, 3)).set_instruction_variant_field(bit_field(h, 11, 1))
}

/// Decodes conditional branches, SVC and UDF (A5.2.6).
fn decode_conditional_branch(h: u32, place: Place) -> Op {
    let condition = bit_field(h, 8, 4);
    match condition {
        14 => UNDEFINED,
        15 => Op::without_operands(Code::Svc, InstructionTimingClass::Trap).set_immediate_operand(bit_field(h, 0, 8)),
        _ => {
            let distance = (bit_field(h, 0, 8) << 24) as i32 >> 23;
            conditional_branch_op(condition, place.pc_seen_by_instruction().wrapping_add(distance as u32), place)
        }
    }
}

/// Creates the op of a conditional branch to an address.
pub(super) fn conditional_branch_op(condition: u32, target: u32, place: Place) -> Op {
    let near = Code::code_with_number(number::Beq + condition as u8);
    place
        .new_branch_op(near, Code::BccFar, InstructionTimingClass::BranchConditional, target)
        .set_instruction_variant_field(condition)
        .with_flags(flag::READS_FLAGS)
}
