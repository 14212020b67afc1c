//! Probes on addresses: what to do when an instruction issues or a word is written.

use std::collections::HashMap;

use crate::between::Between;
use crate::event::{Event, Kind};

#[derive(Debug, Default, Clone)]
struct Site {
    until: bool,
    exec: Vec<u16>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Watch {
    id: u16,
    stop: bool,
}

/// All probes of a machine and what they recorded.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    sites: HashMap<u32, Site>,
    watches: HashMap<u32, Watch>,
    between: Vec<Between>,
    events: Vec<Event>,
    /// Record handler entries and exits.
    pub trace_exceptions: bool,
    /// Record pin edges.
    pub trace_pins: bool,
}

impl Probes {
    /// True if the instruction at `address` needs attention.
    pub fn watches_code(&self, address: u32) -> bool {
        self.sites.contains_key(&address)
    }

    /// Stops the run when `address` is about to execute.
    pub fn until(&mut self, address: u32) {
        self.sites.entry(address).or_default().until = true;
    }

    /// Records an event each time `address` is about to execute.
    pub fn watch_exec(&mut self, address: u32, id: u16) {
        self.sites.entry(address).or_default().exec.push(id);
    }

    /// Measures from `start` to `end`; the result is found under the returned index.
    pub fn add_between(&mut self, start: u32, end: u32) -> usize {
        let index = self.between.len();
        self.between.push(Between::default());
        self.sites.entry(start).or_default().starts.push(index);
        self.sites.entry(end).or_default().ends.push(index);
        index
    }

    /// Result of [`Probes::add_between`].
    pub fn between(&self, index: usize) -> Option<&Between> {
        self.between.get(index)
    }

    /// The instruction at `address` issues. True if the run must stop before it: intervals that end here are closed
    /// then, and `resumed` tells the second call that this has happened.
    pub fn issue(&mut self, address: u32, core: usize, cycle: u64, r0: u32, resumed: bool) -> bool {
        let Some(site) = self.sites.get(&address) else {
            return false;
        };
        // Ends first: with equal addresses an execution closes the previous interval, then opens the next.
        if !resumed {
            for &index in &site.ends {
                self.between[index].end(core, cycle);
            }
            if site.until {
                return true;
            }
        }
        for &id in &site.exec {
            self.events.push(Event {
                cycle,
                value: r0,
                pc: address,
                id,
                kind: Kind::Exec as u8,
                core: core as u8,
                reserved: 0,
            });
        }
        for &index in &site.starts {
            self.between[index].start(core, cycle);
        }
        false
    }

    /// Watches the word at `address` (4-byte aligned) for writes; `stop` ends the run behind the write.
    pub fn watch_write(&mut self, address: u32, id: u16, stop: bool) {
        self.watches.insert(address & !3, Watch { id, stop });
    }

    /// A store changed the word at `address` (aligned) to `word`. True if the run must stop.
    pub fn written(&mut self, address: u32, word: u32, core: usize, cycle: u64, pc: u32) -> bool {
        let Some(watch) = self.watches.get(&address) else {
            return false;
        };
        self.events.push(Event {
            cycle,
            value: word,
            pc,
            id: watch.id,
            kind: Kind::Write as u8,
            core: core as u8,
            reserved: 0,
        });
        watch.stop
    }

    /// Appends an event of another kind.
    pub fn record(&mut self, kind: Kind, core: usize, cycle: u64, id: u16, value: u32, pc: u32) {
        self.events.push(Event { cycle, value, pc, id, kind: kind as u8, core: core as u8, reserved: 0 });
    }

    /// What was recorded becomes what had been recorded `then`; the probes themselves stay where they are. Intervals
    /// that were not measured then are empty.
    pub fn rewind(&mut self, then: &Probes) {
        // Every field by name, so that a new instrument is not forgotten here.
        let Probes { sites: _, watches: _, between, events, trace_exceptions: _, trace_pins: _ } = then;
        self.events.clone_from(events);
        for (index, result) in self.between.iter_mut().enumerate() {
            *result = between.get(index).cloned().unwrap_or_default();
        }
    }

    /// Addresses with a probe on their instruction.
    pub fn sites(&self) -> impl Iterator<Item = u32> {
        self.sites.keys().copied()
    }

    /// Addresses of watched words.
    pub fn watched(&self) -> impl Iterator<Item = u32> {
        self.watches.keys().copied()
    }

    /// Takes the events recorded so far.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_ends_where_the_run_stops_is_counted_once() {
        let mut probes = Probes::default();
        let interval = probes.add_between(0x100, 0x200);
        probes.until(0x200);
        assert!(!probes.issue(0x100, 0, 10, 0, false));
        assert!(probes.issue(0x200, 0, 17, 0, false));
        assert!(!probes.issue(0x200, 0, 17, 0, true));
        let result = probes.between(interval).unwrap();
        assert_eq!((result.count, result.total_cycles), (1, 7));
    }

    #[test]
    fn one_address_as_both_ends_measures_from_execution_to_execution() {
        let mut probes = Probes::default();
        let interval = probes.add_between(0x100, 0x100);
        for cycle in [5, 25, 60] {
            probes.issue(0x100, 0, cycle, 0, false);
        }
        let result = probes.between(interval).unwrap();
        assert_eq!((result.count, result.min_cycles, result.max_cycles), (2, Some(20), Some(35)));
    }

    #[test]
    fn rewound_probes_stay_and_forget_what_came_later() {
        let mut probes = Probes::default();
        let early = probes.add_between(0x100, 0x200);
        probes.watch_exec(0x100, 1);
        probes.issue(0x100, 0, 10, 0, false);
        let then = probes.clone();
        let late = probes.add_between(0x100, 0x100);
        probes.issue(0x200, 0, 17, 0, false);
        probes.issue(0x100, 0, 20, 0, false);
        probes.issue(0x100, 0, 21, 0, false);
        probes.rewind(&then);
        assert_eq!(probes.between(early).map(|each| each.count), Some(0));
        assert_eq!(probes.between(late).map(|each| each.count), Some(0));
        assert_eq!(probes.take_events().len(), 1);
        // The interval that was open then is open again.
        probes.issue(0x200, 0, 15, 0, false);
        assert_eq!(probes.between(early).map(|each| each.total_cycles), Some(5));
        assert!(probes.watches_code(0x200));
    }

    #[test]
    fn only_the_watched_word_is_reported() {
        let mut probes = Probes::default();
        probes.watch_write(0x2000_0004, 3, true);
        assert!(!probes.written(0x2000_0000, 1, 0, 9, 0));
        assert!(probes.written(0x2000_0004, 1, 0, 9, 0));
        assert_eq!(probes.take_events().len(), 1);
    }
}
