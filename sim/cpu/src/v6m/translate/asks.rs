//! Requests of native code while it runs, and the literals that it loads by itself: the same for one core and two.

use std::mem::offset_of;

use super::Layout;
use crate::host::x64::Writer;
use crate::host::{Fields, Place};
use crate::v6m::bus::{self, Bus};
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::region::Region;

/// Offsets of a core's fields for native code.
const FIELDS: Fields = Fields {
    r: offset_of!(Core, r) as i32,
    nz: offset_of!(Core, nz) as i32,
    c: offset_of!(Core, c) as i32,
    v: offset_of!(Core, v) as i32,
    ip: offset_of!(Core, ip) as i32,
    s: 0,
    float_ready: 0,
};

/// The begin of every context that code is called with.
#[derive(Debug)]
#[repr(C)]
pub(in crate::v6m) struct Asks {
    bus: *mut (),
    /// The host's address of the constants.
    constants: u64,
    /// The address of the last load from constant memory.
    address: u32,
}

impl Asks {
    pub const BUS: i32 = offset_of!(Asks, bus) as i32;
    pub const ADDRESS: i32 = offset_of!(Asks, address) as i32;
    const CONSTANTS: i32 = offset_of!(Asks, constants) as i32;
    /// A flag of all loads from constant memory.
    pub const CONSTANT: u32 = 0;

    pub fn new<B: Bus>(bus: *mut B, constants: u64) -> Asks {
        Asks { bus: bus.cast(), constants, address: 0 }
    }

    /// The bus that is asked.
    ///
    /// # Safety
    /// It is the one that this was made with, lives, and is not used otherwise meanwhile.
    pub unsafe fn bus<'a, B: Bus>(asks: *const Asks) -> &'a mut B {
        // SAFETY: the caller's promise.
        unsafe { &mut *(*asks).bus.cast() }
    }

    /// Writes code of this region, whose context begins so.
    pub fn writer<B: Bus>(region: &Region) -> Writer {
        let Region { base, bytes, ops, .. } = *region;
        let place = Place { base, bytes, ops: ops as u64, op_bytes: size_of::<Op>() as u32 };
        let loader = load_constant::<B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize;
        let mut writer = Writer::new(FIELDS, place, B::RAM_BASE, loader);
        writer.asks_near_marks(takes_stores::<B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize);
        writer
    }
}

/// A load from constant memory: the value, above it [`Asks::CONSTANT`]; all ones if it is not to be had.
///
/// # Safety
/// The context is the one that the code was called with. Its bus is not used meanwhile.
unsafe extern "sysv64" fn load_constant<B: Bus>(context: *mut Asks, address: u32, bytes: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        (*context).address = address;
        Asks::bus::<B>(context).constant::<false>(address, bytes).map_or(u64::MAX, u64::from)
    }
}

/// Whether so many words of RAM from this offset on are stored without consequences, although marks are near.
///
/// # Safety
/// As for [`load_constant`].
unsafe extern "sysv64" fn takes_stores<B: Bus>(context: *mut Asks, offset: u32, words: u32) -> u32 {
    // SAFETY: as above.
    unsafe { u32::from(bus::takes_stores(Asks::bus::<B>(context), offset, words)) }
}

/// A literal that code loads by itself: an offset.
#[derive(Debug, Clone, Copy)]
pub(in crate::v6m) enum Literal {
    /// The address is in constant memory.
    Constant(u32),
    /// The address is in main RAM.
    Ram(u32),
}

impl Literal {
    /// The one at this address.
    pub fn at<B: Bus>(address: u32, layout: Layout) -> Option<Literal> {
        let (constant, in_ram) = (address.wrapping_sub(layout.base), address.wrapping_sub(B::RAM_BASE));
        if constant <= layout.bytes.saturating_sub(4) {
            Some(Literal::Constant(constant))
        } else {
            (in_ram <= layout.ram_bytes - 4).then_some(Literal::Ram(in_ram))
        }
    }

    pub fn load(self, writer: &mut Writer, register: u8) {
        match self {
            Literal::Constant(offset) => writer.load_word(register, Some(Asks::CONSTANTS), offset),
            Literal::Ram(offset) => writer.load_word(register, None, offset),
        }
    }
}
