//! Requests of native code while it runs: the same for one core and two.

use std::mem::offset_of;

use crate::v6m::bus::Bus;

/// The data with which native code calls functions of the bus. It is at the begin of every context of native code.
#[derive(Debug)]
#[repr(C)]
pub(in crate::v6m) struct BusAccess {
    bus: *mut (),
    /// The host's address of the constants.
    constants: u64,
    /// The address of the last load from constant memory.
    pub address: u32,
}

impl BusAccess {
    pub const BUS: i32 = offset_of!(BusAccess, bus) as i32;
    pub const ADDRESS: i32 = offset_of!(BusAccess, address) as i32;
    pub const CONSTANTS: i32 = offset_of!(BusAccess, constants) as i32;
    /// A flag of all loads from constant memory.
    pub const CONSTANT: u32 = 0;

    /// Creates the data for this bus. `constants` is the host address of its constant memory.
    pub fn new<B: Bus>(bus: *mut B, constants: u64) -> BusAccess {
        BusAccess { bus: bus.cast(), constants, address: 0 }
    }

    /// Returns the bus that native code asks.
    ///
    /// # Safety
    /// It is the one that this was made with, lives, and is not used otherwise meanwhile.
    pub unsafe fn bus_of_native_code<'a, B: Bus>(asks: *const BusAccess) -> &'a mut B {
        // SAFETY: the caller's promise.
        unsafe { &mut *(*asks).bus.cast() }
    }
}
