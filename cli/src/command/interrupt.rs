//! Handles signals: the first Ctrl-C stops a command gracefully, the second immediately. Reports the
//! providers that a command waits for.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use formwork_core::provider::{CallWatch, PendingCall, ProviderPool};
use formwork_operation::CancellationToken;
use formwork_operation::launcher::Launcher;

use super::operation::PreparedConfig;
use crate::signals::SignalGuard;
use crate::view::operation_report::OperationReport;
use crate::view::{self, Screen};

const FIRST_INTERRUPT_MESSAGE: &str = "\nInterrupt received.\nPlease wait for Formwork to exit or data loss may occur.\nGracefully shutting down...\n\n";
const SECOND_INTERRUPT_MESSAGE: &str = "\nTwo interrupts received. Exiting immediately.";
/// The call that changes an object.
const CHANGING_CALL_NAME: &str = "ApplyResourceChange";

/// Default time without a response after which a pending provider call is reported.
const REMINDER_DELAY: Duration = Duration::from_secs(10);
/// Maximum number of calls in one report.
const MAX_LISTED_CALLS: usize = 10;
/// Calls that can take long, and whose progress the run reports itself.
const CALLS_WITHOUT_REMINDER: [&str; 5] = [
    "ApplyResourceChange",
    "ReadDataSource",
    "OpenEphemeralResource",
    "RenewEphemeralResource",
    "CloseEphemeralResource",
];

/// Work that a signal may end early.
struct InterruptibleWork<'a> {
    kind: WorkKind,
    /// Returns the calls that have been pending for at least the given time.
    calls: &'a dyn Fn(Duration) -> Vec<PendingCall>,
    /// Reports an interrupt.
    report: &'a dyn Fn(&str),
    launcher: &'a Launcher,
    /// Time without a response after which a pending provider call is reported, if it is set.
    reminder_delay: Option<Duration>,
    cancellation: &'a CancellationToken,
}

/// A kind of work, for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkKind {
    Operation,
    Tests,
}

/// Tests that a signal may end early.
#[derive(Clone, Copy)]
pub(super) struct InterruptibleTests<'a> {
    /// Reports an interrupt.
    pub(super) report: &'a OperationReport,
    /// Watch of provider calls.
    pub(super) calls: &'a CallWatch,
    /// Starter of the providers.
    pub(super) launcher: &'a Launcher,
    /// Time without a response after which a pending provider call is reported, if it is set.
    pub(super) reminder_delay: Option<Duration>,
    /// Cancelled by the first signal.
    pub(super) cancellation: &'a CancellationToken,
}

/// Runs the work until it ends. The first signal cancels the token, which ends the work soon. After a second
/// signal, the providers are killed, the work is dropped, and `None` is returned.
pub(super) async fn run_until_interrupted<T>(
    work: impl Future<Output = T>,
    pool: &ProviderPool<'_>,
    prepared: &PreparedConfig<'_>,
    cancellation: &CancellationToken,
) -> Option<T> {
    let screen = Screen::of(prepared.workspace.env);
    let interruptible = InterruptibleWork {
        kind: WorkKind::Operation,
        calls: &|minimum| pool.calls_waiting_at_least(minimum),
        report: &|text| view::print_err(&screen.wrap(text)),
        launcher: &prepared.launcher,
        reminder_delay: prepared.workspace.env.plugin_reminder_delay,
        cancellation,
    };
    interruptible.run(work).await
}

/// Runs tests until they end. The first signal cancels the token: the current run ends soon, and no further
/// run starts. After a second signal, the providers are killed, the tests are dropped, and `None` is
/// returned.
pub(super) async fn run_tests_until_interrupted<T>(
    work: impl Future<Output = T>,
    tests: InterruptibleTests<'_>,
) -> Option<T> {
    let InterruptibleTests { report, calls, launcher, reminder_delay, cancellation } = tests;
    let interruptible = InterruptibleWork {
        kind: WorkKind::Tests,
        calls: &|minimum| calls.calls_waiting_at_least(minimum),
        report: &|text| report.report_interrupt(text),
        launcher,
        reminder_delay,
        cancellation,
    };
    interruptible.run(work).await
}

impl InterruptibleWork<'_> {
    /// Runs the work until it ends. Returns `None` after a second signal.
    async fn run<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(work);
        let Ok(mut signals) = SignalGuard::start_listening() else { return Some(work.await) };
        let mut reminding = std::pin::pin!(self.remind_of_slow_calls());
        tokio::select! {
            // A signal that arrives together with the end of the work counts, so that the next one is not
            // treated as the first.
            biased;
            () = signals.next() => {}
            result = &mut work => return Some(result),
            never = &mut reminding => match never {},
        }
        (self.report)(FIRST_INTERRUPT_MESSAGE);
        (self.report)(&self.next_interrupt_effect());
        self.cancellation.cancel();
        tokio::select! {
            biased;
            result = &mut work => return Some(result),
            () = signals.next() => {}
            never = &mut reminding => match never {},
        }
        (self.report)(&format!("{SECOND_INTERRUPT_MESSAGE} {}\n", self.unfinished_changes_text()));
        view::print_err(&format_call_list(&(self.calls)(Duration::ZERO)));
        self.launcher.kill();
        None
    }

    /// Counts the changes in progress.
    fn count_changing_calls(&self) -> usize {
        let waiting = (self.calls)(Duration::ZERO);
        waiting.iter().filter(|call| call.call == CHANGING_CALL_NAME).count()
    }

    /// Explains the effect of the next interrupt.
    fn next_interrupt_effect(&self) -> String {
        let effect = match self.count_changing_calls() {
            0 => "No change is in progress. A second interrupt exits immediately.".to_owned(),
            1 => "Waiting for 1 change in progress. A second interrupt exits immediately and leaves it in the journal as unfinished.".to_owned(),
            n => format!("Waiting for {n} changes in progress. A second interrupt exits immediately and leaves them in the journal as unfinished."),
        };
        match self.kind {
            WorkKind::Operation => format!("{effect}\n\n"),
            WorkKind::Tests => format!(
                "{effect} It also leaves objects that the tests created, which are destroyed otherwise.\n\n"
            ),
        }
    }

    /// Counts the changes that an immediate exit leaves unfinished.
    fn unfinished_changes_text(&self) -> String {
        let reader = match self.kind {
            WorkKind::Operation => "the next command",
            WorkKind::Tests => "the next command with the state of the run",
        };
        match self.count_changing_calls() {
            0 => "No change was in progress.".to_owned(),
            1 => format!(
                "A change was in progress. It is in the journal; {reader} reports its outcome."
            ),
            n => format!(
                "{n} changes were in progress. They are in the journal; {reader} reports their outcome."
            ),
        }
    }

    /// Periodically reports calls that have been pending longer than the configured time.
    async fn remind_of_slow_calls(&self) -> Infallible {
        let delay = self.reminder_delay.unwrap_or(REMINDER_DELAY).max(Duration::from_secs(1));
        loop {
            tokio::time::sleep(delay).await;
            let mut waiting = (self.calls)(delay);
            waiting.retain(|call| !CALLS_WITHOUT_REMINDER.contains(&call.call));
            if !waiting.is_empty() {
                view::print_err(&format!("\nStill waiting:\n{}", format_call_list(&waiting)));
            }
        }
    }
}

fn format_call_list(waiting: &[PendingCall]) -> String {
    let listed = waiting.iter().take(MAX_LISTED_CALLS);
    let mut text: String = listed
        .map(|call| format!("- {call}, pending for {} s\n", call.elapsed.as_secs()))
        .collect();
    if let Some(more) = waiting.len().checked_sub(MAX_LISTED_CALLS).filter(|more| *more > 0) {
        text.push_str(&format!("- and {more} more\n"));
    }
    text
}
