//! The RP2040 as a [`Board`].

use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_lab::{Console, Probes};
use rtoslab_periph::device::{AttachedDevice, Connection};
use rtoslab_periph::rp2040::LockStats;

use super::machine::{Machine, Options};
use crate::board::{self, Board, CorePosition, ProfileRow, Stats};
use crate::debugger::Debugger;
use crate::m0plus::face;
use crate::setting::SettingError;

/// Creates a virtual Pico. Errors: a number of cores or a size of flash that is impossible.
pub fn create_pico_board(options: &board::Options) -> Result<Box<dyn Board>, SettingError> {
    let defaults = Options::default();
    let cores = if options.cores == 0 { defaults.cores } else { options.cores };
    if cores > 2 {
        return Err(SettingError(format!("the rp2040 has 1 or 2 cores, not {cores}")));
    }
    let flash_bytes = if options.flash_bytes == 0 { defaults.flash_bytes } else { options.flash_bytes };
    if !flash_bytes.is_power_of_two() || !(4096..=16 << 20).contains(&flash_bytes) {
        return Err(SettingError(format!(
            "a flash of {flash_bytes} bytes is not possible; give a power of two from 4 kB to 16 MB"
        )));
    }
    board::check_crystal_frequency(options.crystal_hz)?;
    let crystal_hz = if options.crystal_hz == 0 { defaults.crystal_hz } else { options.crystal_hz };
    Ok(Box::new(Machine::new(Options { cores, flash_bytes, crystal_hz, strict: options.strict })))
}

impl Board for Machine {
    crate::board::as_the_machine!();

    /// Returns 2, the number of cores in an RP2040.
    fn number_of_cores(&self) -> usize {
        2
    }

    /// Returns 2, the number of serial ports.
    fn number_of_consoles(&self) -> usize {
        2
    }

    /// Returns the probes (watched addresses) on code and memory. A new one on code takes effect with
    /// [`Board::redecode_at`], one on a word with [`Board::watch_word_or_register`].
    fn probes(&mut self) -> &mut Probes {
        &mut self.system.probes
    }

    /// Decodes the instruction at an address again, after probes on it changed.
    fn redecode_at(&mut self, address: u32) {
        self.system.redecode_at(address);
    }

    /// Makes the board report writes to a word or register from now on. Returns false if it cannot be watched.
    fn watch_word_or_register(&mut self, address: u32) -> bool {
        self.system.mark_watched_address(address)
    }

    /// Returns the console of a serial port.
    fn port_console(&mut self, port: usize) -> &mut Console {
        &mut self.system.consoles[port]
    }

    /// Switches the recording of an event at each pin edge on or off. An STM32's pins are numbered port by port, 16 to
    /// a port.
    fn set_pin_tracing(&mut self, on: bool) {
        self.system.probes.trace_pins = on;
        self.system.update_pads_and_notify(0, 0);
    }

    /// Removes a core's profile and returns it: a row for each executed instruction.
    fn take_profile(&mut self, core: usize) -> Vec<ProfileRow> {
        self.system.take_profile(core)
    }

    /// Types text into a console at line speed.
    fn type_into_console(&mut self, port: usize, text: &[u8]) {
        self.system.type_into_uart(port, text);
    }

    /// Returns how many cycles of busy waits for a register were skipped without executing them.
    fn cycles_of_skipped_waits(&self) -> u64 {
        self.system.polling.skipped_cycle_count()
    }

    /// Returns how often cached timing was used, and what native code did.
    fn timing_counts(&self) -> Counts {
        self.system.pairs.timing_cache_counts() + self.system.alone.translations.native_code_counts()
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn set_translation_threshold(&mut self, executions: u32) {
        self.system.alone.translations.set_translation_threshold(executions);
        self.system.pairs.set_translation_threshold(executions);
    }

    /// Returns the statistics of a core since the start or the last [`Board::reset_stats`].
    fn core_stats(&self, core: usize) -> Stats {
        self.core_stats(core)
    }

    /// Returns the statistics of hardware spinlocks, by lock and core. Empty without any.
    fn lock_stats(&mut self) -> Vec<[LockStats; 2]> {
        self.system.periph.sio.lock_stats().to_vec()
    }

    /// Returns one sentence for each use of unmodelled hardware, and for each fault.
    fn warnings(&self) -> Vec<String> {
        self.system.warnings.warning_texts().to_vec()
    }

    /// Reads the board's memory without side effects. `None` outside of memory.
    fn read_memory(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.memory_content_at(address, bytes).map(<[u8]>::to_vec)
    }

    /// Reads a word of memory or a register as privileged software of a core does, with all side effects: use a board
    /// that was opened from a snapshot. `None` where the access faults.
    fn read_as_core(&mut self, core: usize, address: u32) -> Option<u32> {
        let mut at = self.cores[core].t;
        self.cores[core].unprivileged = false;
        self.system.load_data::<false, false>(&mut self.cores[core], None, address, 4, &mut at).ok()
    }

    /// Writes to the board's RAM. Returns false outside of RAM.
    fn write_memory(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.write_sram(address, data)
    }

    /// Writes to the flash as a debugger does that erases and programs it. Returns false outside of flash.
    fn program_flash(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.program_flash(address, data)
    }

    /// Resets the board as a debugger does, by SYSRESETREQ. Memories keep their content.
    fn reset_board(&mut self) {
        self.system.stop = None;
        self.system.held.clear();
        self.restart_in_boot_rom();
    }

    /// Returns whether code can execute at this address.
    fn is_executable(&mut self, address: u32) -> bool {
        self.system.code_region(address & !1).is_some()
    }

    /// Attaches a device to a bus, a serial port or the pins. The error is one sentence.
    fn attach_device(&mut self, connection: Connection, device: AttachedDevice) -> Result<(), String> {
        self.system.periph.attach_device(connection, device)
    }

    /// Sets the voltage at a pin that an ADC converts. The error is one sentence.
    fn set_analog_voltage(&mut self, pin: u16, millivolts: u32) -> Result<(), String> {
        self.system.periph.set_analog_voltage(pin, millivolts)
    }

    /// Returns the debugger that is attached to the board, which serves semihosting calls and collects their output.
    fn debugger(&mut self) -> &mut Debugger {
        &mut self.system.debugger
    }

    /// Returns the position of a core.
    fn core_position(&self, core: usize) -> CorePosition {
        face::core_position(&self.cores[core])
    }

    /// Returns the registers of a core, by name.
    fn core_registers(&self, core: usize) -> Vec<(String, u32)> {
        face::core_registers(&self.cores[core])
    }

    /// Sets a register of a core by name. Returns false if there is no such register, or if the value is impossible.
    fn set_register(&mut self, core: usize, name: &str, value: u32) -> bool {
        self.set_register(core, name, value)
    }
}
