//! Edges of outputs by cycle: compare modes, polarity, complementary outputs, dead time, output enable.

use proptest::prelude::*;

use super::*;
use crate::stm32::block::Block;
use crate::stm32::testing::Bench;
use crate::stm32::timer::TimerKind;

const GENERAL: TimerKind = TimerKind { channels: 4, wide: false, advanced: false, remap: false };
const ADVANCED: TimerKind = TimerKind { advanced: true, ..GENERAL };

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const CCMR1: u32 = 0x18;
const CCER: u32 = 0x20;
const PSC: u32 = 0x28;
const ARR: u32 = 0x2c;
const CCR1: u32 = 0x34;
const CCR4: u32 = 0x40;
const CCMR2: u32 = 0x1c;
const BDTR: u32 = 0x44;
const EGR: u32 = 0x14;

/// A timer with all its outputs shown, set up at cycle 0. Its clock is the core's, CNT_EN one cycle late.
fn timer(kind: TimerKind, bench: &mut Bench, writes: &[(u32, u32)]) -> Timer {
    let mut timer = Timer::new(kind);
    timer.clocks_changed(&mut bench.access_at(0));
    timer.set_shown_outputs(0xff, &bench.access());
    for &(offset, value) in writes {
        timer.write_register(offset, value, &mut bench.access());
    }
    timer
}

/// (cycle, driven, levels) of the edges up to a cycle, as the machine finds them.
fn edges(timer: &mut Timer, bench: &mut Bench, end: u64) -> Vec<(u64, u8, u8)> {
    loop {
        let due = timer.next_event_cycle();
        if due > end {
            break;
        }
        timer.advance_to_now(&mut bench.access_at(due));
        assert!(timer.next_event_cycle() > due);
    }
    timer.take_output_edges().into_iter().map(|edge| (edge.cycle, edge.driven, edge.levels)).collect()
}

/// Name, kind, writes, last cycle, and the edges up to it.
type Case = (&'static str, TimerKind, &'static [(u32, u32)], u64, &'static [(u64, u8, u8)]);

const CASES: &[Case] = &[
    (
        "PWM mode 1",
        GENERAL,
        &[(ARR, 9), (CCR1, 3), (CCMR1, 0x60), (CCER, 1), (CR1, 1)],
        21,
        &[(0, 1, 1), (4, 1, 0), (11, 1, 1), (14, 1, 0), (21, 1, 1)],
    ),
    (
        "PWM mode 2, active low",
        GENERAL,
        &[(ARR, 9), (CCR1, 3), (CCMR1, 0x70), (CCER, 3), (CR1, 1)],
        14,
        &[(0, 1, 1), (4, 1, 0), (11, 1, 1), (14, 1, 0)],
    ),
    ("a duty of all", GENERAL, &[(ARR, 9), (CCR1, 10), (CCMR1, 0x60), (CCER, 1), (CR1, 1)], 99, &[(0, 1, 1)]),
    ("a duty of nothing", GENERAL, &[(ARR, 9), (CCR1, 0), (CCMR1, 0x60), (CCER, 1), (CR1, 1)], 99, &[(0, 1, 0)]),
    (
        "a prescaler of three",
        GENERAL,
        &[(ARR, 3), (PSC, 2), (EGR, 1), (CCR1, 1), (CCMR1, 0x60), (CCER, 1), (CR1, 1)],
        15,
        &[(0, 1, 1), (4, 1, 0), (13, 1, 1)],
    ),
    (
        "PWM mode 1, counting down",
        GENERAL,
        &[(ARR, 9), (CCR1, 3), (CCMR1, 0x60), (CCER, 1), (CR1, 0x11)],
        12,
        &[(0, 1, 1), (2, 1, 0), (8, 1, 1), (12, 1, 0)],
    ),
    (
        "PWM mode 1, centred",
        GENERAL,
        &[(ARR, 4), (CCR1, 2), (CCMR1, 0x60), (CCER, 1), (CR1, 0x21)],
        15,
        &[(0, 1, 1), (3, 1, 0), (7, 1, 1), (11, 1, 0), (15, 1, 1)],
    ),
    (
        "toggle",
        GENERAL,
        &[(ARR, 9), (CCR1, 4), (CCMR1, 0x30), (CCER, 1), (CR1, 1)],
        25,
        &[(0, 1, 0), (5, 1, 1), (15, 1, 0), (25, 1, 1)],
    ),
    ("toggle beyond the range", GENERAL, &[(ARR, 9), (CCR1, 11), (CCMR1, 0x30), (CCER, 1), (CR1, 1)], 99, &[(0, 1, 0)]),
    (
        "active on match",
        GENERAL,
        &[(ARR, 9), (CCR1, 4), (CCMR1, 0x10), (CCER, 1), (CR1, 1)],
        99,
        &[(0, 1, 0), (5, 1, 1)],
    ),
    (
        "inactive on match, after it was forced",
        GENERAL,
        &[(ARR, 9), (CCR1, 4), (CCMR1, 0x50), (CCER, 1), (CCMR1, 0x20), (CR1, 1)],
        99,
        &[(0, 1, 1), (5, 1, 0)],
    ),
    (
        "frozen keeps the level",
        GENERAL,
        &[(ARR, 9), (CCR1, 4), (CCMR1, 0x50), (CCER, 1), (CCMR1, 0x00), (CR1, 1)],
        99,
        &[(0, 1, 1)],
    ),
    ("forced inactive, active low", GENERAL, &[(CCMR1, 0x40), (CCER, 3), (CR1, 1)], 99, &[(0, 1, 1)]),
    ("an input drives nothing", GENERAL, &[(CCMR1, 0x01), (CCER, 1), (CR1, 1)], 99, &[]),
    (
        "channel 4",
        GENERAL,
        &[(ARR, 9), (CCR4, 3), (CCMR2, 0x6000), (CCER, 1 << 12), (CR1, 1)],
        11,
        &[(0, 8, 8), (4, 8, 0), (11, 8, 8)],
    ),
    (
        "one pulse",
        GENERAL,
        &[(ARR, 9), (CCR1, 3), (CCMR1, 0x70), (CCER, 1), (CR1, 9)],
        99,
        &[(0, 1, 0), (4, 1, 1), (11, 1, 0)],
    ),
    (
        "a new value with the update",
        GENERAL,
        &[(ARR, 9), (CCMR1, 0x68), (CCR1, 3), (EGR, 1), (CCR1, 6), (CCER, 1), (CR1, 1)],
        17,
        &[(0, 1, 1), (4, 1, 0), (11, 1, 1), (17, 1, 0)],
    ),
    ("no main output enable", ADVANCED, &[(CCMR1, 0x60), (CCER, 5), (CR1, 1)], 99, &[]),
    (
        "complementary outputs",
        ADVANCED,
        &[(ARR, 9), (CCR1, 5), (CCMR1, 0x60), (CCER, 5), (BDTR, 0x8000), (CR1, 1)],
        16,
        &[(0, 0x11, 1), (6, 0x11, 0x10), (11, 0x11, 1), (16, 0x11, 0x10)],
    ),
    (
        "a dead time of two clocks",
        ADVANCED,
        &[(ARR, 9), (CCR1, 5), (CCMR1, 0x60), (CCER, 5), (BDTR, 0x8002), (CR1, 1)],
        18,
        &[(0, 0x11, 1), (6, 0x11, 0), (8, 0x11, 0x10), (11, 0x11, 0), (13, 0x11, 1), (16, 0x11, 0), (18, 0x11, 0x10)],
    ),
    (
        "a dead time longer than the pulse",
        ADVANCED,
        &[(ARR, 19), (CCR1, 2), (CCMR1, 0x60), (CCER, 5), (BDTR, 0x8005), (CR1, 1)],
        28,
        &[(0, 0x11, 1), (3, 0x11, 0), (8, 0x11, 0x10), (21, 0x11, 0), (28, 0x11, 0x10)],
    ),
    (
        "the complementary output alone is not inverted",
        ADVANCED,
        &[(ARR, 9), (CCR1, 5), (CCMR1, 0x60), (CCER, 4), (BDTR, 0x8000), (CR1, 1)],
        6,
        &[(0, 0x10, 0x10), (6, 0x10, 0)],
    ),
    (
        "off state in run mode",
        ADVANCED,
        &[(ARR, 9), (CCR1, 5), (CCMR1, 0x60), (CCER, 0x6), (BDTR, 0x8800), (CR1, 1)],
        6,
        &[(0, 0x11, 0x11), (6, 0x11, 1)],
    ),
    (
        "off state in idle mode",
        ADVANCED,
        &[(CR2, 2 << 8), (CCMR1, 0x60), (CCER, 1), (BDTR, 0x400)],
        9,
        &[(0, 0x11, 0x10)],
    ),
    (
        "automatic output enable",
        ADVANCED,
        &[(ARR, 9), (CCR1, 5), (CCMR1, 0x60), (CCER, 1), (BDTR, 0x4000), (CR1, 1)],
        16,
        &[(11, 1, 1), (16, 1, 0)],
    ),
];

#[test]
fn edges_by_cycle() {
    for &(name, kind, setup, end, want) in CASES {
        let mut bench = Bench::new();
        let mut timer = timer(kind, &mut bench, setup);
        assert_eq!(edges(&mut timer, &mut bench, end), want, "{name}");
    }
}

#[test]
fn dead_time_codes() {
    // DTG, CKD, clocks (RM0090 17.4.18).
    for (code, division, clocks) in
        [(0, 0, 0), (127, 0, 127), (0x80, 0, 128), (0xbf, 0, 254), (0xc0, 0, 256), (0xdf, 1, 1008), (0xff, 2, 4032)]
    {
        let mut bench = Bench::new();
        let timer = timer(ADVANCED, &mut bench, &[(BDTR, code), (CR1, division << 8)]);
        assert_eq!(timer.dead_time_cycles(&bench.access()), clocks, "{code:#x} {division}");
    }
}

#[test]
fn hidden_or_disabled_outputs_are_never_due() {
    let mut bench = Bench::new();
    let mut timer = timer(GENERAL, &mut bench, &[(ARR, 9), (CCR1, 3), (CCMR1, 0x60), (CCER, 1), (CR1, 1)]);
    assert_eq!((timer.next_event_cycle(), timer.drives_pins()), (4, true));
    timer.set_shown_outputs(0, &bench.access());
    assert_eq!((timer.next_event_cycle(), timer.drives_pins()), (NEVER, false));
    timer.set_shown_outputs(2, &bench.access());
    assert_eq!((timer.next_event_cycle(), timer.last_recorded_timer_outputs()), (NEVER, (0, 0)));
    timer.set_shown_outputs(1, &bench.access());
    timer.write_register(CCER, 0, &mut bench.access());
    assert_eq!((timer.next_event_cycle(), timer.last_recorded_timer_outputs()), (NEVER, (0, 0)));
    timer.reset_registers();
    assert_eq!(timer.outputs.shown, 1);
}

proptest! {
    /// Outputs that are shown later have the same levels and edges as those that were shown from the start.
    #[test]
    fn hidden_outputs_go_on(
        top in 1u32..20, compares in [0u32..24, 0u32..24], modes in [0u32..8, 0u32..8], prescaler in 0u32..3,
        counting in prop::sample::select(vec![0x01_u32, 0x11, 0x21, 0x61]), hidden in 1u64..3000,
    ) {
        let mode = modes[0] << 4 | modes[1] << 12;
        let setup = [(PSC, prescaler), (ARR, top), (EGR, 1), (CCR1, compares[0]), (CCR1 + 4, compares[1]),
            (CCMR1, mode), (CCER, 0x11), (CR1, counting)];
        let mut bench = Bench::new();
        let mut seen = timer(GENERAL, &mut bench, &setup);
        let mut other = timer(GENERAL, &mut bench, &setup);
        other.set_shown_outputs(0, &bench.access());
        edges(&mut seen, &mut bench, hidden);
        other.set_shown_outputs(3, &bench.access_at(hidden));
        prop_assert_eq!(other.last_recorded_timer_outputs(), seen.last_recorded_timer_outputs());
        other.take_output_edges();
        let end = hidden + 100;
        prop_assert_eq!(edges(&mut other, &mut bench, end), edges(&mut seen, &mut bench, end));
    }
}
