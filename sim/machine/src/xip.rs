//! The XIP cache: 16 kB, two ways, 8-byte lines (RP2040 data sheet 2.6.3). Each half of a line has a valid bit of its
//! own and is fetched by itself (the chip's designer in pico-sdk issue 1182).
//!
//! Which line is replaced is not published. The model alternates between the two ways of a set [assumed].

const SETS: usize = 1024;
const HALVES: usize = (LINE_BYTES / FILL_BYTES) as usize;

/// Bytes per cache line.
pub const LINE_BYTES: u32 = 8;
/// Bytes that a miss fetches: half a line.
pub const FILL_BYTES: u32 = 4;

/// A way of a cache set, with the line that it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    /// Number of the line. Without meaning while nothing of it is there.
    line: u32,
    /// Which halves are there.
    valid: [bool; HALVES],
}

impl Way {
    const EMPTY: Way = Way { line: 0, valid: [false; HALVES] };

    /// Returns whether the way of the cache contains a line.
    fn does_way_contain_line(&self, line: u32) -> bool {
        self.line == line && *self != Way { line, ..Way::EMPTY }
    }
}

/// The content of the XIP cache, for a snapshot.
#[derive(Debug, Clone)]
pub struct XipTags {
    ways: Vec<[Way; 2]>,
    victim: Vec<u8>,
    enabled: bool,
}

/// The XIP cache of the flash: tags and residency. Lines are numbered by flash offset / 8, halves of lines by flash
/// offset / 4.
#[derive(Debug)]
pub struct XipCache {
    ways: Vec<[Way; 2]>,
    victim: Vec<u8>,
    /// Resident halves.
    resident: Vec<bool>,
    /// How many halves it has lost.
    lost: u64,
    /// CTRL.EN.
    pub enabled: bool,
}

impl XipCache {
    /// Creates an empty cache over a flash of `bytes`.
    pub fn new(bytes: u32) -> XipCache {
        XipCache {
            ways: vec![[Way::EMPTY; 2]; SETS],
            victim: vec![0; SETS],
            // One line more: a 32-bit opcode in the last halfword looks at what is after the end.
            resident: vec![false; (bytes / LINE_BYTES + 1) as usize * HALVES],
            lost: 0,
            enabled: true,
        }
    }

    /// Returns whether this half of a line is in the cache.
    #[inline(always)]
    pub fn is_cached(&self, half: u32) -> bool {
        self.resident[half as usize]
    }

    /// Returns, for each half of a line, whether it is in the cache.
    pub fn half_line_presence_flags(&self) -> &[bool] {
        &self.resident
    }

    /// Returns how many halves of lines the cache has dropped so far.
    #[inline(always)]
    pub fn count_evicted_half_lines(&self) -> u64 {
        self.lost
    }

    /// Loads half a line into the XIP cache. Returns the line that it replaces. A disabled cache stores nothing.
    pub fn load_half_line(&mut self, half: u32) -> Option<u32> {
        if !self.enabled || self.is_cached(half) {
            return None;
        }
        let (line, set) = (half / HALVES as u32, (half as usize / HALVES) % SETS);
        let held = self.ways[set].iter().position(|way| way.does_way_contain_line(line));
        let way = held.or_else(|| self.ways[set].iter().position(|way| way.valid == Way::EMPTY.valid));
        let way = way.unwrap_or_else(|| {
            let way = self.victim[set];
            self.victim[set] = 1 - way;
            usize::from(way)
        });
        let evicted = self.ways[set][way];
        if !evicted.does_way_contain_line(line) {
            self.ways[set][way] = Way { line, ..Way::EMPTY };
        }
        self.ways[set][way].valid[half as usize % HALVES] = true;
        let replaces = evicted.valid != Way::EMPTY.valid && evicted.line != line;
        if replaces {
            self.update_cached_half_lines(evicted, false);
        }
        self.resident[half as usize] = true;
        replaces.then_some(evicted.line)
    }

    /// Adds the line of a way to the table of cached halves, or removes it.
    fn update_cached_half_lines(&mut self, way: Way, there: bool) {
        for (number, _) in way.valid.into_iter().enumerate().filter(|(_, valid)| *valid) {
            self.resident[way.line as usize * HALVES + number] = there;
            self.lost += u64::from(!there);
        }
    }

    /// Drops one line, as a store to the cached alias does.
    pub fn drop_cached_line(&mut self, line: u32) {
        let set = line as usize % SETS;
        for number in 0..2 {
            let way = self.ways[set][number];
            if way.does_way_contain_line(line) {
                self.ways[set][number] = Way::EMPTY;
                self.update_cached_half_lines(way, false);
            }
        }
    }

    /// Returns the XIP cache's content for a snapshot.
    pub fn xip_cache_tags(&self) -> XipTags {
        let XipCache { ways, victim, resident: _, lost: _, enabled } = self;
        XipTags { ways: ways.clone(), victim: victim.clone(), enabled: *enabled }
    }

    /// Restores the XIP cache's content from a snapshot. Returns the lines whose cached part has changed.
    pub fn restore_cache_content(&mut self, tags: &XipTags) -> Vec<u32> {
        let mut changed = Vec::new();
        for set in 0..SETS {
            let (now, then) = (self.ways[set], tags.ways[set]);
            if now == then {
                continue;
            }
            let is_held = |way: &&Way| way.valid != Way::EMPTY.valid;
            changed.extend(now.iter().filter(is_held).filter(|way| !then.contains(way)).map(|way| way.line));
            changed.extend(then.iter().filter(is_held).filter(|way| !now.contains(way)).map(|way| way.line));
            now.into_iter().for_each(|way| self.update_cached_half_lines(way, false));
            then.into_iter().for_each(|way| self.update_cached_half_lines(way, true));
        }
        changed.sort_unstable();
        changed.dedup();
        self.ways.clone_from(&tags.ways);
        self.victim.clone_from(&tags.victim);
        self.enabled = tags.enabled;
        changed
    }

    /// Empties the XIP cache. Returns the lines that were in it.
    pub fn empty_cache(&mut self) -> Vec<u32> {
        let held = std::mem::replace(&mut self.ways, vec![[Way::EMPTY; 2]; SETS]);
        let held: Vec<Way> = held.into_iter().flatten().filter(|way| way.valid != Way::EMPTY.valid).collect();
        held.iter().for_each(|way| self.update_cached_half_lines(*way, false));
        self.victim.fill(0);
        held.into_iter().map(|way| way.line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of a line.
    fn first_half(line: u32) -> u32 {
        line * HALVES as u32
    }

    #[test]
    fn two_ways_are_filled_then_replaced_in_turn() {
        let mut cache = XipCache::new(1 << 16);
        let lines = [5, 5 + 1024, 5 + 2048, 5 + 3072];
        assert_eq!(lines.map(|line| cache.load_half_line(first_half(line))), [None, None, Some(5), Some(5 + 1024)]);
        assert_eq!(lines.map(|line| cache.is_cached(first_half(line))), [false, false, true, true]);
    }

    #[test]
    fn line_halves_are_filled_separately_and_evicted_together() {
        let mut cache = XipCache::new(1 << 16);
        let held = |cache: &XipCache, line: u32| [0, 1].map(|number| cache.is_cached(first_half(line) + number));
        assert_eq!(cache.load_half_line(first_half(7) + 1), None);
        assert_eq!((held(&cache, 7), held(&cache, 6)), ([false, true], [false, false]));
        assert_eq!(cache.load_half_line(first_half(7)), None);
        assert_eq!(held(&cache, 7), [true, true]);
        assert_eq!([7 + 1024, 7 + 2048].map(|line| cache.load_half_line(first_half(line))), [None, Some(7)]);
        assert_eq!((held(&cache, 7), held(&cache, 7 + 2048)), ([false, false], [true, false]));
        assert_eq!(cache.count_evicted_half_lines(), 2);
    }

    #[test]
    fn cache_line_0_is_not_special() {
        let mut cache = XipCache::new(1 << 16);
        assert!(!cache.is_cached(0));
        assert_eq!(cache.load_half_line(1), None);
        assert_eq!((cache.is_cached(0), cache.is_cached(1)), (false, true));
        cache.drop_cached_line(0);
        assert_eq!((cache.is_cached(1), cache.empty_cache()), (false, vec![]));
    }

    #[test]
    fn flush_and_invalidate_empty_xip_cache() {
        let mut cache = XipCache::new(1 << 16);
        cache.load_half_line(first_half(1));
        cache.load_half_line(first_half(2) + 1);
        cache.drop_cached_line(1);
        assert!(!cache.is_cached(first_half(1)) && cache.is_cached(first_half(2) + 1));
        assert_eq!(cache.empty_cache(), [2]);
        assert!(!cache.is_cached(first_half(2) + 1));
    }

    #[test]
    fn a_restored_cache_has_its_old_lines_and_reports_changes() {
        let mut cache = XipCache::new(1 << 16);
        assert_eq!([5, 5 + 1024, 9].map(|line| cache.load_half_line(first_half(line))), [None; 3]);
        let tags = cache.xip_cache_tags();
        cache.load_half_line(first_half(5 + 2048));
        cache.load_half_line(first_half(77));
        cache.load_half_line(first_half(5 + 1024) + 1);
        cache.drop_cached_line(9);
        assert_eq!(cache.restore_cache_content(&tags), [5, 9, 77, 5 + 1024, 5 + 2048]);
        let held = [5, 5 + 1024, 9, 77, 5 + 2048].map(|line| cache.is_cached(first_half(line)));
        assert_eq!(held, [true, true, true, false, false]);
        assert!(!cache.is_cached(first_half(5 + 1024) + 1));
        // The way to be replaced next goes back too.
        assert_eq!(cache.load_half_line(first_half(5 + 3072)), Some(5));
        assert_eq!(cache.restore_cache_content(&tags), [5, 5 + 3072]);
    }

    #[test]
    fn a_disabled_cache_keeps_nothing() {
        let mut cache = XipCache::new(1 << 16);
        cache.enabled = false;
        cache.load_half_line(7);
        assert!(!cache.is_cached(7));
    }
}
