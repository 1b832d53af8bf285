//! What the two CSV forms share: byte-order mark, line ends, rows and their lines.

use std::borrow::Cow;

use super::Fault;

/// How much of a file decides whether it is text.
const LOOKED_AT: usize = 4_096;

/// Says whether the file is text that can be read.
pub(super) fn check(bytes: &[u8]) -> Result<(), Fault> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Fault::Utf16);
    }
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A character may be cut where the look ends.
        Err(error) => error.error_len().is_none() && bytes.len() > LOOKED_AT,
    };
    if !is_utf8 || start.contains(&0) {
        return Err(Fault::Unknown { magic: hex(&bytes[..bytes.len().min(4)]) });
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    digits.join(" ")
}

/// The file without its byte-order mark, and with `\n` where lines end in a lone CR.
pub(super) fn body(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.contains(&b'\n') || !bytes.contains(&b'\r') {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|&byte| if byte == b'\r' { b'\n' } else { byte }).collect())
}

/// The first line that is neither blank nor a `#` comment, without blanks around it.
pub(super) fn first_line(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .unwrap_or_default()
}

/// The rows of a CSV text, one at a time; blank lines and comments (`#`, `;`) are passed over.
pub(super) struct Rows<'a> {
    body: &'a [u8],
    reader: csv::Reader<&'a [u8]>,
    row: csv::ByteRecord,
    start: usize,
}

impl<'a> Rows<'a> {
    /// Rows of `body`, as [`body`] returns it.
    pub(super) fn new(body: &'a [u8], delimiter: u8) -> Self {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .comment(Some(b'#'))
            .from_reader(body);
        Self { body, reader, row: csv::ByteRecord::new(), start: 0 }
    }

    /// Goes to the next row; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, Fault> {
        loop {
            self.start = usize::try_from(self.reader.position().byte()).unwrap_or(usize::MAX);
            match self.reader.read_byte_record(&mut self.row) {
                Ok(false) => return Ok(false),
                Ok(true) if self.is_nothing() => {}
                Ok(true) => return Ok(true),
                Err(error) => return Err(Fault::Csv { line: self.line(), problem: error.to_string() }),
            }
        }
    }

    fn is_nothing(&self) -> bool {
        let first = self.octets(0).unwrap_or_default();
        first.starts_with(b"#") || first.starts_with(b";") || (first.is_empty() && self.row.len() == 1)
    }

    /// Number of fields of the row.
    pub(super) fn len(&self) -> usize {
        self.row.len()
    }

    /// The fields of the row without blanks around them.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.row.iter().map(<[u8]>::trim_ascii)
    }

    /// A field of the row without blanks around it.
    pub(super) fn octets(&self, column: usize) -> Option<&[u8]> {
        self.row.get(column).map(<[u8]>::trim_ascii)
    }

    /// A field of the row as text, without blanks around it.
    pub(super) fn field(&self, column: usize) -> Result<Option<&str>, Fault> {
        let Some(field) = self.octets(column) else { return Ok(None) };
        std::str::from_utf8(field).map(Some).map_err(|_| Fault::NotUtf8 { line: self.line() })
    }

    /// Whether the row is the last one and has no line end: where it makes no sense, the file has been cut there.
    pub(super) fn is_unterminated(&self) -> bool {
        self.reader.position().byte() >= self.body.len() as u64 && !self.body.ends_with(b"\n")
    }

    /// The byte at which the reader began to look for the row: what [`Rows::line_at`] takes.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The row's line, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line_at(self.start)
    }

    /// The line of the row that the reader began to look for at byte `start`.
    ///
    /// The csv crate's own line numbers count from where it began to look, before blank lines and comments, and
    /// are one short with CRLF. Counting anew costs nothing: it is done once, for a message.
    pub(super) fn line_at(&self, start: usize) -> u64 {
        line_of_row(self.body, start)
    }
}

fn line_of_row(body: &[u8], start: usize) -> u64 {
    let mut begin = start.min(body.len());
    while let Some(rest) = body.get(begin..).filter(|rest| !rest.is_empty()) {
        match rest[0] {
            b'\n' | b'\r' => begin += 1,
            b'#' => begin += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
            _ => break,
        }
    }
    1 + body[..begin].iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// A field as text for a message, cut to a readable length.
pub(super) fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let cut: String = text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_through_blanks_comments_and_crlf() {
        for text in
            ["a,b\r\n1,2\r\n\r\n# c\r\n3,4\r\n5,6", "a,b\n1,2\n\n# c\n3,4\n5,6\n", "a,b\r1,2\r\r# c\r3,4\r5,6\r"]
        {
            let body = body(text.as_bytes());
            let mut rows = Rows::new(&body, b',');
            let mut lines = Vec::new();
            while rows.advance().unwrap() {
                lines.push(rows.line());
            }
            assert_eq!(lines, [1, 2, 5, 6], "{text:?}");
        }
    }

    #[test]
    fn text_is_told_from_other_bytes() {
        assert_eq!(check(b"\xff\xfea\0"), Err(Fault::Utf16));
        assert_eq!(check(b"\x7fELF\0"), Err(Fault::Unknown { magic: "7F 45 4C 46".into() }));
        assert!(check("a\u{b5}".repeat(2_000).as_bytes()).is_ok());
        assert_eq!(first_line(b"\xef\xbb\xbf\r\n# x\r\n  time_ns \r\n1"), b"time_ns");
    }
}
