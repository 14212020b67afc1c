//! The begin of all native code of a region, and the literals that it loads by itself: the same for one core and two.

use std::mem::offset_of;

use super::{BusAccess, Layout};
use crate::host::x64::NativeCodeEmitter;
use crate::host::{CoreFieldOffsets, Place};
use crate::v6m::bus::{self, Bus};
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::region::Region;

/// Offsets of a core's fields for native code.
const FIELDS: CoreFieldOffsets = CoreFieldOffsets {
    r: offset_of!(Core, r) as i32,
    nz: offset_of!(Core, nz) as i32,
    c: offset_of!(Core, c) as i32,
    v: offset_of!(Core, v) as i32,
    ip: offset_of!(Core, ip) as i32,
    s: 0,
    float_ready: 0,
};

/// Creates a writer of native code for this region, whose context begins with [`BusAccess`].
pub(in crate::v6m) fn new_native_code_writer<B: Bus>(region: &Region) -> NativeCodeEmitter {
    let Region { base, bytes, ops, .. } = *region;
    let place = Place { base, bytes, ops: ops as u64, op_bytes: size_of::<Op>() as u32 };
    let loader = load_constant::<B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
    let mut writer = NativeCodeEmitter::new(FIELDS, place, B::RAM_BASE, loader);
    writer.set_code_or_watch_store_callback(takes_stores::<B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize);
    writer
}

/// Loads from constant memory for native code: the value, with [`BusAccess::CONSTANT`] above it, or all ones if it
/// cannot be loaded.
///
/// # Safety
/// The context is the one that the code was called with. Its bus is not used meanwhile.
unsafe extern "sysv64" fn load_constant<B: Bus>(context: *mut BusAccess, address: u32, bytes: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        (*context).address = address;
        BusAccess::bus_of_native_code::<B>(context).load_constant::<false>(address, bytes).map_or(u64::MAX, u64::from)
    }
}

/// Returns 1 if native code may store `words` words of RAM at this offset, near marks, without consequences, else 0.
///
/// # Safety
/// As for [`load_constant`].
unsafe extern "sysv64" fn takes_stores<B: Bus>(context: *mut BusAccess, offset: u32, words: u32) -> u32 {
    // SAFETY: as above.
    unsafe { u32::from(bus::can_store_speculatively(BusAccess::bus_of_native_code::<B>(context), offset, words)) }
}

/// A literal that native code loads by itself: its offset in constant memory or RAM.
#[derive(Debug, Clone, Copy)]
pub(in crate::v6m) enum Literal {
    /// The address is in constant memory.
    Constant(u32),
    /// The address is in main RAM.
    Ram(u32),
}

impl Literal {
    /// Returns the literal at this address, if native code can load it.
    pub fn from_address<B: Bus>(address: u32, layout: Layout) -> Option<Literal> {
        let (constant, in_ram) = (address.wrapping_sub(layout.base), address.wrapping_sub(B::RAM_BASE));
        if constant <= layout.bytes.saturating_sub(4) {
            Some(Literal::Constant(constant))
        } else {
            (in_ram <= layout.ram_bytes - 4).then_some(Literal::Ram(in_ram))
        }
    }

    /// Emits the load of the literal into a register.
    pub fn emit_literal_load(self, writer: &mut NativeCodeEmitter, register: u8) {
        match self {
            Literal::Constant(offset) => writer.load_word(register, Some(BusAccess::CONSTANTS), offset),
            Literal::Ram(offset) => writer.load_word(register, None, offset),
        }
    }
}
