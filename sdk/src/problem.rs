//! Errors of handlers. Other errors are converted by `?`. A handler reports a problem by returning
//! it.

use std::error::Error;
use std::fmt;

use formwork_plugin_protocol::message::DeferredReason;
use formwork_value::diag::{Severity, without_error_numbers};
use formwork_value::{Diagnostic, Path};

/// Result of a handler: the value, or the problem.
pub type Answer<T> = Result<T, Problem>;

/// One or several errors of a handler. `?` converts any error, with its sources. The request to the
/// provider is the default summary.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// fn port(text: &str) -> Answer<u16> {
///     let port = text.parse()?;
///     match port {
///         0 => Err(Problem::new("No such port", "Ports are counted from 1.").at("port")),
///         _ => Ok(port),
///     }
/// }
///
/// assert_eq!(port("x").unwrap_err().detail(), "invalid digit found in string");
/// assert_eq!(port("0").unwrap_err().summary(), "No such port");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Problem {
    first: SingleError,
    more: Vec<SingleError>,
    /// Marks a deferred answer instead of an error.
    deferred: Option<DeferredReason>,
}

/// One error of a problem.
#[derive(Clone, PartialEq, Eq)]
struct SingleError {
    /// `None` until the operation is known.
    summary: Option<String>,
    detail: String,
    path: Path,
    /// The position of the invalid argument, in calls of functions.
    argument: Option<usize>,
}

impl Problem {
    /// A problem with a summary without a final period, and a detail with location, finding and
    /// remedy.
    #[must_use]
    pub fn new(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::from_summary_and_detail(Some(summary.into()), detail.into())
    }

    /// A problem with only a detail. The operation becomes its summary.
    #[must_use]
    pub fn from_detail(detail: impl Into<String>) -> Self {
        Self::from_summary_and_detail(None, detail.into())
    }

    fn from_summary_and_detail(summary: Option<String>, detail: String) -> Self {
        let first = SingleError { summary, detail, path: Path::root(), argument: None };
        Self { first, more: Vec::new(), deferred: None }
    }

    /// The result of a handler that defers its answer. It also has a message, for calls whose
    /// answers cannot be deferred.
    pub(crate) fn deferred(reason: DeferredReason) -> Self {
        let detail =
            "The provider puts off an answer that is needed now. This is a bug in the provider.";
        Self { deferred: Some(reason), ..Self::new("Unexpected deferral", detail) }
    }

    /// The reason for the deferral, if the answer is deferred.
    pub(crate) fn deferral_reason(&self) -> Option<DeferredReason> {
        self.deferred
    }

    /// Sets the attribute at fault: its name, names from the outside in with dots between them, or
    /// a [`Path`].
    #[must_use]
    pub fn at(mut self, path: impl Into<ProblemPath>) -> Self {
        self.first.path = path.into().0;
        self
    }

    /// Sets the argument of a function at fault, from 0.
    #[must_use]
    pub fn of_argument(mut self, index: usize) -> Self {
        self.first.argument = Some(index);
        self
    }

    /// Both problems. An error takes precedence over a deferral.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        // A problem takes precedence over a deferral, because it would still exist later.
        match (self.deferred, other.deferred) {
            (Some(_), _) => other,
            (None, Some(_)) => self,
            (None, None) => {
                self.more.push(other.first);
                self.more.extend(other.more);
                self
            }
        }
    }

    /// Combines all problems into one answer.
    ///
    /// # Errors
    /// When there is at least one problem.
    pub fn fail_if_any(problems: impl IntoIterator<Item = Self>) -> Answer<()> {
        problems.into_iter().reduce(Self::and).map_or(Ok(()), Err)
    }

    /// The summary of the first error; empty if it has none.
    #[must_use]
    pub fn summary(&self) -> &str {
        self.first.summary.as_deref().unwrap_or_default()
    }

    /// The detail of the first error.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.first.detail
    }

    pub(crate) fn path(&self) -> &Path {
        &self.first.path
    }

    pub(crate) fn argument_index(&self) -> Option<usize> {
        self.first.argument
    }

    /// The problems as diagnostics. `doing` is the summary of those without one.
    pub(crate) fn diagnostics(self, default_summary: &str) -> impl Iterator<Item = Diagnostic> {
        let problems = std::iter::once(self.first).chain(self.more);
        problems.map(move |SingleError { summary, detail, path, .. }| {
            // Hosts show the summary as a title, which must not be empty.
            let summary = summary.unwrap_or_else(|| default_summary.to_owned());
            let detail = without_error_numbers(detail);
            Diagnostic::foreign(Severity::Error, summary, detail).at_path(path)
        })
    }

    fn with_default_summary(mut self, summary: String) -> Self {
        let problems = std::iter::once(&mut self.first).chain(&mut self.more);
        for problem in problems {
            problem.summary.get_or_insert_with(|| summary.clone());
        }
        self
    }
}

/// Prints the problems unchanged, so that a failing test is readable.
impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in std::iter::once(&self.first).chain(&self.more).enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            let summary = problem.summary.as_deref().unwrap_or("?");
            write!(f, "{gap}{summary}: {}", problem.detail)?;
        }
        Ok(())
    }
}

// `Problem` is no `Error` itself, or this would overlap with `From<T> for T`.
impl<E: Error> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::from_detail(error_with_sources(&error))
    }
}

/// An error with all its sources. Many errors include the message of their source, which is then
/// not repeated.
fn error_with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        // Many errors have the words of their source in their own.
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        source = cause.source();
    }
    text
}

/// Path inside an object.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// let problem = || Problem::new("No such port", "Ports are counted from 1.");
/// let path = Path::root().attribute("network").attribute("port");
/// assert_eq!(problem().at("network.port"), problem().at(path));
/// ```
#[derive(Clone, Debug)]
pub struct ProblemPath(Path);

impl From<&str> for ProblemPath {
    fn from(names: &str) -> Self {
        Self(names.split('.').fold(Path::root(), |path, name| path.attribute(name)))
    }
}

impl From<&String> for ProblemPath {
    fn from(names: &String) -> Self {
        names.as_str().into()
    }
}

impl From<Path> for ProblemPath {
    fn from(path: Path) -> Self {
        Self(path)
    }
}

/// Sets the summary of an error.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// let problem = "x".parse::<u16>().or_fail("Invalid port").unwrap_err();
/// assert_eq!(problem.summary(), "Invalid port");
/// assert_eq!(problem.detail(), "invalid digit found in string");
/// ```
pub trait OrFailWithSummary<T> {
    /// Returns the value, or the error with this summary unless it already has one.
    ///
    /// # Errors The error of the value.
    fn or_fail(self, summary: impl Into<String>) -> Answer<T>;
}

impl<T, E: Into<Problem>> OrFailWithSummary<T> for Result<T, E> {
    fn or_fail(self, summary: impl Into<String>) -> Answer<T> {
        self.map_err(|error| error.into().with_default_summary(summary.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError, bool);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.1 {
                true => write!(f, "no port: {}", self.0),
                false => f.write_str("no port"),
            }
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_is_reported_once_with_its_causes() {
        for says_so in [true, false] {
            let error = Outer("x".parse::<i32>().unwrap_err(), says_so);
            assert_eq!(Problem::from(error).detail(), "no port: invalid digit found in string");
        }
    }

    #[test]
    fn the_default_summary_applies_to_all_problems_without_one() {
        let problem = Problem::from_detail("a").and(Problem::new("own", "b").at("c.d"));
        let problem = Err::<(), _>(problem).or_fail("given").or_fail("late").unwrap_err();
        assert_eq!(format!("{problem:?}"), "given: a\nown: b");
        let diagnostics: Vec<_> = problem.diagnostics("later").collect();
        assert_eq!(diagnostics[1].path, Some(Path::root().attribute("c").attribute("d")));
        let without = Problem::from_detail("a").diagnostics("Unable to read x");
        assert_eq!(
            without.map(|diagnostic| diagnostic.summary).collect::<Vec<_>>(),
            ["Unable to read x"]
        );
    }

    #[test]
    fn a_problem_takes_precedence_over_a_deferral() {
        let later = || Problem::deferred(DeferredReason::AbsentPrerequisite);
        assert_eq!(
            later().and(later()).deferral_reason(),
            Some(DeferredReason::AbsentPrerequisite)
        );
        for combined in
            [later().and(Problem::from_detail("a")), Problem::from_detail("a").and(later())]
        {
            assert_eq!(
                (combined.deferral_reason(), format!("{combined:?}")),
                (None, "?: a".to_owned())
            );
        }
    }

    #[test]
    fn an_empty_list_of_problems_is_a_success() {
        assert_eq!(Problem::fail_if_any([]), Ok(()));
        let combined =
            Problem::fail_if_any([Problem::new("a", ""), Problem::new("b", "")]).unwrap_err();
        assert_eq!(format!("{combined:?}"), "a: \nb: ");
    }
}
