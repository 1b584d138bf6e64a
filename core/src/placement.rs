//! Every action, in the one order that breaks ties: orientation first, then column from the left.

use crate::piece::{Piece, Shape};
use crate::well::WIDTH;

/// The most placements a piece has (T, J and L).
pub const MAX_PLACEMENTS: usize = 34;

/// Where a piece is dropped: one of its orientations and the column of its leftmost cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Index into [`Piece::orientations`].
    pub orientation: u8,
    /// The leftmost column the piece covers, from 0.
    pub column: u8,
}

impl Placement {
    /// Every placement of a piece in the order that breaks ties: of equal values the first one wins.
    ///
    /// ```
    /// use dropwise_core::{Piece, Placement};
    /// let counts = Piece::ALL.map(|piece| Placement::all(piece).count());
    /// assert_eq!(counts, [17, 9, 34, 17, 17, 34, 34]);
    /// ```
    pub fn all(piece: Piece) -> impl Iterator<Item = Placement> + Clone {
        piece.orientations().iter().zip(0u8..).flat_map(|(shape, orientation)| {
            (0..shape.positions(WIDTH) as u8).map(move |column| Placement { orientation, column })
        })
    }

    /// The shape a piece has in this placement.
    ///
    /// # Panics
    /// If the piece has no such orientation.
    ///
    /// ```
    /// use dropwise_core::{Piece, Placement};
    /// let upright = Placement { orientation: 0, column: 9 };
    /// assert_eq!(upright.shape(Piece::I).height, 4);
    /// ```
    pub fn shape(self, piece: Piece) -> &'static Shape {
        &piece.orientations()[usize::from(self.orientation)]
    }

    /// Whether the piece has this orientation and stays between the walls.
    ///
    /// ```
    /// use dropwise_core::{Piece, Placement};
    /// assert!(Placement { orientation: 0, column: 9 }.is_valid(Piece::I));
    /// assert!(!Placement { orientation: 1, column: 7 }.is_valid(Piece::I));
    /// ```
    pub fn is_valid(self, piece: Piece) -> bool {
        piece
            .orientations()
            .get(usize::from(self.orientation))
            .is_some_and(|shape| usize::from(self.column) < shape.positions(WIDTH))
    }
}
