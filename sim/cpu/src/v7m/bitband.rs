//! Bit-band aliases (M3, M4): each word of 0x22000000 and 0x42000000 is a bit of 0x20000000 and 0x40000000.

/// A bit behind an alias address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bit {
    /// Address of the byte.
    pub byte: u32,
    /// Bit in it.
    pub bit: u32,
}

impl Bit {
    /// What an access of `bytes` at [`Bit::address`] must read and write to reach the bit.
    pub fn mask(self, bytes: u32) -> u32 {
        1 << (self.bit + 8 * (self.byte & (bytes - 1)))
    }

    /// The bit's byte, halfword or word, whichever the access to the alias was.
    pub fn address(self, bytes: u32) -> u32 {
        self.byte & !(bytes - 1)
    }
}

/// The bit that an alias address stands for, if it is one.
#[inline(always)]
pub fn target(address: u32) -> Option<Bit> {
    matches!(address >> 25, 0x11 | 0x21)
        .then_some(Bit { byte: address & 0xf000_0000 | address >> 5 & 0x000f_ffff, bit: address >> 2 & 7 })
}
