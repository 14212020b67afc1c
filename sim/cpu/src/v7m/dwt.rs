//! Data watchpoint and trace unit (ARMv7-M C1.8): the cycle counter, and registers that keep what is written.
//!
//! The counter is never stepped: it is the core's clock minus a base. It stands still without DEMCR.TRCENA or
//! CTRL.CYCCNTENA and, unless the part says otherwise, while the core sleeps.

use super::features::Features;

const CYCCNTENA: u32 = 1 << 0;
/// Four comparators. Cycle counter, profiling counters and trace present.
const CTRL_FIXED: u32 = 4 << 28;
const CTRL_WRITABLE: u32 = 0x007f_1fff;
const UNLOCK_KEY: u32 = 0xc5ac_ce55;
/// The first offset of the lock and the identification, which need no DEMCR.TRCENA.
const MANAGEMENT: u32 = 0xfb0;

/// The data watchpoint and trace unit. Only its cycle counter works.
#[derive(Debug, Clone)]
pub struct Dwt {
    counts_in_sleep: bool,
    has_lock: bool,
    locked: bool,
    trace: bool,
    ctrl: u32,
    /// While counting: the clock at which the counter was 0. While stopped: unused.
    base: u64,
    /// Counter value while stopped.
    held: u32,
    /// COMP, MASK and FUNCTION of four comparators: kept, they match nothing.
    comparators: [u32; 16],
}

impl Dwt {
    /// Creates the unit in reset state.
    pub fn new(features: &Features) -> Dwt {
        Dwt {
            counts_in_sleep: features.counts_in_sleep,
            has_lock: features.dwt_lock,
            locked: features.dwt_lock,
            trace: false,
            ctrl: CTRL_FIXED,
            base: 0,
            held: 0,
            comparators: [0; 16],
        }
    }

    /// Returns the clock that the cycle counter follows, at cycle `now` of a core that has slept for `sleep_cycles`.
    pub fn cycle_counter_time_base(&self, now: u64, sleep_cycles: u64) -> u64 {
        if self.counts_in_sleep { now } else { now.wrapping_sub(sleep_cycles) }
    }

    /// Returns the unmodelled feature that a read at an offset requests, as a sentence without its full stop. `None` if
    /// there is none.
    pub fn unmodelled_read_feature(&self, offset: u32) -> Option<&'static str> {
        match offset {
            0..MANAGEMENT if !self.trace => Some(
                "DWT registers are read while DEMCR.TRCENA is off: on silicon their values are unknown, here CYCCNT does not count",
            ),
            0x008..=0x01c => Some("DWT: the profiling counters and the program counter sampling are not modelled"),
            _ => None,
        }
    }

    /// Returns the unmodelled feature that a write of `value` requests, as a sentence without its full stop. `None` if
    /// there is none.
    pub fn dwt_write_unmodelled_feature(&self, offset: u32, value: u32) -> Option<&'static str> {
        match offset {
            0..MANAGEMENT if !self.trace => {
                Some("DWT registers are written while DEMCR.TRCENA is off, which silicon may ignore")
            }
            0x028 | 0x038 | 0x048 | 0x058 if value != 0 => {
                Some("DWT: the comparators are not modelled and never match")
            }
            _ => None,
        }
    }

    /// Returns whether the cycle counter counts.
    fn is_counting(&self) -> bool {
        self.trace && self.ctrl & CYCCNTENA != 0
    }

    /// Returns CYCCNT at this reading of [`Dwt::cycle_counter_time_base`].
    pub fn cycle_counter(&self, clock: u64) -> u32 {
        if self.is_counting() { clock.wrapping_sub(self.base) as u32 } else { self.held }
    }

    /// Sets CYCCNT at this reading of [`Dwt::cycle_counter_time_base`].
    fn set_cycle_counter(&mut self, value: u32, clock: u64) {
        self.held = value;
        self.base = clock.wrapping_sub(u64::from(value));
    }

    /// Applies a change that may stop or start the counter, at this reading of the clock.
    fn change_cycle_counter_control(&mut self, clock: u64, change: impl FnOnce(&mut Dwt)) {
        let value = self.cycle_counter(clock);
        change(self);
        self.set_cycle_counter(value, clock);
    }

    /// Sets DEMCR.TRCENA at this reading of the clock.
    pub fn set_trace_enable(&mut self, on: bool, clock: u64) {
        self.change_cycle_counter_control(clock, |dwt| dwt.trace = on);
    }

    /// Reads a DWT register at an offset from 0xE0001000. The profiling counters read as 0.
    pub fn read_register(&self, offset: u32, clock: u64) -> u32 {
        match offset {
            0x000 => self.ctrl,
            0x004 => self.cycle_counter(clock),
            0x020..=0x05c => self.comparators[(offset as usize - 0x20) / 4],
            // LSR: a lock is there, and it is closed.
            0xfb4 => u32::from(self.has_lock) | u32::from(self.locked) << 1,
            _ => 0,
        }
    }

    /// Writes a DWT register at an offset from 0xE0001000. While the unit is locked, only the lock itself is
    /// accessible.
    pub fn write_register(&mut self, offset: u32, value: u32, clock: u64) {
        match offset {
            0xfb0 if self.has_lock => self.locked = value != UNLOCK_KEY,
            _ if self.locked => {}
            0x000 => self.change_cycle_counter_control(clock, |dwt| dwt.ctrl = CTRL_FIXED | value & CTRL_WRITABLE),
            0x004 => self.set_cycle_counter(value, clock),
            0x020..=0x05c => self.comparators[(offset as usize - 0x20) / 4] = value,
            _ => {}
        }
    }
}
