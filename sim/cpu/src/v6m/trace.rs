//! Traces: runs of instructions executed without time, and what their time depends on besides their opcodes.

use crate::v6m::op::Op;
use crate::v6m::region::Region;

/// A trace that was executed, as the timing cache logs it: its length, its branches and at most one indirect address.
/// Together with its first instruction these determine its instructions, and which memory each access reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trace {
    /// Verdicts on its conditional branches, the first in the highest place after a leading 1.
    pub branches: u64,
    /// The one thing in it that opcodes and branches do not tell: [`Trace::indirect_branch`],
    /// [`Trace::indirect_read`] or [`Trace::NO_INDIRECT`].
    pub indirect: u64,
    /// How many instructions.
    pub instructions: u64,
}

impl Trace {
    /// Most instructions in a trace.
    pub const INSTRUCTIONS: u64 = 16;
    /// More cycles than any trace takes: each instruction moves up to nine words and waits for three reads of a flash.
    pub const CYCLES: u64 = 24 * Trace::INSTRUCTIONS;
    /// No conditional branch yet.
    pub const NO_BRANCHES: u64 = 1;
    /// Nothing out of the ordinary yet.
    pub const NO_INDIRECT: u64 = 0;
    const READ: u64 = 1 << 63;
    const BRANCH: u64 = 1 << 62;

    /// Returns the indirect part of a trace that ends with a branch by register to this offset in the region.
    pub const fn indirect_branch(offset: u32) -> u64 {
        Trace::BRANCH | offset as u64
    }

    /// Returns the indirect part of a trace whose instruction `index` reads constant memory at this address. Literals,
    /// whose address is in their opcode, are not indirect.
    pub const fn indirect_read(index: u64, address: u32) -> u64 {
        Trace::READ | index << 32 | address as u64
    }

    /// Returns the op at the target of the trace's branch by register.
    pub fn indirect_branch_target(&self, region: &Region) -> *mut Op {
        debug_assert!(self.indirect & Trace::BRANCH != 0 && self.indirect & Trace::READ == 0);
        region.ops.wrapping_add(self.indirect as u32 as usize / 2)
    }

    /// Returns the address that the instruction with this index reads, if the trace contains one in constant memory.
    pub fn address_of_constant_read(&self, index: u64) -> Option<u32> {
        let address = self.indirect as u32;
        (self.indirect == Trace::indirect_read(index, address)).then_some(address)
    }

    /// Returns the trace with its first branch in the topmost bit, so that [`Trace::take_next_branch_outcome`] reads
    /// its branches from the start.
    pub fn trace_with_branches_in_top_bits(self) -> Trace {
        Trace { branches: (self.branches << self.branches.leading_zeros()) << 1, ..self }
    }

    /// Removes the next conditional branch of a trace in reading order ([`Trace::trace_with_branches_in_top_bits`]),
    /// and returns whether it is taken.
    pub fn take_next_branch_outcome(&mut self) -> bool {
        let taken = self.branches >> 63 != 0;
        self.branches <<= 1;
        taken
    }

    /// Returns the trace's branches and length in [`Trace::KEY_BITS`] bits. Different ones have different numbers, and
    /// none is 0.
    pub(super) const fn branches_and_length_key(&self) -> u64 {
        self.branches << Trace::LENGTH_BITS | self.instructions
    }

    const LENGTH_BITS: u32 = Trace::INSTRUCTIONS.ilog2() + 1;
    pub(super) const KEY_BITS: u32 = Trace::INSTRUCTIONS as u32 + 1 + Trace::LENGTH_BITS;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_branches_are_read_in_order() {
        let verdicts = [true, false, false, true, true, false];
        let branches = verdicts.iter().fold(Trace::NO_BRANCHES, |bits, &taken| bits << 1 | u64::from(taken));
        let mut trace = Trace { branches, ..Trace::default() }.trace_with_branches_in_top_bits();
        assert_eq!(verdicts.map(|_| trace.take_next_branch_outcome()), verdicts);
        assert_eq!(Trace { branches: Trace::NO_BRANCHES, ..trace }.trace_with_branches_in_top_bits().branches, 0);
    }

    #[test]
    fn constant_read_needs_matching_address() {
        let trace = Trace { indirect: Trace::indirect_read(5, 0x0800_1234), ..Trace::default() };
        assert_eq!([4, 5, 6].map(|index| trace.address_of_constant_read(index)), [None, Some(0x0800_1234), None]);
        assert_eq!(Trace::default().address_of_constant_read(0), None);
    }

    #[test]
    fn trace_branch_is_identified_by_offset() {
        let mut ops = [Op::default(); 8];
        let region = Region { ops: ops.as_mut_ptr(), ..Region::new_code_region_without_code(0x0800_0000) };
        for offset in [0, 6] {
            let trace = Trace { indirect: Trace::indirect_branch(offset), ..Trace::default() };
            assert!(trace.indirect != Trace::NO_INDIRECT && trace.address_of_constant_read(0).is_none());
            assert_eq!(trace.indirect_branch_target(&region), &raw mut ops[offset as usize / 2]);
        }
    }

    #[test]
    fn keys_of_different_traces_differ() {
        let all = [(1, 1), (1, 16), (2, 1), (3, 16), ((1 << 17) - 1, 16)];
        for (n, &(branches, instructions)) in all.iter().enumerate() {
            let key = Trace { branches, instructions, indirect: 0 }.branches_and_length_key();
            assert!(key != 0 && key >> Trace::KEY_BITS == 0);
            assert!(all[..n].iter().all(|&(b, i)| Trace { branches: b, instructions: i, indirect: 0 }.branches_and_length_key() != key));
        }
    }
}
