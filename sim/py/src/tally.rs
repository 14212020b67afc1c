//! Counting what events come to: see `_sim.pyi`.

use std::collections::HashMap;

use pyo3::prelude::*;
use rtoslab_lab::tally::{Identities, Sections, Tally};

/// Core, the tasks before and behind, the identity of the call that caused it, how often.
type SwitchCount = (u8, u32, u32, Option<u16>, u64);

#[pyclass]
pub struct EventTally(Tally);

#[pymethods]
impl EventTally {
    #[new]
    fn new(
        calls: (u16, u16),
        current: u16,
        nesting: u16,
        tasks: HashMap<usize, u32>,
        depths: HashMap<usize, (u64, u32)>,
    ) -> EventTally {
        let sections = [0, 1].map(|core| depths.get(&core).map(|&(cycle, depth)| Sections::begin(cycle, depth)));
        let tasks = [0, 1].map(|core| tasks.get(&core).copied());
        EventTally(Tally::new(Identities { calls, current, nesting }, tasks, sections))
    }

    fn feed(&mut self, events: &[u8]) {
        self.0.feed(events);
    }

    fn events(&self) -> u64 {
        self.0.events()
    }

    fn objects(&self) -> Vec<(u8, u16, u32, u64)> {
        self.0.objects()
    }

    fn switches(&self) -> Vec<SwitchCount> {
        let rows =
            |(kind, count): (rtoslab_lab::tally::Switch, u64)| (kind.core, kind.before, kind.after, kind.cause, count);
        self.0.switches().into_iter().map(rows).collect()
    }

    fn sections(&self, core: usize) -> Option<(u64, u64, u64)> {
        self.0.sections(core).map(|sections| (sections.count, sections.cycles, sections.longest_cycles))
    }
}
