//! The time of traces: looked up, or found out.

use super::replay::{Trace, replay_trace};
use super::table::{CachedTransitionKey, STATES, Transition};
use super::{CacheableTiming, Core, Op, QuickBus, TRACE_CYCLES, TimingCache, watch};

/// The node that traces have reached: a state number, and whether pipeline and bus are already in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodePosition(u32);

impl NodePosition {
    /// A state that has no number.
    pub const NOWHERE: NodePosition = NodePosition(u32::MAX);
    const AHEAD: u32 = 1 << 16;

    /// Returns the node of a state in which pipeline and bus are.
    pub fn position_at_timing_state(state: u32) -> NodePosition {
        NodePosition(state)
    }

    /// Returns the node of a state in which pipeline and bus are not yet.
    pub fn position_before_timing_state(state: u32) -> NodePosition {
        const _: () = assert!(STATES <= NodePosition::AHEAD as usize);
        NodePosition(state | NodePosition::AHEAD)
    }

    /// Returns whether pipeline and bus must still be brought to the state.
    pub fn is_bus_behind_timing_state(self) -> bool {
        self != NodePosition::NOWHERE && self.0 & NodePosition::AHEAD != 0
    }

    /// Returns the number of the state, if there is one.
    #[inline(always)]
    pub fn state_number(self) -> Option<u32> {
        (self != NodePosition::NOWHERE).then_some(self.0 & (NodePosition::AHEAD - 1))
    }
}

impl<P: CacheableTiming, B: QuickBus> TimingCache<P, B> {
    /// Adds the cycles of an executed trace to the core's time, from the timing cache or by a replay. Returns the node
    /// to which it leads, and the cycles from its begin to its last store.
    ///
    /// # Safety
    /// The trace was executed by this core: its instructions are ops of the region.
    #[inline(always)]
    pub(super) unsafe fn add_trace_cycles<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        trace: Trace,
        at: NodePosition,
    ) -> (NodePosition, i32) {
        let Some(state) = at.state_number() else { return (at, 0) };
        let key = CachedTransitionKey::new(bias, trace, state);
        match self.add_cached_trace_cycles::<WATCH>(core, bus, key, trace.instructions) {
            Some(known) => known,
            // SAFETY: the caller's promise.
            None => unsafe { self.add_replayed_trace_cycles::<WATCH>(core, pipe, bus, trace, key, at) },
        }
    }

    /// Adds the cycles of an executed trace to the core's time, if they are cached. Returns the node to which it leads,
    /// and the cycles from its begin to its last store. `None` if they are not cached.
    #[inline(always)]
    pub(super) fn add_cached_trace_cycles<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        key: CachedTransitionKey,
        instructions: u32,
    ) -> Option<(NodePosition, i32)> {
        let transition = self.table.transition_row_with_number_mut(key.row_of_cached_transition());
        // No trace has the default key: it would have no instruction.
        if transition.key != key || !bus.repeat_lookups(&mut transition.lookups) {
            return None;
        }
        core.instructions += u64::from(instructions);
        core.t += u64::from(transition.cycles);
        core.bus_wait += u64::from(transition.bus_wait);
        core.flash_wait += u64::from(transition.flash_wait);
        if WATCH == watch::PROFILE {
            transition.taken += 1;
        }
        self.counts.hits += 1;
        Some((NodePosition::position_before_timing_state(transition.next), transition.stored_after))
    }

    /// Adds the cycles of an executed trace that is not in the timing cache, by a replay. Returns the node to which it
    /// leads, and the cycles from its begin to its last store.
    ///
    /// # Safety
    /// The trace was executed by this core: its instructions are ops of the region.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn add_replayed_trace_cycles<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        trace: Trace,
        key: CachedTransitionKey,
        at: NodePosition,
    ) -> (NodePosition, i32) {
        self.restore_timing_state(core, pipe, bus, at, trace.start);
        // SAFETY: the caller's promise.
        let (state, stored_after) = unsafe { self.replay_and_cache::<WATCH>(core, pipe, bus, trace, key) };
        (state.map_or(NodePosition::NOWHERE, NodePosition::position_at_timing_state), stored_after)
    }

    /// Brings pipeline and bus to the state of this node, if they are not in it, before the instruction at `ip`.
    #[inline(never)]
    pub(super) fn restore_timing_state(
        &self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        at: NodePosition,
        ip: *mut Op,
    ) {
        if !at.is_bus_behind_timing_state() {
            return;
        }
        let Some((of_pipe, of_bus)) = at.state_number().map(|state| self.table.node_with_number(state)) else { return };
        let behind = std::mem::replace(&mut core.ip, ip);
        pipe.restore_timing_state(of_pipe, core);
        bus.restore_timing_state(of_bus, core.t);
        core.ip = behind;
    }

    /// Replays a trace after a miss and caches its cycles. Returns the state after it, `None` if it has no number, and
    /// the cycles to the address phase of its last store.
    ///
    /// # Safety
    /// The trace was executed by this core: its instructions are ops of the region.
    #[inline(never)]
    unsafe fn replay_and_cache<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        trace: Trace,
        key: CachedTransitionKey,
    ) -> (Option<u32>, i32) {
        self.counts.misses += 1;
        let (t, bus_wait, flash_wait) = (core.t, core.bus_wait, core.flash_wait);
        bus.record_lookups();
        // SAFETY: the caller's promise.
        let stored_at = unsafe { replay_trace(core, pipe, bus, trace, &mut self.table.account) };
        debug_assert!(core.t - t <= TRACE_CYCLES, "no event is reached inside a trace");
        let lookups = bus.take_recorded_lookups();
        let stored_after = stored_at.wrapping_sub(t) as i32;
        let state = pipe.timing_state(core).zip(bus.timing_state(core.t));
        let next = state.and_then(|state| self.table.number_of_node(state));
        if let (Some(next), Some(lookups)) = (next, lookups) {
            self.serial = self.serial.wrapping_add(1).max(1);
            let transition = Transition {
                serial: self.serial,
                key,
                cycles: (core.t - t) as u32,
                bus_wait: (core.bus_wait - bus_wait) as u32,
                flash_wait: (core.flash_wait - flash_wait) as u32,
                next,
                stored_after,
                taken: u64::from(WATCH == watch::PROFILE),
                lookups,
            };
            self.table.store_simulated_timing_transition(key.row_of_cached_transition(), |row| *row = transition);
        } else if WATCH == watch::PROFILE {
            self.table.account.count_simulated_timing_transition(0);
        }
        if next.is_none() && state.is_some() {
            self.forget_timing_and_native_code();
        }
        (next, stored_after)
    }
}
