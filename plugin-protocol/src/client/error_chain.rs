//! Descriptions of connection errors. The outer errors contain little information, so the inner
//! ones are included.

use std::error::Error;

/// Returns an error with all its causes, each named once. The outermost is often just "transport
/// error".
pub(super) fn error_with_causes(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut source = Some(error);
    while let Some(error) = source {
        let part = without_rustls_manual_link(error.to_string());
        // Contained and not only equal: an outer error often repeats the inner one after a colon.
        if part != "transport error" && !parts.iter().any(|earlier| earlier.contains(&part)) {
            parts.push(part);
        }
        source = error.source();
    }
    parts.join(": ")
}

/// Removes the link to its manual that rustls adds to the end of a connection without
/// `close_notify`. The manual is for programmers, and the cause is usually a process that has
/// exited.
fn without_rustls_manual_link(mut text: String) -> String {
    if let Some(position) = text.find(": https://docs.rs/rustls/") {
        text.truncate(position);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Layer(&'static str, #[source] Option<Box<Self>>);

    #[test]
    fn each_cause_is_reported_once_without_generic_transport_errors() {
        let layers = ["transport error", "broken: no file", "no file", "no directory"];
        let error =
            layers.into_iter().rev().fold(None, |inner, text| Some(Box::new(Layer(text, inner))));
        assert_eq!(error_with_causes(&*error.unwrap()), "broken: no file: no directory");
    }

    #[test]
    fn the_link_to_the_manual_of_rustls_is_left_out() {
        let inner = Layer("peer closed connection: https://docs.rs/rustls/latest/a.html#b", None);
        let error = Layer("connection error", Some(Box::new(inner)));
        assert_eq!(error_with_causes(&error), "connection error: peer closed connection");
    }
}
