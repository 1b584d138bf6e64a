//! The documents.
