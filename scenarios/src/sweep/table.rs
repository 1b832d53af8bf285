//! The results as a table: one row per run, in order of index; CSV, JSON lines and Parquet are written row by row.

use std::io::{self, Write};

use super::definition::Sweep;
use super::plan::Run;
use super::store::{Record, Storage, Store};
use super::value::{Kind, Value};

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Column {
    /// Its name, with the unit as its ending where a swept quantity has one.
    pub name: String,
    /// Unit; `1` for plain numbers, empty for texts.
    pub unit: String,
    /// What its cells are.
    pub cells: CellKind,
    /// What it tells.
    pub role: Role,
}

/// What the cells of a column are, where they are not missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// True or false.
    Switch,
    /// Texts.
    Text,
}

/// What a column tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Which run: point, repetition, seed.
    Run,
    /// A swept path.
    Axis,
    /// A figure of the report.
    Figure,
    /// Why a run failed.
    Error,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// There is no value.
    Missing,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// True or false.
    Switch(bool),
    /// A text.
    Text(String),
}

/// One row: the cells of all columns.
pub type Row = Vec<Cell>;

/// The columns of a sweep: `point`, `repetition`, `seed`, swept paths, figures, `error`.
pub fn columns(sweep: &Sweep) -> Vec<Column> {
    let column = |name: String, unit: &str, cells, role| Column { name, unit: unit.to_owned(), cells, role };
    let run = ["point", "repetition", "seed"].map(|name| column(name.to_owned(), "1", CellKind::Integer, Role::Run));
    let axes = sweep.plan().axes().iter().map(|axis| {
        let name = format!("{}{}", axis.path, axis.kind.suffix());
        column(name, axis.kind.unit(), cells_of(axis.kind), Role::Axis)
    });
    let figures = sweep.figures().iter().map(|figure| {
        let cells = if figure.is_whole { CellKind::Integer } else { CellKind::Real };
        column(figure.name.clone(), figure.unit, cells, Role::Figure)
    });
    let error = column("error".to_owned(), "", CellKind::Text, Role::Error);
    run.into_iter().chain(axes).chain(figures).chain([error]).collect()
}

fn cells_of(kind: Kind) -> CellKind {
    match kind {
        Kind::Integer => CellKind::Integer,
        Kind::Switch => CellKind::Switch,
        Kind::Text => CellKind::Text,
        _ => CellKind::Real,
    }
}

/// The row of a run.
pub fn row(sweep: &Sweep, run: Run, record: &Record) -> Row {
    let whole = |value: u64| i64::try_from(value).map_or(Cell::Missing, Cell::Integer);
    let mut row: Row = [run.point, run.repetition, run.seed].map(whole).to_vec();
    row.extend(sweep.plan().axes().iter().map(|axis| axis_cell(axis.kind, sweep.plan().value(axis, run.point))));
    row.extend(sweep.figures().iter().enumerate().map(|(place, figure)| match record.figure(place) {
        Some(value) if figure.is_whole => Cell::Integer(value as i64),
        Some(value) => Cell::Real(value),
        None => Cell::Missing,
    }));
    row.push(match record {
        Record::Failed(reason) => Cell::Text(reason.clone()),
        _ => Cell::Missing,
    });
    row
}

fn axis_cell(kind: Kind, value: Value) -> Cell {
    match (cells_of(kind), value) {
        (CellKind::Integer, Value::Number(number)) if number.den == 1 => {
            i64::try_from(number.num).map_or(Cell::Missing, Cell::Integer)
        }
        (CellKind::Real, Value::Number(number)) => Cell::Real(number.shown()),
        (CellKind::Switch, Value::Switch(value)) => Cell::Switch(value),
        (_, value) => Cell::Text(value.to_string()),
    }
}

/// All rows of the store's part, in order of index; runs that were not needed have none. A run without a record is an
/// error of kind [`io::ErrorKind::NotFound`].
pub fn rows<'a, S: Storage>(sweep: &'a Sweep, store: &'a Store<S>) -> impl Iterator<Item = io::Result<Row>> + 'a {
    runs(sweep, store).filter_map(move |run| match store.get(run) {
        Ok(Some(Record::NotNeeded)) => None,
        Ok(Some(record)) => Some(Ok(row(sweep, run, &record))),
        Ok(None) => Some(Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("point {}, repetition {} has not been run", run.point, run.repetition),
        ))),
        Err(error) => Some(Err(error)),
    })
}

/// All runs of the store's part that the constraints leave in, in order of index.
pub fn runs<'a, S: Storage>(sweep: &'a Sweep, store: &'a Store<S>) -> impl Iterator<Item = Run> + 'a {
    let (plan, shard) = (sweep.plan(), store.layout().shard);
    (0..shard.points(plan.points()))
        .map(move |place| shard.point(place))
        .filter(|point| plan.admits(*point))
        .flat_map(move |point| (0..plan.repeat()).map(move |repetition| plan.run(point * plan.repeat() + repetition)))
}

/// What a table is of, for the metadata of files.
pub fn provenance(sweep: &Sweep) -> Vec<(&'static str, String)> {
    let definition = sweep.definition();
    let units: serde_json::Map<String, serde_json::Value> = columns(sweep)
        .into_iter()
        .filter(|column| !column.unit.is_empty())
        .map(|column| (column.name, column.unit.into()))
        .collect();
    vec![
        ("nicsim.schema", definition.schema.clone()),
        ("nicsim.version", definition.version.clone()),
        ("nicsim.scenario", definition.scenario.clone()),
        ("nicsim.scenario_hash", definition.scenario_hash.clone()),
        ("nicsim.sweep_hash", format!("{:016x}", sweep.hash())),
        ("nicsim.seed", definition.seed.to_string()),
        ("nicsim.units", serde_json::Value::Object(units).to_string()),
        ("nicsim.sweep_file", definition.sweep_file.clone()),
    ]
}

impl Cell {
    /// As CSV has it; a missing value is empty.
    pub fn text(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Integer(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Switch(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// As JSON has it; a missing value is `null`.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Missing => serde_json::Value::Null,
            Self::Integer(value) => (*value).into(),
            Self::Real(value) => (*value).into(),
            Self::Switch(value) => (*value).into(),
            Self::Text(text) => text.clone().into(),
        }
    }
}

/// Writes a CSV file with a header (RFC 4180, lines end with a line feed).
///
/// # Errors
/// What `out` or the rows say.
pub fn write_csv<W: Write>(columns: &[Column], rows: impl Iterator<Item = io::Result<Row>>, out: W) -> io::Result<W> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns.iter().map(|column| &column.name)).map_err(csv_error)?;
    for row in rows {
        csv.write_record(row?.iter().map(Cell::text)).map_err(csv_error)?;
    }
    csv.into_inner().map_err(|error| error.into_error())
}

fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes a JSON array of objects, one per line.
///
/// # Errors
/// What `out` or the rows say.
pub fn write_json<W: Write>(
    columns: &[Column],
    rows: impl Iterator<Item = io::Result<Row>>,
    mut out: W,
) -> io::Result<W> {
    out.write_all(b"[")?;
    for (number, row) in rows.enumerate() {
        let cells = columns.iter().zip(row?).map(|(column, cell)| {
            let name = serde_json::Value::from(column.name.as_str());
            format!("{name}: {}", cell.json())
        });
        let cells: Vec<String> = cells.collect();
        write!(out, "{}\n  {{{}}}", if number == 0 { "" } else { "," }, cells.join(", "))?;
    }
    out.write_all(b"\n]\n")?;
    Ok(out)
}

#[cfg(feature = "parquet")]
pub use parquet_file::{ROW_GROUP, write_parquet};

#[cfg(feature = "parquet")]
mod parquet_file {
    use std::io::{self, Write};
    use std::sync::Arc;

    use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::types::Type;

    use super::{Cell, CellKind, Column, Role, Row};
    use crate::frames::into_io;

    /// Rows per row group; also what is kept in memory. It is fixed, so that the bytes depend on the rows alone.
    pub const ROW_GROUP: usize = 1 << 15;

    /// Values of one column, missing ones left out, and which are there.
    struct Pending {
        values: Values,
        present: Vec<i16>,
        optional: bool,
    }

    enum Values {
        Integers(Vec<i64>),
        Reals(Vec<f64>),
        Switches(Vec<bool>),
        Texts(Vec<ByteArray>),
    }

    impl Pending {
        fn new(column: &Column) -> Self {
            let values = match column.cells {
                CellKind::Integer => Values::Integers(Vec::new()),
                CellKind::Real => Values::Reals(Vec::new()),
                CellKind::Switch => Values::Switches(Vec::new()),
                CellKind::Text => Values::Texts(Vec::new()),
            };
            Self { values, present: Vec::new(), optional: is_optional(column) }
        }

        fn take(&mut self, cell: Cell) {
            match (&mut self.values, cell) {
                (Values::Integers(values), Cell::Integer(value)) => values.push(value),
                (Values::Reals(values), Cell::Real(value)) => values.push(value),
                (Values::Switches(values), Cell::Switch(value)) => values.push(value),
                (Values::Texts(values), Cell::Text(text)) => values.push(ByteArray::from(text.into_bytes())),
                _ => return self.present.push(0),
            }
            self.present.push(1);
        }

        fn flush<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
            let levels = self.optional.then_some(self.present.as_slice());
            match &mut self.values {
                Values::Integers(values) => write::<W, Int64Type>(group, values, levels)?,
                Values::Reals(values) => write::<W, DoubleType>(group, values, levels)?,
                Values::Switches(values) => write::<W, BoolType>(group, values, levels)?,
                Values::Texts(values) => write::<W, ByteArrayType>(group, values, levels)?,
            }
            self.present.clear();
            Ok(())
        }
    }

    fn write<W: Write + Send, T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, W>,
        values: &mut Vec<T::T>,
        levels: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        if let Some(mut column) = group.next_column()? {
            column.typed::<T>().write_batch(values, levels, None)?;
            column.close()?;
        }
        values.clear();
        Ok(())
    }

    /// Which run a row tells is never missing.
    fn is_optional(column: &Column) -> bool {
        column.role != Role::Run
    }

    fn schema(columns: &[Column]) -> Result<Type, ParquetError> {
        let field = |column: &Column| {
            let physical = match column.cells {
                CellKind::Integer => Physical::INT64,
                CellKind::Real => Physical::DOUBLE,
                CellKind::Switch => Physical::BOOLEAN,
                CellKind::Text => Physical::BYTE_ARRAY,
            };
            let repetition = if is_optional(column) { Repetition::OPTIONAL } else { Repetition::REQUIRED };
            let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(repetition);
            let builder = match column.cells {
                CellKind::Text => {
                    builder.with_converted_type(ConvertedType::UTF8).with_logical_type(Some(LogicalType::String))
                }
                _ => builder,
            };
            builder.build().map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        Type::group_type_builder("sweep").with_fields(fields).build()
    }

    /// Writes a Parquet file (zstd) with `provenance` as its key-value metadata.
    ///
    /// # Errors
    /// What `out` or the rows say.
    pub fn write_parquet<W: Write + Send>(
        columns: &[Column],
        provenance: &[(&str, String)],
        rows: impl Iterator<Item = io::Result<Row>>,
        out: W,
    ) -> io::Result<W> {
        let metadata = provenance.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(metadata.collect()))
            .build();
        let schema = Arc::new(schema(columns).map_err(into_io)?);
        let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(into_io)?;
        let mut pending: Vec<Pending> = columns.iter().map(Pending::new).collect();
        let mut count = 0;
        for row in rows {
            pending.iter_mut().zip(row?).for_each(|(column, cell)| column.take(cell));
            count += 1;
            if count == ROW_GROUP {
                flush(&mut writer, &mut pending).map_err(into_io)?;
                count = 0;
            }
        }
        if count > 0 {
            flush(&mut writer, &mut pending).map_err(into_io)?;
        }
        writer.into_inner().map_err(into_io)
    }

    fn flush<W: Write + Send>(
        writer: &mut SerializedFileWriter<W>,
        pending: &mut [Pending],
    ) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        for column in pending {
            column.flush(&mut group)?;
        }
        group.close().map(|_| ())
    }
}
