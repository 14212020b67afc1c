//! DW_apb_i2c (RP2040 data sheet 4.3) on an empty bus: every transfer ends at once with "address not
//! acknowledged", as on a board with no device attached.

use crate::{Access, Peripheral};

const INT_TX_EMPTY: u32 = 1 << 4;
const INT_TX_ABRT: u32 = 1 << 6;
const INT_STOP_DET: u32 = 1 << 9;
/// TX_ABRT_SOURCE.ABRT_7B_ADDR_NOACK.
const ABORT_NO_ACK: u32 = 1;
/// STATUS: transmit FIFO not full and empty.
const STATUS: u32 = 1 << 1 | 1 << 2;
const CON_RESET: u32 = 0x65;

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

/// One I2C block.
#[derive(Debug, Clone)]
pub struct I2c {
    irq: u32,
    con: u32,
    plain: [u32; PLAIN.len()],
    mask: u32,
    raw: u32,
    enabled: bool,
    abort_source: u32,
}

impl I2c {
    /// An I2C on NVIC line `irq`.
    #[must_use]
    pub fn new(irq: u32) -> Self {
        let plain = PLAIN.map(|(_, reset, _)| reset);
        Self { irq, con: CON_RESET, plain, mask: 0x8ff, raw: 0, enabled: false, abort_source: 0 }
    }

    /// Executes a command. On an enabled controller it is not acknowledged, and the controller releases the bus.
    fn command(&mut self) {
        if self.enabled {
            self.raw |= INT_TX_ABRT | INT_STOP_DET;
            self.abort_source = ABORT_NO_ACK;
        }
    }

    /// Raw interrupts: a disabled controller does not report its empty FIFO.
    fn raw(&self) -> u32 {
        self.raw | if self.enabled { INT_TX_EMPTY } else { 0 }
    }

    /// Whether a register has a fixed value.
    fn is_constant(&self, offset: u32) -> bool {
        matches!(offset, 0x2c | 0x34 | 0x40..=0x68 | 0x70..=0x78 | 0x80 | 0x9c | 0xf4..=0xfc)
    }

    /// Clears the interrupt whose CLR register was read.
    fn clear(&mut self, offset: u32) {
        match offset {
            0x40 => {
                self.raw = 0;
                self.abort_source = 0;
            }
            0x54 => {
                self.raw &= !INT_TX_ABRT;
                self.abort_source = 0;
            }
            0x60 => self.raw &= !INT_STOP_DET,
            _ => {}
        }
    }
}

impl Peripheral for I2c {
    const NAME: &'static str = "I2C";

    fn reset(&mut self) {
        *self = Self::new(self.irq);
    }

    fn read(&mut self, offset: u32, access: &mut Access) -> u32 {
        if (0x40..=0x68).contains(&offset) {
            self.clear(offset);
            return 0;
        }
        if offset > 0xfc {
            access.effects.unmodelled = Some((offset, false));
        }
        self.peek(offset, access)
    }

    fn write(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            0x00 => self.con = value & 0x3ff,
            0x10 => self.command(),
            0x30 => self.mask = value & 0x1fff,
            // ABORT (bit 1) finishes at once, so only ENABLE is kept.
            0x6c => self.enabled = value & 1 != 0,
            _ => match PLAIN.iter().position(|plain| plain.0 == offset) {
                Some(index) => self.plain[index] = value & PLAIN[index].2,
                None if self.is_constant(offset) => {}
                None => access.effects.unmodelled = Some((offset, true)),
            },
        }
    }

    fn peek(&self, offset: u32, _access: &Access) -> u32 {
        match offset {
            0x00 => self.con,
            0x2c => self.raw() & self.mask,
            0x30 => self.mask,
            0x34 => self.raw(),
            0x6c => u32::from(self.enabled),
            0x70 => STATUS,
            0x80 => self.abort_source,
            0x9c => u32::from(self.enabled),
            _ => {
                let plain = PLAIN.iter().position(|plain| plain.0 == offset).map(|index| self.plain[index]);
                let constant = CONSTANTS.iter().find(|constant| constant.0 == offset).map(|constant| constant.1);
                plain.or(constant).unwrap_or(0)
            }
        }
    }

    fn is_strobe(&self, offset: u32) -> bool {
        offset == 0x10
    }

    fn irq_levels(&self) -> u32 {
        u32::from(self.raw() & self.mask != 0) << self.irq
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rp2040::testing::Bench;

    #[test]
    fn transfers_without_a_device_fail() {
        let mut bench = Bench::new();
        let mut i2c = I2c::new(23);
        i2c.write(0x30, INT_TX_ABRT, &mut bench.access());
        i2c.write(0x10, 0x100, &mut bench.access());
        assert_eq!(i2c.irq_levels(), 0);
        i2c.write(0x6c, 1, &mut bench.access());
        i2c.write(0x10, 0x100, &mut bench.access());
        assert_eq!(i2c.irq_levels(), 1 << 23);
        assert_eq!(i2c.read(0x80, &mut bench.access()), 1);
        assert_eq!(i2c.read(0x34, &mut bench.access()), INT_TX_EMPTY | INT_TX_ABRT | INT_STOP_DET);
        i2c.read(0x54, &mut bench.access());
        i2c.read(0x60, &mut bench.access());
        assert_eq!(i2c.read(0x34, &mut bench.access()), INT_TX_EMPTY);
        assert_eq!((i2c.read(0x80, &mut bench.access()), i2c.read(0x70, &mut bench.access())), (0, 6));
    }

    #[test]
    fn set_up_registers_keep_their_values() {
        let mut bench = Bench::new();
        let mut i2c = I2c::new(24);
        assert_eq!(i2c.read(0xfc, &mut bench.access()), 0x4457_0140);
        i2c.write(0x04, 0x1050, &mut bench.access());
        assert_eq!(i2c.read(0x04, &mut bench.access()), 0x050);
        assert_eq!(bench.effects.unmodelled, None);
        i2c.write(0xb0, 0, &mut bench.access());
        assert_eq!(bench.effects.unmodelled, Some((0xb0, true)));
    }

    /// The other tests use the names, so a wrong bit number would cancel out in them.
    #[test]
    fn bit_numbers_are_the_data_sheets() {
        for (mask, number) in [(INT_TX_EMPTY, 4), (INT_TX_ABRT, 6), (INT_STOP_DET, 9), (ABORT_NO_ACK, 0)] {
            assert_eq!(mask, 1u32 << number);
        }
    }
}
