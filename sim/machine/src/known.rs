//! Instructions behind stand-ins: those with probes are asked for each time they execute, and mostly were decoded
//! before.

/// How many are kept.
const KNOWN: usize = 256;

/// A decoded instruction with the address and halfwords from which it was decoded.
#[derive(Debug, Clone, Copy)]
struct Entry<O> {
    address: u32,
    halfwords: [u16; 2],
    decoded: O,
    site: u32,
}

/// A direct-mapped cache of decoded instructions, with the numbers of their sites among the probes.
#[derive(Debug)]
pub struct DecodedOpCache<O>([Entry<O>; KNOWN]);

impl<O: Copy + Default> Default for DecodedOpCache<O> {
    /// Returns an empty cache.
    fn default() -> DecodedOpCache<O> {
        // No instruction has an odd address.
        DecodedOpCache([Entry { address: 1, halfwords: [0; 2], decoded: O::default(), site: 0 }; KNOWN])
    }
}

impl<O: Copy> DecodedOpCache<O> {
    /// Returns the index of the table entry for an instruction's address.
    fn index_in_decoded_op_cache(address: u32) -> usize {
        address as usize / 2 % KNOWN
    }

    /// Returns the decoded instruction at an address with these halfwords, and its site, if they are cached. (The site
    /// may have changed since.)
    #[inline]
    pub fn find_decoded_instruction(&self, address: u32, halfwords: [u16; 2]) -> Option<(O, u32)> {
        let entry = &self.0[DecodedOpCache::<O>::index_in_decoded_op_cache(address)];
        ((entry.address, entry.halfwords) == (address, halfwords)).then_some((entry.decoded, entry.site))
    }

    /// Caches a decoded instruction for later calls of [`DecodedOpCache::find_decoded_instruction`], and returns it.
    pub fn cache_decoded_instruction(&mut self, address: u32, halfwords: [u16; 2], decoded: O, site: u32) -> (O, u32) {
        self.0[DecodedOpCache::<O>::index_in_decoded_op_cache(address)] = Entry { address, halfwords, decoded, site };
        (decoded, site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_entry_is_found_until_the_code_changes() {
        let mut known = DecodedOpCache::<u8>::default();
        assert_eq!(known.find_decoded_instruction(1, [0; 2]), Some((0, 0)), "an address that nobody asks for");
        assert_eq!(known.find_decoded_instruction(0x100, [0; 2]), None);
        assert_eq!(known.cache_decoded_instruction(0x100, [7, 8], 3, 4), (3, 4));
        assert_eq!(known.find_decoded_instruction(0x100, [7, 8]), Some((3, 4)));
        for (address, halfwords) in [(0x100, [7, 9]), (0x100, [8, 8]), (0x100 + 2 * KNOWN as u32, [7, 8])] {
            assert_eq!(known.find_decoded_instruction(address, halfwords), None);
        }
        known.cache_decoded_instruction(0x100 + 2 * KNOWN as u32, [7, 8], 5, 6);
        assert_eq!(known.find_decoded_instruction(0x100, [7, 8]), None);
    }
}
