//! UART timing, FIFO levels and interrupts.

use super::*;
use crate::rp2040::testing::Bench;

/// 115200 baud at 125 MHz: IBRD 67, FBRD 52 gives 125e6 * 4 / 4340 bit/s, 1085 cycles per bit.
const BIT: u64 = 1085;

fn enabled(bench: &mut Bench, lcr_h: u32) -> Uart {
    let mut uart = Uart::new(0, 20);
    uart.write_register(0x24, 67, &mut bench.access());
    uart.write_register(0x28, 52, &mut bench.access());
    uart.write_register(0x2c, lcr_h, &mut bench.access());
    uart.write_register(0x30, 0x301, &mut bench.access());
    uart
}

fn with_fifo(bench: &mut Bench) -> Uart {
    enabled(bench, 0x70)
}

#[test]
fn frame_takes_ten_bit_times_and_streams_without_drift() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    for byte in *b"abc" {
        uart.write_register(0x00, u32::from(byte), &mut bench.access());
    }
    assert_eq!(uart.next_event_cycle(), 10 * BIT);
    uart.advance_to_now(&mut bench.access_at(10 * BIT - 1));
    assert!(bench.effects.uart_tx.is_empty());
    uart.advance_to_now(&mut bench.access_at(10 * BIT));
    assert_eq!(bench.effects.uart_tx, [(0, b'a')]);
    assert_eq!(uart.next_event_cycle(), 20 * BIT);
    // Served late: both remaining frames have gone out meanwhile, in order.
    uart.advance_to_now(&mut bench.access_at(30 * BIT));
    assert_eq!(bench.effects.uart_tx, [(0, b'a'), (0, b'b'), (0, b'c')]);
    assert_eq!(uart.read_register(0x18, &mut bench.access()), 0x90);
}

#[test]
fn fractional_bit_time_is_exact_over_many_frames() {
    let mut bench = Bench::new();
    let mut uart = Uart::new(0, 20);
    uart.write_register(0x24, 1, &mut bench.access());
    uart.write_register(0x28, 3, &mut bench.access());
    uart.write_register(0x2c, 0x70, &mut bench.access());
    uart.write_register(0x30, 0x301, &mut bench.access());
    // 67/64 * 16 = 16.75 cycles per bit.
    for _ in 0..4 {
        uart.write_register(0x00, 0x55, &mut bench.access());
    }
    for frame in 1..=4u64 {
        assert_eq!(uart.next_event_cycle(), (frame * 10 * 67).div_ceil(4));
        let due = uart.next_event_cycle();
        uart.advance_to_now(&mut bench.access_at(due));
    }
    assert_eq!(uart.next_event_cycle(), NEVER);
}

#[test]
fn frame_length_follows_the_format() {
    let mut bench = Bench::new();
    for (lcr_h, bits) in [(0x10, 7), (0x70, 10), (0x72, 11), (0x7a, 12), (0x50, 9)] {
        let mut uart = enabled(&mut bench, lcr_h);
        uart.write_register(0x00, 0xff, &mut bench.access());
        assert_eq!(uart.next_event_cycle(), bits * BIT, "LCR_H {lcr_h:#x}");
    }
}

#[test]
fn full_and_busy_flags_with_and_without_fifo() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    // One byte leaves for the shift register at once, so 33 fit.
    for _ in 0..32 {
        uart.write_register(0x00, 0, &mut bench.access());
    }
    assert_eq!(uart.read_register(0x18, &mut bench.access()), 0x18);
    uart.write_register(0x00, 0, &mut bench.access());
    assert_eq!(uart.read_register(0x18, &mut bench.access()), 0x38);
    let mut uart = enabled(&mut bench, 0x60);
    uart.write_register(0x00, 0, &mut bench.access());
    assert_eq!(uart.read_register(0x18, &mut bench.access()), 0x98);
    uart.write_register(0x00, 0, &mut bench.access());
    assert_eq!(uart.read_register(0x18, &mut bench.access()), 0x38);
}

#[test]
fn transmit_interrupt_marks_the_passage_through_the_level() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    uart.write_register(0x34, 0, &mut bench.access());
    uart.write_register(0x38, INT_TX, &mut bench.access());
    for _ in 0..6 {
        uart.write_register(0x00, 0, &mut bench.access());
    }
    // One shifting, five waiting: the level falls to 4 when the first frame ends.
    assert_eq!(uart.irq_levels(), 0);
    uart.advance_to_now(&mut bench.access_at(10 * BIT));
    assert_eq!(uart.irq_levels(), 1 << 20);
    uart.write_register(0x44, INT_TX, &mut bench.access());
    uart.advance_to_now(&mut bench.access_at(20 * BIT));
    assert_eq!(uart.irq_levels(), 0);
}

#[test]
fn receive_paces_raises_level_and_timeout() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    uart.write_register(0x34, 0, &mut bench.access());
    uart.write_register(0x38, INT_RX | INT_RT, &mut bench.access());
    uart.queue_bytes_from_host(b"hello");
    assert_eq!(uart.next_event_cycle(), 0);
    uart.advance_to_now(&mut bench.access_at(0));
    for n in 1..=4 {
        assert_eq!(uart.next_event_cycle(), n * 10 * BIT);
        uart.advance_to_now(&mut bench.access_at(n * 10 * BIT));
        assert_eq!(uart.irq_levels() != 0, n == 4);
    }
    uart.advance_to_now(&mut bench.access_at(50 * BIT));
    assert_eq!(uart.next_event_cycle(), (50 + 32) * BIT);
    let got: Vec<u32> = (0..4).map(|_| uart.read_register(0x00, &mut bench.access())).collect();
    assert_eq!(got, [b'h', b'e', b'l', b'l'].map(u32::from));
    assert_eq!(uart.irq_levels(), 0);
    uart.advance_to_now(&mut bench.access_at(82 * BIT));
    assert_eq!(uart.read_register(0x40, &mut bench.access()), INT_RT);
    assert_eq!(uart.read_register(0x00, &mut bench.access()), u32::from(b'o'));
    assert_eq!((uart.irq_levels(), uart.next_event_cycle()), (0, NEVER));
}

#[test]
fn host_bytes_wait_while_the_fifo_is_full() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    uart.queue_bytes_from_host(&[7; 40]);
    for _ in 0..100 {
        let due = uart.next_event_cycle();
        if due == NEVER {
            break;
        }
        let now = bench.now.max(due);
        uart.advance_to_now(&mut bench.access_at(now));
    }
    assert_eq!(uart.count_of_waiting_bytes(), 8);
    assert_eq!(uart.read_register(0x18, &mut bench.access()) & 1 << 6, 1 << 6);
    assert_eq!(uart.read_register(0x3c, &mut bench.access()) & INT_OE, 0);
    let now = bench.now;
    uart.read_register(0x00, &mut bench.access());
    assert_eq!((uart.count_of_waiting_bytes(), uart.next_event_cycle()), (8, now + 10 * BIT));
}

#[test]
fn loopback_stays_inside_and_overruns() {
    let mut bench = Bench::new();
    let mut uart = enabled(&mut bench, 0x60);
    uart.write_register(0x30, 0x381, &mut bench.access());
    for (n, byte) in [1, 2, 3].into_iter().enumerate() {
        uart.write_register(0x00, byte, &mut bench.access());
        uart.advance_to_now(&mut bench.access_at((n as u64 + 1) * 10 * BIT));
    }
    assert!(bench.effects.uart_tx.is_empty());
    assert_eq!(uart.read_register(0x3c, &mut bench.access()) & INT_OE, INT_OE);
    assert_eq!(uart.read_register(0x00, &mut bench.access()), 1);
}

#[test]
fn divisors_wait_for_lcr_h_and_disabled_sends_nothing() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    uart.write_register(0x24, 1, &mut bench.access());
    uart.write_register(0x00, 0, &mut bench.access());
    assert_eq!(uart.next_event_cycle(), 10 * BIT);
    let mut uart = Uart::new(0, 20);
    uart.write_register(0x00, 1, &mut bench.access());
    assert_eq!((uart.next_event_cycle(), uart.read_register(0x18, &mut bench.access())), (NEVER, 0x38));
}

#[test]
fn clock_change_stretches_the_rest_of_a_frame() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    uart.write_register(0x00, 0, &mut bench.access());
    bench.tree.peri_hz = 62_500_000;
    uart.clocks_changed(&mut bench.access_at(5 * BIT));
    assert_eq!(uart.next_event_cycle(), 15 * BIT);
    bench.tree.peri_hz = 0;
    uart.clocks_changed(&mut bench.access_at(6 * BIT));
    assert_eq!(uart.next_event_cycle(), NEVER);
}

#[test]
fn identification() {
    let mut bench = Bench::new();
    let mut uart = Uart::new(1, 21);
    let ids: Vec<u32> = (0..8).map(|n| uart.read_register(0xfe0 + 4 * n, &mut bench.access())).collect();
    assert_eq!(ids, [0x11, 0x10, 0x34, 0, 0x0d, 0xf0, 0x05, 0xb1]);
    assert_eq!(uart.read_register(0x30, &mut bench.access()), 0x300);
}

#[test]
fn switching_the_fifos_clears_them_and_other_format_bits_do_not() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    for _ in 0..4 {
        uart.write_register(0x00, 0, &mut bench.access());
    }
    uart.write_register(0x2c, 0x72, &mut bench.access());
    assert_eq!(uart.read_register(0x18, &mut bench.access()) & 0x80, 0);
    uart.write_register(0x2c, 0x62, &mut bench.access());
    assert_eq!(uart.read_register(0x18, &mut bench.access()) & 0x80, 0x80);
}

#[test]
fn bytes_discarded_by_a_new_setup_are_sent_again() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    uart.queue_bytes_from_host(b"abcd");
    uart.advance_to_now(&mut bench.access_at(0));
    uart.advance_to_now(&mut bench.access_at(25 * BIT));
    assert_eq!(uart.count_of_waiting_bytes(), 2);
    uart.write_register(0x2c, 0x60, &mut bench.access_at(25 * BIT));
    assert_eq!(uart.count_of_waiting_bytes(), 4);
    uart.write_register(0x2c, 0x70, &mut bench.access_at(25 * BIT));
    uart.write_register(0x30, 0, &mut bench.access_at(30 * BIT));
    uart.advance_to_now(&mut bench.access_at(60 * BIT));
    assert_eq!(
        (uart.count_of_waiting_bytes(), uart.read_register(0x18, &mut bench.access_at(60 * BIT)) & 0x10),
        (4, 0x10)
    );
    uart.reset_registers();
    assert_eq!(uart.count_of_waiting_bytes(), 4);
    uart.write_register(0x24, 67, &mut bench.access_at(60 * BIT));
    uart.write_register(0x2c, 0x70, &mut bench.access_at(60 * BIT));
    uart.write_register(0x30, 0x301, &mut bench.access_at(60 * BIT));
    uart.advance_to_now(&mut bench.access_at(200 * BIT));
    let got: Vec<u8> = (0..4).map(|_| uart.read_register(0, &mut bench.access_at(200 * BIT)) as u8).collect();
    assert_eq!(got, b"abcd");
}

#[test]
fn dma_requests_follow_levels_and_enables() {
    let mut bench = Bench::new();
    let mut uart = with_fifo(&mut bench);
    assert_eq!(uart.dma_requests(), (false, false));
    uart.write_register(0x48, 3, &mut bench.access());
    assert_eq!(uart.dma_requests(), (true, false));
    uart.queue_bytes_from_host(b"x");
    uart.advance_to_now(&mut bench.access_at(0));
    uart.advance_to_now(&mut bench.access_at(10 * BIT));
    assert_eq!(uart.dma_requests(), (true, true));
    for _ in 0..33 {
        uart.write_register(0x00, 0, &mut bench.access());
    }
    assert_eq!(uart.dma_requests(), (false, true));
    uart.write_register(0x48, 2, &mut bench.access());
    assert_eq!(uart.dma_requests(), (false, false));
}

#[test]
fn trigger_levels_of_both_fifos() {
    let mut bench = Bench::new();
    for (select, level) in [(0, 4), (1, 8), (2, 16), (3, 24), (4, 28), (7, 28)] {
        let mut uart = with_fifo(&mut bench);
        uart.write_register(0x34, select | 2 << 3, &mut bench.access());
        assert_eq!((uart.transmit_trigger_level(), uart.receive_trigger_level()), (level, 16));
        uart.write_register(0x34, select << 3 | 1, &mut bench.access());
        assert_eq!((uart.transmit_trigger_level(), uart.receive_trigger_level()), (8, level));
    }
}

#[test]
fn data_error_and_clear_registers_are_strobes() {
    let uart = Uart::new(0, 20);
    let strobes: Vec<u32> = (0..0x4c).step_by(4).filter(|&offset| uart.is_strobe(offset)).collect();
    assert_eq!(strobes, [0x00, 0x04, 0x44]);
}

#[test]
fn overrun_is_flagged_with_the_next_character_and_cleared_by_ecr() {
    let mut bench = Bench::new();
    let mut uart = enabled(&mut bench, 0x60);
    let access = bench.access();
    for byte in [1, 2] {
        uart.store_received_byte(byte, &access);
    }
    assert_eq!(uart.read_register(0x04, &mut bench.access()), 8);
    assert_eq!(uart.read_register(0x00, &mut bench.access()), 1);
    uart.store_received_byte(3, &bench.access());
    assert_eq!(uart.read_register(0x00, &mut bench.access()), 3 | 1 << 11);
    uart.store_received_byte(1, &bench.access());
    uart.store_received_byte(2, &bench.access());
    uart.write_register(0x04, 0, &mut bench.access());
    assert_eq!(uart.read_register(0x04, &mut bench.access()), 0);
}

/// The other tests use the names, so a wrong bit number would cancel out in them.
#[test]
fn bit_numbers_are_the_data_sheets() {
    for (mask, number) in [
        (CR_UARTEN, 0),
        (CR_LBE, 7),
        (CR_TXE, 8),
        (CR_RXE, 9),
        (LCR_PEN, 1),
        (LCR_STP2, 3),
        (LCR_FEN, 4),
        (INT_RX, 4),
        (INT_TX, 5),
        (INT_RT, 6),
        (INT_OE, 10),
    ] {
        assert_eq!(mask, 1u32 << number);
    }
}

#[test]
fn received_frames_keep_the_exact_baud_rate_too() {
    let mut bench = Bench::new();
    let mut uart = Uart::new(0, 20);
    for (offset, value) in [(0x24, 1), (0x28, 3), (0x2c, 0x70), (0x30, 0x301)] {
        uart.write_register(offset, value, &mut bench.access());
    }
    uart.queue_bytes_from_host(&[0x55; 5]);
    uart.advance_to_now(&mut bench.access_at(0));
    for frame in 1..=4u64 {
        assert_eq!(uart.next_event_cycle(), (frame * 10 * 67).div_ceil(4));
        let due = uart.next_event_cycle();
        uart.advance_to_now(&mut bench.access_at(due));
    }
    // Served late, the last frame still ended when it did.
    uart.advance_to_now(&mut bench.access_at(10_000));
    assert_eq!((uart.count_of_waiting_bytes(), uart.rx_fifo.len()), (0, 5));
}
