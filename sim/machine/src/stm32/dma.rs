//! DMA transfers: the peripheral crate decides which, the machine lends the memories and sees what was written.

use rtoslab_cpu::v7m::core::Core;
use rtoslab_periph::stm32::DmaBus;

use super::chip::{Kind, Map, Memory};
use super::family::Stm32ChipFamily;
use super::system::{Home, MARK_CODE, MARK_WATCH, System, memory_and_offset_of};

/// Accesses to memories of one transfer at most, in each direction.
const MOST_BEATS: usize = 16;

/// The places in memory to which a DMA has written in one event.
#[derive(Debug, Default)]
pub(super) struct WrittenRanges(Vec<(u32, u32)>);

impl WrittenRanges {
    /// Adds a written place: address and number of bytes. Consecutive places are joined.
    pub fn add_written_range(&mut self, address: u32, bytes: u32) {
        match self.0.last_mut() {
            Some((first, length)) if *first + *length == address && *length < MOST_BEATS as u32 => *length += bytes,
            _ => self.0.push((address, bytes)),
        }
    }

    /// Returns the written places, as addresses and numbers of bytes, in the order of time.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }
}

/// The memories that a DMA transfer may access. The peripheral crate accesses registers itself.
struct Memories<'a> {
    ram: &'a mut [u8],
    flash: &'a [u8],
    areas: &'a mut [Memory],
    map: &'static Map,
    /// The flash, or RAM, shows at address 0.
    ram_at_zero: bool,
    written: WrittenRanges,
}

impl Memories<'_> {
    /// Returns the memory at an address, and the offset in it, as the core sees it.
    fn memory_at(&self, address: u32) -> Option<(Home, usize)> {
        let place = memory_and_offset_of(self.map, self.areas, address, || self.ram_at_zero);
        place.map(|(home, offset)| (home, offset as usize))
    }
}

impl DmaBus for Memories<'_> {
    /// Reads 1, 2 or 4 bytes of memory for the DMA controller, zero-extended. `None` where there is no memory.
    fn read_memory(&mut self, address: u32, bytes: u32) -> Option<u32> {
        let (home, offset) = self.memory_at(address)?;
        let memory = match home {
            Home::Ram => &*self.ram,
            Home::Flash => self.flash,
            Home::Area(index) => &self.areas[index].bytes,
        };
        let place = memory.get(offset..offset + bytes as usize)?;
        Some(place.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }

    /// Writes the low 1, 2 or 4 bytes of a value to memory for the DMA controller. Returns false if the memory is
    /// read-only, `None` where there is no memory.
    fn write_memory(&mut self, address: u32, bytes: u32, value: u32) -> Option<bool> {
        let (home, offset) = self.memory_at(address)?;
        let memory = match home {
            Home::Ram => &mut *self.ram,
            Home::Area(index) if self.areas[index].area.kind != Kind::Rom => &mut self.areas[index].bytes,
            // A DMA neither programs flash nor unlocks it.
            Home::Flash | Home::Area(_) => return Some(false),
        };
        memory.get_mut(offset..offset + bytes as usize)?.copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        self.written.add_written_range(address, bytes);
        Some(true)
    }
}

impl<F: Stm32ChipFamily> System<F> {
    /// Makes the DMA transfers that are due at cycle `now`.
    pub(super) fn execute_due_dma_transfers(&mut self, core: &mut Core, now: u64) {
        let ram_at_zero = self.periph.memory_at_zero() == 3;
        let mut memories = Memories {
            ram: &mut self.ram,
            flash: &self.flash,
            areas: &mut self.memories,
            map: self.map,
            ram_at_zero,
            written: WrittenRanges::default(),
        };
        self.periph.execute_due_dma_transfers(now, &mut memories, &mut self.effects);
        let written = memories.written;
        for (address, bytes) in written.iter() {
            self.handle_dma_write(core, address, bytes, now);
        }
    }

    /// Handles a write of a DMA to memory: drops stale decoded code, and reports watched words, with a `pc` of 0.
    fn handle_dma_write(&mut self, core: &mut Core, address: u32, bytes: u32, now: u64) {
        let Some((home, offset)) = self.memory_at(address) else { return };
        if home == Home::Ram {
            let marks = self.marks_of_range(offset, bytes);
            if marks & MARK_CODE != 0 {
                self.drop_decoded_ops(home, offset, bytes);
            }
            if marks & MARK_WATCH == 0 {
                return;
            }
        } else {
            self.drop_decoded_ops(home, offset, bytes);
            if !self.watched_elsewhere {
                return;
            }
        }
        for word in (address & !3..address + bytes).step_by(4) {
            self.report_watched_store_at(core, word, 0, now);
        }
    }
}
