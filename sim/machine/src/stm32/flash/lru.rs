//! A fully associative cache of line numbers, least recently used out first.

use std::mem::offset_of;

use rtoslab_cpu::v7m::timing_cache::{CacheLookupReplayData, Repeats};

/// Not resident.
const ABSENT: u8 = 0;

/// A cache of `LINES` lines of a memory, which evicts the least recently used line.
#[derive(Debug, Clone)]
pub(super) struct Lru<const LINES: usize> {
    /// Slot + 1 of each line of the memory, so that a look-up is one load.
    slot_of: Vec<u8>,
    line_in: [u32; LINES],
    used: [u64; LINES],
    clock: u64,
    filled: usize,
    /// Changes when a line goes in or out.
    version: u64,
    /// Lines that are used together, in slots as they are in this version.
    groups: Vec<TraceCacheLineGroup>,
}

/// Most lines in a group.
pub(super) const GROUP: usize = 16;
/// Most groups.
const GROUPS: usize = 1 << 14;

/// Lines of the cache that a trace uses one after the other.
#[derive(Debug, Clone, Copy)]
struct TraceCacheLineGroup {
    slots: [u8; GROUP],
    count: usize,
    /// The clock after their last use. 0 if there was none. `used` may not know of it yet.
    used: u64,
}

/// Returns how native code repeats look-ups whose version and group are at these offsets, with the effect of
/// [`Lru::mark_cache_lines_as_used`].
pub(super) const fn native_lookup_repetition(version: usize, group: usize) -> Repeats {
    let (group_bytes, used) = (size_of::<TraceCacheLineGroup>(), offset_of!(TraceCacheLineGroup, used));
    Repeats::Touched { version, group, group_bytes, used, ticks: GROUP }
}

impl<const LINES: usize> Lru<LINES> {
    /// Returns what native code needs to repeat look-ups: the version, and the host addresses of clock and groups.
    #[inline(always)]
    pub fn cache_lookup_replay_data(&mut self) -> CacheLookupReplayData {
        let (clock, groups) = (&raw mut self.clock as u64, self.groups.as_mut_ptr() as u64);
        CacheLookupReplayData { version: self.version, clock, groups }
    }

    /// Creates an empty cache of a memory with `lines` lines.
    pub fn new(lines: usize) -> Lru<LINES> {
        Lru {
            slot_of: vec![ABSENT; lines],
            line_in: [0; LINES],
            used: [0; LINES],
            clock: 0,
            filled: 0,
            version: 1,
            groups: Vec::new(),
        }
    }

    /// Returns whether the line is cached, and counts it as used now.
    #[inline(always)]
    pub fn look_up_cache_line(&mut self, line: u32) -> bool {
        match self.slot_of.get(line as usize) {
            Some(&slot) if slot != ABSENT => {
                self.clock += 1;
                self.used[usize::from(slot) - 1] = self.clock;
                true
            }
            _ => false,
        }
    }

    /// Returns whether the line is cached, without counting it as used.
    #[inline(always)]
    pub fn is_line_cached(&self, line: u32) -> bool {
        self.slot_of.get(line as usize).is_some_and(|&slot| slot != ABSENT)
    }

    /// Returns a number that changes when a line enters or leaves the cache, and is never 0.
    #[inline(always)]
    pub fn content_version(&self) -> u64 {
        self.version
    }

    /// Changes the version of the cache's content, and drops all groups.
    fn advance_content_version(&mut self) {
        self.apply_deferred_line_uses();
        self.groups.clear();
        self.version += 1;
    }

    /// Applies the uses of groups that were only noted to the lines.
    fn apply_deferred_line_uses(&mut self) {
        for group in self.groups.iter_mut().filter(|group| group.used != 0) {
            let first = std::mem::take(&mut group.used) - GROUP as u64;
            for (&slot, use_of_it) in group.slots[..group.count].iter().zip(first + 1..) {
                let used = &mut self.used[usize::from(slot)];
                *used = use_of_it.max(*used);
            }
        }
    }

    /// Sets the version of the cache's content to a later one than `version`, which was in use before.
    pub fn set_version_after(&mut self, version: u64) {
        self.version = self.version.max(version);
        self.advance_content_version();
    }

    /// Returns the place of a line in the cache. `None` if it is not cached.
    pub fn cache_slot_of_line(&self, line: u32) -> Option<u8> {
        let slot = *self.slot_of.get(line as usize)?;
        slot.checked_sub(1)
    }

    /// Returns the number of a group of the lines in these slots, for the present version, which may change.
    pub fn group_number_of_cache_slots(&mut self, slots: impl Iterator<Item = u8>) -> u32 {
        if self.groups.len() == GROUPS {
            self.advance_content_version();
        }
        let mut group = TraceCacheLineGroup { slots: [0; GROUP], count: 0, used: 0 };
        for slot in slots {
            group.slots[group.count] = slot;
            group.count += 1;
        }
        self.groups.push(group);
        self.groups.len() as u32 - 1
    }

    /// Marks the lines of a group as used now, in their order.
    #[inline(always)]
    pub fn mark_cache_lines_as_used(&mut self, group: u32) {
        self.clock += GROUP as u64;
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.used = self.clock;
        }
    }

    /// Returns the lines that the next `count` fills evict, unless they are used before.
    pub fn cache_lines_to_evict_next(&mut self, count: usize) -> impl Iterator<Item = u32> {
        self.apply_deferred_line_uses();
        let leaving = (self.filled + count).saturating_sub(LINES).min(LINES);
        let mut slots: [usize; LINES] = std::array::from_fn(|slot| slot);
        if leaving != 0 && leaving < LINES {
            slots.select_nth_unstable_by_key(leaving - 1, |&slot| self.used[slot]);
        }
        slots.into_iter().take(leaving).map(|slot| self.line_in[slot])
    }

    /// Loads a line into the cache, unless it is there.
    pub fn load_line(&mut self, line: u32) {
        if line as usize >= self.slot_of.len() || self.is_line_cached(line) {
            return;
        }
        self.advance_content_version();
        let slot = if self.filled < LINES {
            self.filled += 1;
            self.filled - 1
        } else {
            let oldest = (0..LINES).min_by_key(|&slot| self.used[slot]).unwrap_or(0);
            self.slot_of[self.line_in[oldest] as usize] = ABSENT;
            oldest
        };
        self.clock += 1;
        self.line_in[slot] = line;
        self.used[slot] = self.clock;
        self.slot_of[line as usize] = slot as u8 + 1;
    }

    /// Empties the cache.
    pub fn empty_cache(&mut self) {
        self.advance_content_version();
        self.slot_of.fill(ABSENT);
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_line_is_replaced() {
        let mut cache: Lru<2> = Lru::new(8);
        cache.load_line(1);
        cache.load_line(2);
        assert!(cache.look_up_cache_line(1));
        cache.load_line(3);
        assert_eq!([1, 2, 3].map(|line| cache.is_line_cached(line)), [true, false, true]);
        cache.empty_cache();
        assert!(!cache.look_up_cache_line(1));
    }

    #[test]
    fn line_after_the_end_is_never_cached() {
        let mut cache: Lru<2> = Lru::new(8);
        cache.load_line(8);
        assert!(!cache.look_up_cache_line(8));
    }

    #[test]
    fn cache_line_group_keeps_its_order() {
        let mut cache = Lru::<3>::new(16);
        for line in [1, 2, 3] {
            cache.load_line(line);
        }
        let group = cache.group_number_of_cache_slots([1, 0].into_iter());
        cache.look_up_cache_line(3);
        cache.mark_cache_lines_as_used(group);
        assert_eq!(cache.cache_lines_to_evict_next(2).collect::<Vec<_>>(), [3, 2]);
        cache.look_up_cache_line(2);
        let version = cache.content_version();
        cache.load_line(4);
        cache.load_line(5);
        assert!(
            cache.content_version() != version
                && cache.is_line_cached(2)
                && !cache.is_line_cached(1)
                && !cache.is_line_cached(3)
        );
    }

    #[test]
    fn excess_line_groups_start_new_version() {
        let mut cache = Lru::<3>::new(16);
        cache.load_line(7);
        let version = cache.content_version();
        let groups: Vec<u32> = (0..=GROUPS).map(|_| cache.group_number_of_cache_slots([0].into_iter())).collect();
        assert_eq!((groups[GROUPS - 1], groups[GROUPS]), (GROUPS as u32 - 1, 0));
        assert!(cache.content_version() != version && cache.is_line_cached(7));
    }
}
