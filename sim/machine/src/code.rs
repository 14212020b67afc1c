//! Tables of predecoded instructions, one per executable memory.

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
    profile: [Vec<ProfileCell>; 2],
    base: u32,
    bytes: u32,
}

impl CodeTable {
    /// An undecoded table for `bytes` (a multiple of 16) of code at `base`.
    pub fn new(base: u32, bytes: u32) -> CodeTable {
        let mut stripes = vec![Stripe([Op::default(); 8]); bytes as usize / 16];
        stripes.push(Stripe([Op::bare(Code::OutOfRegion); 8]));
        CodeTable { stripes, profile: [Vec::new(), Vec::new()], base, bytes }
    }

    /// Pointer to the op of a byte offset. Panics behind the end.
    pub fn op(&mut self, offset: u32) -> *mut Op {
        assert!(offset < self.bytes, "no code at {offset:#x}");
        // SAFETY: the table has an op for each halfword below `bytes`.
        unsafe { self.stripes.as_mut_ptr().cast::<Op>().add(offset as usize / 2) }
    }

    /// Allocates (zeroed) or drops the profile cells.
    pub fn set_profile(&mut self, on: bool) {
        let cells = if on { self.bytes as usize / 2 + 4 } else { 0 };
        self.profile = [vec![ProfileCell::default(); cells], vec![ProfileCell::default(); cells]];
    }

    /// Non-zero cells of a core: address and cell; the table is zeroed behind it.
    pub fn take_profile(&mut self, core: usize) -> Vec<(u32, ProfileCell)> {
        let base = self.base;
        self.profile[core]
            .iter_mut()
            .enumerate()
            .filter(|(_, cell)| cell.cycles != 0 || cell.executions != 0)
            .map(|(index, cell)| (base + index as u32 * 2, std::mem::take(cell)))
            .collect()
    }

    /// The region as the interpreter sees it: first transfer slot of its first bank, number of word-interleaved banks.
    pub fn region(&mut self, row: usize, banks: usize) -> Region {
        let cells = |cells: &mut Vec<ProfileCell>| {
            if cells.is_empty() { std::ptr::null_mut() } else { cells.as_mut_ptr() }
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
