//! The observer's side of the machine: probes, console, memory. Nothing here costs a cycle.

use rtoslab_cpu::v7m::bus::Bus;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_lab::{Between, Event};

use super::chip::RAM_BASE;
use super::family::Family;
use super::system::{Home, System};

/// Access to everything that can be observed or typed.
pub struct Instruments<'a, F: Family> {
    pub(super) system: &'a mut System<F>,
    pub(super) core: &'a mut Core,
}

impl<F: Family> Instruments<'_, F> {
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

    /// Records writes to a word of memory; false if there is none that can be written.
    pub fn watch_write(&mut self, address: u32, id: u16, stop: bool) -> bool {
        if address.wrapping_sub(RAM_BASE) < self.system.map.ram_bytes {
            self.system.mark_watch(address);
        } else if matches!(self.system.place(address), Some((Home::Area(_), _))) {
            self.system.watched_elsewhere = true;
        } else {
            return false;
        }
        self.system.probes.watch_write(address, id, stop);
        true
    }

    /// Marks the words that probes watch already.
    pub(super) fn mark_watched(&mut self, addresses: &[u32]) {
        for &address in addresses {
            if address.wrapping_sub(RAM_BASE) < self.system.map.ram_bytes {
                self.system.mark_watch(address);
            } else {
                self.system.watched_elsewhere = true;
            }
        }
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

    /// Records pin edges; pins are numbered port by port, 16 to a port.
    pub fn trace_pins(&mut self, on: bool) {
        self.system.probes.trace_pins = on;
    }

    /// Takes the recorded events.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.system.probes.take_events()
    }

    /// Takes what the serial ports have sent, all of them in the order of time.
    pub fn take_uart(&mut self) -> Vec<u8> {
        self.system.console.take()
    }

    /// Types text at line speed into the port that printed last.
    pub fn type_uart(&mut self, text: &[u8]) {
        self.system.periph.uart_push(self.system.console_port, text);
        self.core.limit = 0;
    }

    /// Adds a scripted line: typed when `prompt` has appeared.
    pub fn script_uart(&mut self, prompt: &[u8], text: &[u8]) {
        self.system.console.add_step(prompt, text);
    }

    /// Scripted lines that were never typed.
    pub fn steps_left(&self) -> usize {
        self.system.console.steps_left()
    }

    /// One sentence for each thing the firmware used that is not modelled, and each fault.
    pub fn warnings(&self) -> &[String] {
        &self.system.warnings
    }

    /// Reads memory without side effects; `None` outside.
    pub fn read(&self, address: u32, bytes: usize) -> Option<Vec<u8>> {
        self.system.bytes_at(address, bytes).map(<[u8]>::to_vec)
    }

    /// Writes RAM; false outside.
    pub fn write(&mut self, address: u32, data: &[u8]) -> bool {
        let Some((home, offset)) = self.system.place(address) else { return false };
        let memory = match home {
            Home::Flash => return false,
            Home::Ram => &mut self.system.ram,
            Home::Area(index) => &mut self.system.memories[index].bytes,
        };
        let Some(target) = memory.get_mut(offset as usize..offset as usize + data.len()) else { return false };
        target.copy_from_slice(data);
        self.system.forget_code(home, offset, data.len() as u32);
        true
    }

    /// True if code can execute at the address.
    pub fn executable(&mut self, address: u32) -> bool {
        self.system.region(address & !1).is_some()
    }
}
