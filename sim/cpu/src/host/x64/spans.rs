//! Words that are accessed by the same base: the first access checks for all of them.

use super::access_forms::{Block, accessed_word_offset, writes_base_back};
use crate::v7m::code::Code;
use crate::v7m::op::Op;

/// Farther apart than that they are checked one by one.
pub(super) const FAR: u32 = 1024;

/// A range of words relative to a base register: the byte offsets of the first and of the last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Fields of the first one.
    pub first: i32,
    /// Fields of the last one.
    pub last: i32,
}

/// A range of words relative to a base register that was found to be inside a block of RAM.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundsCheckedWordRange {
    pub base: u8,
    pub block: Block,
    pub span: Span,
}

impl BoundsCheckedWordRange {
    /// Returns whether the word at this offset from the base register is inside the checked range.
    pub fn contains_word_offset(&self, base: u8, block: Block, offset: i32) -> bool {
        let Span { first, last } = self.span;
        self.base == base
            && self.block.first == block.first
            && (first..=last).contains(&offset)
            && (offset - first) % 4 == 0
    }
}

/// Returns, for each instruction of a path, the range of words that it checks at once for itself and for later accesses
/// with the same base register. `path` has each instruction with the begin of the block of main RAM that it accessed,
/// if it did.
pub fn bounds_check_ranges_of_path(path: &[(Op, Option<u32>)]) -> Vec<Option<Span>> {
    (0..path.len()).map(|index| address_check_range_of_path(&path[index..])).collect()
}

/// Returns the range of words that the first instruction of this path checks for itself and for later accesses with the
/// same base register.
fn address_check_range_of_path(path: &[(Op, Option<u32>)]) -> Option<Span> {
    let (&(op, block), rest) = path.split_first()?;
    let (own, base) = (accessed_word_offset(op)?, op.rn);
    block?;
    let mut span = Span { first: own, last: own };
    if changes_register(op, base) {
        return None;
    }
    for &(op, other) in rest {
        if let Some(offset) = accessed_word_offset(op).filter(|_| op.rn == base && other == block) {
            let wider = Span { first: span.first.min(offset), last: span.last.max(offset) };
            if (offset - own) % 4 == 0 && wider.last - wider.first <= FAR as i32 {
                span = wider;
            }
        }
        if changes_register(op, base) {
            break;
        }
    }
    (span.first != span.last).then_some(span)
}

/// Returns whether an instruction may change this register. After a change of a base register, the checks of its
/// addresses no longer hold.
fn changes_register(op: Op, register: u8) -> bool {
    let listed =
        matches!(op.code, Code::Ldm | Code::LdmPc | Code::Stm) && (op.rn == register || op.imm >> register & 1 != 0);
    let links = matches!(op.code, Code::Bl | Code::Blx) && register == 14;
    op.code == Code::It
        || listed
        || links
        || op.rd == register
        || op.ra == register
        || writes_base_back(op) && op.rn == register
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(rd: u8, rn: u8, imm: i32) -> (Op, Option<u32>) {
        (Op { code: Code::LdrImm, rd, rn, ra: 16, imm: imm as u32, ..Op::default() }, Some(0))
    }

    #[test]
    fn check_range_ends_at_base_change() {
        let path = [load(0, 7, 8), load(1, 7, -4), load(2, 6, 100), load(7, 7, 20), load(3, 7, 40)];
        let covered = bounds_check_ranges_of_path(&path);
        assert_eq!(covered[0], Some(Span { first: -4, last: 20 }));
        assert_eq!(covered[1], Some(Span { first: -4, last: 20 }));
        assert_eq!(covered[2..], [None, None, None]);
    }

    #[test]
    fn check_range_excludes_distant_words() {
        let mut path = [load(0, 7, 0), load(1, 7, 2), load(1, 7, 2000), load(1, 7, 4)];
        assert_eq!(bounds_check_ranges_of_path(&path)[0], Some(Span { first: 0, last: 4 }));
        path[3].1 = Some(0x1000);
        assert_eq!(bounds_check_ranges_of_path(&path)[0], None);
        path[0].1 = None;
        assert_eq!(bounds_check_ranges_of_path(&path)[0], None);
    }

    #[test]
    fn bounds_check_covers_only_whole_words() {
        let block = Block { first: 0, bytes: 64 };
        let checked = BoundsCheckedWordRange { base: 7, block, span: Span { first: -4, last: 8 } };
        let held = |base, offset| checked.contains_word_offset(base, block, offset);
        assert!(held(7, -4) && held(7, 0) && held(7, 8));
        assert!(!held(7, -8) && !held(7, 12) && !held(7, 2) && !held(6, 0));
        assert!(!checked.contains_word_offset(7, Block { first: 64, bytes: 64 }, 0));
    }
}
