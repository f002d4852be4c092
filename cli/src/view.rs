//! Human-readable and machine-readable output. Only this module prints.

pub(crate) mod elapsed;
mod ephemeral;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod operation_report;
mod phase_counter;
pub(crate) mod sanitize;

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::{LazyLock, OnceLock};

use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, Message, Sources};

use crate::env::Env;
use crate::exit::Exit;
use crate::messages;

/// Destination and style of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Whether colour is shown on stdout.
    pub(crate) color: bool,
    /// Number of columns of stdout.
    pub(crate) width: usize,
    /// Whether the last line of stdout can be erased.
    pub(crate) erases: bool,
}

/// Minimum number of columns for wrapped text.
const MIN_WRAP_COLUMNS: usize = 20;

impl Screen {
    /// Determines the properties of the terminal.
    pub(crate) fn of(env: &Env) -> Self {
        let width = stdout_columns();
        let color = is_stdout_terminal() && !env.no_color;
        let erases = color && !env.dumb_terminal && width >= MIN_WRAP_COLUMNS;
        Self { color, width: width.clamp(MIN_WRAP_COLUMNS, 120), erases }
    }

    /// A screen for reports outside of a command, without the user's settings.
    fn without_settings() -> Self {
        let width = stdout_columns().clamp(MIN_WRAP_COLUMNS, 120);
        Self { color: false, width, erases: false }
    }

    /// Paints text, if colour is shown.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if self.color && paint != Paint::Plain {
            format!("{}{text}{RESET_SEQUENCE}", paint.ansi_code())
        } else {
            text.to_owned()
        }
    }

    /// Wraps paragraphs to the width of the screen.
    pub(crate) fn wrap(&self, text: &str) -> String {
        human::wrap::wrap_text(text, self.width.saturating_sub(1)).join("\n")
    }

    /// A line across the screen, between planned changes and notes.
    pub(crate) fn horizontal_line(&self) -> String {
        self.paint(Paint::Dim, &"─".repeat(self.width.saturating_sub(1)))
    }
}

/// The sequence that ends emphasized text.
const RESET_SEQUENCE: &str = "\u{1b}[0m";

/// Emphasis of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
    BoldRed,
    BoldGreen,
    BoldYellow,
    Underline,
}

impl Paint {
    fn ansi_code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[90m",
            Self::Red => "\u{1b}[31m",
            Self::Green => "\u{1b}[32m",
            Self::Yellow => "\u{1b}[33m",
            Self::Cyan => "\u{1b}[36m",
            Self::BoldRed => "\u{1b}[1;31m",
            Self::BoldGreen => "\u{1b}[1;32m",
            Self::BoldYellow => "\u{1b}[1;33m",
            Self::Underline => "\u{1b}[4m",
        }
    }
}

/// Whether stdout is a terminal. The result is cached, because every line of output depends on it.
pub(crate) fn is_stdout_terminal() -> bool {
    static STDOUT_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| std::io::stdout().is_terminal());
    *STDOUT_IS_TERMINAL
}

/// Number of columns of the terminal, or a default.
fn stdout_columns() -> usize {
    let columns = is_stdout_terminal().then(terminal_size::terminal_size).flatten();
    columns.map_or(78, |(width, _)| usize::from(width.0))
}

/// The error of a failed write to stdout, except for a closed pipe.
static OUTPUT_WRITE_ERROR: OnceLock<String> = OnceLock::new();

/// Prints human-readable text to stdout. Control characters are escaped, except for line breaks, tabs and
/// colours.
///
/// A closed pipe is not an error. [`exit_code`] reports other write errors.
pub(crate) fn print_out(text: &str) {
    write_out(&sanitize::sanitize_painted_output(text, is_stdout_terminal()));
}

/// Prints machine-readable data to stdout: unchanged, unless stdout is a terminal.
pub(crate) fn print_data(data: &str) {
    if is_stdout_terminal() { print_out(data) } else { write_out(data) }
}

/// Shows a line that the next one replaces, if stdout is a terminal. An empty line removes it.
pub(crate) fn print_transient(screen: &Screen, text: &str) {
    if is_stdout_terminal() {
        let line: String =
            sanitize::sanitize_line(text).chars().take(screen.width.saturating_sub(1)).collect();
        write_out(&format!("\r\u{1b}[K{line}"));
    }
}

fn write_out(text: &str) {
    phase_counter::erase_counter();
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = written.as_ref()
        && error.kind() != ErrorKind::BrokenPipe
    {
        OUTPUT_WRITE_ERROR.get_or_init(|| error.to_string());
    }
}

/// The exit code of a command. It is a failure if a write to stdout failed, for example because the disk is
/// full: the caller must not treat partial output as complete.
pub(crate) fn exit_code(exit: Exit) -> ExitCode {
    phase_counter::erase_counter();
    match OUTPUT_WRITE_ERROR.get() {
        Some(reason) => print_fatal(messages::OUTPUT_NOT_WRITTEN, format!("{reason}.")),
        None => exit.into(),
    }
}

/// Prints human-readable text to stderr, as [`print_out`] does to stdout.
pub(crate) fn print_err(text: &str) {
    phase_counter::erase_counter();
    // Whether colour is used depends only on stdout.
    let text = sanitize::sanitize_painted_output(text, is_stdout_terminal());
    let mut stderr = std::io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
}

/// Prints a diagnostic to stderr, outside of the report of a command.
pub(crate) fn print_diagnostic(diagnostic: &Diagnostic) {
    let (screen, sources) = (Screen::without_settings(), Sources::new());
    print_err(&human::diagnostic::render_one_diagnostic(&screen, &sources, diagnostic));
}

/// Prints an error that prevents the program from starting or ending normally.
pub(crate) fn print_fatal(message: &'static Message, detail: impl Into<String>) -> ExitCode {
    print_diagnostic(&Diagnostic::error(message, detail).blamed_on(Blame::Environment));
    ExitCode::from(1)
}
