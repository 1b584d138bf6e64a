//! The about page: the firmware, the device, and how to connect it.

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::mono_font::ascii::{FONT_4X6, FONT_5X8, FONT_6X10, FONT_9X15_BOLD, FONT_10X20};

use super::Layout;
use super::canvas::{Align, Block, Canvas, Line, Style};
use super::ink::{Ink, Palette};
use super::scene::Scene;
use super::text::Text;
use crate::piece::Piece;

pub(super) fn draw<D>(canvas: &mut Canvas<'_, D>, layout: Layout, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let about = &scene.about;
    let (plain, faint) = (Style::of(Ink::Text), Style::of(Ink::Faint));
    match layout {
        Layout::Tall => {
            canvas.fixed_text(Line::new(0, 0, 64, &FONT_6X10).align(Align::Centre), plain, "DROPWISE")?;
            canvas.fixed_panel(0, 12, 64, 1, Ink::Frame)?;
            let fields = [
                (17, "VERSION", about.version, &FONT_5X8),
                (36, "BOARD", about.board, &FONT_5X8),
                (55, "ID", about.id, &FONT_4X6),
            ];
            for (y, caption, value, font) in fields {
                canvas.fixed_text(Line::new(0, y, 64, &FONT_4X6), faint, caption)?;
                canvas.text(Line::new(0, y + 7, 64, font), plain, Text::of(value))?;
            }
            canvas.fixed_text(Line::new(0, 73, 64, &FONT_4X6), faint, "CONNECT")?;
            canvas.paragraph(Line::new(0, 81, 64, &FONT_5X8), 9, 5, plain, about.connect)
        }
        Layout::Small => {
            canvas.fixed_text(Line::new(0, 0, 34, &FONT_4X6), plain, "DROPWISE")?;
            canvas.text(
                Line::new(36, 0, 36, &FONT_4X6).align(Align::Right),
                plain,
                Text::of(about.version),
            )?;
            canvas.text(Line::new(0, 7, 72, &FONT_4X6), plain, Text::of(about.board))?;
            canvas.text(Line::new(0, 14, 72, &FONT_4X6), plain, Text::of(about.id))?;
            canvas.fixed_panel(0, 22, 72, 1, Ink::Frame)?;
            canvas.paragraph(Line::new(0, 25, 72, &FONT_4X6), 7, 2, plain, about.connect)
        }
        Layout::Large => {
            canvas.title("DROPWISE", Ink::Accent)?;
            // The seven pieces in a row, for joy.
            for (x, piece) in [6, 50, 72, 105, 138, 171, 204].into_iter().zip(Piece::ALL) {
                canvas.fixed_piece(x, 38, Block::Large, piece)?;
            }
            let fields = [
                (74, "VERSION", about.version, &FONT_9X15_BOLD),
                (104, "BOARD", about.board, &FONT_9X15_BOLD),
                (134, "ID", about.id, &FONT_9X15_BOLD),
            ];
            for (y, caption, value, font) in fields {
                canvas.fixed_text(Line::new(8, y + 4, 60, &FONT_6X10), faint, caption)?;
                canvas.text(Line::new(72, y, 160, font), plain, Text::of(value))?;
            }
            canvas.fixed_panel(8, 162, 224, 1, Ink::Frame)?;
            canvas.fixed_text(Line::new(8, 171, 224, &FONT_6X10), faint, "CONNECT")?;
            canvas.paragraph(Line::new(8, 185, 224, &FONT_10X20), 22, 2, plain, about.connect)
        }
    }
}
