//! The documents, taken apart: what the tests beside this file hold them to.
//!
//! - [`page`]: a Markdown file with its commands, links and blocks of code;
//! - [`worked`]: examples that are applied to the sources;
//! - [`files`]: which files there are.

pub mod files;
pub mod page;
pub mod worked;

pub use files::root;
pub use page::Page;
