//! I2C of F1 and F4 as a master (RM0008 and RM0090 "I2C"): one event after the other, each cleared by firmware.
//!
//! A byte with its acknowledge takes nine periods of SCL, START and STOP one each. A period is 2 × CCR of the bus clock
//! in standard mode, 3 × or 25 × CCR in fast mode. SCL stays low while the block waits for firmware.

use super::block::{Access, Block};
use crate::NEVER;
use crate::device::I2cBus;

const CR1_PE: u32 = 1;
const CR1_START: u32 = 1 << 8;
const CR1_STOP: u32 = 1 << 9;
const CR1_ACK: u32 = 1 << 10;
const CR1_POS: u32 = 1 << 11;
const CR1_SWRST: u32 = 1 << 15;
const CR2_ITERREN: u32 = 1 << 8;
const CR2_ITEVTEN: u32 = 1 << 9;
const CR2_ITBUFEN: u32 = 1 << 10;
const CR2_DMAEN: u32 = 1 << 11;
const CR2_LAST: u32 = 1 << 12;
const SR1_SB: u32 = 1;
const SR1_ADDR: u32 = 1 << 1;
const SR1_BTF: u32 = 1 << 2;
const SR1_ADD10: u32 = 1 << 3;
const SR1_RXNE: u32 = 1 << 6;
const SR1_TXE: u32 = 1 << 7;
const SR1_AF: u32 = 1 << 10;
/// Flags that go when a 0 is written to them.
const SR1_ERRORS: u32 = 0xdf00;
const SR2_MSL: u32 = 1;
const SR2_BUSY: u32 = 1 << 1;
const SR2_TRA: u32 = 1 << 2;
const CCR_DUTY: u32 = 1 << 14;
const CCR_FS: u32 = 1 << 15;
const TRISE_RESET: u32 = 2;
/// Periods of a byte with its acknowledge.
const BYTE: u64 = 9;

/// The present phase of the I2C bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No transfer of this master.
    Idle,
    Start,
    /// START is sent, and firmware must give the address.
    Started,
    Address(u8),
    /// The address is acknowledged, and firmware must look at it. Whether it reads.
    Addressed(bool),
    Sending(u8),
    /// Nothing to send yet.
    Unsent,
    Receiving,
    /// A byte is received, and the one before it has not been read.
    Held(u8),
    /// Nobody acknowledged, or the last byte is received: only STOP or START goes on.
    Ended,
    Stop,
}

/// One I2C controller of the chip.
#[derive(Debug, Clone)]
pub struct I2cV1 {
    cr1: u32,
    cr2: u32,
    oar: [u32; 2],
    ccr: u32,
    trise: u32,
    fltr: u32,
    /// SB, ADDR, BTF, ADD10 and errors. RXNE and TXE follow from the data register.
    sr1: u32,
    /// SR1 was read with SB or ADDR.
    looked: bool,
    transmits: bool,
    data: Option<u8>,
    /// The byte behind the data register, after a transfer that ended with two.
    held_after: Option<u8>,
    /// The first byte of a reception with POS has come.
    second_byte: bool,
    /// The DMA announced that the next byte is the last one.
    refuses_next: bool,
    /// The last byte was not acknowledged.
    refused: bool,
    phase: Phase,
    /// Cycle at which the phase ends.
    end: u64,
    /// The devices at the other end.
    pub bus: I2cBus,
}

impl Default for I2cV1 {
    /// Returns the I2C controller in its reset state.
    fn default() -> Self {
        Self {
            cr1: 0,
            cr2: 0,
            oar: [0; 2],
            ccr: 0,
            trise: TRISE_RESET,
            fltr: 0,
            sr1: 0,
            looked: false,
            transmits: false,
            data: None,
            held_after: None,
            second_byte: false,
            refuses_next: false,
            refused: false,
            phase: Phase::Idle,
            end: NEVER,
            bus: I2cBus::default(),
        }
    }
}

impl I2cV1 {
    /// Returns the core cycles of this number of SCL periods.
    fn cycles_of_scl_periods(&self, periods: u64, access: &Access) -> u64 {
        let clocks = match (self.ccr & CCR_FS != 0, self.ccr & CCR_DUTY != 0) {
            (false, _) => 2,
            (true, false) => 3,
            (true, true) => 25,
        };
        let count = u64::from(self.ccr & 0xfff).max(1) * clocks;
        match access.clock_hz {
            0 => NEVER,
            hz => (periods * count * access.core_hz).div_ceil(hz),
        }
    }

    /// Begins a phase of the transfer at cycle `at`, which ends after this many periods of SCL.
    fn enter_bus_phase(&mut self, phase: Phase, at: u64, periods: u64, access: &Access) {
        self.phase = phase;
        self.end = at.saturating_add(self.cycles_of_scl_periods(periods, access));
    }

    /// Enters a phase in which SCL stays low until firmware acts.
    fn stretch_clock_in_phase(&mut self, phase: Phase) {
        (self.phase, self.end) = (phase, NEVER);
    }

    /// Begins the START or STOP that firmware requests, if the bus is between two bytes. Returns true if there was one.
    fn begin_i2c_start_or_stop(&mut self, at: u64, access: &Access) -> bool {
        let may_stop = !matches!(self.phase, Phase::Idle | Phase::Start | Phase::Stop | Phase::Addressed(_));
        let between = self.end == NEVER;
        if between && may_stop && self.cr1 & CR1_STOP != 0 {
            self.accept_byte_held_on_bus();
            self.sr1 &= !(SR1_BTF | SR1_SB);
            self.enter_bus_phase(Phase::Stop, at, 1, access);
            return true;
        }
        let may_start = !matches!(self.phase, Phase::Started | Phase::Addressed(_));
        if between && may_start && self.cr1 & CR1_START != 0 {
            self.accept_byte_held_on_bus();
            self.sr1 &= !SR1_BTF;
            self.enter_bus_phase(Phase::Start, at, 1, access);
            return true;
        }
        false
    }

    /// Keeps the byte that was held back on the bus, for a read after the transfer.
    fn accept_byte_held_on_bus(&mut self) {
        if let Phase::Held(byte) = self.phase {
            self.held_after = Some(byte);
        }
    }

    /// Ends the present phase of the transfer at cycle `at`, and begins what follows.
    fn finish_bus_phase(&mut self, at: u64, access: &Access) {
        let now_ns = access.elapsed.ns_at(at);
        self.end = NEVER;
        match self.phase {
            Phase::Start => {
                self.cr1 &= !CR1_START;
                self.sr1 |= SR1_SB;
                self.stretch_clock_in_phase(Phase::Started);
            }
            Phase::Address(byte) => {
                let reads = byte & 1 != 0;
                if self.bus.i2c_start(u16::from(byte >> 1), reads, now_ns) {
                    self.transmits = !reads;
                    self.sr1 |= SR1_ADDR;
                    self.stretch_clock_in_phase(Phase::Addressed(reads));
                } else {
                    self.sr1 |= SR1_AF;
                    self.stretch_clock_in_phase(Phase::Ended);
                }
            }
            Phase::Sending(byte) => {
                if !self.bus.i2c_write(byte, now_ns) {
                    self.sr1 |= SR1_AF;
                    self.stretch_clock_in_phase(Phase::Ended);
                } else if self.cr1 & (CR1_STOP | CR1_START) == 0 || self.data.is_some() {
                    self.stretch_clock_in_phase(Phase::Unsent);
                    self.send_next_byte(at, access);
                    if self.phase == Phase::Unsent {
                        self.sr1 |= SR1_BTF;
                    }
                } else {
                    self.stretch_clock_in_phase(Phase::Unsent);
                }
            }
            Phase::Receiving => self.receive_byte(at, now_ns, access),
            Phase::Stop => {
                self.bus.i2c_stop(now_ns);
                self.cr1 &= !CR1_STOP;
                self.transmits = false;
                self.stretch_clock_in_phase(Phase::Idle);
            }
            _ => {}
        }
        self.begin_i2c_start_or_stop(at, access);
    }

    /// Begins to send the byte in the data register, if there is one.
    fn send_next_byte(&mut self, at: u64, access: &Access) {
        if let Some(byte) = self.data.take() {
            self.sr1 &= !SR1_BTF;
            self.enter_bus_phase(Phase::Sending(byte), at, BYTE, access);
        }
    }

    /// Takes a byte that was received completely, and acknowledges it or not. With POS, ACK is that of the byte after
    /// it.
    fn receive_byte(&mut self, at: u64, now_ns: u64, access: &Access) {
        let byte = self.bus.i2c_read(now_ns);
        let acknowledges = if self.cr1 & CR1_POS != 0 && !self.second_byte {
            self.second_byte = true;
            true
        } else {
            self.cr1 & CR1_ACK != 0 && !std::mem::take(&mut self.refuses_next)
        };
        self.refused = !acknowledges;
        if self.data.is_none() {
            self.data = Some(byte);
            self.receive_next_byte(at, access);
        } else {
            self.sr1 |= SR1_BTF;
            self.stretch_clock_in_phase(Phase::Held(byte));
        }
    }

    /// Begins to receive the next byte, unless the last one was not acknowledged or the transfer ends.
    fn receive_next_byte(&mut self, at: u64, access: &Access) {
        if self.refused || self.cr1 & (CR1_STOP | CR1_START) != 0 {
            self.stretch_clock_in_phase(Phase::Ended);
        } else {
            self.enter_bus_phase(Phase::Receiving, at, BYTE, access);
        }
    }

    /// Clears ADDR, because firmware has read both status registers, and continues with the data.
    fn clear_address_flag(&mut self, access: &Access) {
        let Phase::Addressed(reads) = self.phase else { return };
        self.sr1 &= !SR1_ADDR;
        (self.second_byte, self.refused, self.refuses_next) = (false, false, false);
        if reads {
            self.enter_bus_phase(Phase::Receiving, access.now, BYTE, access);
        } else {
            self.stretch_clock_in_phase(Phase::Unsent);
            self.send_next_byte(access.now, access);
        }
    }

    /// Returns the value of SR1, the first status register.
    fn status_register(&self) -> u32 {
        let in_data = matches!(self.phase, Phase::Unsent | Phase::Sending(_));
        let ready = self.transmits && in_data && self.data.is_none();
        let received = !self.transmits && self.data.is_some();
        self.sr1 | if ready { SR1_TXE } else { 0 } | if received { SR1_RXNE } else { 0 }
    }

    /// Returns the requests to the DMA: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        let (status, on) = (self.status_register(), self.cr2 & CR2_DMAEN != 0);
        (on && status & SR1_TXE != 0, on && status & SR1_RXNE != 0)
    }

    /// Notes that the DMA has moved a byte, and that `left` bytes are left. With LAST the block does not acknowledge
    /// the last one.
    pub(super) fn count_dma_byte(&mut self, left: u32) {
        self.refuses_next = self.cr2 & CR2_LAST != 0 && left == 1;
    }

    /// Returns the value of SR2, the second status register.
    fn second_status_register(&self) -> u32 {
        let active = !matches!(self.phase, Phase::Idle | Phase::Start);
        (if active { SR2_MSL | SR2_BUSY } else { 0 }) | if self.transmits && active { SR2_TRA } else { 0 }
    }

    /// Reads DR, the data register. A byte that was held back on the bus moves there.
    fn read_data_register(&mut self, access: &Access) -> u32 {
        if self.transmits {
            return u32::from(self.data.unwrap_or(0));
        }
        let taken = self.data.take().unwrap_or(0);
        self.data = self.held_after.take();
        if let Phase::Held(byte) = self.phase {
            self.sr1 &= !SR1_BTF;
            self.data = Some(byte);
            self.receive_next_byte(access.now, access);
        }
        u32::from(taken)
    }

    /// Writes DR, the data register: the address after START, else data.
    fn write_data_register(&mut self, byte: u8, access: &Access) {
        match self.phase {
            Phase::Started => {
                self.sr1 &= !SR1_SB;
                self.enter_bus_phase(Phase::Address(byte), access.now, BYTE, access);
            }
            Phase::Unsent => {
                self.data = Some(byte);
                self.send_next_byte(access.now, access);
            }
            Phase::Sending(_) | Phase::Addressed(false) => self.data = Some(byte),
            _ => {}
        }
    }

    /// Writes CR1.
    fn write_control(&mut self, value: u32, access: &Access) {
        if value & CR1_SWRST != 0 {
            Block::reset_registers(self);
            self.cr1 = CR1_SWRST;
            return;
        }
        self.cr1 = value & 0x7ffb;
        if self.cr1 & CR1_PE == 0 {
            if self.phase != Phase::Idle {
                self.bus.i2c_stop(access.elapsed.ns_at(access.now));
            }
            self.cr1 &= !(CR1_START | CR1_STOP | CR1_ACK | CR1_POS);
            (self.sr1, self.data, self.held_after, self.transmits) = (0, None, None, false);
            self.stretch_clock_in_phase(Phase::Idle);
        }
        // STOP of a master that is idle is not kept.
        if self.phase == Phase::Idle {
            self.cr1 &= !CR1_STOP;
        }
    }
}

impl Block for I2cV1 {
    /// Puts the registers of the I2C controller to their reset values. The attached devices stay.
    fn reset_registers(&mut self) {
        *self = Self { bus: std::mem::take(&mut self.bus), ..Self::default() };
    }

    /// Reads a register of the I2C controller at a byte offset. `access` holds the time in core cycles and the number
    /// of bytes. A read of DR takes the received byte. Reads of the status registers clear flags.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        match offset {
            0x10 => {
                let byte = self.read_data_register(access);
                self.begin_i2c_start_or_stop(access.now, access);
                byte
            }
            0x14 => {
                self.looked = self.sr1 & SR1_ADDR != 0;
                self.status_register()
            }
            0x18 => {
                let status = self.second_status_register();
                if std::mem::take(&mut self.looked) {
                    self.clear_address_flag(access);
                    self.begin_i2c_start_or_stop(access.now, access);
                }
                status
            }
            _ => self.peek_register(offset, access),
        }
    }

    /// Writes a register of the I2C controller at a byte offset. `access` holds the time in core cycles and takes
    /// requests to the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.write_control(value, access),
            0x04 => self.cr2 = value & 0x1f3f,
            0x08 | 0x0c => self.oar[(offset as usize - 8) / 4] = value & 0xffff,
            0x10 => self.write_data_register(value as u8, access),
            0x14 => self.sr1 &= value | !SR1_ERRORS,
            0x18 => {}
            0x1c => self.ccr = value & 0xcfff,
            0x20 => self.trise = value & 0x3f,
            0x24 => self.fltr = value & 0x1f,
            _ => access.effects.unmodelled = Some((offset, true)),
        }
        self.begin_i2c_start_or_stop(access.now, access);
    }

    /// Returns the value of a register of the I2C controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.cr1,
            0x04 => self.cr2,
            0x08 | 0x0c => self.oar[(offset as usize - 8) / 4],
            0x10 => u32::from(self.data.unwrap_or(0)),
            0x14 => self.status_register(),
            0x18 => self.second_status_register(),
            0x1c => self.ccr,
            0x20 => self.trise,
            0x24 => self.fltr,
            _ => 0,
        }
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

    /// Returns the levels of the interrupt outputs: bit 0 for events, bit 1 for errors.
    fn interrupt_outputs(&self) -> u32 {
        let status = self.status_register();
        let buffer = if self.cr2 & CR2_ITBUFEN != 0 { SR1_TXE | SR1_RXNE } else { 0 };
        let events = status & (SR1_SB | SR1_ADDR | SR1_BTF | SR1_ADD10 | buffer);
        let event = self.cr2 & CR2_ITEVTEN != 0 && events != 0;
        u32::from(event) | u32::from(self.cr2 & CR2_ITERREN != 0 && status & SR1_ERRORS != 0) << 1
    }
}

#[cfg(test)]
mod tests;
