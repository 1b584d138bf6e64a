//! A line of text in fixed memory, numbers as a person reads them, and paragraphs broken into lines.

/// The longest line: 240 pixels of the narrowest font that the large screen uses for whole lines.
const CAPACITY: usize = 48;

/// What a line that was cut off ends with.
const CUT: &[u8] = b"..";

/// A line of printable ASCII. What does not fit is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    bytes: [u8; CAPACITY],
    len: u8,
}

impl Text {
    pub(super) const fn new() -> Text {
        Text { bytes: [0; CAPACITY], len: 0 }
    }

    /// A line with this in it; other characters than printable ASCII become `?`.
    pub(super) fn of(text: &str) -> Text {
        Text::new().and(text)
    }

    pub(super) fn and(mut self, text: &str) -> Text {
        for character in text.chars() {
            self.push(if matches!(character, ' '..='~') { character as u8 } else { b'?' });
        }
        self
    }

    /// Every digit: `1234567`.
    pub(super) fn and_number(mut self, number: u64) -> Text {
        for &digit in Digits::of(number).shown() {
            self.push(digit);
        }
        self
    }

    /// With its thousands apart where that has room, in full where that has room, or short: `1,234,567`, `12.3M`.
    pub(super) fn and_count(mut self, number: u64, room: usize) -> Text {
        let digits = Digits::of(number);
        let digits = digits.shown();
        if digits.len() > room {
            return self.and_short(number);
        }
        let is_grouped = digits.len() + (digits.len() - 1) / 3 <= room;
        for (left, &digit) in (0..digits.len()).rev().zip(digits) {
            self.push(digit);
            if is_grouped && left > 0 && left % 3 == 0 {
                self.push(b',');
            }
        }
        self
    }

    /// Three digits and a unit's prefix, rounded down, at most five characters: `999`, `1.23k`, `12.3M`, `18.4E`.
    pub(super) fn and_short(mut self, number: u64) -> Text {
        let (mut whole, mut thousandths) = (number, 0);
        let mut prefixes = b"kMGTPE".iter();
        let mut prefix = None;
        while whole >= 1000 {
            thousandths = whole % 1000;
            whole /= 1000;
            prefix = prefixes.next();
        }
        self = self.and_number(whole);
        if let Some(&prefix) = prefix {
            if whole < 100 {
                self.push(b'.');
                self.push(b'0' + (thousandths / 100) as u8);
            }
            if whole < 10 {
                self.push(b'0' + (thousandths / 10 % 10) as u8);
            }
            self.push(prefix);
        }
        self
    }

    /// A number of tenths, at most five characters: `0.0`, `99.9`, `100`, `9.87k`.
    pub(super) fn and_tenths(self, tenths: u64) -> Text {
        if tenths >= 1000 {
            return self.and_short(tenths / 10);
        }
        self.and_number(tenths / 10).and(".").and_number(tenths % 10)
    }

    /// With spaces for underscores.
    pub(super) fn spaced(mut self) -> Text {
        for byte in &mut self.bytes {
            if *byte == b'_' {
                *byte = b' ';
            }
        }
        self
    }

    /// The text cut to so many characters.
    pub(super) fn cut(mut self, room: usize) -> Text {
        if usize::from(self.len) > room {
            self.len = room as u8;
            let end = room.saturating_sub(CUT.len());
            if end > 0 {
                self.bytes[end..room].copy_from_slice(CUT);
            }
        }
        self
    }

    fn push(&mut self, byte: u8) {
        if let Some(free) = self.bytes.get_mut(usize::from(self.len)) {
            *free = byte;
            self.len += 1;
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.split_at(usize::from(self.len)).0
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }
}

/// The digits of a number.
struct Digits {
    bytes: [u8; Digits::MOST],
    first: usize,
}

impl Digits {
    /// Of the largest number.
    const MOST: usize = 20;

    fn of(number: u64) -> Digits {
        let mut digits = Digits { bytes: [b'0'; Digits::MOST], first: Digits::MOST };
        let mut large = number;
        // Dividing 64 bits is slow on a small chip; a counter rarely needs them.
        while large > u64::from(u32::MAX) {
            digits.push((large % 10) as u8);
            large /= 10;
        }
        let mut rest = large as u32;
        loop {
            digits.push((rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                return digits;
            }
        }
    }

    fn push(&mut self, digit: u8) {
        self.first = self.first.saturating_sub(1);
        self.bytes[self.first] = b'0' + digit;
    }

    fn shown(&self) -> &[u8] {
        self.bytes.split_at(self.first).1
    }
}

/// Breaks a paragraph into lines of at most `width` characters: between words or after a
/// slash where possible, at line breaks always.
/// Spaces around a break are dropped; an empty paragraph has no lines.
pub(super) struct Lines<'a> {
    rest: &'a str,
    width: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn of(paragraph: &'a str, width: usize) -> Lines<'a> {
        Lines { rest: paragraph.trim(), width }
    }

    /// Whether there is no further line.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty() || self.width == 0
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.is_empty() {
            return None;
        }
        let mut at_word = None;
        let mut end = self.rest.len();
        for (i, (byte, character)) in self.rest.char_indices().enumerate() {
            if character == '\n' {
                end = byte;
                break;
            }
            if character == ' ' {
                at_word = Some(byte);
            }
            if i == self.width {
                end = at_word.unwrap_or(byte);
                break;
            }
            if character == '/' {
                at_word = Some(byte + 1);
            }
        }
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        Some(line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString};
    use std::vec::Vec;

    use super::*;

    fn read(text: Text) -> String {
        core::str::from_utf8(text.bytes()).unwrap().to_string()
    }

    #[test]
    fn numbers_read_well() {
        let counts = [
            (0, 5, "0"),
            (999, 3, "999"),
            (1234, 5, "1,234"),
            (1234, 4, "1234"),
            (1234, 3, "1.23k"),
            (1_234_567, 9, "1,234,567"),
            (1_234_567, 8, "1234567"),
            (1_234_567, 6, "1.23M"),
            (12_399_999, 5, "12.3M"),
            (999_999_999, 5, "999M"),
            (1_000_000_000, 5, "1.00G"),
            (u32::MAX.into(), 10, "4294967295"),
            (u64::from(u32::MAX) + 1, 10, "4294967296"),
            (u64::MAX, 5, "18.4E"),
            (u64::MAX, 20, "18446744073709551615"),
            (u64::MAX, 26, "18,446,744,073,709,551,615"),
        ];
        for (number, room, text) in counts {
            assert_eq!(read(Text::new().and_count(number, room)), text);
        }
        for (tenths, text) in [(0, "0.0"), (15, "1.5"), (999, "99.9"), (1000, "100"), (98_765, "9.87k")] {
            assert_eq!(read(Text::new().and_tenths(tenths)), text);
        }
    }

    #[test]
    fn short_numbers_have_at_most_five_characters() {
        for place in 0..20 {
            for number in [10u64.pow(place) - 1, 10u64.pow(place), 10u64.pow(place) + 1] {
                assert!(Text::new().and_short(number).len() <= 5, "{number}");
            }
        }
    }

    #[test]
    fn text_is_printable_and_never_too_long() {
        assert_eq!(read(Text::of("d\u{e9}j\u{e0}\tvu\0")), "d?j??vu?");
        assert_eq!(Text::of(&"x".repeat(100)).len(), CAPACITY);
        assert_eq!(read(Text::of("dellacherie").cut(11)), "dellacherie");
        assert_eq!(read(Text::of("dellacherie").cut(8)), "dellac..");
        let cut = [0, 1, 2, 3].map(|room| read(Text::of("dellacherie").cut(room)));
        assert_eq!(cut, ["", "d", "de", "d.."]);
    }

    #[test]
    fn paragraphs_break_between_words() {
        let lines = |text, width| Lines::of(text, width).collect::<Vec<_>>();
        assert_eq!(
            lines("Plug in USB, then: host device info", 12),
            ["Plug in USB,", "then: host", "device info"]
        );
        assert_eq!(lines("  index out of bounds\nat  core", 10), ["index out", "of bounds", "at  core"]);
        assert_eq!(lines("core/src/well.rs:123", 8), ["core/", "src/", "well.rs:", "123"]);
        assert_eq!(lines("\u{e9}\u{e9}\u{e9}", 2), ["\u{e9}\u{e9}", "\u{e9}"]);
        assert_eq!(lines(" \n ", 5), [""; 0]);
        assert_eq!(lines("abc", 0), [""; 0]);
    }
}
