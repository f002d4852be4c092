//! `formwork modules`: shows the modules that the configuration calls.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::addr::ModuleSource;
use formwork_core::config::ModuleNode;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::install::hash;
use crate::messages;
use crate::modules::installed::InstalledModules;
use crate::modules::lock::{self, LockedModule, ModuleLock};
use crate::modules::manifest::ModuleRecord;
use crate::view::json::json_builder::Json;
use crate::view::{Paint, Screen, operation_report::OperationReport, print_data, print_out};
use crate::workspace::Workspace;

/// Show the modules that the configuration calls.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-json", "List the modules that the configuration calls, as JSON."))]
pub(crate) struct ModulesArgs {
    /// Lock the content of the installed modules: write their hashes to .formwork.modules.lock.json, which
    /// `init` and `get` verify.
    #[arg(long)]
    pub(crate) lock: bool,
    /// Print them as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command.
pub(super) fn run(args: &ModulesArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    // The output lists the module calls of the configuration, so the modules must be readable and installed.
    let mut calls = BTreeSet::new();
    if workspace.has_config() {
        let checked = workspace.read_config_requirements(&mut diags).and_then(|config| {
            calls.extend(config.nodes.iter().map(manifest_key));
            config.check_required_versions(&mut diags)
        });
        if checked.is_err() {
            return report.report_failure(Some(&workspace.sources), &diags);
        }
    }
    let Ok(InstalledModules(manifest)) = workspace.installed_modules(&mut diags) else {
        return report.report_failure(Some(&workspace.sources), &diags);
    };
    let mut called: BTreeMap<&str, &ModuleRecord> = manifest
        .0
        .iter()
        .filter(|(key, _)| !key.is_empty())
        .map(|(key, record)| (key.as_str(), record))
        .collect();
    if args.lock {
        // Including the modules of tests.
        let locked = write_module_lock_file(&mut diags, &workspace, &called);
        report.report_diagnostics(&workspace.sources, &diags);
        return match locked {
            Ok(n_modules) => {
                print_out(&format!(
                    "Locked the content of {n_modules} modules in {}.\n",
                    lock::MODULE_LOCK_FILE_NAME
                ));
                Exit::Done
            }
            Err(Reported { .. }) => Exit::Failed,
        };
    }
    called.retain(|key, _| calls.contains(*key));
    if args.json {
        print_data(&format!("{}\n", modules_document(&called).to_compact()));
    } else if called.is_empty() {
        print_out("\nNo modules found in configuration.\n");
    } else {
        let title = screen.paint(Paint::Bold, "Modules declared by configuration:");
        print_out(&format!("\n{title}\n.\n{}\n", modules_tree(&called, "", "")));
    }
    Exit::Done
}

/// The key of a module in the manifest.
fn manifest_key(node: &ModuleNode) -> String {
    let calls: Vec<&str> = node.path.0.iter().map(|call| &**call).collect();
    calls.join(".")
}

/// Writes the module lock file, and returns the number of modules in it. Modules of the checkout itself are
/// not locked.
fn write_module_lock_file(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    called: &BTreeMap<&str, &ModuleRecord>,
) -> Result<usize, Reported> {
    let mut failed = |operation: &str, error: std::io::Error| {
        let detail = format!("{operation}: {error}.");
        let diagnostic = Diagnostic::error(messages::UNABLE_TO_LOCK_MODULES, detail);
        diags.error(diagnostic.blamed_on(Blame::Environment))
    };
    let mut lock = ModuleLock::default();
    for (key, record) in called.iter().filter(|(_, record)| is_remote_source(&record.source)) {
        let directory = workspace.modules_dir().join(key);
        let hash = hash::hash_module(&directory);
        let hash = hash.map_err(|error| failed(&format!("The module {key}"), error))?;
        lock.0.insert((*key).to_owned(), LockedModule::for_record(record, hash));
    }
    lock.save(&workspace.root).map_err(|error| failed(lock::MODULE_LOCK_FILE_NAME, error))?;
    Ok(lock.0.len())
}

/// Whether a source is a registry, a repository or an archive, not a local directory.
fn is_remote_source(source: &str) -> bool {
    match ModuleSource::parse(source, false) {
        Ok(ModuleSource::Local(_)) | Err(_) => false,
        Ok(ModuleSource::Package(package, _)) => !package.is_local(),
        Ok(ModuleSource::Registry(..)) => true,
    }
}

/// The name of a call without the names of its parent calls.
fn last_call_name(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn version_text(record: &ModuleRecord) -> String {
    record.version.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn modules_document(called: &BTreeMap<&str, &ModuleRecord>) -> Json {
    let modules = called.iter().map(|(key, record)| {
        Json::object([
            ("key", Json::text(last_call_name(key))),
            ("source", Json::text(record.source.clone())),
            ("version", Json::text(version_text(record))),
        ])
    });
    Json::object([
        ("format_version", Json::text("1.0")),
        ("modules", if called.is_empty() { Json::Null } else { Json::Array(modules.collect()) }),
    ])
}

/// The module calls of a module, as lines of a tree.
fn modules_tree(called: &BTreeMap<&str, &ModuleRecord>, parent: &str, margin: &str) -> String {
    let inner: Vec<_> = called
        .iter()
        .filter(|(key, _)| key.rsplit_once('.').map_or("", |(outer, _)| outer) == parent)
        .collect();
    let mut text = String::new();
    for (index, (key, record)) in inner.iter().enumerate() {
        let (branch, inner_margin) = if index + 1 == inner.len() {
            ("└── ", "    ")
        } else {
            ("├── ", "│\u{a0}\u{a0} ")
        };
        let version = version_text(record);
        let version = if version.is_empty() { version } else { format!(" {version}") };
        text +=
            &format!("{margin}{branch}\"{}\"[{}]{version}\n", last_call_name(key), record.source);
        text += &modules_tree(called, key, &format!("{margin}{inner_margin}"));
    }
    text
}
