//! One scenario, run in all the ways that must not matter.

use std::collections::HashMap;

use crate::StopReason;
use crate::board::{Board, Stats};
use crate::boards::board_from_snapshot;
use crate::observe::ObservationRequest;
use rtoslab_lab::Event;

use super::places::memory_ranges_of_chip;
use super::setup::GeneratedScenario;

/// Longest memory that is compared whole.
const WHOLE: u32 = 0x4_2000;

/// The result of a core's run: statistics, registers, its own time, whether it sleeps.
type CoreOutcome = (String, Vec<(String, u32)>, u64, bool);

/// The state of a board at the end of a run, to be compared with other runs.
#[derive(Debug, PartialEq)]
struct Outcome {
    end: (StopReason, usize, u64, u32, String),
    cycle: u64,
    clock_hz: u64,
    cores: Vec<CoreOutcome>,
    warnings: Vec<String>,
    printed: Vec<Vec<u8>>,
    locks: String,
    memory: Vec<Option<Vec<u8>>>,
}

impl Outcome {
    /// Returns the state of a board at the end of a run.
    fn from_board(
        board: &mut dyn Board,
        setup: &GeneratedScenario,
        end: (StopReason, usize, u64, u32, String),
    ) -> Outcome {
        let cores = (0..board.number_of_cores()).map(|core| {
            let position = board.core_position(core);
            (run_statistics_as_text(&board.core_stats(core)), board.core_registers(core), position.t, position.asleep)
        });
        let cores = cores.collect();
        let printed = (0..board.number_of_consoles()).map(|port| board.take_console_output(port)).collect();
        let memory = memory_ranges_of_chip(setup.chip)
            .iter()
            .map(|&(base, bytes)| board.read_memory(base, bytes.min(WHOLE) as usize))
            .collect();
        Outcome {
            end,
            cycle: board.current_cycle(),
            clock_hz: board.clock_hz(),
            cores,
            warnings: board.warnings(),
            printed,
            locks: format!("{:?}", board.lock_stats()),
            memory,
        }
    }

    /// Compares the outcomes of two runs of a scenario. Panics with what differs.
    fn assert_same_outcome(&self, plain: &Outcome, how: &str) {
        assert_eq!(self.end, plain.end, "the end, {how}");
        assert_eq!(self.cycle, plain.cycle, "the cycle, {how}");
        assert_eq!(self.clock_hz, plain.clock_hz, "the clock, {how}");
        assert_eq!(self.cores, plain.cores, "the cores, {how}");
        assert_eq!(self.warnings, plain.warnings, "the warnings, {how}");
        assert_eq!(self.printed, plain.printed, "what was printed, {how}");
        assert_eq!(self.locks, plain.locks, "the locks, {how}");
        for (index, (mine, other)) in self.memory.iter().zip(&plain.memory).enumerate() {
            let differs = || mine.as_ref()?.iter().zip(other.as_ref()?).position(|(mine, other)| mine != other);
            assert!(mine == other, "memory {index} from offset {:?} on, {how}", differs());
        }
    }
}

/// Returns statistics as text, to compare them.
fn run_statistics_as_text(stats: &Stats) -> String {
    format!("{stats:?}")
}

/// Runs to the scenario's end, in slices of these cycles. Returns the reason of the stop, core, cycle, address and
/// sentence.
fn run_in_slices(board: &mut dyn Board, until: u64, slices: &[u64]) -> (StopReason, usize, u64, u32, String) {
    let mut lengths = slices.iter().cycle();
    let mut idle = 0;
    loop {
        let left = until.saturating_sub(board.current_cycle());
        let length = left.min(*lengths.next().expect("a slice"));
        let before = board.current_cycle();
        let stop = board.run_cycles(length);
        assert!(board.current_cycle() >= before, "time went back from {before} to {}", board.current_cycle());
        idle = if board.current_cycle() == before { idle + 1 } else { 0 };
        assert!(idle < 100_000, "the board does not come past cycle {before}: {stop:?}");
        let over = match stop.reason {
            StopReason::Cycles => board.current_cycle() >= until,
            StopReason::Until | StopReason::Watch => false,
            _ => true,
        };
        if over {
            return (stop.reason, stop.core, stop.cycle, stop.address, stop.detail);
        }
    }
}

/// Runs the scenario in all ways (plain, in slices, observed, profiled and so on). Panics if two outcomes differ.
pub(crate) fn compare_scenario_run_variants(setup: &GeneratedScenario) {
    let Some(mut board) = setup.create_board() else { return };
    let whole = [u64::MAX];
    let end = run_in_slices(&mut *board, setup.cycles, &whole);
    let plain = Outcome::from_board(&mut *board, setup, end);
    assert_board_can_run_again(&mut *board, &plain);

    let mut board = setup.create_board().expect("as before");
    let end = run_in_slices(&mut *board, setup.cycles, &setup.slices);
    Outcome::from_board(&mut *board, setup, end).assert_same_outcome(&plain, "in slices");

    run_with_observer(setup, &plain);
    run_scenario_with_profiling(setup, &plain);
    run_scenario_with_probes(setup, &plain);
    run_from_snapshot(setup, &plain);
}

/// Checks that a board whose run has ended can run again, and that its time does not go back.
fn assert_board_can_run_again(board: &mut dyn Board, plain: &Outcome) {
    board.run_cycles(1000);
    assert!(board.current_cycle() >= plain.cycle, "time went back to {}", board.current_cycle());
}

/// Runs the scenario with an observer. Panics if the outcome differs from that without.
fn run_with_observer(setup: &GeneratedScenario, plain: &Outcome) {
    let mut board = setup.create_board().expect("as before");
    let calls: HashMap<u32, u16> = setup.sites.iter().map(|&site| (site, 7)).collect();
    board.set_observation(Some(ObservationRequest {
        levels: vec![-1, 0, 64, 192, 255],
        kept: 4,
        measured: calls.clone(),
        calls,
        arrivals: setup.sites.iter().copied().collect(),
        events: true,
    }));
    let before: Vec<Stats> = (0..board.number_of_cores()).map(|core| board.core_stats(core)).collect();
    let mut instructions = vec![0; board.number_of_cores()];
    let mut ends = vec![0; board.number_of_cores()];
    let half = setup.cycles / 2;
    let mut end = run_in_slices(&mut *board, half, &setup.slices);
    assert_cycle_accounts_add_up(&mut *board, &mut instructions, &mut ends);
    if end.0 == StopReason::Cycles {
        end = run_in_slices(&mut *board, setup.cycles, &[u64::MAX]);
        assert_cycle_accounts_add_up(&mut *board, &mut instructions, &mut ends);
    }
    for (core, counted) in instructions.into_iter().enumerate() {
        let executed = board.core_stats(core).instructions - before[core].instructions;
        assert_eq!(counted, executed, "instructions in the account of core {core}");
    }
    Outcome::from_board(&mut *board, setup, end).assert_same_outcome(plain, "observed");
}

/// Checks that every account's cycles add up, and that it continues where the one before ended.
fn assert_cycle_accounts_add_up(board: &mut dyn Board, instructions: &mut [u64], ends: &mut [u64]) {
    let observed = board.take_observations().expect("observed");
    for (core, account) in observed.accounts.iter().enumerate() {
        let cycles: u64 = account.rows.iter().map(|(_, cost)| cost.cycles.iter().sum::<u64>()).sum();
        assert_eq!(account.from, ends[core], "start of the account of core {core}");
        assert_eq!(cycles, account.until - account.from, "cycles in the account of core {core}");
        assert!(account.until <= board.current_cycle(), "the account of core {core} ends at {}", account.until);
        ends[core] = account.until;
        instructions[core] += account.rows.iter().map(|(_, cost)| cost.executions).sum::<u64>();
    }
}

/// Runs the scenario with the profile on. Panics if the outcome differs from that without.
fn run_scenario_with_profiling(setup: &GeneratedScenario, plain: &Outcome) {
    let mut board = setup.create_board().expect("as before");
    let before: Vec<Stats> = (0..board.number_of_cores()).map(|core| board.core_stats(core)).collect();
    board.set_profiling(true);
    let end = run_in_slices(&mut *board, setup.cycles, &[u64::MAX]);
    for (core, before) in before.iter().enumerate() {
        let executed = board.core_stats(core).instructions - before.instructions;
        let counted: u64 = board.take_profile(core).iter().map(|row| row.2).sum();
        assert_eq!(counted, executed, "instructions in the profile of core {core}");
    }
    Outcome::from_board(&mut *board, setup, end).assert_same_outcome(plain, "profiled");
}

/// Places all kinds of probes on a board.
fn place_probes_of_all_kinds(board: &mut dyn Board, setup: &GeneratedScenario) {
    board.set_exception_tracing(true);
    board.set_pin_tracing(true);
    for (index, &site) in setup.sites.iter().enumerate() {
        if board.is_executable(site) {
            match index % 3 {
                0 => board.record_executions(site, index as u16),
                1 => board.stop_before_address(site),
                _ => {
                    board.measure_between_addresses(site, setup.sites[0]);
                }
            }
        }
    }
    for (index, &word) in setup.words.iter().enumerate() {
        board.record_writes(word, index as u16, index % 2 == 1);
    }
}

/// Runs the scenario with probes, in one piece and in slices. Panics if outcomes or events differ.
fn run_scenario_with_probes(setup: &GeneratedScenario, plain: &Outcome) {
    let mut all: Vec<Vec<Event>> = Vec::new();
    for slices in [&[u64::MAX][..], &setup.slices] {
        let mut board = setup.create_board().expect("as before");
        place_probes_of_all_kinds(&mut *board, setup);
        let end = run_in_slices(&mut *board, setup.cycles, slices);
        let mut events = board.take_events();
        events.sort_by_key(|event| (event.cycle, event.core, event.kind, event.id));
        all.push(events);
        Outcome::from_board(&mut *board, setup, end).assert_same_outcome(plain, "probed");
    }
    let differ = all[0].iter().zip(&all[1]).find(|(one, other)| one != other);
    assert!(differ.is_none() && all[0].len() == all[1].len(), "events of the probes in slices: {differ:?}");
}

/// Runs the scenario from a snapshot, on a new board and on the one that has continued meanwhile. Panics if the
/// outcomes differ.
fn run_from_snapshot(setup: &GeneratedScenario, plain: &Outcome) {
    let mut board = setup.create_board().expect("as before");
    let first = run_in_slices(&mut *board, setup.cycles / 3, &[u64::MAX]);
    if first.0 != StopReason::Cycles {
        return;
    }
    let snapshot = board.take_snapshot();
    let mut other = board_from_snapshot(setup.chip, &setup.options, &snapshot).expect("the same board");
    let end = run_in_slices(&mut *other, setup.cycles, &setup.slices);
    Outcome::from_board(&mut *other, setup, end).assert_same_outcome(plain, "from a snapshot");
    run_in_slices(&mut *board, setup.cycles / 3 * 2, &setup.slices);
    assert!(board.restore_snapshot(&snapshot));
    let end = run_in_slices(&mut *board, setup.cycles, &[u64::MAX]);
    Outcome::from_board(&mut *board, setup, end).assert_same_outcome(plain, "after going back");
}
