//! `formwork get`: installs the modules that the configuration calls.

use formwork_value::Diagnostics;

use crate::args::GetArgs;
use crate::env::Env;
use crate::exit::Exit;
use crate::view::{Screen, report::Report};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) fn run(args: &GetArgs, env: &Env) -> Exit {
    let report = Report::new(Screen::of(env), false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    let result = workspace.install_modules(&mut diags, args.update, false, &report);
    if result.is_ok() {
        workspace.check_tests(&mut diags, args.test_directory.as_deref());
    }
    report.diagnostics(&workspace.sources, &diags);
    if result.is_ok() && !diags.has_errors() { Exit::Done } else { Exit::Failed }
}
