//! The log of what a core has done ahead of its time: it can be compared with what the other one does, and undone.

use std::mem::{MaybeUninit, offset_of};

use crate::v6m::core::Core;
use crate::v6m::op::Op;

/// Most words that a basic block reads or writes: each of its instructions up to nine, one of them looked at before.
const WORDS: u8 = 160;
/// Room for as many as a count of eight bits can tell: none leads out of it.
const ROOM: usize = 256;

/// Registers, flags and PRIMASK of a core, moved as one.
type Start = [MaybeUninit<u64>; offset_of!(Core, t) / size_of::<u64>()];
const _: () = assert!(offset_of!(Core, r) == 0 && offset_of!(Core, primask) < offset_of!(Core, t));

/// What one core has done ahead of its time: one basic block.
#[derive(Debug)]
pub struct SpeculationLog {
    /// Where it began: all of the core that it can change but time.
    start: Start,
    ip: *mut Op,
    /// How many instructions it has.
    pub(in crate::v6m) instructions: u64,
    /// Which words of RAM it reads and writes, all of them folded into 64.
    reads: u64,
    writes: u64,
    read_words: u8,
    written_words: u8,
    /// Offset of each word that it reads.
    read: [u32; ROOM],
    /// Offset of each word that it writes, and what was there in the upper half.
    written: [u64; ROOM],
}

impl Default for SpeculationLog {
    fn default() -> SpeculationLog {
        SpeculationLog {
            start: [MaybeUninit::uninit(); offset_of!(Core, t) / size_of::<u64>()],
            ip: std::ptr::null_mut(),
            instructions: 0,
            reads: 0,
            writes: 0,
            read_words: 0,
            written_words: 0,
            read: [0; ROOM],
            written: [0; ROOM],
        }
    }
}

/// The logs of both cores. The interpreter writes them while it also uses the bus that they belong to, so they lie by
/// themselves and are reached by pointers alone: no reference to the bus reaches them.
#[derive(Debug)]
pub(in crate::v6m) struct SpeculationLogs(*mut [SpeculationLog; 2]);

impl Default for SpeculationLogs {
    fn default() -> SpeculationLogs {
        SpeculationLogs(Box::into_raw(Box::default()))
    }
}

impl Drop for SpeculationLogs {
    fn drop(&mut self) {
        // SAFETY: it comes from a box, and nothing uses a log of a bus that is gone.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl SpeculationLogs {
    /// The log of a core, 0 or else 1, and the other one's. They live as long as this.
    #[inline(always)]
    pub fn of(&self, core: usize) -> [*mut SpeculationLog; 2] {
        let first = self.0.cast::<SpeculationLog>();
        let second = first.wrapping_add(1);
        if core == 0 { [first, second] } else { [second, first] }
    }
}

/// A word's bit. Neighbours have different ones, and so have words at the same place of neighbouring tables.
#[inline(always)]
fn folded(offset: u32) -> u64 {
    1 << ((offset >> 2 ^ offset >> 8) & 63)
}

impl SpeculationLog {
    /// Nothing was done ahead.
    #[inline(always)]
    pub(in crate::v6m) fn forget(&mut self) {
        (self.reads, self.writes, self.read_words, self.written_words) = (0, 0, 0, 0);
    }

    /// Begins where the core stands.
    #[inline(always)]
    pub fn begin(&mut self, core: &Core) {
        // SAFETY: a core begins with so many bytes; padding among them may stay uninitialised.
        self.start = unsafe { (&raw const *core).cast::<Start>().read() };
        self.ip = core.ip;
        self.forget();
    }

    /// The word at this offset of the RAM is read.
    #[inline(always)]
    pub fn read(&mut self, offset: u32) {
        debug_assert!(self.read_words < WORDS);
        self.read[usize::from(self.read_words)] = offset & !3;
        self.read_words = self.read_words.wrapping_add(1);
        self.reads |= folded(offset);
    }

    /// The word at this offset of the RAM is written, which was `old`.
    #[inline(always)]
    pub fn write(&mut self, offset: u32, old: u32) {
        debug_assert!(self.written_words < WORDS);
        self.written[usize::from(self.written_words)] = u64::from(old) << 32 | u64::from(offset & !3);
        self.written_words = self.written_words.wrapping_add(1);
        self.writes |= folded(offset);
    }

    /// Whether one of the two may write a word that the other one accesses.
    #[inline(always)]
    pub(in crate::v6m) fn may_meet(&self, other: &SpeculationLog) -> bool {
        self.writes & (other.reads | other.writes) | self.reads & other.writes != 0
    }

    /// Whether one of the two writes a word that the other one accesses.
    #[cold]
    #[inline(never)]
    pub(in crate::v6m) fn meets(&self, other: &SpeculationLog) -> bool {
        let reads = |log: &SpeculationLog, word: u32| log.read[..log.read_words.into()].contains(&word);
        let writes = |log: &SpeculationLog, word: u32| log.written().any(|other| other == word);
        self.written().any(|word| reads(other, word) || writes(other, word))
            || other.written().any(|word| reads(self, word))
    }

    /// Offsets of the words that it writes.
    fn written(&self) -> impl Iterator<Item = u32> {
        self.written[..self.written_words.into()].iter().map(|entry| *entry as u32)
    }

    /// Puts the core back to where the basic block began, and the RAM too.
    ///
    /// # Safety
    /// `ram` is the RAM that the basic block accessed.
    #[cold]
    #[inline(never)]
    pub(in crate::v6m) unsafe fn undo(&mut self, core: &mut Core, ram: *mut u8) {
        for entry in self.written[..self.written_words.into()].iter().rev() {
            // SAFETY: a word of the RAM, as the caller promises.
            unsafe { ram.add(*entry as u32 as usize).cast::<u32>().write_unaligned((*entry >> 32) as u32) };
        }
        // SAFETY: as in `begin`, whose bytes these are.
        unsafe { (&raw mut *core).cast::<Start>().write(self.start) };
        core.ip = self.ip;
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(reads: &[u32], writes: &[u32]) -> SpeculationLog {
        let mut log = SpeculationLog::default();
        reads.iter().for_each(|&offset| log.read(offset));
        writes.iter().for_each(|&offset| log.write(offset, 0));
        log
    }

    fn meet(first: &SpeculationLog, second: &SpeculationLog) -> bool {
        let both = [first.may_meet(second) && first.meets(second), second.may_meet(first) && second.meets(first)];
        assert_eq!(both[0], both[1]);
        both[0]
    }

    #[test]
    fn they_meet_in_a_word_that_one_of_them_writes() {
        let writer = log(&[0x10, 0x20], &[0x2104]);
        assert!(!meet(&writer, &log(&[0x10, 0x20, 0x2100, 0x2108], &[])));
        assert!(meet(&writer, &log(&[0x2106], &[])));
        assert!(meet(&writer, &log(&[], &[0x2105])));
        assert!(meet(&writer, &log(&[], &[0x23])));
        // Words that fold onto the same bits.
        assert!(!meet(&writer, &log(&[0x2104 + (64 << 8)], &[0x20 + (64 << 8)])));
        assert_eq!(folded(0x2104), folded(0x2104 + (64 << 8)));
    }

    #[test]
    fn undone_nothing_is_left_of_it() {
        let before = [0x1234_5678, 0x9abc_def0];
        let mut ram = before;
        let mut core = Core::new(0);
        core.r[3] = 77;
        let start = core.clone();
        let mut log = SpeculationLog::default();
        core.ip = std::ptr::without_provenance_mut(64);
        log.begin(&core);
        (core.r[3], core.nz, core.c, core.primask, core.ip) = (1, -1, true, true, std::ptr::null_mut());
        for (word, value) in [(1, 3), (0, 4), (1, 5)] {
            log.write(4 * word as u32, ram[word]);
            ram[word] = value;
        }
        // SAFETY: all offsets lie in it.
        unsafe { log.undo(&mut core, ram.as_mut_ptr().cast()) };
        assert_eq!(ram, before);
        assert_eq!((core.r, core.nz, core.c, core.primask), (start.r, start.nz, start.c, start.primask));
        assert_eq!(core.ip as usize, 64);
    }
}
