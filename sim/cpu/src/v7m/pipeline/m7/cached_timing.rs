//! The Cortex-M7 as a state that can be cached, and what its timing takes from elsewhere: see
//! [`crate::v7m::timing_cache`].
//!
//! The effect of addresses and predictions on time is determined during speculative execution: the bank of an access,
//! how many stores ago a loaded doubleword was written, whether the predictor was right.

use std::mem::offset_of;

use super::super::super::core::Core;
use super::super::super::op::Op;
use super::super::super::timing_cache::{
    CacheableTiming, CycleDistanceConverter, Home, QuickBus, TraceTimingLog, cycle_at_distance_from_now, is_store,
};
use super::predict::{self, Predictor};
use super::rules::{RULES, uses};
use super::stores::Doublewords;
use super::{DISBTACALLOC, DISBTACREAD, M7, fetch, float, operand_cycles, stores};
use crate::host::TimingPredictorLayout;
use rtoslab_timing::cortex_m7 as timing;

/// Bits of how many stores ago a doubleword was written, less 1.
const AGO_BITS: u32 = stores::TIMES.ilog2();
const _: () = assert!(stores::TIMES.is_power_of_two());

/// A result is over for all readers if it is for a branch that asks whether its condition was known early.
const OVER: i16 = -((timing::EARLY_FLAGS_DISTANCE_CYCLES - timing::ALU_LATENCY) as i16);
/// 16-bit opcodes since the last taken branch that are as good as any more.
const NARROW_MOST: i64 = timing::FOLD_NARROW_OPCODES as i64;
/// After a flush they are counted from this on.
const NARROW_LEAST: i64 = -4;

/// The entry of the replayed trace's log for the access or the branch of the current instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReplayedTimingLogEntry {
    /// How many stores ago what it loads was stored, 1 being the last store. 0: too long ago to matter.
    pub ago: usize,
    /// The predictor is right about it.
    pub right: bool,
}

/// The state of the M7's pipeline on which the timing of the next instructions depends. Times are distances from now,
/// and all past times are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// Late and early, by register.
    ready: [i8; 32],
    /// Registers whose late time is that of a word loaded, while that matters.
    loaded: u16,
    blocks: u16,
    always: u16,
    /// The next instruction may join the current group.
    joins: bool,
    next_group: i16,
    flags: i16,
    predicated: u8,
    /// 16-bit opcodes since the last taken branch.
    narrow: i8,
    /// Bank of a load in the current group. 2 if there is none.
    bank: u8,
    /// The prediction bits of ACTLR.
    prediction: u32,
    fetch: fetch::State,
    stores: stores::State,
    floats: float::State,
}

impl M7 {
    /// Returns the number of 16-bit opcodes executed since the last taken branch, before the current instruction.
    fn narrow_opcodes_since_taken_branch(&self, core: &Core) -> i64 {
        let instructions = core.instructions as i64 - self.entered_count as i64 - 1;
        let halfwords = core.address_of_op(core.ip).wrapping_sub(self.entered) / 2;
        (2 * instructions - i64::from(halfwords)).min(NARROW_MOST)
    }
}

/// Removes the entry of an access from a trace's log. Returns the RAM bank of the access, and how many stores ago its
/// doubleword was stored to (0: too long ago to matter).
fn take_access_log_entry(log: &mut TraceTimingLog, op: Op) -> (u32, usize) {
    let bank = log.take_oldest_timing_log_value(1) as u32;
    let hit = !is_store(op) && log.take_oldest_timing_log_value(1) != 0;
    (bank, if hit { log.take_oldest_timing_log_value(AGO_BITS) as usize + 1 } else { 0 })
}

impl CacheableTiming for M7 {
    /// The state on which the pipeline's future timing depends. Times are relative to now, and all that are long past
    /// are equal.
    type State = State;
    const FORESIGHT: Option<TimingPredictorLayout> = Some(TimingPredictorLayout {
        numbers: (offset_of!(M7, stored) + Doublewords::NUMBERS) as i32,
        counts: (offset_of!(M7, stored) + Doublewords::COUNTS) as i32,
        recent: stores::RECENT as u32,
        stores: (offset_of!(M7, stored) + Doublewords::COUNT) as i32,
        origin: Doublewords::ORIGIN,
        reach: offset_of!(M7, stores_most) as i32,
        ago_bits: AGO_BITS,
        entries: (offset_of!(M7, predictor) + Predictor::ENTRIES) as i32,
        entry_bytes: Predictor::ENTRY_BYTES as u32,
        targets: timing::BRANCH_TARGETS as u32,
        branch: Predictor::BRANCH as i32,
        target: Predictor::TARGET as i32,
        counter: Predictor::COUNTER as i32,
        taken: predict::TAKEN,
    });

    /// Returns whether the log contains everything that the timing depends on. Not if ACTLR changes the branch
    /// prediction.
    #[inline(always)]
    fn logs_by_foresight(core: &Core) -> bool {
        core.scb.actlr & (DISBTACREAD | DISBTACALLOC) == 0
    }

    /// Returns the pipeline's state before the instruction at `core.ip`. `None` if it cannot be cached.
    fn timing_state(&self, core: &Core) -> Option<State> {
        let now = core.t;
        let narrow = self.narrow_opcodes_since_taken_branch(core);
        if narrow < NARROW_LEAST || self.group > now || self.bank_at > now {
            return None;
        }
        let distances = CycleDistanceConverter::from(now);
        let ready: [i8; 32] =
            std::array::from_fn(|n| distances.saturate_cycle_distance_to_byte(self.ready[n], OVER.into()));
        let word_loaded = |register: &usize| {
            let late = self.ready[2 * register];
            late >= now && late == self.word_loaded[*register] + timing::LOAD_LATENCY
        };
        let joins = self.group == now;
        distances.timing_state_if_distances_fit(State {
            ready,
            loaded: (0..16).filter(word_loaded).fold(0, |set, register| set | 1 << register),
            blocks: if joins { self.blocks } else { uses::ALL },
            always: self.always,
            joins,
            next_group: distances.future_cycle_distance(self.next_group),
            flags: distances.cycle_distance(self.flags).max(OVER),
            predicated: distances.convert_to_narrower_type(self.predicated.into()),
            narrow: distances.convert_to_narrower_type(narrow),
            bank: if joins && self.bank_at == now { self.bank as u8 } else { 2 },
            prediction: core.scb.actlr & (DISBTACREAD | DISBTACALLOC),
            fetch: self.fetch.timing_state(now, &distances),
            stores: self.stores.timing_state(now, &distances, self.store_to_load)?,
            floats: self.floats.timing_state(&distances),
        })
    }

    /// Sets the pipeline to a cached state, before the instruction at `core.ip`, at time `core.t`.
    fn restore_timing_state(&mut self, state: &State, core: &Core) {
        let (now, pc) = (core.t, core.address_of_op(core.ip));
        for (time, &distance) in self.ready.iter_mut().zip(&state.ready) {
            *time = cycle_at_distance_from_now(distance.into(), now);
        }
        for register in 0..16 {
            let loaded = state.loaded >> register & 1 != 0;
            self.word_loaded[register] = if loaded { self.ready[2 * register] - timing::LOAD_LATENCY } else { 0 };
        }
        (self.blocks, self.always) = (state.blocks, state.always);
        self.group = if state.joins { now } else { now.saturating_sub(1) };
        self.next_group = cycle_at_distance_from_now(state.next_group, now);
        self.flags = cycle_at_distance_from_now(state.flags, now);
        self.predicated = state.predicated.into();
        // An odd count has a halfword more after it than two for each instruction.
        let instructions = (i64::from(state.narrow) + 1).div_euclid(2);
        let halfwords = 2 * instructions - i64::from(state.narrow);
        self.entered = pc.wrapping_sub(2 * halfwords as u32);
        self.entered_count = (core.instructions as i64 - 1 - instructions) as u64;
        (self.bank, self.bank_at) = if state.bank < 2 { (state.bank.into(), now) } else { (0, 0) };
        self.fetch.restore_timing_state(&state.fetch, pc, now);
        self.stores.restore_timing_state(&state.stores, now);
        self.floats.restore_timing_state(&state.floats, now);
    }

    /// Returns the cycles that depend on the operands, as `Pipeline::operation_cycles` does.
    fn operand_cycles(op: Op, first: u32, second: u32) -> u64 {
        operand_cycles(op, first, second)
    }

    /// Sets the cycles of the current instruction that `operand_cycles` returned.
    fn set_cycles(&mut self, op: Op, cycles: u64) {
        self.account_division_cycles(op, cycles);
    }

    /// Appends the RAM bank of a load's address to the trace's log, and how many stores ago the loaded doubleword was
    /// written. Returns false if the log has no room for it.
    #[inline(always)]
    fn predict_load(&mut self, log: &mut TraceTimingLog, home: Home, address: u32) -> bool {
        let bit = 1 << log.instructions_left_in_trace();
        self.cached = if home == Home::Cached { self.cached | bit } else { self.cached & !bit };
        let ago = self.stored.stores_since_store_to_doubleword(address, self.stores_most as usize);
        let bank = u64::from(address >> 2 & 1);
        if ago == 0 {
            log.append_bits(bank << 1, 2);
            return true;
        }
        let fits = log.has_room(AGO_BITS);
        if fits {
            // Together, since `has_room` counts the two bits of an access to what still follows.
            log.append_bits((bank << 1 | 1) << AGO_BITS | (ago as u64 - 1), 2 + AGO_BITS);
        }
        fits
    }

    /// Appends the RAM bank of a store's first word to the trace's log, and notes each stored address for later loads.
    #[inline(always)]
    fn predict_store(&mut self, log: &mut TraceTimingLog, _: Home, address: u32, index: u32) {
        self.stored.record_store(address);
        if index == 0 {
            log.append_bits(u64::from(address >> 2 & 1), 1);
        }
    }

    /// Appends to the trace's log whether a branch was predicted right. It is at `from`, and goes to `target` or is not
    /// taken.
    #[inline(always)]
    fn predict_branch(&mut self, core: &Core, log: &mut TraceTimingLog, from: u32, target: Option<u32>) {
        let right = self.update_predictor(core, from, target);
        log.append_bits(right.into(), 1);
    }

    /// Appends to the trace's log whether a skipped branch of an IT block was predicted right. It is at `from`. Other
    /// skipped instructions log nothing.
    fn predict_skip(&mut self, core: &Core, log: &mut TraceTimingLog, op: Op, from: u32) {
        if RULES[op.code as usize].uses & uses::BRANCH != 0 {
            self.predict_branch(core, log, from, None);
        }
    }

    /// Removes the entry of an instruction's memory accesses from a trace's log and returns which memory they reached.
    /// The memory is not in the log: it was noted while the trace was executed.
    fn log_entry_of_access(&self, log: &mut TraceTimingLog, op: Op, left: u32) -> Home {
        take_access_log_entry(log, op);
        if !is_store(op) && self.cached >> left & 1 != 0 { Home::Cached } else { Home::First }
    }

    /// Removes the entry of a branch from a trace's log.
    fn log_entry_of_branch(log: &mut TraceTimingLog) {
        log.take_oldest_timing_log_value(1);
    }

    /// Removes the entry of a skipped instruction of an IT block from a trace's log.
    fn log_entry_of_skip(log: &mut TraceTimingLog, op: Op) {
        if RULES[op.code as usize].uses & uses::BRANCH != 0 {
            log.take_oldest_timing_log_value(1);
        }
    }

    /// Moves the log entry of an instruction's accesses to the pipeline, which times the trace by replaying its log.
    /// Returns a memory and an address that stand for those of the first access.
    fn recall_access<B: QuickBus>(&mut self, _: &B, log: &mut TraceTimingLog, op: Op) -> (Home, u32) {
        let (bank, ago) = take_access_log_entry(log, op);
        self.foreseen = Some(ReplayedTimingLogEntry { ago, right: false });
        (Home::First, 4 * bank)
    }

    /// Moves the logged prediction of a branch to the pipeline, which times the trace by replaying its log.
    fn recall_branch(&mut self, log: &mut TraceTimingLog) {
        self.foreseen = Some(ReplayedTimingLogEntry { ago: 0, right: log.take_oldest_timing_log_value(1) != 0 });
    }

    /// Moves the log entry of a skipped instruction of an IT block to the pipeline, which times the trace by replaying
    /// its log.
    fn recall_skip(&mut self, log: &mut TraceTimingLog, op: Op) {
        if RULES[op.code as usize].uses & uses::BRANCH != 0 {
            self.recall_branch(log);
        }
    }

    /// Tells the pipeline that the replay of a trace's log, by which the trace gets its cycles, begins or ends.
    fn set_replaying(&mut self, on: bool) {
        self.foreseen = on.then(ReplayedTimingLogEntry::default);
    }
}
