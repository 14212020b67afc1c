//! Hosts for whose processors nothing is translated.

use super::super::{Memorable, QuickBus};
use super::plan::Step;
use super::{Context, RamLayout};
use crate::v7m::core::Core;

/// Where no code is.
#[derive(Debug, Default)]
pub(super) struct Store;

/// No code.
#[derive(Debug)]
pub(super) enum Made {}

impl Made {
    /// # Safety
    /// There is none.
    pub unsafe fn call<P, B>(&self, _: &mut Context<'_, P, B>, _: *mut u8, _: *const u8) -> u32 {
        match *self {}
    }
}

/// Nothing.
pub(super) fn assemble<P: Memorable, B: QuickBus>(
    _: &mut Store,
    _: &Core,
    _: RamLayout,
    _: &[Step],
    _: bool,
) -> Option<Made> {
    None
}
