//! The features of the CS3243 hybrid (Nguyen et al. 2018).

use super::Outcome;
use super::dellacherie::{column_transitions, wells_within};
use crate::well::Well;

pub(crate) fn landing_bottom(outcome: &Outcome) -> i32 {
    i32::from(outcome.landing.row)
}

pub(crate) fn landing_top(outcome: &Outcome) -> i32 {
    landing_bottom(outcome) + outcome.shape.height as i32
}

pub(crate) fn lines_cleared(outcome: &Outcome) -> i32 {
    i32::from(outcome.landing.lines)
}

pub(crate) fn outer_wells(well: &Well) -> i32 {
    let below_top = |x: usize| (1 << well.heights()[x]) - 1;
    wells_within(well, |x| !below_top(x))
}

pub(crate) fn inner_wells(well: &Well) -> i32 {
    let below_top = |x: usize| (1 << well.heights()[x]) - 1;
    wells_within(well, below_top)
}

pub(crate) fn column_transitions_below_brim(well: &Well) -> i32 {
    let height = well.height();
    let brimful = well.heights().iter().filter(|&&h| usize::from(h) == height).count();
    column_transitions(well) - brimful as i32
}
