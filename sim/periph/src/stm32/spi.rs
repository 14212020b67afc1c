//! SPI as a master (RM0008, RM0090, RM0367 and RM0410 "SPI"): one frame buffered each way, on the F7 FIFOs of four
//! bytes.
//!
//! A frame takes its bits in periods of the bus clock divided by 2 to 256. The next one follows without a gap.

use std::collections::VecDeque;

use super::block::{Access, Block};
use crate::NEVER;
use crate::device::SpiBus;

/// The register layout of a family's SPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpiLayout {
    /// F1, F4 and L0: 8 or 16 bits, one frame in the buffer.
    Buffer,
    /// F7: 4 to 16 bits, FIFOs of four bytes.
    Fifo,
}

const CR1_MSTR: u32 = 1 << 2;
const CR1_SPE: u32 = 1 << 6;
const CR1_SSI: u32 = 1 << 8;
const CR1_SSM: u32 = 1 << 9;
const CR1_DFF: u32 = 1 << 11;
const CR1_BIDIOE: u32 = 1 << 14;
const CR1_BIDIMODE: u32 = 1 << 15;
const CR2_RXDMAEN: u32 = 1;
const CR2_TXDMAEN: u32 = 1 << 1;
const CR2_ERRIE: u32 = 1 << 5;
const CR2_RXNEIE: u32 = 1 << 6;
const CR2_TXEIE: u32 = 1 << 7;
const CR2_FRXTH: u32 = 1 << 12;
const CR2_FIFO_RESET: u32 = 7 << 8;
const SR_RXNE: u32 = 1;
const SR_TXE: u32 = 1 << 1;
const SR_MODF: u32 = 1 << 5;
const SR_OVR: u32 = 1 << 6;
const SR_BSY: u32 = 1 << 7;
const CRCPR_RESET: u32 = 7;
const I2SPR_RESET: u32 = 2;
/// Bytes of a FIFO.
const FIFO_BYTES: usize = 4;

/// One SPI controller of the chip.
#[derive(Debug, Clone)]
pub struct Spi {
    layout: SpiLayout,
    cr1: u32,
    cr2: u32,
    crcpr: u32,
    i2scfgr: u32,
    i2spr: u32,
    tx: VecDeque<u32>,
    rx: VecDeque<u32>,
    /// The frame that comes back with the present one.
    answer: u32,
    /// Cycle at which the present frame ends.
    end: u64,
    overrun: bool,
    /// DR was read after an overrun: reading SR clears it.
    overrun_read: bool,
    mode_fault: bool,
    /// The devices at the other end.
    pub bus: SpiBus,
}

impl Spi {
    /// Creates an SPI controller in its reset state.
    #[must_use]
    pub fn new(layout: SpiLayout) -> Self {
        Self {
            layout,
            cr1: 0,
            cr2: if layout == SpiLayout::Fifo { CR2_FIFO_RESET } else { 0 },
            crcpr: CRCPR_RESET,
            i2scfgr: 0,
            i2spr: I2SPR_RESET,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            answer: 0,
            end: NEVER,
            overrun: false,
            overrun_read: false,
            mode_fault: false,
            bus: SpiBus::default(),
        }
    }

    /// Returns whether the SPI is enabled as a slave. That is not modelled.
    pub(super) fn is_slave(&self) -> bool {
        self.cr1 & (CR1_SPE | CR1_MSTR) == CR1_SPE
    }

    /// Returns the requests to the DMA: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        let status = self.status_register();
        (self.cr2 & CR2_TXDMAEN != 0 && status & SR_TXE != 0, self.cr2 & CR2_RXDMAEN != 0 && status & SR_RXNE != 0)
    }

    /// Returns the number of bits of a frame. Sizes that are not used count as 8.
    fn frame_bit_count(&self) -> u32 {
        match self.layout {
            SpiLayout::Buffer if self.cr1 & CR1_DFF != 0 => 16,
            SpiLayout::Buffer => 8,
            SpiLayout::Fifo => match self.cr2 >> 8 & 15 {
                0..=2 => 8,
                size => size + 1,
            },
        }
    }

    /// Returns the bytes of a frame in a FIFO.
    fn bytes_per_frame(&self) -> usize {
        if self.frame_bit_count() > 8 { 2 } else { 1 }
    }

    /// Returns the number of frames for which a FIFO has room.
    fn fifo_frame_capacity(&self) -> usize {
        match self.layout {
            SpiLayout::Buffer => 1,
            SpiLayout::Fifo => FIFO_BYTES / self.bytes_per_frame(),
        }
    }

    /// Returns the core cycles of a frame.
    fn cycles_per_frame(&self, access: &Access) -> u64 {
        let prescaler = 2_u64 << (self.cr1 >> 3 & 7);
        match access.clock_hz {
            0 => NEVER,
            hz => (u64::from(self.frame_bit_count()) * prescaler * access.core_hz).div_ceil(hz),
        }
    }

    /// Begins a frame at cycle `at`, if there is one to send.
    fn begin_frame(&mut self, at: u64, access: &Access) {
        let sends = self.cr1 & (CR1_SPE | CR1_MSTR) == CR1_SPE | CR1_MSTR;
        if !sends || self.end != NEVER {
            return;
        }
        let Some(frame) = self.tx.pop_front() else { return };
        self.answer = self.bus.exchange_frame(frame, self.frame_bit_count(), access.elapsed.ns_at(at));
        self.end = at.saturating_add(self.cycles_per_frame(access));
    }

    /// Writes DR: appends frames to the transmit FIFO. A halfword has two frames of a byte.
    fn write_data_register(&mut self, value: u32, bytes: u32) {
        let packed = self.layout == SpiLayout::Fifo && bytes > 1 && self.bytes_per_frame() == 1;
        let mask = u32::MAX >> (32 - self.frame_bit_count());
        let frames = [value & mask, value >> 8 & mask];
        for &frame in &frames[..if packed { 2 } else { 1 }] {
            if self.tx.len() < self.fifo_frame_capacity() {
                self.tx.push_back(frame);
            } else if let Some(last) = self.tx.back_mut() {
                *last = frame;
            }
        }
    }

    /// Reads DR: removes received frames and returns them.
    fn read_data_register(&mut self, bytes: u32) -> u32 {
        self.overrun_read = self.overrun;
        let packed = self.layout == SpiLayout::Fifo && bytes > 1 && self.bytes_per_frame() == 1;
        let first = self.rx.pop_front().unwrap_or(0);
        let second = if packed { self.rx.pop_front().unwrap_or(0) } else { 0 };
        first | second << 8
    }

    /// Returns the value of SR, the status register.
    fn status_register(&self) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let bytes = |fifo: &VecDeque<u32>| fifo.len() * self.bytes_per_frame();
        let (received, ready, levels) = match self.layout {
            SpiLayout::Buffer => (!self.rx.is_empty(), self.tx.is_empty(), 0),
            SpiLayout::Fifo => {
                let threshold = if self.cr2 & CR2_FRXTH != 0 { 1 } else { 2 };
                // A FIFO of four bytes has its level in two bits: empty, a quarter, a half, more.
                let level = |fifo| bytes(fifo).min(3) as u32;
                (
                    bytes(&self.rx) >= threshold,
                    bytes(&self.tx) <= FIFO_BYTES / 2,
                    level(&self.rx) << 9 | level(&self.tx) << 11,
                )
            }
        };
        flag(received, SR_RXNE)
            | flag(ready, SR_TXE)
            | flag(self.mode_fault, SR_MODF)
            | flag(self.overrun, SR_OVR)
            | flag(self.end != NEVER || !self.tx.is_empty(), SR_BSY)
            | levels
    }

    /// Writes CR1. A master whose select input is low becomes a slave (mode fault).
    fn write_control(&mut self, value: u32) {
        self.cr1 = value & 0xffff;
        let selected_by_another = self.cr1 & (CR1_SSM | CR1_SSI) == CR1_SSM;
        self.mode_fault = false;
        if selected_by_another && self.cr1 & (CR1_SPE | CR1_MSTR) == CR1_SPE | CR1_MSTR {
            self.mode_fault = true;
            self.cr1 &= !(CR1_SPE | CR1_MSTR);
        }
    }
}

impl Block for Spi {
    /// Puts the registers of the SPI controller to their reset values. The attached devices stay.
    fn reset_registers(&mut self) {
        *self = Self { bus: std::mem::take(&mut self.bus), ..Self::new(self.layout) };
    }

    /// Reads a register of the SPI controller at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes. A read of DR takes a received frame.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match offset {
            0x08 => {
                let status = self.status_register();
                self.overrun &= !std::mem::take(&mut self.overrun_read);
                status
            }
            0x0c => self.read_data_register(access.bytes),
            _ => self.peek_register(offset, access),
        }
    }

    /// Writes a register of the SPI controller at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.write_control(value),
            0x04 => self.cr2 = value & if self.layout == SpiLayout::Fifo { 0x7fff } else { 0xf7 },
            0x0c => self.write_data_register(value, access.bytes),
            0x10 => self.crcpr = value & 0xffff,
            0x1c => self.i2scfgr = value & 0x1fff,
            0x20 => self.i2spr = value & 0x3ff,
            0x08 | 0x14 | 0x18 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        self.begin_frame(access.now, access);
    }

    /// Returns the value of a register of the SPI controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cr1,
            0x04 => self.cr2,
            0x08 => self.status_register(),
            0x0c => self.rx.front().copied().unwrap_or(0),
            0x10 => self.crcpr,
            0x1c => self.i2scfgr,
            0x20 => self.i2spr,
            _ => 0,
        }
    }

    /// Returns the core cycle of the next end of a frame, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.end
    }

    /// Completes the frames that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        while self.end <= access.now {
            let end = std::mem::replace(&mut self.end, NEVER);
            // A bidirectional line that sends receives nothing.
            let receives = self.cr1 & (CR1_BIDIMODE | CR1_BIDIOE) != CR1_BIDIMODE | CR1_BIDIOE;
            if receives && self.rx.len() < self.fifo_frame_capacity() {
                self.rx.push_back(self.answer);
            } else if receives {
                self.overrun = true;
            }
            self.begin_frame(end, access);
        }
    }

    /// Returns 1 while the SPI controller requests its interrupt: an enabled flag (transmit, receive or error) is set.
    fn interrupt_outputs(&self) -> u32 {
        let status = self.status_register();
        let requests = [(CR2_TXEIE, SR_TXE), (CR2_RXNEIE, SR_RXNE), (CR2_ERRIE, SR_OVR | SR_MODF)];
        u32::from(requests.iter().any(|&(enable, flags)| self.cr2 & enable != 0 && status & flags != 0))
    }
}

#[cfg(test)]
mod tests;
