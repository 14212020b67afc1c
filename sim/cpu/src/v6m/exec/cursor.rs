//! The state of a core's turn, and the end of an instruction.

use crate::step::watch;
use crate::v6m::block::Block;
use crate::v6m::bus::{Ahead, Bus};
use crate::v6m::core::{Core, Request};
use crate::v6m::op::{Op, Word};
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::trace::Trace;

/// How an instruction ended, for the interpreter's loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// It is retired. The next one follows after it.
    Next,
    /// It is retired and has set where execution continues.
    Jumped,
    /// The same in a basic block: a branch to a place that its opcode tells.
    Turned,
    /// The same, and the basic block ends after it: a branch to anywhere.
    Taken,
    /// It is stalled: to be begun, or gone on with, another time.
    Stalled,
    /// It cannot be executed ahead of time: the trace or basic block ends before it.
    InTime,
    /// The trace or basic block ends before it, and it begins the next one.
    NextTrace,
    /// It has stored to a watched word: the trace ends after it, and the store is reported then.
    WatchedStore,
    /// It must come in time order with the other core's: the basic block ends before it, and it makes one by itself.
    Ordered,
    /// It left a request: the machine must act.
    Left,
}

/// The part of a core's state that the interpreter keeps in host registers during the core's turn.
///
/// All methods are inlined, so that no field is ever in memory: a call without inlining gets a copy of the fields it
/// changes.
pub(super) struct InterpreterRegisters<const CONTEND: bool, const WATCH: u8> {
    /// The current instruction. It points into the ops of the core's region.
    pub ip: *mut Op,
    /// Local time: the cycle in which it issues, then that of the next one.
    pub t: u64,
    /// The current instruction.
    pub word: Word,
    /// Instructions retired: all that the core has executed, or those of the trace.
    pub count: u64,
    /// The branches that the current trace's timing depends on. See [`Trace`].
    pub branches: u64,
    pub indirect: u64,
    /// The accesses that the current basic block's timing depends on. See [`Block`](crate::v6m::block::Block).
    pub accesses: u64,
    /// The latest end, if it goes straight on.
    pub end: *mut Op,
    /// The place where it would have begun, if it had come straight to the current instruction.
    pub base: *mut Op,
    /// The current instruction is none that native code executes: what is after it may be such code again.
    pub apart: bool,
    /// The basic block has accesses to [`Bus::ORDERED_MEMORY`].
    pub ordered: bool,
    pub log: *mut SpeculationLog,
}

impl<const CONTEND: bool, const WATCH: u8> InterpreterRegisters<CONTEND, WATCH> {
    /// Basic blocks of two cores.
    pub const PAIRED: bool = WATCH == watch::PAIRS;
    /// Traces or basic blocks: without arbitration they are executed without time, with it their time is found out
    /// without effects.
    pub const TRACED: bool = WATCH == watch::TRACES || Self::PAIRED;
    /// Execution without time.
    pub const AHEAD: bool = Self::TRACED && !CONTEND;
    /// Time without effects.
    pub const TIMES: bool = Self::TRACED && CONTEND;
    /// The number of instructions is kept here. Two cores take turns too often for that.
    const COUNTS: bool = !CONTEND && !Self::TRACED;

    /// Creates the cursor from the state of a core, for its turn.
    #[inline(always)]
    pub fn new(core: &Core, log: *mut SpeculationLog) -> Self {
        InterpreterRegisters {
            ip: core.ip,
            t: core.t,
            word: Op::default().pack_op_into_word(),
            count: if Self::COUNTS { core.instructions } else { 0 },
            branches: Trace::NO_BRANCHES,
            indirect: Trace::NO_INDIRECT,
            accesses: 0,
            end: core.ip.wrapping_byte_add(Block::BYTES),
            base: core.ip,
            apart: false,
            ordered: false,
            log,
        }
    }

    /// Writes the state of the core's turn from host registers back to the core.
    #[inline(always)]
    pub fn write_executor_state_back_to_core(&self, core: &mut Core) {
        core.ip = self.ip;
        core.t = self.t;
    }

    /// Begins a basic block at `ip`.
    #[inline(always)]
    pub fn begin_basic_block(&mut self) {
        (self.base, self.end) = (self.ip, self.ip.wrapping_byte_add(Block::BYTES));
        (self.accesses, self.branches, self.ordered) = (0, Trace::NO_BRANCHES, false);
    }

    /// Notes that the instruction at `from` has branched to `ip`. Returns true if the basic block continues there,
    /// which only a forward branch allows. So a block begins at the head of a loop, and the loop is cut into the same
    /// blocks every time.
    #[inline(always)]
    pub fn note_branch_taken(&mut self, from: *mut Op) -> bool {
        let moved = (self.ip as usize).wrapping_sub(from as usize).wrapping_sub(size_of::<Op>());
        self.base = self.base.wrapping_byte_add(moved);
        self.end = self.end.wrapping_byte_add(moved);
        self.ip > from && self.ip < self.end
    }

    /// Returns the length, in bytes of ops, of the basic block up to `to`.
    #[inline(always)]
    pub fn basic_block_length_to(&self, to: *mut Op) -> u64 {
        (to as usize).wrapping_sub(self.base as usize) as u64
    }

    /// Notes, for the reason `why`, that an exception may have to be taken after the basic block, which ends with the
    /// current instruction.
    #[inline(always)]
    pub fn request_exception_check(&self, why: u64) {
        // SAFETY: the bus's logs live as long as it.
        unsafe { (*self.log).summons |= why };
    }

    /// Ends the basic block after the current instruction, which does not branch, and notes, for the reason `why`, that
    /// an exception may have to be taken.
    #[inline(always)]
    pub fn end_block_after_instruction(&mut self, why: u64) {
        self.request_exception_check(why);
        self.end = self.ip.wrapping_add(1);
    }

    /// Executes the JIT-compiled traces from here and begins a trace after them. Returns false if none can begin.
    #[inline(always)]
    pub fn run_native_traces<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> bool {
        let goes_on = B::Ahead::run_native_traces(bus, core);
        self.ip = core.ip;
        (self.count, self.branches, self.indirect) = (0, Trace::NO_BRANCHES, Trace::NO_INDIRECT);
        goes_on
    }

    /// Executes native code from the next instruction on, as far as it goes.
    ///
    /// # Safety
    /// As for [`Ahead::run_native_paths`].
    #[inline(always)]
    pub unsafe fn run_native_paths<B: Bus>(&mut self, core: &mut Core, other: &mut Core, bus: &mut B) {
        self.write_executor_state_back_to_core(core);
        self.write_back_instruction_count(core);
        // SAFETY: the caller's promise.
        unsafe { B::Ahead::run_native_paths(bus, core, other) };
        (self.ip, self.t) = (core.ip, core.t);
        if Self::COUNTS {
            self.count = core.instructions;
        }
    }

    /// Counts one more retired instruction.
    #[inline(always)]
    pub fn count_retired_instruction(&mut self, core: &mut Core) {
        if CONTEND {
            core.instructions += 1;
        } else {
            self.count += 1;
        }
    }

    /// Returns the number of instructions that the core has retired so far.
    #[inline(always)]
    pub fn instructions_retired(&self, core: &Core) -> u64 {
        if CONTEND { core.instructions } else { self.count }
    }

    /// Writes the number of retired instructions back to the core.
    #[inline(always)]
    pub fn write_back_instruction_count(&self, core: &mut Core) {
        if Self::COUNTS {
            core.instructions = self.count;
        }
    }

    /// Calls a function that advances time, with a copy of `t`.
    #[inline(always)]
    pub fn advance_time_by_callback<R>(&mut self, call: impl FnOnce(&mut u64) -> R) -> R {
        let mut copy = self.t;
        let result = call(&mut copy);
        self.t = copy;
        result
    }

    /// Makes the current instruction fault for this reason.
    #[inline(always)]
    pub fn fault_current_instruction(&self, core: &mut Core, why: &'static str) -> Flow {
        if Self::TRACED {
            return Flow::InTime;
        }
        core.request = Request::Fault(why);
        Flow::Left
    }

    /// Retires the current instruction, which left a request to the machine.
    #[inline(always)]
    pub fn retire_instruction_with_request(&mut self, core: &mut Core, request: Request) -> Flow {
        self.count_retired_instruction(core);
        core.request = request;
        Flow::Left
    }
}

/// Writes the position and time of a core back to the core. Only called outside the interpreter's frequent paths.
#[cold]
#[inline(never)]
pub(super) fn save_position_and_time_to_core(core: &mut Core, ip: *mut Op, t: u64) {
    core.ip = ip;
    core.t = t;
}
