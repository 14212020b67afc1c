//! Executable memory with its predecoded instructions and its place on the bus.

use crate::profile::ProfileCell;
use crate::v6m::op::{Code, Op};

/// Transfer slots per slave, by cycle modulo this. Together they are a row. No core claims further ahead of the other
/// one than a stack frame.
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

/// Ops that fault, for a core whose next instruction cannot be fetched.
#[repr(align(64))]
struct FaultingFetchOpArray([Op; 8]);

static NOWHERE: FaultingFetchOpArray = FaultingFetchOpArray([Op::without_operands(Code::OutOfRegion); 8]);

impl Region {
    /// Returns a region for an address without code, or one that was branched to without the Thumb bit. Its op faults
    /// in time.
    pub fn new_code_region_without_code(address: u32) -> Region {
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

    /// Returns the op of an address in the region or right after it.
    pub fn op_at_address(&self, address: u32) -> *mut Op {
        self.ops.wrapping_add(address.wrapping_sub(self.base) as usize / 2)
    }

    /// Returns the address of an op of the region.
    #[inline(always)]
    pub fn address_of_op(&self, op: *mut Op) -> u32 {
        let bytes = (op as usize).wrapping_sub(self.ops as usize);
        self.base.wrapping_add((bytes >> 2) as u32)
    }

    /// Returns whether the region has no code ([`Region::new_code_region_without_code`]).
    pub fn has_no_code(&self) -> bool {
        self.bytes == 0
    }
}
