//! Messages that this program reports: stable codes, summaries, causes and remedies. This module defines
//! the types. Each crate lists its messages in catalogues.

use std::fmt::{self, Display, Formatter};

/// The stable code of a message, such as `FW1203`. A released code never gets another meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// Creates a code. Only catalogues call this.
    #[must_use]
    pub const fn new(code: &'static str) -> Self {
        Self(code)
    }

    /// Returns the code as printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// A message that this program can report, as a catalogue describes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// The stable code.
    pub code: Code,
    /// Statement of the problem, without a final period. `{name}` is a placeholder that
    /// [`Message::with`] fills in.
    pub summary: &'static str,
    /// Reason for the message, in one or two sentences.
    pub cause: &'static str,
    /// Action that removes the reason, in one or two sentences.
    pub remedy: &'static str,
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.summary)
    }
}

impl Message {
    /// Fills in the variable parts of the summary, in their order.
    #[must_use]
    pub fn with(&'static self, parts: &[&dyn Display]) -> Summary {
        let mut text = String::new();
        let mut parts = parts.iter();
        let mut rest = self.summary;
        while let Some((before, (_, after))) =
            rest.split_once('{').and_then(|(before, open)| Some((before, open.split_once('}')?)))
        {
            text.push_str(before);
            if let Some(part) = parts.next() {
                text.push_str(&part.to_string());
            }
            rest = after;
        }
        text.push_str(rest);
        debug_assert!(parts.next().is_none(), "{} has fewer variable parts", self.code);
        Summary { code: self.code, text }
    }
}

/// The summary of a diagnostic together with its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The code of the message.
    pub code: Code,
    /// The summary, with its variable parts filled in.
    pub text: String,
}

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl From<&'static Message> for Summary {
    fn from(message: &'static Message) -> Self {
        debug_assert!(!message.summary.contains('{'), "{} has variable parts", message.code);
        Self { code: message.code, text: message.summary.to_owned() }
    }
}

/// The messages of one subject.
#[derive(Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// The subject, as a heading.
    pub title: &'static str,
    /// The messages, sorted by code.
    pub messages: &'static [&'static Message],
}

/// Declares a catalogue: a constant for each message, and one for the list of them. It begins with the
/// title and the name of the list. Each entry is `FW1001 NAME = "Summary", "Cause.", "Remedy.";`.
#[macro_export]
macro_rules! messages {
    (
        $title:literal $list:ident
        $($code:ident $name:ident = $summary:literal, $cause:literal, $remedy:literal;)+
    ) => {
        $(
            #[doc = concat!(stringify!($code), ": ", $summary)]
            pub const $name: &$crate::diag::Message = &$crate::diag::Message {
                code: $crate::diag::Code::new(stringify!($code)),
                summary: $summary,
                cause: $cause,
                remedy: $remedy,
            };
        )+

        #[doc = concat!($title, ".")]
        pub const $list: $crate::diag::Catalogue =
            $crate::diag::Catalogue { title: $title, messages: &[$($name),+] };
    };
}
