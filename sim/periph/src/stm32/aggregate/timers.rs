//! The way between timers and pins: which pin shows which output, which one a channel hears.

use super::{PORTS, Stm32};
use crate::stm32::block::{Access, Block};
use crate::stm32::effects::Effects;
use crate::stm32::slots::{PeripheralBlockSlot, Place};
use crate::stm32::timer::pins::{TimerPin, pin_remap_field};

/// Timers that react to each other through pins do so this often in one cycle.
const MOST_REACTIONS: u32 = 32;
/// Channels with an input.
const CHANNELS: u8 = 4;

/// A pin that a channel of a timer can use.
#[derive(Debug, Clone, Copy)]
struct Route {
    at: TimerPin,
    /// Index of the timer.
    timer: u8,
    /// The pin shows the output.
    shows: bool,
    /// The channel hears the pin.
    hears: bool,
}

/// All routes between the timers and pins of a chip.
#[derive(Debug, Clone, Default)]
pub(super) struct TimerRoutes {
    routes: Vec<Route>,
    /// Timers with an output that drives a pin, a bit each.
    driving: u32,
    /// Timers to which pins matter.
    listening: u32,
    /// Pins of each port that channels hear.
    heard: [u16; PORTS],
    /// AFIO_MAPR when the routes were made.
    mapr: u32,
    reactions: u32,
}

impl TimerRoutes {
    /// Creates the routes between timers and pins that a chip has. None is in use yet.
    pub fn new(slots: &[PeripheralBlockSlot], pins: &[TimerPin]) -> TimerRoutes {
        let route = |&at: &TimerPin| {
            let slot = slots.iter().find(|slot| slot.row.name == at.timer)?;
            let Place::Timer(timer) = slot.place else { return None };
            Some(Route { at, timer, shows: false, hears: false })
        };
        TimerRoutes { routes: pins.iter().filter_map(route).collect(), ..TimerRoutes::default() }
    }
}

impl Stm32 {
    /// Advances the timers whose outputs drive pins to cycle `now`, in the order of their edges.
    #[inline]
    pub(super) fn advance_timers(&mut self, now: u64, effects: &mut Effects) {
        if self.timer_routes.driving != 0 && self.due <= now {
            self.advance_timers_that_drive_pins(now, effects);
        }
    }

    /// Advances the timers whose outputs drive pins to cycle `now`, in the order of their events.
    fn advance_timers_that_drive_pins(&mut self, now: u64, effects: &mut Effects) {
        loop {
            let driving = self.timer_routes.driving;
            let drives =
                |slot: &PeripheralBlockSlot| matches!(slot.place, Place::Timer(timer) if driving >> timer & 1 != 0);
            let slots = (0..self.slots.len()).filter(|&n| self.dues[n] <= now && drives(&self.slots[n]));
            let Some(n) = slots.min_by_key(|&n| self.dues[n]) else { return };
            let due = self.dues[n];
            self.advance_peripheral_with_index(n, due, effects);
            self.update_peripheral_after_access(n, due, effects);
            if self.dues[n] <= due {
                return;
            }
        }
    }

    /// Passes the edges of a timer's outputs on to the pins, and updates whether the timer drives pins or has pins as
    /// inputs.
    #[inline]
    pub(super) fn pass_timer_output_edges_to_pins(&mut self, index: u8, n: usize, now: u64, effects: &mut Effects) {
        let (timer, bit) = (&self.timers[usize::from(index)], 1 << index);
        let (drives, listens) = (timer.drives_pins(), timer.listens_to_pins());
        let routes = &mut self.timer_routes;
        routes.driving = routes.driving & !bit | if drives { bit } else { 0 };
        let begins = listens && routes.listening & bit == 0;
        routes.listening = routes.listening & !bit | if listens { bit } else { 0 };
        if begins {
            let pins = self.timer_input_levels(index);
            self.preset_timer_inputs(index, n, pins, now, effects);
        }
        if self.timers[usize::from(index)].has_output_edges() {
            self.pass_timer_edges_to_pins(index, effects);
        }
    }

    /// Sets the levels of a timer's input pins when the timer begins to use them.
    fn preset_timer_inputs(&mut self, index: u8, n: usize, pins: u8, now: u64, effects: &mut Effects) {
        let clock_hz = self.slots[n].clock_hz;
        let access = Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
        let timer = &mut self.timers[usize::from(index)];
        timer.preset_input_pin_levels(pins, &access);
        self.dues[n] = timer.next_event_cycle();
        self.update_next_event_cycle();
    }

    /// Returns the levels of the pins that are inputs of a timer's channels.
    fn timer_input_levels(&self, index: u8) -> u8 {
        let routes = self.timer_routes.routes.iter().filter(|route| route.timer == index && route.hears);
        routes.fold(0, |levels, &Route { at, .. }| {
            levels | u8::from(self.pin_levels(at.port) >> at.pin & 1 != 0) << at.output
        })
    }

    /// Makes the pins show no output of a timer, after it was reset.
    pub(super) fn hide_timer_outputs_from_pins(&mut self, index: u8, n: usize, now: u64, effects: &mut Effects) {
        let clock_hz = self.slots[n].clock_hz;
        let access = Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
        self.timers[usize::from(index)].update_timer_pin_outputs(now, &access);
    }

    /// Passes the output edges of all timers on to their pins.
    pub(super) fn pass_all_timer_edges_to_pins(&mut self, effects: &mut Effects) {
        for index in 0..self.timers.len() {
            if self.timers[index].has_output_edges() {
                self.pass_timer_edges_to_pins(index as u8, effects);
            }
        }
    }

    /// Passes a timer's output edges on to its pins.
    fn pass_timer_edges_to_pins(&mut self, index: u8, effects: &mut Effects) {
        for edge in self.timers[usize::from(index)].take_output_edges() {
            let mut ports = 0_u16;
            for n in 0..self.timer_routes.routes.len() {
                let Route { at, timer, shows, .. } = self.timer_routes.routes[n];
                if timer != index || !shows {
                    continue;
                }
                self.drive_pin_by_timer(at, edge.driven, edge.levels);
                ports |= 1 << at.port;
            }
            for port in (0..PORTS).filter(|port| ports >> port & 1 != 0) {
                if let Some(gpio) = self.ports[port] {
                    self.update_gpio_port(gpio, edge.cycle, effects);
                }
            }
        }
    }

    /// Makes a pin show an output of a timer. `driven` has the outputs that the timer drives, `levels` their levels.
    fn drive_pin_by_timer(&mut self, at: TimerPin, driven: u8, levels: u8) {
        let Some(gpio) = self.ports[usize::from(at.port)] else { return };
        let gpio = &mut self.gpios[usize::from(gpio)];
        let (mut all_driven, mut all_levels) = gpio.pins_driven_by_blocks();
        let pin = 1 << at.pin;
        (all_driven, all_levels) = (all_driven & !pin, all_levels & !pin);
        if driven >> at.output & 1 != 0 {
            all_driven |= pin;
            all_levels |= if levels >> at.output & 1 != 0 { pin } else { 0 };
        }
        gpio.set_pins_driven_by_blocks(all_driven, all_levels);
    }

    /// Moves the timers of an F1 to other pins, if AFIO_MAPR has changed.
    pub(super) fn remap_timer_pins(&mut self, now: u64, effects: &mut Effects) {
        if self.syscfg.pin_remap_register() == self.timer_routes.mapr {
            return;
        }
        self.update_timer_routes(now, effects);
        for index in 0..self.gpios.len() {
            self.update_gpio_port(index as u8, now, effects);
        }
    }

    /// Recomputes which pins show outputs of timers and which are inputs of timers, after modes of pins have changed.
    /// The caller updates the ports.
    pub(super) fn update_timer_routes(&mut self, now: u64, effects: &mut Effects) {
        let mapr = self.syscfg.pin_remap_register();
        let is_remapped = self.chip() == super::Chip::F103;
        let mut shown = [0_u8; 32];
        self.timer_routes.mapr = mapr;
        self.timer_routes.heard = [0; PORTS];
        for n in 0..self.timer_routes.routes.len() {
            let Route { at, timer, .. } = self.timer_routes.routes[n];
            let Some(gpio) = self.gpio_port(at.port) else { continue };
            let function = if is_remapped { 0 } else { at.function };
            let reaches = !is_remapped || pin_remap_field(at.timer, mapr) == at.function;
            let shows = reaches && gpio.pin_output_function(at.pin) == Some(function);
            let hears = reaches && gpio.pin_input_function(at.pin) == Some(function) && at.output < CHANNELS;
            let route = &mut self.timer_routes.routes[n];
            (route.shows, route.hears) = (shows, hears);
            shown[usize::from(timer)] |= u8::from(shows) << at.output;
            self.timer_routes.heard[usize::from(at.port)] |= u16::from(hears) << at.pin;
        }
        self.gpios.iter_mut().for_each(|gpio| gpio.set_pins_driven_by_blocks(0, 0));
        for n in 0..self.slots.len() {
            let Place::Timer(index) = self.slots[n].place else { continue };
            let clock_hz = self.slots[n].clock_hz;
            let access =
                Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
            let timer = &mut self.timers[usize::from(index)];
            timer.set_shown_outputs(shown[usize::from(index)], &access);
            // What they showed before is on no pin any more, so there are no edges.
            timer.take_output_edges();
            let (driven, levels) = timer.last_recorded_timer_outputs();
            for route in 0..self.timer_routes.routes.len() {
                let Route { at, timer, shows, .. } = self.timer_routes.routes[route];
                if timer == index && shows {
                    self.drive_pin_by_timer(at, driven, levels);
                }
            }
            self.update_peripheral_after_access(n, now, effects);
        }
        self.notify_all_timers(now, effects);
    }

    /// Notifies the timers that have this port's pins as inputs of changed levels.
    #[inline]
    pub(super) fn notify_timers_of_port(&mut self, port: u8, changed: u16, now: u64, effects: &mut Effects) {
        let routes = &self.timer_routes;
        if routes.listening != 0 && routes.heard[usize::from(port)] & changed != 0 {
            self.notify_all_timers(now, effects);
        }
    }

    /// Notifies all timers that have pins as inputs of the levels of these pins.
    fn notify_all_timers(&mut self, now: u64, effects: &mut Effects) {
        if self.timer_routes.listening == 0 || self.timer_routes.reactions >= MOST_REACTIONS {
            return;
        }
        self.timer_routes.reactions += 1;
        for n in 0..self.slots.len() {
            let Place::Timer(index) = self.slots[n].place else { continue };
            if self.timer_routes.listening >> index & 1 == 0 {
                continue;
            }
            let pins = self.timer_input_levels(index);
            if !self.slots[n].open {
                self.preset_timer_inputs(index, n, pins, now, effects);
                continue;
            }
            let clock_hz = self.slots[n].clock_hz;
            let access =
                Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
            self.timers[usize::from(index)].set_input_pin_levels(pins, &access);
            self.update_peripheral_after_access(n, now, effects);
        }
        self.timer_routes.reactions -= 1;
    }
}
