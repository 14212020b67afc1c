//! The cycles of exceptions.

/// The settings of the exception timing, in cycles, for memory without wait states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionTiming {
    /// Recognition to first handler instruction.
    pub entry: u64,
    /// The same if floating-point state is stacked at once.
    pub entry_float: u64,
    /// Return to first instruction of the interrupted code.
    pub exit: u64,
    /// The same if floating-point state is read back.
    pub exit_float: u64,
    /// Return to first instruction of the next handler.
    pub tail_chain: u64,
    /// Recognition to the choice of the vector: until then a more urgent exception takes over the entry.
    pub late_arrival: u64,
    /// Return to the point from which on a more urgent exception no longer aborts the unstacking.
    pub pop_preemption: u64,
}

impl ExceptionTiming {
    /// Cortex-M3: ARM 100165 3.9. Windows of late arrival and pop pre-emption: assumed (see [`entry`](super::entry)).
    pub const CORTEX_M3: ExceptionTiming = ExceptionTiming {
        entry: 12,
        entry_float: 12,
        exit: 12,
        exit_float: 12,
        tail_chain: 6,
        late_arrival: 7,
        pop_preemption: 9,
    };

    /// Cortex-M4F: ARM DDI0439D 3.9; windows assumed.
    pub const CORTEX_M4: ExceptionTiming =
        ExceptionTiming { entry_float: 29, exit: 10, exit_float: 27, pop_preemption: 7, ..ExceptionTiming::CORTEX_M3 };

    /// Cortex-M7: entry is ARM's published typical latency, all else assumed to be like the M3's and M4's.
    pub const CORTEX_M7: ExceptionTiming =
        ExceptionTiming { entry_float: 29, exit_float: 27, ..ExceptionTiming::CORTEX_M3 };
}
