//! The Cortex-M7's floating-point side: when operands are there, when results are, how long the pipeline is locked.

use super::super::super::code::Code;
use super::super::super::op::{Op, flag};
use crate::v7m::timing_cache::{CycleDistanceConverter, cycle_at_distance_from_now};
use rtoslab_timing::cortex_m7::*;

/// The timing of a floating-point instruction: the S registers that it reads and writes, as sets, and its latencies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Work {
    reads: u32,
    accumulates: u32,
    stores: u32,
    writes: u32,
    /// The cycles to the result.
    latency: u64,
    /// The pipeline is locked this long, 1 for none.
    pub occupies: u64,
    loads: bool,
    what: FloatInstructionKind,
}

/// The kind of a floating-point instruction, by which the scoreboard times it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FloatInstructionKind {
    /// May follow a multiply-accumulate at once: multiplication, division, comparison.
    #[default]
    Free,
    /// VADD and relatives, constants, VLDM, VSTM, 64-bit loads and stores.
    Held,
    /// 32-bit loads and stores, moves.
    Move,
    Fused,
    Chained,
}

/// The cycles in which the S registers are ready.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    ready: [u64; 32],
    /// Registers that a multiply-accumulate wrote last, and those that a load did.
    accumulated: u32,
    loaded: u32,
    /// First cycle that is not under the influence of the last single-precision multiply-accumulate.
    after_accumulate: u64,
    /// First cycle in which VFMA may follow the last VMLA.
    after_chained: u64,
}

/// The ready times of the S registers, as distances from now. Past times are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    ready: [i8; 32],
    accumulated: u32,
    loaded: u32,
    after_accumulate: i16,
    after_chained: i16,
}

/// A result is over if even a reader that wants it this many cycles earlier than others finds it.
const OVER: i16 = {
    let (fused, chained) = (LOADED_FUSED_ACCUMULATOR_CYCLES, LOADED_CHAINED_ACCUMULATOR_CYCLES);
    -(if fused > chained { fused } else { chained } as i16)
};

/// Returns the bit of an S register in a set of registers.
const fn single_register_bit(register: u8) -> u32 {
    1 << (register & 31)
}

/// Returns the S registers of an S or D register, as a set.
const fn single_register_set(register: u8, double: bool) -> u32 {
    if double { 3 << ((2 * register) & 31) } else { single_register_bit(register) }
}

/// Returns the S registers that VLDM or VSTM transfers, as a set.
fn mask_of_transferred_float_registers(op: Op) -> u32 {
    ((1u64 << op.shift) - 1) as u32 * single_register_bit(op.rd)
}

/// Returns the timing of a floating-point instruction.
pub fn timing_of_float_instruction(op: Op) -> Work {
    let double = op.flags & flag::DOUBLE != 0;
    let (d, n, m) =
        (single_register_set(op.rd, double), single_register_set(op.rn, double), single_register_set(op.rm, double));
    let lock = |single, double_cycles| if double { double_cycles } else { single };
    let mut work = Work { latency: FLOAT_LATENCY, occupies: 1, what: FloatInstructionKind::Held, ..Work::default() };
    match op.code {
        Code::Vadd32 | Code::Vadd64 | Code::Vsub32 | Code::Vsub64 => {
            (work.reads, work.writes, work.occupies) = (n | m, d, lock(1, ADD_DOUBLE_CYCLES));
        }
        Code::Vmul32 | Code::Vmul64 | Code::Vnmul32 | Code::Vnmul64 => {
            (work.reads, work.writes, work.occupies) = (n | m, d, lock(1, MULTIPLY_DOUBLE_CYCLES));
            work.what = FloatInstructionKind::Free;
        }
        Code::Vdiv32 | Code::Vdiv64 => {
            (work.reads, work.writes, work.what) = (n | m, d, FloatInstructionKind::Free);
            (work.occupies, work.latency) = (lock(DIVIDE_SINGLE_CYCLES, DIVIDE_DOUBLE_CYCLES), 1);
        }
        Code::Vsqrt32 | Code::Vsqrt64 => {
            (work.reads, work.writes, work.what) = (m, d, FloatInstructionKind::Free);
            (work.occupies, work.latency) = (lock(ROOT_SINGLE_CYCLES, ROOT_DOUBLE_CYCLES), 1);
        }
        Code::VmultiplyAccumulate32 | Code::VmultiplyAccumulate64 => {
            let fused = op.ra >= 4;
            (work.reads, work.accumulates, work.writes) = (n | m, d, d);
            work.latency = lock(if fused { FUSED_LATENCY } else { CHAINED_LATENCY }, FLOAT_LATENCY);
            work.occupies = lock(1, ACCUMULATE_DOUBLE_CYCLES);
            work.what = if fused { FloatInstructionKind::Fused } else { FloatInstructionKind::Chained };
        }
        Code::Vcmp32 | Code::Vcmp64 => {
            work.reads = if op.ra & 2 != 0 { d } else { d | m };
            work.what = FloatInstructionKind::Free;
        }
        Code::Vsel32 | Code::Vsel64 | Code::Vmaxnm32 | Code::Vmaxnm64 => (work.reads, work.writes) = (n | m, d),
        Code::Vrint => (work.reads, work.writes) = (m, d),
        Code::VcvtToInteger => (work.reads, work.writes) = (m, single_register_bit(op.rd)),
        Code::VcvtFromInteger => (work.reads, work.writes) = (single_register_bit(op.rm), d),
        Code::VcvtFixed => (work.reads, work.writes) = (d, d),
        Code::VcvtHalf if op.ra & 2 != 0 => (work.reads, work.writes) = (m, single_register_bit(op.rd)),
        Code::VcvtHalf => (work.reads, work.writes) = (single_register_bit(op.rm), d),
        Code::VcvtDoubleFromSingle => {
            (work.reads, work.writes) = (single_register_bit(op.rm), single_register_set(op.rd, true))
        }
        Code::VcvtSingleFromDouble => {
            (work.reads, work.writes) = (single_register_set(op.rm, true), single_register_bit(op.rd))
        }
        Code::VmovImm32 | Code::VmovImm64 => work.writes = d,
        Code::Vmov32 | Code::Vmov64 => (work.reads, work.writes, work.what) = (m, d, FloatInstructionKind::Move),
        Code::VmovToCore => (work.reads, work.what) = (single_register_bit(op.rn), FloatInstructionKind::Move),
        Code::VmovFromCore => (work.writes, work.what) = (single_register_bit(op.rd), FloatInstructionKind::Move),
        Code::VmovPairToCore => work.reads = 3 * single_register_bit(op.rm),
        Code::VmovPairFromCore => work.writes = 3 * single_register_bit(op.rm),
        Code::Vldr32 | Code::Vldr64 => (work.writes, work.latency, work.loads) = (d, LOAD_LATENCY, true),
        Code::Vldm => {
            (work.writes, work.latency, work.loads) = (mask_of_transferred_float_registers(op), LOAD_LATENCY, true)
        }
        Code::Vstr32 | Code::Vstr64 => work.stores = d,
        Code::Vstm => work.stores = mask_of_transferred_float_registers(op),
        _ => work.what = FloatInstructionKind::Move,
    }
    if matches!(op.code, Code::Vldr32 | Code::Vstr32) {
        work.what = FloatInstructionKind::Move;
    }
    work
}

impl Scoreboard {
    /// Creates a scoreboard with all registers ready.
    pub const fn new() -> Scoreboard {
        Scoreboard { ready: [0; 32], accumulated: 0, loaded: 0, after_accumulate: 0, after_chained: 0 }
    }

    /// Returns the earliest cycle at or after `at` in which an instruction can issue, and whether it must be in the
    /// older slot.
    pub fn earliest_issue(&self, work: &Work, at: u64) -> (u64, bool) {
        let mut need = at;
        let mut for_each_register = |set: u32, late: &dyn Fn(u32, u64) -> u64| {
            let mut rest = set;
            while rest != 0 {
                let register = rest.trailing_zeros();
                need = need.max(late(register, self.ready[register as usize]));
                rest &= rest - 1;
            }
        };
        let moves = work.what == FloatInstructionKind::Move;
        for_each_register(work.reads, &|register, ready| ready + u64::from(moves && self.loaded >> register & 1 != 0));
        for_each_register(work.stores, &|_, ready| ready.saturating_sub(FLOAT_STORE_ADVANCE));
        let fused = work.what == FloatInstructionKind::Fused;
        for_each_register(work.accumulates, &|register, ready| {
            let was = |set: u32| set >> register & 1 != 0;
            match (fused, was(self.accumulated), was(self.loaded)) {
                (true, _, true) => ready + LOADED_FUSED_ACCUMULATOR_CYCLES,
                (false, _, true) => ready + LOADED_CHAINED_ACCUMULATOR_CYCLES,
                (true, true, _) => ready.saturating_sub(FUSED_ACCUMULATOR_ADVANCE),
                (false, true, _) => ready.saturating_sub(CHAINED_ACCUMULATOR_ADVANCE),
                (true, ..) => ready,
                (false, ..) => ready.saturating_sub(1),
            }
        });
        match work.what {
            FloatInstructionKind::Held => (need.max(self.after_accumulate), false),
            FloatInstructionKind::Fused => (need.max(self.after_chained), false),
            FloatInstructionKind::Move => (need, need < self.after_accumulate),
            _ => (need, false),
        }
    }

    /// Notes that an instruction issues in cycle `at` (a load: its data are there in `at` + 1).
    pub fn record_issue_of_float_instruction(&mut self, work: &Work, at: u64) {
        let ready = at + work.occupies - 1 + work.latency;
        let mut rest = work.writes;
        while rest != 0 {
            self.ready[rest.trailing_zeros() as usize] = ready;
            rest &= rest - 1;
        }
        self.accumulated &= !work.writes;
        self.loaded &= !work.writes;
        if matches!(work.what, FloatInstructionKind::Fused | FloatInstructionKind::Chained) {
            self.accumulated |= work.writes;
            self.after_accumulate = at + work.occupies + AFTER_ACCUMULATE_CYCLES;
            if work.what == FloatInstructionKind::Chained {
                self.after_chained = at + 2;
            }
            if work.occupies > 1 {
                // Double precision: only the first following cycle is closed to VADD.
                self.after_accumulate = at + work.occupies + 1;
            }
        } else if work.loads {
            self.loaded |= work.writes;
        }
    }

    /// Returns the ready times on which instructions that issue now or later can still depend, as distances from now.
    pub fn timing_state(&self, distances: &CycleDistanceConverter) -> State {
        let ready = self.ready.map(|cycle| distances.saturate_cycle_distance_to_byte(cycle, OVER.into()));
        let open = (0..32).filter(|&register| i16::from(ready[register]) > OVER).fold(0, |set, n| set | 1 << n);
        State {
            ready,
            accumulated: self.accumulated & open,
            loaded: self.loaded & open,
            after_accumulate: distances.future_cycle_distance(self.after_accumulate),
            after_chained: distances.future_cycle_distance(self.after_chained),
        }
    }

    /// Sets the scoreboard to a cached state at time `now`.
    pub fn restore_timing_state(&mut self, state: &State, now: u64) {
        self.ready = state.ready.map(|distance| cycle_at_distance_from_now(distance.into(), now));
        (self.accumulated, self.loaded) = (state.accumulated, state.loaded);
        self.after_accumulate = cycle_at_distance_from_now(state.after_accumulate, now);
        self.after_chained = cycle_at_distance_from_now(state.after_chained, now);
    }
}
