//! The cost of branches: prediction, redirection, resolution.

use super::super::super::bus::Bus;
use super::super::super::core::Core;
use super::super::super::op::{InstructionTimingClass, Op};
use super::super::Jump;
use super::{DISBTACALLOC, DISBTACREAD, M7, fetch};
use rtoslab_timing::cortex_m7 as timing;

impl M7 {
    /// Returns the cycles that a mispredicted branch loses.
    fn mispredict_cycles(&self, conditional: bool) -> u64 {
        let early = self.condition + timing::EARLY_FLAGS_DISTANCE_CYCLES <= self.group + timing::ALU_LATENCY;
        if conditional && early { timing::MISPREDICT_EARLY_FLAGS_CYCLES } else { timing::MISPREDICT_CYCLES }
    }

    /// Starts fetching again at `target` after a mispredicted branch that lost `lost` cycles.
    fn restart_fetch_after_misprediction<B: Bus>(&mut self, core: &mut Core, bus: &mut B, target: u32, lost: u64) {
        let at = self.next_group + lost;
        self.end_issue_group(at);
        self.fetch.restart_fetch_queue_at_target(target, at - fetch::REFILL.min(at));
        bus.redirect_prefetch(core, target, at - fetch::REFILL.min(at));
        core.t = at;
    }

    /// Returns the number of 16-bit opcodes from the last taken branch to the current one.
    fn narrow_opcodes_since_branch(&self, core: &Core) -> u64 {
        // The branch that entered here is counted by now, the current one not yet.
        let instructions = core.instructions.saturating_sub(self.entered_count + 1);
        let halfwords = self.branch.wrapping_sub(self.entered) / 2;
        (2 * instructions).saturating_sub(u64::from(halfwords)) + u64::from(self.branch_bytes == 2)
    }

    /// Updates the predictor with the outcome of the branch at `branch`: its target, or not taken. Returns true if it
    /// had predicted that.
    #[inline(always)]
    pub(super) fn update_predictor(&mut self, core: &Core, branch: u32, target: Option<u32>) -> bool {
        let actlr = core.scb.actlr;
        let predicted = if actlr & DISBTACREAD != 0 { None } else { self.predictor.predicted_target(branch) };
        match target {
            Some(target) => self.predictor.learn_taken(branch, target, actlr & DISBTACALLOC == 0),
            None => self.predictor.learn_not_taken(branch),
        }
        predicted == target
    }

    /// Returns whether the current branch was predicted right: by the predictor, or as the log of a trace says.
    fn is_branch_predicted_right(&mut self, core: &Core, target: Option<u32>) -> bool {
        match self.foreseen {
            Some(foreseen) => foreseen.right,
            None => self.update_predictor(core, self.branch, target),
        }
    }

    /// Returns whether a branch is predicted taken when the branch target cache is off: backward branches are.
    fn is_statically_predicted_taken(core: &Core, op: Op) -> bool {
        core.scb.actlr & DISBTACREAD != 0
            && op.class == InstructionTimingClass::BranchConditional
            && (op.imm as i32) < 0
    }

    /// Times the current branch, which was not taken.
    pub(super) fn time_untaken_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op) {
        let right = self.is_branch_predicted_right(core, None);
        if !right || M7::is_statically_predicted_taken(core, op) {
            let next = self.branch.wrapping_add(self.branch_bytes);
            self.restart_fetch_after_misprediction(core, bus, next, self.mispredict_cycles(true));
        } else {
            self.advance_to_next_instruction(core);
        }
    }

    /// Times the current branch, which went to `target`.
    pub(super) fn time_taken_branch<B: Bus>(&mut self, core: &mut Core, bus: &mut B, op: Op, jump: Jump, target: u32) {
        let right = self.is_branch_predicted_right(core, Some(target));
        let narrow = self.narrow_opcodes_since_branch(core);
        (self.entered, self.entered_count) = (target, core.instructions);
        if right {
            self.fetch.continue_at_predicted_target(target);
            bus.redirect_prefetch(core, target, core.t);
            if self.younger || narrow < timing::FOLD_NARROW_OPCODES || jump == Jump::Loaded {
                self.end_issue_group(self.group + 1);
            }
            self.advance_to_next_instruction(core);
            return;
        }
        let lost = match jump {
            Jump::Immediate => self.decoded_branch,
            Jump::Conditional if M7::is_statically_predicted_taken(core, op) => self.decoded_branch,
            Jump::Conditional => self.mispredict_cycles(true),
            Jump::Register | Jump::Loaded => timing::MISPREDICT_CYCLES,
        };
        self.restart_fetch_after_misprediction(core, bus, target, lost);
    }
}
