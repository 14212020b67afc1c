//! The XIP cache: 16 kB, two ways, 8-byte lines (RP2040 data sheet 2.6.3).
//!
//! Which line is replaced is not published; the model alternates between the two ways of a set [assumed].

const SETS: usize = 1024;
const EMPTY: u32 = u32::MAX;

/// Bytes per cache line.
pub const LINE_BYTES: u32 = 8;

/// What the cache holds, without what follows from it.
#[derive(Debug, Clone)]
pub struct XipTags {
    ways: Vec<[u32; 2]>,
    victim: Vec<u8>,
    enabled: bool,
}

/// Tags and residency. Lines are numbered by flash offset / 8.
#[derive(Debug)]
pub struct XipCache {
    ways: Vec<[u32; 2]>,
    victim: Vec<u8>,
    resident: Vec<bool>,
    /// How many lines it has lost.
    lost: u64,
    /// CTRL.EN.
    pub enabled: bool,
}

impl XipCache {
    /// An empty cache over a flash of `bytes`.
    pub fn new(bytes: u32) -> XipCache {
        XipCache {
            ways: vec![[EMPTY; 2]; SETS],
            victim: vec![0; SETS],
            // One line more: a 32-bit opcode in the last halfword looks at the line behind the end.
            resident: vec![false; (bytes / LINE_BYTES) as usize + 1],
            lost: 0,
            enabled: true,
        }
    }

    /// True if the line is in the cache.
    #[inline(always)]
    pub fn resident(&self, line: u32) -> bool {
        self.resident[line as usize]
    }

    /// Whether each line is in the cache.
    pub fn lines(&self) -> &[bool] {
        &self.resident
    }

    /// How many lines it has lost so far.
    #[inline(always)]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Puts a line into the cache; returns the line it replaces. A disabled cache keeps nothing.
    pub fn fill(&mut self, line: u32) -> Option<u32> {
        if !self.enabled || self.resident(line) {
            return None;
        }
        let set = line as usize % SETS;
        let way = if let Some(free) = self.ways[set].iter().position(|&tag| tag == EMPTY) {
            free
        } else {
            let way = self.victim[set];
            self.victim[set] = 1 - way;
            usize::from(way)
        };
        let evicted = std::mem::replace(&mut self.ways[set][way], line);
        self.resident[line as usize] = true;
        if evicted == EMPTY {
            return None;
        }
        self.resident[evicted as usize] = false;
        self.lost += 1;
        Some(evicted)
    }

    /// Drops one line (a store to the cached alias does this).
    pub fn invalidate(&mut self, line: u32) {
        for tag in &mut self.ways[line as usize % SETS] {
            if *tag == line {
                *tag = EMPTY;
            }
        }
        self.resident[line as usize] = false;
        self.lost += 1;
    }

    /// Its state, for a snapshot.
    pub fn tags(&self) -> XipTags {
        let XipCache { ways, victim, resident: _, lost: _, enabled } = self;
        XipTags { ways: ways.clone(), victim: victim.clone(), enabled: *enabled }
    }

    /// Takes a state up again; returns the lines that are in the cache now and were not, or were and are not.
    pub fn restore(&mut self, tags: &XipTags) -> Vec<u32> {
        let mut changed = Vec::new();
        for (now, then) in self.ways.iter().zip(&tags.ways).filter(|(now, then)| now != then) {
            changed.extend(now.iter().filter(|&&line| line != EMPTY && !then.contains(&line)));
            changed.extend(then.iter().filter(|&&line| line != EMPTY && !now.contains(&line)));
        }
        for &line in &changed {
            self.resident[line as usize] ^= true;
        }
        self.lost += changed.len() as u64;
        self.ways.clone_from(&tags.ways);
        self.victim.clone_from(&tags.victim);
        self.enabled = tags.enabled;
        changed
    }

    /// Empties the cache; returns the lines that were in it.
    pub fn flush(&mut self) -> Vec<u32> {
        let mut lines = Vec::new();
        for tag in self.ways.iter_mut().flatten() {
            if *tag != EMPTY {
                self.resident[*tag as usize] = false;
                self.lost += 1;
                lines.push(std::mem::replace(tag, EMPTY));
            }
        }
        self.victim.fill(0);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_then_replacement_in_turn() {
        let mut cache = XipCache::new(1 << 16);
        let lines = [5, 5 + 1024, 5 + 2048, 5 + 3072];
        assert_eq!(lines.map(|line| cache.fill(line)), [None, None, Some(5), Some(5 + 1024)]);
        assert_eq!(lines.map(|line| cache.resident(line)), [false, false, true, true]);
    }

    #[test]
    fn flush_and_invalidate_empty_it() {
        let mut cache = XipCache::new(1 << 16);
        cache.fill(1);
        cache.fill(2);
        cache.invalidate(1);
        assert!(!cache.resident(1) && cache.resident(2));
        assert_eq!(cache.flush(), [2]);
        assert!(!cache.resident(2));
    }

    #[test]
    fn restored_it_holds_what_it_held_and_tells_what_changed() {
        let mut cache = XipCache::new(1 << 16);
        assert_eq!([5, 5 + 1024, 9].map(|line| cache.fill(line)), [None; 3]);
        let tags = cache.tags();
        cache.fill(5 + 2048);
        cache.fill(77);
        cache.invalidate(9);
        let mut changed = cache.restore(&tags);
        changed.sort_unstable();
        assert_eq!(changed, [5, 9, 77, 5 + 2048]);
        assert_eq!([5, 5 + 1024, 9, 77, 5 + 2048].map(|line| cache.resident(line)), [true, true, true, false, false]);
        // The way to be replaced next goes back too.
        assert_eq!(cache.fill(5 + 3072), Some(5));
        assert_eq!(cache.restore(&tags), [5 + 3072, 5]);
    }

    #[test]
    fn a_disabled_cache_keeps_nothing() {
        let mut cache = XipCache::new(1 << 16);
        cache.enabled = false;
        cache.fill(7);
        assert!(!cache.resident(7));
    }
}
