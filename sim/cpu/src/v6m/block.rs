//! Basic blocks: what a core executes ahead of its time at once, and what remains of one to be simulated in time.
//!
//! A block here is longer than in a compiler: no branch ahead ends it whose opcode tells where it leads, taken or not.
//! A place is a distance in bytes of ops, never a pointer, so that the cache does not depend on the host's addresses.

use crate::v6m::op::{Code, Op};

/// A basic block as one core executed it, for the timing cache of two cores. Only its last instruction may be a
/// backward branch or a branch by register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// [`Block::shape_of_path`], and what else the bits below say.
    pub shape: u64,
    /// The next place: bytes of ops from the first instruction to it.
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
    /// More cycles than the rest of one basic block and the whole of another take together: no instruction moves more
    /// than nine words, and each may wait for the other core.
    pub const CYCLES: u64 = 640;
    /// Set in `shape` if it is gone through again and again: see [`Block::new_busy_wait_block`].
    const SPIN: u64 = 1;
    /// Set in `shape` if it is one access that both cores make in time order. Without length: the other core comes
    /// first.
    pub const ORDERED: u64 = 2;
    /// Set in `shape` if it has such accesses and gives way to the other core's instructions of the same cycle.
    pub const GIVES_WAY: u64 = 4;
    /// Set in `shape` if its last instruction leaves it to the machine where execution continues: SVC, an exception
    /// return.
    pub const LEAVES: u64 = 1 << 16;
    /// Set in `shape` if its last instruction is a store to the core's private registers, which is made after it.
    pub const PRIVATE: u64 = 1 << 17;
    /// Set in `shape` if an exception may be taken after it.
    pub const UNMASKS: u64 = 1 << 18;
    /// Set in `shape` if its last instruction is a store to a watched word, whose time it reports.
    pub const REPORTS_STORE: u64 = 1 << 19;
    /// The kinds of last instruction of a basic block that are like no other.
    const ENDS: u64 = Block::LEAVES | Block::PRIVATE | Block::REPORTS_STORE;
    /// First of the bits of `shape` that say which [`Step`] it is, from 1 on. 0: none.
    const STEP: u32 = 20;
    /// Set in `shape` of an ordered access if the other core comes first. And if this one loses their tie for that.
    const WAITS: u64 = 1 << 28;
    const YIELDS: u64 = 1 << 29;
    /// First of the bits of `shape` for verdicts.
    const BRANCHES: u32 = 30;
    /// Bits of `shape`.
    pub(in crate::v6m) const SHAPE_BITS: u32 = 48;
    /// No block.
    pub const NONE: Block = Block { shape: 0, next: 0, accesses: 0 };

    /// Returns the part of a block's `shape` that says where it goes.
    #[inline(always)]
    pub(in crate::v6m) const fn shape_of_path(length: u64, branches: u64) -> u64 {
        const {
            let halfwords = Block::BYTES / size_of::<Op>();
            assert!(Block::BRANCHES + (halfwords as u32) < Block::SHAPE_BITS && (Block::BYTES as u64) < Block::LEAVES);
        }
        length + (branches << Block::BRANCHES)
    }

    /// Returns the length of the block in bytes of ops.
    pub(in crate::v6m) fn block_length_in_op_bytes(&self) -> u64 {
        self.shape & (Block::LEAVES - 1) & !(size_of::<Op>() as u64 - 1)
    }

    /// Returns the outcomes of the block's conditional branches, the first one in the highest bit.
    fn branch_outcomes(&self) -> u32 {
        let branches = (self.shape >> Block::BRANCHES) as u32;
        branches.checked_shl(branches.leading_zeros() + 1).unwrap_or(0)
    }

    /// Returns the whole block, of `instructions` instructions from address `start` on, as a remainder: what is still
    /// to be simulated with its timing.
    pub(in crate::v6m) fn block_remainder_to_simulate(&self, start: u32, instructions: u64) -> UntimedBlockRemainder {
        let accesses = self.accesses.checked_shl(self.accesses.leading_zeros()).unwrap_or(0);
        let next = start.wrapping_add((self.next as i64 / (size_of::<Op>() as i64 / 2)) as u32);
        let gives_way = self.shape & Block::GIVES_WAY != 0;
        let spin = if self.is_busy_wait() { instructions as u8 } else { 0 };
        let ends = (self.shape & Block::ENDS) as u32;
        UntimedBlockRemainder {
            instructions,
            branches: self.branch_outcomes(),
            ends,
            gives_way,
            spin,
            is_last: false,
            next,
            accesses,
        }
    }

    /// Creates the block that stands for a step of an exception (entry, return and so on), which leads from one address
    /// to another. `memory` contains its stack frame.
    pub(in crate::v6m) fn new_block_for_exception_step(step: Step, memory: Option<u32>, from: u32, to: u32) -> Block {
        let bytes = i64::from(to.wrapping_sub(from) as i32) * (size_of::<Op>() as i64 / 2);
        let accesses = memory.map_or(0, |memory| Block::ACCESS | u64::from(memory));
        Block { shape: (step as u64) << Block::STEP, next: bytes as u64, accesses }
    }

    /// Returns the step of an exception that this block stands for, the memory of its frame, and the address to which
    /// it leads. `None` for other blocks.
    pub(in crate::v6m) fn exception_step_of_block(&self, from: u32) -> Option<(Step, u32, u32)> {
        let step = match self.shape >> Block::STEP {
            1 => Step::Enter,
            2 => Step::Vector,
            3 => Step::Return,
            4 => Step::Chain,
            _ => return None,
        };
        let memory = (self.accesses & (Block::ACCESS - 1)) as u32;
        Some((step, memory, self.block_remainder_to_simulate(from, 0).next))
    }

    /// Creates the block of one ordered access: an access, such as to a spinlock, that both cores must make in the
    /// order of their cycles.
    pub(in crate::v6m) fn new_cross_core_ordered_access_block(memory: u32, gives_way: bool) -> Block {
        let bytes = size_of::<Op>() as u64;
        let shape = bytes + Block::wait_block(gives_way).shape;
        Block { shape, next: bytes, accesses: Block::ACCESS | u64::from(memory) }
    }

    /// Creates a block without instructions: the core waits until the other one has reached the same cycle. With
    /// `must_transfer_pause` the other core also goes first in that cycle.
    pub(in crate::v6m) const fn wait_block(gives_way: bool) -> Block {
        Block { shape: Block::ORDERED + Block::GIVES_WAY * gives_way as u64, ..Block::NONE }
    }

    /// Returns the block with a wait for the other core in front, as in [`Block::wait_block`]. If the other core's
    /// block ends meanwhile, this block's access is not made.
    pub(in crate::v6m) fn prepend_wait_for_other_core(self, gives_way: bool) -> Block {
        let yields = if gives_way { Block::YIELDS } else { 0 };
        Block { shape: self.shape | Block::WAITS | yields, ..self }
    }

    /// Returns the wait in front of the block, if [`Block::prepend_wait_for_other_core`] added one.
    pub(in crate::v6m) fn other_core_wait_before_block(&self) -> Option<Block> {
        (self.shape & Block::WAITS != 0).then(|| Block::wait_block(self.shape & Block::YIELDS != 0))
    }

    /// Creates the block of a busy wait: a loop of `instructions` instructions that begins with an ordered load.
    pub(in crate::v6m) fn new_busy_wait_block(instructions: u8, memory: u32, gives_way: bool) -> Block {
        let length = u64::from(instructions) * size_of::<Op>() as u64;
        let shape = length + Block::SPIN + Block::wait_block(gives_way).shape;
        Block { shape, next: 0, accesses: Block::ACCESS | u64::from(memory) }
    }

    /// Returns whether the block is a busy wait ([`Block::new_busy_wait_block`]).
    pub(in crate::v6m) fn is_busy_wait(&self) -> bool {
        self.shape & Block::SPIN != 0
    }

    /// Returns whether the block is one ordered access, or a wait for the other core
    /// ([`Block::new_cross_core_ordered_access_block`], [`Block::wait_block`]).
    pub(in crate::v6m) fn is_block_ordered_between_cores(&self) -> bool {
        self.shape & Block::ORDERED != 0
    }

    /// Returns whether the block is only a wait for the other core ([`Block::wait_block`]).
    pub(in crate::v6m) fn is_wait_for_other_core(&self) -> bool {
        self.shape & !Block::GIVES_WAY == Block::ORDERED
    }

    /// Returns the number of instructions in the block. `first` is the first one, because a stub op may be in its
    /// place.
    ///
    /// # Safety
    /// `start` is that place.
    pub(in crate::v6m) unsafe fn instruction_count(&self, start: *mut Op, first: Op) -> u64 {
        let (mut at, mut op, mut count) = (start, first, 0);
        let mut rest = UntimedBlockRemainder { branches: self.branch_outcomes(), ..UntimedBlockRemainder::NONE };
        let mut left = self.block_length_in_op_bytes() / size_of::<Op>() as u64;
        while left != 0 {
            let turns = match op.code {
                Code::B | Code::Bl => true,
                _ => op.is_branch_within_code_region() && rest.take_next_branch_outcome(),
            };
            let halfwords = if turns || !op.is_wide() { 1 } else { 2 };
            at = at.wrapping_offset(if turns { op.imm as i32 as isize } else { halfwords as isize });
            left = left.saturating_sub(halfwords);
            // SAFETY: the caller's promise; after a region's last instruction there are more ops.
            op = unsafe { *at };
            count += 1;
        }
        count
    }
}

/// A step of a core's exception handling, which the timing cache treats as a block without instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The frame is stacked.
    Enter = 1,
    /// The handler begins.
    Vector = 2,
    /// The frame is unstacked.
    Return = 3,
    /// The gap from one handler to the next.
    Chain = 4,
}

/// A basic block, or the rest of one, that is executed already and still to be simulated with its timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UntimedBlockRemainder {
    /// Instructions left, the one that is begun included.
    pub instructions: u64,
    /// Verdicts on its conditional branches, the next one on top.
    branches: u32,
    /// The kind of the last instruction: those bits of [`Block::shape`].
    ends: u32,
    /// Its ordered accesses give way to the other core's instructions of the same cycle.
    pub gives_way: bool,
    /// Instructions of each repetition of a [`Block::new_busy_wait_block`]; else 0.
    pub spin: u8,
    /// No repetition follows.
    pub is_last: bool,
    /// Address of the next instruction, in the same region.
    pub next: u32,
    /// Accesses in the form of [`Block::accesses`], with the next one in the top bits.
    pub accesses: u64,
}

impl UntimedBlockRemainder {
    /// Nothing left.
    pub const NONE: UntimedBlockRemainder = UntimedBlockRemainder {
        instructions: 0,
        branches: 0,
        ends: 0,
        gives_way: false,
        spin: 0,
        is_last: false,
        next: 0,
        accesses: 0,
    };

    /// Removes the next memory access from the rest of the block, and returns the number of the accessed memory.
    #[inline(always)]
    pub fn take_memory_of_next_access(&mut self) -> u32 {
        let memory = self.accesses >> (u64::BITS - Block::ACCESS_BITS) & (Block::ACCESS - 1);
        self.accesses <<= Block::ACCESS_BITS;
        memory as u32
    }

    /// Returns whether the rest of the block makes another access.
    pub fn has_access_left(&self) -> bool {
        self.accesses != 0
    }

    /// Removes the next conditional branch from the rest of the block, and returns whether it is taken. The branch of a
    /// busy wait always is.
    #[inline(always)]
    pub fn take_next_branch_outcome(&mut self) -> bool {
        let taken = self.branches >> (u32::BITS - 1) != 0 || self.spin != 0;
        self.branches <<= 1;
        taken
    }

    /// Removes one executed instruction from the rest of the block. Returns true if it was the last one.
    #[inline(always)]
    pub fn pass_instruction(&mut self, memory: u32) -> bool {
        self.instructions -= 1;
        if self.instructions == 0 && self.spin != 0 && !self.is_last {
            self.instructions = u64::from(self.spin);
            self.restore_memory_access_to_remainder(memory);
        }
        self.instructions == 0
    }

    /// Puts the memory access that was removed last back into the rest of the block, because it is made again.
    #[inline(always)]
    pub fn restore_memory_access_to_remainder(&mut self, memory: u32) {
        let access = Block::ACCESS | u64::from(memory);
        self.accesses = self.accesses >> Block::ACCESS_BITS | access << (u64::BITS - Block::ACCESS_BITS);
    }

    /// Returns whether the last instruction is of this kind, a bit of [`Block::shape`].
    #[inline(always)]
    pub fn does_block_end_with_instruction_kind(&self, what: u64) -> bool {
        u64::from(self.ends) & what != 0
    }

    /// Returns whether the current instruction is the last one and of this kind, a bit of [`Block::shape`].
    #[inline(always)]
    pub fn is_current_instruction_last_of_kind(&self, what: u64) -> bool {
        self.does_block_end_with_instruction_kind(what) && self.instructions == 1
    }
}

/// Which core executes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextCoreChoice {
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
    fn block_counts_its_instructions() {
        let codes = [Code::Nop, Code::Barrier, Code::Undecoded, Code::Nop, Code::Bl, Code::Undecoded];
        let mut ops = codes.map(Op::without_operands);
        let start = ops.as_mut_ptr();
        let block = |shape: u64| Block { shape, ..Block::NONE };
        for (shape, instructions) in [(8, 1), (24, 2), (32, 3), (40, 4)] {
            // SAFETY: all are in `ops`.
            assert_eq!(unsafe { block(shape).instruction_count(start, *start) }, instructions, "{shape}");
        }
        // A stand-in for a probe at its first place.
        ops[0] = Op::without_operands(Code::Attend);
        // SAFETY: as above.
        assert_eq!(unsafe { block(24).instruction_count(ops.as_mut_ptr(), Op::without_operands(Code::Barrier)) }, 2);
    }

    #[test]
    fn basic_block_follows_recorded_branches() {
        let branch = |code, distance: i32| Op { imm: distance as u32, ..Op::without_operands(code) };
        let mut ops = [
            Op::without_operands(Code::Nop),
            branch(Code::Beq, 4),
            Op::without_operands(Code::Barrier),
            Op::default(),
            branch(Code::Bne, -4),
            branch(Code::Bl, -5),
            Op::default(),
        ];
        let start = ops.as_mut_ptr();
        let count = |halfwords: u64, branches: u64| {
            let block =
                Block { shape: Block::shape_of_path(halfwords * size_of::<Op>() as u64, branches), ..Block::NONE };
            // SAFETY: all are in `ops`.
            unsafe { block.instruction_count(start, *start) }
        };
        // Straight on, then back and straight on again: the barrier counts as two halfwords, BL as one.
        assert_eq!([2, 4, 5, 6, 7, 8, 10].map(|halfwords| count(halfwords, 0b100)), [2, 3, 4, 5, 6, 7, 8]);
        // To the end, by which the barrier is not come to, and then by it.
        assert_eq!([2, 3, 4, 5, 6, 8].map(|halfwords| count(halfwords, 0b1100)), [2, 3, 4, 5, 6, 7]);
        let mut rest =
            Block { shape: Block::shape_of_path(64, 0b1_0110), ..Block::NONE }.block_remainder_to_simulate(0, 8);
        assert_eq!([0; 5].map(|_| rest.take_next_branch_outcome()), [false, true, true, false, false]);
        assert_eq!(rest, Block { shape: 64, ..Block::NONE }.block_remainder_to_simulate(0, 8), "none left");
    }

    #[test]
    fn basic_block_end_is_relative_address() {
        for (next, address) in [(3 * size_of::<Op>() as u64, 0x106), ((size_of::<Op>() as u64).wrapping_neg(), 0xfe)] {
            let block = Block { shape: 9, next, ..Block::NONE };
            assert_eq!(block.block_remainder_to_simulate(0x100, 1).next, address);
        }
    }

    #[test]
    fn block_memory_accesses_keep_their_order() {
        let memories = [3, 0, 7, 5];
        let accesses = memories.iter().fold(0, |sum, memory| sum << Block::ACCESS_BITS | Block::ACCESS | memory);
        let mut rest = Block { accesses, ..Block::NONE }.block_remainder_to_simulate(0, 4);
        assert_eq!(memories.map(|_| u64::from(rest.take_memory_of_next_access())), memories);
        assert_eq!(rest.accesses, 0);
        assert_eq!(Block::NONE.block_remainder_to_simulate(0, 1).accesses, 0);
    }

    #[test]
    fn basic_blocks_differ_by_their_shapes() {
        for gives_way in [false, true] {
            let [ordered, wait, spin] = [
                Block::new_cross_core_ordered_access_block(6, gives_way),
                Block::wait_block(gives_way),
                Block::new_busy_wait_block(3, 6, gives_way),
            ];
            assert_eq!([ordered, wait, spin].map(|block| block.is_block_ordered_between_cores()), [true; 3]);
            assert_eq!([ordered, wait, spin].map(|block| block.is_wait_for_other_core()), [false, true, false]);
            assert_eq!([ordered, wait, spin].map(|block| block.is_busy_wait()), [false, false, true]);
            assert_eq!(
                [ordered, spin].map(|block| block.block_remainder_to_simulate(0x40, 3).gives_way),
                [gives_way; 2]
            );
        }
        for gives_way in [false, true] {
            let behind = Block::new_cross_core_ordered_access_block(6, true).prepend_wait_for_other_core(gives_way);
            assert!(
                behind.is_block_ordered_between_cores()
                    && !behind.is_wait_for_other_core()
                    && !behind.is_busy_wait()
                    && behind.exception_step_of_block(0).is_none()
            );
            assert_eq!(behind.other_core_wait_before_block(), Some(Block::wait_block(gives_way)));
            assert_eq!(
                behind.block_remainder_to_simulate(0x40, 1),
                Block::new_cross_core_ordered_access_block(6, true).block_remainder_to_simulate(0x40, 1)
            );
        }
        assert_eq!(Block::new_cross_core_ordered_access_block(6, true).other_core_wait_before_block(), None);
        let notified = Block { shape: 24 | Block::REPORTS_STORE, ..Block::NONE };
        assert!(
            notified.block_remainder_to_simulate(0, 3).does_block_end_with_instruction_kind(Block::REPORTS_STORE)
                && notified.exception_step_of_block(0).is_none()
        );
        let plain = Block { shape: 24, ..Block::NONE };
        assert!(
            !plain.is_block_ordered_between_cores()
                && !plain.is_wait_for_other_core()
                && !plain.is_busy_wait()
                && plain.block_remainder_to_simulate(0, 3).spin == 0
        );
        let mut ops = [Code::LdrImm, Code::CmpImm, Code::Beq].map(Op::without_operands);
        // SAFETY: all are in `ops`.
        unsafe {
            assert_eq!(
                Block::new_cross_core_ordered_access_block(6, true).instruction_count(ops.as_mut_ptr(), ops[0]),
                1
            );
            assert_eq!(Block::new_busy_wait_block(3, 6, true).instruction_count(ops.as_mut_ptr(), ops[0]), 3);
        }
    }

    #[test]
    fn exception_step_block_allows_any_target() {
        for step in [Step::Enter, Step::Vector, Step::Return, Step::Chain] {
            for (from, to) in [(0x1000_0100, 0x2000_0204), (0x2000_0204, 0x1000_0100), (0x40, 0x40)] {
                let block = Block::new_block_for_exception_step(step, Some(5), from, to);
                assert_eq!(block.exception_step_of_block(from), Some((step, 5, to)));
                assert!(
                    !block.is_block_ordered_between_cores() && !block.is_wait_for_other_core() && !block.is_busy_wait()
                );
            }
        }
        let left = Block { shape: 24 | Block::LEAVES, ..Block::NONE };
        assert!(
            left.exception_step_of_block(0).is_none()
                && left.block_remainder_to_simulate(0, 3).does_block_end_with_instruction_kind(Block::LEAVES)
        );
        assert!(
            !left.block_remainder_to_simulate(0, 3).does_block_end_with_instruction_kind(Block::PRIVATE)
                && left.block_remainder_to_simulate(0, 1).is_current_instruction_last_of_kind(Block::LEAVES)
        );
        let mut ops = [Code::Nop, Code::Nop, Code::Bx].map(Op::without_operands);
        // SAFETY: all are in `ops`.
        assert_eq!(unsafe { left.instruction_count(ops.as_mut_ptr(), ops[0]) }, 3);
    }

    #[test]
    fn spin_loop_repeats_until_last_pass() {
        let mut rest = Block::new_busy_wait_block(2, 6, false).block_remainder_to_simulate(0x40, 2);
        assert_eq!((rest.next, rest.spin), (0x40, 2));
        for _ in 0..3 {
            assert_eq!(rest.take_memory_of_next_access(), 6);
            assert!(!rest.pass_instruction(6));
            assert!(rest.take_next_branch_outcome());
            assert!(!rest.pass_instruction(6));
        }
        rest.is_last = true;
        assert_eq!(rest.take_memory_of_next_access(), 6);
        assert!(!rest.pass_instruction(6) && rest.pass_instruction(6));
        assert_eq!(rest.accesses, 0);
    }
}
