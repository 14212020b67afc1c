//! The Cortex-M7: in order, two instructions a cycle. Rules and their sources are in [`rtoslab_timing::cortex_m7`].
//!
//! Instructions issue in groups of one or two, an older and a younger slot. An instruction joins the group at hand if
//! [`rules`] lets the two meet and its operands are there in that cycle; else it opens the next group. Of each core
//! register the pipeline keeps the first cycle in which the *late* ALU input of an issuing instruction can have it;
//! *early* inputs (addresses, shifted operands) have it one cycle later. Loads know only when they execute whether
//! their bank is free, and then still move to the next group.

mod fetch;
mod float;
mod predict;
mod rules;
mod stores;
#[cfg(test)]
mod tests;

use super::super::bus::Bus;
use super::super::code::number as code;
use super::super::core::Core;
use super::super::fault::Fault;
use super::super::op::{Class, Op, flag};
use super::{Jump, Pipeline};
use fetch::Fetch;
use float::{Scoreboard, Work};
use predict::Predictor;
use rtoslab_timing::cortex_m7::{self as timing, key};
use rules::{Kind, RULES, Rule, early, is_rotated, uses};
use stores::Stores;

/// ACTLR: the branch target address cache is not read.
const DISBTACREAD: u32 = 1 << 13;
/// ACTLR: it takes no new entries.
const DISBTACALLOC: u32 = 1 << 14;
/// ACTLR: one instruction a cycle.
const DISDI: u32 = 1 << 16;
/// No load in the older slot.
const NO_BANK: u32 = 2;

/// The pipeline.
#[derive(Debug, Clone)]
pub struct M7 {
    /// First issue cycle in which a late input has each core register.
    late: [u64; 16],
    /// Registers that early inputs have two cycles after that, not one.
    slow: u16,
    /// Registers whose last writer was a word load.
    loaded: u16,
    /// First issue cycle in which the flags can be used.
    flags: u64,
    /// Cycle of the last group, and the first one the next may have.
    group: u64,
    next_group: u64,
    /// What may not join the group; everything if it is full.
    blocks: u16,
    older_uses: u16,
    /// The instruction at hand is in the younger slot.
    younger: bool,
    /// What it blocks, should it move to a group of its own.
    own_blocks: u16,
    /// Bank the older slot loads from.
    bank: u32,
    /// Address and length of the branch at hand.
    branch: u32,
    branch_bytes: u32,
    /// When what its condition depends on was ready.
    condition: u64,
    /// Instructions left in the IT block.
    predicated: u32,
    /// 16-bit opcodes since the last taken branch.
    narrow: u32,
    work: Work,
    fetch: Fetch,
    predictor: Predictor,
    stores: Stores,
    floats: Scoreboard,
    decoded_branch: u64,
    store_to_load: u64,
}

impl Default for M7 {
    fn default() -> M7 {
        M7::new(timing::SETTINGS.map(|setting| setting.default))
    }
}

/// Iterates the registers of a set.
fn each(mut set: u16, mut act: impl FnMut(usize)) {
    while set != 0 {
        act(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

const fn bit(register: u8) -> u16 {
    1 << (register & 15)
}

impl M7 {
    /// A pipeline under the given values of [`timing::SETTINGS`].
    pub fn new(settings: [u64; timing::SETTINGS.len()]) -> M7 {
        M7 {
            late: [0; 16],
            slow: 0,
            loaded: 0,
            flags: 0,
            group: 0,
            next_group: 0,
            blocks: uses::ALL,
            older_uses: 0,
            younger: false,
            own_blocks: uses::ALL,
            bank: NO_BANK,
            branch: 0,
            branch_bytes: 0,
            condition: 0,
            predicated: 0,
            narrow: 0,
            work: Work::default(),
            fetch: Fetch::new(),
            predictor: Predictor::new(),
            stores: Stores::new(),
            floats: Scoreboard::new(),
            decoded_branch: settings[key::DECODED_BRANCH],
            store_to_load: settings[key::STORE_TO_LOAD],
        }
    }

    /// Forgets all branch predictions (BPIALL).
    pub fn forget_predictions(&mut self) {
        self.predictor.forget();
    }

    /// Fetch: the first cycle in which the opcode can issue, counting what memory is to blame for.
    #[inline]
    fn fetched<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) -> u64 {
        let halfwords = 1 + u32::from(op.flags & flag::WIDE);
        self.narrow += 2 - halfwords;
        if self.fetch.left < halfwords {
            self.fetch.more(core, bus);
            if self.fetch.ready > core.t {
                core.flash_wait += (self.fetch.ready - core.t).min(self.fetch.waited);
            }
        }
        self.fetch.left -= halfwords;
        core.t.max(self.fetch.ready)
    }

    /// Operands read early or late: the first cycle in which all are there, and the last of their late times.
    #[inline]
    fn operands(&self, op: Op, rule: &Rule) -> (u64, u64) {
        let (mut reads, mut plus, mut minus) = (op.reads, 0, 0);
        match rule.kind {
            Kind::Load | Kind::LoadMultiple => plus = reads,
            // A store reads its data last, when any result is there.
            Kind::Store | Kind::StoreMultiple => {
                let index = if op.flags & flag::REGISTER_OFFSET != 0 { bit(op.rm) } else { 0 };
                reads &= bit(op.rn) | index;
                plus = reads;
            }
            // Multiplicands have a loaded word one cycle later, accumulators everything one earlier.
            Kind::Multiply => {
                let multiplicands = bit(op.rn) | bit(op.rm);
                plus = self.loaded & multiplicands;
                minus = reads & !multiplicands;
            }
            _ if rule.early != early::NONE => {
                plus = if rule.early & early::N != 0 { bit(op.rn) } else { 0 };
                plus |= if rule.early & early::M != 0 { bit(op.rm) } else { 0 };
            }
            _ => {}
        }
        let slow = plus & self.slow;
        let (mut need, mut newest) = (1, 0);
        each(reads, |register| {
            let of = |set: u16| u64::from(set >> register & 1);
            let late = self.late[register];
            newest = newest.max(late);
            need = need.max(late + 1 + of(plus) + of(slow) - of(minus));
        });
        (need - 1, newest)
    }

    /// Finds the instruction its group; returns its rule and the last late time of its operands.
    #[inline]
    fn start<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) -> (Rule, u64) {
        let mut rule = RULES[op.code as usize];
        let mut at = self.fetched(core, bus, op);
        if matches!(rule.kind, Kind::Constant | Kind::AddConstant) && op.imm > 0xFF && is_rotated(op.imm) {
            // MOVW's constant is not expanded: the carry field of a logical operation tells.
            if op.code != code::MovImm || op.shift != 0 {
                rule.shifted();
            }
        }
        let (need, newest) = self.operands(op, &rule);
        at = at.max(need);
        let branches = rule.uses & uses::BRANCH != 0;
        if !branches && (op.flags & flag::READS_FLAGS != 0 || self.predicated != 0) {
            at = at.max(self.flags);
        }
        // As many instructions as the mask in ITSTATE says, after IT itself.
        self.predicated = match op.class {
            Class::It => 4 - (op.imm & 0xF).trailing_zeros(),
            _ => self.predicated.saturating_sub(1),
        };
        let mut older = false;
        if rule.kind == Kind::Float {
            self.work = float::work(op);
            (at, older) = self.floats.earliest(&self.work, at);
        } else if op.class == Class::Barrier {
            at = at.max(self.stores.drained());
        }
        if branches {
            self.branch = core.address_of(core.ip);
            self.branch_bytes = 2 + 2 * u32::from(op.flags & flag::WIDE);
            self.condition = if rule.kind == Kind::CompareBranch { newest } else { self.flags };
        }
        self.younger = at == self.group && rule.uses & self.blocks == 0 && !older;
        self.own_blocks = if core.scb.actlr & DISDI != 0 { uses::ALL } else { rule.blocks };
        if self.younger {
            self.blocks = uses::ALL;
        } else {
            self.open(at.max(self.next_group), rule.uses);
        }
        core.t = self.group;
        (rule, newest)
    }

    /// A group of its own for the instruction at hand, in cycle `at`.
    #[inline]
    fn open(&mut self, at: u64, used: u16) {
        self.group = at;
        self.next_group = at + 1;
        self.younger = false;
        self.blocks = self.own_blocks;
        self.older_uses = used;
        self.bank = NO_BANK;
    }

    /// The instruction at hand turns out to execute in cycle `at` only.
    #[inline]
    fn delay(&mut self, core: &mut Core, at: u64) {
        if at > self.group {
            core.bus_wait += at - core.t;
            let bank = self.bank;
            self.open(at, self.older_uses);
            self.bank = bank;
        }
        core.t = at;
    }

    /// Nothing joins the group; the next one is no earlier than `at`.
    #[inline]
    fn close(&mut self, at: u64) {
        self.blocks = uses::ALL;
        self.next_group = self.next_group.max(at);
    }

    /// Enters what the instruction writes, loaded values excepted.
    #[inline]
    fn results(&mut self, op: Op, rule: &Rule, newest: u64) {
        let at = self.group;
        let early_inputs = newest < at;
        let mut latency = u64::from(rule.latency);
        self.slow &= !op.writes;
        self.loaded &= !op.writes;
        match rule.kind {
            Kind::Add | Kind::AddConstant => {
                let early = early_inputs && !self.younger && rule.uses & uses::SHIFTED == 0;
                latency = u64::from(!early);
            }
            Kind::Shift => {
                let free = !self.younger || self.older_uses & (uses::SHIFTED | uses::SHIFTER) == 0;
                latency = u64::from(!(early_inputs && free));
            }
            Kind::Reverse => {
                latency = 0;
                self.slow |= op.writes;
            }
            // The address unit writes the base back; loaded values come with the load.
            Kind::Load | Kind::Store => latency = 0,
            Kind::StoreMultiple => {
                latency = if op.class == Class::StoreExclusive { timing::LOAD_NARROW_LATENCY } else { 0 }
            }
            Kind::LoadMultiple => return self.several_loaded(op),
            Kind::Slow => self.close(at + latency),
            Kind::Float => return self.float_results(op),
            _ => {}
        }
        each(op.writes, |register| self.late[register] = at + latency);
        if op.flags & (flag::SETS | flag::SETS_OUTSIDE_IT) != 0 {
            let compares_shifted = rule.uses & uses::SHIFTED != 0 && op.writes == 0 && op.flags & flag::SHIFTED != 0;
            let late = if compares_shifted { timing::COMPARE_SHIFTED_LATENCY } else { timing::ALU_LATENCY };
            self.flags = at + late;
        }
    }

    /// LDM, LDRD: all but the registers of the last cycle are there when the next group can be.
    fn several_loaded(&mut self, op: Op) {
        let words = if op.code == code::Ldrd { 2 } else { u64::from(op.shift.max(1)) };
        let last = self.group + (words - 1) / timing::WORDS_A_CYCLE;
        each(op.writes, |register| self.late[register] = last);
        if op.code == code::Ldrd {
            (self.late[usize::from(op.rd & 15)], self.late[usize::from(op.ra & 15)]) = (last + 1, last + 1);
        } else if let Some(highest) = (op.imm as u16).checked_ilog2() {
            self.late[highest as usize] = last + 1;
            if let Some(next) = (op.imm as u16 & !(1 << highest)).checked_ilog2() {
                self.late[next as usize] = last + 1;
            }
        }
        if op.flags & (flag::PRE_INDEXED | flag::POST_INDEXED) != 0 {
            self.late[usize::from(op.rn & 15)] = self.group;
        }
    }

    fn float_results(&mut self, op: Op) {
        let at = self.group;
        self.floats.issue(&self.work, at);
        if self.work.occupies > 1 {
            self.next_group = self.next_group.max(at + self.work.occupies);
        }
        each(op.writes, |register| self.late[register] = at + timing::ALU_LATENCY);
        if op.flags & flag::SETS != 0 {
            self.flags = at + timing::ALU_LATENCY;
        }
    }

    /// Where the instruction after the one at hand can begin.
    #[inline]
    fn end(&self, core: &mut Core) {
        core.t = if self.blocks == uses::ALL { self.next_group } else { self.group };
    }

    /// Cycles a mispredicted branch loses.
    fn mispredict_cycles(&self, conditional: bool) -> u64 {
        let early = self.condition + timing::EARLY_FLAGS_DISTANCE_CYCLES <= self.group + timing::ALU_LATENCY;
        if conditional && early { timing::MISPREDICT_EARLY_FLAGS_CYCLES } else { timing::MISPREDICT_CYCLES }
    }

    /// Starts again at `target` after `lost` cycles.
    fn resume<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, lost: u64) {
        let at = self.next_group + lost;
        self.close(at);
        self.fetch.restart(target, at - fetch::REFILL.min(at));
        bus.redirect(core, target, at - fetch::REFILL.min(at));
        core.t = at;
    }

    /// Where the branch at hand is predicted to go.
    fn predicted(&mut self, core: &Core) -> Option<u32> {
        if core.scb.actlr & DISBTACREAD != 0 { None } else { self.predictor.predicted(self.branch) }
    }

    /// Static prediction, when the branch target cache is off: backward branches are taken.
    fn statically_taken(core: &Core, op: Op) -> bool {
        core.scb.actlr & DISBTACREAD != 0 && op.class == Class::BranchConditional && (op.imm as i32) < 0
    }
}

impl Pipeline for M7 {
    const REFILL: u64 = fetch::REFILL;

    #[inline]
    fn issue<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let (rule, newest) = self.start(core, bus, op);
        self.results(op, &rule, newest);
        if op.code == code::Barrier && op.ra == 6 {
            // ISB: what follows is fetched again.
            let next = core.address_of(core.ip).wrapping_add(4);
            let at = self.next_group;
            self.fetch.restart(next, at);
            bus.redirect(core, next, at);
        }
    }

    fn skip<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let (rule, _) = self.start(core, bus, op);
        let words = match op.class {
            Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => u64::from(op.shift),
            Class::FloatLoadMultiple | Class::FloatStoreMultiple => u64::from(op.shift),
            _ => 1,
        };
        if words > timing::WORDS_A_CYCLE {
            self.close(self.group + words.div_ceil(timing::WORDS_A_CYCLE));
        }
        if rule.uses & uses::BRANCH != 0 {
            self.not_taken(core, bus, op);
        } else {
            self.end(core);
        }
    }

    #[inline]
    fn load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        index: u32,
    ) -> Result<u32, Fault> {
        let kind = RULES[op.code as usize].kind;
        let mut at = core.t;
        if index == 0 {
            let bank = address >> 2 & 1;
            if self.younger && self.bank == bank {
                at = self.next_group;
            }
            self.bank = bank;
            if let Some(stored) = self.stores.stored_at(address) {
                at = at.max(stored + self.store_to_load);
            }
            if address >> 29 == 2 {
                // Peripherals see accesses in order.
                at = at.max(self.stores.drained());
            }
        } else if kind == Kind::Load {
            // The second part of an unaligned load; further ones come with it.
            let extra = match self.younger {
                true => timing::UNALIGNED_LOAD_YOUNGER_CYCLES,
                false => timing::UNALIGNED_LOAD_OLDER_CYCLES,
            };
            at += if index == 1 { extra } else { 0 };
        } else {
            at += u64::from(index.is_multiple_of(timing::WORDS_A_CYCLE as u32));
        }
        let loaded = bus.load(core, address, bytes, at)?;
        if loaded.wait != 0 || at != core.t {
            self.delay(core, at + loaded.wait);
        }
        let at = core.t;
        match kind {
            Kind::Load => {
                let register = usize::from(op.rd & 15);
                let narrow = bytes < 4 && index == 0;
                self.late[register] = at + if narrow { timing::LOAD_NARROW_LATENCY } else { timing::LOAD_LATENCY };
                if !narrow {
                    self.loaded |= bit(op.rd);
                }
            }
            Kind::Float => self.floats.issue(&self.work, at),
            _ => {}
        }
        Ok(loaded.value)
    }

    #[inline]
    fn store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        value: u32,
        index: u32,
    ) -> Result<(), Fault> {
        let mut at = core.t;
        let several = RULES[op.code as usize].uses & uses::ALONE != 0;
        if index == 0 {
            at = self.stores.room(at);
        } else if several && address & 4 == 0 {
            // Two words in a cycle, if they are of one doubleword.
            at = self.stores.room(at + 1);
        }
        let wait = bus.store(core, address, bytes, value, at)?;
        if at != core.t {
            self.delay(core, at);
        }
        let cycles = match bytes {
            4 => 1,
            // The parts of an unaligned store leave together.
            _ if index > 0 => 0,
            _ => timing::STORE_NARROW_CYCLES,
        };
        if cycles != 0 {
            self.stores.push(at, address, cycles, wait);
        }
        Ok(())
    }

    #[inline]
    fn finish(&mut self, core: &mut Core, _: Op) {
        self.end(core);
    }

    fn not_taken<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let taken = self.predicted(core).is_some() || M7::statically_taken(core, op);
        self.predictor.learn_not_taken(self.branch);
        if taken {
            let next = self.branch.wrapping_add(self.branch_bytes);
            self.resume(core, bus, next, self.mispredict_cycles(true));
        } else {
            self.end(core);
        }
    }

    fn taken<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, jump: Jump, target: u32) {
        let right = self.predicted(core) == Some(target);
        self.predictor.learn_taken(self.branch, target, core.scb.actlr & DISBTACALLOC == 0);
        let narrow = std::mem::take(&mut self.narrow);
        if right {
            self.fetch.follow(target);
            bus.redirect(core, target, core.t);
            if self.younger || narrow < timing::FOLD_NARROW_OPCODES || jump == Jump::Loaded {
                self.close(self.group + 1);
            }
            self.end(core);
            return;
        }
        let lost = match jump {
            Jump::Immediate => self.decoded_branch,
            Jump::Conditional if M7::statically_taken(core, op) => self.decoded_branch,
            Jump::Conditional => self.mispredict_cycles(true),
            Jump::Register | Jump::Loaded => timing::MISPREDICT_CYCLES,
        };
        self.resume(core, bus, target, lost);
    }

    fn cycles(&mut self, op: Op, first: u32, second: u32) -> u64 {
        if op.class != Class::Divide {
            return 1;
        }
        let magnitude = |value: u32| if op.code == code::Sdiv { (value as i32).unsigned_abs() } else { value };
        let (dividend, divisor) = (magnitude(first), magnitude(second));
        let bits = match divisor {
            0 => 0,
            _ => (33 - u64::from(dividend.leading_zeros())).saturating_sub(32 - u64::from(divisor.leading_zeros())),
        };
        let cycles = timing::DIVIDE_BASE_CYCLES + bits / timing::DIVIDE_BITS_A_CYCLE;
        let at = self.group + cycles;
        self.close(at);
        each(op.writes, |register| self.late[register] = at);
        cycles
    }

    fn flush<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, at: u64) {
        self.group = at.saturating_sub(1);
        self.next_group = at;
        self.blocks = uses::ALL;
        self.narrow = 0;
        self.predicated = 0;
        self.fetch.restart(target, at);
        bus.redirect(core, target, at);
        core.t = at;
    }
}
