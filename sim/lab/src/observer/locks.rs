//! Spinlocks: how long each was held and waited for, and by what code.

use std::collections::{BTreeMap, HashMap};

use super::costs::Place;

/// The kind of an access to a spinlock, in the order in which they can happen in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpinlockEventKind {
    /// A write freed it.
    Free,
    /// A read took it.
    Taken,
    /// A read found it taken by the other core.
    Busy,
}

/// One access to a spinlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockEvent {
    /// Cycle of the access.
    pub cycle: u64,
    /// Core that made it.
    pub core: usize,
    /// Number of the lock.
    pub lock: u8,
    /// The outcome.
    pub act: SpinlockEventKind,
}

/// The kind of a spinlock's interval: a core holds the lock, or waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Span {
    /// The interval from the read that took the lock to the write that freed it.
    Held,
    /// The interval from the first read that found it taken to the one that took it.
    Waited,
}

/// The key of the statistics of a spinlock's intervals: kind, lock, core, place of the begin, place of the end. For a
/// wait the last one is the place at which the holder took the lock.
pub type LockKey = (Span, u8, usize, Place, Place);

/// Statistics of the intervals of a spinlock: count, total and longest, with the cycle in which the longest began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpinlockIntervalStatistics {
    /// How many.
    pub count: u64,
    /// Their cycles.
    pub total_cycles: u64,
    /// The longest.
    pub max_cycles: u64,
    /// First cycle of the longest.
    pub max_start: u64,
}

/// A recorder of the intervals in which spinlocks are held or waited for.
#[derive(Debug, Clone, Default)]
pub struct SpinlockIntervalRecorder {
    held: HashMap<u8, (u64, usize, Place)>,
    waiting: HashMap<(u8, usize), (u64, Place, Place)>,
    sums: BTreeMap<LockKey, SpinlockIntervalStatistics>,
}

impl SpinlockIntervalRecorder {
    /// Notes an access to a spinlock by the instruction at `place`.
    pub fn record_lock_access(&mut self, event: LockEvent, place: Place) {
        let LockEvent { cycle, core, lock, act } = event;
        match act {
            SpinlockEventKind::Busy => {
                let holder = self.held.get(&lock).map_or(Place::default(), |held| held.2);
                self.waiting.entry((lock, core)).or_insert((cycle, place, holder));
            }
            SpinlockEventKind::Taken => {
                self.held.insert(lock, (cycle, core, place));
                if let Some((since, from, holder)) = self.waiting.remove(&(lock, core)) {
                    self.add_spinlock_interval((Span::Waited, lock, core, from, holder), since, cycle);
                }
            }
            SpinlockEventKind::Free => {
                if let Some((since, owner, from)) = self.held.remove(&lock) {
                    self.add_spinlock_interval((Span::Held, lock, owner, from, place), since, cycle);
                }
            }
        }
    }

    /// Adds an interval of a spinlock to its sum.
    fn add_spinlock_interval(&mut self, key: LockKey, start: u64, end: u64) {
        let sum = self.sums.entry(key).or_default();
        let cycles = end - start;
        sum.count += 1;
        sum.total_cycles += cycles;
        if cycles >= sum.max_cycles {
            (sum.max_cycles, sum.max_start) = (cycles, start);
        }
    }

    /// Removes the sums of ended intervals and returns them.
    pub fn take_spinlock_interval_statistics(&mut self) -> BTreeMap<LockKey, SpinlockIntervalStatistics> {
        std::mem::take(&mut self.sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinlock_wait_records_address_and_holder() {
        let mut locks = SpinlockIntervalRecorder::default();
        let at = |pc| Place { node: 0, pc };
        let event = |cycle, core, act| LockEvent { cycle, core, lock: 3, act };
        locks.record_lock_access(event(10, 0, SpinlockEventKind::Taken), at(1));
        locks.record_lock_access(event(12, 1, SpinlockEventKind::Busy), at(2));
        locks.record_lock_access(event(16, 1, SpinlockEventKind::Busy), at(2));
        locks.record_lock_access(event(20, 0, SpinlockEventKind::Free), at(4));
        locks.record_lock_access(event(22, 1, SpinlockEventKind::Taken), at(2));
        let sums = locks.take_spinlock_interval_statistics();
        let held = sums[&(Span::Held, 3, 0, at(1), at(4))];
        let waited = sums[&(Span::Waited, 3, 1, at(2), at(1))];
        assert_eq!((held.count, held.total_cycles, held.max_start), (1, 10, 10));
        assert_eq!((waited.count, waited.max_cycles, waited.max_start), (1, 10, 12));
    }
}
