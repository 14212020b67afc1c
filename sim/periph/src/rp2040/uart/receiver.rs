//! The receiving half, and the host that feeds it.

use super::{CR_LBE, CR_RXE, CR_UARTEN, DATA_OE, INT_OE, INT_RT, INT_RX, Uart};
use crate::Access;

impl Uart {
    /// Adds bytes from the host, which are received one after the other at line speed. The block has an event at once.
    pub fn queue_bytes_from_host(&mut self, bytes: &[u8]) {
        self.rx_line.extend(bytes);
    }

    /// Returns the number of bytes that the host sent and the receiver has not received yet.
    #[must_use]
    pub fn count_of_waiting_bytes(&self) -> usize {
        self.rx_line.len() + usize::from(self.rx_shift.is_some())
    }

    /// Returns whether the host's next byte may begin to come in.
    pub(super) fn can_begin_receiving(&self) -> bool {
        let on = CR_UARTEN | CR_RXE;
        !self.rx_line.is_empty()
            && self.cr & (on | CR_LBE) == on
            && self.divisor != 0
            && self.rx_fifo.len() < self.fifo_depth()
    }

    /// Begins to receive the host's next byte, if there is one. The bit counter must be at 0 now.
    pub(super) fn begin_receiving_byte(&mut self) {
        if self.rx_shift.is_none() && self.can_begin_receiving() {
            self.rx_shift = self.rx_line.pop_front();
            self.rx_frame_bits = self.bits_in_frame();
            self.idle_bits = None;
        }
    }

    /// Begins to receive the host's next byte, if the line is idle.
    pub(super) fn start_receiving_if_idle(&mut self, access: &Access) {
        if self.rx_shift.is_none() {
            self.rx_bits = self.new_uart_bit_time_counter(access);
            self.begin_receiving_byte();
        }
    }

    /// Returns received but unread bytes to the host's queue, which sends them again.
    pub(super) fn return_unread_bytes(&mut self) {
        if self.cr & CR_LBE == 0 {
            if let Some(byte) = self.rx_shift.take() {
                self.rx_line.push_front(byte);
            }
            for n in 0..self.rx_fifo.len() {
                let byte = self.rx_fifo.pop().unwrap_or(0) as u8;
                self.rx_line.insert(n, byte);
            }
        }
        self.rx_fifo.clear();
        self.idle_bits = None;
    }

    /// Puts a completely received byte into the FIFO, or notes an overrun.
    pub(super) fn store_received_byte(&mut self, byte: u8, access: &Access) {
        if self.cr & (CR_UARTEN | CR_RXE) != CR_UARTEN | CR_RXE {
            if self.cr & CR_LBE == 0 {
                self.rx_line.push_front(byte);
            }
            return;
        }
        if self.rx_fifo.len() >= self.fifo_depth() {
            self.overrun = true;
            self.ris |= INT_OE;
            return;
        }
        let flag = if std::mem::take(&mut self.overrun) { DATA_OE } else { 0 };
        self.rx_fifo.push(u16::from(byte & self.data_mask()) | flag);
        if self.rx_fifo.len() >= self.receive_trigger_level() {
            self.ris |= INT_RX;
        }
        self.idle_bits = Some(self.new_uart_bit_time_counter(access));
    }

    /// Reads DR: removes a byte from the FIFO.
    pub(super) fn read_received_byte(&mut self, access: &Access) -> u32 {
        let value = self.rx_fifo.pop().unwrap_or(0);
        if self.rx_fifo.len() < self.receive_trigger_level() {
            self.ris &= !INT_RX;
        }
        if self.rx_fifo.len() == 0 {
            self.ris &= !INT_RT;
            self.idle_bits = None;
        }
        self.start_receiving_if_idle(access);
        u32::from(value)
    }
}
