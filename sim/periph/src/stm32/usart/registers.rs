//! The two register layouts.

use super::{FIFO_DEPTH, IDLE, ORE, RE, RXNE, TC, TE, TXE, Usart, UsartLayout};
use crate::stm32::block::Access;

/// Receive and transmit thresholds of CR3's codes, in bytes.
const THRESHOLDS: [usize; 8] = [2, 4, 8, 12, 14, 16, 16, 16];

impl Usart {
    /// Returns the status register: SR, or the bits of ISR that SR has too.
    pub(super) fn status_register(&self) -> u32 {
        let received = if self.rx.is_empty() { 0 } else { RXNE };
        let room = if self.tx.len() < self.fifo_byte_capacity() { TXE } else { 0 };
        self.flags | received | room
    }

    /// Returns the value of ISR, the status register of the later layout.
    fn interrupt_and_status_register(&self) -> u32 {
        let bit = |on: bool, number: u32| u32::from(on) << number;
        let mut isr = self.status_register() | bit(self.receiving.is_some(), 16);
        // The enables are acknowledged at once.
        isr |= bit(self.is_enabled() && self.cr1 & TE != 0, 21) | bit(self.is_enabled() && self.cr1 & RE != 0, 22);
        if self.is_fifo_enabled() {
            isr |= bit(self.tx.is_empty(), 23) | bit(self.rx.len() == FIFO_DEPTH, 24);
            isr |= bit(self.rx.len() >= THRESHOLDS[(self.cr3 >> 25 & 7) as usize], 26);
            isr |= bit(FIFO_DEPTH - self.tx.len() >= THRESHOLDS[(self.cr3 >> 29) as usize], 27);
        }
        isr
    }

    /// Returns the level of the interrupt line.
    pub(super) fn interrupt_level(&self) -> bool {
        let status = self.status_register();
        // IDLEIE, RXNEIE, TCIE and TXEIE stand where their flags do. RXNEIE reports an overrun too.
        let enabled = self.cr1 & (IDLE | RXNE | TC | TXE);
        let mut pending = status & enabled;
        if self.cr1 & RXNE != 0
            || self.cr3 & 1 != 0 && self.cr3 >> 6 & 1 != 0
            || self.has_newer_register_layout() && self.cr3 & 1 != 0
        {
            pending |= status & ORE;
        }
        if self.is_fifo_enabled() {
            let isr = self.interrupt_and_status_register();
            pending |= isr >> 23 & self.cr1 >> 30 & 1;
            pending |= isr >> 24 & self.cr1 >> 31 & 1;
            pending |= isr >> 26 & self.cr3 >> 28 & 1;
            pending |= isr >> 27 & self.cr3 >> 23 & 1;
        }
        pending != 0
    }

    /// Returns the value of a register without side effects.
    pub(super) fn register_value(&self, offset: u32) -> u32 {
        let data = || self.rx.front().copied().map_or(0, u32::from);
        match (self.layout, offset) {
            (UsartLayout::V1 { .. }, _) => match offset {
                0x00 => self.status_register(),
                0x04 => data(),
                0x08 => self.brr,
                0x0c => self.cr1,
                0x10 => self.cr2,
                0x14 => self.cr3,
                0x18 => self.gtpr,
                _ => 0,
            },
            (UsartLayout::V2 { fifo, .. }, _) => match offset {
                0x00 => self.cr1,
                0x04 => self.cr2,
                0x08 => self.cr3,
                0x0c => self.brr,
                0x10 => self.gtpr,
                0x14 => self.rtor,
                0x1c => self.interrupt_and_status_register(),
                0x24 => data(),
                0x2c if fifo => self.presc,
                _ => 0,
            },
        }
    }

    /// Writes a register of the first layout (F1, F4).
    pub(super) fn write_first_layout_usart_register(&mut self, offset: u32, value: u32, over8: bool, access: &Access) {
        match offset {
            // RXNE and TC are cleared by writing 0. RXNE by reading DR as well.
            0x00 => {
                self.flags &= value | !TC;
                if value & RXNE == 0 {
                    self.rx.clear();
                    self.start_receiving_if_idle(access);
                }
            }
            0x04 => self.append_byte_to_send(value, access),
            0x08 => self.brr = value & 0xffff,
            0x0c => self.write_cr1(value & if over8 { 0xbfff } else { 0x3fff }, access),
            0x10 => self.cr2 = value & 0x7fff,
            0x14 => self.cr3 = value & 0xfff,
            0x18 => self.gtpr = value & 0xffff,
            _ => {}
        }
        self.apply_changed_frame_format(matches!(offset, 0x08 | 0x10), access);
    }

    /// Writes a register of the second layout (F7, H7, L0).
    pub(super) fn write_v2_register(&mut self, offset: u32, value: u32, fifo: bool, access: &Access) {
        match offset {
            0x00 => self.write_cr1(if fifo { value } else { value & 0x1fff_ffff }, access),
            0x04 => self.cr2 = value,
            0x08 => self.cr3 = value,
            0x0c => self.brr = value & 0xf_ffff,
            0x10 => self.gtpr = value & 0xffff,
            0x14 => self.rtor = value,
            0x18 => {
                self.write_usart_request_register(value);
                self.start_receiving_if_idle(access);
            }
            // The clear bits stand where the flags do.
            0x20 => self.flags &= !(value & (ORE | IDLE | TC | 7)),
            0x28 => self.append_byte_to_send(value, access),
            0x2c if fifo => self.presc = value & 0xf,
            _ => {}
        }
        self.apply_changed_frame_format(matches!(offset, 0x04 | 0x0c | 0x2c), access);
    }

    /// Adapts the frames on the line after a change of the divider or the stop bits.
    fn apply_changed_frame_format(&mut self, changed: bool, access: &Access) {
        if changed {
            self.apply_changed_baud_rate(access);
            self.start_receiving_if_idle(access);
        }
    }
}
