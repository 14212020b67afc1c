//! The XIP cache: 16 kB, two ways, 8-byte lines (RP2040 data sheet 2.6.3).
//!
//! Which line is replaced is not published; the model alternates between the two ways of a set [assumed].

const SETS: usize = 1024;
const EMPTY: u32 = u32::MAX;

/// Bytes per cache line.
pub const LINE_BYTES: u32 = 8;

/// Tags and residency. Lines are numbered by flash offset / 8.
#[derive(Debug)]
pub struct XipCache {
    ways: Vec<[u32; 2]>,
    victim: Vec<u8>,
    resident: Vec<bool>,
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
            enabled: true,
        }
    }

    /// True if the line is in the cache.
    #[inline(always)]
    pub fn resident(&self, line: u32) -> bool {
        self.resident[line as usize]
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
    }

    /// Empties the cache; returns the lines that were in it.
    pub fn flush(&mut self) -> Vec<u32> {
        let mut lines = Vec::new();
        for tag in self.ways.iter_mut().flatten() {
            if *tag != EMPTY {
                self.resident[*tag as usize] = false;
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
    fn a_disabled_cache_keeps_nothing() {
        let mut cache = XipCache::new(1 << 16);
        cache.enabled = false;
        cache.fill(7);
        assert!(!cache.resident(7));
    }
}
