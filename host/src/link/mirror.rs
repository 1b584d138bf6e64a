//! A device's game on the laptop: followed by what the device tells, and replayed to see whether it plays as told.
//!
//! Two games run side by side. The one that is shown follows the device's moves. The other, the twin, is played by
//! this laptop from the same seed with the same weights; as long as it is in step, each move of the device must be the
//! one that the laptop would have made. A game that somebody else played a part of has no twin.

use dropwise_core::game::{Move, digest_word};
use dropwise_core::well::{MAX_ROWS, WIDTH};
use dropwise_core::wire::{Board, GameRules};
use dropwise_core::{Controller, Game, Piece, Placement, Player, Rules, Well};

use crate::stack;
use crate::terminal::Cell;

/// Where a game is joined that has more pieces, the laptop does not replay it: it would take too long.
const MAX_REPLAY: u64 = 50_000_000;

/// Whether the device plays as this laptop does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Every move is the one that this laptop made, from the first piece on.
    Same,
    /// This laptop cannot say.
    Unknown(&'static str),
    /// It does not.
    Different(String),
}

impl Check {
    /// In a word or two.
    pub fn describe(&self) -> String {
        match self {
            Check::Same => "same moves as this laptop".into(),
            Check::Unknown(why) => format!("not compared: {why}"),
            Check::Different(what) => format!("DIFFERS from this laptop: {what}"),
        }
    }

    /// True or false where it can be said.
    pub fn verdict(&self) -> Option<bool> {
        match self {
            Check::Same => Some(true),
            Check::Unknown(_) => None,
            Check::Different(_) => Some(false),
        }
    }
}

/// A move of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What it did.
    pub step: Move,
    /// How many pieces the game has with it.
    pub number: u64,
    /// How many lines.
    pub lines: u64,
    /// The digest over all moves.
    pub digest: u64,
    /// The highest column.
    pub height: usize,
}

/// A device's game.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// Who plays.
    pub player: String,
    /// The game's seed.
    pub seed: u64,
    /// Its rules.
    pub rules: Rules<'static>,
    /// Pieces placed.
    pub pieces: u64,
    /// Lines cleared.
    pub lines: u64,
    /// The digest over the moves.
    pub digest: u64,
    well: Well,
    lost: bool,
    /// Whether moves are missing; the device must tell the board again.
    astray: bool,
    /// What lies in each cell.
    cells: [[Cell; WIDTH]; MAX_ROWS],
    twin: Option<Game<'static>>,
    controller: Option<Controller>,
    check: Check,
}

impl Mirror {
    /// A game as the device tells it, and who plays it as far as that is known. None if there can be no such game.
    pub fn new(board: &Board<'_>, player: Option<Player>) -> Option<Mirror> {
        let rules = board.rules.rules().ok()?;
        let well = Well::from_columns(rules.height(), board.columns).ok()?;
        let mut mirror = Mirror {
            player: board.player.into(),
            seed: board.seed,
            rules,
            pieces: board.pieces,
            lines: board.lines,
            digest: board.digest,
            well,
            lost: false,
            astray: false,
            cells: [[Cell::Empty; WIDTH]; MAX_ROWS],
            twin: None,
            controller: player.map(|player| Controller::on_device(player, rules.height())),
            check: Check::Unknown("the player is not known here"),
        };
        mirror.show(&well);
        if board.pieces > MAX_REPLAY {
            mirror.check = Check::Unknown("the game is too long to replay");
        } else if let Some(controller) = mirror.controller {
            mirror.twin = Some(Game::new(rules, board.seed, 0));
            mirror.catch_up(&controller);
            if board.pieces > 0 && mirror.check != Check::Same {
                // Nobody saw how it came to this.
                mirror.twin = None;
                mirror.check = Check::Unknown("this player did not play the game from its start");
            }
        }
        Some(mirror)
    }

    /// The game as the device tells it anew: another player, another game, or moves that were not told.
    pub fn follow(self, board: &Board<'_>, player: Option<Player>) -> Option<Mirror> {
        let goes_on = GameRules::of(&self.rules) == Some(board.rules)
            && self.seed == board.seed
            && self.pieces <= board.pieces
            && board.pieces - self.pieces <= MAX_REPLAY
            && board.pieces > 0;
        let (Some(controller), Some(_), true) = (self.controller, &self.twin, goes_on) else {
            return Mirror::new(board, player);
        };
        let well = Well::from_columns(self.rules.height(), board.columns).ok()?;
        let mut mirror = Mirror { astray: false, ..self };
        (mirror.pieces, mirror.lines, mirror.digest) = (board.pieces, board.lines, board.digest);
        mirror.catch_up(&controller);
        if mirror.well != well {
            mirror.show(&well);
        }
        mirror.player = board.player.into();
        mirror.controller = player.map(|player| Controller::on_device(player, mirror.rules.height()));
        if mirror.controller.is_none() && mirror.check == Check::Same {
            mirror.twin = None;
            mirror.check = Check::Unknown("the player is not known here");
        }
        Some(mirror)
    }

    /// Takes in moves of which the first follows so many pieces; what was taken in before is passed over. Goes
    /// [astray](Mirror::is_astray) at what is no move of this game.
    pub fn take(&mut self, before: u64, codes: &[u8]) -> Vec<Seen> {
        let (codes, _) = codes.as_chunks::<2>();
        let mut seen = vec![];
        for (number, &code) in (before..).zip(codes) {
            if number < self.pieces {
                continue;
            }
            let code = u16::from_le_bytes(code);
            let fits = number == self.pieces && !self.lost && !self.astray;
            let Some((piece, placement)) = Move::decode(code).filter(|_| fits) else {
                self.astray = true;
                break;
            };
            seen.push(self.place(piece, placement, code));
        }
        seen
    }

    /// Whether moves are missing, so that the device must tell the board again.
    pub fn is_astray(&self) -> bool {
        self.astray
    }

    fn place(&mut self, piece: Piece, placement: Placement, code: u16) -> Seen {
        let landing = self.well.drop(piece, placement, self.rules.overflow);
        let step = Move { piece, placement, landing };
        self.pieces += 1;
        self.digest = digest_word(self.digest, code.into());
        self.lost = landing.loses;
        if !landing.loses {
            self.lines += u64::from(landing.lines);
        }
        self.draw(&step);
        if let (Some(twin), Some(controller)) = (&mut self.twin, &self.controller) {
            let own = twin.step(controller);
            if own != Some(step) {
                let own = own.map_or("lost".into(), |own| told(own.piece, own.placement));
                self.check = Check::Different(format!(
                    "piece {} of seed {} was {}, here {own}",
                    self.pieces,
                    self.seed,
                    told(piece, placement)
                ));
                self.twin = None;
            }
        }
        Seen {
            step,
            number: self.pieces,
            lines: self.lines,
            digest: self.digest,
            height: self.well.max_height(),
        }
    }

    /// What the device tells at the end of a game must be what was seen of it.
    pub fn end(&mut self, seed: u64, pieces: u64, lines: u64, digest: u64) {
        if seed != self.seed || pieces < self.pieces {
            self.astray = true;
            return;
        }
        let told = (pieces, lines, digest);
        if pieces == self.pieces && told != (self.pieces, self.lines, self.digest) {
            self.check = Check::Different(format!(
                "the device ends with {lines} lines and digest {digest:016x}, its moves give {} lines and digest \
                 {:016x}",
                self.lines, self.digest
            ));
            self.twin = None;
        }
        (self.pieces, self.lines, self.digest) = told;
        if let (Some(controller), Some(_)) = (self.controller, &self.twin) {
            self.catch_up(&controller);
        }
    }

    /// Who plays, as far as that is known.
    pub fn player(&self) -> Option<Player> {
        self.controller.map(|controller| *controller.player())
    }

    /// The rules, as they are sent.
    pub fn wire_rules(&self) -> GameRules {
        // They were sent, so they can be.
        GameRules::of(&self.rules).unwrap_or_default()
    }

    /// Whether the device plays as this laptop does.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// What lies in a cell.
    pub(crate) fn cell(&self, column: usize, row: usize) -> Cell {
        self.cells.get(row).and_then(|cells| cells.get(column)).copied().unwrap_or(Cell::Empty)
    }

    /// The highest column.
    pub fn height(&self) -> usize {
        self.well.max_height()
    }

    /// Lets the twin play what the device has played, and compares.
    fn catch_up(&mut self, controller: &Controller) {
        let Some(twin) = &mut self.twin else { return };
        twin.play(controller, self.pieces);
        let own = (twin.pieces(), twin.lines(), twin.digest());
        if own == (self.pieces, self.lines, self.digest) {
            self.check = Check::Same;
        } else {
            self.check = Check::Different(format!(
                "after {} pieces of seed {} it has {} lines and digest {:016x}, here {} pieces, {} lines and digest \
                 {:016x}",
                self.pieces, self.seed, self.lines, self.digest, own.0, own.1, own.2
            ));
            self.twin = None;
        }
    }

    /// Shows a board of which nobody knows how it came about.
    fn show(&mut self, well: &Well) {
        self.well = *well;
        for (y, row) in self.cells.iter_mut().enumerate() {
            for (x, cell) in row.iter_mut().enumerate() {
                *cell = if well.is_full(x, y) { Cell::Unknown } else { Cell::Empty };
            }
        }
    }

    /// Shows a move.
    fn draw(&mut self, step: &Move) {
        for cell in self.cells.iter_mut().flatten() {
            if let Cell::Last(piece) = *cell {
                *cell = Cell::Lying(piece);
            }
        }
        for (x, y) in stack::cells(step.piece, step.placement, usize::from(step.landing.row)) {
            self.cells[y][x] = Cell::Last(step.piece);
        }
        if step.landing.lines > 0 {
            let mut left = self.cells.iter().filter(|row| row.contains(&Cell::Empty)).copied();
            self.cells = std::array::from_fn(|_| left.next().unwrap_or([Cell::Empty; WIDTH]));
        }
    }
}

fn told(piece: Piece, placement: Placement) -> String {
    format!("{piece} in orientation {} at column {}", placement.orientation, placement.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Player {
        Player::known(name).unwrap()
    }

    /// What a device says of its game.
    fn board<'a>(game: &Game<'_>, player: &'a str, seed: u64) -> Board<'a> {
        Board {
            player,
            seed,
            rules: GameRules::of(game.rules()).unwrap(),
            pieces: game.pieces(),
            lines: game.lines(),
            digest: game.digest(),
            columns: *game.well().columns(),
        }
    }

    /// Plays so many pieces: their codes.
    fn play(game: &mut Game<'_>, player: Player, pieces: usize) -> Vec<u8> {
        let controller = Controller::on_device(player, game.rules().height());
        let steps = std::iter::from_fn(|| game.step(&controller)).take(pieces);
        steps.flat_map(|step| step.code().to_le_bytes()).collect()
    }

    fn game(seed: u64) -> Game<'static> {
        Game::new(Rules::new(8).unwrap(), seed, 0)
    }

    #[track_caller]
    fn mirrors(mirror: &Mirror, game: &Game<'_>) {
        assert_eq!(
            (mirror.pieces, mirror.lines, mirror.digest),
            (game.pieces(), game.lines(), game.digest())
        );
        for (x, y) in (0..WIDTH).flat_map(|x| (0..MAX_ROWS).map(move |y| (x, y))) {
            assert_eq!(mirror.cell(x, y) != Cell::Empty, game.well().is_full(x, y), "{x} {y}");
        }
    }

    #[test]
    fn a_game_is_followed_to_its_end() {
        for seed in 0..5 {
            let mut game = game(seed);
            let mut mirror = Mirror::new(&board(&game, "bcts", seed), Some(known("bcts"))).unwrap();
            while !game.is_over() {
                let before = game.pieces();
                let codes = play(&mut game, known("bcts"), 7);
                // Frames that come twice do no harm.
                let seen = mirror.take(before, &codes);
                assert_eq!((seen.len(), mirror.take(before, &codes)), (codes.len() / 2, vec![]));
                mirrors(&mirror, &game);
            }
            mirror.end(seed, game.pieces(), game.lines(), game.digest());
            assert_eq!((mirror.check(), mirror.is_astray()), (&Check::Same, false));
            mirror.end(seed, game.pieces(), game.lines(), game.digest() ^ 1);
            assert_eq!(mirror.check().verdict(), Some(false));
        }
    }

    #[test]
    fn a_game_is_joined_and_one_that_another_began_is_not_judged() {
        let mut game = game(3);
        play(&mut game, known("bcts"), 20);
        let joined = Mirror::new(&board(&game, "bcts", 3), Some(known("bcts"))).unwrap();
        assert_eq!(joined.check(), &Check::Same);
        mirrors(&joined, &game);
        for player in [Some(known("dt20")), None] {
            let mut other = Mirror::new(&board(&game, "x", 3), player).unwrap();
            assert_eq!(other.check().verdict(), None);
            let mut game = game.clone();
            let codes = play(&mut game, known("bcts"), 5);
            assert_eq!(other.take(20, &codes).len(), 5);
            mirrors(&other, &game);
            assert_eq!(other.check().verdict(), None);
        }
    }

    #[test]
    fn a_wrong_move_is_found_at_its_piece() {
        let mut game = game(3);
        let mut mirror = Mirror::new(&board(&game, "bcts", 3), Some(known("bcts"))).unwrap();
        let mut codes = play(&mut game, known("bcts"), 4);
        let (piece, placement) = Move::decode(u16::from_le_bytes([codes[4], codes[5]])).unwrap();
        let elsewhere = Placement { column: if placement.column == 0 { 1 } else { 0 }, ..placement };
        let landing = game.well().to_owned().drop(piece, elsewhere, game.rules().overflow);
        codes[4..6].copy_from_slice(&Move { piece, placement: elsewhere, landing }.code().to_le_bytes());
        mirror.take(0, &codes);
        let Check::Different(what) = mirror.check() else { panic!("{:?}", mirror.check()) };
        assert!(what.starts_with("piece 3 of seed 3 was "), "{what}");
    }

    #[test]
    fn moves_that_are_missing_lead_astray_until_the_board_is_told() {
        let mut game = game(9);
        let mut mirror = Mirror::new(&board(&game, "bcts", 9), Some(known("bcts"))).unwrap();
        mirror.take(0, &play(&mut game, known("bcts"), 5));
        play(&mut game, known("bcts"), 1);
        let later = play(&mut game, known("bcts"), 5);
        assert_eq!(mirror.take(6, &later), []);
        assert!(mirror.is_astray());
        let mut mirror = mirror.follow(&board(&game, "bcts", 9), Some(known("bcts"))).unwrap();
        assert_eq!((mirror.is_astray(), mirror.check()), (false, &Check::Same));
        mirrors(&mirror, &game);
        // What is no move at all, and half a code.
        assert_eq!(mirror.take(mirror.pieces, &[0xff, 0xff, 1]), []);
        assert!(mirror.is_astray());
    }

    #[test]
    fn another_player_takes_over_and_is_held_to_its_own_moves() {
        let mut game = game(4);
        let mut mirror = Mirror::new(&board(&game, "bcts", 4), Some(known("bcts"))).unwrap();
        mirror.take(0, &play(&mut game, known("bcts"), 12));
        let mut mirror = mirror.follow(&board(&game, "dt20", 4), Some(known("dt20"))).unwrap();
        mirror.take(12, &play(&mut game, known("dt20"), 12));
        assert_eq!((mirror.player.as_str(), mirror.check()), ("dt20", &Check::Same));
        mirrors(&mirror, &game);
    }

    #[test]
    fn a_board_that_cannot_be_is_no_game() {
        let game = game(1);
        let good = board(&game, "bcts", 1);
        assert!(Mirror::new(&Board { columns: [1; WIDTH], ..good }, None).is_none(), "a full row");
        assert!(Mirror::new(&Board { columns: [1 << 9; WIDTH], ..good }, None).is_none(), "above the brim");
        let rules = GameRules { height: 3, ..good.rules };
        assert!(Mirror::new(&Board { rules, ..good }, None).is_none(), "no such well");
    }
}
