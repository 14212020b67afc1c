//! Properties of the decoder over all encodings, and a few encodings by hand.

use super::{Place, decode_instruction, is_wide_encoding};
use crate::v7m::code::{CODES, Code};
use crate::v7m::core::Features;
use crate::v7m::op::{InstructionTimingClass, Op, flag};

const PLACE: Place = Place { address: 0x0800_1002, region_base: 0x0800_0000, region_bytes: 0x10_0000 };

const M3: Features = Features::CORTEX_M3;
const M4: Features = Features::CORTEX_M4F;
const M7: Features = Features::CORTEX_M7;

fn is(op: Op, code: Code) -> bool {
    op.code == code
}

/// Every 16-bit encoding and a spread of the 32-bit ones: each first half with second halves that step through all
/// their fields.
fn every(features: Features, mut check: impl FnMut(u16, u16, Op)) {
    for first in 0..=u16::MAX {
        if !is_wide_encoding(first) {
            check(first, 0, decode_instruction(first, 0, PLACE, features));
            continue;
        }
        for step in 0..0x400u16 {
            let second = step.wrapping_mul(0x9e45) ^ first.rotate_left(5);
            check(first, second, decode_instruction(first, second, PLACE, features));
        }
    }
}

#[test]
fn branch_out_of_its_region_keeps_its_absolute_target() {
    let place = Place { address: 0x0800_0000, region_base: 0x0800_0000, region_bytes: 0x100 };
    let near = decode_instruction(0xe07d, 0, place, M3);
    assert!(is(near, Code::B) && near.imm == 0x7f, "{near:?}");
    let far = decode_instruction(0xe07e, 0, place, M3);
    assert!(is(far, Code::BFar) && far.imm == 0x0800_0100, "{far:?}");
    let backwards = decode_instruction(0xd0fd, 0, place, M3);
    assert!(is(backwards, Code::BccFar) && backwards.imm == 0x07ff_fffe && backwards.ra == 0, "{backwards:?}");
}

#[test]
fn register_sets_name_real_registers_only() {
    every(M7, |first, second, op| {
        assert_eq!((op.reads | op.writes) >> 15, 0, "{first:04x} {second:04x}: {op:?}");
    });
}

#[test]
fn wide_operations_have_a_wide_first_halfword() {
    every(M7, |first, second, op| {
        assert!(
            is(op, Code::Undefined) || op.has_flag(flag::WIDE) == is_wide_encoding(first),
            "{first:04x} {second:04x}: {op:?}"
        );
    });
}

#[test]
fn instructions_of_other_cores_do_not_decode() {
    every(M3, |first, second, op| {
        assert_ne!(op.class, InstructionTimingClass::Dsp, "{first:04x} {second:04x}");
        assert_ne!(op.class, InstructionTimingClass::MultiplyDsp, "{first:04x} {second:04x}");
        assert!(op.class < InstructionTimingClass::FloatSimple, "{first:04x} {second:04x}: {op:?}");
    });
    every(M4, |first, second, op| {
        let moves = matches!(
            op.class,
            InstructionTimingClass::FloatLoad
                | InstructionTimingClass::FloatStore
                | InstructionTimingClass::FloatMoveDouble
        ) || matches!(
            op.class,
            InstructionTimingClass::FloatLoadMultiple | InstructionTimingClass::FloatStoreMultiple
        );
        assert!(
            op.class < InstructionTimingClass::FloatSimple || moves || !op.has_flag(flag::DOUBLE),
            "{first:04x} {second:04x}: {op:?}"
        );
    });
}

#[test]
fn larger_core_decodes_a_smaller_cores_instructions_equally() {
    for (small, big) in [(M3, M4), (M4, M7)] {
        every(small, |first, second, op| {
            let lacking = is(op, Code::Undefined) || is(op, Code::NoCoprocessor) || is(op, Code::UndefinedFloat);
            assert!(lacking || op == decode_instruction(first, second, PLACE, big), "{first:04x} {second:04x}");
        });
    }
}

#[test]
fn every_operation_except_stubs_has_an_encoding() {
    let mut seen = [false; 256];
    every(M7, |_, _, op| seen[op.code as usize] = true);
    every(M3, |_, _, op| seen[op.code as usize] = true);
    let edge = Place { address: 0x0800_0000, region_base: 0x0800_0000, region_bytes: 4 };
    for first in [0xd0fe, 0xd0f0, 0xe7f0, 0xb1f8] {
        seen[decode_instruction(first, 0, edge, M3).code as usize] = true;
    }
    // Encodings with so many fixed bits that a spread misses them: BL, RBIT, CLREX, DSB, VMRS APSR, VMSR.
    for [first, second] in
        [[0xf7ff, 0xf800], [0xfa91, 0xf1a1], [0xf3bf, 0x8f2f], [0xf3bf, 0x8f4f], [0xeef1, 0xfa10], [0xeee1, 0x1a10]]
    {
        seen[decode_instruction(first, second, edge, M4).code as usize] = true;
    }
    let missing: Vec<_> = CODES.iter().filter(|(code, _)| !seen[*code as usize]).map(|(_, name)| *name).collect();
    assert_eq!(missing, ["Undecoded", "Attend", "OutOfRegion"]);
}
