//! SYSCFG, and AFIO of the F1: what the rest of the model needs of them is the EXTI routing and the remap at 0.

use super::block::{Access, Block};

/// The kind of this block, by family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyscfgKind {
    /// AFIO (RM0008 9.4): no remap of address 0.
    Afio,
    /// F4 and F7 (RM0090 9.2, RM0410 7.2): MEMRMP, CMPCR with its ready bit.
    Memrmp,
    /// L0 (RM0367 10.2): CFGR1 with the remap, CFGR3 with the reference's ready bits.
    L0,
    /// H7 (RM0433 12.3): PWRCR with the over-drive.
    H7,
}

const BYTES: usize = 0x400;
/// CMPCR of F4/F7 and its bits.
const CMPCR: u32 = 0x20;
/// CFGR3 of the L0.
const CFGR3: u32 = 0x20;
/// PWRCR of the H7.
const PWRCR: u32 = 0x2c;

/// The system configuration (SYSCFG), or AFIO on the F1.
#[derive(Debug, Clone)]
pub struct Syscfg {
    kind: SyscfgKind,
    words: [u32; BYTES / 4],
}

impl Syscfg {
    /// Returns SYSCFG, or AFIO on the F1, in its reset state.
    pub(super) fn new(kind: SyscfgKind) -> Self {
        Self { kind, words: [0; BYTES / 4] }
    }

    /// Returns the port whose pin an EXTI line has as its input. Port 0 is A.
    #[inline]
    #[must_use]
    pub fn exti_port(&self, line: u8) -> u8 {
        let word = self.words[2 + usize::from(line / 4)];
        let port = (word >> (line % 4 * 4) & 0xf) as u8;
        // On L0 port H is code 5.
        if self.kind == SyscfgKind::L0 && port == 5 { 7 } else { port }
    }

    /// Returns the memory that is visible at address 0: 0 main flash (as booted), 1 system memory, 3 SRAM; F4/F7 also 2
    /// external memory.
    #[must_use]
    pub fn memory_mapped_at_zero(&self) -> u32 {
        match self.kind {
            SyscfgKind::Memrmp | SyscfgKind::L0 => self.words[0] & 3,
            _ => 0,
        }
    }

    /// Returns AFIO_MAPR, the pin remapping of the F1.
    #[must_use]
    pub fn pin_remap_register(&self) -> u32 {
        if self.kind == SyscfgKind::Afio { self.words[1] } else { 0 }
    }

    /// Returns whether over-drive (VOS0) is requested, on the H7.
    #[must_use]
    pub fn is_over_drive_requested(&self) -> bool {
        self.kind == SyscfgKind::H7 && self.words[PWRCR as usize / 4] & 1 != 0
    }

    /// Returns the bits of a register that can be written.
    fn writable_bits_mask(&self, offset: u32) -> u32 {
        match (self.kind, offset) {
            (_, 0x08..=0x14) => 0xffff,
            (SyscfgKind::Memrmp, CMPCR) => 1,
            (SyscfgKind::L0, CFGR3) => 0x8000_13b3,
            (SyscfgKind::H7, 0x124) => 0,
            _ => u32::MAX,
        }
    }
}

impl Block for Syscfg {
    /// Puts the registers of SYSCFG (AFIO on the F1) to their reset values.
    fn reset_registers(&mut self) {
        self.words.fill(0);
    }

    /// Reads a register of SYSCFG (AFIO on the F1) at a byte offset. `access` holds the time in core cycles and the
    /// number of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.peek_register(offset, access)
    }

    /// Writes a register of SYSCFG (AFIO on the F1) at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let (mask, remap) = (self.writable_bits_mask(offset), self.memory_mapped_at_zero());
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = *word & !mask | value & mask;
        }
        access.effects.remap |= remap != self.memory_mapped_at_zero();
    }

    /// Returns the value of a register of SYSCFG (AFIO on the F1) at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let word = self.words.get(offset as usize / 4).copied().unwrap_or(0);
        match (self.kind, offset) {
            // The compensation cell and the references are ready at once.
            (SyscfgKind::Memrmp, CMPCR) => word | (word & 1) << 8,
            (SyscfgKind::L0, CFGR3) => word | 1 << 30,
            // CCCSR: ready with its enable bit.
            (SyscfgKind::H7, 0x20) => word & !(1 << 8) | (word & 1) << 8,
            _ => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stm32::testing::Bench;

    #[test]
    fn lines_are_routed_by_four_bits_each() {
        let mut bench = Bench::new();
        let mut syscfg = Syscfg::new(SyscfgKind::Memrmp);
        syscfg.write_register(0x14, 0xffff_0020, &mut bench.access());
        assert_eq!((syscfg.exti_port(13), syscfg.exti_port(12), syscfg.exti_port(0)), (2, 0, 0));
        assert_eq!(syscfg.read_register(0x14, &mut bench.access()), 0x0020);
        let mut l0 = Syscfg::new(SyscfgKind::L0);
        l0.write_register(0x08, 5, &mut bench.access());
        assert_eq!(l0.exti_port(0), 7);
    }

    #[test]
    fn memory_remap_applies_where_supported() {
        for (kind, remap) in [(SyscfgKind::Memrmp, 3), (SyscfgKind::L0, 3), (SyscfgKind::Afio, 0), (SyscfgKind::H7, 0)]
        {
            let mut bench = Bench::new();
            let mut syscfg = Syscfg::new(kind);
            syscfg.write_register(0, 3, &mut bench.access());
            assert_eq!((syscfg.memory_mapped_at_zero(), bench.effects.remap), (remap, remap != 0), "{kind:?}");
        }
    }

    #[test]
    fn ready_bits_follow_their_enables() {
        let mut bench = Bench::new();
        let mut f4 = Syscfg::new(SyscfgKind::Memrmp);
        assert_eq!(f4.read_register(CMPCR, &mut bench.access()), 0);
        f4.write_register(CMPCR, 1, &mut bench.access());
        assert_eq!(f4.read_register(CMPCR, &mut bench.access()), 0x101);
        let mut l0 = Syscfg::new(SyscfgKind::L0);
        assert_eq!(l0.read_register(CFGR3, &mut bench.access()), 1 << 30);
        let mut h7 = Syscfg::new(SyscfgKind::H7);
        assert!(!h7.is_over_drive_requested());
        h7.write_register(PWRCR, 1, &mut bench.access());
        assert!(h7.is_over_drive_requested());
    }
}
