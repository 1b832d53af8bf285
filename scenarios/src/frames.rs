//! Per-frame ground truth as a Parquet file: one row per frame, integers with their unit in the column's name,
//! missing values as nulls, zstd, provenance in the file's key-value metadata.

use std::io::{self, Write};
use std::sync::Arc;

use nicsim_models::frame::{Direction, FrameRecord, TxStamp};
use nicsim_models::launch::Decision;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// Rows per row group; also what is kept in memory.
const ROW_GROUP: usize = 1 << 16;

/// How a column's value comes out of a record.
enum Column {
    Integer(fn(&FrameRecord) -> i64),
    Optional(fn(&FrameRecord) -> Option<i64>),
    Text(fn(&FrameRecord) -> &'static str),
}

/// The one list of columns.
const COLUMNS: &[(&str, Column)] = &[
    ("stream", Column::Integer(|r| i64::from(r.id.stream))),
    ("frame", Column::Integer(|r| r.id.number as i64)),
    ("direction", Column::Text(|r| if r.direction == Direction::Sent { "sent" } else { "received" })),
    ("queue", Column::Integer(|r| i64::from(r.queue))),
    ("size_b", Column::Integer(|r| i64::from(r.size))),
    ("launch_ns", Column::Optional(|r| r.launch_ns.map(|ns| ns as i64))),
    ("descriptor_word", Column::Optional(|r| r.launch_ns.map(|_| i64::from(r.word)))),
    ("submitted_ps", Column::Integer(|r| r.submitted_at.as_ps())),
    ("fetched_ps", Column::Optional(|r| (r.direction == Direction::Sent).then_some(r.fetched_at.as_ps()))),
    ("compared_phc_ns", Column::Optional(|r| (r.compared_ns > 0).then_some(r.compared_ns as i64))),
    ("decision", Column::Text(decision)),
    ("held_until_ns", Column::Optional(held_until)),
    ("due_ps", Column::Optional(|r| (r.direction == Direction::Sent).then_some(r.due_at.as_ps()))),
    ("ready_ps", Column::Optional(|r| (r.direction == Direction::Sent).then_some(r.ready_at.as_ps()))),
    ("started_ps", Column::Integer(|r| r.started_at.as_ps())),
    ("launch_error_ps", Column::Optional(|r| r.launch_error.map(|error| error.as_ps()))),
    ("late", Column::Integer(|r| i64::from(r.late))),
    ("tx_stamp_status", Column::Text(tx_stamp_status)),
    ("tx_stamp_raw", Column::Optional(|r| tx_stamp(r).map(|stamp| stamp.raw.0 as i64))),
    ("tx_stamp_ns", Column::Optional(|r| tx_stamp(r).map(|stamp| stamp.ns as i64))),
    ("tx_stamp_read_ps", Column::Optional(|r| tx_stamp(r).map(|stamp| stamp.read_at.as_ps()))),
    ("rx_stamp_ns", Column::Optional(|r| r.rx_stamp.map(|stamp| stamp.ns as i64))),
    ("sent_count", Column::Optional(|r| r.sent.map(|seen| i64::from(seen.count)))),
    ("observed_count", Column::Optional(|r| r.observed.map(|seen| i64::from(seen.count)))),
];

fn decision(record: &FrameRecord) -> &'static str {
    match record.decision {
        Decision::Unscheduled => "unscheduled",
        Decision::Held(_) => "held",
        Decision::Unset => "immediate-unset",
        Decision::Past => "immediate-past",
    }
}

fn held_until(record: &FrameRecord) -> Option<i64> {
    match record.decision {
        Decision::Held(ns) => Some(ns as i64),
        _ => None,
    }
}

fn tx_stamp_status(record: &FrameRecord) -> &'static str {
    match record.tx_stamp {
        TxStamp::NotRequested => "not-requested",
        TxStamp::NoRegister => "lost-register",
        TxStamp::Read(_) => "ok",
    }
}

fn tx_stamp(record: &FrameRecord) -> Option<nicsim_models::frame::Stamp> {
    match record.tx_stamp {
        TxStamp::Read(stamp) => Some(stamp),
        _ => None,
    }
}

/// Names of the columns, in order.
pub fn column_names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name)
}

/// A Parquet file in the making.
pub struct FrameTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: Vec<FrameRecord>,
}

impl<W: Write + Send> FrameTable<W> {
    /// A table that is written to `out`.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(out: W) -> io::Result<Self> {
        let field = |(name, column): &(&str, Column)| match column {
            Column::Integer(_) => format!("required int64 {name};"),
            Column::Optional(_) => format!("optional int64 {name};"),
            Column::Text(_) => format!("required binary {name} (utf8);"),
        };
        let schema = format!("message frames {{ {} }}", COLUMNS.iter().map(field).collect::<String>());
        let schema = Arc::new(parse_message_type(&schema).map_err(into_io)?);
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(into_io)?;
        Ok(Self { writer, rows: Vec::with_capacity(ROW_GROUP) })
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// What the output below says.
    pub fn frame(&mut self, record: &FrameRecord) -> io::Result<()> {
        self.rows.push(*record);
        if self.rows.len() < ROW_GROUP { Ok(()) } else { self.flush().map_err(into_io) }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (_, column) in COLUMNS {
            write_column(&mut group, column, &self.rows)?;
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }

    /// Completes the file and gives the output back.
    ///
    /// # Errors
    /// What the output below says.
    pub fn finish(mut self, scenario: &str, hash: &str) -> io::Result<W> {
        self.flush().map_err(into_io)?;
        let metadata = [
            ("nicsim.scenario", scenario),
            ("nicsim.scenario_hash", hash),
            ("nicsim.version", env!("CARGO_PKG_VERSION")),
            (
                "nicsim.units",
                "_ps: picoseconds of true time since the start; _ns: nanoseconds on the PHC; _b: bytes with FCS",
            ),
        ];
        for (key, value) in metadata {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
        }
        self.writer.into_inner().map_err(into_io)
    }
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: &[FrameRecord],
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Ok(());
    };
    match column {
        Column::Integer(read) => {
            let values: Vec<i64> = rows.iter().map(read).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Column::Optional(read) => {
            let cells: Vec<Option<i64>> = rows.iter().map(read).collect();
            let values: Vec<i64> = cells.iter().flatten().copied().collect();
            let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            writer.typed::<Int64Type>().write_batch(&values, Some(&present), None)?;
        }
        Column::Text(read) => {
            let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(read(row))).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
    }
    writer.close()
}

/// An output error keeps its kind; anything else is told as it is.
pub(crate) fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicsim_models::frame::FrameId;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn what_is_written_can_be_read() {
        let mut table = FrameTable::new(tempfile::tempfile().unwrap()).unwrap();
        let rows = ROW_GROUP as u64 + 10;
        for number in 0..rows {
            let launch_ns = (number % 2 == 0).then_some(number * 100);
            let id = FrameId { number, ..FrameId::default() };
            table.frame(&FrameRecord { id, launch_ns, decision: Decision::Held(7), ..FrameRecord::default() }).unwrap();
        }
        let file = table.finish("test", "0123").unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), rows as i64);
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let row = reader.get_row_iter(None).unwrap().nth(3).unwrap().unwrap();
        assert_eq!(row.get_long(1).unwrap(), 3);
        assert!(row.get_long(5).is_err(), "a missing launch time is null");
        assert_eq!(row.get_string(10).unwrap(), "held");
    }
}
