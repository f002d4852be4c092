//! `formwork providers mirror`: copies packages into a directory that serves as a mirror.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::ArgAction;
use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{open_file, set_mode};
use formwork_core::version::{Version, VersionConstraints};
use formwork_value::diag::{Blame, Message};
use formwork_value::{Diagnostic, Diagnostics, Reported};
use serde_json::json;

use super::parse_platforms;
use crate::command_line::{example, path_if_given, path_or_empty};
use crate::env::Env;
use crate::exit::Exit;
use crate::install::installer::{DownloadProgress, FetchedPackage, fetch_package};
use crate::install::lockfile::LockFile;
use crate::install::package::PackageContent;
use crate::install::source::{
    MirroredProviderPackage, PackageLocation, ServerAccess, SourceSearch, local_packages,
};
use crate::install::{hash, parallel};
use crate::messages;
use crate::platform::Platform;
use crate::view::{Screen, operation_report::OperationReport};
use crate::workspace::Workspace;

/// Copy the packages of the required providers into a directory that serves as a mirror.
#[derive(Debug, clap::Args)]
#[command(after_help = example("mirror", "Copy the required packages to a directory."))]
pub(crate) struct ProvidersMirrorArgs {
    /// The directory to copy packages into.
    #[arg(value_name = "DIR", value_parser = path_or_empty())]
    pub(crate) directory: PathBuf,
    /// Copy the packages for this platform, such as linux_amd64. May be given several times. Default:
    /// the platform of this machine.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<String>,
    /// Do not limit the versions to those in the lock file.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) lock_file: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ProvidersMirrorArgs, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let result = mirror_packages(args, &report, &mut workspace, &mut diags);
    report.report_diagnostics(&workspace.sources, &diags);
    if result.is_ok() && !diags.has_errors() { Exit::Done } else { Exit::Failed }
}

fn mirror_packages(
    args: &ProvidersMirrorArgs,
    report: &OperationReport,
    workspace: &mut Workspace<'_>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let directory = path_if_given(Some(&args.directory)).unwrap_or(Path::new("."));
    let platforms = parse_platforms(diags, &args.platform)?;
    let config = workspace.read_config_requirements(diags)?;
    let required = config.provider_requirements();
    let locks = if args.lock_file { workspace.read_lock_file(diags)? } else { LockFile::default() };
    if !locks.providers.is_empty() {
        workspace.provider_dirs(&[]).check_locked_versions(diags, &required, &locks)?;
    }
    let servers = ServerAccess::new(workspace.env, &workspace.settings);
    let search = SourceSearch::in_origin_registries(&servers);
    let providers: Vec<(&ProviderAddr, &VersionConstraints)> = required.iter().collect();
    let copy =
        PackageCopy { search: &search, servers: &servers, locks: &locks, platforms: &platforms };
    let results = parallel::run_jobs(
        &providers,
        |_, (addr, constraints), emit| copy.copy_provider(addr, constraints, directory, emit),
        |_, line: String| report.report_event(&line),
        || (),
    );
    for problem in results.into_iter().flatten() {
        let _ = diags.error(problem.blamed_on(Blame::Environment));
    }
    for addr in mirrored_providers(directory) {
        if let Err(error) = write_index(directory, &addr) {
            let detail = format!("Failed to write an updated JSON index for {addr}: {error}.");
            let summary = messages::FAILED_TO_UPDATE_INDEXES;
            let _ = diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment));
        }
    }
    diags.fail_if_errors()
}

/// A copy of the packages of several platforms.
struct PackageCopy<'a> {
    search: &'a SourceSearch<'a>,
    servers: &'a ServerAccess<'a>,
    locks: &'a LockFile,
    platforms: &'a [Platform],
}

impl PackageCopy<'_> {
    /// Copies the packages of a provider, and returns the errors.
    fn copy_provider(
        &self,
        addr: &ProviderAddr,
        constraints: &VersionConstraints,
        directory: &Path,
        emit: &dyn Fn(String),
    ) -> Vec<Diagnostic> {
        if addr.is_builtin() {
            emit(format!(
                "- Skipping {} because it is built in to Formwork",
                addr.display_string()
            ));
            return Vec::new();
        }
        emit(format!("- Mirroring {}...", addr.display_string()));
        let (version, selection_reason) = match self.select_version(addr, constraints) {
            Ok(selected) => selected,
            Err(reason) => {
                let detail =
                    format!("Failed to download {addr} from its origin registry: {reason}.");
                return vec![Diagnostic::error(messages::PROVIDER_NOT_AVAILABLE, detail)];
            }
        };
        emit(format!("  - Selected v{version} {selection_reason}"));
        let mut problems = Vec::new();
        for platform in self.platforms {
            emit(format!("  - Downloading package for {platform}..."));
            let copied = self.fetch_package(addr, &version, platform).and_then(|fetched| {
                emit(format!("  - Package authenticated: {}", fetched.trust));
                let location =
                    |error| (messages::CANNOT_DOWNLOAD_PROVIDER_RELEASE, format!("{error}"));
                let (directory, name) = (
                    provider_dir_in_mirror(directory, addr),
                    package_file_name(addr, &version, platform),
                );
                write_archive(&fetched, &directory, &name).map_err(location)
            });
            if let Err((summary, reason)) = copied {
                let detail =
                    format!("Failed to download {addr} v{version} for {platform}: {reason}.");
                problems.push(Diagnostic::error(summary, detail));
            }
        }
        problems
    }

    /// The version to copy, and the reason for it.
    fn select_version(
        &self,
        addr: &ProviderAddr,
        constraints: &VersionConstraints,
    ) -> Result<(Version, String), String> {
        let listing = self.search.versions(addr).map_err(|error| error.to_string())?;
        if let Some(lock) = self.locks.providers.get(addr) {
            return Ok((lock.version.clone(), "to match dependency lock file".to_owned()));
        }
        let newest = listing.versions.into_iter().rev().find(|it| constraints.allows_version(it));
        let version = newest
            .ok_or_else(|| format!("no releases match the given constraints {constraints}"))?;
        let reason = if constraints.is_empty() {
            "with no constraints".to_owned()
        } else {
            format!("to meet constraints {constraints}")
        };
        Ok((version, reason))
    }

    fn fetch_package(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<FetchedPackage, (&'static Message, String)> {
        let package = self.search.package(addr, version, platform);
        let package = package
            .map_err(|error| (messages::PROVIDER_RELEASE_NOT_AVAILABLE, error.to_string()))?;
        let fetched = fetch_package(self.servers, package, &DownloadProgress::default());
        fetched.map_err(|reason| (messages::INVALID_PROVIDER_PACKAGE, reason))
    }
}

/// Writes an archive to a directory of a mirror. It is renamed to its final name when it is complete.
fn write_archive(fetched: &FetchedPackage, directory: &Path, name: &str) -> io::Result<()> {
    let PackageContent::Archive(archive) = &fetched.content else {
        return Err(io::Error::other("the package is not an archive"));
    };
    std::fs::create_dir_all(directory)?;
    let mut temp_file = tempfile::NamedTempFile::new_in(directory)?;
    let mut archive = archive;
    io::Seek::rewind(&mut archive)?;
    io::copy(&mut archive, &mut temp_file)?;
    save_archive(temp_file, &directory.join(name))
}

fn save_archive(temp_file: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
    set_mode(temp_file.as_file(), 0o644)?;
    temp_file.persist(path)?;
    Ok(())
}

fn provider_dir_in_mirror(mirror: &Path, addr: &ProviderAddr) -> PathBuf {
    mirror
        .join(addr.host().as_str())
        .join(addr.namespace().as_str())
        .join(addr.provider_type().as_str())
}

fn package_file_name(addr: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", addr.provider_type())
}

/// The addresses of the providers in a mirror.
fn mirrored_providers(mirror: &Path) -> Vec<ProviderAddr> {
    let names = |directory: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    };
    let mut providers = Vec::new();
    for host in names(mirror) {
        for namespace in names(&mirror.join(&host)) {
            for kind in names(&mirror.join(&host).join(&namespace)) {
                providers.extend(format!("{host}/{namespace}/{kind}").parse::<ProviderAddr>().ok());
            }
        }
    }
    providers
}

/// Writes the index files that a network mirror requires for a provider.
fn write_index(mirror: &Path, addr: &ProviderAddr) -> io::Result<()> {
    let directory = provider_dir_in_mirror(mirror, addr);
    let packages = local_packages(mirror, addr).map_err(io::Error::other)?;
    let mut versions: BTreeMap<String, BTreeMap<String, serde_json::Value>> = BTreeMap::new();
    for MirroredProviderPackage { version, platform, location } in packages {
        let PackageLocation::Archive(path) = location else { continue };
        let hash = hash::h1_hash_of_archive(open_file(&path)?)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let archive = json!({ "hashes": [hash], "url": name });
        versions.entry(version.to_string()).or_default().insert(platform.to_string(), archive);
    }
    if versions.is_empty() {
        return Ok(());
    }
    let empty: BTreeMap<&String, serde_json::Value> =
        versions.keys().map(|version| (version, json!({}))).collect();
    write_json(&directory, "index.json", &json!({ "versions": empty }))?;
    for (version, archives) in &versions {
        write_json(&directory, &format!("{version}.json"), &json!({ "archives": archives }))?;
    }
    Ok(())
}

fn write_json(directory: &Path, name: &str, content: &serde_json::Value) -> io::Result<()> {
    let mut temp_file = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer_pretty(&mut temp_file, content)?;
    save_archive(temp_file, &directory.join(name))
}
