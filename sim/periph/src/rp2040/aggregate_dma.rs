//! DMA transfers: the machine lends the memories, the peripherals are here.

use super::*;
use crate::{Access, NEVER};

/// The memories (ROM, XIP, SRAM) that a DMA controller accesses. Addresses are aligned to `bytes`.
pub trait DmaBus {
    /// Reads 1, 2 or 4 bytes of memory for the DMA controller, zero-extended.
    fn read_memory(&mut self, address: u32, bytes: u32) -> u32;
    /// Writes the low 1, 2 or 4 bytes of `value` to memory for the DMA controller.
    fn write_memory(&mut self, address: u32, bytes: u32, value: u32);
}

/// First TREQ numbers of SPI0, UART0 and I2C0. Each block has transmit, then receive (data sheet table "DREQ").
const TREQ_SPI0: u32 = 16;
const TREQ_UART0: u32 = 20;
const TREQ_I2C0: u32 = 32;
const TREQ_ADC: u32 = 36;

/// Returns the 1, 2 or 4 bytes at an address, from the word that contains them.
fn bytes_in_word(value: u32, address: u32, bytes: u32) -> u32 {
    match bytes {
        1 => value >> (8 * (address & 3)) & 0xff,
        2 => value >> (8 * (address & 2)) & 0xffff,
        _ => value,
    }
}

/// Returns narrow data replicated on all byte lanes, as the bus presents it to registers.
fn replicate_on_lanes(value: u32, bytes: u32) -> u32 {
    match bytes {
        1 => (value & 0xff) * 0x0101_0101,
        2 => (value & 0xffff) * 0x0001_0001,
        _ => value,
    }
}

impl Rp2040Peripherals {
    /// Returns the data requests of PIOs, serial ports, I2C and ADC, a bit for each TREQ number.
    fn dma_requests(&self) -> u64 {
        let mut requests = self.pios.iter().rev().fold(0, |bits, pio| bits << 8 | u64::from(pio.dma_requests()));
        requests |= u64::from(self.adc.is_dma_requested()) << TREQ_ADC;
        for n in 0..2 {
            let ports = [
                (TREQ_SPI0, self.spis[n].dma_requests()),
                (TREQ_UART0, self.uarts[n].dma_requests()),
                (TREQ_I2C0, self.i2cs[n].dma_requests()),
            ];
            for (first, (tx, rx)) in ports {
                let shift = first + 2 * n as u32;
                requests |= (u64::from(tx) | u64::from(rx) << 1) << shift;
            }
        }
        requests
    }

    /// Returns the clk_sys cycle at which [`Self::execute_due_dma_transfer`] has a transfer to make, or [`NEVER`]. It
    /// may change with [`Self::process_due_events`].
    #[inline]
    #[must_use]
    pub fn next_dma_cycle(&self) -> u64 {
        if self.dma.is_busy() { self.next_transfer_cycle() } else { NEVER }
    }

    /// Returns the clk_sys cycle of the next DMA transfer while channels are busy, or [`NEVER`].
    #[inline(never)]
    fn next_transfer_cycle(&self) -> u64 {
        if self.resets.blocks_in_reset() >> reset_bit::DMA & 1 != 0 {
            return NEVER;
        }
        self.dma.next_transfer_cycle(self.dma_requests())
    }

    /// Makes the DMA transfer that is due at `access.now_cycles` and returns it, so that the machine can charge its
    /// transfer slots. `None` if none is due.
    pub fn execute_due_dma_transfer(&mut self, access: &mut Access, bus: &mut dyn DmaBus) -> Option<DmaTransfer> {
        if self.next_dma_cycle() > access.now_cycles {
            return None;
        }
        let requests = self.dma_requests();
        let transfer = self.dma.next_transfer(access.now_cycles, requests)?;
        let (from, to, bytes) = (transfer.read_address, transfer.write_address, transfer.bytes);
        let mut value = if peripheral_block_at_address(from).is_some() {
            bytes_in_word(self.read_register(from & !3, access), from, bytes)
        } else {
            bus.read_memory(from, bytes)
        };
        if transfer.byte_swap {
            value = value.swap_bytes() >> (32 - 8 * bytes);
        }
        if peripheral_block_at_address(to).is_some() {
            self.write_register(to & !3, replicate_on_lanes(value, bytes), to >> 12 & 3, access);
        } else {
            bus.write_memory(to, bytes, value);
        }
        self.dma.advance_channel_after_transfer(&transfer, access.now_cycles);
        self.pass_awaited_dma_requests_to_pio(access);
        self.update_next_event_cycle();
        Some(transfer)
    }

    /// Tells the PIOs which of their requests a DMA channel waits for, because only these are events.
    pub(super) fn pass_awaited_dma_requests_to_pio(&mut self, access: &mut Access) {
        let paced = self.dma.dma_requests_of_waiting_channels();
        for (n, pio) in self.pios.iter_mut().enumerate() {
            pio.set_watched_dma_requests(paced >> (8 * n) & 0xff, access);
        }
    }
}
