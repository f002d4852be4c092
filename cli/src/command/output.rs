//! `formwork output`: shows output values.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use formwork_backend::OpenState;
use formwork_core::addr::ProviderAddr;
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::StateAccess;
use formwork_lang::print_value::print_value;
use formwork_operation::ErroredState;
use formwork_value::convert::convert;
use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value};

use super::encryption;
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::human::{diagnostic, outputs};
use crate::view::json::json_builder::Json;
use crate::view::json::value;
use crate::view::{Screen, operation_report::OperationReport, print_data, print_err, print_out};
use crate::workspace::Workspace;

/// Show output values.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-raw address", "Print one output value for a script."))]
pub(crate) struct OutputArgs {
    /// The output to show. Default: all outputs.
    pub(crate) name: Option<String>,
    /// Print the value as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a string, number or bool without quotes or formatting.
    #[arg(long)]
    pub(crate) raw: bool,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Runs the command.
pub(super) async fn run(args: &OutputArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let workspace = Workspace::open(env, &mut diags);
    let Ok(mut workspace) = workspace else { return report.report_failure(None, &diags) };
    let text = show_outputs(&mut diags, args, &mut workspace).await;
    report.report_diagnostics(&workspace.sources, &diags);
    match text {
        Ok(text) => {
            if args.json || args.raw {
                print_data(&text);
            } else {
                print_out(&text);
            }
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

async fn show_outputs(
    diags: &mut Diagnostics,
    args: &OutputArgs,
    workspace: &mut Workspace<'_>,
) -> Result<String, Reported> {
    if args.json && args.raw {
        let detail = "The -raw and -json options are mutually-exclusive.";
        return Err(diags.error(Diagnostic::error(messages::INVALID_OUTPUT_FORMAT, detail)));
    }
    let state =
        stored_state(diags, workspace, &StatePaths::from_state_path(args.state.as_ref())).await?;
    let Some(name) = args.name.as_ref().filter(|name| !name.is_empty()) else {
        if args.raw {
            let detail =
                "You must give the name of a single output value when using the -raw option.";
            return Err(diags.error(Diagnostic::error(messages::OUTPUT_NAME_REQUIRED, detail)));
        }
        return Ok(all_outputs_text(diags, &state, args.json));
    };
    if state.outputs.is_empty() && !args.json {
        // As in Terraform, requesting an output of a state without outputs is only a warning.
        return Ok(all_outputs_text(diags, &state, false));
    }
    let Some(output) = state.outputs.get(name.as_str()) else {
        let detail = format!(
            "The output variable requested could not be found in the state. If you recently added this to your configuration, be sure to run `formwork apply`, since the state won't be updated with new output variables until that command is run. There is no {name:?} among: {}.",
            output_names(&state)
        );
        return Err(diags.error(Diagnostic::error(
            messages::OUTPUT_NOT_FOUND.with(&[&format_args!("{name:?}")]),
            detail,
        )));
    };
    let value = output.value.value();
    if args.json {
        return Ok(format!("{}\n", value::value_to_json(value).to_compact()));
    }
    if args.raw {
        return raw_output_text(diags, name, value);
    }
    Ok(format!("{}\n", print_value(value)))
}

fn output_names(state: &State) -> String {
    let names: Vec<_> = state.outputs.keys().map(ToString::to_string).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

fn all_outputs_text(diags: &mut Diagnostics, state: &State, json: bool) -> String {
    if json {
        let members = state.outputs.iter().map(|(name, output)| {
            let value = output.value.value();
            let json = Json::object([
                ("sensitive", Json::Bool(output.sensitive)),
                ("type", value::type_to_json(&value.ty())),
                ("value", value::value_to_json(value)),
            ]);
            (name.to_string(), json)
        });
        return format!("{}\n", Json::Object(members.collect()).to_pretty());
    }
    if state.outputs.is_empty() {
        diags.warn(Diagnostic::warning(
            messages::NO_OUTPUTS_FOUND,
            "The state file either has no outputs defined, or all the defined outputs are empty. Please define an output in your configuration with the `output` keyword and run `formwork apply` for it to become available.",
        ));
    }
    outputs::render_outputs(state)
}

fn raw_output_text(diags: &mut Diagnostics, name: &str, value: &Value) -> Result<String, Reported> {
    match convert(value, &Type::String) {
        Ok(Value::String(text)) if !value.is_null() => Ok(text.to_string()),
        _ => {
            let detail = format!(
                "The -raw option only supports strings, numbers, and boolean values, but output value {name:?} is {}.\n\nUse the -json option for machine-readable representations of output values that have complex types.",
                describe_type(value)
            );
            Err(diags.error(Diagnostic::error(messages::UNSUPPORTED_RAW_OUTPUT, detail)))
        }
    }
}

fn describe_type(value: &Value) -> String {
    if value.is_null() { "null".into() } else { value.ty().friendly_name() }
}

/// The stored state, as it is, without locking it; an empty state if none exists.
///
/// # Errors
/// Returns an error if the state cannot be read.
pub(super) async fn stored_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    state_paths: &StatePaths,
) -> Result<State, Reported> {
    let file = stored_state_file(diags, workspace, state_paths).await?;
    Ok(file.map(|file| file.state).unwrap_or_default())
}

/// The stored state with its metadata, without locking it; `None` if no state exists.
///
/// # Errors
/// Returns an error if the state cannot be read.
pub(super) async fn stored_state_file(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    state_paths: &StatePaths,
) -> Result<Option<StateFile>, Reported> {
    let backend = encryption::read_backend_and_encryption(diags, workspace)?;
    let store = workspace.open_state(diags, backend.as_ref(), state_paths).await?;
    let (file, recovery_warnings) = read_state_file_in_store(diags, store).await?;
    let mut warnings = Diagnostics::new();
    recovery_warnings.into_iter().for_each(|warning| warnings.warn(warning));
    let errored =
        ErroredState::read_and_compare(Path::new("."), &workspace.state_cipher(), file.as_ref());
    errored.into_iter().for_each(|errored| warnings.warn(errored.warning()));
    let env = workspace.env;
    // The requested output is printed to stdout, so diagnostics are printed to stderr.
    let rendered = diagnostic::render_all_diagnostics(
        &Screen::of(env),
        &workspace.sources,
        &warnings,
        env.compact_warnings,
    );
    print_err(&rendered.warnings);
    Ok(file)
}

/// The state in a store, as it is, without locking it; an empty state if none exists.
///
/// # Errors
/// Returns an error if the state cannot be read.
pub(super) async fn read_state_in_store(
    diags: &mut Diagnostics,
    store: OpenState,
) -> Result<State, Reported> {
    Ok(read_state_file_in_store(diags, store).await?.0.map(|file| file.state).unwrap_or_default())
}

/// The providers of all objects in a store, including results of interrupted runs, and if requested those of
/// open operations.
pub(super) async fn providers_in_store(
    diags: &mut Diagnostics,
    mut store: OpenState,
    with_open: bool,
) -> Result<BTreeSet<ProviderAddr>, Reported> {
    let file = store.store.read().await.map_err(|error| diags.error(error.diagnostic()))?;
    let (file, open) = match store.intents.recover_runs(file.clone(), StateAccess::ReadOnly).await {
        Ok(recovery) => {
            let open = recovery.unresolved.into_iter().filter(|_| with_open);
            (recovery.file, open.map(|operation| operation.provider.provider).collect())
        }
        Err(_) => (file, BTreeSet::new()),
    };
    let resources = file.map(|file| file.state.resources).unwrap_or_default();
    Ok(resources
        .into_values()
        .map(|resources| resources.provider.provider.clone())
        .chain(open)
        .collect())
}

/// The state in a store, and the diagnostics about interrupted runs.
async fn read_state_file_in_store(
    diags: &mut Diagnostics,
    mut store: OpenState,
) -> Result<(Option<StateFile>, Vec<Diagnostic>), Reported> {
    let file = store.store.read().await.map_err(|error| diags.error(error.diagnostic()))?;
    // Changes of an interrupted run are visible before the next apply stores them. A command that only reads
    // still works if the journal cannot be read.
    match store.intents.recover_runs(file.clone(), StateAccess::ReadOnly).await {
        Ok(recovery) => Ok((recovery.file.clone(), recovery.diagnostics())),
        Err(error) => Ok((file, vec![error.to_warning()])),
    }
}
