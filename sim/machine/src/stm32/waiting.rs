//! Waits for a register on an ARMv7-M core.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v7m::core::{Phase, Request};
use rtoslab_cpu::v7m::exec;

use super::families::Run;
use super::machine::Machine;
use super::runner::Runner;
use crate::polling::{BusyWaitDetector, Waiting};

impl<F: Run> Waiting for Machine<F> {
    const ANCIENT_CYCLES: u64 = 128;
    /// The state besides core registers on which future timing depends. Times are relative to now.
    type State = <F::Runner as Runner<F::Pipe, super::system::System<F>>>::State;

    /// Returns the detector of busy waits.
    fn busy_wait_detector(&mut self) -> &mut BusyWaitDetector {
        &mut self.system.polling
    }

    /// Returns the core's time in cycles.
    fn core_time(&self) -> u64 {
        self.core.t
    }

    /// Returns the address of the core's next instruction.
    fn next_address(&self) -> u32 {
        self.core.next_instruction_address()
    }

    /// Returns R0 to R14.
    fn core_registers(&self) -> [u32; 15] {
        self.core.r[..15].try_into().expect("fifteen of them")
    }

    /// Returns the condition flags and the rest of the program's state that no register holds, as one number.
    fn program_flags(&self) -> u32 {
        let core = &self.core;
        let nzcv = [core.nz < 0, core.nz as u32 == 0, core.c, core.v, core.q];
        nzcv.into_iter().fold(u32::from(core.it), |flags, flag| flags << 1 | u32::from(flag))
    }

    /// Returns the state of pipeline, buses and memories. `None` if it cannot be compared.
    fn timing_state(&self) -> Option<Self::State> {
        F::Runner::timing_state(&self.core, &self.pipe, &self.system)
    }

    /// Returns the number of cycles after which the clocks of all buses are in the same phase again.
    fn common_clock_period(&self) -> u64 {
        self.system.periph.clock_frequencies().common_clock_period()
    }

    /// Returns four counters of the core: instructions, cycles of waiting for buses, cycles of waiting for flash,
    /// missed cache lines.
    fn core_counters(&self) -> [u64; 4] {
        [self.core.instructions, self.core.bus_wait, self.core.flash_wait, 0]
    }

    /// Returns the halfword of code at an address. `None` if there is none, or if a probe is there.
    fn code_halfword(&self, address: u32) -> Option<u16> {
        let bytes =
            self.system.memory_content_at(address, 2).filter(|_| !self.system.probes.is_instruction_probed(address))?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Executes the next instruction of the busy wait, or the next two if they issue together. Returns false if
    /// something else happened too, such as a request to the machine.
    fn execute_busy_wait_instruction(&mut self) -> bool {
        self.core.limit = self.core.t + 1;
        let (core, pipe, system) = (&mut *self.core, &mut self.pipe, &mut *self.system);
        // SAFETY: as in `Machine::execute_core_to_next_event`.
        unsafe { exec::run_until_limit(core, pipe, system, watch::NOTHING) };
        core.request == Request::None && core.phase == Phase::Run && system.stop.is_none()
    }

    /// Skips `cycles` cycles of a busy wait: advances time and the four counters, and restores the state.
    fn skip_cycles(&mut self, cycles: u64, [instructions, bus, flash, _]: [u64; 4], state: &Self::State) {
        let (core, pipe, system) = (&mut *self.core, &mut self.pipe, &mut *self.system);
        core.t += cycles;
        core.instructions += instructions;
        core.bus_wait += bus;
        core.flash_wait += flash;
        F::Runner::restore_timing_state(state, core, pipe, system);
    }

    /// Sets a core register by its number.
    fn set_register(&mut self, number: usize, value: u32) {
        self.core.r[number] = value;
    }
}
