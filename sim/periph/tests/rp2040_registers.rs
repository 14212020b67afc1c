//! Every plain register: its value after reset, and what is left of all ones written to it.
//!
//! The table is the pico-sdk's register headers, condensed; a wrong offset, mask or reset value shows here.

use rtoslab_periph::rp2040::Rp2040Peripherals;
use rtoslab_periph::{Access, ClockTree, Effects};

const RW: u32 = u32::MAX;

/// (address, after reset, after writing all ones).
const REGISTERS: &[(u32, u32, u32)] = &[
    // SYSINFO, SYSCFG
    (0x4000_0000, 0x2000_2927, 0x2000_2927),
    (0x4000_0004, 2, 2),
    (0x4000_4000, 0, RW),
    (0x4000_4004, 0, RW),
    (0x4000_4008, 0x1000_0000, 0xff00_0000),
    (0x4000_400c, 0, 0x3fff_ffff),
    (0x4000_4010, 0, 0x3f),
    (0x4000_4014, 0x66, 0xee),
    (0x4000_4018, 0, 0xff),
    // CLOCKS: GPOUT, dividers of slices that do not run, counter limits, enables
    (0x4000_8000, 0, 0x0013_1de0),
    (0x4000_8004, 0x100, RW),
    (0x4000_8008, 1, 1),
    (0x4000_8024, 0, 0x0013_1de0),
    (0x4000_8034, 0x100, 0x300),
    (0x4000_8048, 0, 0xce0),
    (0x4000_8050, 1, 1),
    (0x4000_8054, 0, 0x0013_0ce0),
    (0x4000_8058, 0x100, 0x300),
    (0x4000_8060, 0, 0x0013_0ce0),
    (0x4000_8064, 0x100, 0x300),
    (0x4000_806c, 0, 0x0013_0ce0),
    (0x4000_8070, 0x100, RW),
    (0x4000_807c, 0, 0),
    (0x4000_8080, 0, 0x000f_ffff),
    (0x4000_8084, 0, 0x01ff_ffff),
    (0x4000_8088, 0x01ff_ffff, 0x01ff_ffff),
    (0x4000_808c, 1, 7),
    (0x4000_8090, 8, 15),
    (0x4000_80a0, RW, RW),
    (0x4000_80a4, 0x7fff, 0x7fff),
    (0x4000_80a8, RW, RW),
    (0x4000_80ac, 0x7fff, 0x7fff),
    (0x4000_80b0, RW, RW),
    (0x4000_80b4, 0x7fff, 0x7fff),
    (0x4000_80b8, 0, 0),
    (0x4000_80bc, 0, 1),
    (0x4000_80c4, 0, 0),
    // PSM, XOSC, ROSC, PLL
    (0x4001_0000, 0, 0x1_ffff),
    (0x4001_0008, 0, 0x1_ffff),
    (0x4001_000c, 0x1_ffff, 0x1_ffff),
    (0x4002_400c, 0xc4, 0x0010_3fff),
    (0x4002_4008, 0x7761_6b65, RW),
    (0x4006_0000, 0xaa0, 0x00ff_ffff),
    (0x4006_0004, 0, RW),
    (0x4006_0008, 0, RW),
    (0x4006_0014, 8, 0xfff),
    (0x4002_8004, 0x2d, 0x2d),
    (0x4002_8008, 0, 0xfff),
    (0x4002_800c, 0x77000, 0x77000),
    (0x4002_c000, 1, 0x13f),
    // IO_BANK0, IO_QSPI, PADS
    (0x4001_4004, 0x1f, 0x3003_331f),
    (0x4001_40ec, 0x1f, 0x3003_331f),
    (0x4001_4100, 0, RW),
    (0x4001_411c, 0, RW),
    (0x4001_413c, 0, RW),
    (0x4001_4160, 0, RW),
    (0x4001_8004, 0x1f, 0x3003_331f),
    (0x4001_802c, 0x1f, 0x3003_331f),
    (0x4001_8034, 0, 0x00ff_ffff),
    (0x4001_8044, 0, 0x00ff_ffff),
    (0x4001_c000, 0, 1),
    (0x4001_c004, 0x56, 0xff),
    (0x4001_c078, 0x56, 0xff),
    (0x4001_c07c, 0xda, 0xff),
    (0x4001_c080, 0x5a, 0xff),
    (0x4002_0004, 0x56, 0xff),
    (0x4002_0018, 0x5a, 0xff),
    // BUSCTRL
    (0x4003_0000, 0, 0x1111),
    (0x4003_0004, 1, 1),
    (0x4003_0008, 0, 0),
    (0x4003_000c, 0x1f, 0x1f),
    (0x4003_0020, 0, 0),
    (0x4003_0024, 0x1f, 0x1f),
    // UART
    (0x4003_4018, 0x90, 0x90),
    (0x4003_4020, 0, 0xff),
    (0x4003_4024, 0, 0xffff),
    (0x4003_4028, 0, 0x3f),
    (0x4003_402c, 0, 0xff),
    (0x4003_4030, 0x300, 0xff87),
    (0x4003_4034, 0x12, 0x3f),
    (0x4003_4038, 0, 0x7ff),
    (0x4003_4048, 0, 7),
    (0x4003_8048, 0, 7),
    // SPI, I2C
    (0x4003_c000, 0, 0xffff),
    (0x4003_c004, 0, 0xf),
    (0x4003_c00c, 3, 3),
    (0x4003_c010, 0, 0xfe),
    (0x4003_c014, 0, 0xf),
    (0x4003_c018, 8, 8),
    (0x4004_0024, 0, 3),
    (0x4004_4000, 0x65, 0x3ff),
    (0x4004_4004, 0x55, 0xfff),
    (0x4004_4008, 0x55, 0x3ff),
    (0x4004_4014, 0x28, 0xffff),
    (0x4004_4018, 0x2f, 0xffff),
    (0x4004_401c, 6, 0xffff),
    (0x4004_4020, 0xd, 0xffff),
    (0x4004_4030, 0x8ff, 0x1fff),
    (0x4004_4038, 0, 0xff),
    (0x4004_403c, 0, 0xff),
    (0x4004_407c, 1, 0x00ff_ffff),
    (0x4004_4088, 0, 3),
    (0x4004_40a0, 7, 0xff),
    (0x4004_80f8, 0x3230_312a, 0x3230_312a),
    // ADC, PWM
    (0x4004_c008, 0x100, 0x0f00_010f),
    (0x4004_c010, 0, 0x00ff_ffff),
    (0x4004_c018, 0, 1),
    (0x4004_c01c, 0, 1),
    (0x4005_0000, 0, 0x3f),
    (0x4005_0004, 0x10, 0xfff),
    (0x4005_000c, 0, RW),
    (0x4005_0010, 0xffff, 0xffff),
    (0x4005_009c, 0xffff, 0xffff),
    (0x4005_00a8, 0, 0xff),
    (0x4005_00ac, 0, 0xff),
    // TIMER
    (0x4005_4010, 0, RW),
    (0x4005_401c, 0, RW),
    (0x4005_402c, 7, 6),
    (0x4005_4030, 0, 1),
    (0x4005_4038, 0, 0xf),
    (0x4005_403c, 0, 0xf),
    // WATCHDOG
    (0x4005_8008, 0, 0),
    (0x4005_800c, 0, RW),
    (0x4005_8028, 0, RW),
    // RTC
    (0x4005_c000, 0, 0xffff),
    (0x4005_c004, 0, 0x00ff_ff1f),
    (0x4005_c008, 0, 0x071f_3f3f),
    (0x4005_c010, 0, 0x37ff_ff1f),
    (0x4005_c014, 0, 0xf71f_3f3f),
    (0x4005_c024, 0, 1),
    (0x4005_c028, 0, 1),
    // VREG, TBMAN
    (0x4006_4000, 0x10b1, 0x10f3),
    (0x4006_4004, 0x91, 0xf1),
    (0x4006_4008, 0x100, 0x100),
    (0x4006_c000, 1, 1),
    // DMA
    (0x5000_0000, 0, RW),
    (0x5000_0004, 0, RW),
    (0x5000_0008, 0, RW),
    (0x5000_0404, 0, 0xffff),
    (0x5000_0408, 0, 0xffff),
    (0x5000_0414, 0, 0xffff),
    (0x5000_0418, 0, 0xffff),
    (0x5000_0420, 0, RW),
    (0x5000_0448, 12, 12),
    // XIP control, SSI
    (0x1400_0000, 3, 0xb),
    (0x1400_0008, 3, 3),
    (0x1800_0004, 0, 0xffff),
    (0x1800_0010, 0, 1),
    (0x1800_0014, 0, 0xffff),
    (0x1800_0018, 0, 0xff),
    (0x1800_001c, 0, 0xff),
    (0x1800_0024, 0, 0),
    (0x1800_0028, 6, 6),
    (0x1800_002c, 0, 0x3f),
    (0x1800_004c, 0, 3),
    (0x1800_0058, 0x5153_5049, 0x5153_5049),
    (0x1800_005c, 0x3430_312a, 0x3430_312a),
    (0x1800_00f0, 0, 0xff),
    (0x1800_00f4, 0x0300_0000, 0xff07_fb3f),
    (0x1800_00f8, 0, 0xff),
];

/// A chip with every block released and every clock running.
fn chip() -> (Rp2040Peripherals, ClockTree) {
    let mut chip = Rp2040Peripherals::new(12_000_000, 4096);
    chip.resets.force_resets(0);
    let tree = chip.clock_tree().clone();
    (chip, tree)
}

#[test]
fn reset_values_and_writable_bits() {
    let mut wrong = Vec::new();
    for &(address, reset, ones) in REGISTERS {
        let (mut chip, tree) = chip();
        let mut effects = Effects::default();
        let mut access = Access { now_cycles: 0, core: 0, clocks: &tree, effects: &mut effects };
        let first = chip.read_register(address, &mut access);
        chip.write_register(address, RW, 0, &mut access);
        let second = chip.read_register(address, &mut access);
        if (first, second) != (reset, ones) {
            wrong.push(format!("{address:#x}: reset {first:#x} (want {reset:#x}), ones {second:#x} (want {ones:#x})"));
        }
        if let Some((offset, written)) = effects.unmodelled {
            wrong.push(format!("{address:#x}: reported unmodelled ({offset:#x}, written {written})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_register_is_its_own() {
    // Writing one register of the table must not show in any other of the same block, except where the hardware
    // says so: WAKE_EN shows in ENABLED, alias views of DMA, status and interrupt summaries.
    let derived = |address: u32| {
        matches!(address, 0x4000_80b0 | 0x4000_80b4 | 0x4000_80c4 | 0x4001_000c | 0x1800_0028 | 0x4000_807c)
    };
    for &(address, _, _) in REGISTERS {
        let (mut chip, tree) = chip();
        let mut effects = Effects::default();
        let mut access = Access { now_cycles: 0, core: 0, clocks: &tree, effects: &mut effects };
        chip.write_register(address, RW, 0, &mut access);
        for &(other, reset, _) in REGISTERS {
            let same_block = address >> 14 == other >> 14;
            if same_block && other != address && !derived(other) {
                assert_eq!(chip.read_register(other, &mut access), reset, "writing {address:#x} changed {other:#x}");
            }
        }
    }
}
