//! The table of a timing cache: nodes by number, transitions between them, and how often each was taken.
//!
//! One core and two keep other transitions and find them otherwise, so a row of the table is theirs. The common parts
//! of the caches: node numbers, the account, and eviction of everything together when the room is used up.

use std::hash::Hash;

use super::account::Account;
use crate::states::States;

/// The result of one hash lookup: one transition or more.
pub(super) trait Row: Copy + Default {
    /// How many.
    const WAYS: usize;
}

/// Up to `NODES` nodes, and `ROWS` rows of transitions.
#[derive(Debug)]
pub(super) struct CacheTable<N, R, const ROWS: usize, const NODES: usize> {
    rows: Box<[R; ROWS]>,
    nodes: States<N, NODES>,
    /// The profile of the cached transitions. A transition's place in it is its row's number times the ways, and its
    /// own way.
    pub account: Account,
}

impl<N, R: Row, const ROWS: usize, const NODES: usize> Default for CacheTable<N, R, ROWS, NODES> {
    fn default() -> Self {
        // Never on the stack.
        let rows = vec![R::default(); ROWS].into_boxed_slice().try_into();
        let Ok(rows) = rows else { unreachable!("as long as the array") };
        CacheTable { rows, nodes: States::default(), account: Account::new(ROWS * R::WAYS) }
    }
}

impl<N: Copy + Eq + Hash, R: Row, const ROWS: usize, const NODES: usize> CacheTable<N, R, ROWS, NODES> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.nodes.is_empty() {
            self.rows.fill(R::default());
            self.nodes.clear();
            self.account.clear();
        }
    }

    /// A node by its number.
    pub fn node(&self, number: u32) -> &N {
        self.nodes.state(number)
    }

    /// The number of a node. `None` if there is no room for it.
    pub fn number(&mut self, node: N) -> Option<u32> {
        self.nodes.number(node)
    }

    /// The same. Mostly it is the node that was met last at this address.
    pub fn number_at(&mut self, address: u32, node: N) -> Option<u32> {
        self.nodes.number_at(address as usize / 2, node)
    }

    /// The number of a node, for which everything else is forgotten if there is no room.
    pub fn number_anew(&mut self, node: N) -> u32 {
        self.number(node).unwrap_or_else(|| {
            self.clear();
            self.number(node).expect("an empty table has room")
        })
    }

    /// A row by its number.
    #[inline(always)]
    pub fn row(&self, number: usize) -> &R {
        const { assert!(ROWS.is_power_of_two()) };
        &self.rows[number % ROWS]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn row_mut(&mut self, number: usize) -> &mut R {
        &mut self.rows[number % ROWS]
    }

    /// The current transition is cached at this place of the account. False if everything had to be forgotten for it.
    pub fn assign_account_place(&mut self, place: usize) -> bool {
        let has_room = self.account.store(place);
        if !has_room {
            self.clear();
        }
        has_room
    }

    /// The address of the nodes, until there is another one.
    pub fn nodes(&self) -> *const N {
        self.nodes.places()
    }

    /// The address of the rows.
    pub fn rows(&self) -> u64 {
        self.rows.as_ptr() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Row for u64 {
        const WAYS: usize = 1;
    }

    #[test]
    fn where_there_is_no_room_all_is_forgotten_together() {
        let mut table = CacheTable::<u32, u64, 8, 2>::default();
        assert_eq!([5, 6, 5, 7].map(|node| table.number(node)), [Some(0), Some(1), Some(0), None]);
        *table.row_mut(3) = 9;
        assert_eq!((*table.row(3), *table.row(3 + 8), *table.node(1)), (9, 9, 6));
        assert!(table.assign_account_place(3));
        assert_eq!((table.number_anew(6), *table.row(3)), (1, 9));
        assert_eq!((table.number_anew(7), *table.row(3), table.number_at(0x100, 5)), (0, 0, Some(1)));
    }
}
