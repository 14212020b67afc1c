//! A timeline as gdb sees it: each core a thread, all of them going on and stopping together.

use std::io;
use std::marker::PhantomData;
use std::num::NonZeroUsize;

use gdbstub::common::{Signal, Tid};
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
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};

use crate::Shared;
use crate::connection::Line;
use crate::monitor;
use crate::registers::{CortexM, Layout, Words};
use crate::timeline::{Halt, Timeline};

/// Cycles between two looks for a byte from gdb, which means Ctrl-C.
const SLICE_CYCLES: u64 = 1 << 21;

const NO_SUCH_THREAD: &str = "gdb steps a thread that the board does not have";

#[derive(Debug, Clone, Copy)]
enum Action {
    Run,
    Step(usize),
    Back,
    StepBack(usize),
}

/// A board under gdb.
pub struct DebugTarget<'h> {
    timeline: Timeline<'h>,
    layout: Layout,
    action: Action,
    /// The core that gdb is looking at: the one it asked about last, or that stopped since.
    focus: usize,
    host: Shared<'h>,
}

impl<'h> DebugTarget<'h> {
    /// A timeline, with whom to tell what gdb does not show.
    pub fn new(mut timeline: Timeline<'h>, host: Shared<'h>) -> DebugTarget<'h> {
        let layout = Layout::of(timeline.board());
        DebugTarget { timeline, layout, action: Action::Run, focus: 0, host }
    }

    /// The core of a thread, `None` if the board has no such core. It is in focus from then on.
    fn focus_on(&mut self, tid: Tid) -> Option<usize> {
        let core = tid.get() - 1;
        if core >= self.timeline.board().cores() {
            return None;
        }
        self.focus = core;
        Some(core)
    }

    /// Every stop names its thread: gdb takes one without for the first thread's, whichever the user was looking at.
    fn stop_reason(&mut self, halt: Halt) -> MultiThreadStopReason<u32> {
        self.focus = match (halt, self.action) {
            (Halt::Break { core } | Halt::Watch { core, .. } | Halt::Ended { core, .. }, _) => core,
            (Halt::Done | Halt::Begin, Action::Step(core) | Action::StepBack(core)) => core,
            (Halt::Done | Halt::Begin, Action::Run | Action::Back) => self.focus,
        };
        match halt {
            Halt::Done => signal(self.focus, Signal::SIGTRAP),
            Halt::Break { core } => MultiThreadStopReason::SwBreak(tid_of(core)),
            Halt::Watch { core, address } => {
                MultiThreadStopReason::Watch { tid: tid_of(core), kind: WatchKind::Write, addr: address }
            }
            Halt::Ended { core, detail } => {
                self.host.borrow_mut().note(&format!("The firmware cannot go on: {detail} on core {core}."));
                signal(core, Signal::SIGABRT)
            }
            Halt::Begin => {
                let tid = Some(tid_of(self.focus));
                MultiThreadStopReason::ReplayLog { tid, pos: ReplayLogPosition::Begin }
            }
        }
    }
}

fn signal(core: usize, signal: Signal) -> MultiThreadStopReason<u32> {
    MultiThreadStopReason::SignalWithThread { tid: tid_of(core), signal }
}

/// Threads count from 1.
fn tid_of(core: usize) -> Tid {
    NonZeroUsize::MIN.saturating_add(core)
}

impl Target for DebugTarget<'_> {
    type Arch = CortexM;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, CortexM, &'static str> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl TargetDescriptionXmlOverride for DebugTarget<'_> {
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
        let text = self.layout.xml().as_bytes();
        let rest = text.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let part = &rest[..rest.len().min(length).min(buffer.len())];
        buffer[..part.len()].copy_from_slice(part);
        Ok(part.len())
    }
}

impl MultiThreadBase for DebugTarget<'_> {
    fn read_registers(&mut self, registers: &mut Words, tid: Tid) -> TargetResult<(), Self> {
        let core = self.focus_on(tid).ok_or(TargetError::NonFatal)?;
        *registers = self.layout.read(self.timeline.board(), core);
        Ok(())
    }

    fn write_registers(&mut self, registers: &Words, tid: Tid) -> TargetResult<(), Self> {
        let core = self.focus_on(tid).ok_or(TargetError::NonFatal)?;
        let layout = &self.layout;
        let changes = layout.changes(self.timeline.board(), core, registers);
        let changed = self.timeline.change(|board| {
            changes.iter().fold(true, |all, (name, value)| {
                // Of the program status only the flags can be written.
                let name = if *name == "xpsr" { "apsr" } else { name };
                board.set_register(core, name, *value) && all
            })
        });
        if changed { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    fn read_addrs(&mut self, start: u32, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        self.focus_on(tid).ok_or(TargetError::NonFatal)?;
        // As many as there are from `start` on: gdb reads ahead, over the end of a memory.
        let mut length = data.len();
        while length > 0 {
            if let Some(found) = self.timeline.board().read(start, length) {
                data[..length].copy_from_slice(&found);
                return Ok(length);
            }
            length /= 2;
        }
        Err(TargetError::NonFatal)
    }

    fn write_addrs(&mut self, start: u32, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        self.focus_on(tid).ok_or(TargetError::NonFatal)?;
        let written = self.timeline.change(|board| board.write(start, data));
        if written { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    /// The core in focus comes first. gdb says "any thread" before it steps back and means the one it is looking at, and
    /// `gdbstub` takes the first one here for it.
    fn list_active_threads(&mut self, thread_is_active: &mut dyn FnMut(Tid)) -> Result<(), &'static str> {
        let focus = self.focus;
        let others = (0..self.timeline.board().cores()).filter(|core| *core != focus);
        std::iter::once(focus).chain(others).for_each(|core| thread_is_active(tid_of(core)));
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadResume for DebugTarget<'_> {
    fn resume(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), &'static str> {
        self.action = Action::Run;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), &'static str> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }
}

impl MultiThreadSingleStep for DebugTarget<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), &'static str> {
        self.action = Action::Step(self.focus_on(tid).ok_or(NO_SUCH_THREAD)?);
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for DebugTarget<'_> {
    /// gdb asks for it with every step. The cores of a board cannot continue one by one: their clock is one, and a core that
    /// stood still would make another run of it.
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), &'static str> {
        Ok(())
    }
}

impl ReverseStep<Tid> for DebugTarget<'_> {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), &'static str> {
        self.action = Action::StepBack(self.focus_on(tid).ok_or(NO_SUCH_THREAD)?);
        Ok(())
    }
}

impl ReverseCont<Tid> for DebugTarget<'_> {
    fn reverse_cont(&mut self) -> Result<(), &'static str> {
        self.action = Action::Back;
        Ok(())
    }
}

impl Breakpoints for DebugTarget<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for DebugTarget<'_> {
    fn add_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.add_breakpoint(address))
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.remove_breakpoint(address))
    }
}

impl HwBreakpoint for DebugTarget<'_> {
    fn add_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.add_breakpoint(address))
    }

    fn remove_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        Ok(self.timeline.remove_breakpoint(address))
    }
}

impl HwWatchpoint for DebugTarget<'_> {
    fn add_hw_watchpoint(&mut self, address: u32, bytes: u32, kind: WatchKind) -> TargetResult<bool, Self> {
        // The board tells writes. That it does not tell reads is said by refusing.
        Ok(kind == WatchKind::Write && self.timeline.add_watch(address, bytes))
    }

    fn remove_hw_watchpoint(&mut self, address: u32, bytes: u32, _: WatchKind) -> TargetResult<bool, Self> {
        Ok(self.timeline.remove_watch(address, bytes))
    }
}

impl MonitorCmd for DebugTarget<'_> {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), &'static str> {
        let text = monitor::answer(&mut self.timeline, &String::from_utf8_lossy(command));
        out.write_raw(text.as_bytes());
        Ok(())
    }
}

/// How a running board waits for its stop.
pub struct Events<'h>(PhantomData<&'h ()>);

impl<'h> BlockingEventLoop for Events<'h> {
    type Target = DebugTarget<'h>;
    type Connection = Line<'h>;
    type StopReason = MultiThreadStopReason<u32>;

    fn wait_for_stop_reason(
        target: &mut DebugTarget<'h>,
        line: &mut Line<'h>,
    ) -> Result<Event<MultiThreadStopReason<u32>>, WaitForStopReasonError<&'static str, io::Error>> {
        let halt = match target.action {
            Action::Step(core) => target.timeline.step(core),
            Action::StepBack(core) => target.timeline.step_back(core),
            Action::Back => target.timeline.back(),
            Action::Run => loop {
                let halt = target.timeline.run(SLICE_CYCLES);
                if halt != Halt::Done {
                    break halt;
                }
                if line.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                    return Ok(Event::IncomingData(line.read().map_err(WaitForStopReasonError::Connection)?));
                }
                if !target.host.borrow_mut().goes_on() {
                    return Err(WaitForStopReasonError::Target("interrupted"));
                }
            },
        };
        Ok(Event::TargetStopped(target.stop_reason(halt)))
    }

    fn on_interrupt(target: &mut DebugTarget<'h>) -> Result<Option<MultiThreadStopReason<u32>>, &'static str> {
        Ok(Some(signal(target.focus, Signal::SIGINT)))
    }
}
