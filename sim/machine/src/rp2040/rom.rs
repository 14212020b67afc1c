//! Calls into the modelled boot ROM: its functions see registers and memory, and the core pays their cycles.

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_cpu::v6m::core::{Core, Request};
use rtoslab_cpu::v6m::exception;
use rtoslab_periph::rp2040::bootrom::{self, FlashCommand, RomFunctionHost, RomFunctionOutcome};

use super::map::FLASH_BASE;
use super::system::System;
use crate::stop::StopReason;

/// The core and the memories on which a ROM function works.
struct Host<'a> {
    core: &'a mut Core,
    system: &'a mut System,
}

impl RomFunctionHost for Host<'_> {
    /// Returns core register `n` (0 to 14).
    fn core_register(&self, n: usize) -> u32 {
        self.core.r[n]
    }

    /// Sets core register `n`.
    fn set_core_register(&mut self, n: usize, value: u32) {
        self.core.r[n] = value;
    }

    /// Sets the condition flags, as the ROM's `*_cmp_fast_flags` functions do.
    fn set_flags(&mut self, n: bool, z: bool, c: bool, v: bool) {
        let bits = u32::from(n) << 31 | u32::from(z) << 30 | u32::from(c) << 29 | u32::from(v) << 28;
        self.core.set_apsr(bits);
    }

    /// Reads a byte.
    fn read_byte(&mut self, address: u32) -> u8 {
        let mut unused = self.core.t;
        self.system.load_for_rom_function(self.core, address, 1, &mut unused) as u8
    }

    /// Reads an aligned word.
    fn read_word(&mut self, address: u32) -> u32 {
        let mut unused = self.core.t;
        self.system.load_for_rom_function(self.core, address, 4, &mut unused)
    }

    /// Writes a byte.
    fn write_byte(&mut self, address: u32, value: u8) {
        self.system.store_ignoring_faults(self.core, address, 1, u32::from(value));
    }

    /// Writes an aligned word.
    fn write_word(&mut self, address: u32, value: u32) {
        self.system.store_ignoring_faults(self.core, address, 4, value);
    }

    /// Applies a command to the flash chip and its interface. See
    /// [`super::Rp2040Peripherals::execute_rom_flash_command`].
    fn run_flash_command(&mut self, command: FlashCommand) {
        let system = &mut *self.system;
        system.periph.execute_rom_flash_command(&command, self.core.t, &mut system.effects);
        match command {
            FlashCommand::Erase { offset, count } => system.forget_changed_flash_content(offset, count),
            FlashCommand::Program { offset, data } => system.forget_changed_flash_content(offset, data.len() as u32),
            FlashCommand::FlushCache => system.empty_xip_cache(),
            FlashCommand::Connect | FlashCommand::ExitXip | FlashCommand::EnterXip => system.update_cache_miss_cost(),
        }
    }
}

impl System {
    /// Loads from memory for a ROM function. Returns 0 where nothing answers.
    fn load_for_rom_function(&mut self, core: &mut Core, address: u32, bytes: u32, t: &mut u64) -> u32 {
        self.load_data::<false, false>(core, None, address, bytes, t).unwrap_or(0)
    }

    /// Stores for a ROM function, which ignores faults as the ROM does.
    fn store_ignoring_faults(&mut self, core: &mut Core, address: u32, bytes: u32, value: u32) {
        let mut unused = core.t;
        // A ROM function that writes nowhere writes nothing, like the ROM's own stores.
        let _ = self.store_data::<false>(core, None, address, bytes, value, &mut unused);
    }

    /// Empties the XIP cache.
    pub(super) fn empty_xip_cache(&mut self) {
        for line in self.xip.empty_cache() {
            self.update_stub_ops_of_cache_line(line);
        }
    }

    /// Writes the flash as a debugger does. Returns false outside of flash.
    pub(super) fn program_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let end = u64::from(FLASH_BASE) + self.flash_size() as u64;
        if address < FLASH_BASE || u64::from(address) + data.len() as u64 > end {
            return false;
        }
        let offset = address - FLASH_BASE;
        self.periph.ssi.flash.flash_content_mut()[offset as usize..][..data.len()].copy_from_slice(data);
        self.forget_changed_flash_content(offset, data.len() as u32);
        true
    }

    /// Forgets the decoded code and cached lines of flash bytes that changed.
    fn forget_changed_flash_content(&mut self, offset: u32, bytes: u32) {
        let size = self.flash_size() as u32;
        let start = offset.min(size) & !1;
        let end = offset.saturating_add(bytes).min(size);
        self.invalidate_flash_code(start, end - start);
        self.empty_xip_cache();
    }

    /// Runs ROM function `id` for the core that called it, and returns to LR.
    pub(super) fn call_rom_function(&mut self, core: &mut Core, id: u8) {
        let (pc, called) = (core.next_instruction_address(), core.t);
        match bootrom::call_rom_function(id, &mut Host { core, system: self }) {
            RomFunctionOutcome::Return { cycles } => self.return_from_rom(core, u64::from(cycles)),
            RomFunctionOutcome::ReturnAfterFlash { cycles, busy_us } => {
                let busy = u128::from(busy_us) * u128::from(self.clocks.sys_hz) / 1_000_000;
                self.return_from_rom(core, u64::from(cycles) + busy as u64);
            }
            RomFunctionOutcome::EnterUsbBoot { .. } => {
                let detail =
                    "the firmware requested USB boot mode from the boot ROM, but no USB host is connected".to_owned();
                self.stop_for_reason(StopReason::UsbBoot, core, pc, called, detail);
            }
            RomFunctionOutcome::ColdBoot => core.nvic.reset_request = true,
            RomFunctionOutcome::Undefined => core.request = Request::Fault("undefined instruction in the boot ROM"),
        }
    }

    /// Returns from a ROM function after `cycles`.
    fn return_from_rom(&mut self, core: &mut Core, cycles: u64) {
        self.add_cycles_to_profile(core, cycles, 0);
        core.t += cycles;
        let target = core.r[14];
        exception::jump_to_interworking_address(core, self, target);
    }

    /// Adds cycles and executions to the profile of a core's current instruction.
    pub(super) fn add_cycles_to_profile(&mut self, core: &Core, cycles: u64, executions: u64) {
        // SAFETY: `ip` is an op inside the region, whose profile cells run parallel to the ops.
        unsafe {
            let cells = core.region.profile[core.id];
            if !cells.is_null() {
                let index = (core.ip as usize - core.region.ops as usize) >> 3;
                (*cells.add(index)).cycles += cycles;
                (*cells.add(index)).executions += executions;
            }
        }
    }
}
