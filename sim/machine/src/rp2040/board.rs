//! The RP2040 as a [`Board`].

use rtoslab_cpu::states::Counts;
use rtoslab_lab::{Between, Event};
use rtoslab_periph::rp2040::LockStats;

use super::machine::{Machine, Options};
use crate::board::{self, Board, Position, ProfileRow, Stats};
use crate::setting::SettingError;

/// Makes a virtual Pico. Errors: a number of cores or a size of flash that cannot be.
pub fn board(options: &board::Options) -> Result<Box<dyn Board>, SettingError> {
    let defaults = Options::default();
    let cores = if options.cores == 0 { defaults.cores } else { options.cores };
    if cores > 2 {
        return Err(SettingError(format!("the rp2040 has 1 or 2 cores to use, not {cores}")));
    }
    let flash_bytes = if options.flash_bytes == 0 { defaults.flash_bytes } else { options.flash_bytes };
    if !flash_bytes.is_power_of_two() || !(4096..=16 << 20).contains(&flash_bytes) {
        return Err(SettingError(format!(
            "a flash of {flash_bytes} bytes cannot be modelled; give a power of two from 4 kB to 16 MB"
        )));
    }
    board::check_crystal(options.crystal_hz)?;
    let crystal_hz = if options.crystal_hz == 0 { defaults.crystal_hz } else { options.crystal_hz };
    Ok(Box::new(Machine::new(Options { cores, flash_bytes, crystal_hz, strict: options.strict })))
}

impl Board for Machine {
    fn cores(&self) -> usize {
        2
    }

    fn ports(&self) -> usize {
        2
    }

    crate::board::as_the_machine!();

    fn until(&mut self, address: u32) {
        self.instruments().until(address);
    }

    fn watch_exec(&mut self, address: u32, id: u16) {
        self.instruments().watch_exec(address, id);
    }

    fn watch_call(&mut self, address: u32, id: u16, third: bool) {
        self.instruments().watch_call(address, id, third);
    }

    fn watch_return(&mut self, address: u32, id: u16) {
        self.instruments().watch_return(address, id);
    }

    fn watch_write(&mut self, address: u32, id: u16, stop: bool) -> bool {
        self.instruments().watch_write(address, id, stop)
    }

    fn between(&mut self, start: u32, end: u32) -> usize {
        self.instruments().between(start, end)
    }

    fn between_result(&mut self, index: usize) -> Option<Between> {
        self.instruments().between_result(index)
    }

    fn trace_exceptions(&mut self, on: bool) {
        self.instruments().trace_exceptions(on);
    }

    fn trace_pins(&mut self, on: bool) {
        self.instruments().trace_pins(on);
    }

    fn take_events(&mut self) -> Vec<Event> {
        let mut events = self.instruments().take_events();
        events.extend(self.observer.iter_mut().flat_map(|observer| observer.take_events()));
        events
    }

    fn core_cycle(&self, core: usize) -> u64 {
        self.cores[core].t
    }

    fn take_profile(&mut self, core: usize) -> Vec<ProfileRow> {
        let rows = self.take_profile(core).into_iter();
        rows.map(|(address, cell)| (address, cell.cycles, cell.executions, cell.wait_cycles)).collect()
    }

    fn take_uart(&mut self, port: usize) -> Vec<u8> {
        self.instruments().take_uart(port)
    }

    fn type_uart(&mut self, port: usize, text: &[u8]) {
        self.instruments().type_uart(port, text);
    }

    fn script_uart(&mut self, port: usize, prompt: &[u8], text: &[u8]) {
        self.instruments().script_uart(port, prompt, text);
    }

    fn steps_left(&mut self, port: usize) -> usize {
        self.instruments().steps_left(port)
    }

    fn remembered(&self) -> Counts {
        self.system.pairs.counts()
    }

    fn stats(&self, core: usize) -> Stats {
        let stats = self.core_stats(core);
        Stats {
            cycles: stats.cycles,
            instructions: stats.instructions,
            sleep_cycles: stats.sleep_cycles,
            bus_wait_cycles: stats.bus_wait_cycles,
            flash_wait_cycles: stats.flash_wait_cycles,
            xip_misses: stats.xip_misses,
            exception_cycles: stats.exception_cycles,
            exceptions: stats.exceptions.to_vec(),
        }
    }

    fn lock_stats(&mut self) -> Vec<[LockStats; 2]> {
        self.instruments().lock_stats().to_vec()
    }

    fn warnings(&mut self) -> Vec<String> {
        self.instruments().warnings().to_vec()
    }

    fn read(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.instruments().read(address, bytes)
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        self.instruments().write(address, data)
    }

    fn executable(&mut self, address: u32) -> bool {
        self.instruments().executable(address)
    }

    fn position(&self, core: usize) -> Position {
        self.position(core)
    }

    fn registers(&self, core: usize) -> Vec<(String, u32)> {
        self.registers(core)
    }

    fn set_register(&mut self, core: usize, name: &str, value: u32) -> bool {
        self.set_register(core, name, value)
    }
}
