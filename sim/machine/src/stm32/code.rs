//! Tables of predecoded ARMv7-M instructions, one for each address range at which a memory can be executed.

use std::ops::Range;

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v7m::core::Region;
use rtoslab_cpu::v7m::op::Op;

use crate::board::ProfileRow;
use crate::profile::InstructionProfileCells;

/// Ops after the last halfword, so that running off the end is noticed.
const TAIL: usize = 4;

/// The predecoded instructions of one address range, with their profile.
pub struct CodeTable {
    /// Ops as raw words: memory of zeros costs nothing until it is touched.
    ops: Vec<u128>,
    profile: InstructionProfileCells,
    base: u32,
    bytes: u32,
    /// Halfwords whose op was asked for: nothing else was executed.
    used: Range<usize>,
}

impl CodeTable {
    /// Creates a table for `bytes` of code at `base`, in which nothing is decoded.
    pub fn new(base: u32, bytes: u32) -> CodeTable {
        let halves = bytes as usize / 2;
        let mut table = CodeTable {
            ops: vec![0; halves + TAIL],
            profile: InstructionProfileCells::default(),
            base,
            bytes,
            used: halves..0,
        };
        for index in halves..halves + TAIL {
            // SAFETY: inside the allocation.
            unsafe { *table.first_op_pointer().add(index) = Op::OUT_OF_REGION };
        }
        table
    }

    /// Returns a pointer to the first op of the table.
    fn first_op_pointer(&mut self) -> *mut Op {
        self.ops.as_mut_ptr().cast()
    }

    /// Returns the table's first address and its length in bytes.
    pub fn address_and_length(&self) -> (u32, u32) {
        (self.base, self.bytes)
    }

    /// Returns whether the table contains `address`.
    #[inline(always)]
    pub fn contains_address(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    /// Returns the op of an address in the table.
    pub fn op_at_address(&mut self, address: u32) -> &mut Op {
        let index = (address.wrapping_sub(self.base) / 2) as usize;
        assert!(index < self.bytes as usize / 2, "no code at {address:#x}");
        self.used = self.used.start.min(index)..self.used.end.max(index + 1);
        // SAFETY: inside the table, whose words are ops.
        unsafe { &mut *self.first_op_pointer().add(index) }
    }

    /// Drops the ops that were decoded from `bytes` bytes at `address`, and that of a 32-bit opcode that begins a
    /// halfword earlier. Returns whether there were any.
    pub fn drop_decoded_ops(&mut self, address: u32, bytes: u32) -> bool {
        let first = (address & !1).saturating_sub(2).max(self.base);
        let end = address.saturating_add(bytes).min(self.base.saturating_add(self.bytes));
        let mut decoded = false;
        for at in (first..end).step_by(2) {
            let op = self.op_at_address(at);
            decoded |= *op != Op::default();
            *op = Op::default();
        }
        decoded
    }

    /// Returns whether anything is decoded that [`CodeTable::drop_decoded_ops`] would drop.
    pub fn has_decoded_ops(&self, address: u32, bytes: u32) -> bool {
        let first = (address & !1).saturating_sub(2).max(self.base);
        let end = address.saturating_add(bytes).min(self.base.saturating_add(self.bytes));
        let index = |at: u32| (at.wrapping_sub(self.base) / 2) as usize;
        // All zeros are an op that is not decoded.
        self.ops[index(first)..index(end + 1)].iter().any(|&op| op != 0)
    }

    /// Adds to the profile of the instruction at an address in the table. Does nothing while the profile is off.
    pub fn add_to_instruction_profile(&mut self, address: u32, more: ProfileCell) {
        self.profile.add_to_halfword_profile_cell((address.wrapping_sub(self.base) / 2) as usize, more);
    }

    /// Switches the profile on (from zero) or off.
    pub fn set_profile(&mut self, on: bool) {
        self.profile =
            if on { InstructionProfileCells::new(self.ops.len()) } else { InstructionProfileCells::default() };
    }

    /// Removes the profile of the table and returns it.
    pub fn take_profile(&mut self) -> Vec<ProfileRow> {
        self.profile.take_profile_cells(self.base, self.used.clone())
    }

    /// Returns the table as a region of code for the executor.
    pub fn code_region(&mut self) -> Region {
        Region {
            base: self.base,
            bytes: self.bytes,
            ops: self.first_op_pointer(),
            profile: self.profile.first_instruction_profile_pointer(),
        }
    }
}
