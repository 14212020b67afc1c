//! Waits for a register on an STM32L0.

use rtoslab_cpu::v6m::core::{Phase, Request};
use rtoslab_cpu::v6m::timing_cache::{CacheableBus, State};

use super::machine::Machine;
use crate::polling::{Polling, Waiting};

impl Waiting for Machine {
    const ANCIENT_CYCLES: u64 = 128;
    type State = State;

    fn polling(&mut self) -> &mut Polling {
        &mut self.system.polling
    }

    fn time(&self) -> u64 {
        self.cores[0].t
    }

    fn place(&self) -> u32 {
        self.cores[0].pc()
    }

    fn registers(&self) -> [u32; 15] {
        self.cores[0].r[..15].try_into().expect("fifteen of them")
    }

    fn flags(&self) -> u32 {
        self.cores[0].apsr()
    }

    fn state(&self) -> Option<State> {
        CacheableBus::state(&*self.system, &self.cores[0])
    }

    fn phases(&self) -> u64 {
        self.system.devices.clocks.phases()
    }

    fn counts(&self) -> [u64; 4] {
        let core = &self.cores[0];
        [core.instructions, core.bus_wait, core.flash_wait, 0]
    }

    fn code(&self, address: u32) -> Option<u16> {
        let bytes = self.system.memories.read(address, 2)?;
        (!self.system.devices.probes.watches_code(address)).then(|| u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn step(&mut self) -> bool {
        self.execute_to(self.cores[0].t + 1);
        let core = &self.cores[0];
        core.request == Request::None && core.phase == Phase::Run && self.system.devices.stop.is_none()
    }

    fn pass(&mut self, cycles: u64, [instructions, bus, flash, _]: [u64; 4], state: &State) {
        let core = &mut self.cores[0];
        core.t += cycles;
        core.instructions += instructions;
        core.bus_wait += bus;
        core.flash_wait += flash;
        CacheableBus::resume(&mut *self.system, core, state);
    }

    fn set_register(&mut self, number: usize, value: u32) {
        self.cores[0].r[number] = value;
    }
}
