//! Transfers that the block ends by itself, by firmware, after a reload, and without an acknowledge.

use super::*;
use crate::device::tests::Memory;
use crate::stm32::testing::Bench;

const CR2: u32 = 0x04;
const ISR: u32 = 0x18;
const ICR: u32 = 0x1c;
const RXDR: u32 = 0x24;
const TXDR: u32 = 0x28;
const TARGET: u32 = 0x50 << 1;
/// (64 + 64) × 1 + 4 cycles.
const PERIOD: u64 = 132;

struct Rig {
    bench: Bench,
    i2c: I2cV2,
}

impl Rig {
    fn new() -> Rig {
        let mut rig = Rig { bench: Bench::new(), i2c: I2cV2::default() };
        assert!(rig.i2c.bus.attach_i2c_device(0x50, Memory::boxed()));
        rig.write_register(0x10, 63 << 8 | 63);
        rig.write_register(0x00, CR1_PE);
        rig
    }

    fn write_register(&mut self, offset: u32, value: u32) {
        self.i2c.write_register(offset, value, &mut self.bench.access());
    }

    fn read_register(&mut self, offset: u32) -> u32 {
        self.i2c.read_register(offset, &mut self.bench.access())
    }

    fn settle(&mut self) {
        while self.i2c.next_event_cycle() != NEVER {
            let due = self.i2c.next_event_cycle();
            self.i2c.advance_to_now(&mut self.bench.access_at(due));
        }
    }

    /// Sends bytes as they are wanted.
    fn send(&mut self, data: &[u32]) {
        for &byte in data {
            self.settle();
            assert_eq!(self.read_register(ISR) & ISR_TXIS, ISR_TXIS, "{byte}");
            self.write_register(TXDR, byte);
        }
        self.settle();
    }
}

const fn bytes(count: u32) -> u32 {
    count << 16
}

#[test]
fn a_write_ends_by_itself() {
    let mut rig = Rig::new();
    rig.write_register(CR2, TARGET | bytes(3) | CR2_AUTOEND | CR2_START);
    assert_eq!((rig.read_register(ISR), rig.i2c.next_event_cycle()), (ISR_TXE | ISR_BUSY, 10 * PERIOD));
    rig.i2c.advance_to_now(&mut rig.bench.access_at(10 * PERIOD));
    assert_eq!((rig.read_register(ISR), rig.read_register(CR2) & CR2_START), (ISR_TXE | ISR_TXIS | ISR_BUSY, 0));
    rig.write_register(TXDR, 7);
    assert_eq!(rig.read_register(ISR), ISR_TXE | ISR_TXIS | ISR_BUSY, "the byte is in the shift register");
    rig.write_register(TXDR, 0xaa);
    assert_eq!(rig.read_register(ISR), ISR_BUSY);
    rig.i2c.advance_to_now(&mut rig.bench.access_at(19 * PERIOD));
    rig.write_register(TXDR, 0xbb);
    rig.settle();
    assert_eq!((rig.bench.now, rig.read_register(ISR)), (38 * PERIOD, ISR_TXE | ISR_STOPF));
    rig.write_register(ICR, ISR_STOPF);
    assert_eq!(rig.read_register(ISR), ISR_TXE);
}

#[test]
fn firmware_starts_again_and_ends() {
    let mut rig = Rig::new();
    rig.write_register(CR2, TARGET | bytes(3) | CR2_START);
    rig.send(&[7, 0xaa, 0xbb]);
    assert_eq!(rig.read_register(ISR), ISR_TXE | ISR_TC | ISR_BUSY);
    rig.write_register(CR2, TARGET | CR2_STOP);
    rig.settle();
    assert_eq!((rig.read_register(ISR), rig.read_register(CR2) & CR2_STOP), (ISR_TXE | ISR_STOPF, 0));
    rig.write_register(ICR, ISR_STOPF);
    rig.write_register(CR2, TARGET | bytes(1) | CR2_START);
    rig.send(&[7]);
    let begin = rig.bench.now;
    rig.write_register(CR2, TARGET | bytes(2) | CR2_READ | CR2_AUTOEND | CR2_START);
    rig.settle();
    // The last byte is on the bus before the first one is read, and STOP after it.
    assert_eq!((rig.bench.now - begin, rig.read_register(ISR)), (28 * PERIOD, ISR_TXE | ISR_RXNE | ISR_BUSY));
    assert_eq!(rig.read_register(RXDR), 0xaa);
    rig.settle();
    assert_eq!(rig.read_register(ISR), ISR_TXE | ISR_RXNE | ISR_STOPF);
    assert_eq!((rig.read_register(RXDR), rig.read_register(ISR)), (0xbb, ISR_TXE | ISR_STOPF));
}

#[test]
fn a_transfer_is_reloaded() {
    let mut rig = Rig::new();
    rig.write_register(CR2, TARGET | bytes(1) | CR2_RELOAD | CR2_START);
    rig.send(&[7]);
    assert_eq!(rig.read_register(ISR), ISR_TXE | ISR_TCR | ISR_BUSY);
    rig.write_register(CR2, TARGET | bytes(2) | CR2_AUTOEND);
    rig.send(&[1, 2]);
    assert_eq!(rig.read_register(ISR), ISR_TXE | ISR_STOPF);
}

#[test]
fn nobody_acknowledges() {
    let mut rig = Rig::new();
    rig.write_register(CR2, 0x33 << 1 | bytes(1) | CR2_START);
    rig.settle();
    assert_eq!((rig.bench.now, rig.read_register(ISR)), (11 * PERIOD, ISR_TXE | ISR_NACKF | ISR_STOPF));
    rig.write_register(ICR, ISR_NACKF | ISR_STOPF);
    // The device refuses data behind its last address.
    rig.write_register(CR2, TARGET | bytes(3) | CR2_START);
    rig.send(&[0xff, 1]);
    assert_eq!(rig.read_register(ISR), ISR_TXE | ISR_NACKF | ISR_STOPF);
}

#[test]
fn an_address_alone_probes_a_device() {
    let mut rig = Rig::new();
    rig.write_register(CR2, TARGET | CR2_AUTOEND | CR2_START);
    rig.settle();
    assert_eq!((rig.bench.now, rig.read_register(ISR)), (11 * PERIOD, ISR_TXE | ISR_STOPF));
}

#[test]
fn interrupts_follow_their_flags() {
    let mut rig = Rig::new();
    rig.write_register(0x00, CR1_PE | 1 << 1 | 1 << 6);
    assert_eq!(rig.i2c.interrupt_outputs(), 0);
    rig.write_register(CR2, TARGET | bytes(1) | CR2_START);
    rig.settle();
    assert_eq!(rig.i2c.interrupt_outputs(), 1);
    rig.write_register(TXDR, 7);
    assert_eq!(rig.i2c.interrupt_outputs(), 0);
    rig.settle();
    assert_eq!(rig.i2c.interrupt_outputs(), 1);
    rig.write_register(0x00, CR1_PE);
    assert_eq!(rig.i2c.interrupt_outputs(), 0);
}

#[test]
fn the_clock_the_prescaler_and_the_filter_pace_it() {
    let mut rig = Rig::new();
    rig.bench.core_hz *= 4;
    rig.write_register(0x10, 3 << 28 | 19 << 8 | 9);
    rig.write_register(0x00, CR1_PE | 2 << 8);
    rig.write_register(CR2, TARGET | CR2_START);
    assert_eq!(rig.i2c.next_event_cycle(), 10 * 4 * (30 * 4 + 8));
}

#[test]
fn switching_off_forgets_the_transfer() {
    let mut rig = Rig::new();
    rig.write_register(CR2, TARGET | bytes(2) | CR2_START);
    rig.write_register(TXDR, 7);
    rig.write_register(0x00, 0);
    assert_eq!(
        (rig.read_register(ISR), rig.read_register(CR2) & CR2_START, rig.i2c.next_event_cycle()),
        (ISR_TXE, 0, NEVER)
    );
    rig.i2c.reset_registers();
    assert_eq!(
        [0, 4, 8, 0x0c, 0x10, 0x14, 0x18, 0x20].map(|offset| rig.read_register(offset)),
        [0, 0, 0, 0, 0, 0, 1, 0]
    );
    rig.write_register(0x2c, 0);
    assert_eq!(rig.bench.effects.unmodelled, Some((0x2c, true)));
}
