//! Decoding of defmt's log frames: see `_sim.pyi`.

use pyo3::prelude::*;
use rtoslab_debuginfo::logs;

use crate::ImageError;

/// Level, time stamp, message, file and line, module.
type Row = (Option<String>, Option<String>, String, Option<(String, u64)>, Option<String>);

#[pyclass]
pub struct LogDecoder(logs::LogDecoder);

#[pymethods]
impl LogDecoder {
    #[staticmethod]
    fn of(image: &[u8]) -> PyResult<Option<LogDecoder>> {
        let decoder = logs::LogDecoder::of(image).map_err(|error| ImageError::new_err(error.to_string()))?;
        Ok(decoder.map(LogDecoder))
    }

    fn feed(&mut self, data: &[u8]) -> Vec<Row> {
        let row = |line: logs::LogLine| (line.level, line.timestamp, line.message, line.place, line.module);
        self.0.feed(data).into_iter().map(row).collect()
    }
}
