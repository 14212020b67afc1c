//! The STM32s as [`Board`]s.

use rtoslab_cpu::states::Counts;
use rtoslab_lab::{Between, Event};
use rtoslab_periph::rp2040::LockStats;
use rtoslab_periph::stm32::Chip;

use super::family::{F1, F4, F7, Family, H7};
use super::l0;
use super::machine::{Machine, Options};
use super::quick::Runner;
use crate::board::{Board, Position, ProfileRow, Stats};

/// Makes the board of a chip.
pub fn board(chip: Chip, options: Options) -> Box<dyn Board> {
    match chip {
        Chip::F103 => Box::new(Machine::<F1>::new(chip, &options)),
        Chip::F407 | Chip::F411 | Chip::F446 => Box::new(Machine::<F4>::new(chip, &options)),
        Chip::F767 => Box::new(Machine::<F7>::new(chip, &options)),
        Chip::H743 => Box::new(Machine::<H7>::new(chip, &options)),
        Chip::L053 => Box::new(l0::Machine::<0x2000>::new(chip, &options)),
        Chip::L073 => Box::new(l0::Machine::<0x5000>::new(chip, &options)),
    }
}

impl<F: Family> Board for Machine<F> {
    fn cores(&self) -> usize {
        1
    }

    fn ports(&self) -> usize {
        1
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

    fn core_cycle(&self, _: usize) -> u64 {
        self.core.t
    }

    fn take_profile(&mut self, _: usize) -> Vec<ProfileRow> {
        let rows = self.take_profile().into_iter();
        rows.map(|(address, cell)| (address, cell.cycles, cell.executions, cell.wait_cycles)).collect()
    }

    fn take_uart(&mut self, _: usize) -> Vec<u8> {
        self.instruments().take_uart()
    }

    fn type_uart(&mut self, _: usize, text: &[u8]) {
        self.instruments().type_uart(text);
    }

    fn script_uart(&mut self, _: usize, prompt: &[u8], text: &[u8]) {
        self.instruments().script_uart(prompt, text);
    }

    fn steps_left(&mut self, _: usize) -> usize {
        self.instruments().steps_left()
    }

    fn remembered(&self) -> Counts {
        self.runner.counts()
    }

    fn stats(&self, _: usize) -> Stats {
        let stats = self.core_stats();
        Stats {
            cycles: stats.cycles,
            instructions: stats.instructions,
            sleep_cycles: stats.sleep_cycles,
            bus_wait_cycles: stats.bus_wait_cycles,
            flash_wait_cycles: stats.flash_wait_cycles,
            xip_misses: 0,
            exception_cycles: stats.exception_cycles,
            exceptions: stats.exceptions.to_vec(),
        }
    }

    fn lock_stats(&mut self) -> Vec<[LockStats; 2]> {
        Vec::new()
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

    fn position(&self, _: usize) -> Position {
        self.position()
    }

    fn registers(&self, _: usize) -> Vec<(String, u32)> {
        self.registers()
    }

    fn set_register(&mut self, _: usize, name: &str, value: u32) -> bool {
        self.set_register(name, value)
    }
}
