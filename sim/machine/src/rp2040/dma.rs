//! DMA transfers: the peripheral crate decides which, the machine lends the memories and the bus slots.

use std::sync::Arc;

use rtoslab_cpu::v6m::core::Core;
use rtoslab_periph::Access;
use rtoslab_periph::rp2040::DmaBus;

use super::map::{FLASH_BASE, SRAM_BASE, SRAM_BYTES, sram_bank_of};
use super::system::{System, WriterAt};

/// The memories that a DMA transfer may access. The peripheral crate accesses registers itself.
struct Memories<'a> {
    sram: &'a mut [u8],
    /// The flash as it was when the transfer began.
    flash: Arc<[u8]>,
    rom: &'a [u8],
    /// SRAM offset and length of the write.
    written: Option<(u32, u32)>,
}

impl DmaBus for Memories<'_> {
    /// Reads 1, 2 or 4 bytes of SRAM, flash or ROM for the DMA controller, zero-extended. Other addresses read as 0.
    fn read_memory(&mut self, address: u32, bytes: u32) -> u32 {
        let mut value = 0;
        for index in 0..bytes {
            let at = address.wrapping_add(index);
            let byte = match at {
                SRAM_BASE.. if at - SRAM_BASE < SRAM_BYTES => self.sram[(at - SRAM_BASE) as usize],
                FLASH_BASE..=0x13ff_ffff => self.flash[at as usize & (self.flash.len() - 1)],
                _ => self.rom.get(at as usize).copied().unwrap_or(0),
            };
            value |= u32::from(byte) << (8 * index);
        }
        value
    }

    /// Writes the low 1, 2 or 4 bytes of `value` to SRAM for the DMA controller. Other addresses are ignored.
    fn write_memory(&mut self, address: u32, bytes: u32, value: u32) {
        let offset = address.wrapping_sub(SRAM_BASE);
        if offset < SRAM_BYTES && offset + bytes <= SRAM_BYTES {
            let at = offset as usize;
            self.sram[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
            self.written = Some((offset, bytes));
        }
    }
}

impl System {
    /// Makes the DMA transfer that is due at cycle `now`. It takes the transfer slot of the SRAM bank that it accesses,
    /// so that a core that needs the same bank in that cycle waits.
    pub(super) fn execute_due_dma_transfer(&mut self, cores: &mut [Core; 2], now: u64) {
        let flash = self.periph.ssi.flash.flash_content_for_sharing().clone();
        let mut memories = Memories { flash, sram: &mut self.sram, rom: &self.rom, written: None };
        let mut access = Access { now_cycles: now, core: 0, clocks: &self.clocks, effects: &mut self.effects };
        self.periph.execute_due_dma_transfer(&mut access, &mut memories);
        if let Some((offset, bytes)) = memories.written {
            *self.bus_transfer_slot_of_cycle(System::first_bus_slot_of_slave(sram_bank_of(offset)), now) = now;
            self.forget_overwritten_code(offset, bytes);
            self.report_watched_write(offset, WriterAt { core: 0, pc: 0, cycle: now });
        }
        self.warn_of_unsupported_dma_request(&mut cores[0], now);
        self.apply_event_effects(cores, now);
    }
}
