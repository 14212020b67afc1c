//! Levels of the pins: edges, wires, and the EXTI lines that listen.

use super::{Pin, Stm32, Wire};
use crate::stm32::block::Access;
use crate::stm32::effects::{Effects, PinChange};
use crate::stm32::gpio::Gpio;

impl Stm32 {
    /// Returns the levels of a port's pins. Port 0 is A. 0 for a port that the chip lacks.
    #[must_use]
    pub fn pin_levels(&self, port: u8) -> u16 {
        self.gpio_port(port).map_or(0, Gpio::levels)
    }

    /// Returns a GPIO port. Port 0 is A. `None` if the chip lacks it.
    #[must_use]
    pub fn gpio_port(&self, port: u8) -> Option<&Gpio> {
        let index = self.ports.get(usize::from(port)).copied().flatten()?;
        self.gpios.get(usize::from(index))
    }

    /// Drives pins of a port from outside: `driven` selects them, `levels` gives their levels.
    pub fn drive_pins(&mut self, port: u8, driven: u16, levels: u16, now: u64, effects: &mut Effects) {
        if let Some(index) = self.ports.get(usize::from(port)).copied().flatten() {
            self.gpios[usize::from(index)].drive_pins(driven, levels);
            self.update_gpio_port(index, now, effects);
        }
    }

    /// Drives one pin of a port from outside and leaves the others as they are.
    pub fn drive_pin(&mut self, port: u8, pin: u8, level: bool, now: u64, effects: &mut Effects) {
        if let Some(index) = self.ports.get(usize::from(port)).copied().flatten() {
            self.gpios[usize::from(index)].drive_pin(pin, level);
            self.update_gpio_port(index, now, effects);
        }
    }

    /// Sets the pins that resistors of the board hold at a level. The levels exist since before power-on, so there are
    /// no edges.
    pub(super) fn set_pins_held_by_resistors(&mut self, rest: &[(Pin, bool)], effects: &mut Effects) {
        for &(Pin { port, pin }, level) in rest {
            if let Some(index) = self.ports.get(usize::from(port)).copied().flatten() {
                self.gpios[usize::from(index)].hold_pin_by_resistor(pin, level);
                self.update_gpio_port(index, 0, effects);
            }
        }
    }

    /// Updates the levels of a port, and passes changes on to EXTI lines and wires.
    pub(super) fn update_gpio_port(&mut self, index: u8, now: u64, effects: &mut Effects) {
        // Each wire passes a level on once. A loop of wires ends there.
        self.settle_port_levels(index, self.wires.len(), now, effects);
    }

    /// Updates the levels of a port: reports changed pins, and passes them on to EXTI lines and wires.
    pub(super) fn settle_port_levels(&mut self, index: u8, wires_left: usize, now: u64, effects: &mut Effects) {
        let gpio = &mut self.gpios[usize::from(index)];
        let changed = gpio.update_gpio_pin_levels();
        if changed == 0 {
            return;
        }
        let (port, levels) = (gpio.port_number(), gpio.levels());
        effects.pins.push(PinChange { cycle: now, port, changed, levels });
        self.pass_edges_to_exti(port, changed, levels, now, effects);
        self.update_selected_spi_devices(port, levels, now);
        self.notify_timers_of_port(port, changed, now, effects);
        for n in 0..self.wires.len() {
            let Wire { from, to } = self.wires[n];
            let touched = from.port == port && changed >> from.pin & 1 != 0 && wires_left > 0;
            if let Some(index) = self.ports[usize::from(to.port)].filter(|_| touched) {
                self.gpios[usize::from(index)].drive_pin(to.pin, levels >> from.pin & 1 != 0);
                self.settle_port_levels(index, wires_left - 1, now, effects);
            }
        }
    }

    /// Notifies devices on SPI buses of the levels of the pins that select them.
    fn update_selected_spi_devices(&mut self, port: u8, levels: u16, now: u64) {
        let spis = self.spis.iter_mut().map(|spi| &mut spi.bus);
        let buses = spis.chain(self.spis_h7.iter_mut().map(|spi| &mut spi.bus));
        let mut selected = buses.filter(|bus| bus.has_chip_select_pins()).peekable();
        if selected.peek().is_none() {
            return;
        }
        let now_ns = self.elapsed.ns_at(now);
        for bus in selected {
            bus.update_selected_devices(
                |pin| (pin / 16 == u16::from(port)).then(|| levels >> (pin % 16) & 1 != 0),
                now_ns,
            );
        }
    }

    /// Passes edges of a port's pins on to the EXTI lines that are connected to the port.
    fn pass_edges_to_exti(&mut self, port: u8, changed: u16, levels: u16, now: u64, effects: &mut Effects) {
        let (core_hz, elapsed) = (self.clocks.core_hz, &self.elapsed);
        let mut access = Access { now, core_hz, clock_hz: 0, elapsed, bytes: 4, effects };
        let (mut rest, mut listened) = (changed, false);
        while rest != 0 {
            let line = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            if self.syscfg.exti_port(line) == port {
                self.exti.set_pin_level(line, levels >> line & 1 != 0, &mut access);
                listened = true;
            }
        }
        if listened {
            self.update_peripheral_after_access(self.exti_slot, now, effects);
        }
    }

    /// Connects the EXTI lines to other pins, after SYSCFG changed. That causes no edge.
    pub(super) fn reconnect_exti_lines(&mut self) {
        for line in 0..16 {
            let level = self.pin_levels(self.syscfg.exti_port(line)) >> line & 1 != 0;
            self.exti.set_line_level(line, level);
        }
    }
}
