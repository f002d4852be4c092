//! Backend setup by `init`: the new location of the state, and its migration.

mod migrate;
mod missing_arguments;

use std::path::Path;

use formwork_backend::DEFAULT_WORKSPACE;
use formwork_backend::unsupported::{describe_unsupported_backend, unsupported_backend_message};
use formwork_core::config::StateBackendBlock as Block;
use formwork_core::config::terraform_block::evaluate_constant_body;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_text_file};
use formwork_lang::syntax::{Attribute, Body, Ident, parse_expression, parse_file, parse_json};
use formwork_value::diag::{Sources, Span};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use self::migrate::{MigrationBackends, backend_has_states, migrate, select_only_workspace};
use self::missing_arguments::ask_for_missing_arguments;
use crate::command_line::InitArgs;
use crate::messages;
use crate::view::Paint;
use crate::view::operation_report::OperationReport;
use crate::workspace::Workspace;
use crate::workspace::backend::{BackendComparison, BackendConfig, InitializedBackend};

/// A run of `init`.
pub(super) struct InitRun<'a> {
    pub(super) args: &'a InitArgs,
    pub(super) report: &'a OperationReport,
}

/// Sets up the backend as the configuration block and the options specify.
///
/// # Errors
/// Returns an error if the backend is not supported, or if the backend configuration changed and the options
/// do not specify whether to migrate the state.
pub(super) async fn init_backend(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &mut Workspace<'_>,
    backend: Option<&Block>,
) -> Result<(), Reported> {
    let InitRun { args, report } = *init;
    let mut block = None;
    if let Some(backend) = backend {
        block = Some(workspace.block_config(diags, backend).await?);
    }
    let options: Vec<&String> =
        args.backend_config.iter().filter(|option| !option.is_empty()).collect();
    let mut new = block.clone();
    apply_backend_options(diags, workspace, new.as_mut(), &options)?;
    let old_kind = if args.reconfigure {
        reconfigure(diags, init, workspace, new.as_mut()).await?;
        None
    } else {
        let old = workspace.initialized_backend(diags)?;
        let setup = BackendComparison::compare(block.as_ref(), !options.is_empty(), old.as_ref());
        if setup != BackendComparison::Changed {
            return Ok(());
        }
        ask_for_missing_arguments(init, workspace, new.as_mut()).await;
        let kind = old.as_ref().map(|old| old.kind.clone());
        migrate_if_decided(diags, init, workspace, BackendChange { new: new.clone(), old }).await?;
        kind
    };
    if let Some(store) = new.as_ref().filter(|new| new.state_store().is_some()) {
        check_state_store(diags, workspace, store).await?;
    }
    workspace.record_initialized(diags, block.as_ref().zip(new.as_ref()))?;
    // Workspaces are requested from a backend only if the result can change the outcome. The selection of the directory counts
    // in addition to TF_WORKSPACE, because it is in force once that is unset.
    let selects_other = workspace.name() != DEFAULT_WORKSPACE
        || workspace.workspace_of_data_dir().is_ok_and(|name| name != DEFAULT_WORKSPACE);
    if let Some(new) = new.as_ref().filter(|_| selects_other) {
        let backend = new.configure(diags, workspace)?;
        select_only_workspace(diags, init, workspace, &*backend).await?;
    }
    match (&new, old_kind) {
        (Some(new), _) => report_backend_configured(diags, report, workspace, new).await?,
        (None, Some(old_kind)) => {
            let text = format!(
                "\nSuccessfully unset the backend {old_kind:?}. Formwork will now operate locally."
            );
            report.report_step(Paint::Green, &text, "backend_configured_unset");
        }
        (None, None) => {}
    }
    Ok(())
}

/// Applies the `-backend-config` options to the new backend configuration.
fn apply_backend_options(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    new: Option<&mut BackendConfig>,
    options: &[&String],
) -> Result<(), Reported> {
    match new {
        Some(new) if new.state_store().is_some() && !options.is_empty() => {
            Err(diags.error(unsupported_options_error(new.kind())))
        }
        Some(new) => options
            .iter()
            .try_for_each(|option| apply_backend_option(diags, workspace, new, option)),
        None if !options.is_empty() => {
            diags.warn(missing_block_warning());
            Ok(())
        }
        None => Ok(()),
    }
}

/// Replaces the initialized backend without access to its states. Local states of this directory can be
/// migrated.
async fn reconfigure(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    mut new: Option<&mut BackendConfig>,
) -> Result<(), Reported> {
    // An unreadable record is overwritten.
    let old = workspace.initialized_backend(&mut Diagnostics::new()).ok().flatten();
    let local_files = match new.as_deref() {
        Some(new) => new.local_state_files(&workspace.root),
        None => BackendConfig::local_backend().local_state_files(&workspace.root),
    };
    // It is not known whether a remote backend contains a state. No warning is reported for it.
    let may_have_state =
        local_files.is_none_or(|files| files.state_paths(&workspace.name()).state.exists());
    if let Some(old) = old.filter(|old| !old.is_supported() && !may_have_state) {
        diags.warn(abandoned_state_warning(&old));
    }
    ask_for_missing_arguments(init, workspace, new.as_deref_mut()).await;
    // The former backend is not read: the states to migrate are those of this directory.
    migrate_local_states(diags, init, workspace, new.as_deref()).await
}

/// Migrates the local states of this directory to a newly configured backend, if the user approves.
async fn migrate_local_states(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    new: Option<&BackendConfig>,
) -> Result<(), Reported> {
    let Some(new) = new else { return Ok(()) };
    let from = BackendConfig::local_backend().configure(diags, workspace)?;
    // Checked first, so that a backend that every command rejects is not recorded.
    let backends = MigrationBackends { from, to: new.configure(diags, workspace)? };
    // The usual case. It does not require a request to the new backend.
    if !backend_has_states(diags, &*backends.from).await? {
        return Ok(());
    }
    migrate(diags, init, workspace, &backends).await
}

/// Has a provider validate its configuration and that of its state store before they are recorded.
async fn check_state_store(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    to: &BackendConfig,
) -> Result<(), Reported> {
    let backend = to.configure(diags, workspace)?;
    let opened = backend.open_store(&workspace.name()).await;
    opened.map(drop).map_err(|error| diags.error(error.diagnostic()))
}

async fn report_backend_configured(
    diags: &mut Diagnostics,
    report: &OperationReport,
    workspace: &Workspace<'_>,
    to: &BackendConfig,
) -> Result<(), Reported> {
    let kind_name = if to.state_store().is_some() { "state store" } else { "backend" };
    let text = format!(
        "\nSuccessfully configured the {kind_name} {:?}! Formwork will automatically use this {kind_name} unless the {kind_name} configuration changes.",
        to.kind()
    );
    report.report_step(Paint::Green, &text, "backend_configured_success");
    // Reported here and not by each apply: the user needs this before the first one, and cannot act on it
    // later.
    if to.keeps_journals_on_one_machine()
        && !to.configure(diags, workspace)?.shares_journals().await
    {
        let text = format!(
            "\nThe {kind_name} does not store copies of run journals. An interrupted run can be recovered only in the directory in which it ran, on the same machine."
        );
        report.report_step(Paint::Plain, &text, "journal_on_this_machine_only_message");
    }
    Ok(())
}

/// A change of the backend.
struct BackendChange {
    /// The new backend configuration; `None` for the local backend.
    new: Option<BackendConfig>,
    /// The previously initialized backend.
    old: Option<InitializedBackend>,
}

/// Migrates the states to the new backend, if the user approves.
async fn migrate_if_decided(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    change: BackendChange,
) -> Result<(), Reported> {
    let BackendChange { new, old } = change;
    let wants_move = init.args.migrate_state || init.args.force_copy;
    // The provider is started only after the user's decision.
    let is_other_store = old.as_ref().is_some_and(|old| old.provider.is_some());
    if is_other_store && !wants_move {
        return Err(diags.error(backend_changed_error(old.as_ref())));
    }
    let from = match &old {
        Some(old) => workspace.initialized_config(diags, old).await?,
        None => Some(BackendConfig::local_backend()),
    };
    if from.is_some() && from == new {
        return Ok(());
    }
    if old.is_some() && !wants_move {
        return Err(diags.error(backend_changed_error(old.as_ref())));
    }
    let Some(from) = from else {
        return Err(diags.error(unknown_backend_error(old.as_ref())));
    };
    let to = new.unwrap_or_else(BackendConfig::local_backend);
    if old.is_some() && from.kind() != to.kind() {
        let text = format!(
            "Formwork detected that the backend type changed from {:?} to {:?}.\n",
            from.kind(),
            to.kind()
        );
        init.report.report_step(Paint::Plain, &text, "backend_migrate_type_change");
    }
    let backends = MigrationBackends {
        from: from.configure(diags, workspace)?,
        to: to.configure(diags, workspace)?,
    };
    migrate(diags, init, workspace, &backends).await
}

fn unsupported_options_error(kind: &str) -> Diagnostic {
    let detail = format!(
        "The option -backend-config applies only to backends. The state store {kind:?} is configured by its block and by environment variables of its provider. Nothing was changed."
    );
    Diagnostic::error(messages::OPTIONS_OF_STATE_STORE, detail)
}

/// Applies a `-backend-config` option: an argument, or a file of arguments.
fn apply_backend_option(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    to: &mut BackendConfig,
    option: &str,
) -> Result<(), Reported> {
    let body = match option.split_once('=') {
        Some((name, value)) if !to.has_structured_argument(name.trim()) => {
            return set_argument(diags, to, name.trim(), value);
        }
        Some((name, value)) => parse_argument(diags, &mut workspace.sources, name.trim(), value)?,
        None => parse_options_file(diags, workspace, option)?,
    };
    let values = evaluate_constant_body(diags, &body, &to.schema())?;
    to.merge(&values);
    Ok(())
}

/// Sets an argument to the text of an option.
fn set_argument(
    diags: &mut Diagnostics,
    to: &mut BackendConfig,
    name: &str,
    value: &str,
) -> Result<(), Reported> {
    to.set(name, value).map_err(|reason| {
        let detail = match reason {
            None => format!(
                "The backend configuration argument {name:?} given on the command line is not expected for the selected backend type."
            ),
            Some(reason) => format!(
                "The backend configuration argument {name:?} given on the command line has an unsuitable value: {reason}."
            ),
        };
        let summary = messages::INVALID_BACKEND_CONFIGURATION_ARGUMENT;
        diags.error(Diagnostic::error(summary, detail))
    })
}

/// Parses the value of an option as an expression, and creates a body with only this argument.
fn parse_argument(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    name: &str,
    value: &str,
) -> Result<Body, Reported> {
    // The value may be a secret, which no message must quote.
    let source = sources.add_secret(format!("-backend-config=\"{name}=...\""), value);
    let expr = parse_expression(diags, sources, source)?;
    let span = Span::new(source, 0, value.len());
    let attribute = Attribute { name: Ident { name: name.into(), span }, expr, span };
    Ok(Body { attributes: vec![attribute], ..Body::empty(span, span) })
}

/// Reads a file of arguments.
fn parse_options_file(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    path: &str,
) -> Result<Body, Reported> {
    let text = read_user_text_file(Path::new(path), MAX_SMALL_FILE_LEN).map_err(|error| {
        let detail = format!("{path}, which -backend-config names, cannot be read: {error}.");
        diags.error(Diagnostic::error(messages::FAILED_TO_READ_FILE, detail))
    })?;
    let source = workspace.sources.add(path, text);
    let parse = if path.ends_with(".json") { parse_json } else { parse_file };
    let body = parse(diags, &workspace.sources, source);
    diags.fail_if_errors()?;
    Ok(body)
}

fn missing_block_warning() -> Diagnostic {
    let detail = "-backend-config was used without a \"backend\" block in the configuration.\n\nIf you intended to override the default local backend configuration,\nno action is required, but you may add an explicit backend block to your\nconfiguration to clear this warning:\n\nterraform {\n  backend \"local\" {}\n}\n\nHowever, if you intended to override a defined backend, please verify that\nthe backend configuration is present and valid.";
    Diagnostic::warning(messages::MISSING_BACKEND_CONFIGURATION, detail)
}

/// Rejects a backend change until the user decides about the states. An empty state is not suggested if the
/// old state cannot be migrated.
fn backend_changed_error(old: Option<&InitializedBackend>) -> Diagnostic {
    if let Some(old) = old.filter(|old| !old.is_supported()) {
        let detail = format!(
            "The state is stored in the backend {:?}, which \"init\" set up. {}",
            old.kind,
            describe_unsupported_backend(&old.kind)
        );
        return Diagnostic::error(messages::BACKEND_CONFIGURATION_CHANGED, detail);
    }
    let detail = "A change in the backend configuration has been detected, which may require migrating existing state.\n\nIf you wish to attempt automatic migration of the state, use \"formwork init -migrate-state\".\nIf you wish to store the current configuration with no changes to the state, use \"formwork init -reconfigure\".";
    Diagnostic::error(messages::BACKEND_CONFIGURATION_CHANGED, detail)
}

fn unknown_backend_error(old: Option<&InitializedBackend>) -> Diagnostic {
    let kind = old.map_or("", |old| old.kind.as_str());
    let message = unsupported_backend_message(kind, messages::UNSUPPORTED_BACKEND_TYPE);
    Diagnostic::error(message, describe_unsupported_backend(kind))
}

/// Warns if a state remains in an unsupported backend, and the directory does not contain a local state.
fn abandoned_state_warning(old: &InitializedBackend) -> Diagnostic {
    let detail = format!(
        "The backend {:?} contains a state, and the new backend does not, so a plan would create all objects a second time. Restore the old block to migrate the state. {}",
        old.kind,
        describe_unsupported_backend(&old.kind)
    );
    Diagnostic::warning(messages::STATE_WAS_LEFT_BEHIND, detail)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use formwork_core::state::file::StateFile;

    use super::*;
    use crate::command::Command;
    use crate::command::parser::Cli;
    use crate::data_dir::DataDir;
    use crate::env::Env;
    use crate::view::Screen;
    use crate::view::operation_report::OperationReport;

    /// Sets up the backend of a block with options; returns the errors, and the location of the
    /// state.
    async fn check(root: &Path, block: &str, options: &[&str]) -> (Vec<String>, Option<String>) {
        let arguments =
            ["formwork", "init", "--no-color"].into_iter().chain(options.iter().copied());
        let Command::Init(args) = Cli::try_parse_from(arguments).unwrap().command else {
            panic!("another command");
        };
        std::fs::write(root.join("main.tf"), format!("terraform {{\n{block}\n}}\n")).unwrap();
        let (env, mut diags) = (Env::default(), Diagnostics::new());
        let mut workspace = Workspace {
            env: &env,
            root: root.to_owned(),
            config_dir: root.to_owned(),
            data: DataDir::at_path(root.join("data")),
            sources: Default::default(),
            settings: Default::default(),
            reattached: Default::default(),
            config_sources: Default::default(),
            encryption: None,
            started_stores: Default::default(),
        };
        let report = OperationReport::new(Screen::of(&env), false, false);
        let init = InitRun { args: &args, report: &report };
        let backend = workspace.root_module(&mut diags).unwrap().settings.backend;
        let _ = init_backend(&mut diags, &init, &mut workspace, backend.as_ref()).await;
        let mut ignored = Diagnostics::new();
        let location = workspace.open_backend(&mut ignored, backend.as_ref()).await.ok().map(
            |backend_in_use| {
                let path = backend_in_use.location("default");
                Path::new(&path).strip_prefix(root).unwrap().display().to_string()
            },
        );
        (diags.into_iter().map(|diagnostic| diagnostic.summary).collect(), location)
    }

    #[test]
    fn pulling_the_state_is_advised_before_reconfigure() {
        let record = |kind: &str| {
            let text = format!(
                r#"{{"version":3,"terraform_version":"1.11.4","backend":{{"type":"{kind}","config":{{"bucket":"b"}},"hash":1}}}}"#
            );
            InitializedBackend::parse(text.as_bytes()).unwrap().unwrap()
        };
        for kind in ["cos", "oci", "oss"] {
            let detail = backend_changed_error(Some(&record(kind))).detail.to_string();
            let pull = detail.find("terraform state pull").expect(&detail);
            assert!(detail.find("-reconfigure").is_none_or(|index| pull < index), "{detail}");
        }
        for kind in ["swift", "typo"] {
            assert!(
                !backend_changed_error(Some(&record(kind))).detail.contains("-reconfigure"),
                "{kind}"
            );
        }
        assert!(backend_changed_error(Some(&record("http"))).detail.contains("-migrate-state"));
    }

    fn stored(path: &Path) -> Option<StateFile> {
        StateFile::parse(&std::fs::read(path).ok()?).ok()
    }

    #[tokio::test]
    async fn states_are_abandoned_only_with_reconfigure() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let text = r#"{"version":4,"serial":1,"lineage":"a","outputs":{"o":{"value":"x","type":"string"}},"resources":[]}"#;
        let file = StateFile::parse(text.as_bytes()).unwrap();
        std::fs::write(root.join("terraform.tfstate"), file.to_bytes()).unwrap();
        let (local, to_q) = ("  backend \"local\" {}", "  backend \"local\" { path = \"q\" }");
        let location = |path: &str| (Vec::new(), Some(path.to_owned()));

        // No terminal is available for the prompt.
        let (summaries, state_location) = check(root, to_q, &[]).await;
        assert!(
            summaries[0].starts_with("Can't ask approval for state migration"),
            "{summaries:?}"
        );
        assert_eq!(state_location, None);
        assert_eq!(check(root, to_q, &["--force-copy"]).await, location("q"));
        assert_eq!(stored(&root.join("q")).unwrap().lineage, file.lineage);
        assert_eq!(check(root, to_q, &[]).await, location("q"));

        // The options take effect, and remain in effect if they are not repeated.
        let more = ["--backend-config=path=prod"];
        assert_eq!(check(root, local, &more).await.0, ["Backend configuration changed"]);
        // The former backend is discarded, so the local state of this directory is migrated.
        let (summaries, _) = check(root, local, &[more[0], "--reconfigure"]).await;
        assert!(
            summaries[0].starts_with("Can't ask approval for state migration"),
            "{summaries:?}"
        );
        std::fs::write(root.join("prod"), file.to_bytes()).unwrap();
        assert_eq!(check(root, local, &[more[0], "--reconfigure"]).await, location("prod"));
        assert_eq!(check(root, local, &[]).await, location("prod"));

        // A file is read by its name, as in Terraform.
        std::fs::write(root.join("a.json"), r#"{"//": "a comment", "path": "prod"}"#).unwrap();
        let option = format!("--backend-config={}", root.join("a.json").display());
        assert_eq!(check(root, local, &[&option]).await, location("prod"));
        std::fs::write(root.join("a.json"), "[1]").unwrap();
        assert_eq!(check(root, local, &[&option]).await.0, ["Incorrect JSON value type"]);

        assert_eq!(check(root, "", &[]).await.0, ["Backend configuration changed"]);
        assert_eq!(check(root, "", &["--reconfigure"]).await, location("terraform.tfstate"));
        let summaries = check(root, "", &more).await;
        assert_eq!(summaries.0, ["Missing backend configuration"]);
        let summaries = check(root, local, &["--backend-config=pth=x"]).await;
        assert_eq!(summaries.0, ["Invalid backend configuration argument"]);
    }

    #[tokio::test]
    async fn values_of_objects_and_sets_are_expressions_in_options() {
        let directory = tempfile::tempdir().unwrap();
        for (option, expected) in [
            ("endpoints={s3=var.x}", "Variables not allowed"),
            ("endpoints={s3=[\"a\"]}", "Incorrect attribute value type"),
            ("allowed_account_ids=1", "Incorrect attribute value type"),
            ("use_path_style=maybe", "Invalid backend configuration argument"),
        ] {
            let option = format!("--backend-config={option}");
            let summaries = check(directory.path(), "  backend \"s3\" {}", &[&option]).await.0;
            assert_eq!(summaries, [expected], "{option}");
        }
    }
}
