//! The observations of an observer, as packed little-endian records. `_sim.pyi` says what is in them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rtoslab_lab::observer::calls::Call;
use rtoslab_lab::observer::costs::{CyclesByCause, Place};
use rtoslab_lab::observer::locks::{LockKey, SpinlockIntervalStatistics};
use rtoslab_lab::observer::masks::{InterruptMaskInterval, InterruptMaskStatistics};
use rtoslab_lab::observer::paths::Node;
use rtoslab_machine::observe::{Arrival, ObservationReport};

/// A packed little-endian record that is being built.
#[derive(Default)]
struct Record(Vec<u8>);

impl Record {
    /// Appends 32-bit words.
    fn append_words(mut self, words: &[u32]) -> Record {
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self
    }

    /// Appends 64-bit words.
    fn append_doublewords(mut self, longs: &[u64]) -> Record {
        self.0.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
        self
    }

    /// Appends the call paths and addresses of two places.
    fn append_code_locations(self, from: Place, to: Place) -> Record {
        self.append_words(&[from.node, from.pc, to.node, to.pc, 0])
    }
}

/// Returns the observations as the dictionary of `Machine.observed`.
pub fn observations_to_dict<'py>(py: Python<'py>, observed: &ObservationReport) -> PyResult<Bound<'py, PyDict>> {
    let cores = PyList::empty(py);
    for account in &observed.accounts {
        let core = PyDict::new(py);
        core.set_item("from_cycle", account.from)?;
        core.set_item("until_cycle", account.until)?;
        core.set_item("rows", records_as_python_bytes(py, account.rows.iter().map(pack_cycle_account_row)))?;
        cores.append(core)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("cores", cores)?;
    dict.set_item("nodes", records_as_python_bytes(py, observed.nodes.iter().map(pack_call_path_node)))?;
    dict.set_item("masked", records_as_python_bytes(py, observed.masked.iter().map(pack_interrupt_mask_statistics)))?;
    dict.set_item(
        "intervals",
        records_as_python_bytes(py, observed.intervals.iter().map(pack_interrupt_mask_interval)),
    )?;
    dict.set_item(
        "open_intervals",
        records_as_python_bytes(py, observed.open_intervals.iter().map(pack_interrupt_mask_interval)),
    )?;
    dict.set_item("locks", records_as_python_bytes(py, observed.locks.iter().map(pack_lock_interval_statistics)))?;
    dict.set_item("calls", records_as_python_bytes(py, observed.calls.iter().map(pack_call_measurement)))?;
    dict.set_item("open_calls", records_as_python_bytes(py, observed.open_calls.iter().map(pack_call_measurement)))?;
    dict.set_item(
        "arrivals",
        records_as_python_bytes(py, observed.arrivals.iter().map(pack_execution_of_watched_instruction)),
    )?;
    Ok(dict)
}

/// Returns records as bytes, one after the other.
fn records_as_python_bytes<'py>(py: Python<'py>, records: impl Iterator<Item = Record>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &records.flat_map(|record| record.0).collect::<Vec<u8>>())
}

/// Packs a row of a cycle account.
fn pack_cycle_account_row((place, cost): &(Place, CyclesByCause)) -> Record {
    Record::default()
        .append_words(&[place.node, place.pc])
        .append_doublewords(&cost.cycles)
        .append_doublewords(&[cost.executions, cost.entries])
}

/// Packs a node of the call paths.
fn pack_call_path_node(node: &Node) -> Record {
    Record::default().append_words(&[node.parent, node.entry, node.exception])
}

/// Packs the core, priority and places of a masked interval.
fn pack_interrupt_mask_interval_key(masked: &InterruptMaskInterval) -> Record {
    let head = u32::from(masked.level as u16) | (masked.core as u32) << 16;
    Record::default().append_words(&[head]).append_code_locations(masked.opener, masked.closer)
}

/// Packs the statistics of masked intervals.
fn pack_interrupt_mask_statistics(sum: &InterruptMaskStatistics) -> Record {
    pack_interrupt_mask_interval_key(&sum.longest).append_doublewords(&[
        sum.count,
        sum.total_cycles,
        sum.longest.start,
        sum.longest.end,
    ])
}

/// Packs a masked interval with its cycles.
fn pack_interrupt_mask_interval(interval: &InterruptMaskInterval) -> Record {
    pack_interrupt_mask_interval_key(interval).append_doublewords(&[interval.start, interval.end])
}

/// Packs the statistics of a spinlock's intervals.
fn pack_lock_interval_statistics(
    ((span, lock, core, from, to), sum): (&LockKey, &SpinlockIntervalStatistics),
) -> Record {
    let head = *span as u32 | u32::from(*lock) << 8 | (*core as u32) << 16;
    let record = Record::default().append_words(&[head]).append_code_locations(*from, *to);
    record.append_doublewords(&[sum.count, sum.total_cycles, sum.max_cycles, sum.max_start])
}

/// Packs an execution of a watched instruction.
fn pack_execution_of_watched_instruction(arrival: &Arrival) -> Record {
    Record::default()
        .append_doublewords(&[arrival.until, arrival.instructions])
        .append_words(&[arrival.pc, arrival.core])
}

/// Packs the measurement of a call.
fn pack_call_measurement(call: &Call) -> Record {
    let head = u32::from(call.id) | u32::from(call.core) << 16 | (call.end as u32) << 24;
    let times = [call.start, call.until, call.interrupt_cycles, call.away_cycles, call.own_cycles];
    let record = Record::default().append_words(&[head, u32::from(call.flags), call.node, call.thread]);
    let record = record.append_doublewords(&times).append_doublewords(&[call.instructions, call.own_instructions]);
    record.append_words(&[call.stack_bytes, call.interruptions])
}
