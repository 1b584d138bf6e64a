//! The pieces that lie in the well, for those who draw it in colour: which piece each cell came from.

use crate::game::Move;
use crate::piece::Piece;
use crate::well::{MAX_ROWS, WIDTH};

/// Bits of a cell: 0 if it is empty, or one more than the piece's number.
const BITS: usize = 3;
const CELL: u32 = (1 << BITS) - 1;

const _: () = assert!(Piece::NUM < 1 << BITS && BITS * WIDTH <= 32);

/// Follows a game and remembers which piece each cell of its well came from. It is small, and following a move takes
/// but a few instructions, so that a device can do it at full speed.
///
/// ```
/// use dropwise_core::stack::Stack;
/// use dropwise_core::{Game, Piece, Placement, PieceSource, Rules};
///
/// let mut rules = Rules::default();
/// rules.pieces = PieceSource::List(&[Piece::O]);
/// let (mut game, mut stack) = (Game::new(rules, 1, 0), Stack::new());
/// stack.follow(&game.place(Placement { orientation: 0, column: 4 }).unwrap());
/// assert_eq!((stack.get(4, 0), stack.get(6, 0)), (Some(Piece::O), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    rows: [u32; MAX_ROWS],
}

impl Default for Stack {
    fn default() -> Stack {
        Stack::new()
    }
}

impl Stack {
    /// An empty stack.
    pub const fn new() -> Stack {
        Stack { rows: [0; MAX_ROWS] }
    }

    /// Follows a move of the game. The result has a bit for each row that was cleared, counted before clearing.
    ///
    /// # Panics
    /// If the move does not come from a game.
    ///
    /// ```
    /// use dropwise_core::{Game, Placement, Rules, Stack};
    /// let (mut game, mut stack) = (Game::new(Rules::default(), 42, 0), Stack::new());
    /// let step = game.place(Placement { orientation: 0, column: 0 }).unwrap();
    /// stack.follow(&step);
    /// assert!((0..4).any(|row| stack.get(0, row) == Some(step.piece)));
    /// ```
    pub fn follow(&mut self, step: &Move) -> u32 {
        let shape = step.placement.shape(step.piece);
        let (column, row) = (usize::from(step.placement.column), usize::from(step.landing.row));
        for y in 0..shape.height {
            for x in shape.left[y]..shape.right[y] {
                self.rows[row + y] |= (step.piece as u32 + 1) << (BITS * (column + x));
            }
        }
        if step.landing.lines == 0 {
            return 0;
        }
        let (mut cleared, mut to) = (0, row);
        for from in row..MAX_ROWS {
            if from < row + shape.height && is_full(self.rows[from]) {
                cleared |= 1 << from;
            } else {
                self.rows[to] = self.rows[from];
                to += 1;
            }
        }
        self.rows[to..].fill(0);
        cleared
    }

    /// The piece a cell came from; none if it is empty or outside.
    pub fn get(&self, column: usize, row: usize) -> Option<Piece> {
        if column >= WIDTH {
            return None;
        }
        let cell = self.rows.get(row)? >> (BITS * column) & CELL;
        Piece::ALL.get((cell as usize).checked_sub(1)?).copied()
    }
}

fn is_full(row: u32) -> bool {
    (0..WIDTH).all(|x| row >> (BITS * x) & CELL != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Controller, Game, Overflow, Player, Rules};

    #[test]
    fn the_stack_is_the_well() {
        let controller = Controller::new(Player::known("dellacherie").unwrap());
        for overflow in [Overflow::Before, Overflow::After] {
            let mut rules = Rules::new(6).unwrap();
            rules.overflow = overflow;
            for index in 0..20 {
                let (mut game, mut stack) = (Game::new(rules, 4, index), Stack::new());
                while let Some(step) = game.step(&controller) {
                    let before = stack;
                    let cleared = stack.follow(&step);
                    assert_eq!(cleared.count_ones(), u32::from(step.landing.lines));
                    let mut full = 0;
                    for y in 0..MAX_ROWS {
                        for x in 0..WIDTH {
                            assert_eq!(stack.get(x, y).is_some(), game.well().is_full(x, y), "{x} {y}");
                        }
                        if cleared >> y & 1 == 1 {
                            full += 1;
                        } else if y < usize::from(step.landing.row) || y >= usize::from(step.landing.row) + 4
                        {
                            // What the piece did not touch came down unchanged.
                            assert_eq!(stack.rows[y - full], before.rows[y]);
                        }
                    }
                }
            }
        }
    }
}
