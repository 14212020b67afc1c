//! Tables of predecoded instructions, one per executable memory.

use std::ops::Range;

use rtoslab_cpu::v6m::op::{Code, Op};
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_cpu::v6m::region::{ProfileCell, Region};

/// Four words of code: aligns the table so that an op's address tells the word's bank and the halfword's place in it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Stripe([Op; 8]);

/// The predecoded form of one memory.
pub struct CodeTable {
    stripes: Vec<Stripe>,
    /// [`ProfileCell`]s as their three words: the host gives memory to zeros as they are touched.
    profile: [Vec<[u64; 3]>; 2],
    base: u32,
    bytes: u32,
    /// Offsets that may have been decoded; nothing else has been executed.
    decoded: Range<u32>,
}

const _: () = assert!(size_of::<ProfileCell>() == size_of::<[u64; 3]>());

impl CodeTable {
    /// An undecoded table for `bytes` (a multiple of 16) of code at `base`.
    pub fn new(base: u32, bytes: u32) -> CodeTable {
        let mut stripes = vec![Stripe([Op::default(); 8]); bytes as usize / 16];
        stripes.push(Stripe([Op::bare(Code::OutOfRegion); 8]));
        CodeTable { stripes, profile: [Vec::new(), Vec::new()], base, bytes, decoded: bytes..0 }
    }

    /// Pointer to the op of a byte offset. Panics behind the end.
    pub fn op(&mut self, offset: u32) -> *mut Op {
        assert!(offset < self.bytes, "no code at {offset:#x}");
        self.decoded = self.decoded.start.min(offset & !1)..self.decoded.end.max(offset + 1);
        // SAFETY: the table has an op for each halfword below `bytes`.
        unsafe { self.stripes.as_mut_ptr().cast::<Op>().add(offset as usize / 2) }
    }

    /// Allocates (zeroed) or drops the profile cells.
    pub fn set_profile(&mut self, on: bool) {
        let cells = if on { self.bytes as usize / 2 + 4 } else { 0 };
        self.profile = [vec![[0; 3]; cells], vec![[0; 3]; cells]];
    }

    /// Adds to the cell of an address that was executed. Nothing happens if the profile is off.
    pub fn add_to_profile(&mut self, core: usize, address: u32, cell: ProfileCell) {
        let index = address.wrapping_sub(self.base) as usize / 2;
        if let Some(words) = self.profile[core].get_mut(index) {
            for (word, more) in words.iter_mut().zip([cell.cycles, cell.executions, cell.wait_cycles]) {
                *word += more;
            }
        }
    }

    /// Non-zero cells of a core: address and cell; the table is zeroed behind it.
    pub fn take_profile(&mut self, core: usize) -> Vec<(u32, ProfileCell)> {
        let Range { start, end } = self.decoded;
        let cells = self.profile[core].get_mut(start as usize / 2..end.div_ceil(2) as usize).into_iter().flatten();
        (self.base + start..)
            .step_by(2)
            .zip(cells)
            .filter(|(_, [cycles, executions, _])| cycles | executions != 0)
            .map(|(address, words)| {
                let [cycles, executions, wait_cycles] = std::mem::take(words);
                (address, ProfileCell { cycles, executions, wait_cycles })
            })
            .collect()
    }

    /// The region as the interpreter sees it: first transfer slot of its first bank, number of word-interleaved banks.
    pub fn region(&mut self, row: usize, banks: usize) -> Region {
        let cells = |cells: &mut Vec<[u64; 3]>| {
            if cells.is_empty() { std::ptr::null_mut() } else { cells.as_mut_ptr().cast::<ProfileCell>() }
        };
        let profile = [cells(&mut self.profile[0]), cells(&mut self.profile[1])];
        Region {
            base: self.base,
            bytes: self.bytes,
            ops: self.stripes.as_mut_ptr().cast(),
            row,
            row_mask: (banks - 1) * SLOTS,
            cached: false,
            rom: false,
            profile,
        }
    }
}
