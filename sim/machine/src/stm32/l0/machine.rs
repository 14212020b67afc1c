//! The run loop of the STM32L0: core, events and exceptions in time order.

use std::sync::Arc;

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::exception::{self, ExceptionTiming};
use rtoslab_cpu::v6m::ppb;
use rtoslab_lab::{Observer, Stimulus};
use rtoslab_periph::stm32::{Chip, ResetCause};
use rtoslab_periph::{ElapsedTime, NEVER};
use rtoslab_timing::cortex_m0plus::key;

use super::chip::Kind;
use super::devices::BoardPeripherals;
use super::system::System;
use crate::board::Stats;
use crate::image::{Core as CoreKind, ImageError, ParsedImageFile, Symbol};
use crate::injection;
use crate::m0plus::turn::{self, FaultOutcome, is_core_active};
use crate::m0plus::{debugging, face};
use crate::observe::{CycleObservableMachine, DEEP_SLEEP, SLEEPDEEP, TURN_CYCLES, record_exception_events};
use crate::polling::skip_busy_wait;
use crate::setting::SettingError;
use crate::stm32::Options;
use crate::stm32::own_table::find_image_vector_table;
use crate::stop::{RunEndCondition, Stop, StopReason};

/// A virtual STM32L0 board.
pub struct Machine {
    /// The interpreter works on two cores. The second stays in reset for ever.
    pub(super) cores: Box<[Core; 2]>,
    pub(super) system: Box<System>,
    /// Vector table of an image that does not begin where the chip boots.
    pub(super) own_table: Option<u32>,
    pub(super) now: u64,
    pub(super) symbols: Arc<[Symbol]>,
    pub(super) watch: u8,
    pub(super) observer: Option<Box<Observer>>,
    pub(super) stats_base: Stats,
}

impl Machine {
    /// Creates a board with erased flash.
    pub fn new(chip: Chip, options: &Options) -> Machine {
        Machine {
            cores: Box::new([Core::new(0), Core::new(1)]),
            system: Box::new(System::new(BoardPeripherals::new(chip, options))),
            own_table: None,
            now: 0,
            symbols: Arc::default(),
            watch: watch::NOTHING,
            observer: None,
            stats_base: Stats::default(),
        }
    }

    /// Overrides a timing rule, or a clock or flash setting, by name, before an image is loaded. Errors: unknown name,
    /// value out of range.
    pub fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError> {
        let devices = &mut self.system.devices;
        devices.settings.set_timing_rule(key, value)?;
        devices.bus_rules = devices.settings.bus_timing_rules();
        devices.periph.set_stated_core_clock(devices.settings.clock_hz_setting(), self.now);
        self.system.apply_memory_settings();
        Ok(())
    }

    /// Returns every timing rule with the value in force.
    pub fn timing_rules(&self) -> Vec<(String, rtoslab_timing::Setting, u64)> {
        self.system.devices.settings.all_settings()
    }

    /// Returns the rules of exception timing in force.
    fn exception_timing_rules(&self) -> ExceptionTiming {
        let settings = &self.system.devices.settings;
        ExceptionTiming {
            entry: settings.core_timing_rule_value(key::EXCEPTION_ENTRY),
            exit: settings.core_timing_rule_value(key::EXCEPTION_EXIT),
            tail_chain: settings.core_timing_rule_value(key::TAIL_CHAIN),
            late_arrival: settings.core_timing_rule_value(key::LATE_ARRIVAL),
        }
    }

    /// Loads an ELF image and resets the board.
    pub fn load_image(&mut self, data: &[u8], name: &str) -> Result<(), ImageError> {
        let image = ParsedImageFile::parse_firmware_image(data, name)?;
        image.check_core_can_execute(CoreKind::M0Plus, name)?;
        for (address, bytes) in &image.segments {
            if !self.system.memories.write_bytes(*address, bytes) {
                return Err(ImageError(format!(
                    "{name} has {} bytes for 0x{address:08x}, which is not memory of this board; link it for this board",
                    bytes.len()
                )));
            }
        }
        let memories = &self.system.memories;
        self.own_table = find_image_vector_table(
            &image,
            |address| {
                memories.memory_kind_at(address).and_then(|(kind, offset)| (kind == Kind::Flash).then_some(offset))
            },
            |address| memories.memory_kind_at(address).is_some_and(|(kind, _)| kind == Kind::Ram),
        );
        self.symbols = image.symbols.into();
        self.start_core();
        Ok(())
    }

    /// Starts the core as after a reset.
    fn start_core(&mut self) {
        let core = &mut self.cores[0];
        let now = self.now.max(core.t);
        core.reset_core();
        self.observer.iter_mut().for_each(|observer| observer.note_core_reset(0));
        core.t = now;
        core.bus_free = 0;
        core.fetch_ready = 0;
        core.phase = Phase::Run;
        core.systick.set_external_clock_rate(self.system.devices.systick_reference_rate(), now);
        self.system.apply_memory_settings();
        // The flash shows at 0, where the vector table is after reset.
        core.nvic.vtor = self.own_table.unwrap_or(0);
        let words = self.system.memories.read_bytes(core.nvic.vtor, 8).unwrap_or(vec![0; 8]);
        let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        let (stack, target) = (word(0), word(4));
        core.r[13] = stack & !3;
        core.r[14] = u32::MAX;
        exception::jump_to_interworking_address(core, &mut *self.system, target);
        let (pc, now) = (self.next_instruction_address(), self.cores[0].t);
        self.system.devices.warn_of_unsupported_clocks(pc, now);
    }

    /// Returns the time since power-on.
    pub fn elapsed_time(&self) -> &ElapsedTime {
        self.system.devices.periph.elapsed_time()
    }

    /// Runs for at most `cycles` more cycles.
    pub fn run_cycles(&mut self, cycles: u64) -> Stop {
        self.run_to(RunEndCondition { cycle: self.now.saturating_add(cycles), ns: None })
    }

    /// Runs up to a cycle or a time at most.
    pub fn run_to(&mut self, run_end: RunEndCondition) -> Stop {
        loop {
            self.reset_if_requested();
            self.refresh_code_if_memory_remapped();
            self.serve_core_request();
            self.wake_sleeping_core();
            // A change of the clock ends the core's turn.
            let end = run_end.run_end_cycle(self.elapsed_time());
            // What an exception stacks may reach a watched word after the end: that is for the next run.
            let comes = |stop: &mut Stop| stop.cycle <= end || !stop.reason.is_stop_requested_by_instrument();
            if let Some(stop) = self.system.devices.stop.take_if(comes) {
                self.now = self.now.max(stop.cycle);
                if matches!(stop.reason, StopReason::Lockup | StopReason::Exit) {
                    self.now = self.system.finish_uart_sending(&mut self.cores[0], self.now);
                }
                return stop;
            }
            let horizon = self.executed_until_cycle();
            let devices = &self.system.devices;
            let due = self.cores[0]
                .systick
                .next_wrap_cycle()
                .min(devices.periph.next_advance_cycle())
                .min(devices.injections.next_stimulus_cycle());
            if horizon >= due.min(end) {
                if due > end || due == NEVER {
                    return self.stop_without_further_events(end, horizon == NEVER && due == NEVER);
                }
                self.now = self.now.max(due);
                self.process_due_events();
                continue;
            }
            self.now = self.now.max(horizon);
            if !self.advance_exception_entry() {
                self.execute_until(due.min(end));
            }
        }
    }

    /// Returns the stop of a run in which nothing more happens up to cycle `end`. With `forever` nothing can happen
    /// later either, and the run ends in the cycle in which the core stopped executing, if that is in the run.
    fn stop_without_further_events(&mut self, end: u64, forever: bool) -> Stop {
        if forever && self.cores[0].t <= end {
            self.now = self.now.max(self.cores[0].t);
            let (reason, detail) = match self.cores[0].phase {
                Phase::Lockup => (StopReason::Lockup, "the core is locked up"),
                _ => (StopReason::Deadlock, "the core sleeps, and no scheduled event can wake it"),
            };
            return self.stop_now_for_reason(reason, detail.to_owned());
        }
        self.now = end;
        self.stop_now_for_reason(StopReason::Cycles, "the requested number of cycles was executed".to_owned())
    }

    /// Returns the cycle up to which the core has executed, or [`NEVER`] while it sleeps.
    fn executed_until_cycle(&self) -> u64 {
        let core = &self.cores[0];
        if is_core_active(core) { core.t } else { NEVER }
    }

    /// Processes all events that are due now: SysTick, peripherals and stimuli.
    fn process_due_events(&mut self) {
        let core = &mut self.cores[0];
        if core.systick.next_wrap_cycle() <= self.now {
            ppb::advance_systick(core, self.now);
        }
        if self.system.devices.periph.next_advance_cycle() <= self.now {
            self.system.advance_peripherals_to(core, self.now);
        }
        while let Some(stimulus) = self.system.devices.injections.take_due_stimulus(self.now) {
            self.system.apply_stimulus(core, stimulus, self.now);
        }
    }

    /// Resets the chip if SYSRESETREQ or a watchdog has requested that.
    fn reset_if_requested(&mut self) {
        if std::mem::take(&mut self.cores[0].nvic.reset_request) {
            self.system.devices.reset.get_or_insert(ResetCause::Software);
        }
        let Some(cause) = self.system.devices.reset.take() else { return };
        if let Some(part) = cause.name_of_part() {
            let (pc, cycle) = (face::next_instruction_address(&self.cores[0]), self.now.max(self.cores[0].t));
            self.system.devices.warnings.warn_of_reset(part, pc, cycle);
        }
        self.reset_chip(cause);
    }

    /// Resets the chip as a debugger does.
    pub(super) fn reset_as_debugger(&mut self) {
        self.system.devices.stop = None;
        self.reset_chip(ResetCause::Software);
    }

    /// Resets the chip for this cause and starts the core again.
    fn reset_chip(&mut self, cause: ResetCause) {
        self.now = self.now.max(self.cores[0].t);
        let devices = &mut self.system.devices;
        devices.periph.reset_non_backup_blocks(cause, self.now, &mut devices.effects);
        self.system.apply_event_effects(&mut self.cores[0], self.now);
        self.start_core();
    }

    /// Looks up the core's code again if another memory is visible at address 0 now.
    fn refresh_code_if_memory_remapped(&mut self) {
        let core = &mut self.cores[0];
        if std::mem::take(&mut self.system.refetch) && !core.ip.is_null() {
            let target = core.next_instruction_address() | u32::from(core.thumb);
            exception::jump_to_interworking_address(core, &mut *self.system, target);
        }
    }

    /// Carries out the request for which the core has left the interpreter.
    fn serve_core_request(&mut self) {
        let timing = self.exception_timing_rules();
        let core = &mut self.cores[0];
        let system = &mut *self.system;
        let before = core.t;
        let request = std::mem::replace(&mut core.request, Request::None);
        if system.devices.debugger.serves && debugging::is_semihosting_call(core, request, |pc| system.halfword_at(pc))
        {
            return self.serve_semihosting();
        }
        let (outcome, fault) = turn::serve_core_request(core, system, request, timing);
        if let Some(FaultOutcome { why, pc, cycle, lock_up }) = fault {
            match lock_up {
                Some(detail) => system.devices.stop_for_reason(StopReason::Lockup, pc, cycle, detail),
                None => system.devices.warn_of_fault(pc, why, cycle),
            }
        }
        self.report_exception_outcome(outcome, before);
        if matches!(outcome, ExceptionStepResult::Slept(_)) {
            self.warn_of_deep_sleep();
        }
    }

    /// Wakes the core if it sleeps and has a reason to wake.
    fn wake_sleeping_core(&mut self) {
        let timing = self.exception_timing_rules();
        if let Some((outcome, before)) =
            turn::wake_sleeping_core(&mut self.cores[0], &mut *self.system, self.now, timing)
        {
            self.report_exception_outcome(outcome, before);
        }
    }

    /// Begins or completes an exception entry. Returns true if the core's time changed.
    fn advance_exception_entry(&mut self) -> bool {
        let timing = self.exception_timing_rules();
        let entered = turn::advance_exception_entry(&mut self.cores[0], &mut *self.system, self.now, timing);
        if let Some((outcome, before)) = entered {
            self.report_exception_outcome(outcome, before);
        }
        let core = &self.cores[0];
        if core.phase == Phase::Lockup {
            let detail = turn::lock_up_reason_at_entry(core);
            self.system.devices.stop_for_reason(
                StopReason::Lockup,
                face::next_instruction_address(core),
                core.t,
                detail,
            );
            return true;
        }
        entered.is_some()
    }

    /// Lets the core execute up to `due`.
    fn execute_until(&mut self, mut due: u64) {
        if self.observer.is_some() {
            due = due.min(self.now + TURN_CYCLES);
            self.attribute_cycles_to_executing_cores();
        }
        let plain = self.watch == watch::NOTHING;
        self.system.polling.set_busy_wait_detection(plain);
        if plain && self.system.polling.may_busy_wait_have_begun() {
            return skip_busy_wait(self, due);
        }
        self.execute_until_or_single_step(due);
        if self.observer.is_some() {
            self.observe_finished_turn();
        }
        self.warn_of_deep_sleep();
    }

    /// Executes up to `due`, or for one instruction.
    pub(super) fn execute_until_or_single_step(&mut self, due: u64) {
        self.system.due = due;
        self.cores[0].limit = due.max(self.cores[0].t + 1);
        let cores = self.cores.as_mut_ptr();
        let system = &mut *self.system;
        // SAFETY: both cores live in `self.cores`; the first one's `ip` was set by `jump` or the interpreter.
        unsafe {
            match (system.flash.may_fetches_wait(), self.watch) {
                (true, watch::NOTHING) => system.execute_with_cached_timing::<{ watch::NOTHING }>(cores),
                (true, watch::PROFILE) => system.execute_with_cached_timing::<{ watch::PROFILE }>(cores),
                (waits, watch) => turn::execute_core_turn(cores, 0, system, waits, watch),
            }
        }
    }

    /// Warns once if deep sleep is requested, because stop and standby modes are not modelled.
    fn warn_of_deep_sleep(&mut self) {
        let core = &self.cores[0];
        if core.is_asleep() && core.nvic.scr & SLEEPDEEP != 0 {
            self.system.devices.warn_unsupported(DEEP_SLEEP, core.next_instruction_address(), core.t);
        }
    }

    /// Reports the outcome of an exception step, to the observer and as an event.
    fn report_exception_outcome(&mut self, outcome: ExceptionStepResult, before: u64) {
        if self.observer.is_some() {
            self.report_exception_outcome_to_observer(0, outcome);
        }
        let core = &self.cores[0];
        record_exception_events(
            &mut self.system.devices.probes,
            core.id,
            (face::next_instruction_address(core), core.t),
            outcome,
            before,
        );
    }

    /// Returns the stop of a run now, for this reason.
    fn stop_now_for_reason(&self, reason: StopReason, detail: String) -> Stop {
        Stop { reason, core: 0, cycle: self.now, address: self.next_instruction_address(), detail }
    }

    /// Returns the current cycle.
    pub fn current_cycle(&self) -> u64 {
        self.now
    }

    /// Returns the core clock in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.system.devices.settings.clock_hz_setting().unwrap_or(self.system.devices.clocks.core_hz)
    }

    /// Schedules a stimulus for a cycle that has not passed. The error is one sentence.
    pub fn schedule_stimulus(&mut self, cycle: u64, stimulus: Stimulus) -> Result<(), String> {
        let devices = &mut self.system.devices;
        let has_pin = |pin: u16| devices.periph.gpio_port((pin / 16) as u8).is_some();
        injection::validate_stimulus_for_chip(
            self.now,
            (cycle, stimulus),
            1,
            u32::from(devices.periph.irq_line_count()),
            has_pin,
        )?;
        devices.injections.add_stimulus(cycle, stimulus);
        Ok(())
    }

    /// Returns the address of the next instruction.
    pub fn next_instruction_address(&self) -> u32 {
        face::next_instruction_address(&self.cores[0])
    }

    /// Returns the functions and objects of the image, by address.
    pub fn image_symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Sets a register of the core by name. Returns false if there is no such register, or if the value is impossible.
    pub fn set_register(&mut self, name: &str, value: u32) -> bool {
        let done = face::set_register(&mut self.cores[0], &mut *self.system, name, value);
        if done && name == "pc" {
            self.system.devices.passed_until = None;
        }
        done
    }

    /// Returns the statistics of the core since the start or the last [`Machine::reset_stats`].
    pub fn core_stats(&self) -> Stats {
        self.core_stats_since_power_on().core_statistics_since(&self.stats_base)
    }

    /// Returns the statistics of the core since power-on.
    fn core_stats_since_power_on(&self) -> Stats {
        let core = &self.cores[0];
        let (bus_wait_cycles, flash_wait_cycles) = bus_and_flash_wait_cycles(core);
        Stats { bus_wait_cycles, flash_wait_cycles, ..face::core_stats_since_power_on(core, self.now) }
    }

    /// Sets all statistics to zero.
    pub fn reset_stats(&mut self) {
        self.stats_base = self.core_stats_since_power_on();
    }

    /// Switches the per-instruction profile on (from zero) or off. It is empty while an observer is active.
    pub fn set_profiling(&mut self, on: bool) {
        self.watch = if on { watch::PROFILE } else { watch::NOTHING };
        self.enable_step_logging_for_observer();
        self.system.memories.set_profile(on);
        self.system.timing_cache.set_cached_profiling(on);
        face::look_up_code_region_again(&mut self.cores[0], &mut *self.system);
    }
}

/// Returns the cycles that the core waited for bridges and EEPROM, and for flash. The interpreter counts every wait as
/// one for the bus, because the flash makes it wait in this way. The system counts the waits for bridges and EEPROM in
/// the other sum.
pub(super) fn bus_and_flash_wait_cycles(core: &Core) -> (u64, u64) {
    (core.flash_wait, core.bus_wait.saturating_sub(core.flash_wait))
}
