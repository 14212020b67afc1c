//! Transfers, FIFOs and flags of the H743's SPI.

use super::*;
use crate::device::tests::Memory;
use crate::stm32::testing::Bench;

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const CFG1: u32 = 0x08;
const CFG2: u32 = 0x0c;
const IER: u32 = 0x10;
const SR: u32 = 0x14;
const IFCR: u32 = 0x18;
const TXDR: u32 = 0x20;
const RXDR: u32 = 0x30;
/// Frames of 8 bits, the clock divided by 8.
const BYTES_BY_8: u32 = 2 << 28 | 7;
const MASTER: u32 = CFG2_MASTER | CFG2_SSM;
const ON: u32 = CR1_SPE | CR1_SSI;
const GO: u32 = ON | CR1_CSTART;

/// An enabled master with a device that answers each frame with the last one. Frames of a byte take 64 cycles.
fn master(bench: &mut Bench, writes: &[(u32, u32)]) -> SpiH7 {
    let mut spi = SpiH7::new(16);
    spi.bus.attach_spi_device(None, Memory::boxed());
    for &(offset, value) in [(CFG1, BYTES_BY_8), (CFG2, MASTER)].iter().chain(writes) {
        spi.write_register(offset, value, &mut bench.access());
    }
    spi
}

fn write(spi: &mut SpiH7, bench: &mut Bench, value: u32, bytes: u32) {
    let mut access = bench.access();
    access.bytes = bytes;
    spi.write_register(TXDR, value, &mut access);
}

fn read(spi: &mut SpiH7, bench: &mut Bench, bytes: u32) -> u32 {
    let mut access = bench.access();
    access.bytes = bytes;
    spi.read_register(RXDR, &mut access)
}

/// Lets all frames end, and returns the cycles at which they did.
fn run(spi: &mut SpiH7, bench: &mut Bench) -> Vec<u64> {
    let mut ends = Vec::new();
    while spi.next_event_cycle() != NEVER {
        ends.push(spi.next_event_cycle());
        let due = spi.next_event_cycle();
        spi.advance_to_now(&mut bench.access_at(due));
    }
    ends
}

fn status(spi: &mut SpiH7, bench: &mut Bench) -> u32 {
    spi.read_register(SR, &mut bench.access())
}

#[test]
fn registers_after_reset() {
    let mut bench = Bench::new();
    let mut spi = master(&mut bench, &[(CR2, 5), (CR1, GO)]);
    spi.reset_registers();
    for (offset, value) in [(CR1, 0), (CR2, 0), (CFG1, 0x0007_0007), (CFG2, 0), (IER, 0), (SR, 0x1002), (0x40, 0x107)] {
        assert_eq!(spi.read_register(offset, &mut bench.access()), value, "{offset:#x}");
    }
    assert_eq!((spi.next_event_cycle(), bench.effects.unmodelled), (NEVER, None));
}

#[test]
fn transfer_of_a_known_length() {
    let mut bench = Bench::new();
    let mut spi = master(&mut bench, &[(CR2, 3), (CR1, ON)]);
    write(&mut spi, &mut bench, 0x11, 1);
    write(&mut spi, &mut bench, 0x22, 1);
    assert_eq!((spi.next_event_cycle(), status(&mut spi, &mut bench)), (NEVER, SR_TXP), "it waits for CSTART");
    spi.write_register(CR1, GO, &mut bench.access());
    assert_eq!((spi.next_event_cycle(), status(&mut spi, &mut bench)), (64, 3 << 16 | SR_TXP));
    write(&mut spi, &mut bench, 0x33, 1);
    assert_eq!(status(&mut spi, &mut bench), 3 << 16 | SR_TXTF, "all are written");
    write(&mut spi, &mut bench, 0x44, 1);
    spi.advance_to_now(&mut bench.access_at(64));
    assert_eq!(status(&mut spi, &mut bench), 2 << 16 | 1 << 13 | SR_TXTF | SR_RXP);
    assert_eq!(run(&mut spi, &mut bench), [128, 192]);
    assert_eq!(status(&mut spi, &mut bench), 3 << 13 | SR_TXTF | SR_RXP | SR_EOT | SR_TXC);
    assert_eq!(spi.read_register(CR1, &mut bench.access()), ON, "CSTART falls with the end");
    assert_eq!([0; 3].map(|_| read(&mut spi, &mut bench, 1)), [0, 0x11, 0x22]);
    spi.write_register(IFCR, SR_EOT | SR_TXTF, &mut bench.access());
    assert_eq!(status(&mut spi, &mut bench), SR_TXC);
    // The next one begins as the SPI is enabled again.
    spi.write_register(CR1, 0, &mut bench.access());
    spi.write_register(CR1, GO, &mut bench.access());
    assert_eq!((spi.next_event_cycle(), status(&mut spi, &mut bench)), (NEVER, 3 << 16 | SR_TXP));
    write(&mut spi, &mut bench, 0x55, 1);
    assert_eq!(spi.next_event_cycle(), 192 + 64);
}

#[test]
fn endless_transfer_pauses_without_data_and_is_suspended() {
    let mut bench = Bench::new();
    let mut spi = master(&mut bench, &[(CR1, GO), (TXDR, 0x4433_2211)]);
    assert_eq!(run(&mut spi, &mut bench), [64, 128, 192, 256]);
    assert_eq!(status(&mut spi, &mut bench), SR_TXC | SR_TXP | SR_RXP | SR_DXP | SR_RXWNE);
    write(&mut spi, &mut bench, 1, 1);
    write(&mut spi, &mut bench, 2, 1);
    assert_eq!(status(&mut spi, &mut bench) & SR_TXC, 0);
    spi.write_register(CR1, GO | CR1_CSUSP, &mut bench.access_at(300));
    assert_eq!(status(&mut spi, &mut bench) & SR_SUSP, 0, "the frame goes on");
    assert_eq!(run(&mut spi, &mut bench), [320]);
    assert_eq!((status(&mut spi, &mut bench) & SR_SUSP, spi.read_register(CR1, &mut bench.access())), (SR_SUSP, ON));
    spi.write_register(IFCR, SR_SUSP, &mut bench.access());
    spi.write_register(CR1, GO, &mut bench.access_at(400));
    assert_eq!((spi.next_event_cycle(), status(&mut spi, &mut bench) & SR_SUSP), (464, 0));
}

#[test]
fn frames_by_their_size_and_the_access() {
    // DSIZE, bytes of the access, what is written, the frames sent, cycles of each, what is read.
    let cases: [(u32, u32, u32, &[u32], u64); 7] = [
        (7, 1, 0x44, &[0x44], 64),
        (7, 2, 0x4433, &[0x33, 0x44], 64),
        (7, 4, 0x4433_2211, &[0x11, 0x22, 0x33, 0x44], 64),
        (4, 1, 0xff, &[0x1f], 40),
        (15, 2, 0x4433, &[0x4433], 128),
        (15, 4, 0x4433_2211, &[0x2211, 0x4433], 128),
        (31, 4, 0x4433_2211, &[0x4433_2211], 256),
    ];
    for (size, bytes, value, frames, cycles) in cases {
        let mut bench = Bench::new();
        let mut spi = master(&mut bench, &[(CFG1, 2 << 28 | size), (CR1, GO)]);
        write(&mut spi, &mut bench, value, bytes);
        // One more frame brings the last of them back.
        let mut access = bench.access();
        access.bytes = spi.bytes_per_frame() as u32;
        spi.write_register(TXDR, 0, &mut access);
        let ends: Vec<u64> = (1..=frames.len() as u64 + 1).map(|n| n * cycles).collect();
        assert_eq!(run(&mut spi, &mut bench), ends, "{size} {bytes}");
        let one = spi.bytes_per_frame() as u32;
        read(&mut spi, &mut bench, one);
        let expected = frames.iter().rev().fold(0, |word: u64, &frame| word << (8 * one) | u64::from(frame));
        assert_eq!(u64::from(read(&mut spi, &mut bench, bytes)), expected, "{size} {bytes}");
        assert_eq!(status(&mut spi, &mut bench) & (SR_RXP | 3 << 13 | SR_RXWNE), 0);
    }
}

#[test]
fn packets_and_levels_of_the_fifos() {
    let mut bench = Bench::new();
    // Packets of four frames.
    let mut spi = master(&mut bench, &[(CFG1, BYTES_BY_8 | 3 << 5), (CR1, ON)]);
    for written in 1..=16 {
        write(&mut spi, &mut bench, written, 1);
        assert_eq!(status(&mut spi, &mut bench) & SR_TXP != 0, written <= 12, "{written}");
    }
    spi.write_register(CR1, GO, &mut bench.access());
    for received in 1..=5 {
        spi.advance_to_now(&mut bench.access_at(64 * received));
        let want = (u32::from(received >= 4), received as u32 % 4, u32::from(received >= 4));
        let status = status(&mut spi, &mut bench);
        assert_eq!((status & SR_RXP, status >> 13 & 3, status >> 15 & 1), want, "{received}");
    }
}

#[test]
fn small_fifo_of_spi4_to_6() {
    let mut bench = Bench::new();
    let mut spi = SpiH7::new(8);
    for (offset, value) in [(CFG1, BYTES_BY_8), (CFG2, MASTER), (CR1, ON)] {
        spi.write_register(offset, value, &mut bench.access());
    }
    (0..8).for_each(|n| write(&mut spi, &mut bench, n, 1));
    assert_eq!(status(&mut spi, &mut bench) & SR_TXP, 0);
}

#[test]
fn full_receiver_overruns_or_holds_the_master() {
    for (masrx, overruns) in [(0, true), (CR1_MASRX, false)] {
        let mut bench = Bench::new();
        let mut spi = master(&mut bench, &[(CR1, GO | masrx)]);
        for _ in 0..5 {
            spi.write_register(TXDR, 0x0403_0201, &mut bench.access());
            run(&mut spi, &mut bench);
        }
        assert_eq!(status(&mut spi, &mut bench) & SR_OVR != 0, overruns);
        assert_eq!(spi.tx.len(), if overruns { 0 } else { 4 });
        read(&mut spi, &mut bench, 1);
        assert_eq!(spi.next_event_cycle() == NEVER, overruns);
        spi.write_register(IFCR, SR_OVR, &mut bench.access());
        assert_eq!(status(&mut spi, &mut bench) & SR_OVR, 0);
    }
}

#[test]
fn directions_of_the_line() {
    // COMM, HDDIR, a frame needs data, and comes back.
    for (comm, hddir, sends, receives) in
        [(0, 0, true, true), (1, 0, true, false), (2, 0, false, true), (3, 0, false, true), (3, CR1_HDDIR, true, false)]
    {
        let mut bench = Bench::new();
        let mut spi = master(&mut bench, &[(CFG2, MASTER | comm << 17), (CR2, 1), (CR1, GO | hddir)]);
        assert_eq!(spi.next_event_cycle() == NEVER, sends, "{comm}");
        write(&mut spi, &mut bench, 7, 1);
        run(&mut spi, &mut bench);
        let status = status(&mut spi, &mut bench);
        assert_eq!((status & SR_RXP != 0, status & SR_EOT), (receives, SR_EOT), "{comm}");
    }
}

#[test]
fn idle_periods_between_frames_and_before_the_first() {
    let mut bench = Bench::new();
    let mut spi = master(&mut bench, &[(CFG2, MASTER | CFG2_SSOE | 2 << 4 | 3), (CR1, ON), (TXDR, 0x4433_2211)]);
    spi.write_register(CR1, GO, &mut bench.access());
    assert_eq!(run(&mut spi, &mut bench), [88, 168, 248, 328]);
}

#[test]
fn kernel_clock_paces_it() {
    let mut bench = Bench::new();
    bench.core_hz = 4 * bench.clock_hz;
    let mut spi = master(&mut bench, &[(CR1, GO), (TXDR, 0x11)]);
    assert_eq!(run(&mut spi, &mut bench)[0], 256);
    // Without a clock nothing is sent until it comes.
    bench.clock_hz = 0;
    write(&mut spi, &mut bench, 1, 1);
    assert_eq!(spi.next_event_cycle(), NEVER);
    bench.clock_hz = 16_000_000;
    spi.clocks_changed(&mut bench.access_at(2000));
    assert_eq!(spi.next_event_cycle(), 2000 + 256);
}

#[test]
fn a_master_that_is_selected_is_disabled() {
    let mut bench = Bench::new();
    let mut spi = master(&mut bench, &[(CR1, CR1_SPE)]);
    assert_eq!((spi.read_register(CR1, &mut bench.access()), status(&mut spi, &mut bench) & SR_MODF), (0, SR_MODF));
    write(&mut spi, &mut bench, 1, 1);
    assert!(spi.tx.is_empty(), "a disabled SPI takes nothing");
    spi.write_register(IFCR, SR_MODF, &mut bench.access());
    spi.write_register(CR1, ON, &mut bench.access());
    assert_eq!((spi.read_register(CR1, &mut bench.access()), status(&mut spi, &mut bench) & SR_MODF), (ON, 0));
}

#[test]
fn interrupts() {
    // IER, then the line idle, with a frame received at the end of a transfer of one.
    for (enable, idle, ended) in [
        (0, 0, 0),
        (SR_RXP, 0, 1),
        (SR_TXP, 1, 0),
        (SR_DXP, 0, 0),
        (IER_EOTIE, 1, 1),
        (SR_TXTF, 0, 1),
        (SR_OVR | SR_MODF, 0, 0),
    ] {
        let mut bench = Bench::new();
        let mut spi = master(&mut bench, &[(CR2, 1), (IER, enable), (CR1, ON)]);
        assert_eq!(spi.interrupt_outputs(), idle, "{enable:#x}");
        write(&mut spi, &mut bench, 1, 1);
        spi.write_register(CR1, GO, &mut bench.access());
        if enable == IER_EOTIE {
            assert_eq!(spi.interrupt_outputs(), 0, "TXC is low during the transfer");
        }
        run(&mut spi, &mut bench);
        assert_eq!(spi.interrupt_outputs(), ended, "{enable:#x}");
    }
}
