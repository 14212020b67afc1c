//! Counts of the steps that the cores log after a program has read the XIP cache's counters.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::v6m::core::Core;

use super::system::System;

impl System {
    /// Counts the words that a core has fetched since the last call.
    pub(super) fn count_fetched_words(&mut self, core: &Core) {
        let fetched = &mut self.fetched[core.id];
        let fresh = core.steps.get(fetched.steps..).unwrap_or_default();
        fetched.steps = core.steps.len();
        if !self.periph.xip_ctrl.are_access_counters_used() {
            return;
        }
        let flash = self.periph.ssi.flash.flash_content();
        let length = flash.len() as u32;
        let mut words = 0;
        for step in fresh.iter().filter(|step| step.pc >> 24 == 0x10 && step.executions != 0) {
            let at = (step.pc & 0x00ff_ffff) % length + 1;
            let bytes = if flash[at as usize] >> 3 >= 0x1d { 4 } else { 2 };
            words += fetched.fetched_word_count(step, bytes);
        }
        self.periph.xip_ctrl.count_accesses(words);
    }

    /// Adds the steps of a turn to the profile, because the interpreter does not fill it while it logs steps.
    pub(super) fn add_turn_instructions_to_profile(&mut self, core: &Core) {
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
