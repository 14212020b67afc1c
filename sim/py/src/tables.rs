//! Parquet files and Zstandard for Python: columns as bytes, which numpy takes without a copy of each value.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rtoslab_tables::{self as tables, TableColumn, TableFileError, Values, compress, decompress};

/// The parts of a table's column: name, type (numpy's name, or `text`), little-endian values, the different texts of a
/// column of texts, validity.
type ColumnParts<Bytes> = (String, String, Bytes, Vec<String>, Option<Bytes>);

/// Converts an error to Python's ValueError.
fn to_python_value_error(error: TableFileError) -> PyErr {
    PyValueError::new_err(error.0)
}

macro_rules! numbers {
    ($kind:ty, $data:expr) => {
        $data
            .chunks_exact(size_of::<$kind>())
            .map(|part| <$kind>::from_le_bytes(part.try_into().expect("whole")))
            .collect()
    };
}

/// Converts a column's bytes, as numpy has them, to values of this type.
fn column_bytes_to_values(kind: &str, data: &[u8], texts: Vec<String>) -> PyResult<Values> {
    Ok(match kind {
        "bool" => Values::Bool(data.iter().map(|byte| *byte != 0).collect()),
        "int32" => Values::Int32(numbers!(i32, data)),
        "int64" => Values::Int64(numbers!(i64, data)),
        "uint32" => Values::UInt32(numbers!(u32, data)),
        "uint64" => Values::UInt64(numbers!(u64, data)),
        "float64" => Values::Float64(numbers!(f64, data)),
        "text" => Values::Text(texts, numbers!(u32, data)),
        _ => return Err(PyValueError::new_err(format!("a column cannot have the type {kind}"))),
    })
}

/// Returns values as little-endian bytes.
fn pack_values<T, const N: usize>(values: Vec<T>, to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    values.into_iter().flat_map(to_bytes).collect()
}

/// Returns a column's type, bytes and texts, as numpy needs them.
fn numpy_column_type_and_data(values: Values) -> (&'static str, Vec<u8>, Vec<String>) {
    match values {
        Values::Bool(values) => ("bool", values.into_iter().map(u8::from).collect(), Vec::new()),
        Values::Int32(values) => ("int32", pack_values(values, i32::to_le_bytes), Vec::new()),
        Values::Int64(values) => ("int64", pack_values(values, i64::to_le_bytes), Vec::new()),
        Values::UInt32(values) => ("uint32", pack_values(values, u32::to_le_bytes), Vec::new()),
        Values::UInt64(values) => ("uint64", pack_values(values, u64::to_le_bytes), Vec::new()),
        Values::Float64(values) => ("float64", pack_values(values, f64::to_le_bytes), Vec::new()),
        Values::Text(texts, places) => ("text", pack_values(places, u32::to_le_bytes), texts),
    }
}

/// Returns the columns as a Parquet file.
#[pyfunction]
pub fn write_parquet<'py>(py: Python<'py>, columns: Vec<ColumnParts<PyBackedBytes>>) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns.into_iter().map(|(name, kind, data, texts, valid)| {
        let valid = valid.map(|valid| valid.iter().map(|byte| *byte != 0).collect());
        Ok(TableColumn { name, values: column_bytes_to_values(&kind, &data, texts)?, valid })
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    Ok(PyBytes::new(py, &tables::write_parquet(&columns).map_err(to_python_value_error)?))
}

/// Returns the columns of a Parquet file with at most `limit` values.
#[pyfunction]
pub fn read_parquet<'py>(
    py: Python<'py>,
    content: &[u8],
    limit: u64,
) -> PyResult<Vec<ColumnParts<Bound<'py, PyBytes>>>> {
    let columns = tables::read_parquet(content, limit).map_err(to_python_value_error)?.into_iter().map(|column| {
        let (kind, data, texts) = numpy_column_type_and_data(column.values);
        let valid = column.valid.map(|valid| valid.into_iter().map(u8::from).collect::<Vec<u8>>());
        let valid = valid.map(|valid| PyBytes::new(py, &valid));
        (column.name, kind.to_owned(), PyBytes::new(py, &data), texts, valid)
    });
    Ok(columns.collect())
}

/// Returns the content compressed by Zstandard.
#[pyfunction]
pub fn compress_zstd<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &compress(content).map_err(to_python_value_error)?))
}

/// Returns the unpacked content, or None if it has more than `limit` bytes.
#[pyfunction]
pub fn decompress_zstd<'py>(py: Python<'py>, content: &[u8], limit: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
    Ok(decompress(content, limit).map_err(to_python_value_error)?.map(|unpacked| PyBytes::new(py, &unpacked)))
}
