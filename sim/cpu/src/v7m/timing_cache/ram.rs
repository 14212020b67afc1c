//! Main RAM as traces and native code access it.

pub use crate::host::MARKED_BYTES;

/// Main RAM, as native code accesses it without asking the bus.
#[derive(Debug)]
pub struct DirectRamAccess<'a> {
    /// Its bytes.
    pub bytes: &'a mut [u8],
    /// A mark for each [`MARKED_BYTES`] of them: a store to where it is not 0 has consequences.
    pub marks: &'a [u8],
    /// Where it lies.
    pub layout: RamLayout,
}

/// The board address and size of main RAM.
#[derive(Debug, Clone, Copy)]
pub struct RamLayout {
    /// Address of its first byte.
    pub base: u32,
    /// Offset at which its second block begins.
    pub split: u32,
    /// Offset after the last at which a word fits.
    pub end: u32,
}
