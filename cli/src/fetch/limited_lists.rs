//! Lists in documents from servers, with a limit that is checked while parsing. Otherwise, a document of a
//! permitted size could occupy many times that size in memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Maximum number of entries. The longest lists of public registries have a few hundred entries.
const MAX_LIST_ENTRIES: usize = 20_000;

/// Maximum length of a string from a server in a message, in characters.
const MAX_SHOWN_CHARACTERS: usize = 200;

/// Quotes a string from a server for a message, and truncates it if it is long.
pub(crate) fn quote_shortened(text: &str) -> String {
    format!("{:?}", shorten_server_text(text))
}

/// Truncates a string from a server if it is long.
pub(crate) fn shorten_server_text(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// A list with at most `MAX_LIST_ENTRIES` entries.
#[derive(Debug)]
pub(crate) struct LimitedList<T>(pub(crate) Vec<T>);

/// An object with arbitrary keys and at most `MAX_LIST_ENTRIES` entries.
#[derive(Debug)]
pub(crate) struct LimitedMap<T>(pub(crate) BTreeMap<String, T>);

impl<T> Default for LimitedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Default for LimitedMap<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LimitedList<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(LimitedEntriesVisitor::<Self>(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LimitedMap<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(LimitedEntriesVisitor::<Self>(PhantomData))
    }
}

/// Reads entries up to the limit.
struct LimitedEntriesVisitor<C>(PhantomData<C>);

/// Returns an error if the list has already reached the limit.
fn check_entry_count<E: Error>(n_entries: usize) -> Result<(), E> {
    match n_entries < MAX_LIST_ENTRIES {
        true => Ok(()),
        false => Err(E::custom(format_args!("it lists more than {MAX_LIST_ENTRIES} entries"))),
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for LimitedEntriesVisitor<LimitedList<T>> {
    type Value = LimitedList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = from.next_element()? {
            check_entry_count(entries.len())?;
            entries.push(entry);
        }
        Ok(LimitedList(entries))
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for LimitedEntriesVisitor<LimitedMap<T>> {
    type Value = LimitedMap<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((name, entry)) = from.next_entry()? {
            check_entry_count(entries.len())?;
            entries.insert(name, entry);
        }
        Ok(LimitedMap(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_beyond_the_limit_is_refused_and_one_up_to_it_is_read() {
        let list = |n: usize| format!("[{}]", vec!["1"; n].join(","));
        let map = |n: usize| {
            let names: Vec<_> = (0..n).map(|index| format!("\"{index}\":1")).collect();
            format!("{{{}}}", names.join(","))
        };
        let read = |n: usize| {
            let list = serde_json::from_str::<LimitedList<u8>>(&list(n)).map(|list| list.0.len());
            let map = serde_json::from_str::<LimitedMap<u8>>(&map(n)).map(|map| map.0.len());
            [list, map]
        };
        assert!(read(MAX_LIST_ENTRIES).iter().all(|read| matches!(read, Ok(MAX_LIST_ENTRIES))));
        for read in read(MAX_LIST_ENTRIES + 1) {
            let error = read.unwrap_err().to_string();
            assert!(error.starts_with("it lists more than 20000 entries"), "{error}");
        }
    }

    #[test]
    fn long_text_of_a_server_is_truncated_in_a_message() {
        assert_eq!(quote_shortened("1.0\n"), "\"1.0\\n\"");
        assert_eq!(quote_shortened(&"ä".repeat(200)).chars().count(), 202);
        let long = quote_shortened(&"ä".repeat(10_000));
        assert!(long.chars().count() == 203 && long.ends_with("…\""), "{long}");
    }
}
