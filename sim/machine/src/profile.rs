//! The profile of one table of code: a cell for each halfword.

use std::ops::Range;

use rtoslab_cpu::profile::ProfileCell;

use crate::board::ProfileRow;
use crate::lazy::LazyZeroedArray;

/// The profile cells of one memory, by halfword. Empty while the profile is off.
#[derive(Default)]
pub struct InstructionProfileCells(Option<LazyZeroedArray<ProfileCell>>);

impl InstructionProfileCells {
    /// Creates `count` cells, all of them zero.
    pub fn new(count: usize) -> InstructionProfileCells {
        // SAFETY: a cell of zeros counts nothing.
        InstructionProfileCells(Some(unsafe { LazyZeroedArray::new(count) }))
    }

    /// Returns a pointer to the first profile cell. Null if there are none.
    pub fn first_instruction_profile_pointer(&self) -> *mut ProfileCell {
        self.0.as_ref().map_or(std::ptr::null_mut(), LazyZeroedArray::first_element_pointer)
    }

    /// Adds to the profile cell of a halfword. Does nothing while the profile is off.
    pub fn add_to_halfword_profile_cell(&mut self, index: usize, more: ProfileCell) {
        if let Some(cell) = self.0.as_mut().and_then(|cells| cells.all_lazy_array_elements().get_mut(index)) {
            *cell += more;
        }
    }

    /// Removes the profile of the halfwords in `executed` and returns it. The first halfword is at address `base`.
    pub fn take_profile_cells(&mut self, base: u32, executed: Range<usize>) -> Vec<ProfileRow> {
        let first = base.wrapping_add(2 * executed.start as u32);
        let cells =
            self.0.as_mut().and_then(|cells| cells.all_lazy_array_elements().get_mut(executed)).into_iter().flatten();
        (0..)
            .map(|index| first.wrapping_add(2 * index))
            .zip(cells)
            .filter(|(_, cell)| cell.cycles | cell.executions != 0)
            .map(|(address, cell)| {
                let ProfileCell { cycles, executions, wait_cycles } = std::mem::take(cell);
                (address, cycles, executions, wait_cycles)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_entries_are_taken_once_with_their_address() {
        let more = ProfileCell { cycles: 3, executions: 1, wait_cycles: 2 };
        let mut cells = InstructionProfileCells::default();
        assert!(cells.first_instruction_profile_pointer().is_null());
        cells.add_to_halfword_profile_cell(0, more);
        assert!(cells.take_profile_cells(0x100, 0..8).is_empty(), "it is off");
        cells = InstructionProfileCells::new(8);
        assert!(!cells.first_instruction_profile_pointer().is_null());
        [2, 2, 5, 99].into_iter().for_each(|index| cells.add_to_halfword_profile_cell(index, more));
        assert_eq!(cells.take_profile_cells(0x100, 3..8), [(0x10a, 3, 1, 2)]);
        assert_eq!(cells.take_profile_cells(0x100, 0..8), [(0x104, 6, 2, 4)]);
        assert_eq!(cells.take_profile_cells(0x100, 0..8), []);
        assert_eq!(cells.take_profile_cells(0x100, Range { start: 8, end: 0 }), [], "nothing was executed");
    }
}
