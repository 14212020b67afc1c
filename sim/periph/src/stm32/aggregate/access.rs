//! Accesses by address and the passage of time: dispatch, due times, interrupt outputs.

use super::Stm32;
use crate::NEVER;
use crate::stm32::block::{Access, Block};
use crate::stm32::effects::Effects;
use crate::stm32::flash::FlashStore;
use crate::stm32::rng;
use crate::stm32::slots::{Place, with_block};
use crate::stm32::timer;
use crate::stm32::unsupported;

/// Blocks report unmodelled registers by offset. Anything above is an address already.
const WHOLE_ADDRESS: u32 = 0x4000_0000;

impl Stm32 {
    /// Reads 1, 2 or 4 bytes of a register. Returns 0 for a block whose clock is off, and for an address without a
    /// block.
    pub fn read_register(&mut self, address: u32, bytes: u32, now: u64, effects: &mut Effects) -> u32 {
        let Some(n) = self.map.peripheral_index_at_address(address) else {
            return 0;
        };
        let slot = &self.slots[n];
        if !slot.open {
            self.warn_of_clock_off(n, address, false, effects);
            return 0;
        }
        let offset = address.wrapping_sub(slot.row.base) & !3;
        let (place, clock_hz) = (slot.place, slot.clock_hz);
        self.advance_timers(now, effects);
        let was_due = self.dues[n] <= now;
        let notified = self.notify_accessed_timer(place, n, now, effects);
        let mut access = Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes, effects };
        let value = with_block!(self, place, block => block.read_register(offset, &mut access));
        // Polling is the commonest access, and among reads only those of data registers move a schedule or a line.
        let is_serial = matches!(
            place,
            Place::Spi(_) | Place::SpiH7(_) | Place::Adc(_) | Place::AdcV4(_) | Place::I2cV1(_) | Place::I2cV2(_)
        );
        let takes_data =
            matches!(place, Place::Usart(_) | Place::Rng) && matches!(offset, 0x04 | 0x08 | 0x24) || is_serial;
        let takes_data = takes_data || matches!(place, Place::Timer(_)) && matches!(offset, 0x34..=0x40);
        self.warn_once(n, effects);
        if was_due || notified || takes_data {
            self.update_peripheral_after_access(n, now, effects);
        }
        let lanes = value >> (address % 4 * 8);
        if bytes == 4 { lanes } else { lanes & ((1 << (bytes * 8)) - 1) }
    }

    /// Returns whether reading a register again has no effect, and its value changes only when it is written to, at
    /// [`Self::next_advance_cycle`], by a pin that is driven, or by what the host sends.
    #[must_use]
    pub fn is_register_steady(&self, address: u32) -> bool {
        let Some(n) = self.map.peripheral_index_at_address(address) else { return false };
        let offset = address.wrapping_sub(self.slots[n].row.base) & !3;
        match self.slots[n].place {
            Place::Usart(index) => offset == self.usarts[usize::from(index)].usart_status_register_offset(),
            Place::Gpio(_) => true,
            _ => false,
        }
    }

    /// Writes 1, 2 or 4 bytes of a register. A block whose clock is off ignores the write.
    ///
    /// An APB bridge turns a narrow store into a word with the data on every lane (RM0090 "AHB/APB bridges" and the
    /// same passage of the other manuals). AHB blocks see the bytes on their lanes and keep the others.
    pub fn write_register(&mut self, address: u32, bytes: u32, value: u32, now: u64, effects: &mut Effects) {
        let Some(n) = self.map.peripheral_index_at_address(address) else {
            return;
        };
        let slot = &self.slots[n];
        if !slot.open {
            self.warn_of_clock_off(n, address, true, effects);
            return;
        }
        if slot.backup && !self.pwr.is_backup_domain_writable() {
            return;
        }
        let offset = address.wrapping_sub(slot.row.base) & !3;
        let (clock_hz, place, apb) = (slot.clock_hz, slot.place, slot.row.bus.is_on_apb());
        self.advance_timers(now, effects);
        self.notify_accessed_timer(place, n, now, effects);
        let mut access = Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes, effects };
        let written;
        with_block!(self, place, block => {
            let word = match bytes {
                4 => value,
                2 if apb => (value & 0xffff) * 0x0001_0001,
                _ if apb => (value & 0xff) * 0x0101_0101,
                _ => {
                    let shift = address % 4 * 8;
                    let mask = ((1u32 << (bytes * 8)) - 1) << shift;
                    let rest = if block.is_strobe(offset) { 0 } else { block.peek_register(offset, &access) };
                    rest & !mask | value << shift & mask
                }
            };
            block.write_register(offset, word, &mut access);
            written = word;
        });
        self.warn_of_unsupported_writes(n, offset, written, effects);
        self.notify_accessed_timer(place, n, now, effects);
        self.notify_dependent_peripherals(n, Some(offset), now, effects);
    }

    /// Tells an accessed timer about the updates of another one, if it counts these. Returns true if it does.
    fn notify_accessed_timer(&mut self, place: Place, n: usize, now: u64, effects: &mut Effects) -> bool {
        let Place::Timer(listener) = place else {
            return false;
        };
        let Some(input) = self.timers[usize::from(listener)].chained_trigger_input() else {
            return false;
        };
        let name = timer::chain::trigger_source_name(self.slots[n].row.name, input);
        let Some(talker) = self.slots.iter().find(|slot| Some(slot.row.name) == name) else {
            return false;
        };
        let (Place::Timer(talker), clock_hz) = (talker.place, talker.clock_hz) else {
            return false;
        };
        let access = Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
        if let Some(told) = self.timers[usize::from(talker)].count_update_events_to_notify(&access) {
            self.timers[usize::from(listener)].count_updates_of_chained_timer(told, &access);
        }
        true
    }

    /// Reports the first access to a block whose clock is off.
    fn warn_of_clock_off(&mut self, n: usize, address: u32, written: bool, effects: &mut Effects) {
        let slot = &mut self.slots[n];
        if !slot.in_reset && !std::mem::replace(&mut slot.told.1, true) {
            effects.unclocked = Some((address, written));
        }
    }

    /// Processes the events of all peripherals up to cycle `now`. The machine calls it when
    /// [`Self::next_advance_cycle`] is reached.
    pub fn process_events_until(&mut self, now: u64, effects: &mut Effects) {
        self.advance_timers(now, effects);
        for n in 0..self.dues.len() {
            if self.dues[n] <= now && !self.is_dma_controller(n) {
                self.advance_peripheral_with_index(n, now, effects);
                self.update_peripheral_after_access(n, now, effects);
            }
        }
    }

    /// Advances the block in slot `n` to cycle `now`.
    pub(super) fn advance_peripheral_with_index(&mut self, n: usize, now: u64, effects: &mut Effects) {
        let (place, clock_hz) = (self.slots[n].place, self.slots[n].clock_hz);
        let mut access =
            Access { now, core_hz: self.clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
        with_block!(self, place, block => block.advance_to_now(&mut access));
    }

    /// Reports a write to a register, or a reset (no offset), to the blocks that depend on it.
    pub(super) fn notify_dependent_peripherals(
        &mut self,
        n: usize,
        offset: Option<u32>,
        now: u64,
        effects: &mut Effects,
    ) {
        match self.slots[n].place {
            Place::Gpio(port) => {
                if self.gpios[usize::from(port)].take_pins_rerouted_flag() {
                    self.update_timer_routes(now, effects);
                }
                self.update_gpio_port(port, now, effects);
            }
            Place::Rcc if offset.is_some_and(|offset| self.rcc.is_enable_or_reset_register(offset)) => {
                self.update_clock_gates_and_resets(now, effects);
                effects.clocks_changed = true;
            }
            Place::Pwr => self.rcc.set_backup_domain_writable(self.pwr.is_backup_domain_writable()),
            Place::Timer(index) if offset.is_none() => self.hide_timer_outputs_from_pins(index, n, now, effects),
            Place::Syscfg => {
                self.reconnect_exti_lines();
                self.remap_timer_pins(now, effects);
            }
            _ => {}
        }
        self.warn_once(n, effects);
        self.update_peripheral_after_access(n, now, effects);
        if super::dma::can_write_change_dma_routing(self.slots[n].place) {
            self.rewire_dma(now);
        }
    }

    /// Reports an unsupported request of a write once.
    fn warn_of_unsupported_writes(&mut self, n: usize, offset: u32, value: u32, effects: &mut Effects) {
        let message = match self.slots[n].place {
            Place::Timer(timer) if self.timers[usize::from(timer)].is_chained_timer_event_late() => {
                Some(&unsupported::LATE)
            }
            Place::Spi(spi) if self.spis[usize::from(spi)].is_slave() => Some(&unsupported::SPI_SLAVE),
            Place::SpiH7(spi) if self.spis_h7[usize::from(spi)].is_slave() => Some(&unsupported::SPI_SLAVE),
            Place::Rng
                if self.rng.can_produce_random_words()
                    && !rng::is_clock_within_one_percent(self.rcc.rng_hz(&self.clocks)) =>
            {
                Some(&unsupported::RNG_CLOCK)
            }
            _ => None,
        };
        for row in unsupported::find_unsupported_write_requests(self.spec, self.slots[n].row.device, offset, value)
            .chain(message)
        {
            if !self.told.contains(&row.about) {
                self.told.push(row.about);
                effects.limits.push(row.about);
            }
        }
    }

    /// Reports once, by address, that a block does not model something.
    #[inline]
    fn warn_once(&mut self, n: usize, effects: &mut Effects) {
        if let Some((offset, written)) = effects.unmodelled.filter(|(at, _)| *at < WHOLE_ADDRESS) {
            let is_reported = std::mem::replace(&mut self.slots[n].told.0, true);
            effects.unmodelled = (!is_reported).then_some((self.slots[n].row.base + offset, written));
        }
    }

    /// Updates the next event and interrupt outputs of the block in slot `n` after an access or event, and the clocks
    /// if they may have changed.
    #[inline]
    pub(super) fn update_peripheral_after_access(&mut self, n: usize, now: u64, effects: &mut Effects) {
        if effects.clocks_changed && self.slots[n].place == Place::Rcc {
            if self.rcc.is_backup_domain_in_reset() {
                self.reset_chosen_blocks(|slot| slot.backup);
            }
            self.update_clock_frequencies(now, effects);
        }
        let place = self.slots[n].place;
        if matches!(place, Place::Gpio(_) | Place::File(_) | Place::Syscfg | Place::Crc) {
            return;
        }
        self.update_peripheral_block_outputs(n);
        if let Place::Timer(index) = place {
            self.pass_timer_output_edges_to_pins(index, n, now, effects);
        }
        if super::dma::can_request_dma(place) {
            self.update_dma_controllers(now);
        }
    }

    /// Updates the next event and interrupt outputs of the block in slot `n`.
    #[inline]
    pub(super) fn update_peripheral_block_outputs(&mut self, n: usize) {
        let place = self.slots[n].place;
        let (due, outputs) = with_block!(self, place, block => (block.next_event_cycle(), block.interrupt_outputs()));
        let slot = &mut self.slots[n];
        if slot.outputs != outputs {
            self.lines.update_interrupt_outputs(slot.row.irqs, slot.outputs, outputs);
            slot.outputs = outputs;
        }
        let before = std::mem::replace(&mut self.dues[n], due);
        if due < self.due {
            self.due = due;
        } else if before != due && before == self.due {
            self.update_next_event_cycle();
        }
    }

    /// Recomputes the cycle of the next event of all slots.
    pub(super) fn update_next_event_cycle(&mut self) {
        self.due = self.dues.iter().copied().min().unwrap_or(NEVER);
    }

    /// Stores to the flash array, and returns whether that programs. Erasures come as effects.
    pub fn store_to_flash_array(&mut self, address: u32, bytes: u32, now: u64, effects: &mut Effects) -> FlashStore {
        let (core_hz, clock_hz, elapsed) = (self.clocks.core_hz, self.clocks.hclk_hz, &self.elapsed);
        let mut access = Access { now, core_hz, clock_hz, elapsed, bytes: 4, effects };
        let store = self.flash.handle_store_to_flash(address, bytes, &mut access);
        if let Some(n) = self.slots.iter().position(|slot| slot.place == Place::Flash) {
            self.update_peripheral_after_access(n, now, effects);
        }
        store
    }

    /// Sends bytes from the host to a serial port, by its number. They arrive at line speed.
    pub fn send_to_serial_port(&mut self, number: u8, bytes: &[u8]) {
        if let Some(index) = self.usart_index(number) {
            self.usarts[index].queue_bytes_from_host(bytes);
            let place = Place::Usart(index as u8);
            if let Some(n) = self.slots.iter().position(|slot| slot.place == place) {
                self.dues[n] = self.usarts[index].next_event_cycle();
            }
            self.update_next_event_cycle();
        }
    }
}
