//! Numbers as people read them, and how much room words take.

/// Width of a character in widths of the font size. No font is at hand, so these are DejaVu Sans's, the widest of the
/// usual sans-serif fonts.
fn advance(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '\'' => 0.28,
        ' ' | ',' | '.' | '/' | ':' | ';' | '|' | 'I' => 0.34,
        'f' | 't' | 'r' | '-' | '(' | ')' | '[' | ']' => 0.4,
        '0'..='9' | 'a'..='l' | 'n'..='v' | 'x'..='z' => 0.64,
        'w' | '+' | '−' | '=' | '<' | '>' => 0.84,
        'm' | 'M' | 'W' | '%' | '@' | '…' => 1.0,
        // East Asian scripts begin here.
        '\u{2E80}'.. => 1.1,
        _ => 0.78,
    }
}

/// A number with `decimals` digits after the point and commas between groups of three: `99,968.0`.
///
/// What is not a number is a dash, never a zero.
pub fn grouped(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let digits = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let sign = if value < 0.0 && digits.bytes().any(|b| (b'1'..=b'9').contains(&b)) { "−" } else { "" };
    format!("{sign}{}{fraction}", in_threes(whole))
}

/// The same for a count.
pub(super) fn count(value: u64) -> String {
    in_threes(&value.to_string())
}

/// A count of frames, with its noun.
pub(super) fn frames(value: u64) -> String {
    format!("{} {}", count(value), if value == 1 { "frame" } else { "frames" })
}

fn in_threes(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with as few decimals as say it, at most three (a picosecond, where the unit is the nanosecond).
pub(super) fn short(value: f64) -> String {
    grouped(value, decimals_of(value))
}

/// How many decimals, at most three, say `value` to a thousandth.
pub(super) fn decimals_of(value: f64) -> usize {
    let rest = |decimals: i32| (value * 10_f64.powi(decimals) - (value * 10_f64.powi(decimals)).round()).abs();
    // Beyond 2^40 the spacing of the numbers themselves leaves no thousandths to show.
    if !value.is_finite() || value.abs() > 1e12 {
        return 0;
    }
    (0..3).find(|decimals| rest(*decimals) < 10_f64.powi(*decimals - 3) / 2.0).unwrap_or(3) as usize
}

/// Room that `text` takes at a font size, in the same unit.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// `text` in lines of at most `room` at a font size; words too long for a line are cut.
pub(super) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| pieces(word, size, room)) {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(&word, size) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn pieces(word: &str, size: f64, room: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0.0;
    for character in word.chars() {
        used += advance(character) * size;
        if used > room {
            used = advance(character) * size;
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

/// `text` with its middle left out where it has more than `most` characters; names and paths differ at their ends.
pub(super) fn elide(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 2, most.saturating_sub(most / 2 + 1));
    let start: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_in_threes() {
        assert_eq!(grouped(99_968.0, 0), "99,968");
        assert_eq!(grouped(-1_234_567.891, 2), "−1,234,567.89");
        assert_eq!(grouped(999.96, 1), "1,000.0");
        assert_eq!(grouped(-0.000_1, 2), "0.00");
        assert_eq!(grouped(f64::NAN, 2), "–");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!((frames(1), frames(1_000)), ("1 frame".to_owned(), "1,000 frames".to_owned()));
    }

    #[test]
    fn decimals_are_as_few_as_say_it() {
        assert_eq!(short(100_000.0), "100,000");
        assert_eq!(short(6.4), "6.4");
        assert_eq!(short(15_624.0 * 6.4), "99,993.6");
        assert_eq!(short(0.512_4), "0.512");
        assert_eq!(short(1e300).len(), 301 + 100);
    }

    #[test]
    fn lines_break_between_words_and_inside_endless_ones() {
        assert_eq!(wrap("one two three", 10.0, 50.0), ["one two", "three"]);
        assert_eq!(wrap(&"x".repeat(25), 10.0, 64.5), ["x".repeat(10), "x".repeat(10), "x".repeat(5)]);
        assert!(wrap("  ", 10.0, 60.0).is_empty());
        assert_eq!(elide("a-very-long-name.pcapng", 11), "a-ver…capng");
    }
}
