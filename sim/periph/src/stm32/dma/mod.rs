//! DMA controllers: channels on F1 and L0 ([`channels`]), streams on F4, F7 and H7 ([`streams`]).
//!
//! A controller knows its registers, its counts and its FIFOs. It grants its ports to streams and says when which
//! transfer ends. The chip carries the transfer out, because it knows the registers, and the machine lends the
//! memories.
//!
//! Bus cycles are those of ST's application notes on an idle bus: AN2548 for F1 and L0, AN4031 for F4 and F7, and
//! assumed for the H7. They are arbitration and address, one cycle of the bus matrix, and one of the memory. An APB
//! register takes two cycles of its bus and one AHB cycle to synchronise. The core and the DMA do not wait for each
//! other.

use super::block::{Access, Block};
use super::clocks::{Bus, Clocks};
use super::map::PageMap;
use super::slots::PeripheralBlockSlot;

pub(super) mod channels;
pub(super) mod lines;
pub(super) mod mux;
pub(super) mod streams;

use channels::ChannelDmaController;
use streams::StreamDma;

/// Streams of a controller at most. A channel of F1 and L0 counts as a stream.
pub(super) const STREAMS: usize = 8;

/// The memories that a DMA controller accesses. Addresses are aligned to `bytes`.
pub trait DmaBus {
    /// Reads 1, 2 or 4 bytes of memory for the DMA controller, zero-extended. `None` where there is no memory.
    fn read_memory(&mut self, address: u32, bytes: u32) -> Option<u32>;
    /// Writes the low 1, 2 or 4 bytes of a value to memory for the DMA controller. Returns false if the memory is
    /// read-only, `None` where there is no memory.
    fn write_memory(&mut self, address: u32, bytes: u32, value: u32) -> Option<bool>;
}

/// A port of a DMA controller. Controllers of F1 and L0 use the peripheral port for both accesses of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    Peripheral,
    Memory,
}

/// A burst of a DMA controller: consecutive accesses on one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Burst {
    pub port: Port,
    pub address: u32,
    /// Bytes of one access: 1, 2 or 4.
    pub bytes: u32,
    pub beats: u32,
    /// Bytes from one address to the next.
    pub step: u32,
}

/// A DMA transfer on one port: a read, a write, or both. It takes effect at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    pub stream: usize,
    pub read: Option<Burst>,
    pub write: Option<Burst>,
    /// The bytes to write, or zeros where they are read first: a datum is extended by zeros.
    pub data: [u8; 16],
}

/// The outcome of a DMA transfer for the peripheral that requested it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DmaRequestOutcome {
    /// Items that are left of this round.
    pub left: u32,
    /// No further item follows after this one.
    pub is_last: bool,
}

/// A DMA controller's view of the chip when it begins transfers: requests, clocks and memories.
pub(super) struct View<'a> {
    /// Streams that peripherals request, a bit each.
    pub requests: u32,
    pub clocks: &'a Clocks,
    pub flash_wait_states: u64,
    pub map: &'a PageMap,
    pub slots: &'a [PeripheralBlockSlot],
}

impl View<'_> {
    /// Returns whether a peripheral requests a transfer of this stream.
    fn is_requested(&self, stream: usize) -> bool {
        self.requests >> stream & 1 != 0
    }

    /// Returns the core cycles of this number of AHB cycles.
    fn core_cycles_of_ahb_cycles(&self, cycles: u64) -> u64 {
        cycles * self.clocks.core_cycles_per_bus_cycle(Bus::Ahb1)
    }

    /// Returns the core cycles of an access: bus matrix, data phase, synchronisation.
    fn access_cycles(&self, address: u32) -> u64 {
        let bus = self.map.peripheral_index_at_address(address).map(|slot| self.slots[slot].row.bus);
        match bus {
            Some(bus) if bus.is_on_apb() => {
                self.core_cycles_of_ahb_cycles(2) + 2 * self.clocks.core_cycles_per_bus_cycle(bus)
            }
            Some(_) => self.core_cycles_of_ahb_cycles(2),
            None if is_flash_address(address) => self.core_cycles_of_ahb_cycles(2 + self.flash_wait_states),
            None => self.core_cycles_of_ahb_cycles(2),
        }
    }

    /// Returns the core cycles of a burst.
    fn burst_cycles(&self, burst: &Burst) -> u64 {
        let one = self.access_cycles(burst.address);
        one + u64::from(burst.beats - 1) * (one - self.core_cycles_of_ahb_cycles(1))
    }

    /// Returns whether an address is in a memory.
    fn is_memory_address(&self, address: u32) -> bool {
        self.map.peripheral_index_at_address(address).is_none()
    }
}

/// Returns whether an address is in the main flash, directly or through its alias at 0.
fn is_flash_address(address: u32) -> bool {
    matches!(address >> 24, 0 | 8)
}

/// A transfer that occupies a port of a DMA controller until a cycle.
#[derive(Debug, Clone, Copy)]
struct OccupiedDmaPort {
    transfer: Transfer,
    end: u64,
}

/// A DMA controller: with channels on F1 and L0, with streams on the others.
#[derive(Debug, Clone)]
pub enum Dma {
    /// F1 and L0.
    Channels(Box<ChannelDmaController>),
    /// F4, F7 and H7.
    Streams(Box<StreamDma>),
}

/// Evaluates `$body` with `$dma` bound to the controller.
macro_rules! either {
    ($self:ident, $dma:ident => $body:expr) => {
        match $self {
            Dma::Channels($dma) => $body,
            Dma::Streams($dma) => $body,
        }
    };
}

impl Dma {
    /// Returns, for each stream or channel, the channel or request number that firmware selected. `None` if it awaits
    /// no peripheral.
    pub(super) fn request_selections(&self) -> [Option<u32>; STREAMS] {
        either!(self, dma => dma.request_selections())
    }

    /// Returns whether any stream is enabled or a transfer is under way.
    pub(super) fn is_dma_active(&self) -> bool {
        either!(self, dma => dma.is_dma_active())
    }

    /// Begins transfers on free ports at cycle `now`.
    pub(super) fn begin_transfers(&mut self, now: u64, view: &View) {
        either!(self, dma => dma.begin_transfers(now, view));
    }

    /// Removes a transfer that has ended by cycle `now` and returns it.
    pub(super) fn take_ended_transfer(&mut self, now: u64) -> Option<Transfer> {
        either!(self, dma => dma.take_ended_transfer(now))
    }

    /// Counts a transfer that was carried out: `data` has the bytes that were read, or is `None` after a bus error.
    /// Returns what the requesting peripheral is told, if there is one.
    pub(super) fn count_finished_transfer(
        &mut self,
        transfer: &Transfer,
        data: Option<[u8; 16]>,
    ) -> Option<DmaRequestOutcome> {
        either!(self, dma => dma.count_finished_transfer(transfer, data))
    }
}

impl Block for Dma {
    /// Puts the registers of the DMA controller to their reset values.
    fn reset_registers(&mut self) {
        either!(self, dma => dma.reset());
    }

    /// Reads a register of the DMA controller at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes.
    fn read_register(&mut self, offset: u32, _access: &mut Access) -> u32 {
        either!(self, dma => dma.register_value(offset))
    }

    /// Writes a register of the DMA controller at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, _access: &mut Access) {
        either!(self, dma => dma.write_dma_register(offset, value));
    }

    /// Returns the value of a register of the DMA controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        either!(self, dma => dma.register_value(offset))
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for the registers that clear flags only.
    fn is_strobe(&self, offset: u32) -> bool {
        either!(self, dma => dma.is_flag_clear_register(offset))
    }

    /// Returns the core cycle of the next end of a transfer, or `NEVER`.
    fn next_event_cycle(&self) -> u64 {
        either!(self, dma => dma.next_transfer_end())
    }

    /// Returns the levels of the controller's interrupt outputs, a bit for each channel or stream.
    fn interrupt_outputs(&self) -> u32 {
        either!(self, dma => dma.interrupt_outputs())
    }
}

/// Returns the bytes of a datum from a size field: 1, 2 or 4. The reserved code counts as a word.
const fn datum_byte_count(code: u32) -> u32 {
    1 << if code & 3 == 3 { 2 } else { code & 3 }
}
