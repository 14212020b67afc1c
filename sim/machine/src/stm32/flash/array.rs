//! The memory array of an interface: one read at a time.

/// The state of a flash's memory array, which makes one read at a time. Times are cycles of the interface's clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FlashArrayState {
    /// Wait states of a read.
    pub wait_states: u64,
    /// First cycle in which the next read can begin.
    free: u64,
}

impl FlashArrayState {
    /// Never busy so far, no wait states.
    pub const IDLE: FlashArrayState = FlashArrayState { wait_states: 0, free: 0 };

    /// Begins a read in cycle `from` or as soon as the array is free. Returns the first cycle in which its content can
    /// be used.
    #[inline(always)]
    pub fn begin_array_read(&mut self, from: u64) -> u64 {
        self.free = self.free.max(from) + 1 + self.wait_states;
        self.free
    }

    /// Returns the first cycle in which a read of the array can begin.
    pub fn next_flash_read_cycle(&self) -> u64 {
        self.free
    }

    /// Sets the first cycle in which a read can begin.
    pub fn set_next_flash_read_cycle(&mut self, free: u64) {
        self.free = free;
    }
}
