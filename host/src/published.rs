//! What others measured, beside which we put our own figures.
//!
//! Means are lines a game, uniform pieces, losing placements avoided. A paper seldom says whether overflow is tested
//! before or after clearing; the figures with [`Published::check`] were measured with the definitions this program
//! has, overflow tested before clearing, so they can be held against ours.

/// A published mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The player, as [`dropwise_core::player::KNOWN`] names it.
    pub player: &'static str,
    /// Rows of the board.
    pub height: usize,
    /// Mean lines a game.
    pub mean: f64,
    /// Half of its 95 % interval, as a part of the mean, where known.
    pub interval: Option<f64>,
    /// How many games of ours it takes to compare; none where the definitions are not known to be the same.
    pub check: Option<u64>,
    /// Whose figure it is.
    pub source: &'static str,
}

const C_CODE: &str = "measured with the C code of Thiery & Scherrer";
const SAME_DEFINITIONS: &str = "measured elsewhere with the definitions of that code";
const THIERY_SCHERRER: &str = "Thiery & Scherrer 2009";
const GABILLON: &str = "Gabillon, Ghavamzadeh & Scherrer 2013";

const fn checked(
    player: &'static str,
    height: usize,
    mean: f64,
    interval: f64,
    games: u64,
    source: &'static str,
) -> Published {
    Published { player, height, mean, interval: Some(interval), check: Some(games), source }
}

const fn told(
    player: &'static str,
    height: usize,
    mean: f64,
    interval: Option<f64>,
    source: &'static str,
) -> Published {
    Published { player, height, mean, interval, check: None, source }
}

/// All of them. The checked ones stand first, those that take long last.
pub const PUBLISHED: [Published; 13] = [
    checked("dellacherie", 10, 2386.0, 0.06, 10_000, C_CODE),
    checked("bcts", 10, 3831.0, 0.06, 10_000, C_CODE),
    checked("dt10", 10, 5017.0, 0.06, 10_000, C_CODE),
    checked("dt20", 10, 4535.0, 0.06, 10_000, C_CODE),
    checked("bcts", 16, 908_000.0, 0.09, 1_600, SAME_DEFINITIONS),
    told("dellacherie", 20, 5.2e6, Some(0.20), THIERY_SCHERRER),
    told("dellacherie", 16, 220e3, Some(0.20), THIERY_SCHERRER),
    told("bcts", 20, 35e6, Some(0.20), THIERY_SCHERRER),
    told("bcts", 16, 910e3, Some(0.05), THIERY_SCHERRER),
    told("dt10", 20, 29e6, None, GABILLON),
    told("dt20", 20, 51e6, None, GABILLON),
    told("rvce", 10, 5379.0, Some(0.006), "RV-CE 2026, its authors"),
    told("cs3243", 20, 5.69e6, Some(0.19), "Nguyen et al. 2018, 100 games, sd 5.41M"),
];

impl Published {
    /// What is published of a player.
    pub fn of(player: &str) -> impl Iterator<Item = &'static Published> {
        PUBLISHED.iter().filter(move |row| row.player == player)
    }

    /// Half the width of the interval, in lines; nothing where it is not known.
    pub fn half_width(&self) -> f64 {
        self.mean * self.interval.unwrap_or(0.0)
    }

    /// Whether another mean is within the two intervals together.
    ///
    /// ```
    /// let bcts = host::published::PUBLISHED[1];
    /// assert_eq!((bcts.player, bcts.mean, bcts.half_width().round()), ("bcts", 3831.0, 230.0));
    /// assert!(bcts.agrees(3600.0, 5.0));
    /// assert!(!bcts.agrees(3500.0, 5.0));
    /// ```
    pub fn agrees(&self, mean: f64, half_width: f64) -> bool {
        (mean - self.mean).abs() <= half_width + self.half_width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::Player;

    #[test]
    fn published_players_are_known_ones() {
        for row in PUBLISHED {
            assert!(Player::known(row.player).is_some(), "{}", row.player);
            assert!(dropwise_core::Well::new(row.height).is_ok());
        }
    }
}
