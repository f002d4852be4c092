//! `formwork workspace`: lists, creates, selects and deletes workspaces.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use formwork_backend::local::{self, Workspaces};
use formwork_backend::{Backend, DEFAULT_WORKSPACE, OpenState, WorkspaceError};
use formwork_core::state::State;
use formwork_operation::StateSession;
use formwork_operation::journal_checks::{check_no_misplaced_journals, check_no_unfinished_run};
use formwork_value::diag::{Blame, Sources};
use formwork_value::quote::shell_word;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::encryption;
use super::state_session;
use super::text_command::{run_text_command, run_without_workspace_selection};
use crate::command_line::{LockArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::human::diagnostic::render_one_diagnostic;
use crate::view::{Screen, print_out};
use crate::workspace::{Workspace, bad_workspace_name_error};

/// Work with workspaces.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    Delete(WorkspaceDeleteArgs),
    /// List the workspaces.
    #[command(after_help = example("", "List the workspaces."))]
    List,
    New(WorkspaceNewArgs),
    Select(WorkspaceSelectArgs),
    /// Show the name of the selected workspace.
    #[command(after_help = example("", "Print the name of the selected workspace."))]
    Show,
}

/// Delete a workspace.
#[derive(Debug, clap::Args)]
#[command(after_help = example("staging", "Delete an empty workspace."))]
pub(crate) struct WorkspaceDeleteArgs {
    /// Name of the workspace.
    pub(crate) name: String,
    /// Delete the workspace even if its state contains resources. They are then no longer managed.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Create a workspace and select it.
#[derive(Debug, clap::Args)]
#[command(after_help = example("staging", "Create a workspace and select it."))]
pub(crate) struct WorkspaceNewArgs {
    /// Name of the workspace.
    pub(crate) name: String,
    /// Start with a copy of this state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Select another workspace.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-or-create staging",
    "Select a workspace, and create it if it does not exist."
))]
pub(crate) struct WorkspaceSelectArgs {
    /// Name of the workspace.
    pub(crate) name: String,
    /// Create the workspace if it does not exist.
    #[arg(long)]
    pub(crate) or_create: bool,
}

/// Runs the command under its old name.
pub(super) async fn run_deprecated_env(command: WorkspaceCommand, env: &Env) -> Exit {
    let detail = "Use the \"formwork workspace\" commands instead.";
    let warning = Diagnostic::warning(messages::ENV_COMMANDS_DEPRECATED, detail);
    // On stdout, as in Terraform.
    print_out(&render_one_diagnostic(&Screen::of(env), &Sources::new(), &warning));
    run(command, env).await
}

/// Runs the command.
pub(super) async fn run(command: WorkspaceCommand, env: &Env) -> Exit {
    match command {
        WorkspaceCommand::List => {
            run_without_workspace_selection(env, async |diags, workspace| {
                if let Some(problem) = workspace.selection_problem() {
                    diags.warn(problem);
                }
                list_workspaces(diags, workspace).await
            })
            .await
        }
        WorkspaceCommand::Show => {
            run_text_command(env, async |_, workspace| Ok(format!("{}\n", workspace.name()))).await
        }
        WorkspaceCommand::New(args) => {
            run_without_workspace_selection(env, async |diags, workspace| {
                create_workspace(diags, workspace, &args).await
            })
            .await
        }
        WorkspaceCommand::Select(args) => {
            run_without_workspace_selection(env, async |diags, workspace| {
                select_workspace(diags, workspace, &args).await
            })
            .await
        }
        WorkspaceCommand::Delete(args) => {
            run_text_command(env, async |diags, workspace| {
                delete_workspace(diags, workspace, &args).await
            })
            .await
        }
    }
}

/// The configured backend, which lists the workspaces.
pub(super) async fn workspace_backend(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<Arc<dyn Backend>, Reported> {
    let backend = encryption::read_backend_and_encryption(diags, workspace)?;
    workspace.open_backend(diags, backend.as_ref()).await
}

async fn list_workspaces(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<String, Reported> {
    let workspaces = workspace_backend(diags, workspace).await?.workspaces().await;
    let workspaces = workspaces.map_err(|error| report_workspace_error(diags, &error))?;
    let current = workspace.name();
    let mut names: Vec<&String> = workspaces.iter().collect();
    if !workspaces.contains(&current) {
        // Selected by the environment and not created yet: it is listed in order.
        let index = names.iter().skip(1).position(|name| **name > current);
        names.insert(index.map_or(names.len(), |index| index + 1), &current);
    }
    let mut text = String::new();
    for name in names {
        // A directory may have a name that no workspace can have, and its line breaks would forge workspaces.
        let name_text = match name.chars().any(char::is_control) {
            true => format!("{name:?}"),
            false => name.clone(),
        };
        text.push_str(&format!("{} {name_text}\n", if *name == current { '*' } else { ' ' }));
    }
    text.push('\n');
    if workspace.env.workspace.is_some() {
        text.push_str("The active workspace is being overridden using the TF_WORKSPACE environment variable.\n\n");
    }
    Ok(text)
}

async fn create_workspace(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &WorkspaceNewArgs,
) -> Result<String, Reported> {
    check_name(diags, &args.name)?;
    // Here too, because only a copied state is locked.
    state_session::parse_lock_timeout(diags, &args.lock.lock_timeout)?;
    if workspace.env.workspace.as_ref().is_some_and(|name| *name != args.name) {
        return Err(diags.error(Diagnostic::error(
            messages::WORKSPACE_OVERRIDDEN,
            "You cannot create a new workspace when using this setting. To create a new workspace, either unset this environment variable or update it to match the workspace name you are trying to create, and then run this command again.",
        )));
    }
    // Read before the workspace is created, so that a read error leaves no empty workspace.
    let copied = match &args.state {
        Some(path) => {
            check_no_unfinished_run(diags, path).await?;
            encryption::load_dir_encryption(diags, workspace, &[])?;
            let cipher = workspace.state_cipher();
            let read = local::load_state(path, &cipher)
                .map_err(|error| diags.error(error.diagnostic()))?;
            let file = read.ok_or_else(|| {
                let detail = format!("{} does not exist or is empty.", path.display());
                diags.error(Diagnostic::error(messages::NO_STATE_TO_COPY, detail))
            })?;
            check_no_misplaced_journals(diags, path, &file, &cipher)?;
            Some(file)
        }
        None => None,
    };
    let backend = workspace_backend(diags, workspace).await?;
    backend
        .create_workspace(&args.name)
        .await
        .map_err(|error| report_workspace_error(diags, &error))?;
    if let Some(file) = copied {
        let store = open_workspace(diags, &*backend, &args.name).await?;
        let mut locked =
            state_session::open_locked_state(diags, store, &args.lock, "workspace-new").await?;
        // Only the content: states that diverge must have different lineages.
        locked.file.state = file.state;
        let written = locked.write_state_and_archive_journals(diags).await;
        locked.unlock(diags).await;
        written?;
    }
    workspace.select(diags, &args.name)?;
    Ok(created_message(&args.name))
}

fn created_message(name: &str) -> String {
    format!(
        "Created and switched to workspace {name:?}!\n\nYou're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \"formwork plan\" Formwork will not see any existing state\nfor this configuration.\n"
    )
}

async fn select_workspace(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &WorkspaceSelectArgs,
) -> Result<String, Reported> {
    let name = &args.name;
    if workspace.env.workspace.is_some() {
        return Err(diags.error(Diagnostic::error(
            messages::SELECTED_WORKSPACE_OVERRIDDEN,
            "To select a new workspace, either update this environment variable or unset it and then run this command again.",
        )));
    }
    check_name(diags, name)?;
    let backend = workspace_backend(diags, workspace).await?;
    let names = match backend.workspaces().await {
        // Another backend may have left another selection, which no command works with.
        Err(WorkspaceError::Unsupported) if name == DEFAULT_WORKSPACE => vec![name.clone()],
        names => names.map_err(|error| report_workspace_error(diags, &error))?,
    };
    if names.contains(name) {
        if *name == workspace.name() && workspace.selection_problem().is_none() {
            return Ok(String::new());
        }
        workspace.select(diags, name)?;
        return Ok(format!("Switched to workspace {name:?}.\n"));
    }
    if !args.or_create {
        return Err(report_workspace_error(diags, &WorkspaceError::Missing(name.clone())));
    }
    backend.create_workspace(name).await.map_err(|error| report_workspace_error(diags, &error))?;
    workspace.select(diags, name)?;
    Ok(created_message(name))
}

async fn delete_workspace(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &WorkspaceDeleteArgs,
) -> Result<String, Reported> {
    let name = &args.name;
    encryption::set_up_encryption_without_sealed(diags, workspace)?;
    let backend = workspace_backend(diags, workspace).await?;
    let names =
        backend.workspaces().await.map_err(|error| report_workspace_error(diags, &error))?;
    if !names.contains(name) {
        return Err(report_workspace_error(diags, &WorkspaceError::Missing(name.clone())));
    }
    if *name == workspace.name() {
        let detail = "You cannot delete the currently active workspace. Please switch to another workspace and try again.";
        let summary =
            messages::WORKSPACE_IS_YOUR_ACTIVE_WORKSPACE.with(&[&format_args!("{name:?}")]);
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    let store = open_workspace(diags, &*backend, name).await?;
    let locked = state_session::open_locked_state(diags, store, &args.lock, "state-delete").await?;
    let text = check_deletable(diags, &locked, args);
    // As Terraform does: some services do not delete a locked state.
    locked.unlock(diags).await;
    let text = text?;
    backend
        .delete_workspace(&args.name)
        .await
        .map_err(|error| report_workspace_error(diags, &error))?;
    Ok(text)
}

/// Checks that the deletion of a workspace does not lose objects, and returns the text to print.
fn check_deletable(
    diags: &mut Diagnostics,
    locked: &StateSession,
    args: &WorkspaceDeleteArgs,
) -> Result<String, Reported> {
    let name = &args.name;
    let objects = list_managed_objects(&locked.file.state);
    if args.force {
        // The deleted state may contain the only record of these operations.
        locked.warn_of_needed_decisions(diags);
        locked.warn_of_misplaced_journals(diags);
    } else {
        locked.check_touches_no_unresolved(diags, |_| true)?;
        locked.refuse_if_journals_are_misplaced(diags)?;
        if !objects.is_empty() {
            let detail = format!(
                "Workspace {name:?} is currently tracking the following resource instances:\n{objects}\nDeleting this workspace would cause Formwork to lose track of any associated remote objects, which would then require you to delete them manually outside of Formwork. You should destroy these objects with Formwork before deleting the workspace.\n\nIf you want to delete this workspace anyway, and have Formwork forget about these managed objects, use the -force option to disable this safety check."
            );
            return Err(diags.error(Diagnostic::error(messages::WORKSPACE_IS_NOT_EMPTY, detail)));
        }
    }
    let mut text = format!("Deleted workspace {name:?}!\n");
    if !objects.is_empty() {
        text.push_str(&format!(
            "WARNING: {name:?} was non-empty.\nThe resources managed by the deleted workspace may still exist,\nbut are no longer manageable by Formwork since the state has\nbeen deleted.\n"
        ));
    }
    Ok(text)
}

async fn open_workspace(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
    name: &str,
) -> Result<OpenState, Reported> {
    OpenState::open(backend, name).await.map_err(|error| diags.error(error.diagnostic()))
}

/// The managed objects of a state, one per line.
fn list_managed_objects(state: &State) -> String {
    let mut text = String::new();
    for (resource, instances) in &state.resources {
        if resource.resource.mode() == formwork_core::addr::ResourceMode::Managed {
            for (key, instance) in &instances.instances {
                let addr = resource.instance_addr(key.clone());
                let deposed = instance.deposed.keys();
                let deposed = deposed.map(|key| format!("  - {addr} (deposed object {key})\n"));
                let current = instance.current.iter().map(|_| format!("  - {addr}\n"));
                text.extend(current.chain(deposed));
            }
        }
    }
    text
}

fn check_name(diags: &mut Diagnostics, name: &str) -> Result<(), Reported> {
    if Workspaces::is_valid_name(name) {
        return Ok(());
    }
    Err(diags.error(bad_workspace_name_error(name)))
}

fn report_workspace_error(diags: &mut Diagnostics, error: &WorkspaceError) -> Reported {
    let (summary, detail) = match error {
        WorkspaceError::Missing(name) => (
            messages::WORKSPACE_DOES_NOT_EXIST.with(&[&format_args!("{name:?}")]),
            "You can create this workspace with the \"new\" subcommand or include the \"-or-create\" flag with the \"select\" subcommand.".to_owned(),
        ),
        WorkspaceError::Exists(name) => (
            messages::WORKSPACE_ALREADY_EXISTS.with(&[&format_args!("{name:?}")]),
            format!("`formwork workspace select {}` selects it.", shell_word(name)),
        ),
        WorkspaceError::Default => (
            messages::CANNOT_DELETE_DEFAULT_STATE.into(),
            "The default workspace always exists.".to_owned(),
        ),
        WorkspaceError::Unsupported => (
            messages::WORKSPACES_NOT_SUPPORTED.into(),
            "This backend supports only one workspace. Use another directory or another backend for a second state.".to_owned(),
        ),
        WorkspaceError::Store(error) => return diags.error(error.diagnostic()),
    };
    diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::User))
}
