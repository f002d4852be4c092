//! The type of a backend: its arguments, and the constructor of a backend from their values.

use std::sync::Arc;

use formwork_value::Diagnostic;
use formwork_value::schema::Block;

use crate::Backend;
pub use crate::arguments::{BackendArguments, BackendEnvironment, RequiredArgument};
pub use crate::config_error::ConfigError;

/// A type of backend.
///
/// ```
/// use formwork_backend::kinds::find_backend_kind;
///
/// let kind = find_backend_kind("local").unwrap();
/// assert_eq!(kind.name(), "local");
/// assert!(kind.schema().attributes.contains_key("workspace_dir"));
/// ```
pub trait BackendKind: Send + Sync {
    /// The name in the `backend` or `state_store` block.
    fn name(&self) -> &str;

    /// Its row in `docs/backends.md`.
    fn summary(&self) -> BackendSummary;

    /// The arguments. None is required in a block: each may come from the environment or an option.
    fn schema(&self) -> Block;

    /// The arguments that only a block, an option or an answer to a question can set, in the order of their names.
    fn required_arguments(&self) -> &'static [RequiredArgument] {
        &[]
    }

    /// Makes a backend. Asks nothing of its place yet.
    ///
    /// # Errors
    /// Returns an error if an argument is missing or invalid.
    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError>;

    /// Whether the intents of runs are stored only on the machine of the run, although other machines may use
    /// the state, unless the store has copies ([`Backend::shares_journals`]).
    fn keeps_journals_on_one_machine(&self) -> bool {
        true
    }

    /// Warnings about deprecated arguments and environment variables that still work.
    fn warnings(&self, _arguments: &BackendArguments<'_>) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// A description of a type of backend, for a table of all types. The texts are Markdown.
///
/// ```
/// use formwork_backend::kinds::find_backend_kind;
///
/// let summary = find_backend_kind("local").unwrap().summary();
/// assert_eq!((summary.lock, summary.release), ("on the file", "with the process"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BackendSummary {
    /// Whether it stores states of workspaces other than the default one.
    pub has_workspaces: bool,
    /// The lock of a state.
    pub lock: &'static str,
    /// The release of the lock after its process has ended without it.
    pub release: &'static str,
}
