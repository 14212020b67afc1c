//! Counting what events come to: see `_sim.pyi`.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtoslab_lab::event_order;
use rtoslab_lab::tally::{CriticalSectionStatistics, EventCounts, Identities};

/// A kind of task switch with its number: core, the tasks before and after it, the identity of the call that caused it,
/// how often.
type SwitchCount = (u8, u32, u32, Option<u16>, u64);

/// Counts of events: calls, task switches and critical sections.
#[pyclass]
pub struct EventTally(EventCounts);

#[pymethods]
impl EventTally {
    /// Creates empty counts.
    #[new]
    fn new(
        calls: (u16, u16),
        current: u16,
        nesting: u16,
        tasks: HashMap<usize, u32>,
        depths: HashMap<usize, (u64, u32)>,
    ) -> EventTally {
        let sections = [0, 1].map(|core| {
            depths
                .get(&core)
                .map(|&(cycle, depth)| CriticalSectionStatistics::new_critical_section_statistics(cycle, depth))
        });
        let tasks = [0, 1].map(|core| tasks.get(&core).copied());
        EventTally(EventCounts::new(Identities { calls, current, nesting }, tasks, sections))
    }

    /// Counts the next packed events, in the order of time.
    fn feed(&mut self, events: &[u8]) {
        self.0.count_recorded_events(events);
    }

    /// Returns the number of events so far.
    fn event_count(&self) -> u64 {
        self.0.event_count()
    }

    /// Returns the counted calls: core, identity, first argument and number.
    fn call_counts(&self) -> Vec<(u8, u16, u32, u64)> {
        self.0.call_counts()
    }

    /// Returns the kinds of task switches and their numbers.
    fn switch_counts(&self) -> Vec<SwitchCount> {
        let rows = |(kind, count): (rtoslab_lab::tally::TaskSwitchKind, u64)| {
            (kind.core, kind.before, kind.after, kind.cause, count)
        };
        self.0.switch_counts().into_iter().map(rows).collect()
    }

    /// Returns a core's critical sections: their number, cycles, and the cycles of the longest.
    fn sections(&self, core: usize) -> Option<(u64, u64, u64)> {
        self.0
            .critical_sections_of_core(core)
            .map(|sections| (sections.count, sections.cycles, sections.longest_cycles))
    }
}

/// Returns packed events in the order of time, without those of the identity `other_than`.
#[pyfunction]
#[pyo3(signature = (events, other_than=None))]
pub fn order_events<'py>(py: Python<'py>, events: &[u8], other_than: Option<u16>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &event_order::sort_packed_events_by_time(events, other_than))
}

/// Returns the last event of each kind, core and identity.
#[pyfunction]
#[pyo3(signature = (events, other_than=None))]
pub fn latest_events<'py>(py: Python<'py>, events: &[u8], other_than: Option<u16>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &event_order::latest_recorded_event_of_each_kind(events, other_than))
}
