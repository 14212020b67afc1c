//! Hosts for whose processors nothing is translated.

use super::super::{CacheableTiming, QuickBus};
use super::plan::Step;
use super::{Context, RamLayout, Record};
use crate::host::Constants;
use crate::v7m::core::Core;

/// There is no native code.
#[derive(Debug, Default)]
pub(super) struct Store;

/// No code.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {}

/// # Safety
/// There is none.
pub(super) unsafe fn enter<P, B>(entry: Entry, _: &mut Context<'_, P, B>, _: (*mut u8, *const u8), _: u64) -> u64 {
    match entry {}
}

/// Nothing.
pub(super) fn entry<P: CacheableTiming>(_: &mut Store) -> Option<Entry> {
    None
}

/// Nothing.
pub(super) fn assemble<P: CacheableTiming, B: QuickBus>(
    _: &mut Store,
    _: &Core,
    _: (RamLayout, Option<Constants>),
    _: u32,
    _: (&[Step], &[Record]),
    _: bool,
) -> Option<u64> {
    None
}
