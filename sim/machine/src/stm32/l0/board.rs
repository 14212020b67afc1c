//! The STM32L0 machine as a [`Board`].

use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_lab::{Console, Probes};
use rtoslab_periph::device::{AttachedDevice, Connection};

use super::machine::Machine;
use super::system::System;
use crate::board::{Board, CorePosition, ProfileRow, Stats};
use crate::debugger::Debugger;
use crate::m0plus::face;

impl Board for Machine {
    crate::board::as_the_machine!();

    /// Returns 1, the number of cores.
    fn number_of_cores(&self) -> usize {
        1
    }

    /// Returns 1: the board has one console.
    fn number_of_consoles(&self) -> usize {
        1
    }

    /// Returns the probes (watched addresses) on code and memory. A new one on code takes effect with
    /// [`Board::redecode_at`], one on a word with [`Board::watch_word_or_register`].
    fn probes(&mut self) -> &mut Probes {
        &mut self.system.devices.probes
    }

    /// Decodes the instruction at an address again, after probes on it changed.
    fn redecode_at(&mut self, address: u32) {
        self.system.memories.redecode_at(address);
    }

    /// Makes the board report writes to a word or register from now on. Returns false if it cannot be watched.
    fn watch_word_or_register(&mut self, address: u32) -> bool {
        let devices = &mut self.system.devices;
        let is_register = address >> 20 == 0xe00 || devices.periph.bus_at_address(address).is_some();
        devices.watches_registers |= is_register;
        is_register || self.system.memories.mark_watched_address(address)
    }

    /// Returns the board's console. All serial ports print to it, in the order of time.
    fn port_console(&mut self, _: usize) -> &mut Console {
        &mut self.system.devices.console
    }

    /// Removes a core's profile and returns it: a row for each executed instruction.
    fn take_profile(&mut self, _: usize) -> Vec<ProfileRow> {
        let System { memories, timing_cache, .. } = &mut *self.system;
        timing_cache.take_profile().for_each(|(address, cell)| memories.add_to_profile(address, cell));
        memories.take_profile()
    }

    /// Types text into a console at line speed.
    fn type_into_console(&mut self, _: usize, text: &[u8]) {
        self.system.devices.type_into_console(text);
    }

    /// Returns how many cycles of busy waits for a register were skipped without executing them.
    fn cycles_of_skipped_waits(&self) -> u64 {
        self.system.polling.skipped_cycle_count()
    }

    /// Returns how often cached timing was used, and what native code did.
    fn timing_counts(&self) -> Counts {
        self.system.timing_cache.timing_cache_counts()
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn set_translation_threshold(&mut self, executions: u32) {
        self.system.timing_cache.compiled_traces().set_translation_threshold(executions);
    }

    /// Returns the statistics of a core since the start or the last [`Board::reset_stats`].
    fn core_stats(&self, _: usize) -> Stats {
        self.core_stats()
    }

    /// Returns one sentence for each use of unmodelled hardware, and for each fault.
    fn warnings(&self) -> Vec<String> {
        self.system.devices.warnings.warning_texts().to_vec()
    }

    /// Reads the board's memory without side effects. `None` outside of memory.
    fn read_memory(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.memories.read_bytes(address, bytes)
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
        self.system.memories.write_ram(address, data)
    }

    /// Writes to the flash as a debugger does that erases and programs it. Returns false outside of flash.
    fn program_flash(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.memories.program_flash(address, data)
    }

    /// Resets the board as a debugger does, by SYSRESETREQ. Memories keep their content.
    fn reset_board(&mut self) {
        self.reset_as_debugger();
    }

    /// Returns whether code can execute at this address.
    fn is_executable(&mut self, address: u32) -> bool {
        self.system.memories.is_executable(address)
    }

    /// Attaches a device to a bus, a serial port or the pins. The error is one sentence.
    fn attach_device(&mut self, connection: Connection, device: AttachedDevice) -> Result<(), String> {
        self.system.devices.periph.attach_device(connection, device)
    }

    /// Sets the voltage at a pin that an ADC converts. The error is one sentence.
    fn set_analog_voltage(&mut self, pin: u16, millivolts: u32) -> Result<(), String> {
        self.system.devices.periph.set_analog_voltage(pin, millivolts)
    }

    /// Returns the debugger that is attached to the board, which serves semihosting calls and collects their output.
    fn debugger(&mut self) -> &mut Debugger {
        &mut self.system.devices.debugger
    }

    /// Returns the position of a core.
    fn core_position(&self, _: usize) -> CorePosition {
        face::core_position(&self.cores[0])
    }

    /// Returns the registers of a core, by name.
    fn core_registers(&self, _: usize) -> Vec<(String, u32)> {
        face::core_registers(&self.cores[0])
    }

    /// Sets a register of a core by name. Returns false if there is no such register, or if the value is impossible.
    fn set_register(&mut self, _: usize, name: &str, value: u32) -> bool {
        self.set_register(name, value)
    }
}
