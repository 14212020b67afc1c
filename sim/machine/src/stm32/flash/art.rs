//! The adaptive real-time accelerator of the F4, and of the F7 on its ITCM path (RM0090 3.5.2, RM0410 3.3.2).
//!
//! The line in use and the prefetched line after it are beside the caches. A line enters the instruction cache if the
//! core had to wait for it, also for a prefetch that came late [assumed]: what prefetch delivers in time stays out, as
//! the manual's wording has it.
//!
//! Without the instruction cache, prefetch has two buffers of a line: the one that instructions come from, and the one
//! that takes the line after it. The line that was left last stays in the latter until the new one has come, and a
//! branch out of both does not wait for it. The manual does not say so. Both follow from published figures of CoreMark,
//! which prefetch alone makes faster (docs/accuracy.md) [fitted].
//!
//! Without wait states the F4's array answers in one cycle. But with the instruction cache on and prefetch off, a line
//! that is not in the cache comes a cycle later, as if the array were read only after the search in the cache. This
//! follows from published figures of curve9767 (docs/accuracy.md) [fitted].

use super::array::FlashArrayState;
use super::lookups::{CacheLookupResult, Recorder};
use super::lru::Lru;
use rtoslab_timing::stm32_flash::{F4_DATA_LINES, F4_INSTRUCTION_LINES, F4_SEARCH_CYCLES};

/// No line.
const EMPTY: u32 = u32::MAX;

/// The fields of FLASH_ACR, the access control register, that control the accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArtControl {
    /// LATENCY.
    pub wait_states: u64,
    /// PRFTEN.
    pub prefetch: bool,
    /// ICEN (F7: ARTEN).
    pub instruction_cache: bool,
    /// DCEN.
    pub data_cache: bool,
    /// ICRST (F7: ARTRST) is set.
    pub instruction_reset: bool,
    /// DCRST is set.
    pub data_reset: bool,
    /// Additional cycles of a line of code that is not in the instruction cache.
    pub miss_cycles: u64,
}

/// A flash interface with ST's ART accelerator: caches and prefetch with lines of `1 << SHIFT` bytes.
#[derive(Debug, Clone)]
pub struct ArtAccelerator<const SHIFT: u32> {
    pub(super) array: FlashArrayState,
    pub(super) control: ArtControl,
    /// First address of the flash on this path.
    base: u32,
    pub(super) instructions: Lru<F4_INSTRUCTION_LINES>,
    pub(super) data: Lru<F4_DATA_LINES>,
    /// Line that instructions come from, and from which cycle on.
    pub(super) line: u32,
    pub(super) there: u64,
    /// Prefetched line, likewise.
    pub(super) next: u32,
    pub(super) next_there: u64,
    /// Without the cache: the line that was left last, in the buffer of the prefetched one until that has come.
    pub(super) left: u32,
    /// Line of the last data read.
    pub(super) data_line: u32,
    pub(super) data_there: u64,
    pub(super) recorder: Recorder,
}

/// The F4's flash interface.
pub type FlashF4 = ArtAccelerator<4>;
/// The F7's flash interface on its ITCM path, single bank. Data read over this path goes through the instruction side.
pub type FlashF7Itcm = ArtAccelerator<5>;

impl<const SHIFT: u32> ArtAccelerator<SHIFT> {
    /// Creates the interface in its reset state: no wait states, caches and prefetch off. The flash has `bytes` bytes
    /// from `base` on.
    pub fn new(base: u32, bytes: u32) -> ArtAccelerator<SHIFT> {
        let lines = (bytes >> SHIFT) as usize;
        ArtAccelerator {
            array: FlashArrayState::default(),
            control: ArtControl::default(),
            base,
            instructions: Lru::new(lines),
            data: Lru::new(lines),
            line: EMPTY,
            there: 0,
            next: EMPTY,
            next_there: 0,
            left: EMPTY,
            data_line: EMPTY,
            data_there: 0,
            recorder: Recorder::default(),
        }
    }

    /// Applies new values of the access control register. A cache can only be reset while it is off.
    pub fn apply_flash_access_control(&mut self, control: ArtControl) {
        if control.instruction_reset && !control.instruction_cache {
            self.instructions.empty_cache();
        }
        if control.data_reset && !control.data_cache {
            self.data.empty_cache();
        }
        self.array.wait_states = control.wait_states;
        self.control = control;
        (self.line, self.next, self.left, self.data_line) = (EMPTY, EMPTY, EMPTY, EMPTY);
    }

    /// Returns whether fetches from the flash may have to wait.
    pub fn may_fetches_wait(&self) -> bool {
        self.array.wait_states + self.control.miss_cycles != 0
    }

    /// Restores the state in a snapshot. The version numbers of the caches' content go on.
    pub fn restore_state(&mut self, saved: &Self) {
        let (instructions, data) = (self.instructions.content_version(), self.data.content_version());
        self.clone_from(saved);
        self.instructions.set_version_after(instructions);
        self.data.set_version_after(data);
    }

    /// Returns the number of the line that contains an address.
    #[inline(always)]
    pub(super) fn flash_line_number_of_address(&self, address: u32) -> u32 {
        address.wrapping_sub(self.base) >> SHIFT
    }

    /// Fetches an instruction word in cycle `at`. Returns the cycle in which the decoder can have it.
    #[inline(always)]
    pub fn fetch_code(&mut self, address: u32, at: u64) -> u64 {
        let line = self.flash_line_number_of_address(address);
        if line != self.line {
            self.switch_current_line(line, at);
        }
        self.there.max(at + 2)
    }

    /// Makes another line the current one: from the read-ahead buffer, the cache or the array.
    #[inline(never)]
    fn switch_current_line(&mut self, line: u32, at: u64) {
        if !self.may_fetches_wait() {
            (self.line, self.there) = (line, at + 2);
            return;
        }
        let still_left = line == self.left && (self.next == EMPTY || self.next_there > at + 1);
        if line != self.next {
            self.abandon_read_ahead(at + 1);
        }
        let cached = self.control.instruction_cache;
        if cached && self.instructions.look_up_cache_line(line) {
            self.recorder.record_cache_lookup(line, CacheLookupResult::Used);
            self.there = at + 2;
        } else if still_left {
            self.there = at + 2;
        } else {
            self.there = if line == self.next {
                self.next_there
            } else {
                self.array.begin_array_read(at + 1) + self.control.miss_cycles
            };
            let filled = cached && self.there > at + 2;
            if cached {
                self.recorder.record_cache_lookup(
                    line,
                    if filled { CacheLookupResult::Filled } else { CacheLookupResult::Absent },
                );
            }
            if filled {
                self.instructions.load_line(line);
            }
        }
        self.left = if self.control.prefetch && !cached { self.line } else { EMPTY };
        self.line = line;
        let ahead = line.wrapping_add(1);
        if self.control.prefetch
            && ahead != self.next
            && ahead != self.left
            && !(cached && self.is_read_ahead_line_cached(ahead))
        {
            self.next = ahead;
            self.next_there = self.array.begin_array_read(at + 1);
        }
    }

    /// Ends the read-ahead of a line in cycle `from`, because the core has branched elsewhere. So the fetch does not
    /// wait for a useless read.
    fn abandon_read_ahead(&mut self, from: u64) {
        if self.next != EMPTY && self.next_there > from && self.array.next_flash_read_cycle() == self.next_there {
            let begins = self.next_there.saturating_sub(1 + self.array.wait_states);
            self.array.set_next_flash_read_cycle(begins.max(from));
            self.next = EMPTY;
        }
    }

    /// Returns whether the line to be read ahead is in the cache. The look-up is recorded.
    fn is_read_ahead_line_cached(&mut self, line: u32) -> bool {
        let is_hit = self.instructions.is_line_cached(line);
        self.recorder
            .record_cache_lookup(line, if is_hit { CacheLookupResult::Present } else { CacheLookupResult::Absent });
        is_hit
    }

    /// Reads data in cycle `at`. Returns the wait states.
    #[inline(always)]
    pub fn data_read_waits(&mut self, address: u32, at: u64) -> u64 {
        let line = self.flash_line_number_of_address(address);
        if self.control.data_cache && self.data.look_up_cache_line(line) || self.array.wait_states == 0 {
            return 0;
        }
        if line == self.data_line {
            return self.data_there.saturating_sub(at + 2);
        }
        self.data_there = self.array.begin_array_read(at + 1);
        self.data_line = line;
        if self.control.data_cache {
            self.data.load_line(line);
        }
        self.data_there - (at + 2)
    }
}

impl FlashF4 {
    /// Applies a new value of FLASH_ACR (wait states, prefetch, caches).
    pub fn set_acr(&mut self, value: u32) {
        let bit = |bit: u32| value >> bit & 1 != 0;
        let (wait_states, prefetch, instruction_cache) = (u64::from(value & 15), bit(8), bit(9));
        self.apply_flash_access_control(ArtControl {
            wait_states,
            prefetch,
            instruction_cache,
            data_cache: bit(10),
            instruction_reset: bit(11),
            data_reset: bit(12),
            miss_cycles: if wait_states == 0 && instruction_cache && !prefetch { F4_SEARCH_CYCLES } else { 0 },
        });
    }
}

impl FlashF7Itcm {
    /// Applies a new value of FLASH_ACR (wait states, prefetch, caches).
    pub fn set_acr(&mut self, value: u32) {
        let bit = |bit: u32| value >> bit & 1 != 0;
        self.apply_flash_access_control(ArtControl {
            wait_states: u64::from(value & 15),
            prefetch: bit(8),
            instruction_cache: bit(9),
            instruction_reset: bit(11),
            ..ArtControl::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::FlashF4;

    /// Cycles of a hundred rounds of these fetches, each three cycles after the word of the one before it.
    fn rounds(acr: u32, addresses: &[u32]) -> u64 {
        let mut flash = FlashF4::new(0x0800_0000, 1 << 20);
        flash.set_acr(acr);
        (0..100).flat_map(|_| addresses).fold(0, |t, &address| flash.fetch_code(address, t) + 1)
    }

    const WAITS: u32 = 5;
    const PREFETCH: u32 = 1 << 8;

    #[test]
    fn branch_does_not_wait_for_a_line_read_ahead() {
        let blocks = [0x0800_0000, 0x0800_0024, 0x0800_0014, 0x0800_0044];
        assert_eq!(rounds(WAITS | PREFETCH, &blocks), rounds(WAITS, &blocks));
    }

    #[test]
    fn line_read_ahead_in_time_costs_nothing() {
        let line: Vec<u32> = (0..64).map(|word| 0x0800_0000 + 4 * word).collect();
        let (alone, ahead) = (rounds(WAITS, &line), rounds(WAITS | PREFETCH, &line));
        assert_eq!(alone - ahead, 100 * 15 * u64::from(WAITS), "of sixteen lines the first is behind a branch");
    }

    #[test]
    fn branch_back_hits_the_last_line_until_it_is_replaced() {
        let quick = [0x0800_000C, 0x0800_0010];
        let slow = [0x0800_000C, 0x0800_0010, 0x0800_0014, 0x0800_0018, 0x0800_001C];
        assert_eq!(
            rounds(WAITS | PREFETCH, &quick),
            600 + 5 + 3,
            "once for each line, the second read ahead meanwhile"
        );
        assert!(rounds(WAITS | PREFETCH, &slow) > 1500 + 90 * u64::from(WAITS));
        assert!(rounds(WAITS, &quick) > 600 + 190 * u64::from(WAITS), "without prefetch there is one buffer");
    }

    #[test]
    fn lines_that_the_cache_lacks_come_later_without_wait_states_and_prefetch() {
        const CACHE: u32 = 1 << 9;
        let lines = |count: u32| -> Vec<u32> { (0..4 * count).map(|word| 0x0800_0000 + 4 * word).collect() };
        let (fits, exceeds) = (lines(64), lines(65));
        assert_eq!(rounds(CACHE, &fits), rounds(0, &fits) + 64, "each line waits once, and is in the cache then");
        assert_eq!(rounds(CACHE, &exceeds), rounds(0, &exceeds) + 100 * 65, "the line needed next leaves the cache");
        for acr in [0, PREFETCH, CACHE | PREFETCH] {
            assert_eq!(rounds(acr, &exceeds), 100 * 260 * 3, "{acr:#x}");
        }
    }

    #[test]
    fn loop_in_cached_lines_queues_no_reads() {
        let mut flash = FlashF4::new(0x0800_0000, 1 << 20);
        flash.set_acr(5 | 1 << 8 | 1 << 9);
        let mut t = 0;
        for _ in 0..1000 {
            for address in [0x0800_0000, 0x0800_0100] {
                t = flash.fetch_code(address, t);
            }
        }
        assert!(
            flash.array.next_flash_read_cycle() <= t + 12,
            "a read under way and one behind it, not {} cycles",
            flash.array.next_flash_read_cycle() - t
        );
    }
}
