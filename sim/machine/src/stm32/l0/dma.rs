//! DMA transfers: the peripheral crate decides which, the machine lends the memories and sees what was written.

use rtoslab_cpu::v6m::core::Core;
use rtoslab_periph::stm32::DmaBus;

use super::chip::Kind;
use super::memory::{MARK_CODE, MARK_WATCH, Memories};
use super::system::System;
use crate::stm32::dma::WrittenRanges;

/// The memories that a DMA transfer may access.
struct DmaAccessibleMemories<'a> {
    memories: &'a mut Memories,
    written: WrittenRanges,
}

impl DmaBus for DmaAccessibleMemories<'_> {
    /// Reads 1, 2 or 4 bytes of memory for the DMA controller, zero-extended. `None` where there is no memory.
    fn read_memory(&mut self, address: u32, bytes: u32) -> Option<u32> {
        let (window, offset) = self.memories.address_window_of_access(address, bytes)?;
        let (memory, offset) = self.memories.memory_at(window, offset);
        Some(self.memories.all[memory].little_endian_value_at_offset(offset, bytes))
    }

    /// Writes the low 1, 2 or 4 bytes of a value to memory for the DMA controller. Returns false if the memory is
    /// read-only, `None` where there is no memory.
    fn write_memory(&mut self, address: u32, bytes: u32, value: u32) -> Option<bool> {
        let (window, offset) = self.memories.address_window_of_access(address, bytes)?;
        let (memory, offset) = self.memories.memory_at(window, offset);
        // A DMA neither programs flash nor unlocks it.
        if self.memories.all[memory].kind != Kind::Ram {
            return Some(false);
        }
        self.memories.all[memory].store_value_at_offset(offset, bytes, value);
        self.written.add_written_range(address, bytes);
        Some(true)
    }
}

impl System {
    /// Advances the peripherals to cycle `now`.
    pub(super) fn advance_peripherals_to(&mut self, core: &mut Core, now: u64) {
        self.devices.periph.process_events_until(now, &mut self.devices.effects);
        if self.devices.periph.has_dma_due(now) {
            self.execute_due_dma_transfers(core, now);
        }
        self.apply_event_effects(core, now);
    }

    /// Makes the DMA transfers that are due at cycle `now`.
    fn execute_due_dma_transfers(&mut self, core: &mut Core, now: u64) {
        let mut lent = DmaAccessibleMemories { memories: &mut self.memories, written: WrittenRanges::default() };
        self.devices.periph.execute_due_dma_transfers(now, &mut lent, &mut self.devices.effects);
        let written = lent.written;
        for (address, bytes) in written.iter() {
            self.handle_dma_write(core, address, bytes, now);
        }
    }

    /// Handles a write of a DMA to RAM: drops stale decoded code, and reports watched words, with a `pc` of 0.
    fn handle_dma_write(&mut self, core: &mut Core, address: u32, bytes: u32, now: u64) {
        let Some((window, offset)) = self.memories.address_window_of_access(address, bytes) else { return };
        let (memory, offset) = self.memories.memory_at(window, offset);
        let marks = self.memories.all[memory].marks_of_range(offset, bytes);
        if marks & MARK_CODE != 0 {
            self.memories.drop_decoded_ops(memory, offset, bytes);
        }
        if marks & MARK_WATCH == 0 {
            return;
        }
        for word in (offset & !3..offset + bytes).step_by(4) {
            let value = self.memories.all[memory].little_endian_value_at_offset(word, 4);
            if self.devices.note_watched_store(super::chip::RAM_BASE + word, value, now, 0) {
                self.end_core_turn(core);
            }
        }
    }

    /// Lets the serial ports send the bytes that they contain after the core has stopped, for a second at most. Returns
    /// the cycle of the last byte.
    pub(super) fn finish_uart_sending(&mut self, core: &mut Core, now: u64) -> u64 {
        let limit = now.saturating_add(self.devices.clocks.core_hz);
        let mut at = now;
        while self.devices.is_serial_port_sending() && self.devices.periph.next_advance_cycle() <= limit {
            at = at.max(self.devices.periph.next_advance_cycle());
            self.advance_peripherals_to(core, at);
        }
        at
    }
}
