//! The effects of RCC: gates, resets, frequencies.

use super::Stm32;
use crate::ElapsedTime;
use crate::stm32::adc::AdcLayout;
use crate::stm32::block::{Access, Block};
use crate::stm32::chips::Device;
use crate::stm32::clocks::{Bus, Clocks};
use crate::stm32::effects::{Effects, ResetCause};
use crate::stm32::slots::{PeripheralBlockSlot, Place, with_block};

impl Stm32 {
    /// Switches the clocks of blocks on or off, and resets blocks, as RCC's enable and reset bits say.
    pub(super) fn update_clock_gates_and_resets(&mut self, now: u64, effects: &mut Effects) {
        for n in 0..self.slots.len() {
            let Some(gate) = self.slots[n].row.gate else {
                continue;
            };
            let in_reset = self.rcc.is_block_in_reset(gate);
            let slot = &mut self.slots[n];
            slot.open = self.rcc.is_block_clock_enabled(gate) && !in_reset;
            if in_reset && !std::mem::replace(&mut slot.in_reset, in_reset) {
                let place = slot.place;
                with_block!(self, place, block => block.reset_registers());
                self.notify_dependent_peripherals(n, None, now, effects);
            }
            self.slots[n].in_reset = in_reset;
        }
    }

    /// Returns the frequency in Hz of the clock from which a block runs.
    fn block_clock_hz(&self, slot: &PeripheralBlockSlot, clocks: &Clocks) -> u64 {
        if !slot.open {
            return 0;
        }
        let bus = slot.row.bus;
        match slot.row.device {
            Device::Timer(_) => clocks.timer_hz[usize::from(bus == Bus::Apb2)],
            Device::Usart(_, Some(mux)) | Device::Lpuart(Some(mux)) | Device::I2cV2(Some(mux)) => {
                self.rcc.peripheral_kernel_clock_hz(clocks, mux, bus)
            }
            Device::SpiH7(_, clock) => self.rcc.h7_peripheral_kernel_clock_hz(clocks, clock, bus),
            // The F1 divides the ADC's clock in RCC_CFGR, F4 and F7 in the block.
            Device::Adc(AdcLayout::F1) => clocks.bus_hz(bus) / self.rcc.f1_adc_divider(),
            Device::Iwdg => self.spec.rcc.lsi_hz(),
            Device::Rtc | Device::RtcF1 => self.rcc.rtc_hz(),
            _ => clocks.bus_hz(bus),
        }
    }

    /// Recomputes the clock frequencies, and adapts the blocks whose clock has changed.
    pub(super) fn update_clock_frequencies(&mut self, now: u64, effects: &mut Effects) {
        let clocks = self.rcc.clock_frequencies();
        self.pwr.set_pll_ready(self.rcc.is_main_pll_ready());
        let core_changed = clocks.core_hz != self.clocks.core_hz;
        effects.clocks_changed = clocks != self.clocks;
        let adc_hz = self.rcc.adc_hz(self.chip(), &clocks);
        let adc_changed = adc_hz != self.adc_hz;
        self.adc_hz = adc_hz;
        self.adcs_v4.iter_mut().for_each(|adc| adc.set_asynchronous_clock_hz(adc_hz));
        for n in 0..self.slots.len() {
            let clock_hz = self.block_clock_hz(&self.slots[n], &clocks);
            let is_late = adc_changed && matches!(self.slots[n].place, Place::AdcV4(_));
            if !core_changed && !is_late && clock_hz == self.slots[n].clock_hz {
                continue;
            }
            if self.slots[n].place != Place::Rcc {
                self.advance_peripheral_with_index(n, now, effects);
            }
            self.slots[n].clock_hz = clock_hz;
            let place = self.slots[n].place;
            let mut access =
                Access { now, core_hz: clocks.core_hz, clock_hz, elapsed: &self.elapsed, bytes: 4, effects };
            let due = with_block!(self, place, block => {
                block.clocks_changed(&mut access);
                block.next_event_cycle()
            });
            let outputs = with_block!(self, place, block => block.interrupt_outputs());
            self.dues[n] = due;
            let slot = &mut self.slots[n];
            self.lines.update_interrupt_outputs(slot.row.irqs, slot.outputs, outputs);
            slot.outputs = outputs;
        }
        self.clocks = clocks;
        self.elapsed.set_clock_frequency(now, self.clock_hz_for_time_conversion());
        self.update_dma_controllers(now);
        self.update_next_event_cycle();
        self.pass_all_timer_edges_to_pins(effects);
    }

    /// Returns the clock in Hz that converts cycles into time: the one that the run states, else that of the core.
    fn clock_hz_for_time_conversion(&self) -> u64 {
        self.stated_hz.unwrap_or(self.clocks.core_hz)
    }

    /// Sets the core clock that the run states, in Hz, from cycle `now` on. `None`: it states none.
    pub fn set_stated_core_clock(&mut self, hz: Option<u64>, now: u64) {
        self.stated_hz = hz;
        self.elapsed.set_clock_frequency(now, self.clock_hz_for_time_conversion());
    }

    /// Returns the time since power-on, by the core's cycles.
    #[must_use]
    pub fn elapsed_time(&self) -> &ElapsedTime {
        &self.elapsed
    }

    /// Resets all blocks except those of the backup domain, and sets the flag of the cause.
    pub fn reset_non_backup_blocks(&mut self, cause: ResetCause, now: u64, effects: &mut Effects) {
        self.reset_chosen_blocks(|slot| !slot.backup);
        self.rcc.set_reset_cause_flag(cause);
        self.rcc.set_backup_domain_writable(false);
        for n in 0..self.slots.len() {
            self.slots[n].open = self.slots[n].row.gate.is_none();
            self.slots[n].in_reset = false;
            self.notify_dependent_peripherals(n, None, now, effects);
        }
        self.update_clock_gates_and_resets(now, effects);
        self.update_clock_frequencies(now, effects);
        effects.flash_timing_changed = true;
        effects.clocks_changed = true;
    }

    /// Resets the blocks in the chosen slots.
    pub(super) fn reset_chosen_blocks(&mut self, chosen: impl Fn(&PeripheralBlockSlot) -> bool) {
        for n in 0..self.slots.len() {
            if chosen(&self.slots[n]) {
                let place = self.slots[n].place;
                with_block!(self, place, block => block.reset_registers());
            }
        }
    }
}
