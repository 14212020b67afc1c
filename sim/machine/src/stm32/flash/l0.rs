//! STM32L0: a 32-bit array and six 32-bit buffers that instructions, data, prefetch and pre-read share (RM0367 3.3).

use super::array::FlashArrayState;
use rtoslab_timing::stm32_flash::{L0_BUFFERS, L0_LINE_BYTES};

/// Bits of FLASH_ACR.
mod acr {
    pub const LATENCY: u32 = 1 << 0;
    pub const PRFTEN: u32 = 1 << 1;
    pub const DISAB_BUF: u32 = 1 << 5;
    pub const PRE_READ: u32 = 1 << 6;
}

/// No word.
const EMPTY: u32 = u32::MAX;
/// The flash shows at 0 too: its words count from either start.
const OFFSET: u32 = 0x00ff_ffff;
/// Words that can be in a buffer: all of the largest flash of the family, and one that is read ahead after its end. As
/// many as 16 bits count, so that an index needs no check.
const WORDS: u32 = (192 << 10) / L0_LINE_BYTES + 1;
const PLACES_BY_WORD: usize = 1 << 16;
const _: () = assert!(WORDS < PLACES_BY_WORD as u32 - 1);
/// The word is in no buffer.
const ABSENT: u8 = 0;
/// Length of the buffers' arrays: a power of two, so that an index needs no check.
const PLACES: usize = 8;
const _: () = assert!(L0_BUFFERS <= PLACES);

/// The buffers by their last use: one hexadecimal digit each, the least recent in the highest place.
#[derive(Debug, Clone, Copy)]
struct BufferUseOrder(u32);

impl BufferUseOrder {
    const DIGITS: u32 = 4 * L0_BUFFERS as u32;
    /// The first buffer is taken first.
    const INITIAL: BufferUseOrder = BufferUseOrder(0x01_2345);
    const ONES: u32 = 0x11_1111;
    /// Buffer 0 was used last.
    const BY_NUMBER: BufferUseOrder = BufferUseOrder(0x54_3210);

    /// Returns the number of the buffer in a place of the order of use. Place 0 is the most recently used.
    fn flash_buffer_in_use_order(self, place: usize) -> usize {
        (self.0 >> (4 * place) & 15) as usize % PLACES
    }

    /// Makes the least recently used buffer the most recently used one, and returns its number.
    #[inline(always)]
    fn reuse_oldest_flash_buffer(&mut self) -> usize {
        let oldest = self.0 >> (BufferUseOrder::DIGITS - 4);
        self.0 = (self.0 << 4 | oldest) & ((1 << BufferUseOrder::DIGITS) - 1);
        oldest as usize
    }

    /// Makes a buffer the most recently used one.
    #[inline(always)]
    fn mark_flash_buffer_most_recently_used(&mut self, buffer: usize) {
        let buffer = buffer as u32;
        if self.0 & 15 == buffer {
            return;
        }
        // The digit that is the buffer's becomes 0, and the lowest borrow tells where it is.
        let odd = self.0 ^ (buffer * BufferUseOrder::ONES);
        let place = (odd.wrapping_sub(BufferUseOrder::ONES) & !odd & (8 * BufferUseOrder::ONES)).trailing_zeros() & !3;
        let newer = (1 << place) - 1;
        self.0 = self.0 & !(newer << 4 | 15) | (self.0 & newer) << 4 | buffer;
    }
}

/// Returns the distance of a cycle from `t`, or `None` if a byte cannot hold it. Cycles before `t` have the distance 0.
fn relative_cycle_as_byte(cycle: u64, t: u64) -> Option<u64> {
    Some(cycle.saturating_sub(t)).filter(|&distance| distance <= 0xff)
}

/// Packs values of `bits` bits each into one number, the first in the lowest bits.
fn pack_values(values: &[u64], bits: u32) -> u64 {
    values.iter().rev().fold(0, |joined, value| joined << bits | value)
}

/// The L0's flash interface. The least recently used buffer takes the next word (RM0367).
#[derive(Debug, Clone)]
pub struct FlashL0 {
    array: FlashArrayState,
    acr: u32,
    /// Word in each buffer.
    words: [u32; PLACES],
    /// Cycle from which on it is there.
    there: [u64; PLACES],
    order: BufferUseOrder,
    /// Number of the buffer of each word, plus 1.
    buffer_of: Box<[u8; PLACES_BY_WORD]>,
    /// Word that was read ahead last, whose buffer is in front still, and when it is there.
    ahead: u32,
    ahead_there: u64,
    /// Words whose fetches are the usual ones: all, if wait states, buffers and prefetch are on, as in a part that runs
    /// fast; else none.
    usual: u32,
}

impl Default for FlashL0 {
    /// Returns the interface with empty buffers, after reset.
    fn default() -> FlashL0 {
        FlashL0::new()
    }
}

impl FlashL0 {
    /// Creates the interface in its reset state: no wait state, buffers on, prefetch and pre-read off.
    pub fn new() -> FlashL0 {
        FlashL0 {
            array: FlashArrayState::default(),
            acr: 0,
            words: [EMPTY; PLACES],
            there: [0; PLACES],
            order: BufferUseOrder::INITIAL,
            buffer_of: Box::new([ABSENT; PLACES_BY_WORD]),
            ahead: EMPTY,
            ahead_there: 0,
            usual: 0,
        }
    }

    /// Applies a new value of FLASH_ACR. Without buffers there is neither prefetch nor pre-read.
    pub fn apply_access_control_register(&mut self, value: u32) {
        self.array.wait_states = u64::from(value & acr::LATENCY);
        self.acr = if value & acr::DISAB_BUF != 0 { value & !(acr::PRFTEN | acr::PRE_READ) } else { value };
        self.words = [EMPTY; PLACES];
        self.order = BufferUseOrder::INITIAL;
        self.buffer_of.fill(ABSENT);
        self.ahead = EMPTY;
        self.usual = if self.array.wait_states != 0 && self.acr & acr::PRFTEN != 0 { WORDS } else { 0 };
    }

    /// Returns whether fetches from the flash may have to wait.
    pub fn may_fetches_wait(&self) -> bool {
        self.array.wait_states != 0
    }

    /// Returns whether FLASH_ACR has the same effects on the timing of both interfaces.
    pub fn has_same_flash_timing(&self, other: &FlashL0) -> bool {
        (self.acr, self.array.wait_states) == (other.acr, other.array.wait_states)
    }

    /// Returns the state on which the timing of future accesses depends, apart from the register: array, buffers in the
    /// order of their use, times relative to `t`. `None` if a time is too far away. The topmost 16 bits are 0.
    pub fn timing_state(&self, t: u64) -> Option<[u64; 3]> {
        let mut words = [0; L0_BUFFERS];
        let mut arrivals = [0; L0_BUFFERS];
        for (place, (word, there)) in words.iter_mut().zip(&mut arrivals).enumerate() {
            let buffer = self.order.flash_buffer_in_use_order(place);
            *word = u64::from(self.words[buffer] as u16);
            // A word can be used two cycles after the fetch began, if it is there by then or long before.
            *there = relative_cycle_as_byte(self.there[buffer], t)?;
        }
        let array = relative_cycle_as_byte(self.array.next_flash_read_cycle(), t)?;
        let ahead = u64::from(self.ahead != EMPTY);
        Some([
            pack_values(&words[..4], 16),
            pack_values(&words[4..], 16) | pack_values(&arrivals[..4], 8) << 32,
            pack_values(&arrivals[4..], 8) | array << 16 | ahead << 24,
        ])
    }

    /// Sets the interface to a state of [`FlashL0::timing_state`], at cycle `t`.
    pub fn restore_timing_state(&mut self, state: &[u64; 3], t: u64) {
        for word in self.words {
            self.buffer_of[usize::from(word as u16)] = ABSENT;
        }
        let part = |index: usize, shift: usize, mask: u64| state[index] >> shift & mask;
        for place in 0..L0_BUFFERS {
            let word = part(place / 4, 16 * (place % 4), 0xffff) as u16;
            let (index, shift) = if place < 4 { (1, 32 + 8 * place) } else { (2, 8 * (place - 4)) };
            self.there[place] = t + part(index, shift, 0xff);
            self.words[place] = if word == EMPTY as u16 { EMPTY } else { word.into() };
            if word != EMPTY as u16 {
                self.buffer_of[usize::from(word)] = place as u8 + 1;
            }
        }
        self.order = BufferUseOrder::BY_NUMBER;
        self.array.set_next_flash_read_cycle(t + part(2, 16, 0xff));
        let ahead = part(2, 24, 1) != 0;
        (self.ahead, self.ahead_there) = (if ahead { self.words[0] } else { EMPTY }, self.there[0]);
    }

    /// Fetches an instruction word in cycle `at`. Returns the cycle after its data phase: `at + 2` without wait.
    #[inline(always)]
    pub fn fetch_code(&mut self, address: u32, at: u64) -> u64 {
        let word = (address & OFFSET) / L0_LINE_BYTES;
        if word >= self.usual {
            return self.fetch_on_slow_path(word, at);
        }
        let buffer = self.flash_buffer_word_arrival_cycle(word, at);
        self.read_word_ahead(word + 1, buffer);
        buffer
    }

    /// Fetches a word for which the fast path does not apply: without wait states, or of a word that does not follow
    /// the last one.
    #[inline(never)]
    fn fetch_on_slow_path(&mut self, word: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return at + 2;
        }
        let arrival = self.flash_word_arrival_cycle(word, at);
        if self.acr & acr::PRFTEN != 0 {
            self.read_word_ahead(word + 1, arrival);
        }
        arrival
    }

    /// Reads data in cycle `at`. Returns the wait states.
    pub fn data_read_waits(&mut self, address: u32, at: u64) -> u64 {
        if self.array.wait_states == 0 {
            return 0;
        }
        let word = (address & OFFSET) / L0_LINE_BYTES;
        let arrival = self.flash_word_arrival_cycle(word, at);
        if self.acr & acr::PRE_READ != 0 {
            self.read_word_ahead(word + 1, arrival);
        }
        arrival - (at + 2)
    }

    /// Returns the cycle in which a word arrives, from a buffer or the array.
    #[inline(always)]
    fn flash_word_arrival_cycle(&mut self, word: u32, at: u64) -> u64 {
        // Beyond the flash is the boot memory, which the buffers do not serve.
        if self.acr & acr::DISAB_BUF != 0 || word >= WORDS {
            return self.array.begin_array_read(at + 1);
        }
        self.flash_buffer_word_arrival_cycle(word, at)
    }

    /// Returns the cycle in which a word is in a buffer. If it is in none, it is read into one.
    #[inline(always)]
    fn flash_buffer_word_arrival_cycle(&mut self, word: u32, at: u64) -> u64 {
        if word == self.ahead {
            return self.ahead_there.max(at + 2);
        }
        self.ahead = EMPTY;
        match self.flash_buffer_containing_word(word) {
            ABSENT => self.load_word_into_buffer(word, at + 1),
            number => {
                let buffer = usize::from(number - 1) % PLACES;
                self.order.mark_flash_buffer_most_recently_used(buffer);
                self.there[buffer].max(at + 2)
            }
        }
    }

    /// Returns the number of the buffer that contains a word, plus 1. [`ABSENT`] if there is none.
    #[inline(always)]
    fn flash_buffer_containing_word(&self, word: u32) -> u8 {
        self.buffer_of[usize::from(word as u16)]
    }

    /// Reads a word ahead, unless a buffer contains it.
    #[inline(always)]
    fn read_word_ahead(&mut self, word: u32, from: u64) {
        if self.flash_buffer_containing_word(word) == ABSENT {
            self.ahead_there = self.load_word_into_buffer(word, from);
            self.ahead = word;
        }
    }

    /// Reads a word from the array into the least recently used buffer. Returns the cycle in which it is there.
    #[inline(always)]
    fn load_word_into_buffer(&mut self, word: u32, from: u64) -> u64 {
        let end = self.array.begin_array_read(from);
        let buffer = self.order.reuse_oldest_flash_buffer() % PLACES;
        self.buffer_of[usize::from(self.words[buffer] as u16)] = ABSENT;
        self.buffer_of[usize::from(word as u16)] = buffer as u8 + 1;
        (self.words[buffer], self.there[buffer]) = (word, end);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_ordered_by_last_use() {
        let mut order = BufferUseOrder::INITIAL;
        let mut reference = vec![5, 4, 3, 2, 1, 0];
        for step in 0..500_usize {
            let buffer = if step % 3 == 0 {
                order.reuse_oldest_flash_buffer()
            } else {
                let buffer = (step * step + step / 7) % L0_BUFFERS;
                order.mark_flash_buffer_most_recently_used(buffer);
                buffer
            };
            if step % 3 == 0 {
                assert_eq!(buffer, reference[L0_BUFFERS - 1]);
            }
            reference.retain(|&other| other != buffer);
            reference.insert(0, buffer);
            let digits: Vec<usize> = (0..L0_BUFFERS).map(|place| (order.0 >> (4 * place) & 15) as usize).collect();
            assert_eq!(digits, reference, "after step {step}");
        }
    }

    #[test]
    fn flash_interface_continues_after_restore() {
        let registers =
            [acr::LATENCY, acr::PRFTEN | 1, acr::PRE_READ | 1, acr::PRFTEN | acr::PRE_READ | 1, acr::DISAB_BUF | 1];
        for register in registers {
            let (mut flash, mut resumed) = (FlashL0::new(), FlashL0::new());
            flash.apply_access_control_register(register);
            resumed.apply_access_control_register(register);
            let (mut t, mut number) = (0, 1_u32);
            for step in 0..4000 {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Small loops, jumps, and reads of words before and behind.
                let address = 0x0800_0000 + 4 * if number >> 30 == 0 { number >> 20 & 63 } else { step % 7 };
                let read = number >> 16 & 7 == 0;
                let access = |flash: &mut FlashL0, at: u64| {
                    if read { at + 2 + flash.data_read_waits(address, at) } else { flash.fetch_code(address, at) }
                };
                let end = access(&mut flash, t);
                assert_eq!(access(&mut resumed, t), end, "register {register:#x}, step {step}");
                t = end - 1 + u64::from(number >> 8 & 3);
                let state = flash.timing_state(t).expect("nothing takes long");
                resumed = FlashL0::new();
                resumed.apply_access_control_register(register);
                resumed.restore_timing_state(&state, t);
                assert_eq!(resumed.timing_state(t), Some(state));
            }
        }
    }
}
