//! The pins as the state machines see them: two flip-flops on each input, unless INPUT_SYNC_BYPASS takes them away
//! (RP2040 data sheet 3.5.6.3).
//!
//! A level that changes at the end of cycle s is at the pad in cycle s + 1, where a bypassed input sees it, and behind
//! the flip-flops in cycle s + 3.

/// Cycles from a change to the cycle that sees it, bypassed and synchronised.
const BYPASSED: u64 = 1;
const SYNCHRONISED: u64 = 3;
/// Changes on their way: one a cycle.
const MOST_CHANGES: usize = 4;

/// The pin levels that a PIO block's state machines see, with the changes still in the input synchronisers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PinInputs {
    /// Levels before the first change.
    before: u32,
    /// Cycle of each change and the levels after it.
    changes: [(u64, u32); MOST_CHANGES],
    len: usize,
    /// INPUT_SYNC_BYPASS.
    pub bypass: u32,
}

impl PinInputs {
    /// Creates inputs whose levels have not changed recently.
    pub fn new_inputs_with_steady_levels(levels: u32) -> Self {
        Self { before: levels, ..Self::default() }
    }

    /// Changes the levels of the pins at the end of cycle `at`. Drops earlier changes that have passed all input
    /// synchronisers by then.
    pub fn change_input_pin_levels(&mut self, levels: u32, at: u64) {
        while self.len > 0 && (self.changes[0].0 + SYNCHRONISED <= at || self.len == MOST_CHANGES) {
            self.before = self.changes[0].1;
            self.changes.copy_within(1..self.len, 0);
            self.len -= 1;
        }
        if self.len > 0 && self.changes[self.len - 1].0 >= at {
            self.changes[self.len - 1].1 = levels;
        } else {
            self.changes[self.len] = (at, levels);
            self.len += 1;
        }
    }

    /// Returns the pin levels `delay` cycles before a cycle.
    fn pin_levels_before_cycle(&self, cycle: u64, delay: u64) -> u32 {
        let past = self.changes[..self.len].iter().rev().find(|change| change.0 + delay <= cycle);
        past.map_or(self.before, |change| change.1)
    }

    /// Returns the pin levels that an instruction of this cycle sees.
    pub fn pio_pin_levels_at_cycle(&self, cycle: u64) -> u32 {
        if self.len == 0 {
            return self.before;
        }
        let synchronised = self.pin_levels_before_cycle(cycle, SYNCHRONISED);
        synchronised & !self.bypass | self.pin_levels_before_cycle(cycle, BYPASSED) & self.bypass
    }

    /// Returns the first cycle, `from` or later, that may see other pin levels than the cycle before it.
    pub fn next_pin_level_change_cycle(&self, from: u64) -> Option<u64> {
        let arrivals =
            self.changes[..self.len].iter().flat_map(|change| [change.0 + BYPASSED, change.0 + SYNCHRONISED]);
        arrivals.filter(|&cycle| cycle >= from).min()
    }
}
