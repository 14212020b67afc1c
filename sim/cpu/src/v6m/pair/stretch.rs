//! What a core executes ahead of its time at a stretch, and what is left of it to go through in time.

use crate::v6m::op::Op;

/// Instructions of one core, one behind the other: only the last may have been a branch that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Bytes of ops from its first instruction to the one behind the last; if the last one was a branch that was taken, to
    /// that one, plus 1.
    pub shape: u64,
    /// What follows.
    pub next: *mut Op,
    /// The memory that each access went to whose address is not in its opcode: [`Stretch::ACCESS_BITS`] bits each, the
    /// first one on top; none is 0.
    pub accesses: u64,
}

impl Stretch {
    /// Most bytes of ops of a stretch: of 16 halfwords of code.
    pub const BYTES: usize = 16 * size_of::<Op>();
    /// Bits of one access.
    pub const ACCESS_BITS: u32 = 4;
    /// Added to the memory's number.
    pub const ACCESS: u64 = 1 << (Stretch::ACCESS_BITS - 1);
    /// More cycles than the rest of one stretch and the whole of another take together: no instruction moves more than
    /// nine words, and each may wait for the other core.
    pub const CYCLES: u64 = 640;
    /// None.
    pub const NONE: Stretch = Stretch { shape: 0, next: std::ptr::null_mut(), accesses: 0 };

    /// Its last instruction was a branch that was taken.
    pub(super) fn is_branch(&self) -> bool {
        self.shape & 1 != 0
    }

    /// All of its so many instructions, to be gone through in time.
    pub(super) fn begun(&self, instructions: u64) -> Rest {
        let accesses = self.accesses.checked_shl(self.accesses.leading_zeros()).unwrap_or(0);
        Rest { instructions, branch: self.is_branch(), next: self.next, accesses }
    }

    /// How many instructions it has.
    ///
    /// # Safety
    /// `start` is its first op.
    pub(super) unsafe fn instructions(&self, start: *mut Op) -> u64 {
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

/// A stretch, or the rest of one, that is gone through in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rest {
    /// Instructions left, the one that is begun included.
    pub instructions: u64,
    /// The last one is a branch that is taken.
    pub branch: bool,
    /// What follows.
    pub next: *mut Op,
    /// As [`Stretch::accesses`], the next one in the top bits.
    pub accesses: u64,
}

impl Rest {
    /// Nothing left.
    pub const NONE: Rest = Rest { instructions: 0, branch: false, next: std::ptr::null_mut(), accesses: 0 };

    /// The memory that the next access goes to.
    #[inline(always)]
    pub fn access(&mut self) -> u32 {
        let memory = self.accesses >> (u64::BITS - Stretch::ACCESS_BITS) & (Stretch::ACCESS - 1);
        self.accesses <<= Stretch::ACCESS_BITS;
        memory as u32
    }

    /// Whether the instruction in hand is a branch that is taken.
    #[inline(always)]
    pub fn takes_branch(&self) -> bool {
        self.branch && self.instructions == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v6m::op::Code;

    #[test]
    fn a_stretch_counts_its_instructions() {
        let codes = [Code::Nop, Code::Barrier, Code::Undecoded, Code::Nop, Code::Bl, Code::Undecoded];
        let mut ops = codes.map(Op::bare);
        let start = ops.as_mut_ptr();
        let stretch = |shape: u64| Stretch { shape, ..Stretch::NONE };
        for (shape, instructions) in [(8, 1), (24, 2), (32, 3), (32 | 1, 4)] {
            // SAFETY: all lie in `ops`.
            assert_eq!(unsafe { stretch(shape).instructions(start) }, instructions, "{shape}");
        }
        assert!(stretch(33).is_branch() && !stretch(32).is_branch());
    }

    #[test]
    fn accesses_come_out_in_order() {
        let memories = [3, 0, 7, 5];
        let accesses = memories.iter().fold(0, |sum, memory| sum << Stretch::ACCESS_BITS | Stretch::ACCESS | memory);
        let mut rest = Stretch { accesses, ..Stretch::NONE }.begun(4);
        assert_eq!(memories.map(|_| u64::from(rest.access())), memories);
        assert_eq!(rest.accesses, 0);
        assert_eq!(Stretch::NONE.begun(1).accesses, 0);
    }
}
