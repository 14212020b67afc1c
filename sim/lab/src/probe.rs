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
#[derive(Debug, Default)]
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

    /// The instruction at `address` issues. True if the run must stop before it.
    pub fn issue(&mut self, address: u32, core: usize, cycle: u64, r0: u32, skip_until: bool) -> bool {
        let Some(site) = self.sites.get(&address) else {
            return false;
        };
        if site.until && !skip_until {
            return true;
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
        // Ends first: with equal addresses an execution closes the previous interval, then opens the next.
        for &index in &site.ends {
            self.between[index].end(core, cycle);
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

    /// True if a watched word lies in the 256-byte page of `address`.
    pub fn watches_page(&self, address: u32) -> bool {
        self.watches.keys().any(|watched| watched >> 8 == address >> 8)
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

    /// Takes the events recorded so far.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
