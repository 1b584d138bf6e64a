//! What a player is called where it is kept: the name of a slot.

use core::fmt;

/// The longest name, in bytes.
pub const MAX_NAME: usize = 24;

/// 1 to [`MAX_NAME`] printable ASCII characters; a space is one.
///
/// ```
/// use dropwise_core::Name;
/// use dropwise_core::name::NameError;
/// assert_eq!(Name::new("my best").unwrap().as_str(), "my best");
/// assert_eq!(Name::new("tab\there"), Err(NameError::Character(3)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name {
    length: u8,
    /// Zero behind the length, so that equal names are equal.
    bytes: [u8; MAX_NAME],
}

/// Why a text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// There is nothing in it.
    Empty,
    /// It has more than [`MAX_NAME`] bytes.
    TooLong,
    /// The byte at this place (counted from 0) is not printable ASCII.
    Character(usize),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            NameError::Empty => f.write_str("a name has at least one character"),
            NameError::TooLong => write!(f, "a name has at most {MAX_NAME} characters"),
            NameError::Character(index) => {
                write!(f, "character {} of the name is not a printable ASCII character", index + 1)
            }
        }
    }
}

impl core::error::Error for NameError {}

impl Name {
    /// A name of this spelling.
    ///
    /// # Errors
    /// If it is empty, too long, or has anything but printable ASCII characters.
    ///
    /// ```
    /// use dropwise_core::Name;
    /// assert_eq!(Name::new("my-player").unwrap().as_str(), "my-player");
    /// assert!(Name::new("").is_err());
    /// ```
    pub fn new(text: &str) -> Result<Name, NameError> {
        Name::from_bytes(text.as_bytes())
    }

    /// The same from bytes that nobody has looked at yet.
    ///
    /// # Errors
    /// As for [`Name::new`].
    pub fn from_bytes(text: &[u8]) -> Result<Name, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        let mut bytes = [0; MAX_NAME];
        bytes.get_mut(..text.len()).ok_or(NameError::TooLong)?.copy_from_slice(text);
        match text.iter().position(|byte| !matches!(byte, b' '..=b'~')) {
            Some(index) => Err(NameError::Character(index)),
            None => Ok(Name { length: text.len() as u8, bytes }),
        }
    }

    /// Its spelling.
    pub fn as_str(&self) -> &str {
        // ASCII is UTF-8.
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Its characters, a byte each.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_printable_and_short() {
        for text in ["a", " ", "~", "dt+rbf 2026!", "abcdefghijklmnopqrstuvwx"] {
            assert_eq!(Name::new(text).unwrap().as_str(), text);
        }
        assert_eq!(Name::new(""), Err(NameError::Empty));
        assert_eq!(Name::new("abcdefghijklmnopqrstuvwxy"), Err(NameError::TooLong));
        assert_eq!(Name::new("a\n"), Err(NameError::Character(1)));
        assert_eq!(Name::new("\u{7f}"), Err(NameError::Character(0)));
        assert_eq!(Name::new("blé"), Err(NameError::Character(2)));
        assert_eq!(Name::from_bytes(&[0xff]), Err(NameError::Character(0)));
    }
}
