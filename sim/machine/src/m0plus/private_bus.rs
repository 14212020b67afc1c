//! The private peripheral bus of a Cortex-M0+, and what an access to it asks of the chip (ARMv6-M B3.1).

use rtoslab_cpu::v6m::bus::{Bus, Trap};
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::ppb;
use rtoslab_timing::cortex_m0plus::MEMORY_CYCLES;

use super::UNMAPPED;

const WORDS_ONLY: Trap = Trap::Fault("narrow or unprivileged access to the private peripheral bus");

/// A chip with a Cortex-M0+ whose private peripheral bus is modelled here.
pub trait PrivateBus: Bus {
    /// Returns the cycle of the chip's next event, to be changed: that of [`Bus::next_event_cycle`].
    fn next_event_cycle_mut(&mut self) -> &mut u64;

    /// Warns once of a missing register at an address, and stops a strict run.
    fn warn_of_unmodelled_register(&mut self, core: &mut Core, address: u32, what: &str, now: u64);

    /// Loads from the private peripheral bus at cycle `t`, which it advances.
    fn load_from_private_bus(&mut self, core: &mut Core, address: u32, bytes: u32, t: &mut u64) -> Result<u32, Trap> {
        check_private_peripheral_bus_access(core, bytes)?;
        let (value, unmodelled) = ppb::load_private_peripheral_bus_word(core, address, *t).ok_or(UNMAPPED)?;
        self.request_interpreter_exit(core);
        if let Some(what) = unmodelled {
            self.warn_of_unmodelled_register(core, address, what, *t);
        }
        *t += MEMORY_CYCLES;
        Ok(value)
    }

    /// Stores to the private peripheral bus at cycle `t`, which it advances.
    fn store_to_private_bus(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        check_private_peripheral_bus_access(core, bytes)?;
        if let Some(what) = ppb::store_private_peripheral_word(core, address, value, *t).ok_or(UNMAPPED)? {
            self.warn_of_unmodelled_register(core, address, what, *t);
        }
        self.request_interpreter_exit(core);
        *t += MEMORY_CYCLES;
        Ok(())
    }

    /// Makes the interpreter return to the machine, because an access may have pended, enabled or rescheduled an
    /// exception.
    fn request_interpreter_exit(&mut self, core: &mut Core) {
        let due = core.systick.next_wrap_cycle();
        if due < *self.next_event_cycle_mut() {
            *self.next_event_cycle_mut() = due;
            core.limit = core.limit.min(due);
        }
        if core.nvic.pending & core.nvic.enabled != 0 || core.nvic.reset_request {
            core.limit = 0;
            *self.next_event_cycle() = 0;
        }
    }
}

/// Checks that an access is allowed: whole words, by privileged code.
fn check_private_peripheral_bus_access(core: &Core, bytes: u32) -> Result<(), Trap> {
    if bytes == 4 && core.is_privileged() { Ok(()) } else { Err(WORDS_ONLY) }
}
