//! Basic blocks as native code: what a core executes ahead again and again is translated.
//!
//! A translation begins where a basic block does and has all ways that it may take: at each branch with a condition it
//! forks. It works on the core and the RAM, keeps the core's log as the interpreter does, and ends as a [`Block`]
//! ends. If the execution deviates from the expectation, it ends before that instruction, as a shorter block. The end
//! of a block does not affect anybody's time. How both cores come on by it is looked up as ever.

#[cfg(native_code)]
mod assemble;
mod context;

use super::{DualCoreBus, advance_both_cores, end_turn, wait_for_turn};
use crate::host::registry::{Head, NativeCodeRegistry, PathExecutionCounter};
use crate::host::{EntryPoints, block_entry_points};
use crate::timing_store::Counts;
use crate::v6m::block::{Block, NextCoreChoice};
use crate::v6m::bus::{Access, OrderedAccess};
use crate::v6m::core::Core;
use crate::v6m::op::{Code, Op};
use crate::v6m::speculation::SpeculationLog;
#[cfg(native_code)]
use assemble::{assemble, bus_function_addresses};
use context::{Context, LAYOUT};

/// Executions of a basic block, whatever its way, before it is translated.
const TRANSLATED_AFTER: u32 = 500;
/// Ends before something unexpected, after which a block is translated again. And how often that is done.
const UNEXPECTED: u32 = 2000;
const MOST_RETRANSLATIONS: u8 = 4;

/// A bank of main RAM, or several that are interleaved by words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bank {
    /// Where it begins.
    pub first: u32,
    /// How many bytes it has.
    pub bytes: u32,
    /// Four, from memory 0 on.
    pub is_interleaved: bool,
}

/// The probes on one instruction, as native code checks them.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Its address.
    pub address: u32,
    /// The number by which the bus knows them.
    pub number: u32,
}

/// The registry of JIT-compiled basic blocks of two cores.
#[derive(Debug)]
pub(super) struct CompiledBlockRegistry {
    /// Each translation where it stays: heads point there.
    registry: NativeCodeRegistry<BlockHead, Box<Translation>>,
    /// How code is entered, and how it continues.
    entry_points: Option<EntryPoints>,
}

/// The registry's entry of an op at which JIT-compiled basic blocks begin.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
struct BlockHead {
    ip: *mut Op,
    /// Null: the interpreter executes them.
    translation: *mut Translation,
    /// The same for the execution after the probes on its first instruction have fired.
    probed: *mut Translation,
    executions: PathExecutionCounter,
    /// So many translations were given up.
    retranslations: u8,
}

impl Head for BlockHead {
    const UNIT: usize = size_of::<Op>();
    const NONE: BlockHead = BlockHead {
        ip: std::ptr::null_mut(),
        translation: std::ptr::null_mut(),
        probed: std::ptr::null_mut(),
        executions: PathExecutionCounter::NONE,
        retranslations: 0,
    };

    /// Creates the entry of a place from which nothing was executed yet.
    fn new_at(place: u64) -> BlockHead {
        BlockHead { ip: place as *mut Op, ..BlockHead::NONE }
    }

    /// Returns the place at which this entry's paths begin.
    #[inline(always)]
    fn path_start(&self) -> u64 {
        self.ip as u64
    }

    /// Returns whether native code executes a path from this entry's place.
    #[inline(always)]
    fn is_translated(&self) -> bool {
        !self.translation.is_null() || !self.probed.is_null()
    }

    /// Returns the counter of the interpreter's executions of paths from this entry's place.
    #[inline(always)]
    fn execution_counter(&mut self) -> &mut PathExecutionCounter {
        &mut self.executions
    }
}

/// A JIT-compiled basic block with all its ways.
#[derive(Debug)]
struct Translation {
    /// The code's address.
    code: u64,
    /// It was at hand when the cache of the code had lost so many lines.
    lost: u64,
    /// The lines that it is in.
    lines: Box<[u32]>,
    /// Ends left before something unexpected is not expected any more.
    unexpected: u32,
    /// The probes on its first instruction.
    probe: Probe,
}

/// The reason why native code has returned to Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum DualCoreCodeReturnReason {
    /// Nothing was executed of a block that was to be.
    None,
    /// A block was executed, and is to be handed in.
    HandIn,
    /// The next event is not one of its own.
    Next,
    /// The machine must act.
    Stop,
}

impl Default for CompiledBlockRegistry {
    /// Returns a registry without translations.
    fn default() -> CompiledBlockRegistry {
        CompiledBlockRegistry { registry: NativeCodeRegistry::new(TRANSLATED_AFTER), entry_points: None }
    }
}

impl CompiledBlockRegistry {
    /// Forgets all translations and counts, because instructions or probes changed.
    pub fn forget_all_translations(&mut self) {
        if self.registry.forget_all_translations() {
            self.entry_points = None;
        }
    }

    /// Sets after how many executions blocks are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.forget_all_translations();
        self.registry.set_translation_threshold(executions);
    }

    /// Returns how many blocks were JIT-compiled so far, and how many native code executed.
    pub fn native_code_counts(&self) -> Counts {
        self.registry.native_code_counts()
    }

    /// Returns the registry's entry of the blocks that begin at this op.
    #[inline(always)]
    fn compiled_block_entry_at(&self, ip: *mut Op) -> Option<&BlockHead> {
        self.registry.native_code_entry_of_op(ip as u64)
    }

    /// Drops the translation of a block that was left early too often, so that it is recorded and compiled anew.
    #[cold]
    #[inline(never)]
    fn drop_compiled_block(&mut self, ip: *mut Op) {
        let Some(&BlockHead { retranslations, .. }) = self.compiled_block_entry_at(ip) else { return };
        if retranslations < MOST_RETRANSLATIONS {
            let head = BlockHead { retranslations: retranslations + 1, ..BlockHead::new_at(ip as u64) };
            *self.registry.claim_native_code_entry_of_op(ip as u64) = head;
        }
    }
}

/// Counts a block that the interpreter has executed, and JIT-compiles it if it is hot.
#[inline(always)]
pub(super) fn count_interpreted_block<B: DualCoreBus>(bus: &mut B, core: &Core, start: *mut Op, block: &Block) {
    if bus.pair_timing_cache().blocks.registry.count_execution(start as u64) {
        compile_executed_block(bus, core, start, block);
    }
}

/// JIT-compiles the block that was executed from `start` on, and registers it.
#[cold]
#[inline(never)]
fn compile_executed_block<B: DualCoreBus>(bus: &mut B, core: &Core, start: *mut Op, block: &Block) {
    // Whether all of it is at hand is looked at before it is executed.
    let lost = bus.dropped_cache_line_count().wrapping_sub(1);
    let probe = bus.probe_at(core.address_of_op(start));
    let mut translation = Box::new(Translation { code: 0, lost, lines: Box::default(), unexpected: UNEXPECTED, probe });
    let mut store = std::mem::take(&mut bus.pair_timing_cache().blocks.registry.store);
    let has_room = bus.pair_timing_cache().blocks.registry.has_room_for_translation();
    let entry_points = bus.pair_timing_cache().blocks.entry_points.or_else(|| block_entry_points(&mut store, &LAYOUT));
    // SAFETY: the core has just executed it.
    let mut op = unsafe { *start };
    let is_probed = op.code == Code::Attend;
    if is_probed {
        op = bus.op_behind_stub(core.address_of_op(start));
    }
    let assembled = entry_points.filter(|_| has_room).and_then(|entry_points| {
        assemble(bus, (&mut store, entry_points), core, (start, op, block), &raw mut translation.unexpected)
    });
    let blocks = &mut bus.pair_timing_cache().blocks;
    (blocks.registry.store, blocks.entry_points) = (store, entry_points);
    let Some((code, lines)) = assembled else {
        blocks.registry.claim_native_code_entry_of_op(start as u64).executions = PathExecutionCounter::EXCLUDED;
        return;
    };
    (translation.code, translation.lines) = (code, lines.into_boxed_slice());
    let pointer = &raw mut *translation;
    blocks.registry.add_translation(translation);
    let head = blocks.registry.claim_native_code_entry_of_op(start as u64);
    if is_probed {
        head.probed = pointer;
    } else {
        head.translation = pointer;
    }
}

/// Returns `None`: this host has no native code.
#[cfg(not(native_code))]
fn assemble<B: DualCoreBus>(
    _: &mut B,
    _: (&mut crate::host::Store, EntryPoints),
    _: &Core,
    _: (*mut Op, Op, &Block),
    _: *mut u32,
) -> Option<(u64, Vec<u32>)> {
    None
}

/// Returns no addresses: this host has no native code.
#[cfg(not(native_code))]
#[allow(clippy::extra_unused_type_parameters)] // it is called as the real one is
fn bus_function_addresses<B: DualCoreBus>() -> [u64; 2] {
    [0; 2]
}

/// Executes the JIT-compiled blocks that begin where the first core is
/// ([`Ahead::run_native_blocks`](crate::v6m::bus::Ahead::run_native_blocks)).
///
/// # Safety
/// As for [`time_block`](super::time_block). The first core is before an instruction, and its log has no block.
#[inline(always)]
pub unsafe fn run_native_blocks<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
) -> Option<NextCoreChoice> {
    // SAFETY: the caller's promise, here and below.
    let core = unsafe { &*cores[0] };
    let is_translated =
        bus.pair_timing_cache().blocks.compiled_block_entry_at(core.ip).is_some_and(BlockHead::is_translated);
    if !is_translated && address_of_ordered_access::<B>(bus, core).is_none() {
        return None;
    }
    // SAFETY: as above.
    unsafe { execute_blocks(bus, cores, logs) }
}

/// Executes JIT-compiled blocks, and ordered accesses between them, of the first core and of whichever core comes next.
/// Returns the core that continues then. `None` if there was nothing.
#[inline(never)]
unsafe fn execute_blocks<B: DualCoreBus>(
    bus: &mut B,
    mut cores: [*mut Core; 2],
    mut logs: [*mut SpeculationLog; 2],
) -> Option<NextCoreChoice> {
    let first = cores[0];
    let mut context = Context::new(bus, bus_function_addresses::<B>());
    let mut has_executed = false;
    // SAFETY: the caller's promise; the logs live as long as the bus, and no reference to one outlives a statement.
    unsafe {
        while let Some(turn) = execute_block_or_access(bus, &mut context, (&mut cores, &mut logs), &mut has_executed) {
            match turn {
                NextCoreChoice::Same => {}
                NextCoreChoice::Other => {
                    cores.swap(0, 1);
                    logs.swap(0, 1);
                }
                NextCoreChoice::Stop => return Some(NextCoreChoice::Stop),
            }
            if (*logs[0]).summons != 0 {
                break;
            }
        }
    }
    has_executed.then_some(if cores[0] == first { NextCoreChoice::Same } else { NextCoreChoice::Other })
}

/// Executes the block or the ordered access that the first core is before. `None` if only the interpreter can.
#[inline(always)]
unsafe fn execute_block_or_access<B: DualCoreBus>(
    bus: &mut B,
    context: &mut Context,
    (cores, logs): (&mut [*mut Core; 2], &mut [*mut SpeculationLog; 2]),
    has_executed: &mut bool,
) -> Option<NextCoreChoice> {
    // SAFETY: the caller's promise; a translation lives as long as its head.
    unsafe {
        let (back, block) = context.run_block_code(bus, cores, logs);
        *has_executed |= context.has_native_code_executed_block();
        match back {
            DualCoreCodeReturnReason::None => return None,
            DualCoreCodeReturnReason::Next => {}
            DualCoreCodeReturnReason::Stop => return Some(NextCoreChoice::Stop),
            DualCoreCodeReturnReason::HandIn => return Some(advance_both_cores(bus, *cores, *logs, block)),
        }
        if (*logs[0]).summons != 0 {
            return Some(NextCoreChoice::Same);
        }
        if let Some(head) =
            bus.pair_timing_cache().blocks.compiled_block_entry_at((*cores[0]).ip).filter(|head| head.is_translated())
        {
            let translation = if head.translation.is_null() { head.probed } else { head.translation };
            let has_lost = (*translation).lost != bus.dropped_cache_line_count();
            return (has_lost && is_translation_cached(bus, translation)).then_some(NextCoreChoice::Same);
        }
        let address = address_of_ordered_access::<B>(bus, &*cores[0])?;
        let turn = execute_ordered_access(bus, *cores, logs[0], address);
        *has_executed |= turn.is_some();
        turn
    }
}

/// Returns the address of the access that the core is before, if both cores may have to make it in the order of their
/// cycles.
#[inline(always)]
fn address_of_ordered_access<B: DualCoreBus>(bus: &mut B, core: &Core) -> Option<u32> {
    // SAFETY: `ip` points into the ops of the region.
    let op = unsafe { *core.ip };
    if !matches!(op.code, Code::LdrImm | Code::StrImm)
        || !bus.pair_timing_cache().blocks.registry.is_jit_compilation_enabled()
    {
        return None;
    }
    let address = core.r[usize::from(op.b & 15)].wrapping_add(op.imm);
    B::may_be_ordered(address).then_some(address)
}

/// Makes the ordered access that the first core is before. `None` if it need not be made in the order of the cores'
/// cycles.
///
/// # Safety
/// As for [`run_native_blocks`].
unsafe fn execute_ordered_access<B: DualCoreBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    mine: *mut SpeculationLog,
    address: u32,
) -> Option<NextCoreChoice> {
    // SAFETY: the caller's promise.
    unsafe {
        let op = *(*cores[0]).ip;
        if !access_word_if_core_has_turn(bus, &mut *cores[0], op, address) {
            return None;
        }
        (*mine).begin_speculation_log(&*cores[0]);
        let turn = wait_for_turn(bus, cores, mine);
        if turn != NextCoreChoice::Same {
            return Some(turn);
        }
        let is_refused = access_word_if_core_has_turn(bus, &mut *cores[0], op, address);
        debug_assert!(!is_refused, "its turn has come");
        (*cores[0]).ip = (*cores[0]).ip.wrapping_add(1);
        Some(end_turn(bus, cores, mine))
    }
}

/// Makes an access of one word that both cores make in the order of their cycles, if it is this core's turn. Returns
/// true if the core must wait for its turn, false after the access, and for other accesses, which are not made.
fn access_word_if_core_has_turn<B: DualCoreBus>(bus: &mut B, core: &mut Core, op: Op, address: u32) -> bool {
    let register = usize::from(op.a & 15);
    if op.code == Code::StrImm {
        return bus.access_register_speculatively(core, address, Access::Store { bytes: 4, value: core.r[register] })
            == OrderedAccess::NotYet;
    }
    let loaded = bus.access_register_speculatively(core, address, Access::Load(4));
    if let OrderedAccess::Now(value) = loaded {
        core.r[register] = value;
    }
    loaded == OrderedAccess::NotYet
}

/// Returns whether the cache still contains the lines of a translation's code.
#[cold]
#[inline(never)]
unsafe fn is_translation_cached<B: DualCoreBus>(bus: &mut B, translation: *mut Translation) -> bool {
    let lost = bus.dropped_cache_line_count();
    // SAFETY: the caller's promise that it lives.
    let translation = unsafe { &mut *translation };
    let Some(resident) = bus.native_memories().resident else { return true };
    let all = translation.lines.iter().all(|&line| resident[line as usize]);
    if all {
        translation.lost = lost;
    }
    all
}
