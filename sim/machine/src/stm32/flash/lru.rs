//! A fully associative cache of line numbers, least recently used out first.

/// Not resident.
const ABSENT: u8 = 0;

/// `LINES` lines of a memory.
#[derive(Debug, Clone)]
pub(super) struct Lru<const LINES: usize> {
    /// Slot + 1 of each line of the memory, so that a look-up is one load.
    slot_of: Vec<u8>,
    line_in: [u32; LINES],
    used: [u64; LINES],
    clock: u64,
    filled: usize,
}

impl<const LINES: usize> Lru<LINES> {
    /// An empty cache over a memory of `lines` lines.
    pub fn new(lines: usize) -> Lru<LINES> {
        Lru { slot_of: vec![ABSENT; lines], line_in: [0; LINES], used: [0; LINES], clock: 0, filled: 0 }
    }

    /// True if the line is resident; it counts as used now.
    #[inline(always)]
    pub fn hit(&mut self, line: u32) -> bool {
        match self.slot_of.get(line as usize) {
            Some(&slot) if slot != ABSENT => {
                self.clock += 1;
                self.used[usize::from(slot) - 1] = self.clock;
                true
            }
            _ => false,
        }
    }

    /// True if the line is resident, without counting as a use.
    pub fn holds(&self, line: u32) -> bool {
        self.slot_of.get(line as usize).is_some_and(|&slot| slot != ABSENT)
    }

    /// Takes a line that is not resident in.
    pub fn fill(&mut self, line: u32) {
        if line as usize >= self.slot_of.len() || self.holds(line) {
            return;
        }
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

    /// Empties it.
    pub fn reset(&mut self) {
        self.slot_of.fill(ABSENT);
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache: Lru<2> = Lru::new(8);
        cache.fill(1);
        cache.fill(2);
        assert!(cache.hit(1));
        cache.fill(3);
        assert_eq!([1, 2, 3].map(|line| cache.holds(line)), [true, false, true]);
        cache.reset();
        assert!(!cache.hit(1));
    }

    #[test]
    fn a_line_behind_the_end_is_never_resident() {
        let mut cache: Lru<2> = Lru::new(8);
        cache.fill(8);
        assert!(!cache.hit(8));
    }
}
