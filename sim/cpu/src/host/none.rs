//! Hosts for which no native code is written: nothing is translated, and nothing below is ever called.

use std::ffi::c_void;

use super::{BlockLayout, EntryPoints, Foresight, Logging};

/// The memory for code, which is never filled.
#[derive(Debug, Default)]
pub struct Store(());

/// A function that code was written for: none.
#[derive(Debug, Clone, Copy)]
pub struct Function(());

impl Function {
    /// # Safety
    /// There is none.
    pub unsafe fn call(self, _: *mut c_void, _: *mut u8, _: *const u8, _: *mut c_void) -> u32 {
        unreachable!("there is no native code")
    }
}

/// The entry to code that continues from path to path: none.
#[derive(Debug, Clone, Copy)]
pub struct Entry(());

impl Entry {
    /// # Safety
    /// There is none.
    pub unsafe fn call(self, _: *mut c_void, _: (*mut u8, *const u8), _: *mut c_void, _: u64) -> u64 {
        unreachable!("there is no native code")
    }
}

/// The entry to basic blocks: none.
#[derive(Debug, Clone, Copy)]
pub struct BlockEntry(());

impl BlockEntry {
    /// # Safety
    /// There is none.
    pub unsafe fn call(self, _: *mut c_void, _: *mut u8, _: *mut c_void, _: *mut c_void) -> u32 {
        unreachable!("there is no native code")
    }
}

/// Returns no entry.
pub fn entry(_: &mut Store, _: Option<(Foresight, Logging)>) -> Option<Entry> {
    None
}

/// Returns no entry points.
pub fn block_entry_points(_: &mut Store, _: &BlockLayout) -> Option<EntryPoints> {
    None
}
