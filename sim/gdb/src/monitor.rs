//! The requests of gdb's `monitor` to the board itself.

use std::fmt::Write as _;

use crate::timeline::ReversibleBoardRun;

const HELP: &str = "\
monitor reset halt  resets the board and stops before its first instruction
monitor reset       does the same; `continue` starts it
monitor halt        does nothing, because the board is always stopped while gdb waits for input
monitor cycles      shows the cycle, the seconds, and each core's instructions, sleep and waits
monitor history     shows how far back the execution can go
monitor warnings    shows faults, and features that the firmware used and the board does not model
";

/// Returns the answer to a monitor command, or how to ask.
pub fn answer_monitor_command(timeline: &mut ReversibleBoardRun, command: &str) -> String {
    match command.split_whitespace().collect::<Vec<_>>().join(" ").as_str() {
        "reset" | "reset halt" | "reset init" | "reset run" => {
            reset_board_for_monitor_command(timeline);
            RESET.to_owned()
        }
        "halt" => String::new(),
        "cycles" => answer_monitor_cycles_command(timeline),
        "history" => {
            let (begin, now) = (timeline.history_start_cycle(), timeline.board().current_cycle());
            format!("from cycle {begin} on; now {now}\n")
        }
        "warnings" => {
            let warnings = timeline.board().warnings();
            if warnings.is_empty() { "none\n".to_owned() } else { warnings.join("\n") + "\n" }
        }
        "" | "help" => HELP.to_owned(),
        other => format!("There is no monitor command {other:?}.\n{HELP}"),
    }
}

/// gdb keeps registers that it has read until the board has run.
const RESET: &str = "\
The board was reset and is stopped before its first instruction. gdb shows the old registers until the next stop, or until
`maintenance flush register-cache`.
";

/// Resets the board.
pub fn reset_board_for_monitor_command(timeline: &mut ReversibleBoardRun) {
    timeline.change_board_and_restart_history(|board| {
        board.reset_board();
        true
    });
}

/// Returns the answer to `monitor cycles`.
fn answer_monitor_cycles_command(timeline: &mut ReversibleBoardRun) -> String {
    let board = timeline.board();
    let (cycle, clock_hz) = (board.current_cycle(), board.clock_hz());
    let mut text = format!("cycle {cycle}, {:.9} s at {clock_hz} Hz\n", cycle as f64 / clock_hz as f64);
    for core in 0..board.number_of_cores() {
        let stats = board.core_stats(core);
        let waits = stats.bus_wait_cycles + stats.flash_wait_cycles;
        let (instructions, asleep) = (stats.instructions, stats.sleep_cycles);
        writeln!(text, "core {core}: {instructions} instructions, {asleep} cycles asleep, {waits} waiting for memory")
            .expect("a string takes it");
    }
    text
}
