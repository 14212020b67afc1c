//! Exceptions of one core while the other one's block is under way: entry, vector, return and tail-chain are blocks of
//! their own ([`Step`]), without instructions.
//!
//! A core comes to one after an instruction that may let an exception in or returns from one. That instruction ends
//! its block ([`SpeculationLog::summons`]). As on the chip nobody gets a turn between that instruction and the first
//! step. A step is executed once, in time order, and never undone. It waits for nobody, except the vector, which waits
//! until the other core has come as far. Meanwhile the core is in [`Phase::Entry`], and the other one is alone on the
//! bus.

use super::{DualCoreBus, Node, advance_by_cached_transition};
use crate::exception_outcome::ExceptionStepResult;
use crate::v6m::block::{Block, NextCoreChoice, Step};
use crate::v6m::bus::{Bus, can_store_speculatively};
use crate::v6m::core::{Core, Phase, Request};
use crate::v6m::exception;
use crate::v6m::nvic::exception::SVCALL;
use crate::v6m::speculation::SpeculationLog;

/// Words of a frame.
const WORDS: u32 = exception::FRAME_BYTES / 4;

/// The next step of a core that is before an exception or in the entry to one.
enum Next {
    /// Nothing of that kind.
    Nothing,
    /// A case for the machine alone.
    Stop,
    /// Stacks the frame for this exception, which it raises first if it calls for it.
    Enter { number: u32, calls: bool },
    /// Goes to the handler.
    Vector,
    /// Returns by this value.
    Return(u32),
}

/// Takes an exception after the first core's block, if one is due, and returns which core continues
/// ([`Ahead::take_exception`](crate::v6m::bus::Ahead::take_exception)).
///
/// # Safety
/// As for [`time_block`](super::time_block). The core is after its block and has begun no other one.
pub unsafe fn take_exception<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
) -> NextCoreChoice {
    // SAFETY: the caller's promise, here and below.
    let next = unsafe {
        let (core, mine) = (&mut *cores[0], &mut *logs[0]);
        apply_private_register_store(bus, core, mine);
        mine.begin_speculation_log(core);
        next_exception_action_of_core(core)
    };
    // SAFETY: as above.
    let turn = unsafe {
        match next {
            Next::Nothing => Some(NextCoreChoice::Same),
            Next::Enter { number, calls } => start_exception_entry(bus, cores, logs, number, calls),
            Next::Vector => begin_handler(bus, cores, logs),
            Next::Return(value) => leave_handler(bus, cores, logs, value),
            Next::Stop => None,
        }
    };
    turn.unwrap_or(NextCoreChoice::Stop)
}

/// Makes the store to a private register with which the core's last block ended, if it did, before the machine takes
/// over.
///
/// # Safety
/// As for [`run`](super::run_basic_blocks).
pub(super) unsafe fn make_last_private_store<B: DualCoreBus>(bus: &mut B, core: *mut Core, turn: usize) {
    let [log, _] = bus.pair_timing_cache().logs.speculation_log_pointers(turn);
    // SAFETY: the caller's promise.
    unsafe { apply_private_register_store(bus, &mut *core, &mut *log) };
}

/// Makes the store to a private register with which the core's block ended.
fn apply_private_register_store<B: Bus>(bus: &mut B, core: &mut Core, mine: &mut SpeculationLog) {
    if std::mem::take(&mut mine.summons) & Block::PRIVATE != 0 {
        let ((address, value), mut unused) = (mine.store, core.t);
        // It was looked at before it was put off, and does not fault.
        let _ = bus.store_data::<false>(core, None, address, 4, value, &mut unused);
    }
}

/// Returns what the core does next: enter, leave or complete an exception, or nothing.
fn next_exception_action_of_core(core: &Core) -> Next {
    match (core.phase, core.request) {
        (Phase::Entry { .. }, Request::None) => Next::Vector,
        (Phase::Run, Request::None) => {
            exception::exception_to_take(core).map_or(Next::Nothing, |number| Next::Enter { number, calls: false })
        }
        (Phase::Run, Request::Svc) if core.nvic.priority_of(SVCALL) < core.execution_priority() => {
            Next::Enter { number: SVCALL, calls: true }
        }
        (Phase::Run, Request::ExceptionReturn(value)) => Next::Return(value),
        _ => Next::Stop,
    }
}

/// Starts the entry of exception `number`, and stacks its frame. Returns which core continues. `None` if only the
/// machine can do that.
unsafe fn start_exception_entry<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
    number: u32,
    calls: bool,
) -> Option<NextCoreChoice> {
    let timing = bus.exception_timing()?;
    // SAFETY: the caller's promise.
    let core = unsafe { &mut *cores[0] };
    let offset = exception::exception_entry_frame_address(core).wrapping_sub(B::RAM_BASE);
    let memory = memory_of_stack_frame(bus, offset)?;
    let ram = bus.main_ram();
    // SAFETY: all of the frame is in the RAM.
    let marks = unsafe { ram.mark_at_offset(offset) | ram.mark_at_offset(offset + exception::FRAME_BYTES - 4) };
    // SAFETY: as above.
    let conflicts = || unsafe { conflicts_with_access(logs, offset, WORDS, true) };
    if marks != 0 && !can_store_speculatively(bus, offset, WORDS) || conflicts() {
        return None;
    }
    // SAFETY: as above.
    let (turn, wait) = unsafe { advance_by_exception_step(bus, cores, logs[0], (Step::Enter, Some(memory)), None) }?;
    // SAFETY: as above.
    let core = unsafe { &mut *cores[0] };
    if calls {
        core.request = Request::None;
        core.nvic.make_exception_pending(number);
    }
    exception::begin_entry::<B, false>(core, bus, number, timing);
    if let Phase::Entry { wait: lost, .. } = &mut core.phase {
        *lost = wait;
    }
    // SAFETY: as above.
    unsafe { (*logs[0]).summons = Block::UNMASKS };
    Some(turn)
}

/// Begins the handler, after the other core has reached the same cycle. Returns which core continues. `None` if only
/// the machine can do that.
unsafe fn begin_handler<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
) -> Option<NextCoreChoice> {
    let timing = bus.exception_timing()?;
    let node = |bus: &mut B| {
        let pairs = bus.pair_timing_cache();
        *pairs.table.node_with_number(pairs.node)
    };
    while node(bus).state.does_first_core_run_after_other() {
        // SAFETY: the caller's promise, here and below.
        let turn = unsafe { advance_by_cached_transition(bus, cores, logs[0], Block::wait_block(false)) };
        // SAFETY: as above.
        unsafe { (*logs[0]).summons = Block::UNMASKS };
        if turn? != NextCoreChoice::Same {
            return turn;
        }
    }
    // SAFETY: as above.
    let core = unsafe { &mut *cores[0] };
    let number = exception::exception_number_at_entry_end(core)?;
    // SAFETY: as above.
    let target = unsafe { handler_address(bus, core, logs, number) }?;
    // SAFETY: as above.
    let (turn, _) = unsafe { advance_by_exception_step(bus, cores, logs[0], (Step::Vector, None), Some(target)) }?;
    // SAFETY: as above.
    let (core, mine) = unsafe { (&mut *cores[0], &mut *logs[0]) };
    let Phase::Entry { recognised, .. } = core.phase else { return None };
    let outcome = exception::complete_entry(core, bus, timing);
    complete_core_exception_step(bus, core, mine, outcome, recognised);
    Some(turn)
}

/// Returns from a handler to the interrupted code, or tail-chains to the next handler. Returns which core continues.
/// `None` if only the machine can do that.
unsafe fn leave_handler<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
    value: u32,
) -> Option<NextCoreChoice> {
    let timing = bus.exception_timing()?;
    // SAFETY: the caller's promise, here and below.
    let core = unsafe { &mut *cores[0] };
    let frame = exception::exception_return_frame_address(core, value)?.wrapping_sub(B::RAM_BASE);
    let (step, target) = if let Some(next) = exception::next_tail_chained_exception(core) {
        // SAFETY: as above.
        ((Step::Chain, None), unsafe { handler_address(bus, core, logs, next) }?)
    } else {
        let memory = memory_of_stack_frame(bus, frame)?;
        // SAFETY: as above; the frame is in the RAM.
        let [pc, xpsr] = [6, 7].map(|index| unsafe { ram_word_at_offset(bus, frame + 4 * index) });
        let target = exception::return_address(value, pc, xpsr)?;
        // SAFETY: as above.
        if exception::does_sleep_on_exit(core, value) || unsafe { conflicts_with_access(logs, frame, WORDS, false) } {
            return None;
        }
        bus.code_region(target)?;
        ((Step::Return, Some(memory)), target)
    };
    // SAFETY: as above.
    let (turn, wait) = unsafe { advance_by_exception_step(bus, cores, logs[0], step, Some(target)) }?;
    // SAFETY: as above.
    let (core, mine) = unsafe { (&mut *cores[0], &mut *logs[0]) };
    core.request = Request::None;
    let before = core.t;
    let outcome = exception::exception_return::<B, false>(core, bus, value, timing);
    core.t += wait;
    core.exception_cycles += wait;
    complete_core_exception_step(bus, core, mine, outcome, before);
    Some(turn)
}

/// Advances both cores by this exception step of the first one, which leads to the address `to`. Returns which core
/// continues, and the cycles that the step lost to arbitration.
unsafe fn advance_by_exception_step<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    mine: *mut SpeculationLog,
    (step, memory): (Step, Option<u32>),
    to: Option<u32>,
) -> Option<(NextCoreChoice, u64)> {
    let pairs = bus.pair_timing_cache();
    let Node { state, address, .. } = *pairs.table.node_with_number(pairs.node);
    let at = pairs.now + state.relative_times_of_both_cores()[0];
    // SAFETY: the caller's promise; nothing was executed that would have to be undone.
    unsafe {
        let lost = (*cores[0]).bus_wait;
        let turn = advance_by_cached_transition(
            bus,
            cores,
            mine,
            Block::new_block_for_exception_step(step, memory, address, to.unwrap_or(address)),
        )?;
        (*cores[0]).t = at;
        Some((turn, (*cores[0]).bus_wait - lost))
    }
}

/// Completes a step of an exception: reports its outcome, and prepares the core's log.
fn complete_core_exception_step<B: DualCoreBus>(
    bus: &mut B,
    core: &mut Core,
    mine: &mut SpeculationLog,
    outcome: ExceptionStepResult,
    before: u64,
) {
    let pairs = bus.pair_timing_cache();
    let node = pairs.table.node_with_number(pairs.node);
    debug_assert!(
        core.t == pairs.now + node.state.relative_times_of_both_cores()[0]
            && core.next_instruction_address() == node.address
    );
    bus.report_exception(core, outcome, before);
    mine.summons = if exception::exception_to_take(core).is_some() { Block::UNMASKS } else { 0 };
}

/// Returns the number of the memory that contains a frame at this offset of the RAM. `None` if there is not just one.
fn memory_of_stack_frame<B: Bus>(bus: &mut B, offset: u32) -> Option<u32> {
    let is_in_ram = offset & 3 == 0 && offset <= bus.main_ram().length_in_bytes() - exception::FRAME_BYTES;
    if is_in_ram { B::memory_number_at(offset, exception::FRAME_BYTES) } else { None }
}

/// Returns the address of the handler of exception `number`. `None` if its vector cannot be read ahead of time.
unsafe fn handler_address<B: Bus>(
    bus: &mut B,
    core: &Core,
    logs: [*mut SpeculationLog; 2],
    number: u32,
) -> Option<u32> {
    let address = core.nvic.vtor.wrapping_add(4 * number);
    let offset = address.wrapping_sub(B::RAM_BASE);
    let target = if offset >= bus.main_ram().length_in_bytes() {
        bus.load_constant::<false>(address, 4)?
    // SAFETY: the caller's promise, here and below.
    } else if unsafe { conflicts_with_access(logs, offset, 1, false) } {
        return None;
    } else {
        // SAFETY: the tables of vectors are aligned, and so is the RAM's end.
        unsafe { ram_word_at_offset(bus, offset) }
    };
    bus.code_region(target & !1).filter(|_| target & 1 != 0)?;
    Some(target & !1)
}

/// Returns whether these words of RAM, written or else read now, overlap with what the other core has accessed ahead of
/// time.
unsafe fn conflicts_with_access(
    [mine, theirs]: [*mut SpeculationLog; 2],
    offset: u32,
    words: u32,
    written: bool,
) -> bool {
    // SAFETY: the caller's promise.
    let (mine, theirs) = unsafe { (&mut *mine, &*theirs) };
    for at in (0..words).map(|word| offset + 4 * word) {
        if written {
            mine.log_write::<4>(at, 0);
        } else {
            mine.log_read::<4>(at);
        }
    }
    let conflicts = mine.may_conflict_with_other_log(theirs) && mine.has_memory_conflict_with(theirs);
    mine.clear_speculation_log();
    conflicts
}

/// Returns the word of RAM at this offset.
unsafe fn ram_word_at_offset<B: Bus>(bus: &mut B, offset: u32) -> u32 {
    // SAFETY: the caller promises that it is in the RAM.
    u32::from_le(unsafe { bus.main_ram().main_ram_pointer().add(offset as usize).cast::<u32>().read_unaligned() })
}
