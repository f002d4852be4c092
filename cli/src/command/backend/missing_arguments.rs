//! Questions for the arguments of a backend that it needs and the configuration leaves out, as in Terraform.

use super::InitRun;
use crate::command::operation::may_ask_user;
use crate::command::question::{Prompt, ask_user};
use crate::workspace::Workspace;
use crate::workspace::backend::BackendConfig;

/// Asks for the required arguments that have no value, and sets them to the answers. Without an answer they are left
/// out, and reported as missing by the backend.
pub(super) async fn ask_for_missing_arguments(
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    to: Option<&mut BackendConfig>,
) {
    let Some(to) = to else { return };
    if init.args.json || !may_ask_user(workspace.env, init.args.input) {
        return;
    }
    for argument in to.unset_required_arguments() {
        let question = Prompt { title: argument.name, about: argument.about, secret: false };
        // A user who ends one question is not asked the next.
        let Ok(answer) = ask_user(init.report.screen(), question).await else { return };
        // All of them are strings, so that any answer converts.
        let _set = to.set(argument.name, &answer);
    }
}
