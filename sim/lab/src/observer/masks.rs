//! Intervals in which interrupts of a priority are held off, and the code that opened and closed them.
//!
//! An interrupt of priority p is held off while the execution priority is p or more urgent: by PRIMASK, FAULTMASK,
//! BASEPRI, or a handler of that priority or a more urgent one. An interval begins where the instruction that raised
//! the priority ends (for a handler: with its first instruction) and ends where the one that lowered it does (for a
//! handler: when its return is through).

use std::collections::HashMap;

use super::costs::Place;

/// An interval, which has ended, in which interrupts of one priority were masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterruptMaskInterval {
    /// Priority of the interrupts held off.
    pub level: i16,
    /// Core.
    pub core: usize,
    /// First cycle.
    pub start: u64,
    /// Cycle after the last.
    pub end: u64,
    /// Instruction that held them off. A handler's first one.
    pub opener: Place,
    /// Instruction that let them in again.
    pub closer: Place,
}

/// Statistics of all masked intervals that were opened at one place and closed at another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterruptMaskStatistics {
    /// How many.
    pub count: u64,
    /// Their cycles.
    pub total_cycles: u64,
    /// The longest.
    pub longest: InterruptMaskInterval,
}

/// The key of the statistics of masked intervals: priority, core, and the places at which they begin and end.
type MaskedKey = (i16, usize, Place, Place);

/// A recorder of the intervals in which interrupts of given priorities are masked. For each priority and core one
/// interval can be in progress.
#[derive(Debug, Clone, Default)]
pub struct Masks {
    levels: Vec<i16>,
    open: [Vec<Option<(u64, Place)>>; 2],
    sums: HashMap<MaskedKey, InterruptMaskStatistics>,
    kept: usize,
    all: Vec<InterruptMaskInterval>,
}

impl Masks {
    /// Creates a recorder for interrupts of these priorities. It stores the first `kept` intervals one by one.
    pub fn new(levels: Vec<i16>, kept: usize) -> Masks {
        let open = [vec![None; levels.len()], vec![None; levels.len()]];
        Masks { levels, open, kept, ..Masks::default() }
    }

    /// Notes that `core` executes at `priority` from cycle `at` on, because of the instruction at `place`.
    pub fn record_execution_priority(&mut self, core: usize, at: u64, priority: i16, place: Place) {
        for (index, &level) in self.levels.iter().enumerate() {
            let open = &mut self.open[core][index];
            match (*open, priority <= level) {
                (None, true) => *open = Some((at, place)),
                (Some((start, opener)), false) => {
                    *open = None;
                    if at > start {
                        let masked = InterruptMaskInterval { level, core, start, end: at, opener, closer: place };
                        add_interrupt_mask_interval(&mut self.sums, masked);
                        if self.all.len() < self.kept {
                            self.all.push(masked);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Removes the recorded masked intervals and returns them: their statistics, and the intervals that were stored one
    /// by one, in the order of time. Intervals that have not ended go on.
    pub fn take_interrupt_mask_intervals(&mut self) -> (Vec<InterruptMaskStatistics>, Vec<InterruptMaskInterval>) {
        let mut sums: Vec<(MaskedKey, InterruptMaskStatistics)> = self.sums.drain().collect();
        sums.sort_unstable_by_key(|sum| sum.0);
        (sums.into_iter().map(|sum| sum.1).collect(), std::mem::take(&mut self.all))
    }

    /// Returns the intervals in progress on the cores, as if they ended in cycle `now`.
    pub fn intervals_in_progress(&self, now: u64) -> Vec<InterruptMaskInterval> {
        let of_core = |core: usize| {
            let levels = self.levels.iter().zip(&self.open[core]);
            levels.filter_map(move |(&level, open)| {
                let (start, opener) = (*open)?;
                Some(InterruptMaskInterval { level, core, start, end: now.max(start), opener, closer: opener })
            })
        };
        (0..self.open.len()).flat_map(of_core).collect()
    }
}

/// Adds a masked interval to the statistics of its core, priority and places.
fn add_interrupt_mask_interval(sums: &mut HashMap<MaskedKey, InterruptMaskStatistics>, masked: InterruptMaskInterval) {
    let key = (masked.level, masked.core, masked.opener, masked.closer);
    let sum = sums.entry(key).or_insert(InterruptMaskStatistics { count: 0, total_cycles: 0, longest: masked });
    sum.count += 1;
    sum.total_cycles += masked.end - masked.start;
    if masked.end - masked.start > sum.longest.end - sum.longest.start {
        sum.longest = masked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: i16 = 256;

    fn at(pc: u32) -> Place {
        Place { node: 0, pc }
    }

    #[test]
    fn basepri_masks_its_priority_and_lower_ones() {
        let mut masks = Masks::new(vec![0x00, 0x40, 0x80], 9);
        masks.record_execution_priority(0, 100, 0x40, at(1));
        masks.record_execution_priority(0, 130, THREAD, at(2));
        let (sums, all) = masks.take_interrupt_mask_intervals();
        assert_eq!(all.iter().map(|interval| interval.level).collect::<Vec<_>>(), [0x40, 0x80]);
        assert!(sums.iter().all(|sum| sum.total_cycles == 30 && sum.count == 1));
    }

    #[test]
    fn mask_inside_a_handler_does_not_divide_its_interval() {
        let mut masks = Masks::new(vec![0x80], 9);
        for (cycle, priority, pc) in [(10, 0x80, 1), (20, 0, 2), (25, 0x80, 3), (40, THREAD, 4)] {
            masks.record_execution_priority(0, cycle, priority, at(pc));
        }
        let all = masks.take_interrupt_mask_intervals().1;
        let want = InterruptMaskInterval { level: 0x80, core: 0, start: 10, end: 40, opener: at(1), closer: at(4) };
        assert_eq!(all, [want]);
    }

    #[test]
    fn interval_that_has_not_ended_is_in_progress() {
        let mut masks = Masks::new(vec![0x40, 0x80], 9);
        masks.record_execution_priority(1, 100, 0x80, at(1));
        let open = InterruptMaskInterval { level: 0x80, core: 1, start: 100, end: 150, opener: at(1), closer: at(1) };
        assert_eq!(masks.intervals_in_progress(150), [open]);
        assert!(masks.take_interrupt_mask_intervals().0.is_empty());
        masks.record_execution_priority(1, 160, THREAD, at(2));
        assert!(masks.intervals_in_progress(170).is_empty());
    }

    #[test]
    fn longest_interrupt_mask_interval_is_kept() {
        let mut masks = Masks::new(vec![0], 0);
        for (start, length) in [(0, 5), (100, 50), (200, 7)] {
            masks.record_execution_priority(1, start, 0, at(1));
            masks.record_execution_priority(0, start + 1, THREAD, at(9));
            masks.record_execution_priority(1, start + length, THREAD, at(2));
        }
        let sums = masks.take_interrupt_mask_intervals().0;
        assert_eq!(sums.len(), 1);
        assert_eq!((sums[0].count, sums[0].total_cycles, sums[0].longest.start), (3, 62, 100));
    }
}
