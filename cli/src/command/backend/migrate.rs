//! Migration of states to another backend. The old states are not deleted.

mod compare;
mod failures;

use std::path::Path;
use std::sync::Arc;

use formwork_backend::local::Workspaces;
use formwork_backend::{Backend, DEFAULT_WORKSPACE, OpenState, WorkspaceError};
use formwork_core::state::edit::{PushRefusal, check_push};
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use self::compare::{StateSummary, TargetState, describe_state, summarize_state};
use self::failures::{
    WorkspacePair, aborted_error, emptied_state_warning, half_way_error, not_migrated_warning,
    nothing_to_migrate_error, refused_copy_error, target_state_kept_warning,
    unreadable_source_error, unreadable_target_error,
};
use super::InitRun;
use crate::command::operation::may_ask_user;
use crate::command::question::{Prompt, ask_user};
use crate::command::state_session;
use crate::command_line::LockArgs;
use crate::messages;
use crate::view::Paint;
use crate::workspace::Workspace;

/// Two backends between which states are moved.
pub(super) struct MigrationBackends {
    pub(super) from: Arc<dyn Backend>,
    pub(super) to: Arc<dyn Backend>,
}

/// Extent of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatesToMigrate {
    /// The only state.
    Single,
    /// The states of all workspaces.
    All,
    /// Only the state of the selected workspace, because the new backend supports only one.
    Selected,
}

/// The states that a migration affects.
struct MigrationScope {
    extent: StatesToMigrate,
    /// Each workspace of the former backend with its workspace in the new one.
    pairs: Vec<(String, String)>,
    /// Workspaces whose states stay in the former backend.
    skipped: Vec<String>,
}

impl MigrationScope {
    /// Determines the scope from the workspaces of both backends, as Terraform does.
    fn of(
        diags: &mut Diagnostics,
        selected: &str,
        sources: Option<Vec<String>>,
        targets: Option<&[String]>,
    ) -> Self {
        let single = || {
            let pair = (DEFAULT_WORKSPACE.to_owned(), DEFAULT_WORKSPACE.to_owned());
            Self { extent: StatesToMigrate::Single, pairs: vec![pair], skipped: Vec::new() }
        };
        let Some(names) = sources.filter(|names| *names != [DEFAULT_WORKSPACE]) else {
            return single();
        };
        if targets.is_none() {
            let pair = (selected.to_owned(), DEFAULT_WORKSPACE.to_owned());
            let skipped = names.into_iter().filter(|name| name != selected).collect();
            return Self { extent: StatesToMigrate::Selected, pairs: vec![pair], skipped };
        }
        let (names, skipped): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| Workspaces::is_valid_name(name));
        skipped.iter().for_each(|name| diags.warn(not_migrated_warning(name)));
        let pairs = names.into_iter().map(|name| (name.clone(), name)).collect();
        Self { extent: StatesToMigrate::All, pairs, skipped: Vec::new() }
    }
}

/// A state that is to be migrated.
struct MigratingState {
    source: String,
    target: String,
    /// The state in the former backend, in words.
    source_state: String,
    /// The state that the new backend has in this place.
    target_state: TargetState,
}

/// A workspace of the former backend.
enum SourceState {
    /// It has no state.
    Nothing,
    /// The new backend has its state, or a later one.
    Settled,
    /// Its state is to be migrated.
    Migrating(MigratingState),
}

/// Migrates the states of all workspaces, if that is wanted.
///
/// # Errors
/// Returns an error if the user aborts the migration, if prompts are not possible, or if a state cannot be
/// read or written.
pub(super) async fn migrate(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    backends: &MigrationBackends,
) -> Result<(), Reported> {
    let sources = workspaces_of_backend(diags, &*backends.from).await?;
    let targets = workspaces_of_backend(diags, &*backends.to).await?;
    let MigrationScope { extent, pairs, skipped } =
        MigrationScope::of(diags, &workspace.name(), sources, targets.as_deref());
    let mut migrating = Vec::new();
    let mut is_any_settled = false;
    for (source, target) in pairs {
        match backends.read_source_state(diags, init, source, target).await? {
            SourceState::Nothing => {}
            SourceState::Settled => is_any_settled = true,
            SourceState::Migrating(state) => migrating.push(state),
        }
    }
    if extent == StatesToMigrate::All {
        let n_found = migrating.len();
        // Before the first copy: a state that cannot be migrated does not prevent the migration of the others.
        migrating.retain(|state| match &state.target_state {
            TargetState::Unrelated(_) => {
                diags.warn(target_state_kept_warning(state, backends));
                false
            }
            _ => true,
        });
        // As with a single state, the states of several workspaces are not abandoned without a decision.
        let must_migrate = init.args.force_copy || !init.args.reconfigure;
        if must_migrate && n_found > 0 && migrating.is_empty() && !is_any_settled {
            return Err(diags.error(nothing_to_migrate_error()));
        }
    }
    let mut left_states = Vec::new();
    for name in skipped {
        let summary = summarize_state(diags, &*backends.from, &name).await?;
        left_states.extend(summary.filter(StateSummary::holds_something).map(|it| (name, it)));
    }
    if migrating.is_empty() && left_states.is_empty() {
        return Ok(());
    }
    let question =
        MigrationQuestion { init, backends, extent, migrating: &migrating, skipped: &left_states };
    match ask_to_migrate_state(diags, workspace, &question).await? {
        true => backends.copy_states(diags, &init.args.lock, &migrating).await,
        false if question.ends_command_on_no() => Err(diags.error(aborted_error())),
        false => Ok(()),
    }
}

/// Selects the default workspace if the new backend supports only one workspace. Otherwise the next command
/// would select a workspace that cannot exist.
///
/// # Errors
/// Returns an error if the backend does not respond, or the workspace cannot be selected.
pub(super) async fn select_only_workspace(
    diags: &mut Diagnostics,
    init: &InitRun<'_>,
    workspace: &Workspace<'_>,
    backend: &dyn Backend,
) -> Result<(), Reported> {
    if workspaces_of_backend(diags, backend).await?.is_some() {
        return Ok(());
    }
    workspace.select(diags, DEFAULT_WORKSPACE)?;
    let mut text = format!(
        "The backend {:?} supports only one workspace, so the workspace \"default\" is now selected.",
        backend.kind()
    );
    let of_environment = workspace.env.workspace.as_ref();
    if let Some(name) = of_environment.filter(|name| *name != DEFAULT_WORKSPACE) {
        text.push_str(&format!(
            " TF_WORKSPACE still names {name:?}. Unset it before the next command."
        ));
    }
    init.report.report_step(Paint::Plain, &text, "workspace_selected");
    Ok(())
}

/// The workspaces of a backend; `None` if it has none.
async fn workspaces_of_backend(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
) -> Result<Option<Vec<String>>, Reported> {
    match backend.workspaces().await {
        Ok(names) => Ok(Some(names)),
        Err(WorkspaceError::Unsupported) => Ok(None),
        Err(WorkspaceError::Store(error)) => Err(diags.error(error.diagnostic())),
        Err(error) => {
            let detail = format!("{error}.");
            Err(diags.error(Diagnostic::error(messages::FAILED_TO_LIST_WORKSPACES, detail)))
        }
    }
}

/// Whether a workspace of a backend has a state.
///
/// # Errors
/// Returns an error if the backend cannot list its workspaces or read a state.
pub(super) async fn backend_has_states(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
) -> Result<bool, Reported> {
    let names = workspaces_of_backend(diags, backend).await?;
    for name in names.unwrap_or_else(|| vec![DEFAULT_WORKSPACE.to_owned()]) {
        let summary = summarize_state(diags, backend, &name).await?;
        if summary.is_some_and(|summary| summary.holds_something()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The prompt for the migration.
struct MigrationQuestion<'m> {
    init: &'m InitRun<'m>,
    backends: &'m MigrationBackends,
    extent: StatesToMigrate,
    migrating: &'m [MigratingState],
    /// States that stay in the former backend.
    skipped: &'m [(String, StateSummary)],
}

impl MigrationQuestion<'_> {
    /// Whether "no" ends the command. As in Terraform, a single "no" does not abandon the states of several
    /// workspaces, unless `-reconfigure` discards the former backend.
    fn ends_command_on_no(&self) -> bool {
        self.extent != StatesToMigrate::Single && !self.init.args.reconfigure
    }

    fn question_title(&self) -> String {
        match self.extent {
            StatesToMigrate::Single => {
                "Do you want to copy existing state to the new backend?".to_owned()
            }
            StatesToMigrate::All => {
                format!("Do you want to migrate all workspaces to {:?}?", self.backends.to.kind())
            }
            StatesToMigrate::Selected => {
                "Do you want to copy only your current workspace?".to_owned()
            }
        }
    }

    /// Describes the states in both backends, and the effect of each answer.
    fn question_text(&self) -> String {
        let (from, to) = (self.backends.from.kind(), self.backends.to.kind());
        let mut lines =
            vec![format!("Pre-existing state was found in the previous {from:?} backend.")];
        for state in self.migrating {
            let MigratingState { source, target, source_state: summary, target_state } = state;
            lines.push(format!(
                "Workspace {source:?}: {summary}. The new {to:?} backend has in {target:?}: {}.",
                target_state.describe()
            ));
        }
        for (name, summary) in self.skipped {
            let content = summary.describe();
            lines.push(format!("Workspace {name:?}: {content}. It stays in the {from:?} backend."));
        }
        lines.push(String::new());
        let yes = match self.extent {
            StatesToMigrate::Single => "copy the state".to_owned(),
            StatesToMigrate::All => "copy all of them".to_owned(),
            StatesToMigrate::Selected => {
                lines.push(format!("The {to:?} backend supports only one workspace."));
                match self.migrating {
                    [] => "keep the states of the new backend".to_owned(),
                    _ => "copy the state of the selected workspace".to_owned(),
                }
            }
        };
        let no = match self.ends_command_on_no() {
            true => "change nothing",
            false => "keep the states of the new backend",
        };
        lines.push(format!("Enter \"yes\" to {yes}, and \"no\" to {no}."));
        lines.join("\n")
    }
}

/// Asks whether to migrate the state.
async fn ask_to_migrate_state(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    question: &MigrationQuestion<'_>,
) -> Result<bool, Reported> {
    let InitRun { args, report } = *question.init;
    if args.force_copy {
        return Ok(true);
    }
    if args.json || !may_ask_user(workspace.env, args.input) {
        let summary = messages::MIGRATION_NEEDS_APPROVAL;
        let detail = match args.json {
            true => {
                "With -json, the command cannot prompt. Use -force-copy to copy the state without confirmation, or run the command without -json."
            }
            false => "Please remove the \"-input=false\" option and try again, or use -force-copy.",
        };
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    let (title, explanation) = (question.question_title(), question.question_text());
    let question = Prompt { title: &title, explanation: &explanation, secret: false };
    match ask_user(report.screen(), question).await {
        Ok(answer) if answer.eq_ignore_ascii_case("yes") => Ok(true),
        Ok(answer) if answer.eq_ignore_ascii_case("no") => Ok(false),
        // Without an answer, the state must not be abandoned.
        _ => Err(diags.error(Diagnostic::error(
            messages::MIGRATION_UNANSWERED,
            "The answer was neither \"yes\" nor \"no\". Nothing was changed.",
        ))),
    }
}

impl MigrationBackends {
    /// The state of a workspace, if it is to be migrated.
    async fn read_source_state(
        &self,
        diags: &mut Diagnostics,
        init: &InitRun<'_>,
        source: String,
        target: String,
    ) -> Result<SourceState, Reported> {
        let is_same = self.from.kind() == self.to.kind()
            && self.from.identity(&source) == self.to.identity(&target);
        if is_same {
            return Ok(SourceState::Settled);
        }
        let mut source_state = summarize_state(diags, &*self.from, &source).await?;
        if let Some(StateSummary::State { is_pending: true, .. }) = source_state {
            // The prompt and the comparison must include recovered objects.
            store_recovered_results(diags, &*self.from, &source, &init.args.lock).await?;
            source_state = summarize_state(diags, &*self.from, &source).await?;
        }
        let Some(source_state) = source_state.filter(StateSummary::holds_something) else {
            return Ok(SourceState::Nothing);
        };
        let existing = summarize_state(diags, &*self.to, &target).await?;
        let pair = WorkspacePair { source: &source, target: &target };
        let (file, is_settled) = match &source_state {
            // It may also have been lost.
            StateSummary::Emptied => {
                if existing.is_none() {
                    diags.warn(emptied_state_warning(&source, &self.from.location(&source)));
                }
                return Ok(SourceState::Nothing);
            }
            // Before the question, because no answer to it could be carried out.
            StateSummary::Unreadable(problem) => {
                let existing = existing.as_ref();
                return Err(diags.error(unreadable_source_error(problem, self, pair, existing)));
            }
            StateSummary::State { file, is_pending } => (file, !is_pending),
        };
        let stored = match &existing {
            Some(StateSummary::Unreadable(problem)) => {
                let error = unreadable_target_error(problem, self, pair, &source_state);
                return Err(diags.error(error));
            }
            Some(StateSummary::State { file, .. }) => Some(&**file),
            None | Some(StateSummary::Emptied) => None,
        };
        let target_state = TargetState::of(file, stored);
        let source_state = describe_state(file);
        match &target_state {
            TargetState::Same if is_settled => Ok(SourceState::Settled),
            // An earlier migration has made a copy, with which other runs went on.
            TargetState::Later(state) if is_settled => {
                let text = format!(
                    "The new backend contains a later state of the workspace {target:?} ({state}), which is used from now on."
                );
                init.report.report_step(Paint::Plain, &text, "backend_has_later_state");
                Ok(SourceState::Settled)
            }
            _ => {
                let state = MigratingState { source, target, source_state, target_state };
                Ok(SourceState::Migrating(state))
            }
        }
    }

    /// Copies states, one after the other.
    async fn copy_states(
        &self,
        diags: &mut Diagnostics,
        lock: &LockArgs,
        migrating: &[MigratingState],
    ) -> Result<(), Reported> {
        let mut copied: Vec<String> = Vec::new();
        for MigratingState { source, target, .. } in migrating {
            let n_before = diags.len();
            let outcome = self.copy_state(diags, lock, source, target).await;
            if outcome.is_err() && migrating.len() > 1 {
                diags.map_from_position(n_before, |problem| {
                    half_way_error(problem, source, &copied)
                });
            }
            outcome?;
            copied.push(source.clone());
        }
        Ok(())
    }

    /// Copies one state while both backends are locked. A target state with other content is not overwritten.
    async fn copy_state(
        &self,
        diags: &mut Diagnostics,
        lock: &LockArgs,
        source: &str,
        target: &str,
    ) -> Result<(), Reported> {
        let from = open_state(diags, &*self.from, source, lock).await?;
        if let Some(StateSummary::Emptied) = summarize_state(diags, &*self.to, target).await? {
            remove_emptied_state_file(diags, &self.to.location(target))?;
        }
        let copied = match open_state(diags, &*self.to, target, lock).await {
            Ok(mut to) => {
                let put = write_state(diags, &from, &mut to).await;
                to.unlock(diags).await;
                put
            }
            Err(reported) => Err(reported),
        };
        from.unlock(diags).await;
        copied
    }
}

/// Opens and locks the state of a workspace.
async fn open_state(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
    name: &str,
    lock: &LockArgs,
) -> Result<StateSession, Reported> {
    let opened = OpenState::open(backend, name).await;
    let state = opened.map_err(|error| diags.error(error.diagnostic()))?;
    state_session::open_locked_state(diags, state, lock, "init").await
}

/// Stores the results that interrupted runs left in the journal, as every command does that changes a state.
async fn store_recovered_results(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
    name: &str,
    lock: &LockArgs,
) -> Result<(), Reported> {
    let mut session = open_state(diags, backend, name, lock).await?;
    let stored = if session.has_unstored_recovery() {
        session.write_state_and_archive_journals(diags).await
    } else {
        Ok(())
    };
    session.unlock(diags).await;
    stored
}

/// Removes a local state file that Terraform emptied after a migration: later, an empty state file would be
/// reported as damaged.
fn remove_emptied_state_file(diags: &mut Diagnostics, location: &str) -> Result<(), Reported> {
    let path = Path::new(location);
    // Content that another process wrote to the file in the meantime is not removed.
    if path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return Ok(());
    }
    std::fs::remove_file(path).map_err(|error| {
        let detail = format!("The empty state file {location} cannot be removed: {error}.");
        diags.error(Diagnostic::error(messages::FAILED_TO_WRITE_STATE, detail))
    })
}

async fn write_state(
    diags: &mut Diagnostics,
    from: &StateSession,
    to: &mut StateSession,
) -> Result<(), Reported> {
    // Open operations of an interrupted run must not be lost by the migration.
    from.check_touches_no_unresolved(diags, |_| true)?;
    from.refuse_if_journals_are_misplaced(diags)?;
    if to.found {
        let check = check_push(&from.file, &to.file);
        // The objects may have been destroyed since. `state push` does not check that.
        let is_older = from.file.lineage == to.file.lineage && from.file.serial < to.file.serial;
        let (stored, new) = (to.file.serial, from.file.serial);
        let check =
            if is_older { check.and(Err(PushRefusal::Older { stored, new })) } else { check };
        check.map_err(|refusal| diags.error(refused_copy_error(&refusal)))?;
    }
    to.overwrite_stored_state(diags, from.file.clone()).await
}
