//! XIP cache control (RP2040 data sheet 2.6.3). The cache itself is the machine's. It feeds the hit counters.
//!
//! The counters count from the first write to one of them on: a program clears them before it counts, and to log what
//! is fetched makes the board slower.
//!
//! Streaming keeps its registers but never delivers data: STAT stays empty.

use super::limits::COUNTED_LATER;
use crate::{Access, Peripheral};

const CTRL_RESET: u32 = 3;
const CTRL_MASK: u32 = 0xb;
const STAT_FLUSH_READY: u32 = 1;
const STAT_FIFO_EMPTY: u32 = 2;

/// The control registers of the RP2040's XIP cache.
#[derive(Debug, Clone)]
pub struct XipCtrl {
    ctrl: u32,
    /// Whether a counter was written to.
    counting: bool,
    accesses: u64,
    /// Accesses since CTR_HIT was cleared, and how many of them missed.
    tries: u64,
    misses: u64,
    stream_addr: u32,
    stream_ctr: u32,
}

impl Default for XipCtrl {
    /// Returns the control block of the flash cache in its reset state.
    fn default() -> Self {
        Self { ctrl: CTRL_RESET, counting: false, accesses: 0, tries: 0, misses: 0, stream_addr: 0, stream_ctr: 0 }
    }
}

impl XipCtrl {
    /// Returns whether the cache is on (CTRL.EN).
    #[inline]
    #[must_use]
    pub fn is_cache_enabled(&self) -> bool {
        self.ctrl & 1 != 0
    }

    /// Returns whether writes to the non-invalidating aliases fault (CTRL.ERR_BADWRITE).
    #[must_use]
    pub fn does_write_fault(&self) -> bool {
        self.ctrl & 2 != 0
    }

    /// Returns whether the firmware uses the access counters.
    #[inline]
    #[must_use]
    pub fn are_access_counters_used(&self) -> bool {
        self.counting
    }

    /// Adds to the count of cached accesses.
    #[inline]
    pub fn count_accesses(&mut self, accesses: u32) {
        if self.counting {
            self.accesses += u64::from(accesses);
            self.tries += u64::from(accesses);
        }
    }

    /// Counts a miss of the cache. It may be reported before the access is counted.
    #[inline]
    pub fn count_miss(&mut self) {
        self.misses += u64::from(self.counting);
    }
}

/// Returns a count as its 32-bit counter shows it, which saturates.
fn saturate_to_32_bits(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Peripheral for XipCtrl {
    const NAME: &'static str = "XIP_CTRL";

    /// Puts the registers of the control block of the flash cache to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the control block of the flash cache at a byte offset. `access` holds the time in cycles and
    /// the requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if matches!(offset, 0x0c | 0x10) && !self.counting {
            access.effects.limit = Some(&COUNTED_LATER);
        }
        if offset > 0x18 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the control block of the flash cache at a byte offset. `access` holds the time in cycles
    /// and takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => {
                self.ctrl = value & CTRL_MASK;
                access.effects.xip_timing_changed = true;
            }
            0x04 => access.effects.xip_flush |= value & 1 != 0,
            0x08 => {}
            0x0c => {
                (self.tries, self.misses) = (0, 0);
                self.counting = true;
            }
            0x10 => {
                self.accesses = 0;
                self.counting = true;
            }
            0x14 => self.stream_addr = value & !3,
            0x18 => self.stream_ctr = value & 0x3f_ffff,
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the control block of the flash cache at a byte offset, without the side
    /// effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.ctrl,
            0x08 => STAT_FLUSH_READY | STAT_FIFO_EMPTY,
            0x0c => saturate_to_32_bits(self.tries.saturating_sub(self.misses)),
            0x10 => saturate_to_32_bits(self.accesses),
            0x14 => self.stream_addr,
            0x18 => self.stream_ctr,
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for FLUSH, CTR_HIT and CTR_ACC only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x04 | 0x0c | 0x10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn control_flush_and_status() {
        let mut bench = Bench::new();
        let mut xip = XipCtrl::default();
        assert!(xip.is_cache_enabled() && xip.does_write_fault());
        assert_eq!(xip.read_register(0, &mut bench.access()), 3);
        assert_eq!(xip.read_register(8, &mut bench.access()), 3);
        xip.write_register(0, 0, &mut bench.access());
        assert!(!xip.is_cache_enabled() && bench.effects.xip_timing_changed && !bench.effects.xip_flush);
        xip.write_register(4, 1, &mut bench.access());
        assert!(bench.effects.xip_flush);
        assert_eq!(xip.read_register(4, &mut bench.access()), 0);
    }

    #[test]
    fn counters_count_from_a_write_on_and_any_write_clears() {
        let mut bench = Bench::new();
        let mut xip = XipCtrl::default();
        let both = |xip: &mut XipCtrl, bench: &mut Bench| {
            (xip.read_register(0x0c, &mut bench.access()), xip.read_register(0x10, &mut bench.access()))
        };
        xip.count_accesses(10);
        assert_eq!(both(&mut xip, &mut bench), (0, 0));
        assert!(bench.effects.limit.take().is_some(), "nobody wrote yet");
        xip.write_register(0x10, 0, &mut bench.access());
        xip.count_miss();
        assert_eq!(both(&mut xip, &mut bench), (0, 0), "the miss comes before its access");
        xip.count_accesses(10);
        assert_eq!(both(&mut xip, &mut bench), (9, 10));
        xip.write_register(0x0c, 99, &mut bench.access());
        assert_eq!(both(&mut xip, &mut bench), (0, 10));
        xip.count_accesses(u32::MAX);
        assert_eq!(both(&mut xip, &mut bench), (u32::MAX, u32::MAX));
        assert!(bench.effects.limit.is_none());
    }

    #[test]
    fn only_flush_bit_0_empties_cache() {
        let mut bench = Bench::new();
        let mut xip = XipCtrl::default();
        xip.write_register(4, 2, &mut bench.access());
        assert!(!bench.effects.xip_flush);
        let strobes: Vec<u32> = (0..0x20).step_by(4).filter(|&offset| xip.is_strobe(offset)).collect();
        assert_eq!(strobes, [0x04, 0x0c, 0x10]);
    }

    #[test]
    fn access_counter_clears_on_its_own() {
        let mut bench = Bench::new();
        let mut xip = XipCtrl::default();
        xip.write_register(0x0c, 0, &mut bench.access());
        xip.count_accesses(4);
        xip.write_register(0x10, 0, &mut bench.access());
        assert_eq!(
            (xip.read_register(0x0c, &mut bench.access()), xip.read_register(0x10, &mut bench.access())),
            (4, 0)
        );
        assert_eq!(bench.effects.unmodelled, None);
    }
}
