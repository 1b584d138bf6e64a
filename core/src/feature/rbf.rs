//! Radial basis functions of the mean column height (the value function of CBMPI), in fixed point.
//!
//! Feature i of 0..=4 is `exp(-(c - i H/4)^2 / (2 (H/5)^2))` where c is the mean column height and H the height of the
//! well. With the sum s = 10 c of the heights the exponent is -z^2 / 2 with `z = |2 s - 5 i H| / (4 H)`, an exact
//! fraction. It is rounded to the nearest 1/32 (halves up) and looked up; the table holds the value times 256, rounded
//! to nearest. The result is off by at most 0.5/256 + 0.61/64, the half step of z times the steepest slope.

use crate::well::Well;

/// Steps of z in the table for 1.
const STEPS: usize = 32;
/// z is at most 2 s / (4 H) = 5 where every column is full; a losing piece adds less than one more.
const ENTRIES: usize = 6 * STEPS + 1;

const BELL: [u16; ENTRIES] = {
    let mut table = [0; ENTRIES];
    let mut i = 0;
    while i < ENTRIES {
        let z = i as f64 / STEPS as f64;
        table[i] = (256.0 * exp_minus(z * z / 2.0) + 0.5) as u16;
        i += 1;
    }
    table
};

/// exp(-x) for x >= 0, by halving x until the series converges at once, then squaring back.
const fn exp_minus(x: f64) -> f64 {
    let mut small = x;
    let mut halvings = 0;
    while small > 0.125 {
        small /= 2.0;
        halvings += 1;
    }
    let (mut term, mut sum, mut n) = (1.0, 1.0, 1.0);
    while n < 16.0 {
        term *= -small / n;
        sum += term;
        n += 1.0;
    }
    while halvings > 0 {
        sum *= sum;
        halvings -= 1;
    }
    sum
}

pub(crate) fn rbf_height<const I: u32>(well: &Well) -> i32 {
    let height = well.height() as u32;
    let sum: u32 = well.heights().iter().map(|&h| u32::from(h)).sum();
    let numerator = (2 * sum).abs_diff(5 * I * height);
    let rounded = (numerator * STEPS as u32 + 2 * height) / (4 * height);
    i32::from(BELL[(rounded as usize).min(ENTRIES - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_bell_curve() {
        for (i, &value) in BELL.iter().enumerate() {
            let z = i as f64 / STEPS as f64;
            assert_eq!(value, (256.0 * std::primitive::f64::exp(-z * z / 2.0)).round() as u16, "{z}");
        }
    }
}
