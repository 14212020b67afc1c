//! Random number generator (RM0090 chapter 24): deterministic here, from the seed in the options.

use super::block::{Access, Block};
use crate::{FractionalRateCounter, NEVER};

const RNGEN: u32 = 1 << 2;
const IE: u32 = 1 << 3;
const DRDY: u32 = 1 << 0;
/// A word takes 40 periods of the 48 MHz clock (RM0090 24.3.1).
const WORD_PERIODS: u64 = 40;
const CLOCK_HZ: u64 = 48_000_000;

/// Returns whether a clock frequency from RCC is within 1 % of the one that the model assumes. Random words would
/// otherwise be ready more than 1 % earlier or later than here.
pub(super) fn is_clock_within_one_percent(hz: u64) -> bool {
    hz.abs_diff(CLOCK_HZ) <= CLOCK_HZ / 100
}

/// The random number generator (RNG).
#[derive(Debug, Clone)]
pub struct Rng {
    seed: u64,
    state: u64,
    cr: u32,
    word: Option<u32>,
    /// Periods since the last word was taken.
    making: Option<FractionalRateCounter>,
}

impl Rng {
    /// Returns the random number generator in its reset state. `seed` determines its sequence.
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, state: seed | 1, cr: 0, word: None, making: None }
    }

    /// Returns whether the generator produces words.
    pub(super) fn can_produce_random_words(&self) -> bool {
        self.cr & RNGEN != 0
    }

    /// Begins to produce the generator's next random word, unless one is ready or in progress.
    fn start_next_random_word(&mut self, access: &Access) {
        if self.can_produce_random_words() && self.word.is_none() && self.making.is_none() {
            self.making = Some(FractionalRateCounter::new_running_counter(access.now, 0, CLOCK_HZ, 1, access.core_hz));
        }
    }

    /// Returns the next random word, by xorshift64*.
    fn next_random_word(&mut self) -> u32 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
}

impl Block for Rng {
    /// Puts the registers of the random number generator to their reset values. The sequence of numbers goes on.
    fn reset_registers(&mut self) {
        // The noise does not start over with a reset.
        *self = Self { state: self.state, ..Self::new(self.seed) };
    }

    /// Reads a register of the random number generator at a byte offset. `access` holds the time in core cycles and the
    /// number of bytes. A read of DR takes the number, and the next one is begun.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if offset == 8 {
            let word = self.word.take().unwrap_or(0);
            self.start_next_random_word(access);
            return word;
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the random number generator at a byte offset. `access` holds the time in core cycles and
    /// takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        if offset == 0 {
            self.cr = value;
            if value & RNGEN == 0 {
                self.making = None;
            }
            self.start_next_random_word(access);
        }
    }

    /// Returns the value of a register of the random number generator at a byte offset, without the side effects of a
    /// read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0 => self.cr,
            4 => u32::from(self.word.is_some()) * DRDY,
            _ => 0,
        }
    }

    /// Returns the core cycle at which the next random number is ready, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.making.as_ref().map_or(NEVER, |periods| periods.first_cycle_at_counter_value(WORD_PERIODS))
    }

    /// Makes the random number ready if its time has come at the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next_event_cycle() <= access.now {
            self.making = None;
            self.word = Some(self.next_random_word());
        }
    }

    /// Adapts the remaining time of the number in preparation to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        if let Some(periods) = &mut self.making {
            periods.change_counting_rate(access.now, CLOCK_HZ, 1, access.core_hz);
        }
    }

    /// Returns 1 while the random number generator requests its interrupt: a number is ready and the interrupt enabled.
    fn interrupt_outputs(&self) -> u32 {
        u32::from(self.cr & IE != 0 && self.word.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stm32::testing::Bench;

    fn words(seed: u64, count: usize) -> Vec<u32> {
        let mut bench = Bench::new();
        let mut rng = Rng::new(seed);
        rng.write_register(0, RNGEN, &mut bench.access());
        let mut words = Vec::new();
        while words.len() < count {
            let due = rng.next_event_cycle();
            rng.advance_to_now(&mut bench.access_at(due));
            words.push(rng.read_register(8, &mut bench.access()));
        }
        words
    }

    #[test]
    fn word_every_40_periods() {
        let mut bench = Bench::new();
        let mut rng = Rng::new(1);
        assert_eq!(
            (
                rng.read_register(4, &mut bench.access()),
                rng.read_register(8, &mut bench.access()),
                rng.next_event_cycle()
            ),
            (0, 0, NEVER)
        );
        rng.write_register(0, RNGEN | IE, &mut bench.access());
        // 40 periods of 48 MHz at 16 MHz.
        assert_eq!(rng.next_event_cycle(), 14);
        assert_eq!((rng.read_register(4, &mut bench.access_at(13)), rng.interrupt_outputs()), (0, 0));
        assert_eq!((rng.read_register(4, &mut bench.access_at(14)), rng.interrupt_outputs()), (DRDY, 1));
        assert_ne!(rng.read_register(8, &mut bench.access()), 0);
        assert_eq!(
            (rng.read_register(4, &mut bench.access()), rng.interrupt_outputs(), rng.next_event_cycle()),
            (0, 0, 28)
        );
        rng.write_register(0, 0, &mut bench.access());
        assert_eq!(rng.next_event_cycle(), NEVER);
    }

    #[test]
    fn same_seed_same_words() {
        let first = words(7, 100);
        assert_eq!(first, words(7, 100));
        assert_ne!(first, words(8, 100));
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 100);
    }
}
