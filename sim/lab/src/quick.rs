//! A hasher for keys that nobody chooses.

/// A fast hasher of addresses and places: two multiplications instead of SipHash, since each instruction or event pays
/// for one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quick(u64);

impl std::hash::BuildHasher for Quick {
    /// The type that hashes one key.
    type Hasher = Quick;

    /// Returns a hasher for one key.
    fn build_hasher(&self) -> Quick {
        Quick(0)
    }
}

impl std::hash::Hasher for Quick {
    /// Returns the hash of what was written.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    /// Adds bytes to the hash.
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    /// Adds a 32-bit number to the hash.
    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}
