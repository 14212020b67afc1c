//! The observer's side of the machine: probes, consoles, memory. Nothing here costs a cycle.

use rtoslab_cpu::v6m::bus::Bus;
use rtoslab_lab::{Between, Event};
use rtoslab_periph::rp2040::LockStats;

use super::system::{FLASH_BASE, ROM_BYTES, SRAM_BASE, SRAM_BYTES, System};

/// Access to everything that can be observed or typed.
pub struct Instruments<'a> {
    pub(super) system: &'a mut System,
}

impl Instruments<'_> {
    /// Stops the run when an address is about to execute.
    pub fn until(&mut self, address: u32) {
        self.system.probes.until(address & !1);
        self.system.refresh(address & !1);
    }

    /// Records an event when an address is about to execute.
    pub fn watch_exec(&mut self, address: u32, id: u16) {
        self.system.probes.watch_exec(address & !1, id);
        self.system.refresh(address & !1);
    }

    /// Records an event when a function is called: who calls it, its first argument and the second, or the `third`.
    pub fn watch_call(&mut self, address: u32, id: u16, third: bool) {
        self.system.probes.watch_call(address & !1, id, third);
        self.system.refresh(address & !1);
    }

    /// Records an event when a watched call returns to an address.
    pub fn watch_return(&mut self, address: u32, id: u16) {
        self.system.probes.watch_return(address & !1, id);
        self.system.refresh(address & !1);
    }

    /// Records writes to an SRAM word; false if the address is not in SRAM.
    pub fn watch_write(&mut self, address: u32, id: u16, stop: bool) -> bool {
        if !(SRAM_BASE..SRAM_BASE + SRAM_BYTES).contains(&address) {
            return false;
        }
        self.system.probes.watch_write(address, id, stop);
        self.system.mark_watch(address);
        true
    }

    /// Measures cycles between two addresses.
    pub fn between(&mut self, start: u32, end: u32) -> usize {
        let (start, end) = (start & !1, end & !1);
        let index = self.system.probes.add_between(start, end);
        self.system.refresh(start);
        self.system.refresh(end);
        index
    }

    /// Result of [`Instruments::between`].
    pub fn between_result(&self, index: usize) -> Option<Between> {
        self.system.probes.between(index).cloned()
    }

    /// Records handler entries and exits.
    pub fn trace_exceptions(&mut self, on: bool) {
        self.system.probes.trace_exceptions = on;
    }

    /// Records pin edges.
    pub fn trace_pins(&mut self, on: bool) {
        self.system.probes.trace_pins = on;
        self.system.sample_pins(0, 0);
    }

    /// Takes the recorded events.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.system.probes.take_events()
    }

    /// Takes what a UART has sent.
    pub fn take_uart(&mut self, port: usize) -> Vec<u8> {
        self.system.consoles[port].take()
    }

    /// Types text into a UART at line speed.
    pub fn type_uart(&mut self, port: usize, text: &[u8]) {
        self.system.type_text(port, text);
    }

    /// Adds a scripted line: typed when `prompt` has appeared.
    pub fn script_uart(&mut self, port: usize, prompt: &[u8], text: &[u8]) {
        self.system.consoles[port].add_step(prompt, text);
    }

    /// Scripted lines that were never typed.
    pub fn steps_left(&self, port: usize) -> usize {
        self.system.consoles[port].steps_left()
    }

    /// Spinlock statistics per lock and core.
    pub fn lock_stats(&self) -> &[[LockStats; 2]; 32] {
        self.system.periph.sio.lock_stats()
    }

    /// One sentence for each thing the firmware used that is not modelled, and each fault.
    pub fn warnings(&self) -> &[String] {
        &self.system.warnings
    }

    /// Reads memory (ROM, flash, SRAM) without side effects; `None` outside.
    pub fn read(&self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        let (memory, offset): (&[u8], u32) = match address {
            0..ROM_BYTES => (&self.system.rom, address),
            FLASH_BASE..=0x10ff_ffff => (self.system.periph.ssi.flash.bytes(), self.system.flash_offset(address)),
            SRAM_BASE.. => (&self.system.sram, address - SRAM_BASE),
            _ => return None,
        };
        memory.get(offset as usize..(offset as usize).checked_add(bytes)?).map(<[u8]>::to_vec)
    }

    /// Writes SRAM; false outside.
    pub fn write(&mut self, address: u32, data: &[u8]) -> bool {
        let offset = address.wrapping_sub(SRAM_BASE);
        let end = offset as usize + data.len();
        if offset >= SRAM_BYTES || end > SRAM_BYTES as usize {
            return false;
        }
        self.system.sram[offset as usize..end].copy_from_slice(data);
        self.system.invalidate_sram(offset, data.len() as u32);
        true
    }

    /// True if code can execute at the address.
    pub fn executable(&mut self, address: u32) -> bool {
        self.system.region(address & !1).is_some()
    }
}
