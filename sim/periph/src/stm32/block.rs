//! The contract between a block of an STM32 and the aggregate.
//!
//! It differs from [`crate::Peripheral`] where the chips differ: a block runs from a clock of its own, has several
//! interrupt outputs, and there are no atomic aliases. Time is the core's cycle count, as everywhere.

use super::effects::Effects;
use crate::{ElapsedTime, NEVER};

/// A block's view of the chip during an access or an event.
pub struct Access<'a> {
    /// Core cycle at which the access reaches the block.
    pub now: u64,
    /// Core clock: the unit of all cycle numbers.
    pub core_hz: u64,
    /// Clock that the block runs from (USART: kernel clock, timer: timer clock); 0 while it is gated.
    pub clock_hz: u64,
    /// The time since power-on, by the core's cycles.
    pub elapsed: &'a ElapsedTime,
    /// Bytes of the access, 1, 2 or 4. 4 in events.
    pub bytes: u32,
    /// The requests to the machine after the access.
    pub effects: &'a mut Effects,
}

/// A memory-mapped block. Offsets are those of the reference manual.
pub trait Block {
    /// Puts every register to its reset value.
    fn reset_registers(&mut self);

    /// Reads a register with its side effects.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32;

    /// Writes a register with its side effects.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access);

    /// Returns a register's value without the side effects of a read. A narrow write keeps the other bytes of this
    /// value.
    fn peek_register(&self, offset: u32, access: &Access) -> u32;

    /// Returns whether a narrow write fills the other bytes of a register with 0, because 0 bits have no effect there.
    fn is_strobe(&self, _offset: u32) -> bool {
        false
    }

    /// Returns the core cycle at which [`Block::advance_to_now`] must be called next, or [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        NEVER
    }

    /// Advances the block to the cycle `access.now`.
    fn advance_to_now(&mut self, _access: &mut Access) {}

    /// Adapts the block to changed clocks of core or block, which `access` has. The block was advanced just before.
    fn clocks_changed(&mut self, _access: &mut Access) {}

    /// Returns the levels of the block's interrupt outputs, a bit each. The chip's table assigns NVIC lines to them.
    fn interrupt_outputs(&self) -> u32 {
        0
    }
}
