//! A stand-in for the chip in unit tests.

use super::block::Access;
use super::effects::Effects;
use crate::ElapsedTime;

/// Owns what an [`Access`] borrows: a core and a block at 16 MHz.
pub(crate) struct Bench {
    pub now: u64,
    pub core_hz: u64,
    pub clock_hz: u64,
    pub elapsed: ElapsedTime,
    pub effects: Effects,
}

impl Bench {
    pub fn new() -> Self {
        let elapsed = ElapsedTime::new_at_power_on(16_000_000);
        Self { now: 0, core_hz: 16_000_000, clock_hz: 16_000_000, elapsed, effects: Effects::default() }
    }

    pub fn access(&mut self) -> Access<'_> {
        let Self { now, core_hz, clock_hz, ref elapsed, ref mut effects } = *self;
        Access { now, core_hz, clock_hz, elapsed, bytes: 4, effects }
    }

    pub fn access_at(&mut self, now: u64) -> Access<'_> {
        self.now = now;
        self.access()
    }
}
