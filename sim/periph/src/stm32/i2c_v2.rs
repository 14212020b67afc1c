//! I2C of L0, F7 and H7 as a master (RM0367, RM0410 and RM0433 "I2C"): the block counts the bytes of a transfer.
//!
//! A byte with its acknowledge takes nine periods of SCL, START and STOP one each. A period is SCLL + 1 and SCLH + 1
//! times the prescaled clock, and twice the synchronisation of SCL: two cycles of the kernel clock and the digital
//! filter.

use super::block::{Access, Block};
use crate::NEVER;
use crate::device::I2cBus;

const CR1_PE: u32 = 1;
const CR1_TXDMAEN: u32 = 1 << 14;
const CR1_RXDMAEN: u32 = 1 << 15;
const CR2_READ: u32 = 1 << 10;
const CR2_ADD10: u32 = 1 << 11;
const CR2_START: u32 = 1 << 13;
const CR2_STOP: u32 = 1 << 14;
const CR2_RELOAD: u32 = 1 << 24;
const CR2_AUTOEND: u32 = 1 << 25;
const ISR_TXE: u32 = 1;
const ISR_TXIS: u32 = 1 << 1;
const ISR_RXNE: u32 = 1 << 2;
const ISR_NACKF: u32 = 1 << 4;
const ISR_STOPF: u32 = 1 << 5;
const ISR_TC: u32 = 1 << 6;
const ISR_TCR: u32 = 1 << 7;
const ISR_BUSY: u32 = 1 << 15;
/// Flags that ICR clears.
const CLEARABLE: u32 = 0x3f38;
/// Interrupt enables of CR1 and the flags that they enable.
const EVENTS: [(u32, u32); 5] =
    [(1 << 1, ISR_TXIS), (1 << 2, ISR_RXNE), (1 << 4, ISR_NACKF), (1 << 5, ISR_STOPF), (1 << 6, ISR_TC | ISR_TCR)];
/// Periods of a byte with its acknowledge.
const BYTE: u64 = 9;

/// The present phase of the I2C bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Address,
    Sending(u8),
    /// Nothing to send yet.
    Unsent,
    Receiving,
    /// A byte is received, and the one before it has not been read.
    Held(u8),
    /// All bytes are transferred (TC), or those before a reload (TCR).
    Complete,
    Stop,
}

/// One I2C controller of the chip.
#[derive(Debug, Clone)]
pub struct I2cV2 {
    cr1: u32,
    cr2: u32,
    oar: [u32; 2],
    timing: u32,
    timeout: u32,
    /// NACKF and STOPF.
    flags: u32,
    tx: Option<u8>,
    rx: Option<u8>,
    /// Bytes of the transfer that are still to come.
    left: u32,
    /// The transfer goes on when NBYTES is written again.
    reload: bool,
    phase: Phase,
    /// Cycle at which the phase ends.
    end: u64,
    /// The devices at the other end.
    pub bus: I2cBus,
}

impl Default for I2cV2 {
    /// Returns the I2C controller in its reset state.
    fn default() -> Self {
        Self {
            cr1: 0,
            cr2: 0,
            oar: [0; 2],
            timing: 0,
            timeout: 0,
            flags: 0,
            tx: None,
            rx: None,
            left: 0,
            reload: false,
            phase: Phase::Idle,
            end: NEVER,
            bus: I2cBus::default(),
        }
    }
}

impl I2cV2 {
    /// Returns the core cycles of this number of SCL periods.
    fn cycles_of_scl_periods(&self, periods: u64, access: &Access) -> u64 {
        let field = |shift: u32, mask: u32| u64::from(self.timing >> shift & mask);
        let prescaled = (field(8, 0xff) + 1 + field(0, 0xff) + 1) * (field(28, 15) + 1);
        let synchronised = 2 * (2 + u64::from(self.cr1 >> 8 & 15));
        match access.clock_hz {
            0 => NEVER,
            hz => (periods * (prescaled + synchronised) * access.core_hz).div_ceil(hz),
        }
    }

    /// Begins a phase of the transfer at cycle `at`. It takes this many periods of SCL.
    fn enter_bus_phase(&mut self, phase: Phase, at: u64, periods: u64, access: &Access) {
        self.phase = phase;
        self.end = at.saturating_add(self.cycles_of_scl_periods(periods, access));
    }

    /// Enters a phase in which SCL stays low until firmware acts.
    fn stretch_clock_in_phase(&mut self, phase: Phase) {
        (self.phase, self.end) = (phase, NEVER);
    }

    /// Returns whether firmware has asked for a read (CR2.RD_WRN), rather than a write.
    fn is_i2c_read_requested(&self) -> bool {
        self.cr2 & CR2_READ != 0
    }

    /// Begins the START, STOP or data that CR2 requests, if the bus waits for it.
    fn begin_requested_i2c_transfer(&mut self, at: u64, access: &Access) {
        if self.cr1 & CR1_PE == 0 || self.end != NEVER {
            return;
        }
        let may_start = matches!(self.phase, Phase::Idle | Phase::Complete);
        if may_start && self.cr2 & CR2_START != 0 {
            self.left = self.cr2 >> 16 & 0xff;
            let bytes = if self.cr2 & CR2_ADD10 != 0 { 2 } else { 1 };
            self.enter_bus_phase(Phase::Address, at, 1 + bytes * BYTE, access);
        } else if matches!(self.phase, Phase::Complete | Phase::Unsent) && self.cr2 & CR2_STOP != 0 {
            self.enter_bus_phase(Phase::Stop, at, 1, access);
        }
    }

    /// Ends the present phase of the transfer at cycle `at`, and begins what follows.
    fn finish_bus_phase(&mut self, at: u64, access: &Access) {
        let now_ns = access.elapsed.ns_at(at);
        self.end = NEVER;
        match self.phase {
            Phase::Address => {
                self.cr2 &= !CR2_START;
                let address = if self.cr2 & CR2_ADD10 != 0 { self.cr2 & 0x3ff } else { self.cr2 >> 1 & 0x7f };
                if self.bus.i2c_start(address as u16, self.is_i2c_read_requested(), now_ns) {
                    self.continue_or_end_transfer(at, access);
                } else {
                    self.stop_unacknowledged_transfer(at, access);
                }
            }
            Phase::Sending(byte) if self.bus.i2c_write(byte, now_ns) => {
                self.left -= 1;
                self.continue_or_end_transfer(at, access);
            }
            Phase::Sending(_) => self.stop_unacknowledged_transfer(at, access),
            Phase::Receiving => {
                let byte = self.bus.i2c_read(now_ns);
                self.left -= 1;
                if self.rx.is_none() {
                    self.rx = Some(byte);
                    self.continue_or_end_transfer(at, access);
                } else {
                    self.stretch_clock_in_phase(Phase::Held(byte));
                }
            }
            Phase::Stop => {
                self.bus.i2c_stop(now_ns);
                self.cr2 &= !CR2_STOP;
                self.flags |= ISR_STOPF;
                self.stretch_clock_in_phase(Phase::Idle);
            }
            _ => {}
        }
        self.begin_requested_i2c_transfer(at, access);
    }

    /// Ends the transfer with STOP, because no device has acknowledged.
    fn stop_unacknowledged_transfer(&mut self, at: u64, access: &Access) {
        self.flags |= ISR_NACKF;
        self.tx = None;
        self.enter_bus_phase(Phase::Stop, at, 1, access);
    }

    /// Goes on with the next byte of the transfer, or ends it.
    fn continue_or_end_transfer(&mut self, at: u64, access: &Access) {
        if self.left == 0 {
            let ends = self.cr2 & (CR2_RELOAD | CR2_AUTOEND) == CR2_AUTOEND;
            if ends {
                self.enter_bus_phase(Phase::Stop, at, 1, access)
            } else {
                self.stretch_clock_in_phase(Phase::Complete)
            }
        } else if self.is_i2c_read_requested() {
            self.enter_bus_phase(Phase::Receiving, at, BYTE, access);
        } else {
            self.stretch_clock_in_phase(Phase::Unsent);
            self.send_next_byte(at, access);
        }
    }

    /// Begins to send the byte in TXDR, if there is one.
    fn send_next_byte(&mut self, at: u64, access: &Access) {
        if let Some(byte) = self.tx.take() {
            self.enter_bus_phase(Phase::Sending(byte), at, BYTE, access);
        }
    }

    /// Returns the value of ISR, the status register.
    fn status_register(&self) -> u32 {
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        // A byte that is being sent still counts as left.
        let wanted = match self.phase {
            Phase::Unsent => self.left > 0,
            Phase::Sending(_) => self.left > 1,
            _ => false,
        };
        let complete = self.phase == Phase::Complete;
        let reloads = self.cr2 & CR2_RELOAD != 0;
        flag(self.tx.is_none(), ISR_TXE)
            | flag(wanted && self.tx.is_none(), ISR_TXIS)
            | flag(self.rx.is_some(), ISR_RXNE)
            | flag(complete && !reloads, ISR_TC)
            | flag(complete && reloads, ISR_TCR)
            | flag(self.phase != Phase::Idle, ISR_BUSY)
            | self.flags
    }

    /// Returns the requests to the DMA: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        let status = self.status_register();
        (self.cr1 & CR1_TXDMAEN != 0 && status & ISR_TXIS != 0, self.cr1 & CR1_RXDMAEN != 0 && status & ISR_RXNE != 0)
    }

    /// Reads RXDR, the data register. A byte that was held back on the bus moves there.
    fn read_data_register(&mut self, access: &Access) -> u32 {
        let byte = self.rx.take().unwrap_or(0);
        if let Phase::Held(held) = self.phase {
            self.rx = Some(held);
            self.continue_or_end_transfer(access.now, access);
        }
        u32::from(byte)
    }

    /// Writes CR2. START and STOP stay set until they were sent.
    fn write_control(&mut self, value: u32, access: &Access) {
        let pending = self.cr2 & (CR2_START | CR2_STOP);
        self.cr2 = value & 0x07ff_ffff | pending;
        let bytes = value >> 16 & 0xff;
        if self.reload && self.phase == Phase::Complete && value & CR2_START == 0 && bytes != 0 {
            self.left = bytes;
            self.continue_or_end_transfer(access.now, access);
        }
        self.reload = self.cr2 & CR2_RELOAD != 0;
    }

    /// Writes CR1. Disabling the block ends its transfer.
    fn write_enable_register(&mut self, value: u32, access: &Access) {
        self.cr1 = value & 0x00ff_dfff;
        if self.cr1 & CR1_PE == 0 {
            if self.phase != Phase::Idle {
                self.bus.i2c_stop(access.elapsed.ns_at(access.now));
            }
            self.cr2 &= !(CR2_START | CR2_STOP);
            (self.flags, self.tx, self.rx) = (0, None, None);
            self.stretch_clock_in_phase(Phase::Idle);
        }
    }
}

impl Block for I2cV2 {
    /// Puts the registers of the I2C controller to their reset values. The attached devices stay.
    fn reset_registers(&mut self) {
        *self = Self { bus: std::mem::take(&mut self.bus), ..Self::default() };
    }

    /// Reads a register of the I2C controller at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes. A read of RXDR takes the received byte.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if offset == 0x24 {
            let byte = self.read_data_register(access);
            self.begin_requested_i2c_transfer(access.now, access);
            return byte;
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of the I2C controller at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.write_enable_register(value, access),
            0x04 => self.write_control(value, access),
            0x08 | 0x0c => self.oar[(offset as usize - 8) / 4] = value & 0xffff,
            0x10 => self.timing = value & 0xf0ff_ffff,
            0x14 => self.timeout = value & 0x8fff_9fff,
            // TXE flushes the data register.
            0x18 if value & ISR_TXE != 0 => self.tx = None,
            0x18 | 0x20 | 0x24 => {}
            0x1c => self.flags &= !(value & CLEARABLE),
            0x28 => {
                self.tx = Some(value as u8);
                if self.phase == Phase::Unsent {
                    self.send_next_byte(access.now, access);
                }
            }
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        self.begin_requested_i2c_transfer(access.now, access);
    }

    /// Returns the value of a register of the I2C controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cr1,
            0x04 => self.cr2,
            0x08 | 0x0c => self.oar[(offset as usize - 8) / 4],
            0x10 => self.timing,
            0x14 => self.timeout,
            0x18 => self.status_register(),
            0x24 => u32::from(self.rx.unwrap_or(0)),
            0x28 => u32::from(self.tx.unwrap_or(0)),
            _ => 0,
        }
    }

    /// Returns whether a narrow write fills the other bytes of this register with 0, because 0 bits have no effect
    /// there. This holds for ICR only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x1c
    }

    /// Returns the core cycle of the next end of a phase of the transfer (START, byte or STOP), or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.end
    }

    /// Carries out the phases of the transfer (START, byte, STOP) that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        while self.end <= access.now {
            let end = self.end;
            self.finish_bus_phase(end, access);
        }
    }

    /// Returns the levels of the interrupt outputs: bit 0 for events, bit 1 for errors, of which a bus with correct
    /// devices has none.
    fn interrupt_outputs(&self) -> u32 {
        let status = self.status_register();
        u32::from(EVENTS.iter().any(|&(enable, flags)| self.cr1 & enable != 0 && status & flags != 0))
    }
}

#[cfg(test)]
mod tests;
