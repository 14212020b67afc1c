//! DW_apb_i2c (RP2040 data sheet 4.3) as a master: commands from a FIFO of sixteen, at the rate of the SCL counts.
//!
//! An address or data byte takes nine periods of SCL, a START and a STOP one each. A period is HCNT + SPKLEN + 7 cycles
//! high and LCNT + 1 cycles low (4.3.14). While commands are missing, SCL stays low and the transfer goes on with the
//! next one.

use std::collections::VecDeque;

use crate::device::I2cBus;
use crate::{Access, NEVER, Peripheral};

const FIFO_DEPTH: usize = 16;
const INT_RX_UNDER: u32 = 1;
const INT_RX_OVER: u32 = 1 << 1;
const INT_RX_FULL: u32 = 1 << 2;
const INT_TX_OVER: u32 = 1 << 3;
const INT_TX_EMPTY: u32 = 1 << 4;
const INT_TX_ABRT: u32 = 1 << 6;
const INT_ACTIVITY: u32 = 1 << 8;
const INT_STOP_DET: u32 = 1 << 9;
const INT_START_DET: u32 = 1 << 10;
const INT_RESTART_DET: u32 = 1 << 12;
/// TX_ABRT_SOURCE: nobody acknowledged a seven-bit address, a ten-bit one, or a data byte. ABORT_USER is by request.
const ABORT_7B_ADDRESS: u32 = 1;
const ABORT_10B_ADDRESS: u32 = 1 << 1;
const ABORT_DATA: u32 = 1 << 3;
const ABORT_USER: u32 = 1 << 16;
const CON_RESET: u32 = 0x65;
const CON_TEN_BITS: u32 = 1 << 4;
const CON_TX_EMPTY_CTRL: u32 = 1 << 8;
const COMMAND_READ: u32 = 1 << 8;
const COMMAND_STOP: u32 = 1 << 9;
const COMMAND_RESTART: u32 = 1 << 10;

/// Plain registers with their offset, reset value and writable bits.
const PLAIN: [(u32, u32, u32); 14] = [
    (0x04, 0x055, 0xfff),
    (0x08, 0x055, 0x3ff),
    (0x14, 0x0028, 0xffff),
    (0x18, 0x002f, 0xffff),
    (0x1c, 0x0006, 0xffff),
    (0x20, 0x000d, 0xffff),
    (0x38, 0, 0xff),
    (0x3c, 0, 0xff),
    (0x7c, 1, 0xff_ffff),
    (0x84, 0, 1),
    (0x88, 0, 3),
    (0x8c, 0, 15),
    (0x90, 0, 15),
    (0xa0, 7, 0xff),
];
/// Constants: COMP_PARAM_1, COMP_VERSION, COMP_TYPE.
const CONSTANTS: [(u32, u32); 3] = [(0xf4, 0), (0xf8, 0x3230_312a), (0xfc, 0x4457_0140)];

/// The present phase of the I2C bus: start, address, data, stop and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No transfer.
    Idle,
    /// START or repeated START and the address, before this command's byte.
    Address(u32),
    /// A byte of data.
    Data(u32),
    /// A transfer that waits for the next command, with its direction.
    Waiting { reads: bool },
    /// STOP.
    Stop,
}

/// One I2C controller of the RP2040.
#[derive(Debug, Clone)]
pub struct I2c {
    irq: u32,
    con: u32,
    plain: [u32; PLAIN.len()],
    mask: u32,
    /// Raw interrupts that are latched.
    raw: u32,
    enabled: bool,
    abort_source: u32,
    tx: VecDeque<u32>,
    rx: VecDeque<u8>,
    phase: Phase,
    /// Cycle at which the phase ends.
    end: u64,
    /// The devices at the other end.
    pub bus: I2cBus,
}

impl I2c {
    /// Creates an I2C controller on NVIC line `irq`.
    #[must_use]
    pub fn new(irq: u32) -> Self {
        Self {
            irq,
            con: CON_RESET,
            plain: PLAIN.map(|(_, reset, _)| reset),
            mask: 0x8ff,
            raw: 0,
            enabled: false,
            abort_source: 0,
            tx: VecDeque::new(),
            rx: VecDeque::new(),
            phase: Phase::Idle,
            end: NEVER,
            bus: I2cBus::default(),
        }
    }

    /// Returns the value of a register that only stores what is written.
    fn value_of_storage_only_register(&self, offset: u32) -> u32 {
        PLAIN.iter().position(|plain| plain.0 == offset).map_or(0, |index| self.plain[index])
    }

    /// Returns whether the controller requests DMA transfers: (transmit, receive).
    #[must_use]
    pub fn dma_requests(&self) -> (bool, bool) {
        let control = self.value_of_storage_only_register(0x88);
        let room = self.tx.len() as u32 <= self.value_of_storage_only_register(0x8c) && self.enabled;
        (control & 2 != 0 && room, control & 1 != 0 && self.rx.len() as u32 > self.value_of_storage_only_register(0x90))
    }

    /// Returns the clk_sys cycles of a period of SCL.
    fn scl_period_cycles(&self) -> u64 {
        let (high, low) = if self.con >> 1 & 3 == 1 { (0x14, 0x18) } else { (0x1c, 0x20) };
        u64::from(
            self.value_of_storage_only_register(high)
                + self.value_of_storage_only_register(0xa0)
                + 7
                + self.value_of_storage_only_register(low)
                + 1,
        )
    }

    /// Returns whether targets have ten-bit addresses.
    fn has_ten_bit_addresses(&self) -> bool {
        self.con & CON_TEN_BITS != 0
    }

    /// Returns whether a byte or an address is being transferred on the bus.
    fn is_sending(&self) -> bool {
        matches!(self.phase, Phase::Address(_) | Phase::Data(_))
    }

    /// Enters a phase that takes `periods` periods of SCL from cycle `at` on.
    fn enter_bus_phase(&mut self, phase: Phase, at: u64, periods: u64) {
        self.phase = phase;
        self.end = at + periods * self.scl_period_cycles();
    }

    /// Starts the next command at cycle `at`, if there is one and the bus is idle.
    fn start_next_i2c_command(&mut self, at: u64) {
        let reads = match self.phase {
            Phase::Idle if self.enabled => None,
            Phase::Waiting { reads } => Some(reads),
            _ => return,
        };
        let Some(command) = self.tx.pop_front() else { return };
        let starts = reads.is_none_or(|reads| reads != (command & COMMAND_READ != 0) || command & COMMAND_RESTART != 0);
        if starts {
            self.raw |= INT_ACTIVITY | INT_START_DET | if reads.is_some() { INT_RESTART_DET } else { 0 };
            // The address again as one byte after a repeated START of a ten-bit transfer.
            let bytes = if self.has_ten_bit_addresses() && reads.is_none() { 2 } else { 1 };
            self.enter_bus_phase(Phase::Address(command), at, 1 + 9 * bytes);
        } else {
            self.enter_bus_phase(Phase::Data(command), at, 9);
        }
    }

    /// Aborts the transfer: discards the commands that wait, and releases the bus.
    fn abort_transfer(&mut self, source: u32, at: u64) {
        self.raw |= INT_TX_ABRT;
        self.abort_source |= source;
        self.tx.clear();
        self.enter_bus_phase(Phase::Stop, at, 1);
    }

    /// Ends the current phase at cycle `at`, and starts what follows.
    fn finish_bus_phase(&mut self, at: u64, now_ns: u64) {
        self.end = NEVER;
        match self.phase {
            Phase::Address(command) => {
                let address = (self.value_of_storage_only_register(0x04)
                    & if self.has_ten_bit_addresses() { 0x3ff } else { 0x7f }) as u16;
                if self.bus.i2c_start(address, command & COMMAND_READ != 0, now_ns) {
                    self.enter_bus_phase(Phase::Data(command), at, 9);
                } else {
                    self.abort_transfer(
                        if self.has_ten_bit_addresses() { ABORT_10B_ADDRESS } else { ABORT_7B_ADDRESS },
                        at,
                    );
                }
            }
            Phase::Data(command) if command & COMMAND_READ != 0 => {
                let byte = self.bus.i2c_read(now_ns);
                if self.rx.len() < FIFO_DEPTH {
                    self.rx.push_back(byte)
                } else {
                    self.raw |= INT_RX_OVER
                }
                self.continue_i2c_transfer_after_byte(command, at);
            }
            Phase::Data(command) => {
                if self.bus.i2c_write(command as u8, now_ns) {
                    self.continue_i2c_transfer_after_byte(command, at);
                } else {
                    self.abort_transfer(ABORT_DATA, at);
                }
            }
            Phase::Stop => {
                self.bus.i2c_stop(now_ns);
                self.raw |= INT_STOP_DET;
                self.phase = Phase::Idle;
                self.start_next_i2c_command(at);
            }
            Phase::Idle | Phase::Waiting { .. } => {}
        }
    }

    /// Continues after a byte: with STOP, with the next command, or waiting for one.
    fn continue_i2c_transfer_after_byte(&mut self, command: u32, at: u64) {
        if command & COMMAND_STOP != 0 {
            self.enter_bus_phase(Phase::Stop, at, 1);
        } else {
            self.phase = Phase::Waiting { reads: command & COMMAND_READ != 0 };
            self.start_next_i2c_command(at);
        }
    }

    /// Writes IC_ENABLE: disabling ends a transfer and empties the FIFOs.
    fn write_enable_register(&mut self, value: u32, access: &Access) {
        let at = access.now_cycles;
        if value & 2 != 0 && self.phase != Phase::Idle {
            self.abort_transfer(ABORT_USER, at);
        }
        self.enabled = value & 1 != 0;
        if !self.enabled {
            if self.phase != Phase::Idle {
                self.bus.i2c_stop(access.ns_at(at));
            }
            (self.phase, self.end) = (Phase::Idle, NEVER);
            self.tx.clear();
            self.rx.clear();
        }
    }

    /// Returns the raw interrupts: latched ones and the levels of the FIFOs. A disabled controller does not report an
    /// empty FIFO.
    fn raw_interrupts(&self) -> u32 {
        let sent = self.con & CON_TX_EMPTY_CTRL == 0 || !self.is_sending();
        let empty = self.enabled && sent && self.tx.len() as u32 <= self.value_of_storage_only_register(0x3c);
        let full = self.rx.len() as u32 > self.value_of_storage_only_register(0x38);
        self.raw | if empty { INT_TX_EMPTY } else { 0 } | if full { INT_RX_FULL } else { 0 }
    }

    /// Returns the value of IC_STATUS.
    fn status_register(&self) -> u32 {
        let active = self.phase != Phase::Idle;
        let flags = [
            active,
            self.tx.len() < FIFO_DEPTH,
            self.tx.is_empty(),
            !self.rx.is_empty(),
            self.rx.len() == FIFO_DEPTH,
            active,
        ];
        flags.iter().enumerate().fold(0, |bits, (number, &flag)| bits | u32::from(flag) << number)
    }

    /// Returns whether a register has a fixed value.
    fn is_register_value_fixed(&self, offset: u32) -> bool {
        matches!(offset, 0x2c | 0x34 | 0x40..=0x68 | 0x70..=0x78 | 0x80 | 0x9c | 0xa8 | 0xf4..=0xfc)
    }

    /// Clears the interrupt whose CLR register was read.
    fn clear_read_interrupt(&mut self, offset: u32) {
        self.raw &= !match offset {
            0x40 => u32::MAX,
            0x44 => INT_RX_UNDER,
            0x48 => INT_RX_OVER,
            0x4c => INT_TX_OVER,
            0x54 => INT_TX_ABRT,
            0x5c if self.phase == Phase::Idle => INT_ACTIVITY,
            0x60 => INT_STOP_DET,
            0x64 => INT_START_DET,
            0xa8 => INT_RESTART_DET,
            _ => 0,
        };
        if matches!(offset, 0x40 | 0x54) {
            self.abort_source = 0;
        }
    }
}

impl Peripheral for I2c {
    const NAME: &'static str = "I2C";

    /// Puts the registers of an I2C controller to their reset values. The attached devices stay.
    fn reset_registers(&mut self) {
        *self = Self { bus: std::mem::take(&mut self.bus), ..Self::new(self.irq) };
    }

    /// Reads a register of an I2C controller at a byte offset. `access` holds the time in cycles and the requesting
    /// core. A read of DATA_CMD removes a received byte, and a read of a CLR register clears its interrupt.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        self.advance_to_now(access);
        if matches!(offset, 0x40..=0x68 | 0xa8) {
            self.clear_read_interrupt(offset);
            return 0;
        }
        if offset == 0x10 {
            let byte = self.rx.pop_front();
            self.raw |= if byte.is_none() { INT_RX_UNDER } else { 0 };
            return u32::from(byte.unwrap_or(0));
        }
        if offset > 0xfc {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek_register(offset, access)
    }

    /// Writes a register of an I2C controller at a byte offset. `access` holds the time in cycles and takes requests to
    /// the machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.advance_to_now(access);
        match offset {
            0x00 => self.con = value & 0x3ff,
            // What comes after an abort is discarded until firmware has acknowledged it.
            0x10 if !self.enabled || self.raw & INT_TX_ABRT != 0 => {}
            0x10 if self.tx.len() == FIFO_DEPTH => self.raw |= INT_TX_OVER,
            0x10 => self.tx.push_back(value & 0x7ff),
            0x30 => self.mask = value & 0x1fff,
            0x6c => self.write_enable_register(value, access),
            _ => match PLAIN.iter().position(|plain| plain.0 == offset) {
                Some(index) => self.plain[index] = value & PLAIN[index].2,
                None if self.is_register_value_fixed(offset) => {}
                None => access.effects.unmodelled = Some((offset, true)),
            },
        }
        self.start_next_i2c_command(access.now_cycles);
    }

    /// Returns the value of a register of an I2C controller at a byte offset, without the side effects of a read.
    fn peek_register(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.con,
            0x2c => self.raw_interrupts() & self.mask,
            0x30 => self.mask,
            0x34 => self.raw_interrupts(),
            0x6c | 0x9c => u32::from(self.enabled),
            0x70 => self.status_register(),
            0x74 => self.tx.len() as u32,
            0x78 => self.rx.len() as u32,
            0x80 => self.abort_source,
            _ => {
                let constant = CONSTANTS.iter().find(|constant| constant.0 == offset).map(|constant| constant.1);
                constant.unwrap_or_else(|| self.value_of_storage_only_register(offset))
            }
        }
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for IC_DATA_CMD only.
    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x10
    }

    /// Returns the cycle of the next end of a phase of the transfer (START, byte or STOP), or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.end
    }

    /// Carries out the phases of the transfer (START, byte, STOP) that have ended, up to the cycle in `access`.
    fn advance_to_now(&mut self, access: &mut Access) {
        while self.end <= access.now_cycles {
            let end = self.end;
            self.finish_bus_phase(end, access.ns_at(end));
        }
    }

    /// Returns the levels of the NVIC lines of an I2C controller, each at its number's bit.
    fn irq_levels(&self) -> u32 {
        u32::from(self.raw_interrupts() & self.mask != 0) << self.irq
    }
}

#[cfg(test)]
mod tests;
