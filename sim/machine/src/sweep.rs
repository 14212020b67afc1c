//! Phase sweep: the same stimulus at many cycles of one and the same run, each arrival measured from a snapshot.
//!
//! A walker goes through the run cycle by cycle, notes which instruction is executing, and leaves a snapshot every
//! [`RUNG_CYCLES`]. For each arrival another board goes back to the rung below it, gets the stimulus at its cycle and
//! runs until it is answered. Arrivals are shared among threads. The result does not depend on their number.

use rtoslab_lab::{Kind, Stimulus};

use crate::board::{Board, CorePosition, Options};
use crate::boards::board_from_snapshot;
use crate::snapshot::Snapshot;
use crate::stop::StopReason;

/// Cycles between two snapshots that arrivals start from.
const RUNG_CYCLES: u64 = 128;
/// Longer than any instruction takes: the walker steps so many cycles before an arrival.
const INSTRUCTION_CYCLES: u64 = 256;

/// The subject of a sweep: the stimulus, and the instructions that answer it.
#[derive(Debug, Clone, Copy)]
pub struct StimulusSweepPlan {
    /// The stimulus to the board.
    pub stimulus: Stimulus,
    /// Core whose handler answers.
    pub core: usize,
    /// Exception whose handler answers.
    pub exception: u32,
    /// First instruction of the task that the handler wakes.
    pub task: Option<u32>,
    /// Cycles that an answer is waited for.
    pub patience_cycles: u64,
}

/// One measurement of a sweep: the cycle of the stimulus, and the cycles until its handler answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Cycle of the stimulus.
    pub cycle: u64,
    /// Cycles until the handler's first instruction. `None`: not within patience.
    pub handler_cycles: Option<u64>,
    /// Cycles until the task's first instruction. `None`: not within patience, or no task was named.
    pub task_cycles: Option<u64>,
    /// Instruction that was executing in the arrival's cycle. The program counter. For a sleeping core it is the
    /// address at which it continues.
    pub pc: u32,
    /// The core slept.
    pub asleep: bool,
}

/// Measures the response to a stimulus at each of these cycles (ascending, none before the snapshot's), shared among
/// `threads`. Errors: one sentence.
pub fn measure_stimulus_responses_at_cycles(
    chip: &str,
    options: &Options,
    snapshot: &Snapshot,
    plan: &StimulusSweepPlan,
    cycles: &[u64],
    threads: usize,
) -> Result<Vec<Arrival>, String> {
    if !cycles.is_sorted() || cycles.first().is_some_and(|&first| first < snapshot.cycle()) {
        return Err(format!(
            "arrivals must be in the order of time and not before the snapshot's cycle {}",
            snapshot.cycle()
        ));
    }
    let share = cycles.len().div_ceil(threads.max(1)).max(1);
    let parts: Vec<Result<Vec<Arrival>, String>> = std::thread::scope(|scope| {
        let workers: Vec<_> = cycles
            .chunks(share)
            .map(|part| {
                scope.spawn(move || {
                    StimulusSweepWorker::new(chip, options, snapshot, plan)?.measure_stimulus_responses(part)
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err("a thread of the sweep failed".to_owned())))
            .collect()
    });
    let mut arrivals = Vec::with_capacity(cycles.len());
    for part in parts {
        arrivals.extend(part?);
    }
    Ok(arrivals)
}

/// One thread of the host that executes a part of a sweep, with its boards.
struct StimulusSweepWorker<'a> {
    plan: &'a StimulusSweepPlan,
    walker: SweepReferenceRun,
    board: Box<dyn Board>,
}

impl<'a> StimulusSweepWorker<'a> {
    /// Creates the thread's boards from the snapshot.
    fn new(
        chip: &str,
        options: &Options,
        snapshot: &Snapshot,
        plan: &'a StimulusSweepPlan,
    ) -> Result<StimulusSweepWorker<'a>, String> {
        let open = || board_from_snapshot(chip, options, snapshot).map_err(|error| error.0);
        let mut board = open()?;
        board.schedule_stimulus(snapshot.cycle(), plan.stimulus)?;
        board.set_exception_tracing(true);
        if let Some(task) = plan.task {
            if !board.is_executable(task) {
                return Err(format!(
                    "0x{task:08x} is not in a memory for code, so it cannot be the first instruction of a task"
                ));
            }
            board.stop_before_address(task);
        }
        Ok(StimulusSweepWorker { plan, walker: SweepReferenceRun::new(open()?, plan.core), board })
    }

    /// Measures the responses at these cycles, in ascending order.
    fn measure_stimulus_responses(&mut self, cycles: &[u64]) -> Result<Vec<Arrival>, String> {
        let Some(&first) = cycles.first() else { return Ok(Vec::new()) };
        self.walker.run_reference_board_to_cycle(first.saturating_sub(INSTRUCTION_CYCLES));
        let mut rung = self.walker.board.take_snapshot();
        let mut arrivals = Vec::with_capacity(cycles.len());
        for &cycle in cycles {
            if cycle - rung.cycle().min(cycle) >= RUNG_CYCLES {
                self.walker.run_reference_board_to_cycle(cycle.saturating_sub(INSTRUCTION_CYCLES));
                rung = self.walker.board.take_snapshot();
            }
            let executing = self.walker.step_reference_board_to_cycle(cycle);
            arrivals.push(self.measure_stimulus_response_at(&rung, cycle, executing)?);
        }
        Ok(arrivals)
    }

    /// Measures the response to the stimulus in one cycle, from a snapshot before it.
    fn measure_stimulus_response_at(
        &mut self,
        rung: &Snapshot,
        cycle: u64,
        executing: CorePosition,
    ) -> Result<Arrival, String> {
        let (plan, board) = (self.plan, &mut self.board);
        board.restore_snapshot(rung);
        board.take_events();
        board.schedule_stimulus(cycle, plan.stimulus)?;
        let end = cycle.saturating_add(plan.patience_cycles);
        let (mut handler_cycles, mut task_cycles) = (None, None);
        while board.current_cycle() < end {
            // Without a task nothing stops at the handler: it is looked for in steps.
            let step =
                if plan.task.is_some() { end } else { end.min(board.current_cycle().max(cycle) + HANDLER_STEP_CYCLES) };
            let stop = board.run_cycles(step - board.current_cycle());
            let entered = board.take_events().into_iter().find(|event| {
                event.kind == Kind::ExceptionEnter as u8
                    && u32::from(event.id) == plan.exception
                    && usize::from(event.core) == plan.core
                    && event.cycle >= cycle
            });
            handler_cycles = handler_cycles.or(entered.map(|event| event.cycle - cycle));
            match stop.reason {
                StopReason::Cycles => {}
                // The task may run before the arrival, and before its handler.
                StopReason::Until if Some(stop.address) != plan.task || handler_cycles.is_none() => continue,
                StopReason::Until => task_cycles = Some(stop.cycle - cycle),
                StopReason::Watch => continue,
                _ => break,
            }
            if task_cycles.is_some() || plan.task.is_none() && handler_cycles.is_some() {
                break;
            }
        }
        Ok(Arrival { cycle, handler_cycles, task_cycles, pc: executing.pc, asleep: executing.asleep })
    }
}

/// Cycles run between two looks for the handler, when no task's start ends the run.
const HANDLER_STEP_CYCLES: u64 = 64;

/// A board that executes the run without stimuli, to find the instruction that each stimulus interrupts.
struct SweepReferenceRun {
    board: Box<dyn Board>,
    core: usize,
    /// The instruction that began last.
    executing: CorePosition,
}

impl SweepReferenceRun {
    /// Creates a walker that follows this core.
    fn new(board: Box<dyn Board>, core: usize) -> SweepReferenceRun {
        let executing = board.core_position(core);
        SweepReferenceRun { board, core, executing }
    }

    /// Runs the undisturbed board to a cycle, unless it has passed. A board whose run has ended stays there.
    fn run_reference_board_to_cycle(&mut self, cycle: u64) {
        while self.board.current_cycle() < cycle {
            let stop = self.board.run_cycles(cycle - self.board.current_cycle());
            if !matches!(stop.reason, StopReason::Cycles | StopReason::Until | StopReason::Watch) {
                break;
            }
        }
        self.refresh_executing_instruction();
    }

    /// Steps the undisturbed board to a cycle. Returns the instruction that is executing then.
    fn step_reference_board_to_cycle(&mut self, cycle: u64) -> CorePosition {
        self.run_reference_board_to_cycle(cycle.saturating_sub(INSTRUCTION_CYCLES));
        while self.board.current_cycle() < cycle {
            let before = self.board.current_cycle();
            self.run_reference_board_to_cycle(before + 1);
            if self.board.current_cycle() == before {
                break;
            }
        }
        self.executing
    }

    /// Updates the instruction that the core executes, if it has begun a new one.
    fn refresh_executing_instruction(&mut self) {
        let position = self.board.core_position(self.core);
        if position.asleep || position.t <= self.board.current_cycle() {
            self.executing = position;
        }
    }
}
