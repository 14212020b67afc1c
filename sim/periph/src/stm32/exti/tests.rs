use super::*;
use crate::stm32::testing::Bench;

const FLAT: ExtiLayout = ExtiLayout::Flat(23);

/// IMR, EMR, RTSR, FTSR, SWIER, PR of a layout.
fn offsets(layout: ExtiLayout) -> [u32; 6] {
    if layout == ExtiLayout::H7 { [0x80, 0x84, 0x00, 0x04, 0x08, 0x88] } else { [0, 4, 8, 0xc, 0x10, 0x14] }
}

#[test]
fn edges_by_trigger_and_mask() {
    // RTSR, FTSR, IMR. Pending and outputs after a rise, after a fall.
    for layout in [FLAT, ExtiLayout::H7] {
        for (rising, falling, mask, after_rise, after_fall) in
            [(0, 0, 8, (0, 0), (0, 0)), (8, 0, 8, (8, 8), (0, 0)), (0, 8, 8, (0, 0), (8, 8)), (8, 8, 0, (8, 0), (8, 0))]
        {
            let mut bench = Bench::new();
            let mut exti = Exti::new(layout, [0; 3]);
            let [imr, _, rtsr, ftsr, _, pr] = offsets(layout);
            for (offset, value) in [(imr, mask), (rtsr, rising), (ftsr, falling)] {
                exti.write_register(offset, value, &mut bench.access());
            }
            for (level, want) in [(true, after_rise), (false, after_fall)] {
                exti.set_pin_level(3, level, &mut bench.access());
                exti.set_pin_level(3, level, &mut bench.access());
                let seen = (exti.read_register(pr, &mut bench.access()), exti.interrupt_outputs());
                assert_eq!(seen, want, "{layout:?} {rising} {falling} {mask} {level}");
                exti.write_register(pr, 8, &mut bench.access());
                assert_eq!((exti.read_register(pr, &mut bench.access()), exti.interrupt_outputs()), (0, 0));
            }
        }
    }
}

#[test]
fn software_trigger_needs_the_mask_and_a_fresh_1() {
    for layout in [FLAT, ExtiLayout::H7] {
        let mut bench = Bench::new();
        let mut exti = Exti::new(layout, [0; 3]);
        let [imr, emr, _, _, swier, pr] = offsets(layout);
        exti.write_register(swier, 1, &mut bench.access());
        assert_eq!(exti.read_register(pr, &mut bench.access()), 0);
        exti.write_register(imr, 1, &mut bench.access());
        exti.write_register(swier, 1, &mut bench.access());
        assert_eq!(exti.read_register(pr, &mut bench.access()), 0, "the bit was set already");
        exti.write_register(pr, 1, &mut bench.access());
        exti.write_register(swier, 1, &mut bench.access());
        assert_eq!(
            (exti.read_register(pr, &mut bench.access()), exti.read_register(swier, &mut bench.access())),
            (1, 1)
        );
        exti.write_register(pr, 1, &mut bench.access());
        assert_eq!(exti.read_register(swier, &mut bench.access()), 0, "clearing the flag clears the trigger");
        assert!(!bench.effects.event);
        exti.write_register(emr, 2, &mut bench.access());
        exti.write_register(swier, 2, &mut bench.access());
        assert_eq!((bench.effects.event, exti.interrupt_outputs()), (true, 0));
    }
}

#[test]
fn event_line_wakes_without_an_interrupt() {
    let mut bench = Bench::new();
    let mut exti = Exti::new(FLAT, [0; 3]);
    exti.write_register(0x04, 1, &mut bench.access());
    exti.write_register(0x08, 1, &mut bench.access());
    exti.set_pin_level(0, true, &mut bench.access());
    assert_eq!((bench.effects.event, exti.interrupt_outputs()), (true, 0));
}

#[test]
fn a_changed_routing_is_not_an_edge() {
    let mut bench = Bench::new();
    let mut exti = Exti::new(FLAT, [0; 3]);
    exti.write_register(0x08, 1, &mut bench.access());
    exti.set_line_level(0, true);
    exti.set_pin_level(0, true, &mut bench.access());
    assert_eq!(exti.read_register(0x14, &mut bench.access()), 0);
    exti.set_line_level(0, false);
    exti.set_pin_level(0, true, &mut bench.access());
    assert_eq!(exti.read_register(0x14, &mut bench.access()), 1);
}

#[test]
fn registers_have_bits_for_existing_lines_only() {
    for (layout, offset, want) in [
        (ExtiLayout::Flat(20), 0x00, 0x000f_ffff),
        (FLAT, 0x04, 0x007f_ffff),
        (FLAT, 0x0c, 0x007f_ffff),
        (FLAT, 0x18, 0),
        (ExtiLayout::H7, 0x00, 0x003f_ffff),
        (ExtiLayout::H7, 0x20, 0x000a_0000),
        (ExtiLayout::H7, 0x44, 0x0074_0000),
        (ExtiLayout::H7, 0x90, u32::MAX),
        (ExtiLayout::H7, 0xa4, u32::MAX),
        (ExtiLayout::H7, 0x0c, 0),
        (ExtiLayout::H7, 0x60, 0),
        (ExtiLayout::H7, 0xb0, 0),
    ] {
        let mut bench = Bench::new();
        let mut exti = Exti::new(layout, [0; 3]);
        exti.write_register(offset, u32::MAX, &mut bench.access());
        assert_eq!(exti.read_register(offset, &mut bench.access()), want, "{layout:?} {offset:#x}");
    }
    let mut bench = Bench::new();
    let mut exti = Exti::new(ExtiLayout::H7, [1, 2, 3]);
    let masks = [0x80, 0x90, 0xa0].map(|offset| exti.read_register(offset, &mut bench.access()));
    assert_eq!(masks, [1, 2, 3]);
}
