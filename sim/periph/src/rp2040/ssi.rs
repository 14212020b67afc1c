//! The serial flash interface (RP2040 data sheet 4.10) with a small SPI flash.
//!
//! Transfers on DR0 finish at once: boot2 and the flash routines only wait for status bits. The execute-in-place frame
//! matters for time. [`Ssi::xip_frame_timing`] computes it from the registers.

use std::collections::VecDeque;

use super::limits::RAW_FLASH;
use crate::{Access, Peripheral};

mod flash;
pub use flash::Flash;

const SR_TFNF: u32 = 1 << 1;
const SR_TFE: u32 = 1 << 2;
const SR_RFNE: u32 = 1 << 3;
const SR_RFF: u32 = 1 << 4;
const IDR: u32 = 0x5153_5049;
const VERSION: u32 = 0x3430_312a;
const SPI_CTRLR0_RESET: u32 = 0x0300_0000;
const FIFO_DEPTH: usize = 16;

/// The timing of the read of one word in execute-in-place mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XipFrame {
    /// SCK cycles for one frame of `data_bits`, chip select not included.
    pub sck_cycles: u32,
    /// clk_sys cycles per SCK cycle (BAUDR; 0 while the clock is off).
    pub divider: u32,
    /// Data bits of one frame: 32 as boot2 sets it up.
    pub data_bits: u32,
}

/// The flash interface of the RP2040 (SSI), with the flash on its pins.
#[derive(Debug, Clone)]
pub struct Ssi {
    ctrlr0: u32,
    ctrlr1: u32,
    ssienr: u32,
    ser: u32,
    baudr: u32,
    txftlr: u32,
    rxftlr: u32,
    imr: u32,
    dmacr: u32,
    rx_sample_dly: u32,
    spi_ctrlr0: u32,
    txd_drive_edge: u32,
    rx: VecDeque<u32>,
    /// The flash chip on the pins.
    pub flash: Flash,
}

impl Ssi {
    /// Creates an interface with `flash` on its pins.
    #[must_use]
    pub fn new(flash: Flash) -> Self {
        Self {
            ctrlr0: 0,
            ctrlr1: 0,
            ssienr: 0,
            ser: 0,
            baudr: 0,
            txftlr: 0,
            rxftlr: 0,
            imr: 0,
            dmacr: 0,
            rx_sample_dly: 0,
            spi_ctrlr0: SPI_CTRLR0_RESET,
            txd_drive_edge: 0,
            rx: VecDeque::new(),
            flash,
        }
    }

    /// Returns the timing of one execute-in-place frame from CTRLR0, SPI_CTRLR0 and BAUDR (data sheet 4.10.13).
    #[must_use]
    pub fn xip_frame_timing(&self) -> XipFrame {
        let lanes = 1 << ((self.ctrlr0 >> 21) & 3).min(2);
        let data_bits = ((self.ctrlr0 >> 16) & 31) + 1;
        let address_bits = ((self.spi_ctrlr0 >> 2) & 15) * 4;
        let instruction_bits = [0, 4, 8, 16][(self.spi_ctrlr0 >> 8 & 3) as usize];
        let wait = (self.spi_ctrlr0 >> 11) & 31;
        // TRANS_TYPE: 0 both on one lane, 1 instruction on one lane, 2 both on all lanes.
        let (instruction_lanes, address_lanes) = match self.spi_ctrlr0 & 3 {
            0 => (1, 1),
            1 => (1, lanes),
            _ => (lanes, lanes),
        };
        let sck_cycles = u32::div_ceil(instruction_bits, instruction_lanes)
            + u32::div_ceil(address_bits, address_lanes)
            + wait
            + data_bits.div_ceil(lanes);
        XipFrame { sck_cycles, divider: self.baudr & 0xfffe, data_bits }
    }

    /// Transfers a frame to the flash. The frame that the flash sends goes to the receive FIFO.
    fn transfer_spi_frame(&mut self, value: u32) {
        let bytes = (((self.ctrlr0 >> 16) & 31) + 1).div_ceil(8);
        let selected_here = !self.flash.is_chip_select_active();
        if selected_here {
            self.flash.set_chip_select(true);
        }
        let mut received = 0;
        for n in (0..bytes).rev() {
            received = received << 8 | u32::from(self.flash.exchange_byte((value >> (8 * n)) as u8));
        }
        // TMOD 1 is transmit-only: nothing comes back.
        if (self.ctrlr0 >> 8) & 3 != 1 && self.rx.len() < FIFO_DEPTH {
            self.rx.push_back(received);
        }
    }

    /// Returns the value of SR.
    fn status_register(&self) -> u32 {
        let mut status = SR_TFNF | SR_TFE;
        status |= if self.rx.is_empty() { 0 } else { SR_RFNE };
        status | if self.rx.len() >= FIFO_DEPTH { SR_RFF } else { 0 }
    }
}

impl Peripheral for Ssi {
    const NAME: &'static str = "SSI";

    /// Puts the registers of the serial flash interface (SSI) to their reset values. The flash's content stays.
    fn reset_registers(&mut self) {
        let flash = std::mem::take(&mut self.flash);
        *self = Self::new(flash);
    }

    /// Reads a register of the serial flash interface (SSI) at a byte offset. `access` holds the time in cycles and the
    /// requesting core. A read of DR removes a received word.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        match offset {
            0x60..=0xec => self.rx.pop_front().unwrap_or(0),
            0x00..=0x5c | 0xf0..=0xf8 => {
                // "Not busy" means that the transmit FIFO ran dry, which raises chip select and ends the command,
                // unless software holds the pin.
                if offset == 0x28 && !self.flash.is_chip_select_forced() && self.flash.set_chip_select(false) {
                    access.effects.limit = Some(&RAW_FLASH);
                }
                self.peek_register(offset, access)
            }
            _ => {
                access.effects.unmodelled = Some((offset, false));
                0
            }
        }
    }

    /// Writes a register of the serial flash interface (SSI) at a byte offset. `access` holds the time in cycles and
    /// takes requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        let timing = matches!(offset, 0x00 | 0x04 | 0x08 | 0x14 | 0xf4);
        match offset {
            0x00 => self.ctrlr0 = value & 0x017f_ffff,
            0x04 => self.ctrlr1 = value & 0xffff,
            0x08 => {
                self.ssienr = value & 1;
                if value & 1 == 0 {
                    self.rx.clear();
                    if self.flash.set_chip_select(false) {
                        access.effects.limit = Some(&RAW_FLASH);
                    }
                }
            }
            0x10 => self.ser = value & 1,
            0x14 => self.baudr = value & 0xffff,
            0x18 => self.txftlr = value & 0xff,
            0x1c => self.rxftlr = value & 0xff,
            0x2c => self.imr = value & 0x3f,
            0x4c => self.dmacr = value & 3,
            0x60..=0xec => {
                if self.ssienr & 1 != 0 {
                    self.transfer_spi_frame(value);
                }
            }
            0xf0 => self.rx_sample_dly = value & 0xff,
            0xf4 => self.spi_ctrlr0 = value & 0xff07_fb3f,
            0xf8 => self.txd_drive_edge = value & 0xff,
            0x0c..=0x5c => {}
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        access.effects.xip_timing_changed |= timing;
    }

    /// Returns the value of a register of the serial flash interface (SSI) at a byte offset, without the side effects
    /// of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.ctrlr0,
            0x04 => self.ctrlr1,
            0x08 => self.ssienr,
            0x10 => self.ser,
            0x14 => self.baudr,
            0x18 => self.txftlr,
            0x1c => self.rxftlr,
            0x24 => self.rx.len() as u32,
            0x28 => self.status_register(),
            0x2c => self.imr,
            0x4c => self.dmacr,
            0x58 => IDR,
            0x5c => VERSION,
            0xf0 => self.rx_sample_dly,
            0xf4 => self.spi_ctrlr0,
            0xf8 => self.txd_drive_edge,
            _ => 0,
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for DR only.
    fn is_strobe(&self, offset: u32) -> bool {
        (0x60..=0xec).contains(&offset)
    }
}

#[cfg(test)]
mod tests;
