//! A timer that counts another one's update events: external clock mode 1 on an internal trigger (RM0008 15.3.15).
//!
//! The listener is brought up to date when it is accessed. Nothing is due for it, so its own interrupts and outputs
//! come late, at the next access. The two or three clocks that a trigger takes to be counted are not modelled.

use super::{CEN, Timer, UDIS, UIF};
use crate::stm32::block::Access;

/// Slave mode selection: external clock mode 1.
const COUNT_TRIGGERS: u32 = 7;
/// Master mode selection: update.
const TELL_UPDATES: u32 = 2;

/// Whose trigger outputs reach the internal trigger inputs 0 to 3 of a timer (RM0008 table 86; RM0090 and RM0410 the
/// same). The L0's own row is TIM21's. Its input 1 is known from running code, input 0 is assumed.
const INPUTS: &[(&str, [&str; 4])] = &[
    ("TIM1", ["TIM5", "TIM2", "TIM3", "TIM4"]),
    ("TIM2", ["TIM1", "TIM8", "TIM3", "TIM4"]),
    ("TIM3", ["TIM1", "TIM2", "TIM5", "TIM4"]),
    ("TIM4", ["TIM1", "TIM2", "TIM3", "TIM8"]),
    ("TIM5", ["TIM2", "TIM3", "TIM4", "TIM8"]),
    ("TIM21", ["TIM2", "TIM22", "", ""]),
];

/// Returns the name of the timer on trigger input `input` of the timer `name`. `None` if there is none.
pub(in crate::stm32) fn trigger_source_name(name: &str, input: usize) -> Option<&'static str> {
    INPUTS.iter().find(|(listener, _)| *listener == name).map(|(_, talkers)| talkers[input])
}

impl Timer {
    /// Returns the internal trigger input (0 to 3) whose triggers this timer counts instead of its clock.
    #[must_use]
    pub(in crate::stm32) fn chained_trigger_input(&self) -> Option<usize> {
        let smcr = self.stored[2];
        // Trigger selections above 3 are inputs from pins; bit 14 is external clock mode 2.
        (smcr & 0x0001_4007 == COUNT_TRIGGERS && smcr & 0x70 < 0x40).then_some((smcr >> 4 & 3) as usize)
    }

    /// Returns whether the timer counts another timer's updates and should raise interrupts or drive pins. The model
    /// does that too late, because it has no event for them.
    pub(in crate::stm32) fn is_chained_timer_event_late(&self) -> bool {
        self.chained_trigger_input().is_some() && (self.interrupt_enable_register() & 0x5f != 0 || self.drives_pins())
    }

    /// Returns the number of update events up to `access.now` that this timer passes on to others. `None` if it passes
    /// on none.
    pub(in crate::stm32) fn count_update_events_to_notify(&mut self, access: &Access) -> Option<u64> {
        self.advance_timer_to_now(access);
        (self.stored[1] >> 4 & 7 == TELL_UPDATES).then_some(self.updates)
    }

    /// Counts the update events of the timer that this one listens to. `told` is the number so far.
    pub(in crate::stm32) fn count_updates_of_chained_timer(&mut self, told: u64, access: &Access) {
        let fresh = told.wrapping_sub(self.heard.0.replace(told).unwrap_or(told));
        if self.cr1 & CEN == 0 || self.arr.1 == 0 {
            return;
        }
        let divider = u64::from(self.psc.1) + 1;
        let waiting = self.heard.1 + fresh;
        self.heard.1 = waiting % divider;
        let length = u64::from(self.arr.1) + 1;
        let position = self.position.value_at_cycle(access.now) + waiting / divider;
        if position >= length && self.cr1 & UDIS == 0 {
            self.sr |= UIF;
            self.updates += position / length;
        }
        self.position.set_value(access.now, position % length);
        self.done = position % length;
    }
}

#[cfg(test)]
mod tests {
    use crate::stm32::{Chip, Effects, Options, Stm32};

    const CR1: u32 = 0x00;
    const CR2: u32 = 0x04;
    const SMCR: u32 = 0x08;
    const SR: u32 = 0x10;
    const EGR: u32 = 0x14;
    const CNT: u32 = 0x24;
    const PSC: u32 = 0x28;
    const ARR: u32 = 0x2c;

    /// A chip at its reset clock with the pair `low`, `high` of 16 bits chained, the lower one counting microseconds.
    struct ChainedTimerPair {
        chip: Stm32,
        low: u32,
        high: u32,
        mhz: u64,
    }

    impl ChainedTimerPair {
        fn new(chip: Chip, gate: (u32, u32), low: u32, high: u32, input: u32) -> Self {
            let chip = Stm32::new(chip, &Options::default());
            let mhz = chip.clock_frequencies().core_hz / 1_000_000;
            let mut pair = Self { chip, low, high, mhz };
            pair.write_register(gate.0, gate.1, 0);
            pair.write_register(low + PSC, mhz as u32 - 1, 0);
            pair.write_register(low + CR2, 2 << 4, 0);
            pair.write_register(low + EGR, 1, 0);
            pair.write_register(high + SMCR, input << 4 | 7, 0);
            pair.write_register(high + CR1, 1, 0);
            pair.write_register(low + CR1, 1, 0);
            pair
        }

        fn write_register(&mut self, address: u32, value: u32, now: u64) {
            let mut effects = Effects::default();
            self.chip.write_register(address, 4, value, now, &mut effects);
            assert_eq!(effects.unmodelled, None);
        }

        fn read_register(&mut self, address: u32, now: u64) -> u32 {
            self.chip.read_register(address, 4, now, &mut Effects::default())
        }

        /// The 32 bits a few cycles into microsecond `us`, past the start-up delay of the counter.
        fn count(&mut self, us: u64) -> u32 {
            let now = us * self.mhz + 2;
            self.read_register(self.high + CNT, now) << 16 | self.read_register(self.low + CNT, now)
        }
    }

    fn pairs() -> [ChainedTimerPair; 2] {
        [
            ChainedTimerPair::new(Chip::F103, (0x4002_101c, 3), 0x4000_0000, 0x4000_0400, 1),
            // The L0 starts at 2.097 MHz: the lower timer counts every other cycle.
            ChainedTimerPair::new(Chip::L073, (0x4002_1034, 0x24), 0x4001_1400, 0x4001_0800, 1),
        ]
    }

    #[test]
    fn overflows_of_one_timer_count_in_the_other() {
        for mut pair in pairs() {
            for us in [0, 1, 65_535, 65_536, 65_537, 131_071, 131_072, 1_000_000, 100_000_000, 4_294_967_295] {
                assert_eq!(pair.count(us), us as u32, "{us} us on {:?}", pair.chip.chip());
            }
            assert_eq!(pair.count(4_294_967_296), 0, "both wrap");
            assert_eq!(pair.read_register(pair.high + SR, 4_294_967_300 * pair.mhz) & 1, 1);
        }
    }

    #[test]
    fn a_disabled_slave_timer_counts_nothing() {
        for mut pair in pairs() {
            let now = 200_000 * pair.mhz;
            pair.write_register(pair.high + CR1, 0, 0);
            assert_eq!(pair.read_register(pair.high + CNT, now), 0);
            pair.write_register(pair.high + CR1, 1, now);
            assert_eq!(pair.read_register(pair.high + CNT, now + 1), 0, "nor is it told later");
        }
    }

    #[test]
    fn earlier_timer_updates_are_not_counted() {
        let [mut pair, _] = pairs();
        pair.write_register(pair.high + CR1, 0, 0);
        pair.write_register(pair.high + SMCR, 0, 0);
        pair.write_register(pair.high + CR1, 1, 0);
        let now = 200_000 * pair.mhz;
        let counted = pair.read_register(pair.high + CNT, now);
        assert!(counted > 0, "it counts its own clock");
        pair.write_register(pair.high + SMCR, 0x17, now);
        assert_eq!(pair.read_register(pair.high + CNT, now + 1), counted);
    }

    #[test]
    fn prescaler_and_end_value_of_the_slave_timer() {
        let [mut pair, _] = pairs();
        pair.write_register(pair.high + PSC, 1, 0);
        pair.write_register(pair.high + ARR, 2, 0);
        pair.write_register(pair.high + EGR, 1, 0);
        let counts = [1, 2, 3, 4, 5, 6, 7].map(|rounds| pair.count(rounds * 65_536) >> 16);
        assert_eq!(counts, [0, 1, 1, 2, 2, 0, 0]);
    }

    #[test]
    fn timer_without_a_trigger_output_is_not_counted() {
        let [mut pair, _] = pairs();
        pair.write_register(pair.low + CR2, 0, 0);
        assert_eq!(pair.count(65_536 * 3) >> 16, 0);
    }

    #[test]
    fn trigger_input_without_a_connection() {
        let mut pair = ChainedTimerPair::new(Chip::L073, (0x4002_1034, 0x24), 0x4001_1400, 0x4001_0800, 3);
        assert_eq!(pair.count(65_536 * 3) >> 16, 0);
    }
}
