//! The receiving half, and the host that feeds it.
//!
//! Unless told otherwise the host's next byte waits on the line until the receiver has room, and what a driver throws
//! away unread by switching the port off is sent again: text typed at a console is not torn when the kernel's own
//! console takes over.

use super::{HDSEL, IDLE, ORE, OVRDIS, Usart};
use crate::NEVER;
use crate::stm32::block::Access;

impl Usart {
    /// Adds bytes from the host, which are received one after the other at line speed. The block has an event at once.
    pub(in crate::stm32) fn queue_bytes_from_host(&mut self, bytes: &[u8]) {
        self.rx_line.extend(bytes);
        self.update_next_event_cycle();
    }

    /// Returns the number of bytes from the host that the receiver has not taken yet.
    #[must_use]
    pub fn count_of_waiting_bytes(&self) -> usize {
        self.rx_line.len() + usize::from(self.receiving.is_some())
    }

    /// Returns whether the host's next byte may begin to come in.
    fn can_begin_receiving(&self) -> bool {
        let room = self.host_overruns || self.rx.len() < self.fifo_byte_capacity();
        !self.rx_line.is_empty() && self.is_receiver_enabled() && self.half_bit_frequency_fraction().is_some() && room
    }

    /// Returns the cycle in which the frame being received ends, 0 if one can begin, or [`NEVER`].
    pub(super) fn receive_end_cycle(&self) -> u64 {
        if self.receiving.is_some() {
            self.rx_bits.first_cycle_at_counter_value(self.frame_half_bits())
        } else if self.can_begin_receiving() {
            0
        } else {
            NEVER
        }
    }

    /// Returns the cycle in which the line counts as idle, or [`NEVER`].
    pub(super) fn serial_line_idle_cycle(&self) -> u64 {
        self.idle_bits.as_ref().map_or(NEVER, |bits| bits.first_cycle_at_counter_value(self.frame_half_bits()))
    }

    /// Begins to receive the host's next byte, if it may come. The half-bit counter must be at 0 now.
    fn begin_receiving_byte(&mut self) {
        if self.receiving.is_none() && self.can_begin_receiving() {
            self.receiving = self.rx_line.pop_front();
            self.idle_bits = None;
        }
    }

    /// Begins to receive the host's next byte, if the line is idle.
    pub(super) fn start_receiving_if_idle(&mut self, access: &Access) {
        if self.receiving.is_none() {
            self.rx_bits = self.new_half_bit_counter(access.now, access);
            self.begin_receiving_byte();
        }
    }

    /// Returns received but unread bytes to the host, which sends them again.
    pub(super) fn return_unread_bytes(&mut self) {
        if self.cr3 & HDSEL == 0 {
            if let Some(byte) = self.receiving {
                self.rx_line.push_front(byte);
            }
            for byte in self.rx.iter().rev() {
                self.rx_line.push_front(*byte);
            }
        }
        (self.receiving, self.idle_bits) = (None, None);
        self.rx.clear();
    }

    /// Puts a completely received byte into the FIFO, or notes an overrun.
    pub(super) fn store_received_byte(&mut self, byte: u8, access: &Access) {
        if !self.is_receiver_enabled() {
            return;
        }
        let byte = byte & self.data_mask();
        if self.rx.len() < self.fifo_byte_capacity() {
            self.rx.push_back(byte);
        } else if self.has_newer_register_layout() && self.cr3 & OVRDIS != 0 {
            // Without overrun detection the newest byte replaces the one that was not read.
            self.rx.pop_back();
            self.rx.push_back(byte);
        } else {
            self.flags |= ORE;
        }
        self.idle_bits = Some(self.new_half_bit_counter(access.now, access));
    }

    /// Reads DR or RDR: removes a byte.
    pub(super) fn read_received_byte(&mut self, access: &Access) -> u32 {
        // First layout: reading DR after SR clears what SR showed.
        self.flags &= !(self.seen & (ORE | IDLE | 7));
        self.seen = 0;
        let byte = self.rx.pop_front().unwrap_or(0);
        self.start_receiving_if_idle(access);
        u32::from(byte)
    }

    /// Completes the frames that were received by now.
    pub(super) fn advance_receiver(&mut self, access: &mut Access) {
        while let Some(byte) = self.receiving.filter(|_| self.receive_end_cycle() <= access.now) {
            let end = self.receive_end_cycle();
            // As when sending: the host's next frame follows on the bit grid of this one.
            let value = self.rx_bits.value_at_cycle(end) - self.frame_half_bits();
            self.rx_bits.set_value(end, value);
            self.receiving = None;
            self.store_received_byte(byte, access);
            self.begin_receiving_byte();
        }
        self.start_receiving_if_idle(access);
        if self.serial_line_idle_cycle() <= access.now {
            self.idle_bits = None;
            self.flags |= IDLE;
        }
    }
}
