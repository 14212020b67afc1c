//! The face that every virtual board shows to the outside.
//!
//! Dynamic dispatch ends here: a call runs a board for millions of cycles, or reads an instrument.

use rtoslab_cpu::timing_store::Counts;
use rtoslab_lab::{Console, CycleIntervalStatistics, Event, Observer, Probes, Stimulus};
use rtoslab_periph::ElapsedTime;
use rtoslab_periph::device::{AttachedDevice, Connection};
use rtoslab_periph::rp2040::LockStats;
use rtoslab_periph::stm32::{Pin, Wire};
use rtoslab_timing::Setting;

use crate::debugger::Debugger;
use crate::image::{ImageError, Symbol};
use crate::observe::{ObservationReport, ObservationRequest};
use crate::setting::SettingError;
use crate::snapshot::Snapshot;
use crate::stop::{RunEndCondition, Stop};

/// The options of a board. A zero means the chip's usual value.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Cores in use. The others stay in reset.
    pub cores: usize,
    /// Size of an external flash (RP2040).
    pub flash_bytes: u32,
    /// Crystal or external clock.
    pub crystal_hz: u64,
    /// Serial port of the console, by its number in the manual (STM32).
    pub console_port: u8,
    /// Stop at anything not modelled.
    pub strict: bool,
    /// Wires from a pin to another (STM32).
    pub wires: Vec<Wire>,
    /// Pins that resistors of the board hold at a level while nothing drives them (STM32).
    pub rest: Vec<(Pin, bool)>,
}

/// The statistics of one core: its cycles by use, and counts of instructions and exceptions.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Cycles covered.
    pub cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles asleep.
    pub sleep_cycles: u64,
    /// Cycles lost to buses and arbitration.
    pub bus_wait_cycles: u64,
    /// Cycles lost to flash.
    pub flash_wait_cycles: u64,
    /// XIP line fills (RP2040).
    pub xip_misses: u64,
    /// Cycles in exception entry, exit and tail-chaining.
    pub exception_cycles: u64,
    /// Exceptions entered, by number.
    pub exceptions: Vec<u64>,
    /// The number of those frames that have room for floating-point state.
    pub float_frames: u64,
}

impl Stats {
    /// Returns the difference to `before`, earlier statistics of the same core.
    pub fn core_statistics_since(mut self, before: &Stats) -> Stats {
        self.cycles -= before.cycles;
        self.instructions -= before.instructions;
        self.sleep_cycles -= before.sleep_cycles;
        self.bus_wait_cycles -= before.bus_wait_cycles;
        self.flash_wait_cycles -= before.flash_wait_cycles;
        self.xip_misses -= before.xip_misses;
        self.exception_cycles -= before.exception_cycles;
        self.float_frames -= before.float_frames;
        self.exceptions.iter_mut().zip(&before.exceptions).for_each(|(count, before)| *count -= before);
        self
    }
}

/// The position of a core: its time, the next instruction's address, and whether it sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorePosition {
    /// The core's own time: the first cycle in which its next instruction can execute.
    pub t: u64,
    /// Address of that instruction.
    pub pc: u32,
    /// It waits for an interrupt or event.
    pub asleep: bool,
}

/// One instruction's row of a profile: address, cycles, executions, cycles of waiting.
pub type ProfileRow = (u32, u64, u64, u64);

/// A virtual board: what every machine can do, for instruments, debuggers and Python.
///
/// The first methods are what a machine gives to its instruments, those behind [`Board::stop_before_address`] what
/// follows from that.
pub trait Board {
    /// Returns the number of cores in the chip.
    fn number_of_cores(&self) -> usize;
    /// Returns the number of serial ports with a console ([`Board::take_console_output`]).
    fn number_of_consoles(&self) -> usize;
    /// Overrides the value of a timing rule by its name. Errors: unknown name, value out of range.
    fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), SettingError>;
    /// Returns every setting: name, rule, value in force.
    fn timing_rules(&self) -> Vec<(String, Setting, u64)>;
    /// Loads an image into the board's memories and resets the board. `name` is for messages.
    fn load_image(&mut self, data: &[u8], name: &str) -> Result<(), ImageError>;
    /// Returns the functions and objects of the image, by address.
    fn image_symbols(&self) -> &[Symbol];
    /// Runs the board for at most `cycles` more cycles.
    fn run_cycles(&mut self, cycles: u64) -> Stop {
        self.run_to(RunEndCondition { cycle: self.current_cycle().saturating_add(cycles), ns: None })
    }
    /// Runs the board up to a cycle or a time, whichever comes first.
    fn run_to(&mut self, end: RunEndCondition) -> Stop;
    /// Returns the time since power-on, by the board's cycles.
    fn elapsed_time(&self) -> &ElapsedTime;
    /// Returns the current cycle.
    fn current_cycle(&self) -> u64;
    /// Returns the core clock in Hz.
    fn clock_hz(&self) -> u64;
    /// Returns the probes (watched addresses) on code and memory. A new one on code takes effect with
    /// [`Board::redecode_at`], one on a word with [`Board::watch_word_or_register`].
    fn probes(&mut self) -> &mut Probes;
    /// Decodes the instruction at an address again, after probes on it changed.
    fn redecode_at(&mut self, address: u32);
    /// Makes the board report writes to a word or register from now on. Returns false if it cannot be watched.
    fn watch_word_or_register(&mut self, address: u32) -> bool;
    /// Returns the console of a serial port.
    fn port_console(&mut self, port: usize) -> &mut Console;
    /// Returns the observer, which attributes every cycle to code and cause. `None` while nothing observes.
    fn cycle_observer(&mut self) -> Option<&mut Observer>;
    /// Switches the per-instruction profile on (from zero) or off.
    fn set_profiling(&mut self, on: bool);
    /// Removes a core's profile and returns it: a row for each executed instruction.
    fn take_profile(&mut self, core: usize) -> Vec<ProfileRow>;
    /// Starts the observation of every cycle and instruction, or ends it with `None`. It costs host time only, and ends
    /// when a snapshot is restored.
    fn set_observation(&mut self, wanted: Option<ObservationRequest>);
    /// Returns the observations since the last call. `None` while nothing observes.
    fn take_observations(&mut self) -> Option<ObservationReport>;
    /// Types text into a console at line speed.
    fn type_into_console(&mut self, port: usize, text: &[u8]);
    /// Returns the statistics of a core since the start or the last [`Board::reset_stats`].
    fn core_stats(&self, core: usize) -> Stats;
    /// Returns how often cached timing was used, and what native code did.
    fn timing_counts(&self) -> Counts;
    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn set_translation_threshold(&mut self, _executions: u32) {}
    /// Returns how many cycles of busy waits for a register were skipped without executing them.
    fn cycles_of_skipped_waits(&self) -> u64;
    /// Sets the statistics of all cores to zero.
    fn reset_stats(&mut self);
    /// Returns one sentence for each use of unmodelled hardware, and for each fault.
    fn warnings(&self) -> Vec<String>;
    /// Reads the board's memory without side effects. `None` outside of memory.
    fn read_memory(&mut self, address: u32, bytes: usize) -> Option<Vec<u8>>;
    /// Reads a word of memory or a register as privileged software of a core does, with all side effects: use a board
    /// that was opened from a snapshot. `None` where the access faults.
    fn read_as_core(&mut self, core: usize, address: u32) -> Option<u32>;
    /// Writes to the board's RAM. Returns false outside of RAM.
    fn write_memory(&mut self, address: u32, data: &[u8]) -> bool;
    /// Writes to the flash as a debugger does that erases and programs it. Returns false outside of flash.
    fn program_flash(&mut self, address: u32, data: &[u8]) -> bool;
    /// Resets the board as a debugger does, by SYSRESETREQ. Memories keep their content.
    fn reset_board(&mut self);
    /// Returns whether code can execute at this address.
    fn is_executable(&mut self, address: u32) -> bool;
    /// Returns the board's present state.
    fn take_snapshot(&self) -> Snapshot;
    /// Restores the board's state in a snapshot. Returns false if the snapshot is of another kind of board.
    fn restore_snapshot(&mut self, snapshot: &Snapshot) -> bool;
    /// Places the probes of a snapshot on this board, which has none.
    fn install_snapshot_probes(&mut self, snapshot: &Snapshot);
    /// Schedules a stimulus from outside for a cycle. The error is one sentence.
    fn schedule_stimulus(&mut self, cycle: u64, stimulus: Stimulus) -> Result<(), String>;
    /// Attaches a device to a bus, a serial port or the pins. The error is one sentence.
    fn attach_device(&mut self, connection: Connection, device: AttachedDevice) -> Result<(), String>;
    /// Sets the voltage at a pin that an ADC converts. The error is one sentence.
    fn set_analog_voltage(&mut self, pin: u16, millivolts: u32) -> Result<(), String>;
    /// Returns the debugger that is attached to the board, which serves semihosting calls and collects their output.
    fn debugger(&mut self) -> &mut Debugger;
    /// Returns whether the firmware used the ITM, which only a debugger would have enabled.
    fn is_itm_used(&self) -> bool {
        false
    }
    /// Returns the position of a core.
    fn core_position(&self, core: usize) -> CorePosition;
    /// Returns the registers of a core, by name.
    fn core_registers(&self, core: usize) -> Vec<(String, u32)>;
    /// Sets a register of a core by name. Returns false if there is no such register, or if the value is impossible.
    fn set_register(&mut self, core: usize, name: &str, value: u32) -> bool;

    /// Stops the run when this address is about to execute.
    fn stop_before_address(&mut self, address: u32) {
        self.probes().stop_before_address(address & !1);
        self.redecode_at(address & !1);
    }

    /// Records an event with this `id` whenever the address is about to execute.
    fn record_executions(&mut self, address: u32, id: u16) {
        self.probes().record_executions(address & !1, id);
        self.redecode_at(address & !1);
    }

    /// Records an event with this `id` whenever a function is called: who calls it, its first argument and the second,
    /// or the `third`.
    fn record_calls(&mut self, address: u32, id: u16, third: bool) {
        self.probes().record_calls(address & !1, id, third);
        self.redecode_at(address & !1);
    }

    /// Records an event with this `id` after that of `record_calls`, with the third and the fourth argument.
    fn record_further_arguments(&mut self, address: u32, id: u16) {
        self.probes().record_further_arguments(address & !1, id);
        self.redecode_at(address & !1);
    }

    /// Records an event with this `id` after that of `record_further_arguments`, with the fifth and the sixth argument.
    fn record_stacked_arguments(&mut self, address: u32, id: u16) {
        self.probes().record_stacked_arguments(address & !1, id);
        self.redecode_at(address & !1);
    }

    /// Records an event with this `id` whenever a watched call returns to the address.
    fn record_returns(&mut self, address: u32, id: u16) {
        self.probes().record_returns(address & !1, id);
        self.redecode_at(address & !1);
    }

    /// Records an event with this `id` whenever a word is written, and stops the run then if `stop`. Returns false if
    /// it cannot be watched.
    fn record_writes(&mut self, address: u32, id: u16, stop: bool) -> bool {
        let offset = self.watch_word_or_register(address);
        if offset {
            self.probes().record_writes(address, id, stop);
        }
        offset
    }

    /// Stops the run after reads of a register. Returns false if the address is none: reads of memory are not reported.
    fn stop_run_after_register_reads(&mut self, address: u32) -> bool {
        let is_register = self.read_memory(address & !3, 4).is_none() && self.watch_word_or_register(address);
        if is_register {
            self.probes().add_stop_after_register_read(address);
        }
        is_register
    }

    /// Measures the cycles between executions of two addresses from now on. Returns the index for
    /// [`Board::address_interval_statistics`].
    fn measure_between_addresses(&mut self, start: u32, end: u32) -> usize {
        let (start, end) = (start & !1, end & !1);
        let index = self.probes().add_address_interval_probe(start, end);
        self.redecode_at(start);
        self.redecode_at(end);
        index
    }

    /// Returns the statistics of the interval with this index ([`Board::measure_between_addresses`]).
    fn address_interval_statistics(&mut self, index: usize) -> Option<CycleIntervalStatistics> {
        self.probes().probe_interval_statistics(index).cloned()
    }

    /// Switches the recording of an event at each entry and exit of a handler on or off.
    fn set_exception_tracing(&mut self, on: bool) {
        self.probes().trace_exceptions = on;
    }

    /// Switches the recording of an event at each pin edge on or off. An STM32's pins are numbered port by port, 16 to
    /// a port.
    fn set_pin_tracing(&mut self, on: bool) {
        self.probes().trace_pins = on;
    }

    /// Removes the recorded events and returns them.
    fn take_events(&mut self) -> Vec<Event> {
        let mut events = self.probes().take_recorded_events();
        events.extend(self.cycle_observer().into_iter().flat_map(Observer::take_recorded_events));
        events
    }

    /// Returns the memory of events from [`Board::take_events`] to the board, for the next events.
    fn reuse_event_memory(&mut self, taken: Vec<Event>) {
        self.probes().reuse_event_memory(taken);
    }

    /// Returns the local time of a core: the cycle in which its next instruction can begin. It may be later than
    /// [`Board::current_cycle`].
    fn core_cycle(&self, core: usize) -> u64 {
        self.core_position(core).t
    }

    /// Removes what a console has received and returns it.
    fn take_console_output(&mut self, port: usize) -> Vec<u8> {
        self.port_console(port).take_collected_console_output()
    }

    /// Adds a line to a console's script, which is typed when `prompt` has appeared.
    fn add_console_script_line(&mut self, port: usize, prompt: &[u8], text: &[u8]) {
        self.port_console(port).add_console_script_step(prompt, text);
    }

    /// Returns the number of scripted lines that were not typed yet.
    fn count_untyped_script_lines(&mut self, port: usize) -> usize {
        self.port_console(port).script_steps_left()
    }

    /// Returns the statistics of hardware spinlocks, by lock and core. Empty without any.
    fn lock_stats(&mut self) -> Vec<[LockStats; 2]> {
        Vec::new()
    }
}

/// Reads bytes of registers without side effects, as a debugger shows them. The board must be a copy: see
/// [`Board::read_as_core`]. `None` if one of them cannot be read.
pub fn read_registers(copy: &mut dyn Board, core: usize, address: u32, bytes: usize) -> Option<Vec<u8>> {
    const MOST_BYTES: usize = 1 << 16;
    let last = address.checked_add(u32::try_from(bytes.checked_sub(1)?).ok()?)?;
    if bytes > MOST_BYTES {
        return None;
    }
    let mut content = Vec::with_capacity(bytes + 8);
    for word in (address & !3..=last & !3).step_by(4) {
        content.extend(copy.read_as_core(core, word)?.to_le_bytes());
    }
    let skipped = (address & 3) as usize;
    Some(content[skipped..skipped + bytes].to_vec())
}

/// The methods of [`Board`] that every machine has of its own, under the same name and with the same types.
macro_rules! as_the_machine {
    () => {
        /// Overrides the value of a timing rule by its name. Errors: unknown name, value out of range.
        fn set_timing_rule(&mut self, key: &str, value: u64) -> Result<(), $crate::setting::SettingError> {
            self.set_timing_rule(key, value)
        }

        /// Returns every setting: name, rule, value in force.
        fn timing_rules(&self) -> Vec<(String, rtoslab_timing::Setting, u64)> {
            self.timing_rules()
        }

        /// Loads an image into the board's memories and resets the board. `name` is for messages.
        fn load_image(&mut self, data: &[u8], name: &str) -> Result<(), $crate::image::ImageError> {
            self.load_image(data, name)
        }

        /// Returns the functions and objects of the image, by address.
        fn image_symbols(&self) -> &[$crate::image::Symbol] {
            self.image_symbols()
        }

        /// Runs the board up to a cycle or a time, whichever comes first.
        fn run_to(&mut self, end: $crate::stop::RunEndCondition) -> $crate::stop::Stop {
            self.run_to(end)
        }

        /// Returns the time since power-on, by the board's cycles.
        fn elapsed_time(&self) -> &rtoslab_periph::ElapsedTime {
            self.elapsed_time()
        }

        /// Returns the current cycle.
        fn current_cycle(&self) -> u64 {
            self.current_cycle()
        }

        /// Returns the core clock in Hz.
        fn clock_hz(&self) -> u64 {
            self.clock_hz()
        }

        /// Switches the per-instruction profile on (from zero) or off.
        fn set_profiling(&mut self, on: bool) {
            self.set_profiling(on);
        }

        /// Sets the statistics of all cores to zero.
        fn reset_stats(&mut self) {
            self.reset_stats();
        }

        /// Returns the board's present state.
        fn take_snapshot(&self) -> $crate::snapshot::Snapshot {
            self.take_snapshot()
        }

        /// Restores the board's state in a snapshot. Returns false if the snapshot is of another kind of board.
        fn restore_snapshot(&mut self, snapshot: &$crate::snapshot::Snapshot) -> bool {
            self.restore_snapshot(snapshot)
        }

        /// Places the probes of a snapshot on this board, which has none.
        fn install_snapshot_probes(&mut self, snapshot: &$crate::snapshot::Snapshot) {
            self.install_snapshot_probes(snapshot);
        }

        /// Schedules a stimulus from outside for a cycle. The error is one sentence.
        fn schedule_stimulus(&mut self, cycle: u64, stimulus: rtoslab_lab::Stimulus) -> Result<(), String> {
            self.schedule_stimulus(cycle, stimulus)
        }

        /// Returns the observer, which attributes every cycle to code and cause. `None` while nothing observes.
        fn cycle_observer(&mut self) -> Option<&mut rtoslab_lab::Observer> {
            self.observer.as_deref_mut()
        }

        /// Starts the observation of every cycle and instruction, or ends it with `None`. It costs host time only, and
        /// ends when a snapshot is restored.
        fn set_observation(&mut self, wanted: Option<$crate::observe::ObservationRequest>) {
            $crate::observe::CycleObservableMachine::start_or_end_cycle_observation(self, wanted);
        }

        /// Returns the observations since the last call. `None` while nothing observes.
        fn take_observations(&mut self) -> Option<$crate::observe::ObservationReport> {
            $crate::observe::CycleObservableMachine::take_new_core_observations(self)
        }
    };
}
pub(crate) use as_the_machine;

/// Refuses a crystal frequency that no chip here could use.
pub(crate) fn check_crystal_frequency(hz: u64) -> Result<(), SettingError> {
    const MOST_HZ: u64 = 100_000_000;
    if hz <= MOST_HZ {
        return Ok(());
    }
    Err(SettingError(format!("a crystal of {hz} Hz is not possible; give up to {MOST_HZ} Hz")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_reset_clears_all_sums() {
        let sums = |n: u64| Stats {
            cycles: n,
            instructions: 2 * n,
            sleep_cycles: 3 * n,
            bus_wait_cycles: 4 * n,
            flash_wait_cycles: 5 * n,
            xip_misses: 6 * n,
            exception_cycles: 7 * n,
            exceptions: vec![8 * n, 9 * n],
            float_frames: 10 * n,
        };
        assert_eq!(format!("{:?}", sums(30).core_statistics_since(&sums(10))), format!("{:?}", sums(20)));
        let before_the_first = Stats { exceptions: Vec::new(), ..sums(0) };
        assert_eq!(sums(5).core_statistics_since(&before_the_first).exceptions, [40, 45]);
    }
}
