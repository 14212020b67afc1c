//! The writer of Parquet files.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::{TableColumn, TableFileError, Values};

/// Stands in each file as its writer. Without a version, so that a new one gives the same bytes.
const WRITER: &str = "rtoslab";

/// Returns the columns as a Parquet file: one row group, compressed by Zstandard.
///
/// # Errors
/// `TableFileError` if the columns differ in their number of rows, or a column's values do not fit its valid rows.
pub fn write_parquet(columns: &[TableColumn]) -> Result<Vec<u8>, TableFileError> {
    check_equal_column_lengths(columns)?;
    let fields = columns.iter().map(column_schema).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_created_by(WRITER.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        let mut writer = group
            .next_column()?
            .ok_or_else(|| TableFileError("the file has fewer columns than the table".to_owned()))?;
        write_column_values(&mut writer, column)?;
        writer.close()?;
    }
    group.close()?;
    Ok(file.into_inner()?)
}

/// Checks that all columns have the same number of rows, and each as many values as valid rows.
fn check_equal_column_lengths(columns: &[TableColumn]) -> Result<(), TableFileError> {
    let rows = columns.first().map_or(0, TableColumn::row_count);
    for column in columns {
        let name = &column.name;
        let valid = column.valid.as_ref().map_or(column.row_count(), |valid| valid.iter().filter(|has| **has).count());
        if column.row_count() != rows {
            return Err(TableFileError(format!(
                "column {name} has {} rows, the first column {rows}",
                column.row_count()
            )));
        }
        if column.values.len() != valid {
            return Err(TableFileError(format!("column {name} has {} values for {valid} rows", column.values.len())));
        }
        if let Values::Text(texts, places) = &column.values
            && places.iter().any(|place| *place as usize >= texts.len())
        {
            return Err(TableFileError(format!("column {name} refers to a text that it does not contain")));
        }
    }
    Ok(())
}

/// Returns the schema of a column.
fn column_schema(column: &TableColumn) -> Result<TypePtr, TableFileError> {
    let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
    let (physical, logical) = match column.values {
        Values::Bool(_) => (Physical::BOOLEAN, None),
        Values::Int32(_) => (Physical::INT32, None),
        Values::Int64(_) => (Physical::INT64, None),
        Values::UInt32(_) => (Physical::INT32, unsigned(32)),
        Values::UInt64(_) => (Physical::INT64, unsigned(64)),
        Values::Float64(_) => (Physical::DOUBLE, None),
        Values::Text(..) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    Ok(Arc::new(builder.build()?))
}

/// Writes the values of a column, with the validity of its rows.
fn write_column_values(writer: &mut SerializedColumnWriter, column: &TableColumn) -> Result<(), TableFileError> {
    let levels: Vec<i16> = match &column.valid {
        Some(valid) => valid.iter().map(|has| i16::from(*has)).collect(),
        None => vec![1; column.values.len()],
    };
    let levels = Some(levels.as_slice());
    match (writer.untyped(), &column.values) {
        (ColumnWriter::BoolColumnWriter(writer), Values::Bool(values)) => writer.write_batch(values, levels, None)?,
        (ColumnWriter::Int32ColumnWriter(writer), Values::Int32(values)) => writer.write_batch(values, levels, None)?,
        (ColumnWriter::Int64ColumnWriter(writer), Values::Int64(values)) => writer.write_batch(values, levels, None)?,
        (ColumnWriter::Int32ColumnWriter(writer), Values::UInt32(values)) => {
            let bits: Vec<i32> = values.iter().map(|value| value.cast_signed()).collect();
            writer.write_batch(&bits, levels, None)?
        }
        (ColumnWriter::Int64ColumnWriter(writer), Values::UInt64(values)) => {
            let bits: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
            writer.write_batch(&bits, levels, None)?
        }
        (ColumnWriter::DoubleColumnWriter(writer), Values::Float64(values)) => {
            writer.write_batch(values, levels, None)?
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(texts, places)) => {
            let texts: Vec<ByteArray> = texts.iter().map(|text| ByteArray::from(text.as_str())).collect();
            let values: Vec<ByteArray> = places.iter().map(|place| texts[*place as usize].clone()).collect();
            writer.write_batch(&values, levels, None)?
        }
        _ => return Err(TableFileError(format!("column {} is of another type than its values", column.name))),
    };
    Ok(())
}
