//! `formwork providers` and its subcommands.

mod inventory;
mod lock;
mod mirror;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use formwork_core::addr::ProviderAddr;
use formwork_core::config::{Config, ModuleNode};
use formwork_core::provider::ProviderPool;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use self::inventory::InventoryDocument;
use super::encryption;
use super::output::read_state_in_store;
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::platform::Platform;
use crate::view::json::schema;
use crate::view::{Screen, operation_report::OperationReport, print_data, print_out};
use crate::workspace::{LoadedTest, Workspace};

/// Show the providers that the configuration requires.
#[derive(Debug, clap::Args)]
#[command(after_help = example("", "Show which module requires which provider."))]
pub(crate) struct ProvidersArgs {
    /// Print the required providers as JSON, with their selected versions, programs and hashes.
    #[arg(long)]
    pub(crate) json: bool,
    /// The test directory, whose modules are listed too. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    /// Subcommands of `providers`.
    #[command(subcommand)]
    pub(crate) command: Option<ProvidersCommand>,
}

/// Subcommands of `providers`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    Schema(ProvidersSchemaArgs),
    Lock(lock::ProvidersLockArgs),
    Mirror(mirror::ProvidersMirrorArgs),
    /// Print a CycloneDX bill of materials for this configuration: the engine, providers and modules, with
    /// hashes.
    #[command(after_help = example("", "Print the bill of materials."))]
    Sbom,
}

/// Print the schemas of all providers that the configuration requires.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-json", "Print the schemas of the required providers."))]
pub(crate) struct ProvidersSchemaArgs {
    /// Print JSON. This flag is required.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs `providers` or its subcommand.
pub(super) async fn dispatch(args: ProvidersArgs, env: &Env) -> Exit {
    let tests = args.test_directory.as_deref();
    match args.command {
        None if args.json => inventory::run(InventoryDocument::Providers, tests, env).await,
        None => run(tests, env).await,
        Some(ProvidersCommand::Sbom) => {
            inventory::run(InventoryDocument::Materials, tests, env).await
        }
        Some(ProvidersCommand::Schema(args)) => print_schemas(&args, env).await,
        Some(ProvidersCommand::Lock(args)) => lock::run(&args, env),
        Some(ProvidersCommand::Mirror(args)) => mirror::run(&args, env),
    }
}

/// Shows the providers that the configuration and the state require.
async fn run(tests: Option<&Path>, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let text = required_providers_text(&mut diags, &mut workspace, tests).await;
    // As in Terraform, warnings follow the list.
    let exit = match text {
        Ok(text) => {
            print_out(&text);
            Exit::Done
        }
        Err(_) => Exit::Failed,
    };
    report.report_diagnostics(&workspace.sources, &diags);
    exit
}

async fn required_providers_text(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
) -> Result<String, Reported> {
    let config = config_with_requirements(diags, workspace, tests)?;
    let tests = workspace.load_test_run_modules(diags, tests, Config::load_for_requirements)?;
    let mut text = providers_tree(&config, &tests) + "\n";
    let needed = required_by_state(diags, workspace, &config).await?;
    if !needed.is_empty() {
        text.push_str("Providers required by state:\n\n");
        for addr in needed {
            text.push_str(&format!("    provider[{addr}]\n\n"));
        }
    }
    Ok(text)
}

/// The configuration, loaded as far as needed for its provider requirements.
fn config_with_requirements(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
) -> Result<Config, Reported> {
    if !workspace.has_config_or_warn(diags) {
        let detail = "The working directory does not contain .tf files. Change to the configuration directory, or specify it with -chdir=DIR before the command.";
        return Err(diags.error(Diagnostic::error(messages::NO_CONFIGURATION_FILES, detail)));
    }
    let config = workspace.read_config_requirements(diags);
    workspace.check_tests(diags, tests);
    let config = config?;
    diags.fail_if_errors()?;
    Ok(config)
}

/// The providers of the objects in the state.
async fn required_by_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    config: &Config,
) -> Result<BTreeSet<ProviderAddr>, Reported> {
    encryption::load_encryption(diags, workspace, &config.root, &[])?;
    encryption::set_up_encryption_without_sealed(diags, workspace)?;
    workspace.check_lock_file_readable(diags)?;
    let store =
        workspace.open_state(diags, config.backend(), &StatePaths::from_state_path(None)).await?;
    let state = read_state_in_store(diags, store).await?;
    Ok(state.resources.values().map(|resource| resource.provider.provider.clone()).collect())
}

fn providers_tree(config: &Config, tests: &[LoadedTest<Config>]) -> String {
    let mut text = String::from("\nProviders required by configuration:\n.\n");
    let branch = ModuleBranch { config, node: config.root_node(), tests };
    write_branches(&mut text, branch, "");
    text
}

/// A module in the tree. The root also has the tests of the configuration.
#[derive(Clone, Copy)]
struct ModuleBranch<'a> {
    config: &'a Config,
    node: &'a ModuleNode,
    tests: &'a [LoadedTest<Config>],
}

/// The sign before a branch, and the margin of the branches below it.
fn branch_prefixes(is_last: bool) -> (&'static str, &'static str) {
    if is_last { ("└──", "    ") } else { ("├──", "│\u{a0}\u{a0} ") }
}

/// Writes the providers of a module and its child modules.
fn write_branches(text: &mut String, module: ModuleBranch<'_>, margin: &str) {
    let ModuleBranch { config, node, tests } = module;
    let required = node.module.provider_requirements();
    let n_branches = required.len() + tests.len() + node.children.len();
    let mut n_drawn = 0;
    let mut branch = |text: &mut String, line: &str| {
        n_drawn += 1;
        let (sign, inner_margin) = branch_prefixes(n_drawn == n_branches);
        text.push_str(&format!("{margin}{sign} {line}\n"));
        format!("{margin}{inner_margin}")
    };
    for (addr, constraints) in &required {
        let space = if constraints.is_empty() { "" } else { " " };
        branch(text, &format!("provider[{addr}]{space}{constraints}"));
    }
    for test in tests {
        let margin = branch(text, &format!("test.{}", test.name));
        for (index, run) in test.runs.iter().enumerate() {
            let is_last = index + 1 == test.runs.len();
            let (sign, inner_margin) = branch_prefixes(is_last);
            text.push_str(&format!("{margin}{sign} run.{}\n", run.name));
            let node = run.config.root_node();
            let module = ModuleBranch { config: &run.config, node, tests: &[] };
            write_branches(text, module, &format!("{margin}{inner_margin}"));
        }
    }
    for (name, child) in &node.children {
        let margin = branch(text, &format!("module.{name}"));
        let module = ModuleBranch { config, node: &config.nodes[*child], tests: &[] };
        write_branches(text, module, &margin);
    }
}

/// Prints the schemas.
async fn print_schemas(args: &ProvidersSchemaArgs, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    if !args.json {
        let detail = "The `formwork providers schema` command requires the `-json` flag.";
        let _ = diags.error(Diagnostic::error(messages::FLAG_JSON_REQUIRED, detail));
        return report.report_failure(Some(&workspace.sources), &diags);
    }
    let text = schemas_document(&mut diags, &mut workspace).await;
    report.report_diagnostics(&workspace.sources, &diags);
    match text {
        Ok(text) => {
            print_data(&text);
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

async fn schemas_document(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<String, Reported> {
    let config = workspace.read_config_requirements(diags)?;
    let mut required = config.provider_requirements();
    // As in Terraform, the state may contain objects of providers that the configuration no longer requires.
    for addr in required_by_state(diags, workspace, &config).await? {
        required.entry(addr).or_default();
    }
    let launcher = workspace.make_launcher(diags, &required)?.prefer_cached_schemas();
    let pool = ProviderPool::new(&launcher);
    let result = pool.load_providers(diags, required.keys().cloned()).await;
    pool.report_warnings(diags);
    launcher.shutdown(diags).await;
    result?;
    let loaded: Vec<_> =
        required.keys().filter_map(|addr| Some((addr, pool.loaded_provider(addr)?))).collect();
    let json = schema::schemas_document(loaded.iter().map(|(addr, loaded)| (*addr, &**loaded)));
    Ok(format!("{}\n", json.to_compact()))
}

/// The platforms of the `-platform` options; the current platform if none is specified.
fn parse_platforms(diags: &mut Diagnostics, names: &[String]) -> Result<Vec<Platform>, Reported> {
    if names.is_empty() {
        return Ok(vec![Platform::current()]);
    }
    let mut platforms = Vec::new();
    for name in names {
        match name.parse() {
            Ok(platform) => platforms.push(platform),
            Err(error) => {
                let detail = format!(
                    "The string {name:?} given in the -platform option is not a valid target platform: {error}."
                );
                let _ = diags.error(Diagnostic::error(messages::INVALID_TARGET_PLATFORM, detail));
            }
        }
    }
    diags.fail_if_errors().map(|()| platforms)
}
