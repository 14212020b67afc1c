//! States of timing by number, since a key has few bits for one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map with a fast hasher without a seed. It needs no defence against chosen keys, which are states or addresses of
/// code.
pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Multiply>>;

/// A fast hasher that multiplies.
#[derive(Debug, Default)]
pub(super) struct Multiply(u64);

impl Hasher for Multiply {
    /// Returns the hash of what was written.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    /// Adds bytes to the hash, eight at a time.
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    /// Adds a byte to the hash.
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    /// Adds a 16-bit number to the hash.
    fn write_u16(&mut self, value: u16) {
        self.write_u64(value.into());
    }

    /// Adds a 32-bit number to the hash.
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    /// Adds a 64-bit number to the hash.
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A numbered set of up to `ROOM` different states.
#[derive(Debug)]
pub(super) struct NumberedStateSet<S, const ROOM: usize> {
    all: Vec<S>,
    numbers: QuickMap<S, u32>,
    /// The number of the last state at each place.
    last: Vec<u32>,
}

/// Places where a state is looked for first.
const PLACES: usize = 1 << 10;

impl<S, const ROOM: usize> Default for NumberedStateSet<S, ROOM> {
    /// Returns an empty store.
    fn default() -> Self {
        NumberedStateSet { all: Vec::new(), numbers: QuickMap::default(), last: vec![0; PLACES] }
    }
}

impl<S: Copy + Eq + Hash, const ROOM: usize> NumberedStateSet<S, ROOM> {
    /// Returns the number of a state, which is added if it is new. `None` if there is no room for it.
    pub fn find_or_add_timing_state(&mut self, state: S) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&state) {
            return Some(number);
        }
        if self.all.len() == ROOM {
            return None;
        }
        let number = self.all.len() as u32;
        self.all.push(state);
        self.numbers.insert(state, number);
        Some(number)
    }

    /// Returns the number of a state as [`States::find_or_add_timing_state`] does, but first compares it with the last
    /// state at this place, which is faster.
    pub fn find_or_add_state_using_hint(&mut self, place: usize, state: S) -> Option<u32> {
        let last = self.last[place % PLACES];
        if self.all.get(last as usize) == Some(&state) {
            return Some(last);
        }
        let number = self.find_or_add_timing_state(state)?;
        self.last[place % PLACES] = number;
        Some(number)
    }

    /// Returns the timing state with this number.
    pub fn timing_state_with_number(&self, number: u32) -> &S {
        &self.all[number as usize]
    }

    /// Returns the host address of the array of states. It is valid until a state is added.
    pub fn timing_state_array_address(&self) -> *const S {
        self.all.as_ptr()
    }

    /// Returns whether the set has no state.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Forgets all states of the set.
    pub fn clear_timing_states(&mut self) {
        self.all.clear();
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_state_keeps_number_until_full() {
        let mut states = NumberedStateSet::<u64, 8>::default();
        let numbers: Vec<_> = (0..9).map(|state| states.find_or_add_timing_state(state << 40)).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), None]);
        assert_eq!((states.find_or_add_timing_state(5 << 40), *states.timing_state_with_number(5)), (Some(5), 5 << 40));
        let met = [(1, 3), (1, 3), (1, 4), (1 + PLACES, 4), (2, 9)]
            .map(|(at, state)| states.find_or_add_state_using_hint(at, state << 40));
        assert_eq!(met, [Some(3), Some(3), Some(4), Some(4), None]);
        states.clear_timing_states();
        assert!(states.is_empty());
        assert_eq!(states.find_or_add_state_using_hint(1, 8 << 40), Some(0));
    }
}
