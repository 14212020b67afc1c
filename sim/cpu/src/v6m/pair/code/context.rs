//! The context of native code, and the offsets in all the data that it uses.

use std::mem::offset_of;

use super::super::table::{self, TimingTransitionCacheRow, Transition};
use super::super::{DualCoreBus, Node, State};
use super::{BlockHead, DualCoreCodeReturnReason, Translation};
use crate::host::registry::Head;
use crate::host::{
    BasicBlockCoreLayout, BasicBlockTableEntryLayout, BlockLayout, CachedTimingNodeLayout, CompiledBlockLayout,
    EntryPoints, NativeBlockContextLayout, SpeculativeExecutionLogLayout,
};
use crate::v6m::block::Block;
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::translate::BusAccess;

/// The data that native code of basic blocks gets at its call and returns.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context {
    pub asks: BusAccess,
    pub marks: u64,
    /// How blocks continue, where one begins, the function that has probes fire and the one that reports a store.
    pub transit: u64,
    begin: u64,
    fire_probes: u64,
    report_store: u64,
    nodes: *const Node,
    /// The other core and its log.
    other: u64,
    other_log: u64,
    /// The node that both have reached, its cycle, and which core continues.
    node: u64,
    pub now: u64,
    pub turn: u64,
    /// No block may begin after this.
    until: u64,
    /// Addresses of transitions, their counters (or null) and heads.
    rows: u64,
    counters: *mut [u64; 2],
    heads: *const BlockHead,
    /// How many lines the cache of the code has lost.
    lost: u64,
    /// Transitions that were cached.
    hits: u64,
    /// A block was executed, and not handed in.
    executed: u64,
    /// A place where a block has ended too often before something unexpected, or null.
    pub stale: *mut Op,
    /// The block that was executed last.
    shape: u64,
    next: u64,
    accesses: u64,
}

impl Context {
    /// Creates a context with the host addresses of the functions that fire probes and that report a store.
    #[inline(always)]
    pub fn new<B: DualCoreBus>(bus: &mut B, [fire_probes, report_store]: [u64; 2]) -> Context {
        const { assert!(offset_of!(Context, asks) == 0) };
        let quick = bus.native_memories();
        let (marks, constants) = (quick.marks.as_ptr() as u64, quick.constants.as_ptr() as u64);
        let pairs = bus.pair_timing_cache();
        let has_account = usize::from(pairs.table.account.is_counting_timing_transitions());
        let [transit, begin] =
            pairs.blocks.entry_points.map_or([0; 2], |entry_points| entry_points.transit[has_account]);
        Context {
            marks,
            transit,
            begin,
            fire_probes,
            report_store,
            nodes: std::ptr::null(),
            other: 0,
            other_log: 0,
            node: 0,
            now: 0,
            turn: 0,
            until: pairs.until,
            rows: pairs.table.transition_rows_host_address(),
            counters: pairs.table.account.timing_transition_counters_pointer(),
            heads: pairs.blocks.registry.registry_table_address(),
            lost: 0,
            hits: 0,
            executed: 0,
            stale: std::ptr::null_mut(),
            shape: 0,
            next: 0,
            accesses: 0,
            asks: BusAccess::new(bus, constants),
        }
    }

    /// Executes the native code of the block that the first core is before, and of the blocks that follow. Returns why
    /// it came back, and the block that was executed last. The cores are in the order in which they continue.
    ///
    /// # Safety
    /// As for [`run_native_blocks`](super::run_native_blocks).
    #[inline(always)]
    pub unsafe fn run_block_code<B: DualCoreBus>(
        &mut self,
        bus: &mut B,
        cores: &mut [*mut Core; 2],
        logs: &mut [*mut SpeculationLog; 2],
    ) -> (DualCoreCodeReturnReason, Block) {
        let lost = bus.dropped_cache_line_count();
        let pairs = bus.pair_timing_cache();
        let Some(EntryPoints { entry, .. }) = pairs.blocks.entry_points else {
            return (DualCoreCodeReturnReason::Next, Block::NONE);
        };
        (self.node, self.now, self.turn) = (pairs.node.into(), pairs.now, pairs.turn as u64);
        (self.other, self.other_log, self.lost) = (cores[1] as u64, logs[1] as u64, lost);
        (self.hits, self.executed, self.nodes) = (0, 0, pairs.table.timing_node_array_address());
        let began = self.turn;
        // SAFETY: the caller's promise.
        let back = unsafe {
            entry.call_native(
                cores[0].cast(),
                bus.main_ram().main_ram_pointer(),
                logs[0].cast(),
                (&raw mut *self).cast(),
            )
        };
        if self.turn != began {
            cores.swap(0, 1);
            logs.swap(0, 1);
        }
        let pairs = bus.pair_timing_cache();
        (pairs.node, pairs.now, pairs.turn) = (self.node as u32, self.now, self.turn as usize);
        pairs.counts.hits += self.hits;
        pairs.blocks.registry.executed += self.hits + self.executed;
        if !self.stale.is_null() {
            pairs.blocks.drop_compiled_block(std::mem::replace(&mut self.stale, std::ptr::null_mut()));
        }
        let block = Block { shape: self.shape, next: self.next, accesses: self.accesses };
        // SAFETY: it is one of them.
        (unsafe { std::mem::transmute::<u32, DualCoreCodeReturnReason>(back) }, block)
    }

    /// Returns whether the code that ran last has executed a block.
    pub fn has_native_code_executed_block(&self) -> bool {
        self.hits + self.executed != 0
    }
}

/// The offsets and numbers for the code that leads from block to block.
pub(super) const LAYOUT: BlockLayout = {
    assert!(SpeculationLog::START_BYTES % 16 == 0);
    assert!(size_of::<TimingTransitionCacheRow>().is_power_of_two() && size_of::<BlockHead>().is_power_of_two());
    let wait = Block::wait_block(false);
    assert!(wait.next == 0 && wait.accesses == 0, "a wait leads nowhere");
    BlockLayout {
        context: NativeBlockContextLayout {
            bus: BusAccess::BUS,
            begin: offset_of!(Context, begin) as i32,
            fire_probes: offset_of!(Context, fire_probes) as i32,
            report_store: offset_of!(Context, report_store) as i32,
            nodes: offset_of!(Context, nodes) as i32,
            other: offset_of!(Context, other) as i32,
            other_log: offset_of!(Context, other_log) as i32,
            node: offset_of!(Context, node) as i32,
            now: offset_of!(Context, now) as i32,
            turn: offset_of!(Context, turn) as i32,
            until: offset_of!(Context, until) as i32,
            rows: offset_of!(Context, rows) as i32,
            counters: offset_of!(Context, counters) as i32,
            heads: offset_of!(Context, heads) as i32,
            lost: offset_of!(Context, lost) as i32,
            hits: offset_of!(Context, hits) as i32,
            executed: offset_of!(Context, executed) as i32,
            shape: offset_of!(Context, shape) as i32,
            next: offset_of!(Context, next) as i32,
            accesses: offset_of!(Context, accesses) as i32,
        },
        core: BasicBlockCoreLayout {
            ip: offset_of!(Core, ip) as i32,
            instructions: offset_of!(Core, instructions) as i32,
            bus_wait: offset_of!(Core, bus_wait) as i32,
        },
        log: SpeculativeExecutionLogLayout {
            reads: SpeculationLog::LAYOUT.reads,
            writes: SpeculationLog::LAYOUT.writes,
            words: SpeculationLog::LAYOUT.words,
            served: SpeculationLog::SERVED,
            probed: SpeculationLog::PROBED,
            instructions: SpeculationLog::INSTRUCTIONS,
            summons: SpeculationLog::SUMMONS,
            ip: SpeculationLog::IP,
            start: SpeculationLog::START,
            start_bytes: SpeculationLog::START_BYTES,
        },
        transition: Transition::LAYOUT,
        hash: table::HASH,
        node: CachedTimingNodeLayout {
            bytes: size_of::<Node>() as i32,
            times: (offset_of!(Node, state) + offset_of!(State, times)) as i32,
            wins_ties: State::FIRST.trailing_zeros(),
            other_in_entry: (State::FIRST << 2).trailing_zeros(),
        },
        head: BasicBlockTableEntryLayout {
            unit: BlockHead::UNIT,
            bytes: size_of::<BlockHead>(),
            ip: offset_of!(BlockHead, ip) as i32,
            translation: offset_of!(BlockHead, translation) as i32,
            probed: offset_of!(BlockHead, probed) as i32,
        },
        translation: CompiledBlockLayout {
            lost: offset_of!(Translation, lost) as i32,
            code: offset_of!(Translation, code) as i32,
        },
        back_none: DualCoreCodeReturnReason::None as u32,
        back_hand_in: DualCoreCodeReturnReason::HandIn as u32,
        back_next: DualCoreCodeReturnReason::Next as u32,
        back_stop: DualCoreCodeReturnReason::Stop as u32,
        wait_shape: wait.shape,
    }
};
