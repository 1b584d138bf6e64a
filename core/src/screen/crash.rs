//! The crash page: what happened before the device started again.

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::mono_font::ascii::{FONT_4X6, FONT_5X8, FONT_6X10, FONT_10X20};

use super::Layout;
use super::canvas::{Align, Canvas, Line, Style};
use super::ink::{Ink, Palette};
use super::scene::Scene;
use super::text::Text;

/// What a person can do about it.
const HINT: &str = "Any button: play on";

pub(super) fn draw<D>(canvas: &mut Canvas<'_, D>, layout: Layout, scene: &Scene<'_>) -> Result<(), D::Error>
where
    D: DrawTarget<Color: Palette>,
{
    let crash = &scene.crash;
    let (plain, faint) = (Style::of(Ink::Text), Style::of(Ink::Faint));
    let inverse = Style { ink: Ink::Back, back: Ink::Alarm };
    match layout {
        Layout::Tall => {
            canvas.fixed_panel(0, 0, 64, 11, inverse.back)?;
            canvas.fixed_text(Line::new(0, 2, 64, &FONT_5X8).align(Align::Centre), inverse, "CRASHED")?;
            canvas.text(Line::new(0, 15, 64, &FONT_5X8), plain, Text::of(crash.kind))?;
            canvas.paragraph(Line::new(0, 27, 64, &FONT_4X6), 7, 8, plain, crash.message)?;
            canvas.paragraph(Line::new(0, 86, 64, &FONT_4X6), 7, 3, faint, crash.place)?;
            canvas.fixed_panel(0, 111, 64, 1, Ink::Frame)?;
            canvas.fixed_text(Line::new(0, 114, 64, &FONT_4X6).align(Align::Centre), faint, "Any button:")?;
            canvas.fixed_text(Line::new(0, 121, 64, &FONT_4X6).align(Align::Centre), faint, "play on")
        }
        Layout::Small => {
            canvas.fixed_panel(0, 0, 72, 7, inverse.back)?;
            let head = Line::new(1, 0, 70, &FONT_4X6).align(Align::Centre);
            canvas.text(head, inverse, Text::of("CRASHED: ").and(crash.kind))?;
            canvas.paragraph(Line::new(0, 9, 72, &FONT_4X6), 6, 3, plain, crash.message)?;
            canvas.paragraph(Line::new(0, 28, 72, &FONT_4X6), 6, 2, faint, crash.place)
        }
        Layout::Large => {
            canvas.title("CRASHED", Ink::Alarm)?;
            canvas.text(Line::new(8, 38, 224, &FONT_10X20), plain, Text::of(crash.kind))?;
            canvas.paragraph(Line::new(8, 66, 224, &FONT_6X10), 12, 8, plain, crash.message)?;
            canvas.paragraph(Line::new(8, 170, 224, &FONT_6X10), 12, 3, faint, crash.place)?;
            canvas.fixed_panel(8, 212, 224, 1, Ink::Frame)?;
            canvas.fixed_text(Line::new(8, 219, 224, &FONT_6X10), Style::of(Ink::Accent), HINT)
        }
    }
}
