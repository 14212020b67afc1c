//! A block whose registers only store what is written: enough for firmware that sets it up and moves on.

use super::block::{Access, Block};

/// The reset value and writable bits of a register that does not simply store what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedRegisters {
    /// Register offset.
    pub offset: u32,
    /// Value after reset.
    pub reset: u32,
    /// Writable bits. 0 makes the register constant.
    pub mask: u32,
}

/// Returns the description of a register with this reset value and these writable bits, for the tables.
pub(super) const fn fixed_register(offset: u32, reset: u32, mask: u32) -> FixedRegisters {
    FixedRegisters { offset, reset, mask }
}

/// A block whose registers only store what is written.
#[derive(Debug, Clone)]
pub struct RegFile {
    words: Vec<u32>,
    fixed: &'static [FixedRegisters],
    /// Writing it is worth a word to the user: the block does nothing.
    inert: bool,
}

impl RegFile {
    /// Creates a block with `bytes` of registers, 0 at reset and writable except as `fixed` says. `inert`: the block
    /// lacks its function here, so that the user is warned of accesses.
    pub(super) fn new(bytes: u32, fixed: &'static [FixedRegisters], inert: bool) -> Self {
        let mut file = Self { words: vec![0; bytes as usize / 4], fixed, inert };
        file.reset_registers();
        file
    }
}

impl Block for RegFile {
    /// Puts every register to its reset value: 0, or the one in the block's list of fixed registers.
    fn reset_registers(&mut self) {
        self.words.fill(0);
        for fixed in self.fixed {
            self.words[fixed.offset as usize / 4] = fixed.reset;
        }
    }

    /// Reads the register at a byte offset. If the model lacks the function of the block, `access` reports that.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if self.inert {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Stores a value in the register at a byte offset, except for bits that cannot be written.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let mask = self.fixed.iter().find(|fixed| fixed.offset == offset).map_or(u32::MAX, |fixed| fixed.mask);
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = *word & !mask | value & mask;
        }
        if self.inert {
            access.effects.unmodelled = Some((offset, true));
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
    use crate::stm32::testing::Bench;

    #[test]
    fn register_file_stores_masked_values() {
        const FIXED: &[FixedRegisters] = &[fixed_register(4, 0x50, 0x0f)];
        let mut bench = Bench::new();
        let mut file = RegFile::new(0x20, FIXED, true);
        assert_eq!((file.read_register(4, &mut bench.access()), bench.effects.unmodelled), (0x50, Some((4, false))));
        file.write_register(4, 0xff, &mut bench.access());
        assert_eq!(bench.effects.unmodelled.take(), Some((4, true)));
        file.write_register(0x40, 1, &mut bench.access());
        assert_eq!(
            (file.read_register(4, &mut bench.access()), file.read_register(0x40, &mut bench.access())),
            (0x5f, 0)
        );
        file.reset_registers();
        assert_eq!(file.read_register(4, &mut bench.access()), 0x50);
        let mut quiet = RegFile::new(8, &[], false);
        bench.effects.unmodelled = None;
        quiet.write_register(0, 7, &mut bench.access());
        assert_eq!((quiet.read_register(0, &mut bench.access()), bench.effects.unmodelled), (7, None));
    }
}
