//! `formwork state replace-provider`: replaces the provider of resources in the state.

use formwork_core::addr::{AddressError, ProviderAddr};
use formwork_core::state::edit::{replace_provider, resources_of_provider};
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::text_command::{confirm, run_text_command};
use super::{EditOutcome, StateEdit, edit_state};
use crate::command_line::{EditArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::print_out;

/// Replace the provider of resources in the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example("hashicorp/aws acme/aws", "Assign resources to another provider."))]
pub(crate) struct StateReplaceProviderArgs {
    /// The current provider of the resources.
    #[arg(value_name = "FROM_PROVIDER")]
    pub(crate) from: String,
    /// The new provider.
    #[arg(value_name = "TO_PROVIDER")]
    pub(crate) to: String,
    /// Do not ask for approval.
    #[arg(long)]
    pub(crate) auto_approve: bool,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

/// Runs the command.
pub(super) async fn run(args: &StateReplaceProviderArgs, env: &Env) -> Exit {
    run_text_command(env, async |diags, workspace| {
        workspace.check_required_versions(diags)?;
        let from = parse_provider(diags, "from", &args.from, ProviderAddr::from_state(&args.from));
        let to = parse_provider(diags, "to", &args.to, args.to.parse());
        let replacement = ProviderReplacement { from: from?, to: to? };
        let editing = StateEdit {
            state_paths: args.edit.state_paths(),
            any_backend: true,
            lock: &args.edit.lock,
            operation: "state-replace-provider",
            must_exist: true,
        };
        edit_state(diags, workspace, editing, |diags, locked| {
            replace_in_state(diags, locked, &replacement, args.auto_approve)
        })
        .await
    })
    .await
}

fn parse_provider(
    diags: &mut Diagnostics,
    role: &str,
    text: &str,
    read: Result<ProviderAddr, AddressError>,
) -> Result<ProviderAddr, Reported> {
    read.map_err(|error| {
        let summary = messages::INVALID_REPLACED_PROVIDER.with(&[&role, &format_args!("{text:?}")]);
        diags.error(Diagnostic::error(summary, format!("{}: {error}", error.summary)))
    })
}

/// A provider and its replacement.
struct ProviderReplacement {
    from: ProviderAddr,
    to: ProviderAddr,
}

fn replace_in_state(
    diags: &mut Diagnostics,
    locked: &mut StateSession,
    replacement: &ProviderReplacement,
    auto_approve: bool,
) -> Result<EditOutcome, Reported> {
    let ProviderReplacement { from, to } = replacement;
    let matching = resources_of_provider(&locked.file.state, from);
    if matching.is_empty() {
        return Ok(EditOutcome::Unchanged("No matching resources found.\n".into()));
    }
    let noun = if matching.len() == 1 { "resource" } else { "resources" };
    let mut text = format!(
        "Formwork will perform the following actions:\n\n  ~ Updating provider:\n    - {from}\n    + {to}\n\nChanging {} {noun}:\n\n",
        matching.len()
    );
    matching.iter().for_each(|addr| text.push_str(&format!("  {addr}\n")));
    // The changes are printed before the prompt, not with the result.
    print_out(&format!("{text}\n"));
    let question = "Do you want to make these changes?\nOnly 'yes' will be accepted to continue.";
    if !auto_approve && !confirm(diags, question)? {
        return Ok(EditOutcome::Unchanged("Cancelled replacing providers.\n".into()));
    }
    locked.check_touches_no_unresolved(diags, |addr| matching.contains(&addr.resource_addr()))?;
    replace_provider(&mut locked.file.state, from, to);
    Ok(EditOutcome::Store(format!(
        "Successfully replaced provider for {} {noun}.\n",
        matching.len()
    )))
}
