//! Shared strings in Unicode normal form C. Every string, map key and attribute name of the language is
//! one.

use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// A string of the language: UTF-8 in Unicode normal form C, cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(Arc<str>);

impl Str {
    /// Creates a string in normal form.
    #[must_use]
    pub fn new(text: &str) -> Self {
        // Nearly all text is already in normal form, and the normalization allocates.
        if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
            Self(Arc::from(text))
        } else {
            Self(text.nfc().collect::<String>().into())
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::ops::Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Str {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Str {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl From<&String> for Str {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}

impl From<&Self> for Str {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl std::fmt::Display for Str {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for Str {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_normalised_on_entry() {
        assert_eq!(Str::new("e\u{301}"), Str::new("\u{e9}"));
        assert_eq!(Str::new("e\u{301}").as_str(), "\u{e9}");
        assert_eq!(Str::from("\u{1112}\u{1161}\u{11ab}".to_owned()), *"\u{d55c}");
        assert_eq!(Str::new("plain"), *"plain");
    }
}
