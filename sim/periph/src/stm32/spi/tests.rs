//! Frames in their time, buffers and FIFOs, flags.

use super::*;
use crate::device::tests::Memory;
use crate::stm32::testing::Bench;

const DR: u32 = 0x0c;
const SR: u32 = 0x08;
/// Enabled master with software select, the bus clock divided by 8.
const ON: u32 = CR1_MSTR | CR1_SPE | CR1_SSI | CR1_SSM | 2 << 3;

fn enabled(bench: &mut Bench, layout: SpiLayout, cr2: u32) -> Spi {
    let mut spi = Spi::new(layout);
    spi.bus.attach_spi_device(None, Memory::boxed());
    spi.write_register(4, cr2, &mut bench.access());
    spi.write_register(0, ON, &mut bench.access());
    spi
}

/// Writes DR with an access of so many bytes.
fn send(spi: &mut Spi, bench: &mut Bench, value: u32, bytes: u32) {
    let mut access = bench.access();
    access.bytes = bytes;
    spi.write_register(DR, value, &mut access);
}

fn receive(spi: &mut Spi, bench: &mut Bench, bytes: u32) -> u32 {
    let mut access = bench.access();
    access.bytes = bytes;
    spi.read_register(DR, &mut access)
}

#[test]
fn a_frame_takes_its_bits_and_the_next_waits_in_the_buffer() {
    let mut bench = Bench::new();
    let mut spi = enabled(&mut bench, SpiLayout::Buffer, 0);
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_TXE);
    send(&mut spi, &mut bench, 0x11, 1);
    assert_eq!((spi.read_register(SR, &mut bench.access()), spi.next_event_cycle()), (SR_TXE | SR_BSY, 64));
    send(&mut spi, &mut bench, 0x22, 1);
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_BSY);
    spi.advance_to_now(&mut bench.access_at(64));
    assert_eq!((spi.read_register(SR, &mut bench.access()), spi.next_event_cycle()), (SR_RXNE | SR_TXE | SR_BSY, 128));
    assert_eq!(receive(&mut spi, &mut bench, 1), 0);
    spi.advance_to_now(&mut bench.access_at(128));
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_RXNE | SR_TXE);
    assert_eq!(receive(&mut spi, &mut bench, 1), 0x11);
}

#[test]
fn the_bus_clock_paces_it_and_16_bits_take_twice_as_long() {
    let mut bench = Bench::new();
    bench.core_hz = 4 * bench.clock_hz;
    let mut spi = enabled(&mut bench, SpiLayout::Buffer, 0);
    spi.write_register(0, 0, &mut bench.access());
    spi.write_register(0, ON | CR1_DFF, &mut bench.access());
    send(&mut spi, &mut bench, 0xabcd, 2);
    assert_eq!(spi.next_event_cycle(), 16 * 8 * 4);
}

#[test]
fn an_overrun_goes_by_reading_data_then_status() {
    let mut bench = Bench::new();
    let mut spi = enabled(&mut bench, SpiLayout::Buffer, CR2_ERRIE);
    for _ in 0..2 {
        send(&mut spi, &mut bench, 1, 1);
        let due = spi.next_event_cycle();
        spi.advance_to_now(&mut bench.access_at(due));
    }
    assert_eq!((spi.read_register(SR, &mut bench.access()) & SR_OVR, spi.interrupt_outputs()), (SR_OVR, 1));
    receive(&mut spi, &mut bench, 1);
    assert_eq!(spi.read_register(SR, &mut bench.access()) & SR_OVR, SR_OVR);
    assert_eq!((spi.read_register(SR, &mut bench.access()) & SR_OVR, spi.interrupt_outputs()), (0, 0));
}

#[test]
fn interrupts_follow_their_flags() {
    let mut bench = Bench::new();
    let mut spi = enabled(&mut bench, SpiLayout::Buffer, CR2_TXEIE);
    assert_eq!(spi.interrupt_outputs(), 1);
    spi.write_register(4, CR2_RXNEIE, &mut bench.access());
    assert_eq!(spi.interrupt_outputs(), 0);
    send(&mut spi, &mut bench, 1, 1);
    spi.advance_to_now(&mut bench.access_at(64));
    assert_eq!(spi.interrupt_outputs(), 1);
    receive(&mut spi, &mut bench, 1);
    assert_eq!(spi.interrupt_outputs(), 0);
}

#[test]
fn a_fifo_takes_bytes_in_pairs() {
    let mut bench = Bench::new();
    let mut spi = enabled(&mut bench, SpiLayout::Fifo, 7 << 8);
    send(&mut spi, &mut bench, 0x2211, 2);
    // One on its way, one in the FIFO.
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_TXE | SR_BSY | 1 << 11);
    spi.advance_to_now(&mut bench.access_at(64));
    assert_eq!(spi.read_register(SR, &mut bench.access()) & (SR_RXNE | 3 << 9), 1 << 9, "RXNE from two bytes on");
    spi.advance_to_now(&mut bench.access_at(128));
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_RXNE | SR_TXE | 2 << 9);
    assert_eq!(receive(&mut spi, &mut bench, 2), 0x1100);
    // With FRXTH a byte is enough.
    spi.write_register(4, 7 << 8 | CR2_FRXTH, &mut bench.access());
    send(&mut spi, &mut bench, 0x33, 1);
    let due = spi.next_event_cycle();
    spi.advance_to_now(&mut bench.access_at(due));
    assert_eq!(spi.read_register(SR, &mut bench.access()) & SR_RXNE, SR_RXNE);
    assert_eq!(receive(&mut spi, &mut bench, 1), 0x22);
}

#[test]
fn frames_of_a_fifo_have_any_size() {
    let mut bench = Bench::new();
    let mut spi = enabled(&mut bench, SpiLayout::Fifo, 11 << 8);
    send(&mut spi, &mut bench, 0xffff, 2);
    assert_eq!(spi.next_event_cycle(), 12 * 8);
    send(&mut spi, &mut bench, 0, 2);
    spi.advance_to_now(&mut bench.access_at(192));
    assert_eq!((receive(&mut spi, &mut bench, 2), receive(&mut spi, &mut bench, 2)), (0, 0xfff));
}

#[test]
fn a_line_that_only_sends_receives_nothing() {
    let mut bench = Bench::new();
    let mut spi = enabled(&mut bench, SpiLayout::Buffer, 0);
    spi.write_register(0, ON | CR1_BIDIMODE | CR1_BIDIOE, &mut bench.access());
    send(&mut spi, &mut bench, 1, 1);
    spi.advance_to_now(&mut bench.access_at(64));
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_TXE);
}

#[test]
fn a_master_that_is_selected_loses_its_mode() {
    let mut bench = Bench::new();
    let mut spi = Spi::new(SpiLayout::Buffer);
    spi.write_register(0, ON & !CR1_SSI, &mut bench.access());
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_TXE | SR_MODF);
    assert_eq!(spi.read_register(0, &mut bench.access()) & (CR1_SPE | CR1_MSTR), 0);
    spi.write_register(0, ON, &mut bench.access());
    assert_eq!(spi.read_register(SR, &mut bench.access()), SR_TXE);
}

#[test]
fn reset_values_and_unknown_registers() {
    let mut bench = Bench::new();
    for (layout, cr2) in [(SpiLayout::Buffer, 0), (SpiLayout::Fifo, 0x700)] {
        let mut spi = enabled(&mut bench, layout, 0xf0);
        spi.reset_registers();
        let values = [0, 4, 8, 0x0c, 0x10, 0x1c, 0x20].map(|offset| spi.read_register(offset, &mut bench.access()));
        assert_eq!(values, [0, cr2, SR_TXE, 0, 7, 0, 2]);
        assert!(spi.bus.has_chip_select_pins());
    }
    Spi::new(SpiLayout::Fifo).write_register(0x24, 0, &mut bench.access());
    assert_eq!(bench.effects.unmodelled, Some((0x24, true)));
}
