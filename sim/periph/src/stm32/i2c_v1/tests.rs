//! The sequences of the manuals' figures: a transmission, and receptions of one, two and three bytes.

use super::*;
use crate::device::tests::Memory;
use crate::stm32::testing::Bench;

const DR: u32 = 0x10;
const SR1: u32 = 0x14;
const SR2: u32 = 0x18;
const WRITE: u32 = 0x50 << 1;
const READ: u32 = WRITE | 1;
/// 100 kHz from 16 MHz.
const PERIOD: u64 = 160;

struct Rig {
    bench: Bench,
    i2c: I2cV1,
}

impl Rig {
    fn new() -> Rig {
        let mut rig = Rig { bench: Bench::new(), i2c: I2cV1::default() };
        assert!(rig.i2c.bus.attach_i2c_device(0x50, Memory::boxed()));
        rig.write_register(0x1c, 80);
        rig.write_register(0x00, CR1_PE);
        rig
    }

    fn write_register(&mut self, offset: u32, value: u32) {
        self.i2c.write_register(offset, value, &mut self.bench.access());
    }

    fn read_register(&mut self, offset: u32) -> u32 {
        self.i2c.read_register(offset, &mut self.bench.access())
    }

    /// Lets the bus do what it does by itself.
    fn settle(&mut self) {
        while self.i2c.next_event_cycle() != NEVER {
            let due = self.i2c.next_event_cycle();
            self.i2c.advance_to_now(&mut self.bench.access_at(due));
        }
    }

    /// Sets bits of CR1.
    fn set(&mut self, bits: u32) {
        let value = self.i2c.cr1 | bits;
        self.write_register(0x00, value);
    }

    fn clear(&mut self, bits: u32) {
        let value = self.i2c.cr1 & !bits;
        self.write_register(0x00, value);
    }

    /// START and the address, until ADDR or AF.
    fn address(&mut self, byte: u32) {
        self.set(CR1_START);
        self.settle();
        assert_eq!(self.read_register(SR1) & SR1_SB, SR1_SB);
        self.write_register(DR, byte);
        self.settle();
    }

    /// Reads SR1 and SR2.
    fn clear_address(&mut self) {
        assert_eq!(self.read_register(SR1) & SR1_ADDR, SR1_ADDR);
        self.read_register(SR2);
    }

    /// Puts bytes into the memory from an address on.
    fn fill(&mut self, data: &[u32]) {
        self.address(WRITE);
        self.clear_address();
        for &byte in data {
            assert_eq!(self.read_register(SR1) & SR1_TXE, SR1_TXE);
            self.write_register(DR, byte);
            self.settle();
        }
        self.set(CR1_STOP);
        self.settle();
    }

    /// Points the memory at an address and addresses it for reading.
    fn address_for_reading(&mut self, at: u32) {
        self.address(WRITE);
        self.clear_address();
        self.write_register(DR, at);
        self.settle();
        self.address(READ);
    }
}

#[test]
fn a_transmission_takes_nine_periods_a_byte() {
    let mut rig = Rig::new();
    rig.set(CR1_START);
    assert_eq!(rig.i2c.next_event_cycle(), PERIOD);
    rig.settle();
    assert_eq!((rig.read_register(SR1), rig.i2c.cr1 & CR1_START), (SR1_SB, 0));
    rig.write_register(DR, WRITE);
    assert_eq!((rig.read_register(SR1), rig.i2c.next_event_cycle()), (0, 10 * PERIOD));
    rig.settle();
    rig.clear_address();
    assert_eq!((rig.read_register(SR1), rig.read_register(SR2)), (SR1_TXE, SR2_MSL | SR2_BUSY | SR2_TRA));
    rig.write_register(DR, 7);
    assert_eq!(rig.read_register(SR1), SR1_TXE, "the byte is in the shift register");
    rig.write_register(DR, 0xaa);
    assert_eq!(rig.read_register(SR1), 0);
    rig.i2c.advance_to_now(&mut rig.bench.access_at(19 * PERIOD));
    assert_eq!(rig.read_register(SR1), SR1_TXE);
    rig.settle();
    assert_eq!((rig.bench.now, rig.read_register(SR1)), (28 * PERIOD, SR1_TXE | SR1_BTF));
    rig.set(CR1_STOP);
    rig.settle();
    assert_eq!((rig.bench.now, rig.read_register(SR1), rig.read_register(SR2)), (29 * PERIOD, 0, 0));
    assert_eq!(rig.i2c.cr1 & CR1_STOP, 0);
}

#[test]
fn nobody_at_an_address() {
    let mut rig = Rig::new();
    rig.write_register(0x04, CR2_ITERREN);
    rig.address(0x33 << 1);
    assert_eq!((rig.read_register(SR1), rig.i2c.interrupt_outputs()), (SR1_AF, 2));
    rig.write_register(SR1, !SR1_AF);
    rig.set(CR1_STOP);
    rig.settle();
    assert_eq!((rig.read_register(SR1), rig.read_register(SR2), rig.i2c.interrupt_outputs()), (0, 0, 0));
}

#[test]
fn one_byte_is_received() {
    let mut rig = Rig::new();
    rig.fill(&[7, 0xaa, 0xbb]);
    rig.address_for_reading(7);
    rig.clear(CR1_ACK);
    rig.clear_address();
    rig.set(CR1_STOP);
    rig.settle();
    assert_eq!(rig.read_register(SR1), SR1_RXNE);
    assert_eq!((rig.read_register(DR), rig.read_register(SR1), rig.read_register(SR2)), (0xaa, 0, 0));
}

#[test]
fn two_bytes_are_received_with_pos() {
    let mut rig = Rig::new();
    rig.fill(&[7, 0xaa, 0xbb, 0xcc]);
    rig.set(CR1_ACK | CR1_POS);
    rig.address_for_reading(7);
    rig.clear_address();
    rig.clear(CR1_ACK);
    rig.settle();
    assert_eq!(rig.read_register(SR1), SR1_RXNE | SR1_BTF);
    rig.set(CR1_STOP);
    assert_eq!(rig.read_register(DR), 0xaa);
    assert_eq!((rig.read_register(SR1) & SR1_RXNE, rig.read_register(DR)), (SR1_RXNE, 0xbb));
    rig.settle();
    assert_eq!((rig.read_register(SR1), rig.read_register(SR2)), (0, 0));
}

#[test]
fn three_bytes_are_received_with_btf() {
    let mut rig = Rig::new();
    rig.fill(&[7, 0xaa, 0xbb, 0xcc, 0xdd]);
    rig.set(CR1_ACK);
    rig.address_for_reading(7);
    rig.clear_address();
    rig.settle();
    assert_eq!(rig.read_register(SR1), SR1_RXNE | SR1_BTF);
    rig.clear(CR1_ACK);
    assert_eq!(rig.read_register(DR), 0xaa);
    rig.settle();
    assert_eq!(rig.read_register(SR1), SR1_RXNE | SR1_BTF);
    rig.set(CR1_STOP);
    assert_eq!((rig.read_register(DR), rig.read_register(DR)), (0xbb, 0xcc));
    rig.settle();
    assert_eq!((rig.read_register(SR1), rig.read_register(SR2)), (0, 0));
}

#[test]
fn a_stream_is_received_by_interrupts() {
    let mut rig = Rig::new();
    rig.fill(&[7, 1, 2, 3, 4]);
    rig.set(CR1_ACK);
    rig.address_for_reading(7);
    rig.write_register(0x04, CR2_ITEVTEN | CR2_ITBUFEN);
    assert_eq!(rig.i2c.interrupt_outputs(), 1);
    rig.clear_address();
    assert_eq!(rig.i2c.interrupt_outputs(), 0);
    let mut bytes = Vec::new();
    for left in (0..4).rev() {
        let due = rig.i2c.next_event_cycle();
        rig.i2c.advance_to_now(&mut rig.bench.access_at(due));
        assert_eq!(rig.i2c.interrupt_outputs(), 1);
        if left == 1 {
            rig.clear(CR1_ACK);
            rig.set(CR1_STOP);
        }
        bytes.push(rig.read_register(DR));
        if left == 0 {
            break;
        }
    }
    rig.settle();
    assert_eq!((bytes, rig.read_register(SR2)), (vec![1, 2, 3, 4], 0));
}

#[test]
fn fast_mode_has_its_own_ratios() {
    for (ccr, period) in [(CCR_FS | 14, 42), (CCR_FS | CCR_DUTY | 2, 50), (80, 160)] {
        let mut rig = Rig::new();
        rig.bench.core_hz *= 2;
        rig.write_register(0x1c, ccr);
        rig.set(CR1_START);
        assert_eq!(rig.i2c.next_event_cycle(), 2 * period);
    }
}

#[test]
fn resets() {
    let mut rig = Rig::new();
    rig.address(WRITE);
    rig.write_register(0x00, 0);
    assert_eq!((rig.read_register(SR1), rig.read_register(SR2)), (0, 0));
    rig.write_register(0x00, CR1_SWRST);
    assert_eq!((rig.read_register(0), rig.read_register(0x1c), rig.read_register(0x20)), (CR1_SWRST, 0, 2));
    rig.write_register(0x00, CR1_STOP | CR1_PE);
    assert_eq!(rig.read_register(0), CR1_PE, "an idle master does not keep STOP");
    rig.write_register(0x28, 0);
    assert_eq!(rig.bench.effects.unmodelled, Some((0x28, true)));
}
