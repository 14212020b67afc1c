//! Hosts for which no native code is written: nothing is translated, and nothing below is ever called.

use std::ffi::c_void;

use super::{BlockLayout, EntryPoints, TimingPredictorLayout, TraceLogLayout};

/// The memory for native code on a host without it: never filled.
#[derive(Debug, Default)]
pub struct Store(());

/// A native function, on a host for which none is ever written.
#[derive(Debug, Clone, Copy)]
pub struct Function(());

impl Function {
    /// Does nothing: without native code no value of this type exists.
    ///
    /// # Safety
    /// There is none.
    pub unsafe fn call_native(self, _: *mut c_void, _: *mut u8, _: *const u8, _: *mut c_void) -> u32 {
        unreachable!("there is no native code")
    }
}

/// The entry to native code that continues from path to path, on a host without it.
#[derive(Debug, Clone, Copy)]
pub struct Entry(());

impl Entry {
    /// Does nothing: no value of this type exists.
    ///
    /// # Safety
    /// There is none.
    pub unsafe fn call_native(self, _: *mut c_void, _: (*mut u8, *const u8), _: *mut c_void, _: u64) -> u64 {
        unreachable!("there is no native code")
    }
}

/// The entry to native code of basic blocks, on a host without it.
#[derive(Debug, Clone, Copy)]
pub struct BlockEntry(());

impl BlockEntry {
    /// Does nothing: no value of this type exists.
    ///
    /// # Safety
    /// There is none.
    pub unsafe fn call_native(self, _: *mut c_void, _: *mut u8, _: *mut c_void, _: *mut c_void) -> u32 {
        unreachable!("there is no native code")
    }
}

/// Returns `None`: this host has no native code.
pub fn write_path_entry_function(_: &mut Store, _: Option<(TimingPredictorLayout, TraceLogLayout)>) -> Option<Entry> {
    None
}

/// Returns `None`: this host has no native code.
pub fn block_entry_points(_: &mut Store, _: &BlockLayout) -> Option<EntryPoints> {
    None
}
