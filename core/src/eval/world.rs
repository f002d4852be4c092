//! What expressions can learn of the world outside the configuration.

use formwork_value::Str;

/// What `path`, `terraform` and the functions answer with; the same throughout a run.
pub struct World {
    /// The folder the command was started in, absolute: `path.cwd`.
    pub cwd: Str,
    /// The folder of the root module as the author sees it: `path.root`, usually `.`.
    pub root: Str,
    /// The selected workspace: `terraform.workspace`.
    pub workspace: Str,
    /// Whether changes are being made: `terraform.applying`.
    pub applying: bool,
}
