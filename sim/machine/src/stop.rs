//! The end of a run.

use rtoslab_periph::ElapsedTime;

/// The cycle or the time at which a run ends, whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEndCondition {
    /// The run ends in this cycle.
    pub cycle: u64,
    /// It ends in the first cycle at or past this time, by all clocks that the board has had until then.
    pub ns: Option<u64>,
}

impl RunEndCondition {
    /// Returns the cycle of the end, if the clock stays as it is.
    #[inline]
    pub(crate) fn run_end_cycle(&self, elapsed: &ElapsedTime) -> u64 {
        self.ns.map_or(self.cycle, |ns| elapsed.first_cycle_at_time(ns).min(self.cycle))
    }
}

/// The reason why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The cycles asked for have passed.
    Cycles,
    /// An `until` address is about to execute.
    Until,
    /// A watched word was written.
    Watch,
    /// A core faulted inside HardFault or NMI.
    Lockup,
    /// Every core sleeps and nothing can wake one.
    Deadlock,
    /// Something not modelled was touched under `strict`.
    Strict,
    /// The firmware entered the boot ROM's USB mode.
    UsbBoot,
    /// The firmware ended by semihosting, with an exit code.
    Exit,
}

impl StopReason {
    /// Returns whether an instrument asked for the stop, rather than the firmware or the board. The firmware's own
    /// request ends a run at once.
    pub fn is_stop_requested_by_instrument(self) -> bool {
        matches!(self, StopReason::Until | StopReason::Watch)
    }

    /// Returns the reason's name as results print it.
    pub const fn result_name(self) -> &'static str {
        match self {
            StopReason::Cycles => "cycles",
            StopReason::Until => "until",
            StopReason::Watch => "watch",
            StopReason::Lockup => "lockup",
            StopReason::Deadlock => "deadlock",
            StopReason::Strict => "strict",
            StopReason::UsbBoot => "usbboot",
            StopReason::Exit => "exit",
        }
    }
}

/// The end of a run: the reason, the place and one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub reason: StopReason,
    /// Core concerned.
    pub core: usize,
    /// Its cycle.
    pub cycle: u64,
    /// Address concerned.
    pub address: u32,
    /// One sentence.
    pub detail: String,
}
