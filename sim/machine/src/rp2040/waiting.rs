//! Waits for a register while one core executes.

use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::exec;

use super::system::System;
use crate::polling::{Polling, Waiting};

/// The chip and both cores while one core executes and the other does not, for skipping busy waits.
pub(super) struct LoneCore<'a> {
    pub cores: &'a mut [Core; 2],
    pub system: &'a mut System,
    pub turn: usize,
}

impl LoneCore<'_> {
    /// Returns the core that waits.
    fn core(&self) -> &Core {
        &self.cores[self.turn]
    }
}

impl Waiting for LoneCore<'_> {
    const ANCIENT_CYCLES: u64 = 0;
    /// Without arbitration, and with its code in the cache, nothing but the core's time matters.
    type State = ();

    fn polling(&mut self) -> &mut Polling {
        &mut self.system.polling
    }

    fn time(&self) -> u64 {
        self.core().t
    }

    fn place(&self) -> u32 {
        self.core().pc()
    }

    fn registers(&self) -> [u32; 15] {
        self.core().r[..15].try_into().expect("fifteen of them")
    }

    fn flags(&self) -> u32 {
        self.core().apsr()
    }

    fn state(&self) -> Option<()> {
        Some(())
    }

    fn phases(&self) -> u64 {
        1
    }

    fn counts(&self) -> [u64; 4] {
        let core = self.core();
        [core.instructions, core.bus_wait, core.flash_wait, self.system.misses[self.turn]]
    }

    fn code(&self, address: u32) -> Option<u16> {
        let system = &*self.system;
        let bytes = system.bytes_at(address, 2).filter(|_| !system.probes.watches_code(address))?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn step(&mut self) -> bool {
        let LoneCore { cores, system, .. } = self;
        let core = &mut cores[self.turn];
        core.limit = core.t + 1;
        system.due = core.limit;
        // SAFETY: both cores live in `cores`; the running one's `ip` was set by `jump` or the interpreter.
        unsafe { exec::run::<_, false, { watch::NOTHING }>(cores.as_mut_ptr(), self.turn, &mut **system) };
        let core = &cores[self.turn];
        core.request == Request::None && core.phase == Phase::Run && system.stop.is_none()
    }

    fn pass(&mut self, cycles: u64, [instructions, bus, flash, misses]: [u64; 4], (): &()) {
        let core = &mut self.cores[self.turn];
        core.t += cycles;
        core.instructions += instructions;
        core.bus_wait += bus;
        core.flash_wait += flash;
        self.system.misses[self.turn] += misses;
    }

    fn set_register(&mut self, number: usize, value: u32) {
        self.cores[self.turn].r[number] = value;
    }
}
