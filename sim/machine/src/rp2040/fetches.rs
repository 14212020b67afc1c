//! Which words of instructions a core fetches, by the steps that it logs.
//!
//! Each core fetches 32-bit words. One is fetched when execution comes to it, and again after each taken branch.
//! Unused words fetched after a taken branch are not modelled, so they are not counted.

use rtoslab_cpu::step::Step;

/// A counter of the words of code that a core fetches, by its logged steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FetchLog {
    /// Steps of this turn that were looked at.
    pub steps: usize,
    /// The word fetched last, if execution continues after it without a branch.
    word: Option<u32>,
    /// The address at which it continues then.
    next: u32,
}

impl FetchLog {
    /// Returns the number of words that an instruction of `bytes` bytes fetches.
    pub fn fetched_word_count(&mut self, step: &Step, bytes: u32) -> u32 {
        let (first, last) = (step.pc >> 2, (step.pc + bytes - 1) >> 2);
        let is_present = self.word == Some(first) && self.next == step.pc;
        self.next = step.pc + bytes;
        self.word = (step.next == self.next).then_some(last);
        last - first + u32::from(!is_present)
    }

    /// Begins a new turn, which has no steps yet.
    pub fn begin_turn_without_steps(&mut self) {
        self.steps = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &[(u32, u32, u32)]) -> Vec<u32> {
        let mut fetched = FetchLog::default();
        let step = |pc: u32, next: u32| Step { pc, next, executions: 1, ..Step::default() };
        path.iter().map(|&(pc, bytes, next)| fetched.fetched_word_count(&step(pc, next), bytes)).collect()
    }

    #[test]
    fn word_is_fetched_once_in_sequential_code() {
        assert_eq!(words(&[(0, 2, 2), (2, 2, 4), (4, 2, 6), (6, 4, 10), (10, 2, 12)]), [1, 0, 1, 1, 0]);
    }

    #[test]
    fn a_taken_branch_fetches_again() {
        assert_eq!(words(&[(0, 2, 2), (2, 2, 0), (0, 2, 2), (2, 2, 2), (2, 2, 4)]), [1, 0, 1, 0, 1]);
        assert_eq!(words(&[(2, 4, 0x102), (0x102, 2, 0x104)]), [2, 1]);
    }
}
