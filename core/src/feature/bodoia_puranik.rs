//! The one feature that only Bodoia and Puranik (2013) have; the rest of theirs are other papers' under other names.

use crate::well::Well;

pub(crate) fn max_difference(well: &Well) -> i32 {
    well.heights().windows(2).map(|pair| i32::from(pair[0].abs_diff(pair[1]))).fold(0, i32::max)
}
