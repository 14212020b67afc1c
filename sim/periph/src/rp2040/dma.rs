//! DMA (RP2040 data sheet 2.5): twelve channels, one transfer per cycle.
//!
//! A transfer reads and writes in the same cycle and never loses arbitration. Pacing: unpaced, requests of
//! PIO, UART and SPI, and the pacing timers. The sniffer keeps its registers and computes nothing.

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

const CHANNELS: usize = 12;
const IRQ_DMA_0: u32 = 11;
const CTRL_EN: u32 = 1;
const CTRL_HIGH_PRIORITY: u32 = 2;
const CTRL_INCR_READ: u32 = 1 << 4;
const CTRL_INCR_WRITE: u32 = 1 << 5;
const CTRL_RING_SEL: u32 = 1 << 10;
const CTRL_IRQ_QUIET: u32 = 1 << 21;
const CTRL_BSWAP: u32 = 1 << 22;
const CTRL_BUSY: u32 = 1 << 24;
const CTRL_MASK: u32 = 0x00ff_ffff;
const TREQ_TIMER0: u32 = 0x3b;
const TREQ_PERMANENT: u32 = 0x3f;

/// One transfer the machine must carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmaTransfer {
    /// Channel that makes it.
    pub channel: usize,
    /// Source address.
    pub read_address: u32,
    /// Destination address.
    pub write_address: u32,
    /// 1, 2 or 4 bytes.
    pub bytes: u32,
    /// Reverse the byte order of the datum.
    pub byte_swap: bool,
}

/// Registers and state of one channel.
#[derive(Debug, Clone, Copy, Default)]
struct Channel {
    read: u32,
    write: u32,
    /// Transfers left. The reload value while idle.
    left: u32,
    reload: u32,
    ctrl: u32,
}

/// A pacing timer: X requests per Y cycles.
#[derive(Debug, Clone, Copy, Default)]
struct DmaPacingTimer {
    register: u32,
    requests: FractionalRateCounter,
    taken: u64,
}

/// The DMA block.
#[derive(Debug, Clone, Default)]
pub struct Dma {
    channels: [Channel; CHANNELS],
    intr: u32,
    inte: [u32; 2],
    intf: [u32; 2],
    pacers: [DmaPacingTimer; 4],
    sniff: [u32; 2],
    /// Busy channels, a bit each: most programs have none, and the machine asks at every turn.
    busy: u32,
    /// Round-robin position.
    last: usize,
    /// First cycle at which the next transfer may happen.
    free_at: u64,
}

impl Dma {
    /// Starts a channel, if it is enabled and idle.
    fn trigger_channel(&mut self, channel: usize, now: u64) {
        if self.channels[channel].ctrl & CTRL_EN == 0 || self.channel_is_busy(channel) {
            return;
        }
        let c = &mut self.channels[channel];
        c.left = c.reload;
        self.busy |= 1 << channel;
        self.free_at = self.free_at.max(now + 1);
        if c.left == 0 {
            self.finish_transfers(channel, now);
        }
    }

    /// Returns whether a channel has transfers left.
    fn channel_is_busy(&self, channel: usize) -> bool {
        self.busy >> channel & 1 != 0
    }

    /// Ends a channel's transfers: raises its interrupt, and triggers the channel that is chained to it.
    fn finish_transfers(&mut self, channel: usize, now: u64) {
        self.busy &= !(1 << channel);
        let c = &self.channels[channel];
        if c.ctrl & CTRL_IRQ_QUIET == 0 {
            self.intr |= 1 << channel;
        }
        let next = (c.ctrl >> 11 & 15) as usize;
        if next != channel && next < CHANNELS {
            self.trigger_channel(next, now);
        }
    }

    /// Returns the first cycle, `free_at` or later, in which `channel` may transfer. `requests` has a bit for each TREQ
    /// number.
    fn next_transfer_cycle_of(&self, channel: usize, requests: u64) -> u64 {
        let c = &self.channels[channel];
        if !self.channel_is_busy(channel) || c.ctrl & CTRL_EN == 0 {
            return NEVER;
        }
        match c.ctrl >> 15 & 0x3f {
            TREQ_PERMANENT => self.free_at,
            treq @ TREQ_TIMER0..TREQ_PERMANENT => {
                let pacer = &self.pacers[(treq - TREQ_TIMER0) as usize];
                pacer.requests.first_cycle_at_counter_value(pacer.taken + 1).max(self.free_at)
            }
            treq if requests >> treq & 1 != 0 => self.free_at,
            _ => NEVER,
        }
    }

    /// Returns whether any channel is busy.
    #[inline]
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy != 0
    }

    /// Returns the clk_sys cycle of the next transfer, or [`NEVER`].
    #[must_use]
    pub fn next_transfer_cycle(&self, requests: u64) -> u64 {
        (0..CHANNELS).map(|channel| self.next_transfer_cycle_of(channel, requests)).min().unwrap_or(NEVER)
    }

    /// Returns the requests below 32 that busy channels wait for, a bit for each TREQ number.
    #[must_use]
    pub fn dma_requests_of_waiting_channels(&self) -> u32 {
        let busy = (0..CHANNELS).filter(|&channel| self.channel_is_busy(channel)).map(|channel| self.channels[channel]);
        let waiting = busy.filter(|c| c.ctrl & CTRL_EN != 0).map(|c| c.ctrl >> 15 & 0x3f);
        waiting.filter(|&treq| treq < 32).fold(0, |bits, treq| bits | 1 << treq)
    }

    /// Returns the transfer to make at cycle `now`, if one is due: high priority first, then round-robin.
    pub fn next_transfer(&mut self, now: u64, requests: u64) -> Option<DmaTransfer> {
        let order = (1..=CHANNELS).map(|n| (self.last + n) % CHANNELS);
        let ready: Vec<usize> =
            order.filter(|&channel| self.next_transfer_cycle_of(channel, requests) <= now).collect();
        let high = |&&channel: &&usize| self.channels[channel].ctrl & CTRL_HIGH_PRIORITY != 0;
        let channel = *ready.iter().find(high).or(ready.first())?;
        let c = &self.channels[channel];
        Some(DmaTransfer {
            channel,
            read_address: c.read,
            write_address: c.write,
            bytes: 1 << (c.ctrl >> 2 & 3).min(2),
            byte_swap: c.ctrl & CTRL_BSWAP != 0,
        })
    }

    /// Steps the channel after its transfer was made at `now`.
    pub fn advance_channel_after_transfer(&mut self, transfer: &DmaTransfer, now: u64) {
        self.last = transfer.channel;
        self.free_at = now + 1;
        let c = &mut self.channels[transfer.channel];
        let ring_bits = c.ctrl >> 6 & 15;
        let step = |address: u32, ring: bool| {
            let next = address.wrapping_add(transfer.bytes);
            let mask = if ring && ring_bits != 0 { (1 << ring_bits) - 1 } else { u32::MAX };
            (address & !mask) | (next & mask)
        };
        let ring_write = c.ctrl & CTRL_RING_SEL != 0;
        if c.ctrl & CTRL_INCR_READ != 0 {
            c.read = step(c.read, !ring_write);
        }
        if c.ctrl & CTRL_INCR_WRITE != 0 {
            c.write = step(c.write, ring_write);
        }
        c.left -= 1;
        let (treq, left) = (c.ctrl >> 15 & 0x3f, c.left);
        if (TREQ_TIMER0..TREQ_PERMANENT).contains(&treq) {
            self.pacers[(treq - TREQ_TIMER0) as usize].taken += 1;
        }
        if left == 0 {
            self.finish_transfers(transfer.channel, now);
        }
    }

    /// Register of a channel (0 READ, 1 WRITE, 2 COUNT, 3 CTRL) at each of the sixteen alias positions.
    const ALIAS: [u8; 16] = [0, 1, 2, 3, 3, 0, 1, 2, 3, 2, 0, 1, 3, 1, 2, 0];

    /// Writes a channel's register, and triggers the channel if its alias does.
    fn write_dma_channel_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let (channel, position) = (offset as usize / 0x40, (offset as usize & 0x3f) / 4);
        let is_busy = self.channel_is_busy(channel);
        let c = &mut self.channels[channel];
        match Self::ALIAS[position] {
            0 => c.read = value,
            1 => c.write = value,
            2 => {
                c.reload = value;
                if !is_busy {
                    c.left = value;
                }
            }
            _ => c.ctrl = value & CTRL_MASK,
        }
        // The last register of each alias triggers. Writing 0 to it is a null trigger.
        if position % 4 == 3 {
            if value != 0 {
                self.trigger_channel(channel, access.now_cycles);
            } else if self.channels[channel].ctrl & CTRL_IRQ_QUIET != 0 {
                self.intr |= 1 << channel;
            }
        }
    }

    /// Writes a pacing timer: X transfers in Y cycles.
    fn write_pacing_timer(&mut self, index: usize, value: u32, access: &Access) {
        let (x, y) = (u64::from(value >> 16), u64::from(value & 0xffff));
        let requests = FractionalRateCounter::new_running_counter(access.now_cycles, 0, x, y, 1);
        self.pacers[index] = DmaPacingTimer { register: value, requests, taken: 0 };
    }

    /// Returns the channels' interrupts of an interrupt output, after enable and force (INTS).
    fn interrupt_status_register(&self, output: usize) -> u32 {
        (self.intr & self.inte[output]) | self.intf[output]
    }
}

impl Peripheral for Dma {
    const NAME: &'static str = "DMA";

    /// Puts the registers of the DMA controller to their reset values.
    fn reset_registers(&mut self) {
        *self = Self::default();
    }

    /// Reads a register of the DMA controller at a byte offset. `access` holds the time in cycles and the requesting
    /// core.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if (0x300..0x400).contains(&offset) || offset > 0xae4 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the DMA controller at a byte offset. `access` holds the time in cycles and takes requests
    /// to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x000..=0x2fc => self.write_dma_channel_register(offset, value, access),
            0x400 | 0x40c | 0x41c => self.intr &= !value,
            0x404 | 0x414 => self.inte[(offset as usize - 0x404) / 16] = value & 0xffff,
            0x408 | 0x418 => self.intf[(offset as usize - 0x408) / 16] = value & 0xffff,
            0x420..=0x42c => self.write_pacing_timer((offset as usize - 0x420) / 4, value, access),
            0x430 => {
                for channel in (0..CHANNELS).filter(|&channel| value >> channel & 1 != 0) {
                    self.trigger_channel(channel, access.now_cycles);
                }
            }
            0x434 | 0x438 => self.sniff[(offset as usize - 0x434) / 4] = value,
            0x444 => self.busy &= !value,
            0x440 | 0x448 | 0x800..=0xae4 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the DMA controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x000..=0x2fc => {
                let channel = offset as usize / 0x40;
                let c = &self.channels[channel];
                match Self::ALIAS[(offset as usize & 0x3f) / 4] {
                    0 => c.read,
                    1 => c.write,
                    2 => c.left,
                    _ => c.ctrl | if self.channel_is_busy(channel) { CTRL_BUSY } else { 0 },
                }
            }
            0x400 => self.intr,
            0x404 | 0x414 => self.inte[(offset as usize - 0x404) / 16],
            0x408 | 0x418 => self.intf[(offset as usize - 0x408) / 16],
            0x40c | 0x41c => self.interrupt_status_register((offset as usize - 0x40c) / 16),
            0x420..=0x42c => self.pacers[(offset as usize - 0x420) / 4].register,
            0x434 | 0x438 => self.sniff[(offset as usize - 0x434) / 4],
            0x448 => CHANNELS as u32,
            0x800..=0xae4 if offset & 0x3f == 4 => self.channels[(offset as usize - 0x800) / 0x40].reload,
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for INTR, INTS0, INTS1, MULTI_CHAN_TRIGGER and CHAN_ABORT only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x400 | 0x40c | 0x41c | 0x430 | 0x444)
    }

    /// Returns the levels of the NVIC lines of the DMA controller, each at its number's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.interrupt_status_register(0) != 0) << IRQ_DMA_0
            | u32::from(self.interrupt_status_register(1) != 0) << (IRQ_DMA_0 + 1)
    }
}

#[cfg(test)]
mod tests;
