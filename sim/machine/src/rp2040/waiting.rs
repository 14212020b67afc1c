//! Waits for a register while one core executes.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::exec;

use super::system::System;
use crate::polling::{BusyWaitDetector, Waiting};

/// The chip and both cores while one core executes and the other does not, for skipping busy waits.
pub(super) struct LoneCore<'a> {
    pub cores: &'a mut [Core; 2],
    pub system: &'a mut System,
    pub turn: usize,
}

impl LoneCore<'_> {
    /// Returns the core that waits.
    fn busy_waiting_core(&self) -> &Core {
        &self.cores[self.turn]
    }
}

impl Waiting for LoneCore<'_> {
    const ANCIENT_CYCLES: u64 = 0;
    /// Without arbitration, and with its code in the cache, nothing but the core's time matters.
    type State = ();

    /// Returns the detector of busy waits.
    fn busy_wait_detector(&mut self) -> &mut BusyWaitDetector {
        &mut self.system.polling
    }

    /// Returns the core's time in cycles.
    fn core_time(&self) -> u64 {
        self.busy_waiting_core().t
    }

    /// Returns the address of the core's next instruction.
    fn next_address(&self) -> u32 {
        self.busy_waiting_core().next_instruction_address()
    }

    /// Returns R0 to R14.
    fn core_registers(&self) -> [u32; 15] {
        self.busy_waiting_core().r[..15].try_into().expect("fifteen of them")
    }

    /// Returns the condition flags and the rest of the program's state that no register holds, as one number.
    fn program_flags(&self) -> u32 {
        self.busy_waiting_core().apsr()
    }

    /// Returns `()`: nothing but the core's time matters.
    fn timing_state(&self) -> Option<()> {
        Some(())
    }

    /// Returns 1: all buses run at the core's clock.
    fn common_clock_period(&self) -> u64 {
        1
    }

    /// Returns four counters of the core: instructions, cycles of waiting for buses, cycles of waiting for flash,
    /// missed cache lines.
    fn core_counters(&self) -> [u64; 4] {
        let core = self.busy_waiting_core();
        [core.instructions, core.bus_wait, core.flash_wait, self.system.misses[self.turn]]
    }

    /// Returns the halfword of code at an address. `None` if there is none, or if a probe is there.
    fn code_halfword(&self, address: u32) -> Option<u16> {
        let system = &*self.system;
        let bytes = system.memory_content_at(address, 2).filter(|_| !system.probes.is_instruction_probed(address))?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Executes the next instruction of the busy wait, or the next two if they issue together. Returns false if
    /// something else happened too, such as a request to the machine.
    fn execute_busy_wait_instruction(&mut self) -> bool {
        let LoneCore { cores, system, .. } = self;
        let core = &mut cores[self.turn];
        core.limit = core.t + 1;
        system.due = core.limit;
        // SAFETY: both cores live in `cores`; the running one's `ip` was set by `jump` or the interpreter.
        unsafe { exec::run_cores::<_, false, { watch::NOTHING }>(cores.as_mut_ptr(), self.turn, &mut **system) };
        let core = &cores[self.turn];
        core.request == Request::None && core.phase == Phase::Run && system.stop.is_none()
    }

    /// Skips `cycles` cycles of a busy wait: advances the core's time and the four counters.
    fn skip_cycles(&mut self, cycles: u64, [instructions, bus, flash, misses]: [u64; 4], (): &()) {
        let core = &mut self.cores[self.turn];
        core.t += cycles;
        core.instructions += instructions;
        core.bus_wait += bus;
        core.flash_wait += flash;
        self.system.misses[self.turn] += misses;
    }

    /// Sets a core register by its number.
    fn set_register(&mut self, number: usize, value: u32) {
        self.cores[self.turn].r[number] = value;
    }
}
