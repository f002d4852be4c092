//! The table of seeded faults: for each rule of the conformance suite the one fault of the sound
//! provider that breaks it.

mod exchange;
mod kinds;
mod lifecycle;
mod planning;
mod process;
mod robustness;
mod schema;
mod start;
mod stored;
mod validation;

pub use exchange::{Continuation, Exchange, History};
pub use start::keep_stdout;

/// A change of the sound provider's behaviour.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// The fault of this name of the bad provider.
    Bad(&'static str),
    /// Runs before the provider serves; it may do without serving.
    Start(fn()),
    /// Runs before each call; it may answer instead of the provider.
    Before(fn(&mut Exchange) -> Continuation),
    /// Runs after each call and changes the answer.
    After(fn(&mut Exchange) -> Continuation),
    /// A mistake in the calls of the service, or in the use of its answers.
    Remote(RemoteBug),
    /// Answers methods that do not exist.
    AnswersUnknownMethods,
    /// A mistake in the files of the release.
    Release(ReleaseBug),
}

/// A mistake in the files of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseBug {
    /// The manifest has a protocol that the program does not serve.
    ForeignProtocol,
    /// An archive was changed after the checksums were computed.
    StaleChecksum,
}

/// A mistake in the calls of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteBug {
    /// Planning reserves a name.
    PlanPosts,
    /// Reading writes the stored value.
    ReadPuts,
    /// An update is sent although nothing has changed.
    PutsUnchanged,
    /// A new object that cannot be read is forgotten.
    ForgetsCreated,
    /// A failed update counts as not done.
    KeepsPrior,
    /// A failed delete counts as done.
    ForgetsUndestroyed,
    /// A failed create is sent again.
    PostsAgain,
    /// A new object that is not found immediately is lost.
    BelievesNotFound,
    /// Certificates are not verified.
    TrustsAnyone,
    /// A new object is registered for lists when its create has ended.
    RegistersLate,
    /// The timeout of a configuration is not read.
    IgnoresTimeouts,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The id of the rule.
    pub rule: &'static str,
    /// The level at which the suite finds the fault.
    pub level: u8,
    /// The fault.
    pub fault: Fault,
}

const fn row(rule: &'static str, level: u8, fault: Fault) -> Row {
    Row { rule, level, fault }
}

/// Iterates over the table.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [
        process::ROWS,
        schema::ROWS,
        validation::ROWS,
        planning::ROWS,
        lifecycle::ROWS,
        stored::ROWS,
        kinds::ROWS,
        robustness::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// Returns the fault of a rule.
#[must_use]
pub fn fault_of(rule: &str) -> Option<Fault> {
    rows().find(|row| row.rule == rule).map(|row| row.fault)
}
