//! Coprocessor space: the floating-point extension (A5.3.18, A6.4 to A6.7).
//!
//! Coprocessors other than the FPU are absent. Without an FPU so is that one. With one, an encoding it does not know
//! is UNDEFINED only after its access rights were found to allow it.

use super::{Place, UNDEFINED, bit_field, is_sp_or_pc};
use crate::v7m::code::Code;
use crate::v7m::core::Features;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

const NO_COPROCESSOR: Op = Op::without_operands(Code::NoCoprocessor, InstructionTimingClass::None);
const UNDEFINED_FLOAT: Op = Op::without_operands(Code::UndefinedFloat, InstructionTimingClass::None);

/// Rounding field of conversions: the mode of FPSCR.
const BY_FPSCR: u32 = 5;
/// The same with the inexact exception.
const EXACTLY: u32 = 6;
/// Towards zero.
const TO_ZERO: u32 = 3;
/// VRINTA, N, P, M in the order of their field.
const DIRECTED: [u32; 4] = [4, 0, 1, 2];

/// Decodes coprocessor instructions: those of the floating-point extension, or undefined.
pub(super) fn decode_coprocessor(h: u32, k: u32, place: Place, features: Features) -> Op {
    if h & 0x300 == 0x300 || h & 0x3e0 == 0 {
        return UNDEFINED;
    }
    if !features.float || k & 0xe00 != 0xa00 {
        return NO_COPROCESSOR;
    }
    let double = k & 0x100 != 0;
    let op = match (bit_field(h, 12, 1), bit_field(h, 9, 1), bit_field(k, 4, 1)) {
        (0, 0, _) if h & 0x3e0 == 0x040 => decode_pair_transfer(h, k, double),
        (0, 0, _) => decode_float_load_store(h, k, double, place),
        (0, _, 1) => decode_transfer(h, k, double),
        (_, 1, 0) if double && !features.double => None,
        (0, 1, 0) => decode_arithmetic(h, k, double, features),
        (1, 1, 0) if features.double => decode_fpv5(h, k, double),
        _ => None,
    };
    op.unwrap_or(UNDEFINED_FLOAT)
}

/// The register fields of a floating-point instruction: four bits and one more, which counts first in a D number.
#[derive(Clone, Copy)]
struct Registers {
    d: u32,
    n: u32,
    m: u32,
}

/// Returns a register number of the given width from its two fields. D16 to D31 do not exist: `None`.
fn register_number(four: u32, one: u32, double: bool) -> Option<u32> {
    match (double, one) {
        (false, _) => Some(four << 1 | one),
        (true, 0) => Some(four),
        _ => None,
    }
}

/// Returns the destination register number.
fn destination_register_number(h: u32, k: u32, double: bool) -> Option<u32> {
    register_number(bit_field(k, 12, 4), bit_field(h, 6, 1), double)
}

/// Returns the first operand's register number.
fn first_operand_number(h: u32, k: u32, double: bool) -> Option<u32> {
    register_number(bit_field(h, 0, 4), bit_field(k, 7, 1), double)
}

/// Returns the second operand's register number.
fn second_operand_register_number(k: u32, double: bool) -> Option<u32> {
    register_number(bit_field(k, 0, 4), bit_field(k, 5, 1), double)
}

/// Creates an op with the code for single or double precision.
fn new_float_op(codes: [Code; 2], class: InstructionTimingClass, double: bool) -> Op {
    Op::without_operands(codes[usize::from(double)], class).add_op_attribute_flags_if(double, flag::DOUBLE)
}

/// Sets floating-point operands, which are not in the sets of core registers.
fn set_float_operands(op: Op, d: u32, n: u32, m: u32) -> Op {
    Op { rd: d as u8, rn: n as u8, rm: m as u8, ..op }
}

/// Decodes floating-point data processing (A6.4).
fn decode_arithmetic(h: u32, k: u32, double: bool, features: Features) -> Option<Op> {
    let (opcode, op) = (bit_field(h, 7, 1) << 2 | bit_field(h, 4, 2), bit_field(k, 6, 1));
    if opcode == 7 {
        return decode_float_moves_and_conversions(h, k, double, features);
    }
    let all = Registers {
        d: destination_register_number(h, k, double)?,
        n: first_operand_number(h, k, double)?,
        m: second_operand_register_number(k, double)?,
    };
    let three = |codes, class| set_float_operands(new_float_op(codes, class, double), all.d, all.n, all.m);
    let accumulate = |kind| {
        let codes = [Code::VmultiplyAccumulate32, Code::VmultiplyAccumulate64];
        three(codes, InstructionTimingClass::FloatMultiplyAccumulate).set_instruction_variant_field(kind)
    };
    Some(match (opcode, op) {
        // VMLA, VMLS. VNMLS, VNMLA.
        (0 | 1, _) => accumulate(opcode << 1 | op),
        (2, 0) => three([Code::Vmul32, Code::Vmul64], InstructionTimingClass::FloatMultiply),
        (2, _) => three([Code::Vnmul32, Code::Vnmul64], InstructionTimingClass::FloatMultiply),
        (3, 0) => three([Code::Vadd32, Code::Vadd64], InstructionTimingClass::FloatSimple),
        (3, _) => three([Code::Vsub32, Code::Vsub64], InstructionTimingClass::FloatSimple),
        (4, 0) => three([Code::Vdiv32, Code::Vdiv64], InstructionTimingClass::FloatDivide),
        (4, _) => return None,
        // VFMA, VFMS have opcode 6. VFNMS, VFNMA have 5.
        (6, _) => accumulate(4 | op),
        _ => accumulate(6 | op),
    })
}

/// Decodes other floating-point data processing: moves, comparisons, conversions.
fn decode_float_moves_and_conversions(h: u32, k: u32, double: bool, features: Features) -> Option<Op> {
    let (opc2, opc3) = (bit_field(h, 0, 4), bit_field(k, 6, 2));
    let top = opc3 >> 1;
    let simple = |codes| new_float_op(codes, InstructionTimingClass::FloatSimple, double);
    let same = |codes| {
        Some(set_float_operands(
            simple(codes),
            destination_register_number(h, k, double)?,
            0,
            second_operand_register_number(k, double)?,
        ))
    };
    if opc3 & 1 == 0 {
        let op = set_float_operands(
            simple([Code::VmovImm32, Code::VmovImm64]),
            destination_register_number(h, k, double)?,
            0,
            0,
        );
        return (k & 0xa0 == 0)
            .then_some(op.set_immediate_operand(expand_float_immediate(opc2 << 4 | bit_field(k, 0, 4), double)));
    }
    match (opc2, top) {
        (0, 0) => same([Code::Vmov32, Code::Vmov64]),
        (0, _) => same([Code::Vmov32, Code::Vmov64]).map(|op| op.set_instruction_variant_field(1)),
        (1, 0) => same([Code::Vmov32, Code::Vmov64]).map(|op| op.set_instruction_variant_field(2)),
        (1, _) => {
            same([Code::Vsqrt32, Code::Vsqrt64]).map(|op| Op { class: InstructionTimingClass::FloatSquareRoot, ..op })
        }
        (2 | 3, _) => {
            // The half is in an S register. The other side may be double.
            let to_half = opc2 == 3;
            let d = destination_register_number(h, k, double && !to_half)?;
            let m = second_operand_register_number(k, double && to_half)?;
            Some(
                set_float_operands(simple([Code::VcvtHalf; 2]), d, 0, m)
                    .set_instruction_variant_field(top | u32::from(to_half) << 1),
            )
        }
        (4, _) => same([Code::Vcmp32, Code::Vcmp64]).map(|op| op.set_instruction_variant_field(top)),
        (5, _) => {
            let op = set_float_operands(
                simple([Code::Vcmp32, Code::Vcmp64]),
                destination_register_number(h, k, double)?,
                0,
                0,
            )
            .set_instruction_variant_field(top | 2);
            (k & 0x2f == 0).then_some(op)
        }
        (6, _) if features.double => {
            same([Code::Vrint; 2]).map(|op| op.set_instruction_variant_field(if top == 0 { BY_FPSCR } else { TO_ZERO }))
        }
        (7, 0) if features.double => same([Code::Vrint; 2]).map(|op| op.set_instruction_variant_field(EXACTLY)),
        (7, 1) if features.double => {
            let code = if double { Code::VcvtSingleFromDouble } else { Code::VcvtDoubleFromSingle };
            let op = Op::without_operands(code, InstructionTimingClass::FloatSimple)
                .add_op_attribute_flags_if(double, flag::DOUBLE);
            Some(set_float_operands(
                op,
                destination_register_number(h, k, !double)?,
                0,
                second_operand_register_number(k, double)?,
            ))
        }
        (8, _) => Some(
            set_float_operands(
                simple([Code::VcvtFromInteger; 2]),
                destination_register_number(h, k, double)?,
                0,
                second_operand_register_number(k, false)?,
            )
            .set_shift_field(top),
        ),
        (10 | 11 | 14 | 15, _) => {
            let width: u32 = 16 << top;
            let fraction = width.checked_sub(bit_field(k, 0, 4) << 1 | bit_field(k, 5, 1))?;
            let kind = u32::from(opc2 & 1 == 0) | bit_field(opc2, 2, 1) << 1;
            let op = set_float_operands(simple([Code::VcvtFixed; 2]), destination_register_number(h, k, double)?, 0, 0);
            Some(op.set_immediate_operand(fraction).set_shift_field(width).set_instruction_variant_field(kind))
        }
        (12 | 13, _) => {
            let op = set_float_operands(
                simple([Code::VcvtToInteger; 2]),
                destination_register_number(h, k, false)?,
                0,
                second_operand_register_number(k, double)?,
            );
            Some(op.set_shift_field(opc2 & 1).set_instruction_variant_field(if top == 0 { BY_FPSCR } else { TO_ZERO }))
        }
        _ => None,
    }
}

/// Returns the word, or the upper word of a double, that an 8-bit immediate encodes (VFPExpandImm).
fn expand_float_immediate(imm8: u32, double: bool) -> u32 {
    let (sign, exponent, fraction) = (imm8 >> 7, bit_field(imm8, 4, 2), bit_field(imm8, 0, 4));
    let (low, repeated) = (bit_field(imm8, 6, 1) ^ 1, bit_field(imm8, 6, 1));
    match double {
        false => sign << 31 | low << 30 | (repeated * 0x1f) << 25 | exponent << 23 | fraction << 19,
        true => sign << 31 | low << 30 | (repeated * 0xff) << 22 | exponent << 20 | fraction << 16,
    }
}

/// Decodes what FPv5 added: VSEL, VMAXNM, VMINNM, directed roundings (A6.4).
fn decode_fpv5(h: u32, k: u32, double: bool) -> Option<Op> {
    let (opcode, opc2) = (bit_field(h, 7, 1) << 2 | bit_field(h, 4, 2), bit_field(h, 0, 4));
    let simple = |codes| new_float_op(codes, InstructionTimingClass::FloatSimple, double);
    let three = |codes| {
        Some(set_float_operands(
            simple(codes),
            destination_register_number(h, k, double)?,
            first_operand_number(h, k, double)?,
            second_operand_register_number(k, double)?,
        ))
    };
    match opcode {
        0..=3 if k & 0x40 == 0 => {
            // EQ, VS, GE, GT.
            let condition = [0, 6, 10, 12][opcode as usize];
            three([Code::Vsel32, Code::Vsel64])
                .map(|op| op.set_instruction_variant_field(condition).with_flags(flag::READS_FLAGS))
        }
        4 => three([Code::Vmaxnm32, Code::Vmaxnm64]).map(|op| op.set_instruction_variant_field(bit_field(k, 6, 1))),
        7 if k & 0x40 != 0 => {
            let rounding = DIRECTED[(opc2 & 3) as usize];
            match opc2 >> 2 {
                2 if k & 0x80 == 0 => {
                    let op = simple([Code::Vrint; 2]).set_instruction_variant_field(rounding);
                    Some(set_float_operands(
                        op,
                        destination_register_number(h, k, double)?,
                        0,
                        second_operand_register_number(k, double)?,
                    ))
                }
                3 => {
                    let op = simple([Code::VcvtToInteger; 2])
                        .set_instruction_variant_field(rounding)
                        .set_shift_field(bit_field(k, 7, 1));
                    Some(set_float_operands(
                        op,
                        destination_register_number(h, k, false)?,
                        0,
                        second_operand_register_number(k, double)?,
                    ))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Decodes VLDR, VSTR, VLDM, VSTM, VPUSH and VPOP (A6.5).
fn decode_float_load_store(h: u32, k: u32, double: bool, place: Place) -> Option<Op> {
    let (pre, up, writes_back, load) = (h & 0x100 != 0, h & 0x80 != 0, h & 0x20 != 0, h & 0x10 != 0);
    let (rn, imm8) = (bit_field(h, 0, 4), bit_field(k, 0, 8));
    let d = destination_register_number(h, k, double)?;
    let offset = if up { imm8 * 4 } else { (imm8 * 4).wrapping_neg() };
    if pre && !writes_back {
        let op = match load {
            true => new_float_op([Code::Vldr32, Code::Vldr64], InstructionTimingClass::FloatLoad, double),
            false => new_float_op([Code::Vstr32, Code::Vstr64], InstructionTimingClass::FloatStore, double),
        };
        let address = if rn == 15 { place.literal_base().wrapping_add(offset) } else { offset };
        return (load || rn != 15)
            .then_some(Op { rd: d as u8, ..op.set_first_operand_register(rn).set_immediate_operand(address) });
    }
    if pre == up || rn == 15 {
        return None;
    }
    // An odd count of words with D registers (FLDMX) moves one less, but steps the base by it.
    let words = if double { imm8 & !1 } else { imm8 };
    let first = if double { 2 * d } else { d };
    let op = match load {
        true => Op::without_operands(Code::Vldm, InstructionTimingClass::FloatLoadMultiple),
        false => Op::without_operands(Code::Vstm, InstructionTimingClass::FloatStoreMultiple),
    };
    let op = Op {
        rd: first as u8,
        ..op.set_first_operand_register(rn)
            .set_immediate_operand(imm8 * 4)
            .set_shift_field(words)
            .set_instruction_variant_field(u32::from(pre))
    };
    let op = if writes_back { op.mark_base_register_written_back().with_flags(flag::POST_INDEXED) } else { op };
    (words != 0 && first + words <= 32).then_some(op.add_op_attribute_flags_if(double, flag::DOUBLE))
}

/// Decodes transfers between core registers and one S register, half a D register or FPSCR (A6.6).
fn decode_transfer(h: u32, k: u32, double: bool) -> Option<Op> {
    let (opcode, to_core, rt) = (bit_field(h, 5, 3), h & 0x10 != 0, bit_field(k, 12, 4));
    let s = match (double, opcode) {
        (false, 0) => first_operand_number(h, k, false)?,
        (true, 0 | 1) => first_operand_number(h, k, true)? * 2 + opcode,
        (false, 7) => return decode_system_register(h, k, to_core, rt),
        _ => return None,
    };
    let op = match to_core {
        true => Op {
            rn: s as u8,
            ..Op::without_operands(Code::VmovToCore, InstructionTimingClass::FloatMove).set_destination_register(rt)
        },
        false => Op {
            rd: s as u8,
            ..Op::without_operands(Code::VmovFromCore, InstructionTimingClass::FloatMove).set_first_operand_register(rt)
        },
    };
    (!is_sp_or_pc(rt) && k & 0x6f == 0).then_some(op)
}

/// Decodes VMRS and VMSR: FPSCR is the only register.
fn decode_system_register(h: u32, k: u32, to_core: bool, rt: u32) -> Option<Op> {
    let op = match (to_core, rt) {
        (true, 15) => Op::without_operands(Code::VmrsFlags, InstructionTimingClass::FloatSystem).with_flags(flag::SETS),
        (true, _) => Op::without_operands(Code::Vmrs, InstructionTimingClass::FloatSystem).set_destination_register(rt),
        (false, 15) => return None,
        (false, _) => {
            Op::without_operands(Code::Vmsr, InstructionTimingClass::FloatSystem).set_first_operand_register(rt)
        }
    };
    (bit_field(h, 0, 4) == 1 && rt != 13 && k & 0xef == 0).then_some(op)
}

/// Decodes transfers between two core registers and two S registers or a D register (A6.7).
fn decode_pair_transfer(h: u32, k: u32, double: bool) -> Option<Op> {
    let (to_core, rt2, rt) = (h & 0x10 != 0, bit_field(h, 0, 4), bit_field(k, 12, 4));
    let m = second_operand_register_number(k, double)?;
    let first = if double { 2 * m } else { m };
    let op = match to_core {
        true => Op::without_operands(Code::VmovPairToCore, InstructionTimingClass::FloatMoveDouble)
            .set_destination_register(rt)
            .set_second_destination(rt2),
        false => Op::without_operands(Code::VmovPairFromCore, InstructionTimingClass::FloatMoveDouble)
            .set_transfer_operand_register(rt)
            .set_third_operand_register(rt2),
    };
    let op = Op { rm: first as u8, ..op.add_op_attribute_flags_if(double, flag::DOUBLE) };
    let defined = k & 0xd0 == 0x10 && first != 31 && !is_sp_or_pc(rt) && !is_sp_or_pc(rt2) && !(to_core && rt == rt2);
    defined.then_some(op)
}
