//! `formwork recover`: lists the operations that an interrupted run left open, and records decisions
//! about them.

mod review;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use formwork_core::state::journal::CallAction;
use formwork_core::state::recover::{OpenQuestion, UnresolvedOperation};
use formwork_operation::StateSession;
use formwork_operation::recover::{
    AdoptSelectedRequest, AdoptedOrDestroyed, AdoptionSummary, Decision, OperationSelection,
    SettledInstance, decision_commands, remedy_if_other_object_at_addr,
};
use formwork_value::quote::shell_word;
use formwork_value::{Diagnostics, Reported};

use super::encryption;
use super::import::{ImportCommand, ObjectSearchArgs};
use super::state_session;
use super::text_command::run_text_command;
use crate::command_line::{StateArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::json::json_builder::Json;
use crate::view::json::value;
use crate::view::{Screen, print_out, sanitize};
use crate::workspace::Workspace;

/// Settle the operations of an interrupted run.
#[derive(Debug, Subcommand)]
pub(crate) enum RecoverCommand {
    List(RecoverListArgs),
    Adopt(RecoverAdoptArgs),
    /// Settle an operation that left no object to manage.
    #[command(after_help = example(
        "aws_instance.web",
        "Settle an operation that left no object."
    ))]
    Forget(RecoverDecideArgs),
    /// Settle an operation that had no effect. The next apply repeats it.
    #[command(after_help = example("-all", "Repeat all open operations in the next apply."))]
    Retry(RecoverDecideArgs),
    Review(review::RecoverReviewArgs),
}

/// List operations whose outcome is unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = example("", "List the operations that an interrupted run left open."))]
pub(crate) struct RecoverListArgs {
    /// Print them as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Add an object that an interrupted operation created to the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "aws_instance.web i-0abc",
    "Add the object that was created to the state."
))]
pub(crate) struct RecoverAdoptArgs {
    /// Address of the instance that was being created, or a pattern such as `module.a.*` for several.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    /// ID by which the provider finds the object. Not required if the provider's response is recorded.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Adopt all objects of open operations whose ID is known.
    #[arg(long, conflicts_with = "address")]
    pub(crate) all: bool,
    /// Adopt an object that differs from the plan.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) finding: ObjectSearchArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `recover forget` and `recover retry`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverDecideArgs {
    /// Addresses of the instances, or patterns such as `module.a.*`.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
    /// Settle all open operations.
    #[arg(long, conflicts_with = "addresses")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

const NO_OPEN_OPERATIONS: &str = "No open operations.";
/// Maximum number of characters that are shown of a planned attribute.
const LONGEST_SHOWN_VALUE: usize = 200;

/// Runs the command.
pub(super) async fn run(command: RecoverCommand, env: &Env) -> Exit {
    match command {
        RecoverCommand::List(args) => list_open_operations(&args, env).await,
        RecoverCommand::Adopt(args) => adopt_objects(&args, env).await,
        RecoverCommand::Forget(args) => record_decision(&args, env, Decision::Forget).await,
        RecoverCommand::Retry(args) => record_decision(&args, env, Decision::Retry).await,
        RecoverCommand::Review(args) => review::run(&args, env).await,
    }
}

/// Lists the open operations.
async fn list_open_operations(args: &RecoverListArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    run_text_command(env, async |diags, workspace| {
        let locked = open_state_session(diags, workspace, &args.state).await?;
        let text = match args.json {
            true => format!("{}\n", open_operations_document(&locked).to_compact()),
            false => open_operations_text(&locked, &screen, &workspace.root),
        };
        locked.unlock(diags).await;
        if args.json && !diags.has_errors() {
            // The output is a single JSON document, which cannot contain warnings.
            drop(std::mem::take(diags));
        }
        Ok(text)
    })
    .await
}

fn open_operations_text(locked: &StateSession, screen: &Screen, root: &Path) -> String {
    let mut text = String::new();
    let mut has_free_place = false;
    for operation in locked.unresolved_needing_decision() {
        text.push_str(&describe_operation(operation, screen));
        match remedy_if_other_object_at_addr(operation, &locked.file.state) {
            Some(remedy) => text.push_str(&format!("{}\n\n", screen.wrap(&remedy))),
            None => has_free_place = true,
        }
    }
    if text.is_empty() {
        return no_open_operations_text(root);
    }
    if !has_free_place {
        return text;
    }
    text.push_str(&format!("To settle one:\n{}\n", decision_commands("ADDRESS")));
    text.push_str(
        "\n`forget` and `retry` also accept several addresses, patterns such as 'module.a.*', and -all. `adopt -all` adopts every object whose ID is known. `formwork recover review` settles one operation after the other.\n",
    );
    text
}

/// The text if the state has no open operations. Names journals of other states in the directory, which a run
/// with `-state` may have left.
fn no_open_operations_text(root: &Path) -> String {
    let mut text = format!("{NO_OPEN_OPERATIONS}\n");
    let entries = root.read_dir().into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut states: Vec<String> =
        names.filter_map(|name| state_of_journal_dir(root, &name)).collect();
    states.sort();
    for state in states {
        text.push_str(&format!(
            "\nThe directory contains a journal of the state {}. If a run with -state left it, run:\n  formwork recover list {}\n",
            sanitize::sanitize_line(&state),
            sanitize::sanitize_line(&shell_word(&format!("-state={state}")))
        ));
    }
    text
}

/// The state whose journals a directory of this name contains, if any.
fn state_of_journal_dir(root: &Path, name: &str) -> Option<String> {
    let state = name.strip_prefix('.')?.strip_suffix(".journal")?;
    let mut entries = root.join(name).read_dir().ok()?.flatten();
    let is_journal = |path: PathBuf| path.extension().is_some_and(|extension| extension == "wal");
    entries.any(|entry| is_journal(entry.path())).then(|| state.to_owned())
}

/// Describes an open operation, with the planned attributes to look for.
fn describe_operation(operation: &UnresolvedOperation, screen: &Screen) -> String {
    let mut text =
        screen.wrap(&format!("{}\n", operation.describe_operation("the commands are below")));
    let planned = operation.planned_attributes();
    if !planned.is_empty() {
        text.push_str("\nPlanned attributes to look for:\n");
    }
    let width = planned.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    for (name, value) in planned {
        let short: String = value.chars().take(LONGEST_SHOWN_VALUE).collect();
        let more = if short.len() < value.len() { "..." } else { "" };
        text.push_str(&format!(
            "  {} = {}{more}\n",
            sanitize::sanitize_line(&format!("{name:width$}")),
            sanitize::sanitize_line(&short)
        ));
    }
    text + "\n"
}

fn open_operations_document(locked: &StateSession) -> Json {
    let unresolved = locked.unresolved_needing_decision().map(operation_to_json).collect();
    Json::object([("format_version", Json::text("1.0")), ("unresolved", Json::Array(unresolved))])
}

fn operation_to_json(operation: &UnresolvedOperation) -> Json {
    let action = match operation.action {
        CallAction::Create => "create",
        CallAction::Update => "update",
        CallAction::Delete => "delete",
    };
    let doubt = match operation.doubt {
        OpenQuestion::Effect => "effect",
        OpenQuestion::Destination { .. } => "place",
    };
    Json::object_of_some([
        ("address", Some(Json::text(operation.addr.to_string()))),
        ("moved_to", operation.moved.as_ref().map(|moved| Json::text(moved.to_string()))),
        ("deposed", operation.deposed.as_ref().map(|key| Json::text(key.to_string()))),
        ("provider", Some(Json::text(operation.provider.to_string()))),
        ("action", Some(Json::text(action))),
        ("doubt", Some(Json::text(doubt))),
        ("asked_for_at", Some(Json::text(operation.when.clone()))),
        ("planned", operation.planned.as_ref().map(value::value_to_json)),
        ("id_in_answer", operation.shown_object_id().map(Json::text)),
    ])
}

/// The operations that the arguments of a command select.
fn selected_operations(addresses: &[String], all: bool) -> OperationSelection<'_> {
    match all {
        true => OperationSelection::All,
        false => OperationSelection::Matching(addresses),
    }
}

/// Records the decision of the user.
async fn record_decision(args: &RecoverDecideArgs, env: &Env, decision: Decision) -> Exit {
    run_text_command(env, async |diags, workspace| {
        let mut locked = open_state_session(diags, workspace, &args.state).await?;
        let selection = selected_operations(&args.addresses, args.all);
        let instances = locked.settle_selected(diags, selection, decision).await;
        locked.unlock(diags).await;
        let instances = instances?;
        if instances.is_empty() {
            return Ok(no_open_operations_text(&workspace.root));
        }
        Ok(instances.iter().map(|instance| describe_settled(instance, decision)).collect())
    })
    .await
}

/// Describes the effect of a decision.
fn describe_settled(instance: &SettledInstance, decision: Decision) -> String {
    let SettledInstance { addr, displaced } = instance;
    let consequence = match (displaced, decision) {
        (Some(operation), _) => {
            let id = operation.shown_object_id();
            let id = id.map(|id| format!(" with the ID {id:?}")).unwrap_or_default();
            format!(
                "the state keeps its current object, and the object of the interrupted run{id} is not managed"
            )
        }
        (None, Decision::Forget) => "the next apply may create it".to_owned(),
        (None, Decision::Retry) => "the next apply repeats the operation".to_owned(),
    };
    format!("{addr} is settled: {consequence}.\n")
}

/// Adds objects of interrupted creations to the state.
async fn adopt_objects(args: &RecoverAdoptArgs, env: &Env) -> Exit {
    let taking = ImportCommand {
        finding: &args.finding,
        state: &args.state,
        address: args.address.as_deref().unwrap_or_default(),
        config: None,
        operation: "recover",
        must_be_written: false,
    };
    let mut text = String::new();
    let result = taking
        .run(env, async |diags, operations, locked| {
            let request = AdoptSelectedRequest {
                selection: selected_operations(args.address.as_slice(), args.all),
                id: args.id.as_deref(),
                force: args.force,
            };
            let summary = operations.import.adopt_selected(diags, locked, request).await?;
            text = describe_adoptions(&summary);
            Ok(())
        })
        .await;
    print_out(&text);
    result
}

/// Describes the results of adoptions.
fn describe_adoptions(summary: &AdoptionSummary) -> String {
    match summary.adopted.is_empty() && summary.is_complete {
        true => format!("{NO_OPEN_OPERATIONS}\n"),
        false => summary.adopted.iter().map(describe_adoption).collect(),
    }
}

/// Describes the result of an adoption.
fn describe_adoption(outcome: &AdoptedOrDestroyed) -> String {
    match outcome {
        AdoptedOrDestroyed::InState(addr) => format!("{addr} is in the state.\n"),
        AdoptedOrDestroyed::Destroyed(addr) => format!(
            "{addr} was destroyed. The state keeps its current object, and the next refresh shows whether it still exists.\n"
        ),
    }
}

async fn open_state_session(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &StateArgs,
) -> Result<StateSession, Reported> {
    let backend = encryption::read_backend_and_encryption(diags, workspace)?;
    let store = workspace.open_state(diags, backend.as_ref(), &args.state_paths()).await?;
    let mut locked = state_session::open_locked_state(diags, store, &args.lock, "recover").await?;
    // An open operation has the address from the interrupted run, which may have changed since. Errors in the
    // configuration do not prevent a decision.
    if locked.unresolved_needing_decision().next().is_some()
        && let Ok(config) = workspace.read_config(&mut Diagnostics::new())
    {
        locked.follow_moves_of_unresolved(&config);
    }
    Ok(locked)
}
