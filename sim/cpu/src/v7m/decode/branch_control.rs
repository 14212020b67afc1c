//! 32-bit branches and miscellaneous control (A5.3.4).

use super::thumb16::{conditional_branch_op, decode_hint};
use super::{Place, UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

/// Decodes branches and miscellaneous control (A5.3.4).
pub(super) fn decode_branch_or_control(h: u32, k: u32, place: Place, features: Features) -> Op {
    match (bit_field(k, 14, 1), bit_field(k, 12, 1)) {
        (0, 0) if bit_field(h, 7, 3) == 7 => decode_system_control_instruction(h, k, features),
        (0, 0) => conditional_branch_op(
            bit_field(h, 6, 4),
            place.pc_seen_by_instruction().wrapping_add(branch_t3_distance(h, k)),
            place,
        ),
        (0, _) => {
            let target = place.pc_seen_by_instruction().wrapping_add(branch_t4_distance(h, k));
            place.new_branch_op(Code::B, Code::BFar, InstructionTimingClass::Branch, target)
        }
        (_, 0) => UNDEFINED,
        _ => {
            let target = place.pc_seen_by_instruction().wrapping_add(branch_t4_distance(h, k));
            place
                .new_branch_op(Code::Bl, Code::BlFar, InstructionTimingClass::Branch, target)
                .add_written_registers(1 << 14)
        }
    }
}

/// Returns the distance of B encoding T3 in bytes, 21 bits.
fn branch_t3_distance(h: u32, k: u32) -> u32 {
    let field = bit_field(h, 10, 1) << 20
        | bit_field(k, 11, 1) << 19
        | bit_field(k, 13, 1) << 18
        | bit_field(h, 0, 6) << 12
        | bit_field(k, 0, 11) << 1;
    ((field << 11) as i32 >> 11) as u32
}

/// Returns the distance of B encoding T4 and BL in bytes, 25 bits.
fn branch_t4_distance(h: u32, k: u32) -> u32 {
    let sign = bit_field(h, 10, 1);
    let (i1, i2) = (bit_field(k, 13, 1) ^ sign ^ 1, bit_field(k, 11, 1) ^ sign ^ 1);
    let field = sign << 24 | i1 << 23 | i2 << 22 | bit_field(h, 0, 10) << 12 | bit_field(k, 0, 11) << 1;
    ((field << 7) as i32 >> 7) as u32
}

/// Decodes MSR, hints, barriers, MRS and UDF.
fn decode_system_control_instruction(h: u32, k: u32, features: Features) -> Op {
    match bit_field(h, 4, 7) {
        0x38 | 0x39 => decode_msr(h, k, features),
        0x3a if k & 0x700 == 0 => {
            decode_hint(bit_field(k, 0, 8)).replace_with_undefined_op_if(h & 15 != 15 || k & 0x2800 != 0)
        }
        0x3b => {
            let op = match bit_field(k, 4, 4) {
                2 => Op::without_operands(Code::Clrex, InstructionTimingClass::System)
                    .replace_with_undefined_op_if(k & 15 != 15),
                kind @ 4..=6 => Op::without_operands(Code::Barrier, InstructionTimingClass::Barrier)
                    .set_instruction_variant_field(kind),
                _ => UNDEFINED,
            };
            op.replace_with_undefined_op_if(h & 15 != 15 || k & 0x2f00 != 0x0f00)
        }
        0x3e | 0x3f => {
            let (rd, sysm) = (bit_field(k, 8, 4), bit_field(k, 0, 8));
            let op = Op::without_operands(Code::Mrs, InstructionTimingClass::System)
                .set_destination_register(rd)
                .set_immediate_operand(sysm)
                .add_op_attribute_flags_if(sysm < 4, flag::READS_FLAGS);
            op.replace_with_undefined_op_if(
                h & 0x1f != 0x0f || k & 0x2000 != 0 || is_sp_or_pc(rd) || !is_special_register(sysm),
            )
        }
        _ => UNDEFINED,
    }
}

/// Decodes MSR.
fn decode_msr(h: u32, k: u32, features: Features) -> Op {
    let (rn, mask, sysm) = (bit_field(h, 0, 4), bit_field(k, 10, 2), bit_field(k, 0, 8));
    let op = Op::without_operands(Code::Msr, InstructionTimingClass::System)
        .set_first_operand_register(rn)
        .set_immediate_operand(sysm)
        .set_instruction_variant_field(mask)
        .add_op_attribute_flags_if(sysm < 4, flag::SETS);
    let writes_ge = mask & 1 != 0;
    let unpredictable = h & 0x10 != 0
        || k & 0x2300 != 0
        || is_sp_or_pc(rn)
        || mask == 0
        || writes_ge && (sysm > 3 || !features.dsp)
        || !is_special_register(sysm);
    op.replace_with_undefined_op_if(unpredictable)
}

/// Returns whether a value of SYSm names a register (B5.1.1). 4 is unallocated.
fn is_special_register(sysm: u32) -> bool {
    matches!(sysm, 0..=3 | 5..=9 | 16..=20)
}
