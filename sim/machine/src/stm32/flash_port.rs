//! The flash interface as the machine uses it.

use rtoslab_cpu::v7m::cache::Operation;
use rtoslab_cpu::v7m::core::Core;

use super::chip::{FLASH_BASE, Kind};
use super::flash::{FlashF1, FlashF4};

/// The interface between core and flash, with the core's caches on the M7. Addresses are those of the main flash at
/// [`FLASH_BASE`], times are core cycles.
pub trait FlashPort: Clone {
    /// Returns the first cycle in which the decoder can have a code word of the flash. Its address phase is in cycle
    /// `at`.
    fn fetch_code(&mut self, core: &Core, address: u32, at: u64) -> u64;
    /// Returns the wait states of a data read from the flash in cycle `at`.
    fn data_read_waits(&mut self, core: &Core, address: u32, at: u64) -> u64;
    /// Applies FLASH_ACR (wait states, prefetch, caches), after firmware or a setting has changed it.
    fn apply_access_control_register(&mut self, acr: u32);
    /// Returns whether fetches from the flash may have to wait.
    fn may_fetches_wait(&self) -> bool;

    /// Returns what [`FlashPort::fetch_code`] returns, for a fetch through the flash's other address, at a byte offset
    /// in it.
    fn fetch_through_alias(&mut self, core: &Core, offset: u32, at: u64) -> u64 {
        self.fetch_code(core, FLASH_BASE + offset, at)
    }

    /// Returns the wait states of a data read through the flash's other address, at a byte offset in it.
    fn alias_read_waits(&mut self, core: &Core, offset: u32, at: u64) -> u64 {
        self.data_read_waits(core, FLASH_BASE + offset, at)
    }

    /// Returns the first cycle in which the decoder can have a code word from a RAM.
    fn fetch_from_ram(&mut self, _: &Core, _: Kind, _: u32, at: u64) -> u64 {
        at + 2
    }

    /// Returns the wait states of a load from a RAM.
    fn ram_read_waits(&mut self, _: &Core, _: Kind, _: u32, _: u64) -> u64 {
        0
    }

    /// Returns the wait states of a store to a RAM.
    fn ram_write_waits(&mut self, _: &Core, _: Kind, _: u32, _: u64) -> u64 {
        0
    }

    /// Switches the core's instruction cache and its data cache on or off.
    fn switch_caches(&mut self, _: bool, _: bool) {}

    /// Carries out a maintenance operation on the core's caches.
    fn maintain_caches(&mut self, _: Operation) {}

    /// Restores the state in a snapshot. The version numbers of cache contents go on: none returns with another
    /// content.
    fn restore_state(&mut self, saved: &Self);
}

macro_rules! port {
    ($name:ty) => {
        impl FlashPort for $name {
            /// Returns the first cycle in which the decoder can have a code word of the flash. Its address phase is in
            /// cycle `at`.
            #[inline(always)]
            fn fetch_code(&mut self, _: &Core, address: u32, at: u64) -> u64 {
                self.fetch_code(address, at)
            }

            /// Returns the wait states of a data read from the flash in cycle `at`.
            #[inline(always)]
            fn data_read_waits(&mut self, _: &Core, address: u32, at: u64) -> u64 {
                self.data_read_waits(address, at)
            }

            /// Applies FLASH_ACR (wait states, prefetch, caches), after firmware or a setting has changed it.
            fn apply_access_control_register(&mut self, acr: u32) {
                self.set_acr(acr);
            }

            /// Returns whether fetches from the flash may have to wait.
            #[inline(always)]
            fn may_fetches_wait(&self) -> bool {
                self.may_fetches_wait()
            }

            /// Restores the state in a snapshot. The version numbers of cache contents go on: none returns with another
            /// content.
            fn restore_state(&mut self, saved: &Self) {
                self.restore_state(saved);
            }
        }
    };
}

port!(FlashF1);
port!(FlashF4);
