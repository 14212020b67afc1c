//! Data processing with constants and registers: the frequent instructions that touch nothing but the core.

use super::alu::{RegisterShiftKind, second_operand_and_shift_carry, shift_by_register, shifted_operand};
use crate::v7m::code::{Code, number as code};
use crate::v7m::core::Core;
use crate::v7m::op::{Op, flag};

/// Executes a data-processing op of the known code `CODE`, one from `AndImmS` to `Mls` that is not
/// [`bits`](super::bits)'s.
///
/// # Safety
/// `at` points to an op of that code.
#[inline(always)]
#[allow(clippy::cognitive_complexity, clippy::too_many_lines)]
pub(super) unsafe fn execute_register_op<const CODE: u8>(core: &mut Core, at: *const Op) {
    // The op and its fields, read where they are used: taken out of two words they would all be computed in advance.
    macro_rules! op {
        () => {{
            // SAFETY: the caller's promise.
            Op { code: const { Code::code_with_number(CODE) }, ..unsafe { *at } }
        }};
    }
    macro_rules! field {
        ($name:ident) => {{
            // SAFETY: the caller's promise.
            unsafe { (*at).$name }
        }};
    }
    macro_rules! n {
        () => {
            core.core_register(field!(rn))
        };
    }
    macro_rules! m {
        () => {
            core.core_register(field!(rm))
        };
    }
    macro_rules! set {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_register(field!(rd), value);
        }};
    }
    // A logical operation with a constant that sets flags.
    macro_rules! logical_constant {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_carry_of_logical_constant(op!());
            core.set_register_and_flags(field!(rd), value);
        }};
    }
    macro_rules! logical {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_register_and_flags(field!(rd), value);
        }};
    }
    macro_rules! test {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_nz_flags(value);
        }};
    }
    // With a shifted register: the operand and its carry.
    macro_rules! logical_shifted {
        (|$m:ident| $value:expr) => {{
            let op = op!();
            if op.has_flag(flag::SETS) {
                let ($m, carry) = second_operand_and_shift_carry(core, op);
                logical!($value);
                core.c = carry;
            } else {
                let $m = shifted_operand(core, op);
                set!($value);
            }
        }};
    }
    macro_rules! sum_shifted {
        (|$m:ident| $with_flags:expr, $without:expr) => {{
            let op = op!();
            let $m = shifted_operand(core, op);
            let value: u32 = if op.has_flag(flag::SETS) { $with_flags } else { $without };
            core.set_register(op.rd, value);
        }};
    }
    macro_rules! shift_register {
        ($kind:expr, $sets:literal) => {{
            let (value, carry) = shift_by_register($kind, n!(), m!(), core.c);
            core.set_register(field!(rd), value);
            if $sets {
                core.set_nz_flags(value);
                core.c = carry;
            }
        }};
    }

    match CODE {
        code::AndImmS => logical_constant!(n!() & field!(imm)),
        code::AndImm => set!(n!() & field!(imm)),
        code::BicImmS => logical_constant!(n!() & !field!(imm)),
        code::BicImm => set!(n!() & !field!(imm)),
        code::OrrImmS => logical_constant!(n!() | field!(imm)),
        code::OrrImm => set!(n!() | field!(imm)),
        code::OrnImmS => logical_constant!(n!() | !field!(imm)),
        code::OrnImm => set!(n!() | !field!(imm)),
        code::EorImmS => logical_constant!(n!() ^ field!(imm)),
        code::EorImm => set!(n!() ^ field!(imm)),
        code::AddImmS => set!(core.add_with_flags(n!(), field!(imm))),
        code::AddImm => set!(n!().wrapping_add(field!(imm))),
        code::AdcImmS => set!(core.add_with_carry_and_flags(n!(), field!(imm))),
        code::AdcImm => set!(core.add_with_carry(n!(), field!(imm))),
        code::SbcImmS => set!(core.add_with_carry_and_flags(n!(), !field!(imm))),
        code::SbcImm => set!(core.add_with_carry(n!(), !field!(imm))),
        code::SubImmS => set!(core.subtract_with_flags(n!(), field!(imm))),
        code::SubImm => set!(n!().wrapping_sub(field!(imm))),
        code::RsbImmS => set!(core.subtract_with_flags(field!(imm), n!())),
        code::RsbImm => set!(field!(imm).wrapping_sub(n!())),
        code::MovImmS => logical_constant!(field!(imm)),
        code::MovImm => set!(field!(imm)),
        code::MvnImmS => logical_constant!(!field!(imm)),
        code::MvnImm => set!(!field!(imm)),
        code::TstImm => {
            core.set_carry_of_logical_constant(op!());
            test!(n!() & field!(imm));
        }
        code::TeqImm => {
            core.set_carry_of_logical_constant(op!());
            test!(n!() ^ field!(imm));
        }
        code::CmpImm => {
            core.subtract_with_flags(n!(), field!(imm));
        }
        code::CmnImm => {
            core.add_with_flags(n!(), field!(imm));
        }

        code::AndRegS => logical!(n!() & m!()),
        code::AndReg => set!(n!() & m!()),
        code::BicRegS => logical!(n!() & !m!()),
        code::BicReg => set!(n!() & !m!()),
        code::OrrRegS => logical!(n!() | m!()),
        code::OrrReg => set!(n!() | m!()),
        code::EorRegS => logical!(n!() ^ m!()),
        code::EorReg => set!(n!() ^ m!()),
        code::AddRegS => set!(core.add_with_flags(n!(), m!())),
        code::AddReg => set!(n!().wrapping_add(m!())),
        code::AdcRegS => set!(core.add_with_carry_and_flags(n!(), m!())),
        code::AdcReg => set!(core.add_with_carry(n!(), m!())),
        code::SbcRegS => set!(core.add_with_carry_and_flags(n!(), !m!())),
        code::SbcReg => set!(core.add_with_carry(n!(), !m!())),
        code::SubRegS => set!(core.subtract_with_flags(n!(), m!())),
        code::SubReg => set!(n!().wrapping_sub(m!())),
        code::MovRegS => logical!(m!()),
        code::MovReg => set!(m!()),
        code::MvnRegS => logical!(!m!()),
        code::MvnReg => set!(!m!()),
        code::TstReg => test!(n!() & m!()),
        code::CmpReg => {
            core.subtract_with_flags(n!(), m!());
        }
        code::CmnReg => {
            core.add_with_flags(n!(), m!());
        }

        code::AndShift => logical_shifted!(|m| n!() & m),
        code::BicShift => logical_shifted!(|m| n!() & !m),
        code::OrrShift => logical_shifted!(|m| n!() | m),
        code::EorShift => logical_shifted!(|m| n!() ^ m),
        code::AddShift => sum_shifted!(|m| core.add_with_flags(n!(), m), n!().wrapping_add(m)),
        code::AdcShift => sum_shifted!(|m| core.add_with_carry_and_flags(n!(), m), core.add_with_carry(n!(), m)),
        code::SbcShift => sum_shifted!(|m| core.add_with_carry_and_flags(n!(), !m), core.add_with_carry(n!(), !m)),
        code::SubShift => sum_shifted!(|m| core.subtract_with_flags(n!(), m), n!().wrapping_sub(m)),
        code::RsbShift => sum_shifted!(|m| core.subtract_with_flags(m, n!()), m.wrapping_sub(n!())),
        code::TstShift => {
            let (m, carry) = second_operand_and_shift_carry(core, op!());
            test!(n!() & m);
            core.c = carry;
        }
        code::CmpShift => {
            let m = shifted_operand(core, op!());
            core.subtract_with_flags(n!(), m);
        }
        code::CmnShift => {
            let m = shifted_operand(core, op!());
            core.add_with_flags(n!(), m);
        }
        code::AddLsl => set!(n!().wrapping_add(m!() << (field!(shift) & 31))),
        code::MovToSp => set!(m!() & !3),

        code::LslImmS => {
            let m = m!();
            core.c = m >> (32 - u32::from(field!(shift))) & 1 != 0;
            logical!(m << (field!(shift) & 31));
        }
        code::LslImm => set!(m!() << (field!(shift) & 31)),
        code::LsrImmS => {
            let wide = u64::from(m!()) << 1 >> field!(shift);
            core.c = wide & 1 != 0;
            logical!((wide >> 1) as u32);
        }
        code::LsrImm => set!((u64::from(m!()) >> field!(shift)) as u32),
        code::AsrImmS => {
            let wide = i64::from(m!() as i32) << 1 >> field!(shift);
            core.c = wide & 1 != 0;
            logical!((wide >> 1) as u32);
        }
        code::AsrImm => set!((i64::from(m!() as i32) >> field!(shift)) as u32),
        code::LslRegS => shift_register!(RegisterShiftKind::Lsl, true),
        code::LslReg => shift_register!(RegisterShiftKind::Lsl, false),
        code::LsrRegS => shift_register!(RegisterShiftKind::Lsr, true),
        code::LsrReg => shift_register!(RegisterShiftKind::Lsr, false),
        code::AsrRegS => shift_register!(RegisterShiftKind::Asr, true),
        code::AsrReg => shift_register!(RegisterShiftKind::Asr, false),
        code::RorRegS => shift_register!(RegisterShiftKind::Ror, true),
        code::RorReg => shift_register!(RegisterShiftKind::Ror, false),

        code::Movt => set!(core.core_register(field!(rd)) & 0xffff | field!(imm)),
        code::Ubfx => set!(n!() >> field!(ra) & (u32::MAX >> (32 - u32::from(field!(shift))))),
        code::Sbfx => {
            let unused = 32 - u32::from(field!(shift));
            set!(((n!() >> field!(ra) << unused) as i32 >> unused) as u32);
        }
        code::Bfi => {
            let mask = (u32::MAX >> (32 - u32::from(field!(shift)))) << field!(ra);
            let field = if field!(rn) == 15 { 0 } else { n!() << field!(ra) };
            set!(core.core_register(field!(rd)) & !mask | field & mask);
        }
        code::Clz => set!(m!().leading_zeros()),
        code::Rev => set!(m!().swap_bytes()),
        code::Rev16 => set!(m!().swap_bytes().rotate_left(16)),
        code::Revsh => set!((m!() as u16).swap_bytes() as i16 as u32),
        code::Sxtb => set!(m!().rotate_right(u32::from(field!(shift))) as i8 as u32),
        code::Sxth => set!(m!().rotate_right(u32::from(field!(shift))) as i16 as u32),
        code::Uxtb => set!(m!().rotate_right(u32::from(field!(shift))) & 0xff),
        code::Uxth => set!(m!().rotate_right(u32::from(field!(shift))) & 0xffff),
        code::Sxtab => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) as i8 as u32)),
        code::Sxtah => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) as i16 as u32)),
        code::Uxtab => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) & 0xff)),
        code::Uxtah => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) & 0xffff)),

        code::MulS => logical!(n!().wrapping_mul(m!())),
        code::Mul => set!(n!().wrapping_mul(m!())),
        code::Mla => set!(core.core_register(field!(ra)).wrapping_add(n!().wrapping_mul(m!()))),
        code::Mls => set!(core.core_register(field!(ra)).wrapping_sub(n!().wrapping_mul(m!()))),
        _ => unreachable!("{:?} is none of these", Code::code_with_number(CODE)),
    }
}
