//! The flash interface as the machine uses it.

use rtoslab_cpu::v7m::cache::Operation;
use rtoslab_cpu::v7m::core::Core;

use super::chip::{FLASH_BASE, Kind};
use super::flash::{FlashF1, FlashF4};

/// A flash interface. Addresses are those of the main flash at [`FLASH_BASE`].
pub trait FlashPort: Clone {
    /// First cycle in which the decoder can have the code word whose address phase is in cycle `at`.
    fn fetch(&mut self, core: &Core, address: u32, at: u64) -> u64;
    /// Extra cycles of a data read.
    fn read(&mut self, core: &Core, address: u32, at: u64) -> u64;
    /// FLASH_ACR was written, or an override of it changed.
    fn set_acr(&mut self, acr: u32);
    /// Whether a fetch can wait at all.
    fn waits(&self) -> bool;

    /// [`FlashPort::fetch`] through the flash's other address, at this offset in it.
    fn fetch_alias(&mut self, core: &Core, offset: u32, at: u64) -> u64 {
        self.fetch(core, FLASH_BASE + offset, at)
    }

    /// [`FlashPort::read`] through the flash's other address.
    fn read_alias(&mut self, core: &Core, offset: u32, at: u64) -> u64 {
        self.read(core, FLASH_BASE + offset, at)
    }

    /// [`FlashPort::fetch`] from a RAM.
    fn fetch_ram(&mut self, _: &Core, _: Kind, _: u32, at: u64) -> u64 {
        at + 2
    }

    /// Extra cycles of a load from a RAM.
    fn read_ram(&mut self, _: &Core, _: Kind, _: u32, _: u64) -> u64 {
        0
    }

    /// Extra cycles of a store to a RAM.
    fn write_ram(&mut self, _: &Core, _: Kind, _: u32, _: u64) -> u64 {
        0
    }

    /// The core's caches: switched on (instructions, data).
    fn switch_caches(&mut self, _: bool, _: bool) {}

    /// The core's caches: a maintenance operation.
    fn maintain(&mut self, _: Operation) {}

    /// Takes up the state of a snapshot. The numbers that distinguish cache contents continue: a number that was in
    /// use may not come back with another content.
    fn restore(&mut self, saved: &Self);
}

macro_rules! port {
    ($name:ty) => {
        impl FlashPort for $name {
            #[inline(always)]
            fn fetch(&mut self, _: &Core, address: u32, at: u64) -> u64 {
                self.fetch(address, at)
            }

            #[inline(always)]
            fn read(&mut self, _: &Core, address: u32, at: u64) -> u64 {
                self.read(address, at)
            }

            fn set_acr(&mut self, acr: u32) {
                self.set_acr(acr);
            }

            #[inline(always)]
            fn waits(&self) -> bool {
                self.waits()
            }

            fn restore(&mut self, saved: &Self) {
                self.restore(saved);
            }
        }
    };
}

port!(FlashF1);
port!(FlashF4);
