//! The effects of an access to a peripheral, or of time: interrupt lines, clocks, pins, console bytes, flash.

use std::sync::Arc;

use rtoslab_cpu::systick::CounterClockRate;
use rtoslab_cpu::v7m::core::Core;
use rtoslab_cpu::v7m::exception;

use super::chip::FLASH_BASE;
use super::family::Stm32ChipFamily;
use super::flash_port::FlashPort;
use super::outputs;
use super::system::{Home, System};

impl<F: Stm32ChipFamily> System<F> {
    /// Advances the peripherals to cycle `now`.
    pub(super) fn advance_peripherals_to(&mut self, core: &mut Core, now: u64) {
        self.periph.process_events_until(now, &mut self.effects);
        if self.periph.has_dma_due(now) {
            self.execute_due_dma_transfers(core, now);
        }
        self.apply_event_effects(core, now);
    }

    /// Carries out all effects of an event in cycle `now`.
    pub(super) fn apply_event_effects(&mut self, core: &mut Core, now: u64) {
        if let Some((address, written)) = self.effects.unmodelled.take() {
            let block = self.periph.manual_name_of_peripheral(address).unwrap_or("register");
            let direction = if written { "write to" } else { "read of" };
            self.warn_of_unmodelled_address(core, address, &format!("{direction} a {block} register"), now);
        }
        for about in std::mem::take(&mut self.effects.limits) {
            self.warn_unsupported(core, about, now);
        }
        if let Some((address, written)) = self.effects.unclocked.take() {
            self.warn_of_unclocked_access(core, address, written);
        }
        if std::mem::take(&mut self.effects.clocks_changed) {
            self.apply_clock_changes(core, now);
        }
        if std::mem::take(&mut self.effects.flash_timing_changed) {
            self.pass_flash_settings();
        }
        if std::mem::take(&mut self.effects.remap) {
            self.forget_alias_at_zero();
            core.refetch = true;
            if let Some(about) = self.periph.missing_memory_warning() {
                self.warn_unsupported(core, about, now);
            }
        }
        if std::mem::take(&mut self.effects.event) {
            core.event = true;
        }
        if let Some(cause) = self.effects.chip_reset.take() {
            self.chip_reset = Some(cause);
            core.limit = 0;
        }
        outputs::notify_and_trace_changed_pins(&mut self.effects, &mut self.periph, &mut self.probes);
        outputs::pass_serial_output_on(
            &mut self.effects,
            &mut self.periph,
            &mut self.console,
            &mut self.console_port,
            now,
        );
        self.erase_requested_flash();
        self.pass_interrupt_lines_to_core(core);
        core.limit = core.limit.min(self.periph.next_advance_cycle());
    }

    /// Drops the code that was decoded at address 0, where another memory is shown now.
    pub(super) fn forget_alias_at_zero(&mut self) {
        self.tables.iter_mut().filter(|table| table.address_and_length().0 == 0).for_each(|table| {
            let (base, bytes) = table.address_and_length();
            table.drop_decoded_ops(base, bytes);
        });
        self.epoch += 1;
    }

    /// Warns of an access to a block whose clock is off.
    fn warn_of_unclocked_access(&mut self, core: &Core, address: u32, written: bool) {
        let block = self.periph.manual_name_of_peripheral(address).unwrap_or("block");
        let (verb, outcome) = if written { ("written to", "is ignored") } else { ("read", "gives 0") };
        let text = format!(
            "{block} is {verb} at 0x{address:08x} while its clock is off, so the access {outcome} (by 0x{:08x}); enable the clock in RCC first",
            core.next_instruction_address()
        );
        self.warnings.add_repeatable_warning(text);
    }

    /// Updates SysTick's reference clock after the clock frequencies changed, and warns of frequencies beyond the
    /// chip's limits.
    pub(super) fn apply_clock_changes(&mut self, core: &mut Core, now: u64) {
        let clocks = self.periph.clock_frequencies();
        let reference = clocks.systick_reference_hz();
        let den = clocks.core_hz.checked_div(reference).unwrap_or(8).max(1);
        core.systick.set_external_clock_rate(CounterClockRate { num: 1, den }, now);
        core.limit = 0;
        if let Some(about) = self.periph.clock_limit_warning(self.settings.clock_hz_setting()) {
            self.warn_unsupported(core, &about, now);
        }
    }

    /// Passes FLASH_ACR to the flash interface, with the fields that the run overrides.
    pub(super) fn pass_flash_settings(&mut self) {
        let acr = self.settings.flash_access_control(self.periph.flash_read_settings().acr);
        self.flash_port.apply_access_control_register(acr);
        self.epoch += 1;
    }

    /// Carries out requested erasures of the flash.
    fn erase_requested_flash(&mut self) {
        for erase in std::mem::take(&mut self.effects.erase) {
            let offset = erase.address.wrapping_sub(FLASH_BASE);
            let end = (offset + erase.bytes).min(self.map.flash_bytes);
            if offset < end {
                Arc::make_mut(&mut self.flash)[offset as usize..end as usize].fill(erase.value);
                self.drop_decoded_ops(Home::Flash, offset, end - offset);
            }
        }
    }

    /// Passes changed interrupt lines on to the core.
    fn pass_interrupt_lines_to_core(&mut self, core: &mut Core) {
        let levels = *self.periph.irq_levels();
        if levels == self.lines {
            return;
        }
        for (word, (new, old)) in levels.into_iter().zip(self.lines).enumerate() {
            let mut changed = new ^ old;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                exception::set_line_level(core, word as u32 * 32 + bit, new >> bit & 1 != 0);
            }
        }
        self.lines = levels;
    }

    /// Lets the serial ports send the bytes that they contain after the core has stopped. Returns the cycle of the last
    /// byte.
    pub(super) fn finish_uart_sending(&mut self, core: &mut Core, now: u64) -> u64 {
        let limit = now.saturating_add(self.periph.clock_frequencies().core_hz);
        let mut at = now;
        while self.periph.usarts.iter().any(|usart| usart.is_sending()) && self.periph.next_advance_cycle() <= limit {
            at = at.max(self.periph.next_advance_cycle());
            self.advance_peripherals_to(core, at);
        }
        at
    }
}
