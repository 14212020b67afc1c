//! Whatever firmware writes to timers, pins, ADCs and SPIs, time goes on.

use proptest::prelude::*;
use rtoslab_periph::stm32::{Chip, Effects, Options, Pin, Stm32, Wire};

/// Bases of timers, GPIO A to C, ADC and SPI, and RCC's enable registers.
fn blocks(chip: Chip) -> (&'static [u32], &'static [u32]) {
    match chip {
        Chip::L053 | Chip::L073 => (
            &[0x4000_0000, 0x4000_0400, 0x4001_0800, 0x5000_0000, 0x5000_0400, 0x4001_2400, 0x4001_3000],
            &[0x4002_102c, 0x4002_1034, 0x4002_1038],
        ),
        Chip::F103 => (
            &[0x4000_0000, 0x4000_0400, 0x4001_2c00, 0x4001_0800, 0x4001_0c00, 0x4001_0000, 0x4001_2400, 0x4001_3000],
            &[0x4002_1018, 0x4002_101c],
        ),
        Chip::H743 => (
            &[0x4000_0000, 0x4000_0400, 0x4001_0000, 0x4001_4000, 0x5802_0000, 0x5802_0400, 0x4002_2000, 0x4001_3000],
            &[0x5802_44d8, 0x5802_44e0, 0x5802_44e8, 0x5802_44f0],
        ),
        _ => (
            &[0x4000_0000, 0x4000_0400, 0x4001_0000, 0x4001_4000, 0x4002_0000, 0x4002_0400, 0x4001_2000, 0x4001_3000],
            &[0x4002_3830, 0x4002_3840, 0x4002_3844],
        ),
    }
}

/// A step: block, register, value, cycles before it, a pin and its level.
type Step = (usize, u32, u32, u64, u8, bool);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Small values and single bits reach more than random words.
    let value = prop_oneof![0_u32..64, any::<u32>(), (0_u32..32).prop_map(|bit| 1 << bit), Just(0x8001), Just(0x5555)];
    let step = (0_usize..8, 0_u32..28, value, 0_u64..200, 0_u8..32, any::<bool>());
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn time_goes_on(chip in prop::sample::select(Chip::ALL.to_vec()), steps in steps()) {
        let pin = |port, pin| Pin { port, pin };
        let wires = vec![
            Wire { from: pin(0, 6), to: pin(0, 0) },
            Wire { from: pin(0, 7), to: pin(1, 4) },
            Wire { from: pin(1, 0), to: pin(0, 1) },
        ];
        let mut stm32 = Stm32::new(chip, &Options { wires, ..Options::default() });
        let mut effects = Effects::default();
        let (bases, enables) = blocks(chip);
        // Everything but the watchdogs.
        enables.iter().for_each(|&address| stm32.write_register(address, 4, !(1 << 11), 0, &mut effects));
        let mut now = 0;
        for (block, register, value, cycles, driven, level) in steps {
            let end = now + cycles;
            let mut events = 0;
            while stm32.next_advance_cycle() <= end {
                let due = stm32.next_advance_cycle();
                stm32.process_events_until(due, &mut effects);
                events = if stm32.next_advance_cycle() > due { 0 } else { events + 1 };
                prop_assert!(events < 100, "{chip:?} does not leave cycle {due}");
            }
            now = end;
            stm32.drive_pin(driven / 16, driven % 16, level, now, &mut effects);
            let base = bases[block % bases.len()];
            stm32.write_register(base + 4 * register, 4, value, now, &mut effects);
            stm32.read_register(base + 4 * (register / 2), 4, now, &mut effects);
            prop_assert!(effects.pins.len() < 4000, "{chip:?} changes pins without end");
            prop_assert!(effects.pins.iter().all(|change| change.cycle <= now));
            effects.pins.clear();
        }
    }
}
