//! Injection: interrupts and pin levels that come from nowhere, at a chosen cycle.

use std::collections::VecDeque;

/// A stimulus from outside of the board that a test injects: an exception, a pin's level and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stimulus {
    /// An exception becomes pending, as by a pulse on its interrupt line.
    Exception {
        /// Core.
        core: usize,
        /// Exception number: 16 for interrupt 0.
        number: u32,
    },
    /// The outside drives a pin.
    Pin {
        /// Pin number as in events.
        pin: u16,
        /// Level.
        level: bool,
    },
}

/// A cycle that is never reached.
const NEVER: u64 = u64::MAX;

/// The scheduled stimuli (exceptions, pin levels and so on), in the order of their cycles. Stimuli of one cycle stay in
/// the order in which they were scheduled.
#[derive(Debug, Clone, Default)]
pub struct StimulusSchedule {
    queue: VecDeque<(u64, Stimulus)>,
}

impl StimulusSchedule {
    /// Schedules a stimulus for a cycle.
    pub fn add_stimulus(&mut self, cycle: u64, stimulus: Stimulus) {
        let place = self.queue.partition_point(|&(other, _)| other <= cycle);
        self.queue.insert(place, (cycle, stimulus));
    }

    /// Returns the cycle of the next stimulus.
    #[inline]
    pub fn next_stimulus_cycle(&self) -> u64 {
        self.queue.front().map_or(NEVER, |&(cycle, _)| cycle)
    }

    /// Removes the next stimulus, if it is due at cycle `at`.
    pub fn take_due_stimulus(&mut self, at: u64) -> Option<Stimulus> {
        if self.next_stimulus_cycle() > at {
            return None;
        }
        self.queue.pop_front().map(|(_, stimulus)| stimulus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injections_are_ordered_by_time_then_by_insertion() {
        let pin = |pin| Stimulus::Pin { pin, level: true };
        let mut injections = StimulusSchedule::default();
        for (cycle, number) in [(30, 1), (10, 2), (30, 3), (20, 4)] {
            injections.add_stimulus(cycle, pin(number));
        }
        assert_eq!((injections.next_stimulus_cycle(), injections.take_due_stimulus(9)), (10, None));
        let taken: Vec<_> = std::iter::from_fn(|| injections.take_due_stimulus(30)).collect();
        assert_eq!(taken, [2, 4, 1, 3].map(pin));
        assert_eq!(injections.next_stimulus_cycle(), NEVER);
    }
}
