//! Memories with their content, and the windows they are seen through with the code decoded from them.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v6m::op::{Code, Op};

use super::chip::{AddressWindowSpec, Kind, MemorySpec};
use crate::board::ProfileRow;
use crate::lazy::LazyZeroedArray;
use crate::profile::InstructionProfileCells;

/// Code was decoded from this part of a memory.
pub const MARK_CODE: u8 = 1;
/// A word of this part is watched.
pub const MARK_WATCH: u8 = 2;
/// log2 of the bytes that share a mark.
pub const MARK_SHIFT: u32 = 8;

/// A memory of an STM32L0: its bytes, with marks where code was decoded or words are watched.
pub struct Memory {
    /// The kind.
    pub kind: Kind,
    /// Its content.
    pub bytes: Vec<u8>,
    /// [`MARK_CODE`] and [`MARK_WATCH`] of each 256 bytes.
    pub marks: Vec<u8>,
    /// A bit for each word of these 256 bytes that is watched, or was.
    watched: Vec<u64>,
}

impl Memory {
    /// Creates a memory of zeros: erased, in this family (RM0367 3.3.4).
    pub fn new(spec: &MemorySpec) -> Memory {
        let marks = (spec.bytes >> MARK_SHIFT) as usize + 1;
        Memory { kind: spec.kind, bytes: vec![0; spec.bytes as usize], marks: vec![0; marks], watched: vec![0; marks] }
    }

    /// Returns the marks (code, watched words) of a part of the memory, or-ed.
    pub fn marks_of_range(&self, offset: u32, bytes: u32) -> u8 {
        self.marks[(offset >> MARK_SHIFT) as usize] | self.marks[((offset + bytes - 1) >> MARK_SHIFT) as usize]
    }

    /// Returns whether the word at this offset is watched. May also be true for a word that is no longer watched.
    pub fn is_word_watched(&self, offset: u32) -> bool {
        self.watched[(offset >> MARK_SHIFT) as usize] >> (offset >> 2 & 63) & 1 != 0
    }

    /// Returns the little-endian value of up to four bytes.
    #[inline(always)]
    pub fn little_endian_value_at_offset(&self, offset: u32, bytes: u32) -> u32 {
        let at = offset as usize;
        match bytes {
            1 => u32::from(self.bytes[at]),
            2 => u32::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])),
            _ => self.word_at(at),
        }
    }

    /// Returns the word at an offset.
    fn word_at(&self, at: usize) -> u32 {
        self.bytes[at..at + 4].try_into().map_or(0, u32::from_le_bytes)
    }

    /// Stores up to four bytes. Returns the mark of that part of the memory: whether code or watched words are near.
    #[inline(always)]
    pub fn store_value_at_offset(&mut self, offset: u32, bytes: u32, value: u32) -> u8 {
        let at = offset as usize;
        self.bytes[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        self.marks[at >> MARK_SHIFT]
    }

    /// Returns the halfword at an offset. 0 after the end.
    pub fn halfword_at(&self, offset: u32) -> u16 {
        let at = offset as usize;
        self.bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
    }
}

/// Ops that are after the end of a table.
const GUARD_OPS: usize = 8;

/// A range of addresses at which a memory is visible, with its decoded code and profile.
pub struct MemoryWindow {
    /// Its address and its content.
    pub spec: AddressWindowSpec,
    ops: Option<LazyZeroedArray<Op>>,
    profile: InstructionProfileCells,
}

impl MemoryWindow {
    /// Creates a window of addresses without decoded code.
    pub fn new(spec: AddressWindowSpec) -> MemoryWindow {
        let halves = spec.bytes as usize / 2;
        let ops = spec.code.then(|| {
            // SAFETY: an op of zeros is one that is not decoded yet.
            let table: LazyZeroedArray<Op> = unsafe { LazyZeroedArray::new(halves + GUARD_OPS) };
            for guard in halves..halves + GUARD_OPS {
                // SAFETY: inside the table.
                unsafe { table.first_element_pointer().add(guard).write(Op::without_operands(Code::OutOfRegion)) };
            }
            table
        });
        MemoryWindow { spec, ops, profile: InstructionProfileCells::default() }
    }

    /// Returns the offset of an address in the window. `None` if it is outside.
    #[inline(always)]
    pub fn offset_of_address(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(self.spec.base);
        (offset < self.spec.bytes).then_some(offset)
    }

    /// Returns a pointer to the window's first op. Null if code cannot execute here.
    pub fn first_op_pointer(&self) -> *mut Op {
        self.ops.as_ref().map_or(std::ptr::null_mut(), LazyZeroedArray::first_element_pointer)
    }

    /// Returns a pointer to the window's first profile cell. Null while the profile is off.
    pub fn memory_window_profile_pointer(&self) -> *mut ProfileCell {
        self.profile.first_instruction_profile_pointer()
    }

    /// Returns the op at an offset. `None` if the window holds no code. Panics after the window's end.
    pub fn op_at_offset(&mut self, offset: u32) -> Option<&mut Op> {
        assert!(offset < self.spec.bytes, "no code at {offset:#x}");
        // SAFETY: the table has an op for each halfword of the window.
        self.ops.as_ref().map(|table| unsafe { &mut *table.first_element_pointer().add(offset as usize / 2) })
    }

    /// Drops the ops that were decoded from `first..end` of the memory, and that of a 32-bit opcode that reaches into
    /// it. Returns false if there were none.
    fn drop_decoded_ops(&mut self, first: u32, end: u32) -> bool {
        let mut decoded = false;
        let (first, end) = ((first & !1).saturating_sub(2), end.min(self.spec.bytes));
        for offset in (first..end).step_by(2) {
            if let Some(op) = self.op_at_offset(offset) {
                decoded |= std::mem::take(op) != Op::default();
            }
        }
        decoded
    }

    /// Switches the profile on (from zero) or off.
    pub fn set_profile(&mut self, on: bool) {
        let halves = self.spec.bytes as usize / 2;
        self.profile = if on && self.spec.code {
            InstructionProfileCells::new(halves + GUARD_OPS)
        } else {
            InstructionProfileCells::default()
        };
    }

    /// Removes the profile of the window and returns it: a row for each executed instruction.
    pub fn take_profile(&mut self) -> Vec<ProfileRow> {
        self.profile.take_profile_cells(self.spec.base, 0..self.spec.bytes as usize / 2)
    }
}

/// All memories of a chip, and the windows (address ranges) at which they are visible.
pub struct Memories {
    /// The first is the flash, the second the RAM at 0x20000000.
    pub all: [Memory; 3],
    /// Windows in the order of the chip's description.
    pub windows: Vec<MemoryWindow>,
    /// The memory shown at address 0, as SYSCFG numbers them.
    pub at_zero: u32,
    pub(super) edition: u64,
    /// Somebody looked for probes anew.
    pub(super) refreshed: bool,
}

impl Memories {
    /// Creates the memories of a chip, erased.
    pub fn new(memories: &[MemorySpec; 3], windows: &[AddressWindowSpec]) -> Memories {
        Memories {
            all: memories.each_ref().map(Memory::new),
            windows: windows.iter().map(|spec| MemoryWindow::new(*spec)).collect(),
            at_zero: 0,
            edition: 0,
            refreshed: false,
        }
    }

    /// Returns the number of the window that contains `bytes` bytes at an address, and the offset in it. `None` if
    /// there is none.
    #[inline]
    pub fn address_window_of_access(&self, address: u32, bytes: u32) -> Option<(usize, u32)> {
        self.windows.iter().enumerate().find_map(|(index, window)| {
            let offset = window.offset_of_address(address)?;
            let shown = window.spec.remap.is_none_or(|remap| remap == self.at_zero);
            (shown && bytes <= window.spec.bytes - offset).then_some((index, offset))
        })
    }

    /// Returns the number of the memory that a window shows at an offset, and the offset in the memory.
    #[inline(always)]
    pub fn memory_at(&self, window: usize, offset: u32) -> (usize, u32) {
        (self.windows[window].spec.memory, offset)
    }

    /// Returns bytes of memory, without side effects. `None` if they are not in one memory.
    pub fn read_bytes(&self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        let (window, offset) = self.address_window_of_access(address, u32::try_from(bytes).ok()?)?;
        let (memory, offset) = self.memory_at(window, offset);
        self.all[memory].bytes.get(offset as usize..offset as usize + bytes).map(<[u8]>::to_vec)
    }

    /// Copies bytes into a memory. Returns false if they do not fit into one memory.
    pub fn write_bytes(&mut self, address: u32, data: &[u8]) -> bool {
        let Some((window, offset)) =
            u32::try_from(data.len()).ok().and_then(|bytes| self.address_window_of_access(address, bytes))
        else {
            return false;
        };
        let (memory, offset) = self.memory_at(window, offset);
        self.all[memory].bytes[offset as usize..offset as usize + data.len()].copy_from_slice(data);
        self.drop_decoded_ops(memory, offset, data.len() as u32);
        true
    }

    /// Drops the ops that were decoded from part of a memory.
    pub fn drop_decoded_ops(&mut self, memory: usize, offset: u32, bytes: u32) {
        for window in &mut self.windows {
            if window.spec.memory == memory && window.drop_decoded_ops(offset, offset + bytes) {
                self.edition += 1;
            }
        }
    }

    /// Returns a number that changes when decoded code changes.
    pub fn decoded_code_version(&self) -> u64 {
        self.edition
    }

    /// Marks the memory of a decoded instruction, so that a store to it drops the op.
    pub fn mark_instruction_memory_as_decoded(&mut self, window: usize, offset: u32) {
        let (memory, offset) = self.memory_at(window, offset);
        let marks = &mut self.all[memory].marks;
        marks[(offset >> MARK_SHIFT) as usize] |= MARK_CODE;
        marks[((offset + 3) >> MARK_SHIFT) as usize] |= MARK_CODE;
    }

    /// Returns the two halfwords of the instruction at a window's offset.
    pub fn instruction_halfwords(&self, window: usize, offset: u32) -> (u16, u16) {
        let (memory, offset) = self.memory_at(window, offset);
        (self.all[memory].halfword_at(offset), self.all[memory].halfword_at(offset + 2))
    }

    /// Switches all profiles on (from zero) or off.
    pub fn set_profile(&mut self, on: bool) {
        self.windows.iter_mut().for_each(|window| window.set_profile(on));
    }

    /// Adds to the profile cell of an address that was executed. Does nothing while the profile is off.
    pub fn add_to_profile(&mut self, address: u32, more: ProfileCell) {
        if let Some((window, offset)) = self.address_window_of_access(address, 2) {
            self.windows[window].profile.add_to_halfword_profile_cell(offset as usize / 2, more);
        }
    }

    /// Removes the profile of all windows and returns it: a row for each executed instruction.
    pub fn take_profile(&mut self) -> Vec<ProfileRow> {
        self.windows.iter_mut().flat_map(MemoryWindow::take_profile).collect()
    }

    /// Marks the page of a watched RAM word. Returns false if the address is not in RAM.
    pub fn mark_watched_address(&mut self, address: u32) -> bool {
        let Some((window, offset)) = self.address_window_of_access(address & !3, 4) else { return false };
        let (memory, offset) = self.memory_at(window, offset);
        let memory = &mut self.all[memory];
        memory.marks[(offset >> MARK_SHIFT) as usize] |= MARK_WATCH;
        memory.watched[(offset >> MARK_SHIFT) as usize] |= 1 << (offset >> 2 & 63);
        memory.kind == Kind::Ram
    }

    /// Writes RAM. Returns false outside of RAM.
    pub fn write_ram(&mut self, address: u32, data: &[u8]) -> bool {
        let in_ram = |&(window, _): &(usize, u32)| self.all[self.windows[window].spec.memory].kind == Kind::Ram;
        self.address_window_of_access(address, 1).filter(in_ram).is_some() && self.write_bytes(address, data)
    }

    /// Returns the kind of the memory at an address, and the offset in it.
    pub fn memory_kind_at(&self, address: u32) -> Option<(Kind, u32)> {
        let (memory, offset) =
            self.address_window_of_access(address, 1).map(|(window, offset)| self.memory_at(window, offset))?;
        Some((self.all[memory].kind, offset))
    }

    /// Writes the flash as a debugger does. Returns false outside of flash.
    pub fn program_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let in_flash = |&(window, _): &(usize, u32)| self.all[self.windows[window].spec.memory].kind == Kind::Flash;
        self.address_window_of_access(address, 1).filter(in_flash).is_some() && self.write_bytes(address, data)
    }

    /// Returns whether code can execute at the address.
    pub fn is_executable(&self, address: u32) -> bool {
        self.address_window_of_access(address & !1, 2).is_some_and(|(window, _)| self.windows[window].spec.code)
    }

    /// Updates the op of an address, after probes on its instruction changed.
    pub fn redecode_at(&mut self, address: u32) {
        self.refreshed = true;
        for window in &mut self.windows {
            if let Some(op) = window.offset_of_address(address).and_then(|offset| window.op_at_offset(offset)) {
                *op = Op::default();
            }
        }
    }
}
