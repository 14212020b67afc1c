//! The table of the cache: its keys and transitions.

use super::TRACE_INSTRUCTIONS;
use super::log::TraceTimingLog;
use super::replay::Trace;
use crate::timing_store::{Row, TimingTable};
use crate::v7m::core::Region;
use crate::v7m::op::Op;

/// log2 of the transitions kept.
const TRANSITIONS: u32 = 14;
/// The bit positions of a key's parts.
const INSTRUCTIONS: u32 = 16;
const MOST_INSTRUCTIONS: u32 = 0x7ff;
const WATCHED: u32 = 27;
const DISTANCE: u32 = 28;
/// States kept before all is forgotten.
pub(super) const STATES: usize = 1 << 16;

/// A direct-mapped table of transitions between states `N`, with lookups `L`.
pub(super) type Table<N, L> = TimingTable<N, Transition<L>, { 1 << TRANSITIONS }, STATES>;

/// The key of a cached transition: a trace and the state from which it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CachedTransitionKey {
    /// The start: its [`Key::board_op_address_without_host_bias`].
    start: u64,
    /// The bits of its log.
    log: u64,
    /// State number, instructions, whether the last one wrote a watched word, distance to where execution continues.
    rest: u64,
}

impl CachedTransitionKey {
    /// Returns the difference between the board address and the host address of an op in this region, in bytes of ops.
    pub fn host_to_board_address_offset(region: &Region) -> u64 {
        let base = u64::from(region.base) * (size_of::<Op>() as u64 / 2);
        base.wrapping_sub(region.ops as u64)
    }

    /// Returns the place of an op, a number that does not depend on the host: the op's board address, times the bytes
    /// of ops for each byte of code.
    #[inline(always)]
    pub fn board_op_address_without_host_bias(bias: u64, op: *mut Op) -> u64 {
        (op as u64).wrapping_add(bias)
    }

    /// Creates the key of a trace from a state. Nothing in it depends on where the host keeps the ops.
    #[inline(always)]
    pub fn new(bias: u64, trace: Trace, state: u32) -> CachedTransitionKey {
        const _: () = assert!(STATES <= 1 << INSTRUCTIONS && TRACE_INSTRUCTIONS <= MOST_INSTRUCTIONS);
        const _: () = assert!(INSTRUCTIONS + MOST_INSTRUCTIONS.count_ones() == WATCHED && WATCHED < DISTANCE);
        let Trace { start, end, instructions, log, .. } = trace;
        let distance = (end as u64).wrapping_sub(start as u64) << DISTANCE;
        let rest = u64::from(state)
            | u64::from(instructions) << INSTRUCTIONS
            | u64::from(trace.is_watched) << WATCHED
            | distance;
        CachedTransitionKey {
            start: CachedTransitionKey::board_op_address_without_host_bias(bias, start),
            log: log.timing_log_as_number(),
            rest,
        }
    }

    /// Returns the trace of this key, which continued at `end`.
    pub fn trace_of_transition_key(self, bias: u64, end: *mut Op) -> Trace {
        let distance = (self.rest as i64 >> DISTANCE) as isize;
        let instructions = (self.rest >> INSTRUCTIONS) as u32 & MOST_INSTRUCTIONS;
        let (start, is_watched) = (end.wrapping_byte_sub(distance as usize), self.rest >> WATCHED & 1 != 0);
        debug_assert!(CachedTransitionKey::board_op_address_without_host_bias(bias, start) == self.start);
        Trace { start, end, instructions, is_watched, log: TraceTimingLog { bits: self.log, left: 0 } }
    }

    /// Returns the key of the same trace from this state instead of state 0.
    #[inline(always)]
    pub fn from(self, state: u32) -> CachedTransitionKey {
        CachedTransitionKey { rest: self.rest | u64::from(state), ..self }
    }

    /// Returns the bits of the log in the key.
    pub fn timing_log_bits_of_key(self) -> u64 {
        self.log
    }

    /// Returns the key of the same trace with another log.
    #[inline(always)]
    pub fn with_trace_log(self, log: u64) -> CachedTransitionKey {
        CachedTransitionKey { log, ..self }
    }

    /// Returns the key of the same trace with an end that is `behind` bytes of ops later.
    #[inline(always)]
    pub fn with_later_trace_end(self, behind: u64) -> CachedTransitionKey {
        CachedTransitionKey { rest: self.rest.wrapping_add(behind << DISTANCE), ..self }
    }

    /// Returns the number of the row that contains the key's transition.
    #[inline(always)]
    pub fn row_of_cached_transition(self) -> usize {
        let mixed = (self.start ^ self.rest.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ self.log.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        (mixed >> (u64::BITS - TRANSITIONS)) as usize
    }
}

/// A cached transition: how a trace advances time and the state of pipeline and bus.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Transition<L> {
    /// No other one that is or was in the table has the same. 0: none.
    pub serial: u32,
    /// Cycles it took.
    pub cycles: u32,
    /// The part of these that are waits for the bus and for the flash.
    pub bus_wait: u32,
    pub flash_wait: u32,
    /// Number of the state after it.
    pub next: u32,
    /// Cycles from its begin to the address phase of its last store, which may overlap the end of the earlier one.
    pub stored_after: i32,
    /// How often it was taken since that was added to the profile.
    pub taken: u64,
    /// The lookups in the flash interface's caches.
    pub lookups: L,
    pub key: CachedTransitionKey,
}

impl<L: Copy + Default> Row for Transition<L> {
    const WAYS: usize = 1;

    /// Returns how often the row's transition was taken since the last call.
    #[inline(always)]
    fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.taken)
    }
}
