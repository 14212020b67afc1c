//! Channels of F1 and L0 (RM0008 chapter 13, RM0367 chapter 11): one transfer after the other, each a read and a write.

use super::{Burst, DmaRequestOutcome, OccupiedDmaPort, Port, STREAMS, Transfer, View, datum_byte_count};
use crate::NEVER;

const CHANNELS: usize = 7;
const EN: u32 = 1;
const DIR: u32 = 1 << 4;
const CIRC: u32 = 1 << 5;
const PINC: u32 = 1 << 6;
const MINC: u32 = 1 << 7;
const MEM2MEM: u32 = 1 << 14;
const CCR_MASK: u32 = 0x7fff;
/// Flags of a channel, four bits each. GIF is set with any of the others. TCIE, HTIE and TEIE are at their places in
/// CCR.
const GIF: u32 = 1;
const TCIF: u32 = 2;
const HTIF: u32 = 4;
const TEIF: u32 = 8;
const ISR: u32 = 0x00;
const IFCR: u32 = 0x04;
const CSELR: u32 = 0xa8;

/// One channel of a DMA controller of F1 or L0.
#[derive(Debug, Clone, Copy, Default)]
struct Channel {
    ccr: u32,
    /// Items left.
    cndtr: u32,
    /// CNDTR as it was written.
    reload: u32,
    cpar: u32,
    cmar: u32,
    /// Addresses of the next item.
    peripheral: u32,
    memory: u32,
}

impl Channel {
    /// Returns whether firmware has enabled the channel (CCR.EN).
    fn is_enabled(&self) -> bool {
        self.ccr & EN != 0
    }

    /// Returns the channel's priority level (CCR.PL): 0 is low, 3 is very high.
    fn priority(&self) -> u32 {
        self.ccr >> 12 & 3
    }

    /// Sets the channel to its first item again.
    fn rewind_channel_to_first_item(&mut self) {
        (self.peripheral, self.memory) = (self.cpar, self.cmar);
    }

    /// Returns the channel's next transfer: a read from one side and a write to the other. A datum that is wider than
    /// its target is cut off.
    fn next_transfer(&self, stream: usize) -> Transfer {
        let burst = |address: u32, bytes: u32| Burst { port: Port::Peripheral, address, bytes, beats: 1, step: 0 };
        let peripheral = burst(self.peripheral, datum_byte_count(self.ccr >> 8));
        let memory = burst(self.memory, datum_byte_count(self.ccr >> 10));
        let (from, to) = if self.ccr & DIR != 0 { (memory, peripheral) } else { (peripheral, memory) };
        Transfer { stream, read: Some(from), write: Some(to), data: [0; 16] }
    }
}

/// A DMA controller of F1 or L0, with seven channels.
#[derive(Debug, Clone)]
pub struct ChannelDmaController {
    channels: [Channel; CHANNELS],
    flags: u32,
    /// CSELR, where there is one (L0).
    selection: Option<u32>,
    granted: Option<OccupiedDmaPort>,
    /// The last transfer wrote to a memory: a read of a memory after it waits a cycle.
    wrote_memory: bool,
}

impl ChannelDmaController {
    /// Creates a controller in its reset state. `selects`: requests are selected in CSELR.
    pub(in crate::stm32) fn new(selects: bool) -> Self {
        Self {
            channels: [Channel::default(); CHANNELS],
            flags: 0,
            selection: selects.then_some(0),
            granted: None,
            wrote_memory: false,
        }
    }

    /// Puts the controller's registers to their reset values.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.selection.is_some());
    }

    /// Returns, for each channel, the number that its CSELR field selects (0 on the F1). `None` for a channel that
    /// awaits no peripheral.
    pub(super) fn request_selections(&self) -> [Option<u32>; STREAMS] {
        let selection = self.selection.unwrap_or(0);
        std::array::from_fn(|n| {
            let channel = self.channels.get(n)?;
            (channel.is_enabled() && channel.ccr & MEM2MEM == 0).then_some(selection >> (4 * n) & 15)
        })
    }

    /// Returns whether a transfer is under way or a channel is enabled.
    pub(super) fn is_dma_active(&self) -> bool {
        self.granted.is_some() || self.channels.iter().any(Channel::is_enabled)
    }

    /// Returns the channel that transfers next: the one with the highest priority, and of several the lowest number.
    fn next_dma_channel_to_transfer(&self, view: &View) -> Option<usize> {
        let is_ready = |&n: &usize| {
            let channel = &self.channels[n];
            channel.is_enabled() && channel.cndtr != 0 && (channel.ccr & MEM2MEM != 0 || view.is_requested(n))
        };
        (0..CHANNELS).filter(is_ready).max_by_key(|&n| (self.channels[n].priority(), CHANNELS - n))
    }

    /// Begins the transfer of the most urgent requested channel at cycle `now`, if no transfer is under way.
    pub(super) fn begin_transfers(&mut self, now: u64, view: &View) {
        if self.granted.is_some() {
            return;
        }
        let Some(n) = self.next_dma_channel_to_transfer(view) else { return };
        let transfer = self.channels[n].next_transfer(n);
        let (Some(read), Some(write)) = (transfer.read, transfer.write) else { return };
        let turns = self.wrote_memory && view.is_memory_address(read.address);
        self.wrote_memory = view.is_memory_address(write.address);
        let ahb = view.core_cycles_of_ahb_cycles(1 + u64::from(turns));
        let end = now + ahb + view.access_cycles(read.address) + view.access_cycles(write.address);
        self.granted = Some(OccupiedDmaPort { transfer, end });
    }

    /// Removes the transfer that has ended by cycle `now` and returns it.
    pub(super) fn take_ended_transfer(&mut self, now: u64) -> Option<Transfer> {
        self.granted.take_if(|grant| grant.end <= now).map(|grant| grant.transfer)
    }

    /// Sets a flag of channel `n` in ISR, and its global flag.
    fn set_dma_channel_flag(&mut self, n: usize, flag: u32) {
        self.flags |= (flag | GIF) << (4 * n);
    }

    /// Counts a transfer that was carried out. `data` is `None` after a bus error. Returns what the requesting
    /// peripheral is told, if there is one.
    pub(super) fn count_finished_transfer(
        &mut self,
        transfer: &Transfer,
        data: Option<[u8; 16]>,
    ) -> Option<DmaRequestOutcome> {
        let n = transfer.stream;
        if data.is_none() {
            self.channels[n].ccr &= !EN;
            self.set_dma_channel_flag(n, TEIF);
            return None;
        }
        let channel = &mut self.channels[n];
        // The transfer itself, to a register, may have switched its channel off.
        if !channel.is_enabled() {
            return None;
        }
        channel.cndtr = channel.cndtr.saturating_sub(1);
        if channel.ccr & PINC != 0 {
            channel.peripheral = channel.peripheral.wrapping_add(datum_byte_count(channel.ccr >> 8));
        }
        if channel.ccr & MINC != 0 {
            channel.memory = channel.memory.wrapping_add(datum_byte_count(channel.ccr >> 10));
        }
        let (left, reload, circular) = (channel.cndtr, channel.reload, channel.ccr & CIRC != 0);
        if left == 0 && circular {
            channel.cndtr = reload;
            channel.rewind_channel_to_first_item();
        }
        if reload > 1 && left == reload - reload / 2 {
            self.set_dma_channel_flag(n, HTIF);
        }
        if left == 0 {
            self.set_dma_channel_flag(n, TCIF);
        }
        let served = DmaRequestOutcome { left, is_last: left == 0 && !circular };
        (self.channels[n].ccr & MEM2MEM == 0).then_some(served)
    }

    /// Returns the channel and the number of its register at an offset.
    fn channel_and_register_at(offset: u32) -> Option<(usize, u32)> {
        let at = offset.checked_sub(0x08)?;
        let (n, register) = ((at / 20) as usize, at % 20 / 4);
        (n < CHANNELS).then_some((n, register))
    }

    /// Returns the value of the controller's register at a byte offset.
    pub(super) fn register_value(&self, offset: u32) -> u32 {
        match (offset, Self::channel_and_register_at(offset)) {
            (ISR, _) => self.flags,
            (CSELR, _) => self.selection.unwrap_or(0),
            (_, Some((n, register))) => {
                let channel = &self.channels[n];
                [channel.ccr, channel.cndtr, channel.cpar, channel.cmar, 0][register as usize]
            }
            _ => 0,
        }
    }

    /// Writes the controller's register at a byte offset.
    pub(super) fn write_dma_register(&mut self, offset: u32, value: u32) {
        match (offset, Self::channel_and_register_at(offset)) {
            (IFCR, _) => self.clear_flags(value),
            (CSELR, _) => self.selection = self.selection.map(|_| value & 0x0fff_ffff),
            (_, Some((n, 0))) => self.write_control(n, value & CCR_MASK),
            (_, Some((n, register))) if !self.channels[n].is_enabled() => {
                let channel = &mut self.channels[n];
                match register {
                    1 => (channel.cndtr, channel.reload) = (value & 0xffff, value & 0xffff),
                    2 => channel.cpar = value,
                    3 => channel.cmar = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Clears flags by a write to IFCR. CGIF clears all flags of its channel, and GIF is cleared with the last of the
    /// others.
    fn clear_flags(&mut self, value: u32) {
        for n in 0..CHANNELS {
            let bits = value >> (4 * n) & 15;
            let flags = self.flags >> (4 * n) & 15;
            let rest = if bits & GIF != 0 { 0 } else { flags & !bits };
            let rest = if rest & !GIF == 0 { 0 } else { rest };
            self.flags = self.flags & !(15 << (4 * n)) | rest << (4 * n);
        }
    }

    /// Writes CCR of channel `n`. Enabling a channel sets it to its first item. While it is enabled, only its enable
    /// bits can change.
    fn write_control(&mut self, n: usize, value: u32) {
        let channel = &mut self.channels[n];
        match (channel.is_enabled(), value & EN != 0) {
            (true, true) => channel.ccr = channel.ccr & !0xf | value & 0xf,
            (_, false) => {
                channel.ccr = value;
                self.granted.take_if(|grant| grant.transfer.stream == n);
            }
            (false, true) => {
                channel.ccr = value;
                channel.rewind_channel_to_first_item();
            }
        }
    }

    /// Returns whether the register at an offset clears each flag to whose bit 1 is written.
    pub(super) fn is_flag_clear_register(&self, offset: u32) -> bool {
        offset == IFCR
    }

    /// Returns the core cycle at which the transfer under way ends, or [`NEVER`].
    pub(super) fn next_transfer_end(&self) -> u64 {
        self.granted.map_or(NEVER, |grant| grant.end)
    }

    /// Returns the levels of the interrupt outputs, a bit for each channel.
    pub(super) fn interrupt_outputs(&self) -> u32 {
        let wants = |n: &usize| self.flags >> (4 * n) & self.channels[*n].ccr & (TCIF | HTIF | TEIF) != 0;
        (0..CHANNELS).filter(wants).fold(0, |lines, n| lines | 1 << n)
    }
}
