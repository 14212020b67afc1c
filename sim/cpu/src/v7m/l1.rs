//! The level-one caches of the Cortex-M7: which lines they hold, and which of those are dirty.
//!
//! Only presence is modelled, data always come from memory: what a program without cache maintenance would read stale
//! is not. A chip's bus asks for cacheable Normal memory, if CCR switches the cache on:
//!
//! ```text
//! read:   if !cache.lookup(address) { wait for the line; if let Some(victim) = cache.fill(address) { write it back } }
//! write:  if cache.lookup(address) { write back: cache.mark_dirty(address); write through: to the bus as well }
//!         else as memory's attributes say: fill and soil, or to the bus alone
//! SCS:    [`Caches::execute_cache_maintenance`] for every maintenance operation that [`super::scs::Effect`] reports
//! ```
//!
//! Sizes and the line length: STM32F767 and STM32H743 data sheets, ARM DDI0489F 5.9. Replacement in turn: assumed.

use super::cache::{Line, Operation};
use rtoslab_timing::cortex_m7::{CACHE_LINE_BYTES, DATA_CACHE_SETS, DATA_CACHE_WAYS};
use rtoslab_timing::cortex_m7::{INSTRUCTION_CACHE_SETS, INSTRUCTION_CACHE_WAYS};

const LINE_SHIFT: u32 = CACHE_LINE_BYTES.trailing_zeros();
/// Bits of an entry beside the line's number.
const VALID: u32 = 1 << 31;
const DIRTY: u32 = 1 << 30;
/// No line has this number.
const NONE: u32 = u32::MAX;

/// One level-1 cache of the M7, with its lines but without their data.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Line numbers with [`VALID`] and [`DIRTY`], `ways` to a set.
    entries: Vec<u32>,
    ways: usize,
    set_mask: u32,
    /// Way to be replaced next, by set.
    turn: Vec<u8>,
    /// A line of each set that is there, the one last found or brought in. [`NONE`] if there may be none.
    found: Vec<u32>,
    /// Changes when a line comes or goes.
    version: u64,
}

/// Returns the host address of an empty table of lines, for a data cache that is off.
pub fn address_of_empty_cache_table() -> u64 {
    static NOTHING: [u32; DATA_CACHE_SETS] = [NONE; DATA_CACHE_SETS];
    NOTHING.as_ptr() as u64
}

impl Cache {
    /// Creates an empty cache with this number of sets and ways.
    fn new(sets: usize, ways: usize) -> Cache {
        Cache {
            entries: vec![0; sets * ways],
            ways,
            set_mask: sets as u32 - 1,
            turn: vec![0; sets],
            found: vec![NONE; sets],
            version: 1,
        }
    }

    /// Creates an empty instruction cache.
    pub fn new_instruction_cache() -> Cache {
        Cache::new(INSTRUCTION_CACHE_SETS, INSTRUCTION_CACHE_WAYS)
    }

    /// Creates an empty data cache.
    pub fn new_data_cache() -> Cache {
        Cache::new(DATA_CACHE_SETS, DATA_CACHE_WAYS)
    }

    /// Returns the lines of the set to which a line belongs.
    fn cache_lines_of_same_set(&mut self, line: u32) -> &mut [u32] {
        let first = (line & self.set_mask) as usize * self.ways;
        &mut self.entries[first..first + self.ways]
    }

    /// Returns the cache's entry of a line, if it is there.
    fn cache_entry_of_line(&mut self, line: u32) -> Option<&mut u32> {
        self.cache_lines_of_same_set(line).iter_mut().find(|entry| **entry & !DIRTY == line | VALID)
    }

    /// Returns whether the line of `address` is in the cache.
    #[inline(always)]
    pub fn is_line_cached(&mut self, address: u32) -> bool {
        let line = address >> LINE_SHIFT;
        self.found[(line & self.set_mask) as usize] == line || self.is_line_in_any_way(line)
    }

    /// Returns whether a line is in any way of its set. If so, it becomes the set's line hit last.
    #[inline(never)]
    fn is_line_in_any_way(&mut self, line: u32) -> bool {
        let hit = self.cache_entry_of_line(line).is_some();
        if hit {
            self.found[(line & self.set_mask) as usize] = line;
        }
        hit
    }

    /// Returns the host address of the table with the cache line that was hit last in each set, a word for each set.
    #[inline(always)]
    pub fn hit_line_table_address(&self) -> u64 {
        self.found.as_ptr() as u64
    }

    /// Returns a number that changes when a line comes or goes, and is never 0.
    #[inline(always)]
    pub fn content_version(&self) -> u64 {
        self.version
    }

    /// Changes the cache's version, because a line came or went.
    fn advance_content_version(&mut self) {
        self.version += 1;
    }

    /// Sets the version of the cache's content to a later one than `version`, which was in use before this content was
    /// restored.
    pub fn set_version_after(&mut self, version: u64) {
        self.version = self.version.max(version) + 1;
    }

    /// Loads the line of `address` into the cache. Returns the address of a dirty line that was evicted.
    pub fn load_line(&mut self, address: u32) -> Option<u32> {
        self.advance_content_version();
        let line = address >> LINE_SHIFT;
        let index = (line & self.set_mask) as usize;
        let free = self.cache_lines_of_same_set(line).iter().position(|entry| entry & VALID == 0);
        let way = free.unwrap_or(usize::from(self.turn[index]));
        if free.is_none() {
            self.turn[index] = ((way + 1) % self.ways) as u8;
        }
        let victim = std::mem::replace(&mut self.cache_lines_of_same_set(line)[way], line | VALID);
        self.found[index] = line;
        (victim & (VALID | DIRTY) == VALID | DIRTY).then_some((victim & !(VALID | DIRTY)) << LINE_SHIFT)
    }

    /// Marks the line of `address` as dirty, if it is there.
    pub fn mark_cache_line_dirty(&mut self, address: u32) {
        if let Some(entry) = self.cache_entry_of_line(address >> LINE_SHIFT) {
            *entry |= DIRTY;
        }
    }

    /// Invalidates every line of the cache.
    pub fn invalidate_all_cache_lines(&mut self) {
        self.advance_content_version();
        self.entries.fill(0);
        self.found.fill(NONE);
    }

    /// Cleans or invalidates one entry of the cache. Returns the lines written back, 0 or 1.
    fn maintain_cache_entry(entry: Option<&mut u32>, clean: bool, invalidate: bool) -> u32 {
        let Some(entry) = entry else { return 0 };
        let written = u32::from(clean && *entry & (VALID | DIRTY) == VALID | DIRTY);
        if clean {
            *entry &= !DIRTY;
        }
        if invalidate {
            *entry = 0;
        }
        written
    }

    /// Cleans or invalidates the cache line of an address. Returns the lines written back, 0 or 1.
    pub fn maintain_cache_line_of_address(&mut self, address: u32, clean: bool, invalidate: bool) -> u32 {
        self.advance_content_version();
        self.found.fill(NONE);
        Cache::maintain_cache_entry(self.cache_entry_of_line(address >> LINE_SHIFT), clean, invalidate)
    }

    /// Cleans or invalidates a cache line by set and way. Returns the lines written back, 0 or 1.
    pub fn maintain_cache_set_and_way(&mut self, line: Line, clean: bool, invalidate: bool) -> u32 {
        self.advance_content_version();
        self.found.fill(NONE);
        let entry = self.cache_lines_of_same_set(line.set).get_mut(line.way as usize);
        Cache::maintain_cache_entry(entry, clean, invalidate)
    }
}

/// The instruction and data cache of the M7.
#[derive(Debug, Clone)]
pub struct Caches {
    /// Instructions.
    pub instruction: Cache,
    /// Data.
    pub data: Cache,
}

impl Default for Caches {
    /// Returns two empty caches.
    fn default() -> Caches {
        Caches { instruction: Cache::new_instruction_cache(), data: Cache::new_data_cache() }
    }
}

impl Caches {
    /// Executes a maintenance operation on the caches. Returns how many lines it wrote back.
    pub fn execute_cache_maintenance(&mut self, operation: Operation) -> u32 {
        match operation {
            Operation::InvalidateInstructions => {
                self.instruction.invalidate_all_cache_lines();
                0
            }
            Operation::InvalidateInstruction(address) => {
                self.instruction.maintain_cache_line_of_address(address, false, true)
            }
            Operation::InvalidateAddress(address) => self.data.maintain_cache_line_of_address(address, false, true),
            Operation::CleanAddress(address) => self.data.maintain_cache_line_of_address(address, true, false),
            Operation::CleanInvalidateAddress(address) => self.data.maintain_cache_line_of_address(address, true, true),
            Operation::InvalidateLine(line) => self.data.maintain_cache_set_and_way(line, false, true),
            Operation::CleanLine(line) => self.data.maintain_cache_set_and_way(line, true, false),
            Operation::CleanInvalidateLine(line) => self.data.maintain_cache_set_and_way(line, true, true),
            // The predictor is no cache. What it holds never goes stale in a way that shows but in time.
            Operation::InvalidatePredictions => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_line_is_cached() {
        let mut cache = Cache::new_instruction_cache();
        assert!(!cache.is_line_cached(0x0800_0000));
        assert_eq!(cache.load_line(0x0800_0004), None);
        assert!(cache.is_line_cached(0x0800_001F));
        assert!(!cache.is_line_cached(0x0800_0020));
        cache.invalidate_all_cache_lines();
        assert!(!cache.is_line_cached(0x0800_0000));
    }

    #[test]
    fn ways_are_replaced_in_turn_and_dirty_victims_reported() {
        let mut cache = Cache::new_data_cache();
        let address = |n: u32| 0x2400_0000 + n * (DATA_CACHE_SETS as u32 * CACHE_LINE_BYTES);
        for n in 0..4 {
            assert_eq!(cache.load_line(address(n)), None);
        }
        cache.mark_cache_line_dirty(address(0) + 8);
        assert!((0..4).all(|n| cache.is_line_cached(address(n))));
        assert_eq!(cache.load_line(address(4)), Some(address(0)));
        assert!(!cache.is_line_cached(address(0)));
        assert_eq!(cache.load_line(address(5)), None);
        assert!(!cache.is_line_cached(address(1)) && cache.is_line_cached(address(2)));
    }

    #[test]
    fn maintenance_by_address_and_by_line() {
        let mut caches = Caches::default();
        let address = 0x2400_1060;
        caches.data.load_line(address);
        caches.data.mark_cache_line_dirty(address);
        assert_eq!(caches.execute_cache_maintenance(Operation::CleanAddress(address)), 1);
        assert_eq!(caches.execute_cache_maintenance(Operation::CleanAddress(address)), 0);
        assert!(caches.data.is_line_cached(address));
        caches.data.mark_cache_line_dirty(address);
        let line = Line { way: 0, set: address >> 5 & 127 };
        assert_eq!(caches.execute_cache_maintenance(Operation::CleanInvalidateLine(line)), 1);
        assert!(!caches.data.is_line_cached(address));
        caches.data.load_line(address);
        caches.data.mark_cache_line_dirty(address);
        assert_eq!(caches.execute_cache_maintenance(Operation::InvalidateAddress(address)), 0);
        assert!(!caches.data.is_line_cached(address));
        assert_eq!(caches.execute_cache_maintenance(Operation::CleanLine(line)), 0);
    }
}
