//! LDM and STM, LDRD and STRD, exclusives, table branches (A5.3.5, A5.3.6).

use super::{Place, UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// Decodes load and store multiple (A5.3.5).
pub(super) fn decode_load_store_multiple(h: u32, k: u32) -> Op {
    let (direction, writes_back, load, rn) = (bit_field(h, 7, 2), h & 0x20 != 0, h & 0x10 != 0, bit_field(h, 0, 4));
    let with_pc = k & 0x8000 != 0;
    let (code, class) = match (load, with_pc) {
        (false, _) => (Code::Stm, InstructionTimingClass::StoreMultiple),
        (true, false) => (Code::Ldm, InstructionTimingClass::LoadMultiple),
        (true, true) => (Code::LdmPc, InstructionTimingClass::LoadMultiplePc),
    };
    let op = Op::without_operands(code, class)
        .set_first_operand_register(rn)
        .set_immediate_operand(k)
        .set_shift_field(k.count_ones())
        .set_instruction_variant_field(u32::from(direction == 2));
    let op = if load { op.add_written_registers(k) } else { op.add_read_registers(k) };
    let op = if writes_back { op.mark_base_register_written_back().with_flags(flag::POST_INDEXED) } else { op };
    let unpredictable = rn == 15
        || k.count_ones() < 2
        || k & 0x2000 != 0
        || if load { k >> 14 == 3 } else { with_pc }
        || writes_back && k >> rn & 1 != 0;
    op.replace_with_undefined_op_if(!matches!(direction, 1 | 2) || unpredictable)
}

/// Decodes load and store dual or exclusive, and table branches (A5.3.6).
pub(super) fn decode_double_exclusive_table(h: u32, k: u32, place: Place) -> Op {
    if h & 0x120 != 0 { decode_double(h, k, place) } else { decode_exclusive_or_table_branch(h, k, place) }
}

/// Decodes LDRD and STRD.
fn decode_double(h: u32, k: u32, place: Place) -> Op {
    let (pre, up, writes_back, load) = (h & 0x100 != 0, h & 0x80 != 0, h & 0x20 != 0, h & 0x10 != 0);
    let (rn, rt, rt2, imm8) = (bit_field(h, 0, 4), bit_field(k, 12, 4), bit_field(k, 8, 4), bit_field(k, 0, 8));
    let offset = if up { imm8 * 4 } else { (imm8 * 4).wrapping_neg() };
    let op = match load {
        true => Op::without_operands(Code::Ldrd, InstructionTimingClass::LoadDouble)
            .set_destination_register(rt)
            .set_second_destination(rt2),
        false => Op::without_operands(Code::Strd, InstructionTimingClass::StoreDouble)
            .set_transfer_operand_register(rt)
            .set_third_operand_register(rt2),
    };
    let op = op.set_first_operand_register(rn).set_immediate_operand(if rn == 15 {
        place.literal_base().wrapping_add(offset)
    } else {
        offset
    });
    let op = match (writes_back, pre) {
        (true, true) => op.mark_base_register_written_back().with_flags(flag::PRE_INDEXED),
        (true, false) => op.mark_base_register_written_back().with_flags(flag::POST_INDEXED),
        _ => op,
    };
    let unpredictable = is_sp_or_pc(rt)
        || is_sp_or_pc(rt2)
        || load && rt == rt2
        || writes_back && (rn == rt || rn == rt2 || rn == 15)
        || !load && rn == 15;
    op.replace_with_undefined_op_if(unpredictable)
}

/// Decodes LDREX, STREX, TBB, TBH and their kin.
fn decode_exclusive_or_table_branch(h: u32, k: u32, place: Place) -> Op {
    let (load, rn, rt) = (h & 0x10 != 0, bit_field(h, 0, 4), bit_field(k, 12, 4));
    let load_exclusive = |size, offset| {
        let op = Op::without_operands(Code::Ldrex, InstructionTimingClass::LoadExclusive)
            .set_destination_register(rt)
            .set_first_operand_register(rn)
            .set_shift_field(size)
            .set_immediate_operand(offset);
        op.replace_with_undefined_op_if(is_sp_or_pc(rt) || rn == 15)
    };
    let store_exclusive = |status: u32, size, offset| {
        let op = Op::without_operands(Code::Strex, InstructionTimingClass::StoreExclusive)
            .set_transfer_operand_register(rt)
            .set_first_operand_register(rn)
            .set_second_destination(status)
            .set_shift_field(size)
            .set_immediate_operand(offset);
        op.replace_with_undefined_op_if(
            is_sp_or_pc(status) || is_sp_or_pc(rt) || rn == 15 || status == rn || status == rt,
        )
    };
    if h & 0x80 == 0 {
        let offset = bit_field(k, 0, 8) * 4;
        return match load {
            true => load_exclusive(2, offset).replace_with_undefined_op_if(bit_field(k, 8, 4) != 15),
            false => store_exclusive(bit_field(k, 8, 4), 2, offset),
        };
    }
    match (load, bit_field(k, 4, 4)) {
        (true, size @ (4 | 5)) => load_exclusive(size - 4, 0).replace_with_undefined_op_if(k & 0xf0f != 0xf0f),
        (false, size @ (4 | 5)) => {
            store_exclusive(bit_field(k, 0, 4), size - 4, 0).replace_with_undefined_op_if(bit_field(k, 8, 4) != 15)
        }
        (true, half @ (0 | 1)) => {
            let rm = bit_field(k, 0, 4);
            let op = Op::without_operands(Code::TableBranch, InstructionTimingClass::TableBranch)
                .set_first_operand_register(rn)
                .set_second_operand(rm)
                .set_shift_field(half)
                .set_immediate_operand(place.pc_seen_by_instruction());
            op.with_flags(flag::REGISTER_OFFSET)
                .replace_with_undefined_op_if(rn == 13 || is_sp_or_pc(rm) || k & 0xff00 != 0xf000)
        }
        _ => UNDEFINED,
    }
}
