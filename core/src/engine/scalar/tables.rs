//! What the compiler knows of the shapes.

use super::WALL;
use crate::piece::{MAX_EXTENT, NUM_SHAPES, SHAPES};

/// A column beside some rows of a shape: its place in the window, and the rows.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) beside: u8,
    pub(super) rows: u8,
}

/// The columns beside a shape.
pub(super) struct Sides {
    pub(super) len: u8,
    pub(super) all: [Side; MAX_EXTENT],
}

pub(super) static SIDES: [Sides; NUM_SHAPES] = {
    let mut sides = [const { Sides { len: 0, all: [Side { beside: 0, rows: 0 }; MAX_EXTENT] } }; NUM_SHAPES];
    let mut number = 0;
    while number < NUM_SHAPES {
        let shape = &SHAPES[number];
        let mut at = 0;
        while at < 2 * shape.width {
            // The column left of each of the shape's, and the one right of it.
            let (x, is_left) = (at / 2, at % 2 == 0);
            let (mut rows, mut row) = (0, 0);
            while row < shape.height {
                let is_beside = if is_left { shape.left[row] == x } else { shape.right[row] == x + 1 };
                rows |= (is_beside as u8) << row;
                row += 1;
            }
            if rows != 0 {
                let beside = if is_left { WALL + x - 1 } else { WALL + x + 1 };
                sides[number].all[sides[number].len as usize] = Side { beside: beside as u8, rows };
                sides[number].len += 1;
            }
            at += 1;
        }
        number += 1;
    }
    sides
};

/// How many of four bits are set: the device has no instruction that counts them.
pub(super) static FEW: [u8; 1 << MAX_EXTENT] = {
    let mut few = [0; 1 << MAX_EXTENT];
    let mut bits = 0;
    while bits < few.len() {
        few[bits] = bits.count_ones() as u8;
        bits += 1;
    }
    few
};

/// For each column of one of [`SHAPES`]: the rows from the piece's lowest one up in which the cell below the piece has
/// the same neighbours as before.
pub(in crate::engine) const UNTOUCHED_ROWS: [[usize; MAX_EXTENT]; NUM_SHAPES] = {
    let mut rows = [[0; MAX_EXTENT]; NUM_SHAPES];
    let mut i = 0;
    while i < NUM_SHAPES * MAX_EXTENT {
        let (shape, x) = (&SHAPES[i / MAX_EXTENT], i % MAX_EXTENT);
        let mut row = 0;
        while x < shape.width && row < shape.bottom[x] && shape.right[row] != x && shape.left[row] != x + 1 {
            row += 1;
        }
        rows[i / MAX_EXTENT][x] = row;
        i += 1;
    }
    rows
};
