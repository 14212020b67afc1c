//! The STM32s as [`Board`]s.

use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v7m::bus::Bus;
use rtoslab_lab::{Console, Probes};
use rtoslab_periph::device::{AttachedDevice, Connection};
use rtoslab_periph::stm32::{Chip, ResetCause};

use super::families::{F1, F4, Run, Stm32F7H7Family};
use super::l0;
use super::machine::{Machine, Options};
use super::runner::Runner;
use crate::board::{Board, CorePosition, ProfileRow, Stats};
use crate::debugger::Debugger;

/// Creates the board of a chip.
pub fn create_armv7m_board(chip: Chip, options: Options) -> Box<dyn Board> {
    match chip {
        Chip::F103 => Box::new(Machine::<F1>::new(chip, &options)),
        Chip::F407 | Chip::F411 | Chip::F446 => Box::new(Machine::<F4>::new(chip, &options)),
        Chip::F767 | Chip::H743 => Box::new(Machine::<Stm32F7H7Family>::new(chip, &options)),
        Chip::L053 | Chip::L073 => Box::new(l0::Machine::new(chip, &options)),
    }
}

impl<F: Run> Board for Machine<F> {
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
        &mut self.system.probes
    }

    /// Decodes the instruction at an address again, after probes on it changed.
    fn redecode_at(&mut self, address: u32) {
        self.system.redecode_at(address);
    }

    /// Makes the board report writes to a word or register from now on. Returns false if it cannot be watched.
    fn watch_word_or_register(&mut self, address: u32) -> bool {
        self.system.watch_word(address)
    }

    /// Returns the board's console. All serial ports print to it, in the order of time.
    fn port_console(&mut self, _: usize) -> &mut Console {
        &mut self.system.console
    }

    /// Removes a core's profile and returns it: a row for each executed instruction.
    fn take_profile(&mut self, _: usize) -> Vec<ProfileRow> {
        for (address, more) in self.runner.take_profile() {
            self.system.add_to_instruction_profile(address, more);
        }
        self.system.take_profile()
    }

    /// Types text at line speed into the serial port that printed last.
    fn type_into_console(&mut self, _: usize, text: &[u8]) {
        self.system.periph.send_to_serial_port(self.system.console_port, text);
        self.core.limit = 0;
    }

    /// Returns how many cycles of busy waits for a register were skipped without executing them.
    fn cycles_of_skipped_waits(&self) -> u64 {
        self.system.polling.skipped_cycle_count()
    }

    /// Returns how often cached timing was used, and what native code did.
    fn timing_counts(&self) -> Counts {
        self.runner.timing_cache_counts()
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn set_translation_threshold(&mut self, executions: u32) {
        self.runner.set_translation_threshold(executions);
    }

    /// Returns the statistics of a core since the start or the last [`Board::reset_stats`].
    fn core_stats(&self, _: usize) -> Stats {
        self.core_stats()
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
    fn read_as_core(&mut self, _: usize, address: u32) -> Option<u32> {
        let at = self.core.t;
        (self.core.unprivileged, self.core.as_user) = (false, false);
        self.system.load_data(&mut self.core, address, 4, at).ok().map(|loaded| loaded.value)
    }

    /// Writes to the board's RAM. Returns false outside of RAM.
    fn write_memory(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.write_ram(address, data)
    }

    /// Writes to the flash as a debugger does that erases and programs it. Returns false outside of flash.
    fn program_flash(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.program_flash(address, data)
    }

    /// Resets the board as a debugger does, by SYSRESETREQ. Memories keep their content.
    fn reset_board(&mut self) {
        self.system.stop = None;
        self.reset_chip(ResetCause::Software);
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

    /// Returns whether the firmware used the ITM, which only a debugger would have enabled.
    fn is_itm_used(&self) -> bool {
        self.core.itm.is_missing_debugger()
    }

    /// Returns the position of a core.
    fn core_position(&self, _: usize) -> CorePosition {
        self.core_position()
    }

    /// Returns the registers of a core, by name.
    fn core_registers(&self, _: usize) -> Vec<(String, u32)> {
        self.core_registers()
    }

    /// Sets a register of a core by name. Returns false if there is no such register, or if the value is impossible.
    fn set_register(&mut self, _: usize, name: &str, value: u32) -> bool {
        self.set_register(name, value)
    }
}
