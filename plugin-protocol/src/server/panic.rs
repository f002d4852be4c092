//! What happens when a provider panics: the host is told in words it knows, the call fails, and the
//! other calls go on, because what they are doing to the world should be recorded.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, PanicHookInfo};

use futures_util::FutureExt as _;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::Response;

/// Writes panics to stderr as hosts expect them: they look for a line that starts with `panic: `,
/// which Rust's own does not.
pub(super) fn announce_panics() {
    std::panic::set_hook(Box::new(announce));
}

#[expect(clippy::print_stderr, reason = "stderr is how a plugin tells its host about a panic")]
fn announce(panic: &PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("of an unusual kind");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let trace = Backtrace::capture();
    match trace.status() {
        BacktraceStatus::Captured => eprintln!("panic: {what}\n{place}\n{trace}"),
        _ => eprintln!("panic: {what}\n{place}"),
    }
}

/// Makes of a call that panics a call that fails.
pub(super) async fn contain<F>(call: F) -> Result<Response<Body>, Infallible>
where
    F: Future<Output = Result<Response<Body>, Infallible>>,
{
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Ok(Status::internal(format!("the provider panicked: {text}")).into_http())
    })
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[tokio::test]
    async fn a_call_that_panics_fails_and_says_why() {
        let answer = contain(async { panic!("number {}", 7) }).await.expect("it cannot fail");
        let status = Status::from_header_map(answer.headers()).expect("a status");
        assert_eq!(
            (status.code(), status.message()),
            (Code::Internal, "the provider panicked: number 7")
        );
    }
}
