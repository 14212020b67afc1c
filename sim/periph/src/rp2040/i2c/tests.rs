//! Transfers with a device, without one, and the registers around them.

use super::*;
use crate::device::tests::Memory;
use crate::rp2040::testing::Bench;

const DATA_CMD: u32 = 0x10;
/// 100 kHz from 125 MHz: 500 + 7 + 7 high, 735 + 1 low.
const PERIOD: u64 = 1250;

fn enabled(bench: &mut Bench) -> I2c {
    let mut i2c = I2c::new(23);
    i2c.write_register(0x00, CON_RESET & !6 | 2 | CON_TX_EMPTY_CTRL, &mut bench.access());
    for (offset, value) in [(0x14, 500), (0x18, 735), (0x04, 0x50), (0x6c, 1)] {
        i2c.write_register(offset, value, &mut bench.access());
    }
    i2c
}

/// Lets everything happen that is scheduled. Returns the cycle of the last event.
fn finish(i2c: &mut I2c, bench: &mut Bench) -> u64 {
    while i2c.next_event_cycle() != NEVER {
        let due = i2c.next_event_cycle();
        i2c.advance_to_now(&mut bench.access_at(due));
    }
    bench.now
}

#[test]
fn an_address_that_nobody_has_takes_its_time() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    i2c.write_register(0x30, INT_TX_ABRT, &mut bench.access());
    i2c.write_register(DATA_CMD, COMMAND_READ | COMMAND_STOP, &mut bench.access());
    i2c.write_register(DATA_CMD, COMMAND_READ, &mut bench.access());
    assert_eq!((i2c.next_event_cycle(), i2c.irq_levels()), (10 * PERIOD, 0));
    i2c.advance_to_now(&mut bench.access_at(10 * PERIOD));
    assert_eq!((i2c.irq_levels(), i2c.read_register(0x74, &mut bench.access())), (1 << 23, 0));
    assert_eq!(i2c.read_register(0x80, &mut bench.access()), ABORT_7B_ADDRESS);
    // What is written before the abort is acknowledged is discarded.
    i2c.write_register(DATA_CMD, 1, &mut bench.access());
    assert_eq!(finish(&mut i2c, &mut bench), 11 * PERIOD);
    let raw = i2c.read_register(0x34, &mut bench.access());
    assert_eq!(raw, INT_TX_EMPTY | INT_TX_ABRT | INT_STOP_DET | INT_START_DET | INT_ACTIVITY);
    i2c.read_register(0x54, &mut bench.access());
    i2c.read_register(0x40, &mut bench.access());
    assert_eq!(i2c.read_register(0x34, &mut bench.access()), INT_TX_EMPTY);
    assert_eq!((i2c.read_register(0x80, &mut bench.access()), i2c.read_register(0x70, &mut bench.access())), (0, 6));
}

#[test]
fn a_write_and_a_read_with_a_repeated_start() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    assert!(i2c.bus.attach_i2c_device(0x50, Memory::boxed()));
    for command in [7, 0xaa, 0xbb | COMMAND_STOP] {
        i2c.write_register(DATA_CMD, command, &mut bench.access());
    }
    // START, address, three bytes, STOP.
    assert_eq!(finish(&mut i2c, &mut bench), (1 + 9 + 27 + 1) * PERIOD);
    let start = bench.now;
    for command in [7, COMMAND_READ | COMMAND_RESTART, COMMAND_READ | COMMAND_STOP] {
        i2c.write_register(DATA_CMD, command, &mut bench.access());
    }
    assert_eq!(finish(&mut i2c, &mut bench) - start, (1 + 9 + 9 + 1 + 9 + 18 + 1) * PERIOD);
    assert_eq!(
        (i2c.read_register(0x78, &mut bench.access()), i2c.read_register(0x34, &mut bench.access()) & INT_RX_FULL),
        (2, 4)
    );
    let bytes = [0, 1].map(|_| i2c.read_register(DATA_CMD, &mut bench.access()));
    assert_eq!(bytes, [0xaa, 0xbb]);
    assert_eq!(i2c.read_register(0x34, &mut bench.access()) & (INT_TX_ABRT | INT_RESTART_DET), INT_RESTART_DET);
}

#[test]
fn a_transfer_waits_for_its_next_command() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    i2c.bus.attach_i2c_device(0x50, Memory::boxed());
    i2c.write_register(DATA_CMD, 7, &mut bench.access());
    assert_eq!(i2c.read_register(0x34, &mut bench.access()) & INT_TX_EMPTY, 0, "the byte is not sent yet");
    assert_eq!(finish(&mut i2c, &mut bench), 19 * PERIOD);
    assert_eq!(i2c.read_register(0x34, &mut bench.access()) & (INT_TX_EMPTY | INT_STOP_DET), INT_TX_EMPTY);
    assert_eq!(i2c.read_register(0x70, &mut bench.access()), 1 << 5 | 1 << 2 | 1 << 1 | 1);
    i2c.write_register(DATA_CMD, 1 | COMMAND_STOP, &mut bench.access_at(100_000));
    assert_eq!(finish(&mut i2c, &mut bench), 100_000 + 10 * PERIOD);
}

#[test]
fn a_byte_that_is_not_acknowledged_ends_the_transfer() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    i2c.bus.attach_i2c_device(0x50, Memory::boxed());
    // The device refuses data behind its last address.
    for command in [0xff, 1, 2] {
        i2c.write_register(DATA_CMD, command, &mut bench.access());
    }
    finish(&mut i2c, &mut bench);
    assert_eq!(i2c.read_register(0x80, &mut bench.access()), ABORT_DATA);
}

#[test]
fn fifos_have_sixteen_places() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    i2c.bus.attach_i2c_device(0x50, Memory::boxed());
    for _ in 0..17 {
        i2c.write_register(DATA_CMD, COMMAND_READ, &mut bench.access());
    }
    // One command has left the FIFO.
    assert_eq!(
        (i2c.read_register(0x74, &mut bench.access()), i2c.read_register(0x70, &mut bench.access()) & 2),
        (16, 0)
    );
    i2c.write_register(DATA_CMD, COMMAND_READ, &mut bench.access());
    assert_eq!(i2c.read_register(0x34, &mut bench.access()) & INT_TX_OVER, INT_TX_OVER);
    finish(&mut i2c, &mut bench);
    assert_eq!(
        (i2c.read_register(0x78, &mut bench.access()), i2c.read_register(0x34, &mut bench.access()) & INT_RX_OVER),
        (16, 2)
    );
    i2c.write_register(0x6c, 0, &mut bench.access());
    assert_eq!((i2c.read_register(0x78, &mut bench.access()), i2c.read_register(0x70, &mut bench.access())), (0, 6));
    assert_eq!(
        (i2c.read_register(DATA_CMD, &mut bench.access()), i2c.read_register(0x34, &mut bench.access()) & 1),
        (0, 1)
    );
}

#[test]
fn fast_mode_has_counts_of_its_own_and_ten_bits_two_address_bytes() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    i2c.write_register(0x00, CON_RESET | CON_TEN_BITS, &mut bench.access());
    i2c.write_register(0x1c, 100, &mut bench.access());
    i2c.write_register(0x20, 200, &mut bench.access());
    i2c.write_register(DATA_CMD, 0, &mut bench.access());
    assert_eq!(i2c.next_event_cycle(), 19 * (100 + 7 + 7 + 200 + 1));
    finish(&mut i2c, &mut bench);
    assert_eq!(i2c.read_register(0x80, &mut bench.access()), ABORT_10B_ADDRESS);
}

#[test]
fn requests_follow_the_levels() {
    let mut bench = Bench::new();
    let mut i2c = enabled(&mut bench);
    assert_eq!(i2c.dma_requests(), (false, false));
    i2c.write_register(0x88, 3, &mut bench.access());
    assert_eq!(i2c.dma_requests(), (true, false));
    i2c.bus.attach_i2c_device(0x50, Memory::boxed());
    i2c.write_register(DATA_CMD, COMMAND_READ | COMMAND_STOP, &mut bench.access());
    finish(&mut i2c, &mut bench);
    assert_eq!(i2c.dma_requests(), (true, true));
}

#[test]
fn set_up_registers_keep_their_values() {
    let mut bench = Bench::new();
    let mut i2c = I2c::new(24);
    assert_eq!(i2c.read_register(0xfc, &mut bench.access()), 0x4457_0140);
    i2c.write_register(0x04, 0x1050, &mut bench.access());
    assert_eq!(i2c.read_register(0x04, &mut bench.access()), 0x050);
    i2c.write_register(DATA_CMD, 0, &mut bench.access());
    assert_eq!((i2c.next_event_cycle(), bench.effects.unmodelled), (NEVER, None));
    i2c.write_register(0xb0, 0, &mut bench.access());
    assert_eq!(bench.effects.unmodelled, Some((0xb0, true)));
}

/// The other tests use the names, so a wrong bit number would cancel out in them.
#[test]
fn bit_numbers_are_the_data_sheets() {
    for (mask, number) in [
        (INT_RX_UNDER, 0),
        (INT_RX_OVER, 1),
        (INT_RX_FULL, 2),
        (INT_TX_OVER, 3),
        (INT_TX_EMPTY, 4),
        (INT_TX_ABRT, 6),
        (INT_ACTIVITY, 8),
        (INT_STOP_DET, 9),
        (INT_START_DET, 10),
        (INT_RESTART_DET, 12),
        (ABORT_7B_ADDRESS, 0),
        (ABORT_10B_ADDRESS, 1),
        (ABORT_DATA, 3),
        (ABORT_USER, 16),
        (COMMAND_READ, 8),
        (COMMAND_STOP, 9),
        (COMMAND_RESTART, 10),
    ] {
        assert_eq!(mask, 1u32 << number);
    }
}
