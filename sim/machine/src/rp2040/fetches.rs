//! The XIP cache's counters: words of instructions, by the steps that the cores log once a program counts.
//!
//! Each core fetches 32-bit words. One is fetched when execution comes to it, and again after each taken branch. Words that
//! are fetched in vain behind a taken branch are not modelled, so they are not counted.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::step::Step;
use rtoslab_cpu::v6m::core::Core;

use super::system::System;

/// How far a core's steps were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Steps of this turn that were looked at.
    steps: usize,
    /// The word fetched last, if execution goes on behind it without a branch.
    word: Option<u32>,
    /// Where it goes on then.
    next: u32,
}

impl Fetched {
    /// Words that an instruction of so many bytes fetches.
    fn words_of(&mut self, step: &Step, bytes: u32) -> u32 {
        let (first, last) = (step.pc >> 2, (step.pc + bytes - 1) >> 2);
        let is_there = self.word == Some(first) && self.next == step.pc;
        self.next = step.pc + bytes;
        self.word = (step.next == self.next).then_some(last);
        last - first + u32::from(!is_there)
    }

    /// A new turn begins with no steps.
    pub fn begin_turn(&mut self) {
        self.steps = 0;
    }
}

impl System {
    /// Counts what a core has fetched since it was last asked.
    pub(super) fn count_fetches(&mut self, core: &Core) {
        let fetched = &mut self.fetched[core.id];
        let fresh = core.steps.get(fetched.steps..).unwrap_or_default();
        fetched.steps = core.steps.len();
        if !self.periph.xip_ctrl.counting() {
            return;
        }
        let flash = self.periph.ssi.flash.bytes();
        let length = flash.len() as u32;
        let mut words = 0;
        for step in fresh.iter().filter(|step| step.pc >> 24 == 0x10 && step.executions != 0) {
            let at = (step.pc & 0x00ff_ffff) % length + 1;
            let bytes = if flash[at as usize] >> 3 >= 0x1d { 4 } else { 2 };
            words += fetched.words_of(step, bytes);
        }
        self.periph.xip_ctrl.count(words);
    }

    /// What the steps of a turn are to the profile, which is empty while steps are logged.
    pub(super) fn profile_steps(&mut self, core: &Core) {
        for step in &core.steps {
            let table = match step.pc >> 28 {
                0 => &mut self.rom_code,
                1 => &mut self.flash_code,
                _ => &mut self.sram_code,
            };
            let cell = ProfileCell {
                cycles: step.end - step.start,
                executions: u64::from(step.executions),
                wait_cycles: u64::from(step.bus_wait + step.flash_wait),
            };
            table.add_to_profile(core.id, step.pc, cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &[(u32, u32, u32)]) -> Vec<u32> {
        let mut fetched = Fetched::default();
        let step = |pc: u32, next: u32| Step { pc, next, executions: 1, ..Step::default() };
        path.iter().map(|&(pc, bytes, next)| fetched.words_of(&step(pc, next), bytes)).collect()
    }

    #[test]
    fn a_word_is_fetched_once_on_a_straight_way() {
        assert_eq!(words(&[(0, 2, 2), (2, 2, 4), (4, 2, 6), (6, 4, 10), (10, 2, 12)]), [1, 0, 1, 1, 0]);
    }

    #[test]
    fn a_taken_branch_fetches_again() {
        assert_eq!(words(&[(0, 2, 2), (2, 2, 0), (0, 2, 2), (2, 2, 2), (2, 2, 4)]), [1, 0, 1, 0, 1]);
        assert_eq!(words(&[(2, 4, 0x102), (0x102, 2, 0x104)]), [2, 1]);
    }
}
