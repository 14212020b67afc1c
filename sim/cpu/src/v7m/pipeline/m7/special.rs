//! Instructions that the issue logic treats apart: multiplications, multiple transfers, write-back, branches, floating
//! point, what issues alone.

use super::super::super::bus::Bus;
use super::super::super::code::Code;
use super::super::super::core::Core;
use super::super::super::op::{InstructionTimingClass, Op, flag};
use super::rules::{Kind, M7TimingRule, RULES, uses};
use super::{DISDI, M7, float};
use rtoslab_timing::cortex_m7 as timing;

/// Calls `act` with each register of a set.
pub(super) fn for_each_register(mut set: u16, mut act: impl FnMut(usize)) {
    while set != 0 {
        act(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

/// Returns the bit of a register in a set of registers.
const fn register_bit(register: u8) -> u16 {
    1 << (register & 15)
}

impl M7 {
    /// Returns the latest late and early time of a set of registers.
    fn latest_register_ready_times(&self, set: u16) -> (u64, u64) {
        let (mut late, mut early) = (0, 0);
        for_each_register(set, |register| {
            late = late.max(self.ready[2 * register]);
            early = early.max(self.ready[2 * register + 1]);
        });
        (late, early)
    }

    /// Returns the cycle in which the operands of an instruction of a special kind, besides its `n` and `m`, are ready.
    pub(super) fn special_instruction_operand_ready_cycle(&mut self, core: &Core, op: Op, rule: &M7TimingRule) -> u64 {
        let all = self.latest_register_ready_times(op.reads);
        if rule.uses & uses::BRANCH != 0 {
            self.note_current_branch(core, op, self.flags);
        }
        match rule.kind {
            Kind::LoadGeneral | Kind::LoadMultiple => all.1,
            // A store reads its data last, when any result is there.
            Kind::StoreGeneral | Kind::StoreMultiple => {
                let index = if op.flags & flag::REGISTER_OFFSET != 0 { register_bit(op.rm) } else { 0 };
                self.latest_register_ready_times(op.reads & (register_bit(op.rn) | index)).1
            }
            // Multiplicands have a loaded word one cycle later, accumulators everything one earlier.
            Kind::Multiply => {
                let multiplicands = register_bit(op.rn) | register_bit(op.rm);
                let mut need = self.latest_register_ready_times(op.reads & !multiplicands).0.saturating_sub(1);
                for_each_register(multiplicands, |register| {
                    let late = self.late_input_ready_cycle(register);
                    need = need.max(late + u64::from(late == self.word_loaded[register] + timing::LOAD_LATENCY));
                });
                need
            }
            Kind::Slow if op.class == InstructionTimingClass::Barrier => {
                all.0.max(self.stores.store_buffer_empty_cycle())
            }
            Kind::Movt => self.late_input_ready_cycle(usize::from(op.rd)),
            _ => all.0,
        }
    }

    /// Issues an instruction of a special kind, which is fetched in cycle `fetched`.
    #[inline(never)]
    pub(super) fn issue_special<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, fetched: u64) {
        let rule = &RULES[op.code as usize];
        let mut used = rule.uses;
        let mut at = fetched.max(self.special_instruction_operand_ready_cycle(core, op, rule));
        if u32::from(op.flags & flag::READS_FLAGS) | self.predicated != 0 {
            at = at.max(self.flags);
            self.predicated = self.predicated.saturating_sub(1);
        }
        at = at
            .max(self.ready[usize::from(rule.n.index_of_register_ready_time(op.rn))])
            .max(self.ready[usize::from(rule.m.index_of_register_ready_time(op.rm))]);
        if rule.kind == Kind::Float {
            self.work = float::timing_of_float_instruction(op);
            let (need, older) = self.floats.earliest_issue(&self.work, at);
            at = need;
            used |= if older { uses::OLDER } else { 0 };
        }
        self.issue_in_slot(core, at, used, rule.blocks);
        if op.flags & (flag::SETS | flag::SETS_OUTSIDE_IT) != 0 {
            self.flags = self.group + u64::from(rule.flags);
        }
        self.set_special_instruction_result_cycles(op, rule);
        self.advance_to_next_instruction(core);
        if rule.kind == Kind::Divide {
            // Its cycles count from here.
            core.t = self.group;
        } else if op.code == Code::Barrier {
            self.apply_barrier_timing(core, bus, op);
        }
    }

    /// Sets when the results of an instruction of a special kind are ready, loaded values excepted.
    fn set_special_instruction_result_cycles(&mut self, op: Op, rule: &M7TimingRule) {
        let at = self.group;
        let latency = match rule.kind {
            // The address unit writes the base back. Loaded values come with the load.
            Kind::LoadGeneral | Kind::StoreGeneral => 0,
            Kind::StoreMultiple if op.class == InstructionTimingClass::StoreExclusive => timing::LOAD_NARROW_LATENCY,
            Kind::StoreMultiple => 0,
            Kind::LoadMultiple => return self.set_loaded_registers_ready(op),
            Kind::Float => return self.set_float_results_ready(op),
            Kind::Slow => {
                self.end_issue_group(at + u64::from(rule.latency));
                u64::from(rule.latency)
            }
            _ => u64::from(rule.latency),
        };
        for_each_register(op.writes, |register| self.set_late_input_ready_cycle(register, at + latency));
    }

    /// Sets when the registers that LDM or LDRD loads are ready: in the load's last cycle. Those that it loads in that
    /// cycle are ready one cycle later.
    fn set_loaded_registers_ready(&mut self, op: Op) {
        let words = if op.code == Code::Ldrd { 2 } else { u64::from(op.shift.max(1)) };
        let last = self.group + (words - 1) / timing::WORDS_A_CYCLE;
        for_each_register(op.writes, |register| self.set_late_input_ready_cycle(register, last));
        if op.code == Code::Ldrd {
            self.set_late_input_ready_cycle(usize::from(op.rd), last + 1);
            self.set_late_input_ready_cycle(usize::from(op.ra), last + 1);
        } else if let Some(highest) = (op.imm as u16).checked_ilog2() {
            self.set_late_input_ready_cycle(highest as usize, last + 1);
            if let Some(next) = (op.imm as u16 & !(1 << highest)).checked_ilog2() {
                self.set_late_input_ready_cycle(next as usize, last + 1);
            }
        }
        if op.flags & (flag::PRE_INDEXED | flag::POST_INDEXED) != 0 {
            self.set_late_input_ready_cycle(usize::from(op.rn), self.group);
        }
    }

    /// Sets when the core registers that a floating-point instruction writes are ready.
    fn set_float_results_ready(&mut self, op: Op) {
        let at = self.group;
        self.floats.record_issue_of_float_instruction(&self.work, at);
        if self.work.occupies > 1 {
            self.next_group = self.next_group.max(at + self.work.occupies);
        }
        for_each_register(op.writes, |register| self.set_late_input_ready_cycle(register, at + timing::ALU_LATENCY));
    }

    /// Executes a barrier's timing: DSB and DMB have waited for the store buffer. After an ISB everything is fetched
    /// again.
    fn apply_barrier_timing<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        self.always = if core.scb.actlr & DISDI != 0 { uses::ALL } else { 0 };
        if op.ra == 6 {
            let next = core.address_of_op(core.ip).wrapping_add(4);
            let at = self.next_group;
            self.fetch.restart_fetch_queue_at_target(next, at);
            bus.redirect_prefetch(core, next, at);
        }
    }
}
