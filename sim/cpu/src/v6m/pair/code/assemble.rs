//! The code of a basic block, way by way.

mod plan;
mod special;

use std::mem::offset_of;

use super::super::table::Transition;
use super::super::{DualCoreBus, report_watched_store};
use super::context::Context;
use super::{Bank, Translation};
use crate::host::x64::{
    Block as PartWaitStateTable, Fork, Memory, NativeCodeEmitter, PathContinuationPoint, PathEnd,
    bounds_check_ranges_of_path, live_flags,
};
use crate::host::{EntryPoints, Home, NativeSpeculationLogLayout, Store};
use crate::v6m::block::Block;
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::trace::Trace;
use crate::v6m::translate::{BusAccess, LINE_BYTES, Layout, Literal, new_native_code_writer};
use plan::{BlockPosition, KnownBlockState, Step, StepKind, way_from_position};
use special::emit_special_instruction;

/// Most instructions of all ways together.
const STEPS: usize = 64;

const LOG: NativeSpeculationLogLayout =
    NativeSpeculationLogLayout { marks: offset_of!(Context, marks) as i32, ..SpeculationLog::LAYOUT };

/// The JIT compiler of one basic block, with all its ways.
struct BlockAssembler<'a, B> {
    bus: &'a mut B,
    core: &'a Core,
    /// The instruction at its begin.
    first: Op,
    layout: Layout,
    writer: NativeCodeEmitter,
    endings: Vec<PathEnd>,
    lines: Vec<u32>,
    steps: usize,
    /// Other ways, and what is known of them. `None` of one that ends at once.
    forks: Vec<(Fork, BlockPosition, Option<KnownBlockState>)>,
}

/// Emits the native code of the block that the core has just executed from `start` on. Returns its host address and the
/// cache lines that contain the block, or `None` if it cannot be compiled or is not worth it. `first` is the block's
/// first instruction, because a stub op may be in its place. Early ends count `unexpected` down.
pub(super) fn assemble<B: DualCoreBus>(
    bus: &mut B,
    (store, entry_points): (&mut Store, EntryPoints),
    core: &Core,
    (start, first, block): (*mut Op, Op, &Block),
    unexpected: *mut u32,
) -> Option<(u64, Vec<u32>)> {
    let mut writer = new_native_code_writer::<B>(&core.region);
    let EntryPoints { none, .. } = entry_points;
    let transit = offset_of!(Context, transit) as i32;
    let (unexpected, stale) = (unexpected as u64, offset_of!(Context, stale) as i32);
    let (number, own) = (offset_of!(Core, id) as i32, Block::GIVES_WAY as u32);
    writer.enable_speculation_logging(
        LOG,
        PathContinuationPoint { transit, none, unexpected, start: start as u64, stale, number, own },
    );
    let layout = bus.native_memories().memory_layout();
    let (endings, lines, forks) = (Vec::new(), Vec::new(), Vec::new());
    let mut making = BlockAssembler { bus, core, first, layout, writer, endings, lines, steps: 0, forks };
    let from = BlockPosition { ip: start, length: 0, branches: Trace::NO_BRANCHES };
    // SAFETY: the core has just executed what begins there, in this region.
    unsafe {
        if !making.write_way(from, KnownBlockState::new(block)) {
            return None;
        }
        while let Some((fork, at, known)) = making.forks.pop() {
            making.writer.begin_deferred_branch_side(fork);
            match known {
                Some(known) => {
                    making.write_way(at, known);
                }
                None => making.emit_basic_block_end(at),
            }
        }
    }
    let BlockAssembler { writer, endings, mut lines, .. } = making;
    lines.sort_unstable();
    lines.dedup();
    Some((writer.finish_speculative_native_code(store, &endings)?, lines))
}

impl<B: DualCoreBus> BlockAssembler<'_, B> {
    /// Emits one way through the block, and lists the others as forks. Returns false if none of it is worth compiling.
    ///
    /// # Safety
    /// As for [`way`].
    unsafe fn write_way(&mut self, from: BlockPosition, known: KnownBlockState) -> bool {
        // SAFETY: the caller's promise.
        let way = unsafe { way_from_position(self.bus, self.core, (from, self.first), known) };
        let live = live_flags(&way.steps.iter().map(|step| step.thumb).collect::<Vec<_>>());
        let spans = bounds_check_ranges_of_path(
            &way.steps.iter().map(|step| (step.thumb, ram_bank_offset_of_access(step))).collect::<Vec<_>>(),
        );
        for ((step, live), span) in way.steps.iter().zip(live).zip(spans) {
            self.writer.begin_instruction_step(live, span);
            if self.core.region.cached {
                self.lines.extend(self.layout.cache_lines_of_instruction(&self.core.region, step.at.ip, step.op));
            }
            self.steps += 1;
            if !self.emit_basic_block_instruction(step) {
                self.emit_basic_block_end(step.at);
                return step.at.length != 0;
            }
        }
        let ip = (!way.jumps).then_some(way.end.ip as u64);
        let PathEnd { shape, .. } = BlockAssembler::<B>::path_end_at_block_position(way.end, false);
        let shape = shape | if way.ends_with_report { Block::REPORTS_STORE } else { 0 };
        self.writer.emit_end_of_compiled_path(PathEnd {
            ip,
            shape,
            ..BlockAssembler::<B>::path_end_at_block_position(way.end, false)
        });
        !way.steps.is_empty()
    }

    /// Emits the end of the block's code at this position.
    fn emit_basic_block_end(&mut self, at: BlockPosition) {
        self.writer.emit_end_of_compiled_path(BlockAssembler::<B>::path_end_at_block_position(at, false));
    }

    /// Adds an exit from native code before the instruction at this position, and returns its number.
    fn add_native_exit_before_instruction(&mut self, at: BlockPosition, is_early: bool) -> u32 {
        self.endings.push(BlockAssembler::<B>::path_end_at_block_position(at, is_early));
        self.endings.len() as u32 - 1
    }

    /// Returns the end of a path at this position.
    fn path_end_at_block_position(at: BlockPosition, is_early: bool) -> PathEnd {
        PathEnd {
            ip: Some(at.ip as u64),
            shape: Block::shape_of_path(at.length, at.branches),
            is_early,
            is_none: at.length == 0,
        }
    }

    /// Emits the code of one instruction of the block. Returns false if it cannot be JIT-compiled.
    fn emit_basic_block_instruction(&mut self, step: &Step) -> bool {
        let Step { at, op, thumb, kind, .. } = *step;
        let ip = at.ip as u64;
        match kind {
            StepKind::On => self.writer.write_instruction(0, thumb, ip),
            StepKind::Literal(address) => self.emit_literal_load(op, address),
            StepKind::Branch(None) => {
                self.writer.emit_branch(0, thumb, ip, true);
                true
            }
            StepKind::Branch(Some(taken)) => {
                self.emit_conditional_branch(step, taken);
                true
            }
            StepKind::Access(bank, number) => {
                self.writer.set_memory_bank_of_next_access(ram_bank_for_timing_log(bank, number));
                let before = self.add_native_exit_before_instruction(at, true);
                self.writer.emit_load_or_store(before, thumb, ip, Memory::Ram(ram_range_of_bank(bank)))
            }
            StepKind::WatchedStore(bank, number) => {
                self.writer.set_memory_bank_of_next_access(ram_bank_for_timing_log(bank, number));
                let before = self.add_native_exit_before_instruction(at, true);
                let asks = is_watched::<B> as unsafe extern "sysv64" fn(_, _) -> _ as usize;
                let pc = self.core.address_of_op(at.ip);
                self.writer.emit_watched_store(
                    before,
                    thumb,
                    ram_range_of_bank(bank),
                    (SpeculationLog::WATCHED_STORE, asks, pc),
                )
            }
            StepKind::Constant => {
                self.writer.set_memory_bank_of_next_access(Home::Number(B::CONSTANT_MEMORY));
                let before = self.add_native_exit_before_instruction(at, true);
                self.writer.emit_load_or_store(before, thumb, ip, Memory::Elsewhere(BusAccess::CONSTANT))
            }
            StepKind::Own => {
                self.writer.set_memory_bank_of_next_access(Home::Number(B::ORDERED_MEMORY));
                let before = self.add_native_exit_before_instruction(at, true);
                self.writer.emit_core_number_load(before, thumb, B::OWN_NUMBER);
                true
            }
            StepKind::Special => {
                let before = self.add_native_exit_before_instruction(at, false);
                emit_special_instruction(&mut self.writer, self.core, op, before)
            }
            StepKind::Jump(memory) => {
                let before = self.add_native_exit_before_instruction(at, true);
                match memory {
                    Some((bank, number)) => {
                        self.writer.set_memory_bank_of_next_access(ram_bank_for_timing_log(bank, number));
                        self.writer.emit_load_or_store(before, thumb, ip, Memory::Ram(ram_range_of_bank(bank)))
                    }
                    None => self.writer.write_instruction(before, thumb, ip),
                }
            }
        }
    }

    /// Emits a conditional branch. Its other way is emitted later, if there is room for it.
    fn emit_conditional_branch(&mut self, step: &Step, taken: bool) {
        let Step { at, op, thumb, .. } = *step;
        let other = if taken {
            at.block_position_after_branch(false).position_after_instruction(op)
        } else {
            at.block_position_after_branch(true).basic_block_position_after_branch(op)
        };
        let ends = !other.is_later_position_in_block(at);
        if self.steps + 2 * self.forks.len() >= STEPS && !ends {
            let before = self.add_native_exit_before_instruction(at, false);
            self.writer.emit_branch(before, thumb, at.ip as u64, taken);
            return;
        }
        let fork = self.writer.emit_branch_and_return_other_way(thumb, taken);
        self.forks.push((fork, other, (!ends).then(|| step.known.block_state_after_opposite_branch())));
    }

    /// Emits the load of a literal, whose address the opcode tells. Returns false if it cannot be JIT-compiled.
    fn emit_literal_load(&mut self, op: Op, address: u32) -> bool {
        let Some(literal) = Literal::from_address::<B>(address, self.layout) else { return false };
        match literal {
            Literal::Constant(offset) => self.lines.push(offset / LINE_BYTES),
            Literal::Ram(offset) => self.writer.log_load_at(offset),
        }
        literal.emit_literal_load(&mut self.writer, op.a);
        true
    }
}

/// Returns the bank that an access logs: its number, or that it is interleaved.
fn ram_bank_for_timing_log(bank: Bank, number: u32) -> Home {
    if bank.is_interleaved { Home::Interleaved } else { Home::Number(number) }
}

/// Returns the range of main RAM that a bank covers.
fn ram_range_of_bank(bank: Bank) -> PartWaitStateTable {
    PartWaitStateTable { first: bank.first, bytes: bank.bytes }
}

/// Returns the RAM offset of the bank that the step accesses with a base register. `None` if it accesses none.
fn ram_bank_offset_of_access(step: &Step) -> Option<u32> {
    match step.kind {
        StepKind::Access(bank, _) => Some(bank.first),
        _ => None,
    }
}

/// Returns 1 if a store to RAM at this offset writes a watched word and can be made speculatively, else 0.
///
/// # Safety
/// The context is the one that the code was called with. Its bus is not used meanwhile.
unsafe extern "sysv64" fn is_watched<B: DualCoreBus>(context: *mut Context, offset: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        u32::from(BusAccess::bus_of_native_code::<B>(&raw const (*context).asks).watches_store(offset) == Some(true))
    }
}

/// Returns the host addresses of the functions that fire probes and that report a store.
pub(super) fn bus_function_addresses<B: DualCoreBus>() -> [u64; 2] {
    let fire_probes = fire_probes::<B> as unsafe extern "sysv64" fn(_, _, _, _) -> _ as usize;
    let report_store = report_end_store::<B> as unsafe extern "sysv64" fn(_, _) as usize;
    [fire_probes as u64, report_store as u64]
}

/// Fires the probes on the first instruction of this translation in this cycle. False if that cannot be done ahead of
/// time.
///
/// # Safety
/// The bus is the one that the code was called with, the core is before that instruction.
unsafe extern "sysv64" fn fire_probes<B: DualCoreBus>(
    bus: &mut B,
    of: &Core,
    translation: &Translation,
    cycle: u64,
) -> bool {
    bus.fire_probes(of, translation.probe, cycle)
}

/// Reports the store to a watched word at the end of the current core's block, after this transition.
///
/// # Safety
/// The context is the one that the code was called with, its bus is not used meanwhile.
unsafe extern "sysv64" fn report_end_store<B: DualCoreBus>(context: *mut Context, transition: *const Transition) {
    // SAFETY: the caller's promise.
    let (Context { asks, now, turn, .. }, transition) = unsafe { (&*context, &*transition) };
    // SAFETY: as above.
    let bus = unsafe { BusAccess::bus_of_native_code::<B>(asks) };
    bus.pair_timing_cache().turn = *turn as usize;
    report_watched_store(bus, transition.last_store_cycle(*now));
}
