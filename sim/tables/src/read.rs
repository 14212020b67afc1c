//! The reader of Parquet files: flat tables of the types of [`Values`], by any writer.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::{TableColumn, TableFileError, Values};

/// Rows decoded at a time. No vector grows further than that beyond what the file really has.
const BATCH_ROWS: usize = 1 << 16;

/// Returns the columns of a Parquet file with at most `limit` values (rows times columns).
///
/// # Errors
/// `TableFileError` for a file that is damaged, is larger than the limit, or has columns that are nested or of other
/// types.
pub fn read_parquet(content: &[u8], limit: u64) -> Result<Vec<TableColumn>, TableFileError> {
    let content = Bytes::copy_from_slice(content);
    // Where the library runs beyond an array for a damaged file, the caller gets an error like any other.
    catch_unwind(AssertUnwindSafe(|| read_file(content, limit)))
        .unwrap_or_else(|_| Err(TableFileError("the file is damaged".to_owned())))
}

/// Returns the columns of a Parquet file with at most `limit` values.
fn read_file(content: Bytes, limit: u64) -> Result<Vec<TableColumn>, TableFileError> {
    let file = SerializedFileReader::new(content)?;
    let described = file.metadata().file_metadata();
    let rows = u64::try_from(described.num_rows()).map_err(|_| wrong_row_count_error())?;
    if rows.saturating_mul(described.schema_descr().num_columns() as u64) > limit {
        return Err(TableFileError(format!("it contains more than {limit} values")));
    }
    let columns = described.schema_descr().columns().iter().enumerate();
    columns.map(|(place, column)| read_table_column(&file, place, column, rows)).collect()
}

/// Returns the error of a column whose number of rows is wrong.
fn wrong_row_count_error() -> TableFileError {
    TableFileError("the file is damaged: its columns have another number of rows than the file states".to_owned())
}

/// Reads the column at `place` in all row groups.
fn read_table_column(
    file: &SerializedFileReader<Bytes>,
    place: usize,
    column: &ColumnDescriptor,
    rows: u64,
) -> Result<TableColumn, TableFileError> {
    if column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return Err(TableFileError(format!("its column {} is nested", column.name())));
    }
    let mut levels = Vec::new();
    let mut values = new_empty_column_values(column)?;
    let mut places = HashMap::new();
    for group in 0..file.num_row_groups() {
        let reader = file.get_row_group(group)?.get_column_reader(place)?;
        match (reader, &mut values) {
            (ColumnReader::BoolColumnReader(reader), Values::Bool(values)) => {
                append(reader, &mut levels, rows, |read| values.extend(read))?;
            }
            (ColumnReader::Int32ColumnReader(reader), Values::Int32(values)) => {
                append(reader, &mut levels, rows, |read| values.extend(read))?;
            }
            (ColumnReader::Int64ColumnReader(reader), Values::Int64(values)) => {
                append(reader, &mut levels, rows, |read| values.extend(read))?;
            }
            (ColumnReader::Int32ColumnReader(reader), Values::UInt32(values)) => {
                append(reader, &mut levels, rows, |read| values.extend(read.iter().map(|bits| bits.cast_unsigned())))?;
            }
            (ColumnReader::Int64ColumnReader(reader), Values::UInt64(values)) => {
                append(reader, &mut levels, rows, |read| values.extend(read.iter().map(|bits| bits.cast_unsigned())))?;
            }
            (ColumnReader::DoubleColumnReader(reader), Values::Float64(values)) => {
                append(reader, &mut levels, rows, |read| values.extend(read))?;
            }
            (ColumnReader::ByteArrayColumnReader(reader), Values::Text(texts, codes)) => {
                let mut read = Vec::new();
                append(reader, &mut levels, rows, |batch| read.extend_from_slice(batch))?;
                append_text_codes(&read, texts, codes, &mut places)?;
            }
            _ => return Err(error_for_unsupported_column_type(column)),
        }
    }
    let nulls = column.max_def_level() == 1 && levels.contains(&0);
    let valid = nulls.then(|| levels.iter().map(|level| *level == 1).collect());
    let column = TableColumn { name: column.name().to_owned(), values, valid };
    if column.row_count() as u64 == rows { Ok(column) } else { Err(wrong_row_count_error()) }
}

/// Returns an empty list of the column's type. An error for types that are not supported.
fn new_empty_column_values(column: &ColumnDescriptor) -> Result<Values, TableFileError> {
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    Ok(match column.physical_type() {
        Physical::BOOLEAN => Values::Bool(Vec::new()),
        Physical::INT32 if unsigned => Values::UInt32(Vec::new()),
        Physical::INT32 => Values::Int32(Vec::new()),
        Physical::INT64 if unsigned => Values::UInt64(Vec::new()),
        Physical::INT64 => Values::Int64(Vec::new()),
        Physical::DOUBLE => Values::Float64(Vec::new()),
        Physical::BYTE_ARRAY => Values::Text(Vec::new(), Vec::new()),
        _ => return Err(error_for_unsupported_column_type(column)),
    })
}

/// Returns the error of a column whose type is not supported.
fn error_for_unsupported_column_type(column: &ColumnDescriptor) -> TableFileError {
    TableFileError(format!("its column {} has values of type {}", column.name(), column.physical_type()))
}

/// Reads one column of one row group, and gives its values to `keep` in batches.
fn append<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    levels: &mut Vec<i16>,
    rows: u64,
    mut keep: impl FnMut(&[T::T]),
) -> Result<(), TableFileError> {
    let mut values = Vec::new();
    let mut total = 0;
    loop {
        values.clear();
        let (records, ..) = reader.read_records(BATCH_ROWS, Some(levels), None, &mut values)?;
        keep(&values);
        total += records as u64;
        if records == 0 {
            return Ok(());
        }
        if total > rows {
            return Err(wrong_row_count_error());
        }
    }
}

/// Appends the code of each value, and each text that is new.
fn append_text_codes(
    values: &[ByteArray],
    texts: &mut Vec<String>,
    codes: &mut Vec<u32>,
    places: &mut HashMap<Vec<u8>, u32>,
) -> Result<(), TableFileError> {
    for value in values {
        let code = match places.get(value.data()) {
            Some(code) => *code,
            None => {
                let text = std::str::from_utf8(value.data()).map_err(|error| TableFileError(error.to_string()))?;
                let code = u32::try_from(texts.len()).map_err(|error| TableFileError(error.to_string()))?;
                texts.push(text.to_owned());
                places.insert(value.data().to_vec(), code);
                code
            }
        };
        codes.push(code);
    }
    Ok(())
}
