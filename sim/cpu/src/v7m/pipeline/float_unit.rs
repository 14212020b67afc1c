//! The M4's floating-point unit: results that the next instruction needs, and divisions in the background.

use super::super::code::Code;
use super::super::op::{InstructionTimingClass, Op, flag};
use super::super::timing_cache::{CycleDistanceConverter, cycle_at_distance_from_now};
use rtoslab_timing::cortex_m4 as rules;

/// The timing state of the M4's floating-point unit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FloatUnit {
    /// A division or square root runs until this cycle.
    free: u64,
    /// S registers of a result that is complete one cycle after its instruction, by bit.
    late: u32,
    /// The cycle in which the instruction after it can execute: only that one can come too early.
    late_for: u64,
}

/// The timing state of the floating-point unit between two instructions, with times as distances from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pending {
    free: i16,
    late: u32,
    late_for: i16,
}

impl FloatUnit {
    /// Returns the unit's state before an instruction that can execute at `now`, from which the distances count.
    pub fn timing_state(&self, now: u64, distances: &CycleDistanceConverter) -> Pending {
        let late = if self.late_for >= now { self.late } else { 0 };
        let late_for = if late == 0 { 0 } else { distances.cycle_distance(self.late_for) };
        Pending { free: distances.future_cycle_distance(self.free), late, late_for }
    }

    /// Sets the unit to a cached state before an instruction that can execute at `now`.
    pub fn restore_timing_state(&mut self, pending: Pending, now: u64) {
        self.free = cycle_at_distance_from_now(pending.free, now);
        self.late = pending.late;
        self.late_for = cycle_at_distance_from_now(pending.late_for, now);
    }

    /// Returns the first cycle, `from` or later, in which the instruction `op` can execute.
    pub fn first_execution_cycle(&self, op: Op, from: u64) -> u64 {
        let from = from.max(self.free);
        let late = if from == self.late_for { self.late } else { 0 };
        if late & source_registers(op) != 0 { from + rules::FLOAT_RESULT_USE_CYCLES } else { from }
    }

    /// Notes that the floating-point instruction `op` was issued. The next instruction can execute at `next`.
    pub fn record_float_instruction_issue(&mut self, op: Op, next: u64) {
        self.late = 0;
        self.late_for = next;
        match op.class {
            InstructionTimingClass::FloatDivide | InstructionTimingClass::FloatSquareRoot => {
                self.free = next - 1 + rules::FLOAT_DIVIDE_CYCLES
            }
            InstructionTimingClass::FloatSimple
            | InstructionTimingClass::FloatMultiply
            | InstructionTimingClass::FloatMultiplyAccumulate => self.late = single_register_bit(op.rd),
            _ => {}
        }
    }
}

/// Returns the bit of an S register in a set of registers.
fn single_register_bit(register: u8) -> u32 {
    1 << (register & 31)
}

/// Returns the S registers that must be complete before an instruction. The accumulator of a multiplication may be
/// late.
fn source_registers(op: Op) -> u32 {
    match op.class {
        InstructionTimingClass::FloatMultiply
        | InstructionTimingClass::FloatMultiplyAccumulate
        | InstructionTimingClass::FloatDivide => single_register_bit(op.rn) | single_register_bit(op.rm),
        InstructionTimingClass::FloatSquareRoot => single_register_bit(op.rm),
        InstructionTimingClass::FloatSimple => match op.code {
            Code::Vadd32 | Code::Vsub32 => single_register_bit(op.rn) | single_register_bit(op.rm),
            Code::VmovImm32 => 0,
            Code::Vcmp32 => single_register_bit(op.rd) | single_register_bit(op.rm),
            _ => single_register_bit(op.rm),
        },
        InstructionTimingClass::FloatStore if op.has_flag(flag::DOUBLE) => {
            single_register_bit(op.rd) | single_register_bit(op.rd + 1)
        }
        InstructionTimingClass::FloatStore => single_register_bit(op.rd),
        InstructionTimingClass::FloatMove if op.code == Code::VmovToCore => single_register_bit(op.rn),
        _ => 0,
    }
}
