//! Numbers as a person reads them.

use std::fmt::Write;
use std::time::Duration;

/// An integer with its thousands apart: `35,012,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of lines: whole where it is large, with decimals where they matter.
pub fn lines(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude >= 1000.0 {
        let sign = if number < 0.0 { "-" } else { "" };
        format!("{sign}{}", grouped(magnitude.round() as u64))
    } else if magnitude >= 100.0 || number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

/// A number with a unit's prefix: `5.93 M`.
pub fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 1e9 => format!("{:.2} G", number / 1e9),
        size if size >= 1e6 => format!("{:.2} M", number / 1e6),
        size if size >= 1e3 => format!("{:.1} k", number / 1e3),
        _ => format!("{number:.0}"),
    }
}

/// A time, to the second where it is long: `2 h 03 min`, `4 min 05 s`, `17.2 s`.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    let mut text = String::new();
    let written = match seconds {
        3600.. => write!(text, "{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        60.. => write!(text, "{} min {:02} s", seconds / 60, seconds % 60),
        _ => write!(text, "{:.1} s", time.as_secs_f64()),
    };
    debug_assert!(written.is_ok(), "a String takes everything");
    text
}

/// The nearest of the known names, if one is near enough to be what was meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), known);
    let (distance, nearest) = known.into_iter().map(|known| (distance(known), known)).min()?;
    (distance <= 1 + nearest.len() / 4).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 3.5, 412.4, 3831.4, -1234.0].map(lines), ["0", "3.50", "412", "3,831", "-1,234"]);
        assert_eq!([12.0, 1500.0, 5.93e6, 2e9].map(short), ["12", "1.5 k", "5.93 M", "2.00 G"]);
        let times = [0.25, 75.0, 7384.0].map(|seconds| time(Duration::from_secs_f64(seconds)));
        assert_eq!(times, ["0.2 s", "1 min 15 s", "2 h 03 min"]);
    }

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["bcts", "dellacherie", "dt10"];
        assert_eq!(nearest("bctss", known), Some("bcts"));
        assert_eq!(nearest("Dellacheri", known), Some("dellacherie"));
        assert_eq!(nearest("random", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
