//! Python face of the virtual boards: wraps, converts, maps errors; decides nothing.

mod debug;
mod devices;
mod flat;
mod logs;
mod observed;
mod snapshot;
mod tables;
mod tally;

use std::sync::Arc;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rtoslab_debuginfo::{StructureMember, readable_symbol_name};
use rtoslab_lab::{Event, Kind};
use rtoslab_machine::board::{Board, Options, read_registers};
use rtoslab_machine::boards::{board_from_snapshot, create_board_of_chip, parse_pin_name, parse_pin_wire};
use rtoslab_machine::observe::ObservationRequest;
use rtoslab_machine::{RunEndCondition, Stop};

create_exception!(_sim, SimError, PyException, "Base of every error the simulator raises.");
create_exception!(_sim, ImageError, SimError, "The image cannot be loaded.");
create_exception!(_sim, SettingError, SimError, "Unknown setting, or a value out of range.");

/// Cycles between two looks at Python's signals, so that Ctrl-C ends a long run.
const SLICE_CYCLES: u64 = 20_000_000;

/// The sources that this module was built from, as `build.rs` found them.
const SOURCES: &str = include_str!(concat!(env!("OUT_DIR"), "/sources.txt"));

/// A virtual board, as Python uses it.
#[pyclass(unsendable, module = "rtoslab._sim")]
struct Machine {
    inner: Box<dyn Board>,
    make: Arc<snapshot::BoardRecipe>,
}

#[pymethods]
impl Machine {
    /// Creates a board by its chip. 0 means the chip's usual value.
    #[new]
    #[pyo3(signature = (chip, *, cores=0, flash_bytes=0, crystal_hz=0, console_port=0, strict=false, wires=vec![],
        rest=vec![]))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        chip: &str,
        cores: usize,
        flash_bytes: u32,
        crystal_hz: u64,
        console_port: u8,
        strict: bool,
        wires: Vec<(String, String)>,
        rest: Vec<(String, bool)>,
    ) -> PyResult<Machine> {
        let wires = wires.iter().map(|(from, to)| parse_pin_wire(from, to)).collect::<Result<_, _>>();
        let wires = wires.map_err(|error| SettingError::new_err(error.0))?;
        let rest =
            rest.iter().map(|(name, level)| parse_pin_name(name).map(|pin| (pin, *level))).collect::<Result<_, _>>();
        let rest = rest.map_err(|error| SettingError::new_err(error.0))?;
        let options = Options { cores, flash_bytes, crystal_hz, console_port, strict, wires, rest };
        let inner = create_board_of_chip(chip, &options).map_err(|error| SettingError::new_err(error.0))?;
        Ok(Machine {
            inner,
            make: Arc::new(snapshot::BoardRecipe {
                chip: chip.to_owned(),
                options,
                failure: devices::DeviceException::default(),
            }),
        })
    }

    /// Returns every setting: key, value in force, description, grade.
    fn settings(&self) -> Vec<(String, u64, String, String)> {
        let rows = self.inner.timing_rules().into_iter();
        rows.map(|(key, rule, value)| (key, value, rule.about.to_owned(), rule.grade.lower_case_name().to_owned()))
            .collect()
    }

    /// Overrides the value of a timing rule by its key.
    fn set(&mut self, key: &str, value: u64) -> PyResult<()> {
        self.inner.set_timing_rule(key, value).map_err(|error| SettingError::new_err(error.0))
    }

    /// Loads an ELF or UF2 image and resets the board.
    fn load(&mut self, image: &[u8], name: &str) -> PyResult<()> {
        self.inner.load_image(image, name).map_err(|error| ImageError::new_err(error.0))
    }

    /// Returns the address of a symbol, by its name in the image or its readable name.
    fn symbol(&self, name: &str) -> Option<u32> {
        let symbols = self.inner.image_symbols();
        let exact = symbols.iter().find(|symbol| symbol.name == name);
        exact
            .or_else(|| symbols.iter().find(|symbol| readable_symbol_name(&symbol.name) == name))
            .map(|symbol| symbol.address)
    }

    /// Returns the functions and objects of the image: address, size in bytes, readable name.
    fn symbols(&self) -> Vec<(u32, u32, String)> {
        let named = self.inner.image_symbols().iter().filter(|symbol| !symbol.label);
        named.map(|symbol| (symbol.address, symbol.bytes, readable_symbol_name(&symbol.name).into_owned())).collect()
    }

    /// Runs for at most `cycles` more cycles, without the GIL. Returns why the run stopped.
    fn run<'py>(&mut self, py: Python<'py>, cycles: u64) -> PyResult<Bound<'py, PyDict>> {
        self.run_in_slices(py, RunEndCondition { cycle: self.inner.current_cycle().saturating_add(cycles), ns: None })
    }

    /// Runs until `ns` nanoseconds after power-on, without the GIL. Returns why the run stopped.
    fn run_to_time<'py>(&mut self, py: Python<'py>, ns: u64) -> PyResult<Bound<'py, PyDict>> {
        self.run_in_slices(py, RunEndCondition { cycle: u64::MAX, ns: Some(ns) })
    }

    /// Stops the run when this address is about to execute.
    fn until(&mut self, address: u32) -> PyResult<()> {
        self.check_executable(address)?;
        self.inner.stop_before_address(address);
        Ok(())
    }

    /// Records an event with this `ident` whenever the address is about to execute.
    fn watch_exec(&mut self, address: u32, ident: u16) -> PyResult<()> {
        self.check_executable(address)?;
        self.inner.record_executions(address, ident);
        Ok(())
    }

    /// Records an event with this `ident` whenever a function is called.
    #[pyo3(signature = (address, ident, third = false))]
    fn watch_call(&mut self, address: u32, ident: u16, third: bool) -> PyResult<()> {
        self.check_executable(address)?;
        self.inner.record_calls(address, ident, third);
        Ok(())
    }

    /// Records an event with this `ident` after that of `watch_call`, with the third and the fourth argument.
    fn watch_further_arguments(&mut self, address: u32, ident: u16) -> PyResult<()> {
        self.check_executable(address)?;
        self.inner.record_further_arguments(address, ident);
        Ok(())
    }

    /// Records an event with this `ident` after that of `watch_further_arguments`, with the fifth and the sixth
    /// argument.
    fn watch_stacked_arguments(&mut self, address: u32, ident: u16) -> PyResult<()> {
        self.check_executable(address)?;
        self.inner.record_stacked_arguments(address, ident);
        Ok(())
    }

    /// Records an event with this `ident` whenever a watched call returns to the address.
    fn watch_return(&mut self, address: u32, ident: u16) -> PyResult<()> {
        self.check_executable(address)?;
        self.inner.record_returns(address, ident);
        Ok(())
    }

    /// Records an event with this `ident` whenever a word is written, and stops the run then if `stop`.
    #[pyo3(signature = (address, ident, stop=false))]
    fn watch_write(&mut self, address: u32, ident: u16, stop: bool) -> PyResult<()> {
        if self.inner.record_writes(address, ident, stop) {
            return Ok(());
        }
        Err(SimError::new_err(format!("0x{address:08x} is neither in RAM nor a register, so it cannot be watched")))
    }

    /// Switches the recording of an event at each entry and exit of a handler on or off.
    fn trace_exceptions(&mut self, on: bool) {
        self.inner.set_exception_tracing(on);
    }

    /// Switches the recording of an event at each pin edge on or off.
    fn trace_pins(&mut self, on: bool) {
        self.inner.set_pin_tracing(on);
    }

    /// Measures the cycles between executions of two addresses. Returns the index for `between_result`.
    fn between(&mut self, start: u32, end: u32) -> PyResult<usize> {
        self.check_executable(start)?;
        self.check_executable(end)?;
        Ok(self.inner.measure_between_addresses(start, end))
    }

    /// Returns the statistics of the interval with this index.
    fn between_result<'py>(&mut self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let Some(result) = self.inner.address_interval_statistics(index) else {
            return Err(SimError::new_err(format!("there is no interval number {index}")));
        };
        let dict = PyDict::new(py);
        dict.set_item("count", result.count)?;
        dict.set_item("min_cycles", result.min_cycles)?;
        dict.set_item("max_cycles", result.max_cycles)?;
        dict.set_item("total_cycles", result.total_cycles)?;
        Ok(dict)
    }

    /// Switches the per-instruction profile on (from zero) or off.
    fn profile(&mut self, on: bool) {
        self.inner.set_profiling(on);
    }

    /// Removes a core's profile and returns it as packed records.
    fn take_profile<'py>(&mut self, py: Python<'py>, core: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.require_core_exists(core)?;
        let mut bytes = Vec::new();
        for (address, cycles, executions, wait_cycles) in self.inner.take_profile(core) {
            bytes.extend(address.to_le_bytes());
            bytes.extend([0; 4]);
            for value in [cycles, executions, wait_cycles] {
                bytes.extend(value.to_le_bytes());
            }
        }
        Ok(PyBytes::new(py, &bytes))
    }

    /// Starts or ends the observation of every cycle and instruction.
    #[pyo3(signature = (on, *, priorities=vec![], keep_intervals=0, calls=vec![], measured=vec![], arrivals=vec![], events=false))]
    #[allow(clippy::too_many_arguments)] // each is a keyword of its own in Python
    fn observe(
        &mut self,
        on: bool,
        priorities: Vec<i16>,
        keep_intervals: usize,
        calls: Vec<(u32, u16)>,
        measured: Vec<(u32, u16)>,
        arrivals: Vec<u32>,
        events: bool,
    ) -> PyResult<()> {
        for &address in calls.iter().chain(&measured).map(|(address, _)| address).chain(&arrivals) {
            self.check_executable(address)?;
        }
        let (calls, measured) = (calls.into_iter().collect(), measured.into_iter().collect());
        let arrivals = arrivals.into_iter().collect();
        let request =
            ObservationRequest { levels: priorities, kept: keep_intervals, calls, measured, arrivals, events };
        self.inner.set_observation(on.then_some(request));
        Ok(())
    }

    /// Returns the observations since the last call.
    fn observed<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.inner.take_observations() {
            Some(taken) => observed::observations_to_dict(py, &taken),
            None => Err(SimError::new_err("the run was not observed; call observe(True) before it".to_owned())),
        }
    }

    /// Returns the cycle in which a core's next instruction can begin.
    fn core_cycle(&self, core: usize) -> PyResult<u64> {
        self.require_core_exists(core)?;
        Ok(self.inner.core_cycle(core))
    }

    /// Removes the recorded events and returns them as packed records.
    fn take_events<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let events = self.inner.take_events();
        let packed = PyBytes::new(py, &Event::encode_recorded_events(&events));
        self.inner.reuse_event_memory(events);
        packed
    }

    /// Removes what a console has received and returns it.
    #[pyo3(signature = (port=0))]
    fn take_uart<'py>(&mut self, py: Python<'py>, port: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.require_console_exists(port)?;
        Ok(PyBytes::new(py, &self.inner.take_console_output(port)))
    }

    /// Types text into a console at line speed.
    #[pyo3(signature = (text, port=0))]
    fn type_uart(&mut self, text: &[u8], port: usize) -> PyResult<()> {
        self.require_console_exists(port)?;
        self.inner.type_into_console(port, text);
        Ok(())
    }

    /// Adds lines to a console's script: prompt and text.
    #[pyo3(signature = (steps, port=0))]
    fn script_uart(&mut self, steps: Vec<(Vec<u8>, Vec<u8>)>, port: usize) -> PyResult<()> {
        self.require_console_exists(port)?;
        for (prompt, text) in &steps {
            self.inner.add_console_script_line(port, prompt, text);
        }
        Ok(())
    }

    /// Returns the number of scripted lines that were not typed yet.
    #[pyo3(signature = (port=0))]
    fn script_steps_left(&mut self, port: usize) -> PyResult<usize> {
        self.require_console_exists(port)?;
        Ok(self.inner.count_untyped_script_lines(port))
    }

    /// Returns how many cycles of busy waits for a register were skipped.
    fn passed_over(&self) -> u64 {
        self.inner.cycles_of_skipped_waits()
    }

    /// Returns how often cached timing was used, and how often it was missing.
    fn timing_cache_counts(&self) -> (u64, u64) {
        let counts = self.inner.timing_counts();
        (counts.hits, counts.misses)
    }

    /// Returns how many traces or blocks native code has executed.
    fn native_trace_count(&self) -> u64 {
        self.inner.timing_counts().translated
    }

    /// Returns how many traces or blocks were JIT-compiled.
    fn translation_count(&self) -> u64 {
        self.inner.timing_counts().translations
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn translate_after(&mut self, executions: u32) {
        self.inner.set_translation_threshold(executions);
    }

    /// Returns the statistics of all cores and spinlocks.
    fn stats<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cores = PyList::empty(py);
        for core in 0..self.inner.number_of_cores() {
            cores.append(core_stats_to_dict(py, &*self.inner, core)?)?;
        }
        let locks = PyList::empty(py);
        for (lock, both) in self.inner.lock_stats().iter().enumerate() {
            for (core, stats) in both.iter().enumerate() {
                if stats.acquisitions + stats.failed_reads == 0 {
                    continue;
                }
                let dict = PyDict::new(py);
                dict.set_item("lock", lock)?;
                dict.set_item("core", core)?;
                dict.set_item("acquisitions", stats.acquisitions)?;
                dict.set_item("contended", stats.contended)?;
                dict.set_item("failed_reads", stats.failed_reads)?;
                dict.set_item("wait_cycles", stats.wait_cycles)?;
                dict.set_item("hold_cycles", stats.hold_cycles)?;
                locks.append(dict)?;
            }
        }
        let stats = PyDict::new(py);
        stats.set_item("cores", cores)?;
        stats.set_item("locks", locks)?;
        Ok(stats)
    }

    /// Sets all statistics to zero.
    fn reset_stats(&mut self) {
        self.inner.reset_stats();
    }

    /// Returns the current cycle.
    fn cycle(&self) -> u64 {
        self.inner.current_cycle()
    }

    /// Returns the core clock in Hz.
    fn clock_hz(&self) -> u64 {
        self.inner.clock_hz()
    }

    /// Returns the time since power-on at the current cycle, in nanoseconds, by all clocks that the board has had.
    fn nanoseconds(&self) -> u64 {
        self.inner.elapsed_time().ns_at(self.inner.current_cycle())
    }

    /// Returns one sentence for each use of unmodelled hardware, and for each fault.
    fn warnings(&mut self) -> Vec<String> {
        self.inner.warnings()
    }

    /// Reads memory without side effects.
    fn read<'py>(&mut self, py: Python<'py>, address: u32, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        match self.inner.read_memory(address, length) {
            Some(bytes) => Ok(PyBytes::new(py, &bytes)),
            None => {
                Err(SimError::new_err(format!("{length} bytes at 0x{address:08x} are not all in ROM, flash or SRAM")))
            }
        }
    }

    /// Reads memory or registers without side effects.
    fn peek<'py>(
        &mut self,
        py: Python<'py>,
        core: usize,
        address: u32,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.require_core_exists(core)?;
        let memory = self.inner.read_memory(address, length);
        let content = match memory {
            Some(content) => Some(content),
            None => read_registers(&mut *self.copy()?, core, address, length),
        };
        let nowhere =
            || SimError::new_err(format!("{length} bytes at 0x{address:08x} are neither in a memory nor a register"));
        content.map(|content| PyBytes::new(py, &content)).ok_or_else(nowhere)
    }

    /// Reads words as a core would now, on a copy of the board. None where the access faults.
    fn read_registers(&self, core: usize, addresses: Vec<u32>) -> PyResult<Vec<Option<u32>>> {
        self.require_core_exists(core)?;
        let mut copy = self.copy()?;
        Ok(addresses.into_iter().map(|address| copy.read_as_core(core, address)).collect())
    }

    /// Writes to RAM.
    fn write(&mut self, address: u32, data: &[u8]) -> PyResult<()> {
        if self.inner.write_memory(address, data) {
            return Ok(());
        }
        Err(SimError::new_err(format!("{} bytes at 0x{address:08x} are not all in SRAM", data.len())))
    }

    /// Sets a register of a core by name.
    fn set_register(&mut self, core: usize, name: &str, value: u32) -> PyResult<()> {
        self.require_core_exists(core)?;
        if self.inner.set_register(core, name, value) {
            return Ok(());
        }
        Err(SimError::new_err(format!(
            "{name} = 0x{value:08x} cannot be set; give r0 to r12, sp, lr, apsr, or pc with an address of code"
        )))
    }

    /// Returns the registers of a core, by name.
    fn registers<'py>(&self, py: Python<'py>, core: usize) -> PyResult<Bound<'py, PyDict>> {
        self.require_core_exists(core)?;
        let dict = PyDict::new(py);
        for (name, value) in self.inner.core_registers(core) {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }
}

impl Machine {
    /// Runs up to an end, and checks for Python's signals (Ctrl-C) from time to time.
    fn run_in_slices<'py>(&mut self, py: Python<'py>, end: RunEndCondition) -> PyResult<Bound<'py, PyDict>> {
        loop {
            let slice = RunEndCondition {
                cycle: self.inner.current_cycle().saturating_add(SLICE_CYCLES).min(end.cycle),
                ..end
            };
            let inner = Shared(&mut *self.inner);
            let stop = py.detach(move || inner.run_to(slice));
            self.make.failure.raise_stored_python_exception()?;
            let (cycle, elapsed) = (self.inner.current_cycle(), self.inner.elapsed_time());
            let is_over = cycle >= end.cycle || end.ns.is_some_and(|ns| elapsed.ns_at(cycle) >= ns);
            if stop.reason.result_name() != "cycles" || is_over {
                return run_end_to_dict(py, &stop);
            }
            if end.ns.is_some() && !elapsed.is_running() {
                let text = format!("the core's clock stands still since cycle {cycle}, so no time passes; give cycles");
                return Err(SimError::new_err(text));
            }
            py.check_signals()?;
        }
    }

    /// Returns another board in the same state, whose use does not change this one.
    fn copy(&self) -> PyResult<Box<dyn Board>> {
        let board = board_from_snapshot(&self.make.chip, &self.make.options, &self.inner.take_snapshot());
        board.map_err(|error| SettingError::new_err(error.0))
    }

    /// Raises SimError unless the board has this core.
    fn require_core_exists(&self, core: usize) -> PyResult<()> {
        if core < self.inner.number_of_cores() {
            return Ok(());
        }
        Err(SimError::new_err(format!("there is no core {core}; the chip has {}", self.inner.number_of_cores())))
    }

    /// Raises SimError unless the board has this console.
    fn require_console_exists(&self, port: usize) -> PyResult<()> {
        if port < self.inner.number_of_consoles() {
            return Ok(());
        }
        Err(SimError::new_err(format!("there is no console {port}; the board has {}", self.inner.number_of_consoles())))
    }

    /// Raises SimError unless code can execute at this address.
    fn check_executable(&mut self, address: u32) -> PyResult<()> {
        if self.inner.is_executable(address) {
            return Ok(());
        }
        Err(SimError::new_err(format!("0x{address:08x} is not in a memory for code, so it will never be executed")))
    }
}

/// The machine, for the thread that runs without the GIL.
struct Shared<'a>(&'a mut dyn Board);

// SAFETY: the machine's raw pointers lead into tables it owns, and the borrow is exclusive for the whole call.
unsafe impl Send for Shared<'_> {}

impl Shared<'_> {
    /// Runs up to a cycle or a time, whichever comes first.
    fn run_to(self, end: RunEndCondition) -> Stop {
        self.0.run_to(end)
    }
}

/// Returns the statistics of a core as a dictionary.
fn core_stats_to_dict<'py>(py: Python<'py>, machine: &dyn Board, core: usize) -> PyResult<Bound<'py, PyDict>> {
    let stats = machine.core_stats(core);
    let dict = PyDict::new(py);
    dict.set_item("cycles", stats.cycles)?;
    dict.set_item("instructions", stats.instructions)?;
    dict.set_item("sleep_cycles", stats.sleep_cycles)?;
    dict.set_item("bus_wait_cycles", stats.bus_wait_cycles)?;
    dict.set_item("flash_wait_cycles", stats.flash_wait_cycles)?;
    dict.set_item("xip_misses", stats.xip_misses)?;
    dict.set_item("exception_cycles", stats.exception_cycles)?;
    dict.set_item("float_frames", stats.float_frames)?;
    let exceptions = PyDict::new(py);
    for (number, count) in stats.exceptions.iter().enumerate().filter(|(_, count)| **count > 0) {
        exceptions.set_item(number, count)?;
    }
    dict.set_item("exceptions", exceptions)?;
    Ok(dict)
}

/// Returns the end of a run as a dictionary.
fn run_end_to_dict<'py>(py: Python<'py>, stop: &Stop) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("reason", stop.reason.result_name())?;
    dict.set_item("core", stop.core)?;
    dict.set_item("cycle", stop.cycle)?;
    dict.set_item("address", stop.address)?;
    dict.set_item("detail", &stop.detail)?;
    Ok(dict)
}

/// A member of a structure: name, offset, bytes, whether it is an array, and the bits of a bit field.
type Row = (String, u64, u64, bool, Option<(u64, u64)>);
/// The name of each structure, and its members.
type Members = Vec<(String, Vec<Row>)>;

/// Returns the members of these structures by an image's debug information.
#[pyfunction]
fn structures(image: &[u8], names: Vec<String>) -> PyResult<Members> {
    let structures = rtoslab_debuginfo::members_of_structures(image, &names)
        .map_err(|error| ImageError::new_err(error.to_string()))?;
    let row = |member: StructureMember| (member.name, member.offset, member.bytes, member.is_array, member.bits);
    Ok(structures.into_iter().map(|(name, members)| (name, members.into_iter().map(row).collect())).collect())
}

/// Returns the source file of each compilation unit of an image, and the addresses of its code.
#[pyfunction]
fn sources(image: &[u8]) -> PyResult<Vec<rtoslab_debuginfo::Source>> {
    rtoslab_debuginfo::source_files_and_ranges(image).map_err(|error| ImageError::new_err(error.to_string()))
}

/// Returns a symbol's name as its C++ or Rust source has it. Any other name stays as it is.
#[pyfunction]
fn readable_name(name: &str) -> String {
    readable_symbol_name(name).into_owned()
}

/// Returns the version of the timing of boards with a chip.
#[pyfunction]
fn timing_version(chip: &str) -> u32 {
    rtoslab_timing::timing_model_version_of_chip(chip)
}

/// Adds all classes, functions and constants to the Python module.
#[pymodule]
fn _sim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Machine>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<flat::FlatCore>()?;
    module.add_class::<tally::EventTally>()?;
    module.add_class::<logs::LogDecoder>()?;
    module.add_function(wrap_pyfunction!(tally::order_events, module)?)?;
    module.add_function(wrap_pyfunction!(tally::latest_events, module)?)?;
    module.add_function(wrap_pyfunction!(structures, module)?)?;
    module.add_function(wrap_pyfunction!(sources, module)?)?;
    module.add_function(wrap_pyfunction!(readable_name, module)?)?;
    module.add_function(wrap_pyfunction!(timing_version, module)?)?;
    module.add_function(wrap_pyfunction!(tables::write_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(tables::read_parquet, module)?)?;
    module.add_function(wrap_pyfunction!(tables::compress_zstd, module)?)?;
    module.add_function(wrap_pyfunction!(tables::decompress_zstd, module)?)?;
    module.add("SOURCES", SOURCES)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("NATIVE_CODE", rtoslab_machine::HAS_NATIVE_CODE)?;
    module.add("SimError", py.get_type::<SimError>())?;
    module.add("PanicException", py.get_type::<PanicException>())?;
    module.add("ImageError", py.get_type::<ImageError>())?;
    module.add("SettingError", py.get_type::<SettingError>())?;
    module.add("EVENT_EXEC", Kind::Exec as u8)?;
    module.add("EVENT_WRITE", Kind::Write as u8)?;
    module.add("EVENT_EXCEPTION_ENTER", Kind::ExceptionEnter as u8)?;
    module.add("EVENT_EXCEPTION_EXIT", Kind::ExceptionExit as u8)?;
    module.add("EVENT_PIN", Kind::Pin as u8)?;
    module.add("EVENT_CALL", Kind::Call as u8)?;
    module.add("EVENT_RETURN", Kind::Return as u8)?;
    module.add("EVENT_THREAD", Kind::Thread as u8)?;
    module.add("EVENT_LOCK_BUSY", Kind::LockBusy as u8)?;
    module.add("EVENT_LOCK_TAKEN", Kind::LockTaken as u8)?;
    module.add("EVENT_LOCK_FREE", Kind::LockFree as u8)?;
    Ok(())
}
