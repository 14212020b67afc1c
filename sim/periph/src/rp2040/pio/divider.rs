//! The clock divider of a state machine (RP2040 data sheet 3.5.5): a tick every INT + FRAC / 256 cycles.
//!
//! The fraction accumulates and makes a period one cycle longer at each carry, so tick n comes ⌊n × divisor / 256⌋
//! cycles after the first. The divider runs whether its state machine is enabled or not.

/// CLKDIV at reset: every cycle.
const RESET: u32 = 0x0001_0000;
/// Units of the divisor in a cycle.
const UNITS: u64 = 256;

/// The clock divider of a PIO state machine, which determines the cycles (ticks) in which the machine executes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divider {
    register: u32,
    /// Cycle of a tick from which the others are counted.
    origin: u64,
}

impl Divider {
    /// Creates a divider in its reset state.
    pub const fn new() -> Self {
        Self { register: RESET, origin: 0 }
    }

    /// Returns the value of the CLKDIV register.
    pub fn clkdiv_value(&self) -> u32 {
        self.register
    }

    /// Returns the length of a period in 256ths of a cycle. INT = 0 stands for 65536.
    fn period_in_256ths(&self) -> u64 {
        match u64::from(self.register >> 16) {
            0 => 65536 * UNITS,
            cycles => cycles * UNITS + u64::from(self.register >> 8 & 0xff),
        }
    }

    /// Returns the number of the first tick in cycle `from` or later.
    fn next_tick_number(&self, from: u64) -> u64 {
        (from.saturating_sub(self.origin) * UNITS).div_ceil(self.period_in_256ths())
    }

    /// Returns the cycle of the tick with this number.
    fn cycle_of_tick(&self, number: u64) -> u64 {
        self.origin + number * self.period_in_256ths() / UNITS
    }

    /// Returns the cycle of the tick that comes `count` ticks after the first one in cycle `from` or later.
    pub fn cycle_of_later_tick(&self, from: u64, count: u64) -> u64 {
        if self.register == RESET && from >= self.origin {
            return from + count;
        }
        self.cycle_of_tick(self.next_tick_number(from) + count)
    }

    /// Returns the number of ticks from cycle `from` on that come before the one in cycle `until`.
    pub fn ticks_between(&self, from: u64, until: u64) -> u64 {
        self.next_tick_number(until).saturating_sub(self.next_tick_number(from))
    }

    /// Writes CLKDIV. The new divider holds from the end of the present period on.
    pub fn write_clkdiv(&mut self, register: u32, now: u64) {
        self.origin = self.cycle_of_later_tick(now + 1, 0);
        self.register = register & 0xffff_ff00;
    }

    /// Restarts the divider with a tick in the next cycle (CTRL.CLKDIV_RESTART).
    pub fn restart_divider(&mut self, now: u64) {
        self.origin = now + 1;
    }
}
