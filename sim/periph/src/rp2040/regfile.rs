//! A block whose registers only store what is written: enough for firmware that sets it up and moves on.

use crate::{Access, Peripheral};

/// The reset value and writable bits of a register that does not simply store what is written.
#[derive(Debug, Clone, Copy)]
pub struct FixedRegisters {
    /// Register offset.
    pub offset: u32,
    /// Value after reset.
    pub reset: u32,
    /// Writable bits. 0 makes the register constant.
    pub mask: u32,
}

/// A register file of `size` bytes, for blocks that only store what is written.
#[derive(Debug, Clone)]
pub struct RegFile {
    words: Vec<u32>,
    fixed: &'static [FixedRegisters],
}

impl RegFile {
    /// Creates registers from 0 to `size`, 0 at reset and fully writable except as `fixed` says.
    #[must_use]
    pub fn new(size: usize, fixed: &'static [FixedRegisters]) -> Self {
        let mut file = Self { words: vec![0; size / 4], fixed };
        file.reset_registers();
        file
    }
}

impl Peripheral for RegFile {
    const NAME: &'static str = "register file";

    /// Puts every register to its reset value: 0, or the one in the block's list of fixed registers.
    fn reset_registers(&mut self) {
        self.words.fill(0);
        for fixed in self.fixed {
            self.words[fixed.offset as usize / 4] = fixed.reset;
        }
    }

    /// Returns the register at a byte offset. Reading has no side effects.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.peek_register(offset, access)
    }

    /// Stores a value in the register at a byte offset, except for bits that cannot be written.
    fn write_register(&mut self, offset: u32, value: u32, _: &mut Access) {
        let mask = self.fixed.iter().find(|fixed| fixed.offset == offset).map_or(u32::MAX, |fixed| fixed.mask);
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = (*word & !mask) | (value & mask);
        }
    }

    /// Returns the register at a byte offset, 0 beyond the last one.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn stores_and_masks() {
        let mut bench = Bench::new();
        let mut file = RegFile::new(0x20, &[FixedRegisters { offset: 4, reset: 0x50, mask: 0x0f }]);
        assert_eq!(file.read_register(4, &mut bench.access()), 0x50);
        file.write_register(4, 0xff, &mut bench.access());
        assert_eq!(file.read_register(4, &mut bench.access()), 0x5f);
        file.write_register(8, 0xff, &mut bench.access());
        assert_eq!(file.read_register(8, &mut bench.access()), 0xff);
        file.write_register(0x20, 1, &mut bench.access());
        assert_eq!(file.read_register(0x20, &mut bench.access()), 0);
        file.reset_registers();
        assert_eq!((file.read_register(4, &mut bench.access()), file.read_register(8, &mut bench.access())), (0x50, 0));
    }
}
