//! Bit-band aliases (M3, M4): each word of 0x22000000 and 0x42000000 is a bit of 0x20000000 and 0x40000000.

/// The bit that an address of a bit-band alias stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitBandBit {
    /// Address of the byte.
    pub byte: u32,
    /// Bit in it.
    pub bit: u32,
}

impl BitBandBit {
    /// Returns the mask of the bit in an access of `bytes` at [`Bit::address_of_aliased_bit`].
    pub fn bit_mask_in_bit_band_access(self, bytes: u32) -> u32 {
        1 << (self.bit + 8 * (self.byte & (bytes - 1)))
    }

    /// Returns the address of the byte, halfword or word that contains the bit, whichever the access to the alias was.
    pub fn address_of_aliased_bit(self, bytes: u32) -> u32 {
        self.byte & !(bytes - 1)
    }
}

/// Returns the bit that an address stands for, if it is in a bit-band alias.
#[inline(always)]
pub fn bit_of_alias_address(address: u32) -> Option<BitBandBit> {
    matches!(address >> 25, 0x11 | 0x21)
        .then_some(BitBandBit { byte: address & 0xf000_0000 | address >> 5 & 0x000f_ffff, bit: address >> 2 & 7 })
}

#[cfg(test)]
mod tests {
    use super::{BitBandBit, bit_of_alias_address};

    #[test]
    fn aliases_follow_the_manuals_formula() {
        for (region, alias) in [(0x2000_0000_u32, 0x2200_0000_u32), (0x4000_0000, 0x4200_0000)] {
            for (offset, bit) in [(0, 0), (0, 7), (1, 0), (3, 5), (0x300, 2), (0xf_ffff, 7)] {
                let address = alias + offset * 32 + bit * 4;
                assert_eq!(
                    bit_of_alias_address(address),
                    Some(BitBandBit { byte: region + offset, bit }),
                    "{address:#x}"
                );
            }
        }
    }

    #[test]
    fn no_other_address_is_bit_band() {
        for address in [0x0200_0000, 0x2000_0000, 0x21ff_fffc, 0x2400_0000, 0x4400_0000, 0x6200_0000, 0xe200_0000] {
            assert_eq!(bit_of_alias_address(address), None, "{address:#x}");
        }
    }

    #[test]
    fn bit_band_access_keeps_its_width() {
        let bit = BitBandBit { byte: 0x2000_0007, bit: 5 };
        let reached =
            [1, 2, 4].map(|bytes| (bit.address_of_aliased_bit(bytes), bit.bit_mask_in_bit_band_access(bytes)));
        assert_eq!(reached, [(0x2000_0007, 1 << 5), (0x2000_0006, 1 << 13), (0x2000_0004, 1 << 29)]);
    }
}
