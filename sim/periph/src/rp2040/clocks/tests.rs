//! Clock derivation against the SDK's boot sequence, and the registers firmware polls.

use super::*;
use crate::rp2040::testing::Bench;

struct Rig {
    bench: Bench,
    clocks: Clocks,
    pll_sys: Pll,
    pll_usb: Pll,
    xosc: Xosc,
    rosc: Rosc,
    watchdog: Watchdog,
}

impl Rig {
    fn new() -> Self {
        Self {
            bench: Bench::new(),
            clocks: Clocks::default(),
            pll_sys: Pll::default(),
            pll_usb: Pll::default(),
            xosc: Xosc::new(12_000_000),
            rosc: Rosc::default(),
            watchdog: Watchdog::default(),
        }
    }

    fn tree(&mut self) -> ClockTree {
        self.clocks.update_clock_source_frequencies(oscillator_and_pll_frequencies(
            &self.pll_sys,
            &self.pll_usb,
            &self.xosc,
            &self.rosc,
        ));
        frequencies_of_all_clocks(&self.clocks, &self.pll_sys, &self.pll_usb, &self.xosc, &self.rosc, &self.watchdog)
    }

    fn write_register(&mut self, offset: u32, value: u32) {
        self.clocks.write_register(offset, value, &mut self.bench.access());
    }

    fn start_oscillators(&mut self) {
        self.xosc.write_register(0x0c, 1, &mut self.bench.access());
        self.xosc.write_register(0x00, 0xfab_aa0, &mut self.bench.access());
        let due = self.xosc.next_event_cycle();
        self.xosc.advance_to_now(&mut self.bench.access_at(due));
        for (pll, fbdiv, prim) in [(&mut self.pll_sys, 125, 0x62000), (&mut self.pll_usb, 100, 0x55000)] {
            pll.write_register(8, fbdiv, &mut self.bench.access());
            pll.write_register(12, prim, &mut self.bench.access());
            pll.write_register(4, 4, &mut self.bench.access());
        }
    }
}

#[test]
fn boots_on_the_ring_oscillator() {
    let tree = Rig::new().tree();
    assert_eq!((tree.sys_hz, tree.ref_hz, tree.peri_hz), (6_500_000, 6_500_000, 0));
    assert_eq!(tree.tick_hz_num, 0);
}

#[test]
fn sdk_sequence_gives_125_48_and_12_mhz() {
    let mut rig = Rig::new();
    rig.start_oscillators();
    rig.write_register(0x30, 2);
    assert_eq!(rig.clocks.peek_register(0x38, &rig.bench.access()), 4);
    rig.write_register(0x3c, 0);
    rig.write_register(0x3c, 1);
    assert_eq!(rig.clocks.peek_register(0x44, &rig.bench.access()), 2);
    for (offset, value) in [(0x54, 0x800), (0x60, 0x800), (0x70, 0x40000), (0x6c, 0x800), (0x48, 0x800)] {
        rig.write_register(offset, value);
    }
    rig.watchdog.write_register(0x2c, 0x200 | 12, &mut rig.bench.access());
    let tree = rig.tree();
    assert_eq!((tree.sys_hz, tree.ref_hz, tree.peri_hz), (125_000_000, 12_000_000, 125_000_000));
    assert_eq!((tree.usb_hz, tree.adc_hz, tree.rtc_hz), (48_000_000, 48_000_000, 46_875));
    assert_eq!((tree.tick_hz_num, tree.tick_hz_den), (12_000_000, 12));
}

#[test]
fn dividers_are_fixed_point_and_kill_beats_enable() {
    let mut rig = Rig::new();
    rig.write_register(0x40, 0x280);
    assert_eq!(rig.tree().sys_hz, 2_600_000);
    rig.write_register(0x34, 0x200);
    assert_eq!(rig.tree().ref_hz, 3_250_000);
    rig.write_register(0x48, 0x800 | 3 << 5);
    assert_eq!(rig.tree().peri_hz, 6_500_000);
    rig.write_register(0x48, 0xc00 | 3 << 5);
    assert_eq!(rig.tree().peri_hz, 0);
    assert_eq!(rig.clocks.peek_register(0x50, &rig.bench.access()), 1);
    assert_eq!(rig.clocks.peek_register(0x4c, &rig.bench.access()), 0);
}

#[test]
fn frequency_counter_measures_in_khz() {
    let mut rig = Rig::new();
    rig.start_oscillators();
    rig.tree();
    rig.bench.tree.sys_hz = 6_500_000;
    rig.write_register(0x84, 124_000);
    rig.write_register(0x94, 1);
    // 2^8 / 1.024 us = 250 us = 1625 cycles at 6.5 MHz.
    let start = rig.bench.now;
    assert_eq!(rig.clocks.peek_register(0x98, &rig.bench.access_at(start + 1624)), 1 << 8);
    assert_eq!(rig.clocks.peek_register(0x98, &rig.bench.access_at(start + 1625)), 0x11);
    assert_eq!(rig.clocks.peek_register(0x9c, &rig.bench.access()), 125_000 << 5);
}

#[test]
fn resus_falls_back_to_clk_ref_and_interrupts() {
    let mut rig = Rig::new();
    rig.write_register(0xbc, 1);
    rig.write_register(0x78, 0x1ff);
    rig.write_register(0x3c, 1);
    assert_eq!(rig.tree().sys_hz, 6_500_000);
    assert_eq!(rig.clocks.irq_levels(), 1 << 17);
    assert_eq!(rig.clocks.peek_register(0x44, &rig.bench.access()), 1);
    rig.write_register(0x3c, 0);
    rig.write_register(0x78, 0x1_00ff);
    assert_eq!(rig.clocks.irq_levels(), 0);
    assert_eq!(rig.clocks.peek_register(0x7c, &rig.bench.access()), 0);
}

#[test]
fn without_resus_a_dead_source_stops_clk_sys() {
    let mut rig = Rig::new();
    rig.write_register(0x3c, 1);
    assert_eq!(rig.tree().sys_hz, 0);
}

#[test]
fn frequency_counter_judges_against_both_limits() {
    let mut rig = Rig::new();
    rig.tree();
    let status = |rig: &mut Rig, min: u32, max: u32, source: u32| {
        rig.write_register(0x84, min);
        rig.write_register(0x88, max);
        rig.write_register(0x94, source);
        rig.bench.now += 1_000_000;
        rig.clocks.peek_register(0x98, &rig.bench.access())
    };
    assert_eq!(status(&mut rig, 6500, 6500, 3), 1 << 4 | 1);
    assert_eq!(status(&mut rig, 6501, 7000, 3), 1 << 4 | 1 << 20);
    assert_eq!(status(&mut rig, 6000, 6499, 3), 1 << 4 | 1 << 24);
    assert_eq!(status(&mut rig, 0, 1, 1), 1 << 4 | 1 | 1 << 28);
    assert_eq!(status(&mut rig, 0, 1, 0), 0);
    for (source, khz) in [(3, 6500), (4, 6500), (8, 6500), (9, 6500), (10, 0), (5, 0)] {
        status(&mut rig, 0, 1, source);
        assert_eq!(rig.clocks.peek_register(0x9c, &rig.bench.access()) >> 5, khz, "source {source}");
    }
}

#[test]
fn every_auxiliary_source_of_every_slice() {
    let mut rig = Rig::new();
    rig.start_oscillators();
    let (pll_sys, pll_usb, rosc, xosc) = (125_000_000, 48_000_000, 6_500_000, 12_000_000);
    for (aux, hz) in [(0, pll_sys), (1, pll_usb), (2, rosc), (3, xosc), (4, 0)] {
        rig.write_register(0x3c, aux << 5 | 1);
        assert_eq!(rig.tree().sys_hz, hz, "sys {aux}");
    }
    rig.write_register(0x3c, 0);
    for (ctrl, hz) in [(0, rosc), (1, pll_usb), (2, xosc), (1 | 1 << 5, 0), (3, 0)] {
        rig.write_register(0x30, ctrl);
        assert_eq!(rig.tree().ref_hz, hz, "ref {ctrl}");
    }
    rig.write_register(0x30, 0);
    for (aux, hz) in [(0, rosc), (1, pll_sys), (2, pll_usb), (3, rosc), (4, xosc), (5, 0)] {
        rig.write_register(0x48, 0x800 | aux << 5);
        assert_eq!(rig.tree().peri_hz, hz, "peri {aux}");
    }
    for (aux, hz) in [(0, pll_usb), (1, pll_sys), (2, rosc), (3, xosc), (4, 0)] {
        for offset in [0x54, 0x60, 0x6c] {
            rig.write_register(offset, 0x800 | aux << 5);
        }
        let tree = rig.tree();
        assert_eq!((tree.usb_hz, tree.adc_hz, tree.rtc_hz), (hz, hz, hz), "fixed {aux}");
    }
}

#[test]
fn only_the_clear_bit_ends_a_resuscitation_and_force_starts_one() {
    let mut rig = Rig::new();
    rig.write_register(0x78, 1 << 12);
    rig.tree();
    assert_eq!(rig.clocks.peek_register(0x7c, &rig.bench.access()), 1);
    rig.write_register(0x78, 0xff);
    assert_eq!(rig.clocks.peek_register(0x7c, &rig.bench.access()), 1);
    rig.write_register(0x78, 1 << 16);
    assert_eq!(rig.clocks.peek_register(0x7c, &rig.bench.access()), 0);
    rig.write_register(0xc0, 1);
    assert_eq!((rig.clocks.irq_levels(), rig.clocks.peek_register(0xb8, &rig.bench.access())), (1 << 17, 0));
}

/// The other tests use the names, so a wrong bit number would cancel out in them.
#[test]
fn bit_numbers_are_the_data_sheets() {
    for (mask, number) in [(CTRL_KILL, 10), (CTRL_ENABLE, 11), (RESUS_ENABLE, 8), (RESUS_FORCE, 12), (RESUS_CLEAR, 16)]
    {
        assert_eq!(mask, 1u32 << number);
    }
}

#[test]
fn selected_follows_the_glitchless_field_only() {
    let mut rig = Rig::new();
    for (offset, ctrl, selected) in
        [(0x3c, 0xe0, 1), (0x3c, 0xe1, 2), (0x30, 0x60, 1), (0x30, 0x61, 2), (0x30, 0x62, 4)]
    {
        rig.write_register(offset, ctrl);
        assert_eq!(rig.clocks.peek_register(offset + 8, &rig.bench.access()), selected, "{offset:#x} {ctrl:#x}");
    }
}
