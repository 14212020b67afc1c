//! SYSINFO (RP2040 data sheet 2.20) and TBMAN (2.22): what the chip says it is.

use crate::{Access, Peripheral};

/// Stepping B2: revision 2, part 2, manufacturer 0x927. It is the stepping that ships boot ROM version 3, which
/// is the version the modelled ROM reports.
pub const CHIP_ID: u32 = 0x2000_2927;
/// PLATFORM.ASIC.
const PLATFORM_ASIC: u32 = 2;
/// GITREF_RP2040: identifies the chip source; nothing depends on the value.
const GITREF: u32 = 0x0000_0000;
/// TBMAN PLATFORM: ASIC is bit 0 here.
const TBMAN_ASIC: u32 = 1;

/// The identification registers of the RP2040 (SYSINFO): constants only.
#[derive(Debug, Clone, Default)]
pub struct Sysinfo;

impl Peripheral for Sysinfo {
    const NAME: &'static str = "SYSINFO";

    /// Does nothing: SYSINFO has constants only.
    fn reset_registers(&mut self) {}

    /// Reads a register of SYSINFO (chip, platform or version) at a byte offset. Others are reported in `access`.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if !matches!(offset, 0 | 4 | 0x10) {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Ignores a write: SYSINFO has constants only.
    fn write_register(&mut self, _offset: u32, _value: u32, _access: &mut Access) {}

    /// Returns the constant of SYSINFO at a byte offset, or 0.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => CHIP_ID,
            0x04 => PLATFORM_ASIC,
            0x10 => GITREF,
            _ => 0,
        }
    }
}

/// The test-bench manager of the RP2040 (TBMAN): one constant.
#[derive(Debug, Clone, Default)]
pub struct Tbman;

impl Peripheral for Tbman {
    const NAME: &'static str = "TBMAN";

    /// Does nothing: TBMAN has one constant.
    fn reset_registers(&mut self) {}

    /// Reads TBMAN's register, which names the platform. Other offsets are reported in `access`.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset != 0 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Ignores a write: TBMAN has one constant.
    fn write_register(&mut self, _offset: u32, _value: u32, _access: &mut Access) {}

    /// Returns TBMAN's constant at offset 0, else 0.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        if offset == 0 { TBMAN_ASIC } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn firmware_sees_a_real_chip_of_stepping_b2() {
        let mut bench = Bench::new();
        assert_eq!(Sysinfo.read_register(0, &mut bench.access()) >> 28, 2);
        assert_eq!(Sysinfo.read_register(0, &mut bench.access()) & 0xfff, 0x927);
        assert_eq!(Sysinfo.read_register(4, &mut bench.access()) & 3, 2);
        assert_eq!(Tbman.read_register(0, &mut bench.access()) & 3, 1);
        Sysinfo.write_register(0, 0, &mut bench.access());
        assert_eq!(Sysinfo.read_register(0, &mut bench.access()), CHIP_ID);
    }
}
