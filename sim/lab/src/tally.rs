//! The sums of a window's events: calls by object, switches between tasks with their cause, critical sections. Events
//! come by the hundred thousand. Here each is looked at once.

use std::collections::HashMap;

use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::event::{Event, Kind};
use crate::quick::Quick;

/// Cores of a machine, at most.
const CORES: usize = 2;

/// A packed event, as [`Event::encode_recorded_events`] writes it.
#[derive(Debug, Clone, Copy, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Record {
    cycle: U64,
    value: U32,
    _pc: U32,
    /// The identity in the low half, above it kind and core.
    which: U32,
    _more: U32,
}

const _: () = assert!(size_of::<Record>() == Event::BYTES);

/// The identities (`id`) of the events that are calls, writes of the current task's word, and writes of the counter of
/// nested critical sections.
#[derive(Debug, Clone, Copy)]
pub struct Identities {
    /// Calls of watched services: the first, and the one after the last.
    pub calls: (u16, u16),
    /// The current task of core 0. Writes of the word that names its current task. Core 1's is the next one.
    pub current: u16,
    /// Likewise of the word that counts how deep its critical sections are nested.
    pub nesting: u16,
}

/// A kind of task switch: the core, both tasks, and the call that caused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskSwitchKind {
    /// The core.
    pub core: u8,
    /// The task before.
    pub before: u32,
    /// The task after.
    pub after: u32,
    /// The call seen last on that core since its switch before.
    pub cause: Option<u16>,
}

/// Statistics of the critical sections of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriticalSectionStatistics {
    /// The cycle since which the depth is not 0, if it is not.
    since: u64,
    depth: u32,
    /// Sections that have ended.
    pub count: u64,
    /// Their cycles, and those of the longest.
    pub cycles: u64,
    /// See `cycles`.
    pub longest_cycles: u64,
}

impl CriticalSectionStatistics {
    /// Creates statistics that begin at a cycle, with this nesting depth.
    #[must_use]
    pub fn new_critical_section_statistics(cycle: u64, depth: u32) -> CriticalSectionStatistics {
        CriticalSectionStatistics { since: cycle, depth, count: 0, cycles: 0, longest_cycles: 0 }
    }

    /// Updates the statistics after a write of the word that counts nested critical sections.
    fn update_nesting_depth(&mut self, cycle: u64, depth: u32) {
        match (self.depth, depth) {
            (0, 1..) => self.since = cycle,
            (1.., 0) => {
                let cycles = cycle.wrapping_sub(self.since);
                self.count += 1;
                self.cycles += cycles;
                self.longest_cycles = self.longest_cycles.max(cycles);
            }
            _ => {}
        }
        self.depth = depth;
    }
}

/// The current task of a core whose switches are counted.
#[derive(Debug, Clone, Copy)]
struct RunningTask {
    task: u32,
    cause: Option<u16>,
}

/// Counts of the events in a window (time interval): calls, task switches and critical sections.
#[derive(Debug, Clone)]
pub struct EventCounts {
    identities: Identities,
    running: [Option<RunningTask>; CORES],
    sections: [Option<CriticalSectionStatistics>; CORES],
    /// Objects by core and identity, and by first argument.
    objects: HashMap<(u32, u32), u64, Quick>,
    /// Switches by core and cause, and by both tasks.
    switches: HashMap<(u32, u32, u32), u64, Quick>,
    events: u64,
}

/// Packs a core and an identity into one number.
fn pack_core_and_event_id(core: usize, id: Option<u16>) -> u32 {
    (core as u32) << 17 | id.map_or(1 << 16, u32::from)
}

/// Unpacks core and identity.
fn unpack_core_and_event_id(named: u32) -> (u8, Option<u16>) {
    ((named >> 17) as u8, (named & 1 << 16 == 0).then_some(named as u16))
}

impl EventCounts {
    /// Creates empty counts. `tasks` has the current task of each core whose switches are counted. `sections` is `None`
    /// for cores whose kernel does not count nested critical sections.
    #[must_use]
    pub fn new(
        identities: Identities,
        tasks: [Option<u32>; CORES],
        sections: [Option<CriticalSectionStatistics>; CORES],
    ) -> EventCounts {
        let running = tasks.map(|task| task.map(|task| RunningTask { task, cause: None }));
        let (objects, switches) = (HashMap::default(), HashMap::default());
        EventCounts { identities, running, sections, objects, switches, events: 0 }
    }

    /// Counts the next events, in the order of time, packed as by [`Event::encode_recorded_events`]. Bytes at the end
    /// that are no whole event are dropped.
    pub fn count_recorded_events(&mut self, records: &[u8]) {
        let count = records.len() / Event::BYTES;
        let Ok((records, _)) = <[Record]>::ref_from_prefix_with_elems(records, count) else { return };
        self.events += count as u64;
        records.iter().for_each(|record| self.count_event(record));
    }

    /// Counts one event.
    #[inline]
    fn count_event(&mut self, record: &Record) {
        let Identities { calls, current, nesting } = self.identities;
        let which = record.which.get();
        let (id, core) = (which as u16, (which >> 24) as usize % CORES);
        let kind = (which >> 16) as u8;
        let value = record.value.get();
        if kind == Kind::Exec as u8 && (calls.0..calls.1).contains(&id) {
            *self.objects.entry((pack_core_and_event_id(core, Some(id)), value)).or_default() += 1;
            if let Some(running) = &mut self.running[core] {
                running.cause = Some(id);
            }
        } else if kind == Kind::Write as u8 {
            if let Some(Some(sections)) = self.sections.get_mut(usize::from(id.wrapping_sub(nesting))) {
                sections.update_nesting_depth(record.cycle.get(), value);
            }
            let core = usize::from(id.wrapping_sub(current));
            if let Some(Some(running)) = self.running.get_mut(core)
                && running.task != value
            {
                *self
                    .switches
                    .entry((pack_core_and_event_id(core, running.cause), running.task, value))
                    .or_default() += 1;
                *running = RunningTask { task: value, cause: None };
            }
        }
    }

    /// Returns the number of events so far.
    #[must_use]
    pub fn event_count(&self) -> u64 {
        self.events
    }

    /// Returns the counted calls in order: core, identity, first argument and number.
    #[must_use]
    pub fn call_counts(&self) -> Vec<(u8, u16, u32, u64)> {
        let row = |(&(named, value), &count): (&(u32, u32), &u64)| {
            let (core, id) = unpack_core_and_event_id(named);
            (core, id.unwrap_or_default(), value, count)
        };
        let mut objects: Vec<_> = self.objects.iter().map(row).collect();
        objects.sort_unstable();
        objects
    }

    /// Returns the kinds of task switches and their numbers, in order.
    #[must_use]
    pub fn switch_counts(&self) -> Vec<(TaskSwitchKind, u64)> {
        let row = |(&(named, before, after), &count): (&(u32, u32, u32), &u64)| {
            let (core, cause) = unpack_core_and_event_id(named);
            (TaskSwitchKind { core, before, after, cause }, count)
        };
        let mut switches: Vec<_> = self.switches.iter().map(row).collect();
        switches.sort_unstable();
        switches
    }

    /// Returns the statistics of a core's critical sections. `None` if they are not counted.
    #[must_use]
    pub fn critical_sections_of_core(&self, core: usize) -> Option<CriticalSectionStatistics> {
        self.sections.get(core).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITIES: Identities = Identities { calls: (0x100, 0x1000), current: 16, nesting: 32 };

    fn tally(events: &[(u64, Kind, u16, u8, u32)], cut: usize) -> EventCounts {
        let event = |&(cycle, kind, id, core, value): &(u64, Kind, u16, u8, u32)| Event {
            cycle,
            value,
            pc: 0,
            id,
            kind: kind as u8,
            core,
            more: 0,
        };
        let events: Vec<Event> = events.iter().map(event).collect();
        let mut tally = EventCounts::new(
            IDENTITIES,
            [Some(7), None],
            [Some(CriticalSectionStatistics::new_critical_section_statistics(100, 1)), None],
        );
        let (first, rest) = events.split_at(cut.min(events.len()));
        tally.count_recorded_events(&Event::encode_recorded_events(first));
        tally.count_recorded_events(&[&Event::encode_recorded_events(rest)[..], &[0xff; Event::BYTES - 1]].concat());
        tally
    }

    #[test]
    fn counts_do_not_depend_on_chunk_boundaries() {
        use Kind::{Exec, Pin, Write};
        let events = [
            (110, Write, 32, 0, 0),
            (111, Exec, 0x100, 0, 5),
            (112, Exec, 0x101, 1, 5),
            (113, Write, 16, 1, 7),
            (114, Write, 16, 0, 8),
            (115, Write, 16, 0, 7),
            (116, Write, 17, 1, 9),
            (117, Exec, 0x1000, 0, 5),
            (118, Exec, 0xff, 0, 5),
            (119, Pin, 0x100, 0, 5),
            (120, Write, 32, 0, 1),
            (121, Write, 33, 1, 1),
            (125, Write, 32, 0, 2),
            (126, Write, 0x100, 0, 5),
            (150, Write, 32, 0, 0),
            (151, Write, 32, 0, 0),
            (152, Exec, 0x100, 0, 5),
        ];
        let kind = |before, after, cause| TaskSwitchKind { core: 0, before, after, cause };
        for cut in 0..=events.len() {
            let tally = tally(&events, cut);
            assert_eq!(tally.event_count(), 17);
            assert_eq!(tally.call_counts(), [(0, 0x100, 5, 2), (1, 0x101, 5, 1)]);
            assert_eq!(tally.switch_counts(), [(kind(7, 8, Some(0x100)), 1), (kind(8, 7, None), 1)]);
            let sections = tally.critical_sections_of_core(0).expect("counted");
            assert_eq!((sections.count, sections.cycles, sections.longest_cycles), (2, 40, 30));
            assert_eq!(tally.critical_sections_of_core(1), None);
        }
    }
}
