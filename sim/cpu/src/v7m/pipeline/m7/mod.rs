//! The Cortex-M7: in order, two instructions a cycle. Rules and their sources are in [`rtoslab_timing::cortex_m7`].
//!
//! Instructions issue in groups of one or two, an older and a younger slot. An instruction joins the current group if
//! [`rules`] lets the two meet and its operands are there in that cycle. Else it opens the next group. The pipeline
//! stores, for each core register, the first cycle in which the *late* ALU input of an issuing instruction can have
//! it.
//! *early* inputs (addresses, shifted operands) have it one cycle later. Loads know only when they execute whether
//! their bank is free, and then still move to the next group.
//!
//! `issue_op` leaves in `core.t` where the next instruction can begin: the same cycle while the younger slot is free.
//! Only what takes longer (accesses, divisions, branches) moves it on after that.

mod branches;
mod cached_timing;
mod fetch;
mod float;
mod predict;
mod rules;
mod special;
mod stores;
#[cfg(test)]
mod tests;

use super::super::bus::Bus;
use super::super::code::Code;
use super::super::core::Core;
use super::super::fault::Fault;
use super::super::op::{InstructionTimingClass, Op, flag};
use super::{Jump, Pipeline};
use cached_timing::ReplayedTimingLogEntry;
use fetch::Fetch;
use float::{Scoreboard, Work};
use predict::Predictor;
use rtoslab_timing::cortex_m7::{self as timing, key};
use rules::{Kind, RULES, TIMES, early, is_rotated_constant, uses};
use special::for_each_register;
use stores::{Doublewords, M7StoreBuffer};

/// ACTLR: the branch target address cache is not read.
const DISBTACREAD: u32 = 1 << 13;
/// ACTLR: it takes no new entries.
const DISBTACALLOC: u32 = 1 << 14;
/// ACTLR: one instruction a cycle.
const DISDI: u32 = 1 << 16;

/// The dual-issue pipeline of a Cortex-M7 core.
#[derive(Debug, Clone)]
pub struct M7 {
    /// First issue cycle in which a late and an early input has each core register (see [`rules::Place`]).
    ready: [u64; TIMES],
    /// When the last word was loaded into each core register.
    word_loaded: [u64; 16],
    /// First issue cycle in which the flags can be used.
    flags: u64,
    /// Cycle of the last group, and the first one the next may have.
    group: u64,
    next_group: u64,
    /// The classes that may not join the group. Everything if it is full.
    blocks: u16,
    /// The classes that every instruction blocks: all while dual issue is off.
    always: u16,
    /// The current instruction is in the younger slot.
    younger: bool,
    /// Instructions left in the IT block.
    predicated: u32,
    /// Target of the last taken branch and the count of instructions before it: together with the next branch's place
    /// they tell how many 16-bit opcodes there were in between.
    entered: u32,
    entered_count: u64,
    fetch: Fetch,
    /// Bank and cycle of the last load.
    bank: u32,
    bank_at: u64,
    stores: M7StoreBuffer,
    stored: Doublewords,
    /// Loads of the last trace that were from a cache's memory, each at the bit whose number is how many instructions
    /// were left.
    cached: u32,
    /// The prediction for the current instruction in a replay.
    foreseen: Option<ReplayedTimingLogEntry>,
    /// Address and length of the current branch.
    branch: u32,
    branch_bytes: u32,
    /// When what its condition depends on was ready.
    condition: u64,
    predictor: Predictor,
    work: Work,
    floats: Scoreboard,
    decoded_branch: u64,
    store_to_load: u64,
    /// Most stores between a store and a load that it holds up: two enter in a cycle.
    stores_most: u64,
}

impl Default for M7 {
    /// Returns the pipeline with the default timing rules.
    fn default() -> M7 {
        M7::new(timing::SETTINGS.map(|setting| setting.default))
    }
}

/// Returns whether the instruction's constant goes through the shifter. The constant of MOVW does not, which is
/// recognised by the carry field of a logical operation.
fn is_constant_rotated(op: Op) -> bool {
    is_rotated_constant(op.imm) && (op.code != Code::MovImm || op.shift != 0)
}

impl M7 {
    /// Creates an empty pipeline under the given values of [`timing::SETTINGS`].
    pub fn new(settings: [u64; timing::SETTINGS.len()]) -> M7 {
        M7 {
            ready: [0; TIMES],
            word_loaded: [0; 16],
            flags: 0,
            group: 0,
            next_group: 0,
            blocks: uses::ALL,
            always: 0,
            younger: false,
            predicated: 0,
            entered: 0,
            entered_count: 0,
            fetch: Fetch::new(),
            bank: 0,
            bank_at: 0,
            stores: M7StoreBuffer::new(),
            stored: Doublewords::new(),
            cached: 0,
            foreseen: None,
            branch: 0,
            branch_bytes: 0,
            condition: 0,
            predictor: Predictor::new(),
            work: Work::default(),
            floats: Scoreboard::new(),
            decoded_branch: settings[key::DECODED_BRANCH],
            store_to_load: settings[key::STORE_TO_LOAD],
            stores_most: 2 * settings[key::STORE_TO_LOAD],
        }
    }

    /// Returns the first cycle in which the fetched opcode can issue, and counts the cycles of waiting for memory.
    #[inline(always)]
    fn earliest_issue<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) -> u64 {
        self.fetch.left -= op.halfword_count() as i32;
        if self.fetch.left < 0 {
            self.fetch.fetch_next_doubleword(core, bus);
        }
        core.t.max(self.fetch.ready)
    }

    /// Returns the cycle in which a core register is ready for late inputs.
    fn late_input_ready_cycle(&self, register: usize) -> u64 {
        self.ready[2 * (register & 15)]
    }

    /// Sets the cycle in which a core register is ready for late inputs. It is ready for early inputs one cycle later.
    fn set_late_input_ready_cycle(&mut self, register: usize, late: u64) {
        self.ready[2 * (register & 15)] = late;
        self.ready[2 * (register & 15) + 1] = late + 1;
    }

    /// Issues the current instruction in a slot of the current issue group, if that is possible in cycle `at`, else in
    /// the next group. Returns which [`early`] slot it is.
    #[inline(always)]
    fn issue_in_slot(&mut self, core: &mut Core, at: u64, used: u16, blocks: u16) -> u8 {
        if at == self.group && used & self.blocks == 0 {
            let slot = if self.blocks & uses::SHIFTER_BUSY == 0 { early::YOUNGER } else { 0 };
            self.younger = true;
            self.blocks = uses::ALL;
            core.t = self.next_group;
            slot
        } else {
            self.begin_issue_group(core, at.max(self.next_group), blocks);
            early::OLDER
        }
    }

    /// Opens an issue group for the current instruction, in cycle `at`.
    #[inline(always)]
    fn begin_issue_group(&mut self, core: &mut Core, at: u64, blocks: u16) {
        let blocks = blocks | self.always;
        self.group = at;
        self.next_group = at + 1;
        self.younger = false;
        self.blocks = blocks;
        core.t = if blocks == uses::ALL { at + 1 } else { at };
    }

    /// Delays the current load or store to cycle `at`, in which it can execute.
    #[cold]
    fn delay_access(&mut self, core: &mut Core, op: Op, at: u64) {
        self.begin_issue_group(core, at, RULES[op.code as usize].blocks);
    }

    /// Returns the cycle of a load's second access or a later one.
    #[inline(never)]
    fn cycle_of_further_load_access(&self, core: &Core, kind: Kind, index: u32) -> u64 {
        if !matches!(kind, Kind::Load | Kind::LoadGeneral) {
            // Two words in a cycle. It may have given way between two words: `core.t` is the cycle after the last.
            return core.t - u64::from(!index.is_multiple_of(timing::WORDS_A_CYCLE as u32));
        }
        // The second part of an unaligned load. Further ones come with it.
        match (index, self.younger) {
            (1, true) => self.group + timing::UNALIGNED_LOAD_YOUNGER_CYCLES,
            (1, false) => self.group + timing::UNALIGNED_LOAD_OLDER_CYCLES,
            _ => self.group,
        }
    }

    /// Notes the address of the current branch, and the cycle in which its condition is known.
    #[inline(always)]
    fn note_current_branch(&mut self, core: &Core, op: Op, condition: u64) {
        self.branch = core.address_of_op(core.ip);
        self.branch_bytes = 2 * op.halfword_count() as u32;
        self.condition = condition;
    }

    /// Closes the current issue group. The next one is no earlier than `at`.
    fn end_issue_group(&mut self, at: u64) {
        self.blocks = uses::ALL;
        self.next_group = self.next_group.max(at);
    }

    /// Charges the cycles of a division. Other instructions have charged theirs.
    fn account_division_cycles(&mut self, op: Op, cycles: u64) {
        if op.class != InstructionTimingClass::Divide {
            return;
        }
        let at = self.group + cycles;
        self.end_issue_group(at);
        for_each_register(op.writes, |register| self.set_late_input_ready_cycle(register, at));
    }

    /// Sets `core.t` to the earliest begin of the next instruction.
    #[inline]
    fn advance_to_next_instruction(&self, core: &mut Core) {
        core.t = if self.blocks == uses::ALL { self.next_group } else { self.group };
    }
}

/// Returns the cycles that depend on operands: those of divisions.
fn operand_cycles(op: Op, first: u32, second: u32) -> u64 {
    if op.class != InstructionTimingClass::Divide {
        return 1;
    }
    let magnitude = |value: u32| if op.code == Code::Sdiv { (value as i32).unsigned_abs() } else { value };
    let (dividend, divisor) = (magnitude(first), magnitude(second));
    let bits = match divisor {
        0 => 0,
        _ => (33 - u64::from(dividend.leading_zeros())).saturating_sub(32 - u64::from(divisor.leading_zeros())),
    };
    timing::DIVIDE_BASE_CYCLES + bits / timing::DIVIDE_BITS_A_CYCLE
}

impl Pipeline for M7 {
    const REFILL: u64 = fetch::REFILL;

    /// Waits until the opcode is fetched and decoded and its operands are there: `core.t` becomes its first execute
    /// cycle.
    #[inline(always)]
    fn issue_op<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let rule = &RULES[op.code as usize];
        let mut at = self.earliest_issue(core, bus, op);
        if rule.kind >= Kind::Movt {
            return self.issue_special(core, bus, op, at);
        }
        let (mut used, mut blocks, mut early) = (rule.uses, rule.blocks, rule.early);
        let controls = rule.kind >= Kind::Branch;
        if u32::from(op.flags & flag::READS_FLAGS) | self.predicated != 0 {
            // A conditional branch is predicted.
            at = if controls { at } else { at.max(self.flags) };
            self.predicated = self.predicated.saturating_sub(1);
        }
        if op.imm > 0xFF && early & early::CONSTANT != 0 && is_constant_rotated(op) {
            used |= uses::SHIFTED;
            blocks |= uses::SHIFTED;
            early = 0;
        }
        let newest = self.ready[usize::from(rule.n.index_of_register_ready_time(op.rn))]
            .max(self.ready[usize::from(rule.m.index_of_register_ready_time(op.rm))]);
        let slots = self.issue_in_slot(core, at.max(newest), used, blocks);
        if controls {
            match rule.kind {
                // As many instructions as the mask in ITSTATE says.
                Kind::It => self.predicated = 4 - (op.imm & 0xF).trailing_zeros(),
                Kind::CompareBranch => self.note_current_branch(core, op, newest),
                _ => self.note_current_branch(core, op, self.flags),
            }
            return;
        }
        let at = self.group;
        if op.flags & (flag::SETS | flag::SETS_OUTSIDE_IT) != 0 {
            self.flags = at + u64::from(rule.flags);
        }
        let early = u64::from(newest < at) & u64::from(early & slots != 0);
        let late = at + u64::from(rule.latency) - early;
        let result = rule.d.index_of_register_ready_time(op.rd);
        self.ready[usize::from(result)] = late;
        self.ready[usize::from(result | 1)] = late + u64::from(rule.forward);
    }

    /// Issues and ends an instruction of an IT block whose condition fails.
    fn skip_op<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let rule = &RULES[op.code as usize];
        let at = self
            .earliest_issue(core, bus, op)
            .max(self.flags)
            .max(self.special_instruction_operand_ready_cycle(core, op, rule));
        self.predicated = self.predicated.saturating_sub(1);
        self.issue_in_slot(core, at, rule.uses, rule.blocks);
        let words = match op.class {
            InstructionTimingClass::LoadMultiple
            | InstructionTimingClass::LoadMultiplePc
            | InstructionTimingClass::StoreMultiple => u64::from(op.shift),
            InstructionTimingClass::FloatLoadMultiple | InstructionTimingClass::FloatStoreMultiple => {
                u64::from(op.shift)
            }
            _ => 1,
        };
        if words > timing::WORDS_A_CYCLE {
            self.end_issue_group(self.group + words.div_ceil(timing::WORDS_A_CYCLE));
        }
        if rule.uses & uses::BRANCH != 0 {
            self.end_untaken_branch(core, bus, op);
        } else {
            self.advance_to_next_instruction(core);
        }
    }

    /// Makes one aligned load of an instruction, with its timing. `index` counts the accesses of this instruction from
    /// 0.
    #[inline(always)]
    fn issue_load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        index: u32,
    ) -> Result<u32, Fault> {
        let kind = RULES[op.code as usize].kind;
        let mut at = self.group;
        if index == 0 {
            if self.younger && self.bank == address >> 2 & 1 && self.bank_at == at {
                at = self.next_group;
            }
            let ago = self.foreseen.map_or_else(
                || self.stored.stores_since_store_to_doubleword(address, stores::TIMES),
                |foreseen| foreseen.ago,
            );
            at = at.max(self.stores.first_load_cycle(ago, self.store_to_load));
            if address >> 29 == 2 {
                // Peripherals see accesses in order.
                at = at.max(self.stores.store_buffer_empty_cycle());
            }
        } else {
            at = self.cycle_of_further_load_access(core, kind, index);
        }
        let loaded = bus.load_data(core, address, bytes, at)?;
        core.bus_wait += loaded.wait;
        at += loaded.wait;
        if at != self.group {
            self.delay_access(core, op, at);
        }
        self.bank = address >> 2 & 1;
        self.bank_at = at;
        if matches!(kind, Kind::Load | Kind::LoadGeneral) {
            let word = bytes == 4 || index != 0;
            let latency = if word { timing::LOAD_LATENCY } else { timing::LOAD_NARROW_LATENCY };
            self.set_late_input_ready_cycle(usize::from(op.rd), at + latency);
            if word {
                self.word_loaded[usize::from(op.rd & 15)] = at;
            }
        } else if kind == Kind::Float {
            self.floats.record_issue_of_float_instruction(&self.work, at);
        }
        Ok(loaded.value)
    }

    /// Makes one aligned store of an instruction, with its timing. `index` counts the accesses of this instruction from
    /// 0.
    #[inline]
    fn issue_store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        value: u32,
        index: u32,
    ) -> Result<(), Fault> {
        let mut at = self.group;
        let several = RULES[op.code as usize].uses & uses::ALONE != 0;
        if index == 0 {
            at = self.stores.first_cycle_accepting_store(at);
            core.bus_wait += at - self.group;
        } else if several {
            // Two words in a cycle, if they are of one doubleword.
            at = self.stores.first_cycle_accepting_store(core.t - u64::from(address & 4 != 0));
        }
        let wait = bus.store_data(core, address, bytes, value, at)?;
        if at != self.group {
            self.delay_access(core, op, at);
        }
        let cycles = match bytes {
            4 => 1,
            // The parts of an unaligned store leave together.
            _ if index > 0 => 0,
            _ => timing::STORE_NARROW_CYCLES,
        };
        if cycles != 0 {
            self.stores.enqueue_store(at, address, cycles, wait);
            if self.foreseen.is_none() {
                self.stored.record_store(address);
            }
        }
        Ok(())
    }

    /// Ends an instruction that does not branch. A division ends the group of instructions that issue together.
    #[inline(always)]
    fn finish_op(&mut self, core: &mut Core, op: Op) {
        if op.class == InstructionTimingClass::Divide {
            self.advance_to_next_instruction(core);
        }
    }

    /// Ends a conditional branch that was not taken. The fetch of its target may have been useless.
    fn end_untaken_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        self.time_untaken_branch(core, bus, op);
    }

    /// Ends a branch that goes to `target`, and charges the refill.
    fn take_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, jump: Jump, target: u32) {
        self.time_taken_branch(core, bus, op, jump, target);
    }

    /// Returns the cycles that a division or a long multiplication will take with these operands, or the most that
    /// another class takes.
    fn operation_cycles(&mut self, op: Op, first: u32, second: u32) -> u64 {
        let cycles = operand_cycles(op, first, second);
        self.account_division_cycles(op, cycles);
        cycles
    }

    /// Empties the pipeline: after reset, exception entry and return, or when a debugger moves execution. The next
    /// instruction is fetched from `target` with its address phase in cycle `at`.
    fn empty_pipeline<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, at: u64) {
        self.group = at.saturating_sub(1);
        self.next_group = at;
        self.blocks = uses::ALL;
        (self.entered, self.entered_count) = (target, core.instructions);
        self.predicated = 0;
        self.always = if core.scb.actlr & DISDI != 0 { uses::ALL } else { 0 };
        self.fetch.restart_fetch_queue_at_target(target, at);
        bus.redirect_prefetch(core, target, at);
        core.t = at;
        core.executes_from = at + Self::REFILL;
    }
}
