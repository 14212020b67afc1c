//! Blocks that are not modelled: they store what is written, read as after reset where drivers look, and warn when
//! they are set up.

use super::Device;
use crate::stm32::regfile::{FixedRegisters, fixed_register};

/// Returns the description of a block that only stores what is written, with some fixed registers.
const fn stub_block(fixed: &'static [FixedRegisters]) -> Device {
    Device::File(0x400, fixed, true)
}

/// Returns the description of a constant register.
const fn constant_register(offset: u32, value: u32) -> FixedRegisters {
    fixed_register(offset, value, 0)
}

/// Returns the description of a register that starts with a value.
const fn register_with_start_value(offset: u32, value: u32) -> FixedRegisters {
    fixed_register(offset, value, u32::MAX)
}

/// All registers 0.
pub(super) const STUB: Device = stub_block(&[]);
/// The second half of an I2S of the F4: the transmit buffer is empty.
pub(super) const I2S: Device =
    stub_block(&[constant_register(0x08, 2), register_with_start_value(0x10, 7), register_with_start_value(0x20, 0xa)]);
/// Clock recovery.
pub(super) const CRS: Device =
    stub_block(&[register_with_start_value(0x00, 0x2000), register_with_start_value(0x04, 0x2022_bb7f)]);
/// USB OTG: the core's reset is over at once and its AHB side idle.
pub(super) const OTG: Device = Device::File(0x4_0000, &[constant_register(0x10, 0x8000_0000)], true);
/// Ethernet: the DMA's reset is over at once.
pub(super) const ETH: Device = Device::File(0x1400, &[fixed_register(0x1000, 0x0002_0100, !1)], true);
/// Memory controller: NOR bank 1 starts enabled.
pub(super) const FMC: Device = Device::File(0x1000, &[register_with_start_value(0x00, 0x30d2)], true);
