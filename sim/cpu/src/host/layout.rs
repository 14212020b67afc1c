//! The layout of the data that native code uses: offsets in its users' structures, and numbers.

use super::BlockEntry;

/// The host addresses at which the native code of basic blocks is entered and at which it continues after a block.
#[derive(Debug, Clone, Copy)]
pub struct EntryPoints {
    /// The entry.
    pub entry: BlockEntry,
    /// The host's addresses of the transit from the end of a block and of the begin of one, without and with an account
    /// of transitions.
    pub transit: [[u64; 2]; 2],
    /// The host's address of the return if nothing was executed.
    pub none: u64,
}

/// The offsets and numbers from which native code that goes from one basic block of two cores to the next is written.
#[derive(Debug, Clone, Copy)]
pub struct BlockLayout {
    pub context: NativeBlockContextLayout,
    pub core: BasicBlockCoreLayout,
    pub log: SpeculativeExecutionLogLayout,
    pub transition: BlockTimingTransitionLayout,
    pub hash: BasicBlockHashFunction,
    pub node: CachedTimingNodeLayout,
    pub head: BasicBlockTableEntryLayout,
    pub translation: CompiledBlockLayout,
    /// Why code comes back: nothing was executed, a block is to be handed in, the next event is not one of native code,
    /// the machine must act.
    pub back_none: u32,
    pub back_hand_in: u32,
    pub back_next: u32,
    pub back_stop: u32,
    /// The shape of a wait for the other core, which leads nowhere and accesses nothing.
    pub wait_shape: u64,
}

/// The offsets of the fields of a block's native-code context. `fire_probes` and `report_store` are addresses of
/// functions.
#[derive(Debug, Clone, Copy)]
pub struct NativeBlockContextLayout {
    pub bus: i32,
    pub begin: i32,
    pub fire_probes: i32,
    pub report_store: i32,
    pub nodes: i32,
    pub other: i32,
    pub other_log: i32,
    pub node: i32,
    pub now: i32,
    pub turn: i32,
    pub until: i32,
    pub rows: i32,
    pub counters: i32,
    pub heads: i32,
    pub lost: i32,
    pub hits: i32,
    pub executed: i32,
    pub shape: i32,
    pub next: i32,
    pub accesses: i32,
}

/// The offsets of the fields of an ARMv6-M core that the native code of basic blocks uses.
#[derive(Debug, Clone, Copy)]
pub struct BasicBlockCoreLayout {
    pub ip: i32,
    pub instructions: i32,
    pub bus_wait: i32,
}

/// The offsets of the fields of a core's speculation log. `start` is a copy of the first `start_bytes` bytes of the
/// core, as it was at the begin of a block.
#[derive(Debug, Clone, Copy)]
pub struct SpeculativeExecutionLogLayout {
    pub reads: i32,
    pub writes: i32,
    pub words: i32,
    pub served: i32,
    pub probed: i32,
    pub instructions: i32,
    pub summons: i32,
    pub ip: i32,
    pub start: i32,
    pub start_bytes: i32,
}

/// The offsets of the fields of a cached transition: how one basic block changes the timing state of both cores.
#[derive(Debug, Clone, Copy)]
pub struct BlockTimingTransitionLayout {
    pub key: i32,
    pub block_next: i32,
    pub accesses: i32,
    pub cycles: i32,
    pub waits: i32,
    pub instructions: i32,
    pub spun: i32,
    pub swaps: i32,
    pub next: i32,
    pub stored: i32,
}

/// The hash function by which native code finds the row of a block's transition in the timing cache. The hash is the
/// high bits of a product with `factor`.
#[derive(Debug, Clone, Copy)]
pub struct BasicBlockHashFunction {
    pub shape_bits: u32,
    pub accesses_turned: u32,
    pub next_shifted: u32,
    pub factor: u64,
    /// Low bits of the product that are dropped.
    pub dropped: u32,
    /// Bytes of a row, a power of two.
    pub row_bytes: usize,
}

/// The size of a cached node of two cores in bytes, the offset of its times, and the numbers of two bits in these.
#[derive(Debug, Clone, Copy)]
pub struct CachedTimingNodeLayout {
    pub bytes: i32,
    pub times: i32,
    /// The first core goes first when both issue in the same cycle.
    pub wins_ties: u32,
    /// The other core is in the entry of an exception.
    pub other_in_entry: u32,
}

/// The size of a table entry (head) for the blocks that begin at one place, the distance of two places (both powers of
/// two), and the offsets of its fields.
#[derive(Debug, Clone, Copy)]
pub struct BasicBlockTableEntryLayout {
    pub unit: usize,
    pub bytes: usize,
    pub ip: i32,
    pub translation: i32,
    pub probed: i32,
}

/// The offsets of the fields of a JIT-compiled basic block.
#[derive(Debug, Clone, Copy)]
pub struct CompiledBlockLayout {
    pub lost: i32,
    pub code: i32,
}

/// The offsets and numbers from which native code that goes from one path of ARMv7-M to the next is written.
#[derive(Debug, Clone, Copy)]
pub struct PathLayout {
    /// Offsets in the context.
    pub state: i32,
    pub executed: i32,
    pub counts: i32,
    pub version: i32,
    pub clock: i32,
    pub groups: i32,
    pub record: ExitTimingRecordLayout,
    /// Offsets in the core.
    pub core: Armv7mCoreFieldLayout,
    /// Offsets in a transition.
    pub transition: TraceTimingTransitionLayout,
    /// How a transition's lookups in caches are repeated.
    pub repeats: Repeats,
    /// More cycles than any trace takes.
    pub trace_cycles: u64,
    /// The bit set in a record's `left` if the time of the trace is taken already.
    pub done: u64,
}

/// The offsets of the fields of a cached-timing record at an exit of a path, its size in bytes, and the number of
/// records of each exit: both powers of two.
#[derive(Debug, Clone, Copy)]
pub struct ExitTimingRecordLayout {
    pub bytes: usize,
    pub ways: u32,
    pub state: i32,
    pub serial: i32,
    pub transition: i32,
    pub log: i32,
    pub ip: i32,
    pub next: i32,
    pub instructions: i32,
    pub left: i32,
}

/// The offsets of the fields of an ARMv7-M core that native code uses.
#[derive(Debug, Clone, Copy)]
pub struct Armv7mCoreFieldLayout {
    pub ip: i32,
    pub t: i32,
    pub limit: i32,
    pub instructions: i32,
    pub bus_wait: i32,
    pub flash_wait: i32,
}

/// The offsets of the fields of a cached transition of an ARMv7-M trace.
#[derive(Debug, Clone, Copy)]
pub struct TraceTimingTransitionLayout {
    pub serial: i32,
    pub bus_wait: i32,
    pub flash_wait: i32,
    pub next: i32,
    pub taken: i32,
    pub cycles: i32,
    pub lookups: usize,
}

/// How native code repeats the cache look-ups that were recorded with a cached transition. The numbers are offsets in
/// the record.
#[derive(Debug, Clone, Copy)]
pub enum Repeats {
    /// There is nothing to be looked up.
    Nothing,
    /// The answers are the same while the version there (64 bits) is that of [`CacheLookupReplayData`].
    Held {
        /// The version.
        version: usize,
    },
    /// The same. And the group of this number (32 bits) counts as used at the clock, which continued by so much.
    Touched {
        /// The version.
        version: usize,
        /// The group's number.
        group: usize,
        /// Bytes of a group.
        group_bytes: usize,
        /// Offset in it of when it was used (64 bits).
        used: usize,
        /// The ticks by which the clock advances.
        ticks: usize,
    },
}

/// The data that native code needs to repeat cache look-ups: the version of the cache's content, and the addresses of
/// its clock and its groups of lines.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct CacheLookupReplayData {
    /// The version.
    pub version: u64,
    /// Offsets of the clock (64 bits), and of the groups.
    pub clock: u64,
    /// The groups.
    pub groups: u64,
}
