//! Descriptions of connection errors. The outer errors say next to nothing, so the inner ones are
//! included.

use std::error::Error;

/// Returns an error with all its causes, each named once. The outermost is often just "transport
/// error".
pub(super) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let part = error.to_string();
        // Contained and not only equal: an outer error often repeats the inner one behind a colon.
        if part != "transport error" && !parts.iter().any(|told| told.contains(&part)) {
            parts.push(part);
        }
        next = error.source();
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Self>>);

    #[test]
    fn each_cause_is_reported_once_and_nothing_that_says_nothing() {
        let layers = ["transport error", "broken: no file", "no file", "no folder"];
        let all =
            layers.into_iter().rev().fold(None, |inner, text| Some(Box::new(Layer(text, inner))));
        assert_eq!(with_causes(&*all.unwrap()), "broken: no file: no folder");
    }
}
