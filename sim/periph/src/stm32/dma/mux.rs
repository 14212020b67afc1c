//! DMAMUX1 of the H7 (RM0433 chapter 18): selects a request for each stream of DMA1, then of DMA2.
//!
//! Synchronisation, events and request generators are registers only.

use crate::stm32::block::{Access, Block};

const CHANNELS: usize = 16;
const GENERATORS: usize = 8;
const FIRST_GENERATOR: u32 = 0x100;
const CCR_MASK: u32 = 0x1fff_037f;
const RGCR_MASK: u32 = 0x00ff_011f;

/// The DMA request multiplexer of the H7 (DMAMUX1).
#[derive(Debug, Clone, Default)]
pub struct DmaMux {
    channels: [u32; CHANNELS],
    generators: [u32; GENERATORS],
}

impl DmaMux {
    /// Returns the number of the DMA request that is routed to a stream of a controller (1 or 2).
    pub(in crate::stm32) fn dma_request_of_stream(&self, controller: u8, stream: usize) -> u32 {
        self.channels[usize::from(controller - 1) * 8 + stream] & 0x7f
    }

    /// Returns the index of the register at an offset, in a row of registers from `first` on.
    fn index_in_register_row(offset: u32, first: u32, count: usize) -> Option<usize> {
        let index = offset.checked_sub(first)? as usize / 4;
        (index < count).then_some(index)
    }
}

impl Block for DmaMux {
    /// Puts the registers of the DMA request multiplexer (DMAMUX1) to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the DMA request multiplexer (DMAMUX1) at a byte offset. `access` holds the time in core
    /// cycles and the number of bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.peek_register(offset, access)
    }

    /// Writes a register of the DMA request multiplexer (DMAMUX1) at a byte offset. `access` holds the time in core
    /// cycles and takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, _access: &mut Access) {
        if let Some(n) = Self::index_in_register_row(offset, 0, CHANNELS) {
            self.channels[n] = value & CCR_MASK;
        } else if let Some(n) = Self::index_in_register_row(offset, FIRST_GENERATOR, GENERATORS) {
            self.generators[n] = value & RGCR_MASK;
        }
    }

    /// Returns the value of a register of the DMA request multiplexer (DMAMUX1) at a byte offset, without the side
    /// effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        let channel = Self::index_in_register_row(offset, 0, CHANNELS).map(|n| self.channels[n]);
        let generator = || Self::index_in_register_row(offset, FIRST_GENERATOR, GENERATORS).map(|n| self.generators[n]);
        channel.or_else(generator).unwrap_or(0)
    }
}
