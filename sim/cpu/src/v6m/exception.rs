//! Exception entry, return, tail-chaining and faults (ARMv6-M B1.5, ARM DDI0484C 3.6).

use crate::exception_outcome::ExceptionStepResult;
use crate::v6m::bus::Bus;
use crate::v6m::core::{Core, Phase};
use crate::v6m::nvic::exception;
use crate::v6m::region::Region;

/// The settings of the exception timing, in cycles.
#[derive(Debug, Clone, Copy)]
pub struct ExceptionTiming {
    /// Recognition to first handler instruction.
    pub entry: u64,
    /// Return to first instruction of the interrupted code.
    pub exit: u64,
    /// Return into the next handler.
    pub tail_chain: u64,
    /// Window in which a more urgent exception takes over an entry.
    pub late_arrival: u64,
}

/// EXC_RETURN values (ARMv6-M B1.5.8): to a handler, to a thread on the main stack, to one on the process stack.
const HANDLER: u32 = 0xffff_fff1;
const MAIN_THREAD: u32 = 0xffff_fff9;
const PROCESS_THREAD: u32 = 0xffff_fffd;
/// Eight words.
pub(super) const FRAME_BYTES: u32 = 32;

/// Returns the number of the exception to take now, if one beats the execution priority.
pub fn exception_to_take(core: &Core) -> Option<u32> {
    if core.nvic.pending & core.nvic.enabled == 0 {
        return None;
    }
    let (number, priority) = core.nvic.most_urgent_pending()?;
    (priority < core.execution_priority()).then_some(number)
}

/// Returns whether a sleeping core must wake: a pending exception would pre-empt if PRIMASK were 0.
pub fn must_core_wake(core: &Core) -> bool {
    core.nvic.most_urgent_pending().is_some_and(|(_, priority)| priority < core.nvic.active_priority())
}

/// Returns the address at which an entry stacks its frame, and the words that it skips for alignment (0 or 1).
fn frame_address_and_padding(core: &Core) -> (u32, u32) {
    let pad = core.r[13] >> 2 & 1;
    (core.r[13].wrapping_sub(4 * pad).wrapping_sub(FRAME_BYTES), pad)
}

/// Returns the address at which an entry stacks its frame.
pub(super) fn exception_entry_frame_address(core: &Core) -> u32 {
    frame_address_and_padding(core).0
}

/// Returns the address of the frame that a return with this EXC_RETURN value unstacks. `None` for any other value.
pub(super) fn exception_return_frame_address(core: &Core, value: u32) -> Option<u32> {
    match value | 1 {
        PROCESS_THREAD => Some(core.process_stack_pointer()),
        HANDLER | MAIN_THREAD => Some(core.main_stack_pointer()),
        _ => None,
    }
}

/// Returns the return address of a frame with these last two words. `None` if the return faults.
pub(super) fn return_address(value: u32, pc: u32, xpsr: u32) -> Option<u32> {
    let is_consistent = (xpsr & 0x3f != 0) == (value | 1 == HANDLER);
    (is_consistent && xpsr >> 24 & 1 != 0).then_some(pc & !1)
}

/// Returns the number of the exception that is tail-chained after the current one, if one is.
pub(super) fn next_tail_chained_exception(core: &mut Core) -> Option<u32> {
    let (pending, active) = (core.nvic.pending, core.nvic.active);
    core.nvic.deactivate_exception(core.ipsr);
    let next = exception_to_take(core);
    (core.nvic.pending, core.nvic.active) = (pending, active);
    next
}

/// Returns the number of the exception to which an entry that is complete now would go.
pub(super) fn exception_number_at_entry_end(core: &Core) -> Option<u32> {
    let Phase::Entry { number, .. } = core.phase else { return None };
    Some(core.nvic.most_urgent_pending().map_or(number, |(n, _)| n))
}

/// Returns the cycles that an exception's frame in RAM loses to arbitration. Its first word is transferred in the cycle
/// after `core.t`.
pub(super) fn stack_frame_arbitration_cycles<B: Bus>(core: &mut Core, bus: &mut B, address: u32) -> u64 {
    let offset = address.wrapping_sub(B::RAM_BASE);
    let started = core.t + 1;
    (0..u64::from(FRAME_BYTES / 4)).fold(0, |wait, word| {
        let at = started + word + wait;
        wait + claim_ram_transfer_slot(core, bus, offset + 4 * word as u32, at) - at
    })
}

/// Starts an exception entry at `core.t`: stacks the frame. The vector is read when the late-arrival window closes.
pub fn begin_entry<B: Bus, const CONTEND: bool>(core: &mut Core, bus: &mut B, number: u32, timing: ExceptionTiming) {
    core.transfer.mask = 0;
    let recognised = core.t;
    let pc = core.next_instruction_address();
    core.stray = None;
    let (frame, pad) = frame_address_and_padding(core);
    let xpsr = core.xpsr() | pad << 9;
    let words = [core.r[0], core.r[1], core.r[2], core.r[3], core.r[12], core.r[14], pc, xpsr];
    let mut wait = 0;
    for (index, word) in words.into_iter().enumerate() {
        let address = frame.wrapping_add(4 * index as u32);
        let mut t = recognised + 1 + index as u64 + wait;
        let started = t;
        if store_frame_word::<B, CONTEND>(core, bus, address, word, &mut t).is_err() {
            handle_stacking_fault(core);
            break;
        }
        wait += t - started - 2;
    }
    core.r[13] = frame;
    let exc_return = match (core.ipsr != 0, core.sp_is_psp) {
        (true, _) => HANDLER,
        (false, false) => MAIN_THREAD,
        (false, true) => PROCESS_THREAD,
    };
    core.select_stack_pointer(false);
    core.thumb = true;
    if core.phase != Phase::Lockup {
        core.phase = Phase::Entry { number, exc_return, wait, recognised };
    }
    core.t = recognised + timing.late_arrival + wait;
}

/// Ends the entry that [`begin_entry`] started: picks the most urgent exception and goes to its vector.
pub fn complete_entry<B: Bus>(core: &mut Core, bus: &mut B, timing: ExceptionTiming) -> ExceptionStepResult {
    let Phase::Entry { number, exc_return, wait, recognised } = core.phase else {
        return ExceptionStepResult::None;
    };
    let number = exception_number_at_entry_end(core).unwrap_or(number);
    core.phase = Phase::Run;
    core.t = recognised + timing.entry + wait;
    core.exception_cycles += core.t - recognised;
    enter_handler(core, bus, number, exc_return);
    ExceptionStepResult::Entered(number)
}

/// Enters an exception's handler: sets IPSR, LR, the event register and the PC.
fn enter_handler<B: Bus>(core: &mut Core, bus: &mut B, number: u32, exc_return: u32) {
    core.nvic.activate_exception(number);
    core.ipsr = number;
    core.r[14] = exc_return;
    core.event = true;
    core.fetch_ready = 0;
    core.exceptions[number as usize] += 1;
    let mut unused = core.t;
    let entry = bus.load_data::<false, false>(core, None, core.nvic.vtor.wrapping_add(4 * number), 4, &mut unused);
    match entry {
        Ok(target) => jump_to_interworking_address(core, bus, target),
        Err(_) => core.phase = Phase::Lockup,
    }
}

/// Puts the core at an interworking address. An unusable one faults at the first instruction.
pub fn jump_to_interworking_address<B: Bus>(core: &mut Core, bus: &mut B, target: u32) {
    core.thumb = target & 1 != 0;
    let address = target & !1;
    match bus.code_region(address).filter(|_| core.thumb) {
        Some(region) => {
            core.stray = None;
            core.region = region;
            // SAFETY: the offset is inside the region, whose op table is longer than its halfwords.
            core.ip = unsafe { region.ops.add((address.wrapping_sub(region.base) / 2) as usize) };
        }
        None => {
            core.stray = Some(address);
            core.region = Region::new_code_region_without_code(address);
            core.ip = core.region.ops;
        }
    }
}

/// Executes a branch to an EXC_RETURN value in handler mode at `core.t`.
///
/// Bit 0 does not matter. Clear, it makes the return unpredictable by the manual (ARMv6-M B1.5.8), but RT-Thread's port
/// for the Cortex-M0 changes tasks with 0xFFFFFFFC, and so runs on silicon.
pub fn exception_return<B: Bus, const CONTEND: bool>(
    core: &mut Core,
    bus: &mut B,
    value: u32,
    timing: ExceptionTiming,
) -> ExceptionStepResult {
    let number = core.ipsr;
    let value = value | 1;
    if !matches!(value, HANDLER | MAIN_THREAD | PROCESS_THREAD) {
        take_hard_fault::<B, CONTEND>(core, bus, timing);
        return ExceptionStepResult::None;
    }
    core.nvic.deactivate_exception(number);
    core.event = true;
    if let Some(next) = exception_to_take(core) {
        core.t += timing.tail_chain;
        core.exception_cycles += timing.tail_chain;
        enter_handler(core, bus, next, value);
        return ExceptionStepResult::Chained(number, next);
    }
    if does_sleep_on_exit(core, value) {
        core.phase = Phase::SleepInterrupt { on_exit: Some(value) };
        core.slept_at = core.t;
        return ExceptionStepResult::Slept(number);
    }
    unstack_frame::<B, CONTEND>(core, bus, value, timing);
    ExceptionStepResult::Returned(number)
}

/// Returns whether a return with this EXC_RETURN value puts the core to sleep (SLEEPONEXIT).
pub(super) fn does_sleep_on_exit(core: &Core, value: u32) -> bool {
    value | 1 != HANDLER && core.nvic.scr & 2 != 0
}

/// Wakes from sleep-on-exit straight into a handler: the frame is still stacked.
pub fn enter_handler_from_sleep_on_exit<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    exc_return: u32,
    timing: ExceptionTiming,
) -> ExceptionStepResult {
    let Some(number) = exception_to_take(core) else {
        return ExceptionStepResult::None;
    };
    core.phase = Phase::Run;
    core.t += timing.tail_chain;
    core.exception_cycles += timing.tail_chain;
    enter_handler(core, bus, number, exc_return);
    ExceptionStepResult::Entered(number)
}

/// Unstacks the frame of an exception return and restores registers, flags and mode.
fn unstack_frame<B: Bus, const CONTEND: bool>(core: &mut Core, bus: &mut B, value: u32, timing: ExceptionTiming) {
    let psp = value == PROCESS_THREAD;
    core.select_stack_pointer(psp);
    if value != HANDLER {
        core.spsel = psp;
    }
    let frame = core.r[13];
    let mut words = [0; 8];
    let mut wait = 0;
    let started = core.t;
    for (index, word) in words.iter_mut().enumerate() {
        let mut t = started + 1 + index as u64 + wait;
        let at = t;
        match load_frame_word::<B, CONTEND>(core, bus, frame.wrapping_add(4 * index as u32), &mut t) {
            Ok(value) => *word = value,
            Err(()) => return take_hard_fault::<B, CONTEND>(core, bus, timing),
        }
        wait += t - at - 2;
    }
    let [r0, r1, r2, r3, r12, lr, pc, xpsr] = words;
    core.r[..4].copy_from_slice(&[r0, r1, r2, r3]);
    core.r[12] = r12;
    core.r[14] = lr;
    core.r[13] = frame.wrapping_add(32) | (xpsr >> 9 & 1) << 2;
    core.set_apsr(xpsr);
    core.ipsr = if value == HANDLER { xpsr & 0x3f } else { 0 };
    core.t = started + timing.exit + wait;
    core.exception_cycles += core.t - started;
    core.fetch_ready = 0;
    let inconsistent = (xpsr & 0x3f != 0) != (value == HANDLER);
    jump_to_interworking_address(core, bus, pc & !1 | xpsr >> 24 & 1);
    if inconsistent {
        take_hard_fault::<B, CONTEND>(core, bus, timing);
    }
}

/// Takes a synchronous fault at the current instruction: HardFault, or lock-up inside HardFault or NMI.
pub fn take_hard_fault<B: Bus, const CONTEND: bool>(core: &mut Core, bus: &mut B, timing: ExceptionTiming) {
    if core.nvic.active_priority() <= -1 {
        core.phase = Phase::Lockup;
        return;
    }
    core.nvic.make_exception_pending(exception::HARD_FAULT);
    begin_entry::<B, CONTEND>(core, bus, exception::HARD_FAULT, timing);
}

/// Takes an SVC at once, or a HardFault if its priority cannot pre-empt.
pub fn take_supervisor_call<B: Bus, const CONTEND: bool>(core: &mut Core, bus: &mut B, timing: ExceptionTiming) {
    if core.nvic.priority_of(exception::SVCALL) < core.execution_priority() {
        core.nvic.make_exception_pending(exception::SVCALL);
        begin_entry::<B, CONTEND>(core, bus, exception::SVCALL, timing);
    } else {
        take_hard_fault::<B, CONTEND>(core, bus, timing);
    }
}

/// Handles a frame that cannot be written: the entry goes to HardFault, or the core locks up (ARM DDI0484C 3.6).
fn handle_stacking_fault(core: &mut Core) {
    if core.nvic.active_priority() <= -1 {
        core.phase = Phase::Lockup;
    } else {
        core.nvic.make_exception_pending(exception::HARD_FAULT);
    }
}

/// Stores one word of an exception frame, and advances `t`. An error if there is no memory.
fn store_frame_word<B: Bus, const CONTEND: bool>(
    core: &mut Core,
    bus: &mut B,
    address: u32,
    value: u32,
    t: &mut u64,
) -> Result<(), ()> {
    let offset = address.wrapping_sub(B::RAM_BASE);
    if offset >= bus.main_ram().length_in_bytes() || offset & 3 != 0 {
        let at = *t;
        let result = bus.store_data::<false>(core, None, address, 4, value, t).map_err(|_| ());
        *t = (*t).max(at + 2);
        return result;
    }
    let slot = if CONTEND { claim_ram_transfer_slot(core, bus, offset, *t) } else { *t };
    *t = slot + 2;
    // SAFETY: the offset is below the length.
    if unsafe { bus.main_ram().mark_at_offset(offset) } == 0 {
        // SAFETY: an aligned word that begins inside the RAM, which is made of words.
        unsafe { bus.main_ram().main_ram_pointer().add(offset as usize).cast::<u32>().write_unaligned(value.to_le()) };
    } else {
        bus.store_to_marked_ram(core, offset, 4, value, slot);
    }
    Ok(())
}

/// Loads one word of an exception frame, and advances `t`. An error if there is no memory.
fn load_frame_word<B: Bus, const CONTEND: bool>(
    core: &mut Core,
    bus: &mut B,
    address: u32,
    t: &mut u64,
) -> Result<u32, ()> {
    let offset = address.wrapping_sub(B::RAM_BASE);
    if offset >= bus.main_ram().length_in_bytes() || offset & 3 != 0 {
        let at = *t;
        let result = bus.load_data::<false, false>(core, None, address, 4, t).map_err(|_| ());
        *t = (*t).max(at + 2);
        return result;
    }
    let slot = if CONTEND { claim_ram_transfer_slot(core, bus, offset, *t) } else { *t };
    *t = slot + 2;
    // SAFETY: as in `store_frame_word`.
    Ok(u32::from_le(unsafe { bus.main_ram().main_ram_pointer().add(offset as usize).cast::<u32>().read_unaligned() }))
}

/// Claims the first free transfer slot at or after cycle `at` for this offset of RAM, and returns its cycle.
fn claim_ram_transfer_slot<B: Bus>(core: &mut Core, bus: &mut B, offset: u32, at: u64) -> u64 {
    let row = B::ram_bank_row(offset);
    bus.claim_transfer_slot(core, row, at, true)
}
