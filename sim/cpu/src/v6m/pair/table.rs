//! Nodes by number, and transitions between them.

use std::mem::offset_of;

use super::{Node, Place};
use crate::host::{BasicBlockHashFunction, BlockTimingTransitionLayout};
use crate::timing_store::{Row, TimingTable};
use crate::v6m::block::Block;

/// log2 of the rows kept.
const ROWS: u32 = 14;
/// log2 of the nodes kept.
const NODES: u32 = 15;

/// How the row of a transition is found.
pub(super) const HASH: BasicBlockHashFunction = BasicBlockHashFunction {
    shape_bits: Block::SHAPE_BITS,
    accesses_turned: 17,
    next_shifted: 20,
    factor: 0x9e37_79b9_7f4a_7c15,
    dropped: u64::BITS - ROWS,
    row_bytes: size_of::<TimingTransitionCacheRow>(),
};

/// The result of one simulated transition of two cores, before it is cached.
pub(super) struct Outcome {
    pub node: Node,
    pub cycles: u64,
    pub waits: [u64; 2],
    /// The executed instructions of the given block, or of a spin. And what the other core executed of one.
    pub instructions: [u64; 2],
    pub swaps: bool,
    /// The cycle of the last store, from 1 on, if the ended block must report it.
    pub stored: u64,
}

impl Outcome {
    /// Returns the transition after which the other core continues, with the first one at `place`. No time passes.
    pub fn with_cores_swapped(node: &Node, place: Place) -> Outcome {
        let executed = if place.remainder.spin == 0 { place.remainder.instructions } else { 0 };
        let instructions = [executed, 0];
        let node = Node { state: node.state.with_cores_swapped(), address: node.other.address, other: place };
        Outcome { node, cycles: 0, waits: [0; 2], instructions, swaps: true, stored: 0 }
    }
}

/// A cached transition: how a basic block of one core advances both.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transition {
    /// [`Transition::timing_transition_key`]. 0 is none.
    key: u64,
    /// [`Block::next`] and [`Block::accesses`].
    block_next: u32,
    accesses: u64,
    /// How far time moved.
    pub cycles: u16,
    /// Cycles that the core and the other one lost to each other meanwhile.
    pub waits: [u8; 2],
    /// Instructions of the block.
    pub instructions: u8,
    /// The instructions that the other core executed in a [`Block::new_busy_wait_block`].
    pub spun: u8,
    /// The other core continues.
    pub swaps: bool,
    /// Number of the node after it.
    pub next: u16,
    /// [`Outcome::stored`].
    pub stored: u8,
}

impl Transition {
    /// Offsets for native code.
    pub const LAYOUT: BlockTimingTransitionLayout = BlockTimingTransitionLayout {
        key: offset_of!(Transition, key) as i32,
        block_next: offset_of!(Transition, block_next) as i32,
        accesses: offset_of!(Transition, accesses) as i32,
        cycles: offset_of!(Transition, cycles) as i32,
        waits: offset_of!(Transition, waits) as i32,
        instructions: offset_of!(Transition, instructions) as i32,
        spun: offset_of!(Transition, spun) as i32,
        swaps: offset_of!(Transition, swaps) as i32,
        next: offset_of!(Transition, next) as i32,
        stored: offset_of!(Transition, stored) as i32,
    };

    /// Returns the key of a transition: the node and the block's shape in one word that is not 0.
    #[inline(always)]
    pub fn timing_transition_key(node: u32, shape: u64) -> u64 {
        const { assert!(NODES < u64::BITS - Block::SHAPE_BITS) };
        u64::from(node + 1) << Block::SHAPE_BITS | shape
    }

    /// Returns whether this is the transition of that node and block.
    #[inline(always)]
    pub fn is_transition_of_node_and_block(&self, key: u64, block: &Block) -> bool {
        (self.key ^ key) | u64::from(self.block_next ^ block.next as u32) | (self.accesses ^ block.accesses) == 0
    }

    /// Creates a transition that leads to node `next`. `None` if a number of the outcome is too large for it.
    pub fn new(outcome: &Outcome, next: u32) -> Option<Transition> {
        let &Outcome { cycles, swaps, stored, .. } = outcome;
        let [first, other] = outcome.waits;
        let [executed, spun] = outcome.instructions;
        Some(Transition {
            cycles: cycles.try_into().ok()?,
            waits: [first.try_into().ok()?, other.try_into().ok()?],
            instructions: executed.try_into().ok()?,
            spun: spun.try_into().ok()?,
            swaps,
            next: next.try_into().ok()?,
            stored: stored.try_into().ok()?,
            ..Transition::default()
        })
    }

    /// Returns the cycle of the last store in the transition, which led to cycle `now`.
    pub fn last_store_cycle(&self, now: u64) -> u64 {
        now - u64::from(self.cycles) + u64::from(self.stored) - 1
    }

    /// Returns the transition with this key, for its place in the table.
    fn transition_with_cache_key(self, key: u64, block: &Block) -> Transition {
        Transition { key, block_next: block.next as u32, accesses: block.accesses, ..self }
    }
}

/// A row of the table: two transitions with one hash, the one used last first, in one line of the host's cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct TimingTransitionCacheRow([Transition; 2]);

const _: () = assert!(size_of::<TimingTransitionCacheRow>() == 64);

impl Row for TimingTransitionCacheRow {
    const WAYS: usize = 2;
}

/// All transitions of two cores.
pub(super) type Table = TimingTable<Node, TimingTransitionCacheRow, { 1 << ROWS }, { 1 << NODES }>;

impl Table {
    /// Returns the number of the first of two places where the transition of this key and block may be.
    #[inline(always)]
    pub fn first_slot_of_timing_transition(key: u64, block: &Block) -> usize {
        let turned = block.accesses.rotate_left(HASH.accesses_turned);
        let mixed = (key ^ turned ^ block.next << HASH.next_shifted).wrapping_mul(HASH.factor);
        2 * (mixed >> HASH.dropped) as usize
    }

    /// Returns the first of the two cached transitions in the row at this place.
    #[inline(always)]
    pub fn first_timing_transition_in_row(&self, place: usize) -> &Transition {
        &self.transition_row_with_number(place / 2).0[0]
    }

    /// Moves a transition from the second place of its row to the first. Returns false if it is not there.
    #[cold]
    #[inline(never)]
    pub fn move_timing_transition_to_first_slot(&mut self, place: usize, key: u64, block: &Block) -> bool {
        self.account.swap_timing_transition_counts(place, place + 1);
        let places = &mut self.transition_row_with_number_mut(place / 2).0;
        places.swap(0, 1);
        places[0].is_transition_of_node_and_block(key, block)
    }

    /// Caches a transition, which [`Table::move_timing_transition_to_first_slot`] did not find.
    pub fn add_timing_transition_to_cache(&mut self, key: u64, block: &Block, transition: Transition) {
        let transition = transition.transition_with_cache_key(key, block);
        self.store_simulated_timing_transition(Table::first_slot_of_timing_transition(key, block), |row| {
            row.0[0] = transition
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::v6m::block::UntimedBlockRemainder;

    fn node(times: u64) -> Node {
        let other = Place { address: 0, remainder: UntimedBlockRemainder::NONE, mask: 0, data: 0 };
        Node { state: State { times, ..State::default() }, address: 0, other }
    }

    fn outcome(cycles: u64) -> Outcome {
        Outcome { node: node(0), cycles, waits: [0; 2], instructions: [1, 0], swaps: false, stored: 0 }
    }

    #[test]
    fn full_timing_node_table_is_cleared() {
        let mut table = Table::default();
        for times in 0..1 << NODES {
            assert_eq!(table.timing_node_number_or_clear_table(node(times)) as u64, times);
        }
        assert_eq!(table.timing_node_number_or_clear_table(node(77)), 77);
        assert_eq!(table.number_of_node(node(1 << NODES)), None);
        assert_eq!(table.timing_node_number_or_clear_table(node(1 << NODES)), 0);
        assert_eq!(table.number_of_node(node(77)), Some(1));
    }

    #[test]
    fn full_row_evicts_older_transition() {
        let mut table = Table::default();
        let block = Block { shape: 9, next: 0x40, accesses: 0x9 };
        let nodes = (0..1 << 12).flat_map(|node| (0..1 << 8).map(move |branches| (node, branches)));
        let all: Vec<u64> = nodes
            .map(|(node, branches)| Transition::timing_transition_key(node, Block::shape_of_path(8, branches)))
            .collect();
        let place = Table::first_slot_of_timing_transition(all[0], &block);
        let alike: Vec<u64> = all
            .into_iter()
            .filter(|&key| Table::first_slot_of_timing_transition(key, &block) == place)
            .take(3)
            .collect();
        let mut store = |key: u64, cycles: u64| {
            assert!(!table.move_timing_transition_to_first_slot(place, key, &block));
            let transition = Transition::new(&outcome(cycles), 0).expect("small numbers");
            table.add_timing_transition_to_cache(key, &block, transition);
        };
        (0..).zip(&alike).for_each(|(cycles, &key)| store(key, cycles));
        assert!(!table.move_timing_transition_to_first_slot(place, alike[0], &block));
        for (cycles, &key) in (1..).zip(&alike[1..]) {
            assert!(
                table.first_timing_transition_in_row(place).is_transition_of_node_and_block(key, &block)
                    || table.move_timing_transition_to_first_slot(place, key, &block)
            );
            assert_eq!(table.first_timing_transition_in_row(place).cycles, cycles);
        }
        let other = Block { accesses: 0xa, ..block };
        assert!(
            !table
                .first_timing_transition_in_row(Table::first_slot_of_timing_transition(alike[2], &other))
                .is_transition_of_node_and_block(alike[2], &other)
        );
    }

    #[test]
    fn large_timing_transition_is_not_cached() {
        assert!(Transition::new(&outcome(1), 0).is_some());
        assert!(Transition::new(&outcome(1 << 16), 0).is_none());
        assert!(Transition::new(&Outcome { waits: [0, 256], ..outcome(1) }, 0).is_none());
        assert!(Transition::new(&Outcome { stored: 256, ..outcome(1) }, 0).is_none());
        assert!(Transition::new(&outcome(1), 1 << 16).is_none());
    }
}
