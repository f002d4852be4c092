//! The parts of invalid answers.

use std::process::exit;

use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::Path;
use formwork_value::diag::Severity;

/// A value field without a value, not even null. (A valid encoder never leaves it out.)
pub(crate) fn absent_payload() -> Payload {
    Payload::Msgpack(bytes::Bytes::new())
}

/// Bytes that are not a value.
pub(crate) fn garbage() -> Payload {
    Payload::Msgpack(b"\xc1 this is no value".as_slice().into())
}

/// A map that claims to have as many elements as can be counted.
pub(crate) fn bomb() -> Payload {
    Payload::Msgpack(b"\xdf\xff\xff\xff\xff".as_slice().into())
}

/// Two million lists, each in the other.
pub(crate) fn deeply_nested_lists() -> Payload {
    Payload::Msgpack(vec![0x91; 2_000_000].into())
}

/// A refusal by gRPC.
pub(crate) fn status(message: &str) -> Failure {
    Failure::Status {
        code: "Internal".to_owned(),
        message: format!("no {message} on Sundays{}", quote()),
    }
}

/// A gRPC status of a temporary failure.
pub(crate) fn unavailable_status() -> Failure {
    Failure::Status { code: "Unavailable".to_owned(), message: "too many at the door".to_owned() }
}

/// An error in the provider's own words.
pub(crate) fn error(summary: &str) -> Vec<ProviderDiagnostic> {
    diagnostics(Severity::Error, summary)
}

/// A warning in the provider's own words.
pub(crate) fn warning(summary: &str) -> Vec<ProviderDiagnostic> {
    diagnostics(Severity::Warning, summary)
}

/// The text from `BAD_QUOTES` in every message of the provider: a provider may have secrets.
fn quote() -> String {
    let quote = std::env::var("BAD_QUOTES").ok().filter(|quote| !quote.is_empty());
    quote.map_or_else(String::new, |quote| format!(", and quotes {quote:?}"))
}

fn diagnostics(severity: Severity, summary: &str) -> Vec<ProviderDiagnostic> {
    vec![ProviderDiagnostic {
        severity,
        summary: format!("{summary}{}", quote()),
        detail: format!("The bad provider says so{}.", quote()),
        path: Path::root(),
        code: None,
    }]
}

/// Ends the process with last words.
#[expect(clippy::exit, clippy::print_stderr, reason = "it is about processes that end")]
pub(crate) fn exit_with_stderr(last_words: &str) -> ! {
    eprintln!("{last_words}{}", quote());
    exit(3)
}
