//! Nodes by number, and transitions between them.

use super::Node;
use crate::states::States;
use crate::v6m::block::Block;

/// log2 of the transitions kept.
const TRANSITIONS: u32 = 14;
/// log2 of the nodes kept.
const NODES: u32 = 15;
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// How a basic block of one core moved both.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transition {
    /// [`Transition::key`]; 0 is none.
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
    /// What the other core executed of a [`Block::spin`].
    pub spun: u8,
    /// The other core goes on.
    pub swaps: bool,
    /// Number of the node behind it.
    pub next: u16,
}

impl Transition {
    /// Node and shape of a basic block in one word that is not 0.
    #[inline(always)]
    pub fn key(node: u32, shape: u64) -> u64 {
        u64::from(node + 1) << 32 | shape
    }

    /// Whether this is the transition of that node and block.
    #[inline(always)]
    pub fn is(&self, key: u64, block: &Block) -> bool {
        (self.key ^ key) | u64::from(self.block_next ^ block.next as u32) | (self.accesses ^ block.accesses) == 0
    }

    /// `None` if a number is too large to be kept.
    pub fn new(cycles: u64, waits: [u64; 2], instructions: [u64; 2], swaps: bool, next: u32) -> Option<Transition> {
        let [first, other] = waits;
        let [executed, spun] = instructions;
        Some(Transition {
            cycles: cycles.try_into().ok()?,
            waits: [first.try_into().ok()?, other.try_into().ok()?],
            instructions: executed.try_into().ok()?,
            spun: spun.try_into().ok()?,
            swaps,
            next: next.try_into().ok()?,
            ..Transition::default()
        })
    }

    /// With what it is found by.
    fn named(self, key: u64, block: &Block) -> Transition {
        Transition { key, block_next: block.next as u32, accesses: block.accesses, ..self }
    }
}

/// Two places for one hash, the one used last first, in one line of the host's cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Places([Transition; 2]);

const _: () = assert!(size_of::<Places>() == 64);

/// All that is remembered.
#[derive(Debug)]
pub(super) struct Table {
    transitions: Box<[Places; 1 << TRANSITIONS]>,
    nodes: States<Node, { 1 << NODES }>,
}

impl Default for Table {
    fn default() -> Table {
        // Never on the stack.
        let transitions = vec![Default::default(); 1 << TRANSITIONS].into_boxed_slice();
        Table { transitions: transitions.try_into().expect("as long as the array"), nodes: States::default() }
    }
}

impl Table {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.nodes.is_empty() {
            self.transitions.fill(Default::default());
            self.nodes.clear();
        }
    }

    /// A node by its number.
    pub fn node(&self, number: u32) -> &Node {
        self.nodes.state(number)
    }

    /// The number of a node; `None` if there is no room for it.
    pub fn number(&mut self, node: Node) -> Option<u32> {
        self.nodes.number(node)
    }

    /// The number of a node, for which everything else is forgotten if there is no room.
    pub fn number_anew(&mut self, node: Node) -> u32 {
        self.number(node).unwrap_or_else(|| {
            self.clear();
            self.number(node).expect("an empty table has room")
        })
    }

    /// Where a transition may be.
    #[inline(always)]
    pub fn places(&mut self, key: u64, block: &Block) -> &mut [Transition; 2] {
        let mixed = (key ^ block.accesses.rotate_left(17) ^ block.next << 20).wrapping_mul(ODD);
        &mut self.transitions[(mixed >> (u64::BITS - TRANSITIONS)) as usize].0
    }

    /// Brings a transition from its second place to the first; false if it is not there.
    #[cold]
    #[inline(never)]
    pub fn bring(&mut self, key: u64, block: &Block) -> bool {
        let places = self.places(key, block);
        places.swap(0, 1);
        places[0].is(key, block)
    }

    /// Remembers a transition, which [`Table::bring`] did not find.
    pub fn keep(&mut self, key: u64, block: &Block, transition: Transition) {
        self.places(key, block)[0] = transition.named(key, block);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Place, State};
    use super::*;
    use crate::v6m::block::Remainder;

    fn node(times: u64) -> Node {
        let other = Place { address: 0, remainder: Remainder::NONE, mask: 0, data: 0 };
        Node { state: State { times, ..State::default() }, address: 0, other }
    }

    #[test]
    fn without_room_for_a_node_all_is_forgotten() {
        let mut table = Table::default();
        for times in 0..1 << NODES {
            assert_eq!(table.number_anew(node(times)) as u64, times);
        }
        assert_eq!(table.number_anew(node(77)), 77);
        assert_eq!(table.number(node(1 << NODES)), None);
        assert_eq!(table.number_anew(node(1 << NODES)), 0);
        assert_eq!(table.number(node(77)), Some(1));
    }

    #[test]
    fn two_transitions_share_a_hash_and_the_older_one_gives_way() {
        let mut table = Table::default();
        let block = Block { shape: 9, next: 0x40, accesses: 0x9 };
        let all: Vec<u64> = (0..1 << 20).map(|node| Transition::key(node, block.shape)).collect();
        let place = |table: &mut Table, key: u64| table.places(key, &block).as_ptr();
        let first = place(&mut table, all[0]);
        let alike: Vec<u64> = all.into_iter().filter(|&key| place(&mut table, key) == first).take(3).collect();
        let mut keep = |key: u64, cycles: u64| {
            assert!(!table.bring(key, &block));
            let transition = Transition::new(cycles, [0; 2], [1, 0], false, 0).expect("small numbers");
            table.keep(key, &block, transition);
        };
        (0..).zip(&alike).for_each(|(cycles, &key)| keep(key, cycles));
        assert!(!table.bring(alike[0], &block));
        for (cycles, &key) in (1..).zip(&alike[1..]) {
            let found = table.places(key, &block)[0];
            assert!(found.is(key, &block) || table.bring(key, &block));
            assert_eq!(table.places(key, &block)[0].cycles, cycles);
        }
        let other = Block { accesses: 0xa, ..block };
        assert!(!table.places(alike[2], &other)[0].is(alike[2], &other));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        assert!(Transition::new(1 << 16, [0; 2], [1, 0], false, 0).is_none());
        assert!(Transition::new(1, [0, 256], [1, 0], false, 0).is_none());
        assert!(Transition::new(1, [0; 2], [1, 0], false, 1 << 16).is_none());
    }
}
