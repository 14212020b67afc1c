//! The use of a core's cycles, by call path and address.

use std::collections::HashMap;

use crate::quick::Quick;

/// The place of an observation: a call path and an instruction's address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the call path's node.
    pub node: u32,
    /// Address of the instruction.
    pub pc: u32,
}

/// The cause for which a cycle was spent: executing, waiting, sleep and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum CycleCause {
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

/// A number of cycles by [`CycleCause`], and of completed instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CyclesByCause {
    /// Cycles by `Spent`.
    pub cycles: [u64; WAYS],
    /// Instructions completed.
    pub executions: u64,
    /// How often it was the first instruction of a call, a handler or a thread. A loop that goes back there is no call.
    pub entries: u64,
}

/// A time interval that was spent at one place, with the causes of its cycles in the order in which they occurred.
#[derive(Debug, Clone, Copy, Default)]
struct CodeLocationTimeInterval {
    place: Place,
    start: u64,
    end: u64,
    cost: CyclesByCause,
}

impl CodeLocationTimeInterval {
    /// Removes the part of the interval before a cycle and returns its cost. An instruction counts in the window (time
    /// interval of an account) in which it began.
    fn cut_cost_interval_before_cycle(&mut self, at: u64) -> CyclesByCause {
        let cut = at.clamp(self.start, self.end);
        let mut before = std::mem::take(&mut self.cost);
        let mut left = cut - self.start;
        for way in ORDER {
            let taken = before.cycles[way as usize].min(left);
            self.cost.cycles[way as usize] = before.cycles[way as usize] - taken;
            before.cycles[way as usize] = taken;
            left -= taken;
        }
        self.start = cut;
        before
    }
}

/// The order in which the part of a piece before a cut is taken.
const ORDER: [CycleCause; WAYS] = [
    CycleCause::Flash,
    CycleCause::Bus,
    CycleCause::Lock,
    CycleCause::Sleep,
    CycleCause::Stopped,
    CycleCause::Exception,
    CycleCause::Execute,
];

/// Pieces that are kept whole, in case a window ends before them. A run ends while a core is inside an instruction, and
/// what that brings about at once, such as the return from an exception, lies wholly after the end. Those are two.
/// There is room for twice as many.
const KEPT: usize = 4;

/// The cycle account of one core. Every cycle up to [`Costs::accounted_until_cycle`] is in it once.
#[derive(Debug, Clone, Default)]
pub struct CoreCycleAccount {
    /// The last pieces. Each begins at the end of the one before. They may be beyond the end of a window.
    kept: [CodeLocationTimeInterval; KEPT],
    /// Which of them is the last. The one after it, in a circle, is the first.
    last: usize,
    by_place: HashMap<Place, CyclesByCause, Quick>,
    from: u64,
}

impl CoreCycleAccount {
    /// Creates an account that begins at a cycle.
    pub fn new(at: u64) -> CoreCycleAccount {
        CoreCycleAccount {
            kept: [CodeLocationTimeInterval { start: at, end: at, ..CodeLocationTimeInterval::default() }; KEPT],
            from: at,
            ..CoreCycleAccount::default()
        }
    }

    /// Returns the first cycle that is not accounted for.
    pub fn accounted_until_cycle(&self) -> u64 {
        self.kept[self.last].end
    }

    /// Attributes the time up to `end` to one place and cause. Does nothing if that time is attributed already.
    pub fn attribute_cycles_to_cause(&mut self, place: Place, end: u64, way: CycleCause) {
        if end > self.accounted_until_cycle() {
            let mut cost = CyclesByCause::default();
            cost.cycles[way as usize] = end - self.accounted_until_cycle();
            self.attribute_cycles_to_code_location(place, end, cost);
        }
    }

    /// Attributes the time up to `end` to one place, with the causes of `cost`, which add up to it. Does nothing if
    /// that time is attributed already.
    pub fn attribute_cycles_to_code_location(&mut self, place: Place, end: u64, cost: CyclesByCause) {
        let start = self.accounted_until_cycle();
        if end <= start {
            // Without time it is in any window.
            self.add_cycles_to_code_location(place, cost);
            return;
        }
        self.last = (self.last + 1) % KEPT;
        let first = std::mem::replace(&mut self.kept[self.last], CodeLocationTimeInterval { place, start, end, cost });
        self.add_cycles_to_code_location(first.place, first.cost);
    }

    /// Completes the account up to `now` and returns it: the first cycle covered, the one after the last, and the rows.
    /// The next account begins there.
    pub fn complete_and_take_cycle_account(&mut self, now: u64) -> (u64, u64, Vec<(Place, CyclesByCause)>) {
        let first = (self.last + 1) % KEPT;
        let cut = now.clamp(self.kept[first].start, self.accounted_until_cycle());
        for index in 0..KEPT {
            let before = self.kept[index].cut_cost_interval_before_cycle(cut);
            self.add_cycles_to_code_location(self.kept[index].place, before);
        }
        let mut rows: Vec<(Place, CyclesByCause)> = self.by_place.drain().collect();
        rows.sort_unstable_by_key(|row| row.0);
        (std::mem::replace(&mut self.from, cut), cut, rows)
    }

    /// Adds a cost to the sum of its place in the account.
    fn add_cycles_to_code_location(&mut self, place: Place, cost: CyclesByCause) {
        if cost == CyclesByCause::default() {
            return;
        }
        let sum = self.by_place.entry(place).or_default();
        for (total, cycles) in sum.cycles.iter_mut().zip(cost.cycles) {
            *total += cycles;
        }
        sum.executions += cost.executions;
        sum.entries += cost.entries;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_an_interval_loses_no_cycle() {
        let mut costs = CoreCycleAccount::new(100);
        let place = Place { node: 1, pc: 0x10 };
        let mut cost = CyclesByCause { executions: 1, ..CyclesByCause::default() };
        cost.cycles[CycleCause::Flash as usize] = 5;
        cost.cycles[CycleCause::Execute as usize] = 2;
        costs.attribute_cycles_to_code_location(place, 107, cost);
        let (from, until, rows) = costs.complete_and_take_cycle_account(106);
        assert_eq!((from, until), (100, 106));
        assert_eq!(rows[0].1.cycles, [1, 0, 5, 0, 0, 0, 0]);
        assert_eq!(rows[0].1.executions, 1);
        let (from, until, rows) = costs.complete_and_take_cycle_account(107);
        assert_eq!((from, until), (106, 107));
        assert_eq!(rows[0].1.cycles, [1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(rows[0].1.executions, 0);
    }

    #[test]
    fn earlier_time_interval_takes_no_cycles() {
        let mut costs = CoreCycleAccount::new(0);
        costs.attribute_cycles_to_cause(Place::default(), 10, CycleCause::Exception);
        costs.attribute_cycles_to_code_location(
            Place::default(),
            7,
            CyclesByCause { executions: 1, ..CyclesByCause::default() },
        );
        let (from, until, rows) = costs.complete_and_take_cycle_account(9);
        assert_eq!((from, until, rows[0].1.cycles[CycleCause::Exception as usize]), (0, 9, 9));
        assert_eq!(rows[0].1.executions, 1);
    }

    #[test]
    fn account_window_excludes_later_intervals() {
        let mut costs = CoreCycleAccount::new(0);
        let place = |pc| Place { node: 1, pc };
        costs.attribute_cycles_to_cause(place(1), 10, CycleCause::Execute);
        costs.attribute_cycles_to_cause(place(2), 30, CycleCause::Flash);
        costs.attribute_cycles_to_cause(place(3), 45, CycleCause::Exception);
        let (from, until, rows) = costs.complete_and_take_cycle_account(12);
        assert_eq!((from, until), (0, 12));
        let cycles =
            |rows: &[(Place, CyclesByCause)]| -> Vec<_> { rows.iter().map(|row| (row.0.pc, row.1.cycles)).collect() };
        assert_eq!(cycles(&rows), [(1, [10, 0, 0, 0, 0, 0, 0]), (2, [0, 0, 2, 0, 0, 0, 0])]);
        let (from, until, rows) = costs.complete_and_take_cycle_account(31);
        assert_eq!((from, until), (12, 31));
        assert_eq!(cycles(&rows), [(2, [0, 0, 18, 0, 0, 0, 0]), (3, [0, 0, 0, 0, 0, 1, 0])]);
        let (from, until, rows) = costs.complete_and_take_cycle_account(45);
        assert_eq!((from, until), (31, 45));
        assert_eq!(cycles(&rows), [(3, [0, 0, 0, 0, 0, 14, 0])]);
    }

    #[test]
    fn past_cycles_are_not_attributed_twice() {
        let mut costs = CoreCycleAccount::new(0);
        costs.attribute_cycles_to_cause(Place::default(), 10, CycleCause::Sleep);
        costs.attribute_cycles_to_cause(Place::default(), 10, CycleCause::Exception);
        let rows = costs.complete_and_take_cycle_account(10).2;
        assert_eq!(rows[0].1.cycles, [0, 0, 0, 0, 10, 0, 0]);
    }
}
