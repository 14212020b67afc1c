//! CRC unit: the fixed one of F1 and F4 (RM0090 chapter 4) and the programmable one of L0, F7 and H7 (RM0410 chapter
//! 12). The few bus cycles of a computation are not charged.

use super::block::{Access, Block};

const POLYNOMIAL: u32 = 0x04c1_1db7;

/// The CRC unit, which computes checksums.
#[derive(Debug, Clone)]
pub struct Crc {
    programmable: bool,
    /// Remainder, in the low bits.
    value: u32,
    idr: u32,
    cr: u32,
    init: u32,
    pol: u32,
}

impl Crc {
    /// Returns the CRC unit in its reset state. `programmable` is true on L0, F7 and H7, whose polynomial can be set.
    pub(super) fn new(programmable: bool) -> Self {
        Self { programmable, value: u32::MAX, idr: 0, cr: 0, init: u32::MAX, pol: POLYNOMIAL }
    }

    /// Returns the width of the polynomial in bits.
    fn polynomial_width(&self) -> u32 {
        [32, 16, 8, 7][(self.cr >> 3 & 3) as usize]
    }

    /// Returns a mask with the width of the polynomial.
    fn polynomial_mask(&self) -> u32 {
        u32::MAX >> (32 - self.polynomial_width())
    }

    /// Returns the data with its bits reversed within bytes, half words or the word, as REV_IN says.
    fn reverse_crc_input_bits(&self, data: u32, bits: u32) -> u32 {
        let unit = [0, 8, 16, 32][(self.cr >> 5 & 3) as usize].min(bits);
        if unit == 0 {
            return data;
        }
        (0..bits / unit).fold(0, |all, n| {
            let part = data >> (n * unit) & (u32::MAX >> (32 - unit));
            all | part.reverse_bits() >> (32 - unit) << (n * unit)
        })
    }

    /// Adds `bits` bits of data to the checksum, most significant bit first.
    fn add_bits_to_checksum(&mut self, data: u32, bits: u32) {
        let (width, mask) = (self.polynomial_width(), self.polynomial_mask());
        let data = self.reverse_crc_input_bits(data, bits);
        for n in (0..bits).rev() {
            let top = (self.value >> (width - 1) ^ data >> n) & 1;
            self.value = (self.value << 1 ^ if top != 0 { self.pol } else { 0 }) & mask;
        }
    }

    /// Returns the value of DR: the checksum, reversed if REV_OUT is set.
    fn checksum_register(&self) -> u32 {
        if self.cr >> 7 & 1 != 0 { self.value.reverse_bits() >> (32 - self.polynomial_width()) } else { self.value }
    }
}

impl Block for Crc {
    /// Puts the registers of the CRC unit to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::new(self.programmable);
    }

    /// Reads a register of the CRC unit at a byte offset. `access` holds the time in core cycles and the number of
    /// bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.peek_register(offset, access)
    }

    /// Writes a register of the CRC unit at a byte offset. `access` holds the time in core cycles and takes requests to
    /// the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 if self.programmable => self.add_bits_to_checksum(value, access.bytes * 8),
            0x00 => self.add_bits_to_checksum(value, 32),
            0x04 => self.idr = value & 0xff,
            0x08 => {
                if self.programmable {
                    self.cr = value & 0xf8;
                }
                if value & 1 != 0 {
                    self.value = self.init & self.polynomial_mask();
                }
            }
            0x10 if self.programmable => {
                self.init = value;
                self.value = value & self.polynomial_mask();
            }
            0x14 if self.programmable => self.pol = value,
            _ => {}
        }
    }

    /// Returns the value of a register of the CRC unit at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.checksum_register(),
            0x04 => self.idr,
            0x08 => self.cr,
            0x10 if self.programmable => self.init,
            0x14 if self.programmable => self.pol,
            _ => 0,
        }
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for DR only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stm32::testing::Bench;

    fn write(crc: &mut Crc, bench: &mut Bench, offset: u32, value: u32, bytes: u32) {
        let mut access = bench.access();
        access.bytes = bytes;
        crc.write_register(offset, value, &mut access);
    }

    #[test]
    fn crc_with_fixed_polynomial_is_correct() {
        // CRC-32/MPEG-2 of whole words: the check value for one zero word and for 0x12345678.
        for (words, want) in [(&[0u32][..], 0xc704_dd7b), (&[0x1234_5678], 0xdf8a_8a2b), (&[0, 0], 0x6904_bb59)] {
            let mut bench = Bench::new();
            let mut crc = Crc::new(false);
            for &word in words {
                write(&mut crc, &mut bench, 0, word, 4);
            }
            assert_eq!(crc.read_register(0, &mut bench.access()), want, "{words:x?}");
            write(&mut crc, &mut bench, 8, 1, 4);
            assert_eq!(
                (crc.read_register(0, &mut bench.access()), crc.read_register(8, &mut bench.access())),
                (u32::MAX, 0)
            );
        }
    }

    #[test]
    fn crc_catalogue_check_values_match() {
        // (CR, INIT, POL, final exclusive or, check value of "123456789"), fed by bytes.
        for (name, cr, init, pol, invert, want) in [
            ("CRC-32/MPEG-2", 0, u32::MAX, POLYNOMIAL, 0, 0x0376_e6e7),
            ("CRC-32", 1 << 5 | 1 << 7, u32::MAX, POLYNOMIAL, u32::MAX, 0xcbf4_3926),
            ("CRC-16/CCITT-FALSE", 1 << 3, 0xffff, 0x1021, 0, 0x29b1),
            ("CRC-16/ARC", 1 << 3 | 1 << 5 | 1 << 7, 0, 0x8005, 0, 0xbb3d),
            ("CRC-8", 2 << 3, 0, 0x07, 0, 0xf4),
            ("CRC-7", 3 << 3, 0, 0x09, 0, 0x75),
        ] {
            let mut bench = Bench::new();
            let mut crc = Crc::new(true);
            for (offset, value) in [(8, cr), (0x10, init), (0x14, pol), (8, cr | 1)] {
                write(&mut crc, &mut bench, offset, value, 4);
            }
            for byte in b"123456789" {
                write(&mut crc, &mut bench, 0, u32::from(*byte), 1);
            }
            assert_eq!(crc.read_register(0, &mut bench.access()) ^ invert, want, "{name}");
        }
    }

    #[test]
    fn crc_input_widths_agree() {
        let mut results =
            [(4, &[0x3132_3334u32, 0x3536_3738][..]), (2, &[0x3132, 0x3334, 0x3536, 0x3738])].map(|(bytes, parts)| {
                let mut bench = Bench::new();
                let mut crc = Crc::new(true);
                for &part in parts {
                    write(&mut crc, &mut bench, 0, part, bytes);
                }
                crc.read_register(0, &mut bench.access())
            });
        results.sort_unstable();
        assert_eq!(results[0], results[1]);
    }
}
