//! The time since power-on is that of the board, although firmware changes the clock.

use super::writer::{RAM, writer};
use crate::board::Board;
use crate::stop::{RunEndCondition, StopReason};

/// Boards that change their clock up and down: chip, writes, turns of the pause between two writes, and the clocks in
/// Hz.
struct Case {
    chip: &'static str,
    writes: &'static [(u32, u32)],
    turns: u32,
    clocks: &'static [u64],
}

const CASES: &[Case] = &[
    Case {
        chip: "rp2040",
        writes: &[
            // XOSC on; clk_ref to XOSC; clk_sys follows clk_ref.
            (0x4002_4000, 0x00fa_baa0),
            (0x4000_8030, 2),
            // PLL_SYS out of reset: 1500 MHz / 6 / 2, then clk_sys to it, and back to clk_ref.
            (0x4000_f000, 1 << 12),
            (0x4002_8008, 125),
            (0x4002_b004, 0x21),
            (0x4002_800c, 6 << 16 | 2 << 12),
            (0x4002_b004, 8),
            (0x4000_803c, 1),
            (0x4000_803c, 0),
        ],
        turns: 15_000,
        clocks: &[6_500_000, 12_000_000, 125_000_000, 12_000_000],
    },
    Case {
        chip: "stm32f103",
        // PLL: HSI / 2 * 16; two wait states; SW to it, and back.
        writes: &[
            (0x4002_2000, 0x12),
            (0x4002_1004, 14 << 18),
            (0x4002_1000, 0x0100_0083),
            (0x4002_1004, 14 << 18 | 4 << 8 | 2),
            (0x4002_1004, 14 << 18 | 4 << 8),
        ],
        turns: 2_000,
        clocks: &[8_000_000, 64_000_000, 8_000_000],
    },
    Case {
        chip: "stm32f446",
        // PLL: HSI / 8 * 84 / 2 = 84 MHz; two wait states; SW to it, and back.
        writes: &[
            (0x4002_3c00, 2),
            (0x4002_3804, 8 | 84 << 6 | 4 << 24),
            (0x4002_3800, 0x0100_0083),
            (0x4002_3808, 4 << 10 | 2),
            (0x4002_3808, 4 << 10),
        ],
        turns: 2_000,
        clocks: &[16_000_000, 84_000_000, 16_000_000],
    },
    Case {
        chip: "stm32l073",
        // HSI16 on, SW to it, and back to MSI.
        writes: &[(0x4002_1000, 1 | 1 << 8), (0x4002_100c, 1), (0x4002_100c, 0)],
        turns: 2_000,
        clocks: &[2_097_152, 16_000_000, 2_097_152],
    },
];

/// Cycles in which the clock may have changed already, though the run ended before: a store takes effect within them.
const UNCERTAIN_CYCLES: f64 = 8.0;

fn board(case: &Case) -> Box<dyn Board> {
    writer(case.chip, case.writes, case.turns, &[])
}

/// Runs cycle by cycle to the last clock and a little beyond: the nanoseconds as a sum over cycles, and the clocks
/// seen.
fn sum_of_cycles(board: &mut dyn Board, case: &Case) -> (f64, Vec<u64>) {
    let (mut ns, mut clocks, mut after) = (0.0, vec![board.clock_hz()], 0);
    let mut before_ns = 0;
    for _ in 0..2_000_000 {
        let hz = board.clock_hz();
        if clocks.last() != Some(&hz) {
            clocks.push(hz);
        }
        after += u32::from(clocks.len() == case.clocks.len());
        if after > 1000 {
            break;
        }
        let start = board.current_cycle();
        assert_eq!(board.run_cycles(1).reason, StopReason::Cycles);
        ns += (board.current_cycle() - start) as f64 * 1e9 / hz as f64;
        let now_ns = board.elapsed_time().ns_at(board.current_cycle());
        assert!(now_ns >= before_ns, "{}: time runs backwards in cycle {}", case.chip, board.current_cycle());
        before_ns = now_ns;
    }
    (ns, clocks)
}

#[test]
fn time_is_the_sum_of_the_cycles_of_each_clock() {
    for case in CASES {
        let mut board = board(case);
        let (ns, clocks) = sum_of_cycles(&mut *board, case);
        assert_eq!(clocks, case.clocks, "{}", case.chip);
        let slowest = *case.clocks.iter().min().expect("a clock") as f64;
        let tolerance = case.clocks.len() as f64 * UNCERTAIN_CYCLES * 1e9 / slowest;
        let told = board.elapsed_time().ns_at(board.current_cycle()) as f64;
        assert!((told - ns).abs() < tolerance, "{}: {told} ns, but {ns} ns are right", case.chip);
    }
}

#[test]
fn a_run_to_a_time_ends_in_its_first_cycle_however_it_is_cut() {
    for case in CASES {
        let mut whole = board(case);
        sum_of_cycles(&mut *whole, case);
        let ns = whole.elapsed_time().ns_at(whole.current_cycle());
        for slices in [1, 7, 1000] {
            let mut board = board(case);
            for slice in 1..=slices {
                let stop = board.run_to(RunEndCondition { cycle: u64::MAX, ns: Some(ns * slice / slices) });
                assert_eq!((stop.reason, stop.cycle), (StopReason::Cycles, board.current_cycle()), "{}", case.chip);
                let (cycle, elapsed) = (board.current_cycle(), board.elapsed_time());
                assert!(elapsed.ns_at(cycle) >= ns * slice / slices, "{}: too early", case.chip);
                assert!(elapsed.ns_at(cycle - 1) < ns * slice / slices, "{}: too late", case.chip);
            }
            assert_eq!(board.current_cycle(), whole.current_cycle(), "{} in {slices} slices", case.chip);
            assert_eq!(board.core_registers(0), whole.core_registers(0), "{} in {slices} slices", case.chip);
        }
    }
}

#[test]
fn a_snapshot_has_its_time() {
    for case in CASES {
        let mut one = board(case);
        sum_of_cycles(&mut *one, case);
        let mut other = board(case);
        assert!(other.restore_snapshot(&one.take_snapshot()));
        for board in [&mut one, &mut other] {
            board.run_cycles(1_000_000);
        }
        assert_eq!(
            one.elapsed_time().ns_at(one.current_cycle()),
            other.elapsed_time().ns_at(other.current_cycle()),
            "{}",
            case.chip
        );
    }
}

#[test]
fn a_stated_clock_is_the_one_that_converts() {
    for chip in ["stm32f446", "stm32l073"] {
        let mut board = writer(chip, &[(RAM + 0x1000, 1)], 10, &[]);
        board.set_timing_rule("clock_hz", 1_000_000).expect("a setting");
        board.run_cycles(5_000);
        assert_eq!(board.elapsed_time().ns_at(board.current_cycle()), 5_000_000, "{chip}");
    }
}
