//! Probes on addresses: what to do when an instruction issues or a word is written.

use std::collections::HashMap;

use crate::between::CycleIntervalStatistics;
use crate::event::{Event, Kind};
use crate::quick::Quick;

/// Cores of a machine, at most.
const CORES: usize = 2;

/// Places behind calls of one function that are kept, at most.
const CALLERS: usize = 4;
/// No caller.
const NO_CALLERS: [(u32, u32); CALLERS] = [(1, 0); CALLERS];

/// The kinds of reports of a probe, in the order in which several probes at one address report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProbeReportKind {
    /// A watched call has returned here.
    Return,
    /// The instruction issues.
    Issue,
    /// A call, with the second argument.
    Second,
    /// A call, with the third argument.
    Third,
    /// A call, with the third and the fourth argument.
    Further,
    /// A call, with the fifth and the sixth argument, which are on the stack.
    Stacked,
}

impl ProbeReportKind {
    /// Returns whether the probe reports a call.
    fn is_call(self) -> bool {
        self >= ProbeReportKind::Second
    }
}

/// The probes at one address.
#[derive(Debug, Default, Clone)]
struct AddressProbeSite {
    address: u32,
    /// The return addresses of calls seen here, and those sites' numbers. An odd address: not looked up.
    behind: [(u32, u32); CALLERS],
    until: bool,
    /// It has a call among its probes.
    calls: bool,
    /// It reports words of the stack.
    reads_stack: bool,
    /// It begins or ends intervals.
    measures: bool,
    /// Watched calls in progress that return here, by core.
    pending: [u32; CORES],
    /// Returns first, calls last. Each kind in the order in which its probes were set.
    probes: Vec<(ProbeReportKind, u16)>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl AddressProbeSite {
    /// Adds a probe to the site, in the order of kinds.
    fn add_report_to_probe_site(&mut self, report: ProbeReportKind, id: u16) {
        let kind = report.min(ProbeReportKind::Second);
        let behind = self.probes.partition_point(|(other, _)| (*other).min(ProbeReportKind::Second) <= kind);
        self.probes.insert(behind, (report, id));
        self.calls |= report.is_call();
        self.reads_stack |= report == ProbeReportKind::Stacked;
    }

    /// Returns whether a return to this address is reported.
    #[inline]
    fn is_return_address_probed(&self) -> bool {
        self.probes.first().is_some_and(|(report, _)| *report == ProbeReportKind::Return)
    }
}

/// A probe on the writes to one word.
#[derive(Debug, Clone, Copy)]
struct Watch {
    id: u16,
    stop: bool,
}

/// The registers of a core as a probed instruction issues.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProbedRegisters {
    /// First argument of a call.
    pub r0: u32,
    /// Second argument.
    pub r1: u32,
    /// Third argument.
    pub r2: u32,
    /// Fourth argument.
    pub r3: u32,
    /// The return address of a call.
    pub lr: u32,
    /// Fifth and sixth argument. Zero unless [`Probes::probed_registers`] has read them.
    pub stacked: [u32; 2],
}

impl ProbedRegisters {
    /// Reads a core's registers, R0 to R15 first.
    #[inline]
    pub fn from_core_registers(registers: &[u32]) -> ProbedRegisters {
        ProbedRegisters {
            r0: registers[0],
            r1: registers[1],
            r2: registers[2],
            r3: registers[3],
            lr: registers[14],
            stacked: [0; 2],
        }
    }
}

/// All probes of a machine and what they recorded.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    sites: Vec<AddressProbeSite>,
    /// Their numbers by address.
    numbers: HashMap<u32, u32, Quick>,
    /// The stop addresses of the run: few.
    stops: Vec<u32>,
    /// Words after whose writes it stops: likewise.
    write_stops: Vec<u32>,
    /// Registers after whose reads it stops: likewise.
    read_stops: Vec<u32>,
    /// Watched words, by address.
    watches: Vec<(u32, Watch)>,
    between: Vec<CycleIntervalStatistics>,
    events: Vec<Event>,
    /// Record handler entries and exits.
    pub trace_exceptions: bool,
    /// Record pin edges.
    pub trace_pins: bool,
}

impl Probes {
    /// Returns whether the instruction at `address` has a probe.
    pub fn is_instruction_probed(&self, address: u32) -> bool {
        self.numbers.contains_key(&address)
    }

    /// Returns the number of the probe site (the probes at one address) at this address. It never changes. Without a
    /// site there it is any other number.
    pub fn probe_site_number(&self, address: u32) -> u32 {
        self.numbers.get(&address).copied().unwrap_or(u32::MAX)
    }

    /// Returns the probe site at this address, which is added if there was none.
    fn get_or_add_probe_site(&mut self, address: u32) -> &mut AddressProbeSite {
        let number = *self.numbers.entry(address).or_insert(self.sites.len() as u32) as usize;
        if number == self.sites.len() {
            self.sites.push(AddressProbeSite { address, behind: NO_CALLERS, ..AddressProbeSite::default() });
        }
        &mut self.sites[number]
    }

    /// Returns whether the run stops before the instruction at `address`.
    #[inline]
    pub fn does_run_stop_before_address(&self, address: u32) -> bool {
        self.stops.contains(&address)
    }

    /// Returns whether the run stops after a write to the word at `address` (aligned).
    #[inline]
    pub fn does_run_stop_after_write(&self, address: u32) -> bool {
        self.write_stops.contains(&address)
    }

    /// Makes the run stop when `address` is about to execute.
    pub fn stop_before_address(&mut self, address: u32) {
        self.get_or_add_probe_site(address).until = true;
        self.stops.push(address);
    }

    /// Removes the stop at `address` ([`Probes::stop_before_address`]). The caller decodes the instruction again.
    pub fn remove_stop_before_address(&mut self, address: u32) {
        let number = self.probe_site_number(address);
        if let Some(site) = self.sites.get_mut(number as usize) {
            site.until = false;
        }
        self.stops.retain(|stop| *stop != address);
    }

    /// Removes the watch on writes to the word at `address`.
    pub fn remove_write_watch(&mut self, address: u32) {
        self.watches.retain(|(word, _)| *word != address & !3);
        self.write_stops.retain(|stop| *stop != address & !3);
    }

    /// Makes the run stop after reads of the register at `address`.
    pub fn add_stop_after_register_read(&mut self, address: u32) {
        self.read_stops.push(address & !3);
    }

    /// Removes the stop at reads of the register at `address`.
    pub fn remove_stop_after_register_read(&mut self, address: u32) {
        self.read_stops.retain(|stop| *stop != address & !3);
    }

    /// Returns whether a read of the register at `address` stops the run.
    pub fn does_register_read_stop_run(&self, address: u32) -> bool {
        self.read_stops.contains(&(address & !3))
    }

    /// Records an event with this `id` each time `address` is about to execute.
    pub fn record_executions(&mut self, address: u32, id: u16) {
        self.get_or_add_probe_site(address).add_report_to_probe_site(ProbeReportKind::Issue, id);
    }

    /// Records an event with this `id` each time a function's first instruction is about to execute. The event has the
    /// caller and the arguments: beside the first one the second, or the `third` instead.
    pub fn record_calls(&mut self, address: u32, id: u16, third: bool) {
        self.get_or_add_probe_site(address)
            .add_report_to_probe_site(if third { ProbeReportKind::Third } else { ProbeReportKind::Second }, id);
    }

    /// Records an event with this `id` each time a function's first instruction is about to execute, with the caller
    /// and the third and the fourth argument. It follows the event of [`Probes::record_calls`], which must be set
    /// before.
    pub fn record_further_arguments(&mut self, address: u32, id: u16) {
        self.get_or_add_probe_site(address).add_report_to_probe_site(ProbeReportKind::Further, id);
    }

    /// Records an event with this `id` each time a function's first instruction is about to execute, with the caller
    /// and the fifth and the sixth argument. It follows the event of [`Probes::record_further_arguments`], which must
    /// be set before.
    pub fn record_stacked_arguments(&mut self, address: u32, id: u16) {
        self.get_or_add_probe_site(address).add_report_to_probe_site(ProbeReportKind::Stacked, id);
    }

    /// Returns a core's registers for the probes of a site. If one of them reports the stack, `read_word` reads its two
    /// words from memory without side effects. A word that is in no memory is 0.
    #[inline]
    pub fn probed_registers(
        &self,
        number: u32,
        registers: &[u32],
        read_word: impl Fn(u32) -> Option<u32>,
    ) -> ProbedRegisters {
        let mut held = ProbedRegisters::from_core_registers(registers);
        if self.sites.get(number as usize).is_some_and(|site| site.reads_stack) {
            let stack = registers[13] & !3;
            held.stacked = [0, 4].map(|offset| read_word(stack.wrapping_add(offset)).unwrap_or(0));
        }
        held
    }

    /// Records an event with this `id` each time a watched call returns to `address`, but not if a branch leads there.
    pub fn record_returns(&mut self, address: u32, id: u16) {
        self.get_or_add_probe_site(address).add_report_to_probe_site(ProbeReportKind::Return, id);
        self.sites.iter_mut().for_each(|site| site.behind = NO_CALLERS);
    }

    /// Measures the cycles from executions of `start` to executions of `end`. Returns the index for
    /// [`Probes::probe_interval_statistics`].
    pub fn add_address_interval_probe(&mut self, start: u32, end: u32) -> usize {
        let index = self.between.len();
        self.between.push(CycleIntervalStatistics::default());
        let begins = self.get_or_add_probe_site(start);
        begins.measures = true;
        begins.starts.push(index);
        let finishes = self.get_or_add_probe_site(end);
        finishes.measures = true;
        finishes.ends.push(index);
        index
    }

    /// Returns the statistics of the interval with this index ([`Probes::add_address_interval_probe`]).
    pub fn probe_interval_statistics(&self, index: usize) -> Option<&CycleIntervalStatistics> {
        self.between.get(index)
    }

    /// Fires the probes on the instruction at `address`, which issues. Returns true if the run must stop before it.
    /// Intervals that end here are closed then already, and `resumed` says so when the run continues and the probes
    /// fire again.
    pub fn fire_probes(&mut self, address: u32, core: usize, cycle: u64, held: ProbedRegisters, resumed: bool) -> bool {
        self.fire_probes_at_known_site(self.probe_site_number(address), address, core, cycle, held, resumed)
    }

    /// Fires the probes on the instruction at `address`, as [`Probes::fire_probes`] does, with the site's
    /// [`Probes::probe_site_number`] if that is known.
    pub fn fire_probes_at_known_site(
        &mut self,
        number: u32,
        address: u32,
        core: usize,
        cycle: u64,
        held: ProbedRegisters,
        resumed: bool,
    ) -> bool {
        let is_right = self.sites.get(number as usize).is_some_and(|site| site.address == address);
        let number = if is_right { number } else { self.probe_site_number(address) } as usize;
        let Some(site) = self.sites.get_mut(number) else {
            return false;
        };
        // Ends first: with equal addresses an execution closes the previous interval, then opens the next.
        if !resumed {
            if site.measures {
                site.ends.iter().for_each(|&index| self.between[index].finish_measured_interval_at_cycle(core, cycle));
            }
            if site.until {
                return true;
            }
        }
        let has_returned = site.pending[core] > 0;
        site.pending[core] -= u32::from(has_returned);
        for &(report, id) in &site.probes {
            let (pc, value, more) = match report {
                ProbeReportKind::Return if !has_returned => continue,
                ProbeReportKind::Return | ProbeReportKind::Issue => (address, held.r0, 0),
                ProbeReportKind::Second => (held.lr, held.r0, held.r1),
                ProbeReportKind::Third => (held.lr, held.r0, held.r2),
                ProbeReportKind::Further => (held.lr, held.r2, held.r3),
                ProbeReportKind::Stacked => (held.lr, held.stacked[0], held.stacked[1]),
            };
            let kind = Kind::Exec as u8;
            self.events.push(Event { cycle, value, pc, id, kind, core: core as u8, more });
        }
        if site.measures {
            site.starts.iter().for_each(|&index| self.between[index].open_cycle_interval(core, cycle));
        }
        if site.calls {
            let returns_to = held.lr & !1;
            let place = (returns_to >> 2) as usize % CALLERS;
            let (seen, mut behind) = site.behind[place];
            if seen != returns_to {
                behind = self.probe_site_number(returns_to);
                self.sites[number].behind[place] = (returns_to, behind);
            }
            if let Some(site) = self.sites.get_mut(behind as usize).filter(|site| site.is_return_address_probed()) {
                site.pending[core] += 1;
            }
        }
        false
    }

    /// Watches the word at `address` (4-byte aligned) for writes. `stop` ends the run after the write.
    pub fn record_writes(&mut self, address: u32, id: u16, stop: bool) {
        self.remove_write_watch(address);
        let place = self.watches.partition_point(|(word, _)| *word < address & !3);
        self.watches.insert(place, (address & !3, Watch { id, stop }));
        self.write_stops.extend(stop.then_some(address & !3));
    }

    /// Reports a store that changed the word at `address` (aligned) to `word`. Returns true if the run must stop.
    pub fn report_store_to_watched_word(&mut self, address: u32, word: u32, core: usize, cycle: u64, pc: u32) -> bool {
        let place = self.watches.partition_point(|(word, _)| *word < address);
        let Some(&(_, watch)) = self.watches.get(place).filter(|(word, _)| *word == address) else {
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
    pub fn append_event(&mut self, kind: Kind, core: usize, cycle: u64, id: u16, value: u32, pc: u32) {
        self.events.push(Event { cycle, value, pc, id, kind: kind as u8, core: core as u8, more: 0 });
    }

    /// Restores the recorded events and intervals to what they were `then`. The probes themselves stay where they are.
    /// Intervals that were not measured then are empty.
    pub fn restore_probe_recordings(&mut self, then: &Probes) {
        // Every field by name, so that a new instrument is not forgotten here.
        let Probes {
            sites: _,
            numbers: _,
            stops: _,
            write_stops: _,
            read_stops: _,
            watches: _,
            between,
            events,
            trace_exceptions: _,
            trace_pins: _,
        } = then;
        self.events.clone_from(events);
        for site in &mut self.sites {
            let before = then.sites.get(then.probe_site_number(site.address) as usize);
            site.pending = before.map_or([0; CORES], |then| then.pending);
        }
        for (index, result) in self.between.iter_mut().enumerate() {
            *result = between.get(index).cloned().unwrap_or_default();
        }
    }

    /// Returns the addresses with a probe on their instruction.
    pub fn addresses_with_probes(&self) -> impl Iterator<Item = u32> {
        self.sites.iter().map(|site| site.address)
    }

    /// Returns the addresses of watched words.
    pub fn watched_words(&self) -> impl Iterator<Item = u32> {
        self.watches.iter().map(|(word, _)| *word)
    }

    /// Removes the events recorded so far and returns them. Reserves memory for as many new ones.
    pub fn take_recorded_events(&mut self) -> Vec<Event> {
        let room = Vec::with_capacity(self.events.len());
        std::mem::replace(&mut self.events, room)
    }

    /// Gives the memory of events that [`Probes::take_recorded_events`] returned back, for the next ones.
    pub fn reuse_event_memory(&mut self, mut taken: Vec<Event>) {
        if self.events.is_empty() {
            taken.clear();
            self.events = taken;
        }
    }
}

#[cfg(test)]
mod tests;
