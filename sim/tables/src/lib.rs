//! Tables as Parquet files, and texts compressed by Zstandard.
//!
//! A table is a list of named columns. Each row has a value or none. The same table gives the same bytes. Readers are
//! given files of other people, so every size in a file is compared with a limit before memory is taken.

mod read;
mod write;

use std::io::Read;

pub use read::read_parquet;
pub use write::write_parquet;

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    /// The column's name.
    pub name: String,
    /// The values of the rows that have one.
    pub values: Values,
    /// Whether each row has a value. `None`: all rows have one.
    pub valid: Option<Vec<bool>>,
}

impl TableColumn {
    /// Returns the number of rows, with those that have no value.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.valid.as_ref().map_or(self.values.len(), Vec::len)
    }
}

/// The values of a column, by type.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Truth values.
    Bool(Vec<bool>),
    /// Signed numbers of 32 bits.
    Int32(Vec<i32>),
    /// Signed numbers of 64 bits.
    Int64(Vec<i64>),
    /// Numbers of 32 bits from 0 on.
    UInt32(Vec<u32>),
    /// Numbers of 64 bits from 0 on.
    UInt64(Vec<u64>),
    /// Numbers with a fraction.
    Float64(Vec<f64>),
    /// Each different text once, and the place of each value among them.
    Text(Vec<String>, Vec<u32>),
}

impl Values {
    /// Returns the number of values in the column.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Bool(values) => values.len(),
            Values::Int32(values) => values.len(),
            Values::Int64(values) => values.len(),
            Values::UInt32(values) => values.len(),
            Values::UInt64(values) => values.len(),
            Values::Float64(values) => values.len(),
            Values::Text(_, places) => places.len(),
        }
    }

    /// Returns whether the column has no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The reason why a table or a compressed text cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TableFileError(pub String);

impl From<parquet::errors::ParquetError> for TableFileError {
    /// Returns the error of the Parquet library as a text.
    fn from(error: parquet::errors::ParquetError) -> Self {
        TableFileError(error.to_string())
    }
}

/// Returns `content` compressed by Zstandard, at its quickest level.
///
/// # Errors
/// `TableFileError` if there is no memory for it.
pub fn compress(content: &[u8]) -> Result<Vec<u8>, TableFileError> {
    zstd::bulk::compress(content, 1).map_err(|error| TableFileError(error.to_string()))
}

/// Returns the unpacked `content`, or `None` if it has more than `limit` bytes.
///
/// # Errors
/// `TableFileError` for content that Zstandard did not write.
pub fn decompress(content: &[u8], limit: usize) -> Result<Option<Vec<u8>>, TableFileError> {
    let failed = |error: std::io::Error| TableFileError(error.to_string());
    let decoder = zstd::stream::read::Decoder::new(content).map_err(failed)?;
    let mut unpacked = Vec::new();
    decoder.take(limit as u64 + 1).read_to_end(&mut unpacked).map_err(failed)?;
    Ok((unpacked.len() <= limit).then_some(unpacked))
}
