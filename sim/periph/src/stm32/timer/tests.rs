use super::*;
use crate::stm32::testing::Bench;

const GENERAL: TimerKind = TimerKind { channels: 4, wide: false, advanced: false, remap: false };
const WIDE: TimerKind = TimerKind { wide: true, remap: true, ..GENERAL };
const ADVANCED: TimerKind = TimerKind { advanced: true, ..GENERAL };
const BASIC: TimerKind = TimerKind { channels: 0, ..GENERAL };

/// A timer set up by (offset, value) pairs at cycle 0.
fn timer(kind: TimerKind, bench: &mut Bench, writes: &[(u32, u32)]) -> Timer {
    let mut timer = Timer::new(kind);
    timer.clocks_changed(&mut bench.access_at(0));
    for &(offset, value) in writes {
        timer.write_register(offset, value, &mut bench.access());
    }
    timer
}

/// The block's clock equals the core's, so that ticks are cycles. CNT_EN is one cycle late.
fn count(timer: &mut Timer, bench: &mut Bench, cycle: u64) -> u32 {
    timer.read_register(0x24, &mut bench.access_at(cycle))
}

#[test]
fn counter_values_by_cycle() {
    // Set-up, then (cycle, CNT).
    type Case = (&'static [(u32, u32)], &'static [(u64, u32)]);
    let cases: [Case; 6] = [
        (&[(0x2c, 9), (0x00, 1)], &[(1, 0), (2, 1), (10, 9), (11, 0), (1_000_001, 0), (1_000_005, 4)]),
        (&[(0x28, 3), (0x14, 1), (0x2c, 9), (0x00, 1)], &[(4, 0), (5, 1), (40, 9), (41, 0)]),
        // Down: from 0 the counter underflows to ARR.
        (&[(0x2c, 9), (0x00, 0x11)], &[(1, 0), (2, 9), (11, 0), (12, 9)]),
        // Centre-aligned: up to ARR, back to 0.
        (&[(0x2c, 4), (0x00, 0x21)], &[(1, 0), (4, 3), (5, 4), (6, 3), (8, 1), (9, 0), (10, 1)]),
        // Beyond ARR it runs to the top of its 16 bits.
        (&[(0x2c, 9), (0x24, 0xfffe), (0x00, 1)], &[(1, 0xfffe), (2, 0xffff), (3, 0), (12, 9), (13, 0)]),
        // ARR 0 holds it.
        (&[(0x2c, 0), (0x00, 1)], &[(1, 0), (100, 0)]),
    ];
    for (setup, samples) in cases {
        let mut bench = Bench::new();
        let mut timer = timer(GENERAL, &mut bench, setup);
        for &(cycle, want) in samples {
            assert_eq!(count(&mut timer, &mut bench, cycle), want, "{setup:x?} at {cycle}");
        }
    }
}

#[test]
fn flags_by_cycle() {
    // Set-up, then (cycle, SR).
    type Case = (&'static [(u32, u32)], &'static [(u64, u32)]);
    let cases: [Case; 6] = [
        (
            &[(0x2c, 9), (0x34, 0xffff), (0x38, 0xffff), (0x3c, 0xffff), (0x40, 3), (0x00, 1)],
            &[(3, 0), (4, 0x10), (10, 0x10)],
        ),
        // A compare value of 0 matches where the next run starts. One beyond ARR at the overflow.
        (
            &[(0x2c, 9), (0x34, 5), (0x38, 5), (0x3c, 200), (0x40, 9), (0x00, 1)],
            &[(6, 6), (9, 6), (10, 0x16), (11, 0x1f)],
        ),
        (&[(0x2c, 9), (0x34, 9), (0x38, 9), (0x3c, 9), (0x40, 2), (0x00, 0x11)], &[(1, 0), (2, 0xf), (9, 0x1f)]),
        // Input channels do not compare.
        (&[(0x2c, 9), (0x18, 0x0101), (0x1c, 0x0101), (0x34, 3), (0x00, 1)], &[(9, 0), (11, 1)]),
        // UDIS: no update events.
        (&[(0x2c, 9), (0x18, 0x0101), (0x1c, 0x0101), (0x00, 3)], &[(11, 0), (30, 0)]),
        // A long silence raises every flag once.
        (&[(0x2c, 9), (0x34, 3), (0x38, 4), (0x3c, 5), (0x40, 6), (0x00, 1)], &[(1_000_000_000_000, 0x1f)]),
    ];
    for (setup, samples) in cases {
        let mut bench = Bench::new();
        let mut timer = timer(GENERAL, &mut bench, setup);
        for &(cycle, want) in samples {
            assert_eq!(timer.read_register(0x10, &mut bench.access_at(cycle)), want, "{setup:x?} at {cycle}");
        }
    }
}

/// Whole runs that pass unseen raise what they would have raised, though neither the run left nor the one reached does.
#[test]
fn overflows_set_their_flags_without_observation() {
    let mut bench = Bench::new();
    let mut timer = timer(GENERAL, &mut bench, &[(0x2c, 9), (0x34, 3), (0x00, 1)]);
    assert_eq!(timer.read_register(0x10, &mut bench.access_at(6)) & 2, 2);
    timer.write_register(0x10, 0, &mut bench.access());
    assert_eq!(
        (timer.read_register(0x10, &mut bench.access_at(1_000_002)) & 3, count(&mut timer, &mut bench, 1_000_002)),
        (3, 1)
    );
}

#[test]
fn due_only_for_enabled_flags() {
    let mut bench = Bench::new();
    let setup = [(0x2c, 99), (0x34, 30), (0x38, 50), (0x00, 1)];
    let mut timer = timer(GENERAL, &mut bench, &setup);
    assert_eq!(timer.next_event_cycle(), NEVER);
    timer.write_register(0x0c, 1, &mut bench.access());
    assert_eq!(timer.next_event_cycle(), 101);
    timer.write_register(0x0c, 1 | 1 << 2, &mut bench.access());
    assert_eq!(timer.next_event_cycle(), 51);
    timer.advance_to_now(&mut bench.access_at(51));
    assert_eq!((timer.interrupt_outputs(), timer.next_event_cycle()), (8, 101));
    timer.advance_to_now(&mut bench.access_at(101));
    // Both flags up: nothing more to tell.
    assert_eq!((timer.interrupt_outputs(), timer.next_event_cycle()), (8 | 2, NEVER));
    timer.write_register(0x10, !5, &mut bench.access_at(120));
    assert_eq!((timer.interrupt_outputs(), timer.next_event_cycle()), (0, 151));
}

#[test]
fn preload_takes_effect_with_the_update() {
    let mut bench = Bench::new();
    let mut timer = timer(GENERAL, &mut bench, &[(0x2c, 9), (0x18, 8), (0x34, 5), (0x00, 0x81)]);
    timer.write_register(0x2c, 4, &mut bench.access_at(3));
    timer.write_register(0x28, 1, &mut bench.access());
    timer.write_register(0x34, 2, &mut bench.access());
    assert_eq!(
        (timer.read_register(0x2c, &mut bench.access()), timer.read_register(0x28, &mut bench.access())),
        (4, 1)
    );
    // The running period ends at 9 with the old prescaler, the next has 5 ticks of two cycles.
    for (cycle, want) in [(10, 9), (11, 0), (13, 1), (19, 4), (20, 4), (21, 0)] {
        assert_eq!(count(&mut timer, &mut bench, cycle), want, "at {cycle}");
    }
    timer.write_register(0x10, 0, &mut bench.access_at(21));
    assert_eq!(timer.read_register(0x10, &mut bench.access_at(24)) & 2, 0);
    assert_eq!(timer.read_register(0x10, &mut bench.access_at(25)) & 2, 2);
}

#[test]
fn without_preload_the_period_changes_at_once() {
    let mut bench = Bench::new();
    let mut timer = timer(GENERAL, &mut bench, &[(0x2c, 99), (0x00, 1)]);
    timer.write_register(0x2c, 9, &mut bench.access_at(6));
    assert_eq!((count(&mut timer, &mut bench, 10), count(&mut timer, &mut bench, 11)), (9, 0));
}

#[test]
fn one_pulse_stops_at_the_update() {
    let mut bench = Bench::new();
    let mut timer = timer(BASIC, &mut bench, &[(0x2c, 9), (0x0c, 1), (0x00, 9)]);
    assert_eq!(timer.next_event_cycle(), 11);
    timer.advance_to_now(&mut bench.access_at(11));
    assert_eq!((timer.interrupt_outputs(), timer.read_register(0x00, &mut bench.access())), (2, 8));
    assert_eq!(count(&mut timer, &mut bench, 500), 0);
}

#[test]
fn update_generation() {
    for (cr1, flag) in [(1, 1), (1 | 4, 0), (1 | 2, 0)] {
        let mut bench = Bench::new();
        let mut timer = timer(GENERAL, &mut bench, &[(0x2c, 9999), (0x00, cr1), (0x28, 9)]);
        timer.write_register(0x14, 1, &mut bench.access_at(100));
        assert_eq!(timer.read_register(0x10, &mut bench.access()) & 1, flag, "CR1 {cr1}");
        // The counter restarts. The prescaler is loaded unless UDIS forbids it.
        let want = if cr1 & 2 == 0 { 10 } else { 100 };
        assert_eq!(count(&mut timer, &mut bench, 200), want, "CR1 {cr1}");
    }
}

#[test]
fn repetition_counter_divides_the_updates() {
    let mut bench = Bench::new();
    let mut timer = timer(ADVANCED, &mut bench, &[(0x2c, 9), (0x30, 2), (0x14, 1), (0x10, 0), (0x0c, 1), (0x00, 1)]);
    let mut updates = Vec::new();
    for _ in 0..7 {
        let due = timer.next_event_cycle();
        timer.advance_to_now(&mut bench.access_at(due));
        if timer.read_register(0x10, &mut bench.access()) & 1 != 0 {
            updates.push(due);
            timer.write_register(0x10, 0, &mut bench.access());
        }
    }
    assert_eq!(updates, [31, 61]);
}

#[test]
fn wide_counter_and_flag_copy() {
    let mut bench = Bench::new();
    let mut timer = timer(WIDE, &mut bench, &[(0x24, 0xffff_0000), (0x00, 1)]);
    assert_eq!(count(&mut timer, &mut bench, 0x1_0000), 0xffff_ffff);
    assert_eq!(count(&mut timer, &mut bench, 0x1_0001), 0);
    timer.write_register(0x00, 1 | UIFREMAP, &mut bench.access());
    assert_eq!(count(&mut timer, &mut bench, 0x1_0003), 0x8000_0002);
}

#[test]
fn stop_keeps_the_count_and_a_new_clock_the_time() {
    let mut bench = Bench::new();
    let mut timer = timer(GENERAL, &mut bench, &[(0x00, 1)]);
    timer.write_register(0x00, 0, &mut bench.access_at(51));
    assert_eq!(count(&mut timer, &mut bench, 500), 50);
    timer.write_register(0x00, 1, &mut bench.access());
    assert_eq!(count(&mut timer, &mut bench, 511), 60);
    // The core runs four times as fast: four cycles to a tick.
    bench.core_hz *= 4;
    timer.clocks_changed(&mut bench.access());
    assert_eq!(count(&mut timer, &mut bench, 511 + 40), 70);
    bench.clock_hz = 0;
    timer.clocks_changed(&mut bench.access());
    assert_eq!(count(&mut timer, &mut bench, 100_000), 70);
}

#[test]
fn software_flags_and_lines() {
    let mut bench = Bench::new();
    let mut timer = timer(ADVANCED, &mut bench, &[(0x0c, 0xff), (0x14, 0xfe)]);
    assert_eq!((timer.read_register(0x10, &mut bench.access()), timer.interrupt_outputs()), (0xfe, 0b1101));
    timer.write_register(0x10, 0x80, &mut bench.access());
    assert_eq!((timer.read_register(0x10, &mut bench.access()), timer.interrupt_outputs()), (0x80, 1));
}

#[test]
fn basic_timers_have_no_channels() {
    let mut bench = Bench::new();
    let mut timer = timer(BASIC, &mut bench, &[]);
    for (offset, want) in [
        (0x00, 0x8f),
        (0x04, 0x70),
        (0x08, 0),
        (0x0c, 0x101),
        (0x18, 0),
        (0x20, 0),
        (0x28, 0xffff),
        (0x2c, 0xffff),
        (0x30, 0),
        (0x34, 0),
        (0x44, 0),
    ] {
        timer.write_register(offset, 0xffff_ffff, &mut bench.access());
        assert_eq!(timer.read_register(offset, &mut bench.access()), want, "offset {offset:#x}");
    }
    assert_eq!(bench.effects.unmodelled, None);
}

#[test]
fn slave_modes_are_reported() {
    let mut bench = Bench::new();
    timer(GENERAL, &mut bench, &[(0x08, 0x30)]);
    assert_eq!(bench.effects.unmodelled, None);
    timer(GENERAL, &mut bench, &[(0x08, 4)]);
    assert_eq!(bench.effects.unmodelled, Some((8, true)));
}
