//! Waits for a register on an STM32L0.

use rtoslab_cpu::v6m::core::{Phase, Request};
use rtoslab_cpu::v6m::timing_cache::{CacheableTimingBus, State};

use super::machine::Machine;
use crate::polling::{BusyWaitDetector, Waiting};

impl Waiting for Machine {
    const ANCIENT_CYCLES: u64 = 128;
    /// The state besides core registers on which future timing depends. Times are relative to now.
    type State = State;

    /// Returns the detector of busy waits.
    fn busy_wait_detector(&mut self) -> &mut BusyWaitDetector {
        &mut self.system.polling
    }

    /// Returns the core's time in cycles.
    fn core_time(&self) -> u64 {
        self.cores[0].t
    }

    /// Returns the address of the core's next instruction.
    fn next_address(&self) -> u32 {
        self.cores[0].next_instruction_address()
    }

    /// Returns R0 to R14.
    fn core_registers(&self) -> [u32; 15] {
        self.cores[0].r[..15].try_into().expect("fifteen of them")
    }

    /// Returns the condition flags and the rest of the program's state that no register holds, as one number.
    fn program_flags(&self) -> u32 {
        self.cores[0].apsr()
    }

    /// Returns the state of pipeline, buses and memories. `None` if it cannot be compared.
    fn timing_state(&self) -> Option<State> {
        CacheableTimingBus::timing_state(&*self.system, &self.cores[0])
    }

    /// Returns the number of cycles after which the clocks of all buses are in the same phase again.
    fn common_clock_period(&self) -> u64 {
        self.system.devices.clocks.common_clock_period()
    }

    /// Returns four counters of the core: instructions, cycles of waiting for buses, cycles of waiting for flash,
    /// missed cache lines.
    fn core_counters(&self) -> [u64; 4] {
        let core = &self.cores[0];
        [core.instructions, core.bus_wait, core.flash_wait, 0]
    }

    /// Returns the halfword of code at an address. `None` if there is none, or if a probe is there.
    fn code_halfword(&self, address: u32) -> Option<u16> {
        let bytes = self.system.memories.read_bytes(address, 2)?;
        (!self.system.devices.probes.is_instruction_probed(address)).then(|| u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Executes the next instruction of the busy wait, or the next two if they issue together. Returns false if
    /// something else happened too, such as a request to the machine.
    fn execute_busy_wait_instruction(&mut self) -> bool {
        self.execute_until_or_single_step(self.cores[0].t + 1);
        let core = &self.cores[0];
        core.request == Request::None && core.phase == Phase::Run && self.system.devices.stop.is_none()
    }

    /// Skips `cycles` cycles of a busy wait: advances time and the four counters, and restores the state.
    fn skip_cycles(&mut self, cycles: u64, [instructions, bus, flash, _]: [u64; 4], state: &State) {
        let core = &mut self.cores[0];
        core.t += cycles;
        core.instructions += instructions;
        core.bus_wait += bus;
        core.flash_wait += flash;
        CacheableTimingBus::restore_timing_state(&mut *self.system, core, state);
    }

    /// Sets a core register by its number.
    fn set_register(&mut self, number: usize, value: u32) {
        self.cores[0].r[number] = value;
    }
}
