//! Captures and slave modes by edges at pins.

use super::*;
use crate::stm32::block::Block;
use crate::stm32::testing::Bench;
use crate::stm32::timer::TimerKind;

const GENERAL: TimerKind = TimerKind { channels: 4, wide: false, advanced: false, remap: false };

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SMCR: u32 = 0x08;
const DIER: u32 = 0x0c;
const SR: u32 = 0x10;
const EGR: u32 = 0x14;
const CCMR1: u32 = 0x18;
const CCMR2: u32 = 0x1c;
const CCER: u32 = 0x20;
const CNT: u32 = 0x24;
const PSC: u32 = 0x28;
const ARR: u32 = 0x2c;
const CCR1: u32 = 0x34;
const CCR2: u32 = 0x38;
const CCR4: u32 = 0x40;

/// A timer set up at cycle 0. Its clock is the core's, CNT_EN one cycle late.
fn timer(bench: &mut Bench, writes: &[(u32, u32)]) -> Timer {
    let mut timer = Timer::new(GENERAL);
    timer.clocks_changed(&mut bench.access_at(0));
    for &(offset, value) in writes {
        timer.write_register(offset, value, &mut bench.access());
    }
    timer
}

/// Levels of the pins by cycle.
type Levels = &'static [(u64, u8)];

fn drive(timer: &mut Timer, bench: &mut Bench, levels: Levels) {
    for &(cycle, pins) in levels {
        timer.set_input_pin_levels(pins, &bench.access_at(cycle));
    }
}

#[test]
fn captures_by_edge() {
    // Set-up, levels of the pins by cycle, then registers.
    type Case = (&'static str, &'static [(u32, u32)], Levels, &'static [(u32, u32)]);
    const RISE_FALL: Levels = &[(10, 1), (21, 0)];
    let cases: [Case; 12] = [
        ("rising", &[(CCMR1, 1), (CCER, 1), (CR1, 1)], RISE_FALL, &[(SR, 2), (CCR1, 9)]),
        ("falling", &[(CCMR1, 1), (CCER, 3), (CR1, 1)], RISE_FALL, &[(SR, 2), (CCR1, 20)]),
        ("both", &[(CCMR1, 1), (CCER, 0xb), (CR1, 1)], RISE_FALL, &[(SR, 0x202), (CCR1, 20)]),
        ("disabled", &[(CCMR1, 1), (CCER, 0), (CR1, 1)], RISE_FALL, &[(SR, 0), (CCR1, 0)]),
        ("the other's input", &[(CCMR1, 0x200), (CCER, 0x10), (CR1, 1)], RISE_FALL, &[(SR, 4), (CCR2, 9)]),
        ("its own input", &[(CCMR1, 0x100), (CCER, 0x10), (CR1, 1)], RISE_FALL, &[(SR, 0)]),
        (
            "every fourth",
            &[(CCMR1, 0x9), (CCER, 1), (CR1, 1)],
            &[(10, 1), (11, 0), (12, 1), (13, 0), (14, 1), (15, 0), (16, 1), (17, 0), (18, 1)],
            &[(SR, 2), (CCR1, 15)],
        ),
        ("channel 4", &[(CCMR2, 0x100), (CCER, 1 << 12), (CR1, 1)], &[(10, 8)], &[(SR, 0x10), (CCR4, 9)]),
        ("by software", &[(CNT, 7), (CCMR1, 1), (EGR, 2)], &[], &[(SR, 2), (CCR1, 7)]),
        ("by software, again", &[(CCMR1, 1), (EGR, 2), (CNT, 8), (EGR, 2)], &[], &[(SR, 0x202), (CCR1, 8)]),
        ("a capture register is read-only", &[(CCMR1, 1), (CCR1, 5)], &[], &[(CCR1, 0)]),
        (
            "the exclusive or of three inputs",
            &[(CR2, 0x80), (CCMR1, 1), (CCER, 0xb), (CR1, 1)],
            &[(10, 1), (20, 3), (30, 7), (40, 0xf)],
            &[(SR, 0x202), (CCR1, 29)],
        ),
    ];
    for (name, setup, levels, want) in cases {
        let mut bench = Bench::new();
        let mut timer = timer(&mut bench, setup);
        drive(&mut timer, &mut bench, levels);
        for &(offset, value) in want {
            assert_eq!(timer.read_register(offset, &mut bench.access()), value, "{name}: {offset:#x}");
        }
    }
}

#[test]
fn reading_a_capture_clears_its_flag_and_its_interrupt() {
    let mut bench = Bench::new();
    let mut timer = timer(&mut bench, &[(CCMR1, 1), (CCER, 1), (DIER, 2), (CR1, 1)]);
    drive(&mut timer, &mut bench, &[(10, 1)]);
    assert_eq!(timer.interrupt_outputs(), 8);
    assert_eq!((timer.read_register(CCR1, &mut bench.access()), timer.interrupt_outputs()), (9, 0));
    timer.write_register(CCMR1, 0, &mut bench.access());
    timer.write_register(EGR, 2, &mut bench.access());
    timer.read_register(CCR1, &mut bench.access());
    assert_eq!(timer.read_register(SR, &mut bench.access()), 2, "not so of a compare channel");
}

#[test]
fn a_disabled_channel_starts_its_prescaler_again() {
    let mut bench = Bench::new();
    let mut timer = timer(&mut bench, &[(CCMR1, 5), (CCER, 1), (CR1, 1)]);
    drive(&mut timer, &mut bench, &[(10, 1), (11, 0)]);
    timer.write_register(CCER, 0, &mut bench.access());
    timer.write_register(CCER, 1, &mut bench.access());
    drive(&mut timer, &mut bench, &[(12, 1), (13, 0)]);
    assert_eq!(timer.read_register(SR, &mut bench.access()), 0);
    drive(&mut timer, &mut bench, &[(14, 1)]);
    assert_eq!(timer.read_register(SR, &mut bench.access()), 2);
}

/// RM0090 18.3.6: period in CCR1, width in CCR2.
#[test]
fn pwm_input_mode() {
    let mut bench = Bench::new();
    let mut timer = timer(&mut bench, &[(CCMR1, 0x201), (CCER, 0x31), (SMCR, 0x54), (CR1, 5)]);
    drive(&mut timer, &mut bench, &[(100, 1), (130, 0), (200, 1), (230, 0)]);
    assert_eq!(
        (timer.read_register(CCR1, &mut bench.access()), timer.read_register(CCR2, &mut bench.access())),
        (100, 30)
    );
    assert_eq!(timer.read_register(SR, &mut bench.access()) & 0x41, 0x40, "triggers, and no updates under URS");
    assert_eq!(timer.read_register(CNT, &mut bench.access_at(250)), 50);
}

#[test]
fn slave_modes_by_cycle() {
    // Set-up, levels of the pins by cycle, then (cycle, CNT, CR1, SR).
    type Case = (&'static str, &'static [(u32, u32)], Levels, (u64, u32, u32, u32));
    let cases: [Case; 10] = [
        ("reset", &[(SMCR, 0x54), (CR1, 1)], &[(50, 1)], (60, 10, 1, 0x41)),
        ("reset by input 2", &[(SMCR, 0x64), (CR1, 1)], &[(50, 1), (52, 3)], (60, 8, 1, 0x41)),
        ("reset by any edge", &[(SMCR, 0x44), (CR1, 1)], &[(50, 1), (55, 0)], (60, 5, 1, 0x41)),
        ("gated", &[(SMCR, 0x55), (CR1, 1)], &[(50, 1), (70, 0)], (90, 20, 1, 0x40)),
        ("gated, low", &[(SMCR, 0x55), (CCER, 2), (CR1, 1)], &[(51, 1), (70, 0)], (90, 70, 1, 0x40)),
        ("started", &[(SMCR, 0x56)], &[(50, 1)], (60, 9, 1, 0x40)),
        ("external clock", &[(SMCR, 0x57), (CR1, 1)], &[(5, 1), (6, 0), (7, 1)], (9, 2, 1, 0x40)),
        (
            "external clock by falling edges through the prescaler",
            &[(PSC, 1), (EGR, 1), (SR, 0), (SMCR, 0x57), (CCER, 2), (CR1, 1)],
            &[(5, 1), (6, 0), (7, 1), (8, 0), (9, 1)],
            (9, 1, 1, 0x40),
        ),
        (
            "external clock to the end of the range",
            &[(ARR, 1), (SMCR, 0x47), (CR1, 1)],
            &[(5, 1), (6, 0), (7, 1)],
            (9, 1, 1, 0x5f),
        ),
        ("a stopped counter counts no edges", &[(SMCR, 0x57)], &[(5, 1), (6, 0), (7, 1)], (9, 0, 0, 0x40)),
    ];
    for (name, setup, levels, (cycle, count, cr1, sr)) in cases {
        let mut bench = Bench::new();
        let mut timer = timer(&mut bench, setup);
        drive(&mut timer, &mut bench, levels);
        let got = [CNT, CR1, SR].map(|offset| timer.read_register(offset, &mut bench.access_at(cycle)));
        assert_eq!(got, [count, cr1, sr], "{name}");
        assert_eq!(bench.effects.unmodelled, None, "{name}");
    }
}

/// RM0433 table "Counting direction versus encoder signals".
#[test]
fn encoder_counts_by_direction() {
    // Levels of inputs 1 and 2 as they turn forward: 00, 10, 11, 01.
    const FORWARD: [u8; 4] = [1, 3, 2, 0];
    for (mode, per_turn) in [(1, 2), (2, 2), (3, 4)] {
        let mut bench = Bench::new();
        let mut timer = timer(&mut bench, &[(ARR, 99), (SMCR, mode), (CR1, 1)]);
        for turn in 0..3 {
            for (n, pins) in FORWARD.into_iter().enumerate() {
                timer.set_input_pin_levels(pins, &bench.access_at(10 * turn + n as u64 + 1));
            }
        }
        let count = timer.read_register(CNT, &mut bench.access());
        assert_eq!((count, timer.read_register(CR1, &mut bench.access())), (3 * per_turn, 1), "mode {mode}");
        // Backward, below 0: an underflow.
        for turn in 0..4 {
            for (n, pins) in [2, 3, 1, 0].into_iter().enumerate() {
                timer.set_input_pin_levels(pins, &bench.access_at(100 + 10 * turn + n as u64));
            }
        }
        let count = timer.read_register(CNT, &mut bench.access());
        assert_eq!((count, timer.read_register(CR1, &mut bench.access())), (100 - per_turn, 0x11), "mode {mode}");
        assert_eq!(timer.read_register(SR, &mut bench.access()) & 1, 1);
        // An inverted input turns it the other way.
        timer.write_register(CCER, 2, &mut bench.access());
        timer.preset_input_pin_levels(0, &bench.access());
        timer.set_input_pin_levels(1, &bench.access_at(200));
        timer.set_input_pin_levels(3, &bench.access_at(201));
        let (forward, count) =
            (timer.read_register(CR1, &mut bench.access()) & 0x10 == 0, timer.read_register(CNT, &mut bench.access()));
        assert!(!forward && count < 100 - per_turn, "mode {mode}: {count}");
    }
}

#[test]
fn slave_modes_that_are_not_modelled() {
    for (smcr, reported) in
        [(0x44, false), (0x57, false), (0x03, false), (0x45, true), (0x74, true), (0x4000, true), (0x05, true)]
    {
        let mut bench = Bench::new();
        timer(&mut bench, &[(SMCR, smcr)]);
        assert_eq!(bench.effects.unmodelled.is_some(), reported, "{smcr:#x}");
    }
}

#[test]
fn pins_matter_only_to_inputs() {
    for (writes, matters) in [
        (&[(CCMR1, 0x60), (CCER, 1)][..], false),
        (&[(CCMR1, 0x01)], true),
        (&[(CCMR2, 0x200)], true),
        (&[(SMCR, 0x57)], true),
        (&[(SMCR, 0x07)], false),
        (&[(SMCR, 0x73)], true),
    ] {
        let timer = timer(&mut Bench::new(), writes);
        assert_eq!(timer.listens_to_pins(), matters, "{writes:x?}");
    }
}
