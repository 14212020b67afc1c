//! Exception entry: the frame goes to memory, then the vector is read.
//!
//! With a refill of three cycles, 12 cycles are: recognised in cycle 0, eight stores in address phases 1–8, vector
//! read in 7, handler fetched in 9, its first instruction executed in 12. A vector in memory that hangs on the same
//! bus as the stack is read when the last store is through. Which of several exceptions the vector belongs to is
//! decided only when it is read (late arrival).

use super::bus::Bus;
use super::core::{Core, Phase};
use super::escalation::pend_fault;
use super::exception_timing::ExceptionTiming;
use super::fault::{Fault, hfsr};
use super::float_context;
use super::jump::jump_to_interworking_address;
use super::mpu::{self, Access};
use super::nvic::exception;
use super::pipeline::Pipeline;
use super::scb::ccr;
use crate::exception_outcome::ExceptionStepResult;

/// Bytes of a frame without and with floating-point state.
pub(super) const BASIC_FRAME: u32 = 0x20;
pub(super) const FLOAT_FRAME: u32 = 0x68;
/// S0–S15 and FPSCR after the basic frame.
pub(super) const FLOAT_WORDS: usize = 17;

/// Starts the entry of exception `number`, which is pending, at `core.t`: stacks the frame. [`complete_entry`] follows.
pub fn begin_entry<B: Bus>(core: &mut Core, bus: &mut B, number: u32, timing: &ExceptionTiming) -> ExceptionStepResult {
    let recognised = core.t;
    let float = core.fpca;
    core.float_frames += u64::from(float);
    core.exception_origin = core.next_instruction_address();
    let (bytes, align) = if float { (FLOAT_FRAME, true) } else { (BASIC_FRAME, core.scb.ccr & ccr::STKALIGN != 0) };
    let mask = if align { 4 } else { 0 };
    let padded = u32::from(core.r[13] & mask != 0);
    let frame = core.r[13].wrapping_sub(bytes) & !mask;
    let xpsr = core.xpsr() | padded << 9;
    let words = [core.r[0], core.r[1], core.r[2], core.r[3], core.r[12], core.r[14], core.exception_origin, xpsr];
    let mut stack = ExceptionFrameStackingState { address: frame, at: recognised + 1, wait: 0 };
    let mut result = stack.store_exception_frame_words(core, bus, &words);
    if float && result.is_ok() {
        result = if float_context::is_preservation_lazy(core) {
            float_context::reserve_lazy_frame(core, frame.wrapping_add(BASIC_FRAME));
            Ok(())
        } else {
            stack.wait += timing.entry_float - timing.entry;
            float_context::require_fpu_access(core).and_then(|()| {
                let state = float_context::saved_float_registers(core);
                stack.store_exception_frame_words(core, bus, &state)
            })
        };
    }
    core.r[13] = frame;
    let exc_return = exception_return_value(core, float);
    core.select_stack_pointer(false);
    core.stray = None;
    (core.it, core.ici, core.words_moved) = (0, 0, 0);
    core.fpca = false;
    core.float_ready = false;
    if let Err(fault) = result
        && !pend_fault(core, fault.fault_record_of_stacking())
    {
        return ExceptionStepResult::LockedUp;
    }
    core.phase =
        Phase::Entry { number, from: None, exc_return, recognised, handler: recognised + timing.entry + stack.wait };
    core.t = recognised + timing.late_arrival + stack.wait;
    ExceptionStepResult::Begun
}

/// Returns the EXC_RETURN value that LR gets: where the frame is and what it contains.
fn exception_return_value(core: &Core, float: bool) -> u32 {
    let origin = match (core.ipsr != 0, core.sp_is_psp) {
        (true, _) => 0x1,
        (false, false) => 0x9,
        (false, true) => 0xd,
    };
    0xffff_ffe0 | u32::from(!float) << 4 | origin
}

/// The words of an exception frame on their way to the stack: one a cycle, and later by the memory's waits.
struct ExceptionFrameStackingState {
    address: u32,
    at: u64,
    wait: u64,
}

impl ExceptionFrameStackingState {
    /// Stores these words at the next addresses of the frame.
    fn store_exception_frame_words<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        words: &[u32],
    ) -> Result<(), Fault> {
        for &word in words {
            if core.mpu.is_enabled() {
                mpu::check_mpu_access_permission(core, self.address, Access::Write)?;
            }
            let wait = bus.store_data(core, self.address, 4, word, self.at)?;
            self.address = self.address.wrapping_add(4);
            self.at += 1 + wait;
            self.wait += wait;
        }
        Ok(())
    }
}

/// Starts the tail-chaining from a return straight into the next handler at `core.t`: the frame stays where it is.
/// `from` returned, 0 if the core slept.
pub(super) fn start_tail_chaining(
    core: &mut Core,
    from: u32,
    exc_return: u32,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    let recognised = core.t;
    let number = core.exception_to_take().unwrap_or(exception::HARD_FAULT);
    core.select_stack_pointer(false);
    let handler = recognised + timing.tail_chain;
    core.phase = Phase::Entry { number, from: Some(from), exc_return, recognised, handler };
    // As long before the handler as the vector of an entry.
    core.t = recognised.max(handler.saturating_sub(timing.entry - timing.late_arrival));
    ExceptionStepResult::Begun
}

/// Completes the entry or tail-chaining that [`begin_entry`] or [`start_tail_chaining`] started: picks the most urgent
/// exception and enters its handler.
pub(super) fn complete_entry<B: Bus, P: Pipeline>(
    core: &mut Core,
    bus: &mut B,
    pipe: &mut P,
    timing: &ExceptionTiming,
) -> ExceptionStepResult {
    let Phase::Entry { number, from, exc_return, recognised, handler } = core.phase else {
        return ExceptionStepResult::None;
    };
    core.phase = Phase::Run;
    let mut number = core.nvic.most_urgent_pending().map_or(number, |(most_urgent, _)| most_urgent);
    // Tail-chaining may be set to be shorter than a refill. Time does not go back for it.
    let mut fetch = handler.saturating_sub(P::REFILL).max(recognised);
    let delay = if from.is_none() { (handler - recognised).saturating_sub(timing.entry) } else { 0 };
    let target = loop {
        let address = core.scb.vtor.wrapping_add(4 * number);
        // Two cycles on the bus, address and data phase, beside the stores of the frame or after them.
        let behind = from.is_none() && must_vector_wait_for_stores(core, bus, address);
        let at = if behind { fetch } else { fetch.saturating_sub(delay).saturating_sub(2) };
        match bus.load_data(core, address, 4, at) {
            Ok(loaded) => {
                fetch = fetch.max(at + 2 + loaded.wait);
                break loaded.value;
            }
            Err(_) if core.nvic.priority_of(number) < 0 || core.execution_priority() < 0 => {
                core.phase = Phase::Lockup;
                return ExceptionStepResult::LockedUp;
            }
            Err(_) => {
                core.scb.hfsr |= hfsr::VECTTBL;
                core.nvic.set_exception_pending(exception::HARD_FAULT, true);
                number = exception::HARD_FAULT;
            }
        }
    };
    core.nvic.activate_exception(number);
    core.ipsr = number;
    core.r[14] = exc_return;
    core.event = true;
    core.exclusive = false;
    core.exceptions[number as usize] += 1;
    continue_execution_at_target(core, bus, pipe, target, fetch);
    core.exception_cycles += (fetch + P::REFILL).saturating_sub(recognised);
    from.filter(|&from| from != 0)
        .map_or(ExceptionStepResult::Entered(number), |from| ExceptionStepResult::Chained(from, number))
}

/// Returns whether reading a vector must wait for the stores of the frame: on the M3 and M4 if both use the System bus,
/// on the M7 if one memory contains both.
fn must_vector_wait_for_stores<B: Bus>(core: &Core, bus: &B, vector: u32) -> bool {
    let stack = core.main_stack_pointer();
    if core.features.caches {
        bus.memory_block(vector) == bus.memory_block(stack)
    } else {
        vector >= 0x2000_0000 && stack >= 0x2000_0000
    }
}

/// Continues execution at `target`, which is fetched in cycle `fetch`.
pub(super) fn continue_execution_at_target<B: Bus, P: Pipeline>(
    core: &mut Core,
    bus: &mut B,
    pipe: &mut P,
    target: u32,
    fetch: u64,
) {
    jump_to_interworking_address(core, bus, target);
    if core.stray.is_some() {
        core.t = fetch + P::REFILL;
    } else {
        pipe.empty_pipeline(core, bus, target & !1, fetch);
    }
}
