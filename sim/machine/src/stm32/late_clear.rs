//! Handlers that return right after the store that clears their interrupt.
//!
//! On silicon such a store is still on its way when the handler returns: through the core's store buffer, the bridge to
//! the peripheral's bus, and back along the interrupt line. The interrupt controller then finds the line high, and the
//! handler runs again (Arm's knowledge article 3795; seen on STM32F103 with TIM3, stm32f1xx-hal issue 332, and on
//! STM32H743 with EXTI, stm32h7xx-hal issue 190). How long that way takes is not published. On the virtual board the
//! line falls with the store, so the run says what silicon may do instead. The Cortex-M0+ has no store buffer and is
//! left out.

use rtoslab_cpu::v7m::core::Core;
use rtoslab_cpu::v7m::nvic::exception;
use rtoslab_timing::stm32_bus::LATE_CLEAR_INSTRUCTIONS;

use super::cleared::InterruptClearingStore;
use super::families::Run;
use super::family::Stm32ChipFamily;
use super::machine::Machine;
use super::system::System;

impl<F: Stm32ChipFamily> System<F> {
    /// Returns the current store if it cleared the interrupt that is being handled, so that the interrupt's line fell.
    /// `before` has the levels of the lines before it.
    pub(super) fn current_store_clearing_own_interrupt(
        &self,
        core: &Core,
        before: &[u32; 5],
    ) -> Option<InterruptClearingStore> {
        let line = core.ipsr.checked_sub(exception::IRQ0)?;
        let is_high = |lines: &[u32; 5]| lines[line as usize / 32] >> (line % 32) & 1 != 0;
        let fell = is_high(before) && !is_high(&self.lines);
        fell.then(|| InterruptClearingStore {
            exception: core.ipsr,
            address: core.next_instruction_address(),
            instructions: core.instructions,
        })
    }

    /// Returns whether the instruction after the one at an address is a DSB.
    fn ends_with_barrier(&self, address: u32) -> bool {
        let is_wide = self.halfword_at(address) >> 11 >= 0b11101;
        let next = address + if is_wide { 4 } else { 2 };
        self.halfword_at(next) == 0xf3bf && self.halfword_at(next + 2) & 0xfff0 == 0x8f40
    }
}

impl<F: Run> Machine<F> {
    /// Warns once for each handler that returns now, too soon after the store that cleared its interrupt.
    pub(super) fn warn_of_late_interrupt_clear(&mut self) {
        let Some(cleared) = self.system.cleared.take() else { return };
        let number = self.core.ipsr;
        let executed = self.core.instructions - cleared.instructions;
        let is_late = cleared.exception == number && executed <= LATE_CLEAR_INSTRUCTIONS;
        if !is_late || self.system.ends_with_barrier(cleared.address) {
            return;
        }
        let key = format!("handler of interrupt {} returns right after", number - exception::IRQ0);
        let function = self.function_at(cleared.address).map_or(String::new(), |name| format!("in {name} "));
        let text = format!(
            "the {key} the store that clears it ({function}by 0x{:08x}); on silicon that store may still be on its way, \
             and the handler then runs a second time: clear earlier, read the register back or end with DSB",
            cleared.address
        );
        let stops = self.system.warnings.warn_once(&key, text);
        let at = self.core.t;
        self.system.stop_if_strict(&mut self.core, cleared.address, at, stops);
    }

    /// Returns the function that contains an address, by the image's symbols.
    fn function_at(&self, address: u32) -> Option<&str> {
        let holds = |bytes: u32, start: u32| address.wrapping_sub(start) < bytes;
        self.symbols.iter().find(|symbol| !symbol.label && holds(symbol.bytes, symbol.address)).map(|s| s.name.as_str())
    }
}
