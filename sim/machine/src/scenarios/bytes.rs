//! A scenario's bytes, taken one by one. After the end there are zeros, without end.

/// A cursor over the fuzzer's bytes, from which a scenario is made.
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// Creates a cursor at the first byte.
    pub fn new(data: &'a [u8]) -> Bytes<'a> {
        Bytes { rest: data }
    }

    /// Returns whether all bytes are used. From then on all numbers are 0.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next byte.
    pub fn next_byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first
    }

    /// Returns the next 16 bits.
    pub fn next_halfword(&mut self) -> u16 {
        u16::from_le_bytes([self.next_byte(), self.next_byte()])
    }

    /// Returns the next 32 bits.
    pub fn next_word(&mut self) -> u32 {
        u32::from(self.next_halfword()) | u32::from(self.next_halfword()) << 16
    }

    /// Returns the next 64 bits.
    pub fn next_doubleword(&mut self) -> u64 {
        u64::from(self.next_word()) | u64::from(self.next_word()) << 32
    }

    /// Returns one of `0..count`.
    pub fn next_number_below(&mut self, count: usize) -> usize {
        usize::from(self.next_byte()) % count
    }

    /// Returns one of the choices.
    pub fn next_choice<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next_number_below(choices.len())]
    }

    /// Returns true or false.
    pub fn next_fuzz_bool(&mut self) -> bool {
        self.next_byte() & 1 != 0
    }

    /// Returns up to `most` bytes.
    pub fn next_fuzz_bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(most.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Returns a number of any size: small ones, ones around powers of two, any.
    pub fn next_random_number(&mut self) -> u64 {
        match self.next_byte() % 4 {
            0 => u64::from(self.next_byte()),
            1 => (1_u64 << (self.next_byte() % 64)).wrapping_add(u64::from(self.next_byte())).wrapping_sub(128),
            2 => u64::from(self.next_word()),
            _ => self.next_doubleword(),
        }
    }
}
