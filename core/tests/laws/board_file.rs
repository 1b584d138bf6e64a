//! The drawn board of a file in `data/boards`: the lines after `board` up to a blank one.

use dropwise_core::Well;

/// Reads the board of a file.
pub(crate) fn board(text: &str) -> Result<Well, String> {
    let rows = text.lines().skip_while(|line| *line != "board").skip(1).take_while(|line| !line.is_empty());
    Well::from_rows(rows).map_err(|error| error.to_string())
}
