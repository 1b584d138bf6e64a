//! No link leads nowhere. Links to other sites are not followed, so that the tests need no network.

use std::path::Path;

use dropwise_docs::{Page, root};

/// What is wrong with a link of a page.
fn dead(page: &Page, link: &str) -> Option<String> {
    if let Some(site) = link.strip_prefix("https://") {
        return (!site.contains('.')).then(|| "is no address".into());
    }
    if link.contains("://") {
        return Some("is not https".into());
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let folder = page.path.parent().unwrap_or(Path::new(""));
    let target = if file.is_empty() { page.path.clone() } else { folder.join(file) };
    if !root().join(&target).exists() {
        return Some("does not exist".into());
    }
    let anchor = anchor?;
    let anchors = Page::read(&target).anchors();
    (!anchors.iter().any(|name| name == anchor)).then(|| format!("has only the headings {anchors:?}"))
}

#[test]
fn no_link_is_dead() {
    let pages = Page::all();
    let mut links = 0;
    let mut wrong = vec![];
    for page in &pages {
        for (link, line) in page.links() {
            links += 1;
            if let Some(why) = dead(page, &link) {
                wrong.push(format!("{}:{line}: {link} {why}", page.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "dead links:\n{}", wrong.join("\n"));
    assert!(links > 20, "only {links} links were found in {} pages", pages.len());
}

#[test]
fn dead_links_are_found() {
    let page = Page { path: "docs/boards.md".into(), text: String::new() };
    assert_eq!(dead(&page, "https://rustup.rs"), None);
    assert_eq!(dead(&page, "../memory.x"), None);
    assert_eq!(dead(&page, "../README.md#start"), None);
    assert_eq!(dead(&page, "memory.x").as_deref(), Some("does not exist"));
    assert_eq!(dead(&page, "http://rustup.rs").as_deref(), Some("is not https"));
    assert!(dead(&page, "../README.md#stort").is_some_and(|why| why.contains("\"start\"")));
}
