use super::*;
use crate::stm32::testing::Bench;

const V1: UsartLayout = UsartLayout::V1 { over8: true };
const V2: UsartLayout = UsartLayout::V2 { fifo: true, low_power: false };
const LOW_POWER: UsartLayout = UsartLayout::V2 { fifo: false, low_power: true };

/// A port at 100 cycles to a bit, transmitter and receiver on, the first idle frame over. Now = 1000.
fn port(layout: UsartLayout, bench: &mut Bench) -> Usart {
    let mut usart = Usart::new(3, layout, false);
    let (brr, cr1, on) = registers(layout);
    usart.write_register(brr, 100, &mut bench.access_at(0));
    usart.write_register(cr1, on | RE | TE, &mut bench.access());
    usart.advance_to_now(&mut bench.access_at(1000));
    assert!(!usart.is_sending());
    usart
}

/// BRR, CR1, UE.
fn registers(layout: UsartLayout) -> (u32, u32, u32) {
    if matches!(layout, UsartLayout::V1 { .. }) { (0x08, 0x0c, 1 << 13) } else { (0x0c, 0x00, 1) }
}

#[test]
fn frame_times() {
    // Layout, CR1, CR2, BRR, cycles of a frame (the block's clock is the core's).
    for (layout, cr1, cr2, brr, want) in [
        (V1, 0, 0, 139, 1390),
        (V1, 1 << 12, 0, 139, 1529),
        (V1, 0, 1 << 13, 139, 1529),
        (V1, 0, 1 << 12, 140, 1330),
        (V1, OVER8, 0, 0x115, (0x11 * 8 + 5) * 10),
        (V2, 0, 0, 139, 1390),
        (V2, 1 << 28, 0, 139, 1251),
        (V2, OVER8, 0, 0x115, (0x11 * 8 + 5) * 10),
        (LOW_POWER, 0, 0, 0x300 * 139, 139 * 30),
    ] {
        let mut bench = Bench::new();
        let mut usart = port(layout, &mut bench);
        let (brr_at, cr1_at, on) = registers(layout);
        usart.write_register(brr_at, brr, &mut bench.access());
        usart.write_register(cr1_at, on | TE | cr1, &mut bench.access());
        usart.write_register(if layout == V1 { 0x10 } else { 0x04 }, cr2, &mut bench.access());
        usart.write_register(if layout == V1 { 0x04 } else { 0x28 }, 0x55, &mut bench.access());
        assert_eq!(usart.next_event_cycle(), 1000 + want, "{layout:?} {cr1:#x} {cr2:#x} {brr:#x}");
    }
}

#[test]
fn prescaler_of_the_h7() {
    let mut bench = Bench::new();
    let mut usart = port(V2, &mut bench);
    usart.write_register(0x2c, 5, &mut bench.access());
    usart.write_register(0x28, 1, &mut bench.access());
    assert_eq!(usart.next_event_cycle(), 1000 + 10 * 100 * 10);
}

#[test]
fn transmit_flags_by_cycle() {
    for (layout, status, data) in [(V1, 0x00, 0x04), (V2, 0x1c, 0x28)] {
        let mut bench = Bench::new();
        let mut usart = port(layout, &mut bench);
        let flags = |usart: &mut Usart, bench: &mut Bench, at: u64| {
            usart.read_register(status, &mut bench.access_at(at)) & (TXE | TC)
        };
        assert_eq!(flags(&mut usart, &mut bench, 1000), TXE | TC);
        usart.write_register(data, u32::from(b'a'), &mut bench.access());
        assert_eq!(flags(&mut usart, &mut bench, 1001), TXE, "the byte moved to the shift register");
        usart.write_register(data, u32::from(b'b'), &mut bench.access());
        assert_eq!(flags(&mut usart, &mut bench, 1999), 0, "{layout:?}");
        assert_eq!(flags(&mut usart, &mut bench, 2000), TXE);
        assert_eq!(flags(&mut usart, &mut bench, 2999), TXE);
        assert_eq!(flags(&mut usart, &mut bench, 3000), TXE | TC);
        assert_eq!(bench.effects.uart_tx, [(3, b'a'), (3, b'b')]);
    }
}

#[test]
fn transmitter_starts_with_an_idle_frame() {
    let mut bench = Bench::new();
    let mut usart = Usart::new(1, V1, false);
    usart.write_register(0x08, 100, &mut bench.access());
    usart.write_register(0x0c, 1 << 13 | TE, &mut bench.access());
    usart.write_register(0x04, 0x41, &mut bench.access_at(10));
    usart.advance_to_now(&mut bench.access_at(1000));
    assert!(bench.effects.uart_tx.is_empty());
    usart.advance_to_now(&mut bench.access_at(2000));
    assert_eq!(bench.effects.uart_tx, [(1, 0x41)]);
}

#[test]
fn first_layout_clears_tc_by_status_then_data_or_by_zero() {
    let mut bench = Bench::new();
    let mut usart = port(V1, &mut bench);
    // Data without reading the status leaves TC.
    usart.write_register(0x04, 1, &mut bench.access());
    assert_eq!(usart.register_value(0) & TC, TC);
    usart.read_register(0x00, &mut bench.access());
    usart.write_register(0x04, 2, &mut bench.access());
    assert_eq!(usart.register_value(0) & TC, 0);
    usart.advance_to_now(&mut bench.access_at(3000));
    assert_eq!(usart.register_value(0) & TC, TC);
    usart.write_register(0x00, !TC, &mut bench.access());
    assert_eq!(usart.register_value(0) & TC, 0);
}

#[test]
fn received_bytes_come_at_line_speed() {
    for (layout, status, data) in [(V1, 0x00, 0x04), (V2, 0x1c, 0x24)] {
        let mut bench = Bench::new();
        let mut usart = port(layout, &mut bench);
        usart.queue_bytes_from_host(b"xyz");
        assert_eq!(usart.next_event_cycle(), 0);
        usart.advance_to_now(&mut bench.access_at(1000));
        assert_eq!(usart.next_event_cycle(), 2000);
        assert_eq!(usart.read_register(status, &mut bench.access_at(1999)) & RXNE, 0);
        assert_eq!(usart.read_register(status, &mut bench.access_at(2000)) & RXNE, RXNE);
        // The host waits until the receiver has room.
        usart.advance_to_now(&mut bench.access_at(9000));
        assert_eq!(usart.count_of_waiting_bytes(), 2);
        assert_eq!(usart.read_register(data, &mut bench.access()), u32::from(b'x'));
        assert_eq!(usart.read_register(status, &mut bench.access_at(9999)) & RXNE, 0);
        assert_eq!(usart.read_register(status, &mut bench.access_at(10_000)) & (RXNE | ORE), RXNE);
        assert_eq!(usart.read_register(data, &mut bench.access()), u32::from(b'y'));
    }
}

#[test]
fn overrun_and_its_two_ways_to_clear() {
    for (layout, status, data) in [(V1, 0x00, 0x04), (V2, 0x1c, 0x24)] {
        let mut bench = Bench::new();
        let mut usart = port(layout, &mut bench);
        usart.host_overruns = true;
        usart.queue_bytes_from_host(b"ab");
        usart.advance_to_now(&mut bench.access_at(1000));
        usart.advance_to_now(&mut bench.access_at(3000));
        assert_eq!(usart.read_register(status, &mut bench.access()) & (ORE | RXNE), ORE | RXNE, "{layout:?}");
        assert_eq!(usart.read_register(data, &mut bench.access()), u32::from(b'a'), "the old byte stays");
        if layout == V1 {
            assert_eq!(usart.register_value(0) & ORE, 0);
        } else {
            assert_eq!(usart.read_register(status, &mut bench.access()) & ORE, ORE);
            usart.write_register(0x20, ORE, &mut bench.access());
            assert_eq!(usart.read_register(status, &mut bench.access()) & ORE, 0);
        }
    }
}

#[test]
fn idle_line_one_frame_after_the_last_byte() {
    let mut bench = Bench::new();
    let mut usart = port(V2, &mut bench);
    usart.queue_bytes_from_host(b"a");
    usart.advance_to_now(&mut bench.access_at(1000));
    usart.advance_to_now(&mut bench.access_at(2000));
    assert_eq!(usart.next_event_cycle(), 3000);
    assert_eq!(usart.read_register(0x1c, &mut bench.access_at(2999)) & IDLE, 0);
    assert_eq!(usart.read_register(0x1c, &mut bench.access_at(3000)) & IDLE, IDLE);
    usart.write_register(0x20, IDLE, &mut bench.access());
    assert_eq!((usart.read_register(0x1c, &mut bench.access_at(9000)) & IDLE, usart.next_event_cycle()), (0, NEVER));
}

#[test]
fn interrupt_enables() {
    // CR1 bits, status as made below, level.
    for layout in [V1, V2] {
        let (_, cr1, on) = registers(layout);
        for (enable, idle_level, received_level) in [(0, 0, 0), (TXE, 1, 1), (TC, 1, 1), (RXNE, 0, 1), (IDLE, 0, 0)] {
            let mut bench = Bench::new();
            let mut usart = port(layout, &mut bench);
            usart.write_register(cr1, on | RE | TE | enable, &mut bench.access());
            assert_eq!(usart.interrupt_outputs(), idle_level, "{layout:?} {enable:#x}");
            usart.queue_bytes_from_host(b"a");
            usart.advance_to_now(&mut bench.access_at(1000));
            usart.advance_to_now(&mut bench.access_at(2000));
            assert_eq!(usart.interrupt_outputs(), received_level, "{layout:?} {enable:#x}");
        }
    }
}

#[test]
fn overrun_interrupts_with_the_receiver_s_enable() {
    // CR1, CR3, level with ORE up and nothing to read.
    for (cr1, cr3, level) in [(0, 0, 0), (RXNE, 0, 1), (0, 1, 1)] {
        let mut bench = Bench::new();
        let mut usart = port(V2, &mut bench);
        usart.host_overruns = true;
        usart.write_register(0x00, 1 | RE | TE | cr1, &mut bench.access());
        usart.write_register(0x08, cr3, &mut bench.access());
        usart.queue_bytes_from_host(b"ab");
        usart.advance_to_now(&mut bench.access_at(1000));
        usart.advance_to_now(&mut bench.access_at(3000));
        usart.read_register(0x24, &mut bench.access());
        assert_eq!(usart.interrupt_outputs(), level, "{cr1:#x} {cr3:#x}");
    }
}

#[test]
fn fifo_of_the_h7() {
    let mut bench = Bench::new();
    let mut usart = port(V2, &mut bench);
    usart.write_register(0x00, 1 | RE | TE | FIFOEN, &mut bench.access());
    // One byte goes to the shift register, sixteen wait.
    for n in 0..17 {
        assert_ne!(usart.read_register(0x1c, &mut bench.access()) & TXE, 0, "byte {n}");
        usart.write_register(0x28, n, &mut bench.access());
    }
    assert_eq!(usart.read_register(0x1c, &mut bench.access()) & (TXE | 1 << 23), 0);
    usart.write_register(0x28, 99, &mut bench.access());
    usart.advance_to_now(&mut bench.access_at(100_000));
    let sent: Vec<u8> = bench.effects.uart_tx.iter().map(|&(_, byte)| byte).collect();
    assert_eq!(sent, (0..17).collect::<Vec<u8>>());
    assert_eq!(usart.read_register(0x1c, &mut bench.access()) & (TXE | TC | 1 << 23), TXE | TC | 1 << 23);
    // Receive threshold: 8 of 16.
    usart.write_register(0x08, 2 << 25 | 1 << 28, &mut bench.access());
    usart.queue_bytes_from_host(&[7; 9]);
    usart.advance_to_now(&mut bench.access());
    usart.advance_to_now(&mut bench.access_at(107_000));
    assert_eq!((usart.read_register(0x1c, &mut bench.access()) >> 26 & 1, usart.interrupt_outputs()), (0, 0));
    usart.advance_to_now(&mut bench.access_at(108_000));
    assert_eq!((usart.read_register(0x1c, &mut bench.access()) >> 26 & 1, usart.interrupt_outputs()), (1, 1));
}

#[test]
fn switching_off_returns_what_was_not_read() {
    let mut bench = Bench::new();
    let mut usart = port(V1, &mut bench);
    usart.queue_bytes_from_host(b"ab");
    usart.advance_to_now(&mut bench.access_at(1000));
    usart.advance_to_now(&mut bench.access_at(2000));
    assert_eq!(usart.count_of_waiting_bytes(), 1);
    usart.write_register(0x0c, 0, &mut bench.access());
    assert_eq!((usart.count_of_waiting_bytes(), usart.register_value(0)), (2, TXE | TC));
    usart.write_register(0x0c, 1 << 13 | RE, &mut bench.access());
    usart.advance_to_now(&mut bench.access_at(3000));
    assert_eq!(usart.read_register(0x04, &mut bench.access()), u32::from(b'a'));
}

#[test]
fn new_clock_keeps_the_bits() {
    let mut bench = Bench::new();
    let mut usart = port(V1, &mut bench);
    usart.write_register(0x04, 1, &mut bench.access());
    // Half a frame later core and block run twice as fast: the other half takes as many cycles.
    bench.core_hz *= 2;
    bench.clock_hz *= 2;
    usart.clocks_changed(&mut bench.access_at(1500));
    assert_eq!(usart.next_event_cycle(), 2000);
    bench.core_hz *= 2;
    usart.clocks_changed(&mut bench.access_at(1750));
    assert_eq!(usart.next_event_cycle(), 2250);
}

#[test]
fn dma_requests_follow_the_flags() {
    let mut bench = Bench::new();
    let mut usart = port(V1, &mut bench);
    assert_eq!(usart.dma_requests(), (false, false));
    usart.write_register(0x14, DMAT | DMAR, &mut bench.access());
    assert_eq!(usart.dma_requests(), (true, false));
    usart.queue_bytes_from_host(b"a");
    usart.advance_to_now(&mut bench.access_at(1000));
    usart.advance_to_now(&mut bench.access_at(2000));
    assert_eq!(usart.dma_requests(), (true, true));
}

#[test]
fn registers_keep_what_they_have() {
    for (layout, cases) in [
        (V1, &[(0x00, 0xc0), (0x08, 0xffff), (0x0c, 0xbfff), (0x10, 0x7fff), (0x14, 0xfff), (0x18, 0xffff)][..]),
        (
            V2,
            &[(0x00, u32::MAX), (0x04, u32::MAX), (0x0c, 0xf_ffff), (0x10, 0xffff), (0x18, 0), (0x28, 0), (0x2c, 0xf)],
        ),
        (LOW_POWER, &[(0x00, 0x1fff_ffff), (0x2c, 0), (0x1c, 0x6000d0)]),
    ] {
        for &(offset, want) in cases {
            let mut bench = Bench::new();
            let mut usart = Usart::new(1, layout, false);
            if offset == 0x1c {
                usart.write_register(0x00, 1 | RE | TE, &mut bench.access());
                usart.flags |= IDLE;
            }
            usart.write_register(offset, u32::MAX, &mut bench.access());
            assert_eq!(usart.read_register(offset, &mut bench.access()), want, "{layout:?} {offset:#x}");
        }
    }
}
