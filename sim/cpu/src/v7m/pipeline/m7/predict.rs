//! The branch target address cache of the Cortex-M7.
//!
//! ARM names it and says that prediction is dynamic. Size, organisation and counters are assumed: direct-mapped by the
//! branch's address, two-bit counters, entries made by taken branches, indirect branches predicted to go where they
//! went last. There is no return stack. BPIALL is taken to do nothing.

use std::mem::offset_of;

use rtoslab_timing::cortex_m7::BRANCH_TARGETS;

/// An entry of the branch target cache.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Address of the branch with bit 0 set. 0: free.
    branch: u32,
    target: u32,
    counter: u8,
}

/// The counter value from which on a branch is predicted taken.
pub const TAKEN: u8 = 2;
const STRONGLY_TAKEN: u8 = 3;
const _: () = assert!(TAKEN == 2 && STRONGLY_TAKEN == TAKEN + 1, "as native code counts");

/// The branch predictor's memory: the branch target cache.
#[derive(Debug, Clone)]
pub struct Predictor {
    entries: [Entry; BRANCH_TARGETS],
}

impl Predictor {
    /// Offsets of the entries, and of their fields.
    pub const ENTRIES: usize = offset_of!(Predictor, entries);
    pub const ENTRY_BYTES: usize = size_of::<Entry>();
    pub const BRANCH: usize = offset_of!(Entry, branch);
    pub const TARGET: usize = offset_of!(Entry, target);
    pub const COUNTER: usize = offset_of!(Entry, counter);

    /// Creates an empty predictor.
    pub const fn new() -> Predictor {
        Predictor { entries: [Entry { branch: 0, target: 0, counter: 0 }; BRANCH_TARGETS] }
    }

    /// Returns the entry of the branch target cache for this branch's address, which may be in use for another branch.
    fn branch_target_cache_entry(&mut self, branch: u32) -> &mut Entry {
        &mut self.entries[(branch >> 1) as usize % BRANCH_TARGETS]
    }

    /// Returns the target to which a branch is predicted to go. `None`: it is not predicted taken.
    pub fn predicted_target(&mut self, branch: u32) -> Option<u32> {
        let entry = self.branch_target_cache_entry(branch);
        (entry.branch == branch | 1 && entry.counter >= TAKEN).then_some(entry.target)
    }

    /// Learns that a branch went to `target`. `allocate` makes an entry for an unknown one.
    pub fn learn_taken(&mut self, branch: u32, target: u32, allocate: bool) {
        let entry = self.branch_target_cache_entry(branch);
        if entry.branch == branch | 1 {
            entry.counter = (entry.counter + 1).min(STRONGLY_TAKEN);
            entry.target = target;
        } else if allocate {
            *entry = Entry { branch: branch | 1, target, counter: TAKEN };
        }
    }

    /// Learns that a branch was not taken.
    pub fn learn_not_taken(&mut self, branch: u32) {
        let entry = self.branch_target_cache_entry(branch);
        if entry.branch == branch | 1 {
            entry.counter = entry.counter.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRANCH: u32 = 0x0800_0100;

    #[test]
    fn two_bits_of_hysteresis() {
        let mut predictor = Predictor::new();
        assert_eq!(predictor.predicted_target(BRANCH), None);
        predictor.learn_taken(BRANCH, 0x10, true);
        assert_eq!(predictor.predicted_target(BRANCH), Some(0x10));
        predictor.learn_not_taken(BRANCH);
        assert_eq!(predictor.predicted_target(BRANCH), None);
        predictor.learn_taken(BRANCH, 0x10, true);
        predictor.learn_taken(BRANCH, 0x20, true);
        predictor.learn_not_taken(BRANCH);
        assert_eq!(predictor.predicted_target(BRANCH), Some(0x20), "strongly taken to where it went last");
    }

    #[test]
    fn predictor_shares_and_refuses_entries() {
        let mut predictor = Predictor::new();
        let rival = BRANCH + 2 * BRANCH_TARGETS as u32;
        predictor.learn_taken(BRANCH, 0x10, true);
        predictor.learn_taken(rival, 0x20, false);
        assert_eq!((predictor.predicted_target(BRANCH), predictor.predicted_target(rival)), (Some(0x10), None));
        predictor.learn_taken(rival, 0x20, true);
        assert_eq!((predictor.predicted_target(BRANCH), predictor.predicted_target(rival)), (None, Some(0x20)));
    }
}
