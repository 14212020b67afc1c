//! Bit fields, extensions, saturation, the DSP extension's arithmetic: everything that is neither frequent nor touches
//! memory. Results and flags only (ARMv7-M A7.7).

use super::alu::{self, write_bitwise_operation_result};
use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::op::{Op, flag};

/// Executes one of the rarer data-processing ops: bit fields, saturation, parallel additions and so on.
#[inline(always)]
pub(super) fn execute_bit_op(core: &mut Core, op: Op) {
    let (n, m) = (core.core_register(op.rn), core.core_register(op.rm));
    let value = match op.code {
        Code::OrnShift | Code::TeqShift | Code::MovShift | Code::MvnShift => return shift_logical(core, op, n),
        Code::AddToSp => return add_to_sp(core, op),
        Code::Rbit => m.reverse_bits(),
        Code::Ssat | Code::Usat => saturate_word(core, op),
        Code::Ssat16 | Code::Usat16 => {
            let low = saturate_value(core, n as i16 as i32, op);
            low & 0xffff | saturate_value(core, n as i32 >> 16, op) << 16
        }
        Code::Xtb16 => extend_bytes(op, m),
        Code::Xtab16 => {
            let m = extend_bytes(op, m);
            n.wrapping_add(m) & 0xffff | (n >> 16).wrapping_add(m >> 16) << 16
        }
        Code::Parallel => parallel_arithmetic_result(core, op, n, m),
        Code::Sel => {
            let chosen = u32::from_le_bytes([0, 1, 2, 3].map(|byte| if core.ge >> byte & 1 != 0 { 0xff } else { 0 }));
            n & chosen | m & !chosen
        }
        Code::Pkh if op.ra == 0 => n & 0xffff | (m << op.shift) & !0xffff,
        Code::Pkh => n & !0xffff | (i64::from(m as i32) >> op.shift) as u32 & 0xffff,
        Code::SaturatingAdd => saturating_add(core, op.ra, m as i32, n as i32),
        Code::Usad8 => sum_of_absolute_byte_differences(n, m),
        _ => sum_of_absolute_byte_differences(n, m).wrapping_add(core.core_register(op.ra)),
    };
    core.set_register(op.rd, value);
}

/// Executes the rarer logical operations with shifted registers.
fn shift_logical(core: &mut Core, op: Op, n: u32) {
    let (m, carry) = alu::second_operand_and_shift_carry(core, op);
    match op.code {
        Code::OrnShift => write_bitwise_operation_result(core, op, n | !m, carry),
        Code::MovShift => write_bitwise_operation_result(core, op, m, carry),
        Code::MvnShift => write_bitwise_operation_result(core, op, !m, carry),
        _ => {
            core.set_nz_flags(n ^ m);
            core.c = carry;
        }
    }
}

/// Executes ADD and SUB to SP: the sum's two low bits do not count, but its flags are those of the whole.
fn add_to_sp(core: &mut Core, op: Op) {
    let n = core.core_register(op.rn);
    let m = if op.rm == 15 { op.imm } else { core.core_register(op.rm) << op.shift };
    let value = match (op.ra, op.has_flag(flag::SETS)) {
        (0, false) => n.wrapping_add(m),
        (0, true) => core.add_with_flags(n, m),
        (_, false) => n.wrapping_sub(m),
        (_, true) => core.subtract_with_flags(n, m),
    };
    core.set_any_register(op.rd, value);
}

/// Returns the result of SSAT or USAT.
fn saturate_word(core: &mut Core, op: Op) -> u32 {
    let n = core.core_register(op.rn);
    let value = if op.ra == 0 { n << op.shift } else { (n as i32 >> op.shift) as u32 };
    saturate_value(core, value as i32, op)
}

/// Returns a value saturated to `imm` bits, signed or not by the code. Sets Q.
fn saturate_value(core: &mut Core, value: i32, op: Op) -> u32 {
    let (low, high) = match op.code {
        Code::Ssat | Code::Ssat16 => (-1i64 << (op.imm - 1), (1i64 << (op.imm - 1)) - 1),
        _ => (0, (1i64 << op.imm) - 1),
    };
    let saturated = i64::from(value).clamp(low, high);
    core.q |= saturated != i64::from(value);
    saturated as u32
}

/// Returns the result of SXTB16 or UXTB16: bytes 0 and 2 of the rotated value.
fn extend_bytes(op: Op, m: u32) -> u32 {
    let rotated = m.rotate_right(u32::from(op.shift));
    if op.ra == 0 {
        return rotated & 0x00ff_00ff;
    }
    let low = rotated as i8 as u32 & 0xffff;
    low | ((rotated >> 16) as i8 as u32) << 16
}

/// Returns the sum of the absolute differences of the four bytes.
fn sum_of_absolute_byte_differences(n: u32, m: u32) -> u32 {
    n.to_le_bytes().iter().zip(m.to_le_bytes()).map(|(a, b)| u32::from(a.abs_diff(b))).sum()
}

/// Returns the result of QADD, QDADD, QSUB or QDSUB: `m` plus or minus `n` (doubled). Each saturation sets Q.
fn saturating_add(core: &mut Core, kind: u8, m: i32, n: i32) -> u32 {
    let n = if kind & 1 == 0 {
        n
    } else {
        core.q |= n.checked_mul(2).is_none();
        n.saturating_mul(2)
    };
    let exact = if kind & 2 == 0 { m.checked_add(n) } else { m.checked_sub(n) };
    core.q |= exact.is_none();
    (if kind & 2 == 0 { m.saturating_add(n) } else { m.saturating_sub(n) }) as u32
}

/// Prefixes of the parallel operations: bits 6:4 of the second halfword.
mod prefix {
    pub const SATURATING: u8 = 1;
    pub const HALVING: u8 = 2;
    pub const UNSIGNED: u8 = 4;
}

/// Returns one lane's sum or difference by the prefix, and whether it sets GE.
fn parallel_lane_result(prefix: u8, exact: i32, subtracts: bool, bits: u32) -> (u32, bool) {
    let unsigned = prefix & prefix::UNSIGNED != 0;
    if prefix & prefix::SATURATING != 0 {
        let (low, high) = if unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) };
        return (exact.clamp(low, high) as u32, false);
    }
    if prefix & prefix::HALVING != 0 {
        return ((exact >> 1) as u32, false);
    }
    let ge = if unsigned && !subtracts { exact >> bits != 0 } else { exact >= 0 };
    (exact as u32, ge)
}

/// Returns the result of a parallel addition or subtraction: `ra` is the operation, `shift` the prefix.
fn parallel_arithmetic_result(core: &mut Core, op: Op, n: u32, m: u32) -> u32 {
    let sets_ge = op.shift & 3 == 0;
    let wide = |value: u32, index: u32, bits: u32| {
        let field = value >> (index * bits) & ((1 << bits) - 1);
        let sign = 32 - bits;
        if op.shift & prefix::UNSIGNED != 0 { field as i32 } else { (field << sign) as i32 >> sign }
    };
    // Lane by lane: which lane of `m`, and whether it is subtracted.
    let (bits, exchanges, subtracts): (u32, bool, [bool; 2]) = match op.ra {
        0 => (8, false, [false; 2]),
        1 => (16, false, [false; 2]),
        2 => (16, true, [true, false]),
        4 => (8, false, [true; 2]),
        5 => (16, false, [true; 2]),
        _ => (16, true, [false, true]),
    };
    let (mut result, mut ge) = (0, 0);
    for index in 0..32 / bits {
        let (a, b) = (wide(n, index, bits), wide(m, if exchanges { index ^ 1 } else { index }, bits));
        let minus = subtracts[(index & 1) as usize];
        let (value, set) = parallel_lane_result(op.shift, if minus { a - b } else { a + b }, minus, bits);
        result |= (value & ((1 << bits) - 1)) << (index * bits);
        if set {
            ge |= ((1 << (bits / 8)) - 1) << (index * (bits / 8));
        }
    }
    if sets_ge {
        core.ge = ge;
    }
    result
}
