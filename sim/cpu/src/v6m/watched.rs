//! Stores to words that somebody watches.

/// A store to a word with a probe on writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct WatchedStore {
    /// Address of the instruction.
    pub pc: u32,
    /// The word's offset in the RAM.
    pub offset: u32,
    /// Its content at that time.
    pub word: u32,
}
