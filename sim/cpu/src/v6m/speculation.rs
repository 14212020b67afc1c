//! The log of a core's speculative execution: it can be compared with the other core's, and rolled back.

use std::mem::{MaybeUninit, offset_of};

use crate::host::{NativeSpeculationLogLayout, WatchedStoreLayout};
use crate::v6m::block::Block;
use crate::v6m::core::{Core, Request};
use crate::v6m::op::Op;
use crate::v6m::watched::WatchedStore;

/// Most words that a basic block reads or writes: each of its instructions up to nine, one of them looked at before.
const WORDS: u8 = 160;
/// Room for as many as a count of eight bits can tell: none leads out of it.
const ROOM: usize = 256;

/// A copy of the part of a core that a roll-back restores: registers, flags, PRIMASK and the other stack pointer.
type Start = [MaybeUninit<u64>; offset_of!(Core, t) / size_of::<u64>()];
const _: () = assert!(offset_of!(SpeculationLog, written_words) == offset_of!(SpeculationLog, read_words) + 1);
const _: () = assert!(offset_of!(Core, r) == 0 && offset_of!(Core, other_sp) < offset_of!(Core, t));

/// The log of one core's speculative execution of a basic block: what it read and wrote, and how to roll back. Native
/// code writes it, too.
#[derive(Debug)]
#[repr(C)]
pub struct SpeculationLog {
    /// The begin: every part of the core that it can change except time.
    start: Start,
    ip: *mut Op,
    /// How many instructions it has.
    pub(in crate::v6m) instructions: u64,
    /// The probes on the instruction that comes next have fired. Those on its first instruction had.
    pub(in crate::v6m) served: bool,
    pub(in crate::v6m) probed: bool,
    /// After the basic block an exception may have to be dealt with: bits of
    /// [`Block::shape`](crate::v6m::block::Block).
    pub(in crate::v6m) summons: u64,
    /// Its last store, if it ends with one to a watched word.
    watched_store: WatchedStore,
    /// The store after it, address and value, if it ends with one to the core's private registers.
    pub(in crate::v6m) store: (u32, u32),
    /// Which words of RAM it reads and writes, all of them folded into 64.
    reads: u64,
    writes: u64,
    read_words: u8,
    written_words: u8,
    /// The reads: [`log_entry_of_bytes`].
    read: [u32; ROOM],
    /// The writes: [`log_entry_of_bytes`], with the word's earlier content in the upper half.
    written: [u64; ROOM],
}

impl Default for SpeculationLog {
    /// Returns an empty log.
    fn default() -> SpeculationLog {
        SpeculationLog {
            start: [MaybeUninit::uninit(); offset_of!(Core, t) / size_of::<u64>()],
            ip: std::ptr::null_mut(),
            instructions: 0,
            served: false,
            probed: false,
            summons: 0,
            watched_store: WatchedStore::default(),
            store: (0, 0),
            reads: 0,
            writes: 0,
            read_words: 0,
            written_words: 0,
            read: [0; ROOM],
            written: [0; ROOM],
        }
    }
}

/// The speculation logs of both cores. The interpreter writes them while it also uses the bus that owns them. So they
/// are in memory of their own, and are only accessed by pointers.
#[derive(Debug)]
pub(in crate::v6m) struct SpeculationLogs(*mut [SpeculationLog; 2]);

impl Default for SpeculationLogs {
    /// Returns an empty log for each of the two cores.
    fn default() -> SpeculationLogs {
        SpeculationLogs(Box::into_raw(Box::default()))
    }
}

impl Drop for SpeculationLogs {
    /// Frees the memory of the logs.
    fn drop(&mut self) {
        // SAFETY: it comes from a box, and nothing uses a log of a bus that is gone.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl SpeculationLogs {
    /// Returns the logs of a core, 0 or else 1, and of the other one. They live as long as this.
    #[inline(always)]
    pub fn speculation_log_pointers(&self, core: usize) -> [*mut SpeculationLog; 2] {
        let first = self.0.cast::<SpeculationLog>();
        let second = first.wrapping_add(1);
        if core == 0 { [first, second] } else { [second, first] }
    }
}

/// Returns the log entry of `BYTES` bytes at this offset of the RAM: the word's offset, and a bit for each accessed
/// byte.
#[inline(always)]
fn log_entry_of_bytes<const BYTES: u32>(offset: u32) -> u32 {
    debug_assert!(offset.is_multiple_of(BYTES));
    if BYTES == 4 {
        return offset | 0xf << LANES;
    }
    offset & !3 | ((1 << BYTES) - 1) << (offset & 3) << LANES
}

/// First of the bits for bytes. No offset has such.
const LANES: u32 = 28;

/// Returns the word's offset in a log entry.
fn word_offset_in_log_entry(bytes: u32) -> u32 {
    bytes & !(0xf << LANES)
}

/// Returns whether two log entries have a byte in common.
#[inline(always)]
fn does_log_entry_overlap_other(first: u32, second: u32) -> bool {
    (word_offset_in_log_entry(first) == word_offset_in_log_entry(second)) & (first & second & 0xf << LANES != 0)
}

/// Returns the bit of a word in a 64-bit set of words, from its offset or a log entry. Neighbouring words have
/// different bits, and so have words at the same place of neighbouring tables.
#[inline(always)]
fn bloom_filter_bit_of_word(offset: u32) -> u64 {
    1 << (((offset >> 2) + (offset >> 8)) & 63)
}

impl SpeculationLog {
    /// Offsets for native code.
    pub(in crate::v6m) const LAYOUT: NativeSpeculationLogLayout = NativeSpeculationLogLayout {
        read: offset_of!(SpeculationLog, read) as i32,
        written: offset_of!(SpeculationLog, written) as i32,
        lanes: LANES,
        words: offset_of!(SpeculationLog, read_words) as i32,
        reads: offset_of!(SpeculationLog, reads) as i32,
        writes: offset_of!(SpeculationLog, writes) as i32,
        access_bits: Block::ACCESS_BITS,
        marks: 0,
    };
    pub(in crate::v6m) const IP: i32 = offset_of!(SpeculationLog, ip) as i32;
    pub(in crate::v6m) const INSTRUCTIONS: i32 = offset_of!(SpeculationLog, instructions) as i32;
    pub(in crate::v6m) const SERVED: i32 = offset_of!(SpeculationLog, served) as i32;
    pub(in crate::v6m) const PROBED: i32 = offset_of!(SpeculationLog, probed) as i32;
    pub(in crate::v6m) const SUMMONS: i32 = offset_of!(SpeculationLog, summons) as i32;
    pub(in crate::v6m) const WATCHED_STORE: WatchedStoreLayout = WatchedStoreLayout {
        pc: offset_of!(SpeculationLog, watched_store.pc) as i32,
        offset: offset_of!(SpeculationLog, watched_store.offset) as i32,
        word: offset_of!(SpeculationLog, watched_store.word) as i32,
        summons: offset_of!(SpeculationLog, summons) as i32,
        summoned: Block::REPORTS_STORE as i32,
    };
    /// The saved core state at the begin of a block, and its size in bytes.
    pub(in crate::v6m) const START: i32 = offset_of!(SpeculationLog, start) as i32;
    pub(in crate::v6m) const START_BYTES: i32 = size_of::<Start>() as i32;

    /// Empties the speculation log.
    #[inline(always)]
    pub(in crate::v6m) fn clear_speculation_log(&mut self) {
        (self.reads, self.writes, self.read_words, self.written_words) = (0, 0, 0, 0);
    }

    /// Empties the log, and forgets that probes have fired.
    pub(in crate::v6m) fn clear_speculation_log_and_probes(&mut self) {
        self.clear_speculation_log();
        (self.served, self.probed, self.summons) = (false, false, 0);
    }

    /// Begins the log of a block where the core is now, and saves the core.
    #[inline(always)]
    pub fn begin_speculation_log(&mut self, core: &Core) {
        // SAFETY: a core begins with so many bytes; padding among them may stay uninitialised.
        self.start = unsafe { (&raw const *core).cast::<Start>().read() };
        self.ip = core.ip;
        self.clear_speculation_log();
    }

    /// Returns the op at which the block begins.
    #[inline(always)]
    pub(in crate::v6m) fn first_op_of_logged_block(&self) -> *mut Op {
        self.ip
    }

    /// Logs that `BYTES` bytes at this offset of the RAM are read.
    #[inline(always)]
    pub fn log_read<const BYTES: u32>(&mut self, offset: u32) {
        debug_assert!(self.read_words < WORDS);
        self.read[usize::from(self.read_words)] = log_entry_of_bytes::<BYTES>(offset);
        self.read_words = self.read_words.wrapping_add(1);
        self.reads |= bloom_filter_bit_of_word(offset);
    }

    /// Logs that `BYTES` bytes at this offset of the RAM are written. `old` is the word's content before.
    #[inline(always)]
    pub fn log_write<const BYTES: u32>(&mut self, offset: u32, old: u32) {
        debug_assert!(self.written_words < WORDS);
        self.written[usize::from(self.written_words)] =
            u64::from(old) << 32 | u64::from(log_entry_of_bytes::<BYTES>(offset));
        self.written_words = self.written_words.wrapping_add(1);
        self.writes |= bloom_filter_bit_of_word(offset);
    }

    // Not in line: the interpreter's loop needs the host's registers.
    /// Stores the registers of a mask to the words of RAM from this offset on, and logs these writes.
    ///
    /// # Safety
    /// All of them are in `ram`.
    #[inline(never)]
    pub(in crate::v6m) unsafe fn store_words(&mut self, core: &Core, mask: u32, ram: *mut u8, offset: u32) {
        let (mut rest, mut bytes, mut writes) = (mask, log_entry_of_bytes::<4>(offset), self.writes);
        // SAFETY: the caller's promise, here and below.
        let mut word = unsafe { ram.add(offset as usize) }.cast::<[u8; 4]>();
        let mut entry = usize::from(self.written_words);
        while rest != 0 {
            let value = core.r[(rest.trailing_zeros() & 15) as usize].to_le_bytes();
            // SAFETY: as above.
            let old = unsafe { word.replace(value) };
            self.written[entry % ROOM] = u64::from(u32::from_ne_bytes(old)) << 32 | u64::from(bytes);
            writes |= bloom_filter_bit_of_word(bytes);
            (rest, bytes, entry) = (rest & (rest - 1), bytes + 4, entry + 1);
            word = word.wrapping_add(1);
        }
        debug_assert!(entry <= usize::from(WORDS));
        (self.written_words, self.writes) = (entry as u8, writes);
    }

    /// Loads the registers of a mask from RAM at this offset, and logs these reads. The value of the register `held`
    /// goes to [`Core::transfer`].
    ///
    /// # Safety
    /// As for [`SpeculationLog::store_words`].
    #[inline(never)]
    pub(in crate::v6m) unsafe fn load_words(
        &mut self,
        core: &mut Core,
        (mask, held): (u32, u32),
        (ram, offset): (*const u8, u32),
    ) {
        let (mut rest, mut bytes, mut reads) = (mask, log_entry_of_bytes::<4>(offset), self.reads);
        // SAFETY: the caller's promise, here and below.
        let mut word = unsafe { ram.add(offset as usize) }.cast::<[u8; 4]>();
        let mut entry = usize::from(self.read_words);
        while rest != 0 {
            // SAFETY: as above.
            let value = u32::from_le_bytes(unsafe { word.read() });
            let register = rest.trailing_zeros();
            *if register == held { &mut core.transfer.held } else { &mut core.r[(register & 15) as usize] } = value;
            self.read[entry % ROOM] = bytes;
            reads |= bloom_filter_bit_of_word(bytes);
            (rest, bytes, entry) = (rest & (rest - 1), bytes + 4, entry + 1);
            word = word.wrapping_add(1);
        }
        debug_assert!(entry <= usize::from(WORDS));
        (self.read_words, self.reads) = (entry as u8, reads);
    }

    /// Notes that the basic block ends with this store to a watched word, whose cycle is reported later.
    pub(in crate::v6m) fn note_watched_store(&mut self, watched_store: WatchedStore) {
        self.watched_store = watched_store;
        self.summons |= Block::REPORTS_STORE;
    }

    /// Returns the store to a watched word with which the block ended, which is then not reported again.
    pub(in crate::v6m) fn take_watched_store(&mut self) -> WatchedStore {
        debug_assert!(self.summons & Block::REPORTS_STORE != 0);
        self.summons &= !Block::REPORTS_STORE;
        self.watched_store
    }

    /// Returns whether one of the two logs may contain a write to a byte that the other one accesses: a quick test that
    /// errs on the safe side.
    #[inline(always)]
    pub(in crate::v6m) fn may_conflict_with_other_log(&self, other: &SpeculationLog) -> bool {
        self.writes & (other.reads | other.writes) | self.reads & other.writes != 0
    }

    /// Returns whether one of the two logs contains a write to a byte that the other one accesses. Blocks have few
    /// accesses, so that comparing them one by one takes the host the least time.
    #[cold]
    #[inline(never)]
    pub(in crate::v6m) fn has_memory_conflict_with(&self, other: &SpeculationLog) -> bool {
        let shared = self.writes & (other.reads | other.writes);
        let read = self.reads & other.writes;
        shared != 0
            && self
                .log_entries_of_writes_to_words(shared)
                .any(|bytes| other.has_overlapping_read(bytes) || other.has_overlapping_write(bytes))
            || read != 0 && other.log_entries_of_writes_to_words(read).any(|bytes| self.has_overlapping_read(bytes))
    }

    /// Returns the log entries of writes to words with these bits.
    fn log_entries_of_writes_to_words(&self, bits: u64) -> impl Iterator<Item = u32> {
        self.log_entries_of_all_writes()
            .filter(move |&bytes| bits & bloom_filter_bit_of_word(word_offset_in_log_entry(bytes)) != 0)
    }

    /// Returns whether a byte of this log entry was read.
    fn has_overlapping_read(&self, bytes: u32) -> bool {
        self.read[..self.read_words.into()].iter().any(|&other| does_log_entry_overlap_other(bytes, other))
    }

    /// Returns whether a byte of this log entry was written.
    fn has_overlapping_write(&self, bytes: u32) -> bool {
        self.log_entries_of_all_writes().any(|other| does_log_entry_overlap_other(bytes, other))
    }

    /// Returns the log entries of all writes.
    fn log_entries_of_all_writes(&self) -> impl Iterator<Item = u32> {
        self.written[..self.written_words.into()].iter().map(|entry| *entry as u32)
    }

    /// Restores the core and the RAM to their state at the begin of the basic block.
    ///
    /// # Safety
    /// `ram` is the RAM that the basic block accessed.
    #[cold]
    #[inline(never)]
    pub(in crate::v6m) unsafe fn roll_back(&mut self, core: &mut Core, ram: *mut u8) {
        for entry in self.written[..self.written_words.into()].iter().rev() {
            let (bytes, old) = (*entry as u32, ((*entry >> 32) as u32).to_ne_bytes());
            // The other core may have written the rest of the word since.
            for lane in (0..4).filter(|lane| bytes >> (LANES + lane) & 1 != 0) {
                // SAFETY: a byte of the RAM, as the caller promises.
                unsafe { ram.add((word_offset_in_log_entry(bytes) + lane) as usize).write(old[lane as usize]) };
            }
        }
        // SAFETY: as in `begin`, whose bytes these are.
        unsafe { (&raw mut *core).cast::<Start>().write(self.start) };
        core.ip = self.ip;
        if std::mem::take(&mut self.summons) != 0 {
            core.request = Request::None;
        }
        self.clear_speculation_log();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(reads: &[u32], writes: &[u32]) -> SpeculationLog {
        let mut log = SpeculationLog::default();
        reads.iter().for_each(|&offset| log.log_read::<1>(offset));
        writes.iter().for_each(|&offset| log.log_write::<1>(offset, 0));
        log
    }

    fn meet(first: &SpeculationLog, second: &SpeculationLog) -> bool {
        let both = [
            first.may_conflict_with_other_log(second) && first.has_memory_conflict_with(second),
            second.may_conflict_with_other_log(first) && second.has_memory_conflict_with(first),
        ];
        assert_eq!(both[0], both[1]);
        both[0]
    }

    #[test]
    fn accesses_conflict_in_a_written_byte() {
        let writer = log(&[0x10, 0x20], &[0x2104]);
        assert!(!meet(&writer, &log(&[0x10, 0x20, 0x2100, 0x2105, 0x2108], &[0x2107])));
        assert!(meet(&writer, &log(&[0x2104], &[])));
        assert!(meet(&writer, &log(&[], &[0x2104])));
        assert!(meet(&writer, &log(&[], &[0x20])));
        let mut wide = SpeculationLog::default();
        wide.log_read::<2>(0x2104);
        assert!(meet(&writer, &wide) && !meet(&log(&[], &[0x2106]), &wide));
        wide.log_write::<4>(0x20, 0);
        assert!(meet(&log(&[0x23], &[]), &wide) && meet(&log(&[], &[0x2105]), &wide));
        // Words that fold onto the same bits.
        assert!(!meet(&writer, &log(&[0x2104 + (64 << 8)], &[0x20 + (64 << 8)])));
        assert_eq!(bloom_filter_bit_of_word(0x2104), bloom_filter_bit_of_word(0x2104 + (64 << 8)));
    }

    #[test]
    fn rollback_restores_core_and_memory() {
        let before = [0x1234_5678, 0x9abc_def0];
        let mut ram = before;
        let mut core = Core::new(0);
        core.r[3] = 77;
        let start = core.clone();
        let mut log = SpeculationLog::default();
        core.ip = std::ptr::without_provenance_mut(64);
        log.begin_speculation_log(&core);
        (core.r[3], core.nz, core.c, core.primask, core.ip) = (1, -1, true, true, std::ptr::null_mut());
        for (word, value) in [(1, 3), (0, 4), (1, 5)] {
            log.log_write::<4>(4 * word as u32, ram[word]);
            ram[word] = value;
        }
        log.log_write::<1>(6, ram[1]);
        ram[1] = 7 << 16;
        // SAFETY: all offsets are in it.
        unsafe { log.roll_back(&mut core, ram.as_mut_ptr().cast()) };
        assert_eq!(ram, before);
        log.begin_speculation_log(&core);
        log.log_write::<2>(2, ram[0]);
        ram[0] = 0xffff_1234;
        // SAFETY: as above.
        unsafe { log.roll_back(&mut core, ram.as_mut_ptr().cast()) };
        assert_eq!(ram[0], 0x1234_1234, "the other half is somebody else's");
        assert_eq!((core.r, core.nz, core.c, core.primask), (start.r, start.nz, start.c, start.primask));
        assert_eq!(core.ip as usize, 64);
    }
}
