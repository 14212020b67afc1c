//! A board whose run can be gone through in both directions.
//!
//! A run of a virtual board is the same every time, so a state of the past is reached by taking up an earlier snapshot
//! and running from there. Snapshots are kept at equal distances from where the debugging began to the furthest cycle
//! reached. When there are [`MOST_MARKS`], every second one is dropped and the distance doubles, so that memory stays
//! bounded and a step back takes at most about two distances of running.
//!
//! A change from outside (a register or memory written) makes the past that of another run: history begins again
//! there.

use std::collections::{BTreeMap, BTreeSet};

use rtoslab_machine::board::{Board, read_registers};
use rtoslab_machine::{Snapshot, Stop, StopReason};

/// Snapshots kept at most.
const MOST_MARKS: usize = 64;
/// Distance of the first snapshots.
const FIRST_DISTANCE_CYCLES: u64 = 1 << 20;
/// A step of a sleeping core ends after so many cycles, asleep as before.
const MOST_SLEEP_CYCLES: u64 = 1 << 22;
/// Words of one watch.
const MOST_WORDS: usize = 64;
/// Bytes of one watch: so many are in at most [`MOST_WORDS`], also if the first one is not the first of a word.
const MOST_WATCHED_BYTES: u32 = 4 * MOST_WORDS as u32 - 3;

/// The progress of a run: its cycle and executed instructions, which never decrease while it continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Progress {
    cycle: u64,
    instructions: u64,
}

/// The reason why the board has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardHaltReason {
    /// The cycles or the instruction asked for are done.
    Done,
    /// A core is about to execute a breakpoint.
    Break {
        /// Which.
        core: usize,
    },
    /// A watched word was written or read, or going backwards is about to be.
    Watch {
        /// Who writes or reads.
        core: usize,
        /// The word.
        address: u32,
        /// Which accesses of it are watched.
        access: WatchedAccess,
    },
    /// The firmware cannot continue: locked up, asleep for ever, or as the sentence says.
    Ended {
        /// Which it is about.
        core: usize,
        /// Name of the stop's reason.
        detail: &'static str,
    },
    /// There is no earlier state.
    Begin,
}

/// The accesses at which a watchpoint stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchedAccess {
    /// Writes.
    Write,
    /// Reads, of registers alone.
    Read,
    /// Both.
    Any,
}

impl WatchedAccess {
    /// Returns whether the watchpoint stops at writes.
    fn does_watchpoint_stop_at_writes(self) -> bool {
        self != WatchedAccess::Read
    }

    /// Returns whether the watchpoint stops at reads.
    fn does_watchpoint_stop_at_reads(self) -> bool {
        self != WatchedAccess::Write
    }
}

/// A snapshot of the past, with its cycle and executed instructions.
struct HistorySnapshot {
    snapshot: Snapshot,
    progress: Progress,
    /// Instructions of each core.
    executed: Vec<u64>,
}

/// A stop that was observed while a part of the past was executed again.
struct ReplayStopRecord {
    stop: Stop,
    /// Instructions of its core then.
    executed: u64,
}

/// A function that gets the text that the firmware writes, with the name of its channel. A console's name is empty.
type Print<'b> = Box<dyn FnMut(&str, &[u8]) + 'b>;

/// A board with snapshots of its past, so that it can execute backwards.
pub struct ReversibleBoardRun<'b> {
    board: &'b mut dyn Board,
    marks: Vec<HistorySnapshot>,
    distance: u64,
    /// Cycle up to which the consoles' text was passed on.
    told: u64,
    /// Each with how often it was set.
    breakpoints: BTreeMap<u32, u32>,
    /// Words whose writes stop the run.
    words: BTreeSet<u32>,
    /// Registers whose reads do.
    reads: BTreeSet<u32>,
    print: Print<'b>,
}

impl<'b> ReversibleBoardRun<'b> {
    /// Creates a timeline that begins in the board's present state. `print` gets what the firmware writes to its
    /// consoles, once.
    pub fn new(board: &'b mut dyn Board, print: impl FnMut(&str, &[u8]) + 'b) -> ReversibleBoardRun<'b> {
        let begin = board.current_cycle();
        let mut timeline = ReversibleBoardRun {
            board,
            marks: Vec::new(),
            distance: FIRST_DISTANCE_CYCLES,
            told: begin,
            breakpoints: BTreeMap::new(),
            words: BTreeSet::new(),
            reads: BTreeSet::new(),
            print: Box::new(print),
        };
        timeline.restart_snapshot_history();
        timeline
    }

    /// Returns the board, for reading. Use [`Timeline::change_board_and_restart_history`] to change it.
    pub fn board(&mut self) -> &mut dyn Board {
        self.board
    }

    /// Changes the board by `act`. If `act` returns true, the board's history begins again here.
    pub fn change_board_and_restart_history(&mut self, act: impl FnOnce(&mut dyn Board) -> bool) -> bool {
        let done = act(self.board);
        if done {
            self.restart_snapshot_history();
        }
        done
    }

    /// Returns the cycle at which the board's history begins.
    pub fn history_start_cycle(&self) -> u64 {
        self.marks[0].progress.cycle
    }

    /// Makes runs stop where `address` is about to execute. Returns false if no code can be there.
    pub fn add_breakpoint(&mut self, address: u32) -> bool {
        let can = self.board.is_executable(address & !1);
        if can {
            *self.breakpoints.entry(address & !1).or_default() += 1;
        }
        can
    }

    /// Removes the breakpoint at `address`. Returns false if there was none.
    pub fn remove_breakpoint(&mut self, address: u32) -> bool {
        let Some(times) = self.breakpoints.get_mut(&(address & !1)) else {
            return false;
        };
        *times -= 1;
        if *times == 0 {
            self.breakpoints.remove(&(address & !1));
        }
        true
    }

    /// Makes runs stop at accesses to any word of `bytes` from `address`. Returns false if one of them cannot be
    /// watched: reads of memory are not reported, and a watch has at most [`MOST_WORDS`].
    pub fn add_watch(&mut self, address: u32, bytes: u32, access: WatchedAccess) -> bool {
        if bytes > MOST_WATCHED_BYTES {
            return false;
        }
        let words: Vec<u32> = words_containing_bytes(address, bytes).collect();
        let is_told =
            |word: &u32| !access.does_watchpoint_stop_at_reads() || self.board.read_memory(*word, 4).is_none();
        let can = !words.is_empty() && words.iter().all(is_told);
        let can = can && words.iter().all(|word| self.board.watch_word_or_register(*word));
        if can && access.does_watchpoint_stop_at_writes() {
            self.words.extend(&words);
        }
        if can && access.does_watchpoint_stop_at_reads() {
            self.reads.extend(&words);
        }
        can
    }

    /// Removes the watch on these words. Returns false if there was none.
    pub fn remove_watch(&mut self, address: u32, bytes: u32, access: WatchedAccess) -> bool {
        words_containing_bytes(address, bytes).fold(false, |any, word| {
            let wrote = access.does_watchpoint_stop_at_writes() && self.words.remove(&word);
            let read = access.does_watchpoint_stop_at_reads() && self.reads.remove(&word);
            wrote || read || any
        })
    }

    /// Returns bytes of memory, or of registers. `None` if they are neither.
    pub fn read_registers_or_memory(&mut self, core: usize, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.board.read_memory(address, bytes).or_else(|| self.peek_register_bytes(core, address, bytes))
    }

    /// Returns bytes of registers, without the side effects of reading them. `None` if one cannot be read.
    fn peek_register_bytes(&mut self, core: usize, address: u32, bytes: usize) -> Option<Vec<u8>> {
        let now = self.board.take_snapshot();
        let content = read_registers(self.board, core, address, bytes);
        assert!(self.board.restore_snapshot(&now), "a snapshot is of the board it was taken of");
        content
    }

    /// Runs the board for at most `cycles`, up to the next stop.
    pub fn run_to_next_stop(&mut self, cycles: u64) -> BoardHaltReason {
        self.set_breakpoints();
        let halt = self.run_to_cycle_or_stop(self.board.current_cycle().saturating_add(cycles));
        self.remove_breakpoints();
        halt
    }

    /// Executes one instruction of a core (two where the M7 issues two together), or takes it into a handler. The other
    /// core continues meanwhile. Breakpoints elsewhere stop it, the one that the core is at does not.
    pub fn step_instruction(&mut self, core: usize) -> BoardHaltReason {
        let (before, from) = (self.instruction_count(core), self.board.core_position(core).pc);
        let start = self.board.current_cycle();
        self.set_breakpoints();
        let halt = loop {
            let position = self.board.core_position(core);
            let now = self.board.current_cycle();
            let end = if position.asleep { now + 1 } else { position.t.max(now) + 1 };
            let halt = self.run_to_cycle_or_stop(end);
            let moved = self.instruction_count(core) != before || self.board.core_position(core).pc != from;
            match halt {
                BoardHaltReason::Break { core: other } if other == core && !moved => {}
                BoardHaltReason::Done if !moved && now - start < MOST_SLEEP_CYCLES => {}
                _ => break halt,
            }
        };
        self.remove_breakpoints();
        halt
    }

    /// Goes back to the last state before this one at which a run would have stopped.
    pub fn run_backward_to_stop(&mut self) -> BoardHaltReason {
        let mut until = self.progress();
        while let Some(mark) = self.marks.iter().rposition(|mark| mark.progress < until) {
            if let Some(hit) = self.last_stop_since_snapshot(mark, until) {
                return self.go_to_past_stop(&hit);
            }
            until = self.marks[mark].progress;
        }
        self.restore_history_snapshot(0);
        BoardHaltReason::Begin
    }

    /// Takes the board back by one instruction of a core.
    pub fn step_instruction_back(&mut self, core: usize) -> BoardHaltReason {
        let target = self.instruction_count(core);
        if target == 0 || !self.rewind_before_instruction(core, target) {
            self.restore_history_snapshot(0);
            return BoardHaltReason::Begin;
        }
        BoardHaltReason::Done
    }

    /// Returns the progress of the run: its cycle and executed instructions.
    fn progress(&self) -> Progress {
        let instructions = (0..self.board.number_of_cores()).map(|core| self.instruction_count(core)).sum();
        Progress { cycle: self.board.current_cycle(), instructions }
    }

    /// Returns the number of instructions that a core has executed.
    fn instruction_count(&self, core: usize) -> u64 {
        self.board.core_stats(core).instructions
    }

    /// Returns a mark of the present state.
    fn take_history_snapshot(&self) -> HistorySnapshot {
        let executed = (0..self.board.number_of_cores()).map(|core| self.instruction_count(core)).collect();
        HistorySnapshot { snapshot: self.board.take_snapshot(), progress: self.progress(), executed }
    }

    /// Drops the history, which begins again in the present state.
    fn restart_snapshot_history(&mut self) {
        self.marks = vec![self.take_history_snapshot()];
        self.distance = FIRST_DISTANCE_CYCLES;
        self.told = self.board.current_cycle();
    }

    /// Places breakpoints and watches on the board. They are there only while it runs, so that the past is executed
    /// again without them.
    fn set_breakpoints(&mut self) {
        for address in self.breakpoints.keys() {
            self.board.stop_before_address(*address);
        }
        for word in &self.words {
            self.board.record_writes(*word, 0, true);
        }
        for word in &self.reads {
            self.board.stop_run_after_register_reads(*word);
        }
    }

    /// Removes breakpoints and watches from the board.
    fn remove_breakpoints(&mut self) {
        for address in self.breakpoints.keys() {
            self.board.probes().remove_stop_before_address(*address);
            self.board.redecode_at(*address);
        }
        for word in &self.words {
            self.board.probes().remove_write_watch(*word);
        }
        for word in &self.reads {
            self.board.probes().remove_stop_after_register_read(*word);
        }
        self.board.take_events();
    }

    /// Runs the board to a cycle or the next stop. Takes snapshots where none were taken before, and passes the
    /// firmware's output on.
    fn run_to_cycle_or_stop(&mut self, end: u64) -> BoardHaltReason {
        loop {
            let now = self.board.current_cycle();
            let next = self.marks.last().map_or(now, |mark| mark.progress.cycle) + self.distance;
            let slice = end.min(if next > now { next } else { end });
            // Text of cycles that were passed on before is dropped, so a slice is on one side of that border.
            let slice = if now < self.told { slice.min(self.told) } else { slice };
            let stop = self.board.run_cycles(slice.saturating_sub(now));
            self.forward_new_firmware_output(now);
            match stop.reason {
                StopReason::Cycles => {}
                StopReason::Until => return BoardHaltReason::Break { core: stop.core },
                StopReason::Watch => return self.halt_at_watched_word(stop.core, stop.address),
                reason => return BoardHaltReason::Ended { core: stop.core, detail: reason.result_name() },
            }
            if self.board.current_cycle() >= next {
                self.store_history_snapshot();
            }
            if self.board.current_cycle() >= end {
                return BoardHaltReason::Done;
            }
        }
    }

    /// Returns the reason of a stop at a watched word.
    fn halt_at_watched_word(&self, core: usize, address: u32) -> BoardHaltReason {
        let access = match (self.words.contains(&address), self.reads.contains(&address)) {
            (true, true) => WatchedAccess::Any,
            (false, true) => WatchedAccess::Read,
            _ => WatchedAccess::Write,
        };
        BoardHaltReason::Watch { core, address, access }
    }

    /// Passes the firmware's output on, unless it was passed on before `since`.
    fn forward_new_firmware_output(&mut self, since: u64) {
        for port in 0..self.board.number_of_consoles() {
            let text = self.board.take_console_output(port);
            if since >= self.told && !text.is_empty() {
                (self.print)("", &text);
            }
        }
        for (channel, text) in self.board.debugger().take_printed_text() {
            if since >= self.told {
                (self.print)(&channel.channel_display_name(), &text);
            }
        }
        self.told = self.told.max(self.board.current_cycle());
    }

    /// Stores a mark of the present state. Every second one is dropped if there are too many.
    fn store_history_snapshot(&mut self) {
        let mark = self.take_history_snapshot();
        self.marks.push(mark);
        if self.marks.len() > MOST_MARKS {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.distance *= 2;
        }
    }

    /// Restores the board to a mark.
    fn restore_history_snapshot(&mut self, mark: usize) {
        assert!(self.board.restore_snapshot(&self.marks[mark].snapshot), "a snapshot is of the board it was taken of");
    }

    /// Returns the last stop before `until` in the run from a mark.
    fn last_stop_since_snapshot(&mut self, mark: usize, until: Progress) -> Option<ReplayStopRecord> {
        let mut last = None;
        self.restore_history_snapshot(mark);
        self.set_breakpoints();
        while self.progress() < until {
            // Within the cycle of `until` there may be stops on both sides of it.
            let stop = self.board.run_cycles((until.cycle - self.board.current_cycle()).max(1));
            self.discard_replayed_output();
            if stop.reason.is_stop_requested_by_instrument() && self.progress() < until {
                last = Some(ReplayStopRecord { executed: self.instruction_count(stop.core), stop });
            } else if stop.reason != StopReason::Cycles {
                break;
            }
        }
        self.remove_breakpoints();
        last
    }

    /// Drops the firmware's output, which was passed on before.
    fn discard_replayed_output(&mut self) {
        for port in 0..self.board.number_of_consoles() {
            self.board.take_console_output(port);
        }
        self.board.debugger().take_printed_text();
    }

    /// Goes to a stop of the past: right before the instruction of a breakpoint, or before the one that wrote.
    fn go_to_past_stop(&mut self, hit: &ReplayStopRecord) -> BoardHaltReason {
        let core = hit.stop.core;
        match hit.stop.reason {
            StopReason::Watch => {
                self.rewind_before_instruction(core, hit.executed);
                self.halt_at_watched_word(core, hit.stop.address)
            }
            _ => {
                self.go_to_cycle(hit.stop.cycle);
                BoardHaltReason::Break { core }
            }
        }
    }

    /// Restores and runs the board to the beginning of a cycle that is not before its first snapshot.
    fn go_to_cycle(&mut self, cycle: u64) {
        let mark = self.marks.iter().rposition(|mark| mark.progress.cycle <= cycle).unwrap_or(0);
        self.restore_history_snapshot(mark);
        self.replay_to_cycle(cycle);
    }

    /// Executes the past again to the beginning of a cycle. A stop that is reported on the way was reported before, and
    /// is ignored.
    fn replay_to_cycle(&mut self, cycle: u64) {
        while self.board.current_cycle() < cycle {
            let stop = self.board.run_cycles(cycle - self.board.current_cycle());
            if !stop.reason.is_stop_requested_by_instrument() {
                break;
            }
        }
        self.discard_replayed_output();
    }

    /// Takes the board back to the last cycle at whose beginning the core has executed fewer than `count` instructions.
    /// Returns false if that is before history begins. The cycle is found by bisection.
    fn rewind_before_instruction(&mut self, core: usize, count: u64) -> bool {
        let Some(mark) = self.marks.iter().rposition(|mark| mark.executed[core] < count) else {
            return false;
        };
        let furthest = self.told.max(self.board.current_cycle()) + 1;
        let mut high = self.marks.get(mark + 1).map_or(furthest, |next| next.progress.cycle);
        let mut low = self.marks[mark].progress.cycle;
        self.restore_history_snapshot(mark);
        let mut snapshot = self.board.take_snapshot();
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            self.replay_to_cycle(middle);
            if self.instruction_count(core) < count {
                low = middle;
                snapshot = self.board.take_snapshot();
            } else {
                high = middle;
                self.board.restore_snapshot(&snapshot);
            }
        }
        self.board.restore_snapshot(&snapshot);
        true
    }
}

/// Returns the words that contain any of these bytes, at most [`MOST_WORDS`].
fn words_containing_bytes(address: u32, bytes: u32) -> impl Iterator<Item = u32> {
    let last = address.saturating_add(bytes.saturating_sub(1));
    (address & !3..=last & !3).step_by(4).take(if bytes == 0 { 0 } else { MOST_WORDS })
}
