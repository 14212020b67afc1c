//! Where a core's cycles went, by call path and address.

use std::collections::HashMap;

/// Where an observation was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the call path's node.
    pub node: u32,
    /// Address of the instruction.
    pub pc: u32,
}

/// What cycles were spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Spent {
    /// Executing.
    Execute,
    /// Waiting for a bus: arbitration, bridges, busy slaves.
    Bus,
    /// Waiting for flash.
    Flash,
    /// Trying to get a spinlock that the other core holds.
    Lock,
    /// Asleep.
    Sleep,
    /// Exception entry, exit and tail-chaining.
    Exception,
    /// Held in reset, or locked up.
    Stopped,
}

/// Ways to spend cycles.
pub const WAYS: usize = 7;

/// Cycles by [`Spent`], and instructions completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// By [`Spent`].
    pub cycles: [u64; WAYS],
    /// Instructions completed.
    pub executions: u64,
}

/// A stretch of time at one place; the ways in the order in which it was spent.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    place: Place,
    start: u64,
    end: u64,
    cost: Cost,
}

/// The order in which the part of a piece before a cut is taken.
const ORDER: [Spent; WAYS] =
    [Spent::Flash, Spent::Bus, Spent::Lock, Spent::Sleep, Spent::Stopped, Spent::Exception, Spent::Execute];

/// One core's account. Every cycle up to [`Costs::until`] is in it once.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// The last piece; its end may lie beyond the end of a window.
    last: Piece,
    by_place: HashMap<Place, Cost, Quick>,
    from: u64,
}

impl Costs {
    /// An account that begins at a cycle.
    pub fn new(at: u64) -> Costs {
        Costs { last: Piece { start: at, end: at, ..Piece::default() }, from: at, ..Costs::default() }
    }

    /// First cycle that is not accounted for.
    pub fn until(&self) -> u64 {
        self.last.end
    }

    /// The time up to `end`, all spent in one way. Nothing if it has passed.
    pub fn spend(&mut self, place: Place, end: u64, way: Spent) {
        if end > self.until() {
            let mut cost = Cost::default();
            cost.cycles[way as usize] = end - self.until();
            self.add(place, end, cost);
        }
    }

    /// The time up to `end`, in the ways of `cost`, which add up to it. Time that has passed already takes none.
    pub fn add(&mut self, place: Place, end: u64, cost: Cost) {
        let end = end.max(self.last.end);
        let next = Piece { place, start: self.last.end, end, cost };
        let last = std::mem::replace(&mut self.last, next);
        self.commit(last.place, last.cost);
    }

    /// Completes the account up to `now`: the first cycle covered, the one behind the last, and the rows. The next
    /// account begins there.
    pub fn take(&mut self, now: u64) -> (u64, u64, Vec<(Place, Cost)>) {
        let cut = now.clamp(self.last.start, self.last.end);
        let mut before = self.last.cost;
        let mut left = cut - self.last.start;
        for way in ORDER {
            let taken = before.cycles[way as usize].min(left);
            before.cycles[way as usize] = taken;
            self.last.cost.cycles[way as usize] -= taken;
            left -= taken;
        }
        self.last.cost.executions = 0;
        self.last.start = cut;
        self.commit(self.last.place, before);
        let mut rows: Vec<(Place, Cost)> = self.by_place.drain().collect();
        rows.sort_unstable_by_key(|row| row.0);
        (std::mem::replace(&mut self.from, cut), cut, rows)
    }

    fn commit(&mut self, place: Place, cost: Cost) {
        if cost == Cost::default() {
            return;
        }
        let sum = self.by_place.entry(place).or_default();
        for (total, cycles) in sum.cycles.iter_mut().zip(cost.cycles) {
            *total += cycles;
        }
        sum.executions += cost.executions;
    }
}

/// Hashes places: two multiplications instead of SipHash, since each instruction pays for one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quick(u64);

impl std::hash::BuildHasher for Quick {
    type Hasher = Quick;

    fn build_hasher(&self) -> Quick {
        Quick(0)
    }
}

impl std::hash::Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_divides_a_piece_and_loses_nothing() {
        let mut costs = Costs::new(100);
        let place = Place { node: 1, pc: 0x10 };
        let mut cost = Cost { executions: 1, ..Cost::default() };
        cost.cycles[Spent::Flash as usize] = 5;
        cost.cycles[Spent::Execute as usize] = 2;
        costs.add(place, 107, cost);
        let (from, until, rows) = costs.take(106);
        assert_eq!((from, until), (100, 106));
        assert_eq!(rows[0].1.cycles, [1, 0, 5, 0, 0, 0, 0]);
        assert_eq!(rows[0].1.executions, 1);
        let (from, until, rows) = costs.take(107);
        assert_eq!((from, until), (106, 107));
        assert_eq!(rows[0].1.cycles, [1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(rows[0].1.executions, 0);
    }

    #[test]
    fn a_piece_that_ends_before_the_last_one_takes_no_time() {
        let mut costs = Costs::new(0);
        costs.spend(Place::default(), 10, Spent::Exception);
        costs.add(Place::default(), 7, Cost { executions: 1, ..Cost::default() });
        let (from, until, rows) = costs.take(9);
        assert_eq!((from, until, rows[0].1.cycles[Spent::Exception as usize]), (0, 10, 10));
    }

    #[test]
    fn time_that_has_passed_is_not_spent_again() {
        let mut costs = Costs::new(0);
        costs.spend(Place::default(), 10, Spent::Sleep);
        costs.spend(Place::default(), 10, Spent::Exception);
        let rows = costs.take(10).2;
        assert_eq!(rows[0].1.cycles, [0, 0, 0, 0, 10, 0, 0]);
    }
}
