//! A row of a table: games to be played, all that determines them, and how they are kept.

use std::fmt::Write;
use std::ops::Range;

use dropwise_core::game::digest;
use dropwise_core::well::WIDTH;
use dropwise_core::{Controller, Options, Overflow, Player, Rules};

use super::record::Hex;
use super::variant::Variant;
use crate::published::Published;

/// A row of the plan, ready to be played.
#[derive(Clone, Debug)]
pub struct Row {
    /// The player's name.
    pub player_name: String,
    /// The player.
    pub player: Player,
    /// The rules.
    pub rules: Rules<'static>,
    /// How the player uses its values.
    pub options: Options,
    /// What is changed in the player.
    pub variant: Option<Variant>,
    /// Games are broken off after this many pieces.
    pub max_pieces: Option<u64>,
    /// Whether pile heights are counted.
    pub heights: bool,
    /// The seed of the games.
    pub seed: u64,
    /// How many games are wanted.
    pub games: u64,
    /// How many games make a record.
    pub batch: u64,
    /// Whether the rows after this one are compared with it.
    pub base: bool,
    /// What was published of such a row; where nothing is said, [`Published`] is asked.
    pub published: Option<String>,
}

impl Row {
    /// The board: `10x16`.
    pub fn board(&self) -> String {
        format!("{WIDTH}x{}", self.rules.height())
    }

    /// What sets it apart from the research game of a one-piece player; nothing, if nothing does.
    pub fn difference(&self) -> String {
        let mut parts = vec![];
        let Options { allow_losing, lookahead, rescue, join, .. } = self.options;
        let pieces = self.rules.pieces;
        if pieces != dropwise_core::PieceSource::Uniform {
            parts.push(format!("pieces {pieces}"));
        }
        if self.rules.overflow == Overflow::After {
            parts.push("overflow tested after clearing".into());
        }
        if allow_losing {
            parts.push("losing placements allowed".into());
        }
        if lookahead > 0 {
            parts.push(format!("{lookahead} next known"));
        }
        if let Some(height) = rescue {
            parts.push(format!("rescue above {height}, joined by {}", join.name()));
        }
        if let Some(variant) = self.variant {
            parts.push(variant.description().into());
        }
        if let Some(pieces) = self.max_pieces {
            parts.push(format!("first {} pieces", crate::figures::grouped(pieces)));
        }
        if self.heights {
            parts.push("heights".into());
        }
        parts.join(", ")
    }

    /// The row's name: `bcts 10x16 rescue above 10, joined by sum`.
    pub fn name(&self) -> String {
        let mut name = format!("{} {}", self.player_name, self.board());
        let difference = self.difference();
        if !difference.is_empty() {
            // A String takes everything.
            let _ = write!(name, ", {difference}");
        }
        name
    }

    /// A digest of all that determines the games and what is counted in them. Not of how many there are: more of them
    /// belong to the same row. Games of `host results` are those of [`Game::apart`](dropwise_core::Game::apart).
    pub fn key(&self) -> Hex {
        let Options { allow_losing, lookahead, rescue, join, engine: _ } = self.options;
        let text = format!(
            "player {:016x} board {} pieces {} overflow {} allow-losing {allow_losing} lookahead {lookahead} rescue \
             {rescue:?} join {} variant {} max-pieces {:?} heights {} seed {} apart",
            self.player.digest(),
            self.board(),
            self.rules.pieces,
            self.rules.overflow,
            rescue.map_or("none", |_| join.name()),
            self.variant.map_or("none", Variant::name),
            self.max_pieces,
            self.heights,
            self.seed,
        );
        Hex(digest(text.bytes().map(u64::from)))
    }

    /// The controller that plays it, where nothing in the player is changed.
    pub fn controller(&self) -> Controller {
        Controller::with_options(self.player, self.options)
    }

    /// The same games without a limit and without counting heights.
    pub fn whole_games(&self) -> Row {
        Row { max_pieces: None, heights: false, ..self.clone() }
    }

    /// What was published of it.
    pub fn published(&self) -> String {
        if let Some(published) = &self.published {
            return published.clone();
        }
        if !self.difference().is_empty() {
            return String::new();
        }
        let rows = Published::of(&self.player_name).filter(|row| row.height == self.rules.height());
        let told = rows.map(|row| {
            let interval = row.interval.map_or(String::new(), |part| format!(" +-{} %", part * 100.0));
            format!("{}{interval} ({})", crate::figures::lines(row.mean), row.source)
        });
        told.collect::<Vec<_>>().join("; ")
    }

    /// The batches it takes to fill what is missing of the wanted games.
    pub fn missing(&self, done: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut batches = vec![];
        let mut next = 0;
        let mut fill = |next: &mut u64, until: u64| {
            while *next < until {
                let end = next.saturating_add(self.batch).min(until);
                batches.push(*next..end);
                *next = end;
            }
        };
        for range in done {
            fill(&mut next, range.start.min(self.games));
            next = next.max(range.end);
        }
        fill(&mut next, self.games);
        batches
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use dropwise_core::Join;

    /// A quick row.
    pub(crate) fn row(player: &str, height: usize, games: u64, batch: u64) -> Row {
        Row {
            player_name: player.into(),
            player: Player::known(player).unwrap(),
            rules: Rules::new(height).unwrap(),
            options: Options::default(),
            variant: None,
            max_pieces: None,
            heights: false,
            seed: 6,
            games,
            batch,
            base: false,
            published: None,
        }
    }

    #[test]
    fn missing_games_come_in_batches_that_never_overlap() {
        let row = row("bcts", 10, 25, 10);
        for (done, missing) in [
            (vec![], vec![(0, 10), (10, 20), (20, 25)]),
            (vec![(0, 10), (20, 25)], vec![(10, 20)]),
            (vec![(3, 5)], vec![(0, 3), (5, 15), (15, 25)]),
            (vec![(0, 25)], vec![]),
            (vec![(0, 10), (10, 40)], vec![]),
            (vec![(0, 20), (30, 40)], vec![(20, 25)]),
        ] {
            let done: Vec<Range<u64>> = done.into_iter().map(|(start, end)| start..end).collect();
            let found: Vec<(u64, u64)> =
                row.missing(&done).iter().map(|games| (games.start, games.end)).collect();
            assert_eq!(found, missing, "{done:?}");
        }
    }

    #[test]
    fn the_key_depends_on_all_that_determines_the_games_and_on_nothing_else() {
        let row = row("bcts", 10, 25, 10);
        let changes: [fn(&mut Row); 12] = [
            |row| row.player = Player::known("dt10").unwrap(),
            |row| row.rules = Rules::new(11).unwrap(),
            |row| row.rules.overflow = Overflow::After,
            |row| row.rules.pieces = dropwise_core::PieceSource::Hard(4),
            |row| row.options.allow_losing = true,
            |row| row.options.lookahead = 1,
            |row| row.options.rescue = Some(7),
            |row| row.options = Options { rescue: Some(7), join: Join::Own, ..Options::default() },
            |row| row.variant = Some(Variant::LastTie),
            |row| row.max_pieces = Some(9),
            |row| row.heights = true,
            |row| row.seed = 7,
        ];
        let mut keys = std::collections::BTreeSet::from([row.key()]);
        for change in changes {
            let mut other = row.clone();
            change(&mut other);
            assert!(keys.insert(other.key()), "{other:?}");
        }
        let mut same = Row { games: 99, batch: 3, base: true, player_name: "another".into(), ..row.clone() };
        same.options.join = Join::Own;
        assert_eq!(same.key(), row.key(), "without rescue nothing is joined");
    }

    #[test]
    fn only_plain_rows_have_a_published_figure() {
        let mut row = row("dt20", 20, 25, 10);
        assert_eq!(row.published(), "51,000,000 (Gabillon, Ghavamzadeh & Scherrer 2013)");
        row.options.allow_losing = true;
        assert_eq!(row.published(), "");
        assert_eq!(row.name(), "dt20 10x20, losing placements allowed");
    }
}
