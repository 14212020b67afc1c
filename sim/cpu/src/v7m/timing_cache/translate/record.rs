//! The records that native code uses where a path is left.

use super::Exit;

/// The cached timing of one way to leave a trace, which native code finds at the trace's exit. If state or log is
/// another one, native code returns to Rust, which looks it up.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Record {
    /// Its state.
    pub state: u32,
    /// Its transition, and what [`Transition::serial`](super::table::Transition::serial) must be there.
    pub serial: u32,
    pub transition: u64,
    /// Its log, where the pipeline has foresight.
    pub log: u64,
    /// Where it ended.
    pub ip: u64,
    /// Code of the execution after it (before the first step: instead). 0 if that is not translated.
    pub next: u64,
    /// Its instructions.
    pub instructions: u64,
    /// The return value of code that asks: the number of the translation, and of the exit.
    pub left: u64,
}

/// Records of an exit.
pub(super) const WAYS: u32 = 4;
/// No state.
pub(super) const NOWHERE: u32 = u32::MAX;
/// Added to what code returns of an exit: the time of the trace that ended there is taken already.
pub(super) const DONE: u64 = 1 << 31;

/// The number of an exit of a translation, or of one of its records: see [`Record::left`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::v7m::timing_cache) struct PathExitNumber(pub(super) u64);

impl PathExitNumber {
    /// Returns the exit with this number of a translation.
    pub(super) fn new(number: u32, exit: u32) -> PathExitNumber {
        PathExitNumber(u64::from(number) << u32::BITS | u64::from(exit))
    }

    /// Returns record number `way` of the same exit.
    fn with_exit_record_number(self, way: u32) -> PathExitNumber {
        PathExitNumber(self.0 | u64::from(way) << PathExitNumber::WAY)
    }

    const WAY: u32 = 16;

    /// Returns the number of the translation.
    pub(super) fn number_of_trace_translation(self) -> u32 {
        (self.0 >> u32::BITS) as u32
    }

    /// Returns the number of the exit.
    pub(super) fn index_of_path_exit(self) -> usize {
        (self.0 & ((1 << PathExitNumber::WAY) - 1)) as usize
    }

    /// Returns the number of the record among all of its translation.
    pub(super) fn index_of_path_exit_record(self) -> usize {
        self.index_of_path_exit() * WAYS as usize + (self.0 as u32 >> PathExitNumber::WAY) as usize
    }
}

/// Creates the empty records of all exits of a translation with this number.
pub(super) fn create_path_exit_records(number: u32, exits: &[Exit]) -> Box<[Record]> {
    let record = |(exit, at, way): (&Exit, u32, u32)| Record {
        state: NOWHERE,
        serial: 0,
        transition: 0,
        log: 0,
        ip: exit.trace.end as u64,
        next: 0,
        instructions: exit.trace.instructions.into(),
        left: PathExitNumber::new(number, at).with_exit_record_number(way).0,
    };
    let exits = exits.iter().zip(0..);
    exits.flat_map(|(exit, at)| (0..WAYS).map(move |way| (exit, at, way))).map(record).collect()
}
