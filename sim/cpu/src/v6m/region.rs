//! Executable memory with its predecoded instructions and its place on the bus.

use crate::profile::ProfileCell;
use crate::v6m::op::{Code, Op};

/// Transfer slots per slave, by cycle modulo this. Together they are a row. No core claims further ahead of the other one
/// than a stack frame.
pub const SLOTS: usize = 16;

/// A contiguous range of executable memory with its predecoded instructions.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    /// First address.
    pub base: u32,
    /// Length in bytes.
    pub bytes: u32,
    /// `bytes / 2 + 4` ops, aligned so that `ops >> 4 & 3` is the bank of the first word.
    pub ops: *mut Op,
    /// Number of the first transfer slot of the bus slave that holds the first word. See [`SLOTS`].
    pub row: usize,
    /// Selects the row among word-interleaved banks: (banks - 1) rows in slots.
    pub row_mask: usize,
    /// After the XIP cache.
    pub cached: bool,
    /// The boot ROM.
    pub rom: bool,
    /// Profile cells of each core, parallel to `ops`. Null while profiling is off.
    pub profile: [*mut ProfileCell; 2],
}

/// The position of a core whose next instruction cannot be fetched: ops that fault when they are executed.
#[repr(align(64))]
struct Nowhere([Op; 8]);

static NOWHERE: Nowhere = Nowhere([Op::bare(Code::OutOfRegion); 8]);

impl Region {
    /// An address that holds no code, or that was branched to without the Thumb bit: the fault comes in its time.
    pub fn nowhere(address: u32) -> Region {
        Region {
            base: address,
            bytes: 0,
            // Nobody writes to ops that are decoded.
            ops: NOWHERE.0.as_ptr().cast_mut(),
            // The last row: no slave has that number, so nothing collides there.
            row: 15 * SLOTS,
            row_mask: 0,
            cached: false,
            rom: false,
            profile: [std::ptr::null_mut(); 2],
        }
    }

    /// The op of an address, one of the table if the address is in the region or right after it.
    pub fn op(&self, address: u32) -> *mut Op {
        self.ops.wrapping_add(address.wrapping_sub(self.base) as usize / 2)
    }

    /// The address of an op of the table.
    #[inline(always)]
    pub fn address_of(&self, op: *mut Op) -> u32 {
        let bytes = (op as usize).wrapping_sub(self.ops as usize);
        self.base.wrapping_add((bytes >> 2) as u32)
    }

    /// True for [`Region::nowhere`].
    pub fn is_nowhere(&self) -> bool {
        self.bytes == 0
    }
}
