//! Basic blocks: what a core executes ahead of its time at once, and what remains of one to be simulated in time.
//!
//! A block here is longer than in a compiler: a branch that is not taken does not end it. A place is told as a distance in
//! bytes of ops, never as a pointer, so that what is remembered does not depend on the host's addresses.

use crate::v6m::op::Op;

/// Instructions of one core, one behind the other: only the last may have been a branch that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Bytes of ops from its first instruction to the one behind the last; if the last one was a branch that was taken, to
    /// that one, plus 1.
    pub shape: u64,
    /// Where execution goes on: bytes of ops from the first instruction to that one.
    pub next: u64,
    /// The memory that each access went to whose address is not in its opcode: [`Block::ACCESS_BITS`] bits each, the
    /// first one on top; none is 0.
    pub accesses: u64,
}

impl Block {
    /// Most bytes of ops of a basic block: of 16 halfwords of code.
    pub const BYTES: usize = 16 * size_of::<Op>();
    /// Bits of one access.
    pub const ACCESS_BITS: u32 = 4;
    /// Added to the memory's number.
    pub const ACCESS: u64 = 1 << (Block::ACCESS_BITS - 1);
    /// More cycles than the rest of one basic block and the whole of another take together: no instruction moves more than
    /// nine words, and each may wait for the other core.
    pub const CYCLES: u64 = 640;
    /// None.
    pub const NONE: Block = Block { shape: 0, next: 0, accesses: 0 };

    /// Its last instruction was a branch that was taken.
    pub(in crate::v6m) fn is_branch(&self) -> bool {
        self.shape & 1 != 0
    }

    /// All of its so many instructions, the first one at this address, to be simulated in time.
    pub(in crate::v6m) fn begun(&self, start: u32, instructions: u64) -> Remainder {
        let accesses = self.accesses.checked_shl(self.accesses.leading_zeros()).unwrap_or(0);
        let next = start.wrapping_add((self.next as i64 / (size_of::<Op>() as i64 / 2)) as u32);
        Remainder { instructions, branch: self.is_branch(), next, accesses }
    }

    /// How many instructions it has.
    ///
    /// # Safety
    /// `start` is its first op.
    pub(in crate::v6m) unsafe fn instructions(&self, start: *mut Op) -> u64 {
        let end = start.wrapping_byte_add(self.shape as usize & !1);
        let (mut at, mut count) = (start, 0);
        while at < end {
            // SAFETY: the caller's promise.
            at = at.wrapping_add(if unsafe { (*at).is_wide() } { 2 } else { 1 });
            count += 1;
        }
        count + u64::from(self.is_branch())
    }
}

/// A basic block, or the rest of one, that is simulated in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Remainder {
    /// Instructions left, the one that is begun included.
    pub instructions: u64,
    /// The last one is a branch that is taken.
    pub branch: bool,
    /// Address of what follows, in the same region.
    pub next: u32,
    /// As [`Block::accesses`], the next one in the top bits.
    pub accesses: u64,
}

impl Remainder {
    /// Nothing left.
    pub const NONE: Remainder = Remainder { instructions: 0, branch: false, next: 0, accesses: 0 };

    /// The memory that the next access goes to.
    #[inline(always)]
    pub fn access(&mut self) -> u32 {
        let memory = self.accesses >> (u64::BITS - Block::ACCESS_BITS) & (Block::ACCESS - 1);
        self.accesses <<= Block::ACCESS_BITS;
        memory as u32
    }

    /// Whether the instruction in hand is a branch that is taken.
    #[inline(always)]
    pub fn takes_branch(&self) -> bool {
        self.branch && self.instructions == 1
    }
}

/// Who goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The core whose basic block was handed in.
    Same,
    /// The other one.
    Other,
    /// Neither: the machine must act.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v6m::op::Code;

    #[test]
    fn a_block_counts_its_instructions() {
        let codes = [Code::Nop, Code::Barrier, Code::Undecoded, Code::Nop, Code::Bl, Code::Undecoded];
        let mut ops = codes.map(Op::bare);
        let start = ops.as_mut_ptr();
        let block = |shape: u64| Block { shape, ..Block::NONE };
        for (shape, instructions) in [(8, 1), (24, 2), (32, 3), (32 | 1, 4)] {
            // SAFETY: all lie in `ops`.
            assert_eq!(unsafe { block(shape).instructions(start) }, instructions, "{shape}");
        }
        assert!(block(33).is_branch() && !block(32).is_branch());
    }

    #[test]
    fn where_it_goes_on_is_a_distance_from_its_start() {
        for (next, address) in [(3 * size_of::<Op>() as u64, 0x106), ((size_of::<Op>() as u64).wrapping_neg(), 0xfe)] {
            let block = Block { shape: 9, next, ..Block::NONE };
            assert_eq!(block.begun(0x100, 1).next, address);
        }
    }

    #[test]
    fn accesses_come_out_in_order() {
        let memories = [3, 0, 7, 5];
        let accesses = memories.iter().fold(0, |sum, memory| sum << Block::ACCESS_BITS | Block::ACCESS | memory);
        let mut rest = Block { accesses, ..Block::NONE }.begun(0, 4);
        assert_eq!(memories.map(|_| u64::from(rest.access())), memories);
        assert_eq!(rest.accesses, 0);
        assert_eq!(Block::NONE.begun(0, 1).accesses, 0);
    }
}
