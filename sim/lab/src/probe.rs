//! Probes on addresses: what to do when an instruction issues or a word is written.

use std::collections::HashMap;

use crate::between::Between;
use crate::event::{Event, Kind};
use crate::quick::Quick;

/// Cores of a machine, at most.
const CORES: usize = 2;

/// What a probe tells, in this order where several are at one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tells {
    /// A watched call has returned here.
    Return,
    /// The instruction issues.
    Issue,
    /// A call, with the second argument.
    Second,
    /// A call, with the third argument.
    Third,
}

impl Tells {
    fn is_call(self) -> bool {
        self >= Tells::Second
    }
}

#[derive(Debug, Default, Clone)]
struct Site {
    address: u32,
    /// Where the call that was seen here last returns to, and that site's number; an odd address: not looked up.
    behind: (u32, u32),
    until: bool,
    /// It has a call among its probes.
    calls: bool,
    /// It begins or ends intervals.
    measures: bool,
    /// Watched calls in progress that return here, by core.
    pending: [u32; CORES],
    /// Returns first, calls last; each kind in the order in which its probes were set.
    probes: Vec<(Tells, u16)>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Site {
    fn tell(&mut self, tells: Tells, id: u16) {
        let kind = tells.min(Tells::Second);
        let behind = self.probes.partition_point(|(other, _)| (*other).min(Tells::Second) <= kind);
        self.probes.insert(behind, (tells, id));
        self.calls |= tells.is_call();
    }

    fn is_returned_to(&self) -> bool {
        self.probes.first().is_some_and(|(tells, _)| *tells == Tells::Return)
    }
}

#[derive(Debug, Clone, Copy)]
struct Watch {
    id: u16,
    stop: bool,
}

/// What the core holds as a probed instruction issues.
#[derive(Debug, Clone, Copy, Default)]
pub struct Held {
    /// First argument of a call.
    pub r0: u32,
    /// Second argument.
    pub r1: u32,
    /// Third argument.
    pub r2: u32,
    /// Where a call returns to.
    pub lr: u32,
}

impl Held {
    /// Of a core's registers, R0 to R15 first.
    pub fn of(registers: &[u32]) -> Held {
        Held { r0: registers[0], r1: registers[1], r2: registers[2], lr: registers[14] }
    }
}

/// All probes of a machine and what they recorded.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    sites: Vec<Site>,
    /// Their numbers by address.
    numbers: HashMap<u32, u32, Quick>,
    /// Where the run stops: few addresses.
    stops: Vec<u32>,
    /// Words behind whose writes it stops: likewise.
    write_stops: Vec<u32>,
    watches: HashMap<u32, Watch, Quick>,
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
        self.numbers.contains_key(&address)
    }

    /// The number of the site at this address, which stays the same; any other number if there is none.
    pub fn number(&self, address: u32) -> u32 {
        self.numbers.get(&address).copied().unwrap_or(u32::MAX)
    }

    /// The site at this address, an empty one if there was none.
    fn site(&mut self, address: u32) -> &mut Site {
        let number = *self.numbers.entry(address).or_insert(self.sites.len() as u32) as usize;
        if number == self.sites.len() {
            self.sites.push(Site { address, behind: (1, 0), ..Site::default() });
        }
        &mut self.sites[number]
    }

    /// True if the run stops before the instruction at `address`.
    pub fn stops_at(&self, address: u32) -> bool {
        self.stops.contains(&address)
    }

    /// True if the run stops behind a write to the word at `address` (aligned).
    pub fn stops_at_write(&self, address: u32) -> bool {
        self.write_stops.contains(&address)
    }

    /// Stops the run when `address` is about to execute.
    pub fn until(&mut self, address: u32) {
        self.site(address).until = true;
        self.stops.push(address);
    }

    /// No longer stops the run at `address`; whoever calls it looks at the instruction again.
    pub fn end_until(&mut self, address: u32) {
        let number = self.number(address);
        if let Some(site) = self.sites.get_mut(number as usize) {
            site.until = false;
        }
        self.stops.retain(|stop| *stop != address);
    }

    /// No longer tells writes to the word at `address`.
    pub fn end_watch(&mut self, address: u32) {
        self.watches.remove(&(address & !3));
        self.write_stops.retain(|stop| *stop != address & !3);
    }

    /// Records an event each time `address` is about to execute.
    pub fn watch_exec(&mut self, address: u32, id: u16) {
        self.site(address).tell(Tells::Issue, id);
    }

    /// As [`Probes::watch_exec`] for a function's first instruction: the event tells who calls, and with what: beside the
    /// first argument the second, or the `third` instead.
    pub fn watch_call(&mut self, address: u32, id: u16, third: bool) {
        self.site(address).tell(if third { Tells::Third } else { Tells::Second }, id);
    }

    /// Records an event each time a watched call returns to `address`, and not where a branch leads there.
    pub fn watch_return(&mut self, address: u32, id: u16) {
        self.site(address).tell(Tells::Return, id);
        self.sites.iter_mut().for_each(|site| site.behind.0 = 1);
    }

    /// Measures from `start` to `end`; the result is found under the returned index.
    pub fn add_between(&mut self, start: u32, end: u32) -> usize {
        let index = self.between.len();
        self.between.push(Between::default());
        let begins = self.site(start);
        begins.measures = true;
        begins.starts.push(index);
        let finishes = self.site(end);
        finishes.measures = true;
        finishes.ends.push(index);
        index
    }

    /// Result of [`Probes::add_between`].
    pub fn between(&self, index: usize) -> Option<&Between> {
        self.between.get(index)
    }

    /// The instruction at `address` issues. True if the run must stop before it: intervals that end here are closed
    /// then, and `resumed` tells the second call that this has happened.
    pub fn issue(&mut self, address: u32, core: usize, cycle: u64, held: Held, resumed: bool) -> bool {
        self.issue_at(self.number(address), address, core, cycle, held, resumed)
    }

    /// The same, of an address whose [`Probes::number`] may be known.
    pub fn issue_at(&mut self, number: u32, address: u32, core: usize, cycle: u64, held: Held, resumed: bool) -> bool {
        let is_right = self.sites.get(number as usize).is_some_and(|site| site.address == address);
        let number = if is_right { number } else { self.number(address) };
        let Some(site) = self.sites.get_mut(number as usize) else {
            return false;
        };
        // Ends first: with equal addresses an execution closes the previous interval, then opens the next.
        if !resumed {
            if site.measures {
                site.ends.iter().for_each(|&index| self.between[index].end(core, cycle));
            }
            if site.until {
                return true;
            }
        }
        let has_returned = site.pending[core] > 0;
        site.pending[core] -= u32::from(has_returned);
        for &(tells, id) in &site.probes {
            let (pc, more) = match tells {
                Tells::Return if !has_returned => continue,
                Tells::Return | Tells::Issue => (address, 0),
                Tells::Second => (held.lr, held.r1),
                Tells::Third => (held.lr, held.r2),
            };
            let kind = Kind::Exec as u8;
            self.events.push(Event { cycle, value: held.r0, pc, id, kind, core: core as u8, more });
        }
        if site.measures {
            site.starts.iter().for_each(|&index| self.between[index].start(core, cycle));
        }
        if site.calls {
            let returns_to = held.lr & !1;
            if site.behind.0 != returns_to {
                self.sites[number as usize].behind = (returns_to, self.number(returns_to));
            }
            let (_, behind) = self.sites[number as usize].behind;
            if let Some(site) = self.sites.get_mut(behind as usize).filter(|site| site.is_returned_to()) {
                site.pending[core] += 1;
            }
        }
        false
    }

    /// Watches the word at `address` (4-byte aligned) for writes; `stop` ends the run behind the write.
    pub fn watch_write(&mut self, address: u32, id: u16, stop: bool) {
        self.end_watch(address);
        self.watches.insert(address & !3, Watch { id, stop });
        self.write_stops.extend(stop.then_some(address & !3));
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
            more: 0,
        });
        watch.stop
    }

    /// Appends an event of another kind.
    pub fn record(&mut self, kind: Kind, core: usize, cycle: u64, id: u16, value: u32, pc: u32) {
        self.events.push(Event { cycle, value, pc, id, kind: kind as u8, core: core as u8, more: 0 });
    }

    /// What was recorded becomes what had been recorded `then`; the probes themselves stay where they are. Intervals
    /// that were not measured then are empty.
    pub fn rewind(&mut self, then: &Probes) {
        // Every field by name, so that a new instrument is not forgotten here.
        let Probes {
            sites: _,
            numbers: _,
            stops: _,
            write_stops: _,
            watches: _,
            between,
            events,
            trace_exceptions: _,
            trace_pins: _,
        } = then;
        self.events.clone_from(events);
        for site in &mut self.sites {
            let before = then.sites.get(then.number(site.address) as usize);
            site.pending = before.map_or([0; CORES], |then| then.pending);
        }
        for (index, result) in self.between.iter_mut().enumerate() {
            *result = between.get(index).cloned().unwrap_or_default();
        }
    }

    /// Addresses with a probe on their instruction.
    pub fn sites(&self) -> impl Iterator<Item = u32> {
        self.sites.iter().map(|site| site.address)
    }

    /// Addresses of watched words.
    pub fn watched(&self) -> impl Iterator<Item = u32> {
        self.watches.keys().copied()
    }

    /// Takes the events recorded so far. As many are expected next time: room that grows is copied again and again.
    pub fn take_events(&mut self) -> Vec<Event> {
        let room = Vec::with_capacity(self.events.len());
        std::mem::replace(&mut self.events, room)
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
        assert!(!probes.issue(0x100, 0, 10, Held::default(), false));
        assert!(probes.issue(0x200, 0, 17, Held::default(), false));
        assert!(!probes.issue(0x200, 0, 17, Held::default(), true));
        let result = probes.between(interval).unwrap();
        assert_eq!((result.count, result.total_cycles), (1, 7));
    }

    #[test]
    fn one_address_as_both_ends_measures_from_execution_to_execution() {
        let mut probes = Probes::default();
        let interval = probes.add_between(0x100, 0x100);
        for cycle in [5, 25, 60] {
            probes.issue(0x100, 0, cycle, Held::default(), false);
        }
        let result = probes.between(interval).unwrap();
        assert_eq!((result.count, result.min_cycles, result.max_cycles), (2, Some(20), Some(35)));
    }

    #[test]
    fn rewound_probes_stay_and_forget_what_came_later() {
        let mut probes = Probes::default();
        let early = probes.add_between(0x100, 0x200);
        probes.watch_exec(0x100, 1);
        probes.issue(0x100, 0, 10, Held::default(), false);
        let then = probes.clone();
        let late = probes.add_between(0x100, 0x100);
        probes.issue(0x200, 0, 17, Held::default(), false);
        probes.issue(0x100, 0, 20, Held::default(), false);
        probes.issue(0x100, 0, 21, Held::default(), false);
        probes.rewind(&then);
        assert_eq!(probes.between(early).map(|each| each.count), Some(0));
        assert_eq!(probes.between(late).map(|each| each.count), Some(0));
        assert_eq!(probes.take_events().len(), 1);
        // The interval that was open then is open again.
        probes.issue(0x200, 0, 15, Held::default(), false);
        assert_eq!(probes.between(early).map(|each| each.total_cycles), Some(5));
        assert!(probes.watches_code(0x200));
    }

    #[test]
    fn a_watched_call_tells_its_caller_and_two_arguments() {
        let mut probes = Probes::default();
        probes.watch_exec(0x100, 1);
        probes.watch_call(0x100, 2, false);
        probes.watch_call(0x100, 3, true);
        probes.issue(0x100, 1, 10, Held { r0: 3, r1: 4, r2: 5, lr: 0x555 }, false);
        let seen: Vec<_> = probes.take_events().iter().map(|each| (each.id, each.value, each.more, each.pc)).collect();
        assert_eq!(seen, [(1, 3, 0, 0x100), (2, 3, 4, 0x555), (3, 3, 5, 0x555)]);
        assert_eq!(probes.sites().collect::<Vec<_>>(), [0x100]);
    }

    #[test]
    fn only_a_call_returns() {
        let mut probes = Probes::default();
        probes.watch_call(0x100, 1, false);
        probes.watch_return(0x554, 2);
        let at = |probes: &mut Probes, address, lr| {
            probes.issue(address, 0, 10, Held { r0: 7, lr, ..Held::default() }, false)
        };
        at(&mut probes, 0x554, 0);
        at(&mut probes, 0x100, 0x555);
        at(&mut probes, 0x554, 0);
        at(&mut probes, 0x554, 0);
        let seen: Vec<_> = probes.take_events().iter().map(|each| (each.id, each.value)).collect();
        assert_eq!(seen, [(1, 7), (2, 7)]);
    }

    #[test]
    fn a_return_is_seen_although_it_is_watched_only_after_a_call() {
        let mut probes = Probes::default();
        probes.watch_call(0x100, 1, false);
        let call = |probes: &mut Probes, lr| {
            probes.issue(0x100, 0, 10, Held { lr, ..Held::default() }, false);
            probes.issue(lr & !1, 0, 11, Held::default(), false);
            probes.take_events().len()
        };
        assert_eq!([0x555, 0x555].map(|lr| call(&mut probes, lr)), [1, 1]);
        probes.watch_return(0x554, 2);
        assert_eq!([0x555, 0x777, 0x555].map(|lr| call(&mut probes, lr)), [2, 1, 2]);
    }

    #[test]
    fn a_number_that_is_not_the_sites_is_not_believed() {
        let mut probes = Probes::default();
        probes.watch_exec(0x100, 1);
        probes.watch_exec(0x200, 2);
        let number = probes.number(0x200);
        for guess in [number, probes.number(0x100), probes.number(0x300), 77] {
            assert!(!probes.issue_at(guess, 0x200, 0, 10, Held::default(), false));
            assert!(!probes.issue_at(guess, 0x300, 0, 10, Held::default(), false));
        }
        assert_eq!(probes.take_events().iter().map(|each| each.id).collect::<Vec<_>>(), [2; 4]);
    }

    #[test]
    fn returns_are_told_first_and_calls_last() {
        let mut probes = Probes::default();
        probes.watch_call(0x100, 5, true);
        probes.watch_exec(0x100, 3);
        probes.watch_call(0x100, 6, false);
        probes.watch_return(0x100, 1);
        probes.watch_exec(0x100, 4);
        probes.watch_return(0x100, 2);
        let lr = 0x101;
        (0..2).for_each(|_| assert!(!probes.issue(0x100, 0, 10, Held { lr, ..Held::default() }, false)));
        let ids: Vec<_> = probes.take_events().iter().map(|each| each.id).collect();
        assert_eq!(ids, [3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn an_ended_probe_stops_nothing_and_leaves_the_others() {
        let mut probes = Probes::default();
        probes.until(0x100);
        probes.watch_exec(0x100, 1);
        probes.watch_write(0x2000_0004, 3, true);
        assert!(probes.stops_at(0x100) && !probes.stops_at(0x200) && probes.stops_at_write(0x2000_0004));
        probes.end_until(0x100);
        probes.end_until(0x200);
        probes.end_watch(0x2000_0006);
        assert!(!probes.stops_at(0x100));
        assert!(!probes.issue(0x100, 0, 10, Held::default(), false));
        assert!(!probes.written(0x2000_0004, 1, 0, 9, 0));
        assert_eq!(probes.take_events().len(), 1);
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
