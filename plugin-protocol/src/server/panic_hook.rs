//! Reports a panic to the host. The call that panicked fails and the process continues, by the
//! service's decision: changes made by other calls should be recorded.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

/// Writes panics to stderr as hosts expect them: they look for a line that starts with `panic: `,
/// which Rust's own does not.
pub(super) fn install_panic_hook() {
    std::panic::set_hook(Box::new(print_panic));
}

#[expect(clippy::print_stderr, reason = "a plugin reports a panic to its host on stderr")]
fn print_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("of an unusual kind");
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let trace = Backtrace::capture();
    match trace.status() {
        // In one call, which locks stderr: the host takes the lines after `panic: ` as the trace.
        BacktraceStatus::Captured => eprintln!("panic: {message}\n{location}\n{trace}"),
        _ => eprintln!("panic: {message}\n{location}"),
    }
}
