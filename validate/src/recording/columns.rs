//! Plain CSV: any table with a column of times.
//!
//! Which column holds the time is said with `--columns time=rx_hw_ts_ns` (or `time=1:ns` where there is no header),
//! or found where exactly one column's name ends in a unit. Times are read as exact decimals; what has lost digits
//! on its way (an exponent, a spreadsheet's 15 digits) is refused, since a wrong interval looks like a right one.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use nicsim_core::stats::Unit;

use super::decimal::Decimal;
use super::text::{self, Rows};
use super::{Assembly, Capture, Fault, Kind, ReadOptions, pcap, reason, unit};

/// Which columns hold what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The time.
    pub time: Column,
    /// Unit of the time; where `None`, the end of the column's name says it.
    pub unit: Option<TimeUnit>,
    /// The frame's number, decimal or hexadecimal with `0x`.
    pub id: Option<Column>,
    /// The Ethernet frame with FCS; without where the column's name contains `without_fcs`.
    pub size: Option<Column>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its name in the header.
    Name(String),
    /// By its place, from 1.
    Position(NonZeroUsize),
}

impl FromStr for Column {
    type Err = ColumnsError;
    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        let is_zero = text.bytes().all(|byte| byte == b'0');
        if is_zero {
            return Err(ColumnsError::NoColumn { found: text.to_owned() });
        }
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Position))
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Position(position) => write!(f, "{position}"),
        }
    }
}

/// Unit of a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the units")]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    Picoseconds,
}

impl TimeUnit {
    const ALL: [Self; 5] =
        [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds, Self::Picoseconds];

    const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::Picoseconds => "ps",
        }
    }

    /// The unit is 10 to this power, in picoseconds.
    const fn exponent(self) -> u32 {
        match self {
            Self::Seconds => 12,
            Self::Milliseconds => 9,
            Self::Microseconds => 6,
            Self::Nanoseconds => 3,
            Self::Picoseconds => 0,
        }
    }

    fn from_symbol(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.symbol() == symbol)
    }

    /// The unit that a column's name ends in: `rx_ns`, `time (ns)`, `time \[ns\]`.
    fn of_name(name: &str) -> Option<Self> {
        let bracketed = name.strip_suffix(')').or_else(|| name.strip_suffix(']'));
        let (_, symbol) = match bracketed {
            Some(name) => name.rsplit_once(['(', '['])?,
            None => name.rsplit_once('_')?,
        };
        Self::from_symbol(symbol)
    }
}

/// What is wrong with a `--columns` option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what the fields are")]
pub enum ColumnsError {
    #[error("`{part}` is not of the form KEY=COLUMN; write for example time=rx_hw_ts_ns,id=seq,size=len, or time=1:ns")]
    NoKey { part: String },
    #[error("`{key}` is not one of the columns that are read; they are time, id and size")]
    UnknownKey { key: String },
    #[error("`{key}` is given twice")]
    Twice { key: String },
    #[error("`{found}` names no column; give a name of the header, or a place counted from 1")]
    NoColumn { found: String },
    #[error("no column of times is given; add time=NAME, or time=1:ns where there is no header")]
    NoTime,
}

impl FromStr for Columns {
    type Err = ColumnsError;
    /// Reads `time=rx_hw_ts_ns,id=seq,size=len` or `time=1:ns`.
    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        let (mut time, mut id, mut size) = (None, None, None);
        for part in text.split(',') {
            let no_key = || ColumnsError::NoKey { part: part.to_owned() };
            let (key, column) = part.split_once('=').ok_or_else(no_key)?;
            let (key, column) = (key.trim(), column.trim());
            let slot = match key {
                "time" => &mut time,
                "id" => &mut id,
                "size" => &mut size,
                _ => return Err(ColumnsError::UnknownKey { key: key.to_owned() }),
            };
            if slot.replace(column).is_some() {
                return Err(ColumnsError::Twice { key: key.to_owned() });
            }
        }
        let (time, unit) = split_unit(time.ok_or(ColumnsError::NoTime)?);
        let parse = |column: Option<&str>| column.map(str::parse).transpose();
        Ok(Self { time: time.parse()?, unit, id: parse(id)?, size: parse(size)? })
    }
}

/// `1:ns` → (`1`, ns); a colon before anything else belongs to the name.
fn split_unit(column: &str) -> (&str, Option<TimeUnit>) {
    let split = column.rsplit_once(':').and_then(|(name, symbol)| Some((name, TimeUnit::from_symbol(symbol)?)));
    split.map_or((column, None), |(name, unit)| (name, Some(unit)))
}

/// Where the columns of a file are, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Places {
    time: usize,
    unit: TimeUnit,
    id: Option<usize>,
    size: Option<usize>,
    /// Whether the size lacks the FCS.
    without_fcs: bool,
}

/// A row's fields, still in the decimals in which they are written.
#[derive(Debug, Clone, Copy)]
struct Row {
    start: usize,
    /// `None` where the field is empty or says that there is none.
    time: Option<Decimal>,
    id: Option<u32>,
    size: Option<u32>,
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Capture, Fault> {
    let body = text::body(bytes);
    let dialect = Dialect::of(text::first_line(&body));
    let mut rows = Rows::new(&body, dialect.delimiter);
    if !rows.advance()? {
        return Err(Fault::NothingUsable { left_out: "it holds no line of data".to_owned() });
    }
    let header = header(&rows, options.columns.as_ref(), dialect)?;
    let places = places(&rows, header.as_deref(), options.columns.as_ref())?;
    let mut assembly = Assembly::new(options.skip);
    let (table, cut_off) = table(&mut rows, header.as_deref(), &places, dialect, &mut assembly)?;
    let decimals = decimals(&table, places.unit, &rows)?;
    check_digits_lost(&table, &rows)?;
    let stamp = stamps(&table, places.unit, decimals, &mut assembly);
    for row in &table {
        match row.time.and_then(stamp) {
            Some(stamp) => assembly.take_stamp(row.id, stamp, row.size)?,
            None => assembly.leave_out(reason::MISSING_TIME),
        }
    }
    if let Some(line) = cut_off {
        assembly.cut_off_line(line);
    }
    let unit = unit::from_ratio(10_i128.pow(places.unit.exponent() - decimals), 1);
    assembly.finish(Kind::Csv, unit.unwrap_or(Unit::Picoseconds))
}

/// How a file separates fields and decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dialect {
    delimiter: u8,
}

impl Dialect {
    /// By the first line: semicolons and tabs leave the comma to the decimals, as spreadsheets write it in many countries.
    fn of(first_line: &[u8]) -> Self {
        let has = |delimiter| first_line.contains(&delimiter);
        let delimiter = [b'\t', b';'].into_iter().find(|delimiter| has(*delimiter)).unwrap_or(b',');
        Self { delimiter }
    }

    fn decimal(self, field: &str) -> Result<Decimal, &'static str> {
        let has_comma = self.delimiter != b',' && field.contains(',') && !field.contains('.');
        Decimal::parse(field, if has_comma { ',' } else { '.' })
    }
}

/// The names of the first row's columns, unless it is a row of data.
fn header(rows: &Rows<'_>, columns: Option<&Columns>, dialect: Dialect) -> Result<Option<Vec<String>>, Fault> {
    let names: Result<Vec<_>, _> = (0..rows.len()).map(|column| rows.field(column)).collect();
    let names: Vec<String> = names?.into_iter().flatten().map(str::to_owned).collect();
    let is_data = match columns.map(|columns| &columns.time) {
        Some(Column::Position(place)) => {
            names.get(place.get() - 1).is_some_and(|field| is_missing(field) || dialect.decimal(field).is_ok())
        }
        _ => names.iter().all(|field| is_missing(field) || dialect.decimal(field).is_ok()),
    };
    Ok((!is_data).then_some(names))
}

fn places(rows: &Rows<'_>, header: Option<&[String]>, columns: Option<&Columns>) -> Result<Places, Fault> {
    let names = header.unwrap_or_default();
    let Some(columns) = columns else {
        let (time, unit) = only_time_column(names)?;
        return Ok(Places { time, unit, id: None, size: None, without_fcs: false });
    };
    let place = |column: &Column| place_of(column, names, rows);
    let time = place(&columns.time)?;
    let unit = columns.unit.or_else(|| TimeUnit::of_name(names.get(time)?));
    let size = columns.size.as_ref().map(place).transpose()?;
    Ok(Places {
        time,
        unit: unit.ok_or_else(|| Fault::NoUnit { column: columns.time.to_string() })?,
        id: columns.id.as_ref().map(place).transpose()?,
        size,
        without_fcs: size.and_then(|size| names.get(size)).is_some_and(|name| name.contains("without_fcs")),
    })
}

fn place_of(column: &Column, names: &[String], rows: &Rows<'_>) -> Result<usize, Fault> {
    let place = match column {
        Column::Position(position) => Some(position.get() - 1).filter(|place| *place < rows.len()),
        Column::Name(wanted) => names.iter().position(|name| name == wanted),
    };
    place.ok_or_else(|| {
        let found = if names.is_empty() { "no names".to_owned() } else { names.join(", ") };
        let wanted = column.to_string();
        Fault::NoSuchColumn { wanted, line: rows.line(), found: text::shown(found.as_bytes()) }
    })
}

fn only_time_column(names: &[String]) -> Result<(usize, TimeUnit), Fault> {
    let candidates: Vec<_> =
        names.iter().enumerate().filter_map(|(place, name)| Some((place, TimeUnit::of_name(name)?))).collect();
    let list = |names: &mut dyn Iterator<Item = &String>| names.cloned().collect::<Vec<_>>().join(", ");
    match candidates.as_slice() {
        [only] => Ok(*only),
        [] if names.is_empty() => Err(Fault::NoTimeColumn { found: "there is no header".to_owned() }),
        [] => {
            let columns = format!("the columns are {}", list(&mut names.iter()));
            Err(Fault::NoTimeColumn { found: text::shown(columns.as_bytes()) })
        }
        several => {
            let found = list(&mut several.iter().map(|(place, _)| &names[*place]));
            Err(Fault::ManyTimeColumns { found: text::shown(found.as_bytes()) })
        }
    }
}

/// All rows of data, from the one that the reader is at if that is no header, and the line in which the file ends.
fn table(
    rows: &mut Rows<'_>,
    header: Option<&[String]>,
    places: &Places,
    dialect: Dialect,
    assembly: &mut Assembly,
) -> Result<(Vec<Row>, Option<u64>), Fault> {
    let mut table = Vec::new();
    let mut headers: u64 = 0;
    let mut cut_off = None;
    loop {
        let is_header = header.is_some_and(|names| rows.fields().eq(names.iter().map(|name| name.as_bytes())));
        if is_header {
            headers += 1;
        } else {
            match row(rows, places, dialect) {
                Ok(row) if !is_cut(rows, places, &table, &row) => table.push(row),
                Err(fault) if !rows.is_unterminated() || table.is_empty() => return Err(fault),
                _ => cut_off = Some(rows.line()),
            }
        }
        if !rows.advance()? {
            break;
        }
    }
    if headers > 1 {
        assembly.note(format!("the header stands {headers} times: files have been joined; read as one capture"));
    }
    Ok((table, cut_off))
}

/// Whether the file ends before or inside the row's time: it then is not there, or is the last field and has fewer
/// digits than the time before, on either side of the point.
fn is_cut(rows: &Rows<'_>, places: &Places, table: &[Row], row: &Row) -> bool {
    let Some(before) = table.last().and_then(|row| row.time).filter(|_| rows.is_unterminated()) else { return false };
    let at_end = rows.len() <= places.time + 1;
    let Some(time) = row.time else { return at_end };
    let is_even = table.iter().all(|row| row.time.is_none_or(|time| time.decimals == before.decimals));
    let digits = |time: Decimal| time.whole().unsigned_abs().checked_ilog10();
    at_end && is_even && (time.decimals < before.decimals || digits(time) < digits(before))
}

fn row(rows: &Rows<'_>, places: &Places, dialect: Dialect) -> Result<Row, Fault> {
    let whole = |place: Option<usize>, column| place.map_or(Ok(None), |place| whole(rows, place, column));
    let size = whole(places.size, "size")?;
    Ok(Row {
        start: rows.start(),
        time: time(rows, places.time, dialect)?,
        id: whole(places.id, "id")?,
        size: size.map(|size| if places.without_fcs { pcap::frame_size(size, 0) } else { size }),
    })
}

/// A missing value stays missing; it never becomes 0.
fn is_missing(field: &str) -> bool {
    let words = ["", "-", "na", "n/a", "nan", "none", "null"];
    words.iter().any(|word| field.eq_ignore_ascii_case(word))
}

fn time(rows: &Rows<'_>, place: usize, dialect: Dialect) -> Result<Option<Decimal>, Fault> {
    let Some(field) = rows.field(place)?.filter(|field| !is_missing(field)) else { return Ok(None) };
    let refuse = |problem| Fault::NotATime { line: rows.line(), found: text::shown(field.as_bytes()), problem };
    dialect.decimal(field).map(Some).map_err(refuse)
}

fn whole(rows: &Rows<'_>, place: usize, column: &'static str) -> Result<Option<u32>, Fault> {
    let Some(field) = rows.field(place)?.filter(|field| !is_missing(field)) else { return Ok(None) };
    let number = match field.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => field.parse(),
    };
    let refuse = |_| Fault::NotANumber { line: rows.line(), found: text::shown(field.as_bytes()), column };
    number.map(Some).map_err(refuse)
}

/// Decimals that hold every time exactly.
fn decimals(table: &[Row], unit: TimeUnit, rows: &Rows<'_>) -> Result<u32, Fault> {
    let finest = unit.exponent();
    for row in table {
        if row.time.is_some_and(|time| time.scaled(finest).is_none()) {
            return Err(Fault::TooFine { line: rows.line_at(row.start), found: shown_time(row) });
        }
    }
    Ok(table.iter().filter_map(|row| Some(row.time?.decimals)).max().unwrap_or(0).min(finest))
}

fn shown_time(row: &Row) -> String {
    row.time.map_or_else(String::new, |time| match time.decimals {
        0 => time.mantissa.to_string(),
        decimals => format!("{}.{:02$}", time.whole(), time.fraction(), decimals as usize),
    })
}

/// Spreadsheets keep 15 digits: nanoseconds since 1970 have 19, and then end in four zeros, all of them.
///
/// What other tools print has 3, 6, 9 or 12 decimals or none, so a whole number of at most 15 digits is taken for
/// what it says.
fn check_digits_lost(table: &[Row], rows: &Rows<'_>) -> Result<(), Fault> {
    let times = || table.iter().filter_map(|row| Some((row, row.time?)));
    let decimals = times().map(|(_, time)| time.decimals).max().unwrap_or(0);
    let looks_cut =
        if decimals == 0 { times().all(|(_, time)| time.digits().0 > 15) } else { !decimals.is_multiple_of(3) };
    let keeps_fifteen = times().all(|(_, time)| time.digits().1 <= 15);
    match times().find(|(_, time)| time.digits().1 == 15) {
        Some((row, _)) if looks_cut && keeps_fifteen => {
            Err(Fault::DigitsLost { line: rows.line_at(row.start), found: shown_time(row) })
        }
        _ => Ok(()),
    }
}

/// How a time becomes a stamp: as the decimal that it is, or as seconds and unpadded nanoseconds.
fn stamps(
    table: &[Row],
    unit: TimeUnit,
    decimals: u32,
    assembly: &mut Assembly,
) -> impl Fn(Decimal) -> Option<i128> + Copy + use<> {
    let is_unpadded = is_unpadded(table, unit);
    if is_unpadded {
        assembly.note(
            "the digits after the point are read as nanoseconds without leading zeros (12.5 is 12 s and 5 ns): \
             as decimals the times would go back, so they do not"
                .to_owned(),
        );
    }
    move |time: Decimal| {
        if is_unpadded {
            return Some((time.whole() * 1_000_000_000 + time.fraction()) * 10_i128.pow(decimals.saturating_sub(9)));
        }
        time.scaled(decimals)
    }
}

/// Seconds and nanoseconds printed as `%d.%d`: the number of digits varies, none begins with 0, and the times only
/// go forward when they are read so.
fn is_unpadded(table: &[Row], unit: TimeUnit) -> bool {
    let times = || table.iter().filter_map(|row| row.time);
    let is_bare = |time: Decimal| {
        let lowest = if time.decimals < 2 { 0 } else { 10_i128.pow(time.decimals - 1) };
        (1..=9).contains(&time.decimals) && (0..1 << 60).contains(&time.whole()) && time.fraction() >= lowest
    };
    let goes_forward = |key: &dyn Fn(Decimal) -> Option<i128>| times().map(key).is_sorted();
    unit == TimeUnit::Seconds
        && times().all(is_bare)
        && !goes_forward(&|time| time.scaled(9))
        && goes_forward(&|time| Some(time.whole() * 1_000_000_000 + time.fraction()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_written_as_people_write_them() {
        let columns: Columns = "time=rx_hw_ts_ns, id=seq,size=3".parse().unwrap();
        assert_eq!((columns.time, columns.unit), (Column::Name("rx_hw_ts_ns".into()), None));
        let third = Column::Position(NonZeroUsize::new(3).unwrap());
        assert_eq!((columns.id, columns.size), (Some(Column::Name("seq".into())), Some(third)));
        let columns: Columns = "time=1:ns".parse().unwrap();
        assert_eq!((columns.time, columns.unit), (Column::Position(NonZeroUsize::MIN), Some(TimeUnit::Nanoseconds)));
        let columns: Columns = "time=port:rx".parse().unwrap();
        assert_eq!((columns.time, columns.unit), (Column::Name("port:rx".into()), None));
        for bad in ["", "time", "time=", "time=0", "id=3", "time=a,time=b", "when=3", "time=a,id="] {
            assert!(bad.parse::<Columns>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_tell_units() {
        let unit = TimeUnit::of_name;
        assert_eq!(unit("rx_hw_ts_ns"), Some(TimeUnit::Nanoseconds));
        assert_eq!(unit("rx_hw_ts_s"), Some(TimeUnit::Seconds));
        assert_eq!(unit("time (us)"), Some(TimeUnit::Microseconds));
        assert_eq!(unit("t[ps]"), Some(TimeUnit::Picoseconds));
        for none in ["ns", "index", "frames", "len_without_fcs", "time2", "host_ns_drift", "(ns"] {
            assert_eq!(unit(none), None, "{none}");
        }
    }
}
