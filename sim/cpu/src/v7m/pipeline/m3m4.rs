//! The three-stage pipeline of the Cortex-M3 and Cortex-M4.
//!
//! Instructions execute in order, one at a time. `core.t` between instructions is the cycle in which the next one can
//! execute. The overlap by a neighbour (the data phase of a load or store) is taken back when the neighbour is issued.
//! The fetch side is [`super::fetch`]. Tables and operand-dependent cycles are [`super::lane`] and
//! [`super::operands`]. Constants with their sources are in `rtoslab_timing::cortex_m3` and `cortex_m4`.

use super::super::bus::Bus;
use super::super::code::Code;
use super::super::core::Core;
use super::super::fault::Fault;
use super::super::op::{InstructionTimingClass, Op, flag};
use super::fetch::Prefetch;
use super::float_unit::FloatUnit;
use super::lane::{self, InstructionTimingRule};
use super::{Jump, Pipeline};
use crate::v7m::timing_cache::CacheableTiming;
use rtoslab_timing::cortex_m3::{self as rules, key};
use rtoslab_timing::cortex_m4;

/// The Cortex-M3's pipeline.
pub type CortexM3 = ThreeStagePipeline<false>;
/// The Cortex-M4's pipeline.
pub type CortexM4 = ThreeStagePipeline<true>;

/// The timing state that an instruction leaves for the next one, in one word so that most leave it with one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(C, align(8))]
pub(super) struct PrecedingInstructionTiming {
    tail: UnfinishedInstructionPhase,
    /// It was a 16-bit one: an IT after it folds.
    folds: bool,
    /// It ends a row of so many 32-bit loads at odd halfwords. Two stand for more.
    odd_loads: u8,
    /// Registers that it loaded, or bases it wrote back in doing so: an address made of them cannot overlap it.
    loaded: u16,
    /// Registers that it computed: as part of an address they cost a cycle.
    computed: u16,
}

/// The unfinished part of the instruction before the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
enum UnfinishedInstructionPhase {
    /// Nothing.
    #[default]
    None,
    /// The data phase of a load: a load, a store or a NOP fits in.
    Load,
    /// The second cycle of a store with register offset: only a NOP fits in.
    Store,
    /// The base of a load or store multiple, which it wrote back (the M4 alone): `computed` names it.
    Base,
}

/// The three-stage pipeline of one M3 or M4 core. `M4` is false for the M3.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreeStagePipeline<const M4: bool> {
    pub(super) fetch: Prefetch,
    pub(super) float: FloatUnit,
    pub(super) wake: PrecedingInstructionTiming,
    /// The current instruction was issued into the tail of a load, which would have ended here. 0 otherwise.
    overlapped_until: u64,
    /// The current instruction is a load that overlaps none before it, and does not delay fetches for this reason (the
    /// M3, where fetches can wait).
    alone: bool,
    /// Memory block of the last load or store.
    pub(super) last_block: u8,
    /// Cycle of the data phase of the last store's end: a store's address phase can coincide with it, a load's not.
    pub(super) store_ends: u64,
    /// Cycles of the current instruction if they depend on its operands or on the fetch.
    pub(super) busy: u64,
    settings: [u64; rules::SETTINGS_COUNT],
}

impl<const M4: bool> ThreeStagePipeline<M4> {
    const LANES: [(InstructionTimingRule, u8); lane::CLASSES] = if M4 { lane::M4 } else { lane::M3 };
    const PLAIN: u64 = lane::single_cycle_classes(&Self::LANES);

    /// Creates an empty pipeline under the given values of its timing rules, by [`key`].
    pub fn new(settings: [u64; rules::SETTINGS_COUNT]) -> ThreeStagePipeline<M4> {
        let fetch = Prefetch::new(settings[key::SYSTEM_FETCH], !M4);
        ThreeStagePipeline { fetch, settings, ..ThreeStagePipeline::default() }
    }

    /// Creates an empty pipeline under the default timing rules.
    pub fn with_default_timing_rules() -> ThreeStagePipeline<M4> {
        ThreeStagePipeline::new(rules::SETTINGS.map(|setting| setting.default))
    }

    /// Returns an instruction's timing rules and cycles.
    #[inline(always)]
    fn instruction_timing_rules(op: Op) -> (InstructionTimingRule, u64) {
        let (lane, cycles) = Self::LANES[op.class as usize];
        (lane, u64::from(cycles))
    }

    /// Returns the cycles of an instruction by the manual's table alone.
    pub(super) fn reference_manual_instruction_cycles(op: Op) -> u64 {
        Self::instruction_timing_rules(op).1
    }

    /// Returns whether an instruction loads one register and has a 32-bit opcode.
    #[inline(always)]
    fn is_wide_load(op: Op) -> bool {
        op.has_flag(flag::WIDE) && Self::instruction_timing_rules(op).0 == InstructionTimingRule::Load
    }

    /// Returns the set of registers from which the address of an access is made.
    #[inline(always)]
    fn registers_of_access_address(op: Op, lane: InstructionTimingRule) -> u16 {
        match lane {
            InstructionTimingRule::Load => op.reads,
            _ => {
                let index = op.has_flag(flag::REGISTER_OFFSET) || op.class == InstructionTimingClass::TableBranch;
                (1 << (op.rn & 15)) & 0x7fff | if index { 1 << (op.rm & 15) } else { 0 }
            }
        }
    }

    /// Returns whether a load or store fits into the data phase of the load before it.
    #[inline(always)]
    fn fits_previous_load_data_phase(&self, op: Op, address: u16) -> bool {
        let indexed = op.has_flag(flag::PRE_INDEXED | flag::POST_INDEXED);
        // The third of a row of 32-bit loads at odd halfwords, and those after it, overlap nothing.
        let late = self.wake.odd_loads == 2 && Self::is_wide_load(op);
        self.wake.tail == UnfinishedInstructionPhase::Load
            && !late
            && address & self.wake.loaded == 0
            && (M4 || !indexed)
    }

    /// Returns the first cycle in which a memory access can be issued. Sets `overlapped_until`.
    #[inline(always)]
    fn first_memory_access_cycle(&mut self, core: &Core, op: Op, lane: InstructionTimingRule) -> u64 {
        let address = Self::registers_of_access_address(op, lane);
        let mut from = core.t;
        self.overlapped_until = 0;
        match lane {
            InstructionTimingRule::Load | InstructionTimingRule::Store
                if self.fits_previous_load_data_phase(op, address) =>
            {
                self.overlapped_until = core.t;
                self.fetch.delay_fetches(0, 0);
                from -= 1;
            }
            _ => {}
        }
        from = match lane {
            InstructionTimingRule::Load | InstructionTimingRule::LoadBlock => from.max(self.store_ends + 1),
            _ => from.max(self.store_ends),
        };
        if address & self.wake.computed == 0 {
            return from;
        }
        match self.wake.tail {
            UnfinishedInstructionPhase::Base => from + cortex_m4::WRITTEN_BACK_BASE_CYCLES,
            _ => from.max(core.t + 1),
        }
    }

    /// Returns whether a branch puts its target's address out while it is decoded.
    #[inline(always)]
    fn is_branch_resolved_early(&self, op: Op, jump: Jump) -> bool {
        const LR: u16 = 1 << 14;
        match jump {
            Jump::Immediate => true,
            Jump::Conditional => op.class != InstructionTimingClass::CompareBranch,
            Jump::Register => {
                op.rm == 14 && op.code != Code::AddPc && (self.wake.computed | self.wake.loaded) & LR == 0
            }
            Jump::Loaded => false,
        }
    }

    /// Issues an instruction that is neither simple nor a load or store.
    #[inline(never)]
    fn issue_special<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, lane: InstructionTimingRule) {
        let mut from = core.t;
        match lane {
            InstructionTimingRule::Nop
                if matches!(self.wake.tail, UnfinishedInstructionPhase::Load | UnfinishedInstructionPhase::Store) =>
            {
                from -= 1
            }
            InstructionTimingRule::Float => from = self.float.first_execution_cycle(op, from),
            InstructionTimingRule::LoadBlock | InstructionTimingRule::StoreBlock => {
                from = self.first_memory_access_cycle(core, op, lane);
                if matches!(op.class, InstructionTimingClass::FloatLoad | InstructionTimingClass::FloatStore)
                    || matches!(
                        op.class,
                        InstructionTimingClass::FloatLoadMultiple | InstructionTimingClass::FloatStoreMultiple
                    )
                {
                    from = from.max(self.float.first_execution_cycle(op, from));
                }
            }
            InstructionTimingRule::Barrier => from = from.max(self.store_ends) + self.settings[key::BARRIER],
            InstructionTimingRule::It => {
                let folds = self.wake.folds && self.settings[key::IT_FOLDING] != 0;
                if folds && self.fetch.is_16_bit_instruction_prefetched(core, bus) {
                    // In the shadow of the instruction before it, which is the last one to have been decoded.
                    self.fetch.dequeue_narrow_instruction();
                    self.busy = 0;
                    return;
                }
                self.busy = 1;
            }
            _ => {}
        }
        core.t = self.fetch.issue_at_pc(core, bus, op.has_flag(flag::WIDE), from);
        match lane {
            InstructionTimingRule::Float => {
                let cycles = Self::reference_manual_instruction_cycles(op);
                self.fetch.hold_queue_slot_of_float_opcode();
                if cycles > 1 {
                    self.fetch.hold_both_words_in_fetch_queue(core.t + cycles - 1);
                }
            }
            // While it loads, no address of a fetch goes out.
            InstructionTimingRule::LoadBlock => self.fetch.make_fetches_until(core, bus, core.t + 1),
            // 4 DSB, 5 DMB, 6 ISB.
            InstructionTimingRule::Barrier if op.ra == 6 => {
                let refetched =
                    self.fetch.flush_prefetch_queue_and_refetch(core, bus, core.t + 1, core.t + rules::ISB_CYCLES);
                self.busy = refetched - core.t;
            }
            InstructionTimingRule::Barrier => self.busy = 1,
            _ => {}
        }
    }

    /// Times the address phase of an access. A load that overlaps another one must go to the same block of memory.
    #[inline(always)]
    fn compute_address_phase_timing<B: Bus>(&mut self, core: &mut Core, bus: &mut B, address: u32, index: u32) {
        if index == 0 {
            let block = bus.memory_block(address);
            if core.t < self.overlapped_until && block != self.last_block {
                core.t = self.overlapped_until;
            }
            self.last_block = block;
        }
        if address < 0x2000_0000 || self.fetch.system {
            self.delay_access_for_earlier_fetches(core, bus, address);
        }
    }

    /// Delays an access until the earlier code fetches that use the same bus or memory are made.
    #[inline(never)]
    fn delay_access_for_earlier_fetches<B: Bus>(&mut self, core: &mut Core, bus: &mut B, address: u32) {
        self.fetch.make_fetches_until(core, bus, core.t);
        if address >= 0x2000_0000 {
            self.fetch.reserve_bus_for_access(core.t + 1);
        }
    }

    /// Notes the registers that the instruction has computed, because an address that depends on them may come later.
    #[inline(always)]
    fn note_written_registers(&mut self, op: Op) {
        self.wake = PrecedingInstructionTiming {
            tail: UnfinishedInstructionPhase::None,
            folds: !op.has_flag(flag::WIDE),
            odd_loads: 0,
            loaded: 0,
            computed: op.writes,
        };
    }
}

impl<const M4: bool> Pipeline for ThreeStagePipeline<M4> {
    /// Waits until the opcode is fetched and decoded and its operands are there: `core.t` becomes its first execute
    /// cycle.
    #[inline(always)]
    fn issue_op<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let from = if Self::PLAIN >> op.class as u32 & 1 != 0 {
            core.t
        } else {
            let (lane, _) = Self::instruction_timing_rules(op);
            match lane {
                InstructionTimingRule::Simple => core.t,
                InstructionTimingRule::Load | InstructionTimingRule::Store => {
                    let from = self.first_memory_access_cycle(core, op, lane);
                    self.alone = !M4 && self.overlapped_until == 0 && self.fetch.may_fetches_wait(bus);
                    from
                }
                _ => return self.issue_special(core, bus, op, lane),
            }
        };
        core.t = self.fetch.issue_at_pc(core, bus, op.has_flag(flag::WIDE), from);
        if Self::is_wide_load(op) {
            self.fetch.hold_second_word_in_fetch_queue(core.t + 1);
        }
    }

    /// Issues and ends an instruction of an IT block whose condition fails.
    #[inline(always)]
    fn skip_op<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        core.t = self.fetch.issue_at_pc(core, bus, op.has_flag(flag::WIDE), core.t) + 1;
        self.note_written_registers(Op { writes: 0, ..op });
    }

    /// Makes one aligned load of an instruction, with its timing. `index` counts the accesses of this instruction from
    /// 0.
    #[inline(always)]
    fn issue_load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        _: Op,
        address: u32,
        bytes: u32,
        index: u32,
    ) -> Result<u32, Fault> {
        self.compute_address_phase_timing(core, bus, address, index);
        let loaded = bus.load_data(core, address, bytes, core.t)?;
        core.bus_wait += loaded.wait;
        core.t += 1 + loaded.wait;
        Ok(loaded.value)
    }

    /// Makes one aligned store of an instruction, with its timing. `index` counts the accesses of this instruction from
    /// 0.
    #[inline(always)]
    fn issue_store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        _: Op,
        address: u32,
        bytes: u32,
        value: u32,
        index: u32,
    ) -> Result<(), Fault> {
        if self.store_ends > core.t {
            core.bus_wait += self.store_ends - core.t;
            core.t = self.store_ends;
        }
        self.compute_address_phase_timing(core, bus, address, index);
        let wait = bus.store_data(core, address, bytes, value, core.t)?;
        self.store_ends = core.t + 1 + wait;
        core.t += 1;
        Ok(())
    }

    /// Ends an instruction that does not branch, and advances `core.t` past it.
    #[inline(always)]
    fn finish_op(&mut self, core: &mut Core, op: Op) {
        if Self::PLAIN >> op.class as u32 & 1 != 0 {
            core.t += 1;
            return self.note_written_registers(op);
        }
        let (lane, cycles) = Self::instruction_timing_rules(op);
        match lane {
            InstructionTimingRule::Simple => {
                core.t += cycles;
                self.note_written_registers(op);
            }
            InstructionTimingRule::Load => {
                // The data phase, in which nothing is fetched unless a neighbour overlaps it.
                if !self.alone {
                    self.fetch.delay_fetches(core.t, core.t + 1);
                }
                core.t += 1;
                let wide = op.has_flag(flag::WIDE);
                let odd_loads =
                    if wide && self.fetch.is_at_odd_halfword() { 2.min(self.wake.odd_loads + 1) } else { 0 };
                self.wake = PrecedingInstructionTiming {
                    tail: UnfinishedInstructionPhase::Load,
                    folds: !wide,
                    odd_loads,
                    loaded: op.writes,
                    computed: 0,
                };
            }
            InstructionTimingRule::Store => {
                self.note_written_registers(op);
                if op.has_flag(flag::REGISTER_OFFSET) {
                    core.t += 1;
                    self.wake.tail = UnfinishedInstructionPhase::Store;
                }
            }
            _ => self.finish_special_timing_instruction(core, op, lane, cycles),
        }
    }

    /// Ends the data phase of the access before, which the instruction that was issued last would have overlapped. That
    /// instruction has faulted.
    fn end_after_fault(&mut self, core: &mut Core) {
        core.t = core.t.max(std::mem::take(&mut self.overlapped_until));
    }

    /// Ends a conditional branch that was not taken. The fetch of its target may have been useless.
    fn end_untaken_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        if self.settings[key::SPECULATION] != 0 && op.class != InstructionTimingClass::CompareBranch {
            let target = match op.code {
                Code::BccFar => op.imm,
                _ => self.fetch.pc.wrapping_sub(2 * op.halfword_count() as u32).wrapping_add(op.imm << 1),
            };
            self.fetch.fetch_untaken_target(core, bus, target);
        }
        core.t += 1;
        self.note_written_registers(op);
    }

    /// Ends a branch that goes to `target`, and charges the refill.
    #[inline(always)]
    fn take_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, jump: Jump, target: u32) {
        let t = core.t;
        let (at, earliest) = match jump {
            _ if self.is_branch_resolved_early(op, jump) => (self.fetch.decoded, t + rules::BRANCH_DECODED_CYCLES),
            Jump::Immediate | Jump::Conditional | Jump::Register => (t, t + rules::BRANCH_EXECUTED_CYCLES),
            Jump::Loaded => {
                // `t` is the cycle of the last data phase.
                let add =
                    if op.class == InstructionTimingClass::TableBranch { self.settings[key::TABLE_ADD] } else { 0 };
                let at = t + 1 + add;
                (at, at + rules::BRANCH_LOADED_REFILL_CYCLES)
            }
        };
        core.t = self.fetch.continue_at_branch_target(core, bus, target, at, earliest);
        self.wake = PrecedingInstructionTiming::default();
    }

    /// Returns the cycles that a division or a long multiplication will take with these operands, or the most that
    /// another class takes.
    fn operation_cycles(&mut self, op: Op, first: u32, second: u32) -> u64 {
        self.busy = Self::operand_cycles(op, first, second);
        self.busy
    }

    /// Empties the pipeline: after reset, exception entry and return, or when a debugger moves execution. The next
    /// instruction is fetched from `target` with its address phase in cycle `at`.
    fn empty_pipeline<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, at: u64) {
        core.t = self.fetch.continue_at_branch_target(core, bus, target, at, at + Self::REFILL);
        self.wake = PrecedingInstructionTiming::default();
    }
}

impl<const M4: bool> ThreeStagePipeline<M4> {
    /// Ends an instruction whose timing rules need more than its number of cycles.
    #[inline(never)]
    fn finish_special_timing_instruction(&mut self, core: &mut Core, op: Op, lane: InstructionTimingRule, cycles: u64) {
        match lane {
            InstructionTimingRule::LoadBlock => {
                core.t += 1;
                self.fetch.delay_fetches(0, core.t);
            }
            InstructionTimingRule::StoreBlock => {
                core.t += 1;
                // A load after it waits on the M4 alone.
                if M4 {
                    self.store_ends = self.store_ends.max(core.t);
                }
            }
            InstructionTimingRule::Nop => core.t += 1,
            InstructionTimingRule::It | InstructionTimingRule::Operands | InstructionTimingRule::Barrier => {
                core.t += self.busy
            }
            InstructionTimingRule::System => {
                core.t += match op.code {
                    Code::Clrex => 1,
                    Code::Cps => self.settings[key::MASK_CHANGE],
                    _ => self.settings[key::SPECIAL_REGISTER],
                };
            }
            InstructionTimingRule::Float => {
                core.t += cycles;
                self.float.record_float_instruction_issue(op, core.t);
            }
            _ => core.t += cycles,
        }
        if lane == InstructionTimingRule::It && self.busy == 0 {
            return;
        }
        self.note_written_registers(op);
        if matches!(lane, InstructionTimingRule::LoadBlock | InstructionTimingRule::StoreBlock) {
            self.wake.loaded = std::mem::take(&mut self.wake.computed);
            let multiple =
                matches!(op.class, InstructionTimingClass::LoadMultiple | InstructionTimingClass::StoreMultiple);
            if M4 && multiple && op.has_flag(flag::PRE_INDEXED | flag::POST_INDEXED) {
                self.wake.tail = UnfinishedInstructionPhase::Base;
                self.wake.computed = 1 << (op.rn & 15);
            }
        }
    }
}
