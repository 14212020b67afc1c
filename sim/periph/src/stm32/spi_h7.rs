//! SPI of the H743 as a master (RM0433 chapter 50): FIFOs of bytes, packets, transfers of a known or an endless length.
//!
//! A frame takes its bits in periods of the kernel clock divided by 2 to 256, and the idle periods of MIDI follow. The
//! master pauses while there is nothing to send, or with MASRX no room for what comes back. The registers' protection
//! while SPE or IOLOCK is set is not modelled, except that TXDR takes nothing from a disabled SPI.

use std::collections::VecDeque;

use super::block::{Access, Block};
use crate::NEVER;
use crate::device::SpiBus;

const CR1_SPE: u32 = 1;
const CR1_MASRX: u32 = 1 << 8;
const CR1_CSTART: u32 = 1 << 9;
const CR1_CSUSP: u32 = 1 << 10;
const CR1_HDDIR: u32 = 1 << 11;
const CR1_SSI: u32 = 1 << 12;
/// Bits of CR1 that keep what is written: not CSTART and CSUSP, which are requests.
const CR1_KEPT: u32 = 0x1_f901;
const CFG1_RESET: u32 = 0x0007_0007;
const CFG1_RXDMAEN: u32 = 1 << 14;
const CFG1_TXDMAEN: u32 = 1 << 15;
const CFG2_MASTER: u32 = 1 << 22;
const CFG2_SSM: u32 = 1 << 26;
const CFG2_SSOE: u32 = 1 << 29;
const CRCPOLY_RESET: u32 = 0x107;
const SR_RXP: u32 = 1;
const SR_TXP: u32 = 1 << 1;
const SR_DXP: u32 = 1 << 2;
const SR_EOT: u32 = 1 << 3;
const SR_TXTF: u32 = 1 << 4;
const SR_OVR: u32 = 1 << 6;
const SR_MODF: u32 = 1 << 9;
const SR_SUSP: u32 = 1 << 11;
const SR_TXC: u32 = 1 << 12;
const SR_RXWNE: u32 = 1 << 15;
/// Flags that stay until IFCR clears them.
const STICKY: u32 = 0xbf8;
/// IER's bit 3 lets EOT, SUSP and TXC through, the others one flag each.
const IER_EOTIE: u32 = 1 << 3;

/// One SPI controller of the chip.
#[derive(Debug, Clone)]
pub struct SpiH7 {
    /// Bytes of a FIFO: 16, of SPI4 to SPI6 8.
    fifo_bytes: usize,
    cr1: u32,
    cr2: u32,
    cfg1: u32,
    cfg2: u32,
    ier: u32,
    crcpoly: u32,
    i2scfgr: u32,
    udrdr: u32,
    /// EOT, TXTF, OVR, MODF and SUSP.
    flags: u32,
    tx: VecDeque<u32>,
    rx: VecDeque<u32>,
    /// Frames of the present transfer that TXDR has yet to take, and that the line has yet to carry. 0 if it is
    /// endless.
    unwritten: u32,
    unsent: u32,
    /// A transfer of a known length is under way: TXC waits for its end.
    counts: bool,
    /// The frame that comes back with the present one.
    answer: u32,
    /// Cycle at which the present frame ends.
    end: u64,
    /// The devices at the other end.
    pub bus: SpiBus,
}

impl SpiH7 {
    /// Creates an SPI controller in its reset state.
    #[must_use]
    pub fn new(fifo_bytes: usize) -> Self {
        Self {
            fifo_bytes,
            cr1: 0,
            cr2: 0,
            cfg1: CFG1_RESET,
            cfg2: 0,
            ier: 0,
            crcpoly: CRCPOLY_RESET,
            i2scfgr: 0,
            udrdr: 0,
            flags: 0,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            unwritten: 0,
            unsent: 0,
            counts: false,
            answer: 0,
            end: NEVER,
            bus: SpiBus::default(),
        }
    }

    /// Returns whether the SPI is enabled as a slave. That is not modelled.
    #[must_use]
    pub(super) fn is_slave(&self) -> bool {
        self.cr1 & CR1_SPE != 0 && self.cfg2 & CFG2_MASTER == 0
    }

    /// Returns the number of bits of a frame. Sizes below 4 are not used and count as 4.
    fn frame_bit_count(&self) -> u32 {
        (self.cfg1 & 31).max(3) + 1
    }

    /// Returns the bytes of a frame in a FIFO.
    fn bytes_per_frame(&self) -> usize {
        match self.frame_bit_count() {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// Returns the number of frames in a packet (FTHLV).
    fn spi_frames_per_packet(&self) -> usize {
        (self.cfg1 >> 5 & 15) as usize + 1
    }

    /// Returns the number of frames for which a FIFO has room.
    fn fifo_frame_capacity(&self) -> usize {
        self.fifo_bytes / self.bytes_per_frame()
    }

    /// Returns TSIZE, the number of frames in a transfer.
    fn transfer_frame_count(&self) -> u32 {
        self.cr2 & 0xffff
    }

    /// Returns whether the master sends (`.0`) and receives (`.1`), by COMM and HDDIR.
    fn enabled_transfer_directions(&self) -> (bool, bool) {
        match self.cfg2 >> 17 & 3 {
            0 => (true, true),
            1 => (true, false),
            2 => (false, true),
            _ => (self.cr1 & CR1_HDDIR != 0, self.cr1 & CR1_HDDIR == 0),
        }
    }

    /// Returns the core cycles of this number of periods of the serial clock.
    fn serial_clock_cycles(&self, periods: u32, access: &Access) -> u64 {
        let prescaler = 2_u64 << (self.cfg1 >> 28 & 7);
        match access.clock_hz {
            0 => NEVER,
            hz => (u64::from(periods) * prescaler * access.core_hz).div_ceil(hz),
        }
    }

    /// Begins a frame at cycle `at`, after `idle` periods of the serial clock, if there is data to send and room to
    /// receive.
    fn begin_frame(&mut self, at: u64, idle: u32, access: &Access) {
        let (sends, receives) = self.enabled_transfer_directions();
        let is_started = self.cr1 & (CR1_SPE | CR1_CSTART) == CR1_SPE | CR1_CSTART && self.cfg2 & CFG2_MASTER != 0;
        let is_over = self.counts && self.unsent == 0;
        let waits = receives && self.cr1 & CR1_MASRX != 0 && self.rx.len() >= self.fifo_frame_capacity();
        if !is_started || self.end != NEVER || is_over || waits || access.clock_hz == 0 {
            return;
        }
        let frame = if sends { self.tx.pop_front() } else { Some(0) };
        let Some(frame) = frame else { return };
        let begin = at.saturating_add(self.serial_clock_cycles(idle, access));
        self.answer = self.bus.exchange_frame(frame, self.frame_bit_count(), access.elapsed.ns_at(begin));
        self.end = begin.saturating_add(self.serial_clock_cycles(self.frame_bit_count(), access));
    }

    /// Ends the present frame at cycle `at`, and begins the next one.
    fn end_spi_frame_and_begin_next(&mut self, at: u64, access: &Access) {
        self.end = NEVER;
        if self.enabled_transfer_directions().1 {
            if self.rx.len() < self.fifo_frame_capacity() {
                self.rx.push_back(self.answer);
            } else {
                self.flags |= SR_OVR;
            }
        }
        if self.counts {
            self.unsent -= 1;
            if self.unsent == 0 {
                self.flags |= SR_EOT;
                self.cr1 &= !CR1_CSTART;
                self.counts = false;
            }
        }
        if self.cr1 & CR1_CSUSP != 0 {
            self.suspend_transfer();
        }
        self.begin_frame(at, self.cfg2 >> 4 & 15, access);
    }

    /// Suspends the transfer between two frames, because firmware has requested it.
    fn suspend_transfer(&mut self) {
        if self.cr1 & CR1_CSTART != 0 {
            self.flags |= SR_SUSP;
        }
        self.cr1 &= !(CR1_CSTART | CR1_CSUSP);
    }

    /// Writes CR1.
    fn write_control(&mut self, value: u32, access: &Access) {
        let requests = self.cr1 & (CR1_CSTART | CR1_CSUSP);
        self.cr1 = value & CR1_KEPT | requests;
        if self.cr1 & CR1_SPE == 0 {
            self.disable_spi();
            return;
        }
        // A master whose select input is low is disabled.
        let selected_by_another = self.cfg2 & (CFG2_MASTER | CFG2_SSM) == CFG2_MASTER | CFG2_SSM;
        if selected_by_another && self.cr1 & CR1_SSI == 0 {
            self.flags |= SR_MODF;
            self.cr1 &= !CR1_SPE;
            self.disable_spi();
            return;
        }
        if value & CR1_CSTART != 0 && self.cr1 & CR1_CSTART == 0 {
            self.cr1 |= CR1_CSTART;
            self.counts = self.transfer_frame_count() != 0;
            self.unsent = self.transfer_frame_count();
            // A select output is active for MSSI periods before the first frame.
            let idle = if self.cfg2 & CFG2_SSOE != 0 { self.cfg2 & 15 } else { 0 };
            self.begin_frame(access.now, idle, access);
        }
        if value & CR1_CSUSP != 0 && self.cr1 & CR1_CSTART != 0 {
            self.cr1 |= CR1_CSUSP;
            if self.end == NEVER {
                self.suspend_transfer();
            }
        }
    }

    /// Disables the SPI: empties the FIFOs, and starts to count TSIZE again.
    fn disable_spi(&mut self) {
        self.tx.clear();
        self.rx.clear();
        (self.unwritten, self.unsent, self.counts, self.end) = (self.transfer_frame_count(), 0, false, NEVER);
        self.cr1 &= !(CR1_CSTART | CR1_CSUSP);
        self.flags &= SR_MODF;
    }

    /// Returns the number of frames in an access of `bytes` bytes to a data register.
    fn frame_count_of_data_access(&self, bytes: u32) -> usize {
        (bytes as usize / self.bytes_per_frame()).max(1)
    }

    /// Writes TXDR: appends frames to the transmit FIFO.
    fn write_data_register(&mut self, value: u32, access: &Access) {
        if self.cr1 & CR1_SPE == 0 {
            return;
        }
        let mask = u32::MAX >> (32 - self.frame_bit_count());
        for n in 0..self.frame_count_of_data_access(access.bytes) {
            let is_full = self.tx.len() >= self.fifo_frame_capacity();
            if is_full || self.transfer_frame_count() != 0 && self.unwritten == 0 {
                return;
            }
            self.tx.push_back(value >> (8 * self.bytes_per_frame() * n) & mask);
            if self.transfer_frame_count() != 0 {
                self.unwritten -= 1;
                self.flags |= if self.unwritten == 0 { SR_TXTF } else { 0 };
            }
        }
    }

    /// Reads RXDR: removes received frames and returns them.
    fn read_data_register(&mut self, bytes: u32) -> u32 {
        let width = 8 * self.bytes_per_frame();
        (0..self.frame_count_of_data_access(bytes))
            .fold(0, |word, n| word | self.rx.pop_front().unwrap_or(0) << (width * n))
    }

    /// Returns the requests to the DMA: (transmit, receive). Each stands for a packet.
    pub(super) fn dma_requests(&self) -> (bool, bool) {
        let status = if self.cr1 & CR1_SPE != 0 { self.status_register() } else { 0 };
        (self.cfg1 & CFG1_TXDMAEN != 0 && status & SR_TXP != 0, self.cfg1 & CFG1_RXDMAEN != 0 && status & SR_RXP != 0)
    }

    /// Returns the value of SR, the status register.
    fn status_register(&self) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let packet = self.spi_frames_per_packet();
        let all_written = self.transfer_frame_count() != 0 && self.unwritten == 0 && self.cr1 & CR1_SPE != 0;
        let (received, ready) =
            (self.rx.len() >= packet, self.tx.len() + packet <= self.fifo_frame_capacity() && !all_written);
        let in_word = 4 / self.bytes_per_frame();
        let is_idle = !self.counts && self.tx.is_empty() && self.end == NEVER;
        self.flags
            | flag(received, SR_RXP)
            | flag(ready, SR_TXP)
            | flag(received && ready, SR_DXP)
            | flag(is_idle, SR_TXC)
            | ((self.rx.len() % in_word) as u32) << 13
            | flag(self.rx.len() >= in_word, SR_RXWNE)
            | self.unsent << 16
    }
}

impl Block for SpiH7 {
    /// Puts the registers of the SPI controller to their reset values. The attached devices stay.
    fn reset_registers(&mut self) {
        *self = Self { bus: std::mem::take(&mut self.bus), ..Self::new(self.fifo_bytes) };
    }

    /// Reads a register of the SPI controller at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes. A read of RXDR takes received bytes.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if offset != 0x30 {
            return self.peek_register(offset, access);
        }
        let value = self.read_data_register(access.bytes);
        self.begin_frame(access.now, 0, access);
        value
    }

    /// Writes a register of the SPI controller at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.write_control(value, access),
            0x04 => {
                self.cr2 = value;
                self.unwritten = self.transfer_frame_count();
            }
            0x08 => self.cfg1 = value & 0x705f_dfff,
            0x0c => self.cfg2 = value & 0xf7fe_80ff,
            0x10 => self.ier = value & 0x7ff,
            0x18 => self.flags &= !(value & STICKY),
            0x20 => {
                self.write_data_register(value, access);
                self.begin_frame(access.now, 0, access);
            }
            0x40 => self.crcpoly = value,
            0x4c => self.udrdr = value,
            0x50 => self.i2scfgr = value & 0x03ff_7fbf,
            0x14 | 0x30 | 0x44 | 0x48 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of the SPI controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cr1,
            0x04 => self.cr2,
            0x08 => self.cfg1,
            0x0c => self.cfg2,
            0x10 => self.ier,
            0x14 => self.status_register(),
            0x30 => self.rx.front().copied().unwrap_or(0),
            0x40 => self.crcpoly,
            0x4c => self.udrdr,
            0x50 => self.i2scfgr,
            _ => 0,
        }
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for IFCR only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x18
    }

    /// Returns the core cycle of the next end of a frame, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.end
    }

    /// Completes the frames that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        while self.end <= access.now {
            self.end_spi_frame_and_begin_next(self.end, access);
        }
    }

    /// Begins a transfer that waited for the clock, with the new frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        // A master that waited for its clock.
        self.begin_frame(access.now, 0, access);
    }

    /// Returns 1 while the SPI controller requests its interrupt: an enabled flag of SR is set.
    fn interrupt_outputs(&self) -> u32 {
        let of_end = if self.ier & IER_EOTIE != 0 { SR_EOT | SR_SUSP | SR_TXC } else { 0 };
        u32::from(self.status_register() & (self.ier & 0x7ff | of_end) != 0)
    }
}

#[cfg(test)]
mod tests;
