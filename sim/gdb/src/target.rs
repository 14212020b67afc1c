//! A timeline as gdb sees it: each core a thread, all of them going on and stopping together.

use std::io;
use std::marker::PhantomData;
use std::num::NonZeroUsize;

use gdbstub::common::{Pid, Signal, Tid};
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::extended_mode::{Args, AttachKind, ExtendedMode, ExtendedModeOps, ShouldTerminate};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use rtoslab_machine::StopReason;
use rtoslab_machine::board::Board;

use crate::connection::GdbStream;
use crate::monitor;
use crate::registers::{CortexM, Layout, RegisterValues};
use crate::timeline::{BoardHaltReason, ReversibleBoardRun, WatchedAccess};
use crate::{Shared, Task};

/// Cycles between two looks for a byte from gdb, which means Ctrl-C.
const SLICE_CYCLES: u64 = 1 << 21;

/// The only process.
const BOARD: Pid = NonZeroUsize::MIN;

/// Name of the stop of firmware that ends itself.
const EXIT: &str = StopReason::Exit.result_name();

const NO_SUCH_THREAD: &str = "gdb steps a thread that the board does not have";

/// The action that gdb has requested: run, step, step back and so on.
#[derive(Debug, Clone, Copy)]
enum GdbRequestedAction {
    Run,
    Step(usize),
    Back,
    StepBack(usize),
}

/// A board as the debug target of the library `gdbstub`.
pub struct DebugTarget<'h> {
    timeline: ReversibleBoardRun<'h>,
    layout: Layout,
    action: GdbRequestedAction,
    /// The core that gdb is looking at: the one it asked about last, or that stopped since.
    focus: usize,
    /// The kernel's tasks since the board stands as it does.
    tasks: Option<Vec<Task>>,
    /// gdb killed the board and has not run it since.
    killed: bool,
    host: Shared<'h>,
}

impl<'h> DebugTarget<'h> {
    /// Creates a target from a timeline, with the host to which it reports what gdb does not show.
    pub fn new(mut timeline: ReversibleBoardRun<'h>, host: Shared<'h>) -> DebugTarget<'h> {
        let layout = Layout::register_layout_of_board(timeline.board());
        DebugTarget { timeline, layout, action: GdbRequestedAction::Run, focus: 0, tasks: None, killed: false, host }
    }

    /// Returns whether gdb has killed the board for good.
    pub fn is_killed(&self) -> bool {
        self.killed
    }

    /// Returns the core of a thread, which is in focus from then on. That of a task which does not execute is the core
    /// in focus. `None` if there is no such thread.
    fn select_core_of_thread(&mut self, tid: Tid) -> Option<usize> {
        let core = tid.get() - 1;
        if core < self.timeline.board().number_of_cores() {
            self.focus = core;
            return Some(core);
        }
        self.waiting_task(tid).is_some().then_some(self.focus)
    }

    /// Returns the tasks of the board in its present state.
    fn list_current_tasks(&mut self) -> &[Task] {
        let (timeline, host) = (&mut self.timeline, self.host);
        self.tasks.get_or_insert_with(|| {
            let now = timeline.board().take_snapshot();
            host.borrow_mut().tasks_of_board(&now)
        })
    }

    /// Returns the task of a thread that no core executes.
    fn waiting_task(&mut self, tid: Tid) -> Option<&Task> {
        self.list_current_tasks().iter().find(|task| task.core.is_none() && thread_id_of_task(task) == Some(tid))
    }

    /// Changes the board, after which the list of tasks is read again.
    fn change_board_and_reload_tasks(&mut self, act: impl FnOnce(&mut dyn Board) -> bool) -> bool {
        self.tasks = None;
        self.timeline.change_board_and_restart_history(act)
    }

    /// Resets the board, and reads the list of tasks again.
    fn reset_board_and_tasks(&mut self) {
        self.tasks = None;
        self.focus = 0;
        monitor::reset_board_for_monitor_command(&mut self.timeline);
    }

    /// Returns the stop as gdb gets it. Every stop names its thread.
    fn gdb_stop_reason(&mut self, halt: BoardHaltReason) -> MultiThreadStopReason<u32> {
        self.focus = match (halt, self.action) {
            (
                BoardHaltReason::Break { core }
                | BoardHaltReason::Watch { core, .. }
                | BoardHaltReason::Ended { core, .. },
                _,
            ) => core,
            (
                BoardHaltReason::Done | BoardHaltReason::Begin,
                GdbRequestedAction::Step(core) | GdbRequestedAction::StepBack(core),
            ) => core,
            (BoardHaltReason::Done | BoardHaltReason::Begin, GdbRequestedAction::Run | GdbRequestedAction::Back) => {
                self.focus
            }
        };
        match halt {
            BoardHaltReason::Done => stop_by_signal(self.focus, Signal::SIGTRAP),
            BoardHaltReason::Break { core } => MultiThreadStopReason::SwBreak(thread_id_of_core(core)),
            BoardHaltReason::Watch { core, address, access } => {
                let kind = match access {
                    WatchedAccess::Write => WatchKind::Write,
                    WatchedAccess::Read => WatchKind::Read,
                    WatchedAccess::Any => WatchKind::ReadWrite,
                };
                MultiThreadStopReason::Watch { tid: thread_id_of_core(core), kind, addr: address }
            }
            BoardHaltReason::Ended { core, detail: EXIT } => {
                let code = self.timeline.board().debugger().exit_code.unwrap_or(0);
                self.host.borrow_mut().show_message(&format!("The firmware ended with exit code {code}."));
                stop_by_signal(core, Signal::SIGTERM)
            }
            BoardHaltReason::Ended { core, detail } => {
                self.host.borrow_mut().show_message(&format!("The firmware cannot continue: {detail} on core {core}."));
                stop_by_signal(core, Signal::SIGABRT)
            }
            BoardHaltReason::Begin => {
                let tid = Some(thread_id_of_core(self.focus));
                MultiThreadStopReason::ReplayLog { tid, pos: ReplayLogPosition::Begin }
            }
        }
    }
}

/// Returns a stop by a signal at a core.
fn stop_by_signal(core: usize, signal: Signal) -> MultiThreadStopReason<u32> {
    MultiThreadStopReason::SignalWithThread { tid: thread_id_of_core(core), signal }
}

/// Returns the thread number of a task: the address of its control block. Cores have the first numbers.
fn thread_id_of_task(task: &Task) -> Option<Tid> {
    NonZeroUsize::new(task.block as usize)
}

/// Returns the accesses that a watchpoint of gdb stops at.
fn access_kind_of_watchpoint(kind: WatchKind) -> WatchedAccess {
    match kind {
        WatchKind::Write => WatchedAccess::Write,
        WatchKind::Read => WatchedAccess::Read,
        WatchKind::ReadWrite => WatchedAccess::Any,
    }
}

/// Returns the thread number of a core. They count from 1.
fn thread_id_of_core(core: usize) -> Tid {
    NonZeroUsize::MIN.saturating_add(core)
}

impl Target for DebugTarget<'_> {
    /// The architecture of the board's cores.
    type Arch = CortexM;
    /// A sentence about what could not be done.
    type Error = &'static str;

    /// Returns the operations of a target with threads.
    fn base_ops(&mut self) -> BaseOps<'_, CortexM, &'static str> {
        BaseOps::MultiThread(self)
    }

    /// Returns the operations of breakpoints and watchpoints.
    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operations of gdb's extended mode: restarting and attaching.
    fn support_extended_mode(&mut self) -> Option<ExtendedModeOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operation of gdb's `monitor` commands.
    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operation that describes the registers to gdb.
    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl TargetDescriptionXmlOverride for DebugTarget<'_> {
    /// Copies a part of the XML description of the registers into `buffer`, and returns its length. Fails for another
    /// `annex` (file name) than `target.xml`.
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let text = self.layout.registers_xml().as_bytes();
        let rest = text.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let part = &rest[..rest.len().min(length).min(buffer.len())];
        buffer[..part.len()].copy_from_slice(part);
        Ok(part.len())
    }
}

impl MultiThreadBase for DebugTarget<'_> {
    /// Reads the registers of a thread: of a core, or those that a waiting task's stack holds.
    fn read_registers(&mut self, registers: &mut RegisterValues, tid: Tid) -> TargetResult<(), Self> {
        if let Some(task) = self.waiting_task(tid) {
            let held = task.registers.clone();
            *registers = self.layout.register_values_in_gdb_order(&held);
            return Ok(());
        }
        let core = self.select_core_of_thread(tid).ok_or(TargetError::NonFatal)?;
        *registers = self.layout.read_registers(self.timeline.board(), core);
        Ok(())
    }

    /// Writes the registers of a core. Fails for a waiting task.
    fn write_registers(&mut self, registers: &RegisterValues, tid: Tid) -> TargetResult<(), Self> {
        if self.waiting_task(tid).is_some() || !self.layout.has_all_registers(registers) {
            return Err(TargetError::NonFatal);
        }
        let core = self.select_core_of_thread(tid).ok_or(TargetError::NonFatal)?;
        let layout = &self.layout;
        let changes: Vec<(String, u32)> = layout
            .find_changed_registers(self.timeline.board(), core, registers)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let changed = self.change_board_and_reload_tasks(|board| {
            changes.iter().fold(true, |all, (name, value)| {
                // Of the program status only the flags can be written.
                let name = if name == "xpsr" { "apsr" } else { name };
                board.set_register(core, name, *value) && all
            })
        });
        if changed { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    /// Reads memory, or registers of peripherals, as a core sees them. Returns the number of bytes that could be read.
    fn read_addrs(&mut self, start: u32, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let core = self.select_core_of_thread(tid).ok_or(TargetError::NonFatal)?;
        if let Some(found) = self.timeline.read_registers_or_memory(core, start, data.len()) {
            data.copy_from_slice(&found);
            return Ok(data.len());
        }
        // As many as there are from `start` on: gdb reads ahead, over the end of a memory.
        let mut length = data.len();
        while length > 0 {
            if let Some(found) = self.timeline.board().read_memory(start, length) {
                data[..length].copy_from_slice(&found);
                return Ok(length);
            }
            length /= 2;
        }
        Err(TargetError::NonFatal)
    }

    /// Writes to RAM, or programs flash. Fails elsewhere.
    fn write_addrs(&mut self, start: u32, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        self.select_core_of_thread(tid).ok_or(TargetError::NonFatal)?;
        let written = self
            .change_board_and_reload_tasks(|board| board.write_memory(start, data) || board.program_flash(start, data));
        if written { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    /// Reports the threads to gdb, the core in focus first. If gdb requests a step back for "any thread", `gdbstub`
    /// takes the first one.
    fn list_active_threads(&mut self, thread_is_active: &mut dyn FnMut(Tid)) -> Result<(), &'static str> {
        let focus = self.focus;
        let others = (0..self.timeline.board().number_of_cores()).filter(|core| *core != focus);
        std::iter::once(focus).chain(others).for_each(|core| thread_is_active(thread_id_of_core(core)));
        self.list_current_tasks()
            .iter()
            .filter(|task| task.core.is_none())
            .filter_map(thread_id_of_task)
            .for_each(thread_is_active);
        Ok(())
    }

    /// Returns the operation that describes a thread to gdb.
    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operations that continue the execution.
    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadResume for DebugTarget<'_> {
    /// Does nothing: the event loop executes the action that was set.
    fn resume(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    /// Sets the action to continuing all cores, before gdb sets another one.
    fn clear_resume_actions(&mut self) -> Result<(), &'static str> {
        self.action = GdbRequestedAction::Run;
        self.tasks = None;
        Ok(())
    }

    /// Does nothing: all cores continue together.
    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), &'static str> {
        Ok(())
    }

    /// Returns the operation of single steps.
    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operation that lets only one thread continue.
    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operation of steps back in time.
    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    /// Returns the operation that continues back in time.
    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for DebugTarget<'_> {
    /// Sets the action to one step of a thread's core.
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), &'static str> {
        self.action = GdbRequestedAction::Step(self.select_core_of_thread(tid).ok_or(NO_SUCH_THREAD)?);
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for DebugTarget<'_> {
    /// Accepts gdb's request to continue only one core, which comes with every step, but all cores continue. They have
    /// a common clock, so that a core that stood still would change the run.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), &'static str> {
        Ok(())
    }
}

impl ReverseStep<Tid> for DebugTarget<'_> {
    /// Sets the action to one step of a thread's core back in time.
    fn reverse_step(&mut self, tid: Tid) -> Result<(), &'static str> {
        self.action = GdbRequestedAction::StepBack(self.select_core_of_thread(tid).ok_or(NO_SUCH_THREAD)?);
        Ok(())
    }
}

impl ReverseCont<Tid> for DebugTarget<'_> {
    /// Sets the action to continuing back in time.
    fn reverse_cont(&mut self) -> Result<(), &'static str> {
        self.action = GdbRequestedAction::Back;
        Ok(())
    }
}

impl Breakpoints for DebugTarget<'_> {
    /// Returns the operations of software breakpoints.
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operations of hardware breakpoints.
    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    /// Returns the operations of watchpoints.
    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for DebugTarget<'_> {
    /// Sets a breakpoint at an address. Returns false if no code can execute there.
    fn add_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.add_breakpoint(address))
    }

    /// Removes a breakpoint at an address. Returns false if there was none.
    fn remove_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.remove_breakpoint(address))
    }
}

impl HwBreakpoint for DebugTarget<'_> {
    /// Sets a breakpoint at an address. Returns false if no code can execute there.
    fn add_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.add_breakpoint(address))
    }

    /// Removes a breakpoint at an address. Returns false if there was none.
    fn remove_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.remove_breakpoint(address))
    }
}

impl HwWatchpoint for DebugTarget<'_> {
    /// Sets a watchpoint on bytes at an address. Returns false if accesses of this kind cannot be watched there.
    fn add_hw_watchpoint(&mut self, address: u32, bytes: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        // Reads of memory are not told, which refusing says.
        Ok(self.timeline.add_watch(address, bytes, access_kind_of_watchpoint(kind)))
    }

    /// Removes a watchpoint on bytes at an address. Returns false if there was none.
    fn remove_hw_watchpoint(&mut self, address: u32, bytes: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        Ok(self.timeline.remove_watch(address, bytes, access_kind_of_watchpoint(kind)))
    }
}

impl ThreadExtraInfo for DebugTarget<'_> {
    /// Copies a description of the thread, its core and its task, into `buffer`, and returns its length.
    fn thread_extra_info(&self, tid: Tid, buffer: &mut [u8]) -> Result<usize, &'static str> {
        let tasks = self.tasks.as_deref().unwrap_or_default();
        let core = tid.get() - 1;
        let task = tasks.iter().find(|task| match task.core {
            Some(number) => number == core,
            None => thread_id_of_task(task) == Some(tid),
        });
        let text = match task {
            Some(task @ Task { core: Some(number), .. }) => format!("core {number}: {}", task.about),
            Some(task) => task.about.clone(),
            None => format!("core {core}"),
        };
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text.as_bytes()[..length]);
        Ok(length)
    }
}

impl ExtendedMode for DebugTarget<'_> {
    /// Starts the image on the board again.
    fn run(&mut self, _: Option<&[u8]>, _: Args<'_, '_>) -> TargetResult<Pid, Self> {
        self.killed = false;
        self.reset_board_and_tasks();
        Ok(BOARD)
    }

    /// Begins to debug the board again, after gdb has ended its session.
    fn attach(&mut self, _: Pid) -> TargetResult<(), Self> {
        self.killed = false;
        Ok(())
    }

    /// Returns that gdb was attached to a running board.
    fn query_if_attached(&mut self, _: Pid) -> TargetResult<AttachKind, Self> {
        Ok(AttachKind::Attach)
    }

    /// Ends the debugging session, unless gdb will run the image again. In that case it names the process to kill.
    fn kill(&mut self, pid: Option<Pid>) -> TargetResult<ShouldTerminate, Self> {
        self.killed = true;
        Ok(if pid.is_some() { ShouldTerminate::No } else { ShouldTerminate::Yes })
    }

    /// Resets the board.
    fn restart(&mut self) -> Result<(), &'static str> {
        self.reset_board_and_tasks();
        Ok(())
    }
}

impl MonitorCmd for DebugTarget<'_> {
    /// Executes a `monitor` command of gdb and sends the text of its answer.
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), &'static str> {
        self.tasks = None;
        let text = monitor::answer_monitor_command(&mut self.timeline, &String::from_utf8_lossy(command));
        out.write_raw(text.as_bytes());
        Ok(())
    }
}

/// The loop that waits until a running board stops or gdb interrupts it.
pub struct GdbEventLoop<'h>(PhantomData<&'h ()>);

impl<'h> BlockingEventLoop for GdbEventLoop<'h> {
    /// The debugged board.
    type Target = DebugTarget<'h>;
    /// The connection to gdb.
    type Connection = GdbStream<'h>;
    /// The reason for a stop, as gdb is told.
    type StopReason = MultiThreadStopReason<u32>;

    /// Executes the action that gdb has set, until the board stops or gdb sends something.
    fn wait_for_stop_reason(
        target: &mut DebugTarget<'h>,
        line: &mut GdbStream<'h>,
    ) -> Result<Event<MultiThreadStopReason<u32>>, WaitForStopReasonError<&'static str, io::Error>> {
        let halt = match target.action {
            GdbRequestedAction::Step(core) => target.timeline.step_instruction(core),
            GdbRequestedAction::StepBack(core) => target.timeline.step_instruction_back(core),
            GdbRequestedAction::Back => target.timeline.run_backward_to_stop(),
            GdbRequestedAction::Run => loop {
                let halt = target.timeline.run_to_next_stop(SLICE_CYCLES);
                if halt != BoardHaltReason::Done {
                    break halt;
                }
                if line.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                    return Ok(Event::IncomingData(line.read().map_err(WaitForStopReasonError::Connection)?));
                }
                if !target.host.borrow_mut().does_session_continue() {
                    return Err(WaitForStopReasonError::Target("interrupted"));
                }
            },
        };
        Ok(Event::TargetStopped(target.gdb_stop_reason(halt)))
    }

    /// Returns the reason for a stop after the user has pressed Ctrl-C in gdb.
    fn on_interrupt(target: &mut DebugTarget<'h>) -> Result<Option<MultiThreadStopReason<u32>>, &'static str> {
        Ok(Some(stop_by_signal(target.focus, Signal::SIGINT)))
    }
}
