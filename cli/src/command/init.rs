//! `formwork init`: prepares the folder.

use formwork_core::config::Config;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::operation::of_state;
use super::{backend, from_module};
use crate::args::{InitArgs, StatePlace};
use crate::env::Env;
use crate::exit::Exit;
use crate::install::lockfile::{Lock, LockFile, NAME};
use crate::install::providers::{Chosen, Origin};
use crate::view::{Paint, Screen, report::Report};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &InitArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = Report::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    let result = prepare(args, &report, &mut workspace, &mut diags).await;
    report.diagnostics(&workspace.sources, &diags);
    match result {
        Ok(()) if !diags.has_errors() => Exit::Done,
        _ => Exit::Failed,
    }
}

async fn prepare(
    args: &InitArgs,
    report: &Report,
    workspace: &mut Workspace<'_>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    if args.reconfigure && (args.migrate_state || args.force_copy) {
        let detail = "The -migrate-state and -reconfigure options are mutually-exclusive.";
        return Err(diags.error(Diagnostic::error("Invalid init options", detail)));
    }
    if args.upgrade && args.lockfile.as_deref() == Some("readonly") {
        let summary = "The -upgrade flag conflicts with -lockfile=readonly";
        let detail = "The one asks for newer versions, the other allows none to be recorded.";
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    if let Some(source) = &args.from_module {
        let text = format!("Copying configuration from {source:?}...");
        report.step(Paint::Bold, &text, "copying_configuration_message");
        from_module::copy(diags, workspace, source)?;
    }
    if !workspace.has_config() {
        let text = "Formwork initialized in an empty directory!\n\nThe directory has no configuration files. You may begin working with Formwork immediately by creating them.\n";
        report.step(Paint::Plain, text, "output_init_empty_message");
        return Ok(());
    }
    report.step(Paint::Bold, "Initializing the backend...", "initializing_backend_message");
    if args.get && workspace.calls_modules() {
        let (text, code) = if args.upgrade {
            ("Upgrading modules...", "upgrading_modules_message")
        } else {
            ("Initializing modules...", "initializing_modules_message")
        };
        report.step(Paint::Bold, text, code);
        workspace.install_modules(diags, args.upgrade, report)?;
    }
    let config = workspace.needs(diags);
    workspace.check_tests(diags, args.test_directory.as_deref());
    let config = config?;
    diags.check()?;
    if args.backend {
        backend::set_up(diags, (args, report), workspace, config.backend()).await?;
    }
    install_providers(args, report, workspace, (diags, &config)).await?;
    let done = "Formwork has been successfully initialized!";
    report.step(Paint::BoldGreen, done, "output_init_success_message");
    if !workspace.env.in_automation {
        let text = "\nYou may now begin working with Formwork. Try running \"formwork plan\" to see any changes that are required for your infrastructure.\n";
        report.step(Paint::Plain, text, "output_init_success_cli_message");
    }
    Ok(())
}

async fn install_providers(
    args: &InitArgs,
    report: &Report,
    workspace: &mut Workspace<'_>,
    (diags, config): (&mut Diagnostics, &Config),
) -> Result<(), Reported> {
    let mut required = config.requirements();
    required.extend(of_state(workspace, config, &required, (&StatePlace::default(), true)).await);
    let text = "Initializing provider plugins...";
    report.step(Paint::Bold, text, "initializing_provider_plugin_message");
    let before = workspace.locks(diags)?;
    let mut locks = before.clone();
    let places = workspace.places(&args.plugin_dir);
    let installed = places.install(diags, &required, &mut locks, args.upgrade)?;
    for one in &installed {
        report.log(&line(one));
    }
    save(args, report, workspace, diags, (&before, &locks))
}

fn line(one: &Chosen) -> String {
    let package = format!("{} v{}", one.addr.display(), one.version);
    let is_locked = |lock: &Lock| lock.version == one.version;
    match (&one.origin, &one.locked) {
        (Origin::Found(_), Some(lock)) if is_locked(lock) => {
            format!("- Installed {package} (from the dependency lock file)")
        }
        (Origin::Found(_), _) => format!("- Installed {package} (found locally)"),
        (Origin::Installed, _) => format!("- Using previously-installed {package}"),
        (Origin::Shipped, Some(lock)) if !is_locked(lock) => format!(
            "- Using {package}, which comes with Formwork, where v{} was locked",
            lock.version
        ),
        (Origin::Shipped, Some(lock)) if !lock.hashes.is_empty() => {
            format!(
                "- Using {package}, which comes with Formwork, in place of the package that is locked"
            )
        }
        (Origin::Shipped, _) => format!("- Using {package}, which comes with Formwork"),
    }
}

fn save(
    args: &InitArgs,
    report: &Report,
    workspace: &Workspace<'_>,
    diags: &mut Diagnostics,
    (before, locks): (&LockFile, &LockFile),
) -> Result<(), Reported> {
    if before == locks {
        return Ok(());
    }
    if args.lockfile.as_deref() == Some("readonly") {
        // Under which constraints something was selected is only told for people.
        if locks.selects_as(before) {
            return Ok(());
        }
        let detail = "Changes to the provider dependency selections are not allowed with -lockfile=readonly. Run init without it to record them.";
        return Err(diags.error(Diagnostic::error("Provider dependency changes detected", detail)));
    }
    let path = workspace.root.join(NAME);
    let write = || -> std::io::Result<()> {
        let mut aside = tempfile::NamedTempFile::new_in(&workspace.root)?;
        std::io::Write::write_all(&mut aside, locks.render().as_bytes())?;
        aside.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        aside.persist(&path)?;
        Ok(())
    };
    write().map_err(|error| {
        let detail = format!("{} cannot be written: {error}.", path.display());
        diags.error(Diagnostic::error("Failed to save dependency lock file", detail))
    })?;
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
    report.step(Paint::Plain, text, code);
    Ok(())
}
