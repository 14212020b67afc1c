//! The profile of cached timing: how often each transition was taken, times what its instructions take. A transition
//! is known by its place in the table that keeps it.

use std::collections::HashMap;

use crate::profile::ProfileCell;
use crate::step::Step;

/// Shares kept at most: more are added up, and all that is cached with them is forgotten.
const ROOM: usize = 1 << 20;

/// The share of one instruction in a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    address: u32,
    cycles: u32,
    waits: u16,
    executions: u8,
    /// It is the core's that was to continue second.
    is_other: bool,
}

/// The content of a place of the table.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// Its shares: so many from there on.
    start: u32,
    count: u32,
}

/// The profile by core and address.
#[derive(Debug)]
pub(super) struct Account {
    /// Places of the table.
    places: usize,
    /// Entries by place of the table. Kept while the profile is off, too, so that nothing has to be forgotten when it
    /// is switched on.
    entries: Vec<Entry>,
    /// How often the transition there was taken with each core going on first. Empty while the profile is off.
    times: Vec<[u64; 2]>,
    shares: Vec<Share>,
    /// The shares of the current transition.
    fresh: Vec<Share>,
    cells: [HashMap<u32, ProfileCell>; 2],
}

impl Account {
    /// Creates the account of a table with so many places.
    pub fn new(places: usize) -> Account {
        let cells = Default::default();
        Account { places, entries: Vec::new(), times: Vec::new(), shares: Vec::new(), fresh: Vec::new(), cells }
    }

    /// The profile begins anew, or ends.
    pub fn switch(&mut self, on: bool) {
        self.cells = Default::default();
        self.times = if on { vec![[0; 2]; self.places] } else { Vec::new() };
    }

    /// Whether it is kept.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        !self.times.is_empty()
    }

    /// The transition at this place was taken, that core going on first.
    #[inline(always)]
    pub fn count(&mut self, place: usize, first: usize) {
        if let Some(times) = self.times.get_mut(place) {
            times[first & 1] += 1;
        }
    }

    /// The counters, two doublewords for each place. Null while the profile is off.
    pub fn times(&mut self) -> *mut [u64; 2] {
        if self.times.is_empty() { std::ptr::null_mut() } else { self.times.as_mut_ptr() }
    }

    /// A transition is about to be found out.
    pub fn begin(&mut self) {
        self.fresh.clear();
    }

    /// Notes what the first core, and then the other one, executed in a transition that is being found out.
    pub fn note(&mut self, steps: [&[Step]; 2]) {
        for (core, steps) in steps.into_iter().enumerate() {
            for step in steps {
                let cycles = (step.end - step.start) as u32;
                let share = Share {
                    address: step.pc,
                    cycles,
                    waits: step.bus_wait as u16,
                    executions: step.executions,
                    is_other: core != 0,
                };
                self.fresh.push(share);
            }
        }
    }

    /// The current transition is taken, that core going on first, and not cached.
    pub fn add_fresh(&mut self, first: usize) {
        if !self.is_on() {
            return;
        }
        let fresh = std::mem::take(&mut self.fresh);
        let mut times = [0; 2];
        times[first & 1] = 1;
        add(&mut self.cells, &fresh, times);
        self.fresh = fresh;
    }

    /// The current transition is cached at this place from now on. False if there is no room left.
    pub fn store(&mut self, place: usize) -> bool {
        if self.entries.is_empty() {
            self.entries = vec![Entry::default(); self.places];
        }
        self.settle(place);
        let (start, count) = (self.shares.len() as u32, self.fresh.len() as u32);
        self.entries[place] = Entry { start, count };
        self.shares.extend_from_slice(&self.fresh);
        self.shares.len() <= ROOM
    }

    /// Swaps the cached entries of two places.
    pub fn swap(&mut self, first: usize, second: usize) {
        if !self.entries.is_empty() {
            self.entries.swap(first, second);
        }
        if self.is_on() {
            self.times.swap(first, second);
        }
    }

    /// Everything cached is forgotten.
    pub fn clear(&mut self) {
        (0..self.entries.len()).for_each(|place| self.settle(place));
        self.entries.fill(Entry::default());
        self.shares.clear();
    }

    /// Takes what was counted out: core, address and cell.
    pub fn take(&mut self) -> Vec<(usize, u32, ProfileCell)> {
        (0..self.entries.len()).for_each(|place| self.settle(place));
        let cells = std::mem::take(&mut self.cells);
        (0..).zip(cells).flat_map(|(core, cells)| cells.into_iter().map(move |(at, cell)| (core, at, cell))).collect()
    }

    /// Adds up what was counted at a place.
    fn settle(&mut self, place: usize) {
        let times = self.times.get_mut(place).map(std::mem::take).unwrap_or_default();
        if times != [0; 2] {
            let Entry { start, count } = self.entries[place];
            let shares = &self.shares[start as usize..(start + count) as usize];
            add(&mut self.cells, shares, times);
        }
    }
}

/// Transitions with these shares were taken so many times with each core going on first.
fn add(cells: &mut [HashMap<u32, ProfileCell>; 2], shares: &[Share], times: [u64; 2]) {
    for share in shares {
        for (first, times) in times.into_iter().enumerate().filter(|(_, times)| *times != 0) {
            *cells[first ^ usize::from(share.is_other)].entry(share.address).or_default() += ProfileCell {
                cycles: times * u64::from(share.cycles),
                executions: times * u64::from(share.executions),
                wait_cycles: times * u64::from(share.waits),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(pc: u32, start: u64, end: u64, bus_wait: u32, executions: u8) -> Step {
        Step { pc, start, end, bus_wait, executions, ..Step::default() }
    }

    fn counted_rows(account: &mut Account) -> Vec<(usize, u32, u64, u64, u64)> {
        let counts =
            |(core, at, cell): (usize, u32, ProfileCell)| (core, at, cell.cycles, cell.executions, cell.wait_cycles);
        let mut rows: Vec<_> = account.take().into_iter().map(counts).collect();
        rows.sort_unstable();
        rows
    }

    #[test]
    fn a_transition_counts_as_often_as_it_was_taken_by_each_core() {
        let mut account = Account::new(8);
        account.switch(true);
        account.note([&[step(0x100, 10, 12, 1, 1), step(0x102, 12, 15, 0, 1)], &[step(0x200, 11, 16, 3, 0)]]);
        account.add_fresh(1);
        assert!(account.store(5));
        (0..10).for_each(|_| account.count(5, 0));
        account.swap(5, 4);
        account.count(4, 1);
        let expected = [
            (0, 0x100, 20, 10, 10),
            (0, 0x102, 30, 10, 0),
            (0, 0x200, 10, 0, 6),
            (1, 0x100, 4, 2, 2),
            (1, 0x102, 6, 2, 0),
            (1, 0x200, 50, 0, 30),
        ];
        assert_eq!(counted_rows(&mut account), expected);
        assert_eq!(counted_rows(&mut account), []);
        account.count(4, 0);
        account.begin();
        account.note([&[step(0x300, 0, 1, 0, 1)], &[]]);
        assert!(account.store(4));
        account.count(4, 0);
        account.clear();
        account.count(4, 0);
        let expected = [(0, 0x100, 2, 1, 1), (0, 0x102, 3, 1, 0), (0, 0x300, 1, 1, 0), (1, 0x200, 5, 0, 3)];
        assert_eq!(counted_rows(&mut account), expected);
    }

    #[test]
    fn switched_off_nothing_is_counted_and_nothing_forgotten() {
        let mut account = Account::new(8);
        account.swap(5, 4);
        account.note([&[step(0x100, 0, 1, 0, 1)], &[]]);
        account.add_fresh(0);
        assert!(account.store(5));
        account.count(5, 0);
        account.swap(5, 4);
        assert_eq!(counted_rows(&mut account), []);
        account.switch(true);
        (0..3).for_each(|_| account.count(4, 0));
        assert_eq!(counted_rows(&mut account), [(0, 0x100, 3, 3, 0)]);
        account.switch(false);
        account.count(4, 0);
        assert_eq!(counted_rows(&mut account), []);
    }
}
