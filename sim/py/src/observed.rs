//! The observations of an observer, as packed little-endian records. `_sim.pyi` says what is in them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rtoslab_lab::observer::calls::Call;
use rtoslab_lab::observer::costs::{Cost, Place};
use rtoslab_lab::observer::locks::{LockKey, LockSum};
use rtoslab_lab::observer::masks::{MaskedInterval, MaskedSum};
use rtoslab_lab::observer::paths::Node;
use rtoslab_machine::observe::{Arrival, ObservationReport};

/// A packed little-endian record that is being built.
#[derive(Default)]
struct Record(Vec<u8>);

impl Record {
    /// Appends 32-bit words.
    fn words(mut self, words: &[u32]) -> Record {
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self
    }

    /// Appends 64-bit words.
    fn longs(mut self, longs: &[u64]) -> Record {
        self.0.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
        self
    }

    /// Appends the call paths and addresses of two places.
    fn places(self, from: Place, to: Place) -> Record {
        self.words(&[from.node, from.pc, to.node, to.pc, 0])
    }
}

/// Returns the observations as the dictionary of `Machine.observed`.
pub fn to_dict<'py>(py: Python<'py>, observed: &ObservationReport) -> PyResult<Bound<'py, PyDict>> {
    let cores = PyList::empty(py);
    for account in &observed.accounts {
        let core = PyDict::new(py);
        core.set_item("from_cycle", account.from)?;
        core.set_item("until_cycle", account.until)?;
        core.set_item("rows", pack(py, account.rows.iter().map(row)))?;
        cores.append(core)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("cores", cores)?;
    dict.set_item("nodes", pack(py, observed.nodes.iter().map(node)))?;
    dict.set_item("masked", pack(py, observed.masked.iter().map(masked_sum)))?;
    dict.set_item("intervals", pack(py, observed.intervals.iter().map(interval)))?;
    dict.set_item("locks", pack(py, observed.locks.iter().map(lock)))?;
    dict.set_item("calls", pack(py, observed.calls.iter().map(pack_call)))?;
    dict.set_item("open_calls", pack(py, observed.open_calls.iter().map(pack_call)))?;
    dict.set_item("arrivals", pack(py, observed.arrivals.iter().map(pack_arrival)))?;
    Ok(dict)
}

/// Returns records as bytes, one after the other.
fn pack<'py>(py: Python<'py>, records: impl Iterator<Item = Record>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &records.flat_map(|record| record.0).collect::<Vec<u8>>())
}

/// Packs a row of a cycle account.
fn row((place, cost): &(Place, Cost)) -> Record {
    Record::default().words(&[place.node, place.pc]).longs(&cost.cycles).longs(&[cost.executions])
}

/// Packs a node of the call paths.
fn node(node: &Node) -> Record {
    Record::default().words(&[node.parent, node.entry, node.exception])
}

/// Packs the core, priority and places of a masked interval.
fn masked_intervals(masked: &MaskedInterval) -> Record {
    let head = u32::from(masked.level as u16) | (masked.core as u32) << 16;
    Record::default().words(&[head]).places(masked.opener, masked.closer)
}

/// Packs the statistics of masked intervals.
fn masked_sum(sum: &MaskedSum) -> Record {
    masked_intervals(&sum.longest).longs(&[sum.count, sum.total_cycles, sum.longest.start, sum.longest.end])
}

/// Packs a masked interval with its cycles.
fn interval(interval: &MaskedInterval) -> Record {
    masked_intervals(interval).longs(&[interval.start, interval.end])
}

/// Packs the statistics of a spinlock's intervals.
fn lock(((span, lock, core, from, to), sum): (&LockKey, &LockSum)) -> Record {
    let head = *span as u32 | u32::from(*lock) << 8 | (*core as u32) << 16;
    let record = Record::default().words(&[head]).places(*from, *to);
    record.longs(&[sum.count, sum.total_cycles, sum.max_cycles, sum.max_start])
}

/// Packs an execution of a watched instruction.
fn pack_arrival(arrival: &Arrival) -> Record {
    Record::default().longs(&[arrival.until, arrival.instructions]).words(&[arrival.pc, arrival.core])
}

/// Packs the measurement of a call.
fn pack_call(call: &Call) -> Record {
    let head = u32::from(call.id) | u32::from(call.core) << 16 | (call.end as u32) << 24;
    let times = [call.start, call.until, call.interrupt_cycles, call.away_cycles, call.own_cycles];
    let record = Record::default().words(&[head, u32::from(call.flags), call.node, call.thread]);
    let record = record.longs(&times).longs(&[call.instructions, call.own_instructions]);
    record.words(&[call.stack_bytes, call.interruptions])
}
