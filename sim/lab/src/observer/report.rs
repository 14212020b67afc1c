//! The request to an observer, its observations of a core, and its report.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::calls::Call;
use super::costs::{CyclesByCause, Place};
use super::locks::{LockKey, SpinlockIntervalStatistics};
use super::masks::{InterruptMaskInterval, InterruptMaskStatistics};
use super::paths::Node;

/// What to observe besides the account of all cycles.
#[derive(Debug, Clone, Default)]
pub struct ObservationRequest {
    /// Priorities of interrupts whose held-off intervals are recorded.
    pub levels: Vec<i16>,
    /// Held-off intervals kept whole, from the first on.
    pub kept: usize,
    /// Functions whose calls and returns are events, with the identifiers of these.
    pub calls: HashMap<u32, u16>,
    /// Functions whose every call is measured, with their identifiers.
    pub measured: HashMap<u32, u16>,
    /// Instructions whose every execution is an [`Arrival`].
    pub arrivals: HashSet<u32>,
    /// Threads that go on and accesses to spinlocks are events.
    pub events: bool,
}

/// A core as the observer sees it between instructions.
#[derive(Debug, Clone, Copy, Default)]
pub struct CoreView {
    /// Its local time.
    pub t: u64,
    /// Cycles asleep so far, without a sleep in progress.
    pub sleep_cycles: u64,
    /// Since when it sleeps.
    pub asleep_since: Option<u64>,
    /// Held in reset, or locked up.
    pub stopped: bool,
    /// Next instruction.
    pub pc: u32,
    /// Active stack pointer.
    pub sp: u32,
    /// The process stack is active.
    pub process_stack: bool,
    /// Execution priority.
    pub priority: i16,
}

/// The cycle account of one core, from the first cycle of a window to the one after its last.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// First cycle.
    pub from: u64,
    /// Cycle after the last.
    pub until: u64,
    /// Rows by place. All cycles add up to `until - from`.
    pub rows: Vec<(Place, CyclesByCause)>,
}

/// One execution of a watched instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Cycle after it.
    pub until: u64,
    /// Instructions that the core had completed before it since observation began, handlers' included.
    pub instructions: u64,
    /// Its address.
    pub pc: u32,
    /// The core.
    pub core: u32,
}

/// The observations since the last report.
#[derive(Debug, Clone, Default)]
pub struct ObservationReport {
    /// One a core.
    pub accounts: Vec<Account>,
    /// All call paths since observation began.
    pub nodes: Vec<Node>,
    /// Held-off intervals, summed.
    pub masked: Vec<InterruptMaskStatistics>,
    /// The first of them, whole.
    pub intervals: Vec<InterruptMaskInterval>,
    /// Held-off intervals in progress, as if they ended now.
    pub open_intervals: Vec<InterruptMaskInterval>,
    /// Spinlocks.
    pub locks: BTreeMap<LockKey, SpinlockIntervalStatistics>,
    /// Measured calls that have ended, in order of ends.
    pub calls: Vec<Call>,
    /// Those that have not.
    pub open_calls: Vec<Call>,
    /// Executions of the instructions asked for, in order of time on each core.
    pub arrivals: Vec<Arrival>,
}
