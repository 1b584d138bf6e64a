//! The about page: the firmware, the device, and how to connect it.

use embedded_graphics::draw_target::DrawTarget;

use super::Layout;
use super::canvas::{Align, Block, Canvas, Line, Style};
use super::font::{BIG, BOLD, MEDIUM, SMALL, TINY};
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
            canvas.fixed_text(Line::new(0, 0, 64, &MEDIUM).align(Align::Centre), plain, "DROPWISE")?;
            canvas.fixed_panel(0, 12, 64, 1, Ink::Frame)?;
            parade(canvas, 1, 17, Block::TINY, 3)?;
            let fields = [
                (27, "VERSION", about.version, &SMALL),
                (46, "BOARD", about.board, &SMALL),
                (65, "ID", about.id, &TINY),
            ];
            for (y, caption, value, font) in fields {
                canvas.fixed_text(Line::new(0, y, 64, &TINY), faint, caption)?;
                canvas.text(Line::new(0, y + 7, 64, font), plain, Text::of(value))?;
            }
            canvas.fixed_text(Line::new(0, 83, 64, &TINY), faint, "CONNECT")?;
            canvas.paragraph(Line::new(0, 91, 64, &SMALL), 9, 4, plain, about.connect)
        }
        Layout::Small => {
            canvas.fixed_text(Line::new(0, 0, 34, &TINY), plain, "DROPWISE")?;
            canvas.text(Line::new(36, 0, 36, &TINY).align(Align::Right), plain, Text::of(about.version))?;
            canvas.text(Line::new(0, 7, 72, &TINY), plain, Text::of(about.board))?;
            canvas.text(Line::new(0, 14, 72, &TINY), plain, Text::of(about.id))?;
            canvas.fixed_panel(0, 22, 72, 1, Ink::Frame)?;
            canvas.paragraph(Line::new(0, 25, 72, &TINY), 7, 2, plain, about.connect)
        }
        Layout::Large => {
            canvas.title("DROPWISE", Ink::Accent)?;
            parade(canvas, 7, 38, Block::BROAD, 9)?;
            let fields = [
                (74, "VERSION", about.version, &BOLD),
                (104, "BOARD", about.board, &BOLD),
                (134, "ID", about.id, &BOLD),
            ];
            for (y, caption, value, font) in fields {
                canvas.fixed_text(Line::new(8, y + 4, 60, &MEDIUM), faint, caption)?;
                canvas.text(Line::new(72, y, 160, font), plain, Text::of(value))?;
            }
            canvas.fixed_panel(8, 162, 224, 1, Ink::Frame)?;
            canvas.fixed_text(Line::new(8, 171, 224, &MEDIUM), faint, "CONNECT")?;
            canvas.paragraph(Line::new(8, 185, 224, &BIG), 22, 2, plain, about.connect)
        }
    }
}

/// The seven pieces in a row, for joy.
fn parade<D>(canvas: &mut Canvas<'_, D>, left: i32, top: i32, block: Block, gap: i32) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let mut x = left;
    for piece in Piece::ALL {
        x += gap + canvas.fixed_piece(x, top, block, piece)?;
    }
    Ok(())
}
