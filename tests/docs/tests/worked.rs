//! The worked examples of docs/architecture.md, all applied to one copy of the sources, compile; and what they add passes
//! the tests that are there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use dropwise_docs::{Page, files, root, worked};
use dropwise_emulator::setup;

/// A copy of the sources, with everything of the page done to it.
fn worked_tree() -> PathBuf {
    let program = env::current_exe().expect("a program knows where it is");
    let target = program.ancestors().nth(3).expect("cargo puts tests three folders deep");
    let tree = target.join("worked/tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).expect("the last copy goes away");
    }
    for file in files::ending_in(&[""]) {
        let to = tree.join(&file);
        fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
        fs::copy(root().join(&file), to).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let page = Page::read(Path::new("docs/architecture.md"));
    let mut applied = 0;
    for block in page.blocks() {
        match worked::apply(&block, &tree) {
            Ok(worked) => applied += usize::from(worked),
            Err(error) => panic!("docs/architecture.md, {error}"),
        }
    }
    assert!(applied >= 18, "only {applied} worked examples were found");
    tree
}

/// Runs cargo in the copy, in a target folder of its own: cargo tells the members of a workspace by their places in it, and
/// would mix the two.
fn cargo(tree: &Path, words: &str) {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(words.split_whitespace())
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", tree.with_file_name("target"))
        .output()
        .expect("cargo runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {words}\n{told}{}", String::from_utf8_lossy(&output.stdout));
    assert!(!told.contains("\nwarning: "), "cargo {words} warns\n{told}");
}

#[test]
fn worked_examples_compile() {
    let tree = worked_tree();
    // A new feature must be its twin's.
    cargo(&tree, "test --locked -p dropwise-core --features wire --test laws a_feature_is_its_twins");
    cargo(
        &tree,
        "check --locked -p dropwise-core -p dropwise-uf2 -p host --features dropwise-core/wire --all-targets",
    );
    match setup::missing() {
        None => cargo(
            &tree,
            "check --locked -p dropwise-firmware --target thumbv6m-none-eabi --no-default-features --features bench-top",
        ),
        Some(missing) => {
            assert_ne!(env::var("CI").as_deref(), Ok("true"), "{missing}");
            eprintln!("the worked board was SKIPPED: {missing}");
        }
    }
}
