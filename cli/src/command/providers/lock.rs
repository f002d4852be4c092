//! `formwork providers lock`: records the checksums of packages for several platforms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use formwork_core::addr::ProviderAddr;
use formwork_core::config::Config;
use formwork_core::version::{Version, VersionConstraints};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::parse_platforms;
use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::install::installer::{DownloadProgress, fetch_package};
use crate::install::lockfile::{LockFile, ProviderLock};
use crate::install::package::{self, PackageContent};
use crate::install::signature::PackageTrust;
use crate::install::source::{ServerAccess, SourceSearch};
use crate::install::{hash, parallel};
use crate::messages;
use crate::platform::Platform;
use crate::settings::{InstallMethod, InstallMethodKind};
use crate::view::{Paint, Screen, operation_report::OperationReport};
use crate::workspace::Workspace;

/// Record the checksums of providers for several platforms in the lock file.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-platform=linux_amd64 -platform=darwin_arm64",
    "Lock the packages of two platforms."
))]
pub(crate) struct ProvidersLockArgs {
    /// Source addresses of the providers to lock. Default: all required providers.
    #[arg(value_name = "PROVIDER")]
    pub(crate) providers: Vec<String>,
    /// Record checksums for this platform, such as linux_amd64. May be given several times. Default:
    /// the platform of this machine.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<String>,
    /// Use this directory as the mirror instead of the origin registry.
    #[arg(long, value_name = "DIR")]
    pub(crate) fs_mirror: Option<PathBuf>,
    /// Use this network mirror instead of the origin registry.
    #[arg(long, value_name = "URL")]
    pub(crate) net_mirror: Option<String>,
    /// Use packages in the plugin cache whose checksums are locked.
    #[arg(long)]
    pub(crate) enable_plugin_cache: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ProvidersLockArgs, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let result = lock_required_providers(args, &report, &mut workspace, &mut diags);
    report.report_diagnostics(&workspace.sources, &diags);
    match result {
        Ok(changed) => {
            let text = if changed {
                "\nSuccess! Formwork has updated the lock file."
            } else {
                "\nSuccess! Formwork has validated the lock file and found no need for changes."
            };
            report.show_text(&report.screen().paint(Paint::BoldGreen, text));
            if changed {
                report.show_text("\nReview the changes in .terraform.lock.hcl and then commit to your\nversion control system to retain the new checksums.\n");
            }
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

/// A package whose checksums are requested.
struct PackageRequest<'a> {
    addr: &'a ProviderAddr,
    version: &'a Version,
    platform: &'a Platform,
}

fn lock_required_providers(
    args: &ProvidersLockArgs,
    report: &OperationReport,
    workspace: &mut Workspace<'_>,
    diags: &mut Diagnostics,
) -> Result<bool, Reported> {
    let methods = search_methods(args, diags)?;
    let platforms = parse_platforms(diags, &args.platform)?;
    let config = workspace.read_config_requirements(diags)?;
    let required = required_providers(args, &config, diags)?;
    let mut locks = workspace.read_lock_file(diags)?;
    let servers = ServerAccess::new(workspace.env, &workspace.settings);
    let search = SourceSearch::new(methods, &servers);
    let selected = select_versions(&search, &required, &locks, &platforms[0], diags)?;
    let requests: Vec<PackageRequest<'_>> = platforms
        .iter()
        .flat_map(|platform| {
            selected.iter().map(move |(addr, version)| PackageRequest { addr, version, platform })
        })
        .collect();
    let cache = workspace.settings.plugin_cache_dir.as_ref().filter(|_| args.enable_plugin_cache);
    let results = parallel::run_jobs(
        &requests,
        |_, request, emit| {
            let PackageRequest { addr, version, platform } = request;
            let prior = locks.providers.get(*addr).filter(|lock| lock.version == **version);
            let cached = cache
                .map(|cache| package::package_dir_any_platform(cache, addr, version, platform));
            let cached = cached.and_then(|cached| hash::hash_dir(&cached).ok());
            if let (Some(lock), Some(hash)) = (prior, cached)
                && lock.hashes.contains(&hash)
            {
                return Ok(BTreeSet::from([hash]));
            }
            fetch_checksums(&search, &servers, request, emit)
        },
        |_, line| report.report_event(&line),
        || (),
    );
    let mut failures: BTreeMap<&Platform, Vec<String>> = BTreeMap::new();
    let mut changed = false;
    let before = locks.clone();
    for (request, result) in requests.iter().zip(results) {
        let PackageRequest { addr, version, platform } = request;
        match result {
            Ok(hashes) => {
                let old = before.providers.get(*addr);
                let (change, is_change) = describe_lock_change(old, version, &hashes);
                let name = addr.display_string();
                report
                    .report_event(&format!("- Obtained {name} checksums for {platform}; {change}"));
                changed |= is_change;
                add_hashes(&mut locks, addr, version, &required[*addr], hashes);
            }
            Err(reason) => {
                failures.entry(platform).or_default().push(format!("- {addr}: {reason}"));
            }
        }
    }
    for (platform, reasons) in &failures {
        let detail = format!(
            "Formwork failed to fetch the requested providers for {platform} in order to calculate their checksums: some providers could not be installed:\n{}.",
            reasons.join("\n")
        );
        let summary = messages::COULD_NOT_RETRIEVE_PROVIDERS_FOR_LOCKING;
        let _ = diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment));
    }
    diags.fail_if_errors()?;
    locks.save(diags, &workspace.root)?;
    Ok(changed)
}

/// The source of packages: the origin registry, unless a mirror is specified.
fn search_methods(
    args: &ProvidersLockArgs,
    diags: &mut Diagnostics,
) -> Result<Vec<InstallMethod>, Reported> {
    let kind = match (&args.fs_mirror, &args.net_mirror) {
        (Some(_), Some(_)) => {
            let detail =
                "The -fs-mirror and -net-mirror command line options are mutually-exclusive.";
            return Err(diags
                .error(Diagnostic::error(messages::INVALID_INSTALLATION_METHOD_OPTIONS, detail)));
        }
        (Some(directory), None) => InstallMethodKind::Filesystem(directory.clone()),
        (None, Some(url)) if url.to_ascii_lowercase().starts_with("https://") => {
            InstallMethodKind::Network(url.clone())
        }
        (None, Some(_)) => {
            let detail =
                "The -net-mirror option requires a valid https: URL as the mirror base URL.";
            return Err(
                diags.error(Diagnostic::error(messages::INVALID_NETWORK_MIRROR_URL, detail))
            );
        }
        (None, None) => InstallMethodKind::Direct,
    };
    Ok(vec![InstallMethod::for_all_providers(kind)])
}

/// The providers to lock: all required ones, or the specified subset.
fn required_providers(
    args: &ProvidersLockArgs,
    config: &Config,
    diags: &mut Diagnostics,
) -> Result<BTreeMap<ProviderAddr, VersionConstraints>, Reported> {
    let mut required = config.provider_requirements();
    let mut listed = BTreeSet::new();
    for name in &args.providers {
        match name.parse::<ProviderAddr>() {
            Ok(addr) if required.contains_key(&addr) => drop(listed.insert(addr)),
            Ok(addr) => {
                let detail =
                    format!("The provider {addr} is not required by the current configuration.");
                let _ = diags.error(Diagnostic::error(messages::INVALID_PROVIDER_ARGUMENT, detail));
            }
            Err(error) => {
                let _ = diags.error(Diagnostic::error(
                    messages::INVALID_PROVIDER_ARGUMENT,
                    error.to_string(),
                ));
            }
        }
    }
    diags.fail_if_errors()?;
    required.retain(|addr, _| !addr.is_builtin() && (listed.is_empty() || listed.contains(addr)));
    Ok(required)
}

/// Selects a version of each provider: the locked version, or the newest allowed one.
fn select_versions(
    search: &SourceSearch<'_>,
    required: &BTreeMap<ProviderAddr, VersionConstraints>,
    locks: &LockFile,
    platform: &Platform,
    diags: &mut Diagnostics,
) -> Result<BTreeMap<ProviderAddr, Version>, Reported> {
    let providers: Vec<(&ProviderAddr, &VersionConstraints)> = required.iter().collect();
    let results = parallel::run_jobs(
        &providers,
        |_, (addr, constraints), _: &dyn Fn(())| {
            let locked = locks.providers.get(*addr).map(|lock| &lock.version);
            if let Some(version) = locked.filter(|version| !constraints.allows_version(version)) {
                return Err(format!(
                    "locked provider {addr} {version} does not match configured version constraint {constraints}; must use formwork init -upgrade to allow selection of new versions"
                ));
            }
            let listing = search.versions(addr).map_err(|error| error.to_string())?;
            let suits = |version: &&Version| {
                locked.map_or_else(
                    || constraints.allows_version(version),
                    |locked| locked == *version,
                )
            };
            let newest = listing.versions.iter().rev().find(suits);
            newest.cloned().ok_or_else(|| match locked {
                Some(version) => {
                    format!("the previously-selected version {version} is no longer available")
                }
                None => format!("no available releases match the given constraints {constraints}"),
            })
        },
        |_, ()| (),
        || (),
    );
    let mut selected = BTreeMap::new();
    let mut reasons = Vec::new();
    for ((addr, _), result) in providers.into_iter().zip(results) {
        match result {
            Ok(version) => drop(selected.insert(addr.clone(), version)),
            Err(reason) => reasons.push(format!("- {addr}: {reason}")),
        }
    }
    if reasons.is_empty() {
        return Ok(selected);
    }
    let detail = format!(
        "Formwork failed to fetch the requested providers for {platform} in order to calculate their checksums: some providers could not be installed:\n{}.",
        reasons.join("\n")
    );
    let summary = messages::COULD_NOT_RETRIEVE_PROVIDERS_FOR_LOCKING;
    Err(diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment)))
}

/// Fetches a package, and returns the hashes to lock.
fn fetch_checksums(
    search: &SourceSearch<'_>,
    servers: &ServerAccess<'_>,
    request: &PackageRequest<'_>,
    emit: &dyn Fn(String),
) -> Result<BTreeSet<String>, String> {
    let PackageRequest { addr, version, platform } = request;
    let name = format!("{} {version} for {platform}", addr.display_string());
    let package = search.package(addr, version, platform).map_err(|error| error.to_string())?;
    emit(format!("- Fetching {name}..."));
    let fetched = fetch_package(servers, package, &DownloadProgress::default())?;
    let hash = match &fetched.content {
        PackageContent::Directory(directory) => hash::hash_dir(directory),
        PackageContent::Archive(archive) => hash::h1_hash_of_archive(archive),
    };
    let hash = hash.map_err(|error| format!("the package cannot be read: {error}"))?;
    let key = fetched.trust.key_id().map_or(String::new(), |id| format!(", key ID {id}"));
    let trust: &PackageTrust = &fetched.trust;
    emit(format!("- Retrieved {name} ({trust}{key})"));
    Ok(fetched.signed.into_iter().chain([hash]).collect())
}

/// Describes the change of a lock by new checksums, and whether it is a change.
fn describe_lock_change(
    old: Option<&ProviderLock>,
    version: &Version,
    hashes: &BTreeSet<String>,
) -> (&'static str, bool) {
    match old {
        None => (
            "This was a new provider and the checksums for this platform are now tracked in the lock file",
            true,
        ),
        Some(lock) if lock.version == *version && hashes.is_subset(&lock.hashes) => {
            ("All checksums for this platform were already tracked in the lock file", false)
        }
        Some(_) => {
            ("Additional checksums for this platform are now tracked in the lock file", true)
        }
    }
}

fn add_hashes(
    locks: &mut LockFile,
    addr: &ProviderAddr,
    version: &Version,
    constraints: &VersionConstraints,
    hashes: BTreeSet<String>,
) {
    let new_lock = || ProviderLock {
        version: version.clone(),
        constraints: VersionConstraints::default(),
        hashes: BTreeSet::new(),
    };
    let lock = locks.providers.entry(addr.clone()).or_insert_with(new_lock);
    constraints.clone_into(&mut lock.constraints);
    lock.hashes.extend(hashes);
}
