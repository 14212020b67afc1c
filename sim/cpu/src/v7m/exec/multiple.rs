//! LDM and STM, VLDM and VSTM: word by word, and between two words they give way (ARMv7-M B1.5.10).

use super::memory::{load_aligned, store_aligned};
use super::{Flow, branch};
use crate::v7m::bus::Bus;
use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::fault::Fault;
use crate::v7m::op::{Op, flag};
use crate::v7m::pipeline::Pipeline;

/// Returns the lowest address of a multiple transfer, and what the base becomes if it is written back.
fn multiple_transfer_addresses(core: &Core, op: Op, step: u32) -> (u32, u32) {
    let base = core.core_register(op.rn);
    if op.ra == 0 {
        (base, base.wrapping_add(step))
    } else {
        let lowest = base.wrapping_sub(step);
        (lowest, lowest)
    }
}

/// Interrupts a multiple transfer with `moved` words done and `next` as the first register to come.
fn interrupt_multiple_transfer(core: &mut Core, moved: u32, next: u32) -> Flow {
    core.words_moved = moved as u8;
    core.ici = next as u8;
    Flow::Paused
}

/// Returns the number of words that were already moved when a multiple transfer starts or continues. After an exception
/// it continues at the register in EPSR.ICI. If its base or the PC is among the registers, it starts again, because
/// these were not written yet.
fn transferred_word_count(core: &mut Core, op: Op) -> u32 {
    let ici = u32::from(std::mem::take(&mut core.ici));
    let moved = u32::from(std::mem::take(&mut core.words_moved));
    if moved != 0 || ici == 0 {
        return moved;
    }
    let restarts = op.imm >> 15 != 0 || op.code != Code::Stm && op.imm >> op.rn & 1 != 0;
    if restarts { 0 } else { (op.imm & ((1 << ici) - 1)).count_ones() }
}

/// Returns the mask without its `count` lowest set bits.
fn without_lowest_set_bits(mut mask: u32, count: u32) -> u32 {
    for _ in 0..count {
        mask &= mask - 1;
    }
    mask
}

/// Executes LDM or POP.
#[inline(always)]
pub(super) fn execute_load_multiple<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (lowest, base) = multiple_transfer_addresses(core, op, 4 * u32::from(op.shift));
    if lowest & 3 != 0 {
        return Err(Fault::Unaligned);
    }
    let (mut moved, mut left, mut address) = (0, op.imm, lowest);
    if !P::IN_LINE && core.ici | core.words_moved != 0 {
        moved = transferred_word_count(core, op);
        left = without_lowest_set_bits(op.imm, moved);
        address = lowest.wrapping_add(4 * moved);
    }
    let mut held = core.held;
    loop {
        let register = left.trailing_zeros();
        let value = load_aligned::<B, P>(core, pipe, bus, op, address, 4, moved)?;
        // A fault or an interrupt further on must find the base as it was.
        if register == u32::from(op.rn) || register == 15 {
            if register == 15 {
                let target = value;
                if op.has_flag(flag::POST_INDEXED) {
                    core.set_register(op.rn, base);
                } else if op.imm >> op.rn & 1 != 0 {
                    core.set_any_register(op.rn, held);
                }
                return branch::load_pc_value(core, pipe, bus, op, target);
            }
            held = value;
        } else {
            core.set_register(register as u8, value);
        }
        left &= left - 1;
        if left == 0 {
            break;
        }
        moved += 1;
        address = address.wrapping_add(4);
        if !P::IN_LINE && core.t >= core.limit {
            core.held = held;
            return Ok(interrupt_multiple_transfer(core, moved, left.trailing_zeros()));
        }
    }
    if op.has_flag(flag::POST_INDEXED) {
        core.set_register(op.rn, base);
    } else if op.imm >> op.rn & 1 != 0 {
        core.set_any_register(op.rn, held);
    }
    Ok(Flow::Next)
}

/// Executes STM or PUSH.
#[inline(always)]
pub(super) fn execute_store_multiple<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (lowest, base) = multiple_transfer_addresses(core, op, 4 * u32::from(op.shift));
    if lowest & 3 != 0 {
        return Err(Fault::Unaligned);
    }
    let (mut moved, mut left, mut address) = (0, op.imm, lowest);
    if !P::IN_LINE && core.ici | core.words_moved != 0 {
        moved = transferred_word_count(core, op);
        left = without_lowest_set_bits(op.imm, moved);
        address = lowest.wrapping_add(4 * moved);
    }
    loop {
        let value = core.core_register(left.trailing_zeros() as u8);
        store_aligned::<B, P>(core, pipe, bus, op, address, 4, value, moved)?;
        left &= left - 1;
        if left == 0 {
            break;
        }
        moved += 1;
        address = address.wrapping_add(4);
        if !P::IN_LINE && core.t >= core.limit {
            // The frame of an exception would overwrite what PUSH stored below SP: it starts anew.
            let next = if op.rn == 13 { 0 } else { left.trailing_zeros() };
            return Ok(interrupt_multiple_transfer(core, moved, next));
        }
    }
    if op.has_flag(flag::POST_INDEXED) {
        core.set_register(op.rn, base);
    }
    Ok(Flow::Next)
}

/// Executes VLDM, VSTM, VPUSH or VPOP. An interrupt restarts them: ICI has no room for S registers.
pub(super) fn execute_float_multiple<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    let (lowest, base) = multiple_transfer_addresses(core, op, op.imm);
    if lowest & 3 != 0 {
        return Err(Fault::Unaligned);
    }
    let first = u32::from(std::mem::take(&mut core.words_moved));
    for moved in first..u32::from(op.shift) {
        if !P::IN_LINE && moved != first && core.t >= core.limit {
            return Ok(interrupt_multiple_transfer(core, moved, 0));
        }
        let register = usize::from(op.rd) + moved as usize;
        let address = lowest.wrapping_add(4 * moved);
        if op.code == Code::Vldm {
            core.s[register] = load_aligned::<B, P>(core, pipe, bus, op, address, 4, moved)?;
        } else {
            let value = core.s[register];
            store_aligned::<B, P>(core, pipe, bus, op, address, 4, value, moved)?;
        }
    }
    if op.has_flag(flag::POST_INDEXED) {
        core.set_any_register(op.rn, base);
    }
    Ok(Flow::Next)
}
