//! Accesses beyond the memories: registers, the private peripheral bus, factory words; and the core's one port, which
//! they keep busy.

use rtoslab_cpu::v6m::bus::Trap;
use rtoslab_cpu::v6m::core::Core;

use rtoslab_timing::cortex_m0plus::{IO_PORT_CYCLES, MEMORY_CYCLES};

use super::chip::SYSTEM_MEMORY;
use super::system::System;
use crate::m0plus::UNMAPPED;
use crate::m0plus::private_bus::PrivateBus;

impl System {
    /// Returns the first cycle from `t` on in which the core's bus port is free.
    pub(super) fn bus_port_free_cycle<const CONTEND: bool>(&mut self, core: &mut Core, t: u64) -> u64 {
        if !CONTEND || core.bus_free <= t {
            return t;
        }
        core.bus_wait += core.bus_free - t;
        core.bus_free
    }

    /// Returns the cycle in which an access ends that began in cycle `at` with `wait` wait states. The core's port is
    /// busy until then.
    pub(super) fn access_end_cycle(&mut self, core: &mut Core, at: u64, wait: u64) -> u64 {
        core.bus_wait += wait;
        core.bus_free = at + 1 + wait;
        at + MEMORY_CYCLES + wait
    }

    /// Loads a peripheral register by its bus.
    pub(super) fn load_register<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap> {
        let bus = self.devices.periph.bus_at_address(address).ok_or(UNMAPPED)?;
        let io_port = bus == rtoslab_periph::stm32::Bus::IoPort;
        let at = if io_port { *t } else { self.bus_port_free_cycle::<CONTEND>(core, *t) };
        let wait = self.devices.bus_wait_states(bus, false, at);
        core.flash_wait += wait;
        let now = at + u64::from(!io_port) + wait;
        let value = self.devices.periph.read_register(address, bytes, now, &mut self.devices.effects);
        *t = if io_port { *t + IO_PORT_CYCLES } else { self.access_end_cycle(core, at, wait) };
        self.apply_event_effects(core, now);
        if self.polling.note_register_read(core.next_instruction_address(), value, || {
            self.devices.periph.is_register_steady(address)
        }) {
            self.end_core_turn(core);
        }
        self.report_watched_register_access(core, address, None, now);
        Ok(value)
    }

    /// Stores to a peripheral register by its bus.
    pub(super) fn store_register<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap> {
        let bus = self.devices.periph.bus_at_address(address).ok_or(UNMAPPED)?;
        let io_port = bus == rtoslab_periph::stm32::Bus::IoPort;
        let at = if io_port { *t } else { self.bus_port_free_cycle::<CONTEND>(core, *t) };
        let wait = self.devices.bus_wait_states(bus, true, at);
        core.flash_wait += wait;
        let now = at + u64::from(!io_port) + wait;
        self.devices.periph.write_register(address, bytes, value, now, &mut self.devices.effects);
        *t = if io_port { *t + IO_PORT_CYCLES } else { self.access_end_cycle(core, at, wait) };
        self.apply_event_effects(core, now);
        self.report_watched_register_access(core, address, Some(value), now);
        Ok(())
    }

    /// Records an access to a register that may be watched. `written` is a store's value. Stops the run if a probe asks
    /// for it.
    pub(super) fn report_watched_register_access(
        &mut self,
        core: &mut Core,
        address: u32,
        written: Option<u32>,
        now: u64,
    ) {
        let pc = core.next_instruction_address();
        if self.devices.report_watched_register_access(address, written, now, pc) {
            self.end_core_turn(core);
        }
    }

    /// Loads from system memory, whose content is not modelled.
    pub(super) fn load_system_memory(
        &mut self,
        core: &mut Core,
        address: u32,
        bytes: u32,
        now: u64,
    ) -> Result<u32, Trap> {
        let (first, end) = SYSTEM_MEMORY;
        if !(first..end).contains(&address) {
            return Err(UNMAPPED);
        }
        let word = self.devices.periph.factory_programmed_word(address);
        if word.is_none() {
            self.warn_of_unmodelled_register(core, address, "system memory", now);
        }
        Ok(word.unwrap_or(0) >> (8 * (address & 3)) & (u32::MAX >> (32 - 8 * bytes)))
    }
}

impl PrivateBus for System {
    /// Returns the cycle of the chip's next event, to be changed: that of [`Bus::next_event_cycle`].
    fn next_event_cycle_mut(&mut self) -> &mut u64 {
        &mut self.due
    }

    /// Warns once of a missing register at an address, and stops a strict run.
    fn warn_of_unmodelled_register(&mut self, core: &mut Core, address: u32, what: &str, now: u64) {
        let pc = core.next_instruction_address();
        self.devices.warn_of_unmodelled_address(what, address, pc, now);
        if self.devices.stop.is_some() {
            self.end_core_turn(core);
        }
    }
}
