//! The STM32L0 machine as a [`Board`].

use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_lab::{Console, Probes};
use rtoslab_periph::device::{Attached, Connection};

use super::machine::Machine;
use super::system::System;
use crate::board::{Board, Position, ProfileRow, Stats};
use crate::debugger::Debugger;
use crate::m0plus::face;

impl Board for Machine {
    crate::board::as_the_machine!();

    fn cores(&self) -> usize {
        1
    }

    fn ports(&self) -> usize {
        1
    }

    fn probes(&mut self) -> &mut Probes {
        &mut self.system.devices.probes
    }

    fn refresh(&mut self, address: u32) {
        self.system.memories.refresh(address);
    }

    fn mark_watch(&mut self, address: u32) -> bool {
        let devices = &mut self.system.devices;
        let is_register = address >> 20 == 0xe00 || devices.periph.bus(address).is_some();
        devices.watches_registers |= is_register;
        is_register || self.system.memories.mark_watch(address)
    }

    /// All serial ports print to it, in the order of time.
    fn console(&mut self, _: usize) -> &mut Console {
        &mut self.system.devices.console
    }

    fn take_profile(&mut self, _: usize) -> Vec<ProfileRow> {
        let System { memories, timing_cache, .. } = &mut *self.system;
        timing_cache.take_profile().for_each(|(address, cell)| memories.add_to_profile(address, cell));
        memories.take_profile()
    }

    fn type_uart(&mut self, _: usize, text: &[u8]) {
        self.system.devices.type_uart(text);
    }

    fn passed_over(&self) -> u64 {
        self.system.polling.fast_forward_cycles()
    }

    fn timing_counts(&self) -> Counts {
        self.system.timing_cache.counts()
    }

    fn translate_after(&mut self, executions: u32) {
        self.system.timing_cache.translations().translate_after(executions);
    }

    fn stats(&self, _: usize) -> Stats {
        self.core_stats()
    }

    fn warnings(&self) -> Vec<String> {
        self.system.devices.warnings.warning_texts().to_vec()
    }

    fn read_memory(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.memories.read(address, bytes)
    }

    fn read_as_core(&mut self, core: usize, address: u32) -> Option<u32> {
        let mut at = self.cores[core].t;
        self.cores[core].unprivileged = false;
        self.system.load::<false, false>(&mut self.cores[core], None, address, 4, &mut at).ok()
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.memories.write_ram(address, data)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.memories.program(address, data)
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn executable(&mut self, address: u32) -> bool {
        self.system.memories.executable(address)
    }

    fn attach(&mut self, connection: Connection, device: Attached) -> Result<(), String> {
        self.system.devices.periph.attach(connection, device)
    }

    fn set_analog(&mut self, pin: u16, millivolts: u32) -> Result<(), String> {
        self.system.devices.periph.set_analog(pin, millivolts)
    }

    fn debugger(&mut self) -> &mut Debugger {
        &mut self.system.devices.debugger
    }

    fn position(&self, _: usize) -> Position {
        face::position(&self.cores[0])
    }

    fn registers(&self, _: usize) -> Vec<(String, u32)> {
        face::registers(&self.cores[0])
    }

    fn set_register(&mut self, _: usize, name: &str, value: u32) -> bool {
        self.set_register(name, value)
    }
}
