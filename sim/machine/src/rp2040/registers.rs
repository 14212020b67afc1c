//! Register accesses and what follows from them: interrupts, clocks, pins, resets, console bytes.

use rtoslab_cpu::systick::CounterClockRate;
use rtoslab_cpu::v6m::core::Core;
use rtoslab_lab::{Kind, Stimulus};
use rtoslab_periph::rp2040::{ResetCause, peripheral_block_at_address};
use rtoslab_periph::{Access, Effects};
use rtoslab_timing::rp2040::key;

use super::system::System;
use crate::board::ProfileRow;

/// How often devices may answer a change of pins with other ones in one cycle.
const MOST_ANSWERS: usize = 16;

impl System {
    /// Reads a register of the SIO.
    #[inline]
    pub(super) fn read_sio_register(&mut self, core: &mut Core, offset: u32, now: u64) -> u32 {
        let value = self.periph.sio.read_register(offset, core.id, now, &mut self.effects);
        if offset == 0x58 {
            self.end_core_turn(core);
        }
        value
    }

    /// Writes a register of the SIO.
    #[inline]
    pub(super) fn write_sio_register(&mut self, core: &mut Core, offset: u32, value: u32, now: u64) {
        self.periph.sio.write_register(offset, value, core.id, now, &mut self.effects);
        match offset {
            // The FIFO interrupt of either core may have changed. The machine drives the lines.
            0x50 | 0x54 => self.end_core_turn(core),
            0x10..=0x4c if self.effects.pins_changed => {
                self.effects.pins_changed = false;
                self.update_pads_and_notify(core.id, now);
                if [self.interrupt_line_levels(0), self.interrupt_line_levels(1)] != self.driven_lines
                    || self.periph.next_pio_event_cycle() < self.due
                {
                    self.end_core_turn(core);
                }
            }
            _ => {}
        }
    }

    /// Reads a peripheral register. `None` where no peripheral answers.
    pub(super) fn read_peripheral_register(&mut self, core: &mut Core, address: u32, now: u64) -> Option<u32> {
        peripheral_block_at_address(address)?;
        if is_xip_counter(address) {
            self.count_fetched_words(core);
        }
        self.process_pio_events_until_access(core.id, now);
        // Polling is the commonest access, and has no consequences.
        let quiet = self.due != 0 && self.periph.next_advance_cycle() > now && self.periph.is_register_steady(address);
        let mut access = Access { now_cycles: now, core: core.id, clocks: &self.clocks, effects: &mut self.effects };
        let value = self.periph.read_register(address, &mut access);
        if !quiet {
            self.apply_register_access_effects(core, address, now);
        }
        Some(value)
    }

    /// Writes a peripheral register. `None` where no peripheral answers.
    pub(super) fn write_peripheral_register(
        &mut self,
        core: &mut Core,
        address: u32,
        value: u32,
        now: u64,
    ) -> Option<()> {
        peripheral_block_at_address(address)?;
        if is_xip_counter(address) {
            self.count_fetched_words(core);
            self.end_core_turn(core); // from now on steps are logged
        }
        self.process_pio_events_until_access(core.id, now);
        let mut access = Access { now_cycles: now, core: core.id, clocks: &self.clocks, effects: &mut self.effects };
        self.periph.write_register(address, value, address >> 12 & 3, &mut access);
        self.apply_register_access_effects(core, address, now);
        Some(())
    }

    /// Executes the events of PIOs up to an access: a core that waits for the bus accesses after the cycle in which its
    /// instruction began.
    #[inline]
    fn process_pio_events_until_access(&mut self, core: usize, now: u64) {
        while self.periph.next_pio_event_cycle() <= now {
            let due = self.periph.next_pio_event_cycle();
            let mut access = Access { now_cycles: due, core, clocks: &self.clocks, effects: &mut self.effects };
            self.periph.process_due_pio_events(&mut access);
            if std::mem::take(&mut self.effects.pins_changed) {
                self.update_pads_and_notify(core, due);
            }
        }
    }

    /// Applies the effects of a register access. If they concern the cores, the interpreter returns to the machine,
    /// which applies them.
    fn apply_register_access_effects(&mut self, core: &mut Core, address: u32, now: u64) {
        self.lines_may_differ = true;
        if let Some((_, write)) = self.effects.unmodelled.take() {
            let block = peripheral_block_at_address(address).map_or("register", |block| block.data_sheet_name());
            let direction = if write { "write to" } else { "read of" };
            self.warn_once_of_unmodelled_address(
                core,
                address & !0x3000,
                &format!("{direction} a {block} register"),
                now,
            );
        }
        if let Some(limit) = self.effects.limit.take() {
            self.warn_unsupported(core, limit.about, now);
        }
        let lines = [self.interrupt_line_levels(0), self.interrupt_line_levels(1)];
        let due = self.periph.next_advance_cycle().min(self.periph.next_dma_cycle());
        let effects = &self.effects;
        let machine_must_act = effects.clocks_changed
            || effects.core1_reset.is_some()
            || effects.chip_reset
            || lines != self.driven_lines
            || due < self.due;
        self.apply_pending_peripheral_effects(core.id, now);
        if machine_must_act || self.due == 0 {
            self.end_core_turn(core);
        }
    }

    /// Applies the pending effects of peripherals that need no core.
    fn apply_pending_peripheral_effects(&mut self, core: usize, now: u64) {
        self.lines_may_differ = true;
        for (port, byte) in std::mem::take(&mut self.effects.uart_tx) {
            if let Some(text) = self.consoles[usize::from(port)].receive_console_byte(byte) {
                self.type_into_uart(usize::from(port), &text);
            }
            let answer = self.periph.attachments.receive_byte(port, byte, self.periph.clock_tree().elapsed.ns_at(now));
            if !answer.is_empty() {
                self.type_into_uart(usize::from(port), &answer);
            }
        }
        if std::mem::take(&mut self.effects.pins_changed) {
            self.update_pads_and_notify(core, now);
        }
        if std::mem::take(&mut self.effects.xip_flush) {
            self.empty_xip_cache();
        }
        if std::mem::take(&mut self.effects.xip_timing_changed) {
            self.update_cache_miss_cost();
        }
        let fixed_first = match self.periph.busctrl.priority_register() & 0x11 {
            0x01 => Some(0),
            0x10 => Some(1),
            _ => None,
        };
        if fixed_first != self.fixed_first {
            self.fixed_first = fixed_first;
            self.due = 0;
        }
    }

    /// Ends the core's turn, so that the machine looks at interrupts and events.
    pub(super) fn end_core_turn(&mut self, core: &mut Core) {
        self.lines_may_differ = true;
        core.limit = 0;
        self.due = 0;
    }

    /// Returns the levels of a core's interrupt lines.
    fn interrupt_line_levels(&self, core: usize) -> u32 {
        self.periph.irq_levels(core) | self.periph.sio.irq_levels(core)
    }

    /// Applies pending effects that change the cores: interrupt lines and the SysTick reference. Called between
    /// instructions.
    pub(super) fn apply_peripheral_effects_to_cores(&mut self, cores: &mut [Core; 2], now: u64) {
        if std::mem::take(&mut self.effects.clocks_changed) {
            self.apply_clock_changes(cores, now);
        }
        if let Some(first) = self.fixed_first {
            self.first = first;
        }
        let as_driven =
            cores.iter().zip(self.driven_lines).all(|(core, lines)| core.nvic.nvic_input_line_levels() == lines);
        if !std::mem::take(&mut self.lines_may_differ) && as_driven {
            return;
        }
        for (index, core) in cores.iter_mut().enumerate() {
            let lines = self.interrupt_line_levels(index);
            self.driven_lines[index] = lines;
            if core.nvic.set_interrupt_line_levels(lines) != 0 && core.nvic.scr & 0x10 != 0 {
                core.event = true;
            }
        }
    }

    /// Updates cores and peripherals after the clock tree changed.
    pub(super) fn apply_clock_changes(&mut self, cores: &mut [Core; 2], now: u64) {
        self.clocks = self.periph.clock_tree().clone();
        let den = u128::from(self.clocks.tick_hz_den) * u128::from(self.clocks.sys_hz);
        let (num, den) = reduce_fraction(u128::from(self.clocks.tick_hz_num), den);
        for core in cores.iter_mut() {
            let at = core.t.max(now);
            core.systick.set_external_clock_rate(CounterClockRate { num, den }, at);
        }
        if let Some(about) = self.periph.clock_limit_warning() {
            self.warn_unsupported(&mut cores[0], &about, now);
        }
        self.update_cache_miss_cost();
    }

    /// Lets the peripherals act at cycle `now`.
    pub(super) fn advance_peripherals(&mut self, cores: &mut [Core; 2], now: u64) {
        let mut access = Access { now_cycles: now, core: 0, clocks: &self.clocks, effects: &mut self.effects };
        self.periph.process_due_events(&mut access);
        self.apply_event_effects(cores, now);
    }

    /// Lets the UARTs send the bytes in their FIFOs after the cores have stopped. Returns the cycle of the last byte, a
    /// second later at most.
    pub(super) fn finish_uart_sending(&mut self, cores: &mut [Core; 2], now: u64) -> u64 {
        let limit = now.saturating_add(self.clocks.sys_hz);
        let mut at = now;
        while self.periph.uarts.iter().any(rtoslab_periph::rp2040::Uart::is_sending)
            && self.periph.next_advance_cycle() <= limit
        {
            at = at.max(self.periph.next_advance_cycle());
            self.advance_peripherals(cores, at);
        }
        at
    }

    /// Applies the effects of an event, between instructions.
    pub(super) fn apply_event_effects(&mut self, cores: &mut [Core; 2], now: u64) {
        self.apply_pending_peripheral_effects(0, now);
        self.apply_peripheral_effects_to_cores(cores, now);
    }

    /// Applies a stimulus from outside at cycle `now`.
    pub(super) fn apply_stimulus(&mut self, cores: &mut [Core; 2], stimulus: Stimulus, now: u64) {
        match stimulus {
            Stimulus::Exception { core, number } => {
                let core = &mut cores[core];
                if core.nvic.make_exception_pending(number) && core.nvic.scr & 0x10 != 0 {
                    core.event = true;
                }
            }
            Stimulus::Pin { pin, level } => {
                self.periph.drive_pin(u32::from(pin), level);
                self.update_pads_and_notify(0, now);
                self.apply_event_effects(cores, now);
            }
        }
    }

    /// Types text into a UART.
    pub(super) fn type_into_uart(&mut self, port: usize, text: &[u8]) {
        self.lines_may_differ = true;
        self.periph.send_to_uart(port, text);
        self.due = 0;
    }

    /// Warns of an unsupported request to a register by a DMA transfer or a stimulus.
    pub(super) fn warn_of_unsupported_dma_request(&mut self, core: &mut Core, now: u64) {
        if let Some(limit) = self.effects.limit.take() {
            self.warn_unsupported(core, limit.about, now);
        }
    }

    /// Recomputes the pads, traces the ones that changed, and notifies the devices that look at them.
    pub(super) fn update_pads_and_notify(&mut self, core: usize, now: u64) {
        let changed = self.update_pads_and_trace(core, now);
        if changed != 0 && self.periph.attachments.has_device_on_pins() {
            self.notify_devices(core, changed, now);
        }
    }

    /// Notifies devices of changed pins, until they drive no others.
    fn notify_devices(&mut self, core: usize, mut changed: u32, now: u64) {
        let now_ns = self.periph.clock_tree().elapsed.ns_at(now);
        for _ in 0..MOST_ANSWERS {
            let levels = self.pins;
            let pins = (0..30_u16).filter(|pin| changed >> pin & 1 != 0);
            let answers: Vec<(u16, bool)> = pins
                .flat_map(|pin| self.periph.attachments.change_pin(pin, levels >> pin & 1 != 0, now_ns))
                .filter(|&(pin, _)| pin < 30)
                .collect();
            if answers.is_empty() {
                return;
            }
            for (pin, level) in answers {
                self.periph.drive_pin(u32::from(pin), level);
            }
            changed = self.update_pads_and_trace(core, now);
            (self.lines_may_differ, self.due) = (true, 0);
        }
    }

    /// Recomputes the pads and traces the ones that changed, which it returns.
    fn update_pads_and_trace(&mut self, core: usize, now: u64) -> u32 {
        let levels = self.periph.update_pins(now).levels;
        if self.probes.trace_pins {
            let mut changed = levels ^ self.pins;
            while changed != 0 {
                let pin = changed.trailing_zeros();
                changed &= changed - 1;
                self.probes.append_event(Kind::Pin, core, now, pin as u16, levels >> pin & 1, 0);
            }
        }
        std::mem::replace(&mut self.pins, levels) ^ levels
    }

    /// Recomputes the cost of a cache miss from the SSI's set-up and the timing rules.
    pub(super) fn update_cache_miss_cost(&mut self) {
        let frame = self.periph.ssi.xip_frame_timing();
        let divider = u64::from(frame.divider).max(2);
        self.word_cycles =
            u64::from(frame.sck_cycles) * divider + self.timing.chip_timing_rule_value(key::XIP_OVERHEAD);
        self.fill_cycles = self.word_cycles * self.timing.chip_timing_rule_value(key::XIP_FRAMES_PER_FILL);
        let enabled = self.periph.xip_ctrl.is_cache_enabled();
        if enabled != self.xip.enabled {
            self.empty_xip_cache();
            self.xip.enabled = enabled;
        }
    }

    /// Resets the peripherals as the watchdog does. Returns the cores that restart (bit 0: core 0, bit 1: core 1).
    pub(super) fn reset_peripherals_by_watchdog(&mut self, now: u64) -> u32 {
        let cores = self.periph.reset_chip_peripherals(ResetCause::Watchdog, now);
        self.effects = Effects { clocks_changed: true, ..Effects::default() };
        self.empty_xip_cache();
        self.fixed_first = None;
        cores
    }

    /// Sets the state of the peripherals after the boot ROM: flash readable, the blocks that the ROM uses out of reset.
    pub(super) fn set_state_after_boot_rom(&mut self, now: u64) {
        self.periph.set_state_after_boot_rom(now, &mut self.effects);
        self.apply_pending_peripheral_effects(0, now);
        self.update_cache_miss_cost();
    }

    /// Switches the profile of all code on (from zero) or off.
    pub(super) fn set_profile(&mut self, on: bool) {
        for table in [&mut self.rom_code, &mut self.flash_code, &mut self.sram_code] {
            table.set_profile(on);
        }
        self.pairs.set_cached_profiling(on);
        self.alone.translations.set_cached_profiling(on);
    }

    /// Removes the profile of a core and returns it.
    pub(super) fn take_profile(&mut self, core: usize) -> Vec<ProfileRow> {
        let single = self.alone.translations.take_profile();
        for (core, address, cell) in self.pairs.take_profile().into_iter().chain(single) {
            let table = match address >> 28 {
                0 => &mut self.rom_code,
                1 => &mut self.flash_code,
                _ => &mut self.sram_code,
            };
            table.add_to_profile(core, address, cell);
        }
        let tables = [&mut self.rom_code, &mut self.flash_code, &mut self.sram_code];
        tables.into_iter().flat_map(|table| table.take_profile(core)).collect()
    }

    /// Adds a fault to the run's warnings.
    pub(super) fn warn_of_fault(&mut self, core: usize, pc: u32, why: &str, cycle: u64) {
        self.warnings
            .warn_of_handled_fault(format!("core {core} took a HardFault at 0x{pc:08x} in cycle {cycle}: {why}"));
    }
}

/// Returns whether an address is that of XIP_CTRL's CTR_HIT or CTR_ACC.
fn is_xip_counter(address: u32) -> bool {
    matches!(address & !0x3003, 0x1400_000c | 0x1400_0010)
}

/// Returns a fraction in 64 bits, reduced by the greatest common divisor.
fn reduce_fraction(num: u128, den: u128) -> (u64, u64) {
    if num == 0 || den == 0 {
        return (0, 1);
    }
    let (mut a, mut b) = (num, den);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    ((num / a) as u64, (den / a) as u64)
}
