//! `formwork providers -json` and `formwork providers sbom`: the programs and modules that a configuration
//! uses, in machine-readable form.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::config::{Config, ModuleNode};
use formwork_core::disk::open_file;
use formwork_core::version::VersionConstraints;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::required_by_state;
use crate::env::Env;
use crate::exit::Exit;
use crate::install::hash;
use crate::install::lockfile::ProviderLock;
use crate::messages;
use crate::modules::manifest::ModuleRecord;
use crate::platform::Platform;
use crate::view::json::json_builder::Json;
use crate::view::{Screen, operation_report::OperationReport, print_data};
use crate::workspace::{LoadedTest, Workspace};

/// The scope of CycloneDX for components that only tests use.
const TEST_ONLY_SCOPE: &str = "excluded";

/// The kind of document to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InventoryDocument {
    /// The list of providers.
    Providers,
    /// The bill of materials, in CycloneDX.
    Materials,
}

/// Runs the command.
pub(super) async fn run(document: InventoryDocument, tests: Option<&Path>, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let json = match document {
        InventoryDocument::Providers => providers_document(&mut diags, &mut workspace, tests).await,
        InventoryDocument::Materials => sbom_document(&mut diags, &mut workspace, tests),
    };
    report.report_diagnostics(&workspace.sources, &diags);
    match json {
        Ok(json) if document == InventoryDocument::Materials => {
            print_data(&format!("{}\n", json.to_pretty()));
            Exit::Done
        }
        Ok(json) => {
            print_data(&format!("{}\n", json.to_compact()));
            Exit::Done
        }
        Err(Reported { .. }) => Exit::Failed,
    }
}

/// The source of a provider's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramOrigin {
    /// Part of the engine.
    BuiltIn,
    /// Included in Formwork.
    Bundled,
    /// From `dev_overrides`.
    Development,
    /// Already running.
    Reattached,
    /// Installed by `init`.
    Installed,
    /// Not installed, or not the package that is locked.
    Missing,
}

impl ProgramOrigin {
    fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Bundled => "bundled",
            Self::Development => "development",
            Self::Reattached => "reattached",
            Self::Installed => "installed",
            Self::Missing => "missing",
        }
    }
}

/// A provider that the configuration or state uses.
struct UsedProvider {
    /// Whether only modules of tests require it.
    is_for_tests: bool,
    constraints: VersionConstraints,
    lock: Option<ProviderLock>,
    origin: ProgramOrigin,
    /// The provider program, if it is a file.
    program: Option<PathBuf>,
}

/// The configuration, and the modules that its tests use instead.
struct LoadedModules {
    config: Config,
    tests: Vec<LoadedTest<Config>>,
}

impl LoadedModules {
    fn read(
        diags: &mut Diagnostics,
        workspace: &mut Workspace<'_>,
        tests: Option<&Path>,
    ) -> Result<Self, Reported> {
        let config = super::config_with_requirements(diags, workspace, tests)?;
        let tests = workspace.load_test_run_modules(diags, tests, Config::load_for_requirements)?;
        Ok(Self { config, tests })
    }

    /// The providers that modules of tests require.
    fn required_by_tests(&self) -> impl Iterator<Item = (ProviderAddr, VersionConstraints)> {
        let runs = self.tests.iter().flat_map(|test| &test.runs);
        runs.flat_map(|run| run.config.provider_requirements())
    }
}

/// The providers that the configuration, its tests and the state require.
fn used_providers(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    loaded: &LoadedModules,
    in_state: &BTreeSet<ProviderAddr>,
) -> Result<BTreeMap<ProviderAddr, UsedProvider>, Reported> {
    let locks = workspace.read_lock_file(diags)?;
    let provider_dirs = workspace.provider_dirs(&[]);
    let mut required = loaded.config.provider_requirements();
    for addr in in_state {
        required.entry(addr.clone()).or_default();
    }
    let of_config: BTreeSet<ProviderAddr> = required.keys().cloned().collect();
    for (addr, constraints) in loaded.required_by_tests() {
        let constraints_of_provider = required.entry(addr).or_default();
        *constraints_of_provider = std::mem::take(constraints_of_provider).union(constraints);
    }
    let used = required.into_iter().map(|(addr, constraints)| {
        let lock = locks.providers.get(&addr).cloned();
        // A missing program is listed, and is not an error.
        let program = match addr.is_builtin() || workspace.reattached.contains_key(&addr) {
            true => None,
            false => {
                provider_dirs.find_verified_program(&mut Diagnostics::new(), &addr, &locks).ok()
            }
        };
        let origin = match &program {
            _ if addr.is_builtin() => ProgramOrigin::BuiltIn,
            _ if workspace.reattached.contains_key(&addr) => ProgramOrigin::Reattached,
            _ if provider_dirs.development_dir(&addr).is_some() => ProgramOrigin::Development,
            None => ProgramOrigin::Missing,
            Some(program) if program.identity.is_none() => ProgramOrigin::Bundled,
            Some(_) => ProgramOrigin::Installed,
        };
        let program = program.map(|program| program.path);
        let is_for_tests = !of_config.contains(&addr);
        (addr, UsedProvider { is_for_tests, constraints, lock, origin, program })
    });
    Ok(used.collect())
}

async fn providers_document(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
) -> Result<Json, Reported> {
    let loaded = LoadedModules::read(diags, workspace, tests)?;
    let LoadedModules { config, tests } = &loaded;
    let in_state = required_by_state(diags, workspace, config).await?;
    let used = used_providers(diags, workspace, &loaded, &in_state)?;
    let members = used.iter().map(|(addr, provider)| {
        let version = provider.lock.as_ref().map(|lock| Json::text(lock.version.to_string()));
        let hashes = provider.lock.iter().flat_map(|lock| &lock.hashes);
        let json = Json::object_of_some([
            ("constraints", Some(Json::text(provider.constraints.to_string()))),
            ("version", version),
            ("origin", Some(Json::text(provider.origin.name()))),
            (
                "program",
                provider.program.as_ref().map(|path| Json::text(path.display().to_string())),
            ),
            ("hashes", Json::Array(hashes.map(Json::text).collect()).none_if_empty()),
        ]);
        (addr.to_string(), json)
    });

    let in_state = in_state.iter().map(|addr| Json::text(addr.to_string())).collect();
    Ok(Json::object_of_some([
        ("format_version", Some(Json::text("1.0"))),
        ("platform", Some(Json::text(Platform::current().to_string()))),
        ("configuration", Some(module_to_json(config, config.root_node()))),
        (
            "tests",
            Json::Object(tests.iter().filter_map(test_file_to_json).collect()).none_if_empty(),
        ),
        ("state", Some(Json::Array(in_state))),
        ("providers", Some(Json::Object(members.collect()))),
    ]))
}

/// The requirements of a module, and of those that it calls.
fn module_to_json(config: &Config, node: &ModuleNode) -> Json {
    let required = node.module.provider_requirements().into_iter();
    let required =
        required.map(|(addr, constraints)| (addr.to_string(), Json::text(constraints.to_string())));
    let called = node
        .children
        .iter()
        .map(|(name, child)| (name.to_string(), module_to_json(config, &config.nodes[*child])));
    Json::object_of_some([
        ("required_providers", Some(Json::Object(required.collect()))),
        ("module_calls", Json::Object(called.collect()).none_if_empty()),
    ])
}

/// Converts a test file: its name, and the requirements of the modules of its runs.
fn test_file_to_json(test: &LoadedTest<Config>) -> Option<(String, Json)> {
    let runs = test.runs.iter();
    let runs =
        runs.map(|run| (run.name.to_string(), module_to_json(&run.config, run.config.root_node())));
    let runs = Json::Object(runs.collect()).none_if_empty()?;
    Some((test.name.clone(), Json::object([("runs", runs)])))
}

fn sbom_document(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
) -> Result<Json, Reported> {
    let loaded = LoadedModules::read(diags, workspace, tests)?;
    let mut components = vec![formwork_to_json(diags)?];
    for (addr, provider) in used_providers(diags, workspace, &loaded, &BTreeSet::new())? {
        if provider.origin != ProgramOrigin::BuiltIn {
            components.push(provider_to_sbom_component(diags, &addr, &provider)?);
        }
    }
    let installed = workspace.installed_modules(diags)?.0;
    for (key, record) in &installed.0 {
        // A module of the checkout itself is not a separate component.
        if !key.is_empty() && !record.source.starts_with('.') {
            let directory = workspace.modules_dir().join(key);
            components.push(module_to_sbom_component(diags, key, record, &directory)?);
        }
    }
    let name = workspace.root.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let subject = Json::object([
        ("type", Json::text("application")),
        ("bom-ref", Json::text("directory")),
        ("name", Json::text(name.unwrap_or_default())),
    ]);
    Ok(Json::object([
        ("bomFormat", Json::text("CycloneDX")),
        ("specVersion", Json::text("1.6")),
        ("version", Json::Int(1)),
        ("metadata", Json::object([("component", subject)])),
        ("components", Json::Array(components)),
    ]))
}

/// The program itself.
fn formwork_to_json(diags: &mut Diagnostics) -> Result<Json, Reported> {
    let version = env!("CARGO_PKG_VERSION");
    let hash = match std::env::current_exe() {
        Ok(path) => file_digest(diags, &path)?,
        Err(error) => return Err(report_unreadable(diags, "the running program", &error)),
    };
    Ok(Json::object([
        ("type", Json::text("application")),
        ("bom-ref", Json::text("engine")),
        ("name", Json::text("formwork")),
        ("version", Json::text(version)),
        ("hashes", hash),
    ]))
}

fn provider_to_sbom_component(
    diags: &mut Diagnostics,
    addr: &ProviderAddr,
    provider: &UsedProvider,
) -> Result<Json, Reported> {
    let version = provider.lock.as_ref().map(|lock| lock.version.to_string());
    let hash = provider.program.as_ref().map(|path| file_digest(diags, path)).transpose()?;
    let reference = match &version {
        Some(version) => format!("pkg:generic/{addr}@{version}"),
        None => format!("pkg:generic/{addr}"),
    };
    let locked = provider.lock.iter().flat_map(|lock| &lock.hashes);
    let mut properties = vec![property_to_json("formwork:origin", provider.origin.name())];
    properties.extend(locked.map(|hash| property_to_json("formwork:lock:hash", hash)));
    Ok(Json::object_of_some([
        ("type", Some(Json::text("application"))),
        ("bom-ref", Some(Json::text(reference.clone()))),
        ("name", Some(Json::text(addr.to_string()))),
        ("version", version.map(Json::text)),
        ("scope", provider.is_for_tests.then(|| Json::text(TEST_ONLY_SCOPE))),
        ("purl", Some(Json::text(reference))),
        ("hashes", hash),
        ("properties", Some(Json::Array(properties))),
    ]))
}

fn module_to_sbom_component(
    diags: &mut Diagnostics,
    key: &str,
    record: &ModuleRecord,
    directory: &Path,
) -> Result<Json, Reported> {
    let hash = hash::hash_module(directory)
        .map_err(|error| report_unreadable(diags, &format!("the module {key}"), &error))?;
    let source = crate::redact::redact_address(&record.source);
    let origin =
        Json::object([("type", Json::text("distribution")), ("url", Json::text(source.clone()))]);
    Ok(Json::object_of_some([
        ("type", Some(Json::text("library"))),
        ("bom-ref", Some(Json::text(format!("module.{key}")))),
        ("name", Some(Json::text(source))),
        ("version", record.version.as_ref().map(|version| Json::text(version.to_string()))),
        ("scope", key.starts_with("test.").then(|| Json::text(TEST_ONLY_SCOPE))),
        ("externalReferences", Some(Json::Array(vec![origin]))),
        ("properties", Some(Json::Array(vec![property_to_json("formwork:content", &hash)]))),
    ]))
}

fn property_to_json(name: &'static str, value: &str) -> Json {
    Json::object([("name", Json::text(name)), ("value", Json::text(value))])
}

/// The SHA-256 checksum of a file, in the form of CycloneDX.
fn file_digest(diags: &mut Diagnostics, path: &Path) -> Result<Json, Reported> {
    let sum = open_file(path).and_then(|mut file| hash::zh_hash_of_archive(&mut file));
    let sum = sum.map_err(|error| report_unreadable(diags, &path.display().to_string(), &error))?;
    let sum = sum.trim_start_matches("zh:").to_owned();
    Ok(Json::Array(vec![Json::object([
        ("alg", Json::text("SHA-256")),
        ("content", Json::text(sum)),
    ])]))
}

fn report_unreadable(diags: &mut Diagnostics, component: &str, error: &std::io::Error) -> Reported {
    let detail = format!("The checksum of {component} cannot be computed: {error}.");
    let diagnostic = Diagnostic::error(messages::UNABLE_TO_READ_COMPONENT, detail);
    diags.error(diagnostic.blamed_on(Blame::Environment))
}
