//! Instructions that touch registers and flags only (ARMv6-M A6.7), and what they take.

use super::operands::shift_by_register;
use crate::v6m::core::Core;
use crate::v6m::op::{Word, op};
use rtoslab_timing::cortex_m0plus as timing;

/// Returns the cycles of an instruction with this code that accesses no memory.
pub(super) const fn cycles_without_memory(code: u8) -> u64 {
    if code == op::Mul { timing::MULTIPLY_CYCLES } else { timing::SINGLE_CYCLES }
}

/// Sets N and Z by a value.
#[inline(always)]
fn set_nz_flags(core: &mut Core, value: u32) {
    core.nz = i64::from(value as i32);
}

/// Returns a + b and sets all four flags.
#[inline(always)]
fn add_with_flags(core: &mut Core, a: u32, b: u32) -> u32 {
    let (sum, carry) = a.overflowing_add(b);
    core.c = carry;
    core.v = (a as i32).overflowing_add(b as i32).1;
    set_nz_flags(core, sum);
    sum
}

/// Returns a - b and sets all four flags.
#[inline(always)]
fn subtract_with_flags(core: &mut Core, a: u32, b: u32) -> u32 {
    let difference = a.wrapping_sub(b);
    core.c = a >= b;
    core.v = (a as i32).overflowing_sub(b as i32).1;
    set_nz_flags(core, difference);
    difference
}

/// Returns a + b + carry and sets all four flags. Subtraction is a + !b + carry (ARMv6-M A2.2.1).
#[inline(always)]
fn add_with_carry(core: &mut Core, a: u32, b: u32) -> u32 {
    let wide = u64::from(a) + u64::from(b) + u64::from(core.c);
    let sum = wide as u32;
    core.c = wide >> 32 != 0;
    core.v = ((a ^ sum) & (b ^ sum)) >> 31 != 0;
    set_nz_flags(core, sum);
    sum
}

/// Executes the instruction `word`, whose code is `CODE`: one from `MovsReg` to `Nop`.
#[inline(always)]
#[allow(clippy::cognitive_complexity, clippy::too_many_lines)]
pub(super) fn execute_alu<const CODE: u8>(core: &mut Core, word: Word) {
    macro_rules! r {
        ($index:expr) => {
            core.r[($index & 15) as usize]
        };
    }
    macro_rules! a {
        () => {
            r!(word.a())
        };
    }
    macro_rules! b {
        () => {
            r!(word.b())
        };
    }
    macro_rules! c {
        () => {
            r!(word.c())
        };
    }
    // A result with N and Z.
    macro_rules! logical {
        ($value:expr) => {{
            let value: u32 = $value;
            a!() = value;
            set_nz_flags(core, value);
        }};
    }
    let imm = word.imm();
    match CODE {
        op::MovsReg => logical!(b!()),
        op::LslImm => {
            let value = b!();
            core.c = value >> (32 - imm) & 1 != 0;
            logical!(value << (imm & 31));
        }
        op::LsrImm => {
            let value = u64::from(b!()) << 1 >> imm;
            core.c = value & 1 != 0;
            logical!((value >> 1) as u32);
        }
        op::AsrImm => {
            let value = i64::from(b!() as i32) << 1 >> imm;
            core.c = value & 1 != 0;
            logical!((value >> 1) as u32);
        }
        op::AddReg => a!() = add_with_flags(core, b!(), c!()),
        op::SubReg => a!() = subtract_with_flags(core, b!(), c!()),
        op::AddImm => a!() = add_with_flags(core, b!(), imm),
        op::SubImm => a!() = subtract_with_flags(core, b!(), imm),
        op::MovImm => logical!(imm),
        op::CmpImm => {
            subtract_with_flags(core, b!(), imm);
        }
        op::And => logical!(a!() & b!()),
        op::Eor => logical!(a!() ^ b!()),
        op::LslReg | op::LsrReg | op::AsrReg | op::RorReg => {
            let value = shift_by_register(CODE, a!(), b!() & 0xff, &mut core.c);
            logical!(value);
        }
        op::Adc => a!() = add_with_carry(core, a!(), b!()),
        op::Sbc => a!() = add_with_carry(core, a!(), !b!()),
        op::Tst => set_nz_flags(core, a!() & b!()),
        op::Rsb => a!() = subtract_with_flags(core, 0, b!()),
        op::Cmp | op::CmpHi => {
            subtract_with_flags(core, a!(), b!());
        }
        op::Cmn => {
            add_with_flags(core, a!(), b!());
        }
        op::Orr => logical!(a!() | b!()),
        op::Mul => logical!(a!().wrapping_mul(b!())),
        op::Bic => logical!(a!() & !b!()),
        op::Mvn => logical!(!b!()),
        op::AddHi => a!() = a!().wrapping_add(b!()),
        op::AddHiSp => r!(13) = r!(13).wrapping_add(b!()) & !3,
        op::MovHi => a!() = b!(),
        op::MovHiSp => r!(13) = b!() & !3,
        op::MovConst => a!() = imm,
        op::AddConst => a!() = a!().wrapping_add(imm),
        op::AddNoFlags => a!() = b!().wrapping_add(imm),
        op::Sxth => a!() = b!() as i16 as u32,
        op::Sxtb => a!() = b!() as i8 as u32,
        op::Uxth => a!() = b!() & 0xffff,
        op::Uxtb => a!() = b!() & 0xff,
        op::Rev => a!() = b!().swap_bytes(),
        op::Rev16 => a!() = b!().swap_bytes().rotate_left(16),
        op::Revsh => a!() = (b!() as u16).swap_bytes() as i16 as u32,
        op::Nop => {}
        _ => unreachable!("no instruction on registers alone"),
    }
}
