//! Loads and stores of one or two words: alignment, protection, addressing.

use super::Flow;
use crate::v7m::bus::Bus;
use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::fault::Fault;
use crate::v7m::mpu::{self, Access};
use crate::v7m::op::{Op, flag};
use crate::v7m::pipeline::Pipeline;

/// Bits of `ra` of the general codes.
mod kind {
    pub const SIGNED: u8 = 1 << 2;
    pub const UNPRIVILEGED: u8 = 1 << 3;
}

/// Returns the address [rn, #imm].
#[inline(always)]
pub(super) fn base_plus_offset(core: &Core, op: Op) -> u32 {
    core.core_register(op.rn).wrapping_add(op.imm)
}

/// Makes one aligned load of an instruction, after a check of permissions. `index` counts its loads.
#[inline(always)]
pub(super) fn load_aligned<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    address: u32,
    bytes: u32,
    index: u32,
) -> Result<u32, Fault> {
    if !P::IN_LINE && core.mpu.is_enabled() {
        mpu::check_mpu_access_permission(core, address, Access::Read)?;
    }
    pipe.issue_load(core, bus, op, address, bytes, index)
}

/// Makes one aligned store of an instruction, after a check of permissions. `index` counts its stores.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn store_aligned<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    address: u32,
    bytes: u32,
    value: u32,
    index: u32,
) -> Result<(), Fault> {
    if !P::IN_LINE && core.mpu.is_enabled() {
        mpu::check_mpu_access_permission(core, address, Access::Write)?;
    }
    pipe.issue_store(core, bus, op, address, bytes, value, index)
}

/// Loads `BYTES` bytes from any address, zero-extended.
#[inline(always)]
pub(super) fn load_any_address<B: Bus, P: Pipeline, const BYTES: u32>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    address: u32,
) -> Result<u32, Fault> {
    if address & (BYTES - 1) == 0 {
        load_aligned::<B, P>(core, pipe, bus, op, address, BYTES, 0)
    } else if !P::SPLITS {
        Err(Fault::Unaligned)
    } else {
        load_unaligned::<B, P>(core, pipe, bus, op, address, BYTES)
    }
}

/// Stores `BYTES` bytes to any address.
#[inline(always)]
pub(super) fn store_any_address<B: Bus, P: Pipeline, const BYTES: u32>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    address: u32,
    value: u32,
) -> Result<(), Fault> {
    if address & (BYTES - 1) == 0 {
        store_aligned::<B, P>(core, pipe, bus, op, address, BYTES, value, 0)
    } else if !P::SPLITS {
        Err(Fault::Unaligned)
    } else {
        store_unaligned::<B, P>(core, pipe, bus, op, address, BYTES, value)
    }
}

/// Returns the aligned accesses of which an unaligned one is made: address and size of each.
fn aligned_parts_of_access(address: u32, bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    let end = address.wrapping_add(bytes);
    let mut next = address;
    std::iter::from_fn(move || {
        let left = end.wrapping_sub(next);
        if left == 0 {
            return None;
        }
        let piece = (next, if next & 1 != 0 || left == 1 { 1 } else { 2 });
        next = next.wrapping_add(piece.1);
        Some(piece)
    })
}

/// Loads `bytes` bytes from an unaligned address by several aligned loads.
#[cold]
#[inline(never)]
fn load_unaligned<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    address: u32,
    bytes: u32,
) -> Result<u32, Fault> {
    if !mpu::allows_unaligned(core, address) {
        return Err(Fault::Unaligned);
    }
    let (mut value, mut shift) = (0, 0);
    for (index, (address, bytes)) in (0..).zip(aligned_parts_of_access(address, bytes)) {
        value |= load_aligned::<B, P>(core, pipe, bus, op, address, bytes, index)? << shift;
        shift += 8 * bytes;
    }
    Ok(value)
}

/// Stores `bytes` bytes to an unaligned address by several aligned stores.
#[cold]
#[inline(never)]
fn store_unaligned<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    address: u32,
    bytes: u32,
    value: u32,
) -> Result<(), Fault> {
    if !mpu::allows_unaligned(core, address) {
        return Err(Fault::Unaligned);
    }
    let mut left = value;
    for (index, (address, bytes)) in (0..).zip(aligned_parts_of_access(address, bytes)) {
        let part = left & (u32::MAX >> (32 - 8 * bytes));
        store_aligned::<B, P>(core, pipe, bus, op, address, bytes, part, index)?;
        left >>= 8 * bytes;
    }
    Ok(())
}

/// Returns the address of an access by its flags, and what the base becomes if it is written back.
#[inline(always)]
pub(super) fn access_address_and_new_base(core: &Core, op: Op) -> (u32, u32) {
    let base = if op.rn == 15 { 0 } else { core.core_register(op.rn) };
    let offset = if op.has_flag(flag::REGISTER_OFFSET) { core.core_register(op.rm) << op.shift } else { op.imm };
    let sum = base.wrapping_add(offset);
    (if op.has_flag(flag::POST_INDEXED) { base } else { sum }, sum)
}

/// Writes the base register back if the op does.
#[inline(always)]
pub(super) fn write_base_register_back(core: &mut Core, op: Op, base: u32) {
    if op.has_flag(flag::PRE_INDEXED | flag::POST_INDEXED) {
        core.set_any_register(op.rn, base);
    }
}

/// Executes `Code::Load`: a load of any size with any addressing.
#[inline(always)]
pub(super) fn load_general<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (address, base) = access_address_and_new_base(core, op);
    // Each size for itself, so that none goes through the others' decisions.
    macro_rules! load {
        ($bytes:literal, $type:ty) => {{
            let value = with_access_privilege::<P, _>(core, op, |core| {
                load_any_address::<B, P, $bytes>(core, pipe, bus, op, address)
            })?;
            write_base_register_back(core, op, base);
            core.set_any_register(op.rd, value as $type as u32);
            Ok(Flow::Next)
        }};
    }
    match op.ra & (3 | kind::SIGNED) {
        0 => load!(1, u8),
        1 => load!(2, u16),
        kind::SIGNED => load!(1, i8),
        5 => load!(2, i16),
        _ => load!(4, u32),
    }
}

/// Executes `Code::Store`: a store of any size, with write-back or unprivileged.
#[inline(always)]
pub(super) fn store_general<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (address, base) = access_address_and_new_base(core, op);
    let value = core.core_register(op.rd);
    macro_rules! store {
        ($bytes:literal) => {{
            with_access_privilege::<P, _>(core, op, |core| {
                store_any_address::<B, P, $bytes>(core, pipe, bus, op, address, value)
            })?;
            write_base_register_back(core, op, base);
            Ok(Flow::Next)
        }};
    }
    match op.ra & 3 {
        0 => store!(1),
        1 => store!(2),
        _ => store!(4),
    }
}

/// Makes an access with the privilege that the op names (LDRT, STRT).
#[inline(always)]
fn with_access_privilege<P: Pipeline, T>(core: &mut Core, op: Op, access: impl FnOnce(&mut Core) -> T) -> T {
    if !P::IN_LINE {
        core.as_user = op.ra & kind::UNPRIVILEGED != 0;
    }
    let answer = access(core);
    if !P::IN_LINE {
        core.as_user = false;
    }
    answer
}

/// Executes LDRD or STRD: two words, always aligned.
#[inline(always)]
pub(super) fn execute_double_access<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (first, base) = access_address_and_new_base(core, op);
    let second = first.wrapping_add(4);
    if first & 3 != 0 {
        return Err(Fault::Unaligned);
    }
    if op.code == Code::Ldrd {
        let low = load_aligned::<B, P>(core, pipe, bus, op, first, 4, 0)?;
        let high = load_aligned::<B, P>(core, pipe, bus, op, second, 4, 1)?;
        core.set_register(op.rd, low);
        core.set_register(op.ra, high);
    } else {
        let (low, high) = (core.core_register(op.rd), core.core_register(op.ra));
        store_aligned::<B, P>(core, pipe, bus, op, first, 4, low, 0)?;
        store_aligned::<B, P>(core, pipe, bus, op, second, 4, high, 1)?;
    }
    write_base_register_back(core, op, base);
    Ok(Flow::Next)
}

/// Executes LDREX, STREX and their narrow forms, which are always aligned. The monitor has no address.
#[inline(always)]
pub(super) fn execute_exclusive<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let address = base_plus_offset(core, op);
    let bytes = 1 << op.shift;
    if address & (bytes - 1) != 0 {
        return Err(Fault::Unaligned);
    }
    if op.code == Code::Ldrex {
        let value = load_aligned::<B, P>(core, pipe, bus, op, address, bytes, 0)?;
        core.exclusive = true;
        core.set_register(op.rd, value);
        return Ok(Flow::Next);
    }
    if core.exclusive {
        let value = core.core_register(op.rd) & (u32::MAX >> (32 - 8 * bytes));
        store_aligned::<B, P>(core, pipe, bus, op, address, bytes, value, 0)?;
    }
    core.set_register(op.ra, u32::from(!core.exclusive));
    core.exclusive = false;
    Ok(Flow::Next)
}
