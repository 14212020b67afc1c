//! Lookups in the cache of a flash interface, recorded so that they can be repeated.

use super::lru::{self, Lru};

/// Most lookups that are cached: those of nearly all traces.
const LOOKUPS: usize = lru::GROUP;

/// The look-ups of a trace's fetches in a cache, and the lines that the cache loaded.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Lookups {
    /// Version of the cache in which the answers are known to be the same. 0 if in none, or if lines go in.
    pub(super) same_in: u64,
    /// The lines used, in that version.
    pub(super) used: u32,
    count: u32,
    /// Items that are [`Lookup::Filled`].
    fills: u32,
    /// Line numbers times 4, plus a [`CacheLookupResult`].
    items: [u32; LOOKUPS],
}

/// The result of a look-up of a line in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum CacheLookupResult {
    /// Nothing.
    Absent = 0,
    /// The line, which was not used.
    Present = 1,
    /// The line, which was used.
    Used = 2,
    /// Nothing, and the line was taken in.
    Filled = 3,
}

impl Lookups {
    /// Repeats recorded look-ups in a cache. Returns true if every answer is the same as before. If not, nothing has
    /// changed.
    #[inline(always)]
    pub(super) fn repeat_lookups<const LINES: usize>(&mut self, cache: &mut Lru<LINES>) -> bool {
        if self.same_in != cache.content_version() {
            return self.repeat_lookups_in_changed_cache(cache);
        }
        cache.mark_cache_lines_as_used(self.used);
        true
    }

    /// Repeats recorded look-ups in a cache whose content has changed. Returns true if every answer is the same as
    /// before.
    #[inline(never)]
    fn repeat_lookups_in_changed_cache<const LINES: usize>(&mut self, cache: &mut Lru<LINES>) -> bool {
        let items = &self.items[..(self.count as usize).min(LOOKUPS)];
        for &item in items {
            // The two that found something are the middle ones.
            if cache.is_line_cached(item >> 2) != (1..=2).contains(&(item & 3)) {
                return false;
            }
        }
        if self.fills != 0 {
            return self.replay_cache_lookups_with_line_loads(cache);
        }
        let mut slots = [0; LOOKUPS];
        let mut count = 0;
        for slot in items
            .iter()
            .filter(|&item| item & 3 == CacheLookupResult::Used as u32)
            .filter_map(|item| cache.cache_slot_of_line(item >> 2))
        {
            slots[count] = slot;
            count += 1;
        }
        self.used = cache.group_number_of_cache_slots(slots[..count].iter().copied());
        self.same_in = cache.content_version();
        cache.mark_cache_lines_as_used(self.used);
        true
    }

    /// Repeats recorded look-ups that load lines into the cache. Returns false if a line that they would evict is among
    /// the lines looked up.
    fn replay_cache_lookups_with_line_loads<const LINES: usize>(&self, cache: &mut Lru<LINES>) -> bool {
        let items = &self.items[..self.count as usize];
        if cache.cache_lines_to_evict_next(self.fills as usize).any(|line| items.iter().any(|item| item >> 2 == line)) {
            return false;
        }
        for &item in items {
            if item & 3 == CacheLookupResult::Used as u32 {
                cache.look_up_cache_line(item >> 2);
            } else if item & 3 == CacheLookupResult::Filled as u32 {
                cache.load_line(item >> 2);
            }
        }
        true
    }
}

/// A recorder of look-ups in a cache, while it is on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recorder {
    pub on: bool,
    /// There were more than can be held.
    pub too_many: bool,
    pub lookups: Lookups,
}

impl Recorder {
    /// Records a lookup of a cache line and its result, while recording is on.
    #[inline(always)]
    pub fn record_cache_lookup(&mut self, line: u32, found: CacheLookupResult) {
        if self.on {
            self.append_or_merge_cache_lookup(line, found);
        }
    }

    /// Appends a lookup, or joins it with an earlier one of the same line.
    fn append_or_merge_cache_lookup(&mut self, line: u32, found: CacheLookupResult) {
        let Lookups { items, count, fills, .. } = &mut self.lookups;
        if let Some(earlier) = items[..*count as usize].iter().position(|item| item >> 2 == line) {
            // Nothing went in or out since, or it was the last question: one item says both, at the place of the use.
            if *fills == 0 || earlier + 1 == *count as usize {
                if items[earlier] & 3 == found as u32 && found != CacheLookupResult::Used
                    || found == CacheLookupResult::Present
                {
                    return;
                }
                items.copy_within(earlier + 1.., earlier);
                *count -= 1;
            }
        }
        *fills += u32::from(found == CacheLookupResult::Filled);
        match items.get_mut(*count as usize) {
            Some(item) => {
                *item = line << 2 | found as u32;
                *count += 1;
            }
            None => self.too_many = true,
        }
    }
}
