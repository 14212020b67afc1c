//! The surroundings of core and memories: peripherals, probes, the console, stops.

use rtoslab_lab::{Console, ProbedRegisters, Probes, StimulusSchedule};
use rtoslab_periph::stm32::{self, Chip, Clocks, Effects, FlashErase, ResetCause, Stm32};
use rtoslab_timing::stm32_bus;

use super::settings::Settings;
use crate::debugger::Debugger;
use crate::stm32::{Options, outputs};
use crate::stop::{Stop, StopReason};
use crate::warnings::{Warnings, message_for_unmodelled_address};

/// The changes that an access or event requests beyond the devices. [`System`](super::system::System) carries them out.
#[derive(Debug, Default)]
pub struct Changes {
    /// Flash timing, or the memory at address 0.
    pub memory: bool,
    /// Parts of the flash to erase.
    pub erase: Vec<FlashErase>,
    /// Clocks.
    pub clocks: bool,
}

/// The peripherals and instruments of an STM32L0 board.
#[derive(Clone)]
pub struct BoardPeripherals {
    /// The peripherals.
    pub periph: Stm32,
    /// The requests of the last accesses.
    pub effects: Effects,
    /// Frequencies in force.
    pub clocks: Clocks,
    /// Core cycles of a cycle of each bus.
    prescalers: [u64; 10],
    /// Timing rules in force.
    pub settings: Settings,
    /// Those of the buses.
    pub bus_rules: [u64; stm32_bus::SETTINGS.len()],
    /// Probes and events.
    pub probes: Probes,
    /// Stimuli to come.
    pub injections: StimulusSchedule,
    /// The output of the serial ports.
    pub console: Console,
    /// Port that printed last. Typed text goes there.
    console_port: u8,
    /// Why the run must end.
    pub stop: Option<Stop>,
    /// The `until` address that has been reported already.
    pub passed_until: Option<u32>,
    /// The warnings of the run.
    pub warnings: Warnings,
    /// Interrupt lines as last driven into the core.
    pub driven: u32,
    /// A reset of the chip that was asked for.
    pub reset: Option<ResetCause>,
    /// The debugger.
    pub debugger: Debugger,
    /// A register is watched.
    pub watches_registers: bool,
}

impl BoardPeripherals {
    /// Creates the peripherals after power-on.
    pub fn new(chip: Chip, options: &Options) -> BoardPeripherals {
        let periph = Stm32::new(chip, &options.board);
        let mut devices = BoardPeripherals {
            clocks: periph.clock_frequencies().clone(),
            periph,
            effects: Effects::default(),
            prescalers: [1; 10],
            settings: Settings::new(),
            bus_rules: Settings::new().bus_timing_rules(),
            probes: Probes::default(),
            injections: StimulusSchedule::default(),
            console: Console::default(),
            console_port: options.console_port,
            stop: None,
            passed_until: None,
            warnings: Warnings::new(options.strict),
            driven: 0,
            reset: None,
            debugger: Debugger::default(),
            watches_registers: false,
        };
        devices.update_clock_frequencies();
        devices
    }

    /// Updates the clock frequencies after a change.
    fn update_clock_frequencies(&mut self) {
        use stm32::Bus::{Ahb1, Ahb2, Ahb3, Ahb4, Apb1, Apb2, Apb3, Apb4, IoPort, Ppb};
        self.clocks = self.periph.clock_frequencies().clone();
        for bus in [Ahb1, Ahb2, Ahb3, Ahb4, Apb1, Apb2, Apb3, Apb4, IoPort, Ppb] {
            self.prescalers[bus as usize] = self.clocks.core_cycles_per_bus_cycle(bus);
        }
    }

    /// Returns the wait states of an access to a peripheral on this bus.
    #[inline]
    pub fn bus_wait_states(&self, bus: stm32::Bus, write: bool, at: u64) -> u64 {
        let rules = &self.bus_rules;
        if bus.is_on_apb() {
            return stm32_bus::apb_access_wait_cycles(rules, at, self.prescalers[bus as usize]);
        }
        match bus {
            stm32::Bus::IoPort | stm32::Bus::Ppb => 0,
            _ => rules[if write { stm32_bus::key::AHB_WRITE } else { stm32_bus::key::AHB_READ }],
        }
    }

    /// Returns FLASH_ACR with the value of the firmware, or with fields that a setting overrides.
    pub fn flash_access_control(&self) -> u32 {
        self.settings.flash_access_control(self.periph.flash_read_settings().acr)
    }

    /// Applies the effects of an access or event to instruments and clocks. Returns the changes left for the machine.
    pub fn apply_event_effects(&mut self, pc: u32, now: u64) -> Changes {
        if let Some(about) = self.effects.remap.then(|| self.periph.missing_memory_warning()).flatten() {
            self.warn_unsupported(about, pc, now);
        }
        let mut changes = Changes {
            memory: std::mem::take(&mut self.effects.flash_timing_changed) | std::mem::take(&mut self.effects.remap),
            ..Changes::default()
        };
        if !self.effects.erase.is_empty() {
            changes.erase = std::mem::take(&mut self.effects.erase);
        }
        if std::mem::take(&mut self.effects.clocks_changed) {
            self.update_clock_frequencies();
            changes.clocks = true;
            self.warn_of_unsupported_clocks(pc, now);
        }
        if let Some(cause) = self.effects.chip_reset.take() {
            self.reset = Some(cause);
        }
        outputs::pass_serial_output_on(
            &mut self.effects,
            &mut self.periph,
            &mut self.console,
            &mut self.console_port,
            now,
        );
        outputs::notify_and_trace_changed_pins(&mut self.effects, &mut self.periph, &mut self.probes);
        if let Some((address, written)) = self.effects.unmodelled.take() {
            self.warn_once_of_register_access(address, written, pc, now, "is not modelled");
        }
        for about in std::mem::take(&mut self.effects.limits) {
            self.warn_unsupported(about, pc, now);
        }
        if let Some((address, written)) = self.effects.unclocked.take() {
            self.warn_once_of_register_access(address, written, pc, now, "has no effect: the block's clock is off");
        }
        changes
    }

    /// Warns once about an access to a register.
    fn warn_once_of_register_access(&mut self, address: u32, written: bool, pc: u32, now: u64, why: &str) {
        let block = self.periph.manual_name_of_peripheral(address).unwrap_or("peripheral");
        let direction = if written { "write to" } else { "read of" };
        let text = format!("{direction} a {block} register at 0x{address:08x} {why} (first used by 0x{pc:08x})");
        let stops = self.warnings.warn_once(&format!("0x{address:08x} {why}"), text);
        self.stop_if_strict(pc, now, stops);
    }

    /// Warns once of an unmodelled address, for each kind of access. Under `strict` the run stops.
    pub fn warn_of_unmodelled_address(&mut self, what: &str, address: u32, pc: u32, now: u64) {
        let stops = self
            .warnings
            .warn_once(&format!("{what} at 0x{address:08x}"), message_for_unmodelled_address(what, address, pc));
        self.stop_if_strict(pc, now, stops);
    }

    /// Stops a strict run because of a warning.
    fn stop_if_strict(&mut self, pc: u32, now: u64, text: Option<String>) {
        if let Some(text) = text {
            self.stop_for_reason(StopReason::Strict, pc, now, text);
        }
    }

    /// Warns of clock frequencies that the chip does not support.
    pub fn warn_of_unsupported_clocks(&mut self, pc: u32, now: u64) {
        if let Some(about) = self.periph.clock_limit_warning(self.settings.clock_hz_setting()) {
            self.warn_unsupported(&about, pc, now);
        }
    }

    /// Warns once that the firmware requested something unsupported. Under `strict` the run stops.
    pub fn warn_unsupported(&mut self, about: &str, pc: u32, now: u64) {
        let stops = self.warnings.warn_of_unsupported_hardware_request(about, pc);
        self.stop_if_strict(pc, now, stops);
    }

    /// Adds a fault to the run's warnings.
    pub fn warn_of_fault(&mut self, pc: u32, why: &str, cycle: u64) {
        self.warnings.warn_of_handled_fault(format!("the core took a fault at 0x{pc:08x} in cycle {cycle}: {why}"));
    }

    /// Stops the run for a reason, with one sentence in `detail`, unless it stops already.
    pub fn stop_for_reason(&mut self, reason: StopReason, address: u32, cycle: u64, detail: String) {
        self.stop.get_or_insert(Stop { reason, core: 0, cycle, address, detail });
    }

    /// Fires the probes of a site on the instruction at `address`. Returns true if the run must stop before it.
    pub fn fire_probes_at(&mut self, site: u32, address: u32, now: u64, held: ProbedRegisters) -> bool {
        let skip = self.passed_until.take() == Some(address);
        let stops = self.probes.fire_probes_at_known_site(site, address, 0, now, held, skip);
        if stops {
            self.passed_until = Some(address);
            self.stop_for_reason(
                StopReason::Until,
                address,
                now,
                format!("the instruction at 0x{address:08x} is executed next"),
            );
        }
        stops
    }

    /// Records a store to a watched place. Returns true if the run must stop after it.
    pub fn note_watched_store(&mut self, address: u32, word: u32, now: u64, pc: u32) -> bool {
        let stops = self.probes.report_store_to_watched_word(address, word, 0, now, pc);
        if stops {
            self.stop_for_reason(
                StopReason::Watch,
                address,
                now,
                format!("the watched word at 0x{address:08x} changed to {word}"),
            );
        }
        stops
    }

    /// Records an access to a register that may be watched. `written` is a store's value. Returns true if the run must
    /// stop after it.
    pub fn report_watched_register_access(&mut self, address: u32, written: Option<u32>, now: u64, pc: u32) -> bool {
        if !self.watches_registers {
            return false;
        }
        let word = address & !3;
        if let Some(value) = written {
            return self.note_watched_store(word, value << (8 * (address & 3)), now, pc);
        }
        let stops = self.probes.does_register_read_stop_run(word);
        if stops {
            self.stop_for_reason(
                StopReason::Watch,
                word,
                now,
                format!("the watched register at 0x{word:08x} was read"),
            );
        }
        stops
    }

    /// Returns whether a serial port is sending.
    pub fn is_serial_port_sending(&self) -> bool {
        self.periph.usarts.iter().any(stm32::Usart::is_sending)
    }

    /// Types text into the console's port at line speed.
    pub fn type_into_console(&mut self, text: &[u8]) {
        self.periph.send_to_serial_port(self.console_port, text);
    }

    /// Returns the rate of SysTick's external reference, in counts for each core cycle.
    pub fn systick_reference_rate(&self) -> rtoslab_cpu::systick::CounterClockRate {
        rtoslab_cpu::systick::CounterClockRate { num: 1, den: 8 }
    }
}
