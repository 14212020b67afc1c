//! Decoding of defmt's log frames: see `_sim.pyi`.

use pyo3::prelude::*;
use rtoslab_debuginfo::logs;

use crate::ImageError;

/// A line of the log: level, time stamp, message, file and line, module.
type Row = (Option<String>, Option<String>, String, Option<(String, u64)>, Option<String>);

/// A decoder of the defmt log that one image sends.
#[pyclass]
pub struct LogDecoder(logs::LogDecoder);

#[pymethods]
impl LogDecoder {
    /// Returns the decoder of an image. None if the image does not use defmt.
    #[staticmethod]
    fn of(image: &[u8]) -> PyResult<Option<LogDecoder>> {
        let decoder =
            logs::LogDecoder::log_decoder_of_image(image).map_err(|error| ImageError::new_err(error.to_string()))?;
        Ok(decoder.map(LogDecoder))
    }

    /// Decodes bytes that follow those of the last call. Returns the lines that became complete.
    fn feed(&mut self, data: &[u8]) -> Vec<Row> {
        let row = |line: logs::LogLine| (line.level, line.timestamp, line.message, line.place, line.module);
        self.0.decode_defmt_bytes(data).into_iter().map(row).collect()
    }
}
