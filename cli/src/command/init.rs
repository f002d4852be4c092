//! `formwork init`: prepares the working directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

use formwork_core::addr::ProviderAddr;
use formwork_core::config::Config;
use formwork_core::version::VersionConstraints;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::backend::InitRun;
use super::operation::{StateNeedingProviders, providers_only_in_state};
use super::{backend, encryption, from_module, state_session};
use crate::command_line::{InitArgs, StatePaths};
use crate::env::Env;
use crate::exit::Exit;
use crate::install::install_failure;
use crate::install::installer::InstallJob;
use crate::install::lockfile::LockFile;
use crate::install::module_constraints::ModuleConstraints;
use crate::install::providers::ProviderInstallOptions;
use crate::messages;
use crate::redact;
use crate::view::{Paint, Screen, operation_report::OperationReport};
use crate::workspace::{ModuleInstallOptions, Workspace};

/// Runs the command.
pub(super) async fn run(args: &InitArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let init = InitRun { args, report: &report };
    let result = prepare_dir(&mut diags, &init, &mut workspace).await;
    report.report_diagnostics(&workspace.sources, &diags);
    match result {
        Ok(()) if !diags.has_errors() => Exit::Done,
        _ => Exit::Failed,
    }
}

/// Checks options that exclude each other or have invalid values.
fn check_options(diags: &mut Diagnostics, args: &InitArgs) -> Result<(), Reported> {
    // As in Terraform, -force-copy does not conflict with -reconfigure: it answers a prompt that does not
    // appear.
    if args.reconfigure && args.migrate_state {
        let detail = "The -migrate-state and -reconfigure options are mutually-exclusive.";
        return Err(diags.error(Diagnostic::error(messages::INVALID_INIT_OPTIONS, detail)));
    }
    if args.upgrade && args.lockfile.as_deref() == Some("readonly") {
        let summary = messages::UPGRADE_WITH_READONLY_LOCK_FILE;
        let detail = "-upgrade selects newer versions, and -lockfile=readonly does not allow recording them.";
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    // As in Terraform, checked even if no state is locked.
    state_session::parse_lock_timeout(diags, &args.lock.lock_timeout).map(drop)
}

async fn prepare_dir(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &mut Workspace<'_>,
) -> Result<(), Reported> {
    let InitRun { args, report } = *init;
    check_options(diags, args)?;
    if let Some(source) = &args.from_module {
        let text = format!("Copying configuration from {:?}...", redact::redact_address(source));
        report.report_step(Paint::Bold, &text, "copying_configuration_message");
        from_module::copy_module(diags, workspace, source)?;
    }
    if !workspace.has_config_or_warn(diags) {
        let text = "Formwork initialized in an empty directory!\n\nThe directory has no configuration files. You may begin working with Formwork immediately by creating them.\n";
        report.report_step(Paint::Plain, text, "output_init_empty_message");
        return Ok(());
    }
    if args.backend {
        let text = "Initializing the backend...";
        report.report_step(Paint::Bold, text, "initializing_backend_message");
    }
    let tests = args.test_directory.as_deref();
    // Modules are not fetched for invalid files.
    workspace.check_tests(diags, tests);
    diags.fail_if_errors()?;
    if args.get && (workspace.calls_modules() || workspace.tests_use_modules(tests)) {
        let (text, code) = if args.upgrade {
            ("Upgrading modules...", "upgrading_modules_message")
        } else {
            ("Initializing modules...", "initializing_modules_message")
        };
        report.report_step(Paint::Bold, text, code);
        let keeps_lock = args.lockfile.as_deref() == Some("readonly");
        let options = ModuleInstallOptions { upgrade: args.upgrade, keeps_lock, tests };
        workspace.install_modules(diags, options, report)?;
    }
    let config = workspace.read_config_requirements(diags)?;
    config.check_required_versions(diags)?;
    diags.fail_if_errors()?;
    let runs = required_by_test_runs(diags, workspace, tests)?;
    let is_store = config.backend().is_some_and(|backend| backend.provider.is_some());
    let first = (args.backend && is_store).then(|| config.provider_requirements());
    if let Some(required) = first.clone() {
        // The state store's provider reads the state, so it is installed before the providers of the state
        // are determined.
        let to_install = ProvidersToInstall { config: &config, required, keeps_locks: true };
        install_providers(diags, init, workspace, to_install)?;
    }
    if args.backend {
        encryption::load_encryption(diags, workspace, &config.root, &[])?;
        backend::init_backend(diags, init, workspace, config.backend()).await?;
        workspace.warn_of_deprecated_backend(diags, config.backend()).await;
        check_state_is_readable(diags, workspace, &config).await?;
    }
    workspace.warn_of_overrides_in_init(diags);
    let mut required = merge_requirements(config.provider_requirements(), runs);
    let state = StateNeedingProviders { state_paths: &StatePaths::default(), with_open: true };
    let of_state = providers_only_in_state(workspace, &config, &required, state).await;
    required.extend(of_state);
    // The modules of the configuration are already installed if the state required them.
    let are_installed =
        first.is_some_and(|first| required.keys().all(|addr| first.contains_key(addr)));
    if !are_installed
        || workspace
            .read_lock_file(diags)?
            .providers
            .keys()
            .ne(providers_to_lock(workspace, &required))
    {
        let to_install = ProvidersToInstall { config: &config, required, keeps_locks: false };
        install_providers(diags, init, workspace, to_install)?;
    }
    let message = "Formwork has been successfully initialized!";
    report.report_step(Paint::BoldGreen, message, "output_init_success_message");
    if !workspace.env.in_automation {
        let text = "\nYou may now begin working with Formwork. Try running \"formwork plan\" to see any changes that are required for your infrastructure.\n";
        report.report_step(Paint::Plain, text, "output_init_success_cli_message");
    }
    Ok(())
}

/// The providers of the modules that runs of test files use.
fn required_by_test_runs(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
) -> Result<BTreeMap<ProviderAddr, VersionConstraints>, Reported> {
    let mut required = BTreeMap::new();
    for test in workspace.load_test_run_modules(diags, tests, Config::load_for_requirements)? {
        for run in test.runs {
            run.config.check_required_versions(diags)?;
            required = merge_requirements(required, run.config.provider_requirements());
        }
    }
    Ok(required)
}

/// Merges provider requirements, combining their version constraints.
fn merge_requirements(
    mut required: BTreeMap<ProviderAddr, VersionConstraints>,
    additional: BTreeMap<ProviderAddr, VersionConstraints>,
) -> BTreeMap<ProviderAddr, VersionConstraints> {
    for (addr, added) in additional {
        let constraints = required.entry(addr).or_default();
        *constraints = std::mem::take(constraints).union(added);
    }
    required
}

/// Reads the state in a backend, so that an error in its arguments or credentials is reported now. Errors of
/// a local state are reported by the command that uses it.
async fn check_state_is_readable(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    config: &Config,
) -> Result<(), Reported> {
    let backend = workspace.backend_config(diags, config.backend()).await?;
    if backend.local_state_files(&workspace.root).is_some() {
        return Ok(());
    }
    // The arguments have already been checked.
    let unused = &mut Diagnostics::new();
    let Ok(mut state) = workspace.open_state_in(unused, &backend, &StatePaths::default()).await
    else {
        return Ok(());
    };
    let read = state.store.read().await;
    read.map(drop).map_err(|error| diags.error(error.diagnostic()))
}

/// Providers that are to be installed.
struct ProvidersToInstall<'a> {
    /// The configuration, for the modules that require each provider.
    config: &'a Config,
    required: BTreeMap<ProviderAddr, VersionConstraints>,
    /// Whether to keep the locks of other providers, which the state may require.
    keeps_locks: bool,
}

/// The providers that the lock file is to list.
fn providers_to_lock<'a>(
    workspace: &'a Workspace<'_>,
    required: &'a BTreeMap<ProviderAddr, VersionConstraints>,
) -> impl Iterator<Item = &'a ProviderAddr> {
    required.keys().filter(move |addr| !workspace.provider_dirs(&[]).needs_no_lock(addr))
}

fn install_providers(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &mut Workspace<'_>,
    to_install: ProvidersToInstall<'_>,
) -> Result<(), Reported> {
    let InitRun { args, report } = *init;
    let ProvidersToInstall { config, required, keeps_locks } = to_install;
    let text = "Initializing provider plugins...";
    report.report_step(Paint::Bold, text, "initializing_provider_plugin_message");
    let before = workspace.read_lock_file(diags)?;
    let mut locks = before.clone();
    let provider_dirs = workspace.provider_dirs(&args.plugin_dir);
    let installation = ProviderInstallOptions {
        upgrade: args.upgrade,
        module_constraints: &ModuleConstraints::of_config(config),
        event: &|addr, event| {
            report.show_transient("");
            report.report_per_audience(&event.human_message(addr), &event.machine_message(addr));
        },
        progress: &|jobs| report.show_transient(&download_progress_line(jobs)),
    };
    let installed = provider_dirs.install_required(diags, &required, &mut locks, &installation);
    report.show_transient("");
    let installed = installed?;
    if keeps_locks {
        for (addr, lock) in &before.providers {
            locks.providers.entry(addr.clone()).or_insert_with(|| lock.clone());
        }
    }
    if installed.third_party {
        let text = "\nPartner and community providers are signed by their developers.\nIf you'd like to know more about provider signing, you can read about it here:\nhttps://developer.hashicorp.com/terraform/cli/plugins/signing";
        report.show_text(text);
    }
    let incomplete = &installed.incomplete;
    save_lock_file(
        diags,
        init,
        workspace,
        &LockFileChange { before: &before, locks: &locks, incomplete },
    )
}

/// The line about the packages that are being downloaded.
fn download_progress_line(jobs: &[InstallJob]) -> String {
    let megabytes = |bytes: u64| format!("{}.{}", bytes / 1_000_000, bytes / 100_000 % 10);
    let line = |job: &InstallJob| {
        let received = job.progress.received.load(Ordering::Relaxed);
        let total = job.progress.total.load(Ordering::Relaxed);
        let name = job.addr.provider_type();
        match total {
            _ if received == 0 || received == total => None,
            0 => Some(format!("{name} {} MB", megabytes(received))),
            _ => Some(format!("{name} {} of {} MB", megabytes(received), megabytes(total))),
        }
    };
    let lines: Vec<String> = jobs.iter().filter_map(line).collect();
    if lines.is_empty() { String::new() } else { format!("  {}", lines.join(", ")) }
}

/// A change of the lock file.
struct LockFileChange<'a> {
    /// The lock file before the change.
    before: &'a LockFile,
    /// The lock file after the change.
    locks: &'a LockFile,
    /// The providers with incomplete checksums.
    incomplete: &'a [String],
}

fn save_lock_file(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    change: &LockFileChange<'_>,
) -> Result<(), Reported> {
    let InitRun { args, report } = *init;
    let LockFileChange { before, locks, incomplete } = *change;
    if locks.selects_same_packages(before) {
        return Ok(());
    }
    if args.lockfile.as_deref() == Some("readonly") {
        if !locks.locks_same_providers(before) {
            let detail = "Changes to the required provider dependencies were detected, but the lock file is read-only. To use and record these requirements, run \"formwork init\" without the \"-lockfile=readonly\" flag.";
            let summary = messages::PROVIDER_DEPENDENCY_CHANGES_DETECTED;
            return Err(diags.error(Diagnostic::error(summary, detail)));
        }
        let detail = "Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file. To record these selections, run \"formwork init\" without the \"-lockfile=readonly\" flag.";
        diags.warn(Diagnostic::warning(messages::PROVIDER_LOCK_FILE_NOT_UPDATED, detail));
        return Ok(());
    }
    if !incomplete.is_empty() {
        diags.warn(install_failure::incomplete_locks_warning(incomplete));
    }
    locks.save(diags, &workspace.root)?;
    let (text, code) = if before.providers.is_empty() {
        (
            "\nFormwork has created a lock file .terraform.lock.hcl to record the provider selections it made above. Include this file in your version control repository so that Formwork can guarantee to make the same selections by default when you run \"formwork init\" in the future.\n",
            "lock_info",
        )
    } else {
        (
            "\nFormwork has made some changes to the provider dependency selections recorded in the .terraform.lock.hcl file. Review those changes and commit them to your version control system if they represent changes you intended to make.\n",
            "dependencies_lock_changes_info",
        )
    };
    report.report_step(Paint::Plain, text, code);
    Ok(())
}
