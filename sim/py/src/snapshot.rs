//! Snapshots, and what is done from them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtoslab_lab::Stimulus;
use rtoslab_machine::board::Options;
use rtoslab_machine::boards::board_from_snapshot;
use rtoslab_machine::sweep::{StimulusSweepPlan, measure_stimulus_responses_at_cycles};

use crate::devices::DeviceException;
use crate::{Machine, SettingError, SimError};

/// The chip and options of a board, from which another board of its kind can be created.
pub struct BoardRecipe {
    pub chip: String,
    pub options: Options,
    /// The first exception that a device has raised and no run has reported.
    pub failure: DeviceException,
}

/// The state of a board at some cycle.
#[pyclass(frozen, module = "rtoslab._sim")]
pub struct Snapshot {
    pub make: Arc<BoardRecipe>,
    pub inner: rtoslab_machine::Snapshot,
}

#[pymethods]
impl Snapshot {
    /// Returns the cycle in which the snapshot was taken.
    fn cycle(&self) -> u64 {
        self.inner.cycle()
    }

    /// Creates another board of the same kind in this state.
    fn open(&self) -> PyResult<Machine> {
        let board = board_from_snapshot(&self.make.chip, &self.make.options, &self.inner);
        let inner = board.map_err(|error| SettingError::new_err(error.0))?;
        Ok(Machine { inner, make: self.make.clone() })
    }

    /// Measures the response to a stimulus at each of these cycles, from this state on.
    #[pyo3(signature = (cycles, exception, *, core=0, task=None, pin=None, level=true, patience_cycles=10_000_000, threads=1))]
    #[allow(clippy::too_many_arguments)]
    fn sweep<'py>(
        &self,
        py: Python<'py>,
        cycles: Vec<u64>,
        exception: u32,
        core: usize,
        task: Option<u32>,
        pin: Option<u16>,
        level: bool,
        patience_cycles: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let stimulus = match pin {
            Some(pin) => Stimulus::Pin { pin, level },
            None => Stimulus::Exception { core, number: exception },
        };
        let plan =
            StimulusSweepPlan { stimulus, core, exception, task: task.map(|address| address & !1), patience_cycles };
        let BoardRecipe { chip, options, .. } = &*self.make;
        let arrivals =
            py.detach(|| measure_stimulus_responses_at_cycles(chip, options, &self.inner, &plan, &cycles, threads));
        let mut bytes = Vec::with_capacity(32 * cycles.len());
        for arrival in arrivals.map_err(SimError::new_err)? {
            bytes.extend(arrival.cycle.to_le_bytes());
            bytes.extend(arrival.handler_cycles.unwrap_or(u64::MAX).to_le_bytes());
            bytes.extend(arrival.task_cycles.unwrap_or(u64::MAX).to_le_bytes());
            bytes.extend(arrival.pc.to_le_bytes());
            bytes.extend(u32::from(arrival.asleep).to_le_bytes());
        }
        Ok(PyBytes::new(py, &bytes))
    }
}

/// The part of a machine that snapshots and stimuli concern.
#[pymethods]
impl Machine {
    /// Returns the board's present state.
    fn snapshot(&self) -> Snapshot {
        Snapshot { make: self.make.clone(), inner: self.inner.take_snapshot() }
    }

    /// Restores the state in a snapshot.
    fn restore(&mut self, snapshot: &Snapshot) -> PyResult<()> {
        match self.inner.restore_snapshot(&snapshot.inner) {
            true => Ok(()),
            false => Err(SimError::new_err(format!(
                "the snapshot is from a board with the chip {}, but this board has the {}; open it with Snapshot.open()",
                snapshot.make.chip, self.make.chip
            ))),
        }
    }

    /// Schedules an exception that becomes pending in a cycle.
    #[pyo3(signature = (cycle, number, core=0))]
    fn inject_exception(&mut self, cycle: u64, number: u32, core: usize) -> PyResult<()> {
        self.inner.schedule_stimulus(cycle, Stimulus::Exception { core, number }).map_err(SimError::new_err)
    }

    /// Schedules the level of a pin from a cycle on.
    fn inject_pin(&mut self, cycle: u64, pin: u16, level: bool) -> PyResult<()> {
        self.inner.schedule_stimulus(cycle, Stimulus::Pin { pin, level }).map_err(SimError::new_err)
    }

    /// Returns the cycle and address of a core's next instruction, and whether the core sleeps.
    fn position(&self, core: usize) -> PyResult<(u64, u32, bool)> {
        self.require_core_exists(core)?;
        let position = self.inner.core_position(core);
        Ok((position.t, position.pc, position.asleep))
    }
}
