//! The profile of cached timing: how often each transition was taken, times what its instructions take. A transition
//! is known by its place in the table that keeps it.

use super::states::QuickMap;
use crate::profile::ProfileCell;

/// Shares stored before those that no transition has any more are dropped.
const ROOM: usize = 1 << 20;

/// The share of one instruction in a cached transition (an entry of the timing cache): its cycles and waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstructionCycleShare {
    /// The instruction's address.
    pub address: u32,
    /// Its cycles.
    pub cycles: u32,
    /// The part of these that it waited.
    pub waits: u16,
    /// 1, or 0 if it ends in another transition.
    pub executions: u8,
    /// It is the core's that was to continue second.
    pub is_other: bool,
}

/// The range, in the list of shares, of the shares that belong to the transition at one place of the timing table.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    start: u32,
    count: u32,
}

impl Entry {
    /// Returns the range as indices into the list of shares.
    fn cycle_share_index_range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }
}

/// The profile of instructions whose cycles come from the timing cache, by core and address.
#[derive(Debug)]
pub(crate) struct Account {
    /// Places of the table.
    places: usize,
    /// Entries by place of the table. Kept while the profile is off, too, so that nothing has to be forgotten when it
    /// is switched on.
    entries: Vec<Entry>,
    /// How often the transition there was taken with each core going on first. Empty while the profile is off, and for
    /// tables whose transitions count themselves ([`Row::take_count`](super::Row::take_count)).
    counters: Vec<[u64; 2]>,
    shares: Vec<InstructionCycleShare>,
    /// The number of shares at which those of no transition are dropped.
    room: usize,
    /// The shares of the current transition.
    fresh: Vec<InstructionCycleShare>,
    cells: [QuickMap<u32, ProfileCell>; 2],
}

impl Account {
    /// Creates the profile account of a timing table with `places` places for transitions.
    pub fn new(places: usize) -> Account {
        let (entries, counters, shares, fresh) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Account { places, entries, counters, shares, room: ROOM, fresh, cells: Default::default() }
    }

    /// Starts the profile of cached timing from zero, or ends it.
    pub fn set_cached_timing_profiling(&mut self, on: bool) {
        self.cells = Default::default();
        self.counters = if on { vec![[0; 2]; self.places] } else { Vec::new() };
    }

    /// Returns whether this profile account counts transitions.
    #[inline(always)]
    pub fn is_counting_timing_transitions(&self) -> bool {
        !self.counters.is_empty()
    }

    /// Counts once the transition at this place of the timing table. `first` is the core that continues first in it.
    #[inline(always)]
    pub fn count_timing_transition(&mut self, place: usize, first: usize) {
        if let Some(counters) = self.counters.get_mut(place) {
            counters[first & 1] += 1;
        }
    }

    /// Returns a pointer to the counters of transitions: for each place of the timing table, how often its transition
    /// was taken with core 0 and with core 1 continuing first. Null while the profile is off.
    pub fn timing_transition_counters_pointer(&mut self) -> *mut [u64; 2] {
        if self.counters.is_empty() { std::ptr::null_mut() } else { self.counters.as_mut_ptr() }
    }

    /// Drops the shares of the last simulated transition, before another one is simulated.
    pub fn clear_simulated_cycle_shares(&mut self) {
        self.fresh.clear();
    }

    /// Adds the share of one instruction to the transition that is being simulated.
    pub fn add_cycle_share_to_transition(&mut self, share: InstructionCycleShare) {
        self.fresh.push(share);
    }

    /// Counts once the transition that was just simulated. `first` is the core that continues first in it.
    pub fn count_simulated_timing_transition(&mut self, first: usize) {
        let mut times = [0; 2];
        times[first & 1] = 1;
        add_cycle_shares_to_profile(&mut self.cells, &self.fresh, times);
    }

    /// Assigns the shares of the transition that was just simulated to this place of the timing table.
    pub(super) fn assign_cycle_shares_to_timing_transition(&mut self, place: usize) {
        if self.entries.is_empty() {
            self.entries = vec![Entry::default(); self.places];
        }
        let (start, count) = (self.shares.len() as u32, self.fresh.len() as u32);
        self.entries[place] = Entry { start, count };
        self.shares.extend_from_slice(&self.fresh);
        if self.shares.len() > self.room {
            self.drop_unassigned_cycle_shares();
        }
    }

    /// Drops the shares that belong to no place of the timing table any more.
    #[cold]
    fn drop_unassigned_cycle_shares(&mut self) {
        let mut used = Vec::new();
        for entry in &mut self.entries {
            let start = used.len() as u32;
            used.extend_from_slice(&self.shares[entry.cycle_share_index_range()]);
            entry.start = start;
        }
        self.room = ROOM.max(2 * used.len());
        self.shares = used;
    }

    /// Swaps the profile's counts for two places of the timing table.
    pub fn swap_timing_transition_counts(&mut self, first: usize, second: usize) {
        if !self.entries.is_empty() {
            self.entries.swap(first, second);
        }
        if self.is_counting_timing_transitions() {
            self.counters.swap(first, second);
        }
    }

    /// Drops the shares of all transitions. The caller has added their counts to the profile before.
    pub(super) fn drop_transition_cycle_shares(&mut self) {
        self.entries.fill(Entry::default());
        self.shares.clear();
    }

    /// Adds the shares of the transition at a place, times how often the transition was taken, to the profile.
    pub(super) fn add_counted_cycle_shares_to_profile(&mut self, place: usize, own: u64) {
        let mut times = self.counters.get_mut(place).map(std::mem::take).unwrap_or_default();
        times[0] += own;
        if times != [0; 2] {
            let shares = self.entries.get(place).map_or(&[][..], |entry| &self.shares[entry.cycle_share_index_range()]);
            add_cycle_shares_to_profile(&mut self.cells, shares, times);
        }
    }

    /// Removes the profile and returns it, as (core, instruction address, cycles and executions of that instruction).
    pub(super) fn take_profile(&mut self) -> impl Iterator<Item = (usize, u32, ProfileCell)> + use<> {
        let cells = std::mem::take(&mut self.cells);
        (0..).zip(cells).flat_map(|(core, cells)| cells.into_iter().map(move |(at, cell)| (core, at, cell)))
    }
}

/// Adds these shares to the profile cells of each core. `times` has how often their transition was taken with core 0
/// and with core 1 continuing first.
fn add_cycle_shares_to_profile(
    cells: &mut [QuickMap<u32, ProfileCell>; 2],
    shares: &[InstructionCycleShare],
    times: [u64; 2],
) {
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

    fn share(address: u32, cycles: u32, waits: u16) -> InstructionCycleShare {
        InstructionCycleShare { address, cycles, waits, executions: 1, is_other: false }
    }

    fn note(account: &mut Account, shares: [&[InstructionCycleShare]; 2]) {
        account.clear_simulated_cycle_shares();
        let [first, other] = shares;
        first.iter().for_each(|&share| account.add_cycle_share_to_transition(share));
        other.iter().for_each(|&share| {
            account.add_cycle_share_to_transition(InstructionCycleShare { is_other: true, ..share })
        });
    }

    fn profile_rows_of_account(account: &mut Account) -> Vec<(usize, u32, u64, u64, u64)> {
        (0..account.places).for_each(|place| account.add_counted_cycle_shares_to_profile(place, 0));
        let counts =
            |(core, at, cell): (usize, u32, ProfileCell)| (core, at, cell.cycles, cell.executions, cell.wait_cycles);
        let mut rows: Vec<_> = account.take_profile().map(counts).collect();
        rows.sort_unstable();
        rows
    }

    #[test]
    fn timing_transition_is_counted_per_core() {
        let mut account = Account::new(8);
        account.set_cached_timing_profiling(true);
        note(&mut account, [&[share(0x100, 2, 1), share(0x102, 3, 0)], &[share(0x200, 5, 3)]]);
        account.count_simulated_timing_transition(1);
        account.assign_cycle_shares_to_timing_transition(5);
        (0..10).for_each(|_| account.count_timing_transition(5, 0));
        account.swap_timing_transition_counts(5, 4);
        account.count_timing_transition(4, 1);
        let expected = [
            (0, 0x100, 20, 10, 10),
            (0, 0x102, 30, 10, 0),
            (0, 0x200, 10, 2, 6),
            (1, 0x100, 4, 2, 2),
            (1, 0x102, 6, 2, 0),
            (1, 0x200, 50, 10, 30),
        ];
        assert_eq!(profile_rows_of_account(&mut account), expected);
        assert_eq!(profile_rows_of_account(&mut account), []);
    }

    /// The same instruction twice, as in a loop, one that takes no time, and a part that does not end the instruction.
    #[test]
    fn each_cycle_share_is_counted_separately() {
        let mut account = Account::new(8);
        let part = InstructionCycleShare { executions: 0, ..share(0x108, 1, 0) };
        note(&mut account, [&[share(0x100, 5, 2), share(0x104, 0, 0), share(0x100, 3, 0), part], &[]]);
        account.assign_cycle_shares_to_timing_transition(2);
        account.add_counted_cycle_shares_to_profile(2, 11);
        assert_eq!(
            profile_rows_of_account(&mut account),
            [(0, 0x100, 88, 22, 22), (0, 0x104, 0, 11, 0), (0, 0x108, 11, 0, 0)]
        );
        account.drop_transition_cycle_shares();
        account.add_counted_cycle_shares_to_profile(2, 1);
        assert_eq!(profile_rows_of_account(&mut account), []);
    }

    #[test]
    fn inactive_cycle_account_counts_nothing() {
        let mut account = Account::new(8);
        account.swap_timing_transition_counts(5, 4);
        note(&mut account, [&[share(0x100, 1, 0)], &[]]);
        account.assign_cycle_shares_to_timing_transition(5);
        account.count_timing_transition(5, 0);
        account.swap_timing_transition_counts(5, 4);
        assert_eq!(profile_rows_of_account(&mut account), []);
        account.set_cached_timing_profiling(true);
        (0..3).for_each(|_| account.count_timing_transition(4, 0));
        assert_eq!(profile_rows_of_account(&mut account), [(0, 0x100, 3, 3, 0)]);
        account.set_cached_timing_profiling(false);
        account.count_timing_transition(4, 0);
        assert_eq!(profile_rows_of_account(&mut account), []);
    }

    #[test]
    fn cycle_shares_vanish_with_transition() {
        let mut account = Account::new(8);
        account.set_cached_timing_profiling(true);
        account.room = 100;
        let assign = |account: &mut Account, place: usize, cycles| {
            note(account, [&[share(0x100 + 2 * place as u32, cycles, 0); 3], &[]]);
            account.assign_cycle_shares_to_timing_transition(place);
        };
        for number in 0..1000 {
            assign(&mut account, 1 + number % 6, 1);
        }
        assign(&mut account, 7, 5);
        account.room = 100;
        assign(&mut account, 1, 2);
        assert_eq!((account.room, account.shares.len()), (ROOM, 3 * 7));
        account.count_timing_transition(7, 1);
        account.count_timing_transition(1, 0);
        assert_eq!(profile_rows_of_account(&mut account), [(0, 0x102, 6, 3, 0), (1, 0x10e, 15, 3, 0)]);
    }
}
