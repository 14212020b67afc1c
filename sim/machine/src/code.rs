//! Tables of predecoded instructions, one per executable memory.

use std::ops::Range;

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v6m::op::{Code, Op};
use rtoslab_cpu::v6m::region::Region;
use rtoslab_cpu::v6m::region::SLOTS;

use crate::board::ProfileRow;
use crate::lazy::LazyZeroedArray;
use crate::profile::InstructionProfileCells;

/// Four words of code. They align the table so that an op's host address determines the RAM bank of its word.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct AlignedFourWordCodeBlock([Op; 8]);

/// The predecoded instructions of one memory, with their profile.
pub struct CodeTable {
    stripes: LazyZeroedArray<AlignedFourWordCodeBlock>,
    profile: [InstructionProfileCells; 2],
    base: u32,
    bytes: u32,
    /// Halfwords that may have been decoded. Nothing else has been executed.
    decoded: Range<usize>,
}

impl CodeTable {
    /// Creates an undecoded table for `bytes` (a multiple of 16) of code at `base`.
    pub fn new(base: u32, bytes: u32) -> CodeTable {
        let count = bytes as usize / 16;
        // SAFETY: an op of zeros is one that is not decoded yet.
        let mut stripes = unsafe { LazyZeroedArray::<AlignedFourWordCodeBlock>::new(count + 1) };
        stripes.all_lazy_array_elements()[count] =
            AlignedFourWordCodeBlock([Op::without_operands(Code::OutOfRegion); 8]);
        CodeTable { stripes, profile: Default::default(), base, bytes, decoded: bytes as usize / 2..0 }
    }

    /// Returns a pointer to the op of the code at a byte offset. Panics beyond the end of the table.
    pub fn op_at_offset(&mut self, offset: u32) -> *mut Op {
        assert!(offset < self.bytes, "no code at {offset:#x}");
        let half = offset as usize / 2;
        self.decoded = self.decoded.start.min(half)..self.decoded.end.max(half + 1);
        // SAFETY: the table has an op for each halfword below `bytes`.
        unsafe { self.stripes.first_element_pointer().cast::<Op>().add(half) }
    }

    /// Switches the profile on (from zero) or off.
    pub fn set_profile(&mut self, on: bool) {
        let cells = || {
            if on {
                InstructionProfileCells::new(self.bytes as usize / 2 + 4)
            } else {
                InstructionProfileCells::default()
            }
        };
        self.profile = [cells(), cells()];
    }

    /// Adds to the profile cell of an address that was executed. Does nothing while the profile is off.
    pub fn add_to_profile(&mut self, core: usize, address: u32, more: ProfileCell) {
        self.profile[core].add_to_halfword_profile_cell(address.wrapping_sub(self.base) as usize / 2, more);
    }

    /// Removes a core's profile and returns it: a row for each executed instruction.
    pub fn take_profile(&mut self, core: usize) -> Vec<ProfileRow> {
        self.profile[core].take_profile_cells(self.base, self.decoded.clone())
    }

    /// Returns the table as a region of code for the interpreter. `row` is the first transfer slot of its first bank,
    /// `banks` the number of word-interleaved banks.
    pub fn code_region(&mut self, row: usize, banks: usize) -> Region {
        Region {
            base: self.base,
            bytes: self.bytes,
            ops: self.stripes.first_element_pointer().cast(),
            row,
            row_mask: (banks - 1) * SLOTS,
            cached: false,
            rom: false,
            profile: self.profile.each_ref().map(InstructionProfileCells::first_instruction_profile_pointer),
        }
    }
}
