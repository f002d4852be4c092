//! Prompts on the terminal. The caller interprets the answer.

#[cfg_attr(unix, path = "question/unix.rs")]
#[cfg_attr(not(unix), path = "question/windows.rs")]
mod system;

use std::io::{self, BufRead as _, Read as _};

use self::system::HiddenInput;
use crate::signals::SignalGuard;
use crate::view::{self, Paint, Screen};

/// Maximum size of an answer in bytes. An input without line breaks would exhaust the memory.
pub(super) const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// A prompt for the user.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompt<'q> {
    /// The subject, in one line.
    pub(super) title: &'q str,
    /// Further information; can be empty or have several lines.
    pub(super) explanation: &'q str,
    /// Whether to hide the typed answer.
    pub(super) secret: bool,
}

/// Reasons for a missing answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoAnswer {
    /// The input ended, or cannot be read.
    Ended,
    /// A signal interrupted the prompt.
    Interrupted,
}

/// Prompts, and returns the answer without trailing white space.
///
/// # Errors
/// Returns an error if the input ends or is interrupted before an answer.
pub(super) async fn ask_user(screen: &Screen, question: Prompt<'_>) -> Result<String, NoAnswer> {
    // Before the prompt is printed, so that an early Ctrl-C is not lost.
    let signals = SignalGuard::start_listening().map_err(|_| NoAnswer::Ended)?;
    view::print_out(&format!("{}\n", screen.paint(Paint::Bold, question.title)));
    if !question.explanation.is_empty() {
        let explanation = match view::is_stdout_terminal() {
            true => &screen.wrap(question.explanation),
            false => question.explanation,
        };
        view::print_out(&format!("  {}\n\n", explanation.replace('\n', "\n  ")));
    }
    // Before the prompt is printed, because a fast user types immediately afterwards.
    let silence = question.secret.then(HiddenInput::begin).flatten();
    view::print_out(&format!("  {} ", screen.paint(Paint::Bold, "Enter a value:")));
    let answer = read_line(signals).await;
    if silence.is_some() {
        // The line break was not shown either.
        drop(silence);
        view::print_out("\n");
    }
    view::print_out("\n");
    answer
}

/// Reads a line; an interrupt ends the wait.
async fn read_line(mut signals: SignalGuard) -> Result<String, NoAnswer> {
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().take(MAX_ANSWER_BYTES).read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        read = reading => read.ok().and_then(Result::ok).unwrap_or_default(),
        () = signals.next() => return Err(NoAnswer::Interrupted),
    };
    // A line without a line break was not confirmed.
    if line.ends_with('\n') { Ok(line.trim_end().to_owned()) } else { Err(NoAnswer::Ended) }
}
