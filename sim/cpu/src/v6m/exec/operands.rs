//! The operands of instructions, and the results of the rarer operations.

use crate::v6m::bus::{Bus, can_store_speculatively};
use crate::v6m::core::Core;
use crate::v6m::op::op;

/// Returns whether `words` words from `address` on are plain RAM, so that a multiple transfer of them cannot fail
/// half-way. The bus is asked about stores near code or a watched word.
#[inline(always)]
pub(super) fn are_words_in_plain_ram<B: Bus>(bus: &mut B, address: u32, words: u8, store: bool) -> bool {
    let bytes = 4 * u32::from(words);
    let offset = address.wrapping_sub(B::RAM_BASE);
    let ram = bus.main_ram();
    let is_inside = offset & 3 == 0 && offset <= ram.length_in_bytes() - bytes;
    if !(store && is_inside) {
        return is_inside;
    }
    // SAFETY: both words are in the RAM.
    let marks = unsafe { ram.mark_at_offset(offset) | ram.mark_at_offset(offset + bytes - 4) };
    marks == 0 || can_store_speculatively(bus, offset, words.into())
}

/// Returns whether `words` words from `address` on are in constant memory.
#[cold]
#[inline(never)]
pub(super) fn are_words_in_constant_memory<B: Bus>(bus: &mut B, address: u32, words: u8) -> bool {
    (0..u32::from(words)).all(|word| bus.load_constant::<false>(address.wrapping_add(4 * word), 4).is_some())
}

/// Returns whether an access of 1, 2 or 4 bytes at this offset is aligned and inside the RAM.
#[inline(always)]
pub(super) fn is_access_in_ram<B: Bus>(bus: &mut B, offset: u32, bytes: u32) -> bool {
    offset.rotate_right(bytes.trailing_zeros()) < bus.main_ram().length_in_bytes() >> bytes.trailing_zeros()
}

/// Returns a value shifted (LSL, LSR, ASR, ROR) by the bottom byte of a register, and sets the carry out (ARMv6-M
/// A2.2.1).
#[inline(always)]
pub(super) fn shift_by_register(code: u8, value: u32, amount: u32, carry: &mut bool) -> u32 {
    if amount == 0 {
        return value;
    }
    match code {
        op::LslReg => {
            let wide = if amount > 32 { 0 } else { u64::from(value) << amount };
            *carry = wide >> 32 & 1 != 0;
            wide as u32
        }
        op::LsrReg => {
            let wide = if amount > 32 { 0 } else { u64::from(value) << 1 >> amount };
            *carry = wide & 1 != 0;
            (wide >> 1) as u32
        }
        op::AsrReg => {
            let wide = i64::from(value as i32) << 1 >> amount.min(33);
            *carry = wide & 1 != 0;
            (wide >> 1) as u32
        }
        _ => {
            let rotated = value.rotate_right(amount & 31);
            *carry = rotated >> 31 != 0;
            rotated
        }
    }
}

/// Returns whether the condition field of a branch holds for the core's flags.
pub(super) fn is_condition_met(core: &Core, condition: u8) -> bool {
    let (n, z, c, v) = (core.nz < 0, core.nz as u32 == 0, core.c, core.v);
    match condition {
        0 => z,
        1 => !z,
        2 => c,
        3 => !c,
        4 => n,
        5 => !n,
        6 => v,
        7 => !v,
        8 => c && !z,
        9 => !c || z,
        10 => n == v,
        11 => n != v,
        12 => !z && n == v,
        _ => z || n != v,
    }
}
