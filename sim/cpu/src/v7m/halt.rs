//! A core that halted at a breakpoint, for a debugger that continues it.

use super::bus::Bus;
use super::core::Core;
use super::exec::block;
use super::pipeline::Pipeline;

/// Continues after the BKPT at which the core has halted for a debugger. The BKPT took a cycle, and the pipeline is
/// empty as after a branch (assumed). No cycles pass for the core while it is halted.
pub fn step_over_breakpoint<B: Bus, P: Pipeline>(core: &mut Core, bus: &mut B, pipe: &mut P) {
    core.it = block::next_it_state(core.it);
    core.ip = core.ip.wrapping_add(1);
    core.instructions += 1;
    let (target, at) = (core.next_instruction_address(), core.t + 1);
    pipe.empty_pipeline(core, bus, target, at);
}
