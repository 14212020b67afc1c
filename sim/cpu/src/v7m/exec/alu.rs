//! Register access, flags and shifts (ARMv7-M A2.2).

use crate::v7m::core::Core;
use crate::v7m::op::{Op, flag};

impl Core {
    /// Returns a core register.
    #[inline(always)]
    pub(in crate::v7m) fn core_register(&self, number: u8) -> u32 {
        debug_assert!(number < 16);
        self.r[usize::from(number)]
    }

    /// Sets a core register.
    #[inline(always)]
    pub(super) fn set_register(&mut self, number: u8, value: u32) {
        debug_assert!(number < 16);
        self.r[usize::from(number)] = value;
    }

    /// Sets a core register. The two low bits of SP stay zero.
    #[inline(always)]
    pub(super) fn set_any_register(&mut self, number: u8, value: u32) {
        self.set_register(number, if number == 13 { value & !3 } else { value });
    }

    /// Sets N and Z by a result.
    #[inline(always)]
    pub(super) fn set_nz_flags(&mut self, value: u32) {
        self.nz = i64::from(value as i32);
    }

    /// Sets a core register, and N and Z by its value.
    #[inline(always)]
    pub(super) fn set_register_and_flags(&mut self, number: u8, value: u32) {
        self.set_register(number, value);
        self.set_nz_flags(value);
    }

    /// Returns a + b and sets all four flags.
    #[inline(always)]
    pub(super) fn add_with_flags(&mut self, a: u32, b: u32) -> u32 {
        let (sum, carry) = a.overflowing_add(b);
        self.c = carry;
        self.v = (a as i32).overflowing_add(b as i32).1;
        self.set_nz_flags(sum);
        sum
    }

    /// Returns a - b and sets all four flags.
    #[inline(always)]
    pub(super) fn subtract_with_flags(&mut self, a: u32, b: u32) -> u32 {
        let difference = a.wrapping_sub(b);
        self.c = a >= b;
        self.v = (a as i32).overflowing_sub(b as i32).1;
        self.set_nz_flags(difference);
        difference
    }

    /// Returns a + b + C and sets all four flags. A - b - !C is a + !b + C.
    #[inline(always)]
    pub(super) fn add_with_carry_and_flags(&mut self, a: u32, b: u32) -> u32 {
        let wide = u64::from(a) + u64::from(b) + u64::from(self.c);
        let sum = wide as u32;
        self.c = wide >> 32 != 0;
        self.v = ((a ^ sum) & (b ^ sum)) >> 31 != 0;
        self.set_nz_flags(sum);
        sum
    }

    /// Returns a + b + C without setting flags.
    #[inline(always)]
    pub(super) fn add_with_carry(&self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b).wrapping_add(u32::from(self.c))
    }

    /// Returns whether a condition field holds for the flags. 14 and 15 always hold.
    pub(super) fn is_condition_met(&self, condition: u8) -> bool {
        let (n, z) = (self.nz < 0, self.nz as u32 == 0);
        let basic = match condition >> 1 {
            0 => z,
            1 => self.c,
            2 => n,
            3 => self.v,
            4 => self.c && !z,
            5 => n == self.v,
            6 => !z && n == self.v,
            _ => return true,
        };
        basic != (condition & 1 != 0)
    }

    /// Sets the carry of a logical operation with a constant, as its op says.
    #[inline(always)]
    pub(super) fn set_carry_of_logical_constant(&mut self, op: Op) {
        if op.shift != 0 {
            self.c = op.shift & 1 != 0;
        }
    }
}

/// Returns the second operand: `rm` shifted by a constant.
#[inline(always)]
pub(super) fn shifted_operand(core: &Core, op: Op) -> u32 {
    let value = core.core_register(op.rm);
    match op.ra {
        0 => value << (op.shift & 31),
        1 => (u64::from(value) >> op.shift) as u32,
        2 => (i64::from(value as i32) >> op.shift) as u32,
        3 => value.rotate_right(u32::from(op.shift)),
        _ => value >> 1 | u32::from(core.c) << 31,
    }
}

/// Returns the second operand, `rm` shifted by a constant, and the carry out.
#[inline(always)]
pub(super) fn second_operand_and_shift_carry(core: &Core, op: Op) -> (u32, bool) {
    let value = core.core_register(op.rm);
    let amount = u32::from(op.shift);
    match op.ra {
        0 if amount == 0 => (value, core.c),
        0 => (value << (amount & 31), value >> (32 - amount) & 1 != 0),
        1 => {
            let wide = u64::from(value) << 1 >> amount;
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        2 => {
            let wide = i64::from(value as i32) << 1 >> amount;
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        3 => {
            let value = value.rotate_right(amount);
            (value, value >> 31 != 0)
        }
        _ => (value >> 1 | u32::from(core.c) << 31, value & 1 != 0),
    }
}

/// Writes a logical result to `rd`, and sets flags if the op does.
#[inline(always)]
pub(super) fn write_bitwise_operation_result(core: &mut Core, op: Op, value: u32, carry: bool) {
    core.set_register(op.rd, value);
    if op.has_flag(flag::SETS) {
        core.set_nz_flags(value);
        core.c = carry;
    }
}

/// The kinds of shift by register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RegisterShiftKind {
    Lsl,
    Lsr,
    Asr,
    Ror,
}

/// Returns a value shifted by the low byte of a register, and the carry out. The carry stays if that byte is zero.
#[inline(always)]
pub(super) fn shift_by_register(kind: RegisterShiftKind, value: u32, amount: u32, carry: bool) -> (u32, bool) {
    let amount = amount & 0xff;
    if amount == 0 {
        return (value, carry);
    }
    match kind {
        RegisterShiftKind::Lsl => {
            let wide = if amount > 32 { 0 } else { u64::from(value) << amount };
            (wide as u32, wide >> 32 & 1 != 0)
        }
        RegisterShiftKind::Lsr => {
            let wide = if amount > 32 { 0 } else { u64::from(value) << 1 >> amount };
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        RegisterShiftKind::Asr => {
            let wide = i64::from(value as i32) << 1 >> amount.min(33);
            ((wide >> 1) as u32, wide & 1 != 0)
        }
        RegisterShiftKind::Ror => {
            let value = value.rotate_right(amount & 31);
            (value, value >> 31 != 0)
        }
    }
}
