//! What can be wrong with a capture file. Each message is one short paragraph: what, where, and what would be right.

use super::Kind;

/// A file that cannot be read as a capture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {fault}")]
pub struct ReadError {
    /// The name that the caller gave the file.
    pub file: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a file. Lines count from 1, byte offsets from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what the fields are")]
pub enum Fault {
    // The file as a whole.
    #[error("the file is empty (0 bytes); a capture has at least a header and one frame")]
    Empty,
    #[error("the file is compressed ({format}); unpack it first")]
    Compressed { format: &'static str },
    #[error(
        "the file is a binary isochron log, which is not read here; \
         `isochron report --printf-format` writes its stamps as columns"
    )]
    Isochron,
    #[error("the file is neither pcap nor pcapng (it begins with {magic}), nor text; give one of these or a CSV")]
    Unknown { magic: String },
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
    #[error("the content is {found}, not {asked}; leave --input out, or give a file of kind {asked}")]
    OtherKind { asked: Kind, found: Kind },
    #[error("no frame with a time remains ({left_out}); at least one is needed")]
    NothingUsable { left_out: String },
    #[error(
        "frame {frame} of the file lies over 2^62 time units from the first one, or over 2^80 from the epoch; \
         its time cannot be right, or the frames are of different clocks"
    )]
    TooLong { frame: u64 },

    // Text.
    #[error("line {line} is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 { line: u64 },
    #[error("the file cannot be read as CSV near line {line}: {problem}")]
    Csv { line: u64, problem: String },

    // EFCC.
    #[error(
        "line {line} is `{found}`; an EFCC capture begins with the header `timestamp_id,timestamp_val,timestamp_diff`"
    )]
    EfccHeader { line: u64, found: String },
    #[error("line {line} has {fields} fields; an EFCC line has three: identifier, count, difference")]
    EfccFields { line: u64, fields: usize },
    #[error("line {line}: the identifier `{found}` is not of the form 0x0000002a (3 bits of port, 29 of number)")]
    EfccId { line: u64, found: String },
    #[error("line {line}: {column} is `{found}`, not a whole number from 0 to 4294967295")]
    EfccCount { line: u64, column: &'static str, found: String },
    #[error(
        "line {line}: timestamp_diff is {written}, but timestamp_val less the one before is {computed} (modulo 2^32); \
         lines are missing, moved or edited here"
    )]
    EfccDifference { line: u64, written: u32, computed: u32 },
    #[error(
        "line {line}: {what}, so this is not a capture but a table of differences (a diffN.csv of the EFCC tools: \
         receive minus send); give the two captures instead, one of them with --against"
    )]
    EfccDifferences { line: u64, what: &'static str },
    #[error("line {line} repeats the header: the file holds two captures; split it there")]
    EfccSecondHeader { line: u64 },

    // pcap.
    #[error("the file ends inside the pcap file header: it has {have} of 24 bytes")]
    PcapHeader { have: usize },
    #[error("byte {offset}: the pcap file header cannot be read ({problem})")]
    PcapUnreadable { offset: usize, problem: String },
    #[error(
        "byte {offset}: the fraction of a second is {fraction}, which no clock shows (it must be below {limit}); \
         the file is damaged here, or its header's magic names another format"
    )]
    PcapFraction { offset: usize, fraction: u32, limit: u32 },
    #[error(
        "byte {offset}: the fraction of a second is {fraction} in a microsecond capture, where others are below \
         1000000; the file is damaged here, or merged from captures of two resolutions"
    )]
    PcapMixedFractions { offset: usize, fraction: u32 },
    #[error(
        "byte {offset}: a record says it holds {length} captured bytes (snapshot length {snaplen}); \
         the file is damaged here; cut it off before this byte to use what stands before"
    )]
    PcapLength { offset: usize, length: u32, snaplen: u32 },

    // pcapng.
    #[error("byte {offset}: a pcapng block of type {block:#010x} {problem}; the file is damaged here")]
    PcapngBlock { offset: usize, block: u32, problem: String },
    #[error("byte {offset}: the section's byte-order magic is {found:#010x}, not 0x1a2b3c4d in either order")]
    PcapngByteOrder { offset: usize, found: u32 },
    #[error("byte {offset}: pcapng version {major}.{minor} is not known; version 1 is")]
    PcapngVersion { offset: usize, major: u16, minor: u16 },
    #[error("byte {offset}: a packet names interface {interface}, but its section describes only {described}")]
    PcapngInterface { offset: usize, interface: u32, described: usize },
    #[error(
        "byte {offset}: the interface's if_tsresol {resolution:#04x} is finer than 1 ps or coarser than 1 s; \
         times from 1 s to 1 ps can be read"
    )]
    PcapngResolution { offset: usize, resolution: u8 },
    #[error(
        "interfaces have if_tsresol of {a} and {b} s, of which only less than 1 ps is a common unit; \
         split the file by interface (`tshark -r FILE -Y frame.interface_id==0 -w …`)"
    )]
    PcapngUnits { a: String, b: String },

    // Plain CSV.
    #[error(
        "no column looks like a time with a unit ({found}); name it: --columns time=NAME:ns, or time=1:ns where there is no header"
    )]
    NoTimeColumn { found: String },
    #[error("several columns look like times: {found}; name the one to use: --columns time=NAME")]
    ManyTimeColumns { found: String },
    #[error("there is no column `{wanted}`; the header (line {line}) has {found}")]
    NoSuchColumn { wanted: String, line: u64, found: String },
    #[error("column `{column}` does not say its unit; add one of s, ms, us, ns, ps: --columns time={column}:ns")]
    NoUnit { column: String },
    #[error("line {line}: `{found}` is not a time: {problem}")]
    NotATime { line: u64, found: String, problem: &'static str },
    #[error("line {line}: `{found}` is not a whole number from 0 to 4294967295 ({column})")]
    NotANumber { line: u64, found: String, column: &'static str },
    #[error("line {line}: `{found}` has digits below 1 ps; the finest time here is 1 ps")]
    TooFine { line: u64, found: String },
    #[error(
        "line {line}: every time has been rounded to 15 digits (such as `{found}`), as spreadsheets do; \
         export the times as text, or from the original file"
    )]
    DigitsLost { line: u64, found: String },
}
