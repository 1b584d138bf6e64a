//! A board that remembers which piece each cell came from and which cells came last, for drawing.

use dropwise_core::game::Move;
use dropwise_core::{Piece, Placement};

/// The cells of a piece in a placement, landed on a row: bottom row first, then from the left.
///
/// ```
/// use dropwise_core::{Piece, Placement};
/// let cells = host::stack::cells(Piece::T, Placement { orientation: 0, column: 3 }, 5);
/// assert_eq!(cells, [(3, 5), (3, 6), (4, 6), (3, 7)]);
/// ```
///
/// # Panics
/// If the piece has no such orientation.
pub fn cells(piece: Piece, placement: Placement, row: usize) -> Vec<(usize, usize)> {
    let shape = placement.shape(piece);
    let column = usize::from(placement.column);
    (0..shape.height)
        .flat_map(|y| (shape.left[y]..shape.right[y]).map(move |x| (column + x, row + y)))
        .collect()
}

/// The pieces that lie in the well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    pieces: dropwise_core::Stack,
    last: Vec<(usize, usize)>,
}

impl Stack {
    /// An empty stack.
    pub fn new() -> Stack {
        Stack::default()
    }

    /// Follows a move of the game.
    pub fn follow(&mut self, step: &Move) {
        let cleared = self.pieces.follow(step);
        self.last = cells(step.piece, step.placement, usize::from(step.landing.row));
        self.last.retain(|&(_, y)| cleared >> y & 1 == 0);
        for (_, y) in &mut self.last {
            *y -= (cleared & ((1 << *y) - 1)).count_ones() as usize;
        }
    }

    /// The piece a cell came from; none if it is empty or outside.
    pub fn get(&self, column: usize, row: usize) -> Option<Piece> {
        self.pieces.get(column, row)
    }

    /// Whether a cell belongs to the last piece.
    pub fn is_last(&self, column: usize, row: usize) -> bool {
        self.last.contains(&(column, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropwise_core::well::{MAX_ROWS, WIDTH};
    use dropwise_core::{Controller, Game, Overflow, Player, Rules};

    #[test]
    fn the_stack_is_the_well() {
        let controller = Controller::new(Player::known("dellacherie").unwrap());
        for overflow in [Overflow::Before, Overflow::After] {
            let mut rules = Rules::new(6).unwrap();
            rules.overflow = overflow;
            for index in 0..20 {
                let mut game = Game::new(rules, 4, index);
                let mut stack = Stack::new();
                while let Some(step) = game.step(&controller) {
                    stack.follow(&step);
                    for (x, y) in (0..WIDTH).flat_map(|x| (0..MAX_ROWS).map(move |y| (x, y))) {
                        assert_eq!(stack.get(x, y).is_some(), game.well().is_full(x, y), "{x} {y}");
                        if stack.is_last(x, y) {
                            assert_eq!(stack.get(x, y), Some(step.piece));
                        }
                    }
                    let left = 4 - usize::from(step.landing.eroded);
                    assert_eq!(stack.last.len(), left);
                }
            }
        }
    }
}
