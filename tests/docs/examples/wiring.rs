//! Draws how a pico-oled is wired, from the table in docs/boards.md.
//!
//! ```console
//! $ cargo run -p dropwise-docs --example wiring -- docs/pictures/wiring.svg
//! ```

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use dropwise_docs::Page;

const HEADING: &str = "## Wiring a pico-oled";
const SIZE: (usize, usize) = (560, 460);

/// The Pico's edges, and its first pins.
const LEFT: usize = 290;
const RIGHT: usize = 450;
const TOP: usize = 50;
const PITCH: usize = 19;

/// A row of the table.
struct Wire {
    /// The signal, such as `GPIO 4`.
    signal: String,
    /// The pin, from 1 to 40.
    pin: usize,
    /// What it goes to.
    to: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("usage: wiring FILE.svg")?;
    let page = Page::read(Path::new("docs/boards.md"));
    fs::write(out, draw(&wires(&page.text)?)?)?;
    Ok(())
}

/// The rows of the table.
fn wires(text: &str) -> Result<Vec<Wire>, Box<dyn Error>> {
    let section = text.split_once(HEADING).ok_or("docs/boards.md has no table of wires")?.1;
    let section = section.split("\n## ").next().unwrap_or(section);
    let rows = section.lines().filter(|line| line.contains("(pin "));
    let wire = |row: &str| -> Option<Wire> {
        let [_, from, to, _] = row.split('|').map(str::trim).collect::<Vec<_>>()[..] else { return None };
        let (signal, pin) = from.split_once(" (pin ")?;
        let pin = pin.strip_suffix(')')?.parse().ok().filter(|pin| (1..=40).contains(pin))?;
        Some(Wire { signal: signal.to_owned(), pin, to: to.to_owned() })
    };
    rows.map(|row| wire(row).ok_or_else(|| format!("not a wire: {row}").into())).collect()
}

/// Where a pin is: 1 to 20 down the left edge, 21 to 40 up the right one.
fn place(pin: usize) -> (usize, usize) {
    if pin <= 20 { (LEFT, TOP + (pin - 1) * PITCH) } else { (RIGHT, TOP + (40 - pin) * PITCH) }
}

/// The display's pins from the top, and the buttons, with the heights at which wires reach them.
const DISPLAY: [(&str, usize); 4] = [("GND", 100), ("VCC", 125), ("SCL", 150), ("SDA", 175)];
const BUTTONS: [(&str, usize); 2] = [("button A", 370), ("button B", 425)];

/// Where a thing that is wired has its contact.
fn contact(name: &str) -> Option<(usize, usize)> {
    let display = DISPLAY.iter().find(|(pin, _)| *pin == name).map(|&(_, y)| (180, y));
    display.or_else(|| BUTTONS.iter().find(|(button, _)| *button == name).map(|&(_, y)| (150, y)))
}

fn draw(wires: &[Wire]) -> Result<String, Box<dyn Error>> {
    let (width, height) = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <style>text{{font:12px sans-serif;fill:#202428}} .wire{{fill:none;stroke-width:2.5;stroke-linejoin:round}} \
         .end{{text-anchor:end}} .middle{{text-anchor:middle}} .light{{fill:#fff}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    // The display, the buttons, and the Pico with its socket.
    svg += "<rect x=\"30\" y=\"70\" width=\"150\" height=\"130\" rx=\"4\" fill=\"#1d4f8a\"/>\n\
            <rect x=\"42\" y=\"82\" width=\"86\" height=\"106\" rx=\"2\" fill=\"#0a0f16\"/>\n\
            <text x=\"85\" y=\"130\" class=\"middle light\">SSD1306</text>\n\
            <text x=\"85\" y=\"148\" class=\"middle light\">128x64</text>\n";
    for (name, y) in DISPLAY {
        writeln!(svg, "<circle cx=\"180\" cy=\"{y}\" r=\"4\" fill=\"#e0b040\"/>")?;
        writeln!(svg, "<text x=\"170\" y=\"{}\" class=\"end light\">{name}</text>", y + 4)?;
    }
    for (name, y) in BUTTONS {
        writeln!(
            svg,
            "<rect x=\"90\" y=\"{}\" width=\"60\" height=\"36\" rx=\"4\" fill=\"#c9ced6\"/>",
            y - 18
        )?;
        writeln!(svg, "<circle cx=\"120\" cy=\"{y}\" r=\"11\" fill=\"#404751\"/>")?;
        writeln!(svg, "<text x=\"120\" y=\"{}\" class=\"middle\">{name}</text>", y - 23)?;
    }
    let bottom = TOP + 19 * PITCH + 15;
    writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#1f7a43\"/>",
        TOP - 18,
        RIGHT - LEFT,
        bottom - TOP + 20
    )?;
    let middle = (LEFT + RIGHT) / 2;
    writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"44\" height=\"30\" rx=\"3\" fill=\"#b8bec6\"/>",
        middle - 22,
        TOP - 26
    )?;
    writeln!(svg, "<text x=\"{middle}\" y=\"{}\" class=\"middle\">USB</text>", TOP - 7)?;
    writeln!(svg, "<text x=\"{middle}\" y=\"{}\" class=\"middle light\">Pico</text>", TOP + 160)?;
    for pin in 1..=40 {
        let (x, y) = place(pin);
        writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"#e0b040\"/>")?;
    }

    for Wire { signal, pin, to } in wires {
        let (x, y) = place(*pin);
        let (at, side) = if x == LEFT { (x + 10, "light") } else { (x - 10, "end light") };
        writeln!(svg, "<text x=\"{at}\" y=\"{}\" class=\"{side}\">{signal}, pin {pin}</text>", y + 4)?;
        match (signal.as_str(), to.as_str()) {
            ("GND", "GND of the display, one side of each button") => {
                let ((dx, dy), [a, b]) = (contact("GND").ok_or("no GND")?, BUTTONS.map(|(_, y)| y));
                wire(
                    &mut svg,
                    "#30343a",
                    &format!("M{x} {y}H500V10H15V{b}H90 M15 {a}H90 M205 10V{dy}H{dx}"),
                )?;
            }
            ("3V3", "VCC of the display") => {
                let (dx, dy) = contact("VCC").ok_or("no VCC")?;
                wire(&mut svg, "#c8302c", &format!("M{x} {y}H480V20H222V{dy}H{dx}"))?;
            }
            (_, to) => {
                let (dx, dy) = contact(to).ok_or_else(|| format!("nothing is called '{to}'"))?;
                // Each wire bends at a place of its own.
                let (bend, colour) = match to {
                    "SDA" => (238, "#2b7fd0"),
                    "SCL" => (254, "#d08a1e"),
                    "button A" => (230, "#7a4fb0"),
                    _ => (246, "#2f9a8f"),
                };
                wire(&mut svg, colour, &format!("M{x} {y}H{bend}V{dy}H{dx}"))?;
            }
        }
    }
    Ok(svg + "</svg>\n")
}

fn wire(svg: &mut String, colour: &str, path: &str) -> std::fmt::Result {
    writeln!(svg, "<path class=\"wire\" stroke=\"{colour}\" d=\"{path}\"/>")
}
