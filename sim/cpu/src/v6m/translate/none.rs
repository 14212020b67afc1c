//! Hosts for whose processors nothing is translated.

use super::plan::Path;
use super::{Layout, Translated};
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;

/// There is no native code.
#[derive(Debug, Default)]
pub(super) struct Store;

/// No code.
#[derive(Debug, Clone, Copy)]
pub(in crate::v6m) enum NativeBlock {}

impl NativeBlock {
    /// # Safety
    /// There is none.
    pub(super) unsafe fn call<B: Translated>(self, _: &mut B, _: &mut Core) -> (u32, u64) {
        match self {}
    }
}

/// Nothing.
pub(super) fn assemble<B: Bus>(_: &mut Store, _: &Core, _: Layout, _: &Path) -> Option<(NativeBlock, usize)> {
    None
}
