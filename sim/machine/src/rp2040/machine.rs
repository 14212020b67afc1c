//! The run loop: cores, events and exceptions in time order.

use std::sync::Arc;

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::step::watch;
use rtoslab_cpu::v6m::block::Block;
use rtoslab_cpu::v6m::bus::ChipBusFabric;
use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::pair;
use rtoslab_cpu::v6m::ppb;
use rtoslab_lab::{Observer, Stimulus};
use rtoslab_periph::{ElapsedTime, NEVER};

use super::system::System;
use super::waiting::LoneCore;
use crate::board::Stats;
use crate::image::{Core as CoreKind, ImageError, ParsedImageFile, Symbol};
use crate::injection;
use crate::m0plus::face;
use crate::m0plus::turn::{self, FaultOutcome, is_core_active};
use crate::observe::{CycleObservableMachine, ObservableCore, TURN_CYCLES, record_exception_events};
use crate::polling::skip_busy_wait;
use crate::setting::SettingError;
use crate::stop::{RunEndCondition, Stop, StopReason};

/// Lines of the NVICs (RP2040 data sheet 2.3.2). 26 of them are connected.
const INTERRUPT_LINES: u32 = 32;
/// GPIOs.
const PINS: u16 = 30;

/// The options of a virtual Pico.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// 1 keeps core 1 in reset.
    pub cores: usize,
    /// Flash size, a power of two.
    pub flash_bytes: u32,
    /// Crystal frequency.
    pub crystal_hz: u64,
    /// Stop at anything not modelled.
    pub strict: bool,
}

impl Default for Options {
    /// Returns the options of a Raspberry Pi Pico: two cores, 2 MiB of flash, a crystal of 12 MHz.
    fn default() -> Options {
        Options { cores: 2, flash_bytes: 2 << 20, crystal_hz: 12_000_000, strict: false }
    }
}

impl Default for Machine {
    /// Returns a Raspberry Pi Pico with both cores in use.
    fn default() -> Machine {
        Machine::new(Options::default())
    }
}

/// A virtual RP2040 board.
pub struct Machine {
    pub(super) cores: Box<[Core; 2]>,
    pub(super) system: Box<System>,
    pub(super) core_count: usize,
    pub(super) entry_in_sram: Option<u32>,
    /// The first lock-up of a core since reset.
    pub(super) locked: Option<Stop>,
    pub(super) now: u64,
    pub(super) symbols: Arc<[Symbol]>,
    pub(super) watch: u8,
    pub(super) observer: Option<Box<Observer>>,
    pub(super) stats_base: [Stats; 2],
}

impl Machine {
    /// Creates a board with erased flash.
    pub fn new(options: Options) -> Machine {
        let mut machine = Machine {
            cores: Box::new([Core::new(0), Core::new(1)]),
            system: System::new(options.crystal_hz, options.flash_bytes, options.strict),
            core_count: options.cores.clamp(1, 2),
            entry_in_sram: None,
            locked: None,
            now: 0,
            symbols: Arc::default(),
            watch: watch::NOTHING,
            observer: None,
            stats_base: [Stats::default(), Stats::default()],
        };
        machine.system.apply_clock_changes(&mut machine.cores, 0);
        machine
    }

    /// Overrides a timing rule by name.
    pub fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError> {
        self.system.timing.set_timing_rule(key, value)?;
        self.system.drop_cached_timing_and_native_code();
        self.system.update_cache_miss_cost();
        Ok(())
    }

    /// Returns every timing rule with the value in force.
    pub fn timing_rules(&self) -> Vec<(String, rtoslab_timing::Setting, u64)> {
        self.system.timing.all_settings()
    }

    /// Loads an ELF or UF2 image and resets the board.
    pub fn load_image(&mut self, data: &[u8], name: &str) -> Result<(), ImageError> {
        let image = ParsedImageFile::parse_firmware_image(data, name)?;
        image.check_core_can_execute(CoreKind::M0Plus, name)?;
        self.copy_image_to_memory(&image, name)?;
        self.system.held.clear();
        self.symbols = image.symbols.into();
        self.boot_cores();
        Ok(())
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

    /// Returns clk_sys in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.system.periph.clock_tree().sys_hz
    }

    /// Returns the time since power-on.
    pub fn elapsed_time(&self) -> &ElapsedTime {
        &self.system.periph.clock_tree().elapsed
    }

    /// Runs for at most `cycles` more cycles.
    pub fn run_cycles(&mut self, cycles: u64) -> Stop {
        self.run_to(RunEndCondition { cycle: self.now.saturating_add(cycles), ns: None })
    }

    /// Runs up to a cycle or a time at most.
    pub fn run_to(&mut self, run_end: RunEndCondition) -> Stop {
        // Between runs anything may have been done to the board.
        self.system.lines_may_differ = true;
        self.system.pairs.forget_failed_lock_reads();
        loop {
            self.serve_interpreter_exit_requests();
            self.wake_sleepers();
            // A change of the clock ends the core's turn.
            let end = run_end.run_end_cycle(self.elapsed_time());
            if self.locked.is_some() && !self.does_run_continue_after_core_lockup() {
                self.system.stop.clone_from(&self.locked);
            }
            if let Some(stop) = self.take_stop(end) {
                self.now = self.now.max(stop.cycle);
                if stop.reason == StopReason::Lockup {
                    // The other core may have gone on for longer.
                    self.now = self.now.max(self.last_active_cycle_of_cores());
                }
                if matches!(stop.reason, StopReason::Lockup | StopReason::UsbBoot | StopReason::Exit) {
                    self.now = self.system.finish_uart_sending(&mut self.cores, self.now);
                }
                return stop;
            }
            let horizon = self.earliest_cycle_of_awake_core();
            let due = self.next_event_cycle();
            if horizon.unwrap_or(NEVER) >= due.min(end) {
                if due > end || due == NEVER {
                    if horizon.is_none() && due == NEVER {
                        return self.stop_if_all_asleep(end);
                    }
                    self.now = end;
                    return self.new_run_stop_at_core0(
                        StopReason::Cycles,
                        "the requested number of cycles was executed".to_owned(),
                    );
                }
                // What the host types is due at once.
                self.now = self.now.max(due);
                self.process_due_events(self.now);
                continue;
            }
            self.now = horizon.unwrap_or(self.now);
            if self.advance_exception_entries() {
                continue;
            }
            self.execute_until(due.min(end).min(self.system.next_pending_run_stop_cycle()));
        }
    }

    /// Removes and returns the stop of the run whose cycle has come. A core may have reached a stop ahead of the other
    /// core, which executes up to the same cycle first. `None` if the run goes on.
    fn take_stop(&mut self, end: u64) -> Option<Stop> {
        if let Some(stop) = self.system.stop.take_if(|stop| stop.reason.is_stop_requested_by_instrument()) {
            self.system.held.push(stop);
        }
        if self.system.stop.is_some() {
            return self.system.stop.take();
        }
        let cycle = self.system.next_pending_run_stop_cycle();
        if cycle > end || self.earliest_cycle_of_awake_core().is_some_and(|horizon| horizon < cycle) {
            return None;
        }
        let first = self.system.held.iter().position(|stop| stop.cycle == cycle)?;
        Some(self.system.held.remove(first))
    }

    /// Returns whether the run goes on although one core is locked up: the other one executes, or a scheduled event can
    /// wake it. A core 1 that waits in the boot ROM was never started.
    fn does_run_continue_after_core_lockup(&self) -> bool {
        let scheduled = self.next_event_cycle() != NEVER;
        self.cores.iter().any(|core| is_core_active(core) || core.is_asleep() && scheduled && !core.region.rom)
    }

    /// Returns the earliest time of a core that is not asleep or in reset.
    fn earliest_cycle_of_awake_core(&self) -> Option<u64> {
        self.cores.iter().filter(|core| is_core_active(core)).map(|core| core.t).min()
    }

    /// Returns the cycle of the board's next scheduled event.
    fn next_event_cycle(&self) -> u64 {
        let timers = self.cores[0].systick.next_wrap_cycle().min(self.cores[1].systick.next_wrap_cycle());
        timers
            .min(self.system.periph.next_advance_cycle())
            .min(self.system.periph.next_dma_cycle())
            .min(self.system.injections.next_stimulus_cycle())
    }

    /// Processes all events of the board that are scheduled for cycle `at`.
    fn process_due_events(&mut self, at: u64) {
        for core in self.cores.iter_mut() {
            if core.systick.next_wrap_cycle() <= at {
                ppb::advance_systick(core, at);
            }
        }
        if self.system.periph.next_advance_cycle() <= at {
            self.system.advance_peripherals(&mut self.cores, at);
        }
        if self.system.periph.next_dma_cycle() <= at {
            self.system.execute_due_dma_transfer(&mut self.cores, at);
        }
        while let Some(stimulus) = self.system.injections.take_due_stimulus(at) {
            self.system.apply_stimulus(&mut self.cores, stimulus, at);
        }
    }

    /// Carries out the requests for which the cores have left the interpreter.
    fn serve_interpreter_exit_requests(&mut self) {
        let timing = self.system.timing.exception_timing();
        for index in 0..2 {
            let core = &mut self.cores[index];
            if core.request == Request::None && !core.nvic.reset_request {
                continue;
            }
            let request = std::mem::replace(&mut core.request, Request::None);
            let before = core.t;
            if self.system.is_semihosting_request(core, request) {
                let pc = core.next_instruction_address();
                self.system.serve_semihosting(core);
                if let Some(observer) = &mut self.observer {
                    observer.attribute_cycles_to_instruction(index, pc, &core.view_for_observer());
                }
                continue;
            }
            if let Request::RomHook(id) = request {
                let pc = core.next_instruction_address();
                self.system.call_rom_function(core, id);
                if let Some(observer) = &mut self.observer {
                    observer.attribute_cycles_to_instruction(index, pc, &core.view_for_observer());
                }
            }
            // SYSRESETREQ restarts the processors only (RP2040 data sheet 2.4.8).
            if matches!(request, Request::None | Request::RomHook(_)) && std::mem::take(&mut core.nvic.reset_request) {
                let pc = face::next_instruction_address(core);
                self.system.warnings.warn_of_reset("software", pc, before);
                self.restart_in_boot_rom();
            }
            let (outcome, fault) = turn::serve_core_request(&mut self.cores[index], &mut *self.system, request, timing);
            if let Some(fault) = fault {
                self.report_core_fault(index, fault);
            }
            self.report_exception_outcome(index, outcome, before);
        }
        if std::mem::take(&mut self.system.effects.chip_reset) {
            if self.system.periph.watchdog.has_timed_out() {
                let pc = face::next_instruction_address(&self.cores[0]);
                self.system.warnings.warn_of_reset("the watchdog", pc, self.now);
            }
            if self.system.reset_peripherals_by_watchdog(self.now) & 1 != 0 {
                self.restart_in_boot_rom();
            }
        }
        self.system.apply_peripheral_effects_to_cores(&mut self.cores, self.now);
        if let Some(hold) = self.system.effects.core1_reset.take() {
            if hold {
                self.cores[1].reset_core();
                self.observer.iter_mut().for_each(|observer| observer.note_core_reset(1));
            } else if self.core_count == 2 {
                let now = self.cores[0].t;
                self.start_core1();
                self.cores[1].t = now;
            }
        }
    }

    /// Restarts both cores in the boot ROM.
    pub(super) fn restart_in_boot_rom(&mut self) {
        self.boot_cores();
        if let Some(observer) = &mut self.observer {
            observer.note_core_reset(0);
            observer.note_core_reset(1);
        }
        let now = self.now;
        for core in self.cores.iter_mut() {
            core.t = core.t.max(now);
        }
        self.system.apply_clock_changes(&mut self.cores, now);
    }

    /// Reports a fault of a core: a lock-up, or a warning.
    fn report_core_fault(&mut self, index: usize, FaultOutcome { why, pc, cycle, lock_up }: FaultOutcome) {
        match lock_up {
            Some(detail) => {
                self.locked.get_or_insert(new_lockup_stop(index, cycle, pc, detail));
            }
            None => self.system.warn_of_fault(index, pc, why, cycle),
        }
        if let Some(what) = name_of_unexecutable_address_range(pc) {
            self.system.warn_once_of_unmodelled_address(&mut self.cores[index], pc, what, cycle);
        }
    }

    /// Wakes the sleeping cores that have a reason to wake.
    fn wake_sleepers(&mut self) {
        if !self.cores.iter().any(Core::is_asleep) {
            return;
        }
        let timing = self.system.timing.exception_timing();
        // A sleeper wakes when its cause happened: at an event, or when the other core acted.
        let now = self.earliest_cycle_of_awake_core().unwrap_or(self.now).max(self.now);
        for index in 0..2 {
            if let Some((outcome, before)) =
                turn::wake_sleeping_core(&mut self.cores[index], &mut *self.system, now, timing)
            {
                self.report_exception_outcome(index, outcome, before);
            }
        }
    }

    /// Begins or completes exception entries at the current time. Returns true if time moved for a core.
    fn advance_exception_entries(&mut self) -> bool {
        let timing = self.system.timing.exception_timing();
        let mut moved = false;
        for index in 0..2 {
            if let Some((outcome, before)) =
                turn::advance_exception_entry(&mut self.cores[index], &mut *self.system, self.now, timing)
            {
                self.report_exception_outcome(index, outcome, before);
                moved = true;
            }
            let core = &self.cores[index];
            if core.phase == Phase::Lockup && self.locked.is_none() {
                self.locked = Some(new_lockup_stop(
                    index,
                    core.t,
                    core.next_instruction_address(),
                    turn::lock_up_reason_at_entry(core),
                ));
                moved = true;
            }
        }
        moved
    }

    /// Lets the core with the earlier time, or both cores, execute up to cycle `due`.
    fn execute_until(&mut self, mut due: u64) {
        if self.system.periph.xip_ctrl.are_access_counters_used() {
            self.watch = watch::STEPS;
        }
        if self.watch == watch::STEPS {
            due = due.min(self.now + TURN_CYCLES);
            self.attribute_cycles_to_executing_cores();
        }
        for core in self.cores.iter_mut() {
            core.bus_free = core.bus_free.max(self.system.code_memory_free_cycle(core));
        }
        let running = self.cores.each_ref().map(|core| core.phase == Phase::Run);
        let first = self.system.first;
        let (t0, t1) = (self.cores[0].t, self.cores[1].t);
        let turn = match running {
            [true, false] => 0,
            [false, true] => 1,
            _ if t0 == t1 => first,
            _ => usize::from(t1 < t0),
        };
        let other = &self.cores[1 - turn];
        let other_t = if is_core_active(other) { other.t } else { NEVER };
        let both = running == [true, true];
        // The end of an entry goes before the other core's instruction of the same cycle.
        let tie = u64::from(both && first == turn);
        // A core that ran ahead and then sleeps, or enters a handler, left slaves busy for the one that is behind.
        let busy = self.system.busy.iter().copied().max().unwrap_or(0);
        let contend = both || busy > self.cores[turn].t;
        if both && self.watch != watch::STEPS && self.system.held.is_empty() {
            match self.system.pairs.backoff_end(self.now) {
                Some(end) => due = due.min(end),
                None if due - self.now <= Block::CYCLES => {}
                None if self.system.fixed_first.is_none() && self.cores.iter().all(Core::is_between_instructions) => {
                    // SAFETY: both cores live in `self.cores`; their `ip`s were set by `jump` or the interpreter.
                    unsafe { pair::run_basic_blocks(self.cores.as_mut_ptr(), turn, due, &mut *self.system) };
                    return;
                }
                None => {
                    self.system.pairs.start_short_caching_backoff(self.now);
                    due = due.min(self.system.pairs.backoff_end(self.now).unwrap_or(due));
                }
            }
        }
        let is_single = !both && !contend && !is_core_active(&self.cores[1 - turn]);
        self.system.polling.set_busy_wait_detection(is_single && self.watch == watch::NOTHING);
        if is_single && self.system.polling.may_busy_wait_have_begun() {
            let waiting = &mut LoneCore { cores: &mut self.cores, system: &mut self.system, turn };
            skip_busy_wait(waiting, due);
            return;
        }
        self.system.due = due;
        let core = &mut self.cores[turn];
        core.limit = due.min(other_t.saturating_add(tie)).max(core.t + 1);
        if contend && !both {
            // Until then, and the other core gets no turn.
            core.limit = core.limit.min(busy);
            self.system.due = core.limit;
        }
        if !contend {
            core.fetch_ready = 0;
        }
        let cores = self.cores.as_mut_ptr();
        self.system.alone.is_now = is_single;
        // SAFETY: both cores live in `self.cores`; a running core's `ip` was set by `jump` or the interpreter.
        unsafe { turn::execute_core_turn(cores, turn, &mut *self.system, contend, self.watch) };
        self.system.alone.is_now = false;
        if self.watch == watch::STEPS {
            self.observe_finished_turn();
        }
    }

    /// Returns the stop of a run in which no core continues by itself. Its cycle is the one in which the last core
    /// stopped executing, if that is in the run.
    fn stop_if_all_asleep(&mut self, end: u64) -> Stop {
        let since = self.last_active_cycle_of_cores();
        if since > end {
            self.now = end;
            return self
                .new_run_stop_at_core0(StopReason::Cycles, "the requested number of cycles was executed".to_owned());
        }
        self.now = self.now.max(since);
        let detail = "every core sleeps, and no scheduled event can wake one".to_owned();
        self.new_run_stop_at_core0(StopReason::Deadlock, detail)
    }

    /// Returns the cycle from which on no core has done anything.
    fn last_active_cycle_of_cores(&self) -> u64 {
        let still = |core: &&Core| core.phase != Phase::Reset && !is_core_active(core);
        self.cores.iter().filter(still).map(|core| core.t).max().unwrap_or(0)
    }

    /// Returns the end of a run in the current cycle, at core 0.
    fn new_run_stop_at_core0(&self, reason: StopReason, detail: String) -> Stop {
        Stop { reason, core: 0, cycle: self.now, address: self.next_instruction_address(0), detail }
    }

    /// Reports the outcome of an exception step, to the observer and as an event.
    fn report_exception_outcome(&mut self, index: usize, outcome: ExceptionStepResult, before: u64) {
        if outcome == ExceptionStepResult::None {
            return;
        }
        if self.observer.is_some() {
            self.report_exception_outcome_to_observer(index, outcome);
        }
        let core = &self.cores[index];
        record_exception_events(
            &mut self.system.probes,
            core.id,
            (face::next_instruction_address(core), core.t),
            outcome,
            before,
        );
    }

    /// Returns the address of a core's next instruction.
    pub fn next_instruction_address(&self, core: usize) -> u32 {
        face::next_instruction_address(&self.cores[core])
    }

    /// Sets a register of a core by name. Returns false if there is no such register, or if the value is impossible.
    pub fn set_register(&mut self, core: usize, name: &str, value: u32) -> bool {
        let done = face::set_register(&mut self.cores[core], &mut *self.system, name, value);
        if done && name == "pc" {
            self.system.passed_until[core] = None;
            self.system.held.retain(|stop| stop.core != core || stop.reason != StopReason::Until);
        }
        done
    }

    /// Returns the statistics of a core since the start or the last [`Machine::reset_stats`].
    pub fn core_stats(&self, core: usize) -> Stats {
        self.core_stats_since_power_on(core).core_statistics_since(&self.stats_base[core])
    }

    /// Returns the statistics of a core since power-on.
    fn core_stats_since_power_on(&self, index: usize) -> Stats {
        Stats { xip_misses: self.system.misses[index], ..face::core_stats_since_power_on(&self.cores[index], self.now) }
    }

    /// Sets all statistics to zero.
    pub fn reset_stats(&mut self) {
        self.stats_base = [self.core_stats_since_power_on(0), self.core_stats_since_power_on(1)];
        self.system.periph.sio.clear_lock_stats(self.now);
    }

    /// Switches the per-instruction profile on (from zero) or off. It is empty while an observer is active.
    pub fn set_profiling(&mut self, on: bool) {
        self.watch = if on { watch::PROFILE } else { watch::NOTHING };
        self.enable_step_logging_for_observer();
        self.system.set_profile(on);
        for core in self.cores.iter_mut() {
            face::look_up_code_region_again(core, &mut *self.system);
        }
    }

    /// Schedules a stimulus for a cycle that has not passed. The error is one sentence.
    pub fn schedule_stimulus(&mut self, cycle: u64, stimulus: Stimulus) -> Result<(), String> {
        injection::validate_stimulus_for_chip(self.now, (cycle, stimulus), self.core_count, INTERRUPT_LINES, |pin| {
            pin < PINS
        })?;
        self.system.injections.add_stimulus(cycle, stimulus);
        Ok(())
    }
}

/// Returns the name of the address range of an address from which the chip can execute code, but this board cannot.
/// `None` for others.
fn name_of_unexecutable_address_range(address: u32) -> Option<&'static str> {
    match address >> 24 {
        0x11..=0x13 => Some("execution through an uncached XIP window"),
        0x15 => Some("execution from the XIP cache as SRAM"),
        0x21 => Some("execution from the SRAM's non-striped alias"),
        _ => None,
    }
}

/// Returns the stop of the run for a core's lock-up, which takes effect when no other core continues.
fn new_lockup_stop(core: usize, cycle: u64, address: u32, detail: String) -> Stop {
    Stop { reason: StopReason::Lockup, core, cycle, address, detail }
}
