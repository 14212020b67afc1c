//! USART, UART and LPUART: the F1/F4 register layout and the later one (RM0090 chapter 30, RM0410 chapter 34).
//!
//! Frames take their exact time on the line, derived from the kernel clock and BRR without drift. A byte is reported
//! when its stop bit ends. Asynchronous mode only. Parity, framing and noise errors cannot arise, the modem lines are
//! inactive, RTOR, LIN, smartcard and IrDA are registers only.

use std::collections::VecDeque;

use super::block::{Access, Block};
use crate::{FractionalRateCounter, NEVER};

mod receiver;
mod registers;
#[cfg(test)]
mod tests;

/// The register layout and features of a serial port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsartLayout {
    /// F1 (`over8` false) and F4: SR, DR.
    V1 {
        /// CR1.OVER8 exists.
        over8: bool,
    },
    /// L0, F7 and H7: ISR, ICR, RDR, TDR.
    V2 {
        /// FIFO and prescaler (H7).
        fifo: bool,
        /// The divider counts 1/256 (LPUART).
        low_power: bool,
    },
}

const RE: u32 = 1 << 2;
const TE: u32 = 1 << 3;
const OVER8: u32 = 1 << 15;
const FIFOEN: u32 = 1 << 29;
/// CR3: DMA requests.
const DMAR: u32 = 1 << 6;
const DMAT: u32 = 1 << 7;
/// CR3: half-duplex.
const HDSEL: u32 = 1 << 3;
/// CR3 of the later layout: no overrun.
const OVRDIS: u32 = 1 << 12;

/// Flags, at the same places in SR and ISR.
const ORE: u32 = 1 << 3;
const IDLE: u32 = 1 << 4;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;

const FIFO_DEPTH: usize = 16;

/// One serial port (USART, UART or LPUART) of the chip.
#[derive(Debug, Clone)]
pub struct Usart {
    number: u8,
    layout: UsartLayout,
    cr1: u32,
    cr2: u32,
    cr3: u32,
    brr: u32,
    gtpr: u32,
    rtor: u32,
    presc: u32,
    /// ORE, IDLE and TC. RXNE and TXE follow from the data registers.
    flags: u32,
    /// First layout: flags that were set when SR was read, which the next access to DR clears.
    seen: u32,
    /// Data waiting to be sent: the data register, or the FIFO.
    tx: VecDeque<u8>,
    rx: VecDeque<u8>,
    /// The frame on the line: a byte, or the idle frame that precedes the first one.
    sending: Option<Frame>,
    /// Half bits of the frame being sent.
    tx_bits: FractionalRateCounter,
    /// Bytes from the host that are still to come.
    rx_line: VecDeque<u8>,
    receiving: Option<u8>,
    rx_bits: FractionalRateCounter,
    /// Half bits since the last stop bit. `None` while no idle line is looked for.
    idle_bits: Option<FractionalRateCounter>,
    /// Cycle of the next event, as of the last change.
    next: u64,
    /// The host does not wait for the receiver to have room.
    host_overruns: bool,
}

/// A frame that the transmitter sends: the idle frame after it is enabled, or a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Idle,
    Byte(u8),
}

impl Usart {
    /// Returns a serial port in its reset state. With `host_overruns` the host does not wait until the receiver has
    /// room.
    pub(super) fn new(number: u8, layout: UsartLayout, host_overruns: bool) -> Self {
        Self {
            number,
            layout,
            cr1: 0,
            cr2: 0,
            cr3: 0,
            brr: 0,
            gtpr: 0,
            rtor: 0,
            presc: 0,
            flags: TC,
            seen: 0,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            sending: None,
            tx_bits: FractionalRateCounter::default(),
            rx_line: VecDeque::new(),
            receiving: None,
            rx_bits: FractionalRateCounter::default(),
            idle_bits: None,
            next: NEVER,
            host_overruns,
        }
    }

    /// Returns the number of the port in the manual. LPUART1 is 0.
    #[must_use]
    pub fn port_number(&self) -> u8 {
        self.number
    }

    /// Returns whether a frame is being sent.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.sending.is_some()
    }

    /// Returns the offset of the status register, SR or ISR.
    pub(super) fn usart_status_register_offset(&self) -> u32 {
        if self.has_newer_register_layout() { 0x1c } else { 0 }
    }

    /// Returns the requests to the DMA: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        let status = self.status_register();
        (self.cr3 & DMAT != 0 && status & TXE != 0, self.cr3 & DMAR != 0 && status & RXNE != 0)
    }

    /// Returns whether the port has the later register layout (L0, F7, H7).
    fn has_newer_register_layout(&self) -> bool {
        matches!(self.layout, UsartLayout::V2 { .. })
    }

    /// Returns whether the FIFOs exist and are enabled.
    fn is_fifo_enabled(&self) -> bool {
        matches!(self.layout, UsartLayout::V2 { fifo: true, .. }) && self.cr1 & FIFOEN != 0
    }

    /// Returns the number of bytes that wait to be sent or read at most: 16 with FIFOs, else 1.
    fn fifo_byte_capacity(&self) -> usize {
        if self.is_fifo_enabled() { FIFO_DEPTH } else { 1 }
    }

    /// Returns whether the port is enabled (UE).
    fn is_enabled(&self) -> bool {
        self.cr1 & if self.has_newer_register_layout() { 1 } else { 1 << 13 } != 0
    }

    /// Returns whether port and transmitter are enabled.
    fn is_transmitter_enabled(&self) -> bool {
        self.is_enabled() && self.cr1 & TE != 0
    }

    /// Returns whether port and receiver are enabled.
    fn is_receiver_enabled(&self) -> bool {
        self.is_enabled() && self.cr1 & RE != 0
    }

    /// Returns the number of bits between start and stop, parity included: 8, 9 or 7.
    fn bits_per_word(&self) -> u64 {
        match (self.cr1 >> 12 & 1, self.has_newer_register_layout() && self.cr1 >> 28 & 1 != 0) {
            (0, false) => 8,
            (1, false) => 9,
            _ => 7,
        }
    }

    /// Returns the mask of the data bits in a byte, without parity.
    fn data_mask(&self) -> u8 {
        let data = self.bits_per_word() - u64::from(self.cr1 >> 10 & 1);
        ((1u16 << data.min(8)) - 1) as u8
    }

    /// Returns the half bits of one frame: start, word, 1, 0.5, 2 or 1.5 stop bits.
    fn frame_half_bits(&self) -> u64 {
        (1 + self.bits_per_word()) * 2 + [2, 1, 4, 3][(self.cr2 >> 12 & 3) as usize]
    }

    /// Returns the rate of half bits as a fraction of the kernel clock. `None` while the divider forbids any.
    fn half_bit_frequency_fraction(&self) -> Option<(u64, u64)> {
        const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
        let brr = u64::from(self.brr);
        let prescaler = PRESCALERS[(self.presc & 0xf).min(11) as usize];
        let (num, den) = match self.layout {
            UsartLayout::V2 { low_power: true, .. } => (2 * 256, brr),
            // 8-fold oversampling: the fraction has three bits.
            _ if self.cr1 & OVER8 != 0 => (2, (brr >> 4) * 8 + (brr & 7)),
            _ => (2, brr),
        };
        (den >= 16 || num > 2 && den != 0).then_some((num, den * prescaler))
    }

    /// Returns a counter of half bits on the line, which is 0 at cycle `at`.
    fn new_half_bit_counter(&self, at: u64, access: &Access) -> FractionalRateCounter {
        let (num, den) = self.half_bit_frequency_fraction().unwrap_or((0, 1));
        FractionalRateCounter::new_running_counter(at, 0, access.clock_hz * num, den, access.core_hz)
    }

    /// Adapts the half-bit counters to a new clock or baud rate. Frames on the line go on.
    fn apply_changed_baud_rate(&mut self, access: &Access) {
        let (num, den) = self.half_bit_frequency_fraction().unwrap_or((0, 1));
        let counters = [Some(&mut self.tx_bits), Some(&mut self.rx_bits), self.idle_bits.as_mut()];
        for counter in counters.into_iter().flatten() {
            counter.change_counting_rate(access.now, access.clock_hz * num, den, access.core_hz);
        }
    }

    /// Computes the cycle of the port's next event.
    fn update_next_event_cycle(&mut self) {
        self.next = self.transmit_end_cycle().min(self.receive_end_cycle()).min(self.serial_line_idle_cycle());
    }

    /// Returns the cycle at which the frame being sent ends, or [`NEVER`].
    fn transmit_end_cycle(&self) -> u64 {
        if self.sending.is_some() { self.tx_bits.first_cycle_at_counter_value(self.frame_half_bits()) } else { NEVER }
    }

    /// Begins to send the next byte. The half-bit counter must be at 0 now.
    fn begin_sending_byte(&mut self) {
        if self.sending.is_none()
            && self.is_transmitter_enabled()
            && let Some(byte) = self.tx.pop_front()
        {
            self.sending = Some(Frame::Byte(byte & self.data_mask()));
        }
    }

    /// Begins to send the next waiting byte, if the line is free.
    fn start_sending_if_idle(&mut self, access: &Access) {
        if self.sending.is_none() {
            self.tx_bits = self.new_half_bit_counter(access.now, access);
            self.begin_sending_byte();
        }
    }

    /// Ends the frame being sent, reports its byte, and begins the next frame.
    fn finish_sent_frame(&mut self, access: &mut Access) {
        let end = self.transmit_end_cycle();
        let half_bits = self.frame_half_bits();
        if let Some(Frame::Byte(byte)) = self.sending.take() {
            access.effects.uart_tx.push((self.number, byte));
            // Half-duplex: the line is read back.
            if self.cr3 & HDSEL != 0 {
                self.store_received_byte(byte, access);
            }
        }
        // The next frame starts on the bit grid of this one, so that long streams keep the exact baud rate.
        let value = self.tx_bits.value_at_cycle(end) - half_bits;
        self.tx_bits.set_value(end, value);
        self.begin_sending_byte();
        if self.sending.is_none() {
            self.flags |= TC;
        }
    }

    /// Writes a byte to the transmit data register or FIFO.
    fn append_byte_to_send(&mut self, value: u32, access: &Access) {
        // First layout: TC goes only if SR was read with it set.
        if self.has_newer_register_layout() || self.seen & TC != 0 {
            self.flags &= !TC;
            self.seen &= !TC;
        }
        if self.tx.len() >= self.fifo_byte_capacity() {
            // Without a FIFO a byte that nobody has taken yet is overwritten. A full FIFO drops the new one.
            if self.is_fifo_enabled() {
                return;
            }
            self.tx.clear();
        }
        self.tx.push_back(value as u8);
        self.start_sending_if_idle(access);
    }

    /// Writes CR1: enabling the transmitter begins an idle frame, disabling the port stops it at once.
    fn write_cr1(&mut self, value: u32, access: &Access) {
        let before = std::mem::replace(&mut self.cr1, value);
        let was_on = before & TE != 0 && before & self.port_enable_mask() != 0;
        if (before ^ value) & self.port_enable_mask() != 0 && !self.is_enabled() {
            self.disable_serial_port();
        }
        if self.is_transmitter_enabled() && !was_on && self.sending.is_none() {
            // The transmitter starts with an idle frame.
            self.tx_bits = self.new_half_bit_counter(access.now, access);
            self.sending = Some(Frame::Idle);
        }
        self.apply_changed_baud_rate(access);
        self.start_receiving_if_idle(access);
    }

    /// Returns the mask of CR1's bit that enables the port (UE), whose place depends on the layout.
    fn port_enable_mask(&self) -> u32 {
        if self.has_newer_register_layout() { 1 } else { 1 << 13 }
    }

    /// Stops transmitter and receiver at once and resets the flags, because UE was cleared.
    fn disable_serial_port(&mut self) {
        self.return_unread_bytes();
        self.tx.clear();
        self.sending = None;
        self.flags = TC;
        self.seen = 0;
    }

    /// Carries out a write to RQR, the request register of later USARTs: it may drop received bytes or unsent ones.
    fn write_usart_request_register(&mut self, value: u32) {
        if value >> 3 & 1 != 0 {
            self.rx.clear();
        }
        if value >> 4 & 1 != 0 {
            self.tx.clear();
        }
    }
}

impl Block for Usart {
    /// Puts the registers of the serial port to their reset values. Received bytes that the firmware has not read
    /// return to the line.
    fn reset_registers(&mut self) {
        self.return_unread_bytes();
        let line = std::mem::take(&mut self.rx_line);
        *self = Self::new(self.number, self.layout, self.host_overruns);
        self.rx_line = line;
    }

    /// Reads a register of the serial port at a byte offset. `access` holds the time in core cycles and the number of
    /// bytes. Reads of data and status clear flags.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match (self.layout, offset) {
            (UsartLayout::V1 { .. }, 0x00) => {
                self.seen = self.status_register();
                self.seen
            }
            (UsartLayout::V1 { .. }, 0x04) | (UsartLayout::V2 { .. }, 0x24) => {
                let data = self.read_received_byte(access);
                self.update_next_event_cycle();
                data
            }
            _ => self.peek_register(offset, access),
        }
    }

    /// Writes a register of the serial port at a byte offset. `access` holds the time in core cycles and takes requests
    /// to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match self.layout {
            UsartLayout::V1 { over8 } => self.write_first_layout_usart_register(offset, value, over8, access),
            UsartLayout::V2 { fifo, .. } => self.write_v2_register(offset, value, fifo, access),
        }
        self.update_next_event_cycle();
    }

    /// Returns the value of a register of the serial port at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        self.register_value(offset)
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for RQR, ICR and TDR of the later layout only.
    fn is_strobe(&self, offset: u32) -> bool {
        self.has_newer_register_layout() && matches!(offset, 0x18 | 0x20 | 0x28)
    }

    /// Returns the core cycle of the next end of a frame, sent or received, or of an idle line, or [`NEVER`].
    #[inline]
    fn next_event_cycle(&self) -> u64 {
        self.next
    }

    /// Completes the frames that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.next > access.now {
            return;
        }
        while self.transmit_end_cycle() <= access.now {
            self.finish_sent_frame(access);
        }
        self.advance_receiver(access);
        self.update_next_event_cycle();
    }

    /// Adapts the baud rate to the new clock frequencies in `access`.
    fn clocks_changed(&mut self, access: &mut Access) {
        self.apply_changed_baud_rate(access);
        self.start_receiving_if_idle(access);
        self.update_next_event_cycle();
    }

    /// Returns 1 while the serial port requests its interrupt: an enabled flag is set.
    #[inline]
    fn interrupt_outputs(&self) -> u32 {
        u32::from(self.interrupt_level())
    }
}
