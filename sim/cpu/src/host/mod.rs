//! Native code: instructions that are executed again and again are translated.
//!
//! A path of instructions becomes a function, step by step. It works on the fields of a core and on the main RAM. If
//! the execution deviates from the path, the path ends before that step, and its caller continues from there.
//! Instructions are written as the ops of [`v7m`](crate::v7m::op). Those of ARMv6-M are among them. The callers define
//! a path and its time: `v6m::translate`, `v7m::timing_cache::translate`.

mod layout;
#[cfg(not(native_code))]
mod none;
pub mod registry;
// The assembler's macro converts what is a number already.
#[allow(clippy::useless_conversion)]
#[cfg(native_code)]
pub mod x64;

pub use layout::*;
#[cfg(not(native_code))]
pub use none::{BlockEntry, Entry, Function, Store, block_entry_points, write_path_entry_function};
#[cfg(native_code)]
pub use x64::{BlockEntry, Entry, Function, Store, block_entry_points, write_path_entry_function};

/// True if hot code is translated to code of this host. If not the interpreter executes it.
pub const HAS_NATIVE_CODE: bool = cfg!(native_code);

/// Bytes of main RAM that share a mark: a store to where it is not 0 may have consequences.
pub const MARKED_BYTES: u32 = 256;

/// The return value of native code if a call ended the path. Otherwise it returns the number of the step before which
/// it ended.
pub const CALLED: u32 = u32::MAX - 1;

/// The offsets of the fields of a core that native code uses.
#[derive(Debug, Clone, Copy)]
pub struct CoreFieldOffsets {
    /// Its registers.
    pub r: i32,
    /// N and Z in one word: N is set if it is negative, Z if its low half is zero.
    pub nz: i32,
    /// C.
    pub c: i32,
    /// V.
    pub v: i32,
    /// The next instruction.
    pub ip: i32,
    /// Floating-point registers, of a core that has them.
    pub s: i32,
    /// Whether floating-point instructions need no check.
    pub float_ready: i32,
}

/// The offsets of fields of a pipeline on which the timing of accesses and branches depends. Native code reads them,
/// and logs what they say: the bank of an access, how many stores ago a loaded doubleword was stored to, and whether a
/// branch was predicted right.
#[derive(Debug, Clone, Copy)]
pub struct TimingPredictorLayout {
    /// Numbers of the doublewords that were stored to last, counted from `origin`: words, each at its number modulo
    /// `recent`.
    pub numbers: i32,
    /// The address of doubleword 0.
    pub origin: u32,
    /// The counts of these stores, doublewords.
    pub counts: i32,
    /// How many there are.
    pub recent: u32,
    /// Stores so far.
    pub stores: i32,
    /// How many stores ago one does not matter any more, less 1 (64 bits).
    pub reach: i32,
    /// Bits in which it is logged how many stores ago one was, less 1.
    pub ago_bits: u32,
    /// Branch targets: where they begin, bytes of each, how many; a branch has its place by its halfword modulo that.
    pub entries: i32,
    pub entry_bytes: u32,
    pub targets: u32,
    /// Offsets in one: the branch's address with the lowest bit set, where it went, and a counter.
    pub branch: i32,
    pub target: i32,
    pub counter: i32,
    /// The counter value, of four, from which on a branch is predicted taken: the last but one. Each time it is taken
    /// it counts up, each time it is not down.
    pub taken: u8,
}

impl TimingPredictorLayout {
    /// Returns the offset of the branch target cache's entry for the branch at this address.
    fn predictor_entry_offset(&self, branch: u32) -> i32 {
        self.entries + (branch / 2 % self.targets * self.entry_bytes) as i32
    }
}

/// How native code writes the log of a trace: the offsets in its context, and the function that it calls for a branch
/// prediction.
#[derive(Debug, Clone, Copy)]
pub struct TraceLogLayout {
    /// The pipeline.
    pub pipe: i32,
    /// The log, which begins with 1.
    pub log: i32,
    /// [`ConstantMemoryAddresses`].
    pub constants: i32,
    /// A function that takes the context, the address of a branch and that of its target (1 if it was not taken), tells
    /// the predictor and returns 1 if it was right, else 0.
    pub judge: usize,
}

/// The layout of the speculation log that native code writes: offsets of fields in the log, and the offset of the
/// marks.
#[derive(Debug, Clone, Copy)]
pub struct NativeSpeculationLogLayout {
    /// The reads, a word each: the offset of a word in main RAM, and a bit for each of its bytes from `lanes` on.
    pub read: i32,
    /// The writes, likewise, with the word's earlier content above: doublewords.
    pub written: i32,
    /// First of those bits.
    pub lanes: u32,
    /// How many words of each, two bytes.
    pub words: i32,
    /// Their numbers folded: n + n / 64 modulo 64 is a bit of these doublewords.
    pub reads: i32,
    pub writes: i32,
    /// Bits of each access, the highest one set, in the register of the accessed memories.
    pub access_bits: u32,
    /// The context's offset of the pointer to the marks of main RAM.
    pub marks: i32,
}

/// The offsets of the log entry of a store to a watched word: its instruction's address, the word's offset in main RAM
/// and earlier content, and the bit that is set in a word of flags for it.
#[derive(Debug, Clone, Copy)]
pub struct WatchedStoreLayout {
    pub pc: i32,
    pub offset: i32,
    pub word: i32,
    pub summons: i32,
    pub summoned: i32,
}

/// The bank of main RAM that an access goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Four that are interleaved by words, from 0 on.
    Interleaved,
    /// That one.
    Number(u32),
}

/// Constant memory behind a cache, which native code reads by itself if the cache contains the line. For each of its
/// sets a table has the number of the line that was found last.
#[derive(Debug, Clone, Copy)]
pub struct CachedConstantMemory {
    /// Their first address.
    pub base: u32,
    /// How many bytes.
    pub bytes: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// How many sets.
    pub sets: u32,
}

/// The host addresses of the constant memory, and of the table with the cache line that was found last in each set.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct ConstantMemoryAddresses {
    /// Their bytes.
    pub bytes: u64,
    /// The table, a word for each set.
    pub found: u64,
}

/// A region of code, as native code uses it: its board addresses and the host address of its ops.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its first address.
    pub base: u32,
    /// Its length in bytes.
    pub bytes: u32,
    /// The host's address of the op of its first halfword.
    pub ops: u64,
    /// Bytes of an op.
    pub op_bytes: u32,
}

impl Place {
    /// Returns the board address of the instruction whose op is at this host address.
    pub fn instruction_address_of_op(self, ip: u64) -> u32 {
        self.base.wrapping_add((ip.wrapping_sub(self.ops) / u64::from(self.op_bytes) * 2) as u32)
    }
}
