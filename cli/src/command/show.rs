//! `formwork show`: a state or a saved plan.

use std::path::{Path, PathBuf};

use formwork_backend::encryption::{is_encrypted, is_encrypted_state};
use formwork_core::addr::ProviderAddr;
use formwork_core::config::Config;
use formwork_core::disk::{MAX_STATE_LEN, read_user_file};
use formwork_core::plan::plan_file;
use formwork_core::provider::ProviderPool;
use formwork_core::state::State;
use formwork_core::state::checks::CheckResults;
use formwork_core::state::file::StateFile;
use formwork_operation::saved_plan::GeneratedConfigUse;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::encryption;
use super::operation::launcher_ignoring_constraints;
use super::output::stored_state_file;
use super::planfile::{self, PlanToOpen};
use super::state::ProvidedObject;
use crate::command_line::{StatePaths, example, path_if_given, path_or_empty};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::human::{diagnostic, outputs, plan as human_plan};
use crate::view::json::{plan as json_plan, state as json_state};
use crate::view::{Screen, operation_report::OperationReport, print_data, print_err, print_out};
use crate::workspace::Workspace;

/// Show a state or a saved plan.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-json tfplan", "Print a saved plan as JSON."))]
pub(crate) struct ShowArgs {
    /// A saved plan or a state file. Default: the current state.
    #[arg(value_name = "FILE", value_parser = path_or_empty())]
    pub(crate) file: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ShowArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let text = match path_if_given(args.file.as_ref()) {
        None => match stored_state(&mut diags, &mut workspace, args).await {
            Ok(None) if !args.json => Ok("No state.\n".to_owned()),
            Ok(file) => {
                let file = file.unwrap_or_else(StateFile::new_empty);
                show_state(&mut diags, args, &mut workspace, &file, &screen).await
            }
            Err(reported) => Err(reported),
        },
        Some(path) => show_file(&mut diags, args, &mut workspace, path, &screen).await,
    };
    // The output is a single JSON document, which cannot contain warnings.
    if !(args.json && text.is_ok()) {
        report.report_diagnostics(&workspace.sources, &diags);
    }
    match text {
        Ok(text) => {
            if args.json {
                print_data(&text);
            } else {
                print_out(&text);
            }
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

async fn show_file(
    diags: &mut Diagnostics,
    args: &ShowArgs,
    workspace: &mut Workspace<'_>,
    path: &Path,
    screen: &Screen,
) -> Result<String, Reported> {
    let content = read_user_file(path, MAX_STATE_LEN).map_err(|error| {
        let detail = format!("Couldn't read {}: {error}.", path.display());
        diags.error(Diagnostic::error(messages::UNREADABLE_STATE_OR_PLAN_FILE, detail))
    })?;
    let is_json = content.trim_ascii_start().starts_with(b"{");
    let is_plan = is_json && is_encrypted(&content) && !is_encrypted_state(&content);
    if is_json && !is_plan {
        if is_encrypted(&content) {
            encryption::load_dir_encryption(diags, workspace, &[])?;
        }
        let file = workspace
            .state_cipher()
            .parse_user_named_state(&content)
            .map_err(|error| diags.error(error.diagnostic(&path.display().to_string())))?;
        return show_state(diags, args, workspace, &file, screen).await;
    }
    let opening = PlanToOpen { path, sources: &[], generated: GeneratedConfigUse::Exclude };
    let content = match is_plan {
        true => planfile::decrypt_plan(diags, workspace, opening, &content)?,
        false => content,
    };
    let parts = plan_file::read_plan_file_bytes(path, &content).map_err(|error| {
        let problem = error.diagnostic(&path.display().to_string());
        diags.error(problem.with_summary(messages::UNREADABLE_STATE_OR_PLAN_FILE))
    })?;
    let (saved, config) = planfile::open_plan_parts(diags, workspace, opening, parts)?;
    if let Some(warning) = saved.plan.seal_verdict().seal_warning(&workspace.env.seal_key(), path) {
        warn_on_stderr(workspace, warning);
    }
    let required = saved.plan.provider_requirements(&config);
    let launcher = workspace.make_launcher(diags, &required)?.prefer_cached_schemas();
    let pool = ProviderPool::new(&launcher);
    let loaded = pool.load_providers(diags, required.into_keys()).await;
    pool.report_warnings(diags);
    let text = match loaded {
        Ok(()) if args.json => {
            let variable_values = saved.plan.variable_values_as_json().collect();
            let inputs = json_plan::PlanViewInputs {
                config: &config,
                pool: &pool,
                variable_values,
                time: saved.plan.creation_time(),
            };
            json_plan::plan_document(diags, saved.plan.plan(), &inputs)
                .map(|json| format!("{}\n", json.to_compact()))
        }
        Ok(()) => {
            let mut text = human_plan::render_plan(screen, saved.plan.plan(), &pool);
            text.push_str(
                &name_of_written_state(workspace, &config, &saved).await.unwrap_or_default(),
            );
            Ok(text)
        }
        Err(reported) => Err(reported),
    };
    launcher.shutdown(diags).await;
    text
}

/// Warns on stderr, because stdout may be processed by another program.
fn warn_on_stderr(workspace: &Workspace<'_>, warning: Diagnostic) {
    let mut diags = Diagnostics::new();
    diags.warn(warning);
    let env = workspace.env;
    let rendered = diagnostic::render_all_diagnostics(
        &Screen::of(env),
        &workspace.sources,
        &diags,
        env.compact_warnings,
    );
    print_err(&rendered.warnings);
}

/// Names the state that applying the plan writes, if the backend is set up.
async fn name_of_written_state(
    workspace: &Workspace<'_>,
    config: &Config,
    saved: &planfile::OpenedPlan,
) -> Option<String> {
    let mut ignored = Diagnostics::new();
    let state_paths = saved.state_paths(StatePaths::default());
    let name = saved.plan.workspace();
    let location =
        workspace.location_of(&mut ignored, name, config.backend(), &state_paths).await.ok()?;
    Some(format!("\nApplying this plan writes the state {location} (workspace {name:?}).\n"))
}

/// The state. Consumers of `-json` treat the document as complete, so it requires every value.
async fn stored_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &ShowArgs,
) -> Result<Option<StateFile>, Reported> {
    if !args.json {
        encryption::set_up_encryption_warn_sealed(diags, workspace)?;
    }
    stored_state_file(diags, workspace, &StatePaths::default()).await
}

async fn show_state(
    diags: &mut Diagnostics,
    args: &ShowArgs,
    workspace: &mut Workspace<'_>,
    file: &StateFile,
    screen: &Screen,
) -> Result<String, Reported> {
    let state = &file.state;
    let providers: Vec<ProviderAddr> =
        state.resources.values().map(|resource| resource.provider.provider.clone()).collect();
    let launcher = launcher_ignoring_constraints(diags, workspace, providers.iter())?;
    let pool = ProviderPool::new(&launcher);
    let loaded = pool.load_providers(diags, providers).await;
    pool.report_warnings(diags);
    let text = match loaded {
        Ok(()) if args.json => {
            let checks = file.check_results.as_deref().unwrap_or_default();
            let checks = CheckResults::from_json(checks);
            json_state::state_document(diags, state, &checks, &pool)
                .map(|json| format!("{}\n", json.to_compact()))
        }
        Ok(()) => state_text(diags, state, &pool, screen),
        Err(reported) => Err(reported),
    };
    launcher.shutdown(diags).await;
    text
}

pub(super) fn state_text(
    diags: &mut Diagnostics,
    state: &State,
    pool: &ProviderPool<'_>,
    screen: &Screen,
) -> Result<String, Reported> {
    if state.is_empty() {
        return Ok("The state file is empty. No resources are represented.\n".into());
    }
    // Sorted by module, parents before children.
    let mut resources: Vec<_> = state.resources.iter().collect();
    resources.sort_by(|(first, _), (second, _)| first.module.0.cmp(&second.module.0));
    let mut text = String::new();
    let mut before = None;
    for (resource, instances) in resources {
        if before.replace(&resource.module).is_some_and(|before| *before != resource.module) {
            text.push('\n');
        }
        for (key, instance) in &instances.instances {
            let addr = resource.instance_addr(key.clone());
            let current = instance.current.iter().map(|object| (None, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
            for (deposed, object) in current.chain(deposed) {
                let provider = &instances.provider.provider;
                let object = ProvidedObject { provider, addr: &addr, deposed, object };
                text.push_str(&super::state::render_object(diags, pool, object, screen)?);
                text.push('\n');
            }
        }
    }
    if !state.outputs.is_empty() {
        text.push_str(&format!("\nOutputs:\n\n{}", outputs::render_state_outputs(screen, state)));
    }
    Ok(text)
}
