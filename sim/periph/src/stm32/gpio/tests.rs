use super::*;
use crate::stm32::testing::Bench;

const START: GpioReset = (0xa800_0000, 0x0c00_0000, 0x6400_0000);

fn port(layout: GpioLayout) -> (Bench, Gpio) {
    (Bench::new(), Gpio::new(2, layout, START))
}

#[test]
fn reset_values() {
    let (mut bench, mut gpio) = port(GpioLayout::V2);
    // PA15 and PA13 have pull-ups, PA14 a pull-down.
    for (offset, want) in [(0x00, 0xa800_0000), (0x08, 0x0c00_0000), (0x0c, 0x6400_0000), (0x10, 0xa000), (0x14, 0)] {
        assert_eq!(gpio.read_register(offset, &mut bench.access()), want, "{offset:#x}");
    }
    let (mut bench, mut gpio) = port(GpioLayout::F1);
    for (offset, want) in [(0x00, 0x4444_4444), (0x04, 0x4444_4444), (0x08, 0), (0x0c, 0)] {
        assert_eq!(gpio.read_register(offset, &mut bench.access()), want, "{offset:#x}");
    }
}

/// Level of pin 0 for a mode nibble or (MODER, OTYPER, PUPDR), ODR, and what the outside drives.
#[test]
fn levels_of_the_later_layout() {
    for (mode, open_drain, pull, odr, outside, want) in [
        (0, 0, 0, 1, None, 0),
        (0, 0, 1, 0, None, 1),
        (0, 0, 2, 1, None, 0),
        (0, 0, 1, 0, Some(0), 0),
        (0, 0, 2, 0, Some(1), 1),
        (1, 0, 0, 1, None, 1),
        (1, 0, 1, 0, Some(1), 0),
        (1, 0, 0, 1, Some(0), 1),
        (1, 1, 0, 1, None, 0),
        (1, 1, 1, 1, None, 1),
        (1, 1, 1, 0, Some(1), 0),
        (1, 1, 1, 1, Some(0), 0),
        (2, 0, 0, 1, None, 0),
    ] {
        let (mut bench, mut gpio) = port(GpioLayout::V2Brr);
        for (offset, value) in [(0x00, mode), (0x04, open_drain), (0x0c, pull), (0x14, odr)] {
            gpio.write_register(offset, value, &mut bench.access());
        }
        gpio.drive_pins(u16::from(outside.is_some()), outside.unwrap_or(0));
        gpio.update_gpio_pin_levels();
        let case = (mode, open_drain, pull, odr, outside);
        assert_eq!(gpio.levels() & 1, want, "{case:?}");
        assert_eq!(gpio.read_register(0x10, &mut bench.access()) & 1, u32::from(want), "{case:?}");
    }
}

#[test]
fn analog_pin_reads_0_whatever_its_level() {
    let (mut bench, mut gpio) = port(GpioLayout::V2);
    gpio.write_register(0x00, 3, &mut bench.access());
    gpio.drive_pins(1, 1);
    gpio.update_gpio_pin_levels();
    assert_eq!((gpio.levels() & 1, gpio.read_register(0x10, &mut bench.access()) & 1), (1, 0));
}

#[test]
fn levels_of_the_f1() {
    // Mode nibble, ODR, outside, level.
    for (nibble, odr, outside, want) in [
        (0x4, 1, None, 0),
        (0x8, 1, None, 1),
        (0x8, 0, None, 0),
        (0x8, 0, Some(1), 1),
        (0x3, 1, Some(0), 1),
        (0x1, 0, None, 0),
        (0x7, 0, Some(1), 0),
        (0x7, 1, Some(1), 1),
        (0xb, 1, None, 0),
    ] {
        let (mut bench, mut gpio) = port(GpioLayout::F1);
        gpio.write_register(0x04, nibble << 4, &mut bench.access());
        gpio.write_register(0x0c, odr << 9, &mut bench.access());
        gpio.drive_pins(u16::from(outside.is_some()) << 9, outside.unwrap_or(0) << 9);
        gpio.update_gpio_pin_levels();
        assert_eq!(gpio.levels() >> 9 & 1, want, "{:?}", (nibble, odr, outside));
    }
}

#[test]
fn set_and_reset_registers() {
    for (layout, bsrr, brr, odr) in [
        (GpioLayout::F1, 0x10, Some(0x14), 0x0c),
        (GpioLayout::V2, 0x18, None, 0x14),
        (GpioLayout::V2Brr, 0x18, Some(0x28), 0x14),
    ] {
        let (mut bench, mut gpio) = port(layout);
        gpio.write_register(bsrr, 0x0000_00ff, &mut bench.access());
        gpio.write_register(bsrr, 0x000f_0003, &mut bench.access());
        // Set wins over reset.
        assert_eq!(gpio.read_register(odr, &mut bench.access()), 0xf3, "{layout:?}");
        gpio.write_register(0x28, 0x3, &mut bench.access());
        if let Some(brr) = brr {
            gpio.write_register(brr, 0x30, &mut bench.access());
        }
        let want = match layout {
            GpioLayout::F1 => 0xc3,
            GpioLayout::V2 => 0xf3,
            GpioLayout::V2Brr => 0xc0,
        };
        assert_eq!(gpio.read_register(odr, &mut bench.access()), want, "{layout:?}");
        assert_eq!(gpio.read_register(bsrr, &mut bench.access()), 0);
        assert!(gpio.is_strobe(bsrr) && !gpio.is_strobe(odr));
    }
}

#[test]
fn lock_takes_its_sequence_and_holds_the_mode() {
    let (mut bench, mut gpio) = port(GpioLayout::V2);
    // A broken sequence locks nothing.
    for value in [LOCK_KEY | 1, 2, LOCK_KEY | 1] {
        gpio.write_register(0x1c, value, &mut bench.access());
    }
    assert_eq!(gpio.read_register(0x1c, &mut bench.access()) & LOCK_KEY, 0);
    for value in [LOCK_KEY | 1, 1, LOCK_KEY | 1] {
        gpio.write_register(0x1c, value, &mut bench.access());
    }
    assert_eq!(gpio.read_register(0x1c, &mut bench.access()), LOCK_KEY | 1);
    gpio.write_register(0x00, 0b0101, &mut bench.access());
    gpio.write_register(0x20, 0x77, &mut bench.access());
    assert_eq!(
        (gpio.read_register(0x00, &mut bench.access()), gpio.read_register(0x20, &mut bench.access())),
        (0b0100, 0x70)
    );
    gpio.write_register(0x14, 1, &mut bench.access());
    assert_eq!(gpio.read_register(0x14, &mut bench.access()), 1, "the output register is free");
    gpio.reset_registers();
    gpio.write_register(0x00, 1, &mut bench.access());
    assert_eq!(gpio.read_register(0x00, &mut bench.access()), 1);
}

#[test]
fn update_returns_the_changed_pins() {
    let (mut bench, mut gpio) = port(GpioLayout::V2);
    gpio.write_register(0x00, 0x5555_5555, &mut bench.access());
    gpio.write_register(0x0c, 0, &mut bench.access());
    gpio.update_gpio_pin_levels();
    gpio.write_register(0x14, 0x8001, &mut bench.access());
    assert_eq!((gpio.update_gpio_pin_levels(), gpio.update_gpio_pin_levels(), gpio.levels()), (0x8001, 0, 0x8001));
    assert_eq!((gpio.port_number(), gpio.output_enabled_pins()), (2, 0xffff));
}
