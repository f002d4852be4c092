//! `formwork init`: prepares the folder.

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::operation::of_state;
use crate::args::{InitArgs, StatePlace};
use crate::env::Env;
use crate::exit::Exit;
use crate::install::lockfile::{LockFile, NAME};
use crate::install::providers::Installed;
use crate::view::{Paint, Screen, out, report::Report};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &InitArgs, env: &Env) -> Exit {
    let screen = Screen::of(env, args.view.no_color);
    let report = Report::new(screen, args.json, args.view.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    let result = prepare(args, &screen, &mut workspace, &mut diags).await;
    report.diagnostics(&workspace.sources, &diags);
    match result {
        Ok(()) if !diags.has_errors() => Exit::Done,
        _ => Exit::Failed,
    }
}

async fn prepare(
    args: &InitArgs,
    screen: &Screen,
    workspace: &mut Workspace<'_>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let say = |text: &str| {
        if !args.json {
            out(&screen.wrap(text));
        }
    };
    if let Some(mode) = args.lockfile.as_deref().filter(|mode| *mode != "readonly") {
        let detail = format!("The option -lockfile takes only \"readonly\", not {mode:?}.");
        return Err(diags.error(Diagnostic::error("Invalid lock file mode", detail)));
    }
    if !workspace.has_config() {
        say(
            "Formwork initialized in an empty directory!\n\nThe directory has no configuration files. You may begin working with Formwork immediately by creating them.\n",
        );
        return Ok(());
    }
    say(&format!("{}\n", screen.paint(Paint::Bold, "Initializing the backend...")));
    let config = workspace.config(diags)?;
    if args.backend {
        // Refuses a backend that is not there.
        workspace.store(diags, Some(&config), &StatePlace::default())?;
    }
    let mut required = config.requirements();
    required.extend(of_state(workspace, &required, &StatePlace::default()).await);
    say(&format!("{}\n", screen.paint(Paint::Bold, "Initializing provider plugins...")));
    let before = workspace.locks(diags)?;
    let mut locks = before.clone();
    let places = workspace.places(&args.plugin_dir);
    let installed = places.install(diags, &required, &mut locks, args.upgrade)?;
    for one in &installed {
        say(&line(one));
    }
    save(args, workspace, diags, &before, &locks)?;
    say(&format!(
        "\n{}\n",
        screen.paint(Paint::BoldGreen, "Formwork has been successfully initialized!")
    ));
    if !workspace.env.in_automation {
        say(
            "\nYou may now begin working with Formwork. Try running \"formwork plan\" to see any changes that are required for your infrastructure.\n",
        );
    }
    Ok(())
}

fn line(one: &Installed) -> String {
    let name = one.addr.display();
    let how = match (one.locked, one.shipped) {
        (true, _) => "from the dependency lock file",
        (false, true) => "which comes with Formwork",
        (false, false) => "found locally",
    };
    format!("- Installed {name} v{} ({how})\n", one.version)
}

fn save(
    args: &InitArgs,
    workspace: &Workspace<'_>,
    diags: &mut Diagnostics,
    before: &LockFile,
    locks: &LockFile,
) -> Result<(), Reported> {
    if before == locks {
        return Ok(());
    }
    if args.lockfile.as_deref() == Some("readonly") {
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
    let screen = Screen::of(workspace.env, args.view.no_color);
    if !args.json && !before.providers.is_empty() {
        out(&screen.wrap(
            "\nFormwork has made some changes to the provider dependency selections recorded in the .terraform.lock.hcl file. Review those changes and commit them to your version control system if they represent changes you intended to make.\n",
        ));
    } else if !args.json {
        out(&screen.wrap(
            "\nFormwork has created a lock file .terraform.lock.hcl to record the provider selections it made above. Include this file in your version control repository so that Formwork can guarantee to make the same selections by default when you run \"formwork init\" in the future.\n",
        ));
    }
    Ok(())
}
