//! A stand-in for the chip in unit tests.

use super::block::Access;
use super::effects::Effects;

/// Owns what an [`Access`] borrows: a core and a block at 16 MHz.
pub(crate) struct Bench {
    pub now: u64,
    pub core_hz: u64,
    pub clock_hz: u64,
    pub effects: Effects,
}

impl Bench {
    pub fn new() -> Self {
        Self { now: 0, core_hz: 16_000_000, clock_hz: 16_000_000, effects: Effects::default() }
    }

    pub fn access(&mut self) -> Access<'_> {
        Access { now: self.now, core_hz: self.core_hz, clock_hz: self.clock_hz, bytes: 4, effects: &mut self.effects }
    }

    pub fn at(&mut self, now: u64) -> Access<'_> {
        self.now = now;
        self.access()
    }
}
