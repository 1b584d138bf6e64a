//! The crash page: what happened before the device started again.

use embedded_graphics::draw_target::DrawTarget;

use super::Layout;
use super::canvas::{Align, Canvas, Line, Style};
use super::font::{BIG, BOLD, MEDIUM, SMALL, TINY};
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
            let head = Line::new(0, 2, 64, &SMALL).pad(2).align(Align::Centre);
            canvas.text(head, inverse, Text::of("CRASHED"))?;
            canvas.text(Line::new(0, 15, 64, &SMALL), plain, Text::of(crash.kind))?;
            canvas.paragraph(Line::new(0, 27, 64, &TINY), 7, 8, plain, crash.message)?;
            canvas.paragraph(Line::new(0, 86, 64, &TINY), 7, 3, faint, crash.place)?;
            canvas.fixed_panel(0, 111, 64, 1, Ink::Frame)?;
            canvas.fixed_text(Line::new(0, 114, 64, &TINY).align(Align::Centre), faint, "Any button:")?;
            canvas.fixed_text(Line::new(0, 121, 64, &TINY).align(Align::Centre), faint, "play on")
        }
        Layout::Small => {
            let head = Line::new(0, 1, 72, &TINY).pad(1).align(Align::Centre);
            canvas.text(head, inverse, Text::of("CRASHED: ").and(crash.kind))?;
            canvas.paragraph(Line::new(0, 9, 72, &TINY), 6, 3, plain, crash.message)?;
            canvas.paragraph(Line::new(0, 28, 72, &TINY), 6, 2, faint, crash.place)
        }
        Layout::Large => {
            canvas.title("CRASHED", Ink::Alarm)?;
            canvas.text(Line::new(8, 38, 224, &BIG), plain, Text::of(crash.kind))?;
            canvas.paragraph(Line::new(8, 66, 224, &BOLD), 17, 6, plain, crash.message)?;
            canvas.paragraph(Line::new(8, 170, 224, &MEDIUM), 12, 3, faint, crash.place)?;
            canvas.fixed_panel(8, 212, 224, 1, Ink::Frame)?;
            canvas.fixed_text(Line::new(8, 219, 224, &MEDIUM), Style::of(Ink::Accent), HINT)
        }
    }
}
