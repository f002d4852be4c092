//! Collected diagnostics, and the receipt that proves that an error was reported. The module does not
//! render them.

mod called_function;
mod message;
mod span;
#[cfg(test)]
mod tests;

pub use called_function::{CalledFunction, CalledFunctionParam};
pub use message::{Catalogue, Code, Message, Summary};
pub use span::{Position, SourceId, Sources, Span};

use crate::Path;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The operation cannot be performed.
    Error,
    /// The operation continues.
    Warning,
}

/// Returns an error as a sentence, with a capital letter and a period.
#[must_use]
pub fn to_sentence(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(chars).chain(std::iter::once('.')).collect()
}

/// Party at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// User input: configuration, flags, variables.
    User,
    /// A provider plugin.
    Provider,
    /// The machine, network, disk or another process.
    Environment,
    /// This program.
    Internal,
}

/// The description of the value of a reference, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencedValue {
    /// The traversal as written, `var.size`.
    pub traversal: String,
    /// Description of the value: `is "x"`, `is a list of string with 2 elements`.
    pub statement: String,
}

/// A diagnostic: one error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity of the problem.
    pub severity: Severity,
    /// Party at fault.
    pub blame: Blame,
    /// The code of the message. Diagnostics of other programs have none.
    pub code: Option<Code>,
    /// Short statement of the problem, without a final period.
    pub summary: String,
    /// Location, finding and remedy, in that order; may be empty.
    pub detail: String,
    /// The source span of the problem.
    pub subject: Option<Span>,
    /// The enclosing source span to show with the subject.
    pub context: Option<Span>,
    /// The address of the resource, provider or variable concerned.
    pub address: Option<String>,
    /// Path inside the value of `address`.
    pub path: Option<Path>,
    /// References in the expression at `subject`, with their values.
    pub referenced: Vec<ReferencedValue>,
    /// The function whose call failed, if any.
    pub function: Option<Box<CalledFunction>>,
    /// Whether a `check` block reports this. Such a warning is repeated when the plan is applied.
    pub of_check: bool,
    /// The address of the object whose condition failed or is unknown, if that is the problem.
    pub condition_of: Option<Box<str>>,
}

/// Removes the numbers of operating system errors from a string: ` (os error 2)`.
#[must_use]
pub fn without_error_numbers(mut text: String) -> String {
    const OS_ERROR_NUMBER_PREFIX: &str = " (os error ";
    let mut from = 0;
    while let Some(at) =
        text.get(from..).and_then(|rest| rest.find(OS_ERROR_NUMBER_PREFIX)).map(|at| from + at)
    {
        let rest = text.get(at + OS_ERROR_NUMBER_PREFIX.len()..).unwrap_or_default();
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if n_digits > 0 && rest.as_bytes().get(n_digits) == Some(&b')') {
            text.replace_range(at..=at + OS_ERROR_NUMBER_PREFIX.len() + n_digits, "");
        }
        // Continues after the mark even if it was kept. Otherwise a mark without a number would be found
        // forever.
        from = at + 1;
    }
    text
}

impl Diagnostic {
    /// Creates an error caused by the user. The numbers that the standard library adds to operating
    /// system errors are removed.
    #[must_use]
    pub fn error(summary: impl Into<Summary>, detail: impl Into<String>) -> Self {
        let Summary { code, text } = summary.into();
        let detail = without_error_numbers(detail.into());
        Self { code: Some(code), ..Self::foreign(Severity::Error, text, detail) }
    }

    /// Creates a warning about user input.
    #[must_use]
    pub fn warning(summary: impl Into<Summary>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(summary, detail) }
    }

    /// Creates a diagnostic of another program, such as a provider. Its text is kept, and it has no
    /// code.
    #[must_use]
    pub fn foreign(
        severity: Severity,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            blame: Blame::User,
            code: None,
            summary: summary.into(),
            detail: detail.into(),
            subject: None,
            context: None,
            address: None,
            path: None,
            referenced: Vec::new(),
            function: None,
            of_check: false,
            condition_of: None,
        }
    }

    /// Sets the party at fault.
    #[must_use]
    pub fn blamed_on(self, blame: Blame) -> Self {
        Self { blame, ..self }
    }

    /// Sets the source span of the problem.
    #[must_use]
    pub fn at(self, subject: Span) -> Self {
        Self { subject: Some(subject), ..self }
    }

    /// Sets the source span of the problem, if any.
    #[must_use]
    pub fn at_opt(self, subject: Option<Span>) -> Self {
        Self { subject: subject.or(self.subject), ..self }
    }

    /// Sets the source context of the subject.
    #[must_use]
    pub fn with_source_context(self, context: Span) -> Self {
        Self { context: Some(context), ..self }
    }

    /// Sets the address of the resource, provider or variable concerned.
    #[must_use]
    pub fn about(self, address: impl Into<String>) -> Self {
        Self { address: Some(address.into()), ..self }
    }

    /// Sets the path inside the value concerned.
    #[must_use]
    pub fn at_path(self, path: Path) -> Self {
        Self { path: Some(path), ..self }
    }

    /// Adds the values of the references in the expression at the subject.
    #[must_use]
    pub fn with_referenced_values(self, referenced: Vec<ReferencedValue>) -> Self {
        Self { referenced, ..self }
    }

    /// Marks the diagnostic as one of a `check` block.
    #[must_use]
    pub fn of_check_block(self) -> Self {
        Self { of_check: true, ..self }
    }

    /// Sets the address of the object whose condition failed.
    #[must_use]
    pub fn with_failed_condition_of(self, object: impl std::fmt::Display) -> Self {
        Self { condition_of: Some(object.to_string().into()), ..self }
    }

    /// Returns whether this diagnostic has a message.
    #[must_use]
    pub fn is_about_message(&self, message: &Message) -> bool {
        self.code == Some(message.code)
    }

    /// Replaces the summary and its code.
    #[must_use]
    pub fn with_summary(self, summary: impl Into<Summary>) -> Self {
        let Summary { code, text } = summary.into();
        Self { code: Some(code), summary: text, ..self }
    }

    /// Returns whether this is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The receipt for an error that was pushed into a [`Diagnostics`]. It cannot be created in any other
/// way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Reported(());

/// Collected diagnostics, in order of occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    n_errors: usize,
}

impl Diagnostics {
    /// Creates an empty collection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an error and returns its receipt. A diagnostic of another severity is raised to an error.
    pub fn error(&mut self, diagnostic: Diagnostic) -> Reported {
        self.n_errors += 1;
        self.list.push(Diagnostic { severity: Severity::Error, ..diagnostic });
        Reported(())
    }

    /// Adds a warning. A diagnostic of another severity is lowered to a warning.
    pub fn warn(&mut self, diagnostic: Diagnostic) {
        self.list.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
    }

    /// Adds a diagnostic, and returns a receipt if it is an error.
    pub fn push(&mut self, diagnostic: Diagnostic) -> Result<(), Reported> {
        if diagnostic.is_error() {
            Err(self.error(diagnostic))
        } else {
            self.warn(diagnostic);
            Ok(())
        }
    }

    /// Moves all diagnostics from another collection to the end of this one, and returns a receipt if it
    /// contained an error.
    pub fn append(&mut self, other: Self) -> Result<(), Reported> {
        self.n_errors += other.n_errors;
        let failed = other.n_errors > 0;
        self.list.extend(other.list);
        if failed { Err(Reported(())) } else { Ok(()) }
    }

    /// Fails with a receipt if any error was reported.
    pub fn fail_if_errors(&self) -> Result<(), Reported> {
        if self.n_errors > 0 { Err(Reported(())) } else { Ok(()) }
    }

    /// Returns whether any error was reported.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Returns whether no diagnostic was reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Iterates over the diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Rewrites every diagnostic from position `from` on, for example to add an address.
    /// The severity cannot be changed this way.
    pub fn map_from_position(&mut self, from: usize, change: impl Fn(Diagnostic) -> Diagnostic) {
        let tail = self.list.split_off(from.min(self.list.len()));
        self.list.extend(tail.into_iter().map(|diagnostic| {
            // An error that becomes a warning would leave receipts without an error.
            let severity = diagnostic.severity;
            Diagnostic { severity, ..change(diagnostic) }
        }));
    }

    /// Drops the warnings of `check` blocks before they are reported again.
    pub fn drop_check_warnings(&mut self) {
        self.list.retain(|diagnostic| diagnostic.is_error() || !diagnostic.of_check);
    }

    /// Returns the number of diagnostics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
