//! The STM32s as [`Board`]s.

use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v7m::bus::Bus;
use rtoslab_lab::{Console, Probes};
use rtoslab_periph::device::{Attached, Connection};
use rtoslab_periph::stm32::{Chip, ResetCause};

use super::families::{F1, F4, F7H7, Run};
use super::l0;
use super::machine::{Machine, Options};
use super::runner::Runner;
use crate::board::{Board, Position, ProfileRow, Stats};
use crate::debugger::Debugger;

/// Makes the board of a chip.
pub fn board(chip: Chip, options: Options) -> Box<dyn Board> {
    match chip {
        Chip::F103 => Box::new(Machine::<F1>::new(chip, &options)),
        Chip::F407 | Chip::F411 | Chip::F446 => Box::new(Machine::<F4>::new(chip, &options)),
        Chip::F767 | Chip::H743 => Box::new(Machine::<F7H7>::new(chip, &options)),
        Chip::L053 | Chip::L073 => Box::new(l0::Machine::new(chip, &options)),
    }
}

impl<F: Run> Board for Machine<F> {
    crate::board::as_the_machine!();

    fn cores(&self) -> usize {
        1
    }

    fn ports(&self) -> usize {
        1
    }

    fn probes(&mut self) -> &mut Probes {
        &mut self.system.probes
    }

    fn refresh(&mut self, address: u32) {
        self.system.refresh(address);
    }

    fn mark_watch(&mut self, address: u32) -> bool {
        self.system.watch_word(address)
    }

    /// All serial ports print to it, in the order of time.
    fn console(&mut self, _: usize) -> &mut Console {
        &mut self.system.console
    }

    fn take_profile(&mut self, _: usize) -> Vec<ProfileRow> {
        for (address, more) in self.runner.take_profile() {
            self.system.add_profile(address, more);
        }
        self.system.take_profile()
    }

    /// Into the port that printed last.
    fn type_uart(&mut self, _: usize, text: &[u8]) {
        self.system.periph.uart_push(self.system.console_port, text);
        self.core.limit = 0;
    }

    fn passed_over(&self) -> u64 {
        self.system.polling.fast_forward_cycles()
    }

    fn timing_counts(&self) -> Counts {
        self.runner.counts()
    }

    fn translate_after(&mut self, executions: u32) {
        self.runner.translate_after(executions);
    }

    fn stats(&self, _: usize) -> Stats {
        self.core_stats()
    }

    fn warnings(&self) -> Vec<String> {
        self.system.warnings.warning_texts().to_vec()
    }

    fn read_memory(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.bytes_at(address, bytes).map(<[u8]>::to_vec)
    }

    fn read_as_core(&mut self, _: usize, address: u32) -> Option<u32> {
        let at = self.core.t;
        (self.core.unprivileged, self.core.as_user) = (false, false);
        self.system.load(&mut self.core, address, 4, at).ok().map(|loaded| loaded.value)
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.write_ram(address, data)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.program(address, data)
    }

    fn reset(&mut self) {
        self.system.stop = None;
        self.reset(ResetCause::Software);
    }

    fn executable(&mut self, address: u32) -> bool {
        self.system.region(address & !1).is_some()
    }

    fn attach(&mut self, connection: Connection, device: Attached) -> Result<(), String> {
        self.system.periph.attach(connection, device)
    }

    fn set_analog(&mut self, pin: u16, millivolts: u32) -> Result<(), String> {
        self.system.periph.set_analog(pin, millivolts)
    }

    fn debugger(&mut self) -> &mut Debugger {
        &mut self.system.debugger
    }

    fn asks_for_itm(&self) -> bool {
        self.core.itm.is_missing_debugger()
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
