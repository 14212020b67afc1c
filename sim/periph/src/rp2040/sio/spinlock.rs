//! Hardware spinlocks (data sheet 2.3.1.3) and what they cost.

const LOCK_COUNT: usize = 32;

/// Statistics of one core's accesses to one spinlock since the last [`super::Sio::clear_lock_stats`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LockStats {
    /// Successful claims.
    pub acquisitions: u64,
    /// Claims that found the lock taken by the other core at least once before.
    pub contended: u64,
    /// Reads that found the lock taken, by the other core or by the reader itself.
    pub failed_reads: u64,
    /// Cycles from the first failed read to the claim, over all contended claims. A core that gives up after a
    /// failed read and tries again later counts the time between as waiting.
    pub wait_cycles: u64,
    /// Longest single wait, in cycles.
    pub wait_cycles_max: u64,
    /// Cycles from claim to release, over all claims that were released.
    pub hold_cycles: u64,
    /// Longest single hold, in cycles.
    pub hold_cycles_max: u64,
}

/// One logged access to a spinlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockAccess {
    /// Cycle.
    pub cycle: u64,
    /// Core that made it.
    pub core: usize,
    /// Number of the lock.
    pub lock: u8,
    /// The outcome.
    pub kind: LockAccessKind,
}

/// The outcome of an access to a spinlock. Reads of a core that already holds the lock are not logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockAccessKind {
    /// The other core holds it.
    Busy,
    /// Taken.
    Taken,
    /// Released.
    Free,
}

/// The state of the 32 spinlocks, with statistics and a log.
#[derive(Debug, Clone)]
pub(super) struct Spinlocks {
    locked: u32,
    /// Claiming core and cycle, per locked lock.
    held: [(usize, u64); LOCK_COUNT],
    /// Cycle of the first failed read of each core that has not succeeded since.
    waiting: [[Option<u64>; 2]; LOCK_COUNT],
    stats: [[LockStats; 2]; LOCK_COUNT],
    /// Accesses, while somebody wants them.
    accesses: Option<Vec<LockAccess>>,
}

impl Default for Spinlocks {
    /// Returns the spinlocks after power-on: all free, without statistics.
    fn default() -> Self {
        Self {
            locked: 0,
            held: [(0, 0); LOCK_COUNT],
            waiting: [[None; 2]; LOCK_COUNT],
            stats: [[LockStats::default(); 2]; LOCK_COUNT],
            accesses: None,
        }
    }
}

impl Spinlocks {
    /// Returns the spinlocks after a reset: all free, statistics from zero. The log of accesses continues.
    pub fn spinlocks_after_reset(&mut self) -> Spinlocks {
        Spinlocks { accesses: self.accesses.take(), ..Spinlocks::default() }
    }

    /// Returns SPINLOCK_ST: a bit for each lock that is taken.
    pub fn bits_of_taken_locks(&self) -> u32 {
        self.locked
    }

    /// Claims a lock for `core`. Returns the lock's bit if it was free, else 0.
    #[inline]
    pub fn claim_lock(&mut self, lock: usize, core: usize, now: u64) -> u32 {
        let bit = 1 << lock;
        let stats = &mut self.stats[lock][core];
        if self.locked & bit != 0 {
            stats.failed_reads += 1;
            // A kernel that takes its lock recursively reads its own lock as taken: that is not waiting.
            if self.held[lock].0 != core {
                self.waiting[lock][core].get_or_insert(now);
                self.log_access(lock, core, now, LockAccessKind::Busy);
            }
            return 0;
        }
        self.locked |= bit;
        self.held[lock] = (core, now);
        stats.acquisitions += 1;
        if let Some(since) = self.waiting[lock][core].take() {
            stats.contended += 1;
            stats.wait_cycles += now - since;
            stats.wait_cycles_max = stats.wait_cycles_max.max(now - since);
        }
        self.log_access(lock, core, now, LockAccessKind::Taken);
        bit
    }

    /// Counts `times` further failed claims of a core whose claim has failed.
    pub fn count_failed_spinlock_claims(&mut self, lock: usize, core: usize, times: u64) {
        self.stats[lock][core].failed_reads += times;
    }

    /// Releases a lock for `core`, whoever holds it. The hold is charged to the core that claimed it.
    #[inline]
    pub fn release_lock(&mut self, lock: usize, core: usize, now: u64) {
        let bit = 1 << lock;
        if self.locked & bit != 0 {
            self.locked &= !bit;
            let (owner, since) = self.held[lock];
            let stats = &mut self.stats[lock][owner];
            stats.hold_cycles += now - since;
            stats.hold_cycles_max = stats.hold_cycles_max.max(now - since);
            self.log_access(lock, core, now, LockAccessKind::Free);
        }
    }

    /// Appends to the log of accesses, if it is kept.
    #[inline]
    fn log_access(&mut self, lock: usize, core: usize, cycle: u64, kind: LockAccessKind) {
        if let Some(accesses) = &mut self.accesses {
            accesses.push(LockAccess { cycle, core, lock: lock as u8, kind });
        }
    }

    /// Switches the log of accesses on or off.
    pub fn set_access_logging(&mut self, on: bool) {
        self.accesses = on.then(Vec::new);
    }

    /// Returns whether accesses are logged.
    pub fn logs_accesses(&self) -> bool {
        self.accesses.is_some()
    }

    /// Removes the log of accesses and returns it.
    pub fn take_accesses(&mut self) -> Vec<LockAccess> {
        self.accesses.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the statistics of each lock by core.
    pub fn lock_stats(&self) -> &[[LockStats; 2]; LOCK_COUNT] {
        &self.stats
    }

    /// Clears the statistics. A wait or a hold in progress counts from `now` on.
    pub fn clear_lock_stats(&mut self, now: u64) {
        self.stats = [[LockStats::default(); 2]; LOCK_COUNT];
        for since in self.waiting.iter_mut().flatten().flatten() {
            *since = now;
        }
        for (_, since) in &mut self.held {
            *since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contention_is_counted_for_the_core_that_waits() {
        let mut locks = Spinlocks::default();
        assert_eq!(locks.claim_lock(3, 0, 10), 8);
        assert_eq!(locks.claim_lock(3, 1, 10), 0);
        assert_eq!(locks.claim_lock(3, 1, 14), 0);
        locks.release_lock(3, 0, 20);
        assert_eq!(locks.claim_lock(3, 1, 22), 8);
        locks.release_lock(3, 0, 25);
        let [core0, core1] = locks.lock_stats()[3];
        assert_eq!((core0.acquisitions, core0.contended, core0.hold_cycles), (1, 0, 10));
        let want = LockStats {
            acquisitions: 1,
            contended: 1,
            failed_reads: 2,
            wait_cycles: 12,
            wait_cycles_max: 12,
            hold_cycles: 3,
            hold_cycles_max: 3,
        };
        assert_eq!(core1, want);
        assert_eq!(locks.lock_stats()[2], [LockStats::default(); 2]);
    }

    #[test]
    fn releasing_a_free_lock_counts_no_hold_time() {
        let mut locks = Spinlocks::default();
        locks.release_lock(0, 0, 100);
        assert_eq!(locks.lock_stats()[0][0], LockStats::default());
        assert_eq!(locks.bits_of_taken_locks(), 0);
    }

    #[test]
    fn spinlock_hold_belongs_to_claiming_core() {
        let mut locks = Spinlocks::default();
        locks.claim_lock(0, 1, 5);
        locks.release_lock(0, 0, 9);
        assert_eq!(locks.lock_stats()[0][1].hold_cycles, 4);
        locks.claim_lock(0, 0, 10);
        locks.clear_lock_stats(20);
        assert_eq!((locks.bits_of_taken_locks(), locks.lock_stats()[0][0].acquisitions), (1, 0));
    }
}
