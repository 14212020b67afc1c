//! PL011 UART (RP2040 data sheet 4.2).
//!
//! Frames take their exact time on the line, derived from clk_peri and the divisors without drift. A byte is
//! reported when its stop bit ends. The host side never overruns the receiver: the next byte waits on the line
//! until the FIFO has room, and what a driver throws away unread by setting the UART up again is sent again, so
//! that text typed before a kernel's second console takes over is not torn. Parity, framing and break errors cannot
//! arise. The modem lines are inactive.

use std::collections::VecDeque;

use crate::{Access, FractionalRateCounter, NEVER, Peripheral};

mod fifo;
mod receiver;
use fifo::Fifo;

const CR_UARTEN: u32 = 1 << 0;
const CR_LBE: u32 = 1 << 7;
const CR_TXE: u32 = 1 << 8;
const CR_RXE: u32 = 1 << 9;
const LCR_PEN: u32 = 1 << 1;
const LCR_STP2: u32 = 1 << 3;
const LCR_FEN: u32 = 1 << 4;

const INT_RX: u32 = 1 << 4;
const INT_TX: u32 = 1 << 5;
const INT_RT: u32 = 1 << 6;
const INT_OE: u32 = 1 << 10;
const INT_MASK: u32 = 0x7ff;
const DATA_OE: u16 = 1 << 11;

const FIFO_DEPTH: usize = 32;
/// Bit times without a new character before the receive timeout (data sheet 4.2.6.3).
const TIMEOUT_BITS: u64 = 32;
/// PeriphID and PrimeCell ID bytes from offset 0xfe0 (data sheet 4.2.8).
const IDS: [u32; 8] = [0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1];

/// One UART of the RP2040.
#[derive(Debug, Clone)]
pub struct Uart {
    number: u8,
    irq: u32,
    ibrd: u32,
    fbrd: u32,
    /// Divisor in force, in 1/64: IBRD and FBRD take effect with a write to LCR_H.
    divisor: u64,
    lcr_h: u32,
    cr: u32,
    ifls: u32,
    imsc: u32,
    ris: u32,
    dmacr: u32,
    ilpr: u32,
    tx_fifo: Fifo,
    rx_fifo: Fifo,
    /// Byte in the transmit shift register.
    tx_shift: Option<u8>,
    tx_bits: FractionalRateCounter,
    tx_frame_bits: u64,
    /// Bytes the host has sent that are still on their way.
    rx_line: VecDeque<u8>,
    rx_shift: Option<u8>,
    rx_bits: FractionalRateCounter,
    rx_frame_bits: u64,
    /// Counts bit times since the last received character. Stopped while no timeout is armed.
    idle_bits: Option<FractionalRateCounter>,
    overrun: bool,
}

impl Uart {
    /// Creates UART `number` on NVIC line `irq`.
    #[must_use]
    pub fn new(number: u8, irq: u32) -> Self {
        Self {
            number,
            irq,
            ibrd: 0,
            fbrd: 0,
            divisor: 0,
            lcr_h: 0,
            cr: 0x300,
            ifls: 0x12,
            imsc: 0,
            ris: 0,
            dmacr: 0,
            ilpr: 0,
            tx_fifo: Fifo::default(),
            rx_fifo: Fifo::default(),
            tx_shift: None,
            tx_bits: FractionalRateCounter::default(),
            tx_frame_bits: 0,
            rx_line: VecDeque::new(),
            rx_shift: None,
            rx_bits: FractionalRateCounter::default(),
            rx_frame_bits: 0,
            idle_bits: None,
            overrun: false,
        }
    }

    /// Returns whether a frame is being sent.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.tx_shift.is_some()
    }

    /// Returns whether the UART requests DMA transfers: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        let tx = self.dmacr & 2 != 0 && self.tx_fifo.len() < self.fifo_depth();
        (tx, self.dmacr & 1 != 0 && self.rx_fifo.len() > 0)
    }

    /// Returns the depth of the FIFOs: 1 while they are disabled.
    fn fifo_depth(&self) -> usize {
        if self.lcr_h & LCR_FEN != 0 { FIFO_DEPTH } else { 1 }
    }

    /// Returns the FIFO level for a 3-bit IFLS field: 1/8, 1/4, 1/2, 3/4, 7/8 of the FIFO (data sheet "UARTIFLS").
    fn fifo_trigger_level(&self, select: u32) -> usize {
        const LEVELS: [usize; 5] = [4, 8, 16, 24, 28];
        LEVELS[(select & 7).min(4) as usize]
    }

    /// Returns the level of the transmit FIFO at or below which its interrupt is raised.
    fn transmit_trigger_level(&self) -> usize {
        if self.fifo_depth() == 1 { 0 } else { self.fifo_trigger_level(self.ifls) }
    }

    /// Returns the level of the receive FIFO at or above which its interrupt is raised.
    fn receive_trigger_level(&self) -> usize {
        if self.fifo_depth() == 1 { 1 } else { self.fifo_trigger_level(self.ifls >> 3) }
    }

    /// Returns the bits of one frame: start, data, parity, stop.
    fn bits_in_frame(&self) -> u64 {
        let data = 5 + u64::from((self.lcr_h >> 5) & 3);
        1 + data + u64::from(self.lcr_h & LCR_PEN != 0) + if self.lcr_h & LCR_STP2 != 0 { 2 } else { 1 }
    }

    /// Returns the mask of a byte's data bits under the current word length.
    fn data_mask(&self) -> u8 {
        (0xffu16 >> (3 - ((self.lcr_h >> 5) & 3))) as u8
    }

    /// Creates a counter of bit times from now: clk_peri * 4 / divisor, the divisor being in 1/64 of 16 clocks.
    fn new_uart_bit_time_counter(&self, access: &Access) -> FractionalRateCounter {
        let clocks = access.clocks;
        FractionalRateCounter::new_running_counter(
            access.now_cycles,
            0,
            clocks.peri_hz * 4,
            self.divisor,
            clocks.sys_hz,
        )
    }

    /// Applies a changed baud rate to all bit counters.
    fn apply_changed_baud_rate(&mut self, access: &Access) {
        let (clocks, divisor) = (access.clocks, self.divisor);
        let counters = [Some(&mut self.tx_bits), Some(&mut self.rx_bits), self.idle_bits.as_mut()];
        for counter in counters.into_iter().flatten() {
            counter.change_counting_rate(access.now_cycles, clocks.peri_hz * 4, divisor, clocks.sys_hz);
        }
    }

    /// Returns the cycle in which the frame being sent ends, or [`NEVER`].
    fn transmit_end_cycle(&self) -> u64 {
        if self.tx_shift.is_some() { self.tx_bits.first_cycle_at_counter_value(self.tx_frame_bits) } else { NEVER }
    }

    /// Returns the cycle in which the frame being received ends, 0 if one can begin, or [`NEVER`].
    fn receive_end_cycle(&self) -> u64 {
        if self.rx_shift.is_some() {
            self.rx_bits.first_cycle_at_counter_value(self.rx_frame_bits)
        } else if self.can_begin_receiving() {
            0
        } else {
            NEVER
        }
    }

    /// Returns the cycle of the receive timeout, or [`NEVER`].
    fn receive_timeout_cycle(&self) -> u64 {
        self.idle_bits.as_ref().map_or(NEVER, |bits| bits.first_cycle_at_counter_value(TIMEOUT_BITS))
    }

    /// Moves the next byte into the idle shift register. The bit counter must be at 0 now.
    fn load_transmit_shifter(&mut self) {
        let on = CR_UARTEN | CR_TXE;
        if self.tx_shift.is_some() || self.cr & on != on || self.divisor == 0 {
            return;
        }
        let level = self.tx_fifo.len();
        if let Some(byte) = self.tx_fifo.pop() {
            self.tx_shift = Some(byte as u8 & self.data_mask());
            self.tx_frame_bits = self.bits_in_frame();
            // The interrupt marks the passage through the level, not the level (data sheet 4.2.6.2).
            if level == self.transmit_trigger_level() + 1 {
                self.ris |= INT_TX;
            }
        }
    }

    /// Begins to send, if the line is idle.
    fn start_sending_if_idle(&mut self, access: &Access) {
        if self.tx_shift.is_none() {
            self.tx_bits = self.new_uart_bit_time_counter(access);
            self.load_transmit_shifter();
        }
    }

    /// Ends the frame being sent, and begins the next one at once.
    fn finish_sent_frame(&mut self, access: &mut Access) {
        let Some(byte) = self.tx_shift.take() else {
            return;
        };
        let end = self.uart_frame_end_cycle();
        if self.cr & CR_LBE != 0 {
            self.store_received_byte(byte, access);
        } else {
            access.effects.uart_tx.push((self.number, byte));
        }
        // The next frame starts on the bit grid of this one, so long streams keep the exact baud rate.
        let value = self.tx_bits.value_at_cycle(end) - self.tx_frame_bits;
        self.tx_bits.set_value(end, value);
        self.load_transmit_shifter();
    }

    /// Returns the cycle in which the frame in the shift register ends.
    fn uart_frame_end_cycle(&self) -> u64 {
        self.tx_bits.first_cycle_at_counter_value(self.tx_frame_bits)
    }

    /// Writes DR: appends a byte to the transmit FIFO.
    fn append_byte_to_send(&mut self, value: u32, access: &mut Access) {
        if self.tx_fifo.len() >= self.fifo_depth() {
            // PL011 leaves a write to a full FIFO undefined. Dropping it is what a missing poll looks like.
            return;
        }
        self.tx_fifo.push((value & 0xff) as u16);
        self.start_sending_if_idle(access);
        if self.tx_fifo.len() > self.transmit_trigger_level() {
            self.ris &= !INT_TX;
        }
    }

    /// Writes LCR_H, which also brings the divisor into force.
    fn write_lcr_h(&mut self, value: u32, access: &Access) {
        let fifo_toggled = (self.lcr_h ^ value) & LCR_FEN != 0;
        self.lcr_h = value & 0xff;
        self.divisor = if self.ibrd == 0 { 0 } else { u64::from(self.ibrd) * 64 + u64::from(self.fbrd) };
        if fifo_toggled {
            self.return_unread_bytes();
            self.tx_fifo.clear();
        }
        self.apply_changed_baud_rate(access);
        self.start_receiving_if_idle(access);
    }

    /// Returns the value of FR.
    fn flag_register(&self) -> u32 {
        let (tx, rx) = (self.tx_fifo.len(), self.rx_fifo.len());
        let mut flags = 0;
        flags |= u32::from(self.tx_shift.is_some() || tx > 0) << 3;
        flags |= u32::from(rx == 0) << 4;
        flags |= u32::from(tx >= self.fifo_depth()) << 5;
        flags |= u32::from(rx >= self.fifo_depth()) << 6;
        flags | u32::from(tx == 0) << 7
    }
}

impl Peripheral for Uart {
    const NAME: &'static str = "UART";

    /// Puts the registers of a UART to their reset values. Received bytes that the firmware has not read return to the
    /// line.
    fn reset_registers(&mut self) {
        self.return_unread_bytes();
        let line = std::mem::take(&mut self.rx_line);
        *self = Self::new(self.number, self.irq);
        self.rx_line = line;
    }

    /// Reads a register of a UART at a byte offset. `access` holds the time in cycles and the requesting core. A read
    /// of DR removes a received byte.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match offset {
            0x00 => self.read_received_byte(access),
            0x04..=0x48 | 0xfe0..=0xffc => self.peek_register(offset, access),
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    /// Writes a register of a UART at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.append_byte_to_send(value, access),
            0x04 => self.overrun = false,
            0x20 => self.ilpr = value & 0xff,
            0x24 => self.ibrd = value & 0xffff,
            0x28 => self.fbrd = value & 0x3f,
            0x2c => self.write_lcr_h(value, access),
            0x30 => {
                self.cr = value & 0xff87;
                self.start_sending_if_idle(access);
                self.start_receiving_if_idle(access);
            }
            0x34 => self.ifls = value & 0x3f,
            0x38 => self.imsc = value & INT_MASK,
            0x44 => self.ris &= !value,
            0x48 => self.dmacr = value & 7,
            0x18 | 0x3c | 0x40 => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of a UART at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x04 => u32::from(self.overrun) << 3,
            0x18 => self.flag_register(),
            0x20 => self.ilpr,
            0x24 => self.ibrd,
            0x28 => self.fbrd,
            0x2c => self.lcr_h,
            0x30 => self.cr,
            0x34 => self.ifls,
            0x38 => self.imsc,
            0x3c => self.ris,
            0x40 => self.ris & self.imsc,
            0x48 => self.dmacr,
            0xfe0..=0xffc => IDS[(offset as usize - 0xfe0) / 4],
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for DR, RSR and ICR only.
    fn is_strobe(&self, offset: u32) -> bool {
        matches!(offset, 0x00 | 0x04 | 0x44)
    }

    /// Returns the cycle of the next end of a frame (sent or received) or of the receive timeout, or [`NEVER`].
    #[inline]
    fn next_event_cycle(&self) -> u64 {
        self.transmit_end_cycle().min(self.receive_end_cycle()).min(self.receive_timeout_cycle())
    }

    /// Completes the frames that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        let now = access.now_cycles;
        while self.transmit_end_cycle() <= now {
            self.finish_sent_frame(access);
        }
        while let Some(byte) = self.rx_shift.filter(|_| self.receive_end_cycle() <= now) {
            let end = self.receive_end_cycle();
            // As when sending: the host's next frame follows on the bit grid of this one.
            let value = self.rx_bits.value_at_cycle(end) - self.rx_frame_bits;
            self.rx_bits.set_value(end, value);
            self.rx_shift = None;
            self.store_received_byte(byte, access);
            self.begin_receiving_byte();
        }
        self.start_receiving_if_idle(access);
        if self.receive_timeout_cycle() <= now {
            self.idle_bits = None;
            self.ris |= INT_RT;
        }
    }

    /// Adapts the bit rate to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        self.apply_changed_baud_rate(access);
    }

    /// Returns the levels of the NVIC lines of a UART, each at its number's bit.
    #[inline]
    fn irq_levels(&self) -> u32 {
        u32::from(self.ris & self.imsc != 0) << self.irq
    }
}

#[cfg(test)]
mod tests;
