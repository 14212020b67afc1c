//! The run loop: the core, events and exceptions in time order.

use std::sync::Arc;

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::step::watch;
use rtoslab_cpu::v7m::core::{Core, Phase, Request};
use rtoslab_cpu::v7m::exception::{self, ExceptionTiming};
use rtoslab_cpu::v7m::fault::Fault;
use rtoslab_cpu::v7m::{exec, scs};
use rtoslab_lab::{Observer, Stimulus};
use rtoslab_periph::stm32::{Chip, Options as BoardOptions, ResetCause, Stm32};
use rtoslab_periph::{ElapsedTime, NEVER};

use rtoslab_timing::stm32_bus;

use super::chip::memory_map_of_chip;
use super::families::Run;
use super::runner::Runner;
use super::system::System;
use crate::board::{CorePosition, Stats};
use crate::image::Symbol;
use crate::injection;
use crate::observe::{CycleObservableMachine, DEEP_SLEEP, SLEEPDEEP, TURN_CYCLES, record_exception_events};
use crate::polling::skip_busy_wait;
use crate::setting::SettingError;
use crate::stop::{RunEndCondition, Stop, StopReason};

/// The options of an STM32 board.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Crystals and wires.
    pub board: BoardOptions,
    /// Serial port (its number in the manual) that typed text goes to before any has printed.
    pub console_port: u8,
    /// Stop at anything not modelled.
    pub strict: bool,
}

/// A virtual STM32 board.
pub struct Machine<F: Run> {
    pub(super) core: Box<Core>,
    pub(super) pipe: F::Pipe,
    pub(super) runner: F::Runner,
    pub(super) system: Box<System<F>>,
    pub(super) chip: Chip,
    /// Vector table of an image that does not begin where the chip boots.
    pub(super) own_table: Option<u32>,
    pub(super) now: u64,
    pub(super) symbols: Arc<[Symbol]>,
    pub(super) watch: u8,
    pub(super) observer: Option<Box<Observer>>,
    pub(super) stats_base: Stats,
}

impl<F: Run> Machine<F> {
    /// Creates a board with erased flash. Panics if the chip is not one of the family: a mistake in the caller.
    pub fn new(chip: Chip, options: &Options) -> Machine<F> {
        let map = memory_map_of_chip(chip).expect("a chip with an ARMv7-M core");
        let periph = Stm32::new(chip, &options.board);
        let system = System::new(map, periph, options.strict, options.console_port);
        let pipe = F::new_timed_pipeline(&|key| system.settings.timing_rule_value_of_key(key));
        let core = Box::new(Core::new(map.features));
        let stats_base = core_stats_since_power_on(&core, 0);
        let mut machine = Machine {
            core,
            pipe,
            runner: F::Runner::default(),
            system,
            chip,
            own_table: None,
            now: 0,
            symbols: Arc::default(),
            watch: watch::NOTHING,
            observer: None,
            stats_base,
        };
        machine.system.apply_clock_changes(&mut machine.core, 0);
        machine
    }

    /// Overrides a timing rule or a register field by name. Errors: unknown name, value out of range.
    pub fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError> {
        Arc::make_mut(&mut self.system.settings).set_timing_rule(key, value)?;
        let settings = &self.system.settings;
        self.system.periph.set_stated_core_clock(settings.clock_hz_setting(), self.now);
        self.pipe = F::new_timed_pipeline(&|key| settings.timing_rule_value_of_key(key));
        self.runner.clear_timing_cache();
        self.system.flash_port = F::new_flash_interface(self.system.map, &|key| settings.timing_rule_value_of_key(key));
        self.system.bus_rules = stm32_bus::SETTINGS.map(|rule| settings.timing_rule_value_of_key(rule.key));
        self.system.pass_flash_settings();
        self.system.switch_caches(&self.core);
        Ok(())
    }

    /// Returns every setting with the value in force.
    pub fn timing_rules(&self) -> Vec<(String, rtoslab_timing::Setting, u64)> {
        self.system.settings.all_settings()
    }

    /// Returns the address of a symbol of the image.
    pub fn symbol_address(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }

    /// Returns the functions and objects of the image, by address.
    pub fn image_symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Returns the current cycle.
    pub fn current_cycle(&self) -> u64 {
        self.now
    }

    /// Returns the core clock in Hz: the one that the run states, else the one that RCC's registers give.
    pub fn clock_hz(&self) -> u64 {
        self.system.settings.clock_hz_setting().unwrap_or(self.system.periph.clock_frequencies().core_hz)
    }

    /// Returns the time since power-on.
    pub fn elapsed_time(&self) -> &ElapsedTime {
        self.system.periph.elapsed_time()
    }

    /// Runs for at most `cycles` more cycles.
    pub fn run_cycles(&mut self, cycles: u64) -> Stop {
        self.run_to(RunEndCondition { cycle: self.now.saturating_add(cycles), ns: None })
    }

    /// Runs up to a cycle or a time at most.
    pub fn run_to(&mut self, run_end: RunEndCondition) -> Stop {
        let timing = self.system.settings.exception_timing_rules();
        loop {
            self.serve_core_request(&timing);
            // A change of the clock ends the core's turn.
            let end = run_end.run_end_cycle(self.elapsed_time());
            if let Some(stop) = self.take_stop(end) {
                return stop;
            }
            let due = self.next_event_cycle();
            let horizon = if self.waits_for_event() { NEVER } else { self.core.t };
            if horizon >= due.min(end) {
                if due > end || due == NEVER {
                    return self.stop_without_further_events(end, horizon == NEVER && due == NEVER);
                }
                // What the host types is due at once.
                self.now = self.now.max(due);
                self.process_due_events(self.now);
                self.process_due_exception_steps(&timing, self.now);
                continue;
            }
            self.now = self.now.max(horizon);
            if self.process_due_exception_steps(&timing, self.now) {
                continue;
            }
            if self.core.phase == Phase::Run && self.core.request == Request::None {
                let plain = self.watch == watch::NOTHING && !self.core.mpu.is_enabled();
                self.system.polling.set_busy_wait_detection(plain);
                if plain && self.system.polling.may_busy_wait_have_begun() {
                    skip_busy_wait(self, due.min(end));
                    continue;
                }
                self.core.limit = due.min(end).max(self.core.t + 1);
                self.execute_core_to_next_event();
            }
        }
    }

    /// Returns the cycle of the next event.
    fn next_event_cycle(&self) -> u64 {
        self.core
            .systick
            .next_wrap_cycle()
            .min(self.system.periph.next_advance_cycle())
            .min(self.system.injections.next_stimulus_cycle())
    }

    /// Returns whether the core waits, so that only an event can make it continue.
    fn waits_for_event(&self) -> bool {
        let sleeps = self.core.is_asleep() && !exception::has_reason_to_wake(&self.core);
        sleeps || matches!(self.core.phase, Phase::Reset | Phase::Lockup)
    }

    /// Lets the core execute up to the next event.
    fn execute_core_to_next_event(&mut self) {
        if self.observer.is_some() {
            self.core.limit = self.core.limit.min(self.core.t + TURN_CYCLES);
            self.attribute_cycles_to_executing_cores();
        }
        let (core, pipe, system) = (&mut *self.core, &mut self.pipe, &mut *self.system);
        // SAFETY: the core's `ip` was set by `jump` or the executor, in a region of this system; its tables live as
        // long as the system, and `profile` gives all of them cells before `watch` asks for a profile.
        unsafe {
            match (self.watch, core.mpu.is_enabled()) {
                (watch::NOTHING, false) => self.runner.run_to_limit::<{ watch::NOTHING }>(core, pipe, system),
                (watch::PROFILE, false) => self.runner.run_to_limit::<{ watch::PROFILE }>(core, pipe, system),
                // With the MPU off the guard lets everything pass.
                (watch, _) => exec::run_until_limit(core, pipe, system, watch),
            }
        }
        if self.observer.is_some() {
            self.pass_instructions_to_observer(0, &[]);
        }
        self.warn_of_deep_sleep();
    }

    /// Warns once if deep sleep is requested, because stop and standby modes are not modelled.
    fn warn_of_deep_sleep(&mut self) {
        if self.core.is_asleep() && self.core.scb.scr & SLEEPDEEP != 0 {
            let at = self.core.t;
            self.system.warn_unsupported(&mut self.core, DEEP_SLEEP, at);
        }
    }

    /// Processes everything scheduled for cycle `at`.
    fn process_due_events(&mut self, at: u64) {
        if self.core.systick.next_wrap_cycle() <= at {
            scs::advance_systick(&mut self.core, at);
        }
        if self.system.periph.next_advance_cycle() <= at {
            self.system.advance_peripherals_to(&mut self.core, at);
        }
        while let Some(stimulus) = self.system.injections.take_due_stimulus(at) {
            self.system.apply_stimulus(&mut self.core, stimulus, at);
        }
    }

    /// Takes, completes or pre-empts exceptions. Returns true if the core's state changed.
    fn process_due_exception_steps(&mut self, timing: &ExceptionTiming, now: u64) -> bool {
        let before = match self.core.phase {
            Phase::Entry { recognised, .. } => recognised,
            Phase::Exit { started, .. } => started,
            _ => self.core.t,
        };
        let outcome =
            exception::execute_due_exception_step(&mut self.core, &mut *self.system, &mut self.pipe, timing, now);
        self.report_exception_outcome(outcome, before);
        outcome != ExceptionStepResult::None
    }

    /// Carries out the request for which the core has left the executor.
    fn serve_core_request(&mut self, timing: &ExceptionTiming) {
        let before = self.core.t;
        let outcome = match std::mem::replace(&mut self.core.request, Request::None) {
            Request::None | Request::Stopped => ExceptionStepResult::None,
            Request::Svc => exception::take_supervisor_call(&mut self.core, &mut *self.system, timing),
            Request::ExceptionReturn(value) => {
                self.warn_of_late_interrupt_clear();
                exception::exception_return(&mut self.core, &mut *self.system, value, timing)
            }
            Request::Abandonable(until) => {
                self.process_chip_events_before_cycle(until, timing);
                ExceptionStepResult::None
            }
            Request::Fault(Fault::Breakpoint) if self.has_halted_at_semihosting_call() => {
                self.serve_semihosting(before);
                ExceptionStepResult::None
            }
            Request::Fault(fault) => {
                let pc = self.core.next_instruction_address();
                let outcome = exception::take_synchronous_fault(&mut self.core, &mut *self.system, fault, timing);
                self.report_core_fault(fault, pc, before, outcome);
                outcome
            }
        };
        self.report_exception_outcome(outcome, before);
        if matches!(outcome, ExceptionStepResult::Slept(_)) {
            self.warn_of_deep_sleep();
        }
        if self.core.phase == Phase::Lockup && self.system.stop.is_none() {
            let detail = "core 0 is locked up: its stack or vector table cannot be accessed".to_owned();
            self.system.stop_for_reason(StopReason::Lockup, self.core.next_instruction_address(), self.core.t, detail);
        }
        let software = std::mem::take(&mut self.core.scb.reset_request).then_some(ResetCause::Software);
        if let Some(cause) = software.or_else(|| self.system.chip_reset.take()) {
            if let Some(part) = cause.name_of_part() {
                let pc = self.core.next_instruction_address();
                self.system.warnings.warn_of_reset(part, pc, self.now.max(self.core.t));
            }
            self.reset_chip(cause);
        }
    }

    /// Processes the events before cycle `until` while an instruction is in progress that an interrupt would abandon.
    fn process_chip_events_before_cycle(&mut self, until: u64, timing: &ExceptionTiming) {
        loop {
            let due = self.next_event_cycle();
            if due >= until {
                break;
            }
            self.process_due_events(due.max(self.now));
            if self.core.exception_to_take().is_some() {
                self.core.t = self.core.t.max(due);
                self.now = self.now.max(due);
                self.process_due_exception_steps(timing, due);
                return;
            }
        }
        self.core.committed = true;
    }

    /// Resets the chip for this cause. Memories keep their content.
    pub(super) fn reset_chip(&mut self, cause: ResetCause) {
        let now = self.now.max(self.core.t);
        self.now = now;
        let system = &mut *self.system;
        system.periph.reset_non_backup_blocks(cause, now, &mut system.effects);
        system.apply_event_effects(&mut self.core, now);
        self.start_core();
    }

    /// Removes and returns the stop of the run that is due by cycle `end`. `None` if there is none.
    fn take_stop(&mut self, end: u64) -> Option<Stop> {
        // What an exception stacks, or a buffer writes, may reach a watched word after the end: that is for the next
        // run.
        let stop =
            self.system.stop.take_if(|stop| stop.cycle <= end || !stop.reason.is_stop_requested_by_instrument())?;
        self.now = self.now.max(stop.cycle);
        if matches!(stop.reason, StopReason::Lockup | StopReason::Exit) {
            self.now = self.system.finish_uart_sending(&mut self.core, self.now);
        }
        Some(stop)
    }

    /// Returns the stop of a run in which nothing more happens up to cycle `end`. With `for_ever` nothing can happen
    /// later either, and the run ends in the cycle in which the core stopped executing, if that is in the run.
    fn stop_without_further_events(&mut self, end: u64, for_ever: bool) -> Stop {
        let for_ever = for_ever && self.core.t <= end;
        if for_ever {
            self.now = self.now.max(self.core.t);
        }
        if for_ever && self.core.phase == Phase::Lockup {
            return self.stop_now_for_reason(StopReason::Lockup, "core 0 is locked up");
        }
        if for_ever {
            return self
                .stop_now_for_reason(StopReason::Deadlock, "the core sleeps, and no scheduled event can wake it");
        }
        self.now = end;
        self.stop_now_for_reason(StopReason::Cycles, "the requested number of cycles was executed")
    }

    /// Returns the stop of a run now, for this reason.
    fn stop_now_for_reason(&self, reason: StopReason, detail: &str) -> Stop {
        Stop { reason, core: 0, cycle: self.now, address: self.next_instruction_address(), detail: detail.to_owned() }
    }

    /// Reports the outcome of an exception step, to the observer and as an event.
    fn report_exception_outcome(&mut self, outcome: ExceptionStepResult, before: u64) {
        if self.observer.is_some() {
            self.report_exception_outcome_to_observer(0, outcome);
        }
        let at = (self.next_instruction_address(), self.core.next_execution_cycle());
        record_exception_events(&mut self.system.probes, 0, at, outcome, before);
    }

    /// Returns the address of the next instruction.
    pub fn next_instruction_address(&self) -> u32 {
        if self.core.ip.is_null() { self.core.stray.unwrap_or(0) } else { self.core.next_instruction_address() }
    }

    /// Returns the statistics of the core since the start or the last [`Machine::reset_stats`].
    pub fn core_stats(&self) -> Stats {
        core_stats_since_power_on(&self.core, self.now).core_statistics_since(&self.stats_base)
    }

    /// Sets all statistics to zero.
    pub fn reset_stats(&mut self) {
        self.stats_base = core_stats_since_power_on(&self.core, self.now);
    }

    /// Switches the per-instruction profile on (from zero) or off. It is empty while an observer is active.
    pub fn set_profiling(&mut self, on: bool) {
        self.watch = if on { watch::PROFILE } else { watch::NOTHING };
        self.enable_step_logging_for_observer();
        drop(self.runner.take_profile());
        self.system.set_profile(on);
        if !self.core.ip.is_null() && self.core.stray.is_none() {
            exception::look_up_code_region(&mut self.core, &mut *self.system);
        }
    }

    /// Schedules a stimulus for a cycle that has not passed. The error is one sentence.
    pub fn schedule_stimulus(&mut self, cycle: u64, stimulus: Stimulus) -> Result<(), String> {
        let lines = u32::from(self.system.map.features.irq_lines);
        let has_pin = |pin: u16| self.system.periph.gpio_port((pin / 16) as u8).is_some();
        injection::validate_stimulus_for_chip(self.now, (cycle, stimulus), 1, lines, has_pin)?;
        self.system.injections.add_stimulus(cycle, stimulus);
        Ok(())
    }

    /// Returns the position of the core.
    pub fn core_position(&self) -> CorePosition {
        CorePosition { t: self.core.t, pc: self.next_instruction_address(), asleep: self.core.is_asleep() }
    }
}

/// Returns the statistics of a core since power-on, at cycle `now`.
fn core_stats_since_power_on(core: &Core, now: u64) -> Stats {
    let asleep = if core.is_asleep() { now.saturating_sub(core.slept_at) } else { 0 };
    Stats {
        cycles: now,
        instructions: core.instructions,
        sleep_cycles: core.sleep_cycles + asleep,
        bus_wait_cycles: core.bus_wait,
        flash_wait_cycles: core.flash_wait,
        xip_misses: 0,
        exception_cycles: core.exception_cycles,
        exceptions: core.exceptions.to_vec(),
        float_frames: core.float_frames,
    }
}
