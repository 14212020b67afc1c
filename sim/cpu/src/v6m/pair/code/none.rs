//! Hosts for whose processors nothing is translated.

use super::super::Paired;
use super::Back;
use crate::v6m::block::Block;
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::speculation::SpeculationLog;

/// There is no native code.
#[derive(Debug, Default)]
pub(super) struct Store;

/// No code.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryPoints {}

/// Returns no entry points.
pub(super) fn entry_points(_: &mut Store) -> Option<EntryPoints> {
    None
}

/// Nothing.
pub(super) fn assemble<B: Paired>(
    _: &mut B,
    (_, entry_points): (&mut Store, EntryPoints),
    _: &Core,
    _: (*mut Op, Op, &Block),
    _: *mut u32,
) -> Option<(u64, Vec<u32>)> {
    match entry_points {}
}

/// Nothing to call code with.
pub(super) struct Context;

impl Context {
    pub fn new<B: Paired>(_: &mut B) -> Context {
        Context
    }

    /// # Safety
    /// There is no code.
    pub unsafe fn run<B: Paired>(
        &mut self,
        _: &mut B,
        _: &mut [*mut Core; 2],
        _: &mut [*mut SpeculationLog; 2],
    ) -> (Back, Block) {
        (Back::Next, Block::NONE)
    }

    pub fn has_executed(&self) -> bool {
        false
    }
}
