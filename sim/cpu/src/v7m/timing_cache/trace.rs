//! Running ahead: instructions are executed without time.
//!
//! Each code has a function of its own that executes an instruction and continues with the function of the next one.
//! Their six arguments stay in registers from one to the next as long as calls at the end of a function are jumps, as
//! they are in an optimised build. Should one not be, no harm is done: a trace is short.

use super::log::{BRANCH_BITS, PREDICATE_BITS, TraceTimingLog};
use super::op_kind::{TraceInstructionKind, accesses_memory};
use super::untimed::{NoPipeline, Quick, reach};
use super::{CacheableTiming, QuickBus};
use crate::v7m::code::{number as code, with_codes};
use crate::v7m::core::{Core, Request};
use crate::v7m::exec::{self, Flow, block};
use crate::v7m::op::{Op, PackedOp};

/// Why the execution of a trace (a run of instructions) ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The trace ended with a branch, or because it was long enough: the next one begins at once.
    Complete,
    /// Before an instruction that no trace holds.
    Barred,
    /// After a store to a watched word.
    Watched {
        /// Its address.
        word: u32,
        /// The store is a 32-bit opcode.
        wide: bool,
    },
}

/// The log and the end of a trace, in two words, so that functions return them in host registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceEndRecord {
    bits: u64,
    /// Instructions that could have followed, in eight bits. Above them [`BARRED`], or [`WATCHED`] and a word's
    /// address.
    left: u64,
}

const BARRED: u64 = 1 << 8;
const WATCHED: u64 = 1 << 9;
/// The instruction after which it ended is a 32-bit one.
const WIDE: u64 = 1 << 10;
/// The begin of a watched word's address.
const WORD: u32 = 32;

impl TraceEndRecord {
    /// No trace.
    pub const NOTHING: TraceEndRecord = TraceEndRecord { bits: 1, left: 0 };

    /// Returns whether the trace has its full length and exactly this log.
    #[inline(always)]
    pub fn is_full_length_trace_with_log(self, bits: u64) -> bool {
        self.left == 0 && self.bits == bits
    }

    /// Returns the log of the trace, and how it ended.
    #[inline(always)]
    pub fn trace_log_and_end_reason(self) -> (TraceTimingLog, EndReason) {
        let end = match self.left & (BARRED | WATCHED) {
            0 => EndReason::Complete,
            BARRED => EndReason::Barred,
            _ => EndReason::Watched { word: (self.left >> WORD) as u32, wide: self.left & WIDE != 0 },
        };
        (TraceTimingLog { bits: self.bits, left: self.left as u32 & 0xff }, end)
    }

    /// Ends a trace before the instruction at `ip`.
    #[inline(always)]
    fn end_trace_before_instruction(
        core: &mut Core,
        ip: *mut Op,
        log: TraceTimingLog,
        end: EndReason,
    ) -> TraceEndRecord {
        core.ip = ip;
        TraceEndRecord::new_trace_end_record(log, end)
    }

    /// Creates the end of a trace whose next instruction is in `core.ip` already.
    #[inline(always)]
    pub fn new_trace_end_record(log: TraceTimingLog, end: EndReason) -> TraceEndRecord {
        let how = match end {
            EndReason::Complete => 0,
            EndReason::Barred => BARRED,
            EndReason::Watched { word, wide } => WATCHED | u64::from(word) << WORD | if wide { WIDE } else { 0 },
        };
        TraceEndRecord { bits: log.bits, left: u64::from(log.left) | how }
    }
}

/// Instructions left at which a branch back ends a trace, so that traces of a loop begin where it does, or nearly.
const TURN: u32 = super::TRACE_INSTRUCTIONS / 3;

/// Executes instructions speculatively, without their cycles, until the end of a trace. Appends to `log` what their
/// cycles depend on, and returns it with the reason for the end.
///
/// # Safety
/// As for [`exec::run_until_limit`].
#[inline(always)]
pub(super) unsafe fn execute_trace<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    log: TraceTimingLog,
) -> (TraceTimingLog, EndReason) {
    let ip = core.ip;
    // SAFETY: the caller's promise.
    unsafe { continue_trace_at(core, pipe, bus, ip, log) }.trace_log_and_end_reason()
}

/// The function that executes an instruction with a given code in a trace, and those that follow. Its arguments are
/// core, pipeline, bus, the op, and the two numbers of the [`TraceTimingLog`].
///
/// Each must only be called so, with a core for which [`exec::run_until_limit`]'s promise holds.
type Function<P, B> = unsafe fn(&mut Core, &mut P, &mut B, *mut Op, u64, u32) -> TraceEndRecord;

/// The table of the functions that execute an instruction in a trace, by the form of its op ([`Op::code_and_width`]).
struct Functions<P, B>(std::marker::PhantomData<(P, B)>);

impl<P: CacheableTiming, B: QuickBus> Functions<P, B> {
    const ALL: [Function<P, B>; Op::FORMS] = {
        let mut all = [end_before_forbidden::<P, B> as Function<P, B>; Op::FORMS];
        macro_rules! fill {
            ($($name:ident)*) => {$(
                all[code::$name as usize] = Self::op_function::<{ code::$name }, 1>();
                all[Op::FORMS / 2 + code::$name as usize] = Self::op_function::<{ code::$name }, 2>();
            )*};
        }
        with_codes!(fill);
        all[code::It as usize] = execute_predicated;
        all
    };

    /// Returns the function for instructions with this code and length.
    const fn op_function<const CODE: u8, const HALFWORDS: usize>() -> Function<P, B> {
        match TraceInstructionKind::from_code_number(CODE) {
            TraceInstructionKind::Apart => end_before_forbidden,
            _ if accesses_memory(CODE) && CODE != code::LdrLit => {
                execute_instruction::<P, B, CODE, HALFWORDS, { reach::RAM }>
            }
            _ => execute_instruction::<P, B, CODE, HALFWORDS, { reach::WATCHED }>,
        }
    }
}

/// Continues a trace with the instruction at `ip`.
///
/// # Safety
/// As for [`exec::run_until_limit`], `ip` in place of the core's.
#[inline(always)]
pub(super) unsafe fn continue_trace_at<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    ip: *mut Op,
    log: TraceTimingLog,
) -> TraceEndRecord {
    let functions = &Functions::<P, B>::ALL;
    // SAFETY: `ip` points into the ops of the region, and the function is that of its op.
    unsafe {
        let form = Op::code_and_width(ip);
        functions[form](core, pipe, bus, ip, log.bits, log.left)
    }
}

/// Continues a trace after an instruction, if another one may follow.
///
/// # Safety
/// As for [`continue_trace_at`].
#[inline(always)]
unsafe fn continue_after_instruction<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    ip: *mut Op,
    mut log: TraceTimingLog,
) -> TraceEndRecord {
    log.left -= 1;
    if log.left == 0 {
        return TraceEndRecord::end_trace_before_instruction(core, ip, log, EndReason::Complete);
    }
    // SAFETY: the caller's promise.
    unsafe { continue_trace_at(core, pipe, bus, ip, log) }
}

/// Ends a trace before an instruction that no trace can contain.
fn end_before_forbidden<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    _: &mut P,
    _: &mut B,
    ip: *mut Op,
    bits: u64,
    left: u32,
) -> TraceEndRecord {
    TraceEndRecord::end_trace_before_instruction(core, ip, TraceTimingLog { bits, left }, EndReason::Barred)
}

/// Executes an instruction with a known code and length in a trace, and continues with the next instruction. The place
/// of the next one follows from code and length, so that the host need not read the op for it. The function accesses
/// all memories, or leaves accesses outside main RAM to the function that does ([`reach`]), so that the common one
/// needs no host registers that it would have to save.
///
/// # Safety
/// As for [`Function`].
unsafe fn execute_instruction<
    P: CacheableTiming,
    B: QuickBus,
    const CODE: u8,
    const HALFWORDS: usize,
    const REACH: u8,
>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    ip: *mut Op,
    bits: u64,
    left: u32,
) -> TraceEndRecord {
    let log = TraceTimingLog { bits, left };
    let behind = ip.wrapping_add(HALFWORDS);
    if matches!(CODE, code::Bl | code::Blx) {
        // They ask where they are.
        core.ip = ip;
    }
    let mut untimed = NoPipeline::new(pipe, log);
    // SAFETY: `ip` points to an op of this code.
    let flow = unsafe {
        exec::execute_known_op::<_, _, CODE>(
            core,
            &mut untimed,
            Quick::<B, REACH>::restrict_bus_to_fixed_latency(bus),
            ip,
        )
    };
    match flow {
        Flow::Next => {
            let mut log = untimed.log;
            if let (reach::WATCHED, Some(word)) = (REACH, untimed.watched) {
                log.left -= 1;
                return TraceEndRecord::end_trace_before_instruction(
                    core,
                    behind,
                    log,
                    EndReason::Watched { word, wide: HALFWORDS == 2 },
                );
            }
            // SAFETY: the op after one of the region is one of its ops, or of those that it ends with.
            unsafe { continue_after_instruction(core, pipe, bus, behind, log) }
        }
        Flow::NotTaken => {
            untimed.log.append_bits(0, BRANCH_BITS);
            untimed.log_branch(core, ip, None);
            let log = untimed.log;
            // SAFETY: as above.
            unsafe { continue_after_instruction(core, pipe, bus, behind, log) }
        }
        flow @ (Flow::Near | Flow::NearConditional) => {
            if matches!(flow, Flow::NearConditional) {
                untimed.log.append_bits(1, BRANCH_BITS);
            }
            // SAFETY: `ip` points into the ops of the region.
            let distance = unsafe { (*ip).imm } as i32;
            let target = ip.wrapping_offset(distance as isize);
            untimed.log_branch(core, ip, Some(target));
            let mut log = untimed.log;
            if distance < 0 && log.left <= TURN {
                log.left -= 1;
                return TraceEndRecord::end_trace_before_instruction(core, target, log, EndReason::Complete);
            }
            // SAFETY: near branches stay inside the region.
            unsafe { continue_after_instruction(core, pipe, bus, target, log) }
        }
        Flow::Jumped => {
            untimed.log_branch(core, ip, Some(core.ip));
            let mut log = untimed.log;
            log.left -= 1;
            TraceEndRecord::new_trace_end_record(log, EndReason::Complete)
        }
        // Nothing was done and nothing logged.
        // SAFETY: the caller's promise.
        _ if REACH == reach::RAM => unsafe {
            execute_anywhere::<P, B, CODE, HALFWORDS>(core, pipe, bus, ip, bits, left)
        },
        _ => {
            core.request = Request::None;
            let end = if untimed.log_is_full { EndReason::Complete } else { EndReason::Barred };
            TraceEndRecord::end_trace_before_instruction(core, ip, log, end)
        }
    }
}

/// Executes an instruction of a trace that may access all memories.
///
/// # Safety
/// As for [`Function`].
#[inline(never)]
unsafe fn execute_anywhere<P: CacheableTiming, B: QuickBus, const CODE: u8, const HALFWORDS: usize>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    ip: *mut Op,
    bits: u64,
    left: u32,
) -> TraceEndRecord {
    // SAFETY: the caller's promise.
    unsafe { execute_instruction::<P, B, CODE, HALFWORDS, { reach::WATCHED }>(core, pipe, bus, ip, bits, left) }
}

/// Executes IT and its block in a trace, and continues after it.
///
/// # Safety
/// As for [`Function`].
unsafe fn execute_predicated<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    ip: *mut Op,
    bits: u64,
    left: u32,
) -> TraceEndRecord {
    core.ip = ip;
    // SAFETY: the caller's promise.
    let block = unsafe { execute_block(core, pipe, bus, TraceTimingLog { bits, left }) };
    // SAFETY: as above.
    unsafe { continue_after_block(core, pipe, bus, &block) }
}

/// Continues a trace after an IT block, if the trace does not end with it.
///
/// # Safety
/// As for [`continue_trace_at`]. The block was executed.
unsafe fn continue_after_block<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    block: &Block,
) -> TraceEndRecord {
    match block.end {
        Some(end) => TraceEndRecord::new_trace_end_record(block.log, end),
        None if block.log.left == 0 => TraceEndRecord::new_trace_end_record(block.log, EndReason::Complete),
        None => {
            let ip = core.ip;
            // SAFETY: after the block there is an op of the region, or one of those that it ends with.
            unsafe { continue_trace_at(core, pipe, bus, ip, block.log) }
        }
    }
}

/// How an IT block was executed: its log, length and end.
pub(super) struct Block {
    pub log: TraceTimingLog,
    /// `None`: the trace continues after the block.
    pub end: Option<EndReason>,
}

/// Executes the IT at which `core.ip` points, and the instructions of its block.
///
/// # Safety
/// As for [`exec::run_until_limit`].
#[inline(never)]
pub(super) unsafe fn execute_block<P: CacheableTiming, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    log: TraceTimingLog,
) -> Block {
    // No room for a whole block: it begins the next trace.
    if log.left < 5 {
        return Block { log, end: Some(EndReason::Complete) };
    }
    let mut pipe = NoPipeline::new(pipe, log);
    // SAFETY: `ip` points into the ops of the region, here and below.
    core.it = unsafe { (*core.ip).imm } as u8;
    core.ip = core.ip.wrapping_add(1);
    pipe.log.left -= 1;
    while core.it != 0 {
        let (ip, it) = (core.ip, core.it);
        // SAFETY: as above.
        let packed = unsafe { PackedOp::read_op(ip) };
        if packed.code() <= code::It {
            return Block { log: pipe.log, end: Some(EndReason::Barred) };
        }
        let log = pipe.log;
        let executed = block::op_as_executed_in_it_block(core, packed);
        core.it = block::next_it_state(it);
        let next = ip.wrapping_add(packed.halfword_count());
        if !pipe.log.has_room(PREDICATE_BITS) {
            core.it = it;
            return Block { log, end: Some(EndReason::Barred) };
        }
        if executed == block::SKIPPED {
            pipe.log.append_rare_timing_log_entry(0, PREDICATE_BITS);
            pipe.log_skipped_instruction(core, packed.op(), ip);
            pipe.log.left -= 1;
            core.ip = next;
            continue;
        }
        let op = executed.op();
        pipe.log.append_rare_timing_log_entry(1, PREDICATE_BITS);
        // SAFETY: it is an op.
        let flow = unsafe {
            exec::execute_op(
                core,
                &mut pipe,
                Quick::<B, { reach::ALL }>::restrict_bus_to_fixed_latency(bus),
                &raw const op,
            )
        };
        match flow {
            Flow::Next => core.ip = next,
            Flow::Near => {
                core.ip = ip.wrapping_offset(op.imm as i32 as isize);
                pipe.log_branch(core, ip, Some(core.ip));
            }
            Flow::Jumped => {
                pipe.log_branch(core, ip, Some(core.ip));
                pipe.log.left -= 1;
                return Block { log: pipe.log, end: Some(EndReason::Complete) };
            }
            _ => {
                core.request = Request::None;
                core.it = it;
                return Block { log, end: Some(EndReason::Barred) };
            }
        }
        pipe.log.left -= 1;
    }
    Block { log: pipe.log, end: None }
}
