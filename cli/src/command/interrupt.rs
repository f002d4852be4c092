//! Handles signals: the first Ctrl-C stops a command gracefully, the second at once. Names the
//! providers that a command waits for.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use formwork_core::provider::{PendingCall, ProviderPool};
use formwork_operation::CancellationToken;

use super::operation::PreparedConfig;
use crate::signals::SignalGuard;
use crate::view::operation_report::OperationReport;
use crate::view::{self, Screen};

const FIRST_INTERRUPT_MESSAGE: &str = "\nInterrupt received.\nPlease wait for Formwork to exit or data loss may occur.\nGracefully shutting down...\n\n";
const SECOND_INTERRUPT_MESSAGE: &str = "\nTwo interrupts received. Exiting immediately.";
/// The call that changes an object.
const CHANGING_CALL_NAME: &str = "ApplyResourceChange";

/// Time without an answer after which a provider is mentioned, unless set otherwise.
const REMINDER_DELAY: Duration = Duration::from_secs(10);
/// Maximum number of calls mentioned at once.
const MAX_LISTED_CALLS: usize = 10;
/// Calls that may well take long, and of which the run tells by itself now and then.
const CALLS_WITHOUT_REMINDER: [&str; 5] = [
    "ApplyResourceChange",
    "ReadDataSource",
    "OpenEphemeralResource",
    "RenewEphemeralResource",
    "CloseEphemeralResource",
];

/// Does the work until it ends. After one signal the token is cancelled, by which the work is to end
/// soon; after a second one the providers are killed and the work is dropped: `None`.
pub(super) async fn run_until_interrupted<T>(
    work: impl Future<Output = T>,
    pool: &ProviderPool<'_>,
    prepared: &PreparedConfig<'_>,
    cancellation: &CancellationToken,
) -> Option<T> {
    tokio::pin!(work);
    let Ok(mut signals) = SignalGuard::start_listening() else { return Some(work.await) };
    let patience = prepared.workspace.env.plugin_patience.unwrap_or(REMINDER_DELAY);
    let mut reminding =
        std::pin::pin!(remind_of_slow_calls(pool, patience.max(Duration::from_secs(1))));
    tokio::select! {
        // One that comes with the end of the work counts, so that the next is not taken for the first.
        biased;
        () = signals.next() => {}
        result = &mut work => return Some(result),
        never = &mut reminding => match never {},
    }
    let screen = Screen::of(prepared.workspace.env);
    view::print_err(&screen.wrap(FIRST_INTERRUPT_MESSAGE));
    view::print_err(
        &screen.wrap(&next_interrupt_effect(&pool.calls_waiting_at_least(Duration::ZERO))),
    );
    cancellation.cancel();
    tokio::select! {
        biased;
        result = &mut work => return Some(result),
        () = signals.next() => {}
        never = &mut reminding => match never {},
    }
    let waiting = pool.calls_waiting_at_least(Duration::ZERO);
    view::print_err(
        &screen
            .wrap(&format!("{SECOND_INTERRUPT_MESSAGE} {}\n", unfinished_changes_text(&waiting))),
    );
    view::print_err(&format_call_list(&waiting));
    prepared.launcher.kill();
    None
}

/// Runs tests until they end. After one signal the token is cancelled, by which no further run begins;
/// after a second one the tests are dropped: `None`.
pub(super) async fn run_tests_until_interrupted<T>(
    work: impl Future<Output = T>,
    report: &OperationReport,
    cancellation: &CancellationToken,
) -> Option<T> {
    tokio::pin!(work);
    let Ok(mut signals) = SignalGuard::start_listening() else { return Some(work.await) };
    tokio::select! {
        biased;
        () = signals.next() => {}
        result = &mut work => return Some(result),
    }
    report.report_interrupt(FIRST_INTERRUPT_MESSAGE);
    cancellation.cancel();
    tokio::select! {
        biased;
        result = &mut work => return Some(result),
        () = signals.next() => {}
    }
    report.report_interrupt(&format!("{SECOND_INTERRUPT_MESSAGE}\n"));
    None
}

fn count_changing_calls(waiting: &[PendingCall]) -> usize {
    waiting.iter().filter(|one| one.call == CHANGING_CALL_NAME).count()
}

/// Explains the effect of the next interrupt.
fn next_interrupt_effect(waiting: &[PendingCall]) -> String {
    match count_changing_calls(waiting) {
        0 => "No change is under way. A second interrupt exits at once.\n\n".to_owned(),
        1 => "1 change is under way and is waited for. A second interrupt exits at once and leaves it in the journal as unfinished.\n\n".to_owned(),
        n => format!("{n} changes are under way and are waited for. A second interrupt exits at once and leaves them in the journal as unfinished.\n\n"),
    }
}

/// Counts the changes that an immediate exit leaves unfinished.
fn unfinished_changes_text(waiting: &[PendingCall]) -> String {
    match count_changing_calls(waiting) {
        0 => "No change was under way.".to_owned(),
        1 => "A change was under way. It is in the journal; the next command reports its outcome."
            .to_owned(),
        n => format!(
            "{n} changes were under way. They are in the journal; the next command reports their outcome."
        ),
    }
}

/// Says now and then which calls have waited longer than `patience`.
async fn remind_of_slow_calls(pool: &ProviderPool<'_>, patience: Duration) -> Infallible {
    loop {
        tokio::time::sleep(patience).await;
        let mut waiting = pool.calls_waiting_at_least(patience);
        waiting.retain(|one| !CALLS_WITHOUT_REMINDER.contains(&one.call));
        if !waiting.is_empty() {
            view::print_err(&format!("\nStill waiting:\n{}", format_call_list(&waiting)));
        }
    }
}

fn format_call_list(waiting: &[PendingCall]) -> String {
    let shown = waiting.iter().take(MAX_LISTED_CALLS);
    let mut text: String =
        shown.map(|one| format!("- {one}, asked {} s ago\n", one.elapsed.as_secs())).collect();
    if let Some(more) = waiting.len().checked_sub(MAX_LISTED_CALLS).filter(|more| *more > 0) {
        text.push_str(&format!("- and {more} more\n"));
    }
    text
}
