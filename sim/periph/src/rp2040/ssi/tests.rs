//! The SSI as boot2 and the SDK's flash routines use it.

use super::*;
use crate::rp2040::testing::Bench;

const CTRLR0_8_BIT: u32 = 7 << 16;

fn ssi(bench: &mut Bench) -> Ssi {
    let mut ssi = Ssi::new(Flash::new(2 << 20));
    ssi.write_register(0x00, CTRLR0_8_BIT, &mut bench.access());
    ssi.write_register(0x08, 1, &mut bench.access());
    ssi
}

fn command(ssi: &mut Ssi, bench: &mut Bench, bytes: &[u8]) -> Vec<u8> {
    for &byte in bytes {
        ssi.write_register(0x60, u32::from(byte), &mut bench.access());
    }
    let got = bytes.iter().map(|_| ssi.read_register(0x60, &mut bench.access()) as u8).collect();
    // wait_ssi_ready ends a command.
    assert_eq!(ssi.read_register(0x28, &mut bench.access()), SR_TFE | SR_TFNF);
    got
}

#[test]
fn boot2_finds_quad_enabled() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    assert_eq!(command(&mut ssi, &mut bench, &[0x35, 0])[1], 2);
    assert_eq!(command(&mut ssi, &mut bench, &[0x05, 0])[1], 0);
}

#[test]
fn write_enable_then_status_write() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    command(&mut ssi, &mut bench, &[0x01, 0, 0]);
    assert_eq!(command(&mut ssi, &mut bench, &[0x35, 0])[1], 2);
    command(&mut ssi, &mut bench, &[0x06]);
    assert_eq!(command(&mut ssi, &mut bench, &[0x05, 0])[1], 2);
    command(&mut ssi, &mut bench, &[0x01, 0, 0]);
    assert_eq!(command(&mut ssi, &mut bench, &[0x35, 0])[1], 0);
    assert_eq!(command(&mut ssi, &mut bench, &[0x05, 0])[1], 0);
}

#[test]
fn identification_and_reads() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    assert_eq!(command(&mut ssi, &mut bench, &[0x9f, 0, 0, 0])[1..], [0xef, 0x40, 0x15]);
    let id = command(&mut ssi, &mut bench, &[0x4b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(id[5..], [0xe6, 0x60, 0x52, 0x54, 0x4c, 0x41, 0x42, 0x01]);
    ssi.flash.flash_content_mut()[0x1_0203..0x1_0205].copy_from_slice(&[0xaa, 0x55]);
    assert_eq!(command(&mut ssi, &mut bench, &[0x03, 1, 2, 3, 0, 0])[4..], [0xaa, 0x55]);
}

#[test]
fn program_clears_bits_and_erase_sets_a_sector() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    command(&mut ssi, &mut bench, &[0x02, 0, 0x10, 0xff, 0x12]);
    assert_eq!(ssi.flash.flash_content()[0x10ff], 0xff);
    command(&mut ssi, &mut bench, &[0x06]);
    command(&mut ssi, &mut bench, &[0x02, 0, 0x10, 0xff, 0x12, 0x34]);
    assert_eq!((ssi.flash.flash_content()[0x10ff], ssi.flash.flash_content()[0x1000]), (0x12, 0x34));
    command(&mut ssi, &mut bench, &[0x06]);
    command(&mut ssi, &mut bench, &[0x20, 0, 0x1f, 0]);
    assert!(ssi.flash.flash_content()[0x1000..0x2000].iter().all(|&byte| byte == 0xff));
}

#[test]
fn quad_frame_of_boot2_takes_20_clocks() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    ssi.write_register(0x08, 0, &mut bench.access());
    ssi.write_register(0x14, 2, &mut bench.access());
    bench.effects.xip_timing_changed = false;
    // Quad, 32-bit frames, EEPROM read. No instruction, 32 address and mode bits on four lanes, 4 wait clocks.
    ssi.write_register(0x00, 2 << 21 | 31 << 16 | 3 << 8, &mut bench.access());
    assert!(bench.effects.xip_timing_changed);
    ssi.write_register(0xf4, 0xa0 << 24 | 4 << 11 | 8 << 2 | 2, &mut bench.access());
    assert_eq!(ssi.xip_frame_timing(), XipFrame { sck_cycles: 20, divider: 2, data_bits: 32 });
    // Plain serial read 0x03 of the generic boot2: 8 + 24 + 32 clocks.
    ssi.write_register(0x00, 31 << 16 | 3 << 8, &mut bench.access());
    ssi.write_register(0xf4, 3 << 24 | 2 << 8 | 6 << 2, &mut bench.access());
    assert_eq!(ssi.xip_frame_timing().sck_cycles, 64);
}

#[test]
fn disabled_interface_transfers_nothing() {
    let mut bench = Bench::new();
    let mut ssi = Ssi::new(Flash::new(4096));
    ssi.write_register(0x60, 0x9f, &mut bench.access());
    assert_eq!(ssi.read_register(0x28, &mut bench.access()), SR_TFE | SR_TFNF);
    assert_eq!(
        (ssi.read_register(0x58, &mut bench.access()), ssi.read_register(0x5c, &mut bench.access())),
        (IDR, VERSION)
    );
    assert_eq!(ssi.read_register(0xf4, &mut bench.access()), 0x0300_0000);
}

#[test]
fn receive_level_fills_and_transmit_only_receives_nothing() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    for n in 0..17 {
        assert_eq!(ssi.read_register(0x24, &mut bench.access()), n.min(16));
        ssi.write_register(0x60, 0, &mut bench.access());
    }
    assert_eq!(ssi.read_register(0x28, &mut bench.access()), 0x1e);
    ssi.write_register(0x08, 0, &mut bench.access());
    assert_eq!(ssi.read_register(0x24, &mut bench.access()), 0);
    ssi.write_register(0x00, CTRLR0_8_BIT | 1 << 8, &mut bench.access());
    ssi.write_register(0x08, 1, &mut bench.access());
    ssi.write_register(0xec, 0, &mut bench.access());
    assert_eq!(ssi.read_register(0x24, &mut bench.access()), 0);
    assert!(ssi.is_strobe(0x60) && ssi.is_strobe(0xec) && !ssi.is_strobe(0x5c));
}

#[test]
fn block_and_chip_erase() {
    let mut bench = Bench::new();
    for (bytes, range) in
        [(&[0xd8, 1, 2, 3][..], 0x1_0000..0x2_0000), (&[0x52, 0, 0x90, 0], 0x8000..0x1_0000), (&[0xc7], 0..0x20_0000)]
    {
        let mut ssi = ssi(&mut bench);
        ssi.flash.flash_content_mut().fill(0);
        command(&mut ssi, &mut bench, bytes);
        assert!(ssi.flash.flash_content().iter().all(|&byte| byte == 0));
        command(&mut ssi, &mut bench, &[0x06]);
        command(&mut ssi, &mut bench, bytes);
        let erased = ssi.flash.flash_content().iter().filter(|&&byte| byte == 0xff).count();
        assert_eq!(erased, range.len());
        assert!(ssi.flash.flash_content()[range].iter().all(|&byte| byte == 0xff));
    }
}

#[test]
fn frame_of_every_transfer_type_and_lane_count() {
    let mut bench = Bench::new();
    let mut ssi = ssi(&mut bench);
    // 8-bit instruction, 24-bit address, 6 wait clocks, 16 data bits.
    for (lanes, kind, want) in [(0, 0, 54), (1, 0, 46), (1, 1, 34), (1, 2, 30), (2, 0, 42), (2, 1, 24), (2, 2, 18)] {
        ssi.write_register(0x00, lanes << 21 | 15 << 16, &mut bench.access());
        ssi.write_register(0xf4, 6 << 11 | 2 << 8 | 6 << 2 | kind, &mut bench.access());
        assert_eq!((ssi.xip_frame_timing().sck_cycles, ssi.xip_frame_timing().data_bits), (want, 16), "{lanes} {kind}");
    }
}

/// The other tests use the names, so a wrong bit number would cancel out in them.
#[test]
fn bit_numbers_are_the_data_sheets() {
    for (mask, number) in [(SR_TFNF, 1), (SR_TFE, 2), (SR_RFNE, 3), (SR_RFF, 4)] {
        assert_eq!(mask, 1u32 << number);
    }
}
