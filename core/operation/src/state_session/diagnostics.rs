//! Diagnostics of a state session: operations that only the user can settle, and a state that could not
//! be stored.

use std::path::Path;

use formwork_backend::StoreError;
use formwork_core::config::Config;
use formwork_core::state::recover::UnresolvedOperation;
use formwork_value::Diagnostic;
use formwork_value::diag::Blame;
use formwork_value::quote::shell_quoted;

use crate::messages;

/// Reports an operation of unknown outcome, with the commands that settle it.
pub(super) fn decision_needed_error(one: &UnresolvedOperation, consequence: &str) -> Diagnostic {
    let detail = format!(
        "{}\n\n{consequence}. To settle it, run one of these:\n{}",
        one.describe_operation("the commands are below"),
        decision_commands(&shell_quoted(&one.addr.to_string()))
    );
    Diagnostic::error(messages::INTERRUPTED_OPERATION_NEEDS_DECISION, detail)
        .blame(Blame::Environment)
        .about(one.addr.to_string())
}

/// The commands by which a user settles the operation that is open about an address.
#[must_use]
pub fn decision_commands(addr: &str) -> String {
    let rows = [
        (format!("adopt {addr} ID"), "the object exists: take it into the state"),
        (format!("forget {addr}"), "it does not exist, or is not ours any more"),
        (format!("retry {addr}"), "nothing was done: do it again with the next apply"),
    ];
    let width = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let rows = rows.map(|(command, what)| format!("  formwork recover {command:width$}    {what}"));
    rows.join("\n")
}

/// Points at the block of the instance, if the configuration has it.
pub(super) fn point_at_instance_block(
    diagnostic: Diagnostic,
    config: &Config,
    one: &UnresolvedOperation,
) -> Diagnostic {
    let block = config.find_resource(&one.current_addr().resource_addr().config_addr());
    diagnostic.at_opt(block.map(|block| block.span))
}

/// Describes the use of the copy of a state that could not be stored.
pub(super) fn saved_copy_remedy(
    error: &StoreError,
    path: &Path,
    kept: Option<&Path>,
) -> Diagnostic {
    let is_other = matches!(
        error,
        StoreError::Changed { .. } | StoreError::OtherLineage { .. } | StoreError::Replaced { .. }
    );
    let path = path.display();
    let remedy = match is_other {
        true => {
            "Do not put it in the place of the stored state, which has changed since: that would forget what is new there. The journal has the results of this run, and the next command takes them over."
        }
        false => {
            "It is a copy for emergencies: the journal has the results of this run, and the next command takes them over. Only if the journal is lost, run `formwork state push errored.tfstate`."
        }
    };
    let kept = kept.map(|kept| {
        format!(" The one of an earlier run has other objects and is now {}.", kept.display())
    });
    let kept = kept.unwrap_or_default();
    let detail = format!("The state of this run was written to {path}. {remedy}{kept}");
    Diagnostic::warning(messages::STATE_SAVED_ASIDE, detail)
}
