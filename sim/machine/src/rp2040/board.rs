//! The RP2040 as a [`Board`].

use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_lab::{Console, Probes};
use rtoslab_periph::device::{Attached, Connection};
use rtoslab_periph::rp2040::LockStats;

use super::machine::{Machine, Options};
use crate::board::{self, Board, Position, ProfileRow, Stats};
use crate::debugger::Debugger;
use crate::m0plus::face;
use crate::setting::SettingError;

/// Creates a virtual Pico. Errors: a number of cores or a size of flash that is impossible.
pub fn board(options: &board::Options) -> Result<Box<dyn Board>, SettingError> {
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
    board::check_crystal(options.crystal_hz)?;
    let crystal_hz = if options.crystal_hz == 0 { defaults.crystal_hz } else { options.crystal_hz };
    Ok(Box::new(Machine::new(Options { cores, flash_bytes, crystal_hz, strict: options.strict })))
}

impl Board for Machine {
    crate::board::as_the_machine!();

    fn cores(&self) -> usize {
        2
    }

    fn ports(&self) -> usize {
        2
    }

    fn probes(&mut self) -> &mut Probes {
        &mut self.system.probes
    }

    fn refresh(&mut self, address: u32) {
        self.system.refresh(address);
    }

    fn mark_watch(&mut self, address: u32) -> bool {
        self.system.mark_watch(address)
    }

    fn console(&mut self, port: usize) -> &mut Console {
        &mut self.system.consoles[port]
    }

    fn trace_pins(&mut self, on: bool) {
        self.system.probes.trace_pins = on;
        self.system.sample_pins(0, 0);
    }

    fn take_profile(&mut self, core: usize) -> Vec<ProfileRow> {
        self.system.take_profile(core)
    }

    fn type_uart(&mut self, port: usize, text: &[u8]) {
        self.system.type_text(port, text);
    }

    fn passed_over(&self) -> u64 {
        self.system.polling.fast_forward_cycles()
    }

    fn timing_counts(&self) -> Counts {
        self.system.pairs.counts() + self.system.alone.translations.counts()
    }

    fn translate_after(&mut self, executions: u32) {
        self.system.alone.translations.translate_after(executions);
        self.system.pairs.translate_after(executions);
    }

    fn stats(&self, core: usize) -> Stats {
        self.core_stats(core)
    }

    fn lock_stats(&mut self) -> Vec<[LockStats; 2]> {
        self.system.periph.sio.lock_stats().to_vec()
    }

    fn warnings(&self) -> Vec<String> {
        self.system.warnings.warning_texts().to_vec()
    }

    fn read_memory(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.bytes_at(address, bytes).map(<[u8]>::to_vec)
    }

    fn read_as_core(&mut self, core: usize, address: u32) -> Option<u32> {
        let mut at = self.cores[core].t;
        self.cores[core].unprivileged = false;
        self.system.load::<false, false>(&mut self.cores[core], None, address, 4, &mut at).ok()
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.write_sram(address, data)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> bool {
        self.system.program(address, data)
    }

    fn reset(&mut self) {
        self.system.stop = None;
        self.system.held.clear();
        self.restart();
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

    fn position(&self, core: usize) -> Position {
        face::position(&self.cores[core])
    }

    fn registers(&self, core: usize) -> Vec<(String, u32)> {
        face::registers(&self.cores[core])
    }

    fn set_register(&mut self, core: usize, name: &str, value: u32) -> bool {
        self.set_register(core, name, value)
    }
}
