//! When instructions execute: what a core's pipeline must answer. One file per core implements it.

mod cached_timing;
mod fetch;
mod float_unit;
mod lane;
pub mod m3m4;
pub mod m7;
mod operands;

use super::bus::Bus;
use super::core::Core;
use super::fault::Fault;
use super::op::Op;

/// How a taken branch finds its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// The target is in the opcode: known when it is decoded.
    Immediate,
    /// A conditional branch in the opcode (also CBZ, CBNZ).
    Conditional,
    /// The target is in a register, known when it executes.
    Register,
    /// The target is loaded (POP {PC}, LDR PC, TBB, TBH): known at the end of the data phase.
    Loaded,
}

/// The timing of a core's instructions. The executor calls, for each instruction in program order:
///
/// 1. `issue_op` (or `skip_op` if its condition fails),
/// 2. one `issue_load` or `issue_store` per aligned bus access, in order, for instructions that touch memory,
/// 3. one of `finish_op`, `taken`, `not_taken`.
///
/// Between instructions `core.t` is the earliest cycle at which the next one can execute. Interrupts are recognised
/// there.
///
/// `core.ip` points at the instruction from `issue_op` (or `skip_op`) to `finish_op` or `not_taken`. At `taken`,
/// `core.ip` and `core.region` are already those of the target. An instruction that faults, and a branch that turns out
/// to be an exception return, ends without step 3: what follows starts with `flush`. An instruction that gives way at
/// the limit (between two words of an LDM, or as [`super::core::Request::Abandonable`]) continues later without another
/// `issue_op`.
pub trait Pipeline {
    /// Cycles from the address phase of the fetch that [`Pipeline::empty_pipeline`] begins to the execution of its
    /// instruction, in memory without wait states.
    const REFILL: u64 = 3;

    /// False if an unaligned access, which is made of several, faults instead.
    const SPLITS: bool = true;

    /// True where instructions run ahead: each is a function by itself, so that nothing is gained by calling others;
    /// they access plain memory without an MPU, never reach the limit, and nobody asks why one faults.
    const IN_LINE: bool = false;

    /// Waits until the opcode is fetched and decoded and its operands are there: `core.t` becomes its first execute
    /// cycle.
    fn issue_op<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op);

    /// Issues and ends an instruction of an IT block whose condition fails.
    fn skip_op<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op);

    /// Makes one aligned load of an instruction, with its timing. `index` counts the accesses of this instruction from
    /// 0.
    fn issue_load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        index: u32,
    ) -> Result<u32, Fault>;

    /// Makes one aligned store of an instruction, with its timing. `index` counts the accesses of this instruction from
    /// 0.
    #[allow(clippy::too_many_arguments)]
    fn issue_store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        value: u32,
        index: u32,
    ) -> Result<(), Fault>;

    /// Ends an instruction that does not branch, and advances `core.t` past it.
    fn finish_op(&mut self, core: &mut Core, op: Op);

    /// Ends what the instruction before had left to do, because the instruction that was issued last has faulted.
    fn end_after_fault(&mut self, _core: &mut Core) {}

    /// Ends a conditional branch that was not taken. The fetch of its target may have been useless.
    fn end_untaken_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op);

    /// Ends a branch that goes to `target`, and charges the refill.
    fn take_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, jump: Jump, target: u32);

    /// Returns the cycles that a division or a long multiplication will take with these operands, or the most that
    /// another class takes.
    fn operation_cycles(&mut self, op: Op, first: u32, second: u32) -> u64;

    /// Empties the pipeline: after reset, exception entry and return, or when a debugger moves execution. The next
    /// instruction is fetched from `target` with its address phase in cycle `at`.
    fn empty_pipeline<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, at: u64);
}

/// A pipeline without rules: one cycle an instruction, memory waits on top. For tests of the instructions' results.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Pipeline for Plain {
    const REFILL: u64 = 0;

    /// Does nothing: an instruction issues at once.
    fn issue_op<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    /// Takes one cycle for an instruction of an IT block whose condition fails.
    fn skip_op<B: Bus>(&mut self, core: &mut Core, _: &mut B, _: Op) {
        core.t += 1;
    }

    /// Makes one aligned load, which takes the wait states of the memory.
    fn issue_load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        _: Op,
        address: u32,
        bytes: u32,
        _: u32,
    ) -> Result<u32, Fault> {
        let loaded = bus.load_data(core, address, bytes, core.t)?;
        core.t += loaded.wait;
        Ok(loaded.value)
    }

    /// Makes one aligned store, which takes the wait states of the memory.
    fn issue_store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        _: Op,
        address: u32,
        bytes: u32,
        value: u32,
        _: u32,
    ) -> Result<(), Fault> {
        core.t += bus.store_data(core, address, bytes, value, core.t)?;
        Ok(())
    }

    /// Takes one cycle for an instruction that does not branch.
    fn finish_op(&mut self, core: &mut Core, _: Op) {
        core.t += 1;
    }

    /// Takes one cycle for a branch that is not taken.
    fn end_untaken_branch<B: Bus>(&mut self, core: &mut Core, _: &mut B, _: Op) {
        core.t += 1;
    }

    /// Takes one cycle for a branch, without a refill.
    fn take_branch<B: Bus>(&mut self, core: &mut Core, _: &mut B, _: Op, _: Jump, _: u32) {
        core.t += 1;
    }

    /// Returns 1, the cycles of every instruction.
    fn operation_cycles(&mut self, _: Op, _: u32, _: u32) -> u64 {
        1
    }

    /// Continues in cycle `at`, without a refill.
    fn empty_pipeline<B: Bus>(&mut self, core: &mut Core, _: &mut B, _: u32, at: u64) {
        core.t = at;
    }
}
