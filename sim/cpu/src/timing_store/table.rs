//! The table of a timing cache: nodes by number, transitions between them, and how often each was taken.

use std::hash::Hash;

use super::account::Account;
use super::states::NumberedStateSet;
use crate::profile::ProfileCell;

/// A row of a timing table: the transitions that share a hash.
pub(crate) trait Row: Copy + Default {
    /// How many transitions a row has room for.
    const WAYS: usize;

    /// Returns how often the row's transition was taken, and sets that count to 0. By default rows do not count:
    /// [`Account`] does.
    #[inline(always)]
    fn take_count(&mut self) -> u64 {
        0
    }
}

/// The table of a timing cache, with up to `NODES` nodes (states) and `ROWS` rows of transitions between them. If there
/// is no room for a node, the whole table is cleared.
#[derive(Debug)]
pub(crate) struct TimingTable<N, R, const ROWS: usize, const NODES: usize> {
    rows: Box<[R; ROWS]>,
    nodes: NumberedStateSet<N, NODES>,
    /// The profile of the cached transitions. A transition's place in it is its row's number times the ways, and its
    /// own way.
    pub account: Account,
}

impl<N, R: Row, const ROWS: usize, const NODES: usize> Default for TimingTable<N, R, ROWS, NODES> {
    /// Returns an empty table.
    fn default() -> Self {
        // Never on the stack.
        let rows = vec![R::default(); ROWS].into_boxed_slice().try_into();
        let Ok(rows) = rows else { unreachable!("as long as the array") };
        TimingTable { rows, nodes: NumberedStateSet::default(), account: Account::new(ROWS * R::WAYS) }
    }
}

impl<N: Copy + Eq + Hash, R: Row, const ROWS: usize, const NODES: usize> TimingTable<N, R, ROWS, NODES> {
    /// Forgets all nodes and transitions, but not the profile.
    pub fn clear_timing_nodes_and_transitions(&mut self) {
        self.add_all_transitions_to_profile();
        if !self.nodes.is_empty() {
            self.rows.fill(R::default());
            self.nodes.clear_timing_states();
            self.account.drop_transition_cycle_shares();
        }
    }

    /// Returns the node with this number.
    pub fn node_with_number(&self, number: u32) -> &N {
        self.nodes.timing_state_with_number(number)
    }

    /// Returns the number of a node, which is added if it is new. `None` if there is no room for it.
    pub fn number_of_node(&mut self, node: N) -> Option<u32> {
        self.nodes.find_or_add_timing_state(node)
    }

    /// Returns the number of a node as [`TimingTable::number_of_node`] does, but first compares it with the last node
    /// at this address, which is faster.
    pub fn timing_node_number_with_hint(&mut self, address: u32, node: N) -> Option<u32> {
        self.nodes.find_or_add_state_using_hint(address as usize / 2, node)
    }

    /// Returns the number of a node. If there is no room for it, the table is cleared first.
    pub fn timing_node_number_or_clear_table(&mut self, node: N) -> u32 {
        self.number_of_node(node).unwrap_or_else(|| {
            self.clear_timing_nodes_and_transitions();
            self.number_of_node(node).expect("an empty table has room")
        })
    }

    /// Returns the row of transitions with this number.
    #[inline(always)]
    pub fn transition_row_with_number(&self, number: usize) -> &R {
        const { assert!(ROWS.is_power_of_two()) };
        &self.rows[number % ROWS]
    }

    /// Returns the row of transitions with this number, to be changed.
    #[inline(always)]
    pub fn transition_row_with_number_mut(&mut self, number: usize) -> &mut R {
        const { assert!(ROWS.is_power_of_two()) };
        &mut self.rows[number % ROWS]
    }

    /// Stores the transition that was simulated last: `change` writes it into its row, and `place` is its place in the
    /// account.
    pub fn store_simulated_timing_transition(&mut self, place: usize, change: impl FnOnce(&mut R)) {
        self.add_transition_to_profile(place);
        self.account.assign_cycle_shares_to_timing_transition(place);
        change(self.transition_row_with_number_mut(place / R::WAYS));
    }

    /// Removes the profile of the cached timing so far and returns it, as (core, instruction address, cycles and
    /// executions).
    pub fn take_profile(&mut self) -> impl Iterator<Item = (usize, u32, ProfileCell)> + use<N, R, ROWS, NODES> {
        self.add_all_transitions_to_profile();
        self.account.take_profile()
    }

    /// Returns the host address of the array of nodes. It is valid until a node is added.
    pub fn timing_node_array_address(&self) -> *const N {
        self.nodes.timing_state_array_address()
    }

    /// Returns the host address of the table's rows.
    pub fn transition_rows_host_address(&self) -> u64 {
        self.rows.as_ptr() as u64
    }

    /// Adds the cycles of all transitions, times how often they were taken, to the profile.
    fn add_all_transitions_to_profile(&mut self) {
        if self.nodes.is_empty() {
            return;
        }
        (0..ROWS * R::WAYS).for_each(|place| self.add_transition_to_profile(place));
    }

    /// Adds the cycles of the transition at this place, times how often it was taken, to the profile.
    fn add_transition_to_profile(&mut self, place: usize) {
        let own = self.transition_row_with_number_mut(place / R::WAYS).take_count();
        self.account.add_counted_cycle_shares_to_profile(place, own);
    }
}

#[cfg(test)]
mod tests {
    use super::super::account::InstructionCycleShare;
    use super::*;

    impl Row for u64 {
        const WAYS: usize = 1;
    }

    /// A transition that counts itself: a name, and how often it was taken.
    impl Row for (u8, u64) {
        const WAYS: usize = 1;

        fn take_count(&mut self) -> u64 {
            std::mem::take(&mut self.1)
        }
    }

    #[test]
    fn full_timing_table_is_cleared() {
        let mut table = TimingTable::<u32, u64, 8, 2>::default();
        assert_eq!([5, 6, 5, 7].map(|node| table.number_of_node(node)), [Some(0), Some(1), Some(0), None]);
        table.store_simulated_timing_transition(3, |row| *row = 9);
        assert_eq!(
            (
                *table.transition_row_with_number(3),
                *table.transition_row_with_number(3 + 8),
                *table.node_with_number(1)
            ),
            (9, 9, 6)
        );
        assert_eq!((table.timing_node_number_or_clear_table(6), *table.transition_row_with_number(3)), (1, 9));
        assert_eq!(
            (
                table.timing_node_number_or_clear_table(7),
                *table.transition_row_with_number(3),
                table.timing_node_number_with_hint(0x100, 5)
            ),
            (0, 0, Some(1))
        );
    }

    #[test]
    fn counts_survive_transition_overwrite() {
        let mut table = TimingTable::<u32, (u8, u64), 8, 2>::default();
        let store = |table: &mut TimingTable<_, _, 8, 2>, address, name| {
            table.timing_node_number_or_clear_table(5);
            table.account.clear_simulated_cycle_shares();
            table.account.add_cycle_share_to_transition(InstructionCycleShare {
                address,
                cycles: 2,
                waits: 1,
                executions: 1,
                is_other: false,
            });
            table.store_simulated_timing_transition(3, |row| *row = (name, 0));
        };
        store(&mut table, 0x100, b'a');
        table.transition_row_with_number_mut(3).1 += 10;
        store(&mut table, 0x200, b'b');
        table.transition_row_with_number_mut(3).1 += 1;
        table.clear_timing_nodes_and_transitions();
        store(&mut table, 0x300, b'c');
        let mut profile: Vec<_> = table.take_profile().map(|(_, address, cell)| (address, cell.cycles)).collect();
        profile.sort_unstable();
        assert_eq!(profile, [(0x100, 20), (0x200, 2)]);
    }
}
