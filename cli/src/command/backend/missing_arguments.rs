//! Prompts for required backend arguments that the configuration does not set, as in Terraform.

use super::InitRun;
use crate::command::operation::may_ask_user;
use crate::command::question::{Prompt, ask_user};
use crate::workspace::Workspace;
use crate::workspace::backend::BackendConfig;

/// Prompts for the required arguments without a value, and sets them. An argument without an answer stays unset, and the
/// backend reports it as missing.
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
        let question = Prompt { title: argument.name, explanation: argument.about, secret: false };
        // After the user cancels one prompt, the others are skipped.
        let Ok(answer) = ask_user(init.report.screen(), question).await else { return };
        // All of them are strings, so that any answer converts.
        let _set = to.set(argument.name, &answer);
    }
}
