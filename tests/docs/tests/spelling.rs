//! Spelling: known misspellings in every text of the project, and American forms in the documents, which are British.

use std::fs;

use dropwise_docs::{Page, files, root};
use typos::Status;
use typos::tokens::{Identifier, TokenizerBuilder, Word};

/// What a word should have been, for words that are known to be misspelt.
struct Misspellings;

/// What looks like a misspelling and is none: a crate, a journal's French title, the USB peripheral's serial interface
/// engine, an instruction.
const OURS: [&str; 4] = ["ratatui", "artificiel", "sie", "ands"];

impl typos::Dictionary for Misspellings {
    fn correct_ident<'s>(&'s self, _: Identifier<'_>) -> Option<Status<'s>> {
        None
    }

    fn correct_word<'s>(&'s self, word: Word<'_>) -> Option<Status<'s>> {
        let word = word.token().to_lowercase();
        if OURS.contains(&&*word) {
            return Some(Status::Valid);
        }
        let meant = typos_dict::WORD.find(&word.as_str().into())?;
        Some(Status::Corrections(meant.iter().map(|&word| word.into()).collect()))
    }
}

fn misspelt(text: &str) -> Vec<(usize, String)> {
    let tokenizer = TokenizerBuilder::new().build();
    let found = typos::check_str(text, &tokenizer, &Misspellings).map(|typo| {
        let line = 1 + text[..typo.byte_offset].matches('\n').count();
        (line, format!("{}: {:?}", typo.typo, typo.corrections))
    });
    found.collect()
}

#[test]
fn nothing_is_misspelt() {
    let files = files::ending_in(&[".md", ".rs", ".js", ".toml", ".x", ".py", "setup", "run"]);
    assert!(files.len() > 200, "only {} files were found", files.len());
    let mut wrong = vec![];
    for path in files.iter().filter(|path| !path.ends_with(file!())) {
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        wrong.extend(misspelt(&text).iter().map(|(line, told)| format!("{}:{line}: {told}", path.display())));
    }
    assert!(wrong.is_empty(), "misspelt:\n{}", wrong.join("\n"));
}

/// American stems and the British ones.
const AMERICAN: [(&str, &str); 22] = [
    ("color", "colour"),
    ("behavior", "behaviour"),
    ("favor", "favour"),
    ("neighbor", "neighbour"),
    ("center", "centre"),
    ("gray", "grey"),
    ("artifact", "artefact"),
    ("catalog", "catalogue"),
    ("labeled", "labelled"),
    ("modeled", "modelled"),
    ("canceled", "cancelled"),
    ("traveled", "travelled"),
    ("analyze", "analyse"),
    ("optimiz", "optimis"),
    ("normaliz", "normalis"),
    ("quantiz", "quantis"),
    ("initializ", "initialis"),
    ("randomiz", "randomis"),
    ("minimiz", "minimis"),
    ("maximiz", "maximis"),
    ("recogniz", "recognis"),
    ("summariz", "summaris"),
];

fn american(sentence: &str) -> Vec<String> {
    let words = sentence.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let told = words.filter_map(|word| {
        let is = |(american, british): &&(&str, &str)| word.contains(american) && !word.contains(british);
        AMERICAN.iter().find(is).map(|(_, british)| format!("{word}: {british}"))
    });
    told.collect()
}

#[test]
fn the_documents_are_british() {
    let mut wrong = vec![];
    for page in Page::all() {
        for (sentence, line) in page.sentences() {
            let path = page.path.display();
            wrong.extend(american(&sentence).iter().map(|told| format!("{path}:{line}: {told}")));
        }
    }
    assert!(wrong.is_empty(), "American:\n{}", wrong.join("\n"));
}

#[test]
fn misspellings_are_found() {
    let (line, told) = &misspelt("A word.\nIt is recieved_twice.")[0];
    assert_eq!((*line, told.contains("received")), (2, true), "{told}");
    assert_eq!(misspelt("It was received."), []);
    assert_eq!(american("Its colour and its Color."), ["color: colour"]);
}
