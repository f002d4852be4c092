//! Runs commands that only print text: opens the working directory, prints the result or the diagnostics, and
//! returns the exit code.

use std::io::{BufRead as _, Read as _};

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::question::MAX_ANSWER_BYTES;
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::{Screen, operation_report::OperationReport, print_data, print_out};
use crate::workspace::Workspace;

/// Runs a command that works in the working directory and returns its output.
pub(super) async fn run_text_command(
    env: &Env,
    work: impl AsyncFnOnce(&mut Diagnostics, &mut Workspace<'_>) -> Result<String, Reported>,
) -> Exit {
    run_and_print(env, WorkspaceSelectionNeed::Needed, work, print_out).await
}

/// As [`run_text_command`], for a command that returns machine-readable data.
pub(super) async fn run_data_command(
    env: &Env,
    work: impl AsyncFnOnce(&mut Diagnostics, &mut Workspace<'_>) -> Result<String, Reported>,
) -> Exit {
    run_and_print(env, WorkspaceSelectionNeed::Needed, work, print_data).await
}

/// As [`run_text_command`], for a command that does not require the selected workspace.
pub(super) async fn run_without_workspace_selection(
    env: &Env,
    work: impl AsyncFnOnce(&mut Diagnostics, &mut Workspace<'_>) -> Result<String, Reported>,
) -> Exit {
    run_and_print(env, WorkspaceSelectionNeed::NotNeeded, work, print_out).await
}

/// Whether a command requires the selected workspace.
#[derive(Clone, Copy)]
enum WorkspaceSelectionNeed {
    Needed,
    NotNeeded,
}

async fn run_and_print(
    env: &Env,
    selection: WorkspaceSelectionNeed,
    work: impl AsyncFnOnce(&mut Diagnostics, &mut Workspace<'_>) -> Result<String, Reported>,
    print: fn(&str),
) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let opened = match selection {
        WorkspaceSelectionNeed::Needed => Workspace::open(env, &mut diags),
        // An unreadable file may be a link. Formwork does not write through links.
        WorkspaceSelectionNeed::NotNeeded => Workspace::open_with_any_selection(env, &mut diags)
            .and_then(|opened| opened.check_selection_readable(&mut diags).map(|()| opened)),
    };
    let Ok(mut workspace) = opened else {
        return report.report_failure(None, &diags);
    };
    let text = work(&mut diags, &mut workspace).await;
    report.report_diagnostics(&workspace.sources, &diags);
    match text {
        Ok(text) if !diags.has_errors() => {
            print(&text);
            Exit::Done
        }
        _ => Exit::Failed,
    }
}

/// Prompts for confirmation, which only the answer `yes` gives.
///
/// # Errors
/// Returns an error if the input ends before an answer.
pub(super) fn confirm(diags: &mut Diagnostics, question: &str) -> Result<bool, Reported> {
    print_out(&format!("{question}\n\n  Enter a value: "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().take(MAX_ANSWER_BYTES).read_line(&mut answer);
    print_out("\n");
    match read {
        Ok(1..) => Ok(answer.trim() == "yes"),
        Ok(0) | Err(_) => {
            let detail = "The prompt was not answered. Nothing was changed.";
            Err(diags.error(Diagnostic::error(messages::ERROR_ASKING_FOR_APPROVAL, detail)))
        }
    }
}
