//! The state of a core that executes alone: native code, and the bus's transfers while a path is timed.

use rtoslab_cpu::v6m::native_path::SingleCoreNativeState;
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_cpu::v6m::translate::Translations;

/// The transfers that arbitration has recorded.
#[derive(Debug, Clone)]
pub(super) struct RecordedBusTransfers {
    pub slots: [u64; SLOTS * 16],
    pub busy: [u64; 16],
    pub others_claimed: u64,
    pub first: usize,
}

/// The state for the native execution of a core that executes alone.
#[derive(Debug, Default)]
pub(super) struct SingleCoreState {
    pub translations: Translations,
    /// One executes alone now, and once: what is executed again to undo it counts nowhere.
    pub is_now: bool,
    pub native_paths: SingleCoreNativeState,
    /// Those of the chip, while a trace's time is found out.
    pub transfers: Option<Box<RecordedBusTransfers>>,
}
