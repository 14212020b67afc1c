//! The record of a store that clears an interrupt.

/// A store by which a handler cleared its own interrupt: the interrupt's line fell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InterruptClearingStore {
    pub exception: u32,
    /// Address of the store.
    pub address: u32,
    /// Instructions executed before it.
    pub instructions: u64,
}
