//! A Markdown file.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::files::{ending_in, root};

/// A document.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its name, relative to the project's folder.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// A block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What stands behind the fence, such as `console`.
    pub info: String,
    /// What stands between the fences.
    pub text: String,
    /// The line of its first fence, from 1.
    pub line: usize,
}

/// A command in a `console` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What is to be typed, without a comment.
    pub command: String,
    /// The lines that it is shown to print.
    pub output: Vec<String>,
    /// Its line in the page, from 1.
    pub line: usize,
}

impl Page {
    /// Every document of the project.
    ///
    /// # Panics
    /// If one cannot be read.
    pub fn all() -> Vec<Page> {
        ending_in(&[".md"]).iter().map(|path| Page::read(path)).collect()
    }

    /// The document of this name, relative to the project's folder.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn read(path: &Path) -> Page {
        let text = fs::read_to_string(root().join(path));
        Page {
            path: path.to_path_buf(),
            text: text.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        }
    }

    fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.text[..offset].matches('\n').count()
    }

    /// Its blocks of code.
    pub fn blocks(&self) -> Vec<Block> {
        let (mut blocks, mut open): (Vec<Block>, bool) = (vec![], false);
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    blocks.push(Block { info, text: String::new(), line: self.line(range.start) });
                    open = true;
                }
                Event::Text(text) if open => {
                    if let Some(block) = blocks.last_mut() {
                        block.text += &text;
                    }
                }
                Event::End(TagEnd::CodeBlock) => open = false,
                _ => {}
            }
        }
        blocks
    }

    /// The commands of its `console` blocks, in their order.
    ///
    /// # Panics
    /// If a block starts with output.
    pub fn commands(&self) -> Vec<Shown> {
        let mut commands: Vec<Shown> = vec![];
        for block in self.blocks().iter().filter(|block| block.info == "console") {
            let first = commands.len();
            for (line, text) in (block.line + 1..).zip(block.text.lines()) {
                if let Some(command) = text.strip_prefix("$ ") {
                    // A comment stands two spaces behind its command.
                    let command = command.split("  #").next().unwrap_or(command).trim().to_owned();
                    commands.push(Shown { command, output: vec![], line });
                    continue;
                }
                let before = commands[first..].last_mut();
                let before = before.unwrap_or_else(|| panic!("{}:{line}: no command", self.path.display()));
                before.output.push(text.to_owned());
            }
        }
        commands
    }

    /// The pieces of code within its sentences and tables, and their lines.
    pub fn code(&self) -> Vec<(String, usize)> {
        let code = self.events().filter_map(|(event, range)| match event {
            Event::Code(code) => Some((code.to_string(), self.line(range.start))),
            _ => None,
        });
        code.collect()
    }

    /// Where its links and pictures lead, and their lines.
    pub fn links(&self) -> Vec<(String, usize)> {
        let links = self.events().filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some((dest_url.to_string(), self.line(range.start)))
            }
            // Pictures that stand side by side are written in HTML.
            Event::Html(html) | Event::InlineHtml(html) => {
                let (_, rest) = html.split_once("src=\"")?;
                Some((rest.split_once('"')?.0.to_owned(), self.line(range.start)))
            }
            _ => None,
        });
        links.collect()
    }

    /// What its headings are called in links.
    pub fn anchors(&self) -> Vec<String> {
        let (mut anchors, mut heading) = (vec![], None);
        for (event, _) in self.events() {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
                (Event::End(TagEnd::Heading(_)), Some(text)) => {
                    anchors.push(anchor(text));
                    heading = None;
                }
                (Event::Text(text) | Event::Code(text), Some(heading)) => *heading += &text,
                _ => {}
            }
        }
        anchors
    }

    /// Its sentences, without code, one a paragraph or the like, and their lines.
    pub fn sentences(&self) -> Vec<(String, usize)> {
        let (mut sentences, mut in_block) = (vec![], false);
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => in_block = true,
                Event::End(TagEnd::CodeBlock) => in_block = false,
                Event::Text(text) if !in_block => sentences.push((text.to_string(), self.line(range.start))),
                _ => {}
            }
        }
        sentences
    }
}

/// A heading's name in links, by GitHub's rule: small letters, no punctuation, hyphens for spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
