//! The STM32L0 machine as a [`Board`].

use rtoslab_cpu::states::Counts;
use rtoslab_lab::{Between, Event};
use rtoslab_periph::rp2040::LockStats;

use super::machine::Machine;
use crate::board::{Board, Position, ProfileRow, Stats};

impl<const RAM: u32> Board for Machine<RAM> {
    fn cores(&self) -> usize {
        1
    }

    fn ports(&self) -> usize {
        1
    }

    crate::board::as_the_machine!();

    fn until(&mut self, address: u32) {
        self.system.devices.probes.until(address & !1);
        self.system.memories.refresh(address & !1);
    }

    fn watch_exec(&mut self, address: u32, id: u16) {
        self.system.devices.probes.watch_exec(address & !1, id);
        self.system.memories.refresh(address & !1);
    }

    fn watch_call(&mut self, address: u32, id: u16, third: bool) {
        self.system.devices.probes.watch_call(address & !1, id, third);
        self.system.memories.refresh(address & !1);
    }

    fn watch_return(&mut self, address: u32, id: u16) {
        self.system.devices.probes.watch_return(address & !1, id);
        self.system.memories.refresh(address & !1);
    }

    fn watch_write(&mut self, address: u32, id: u16, stop: bool) -> bool {
        let found = self.system.memories.mark_watch(address);
        if found {
            self.system.devices.probes.watch_write(address, id, stop);
        }
        found
    }

    fn between(&mut self, start: u32, end: u32) -> usize {
        let (start, end) = (start & !1, end & !1);
        let index = self.system.devices.probes.add_between(start, end);
        self.system.memories.refresh(start);
        self.system.memories.refresh(end);
        index
    }

    fn between_result(&mut self, index: usize) -> Option<Between> {
        self.system.devices.probes.between(index).cloned()
    }

    fn trace_exceptions(&mut self, on: bool) {
        self.system.devices.probes.trace_exceptions = on;
    }

    fn trace_pins(&mut self, on: bool) {
        self.system.devices.probes.trace_pins = on;
    }

    fn take_events(&mut self) -> Vec<Event> {
        let mut events = self.system.devices.probes.take_events();
        events.extend(self.observer.iter_mut().flat_map(|observer| observer.take_events()));
        events
    }

    fn core_cycle(&self, _: usize) -> u64 {
        self.cores[0].t
    }

    fn take_profile(&mut self, _: usize) -> Vec<ProfileRow> {
        self.system.memories.take_profile()
    }

    fn take_uart(&mut self, _: usize) -> Vec<u8> {
        self.system.devices.console.take()
    }

    fn type_uart(&mut self, _: usize, text: &[u8]) {
        self.system.devices.type_uart(text);
    }

    fn script_uart(&mut self, _: usize, prompt: &[u8], text: &[u8]) {
        self.system.devices.console.add_step(prompt, text);
    }

    fn steps_left(&mut self, _: usize) -> usize {
        self.system.devices.console.steps_left()
    }

    fn remembered(&self) -> Counts {
        self.system.memo.counts()
    }

    fn stats(&self, _: usize) -> Stats {
        self.core_stats()
    }

    fn lock_stats(&mut self) -> Vec<[LockStats; 2]> {
        Vec::new()
    }

    fn warnings(&mut self) -> Vec<String> {
        self.system.devices.warnings.clone()
    }

    fn read(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.memories.read(address, bytes)
    }

    fn write(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.memories.write_ram(address, data)
    }

    fn executable(&mut self, address: u32) -> bool {
        self.system.memories.executable(address)
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
