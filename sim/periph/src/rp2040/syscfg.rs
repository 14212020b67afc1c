//! System configuration (RP2040 data sheet 2.21).
//!
//! The registers keep their values. Only the NMI masks mean something to the machine.

use crate::{Access, Peripheral};

/// Offsets 0x00 to 0x18: NMI masks, PROC_CONFIG, synchroniser bypass, DBGFORCE, MEMPOWERDOWN.
const RESET: [u32; 7] = [0, 0, 0x1000_0000, 0, 0, 0x66, 0];
const WRITABLE: [u32; 7] = [u32::MAX, u32::MAX, 0xff00_0000, 0x3fff_ffff, 0x3f, 0xee, 0xff];

/// The system configuration registers of the RP2040 (SYSCFG).
#[derive(Debug, Clone)]
pub struct Syscfg {
    words: [u32; 7],
}

impl Default for Syscfg {
    /// Returns SYSCFG in its reset state.
    fn default() -> Self {
        Self { words: RESET }
    }
}

impl Syscfg {
    /// Returns the interrupt lines that are routed to the NMI of `core`.
    #[must_use]
    pub fn nmi_mask(&self, core: usize) -> u32 {
        self.words[core]
    }
}

impl Peripheral for Syscfg {
    const NAME: &'static str = "SYSCFG";

    /// Puts the registers of SYSCFG to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of SYSCFG at a byte offset. `access` holds the time in cycles and the requesting core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x18 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of SYSCFG at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let index = offset as usize / 4;
        match self.words.get_mut(index) {
            // PROC_CONFIG's low bits show HALTED and are read-only.
            Some(word) => *word = (*word & !WRITABLE[index]) | (value & WRITABLE[index]),
            None => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of SYSCFG at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn nmi_masks_are_per_core_and_reserved_bits_stay() {
        let mut bench = Bench::new();
        let mut syscfg = Syscfg::default();
        syscfg.write_register(4, 0x80, &mut bench.access());
        assert_eq!((syscfg.nmi_mask(0), syscfg.nmi_mask(1)), (0, 0x80));
        assert_eq!(syscfg.read_register(8, &mut bench.access()), 0x1000_0000);
        syscfg.write_register(8, 0x2000_0003, &mut bench.access());
        assert_eq!(syscfg.read_register(8, &mut bench.access()), 0x2000_0000);
        syscfg.write_register(0x10, u32::MAX, &mut bench.access());
        assert_eq!(syscfg.read_register(0x10, &mut bench.access()), 0x3f);
    }
}
