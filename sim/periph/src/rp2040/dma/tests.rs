//! Channels, triggers, chaining and pacing.

use super::*;
use crate::rp2040::testing::Bench;

const WORD: u32 = 2 << 2;
const UNPACED: u32 = TREQ_PERMANENT << 15;

fn chain(channel: u32) -> u32 {
    channel << 11
}

/// Programs channel `n` through its first alias, which triggers it.
fn start(dma: &mut Dma, bench: &mut Bench, n: u32, count: u32, ctrl: u32) {
    for (offset, value) in [(0, 0x2000_0000), (4, 0x2000_1000), (8, count), (12, ctrl | CTRL_EN)] {
        dma.write_register(0x40 * n + offset, value, &mut bench.access());
    }
}

fn step(dma: &mut Dma, now: u64, requests: u64) -> Option<DmaTransfer> {
    let transfer = dma.next_transfer(now, requests)?;
    dma.advance_channel_after_transfer(&transfer, now);
    Some(transfer)
}

#[test]
fn unpaced_copy_makes_one_transfer_per_cycle() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    dma.write_register(0x404, 1, &mut bench.access());
    start(&mut dma, &mut bench, 0, 3, WORD | CTRL_INCR_READ | CTRL_INCR_WRITE | UNPACED);
    assert_eq!(dma.read_register(12, &mut bench.access()) & CTRL_BUSY, CTRL_BUSY);
    assert!(dma.is_busy());
    assert_eq!(dma.next_transfer_cycle(0), 1);
    for now in 1..=3 {
        let n = now as u32 - 1;
        let transfer = step(&mut dma, now, 0).unwrap();
        assert_eq!(
            (transfer.read_address, transfer.write_address, transfer.bytes),
            (0x2000_0000 + 4 * n, 0x2000_1000 + 4 * n, 4)
        );
        assert_eq!(dma.read_register(8, &mut bench.access()), 2 - n);
    }
    assert_eq!((dma.next_transfer_cycle(0), dma.irq_levels(), dma.is_busy()), (NEVER, 1 << 11, false));
    dma.write_register(0x40c, 1, &mut bench.access());
    assert_eq!((dma.irq_levels(), dma.read_register(12, &mut bench.access()) & CTRL_BUSY), (0, 0));
}

#[test]
fn requests_pace_and_channels_take_turns_by_priority() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    start(&mut dma, &mut bench, 1, 2, 20 << 15 | chain(1));
    assert_eq!((dma.next_transfer_cycle(0), dma.next_transfer_cycle(1 << 20)), (NEVER, 1));
    start(&mut dma, &mut bench, 2, 2, UNPACED | chain(2));
    start(&mut dma, &mut bench, 3, 2, UNPACED | chain(3) | CTRL_HIGH_PRIORITY);
    let order: Vec<usize> = (1..=6).map(|now| step(&mut dma, now, 1 << 20).unwrap().channel).collect();
    assert_eq!(order, [3, 3, 1, 2, 1, 2]);
}

#[test]
fn chaining_restarts_with_the_reload_value() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    dma.write_register(0x40 * 5 + 0x10, CTRL_EN | UNPACED | chain(5), &mut bench.access());
    dma.write_register(0x40 * 5 + 8, 1, &mut bench.access());
    start(&mut dma, &mut bench, 4, 1, UNPACED | chain(5) | CTRL_IRQ_QUIET);
    assert_eq!(step(&mut dma, 1, 0).unwrap().channel, 4);
    assert_eq!(step(&mut dma, 2, 0).unwrap().channel, 5);
    assert_eq!(dma.read_register(0x400, &mut bench.access()), 1 << 5);
    dma.write_register(0x430, 1 << 5, &mut bench.access());
    assert_eq!(dma.read_register(0x40 * 5 + 8, &mut bench.access()), 1);
}

#[test]
fn ring_wraps_and_aliases_reach_the_same_registers() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    start(&mut dma, &mut bench, 0, 6, UNPACED | CTRL_INCR_READ | 2 << 6);
    let addresses: Vec<u32> = (1..=6).map(|now| step(&mut dma, now, 0).unwrap().read_address & 0xff).collect();
    assert_eq!(addresses, [0, 1, 2, 3, 0, 1]);
    dma.write_register(0x38, 1, &mut bench.access());
    dma.write_register(0x34, 7, &mut bench.access());
    dma.write_register(0x3c, 9, &mut bench.access());
    assert_eq!(dma.next_transfer(100, 0).map(|t| (t.read_address, t.write_address)), Some((9, 7)));
}

#[test]
fn null_trigger_interrupts_quiet_channels_only() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    dma.write_register(0x10, CTRL_EN | CTRL_IRQ_QUIET, &mut bench.access());
    dma.write_register(0x1c, 0, &mut bench.access());
    assert_eq!(dma.read_register(0x400, &mut bench.access()), 1);
    dma.write_register(0x50, CTRL_EN, &mut bench.access());
    dma.write_register(0x5c, 0, &mut bench.access());
    assert_eq!(dma.read_register(0x400, &mut bench.access()), 1);
}

#[test]
fn pacing_timer_sets_the_rate_and_abort_stops() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    dma.write_register(0x420, 2 << 16 | 25, &mut bench.access());
    start(&mut dma, &mut bench, 0, 10, TREQ_TIMER0 << 15);
    assert_eq!(dma.next_transfer_cycle(0), 13);
    step(&mut dma, 13, 0);
    assert_eq!(dma.next_transfer_cycle(0), 25);
    assert_eq!(dma.next_transfer(24, 0), None);
    dma.write_register(0x444, 1, &mut bench.access());
    assert_eq!(dma.next_transfer_cycle(0), NEVER);
    assert_eq!(dma.read_register(0x448, &mut bench.access()), 12);
}

#[test]
fn abort_names_its_channels_and_debug_shows_the_reload() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    start(&mut dma, &mut bench, 2, 5, UNPACED | chain(2));
    start(&mut dma, &mut bench, 3, 6, UNPACED | chain(3));
    dma.write_register(0x444, 1 << 3, &mut bench.access());
    assert_eq!(dma.next_transfer(9, 0).map(|t| t.channel), Some(2));
    step(&mut dma, 9, 0);
    assert_eq!((dma.read_register(0x888, &mut bench.access()), dma.read_register(0x884, &mut bench.access())), (0, 5));
    assert_eq!(dma.read_register(0x88, &mut bench.access()), 4);
}

#[test]
fn second_interrupt_output_and_force() {
    let mut bench = Bench::new();
    let mut dma = Dma::default();
    dma.write_register(0x418, 1 << 7, &mut bench.access());
    assert_eq!((dma.irq_levels(), dma.read_register(0x41c, &mut bench.access())), (1 << 12, 1 << 7));
    dma.write_register(0x408, 1 << 6, &mut bench.access());
    assert_eq!((dma.irq_levels(), dma.read_register(0x40c, &mut bench.access())), (3 << 11, 1 << 6));
}

/// The other tests use the names, so a wrong bit number would cancel out in them.
#[test]
fn bit_numbers_are_the_data_sheets() {
    for (mask, number) in [
        (CTRL_EN, 0),
        (CTRL_HIGH_PRIORITY, 1),
        (CTRL_INCR_READ, 4),
        (CTRL_INCR_WRITE, 5),
        (CTRL_RING_SEL, 10),
        (CTRL_IRQ_QUIET, 21),
        (CTRL_BSWAP, 22),
        (CTRL_BUSY, 24),
    ] {
        assert_eq!(mask, 1u32 << number);
    }
}

#[test]
fn byte_swap_and_widths_come_from_the_control_register() {
    let mut bench = Bench::new();
    for (ctrl, bytes, swap) in [(0, 1, false), (1 << 2, 2, true), (2 << 2, 4, false), (3 << 2, 4, true)] {
        let mut dma = Dma::default();
        let swap_bit = if swap { 1 << 22 } else { 0 };
        start(&mut dma, &mut bench, 0, 1, UNPACED | ctrl | swap_bit);
        let transfer = dma.next_transfer(1, 0).unwrap();
        assert_eq!((transfer.bytes, transfer.byte_swap), (bytes, swap));
    }
    let dma = Dma::default();
    let strobes: Vec<u32> = (0..0x500).step_by(4).filter(|&offset| dma.is_strobe(offset)).collect();
    assert_eq!(strobes, [0x400, 0x40c, 0x41c, 0x430, 0x444]);
}
