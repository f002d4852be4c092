//! Migration of states to another backend. The old states stay in place, too.

use std::sync::Arc;

use formwork_backend::local::Workspaces;
use formwork_backend::{Backend, DEFAULT_WORKSPACE, OpenState, StoreError, WorkspaceError};
use formwork_core::state::edit::check_push;
use formwork_core::state::file::StateFile;
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::Init;
use crate::args::LockArgs;
use crate::command::operation::may_ask;
use crate::command::question::{Prompt, ask};
use crate::command::state_session;
use crate::messages;
use crate::view::Paint;
use crate::workspace::Workspace;

/// Two backends between which states are moved.
pub(super) struct Move {
    pub(super) from: Arc<dyn Backend>,
    pub(super) to: Arc<dyn Backend>,
}

/// Extent of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The one state that there is.
    Single,
    /// The states of all workspaces.
    All,
    /// The state of the selected workspace, although there are others: the new backend keeps one only.
    Selected,
}

/// A state that is to be migrated.
struct Migrating {
    source: String,
    target: String,
    found: StateSummary,
    /// The state that the new backend has in this place.
    there: Option<StateSummary>,
}

/// Content of a place in a backend.
#[derive(Clone, Debug)]
enum StateSummary {
    /// A state that can be read.
    State {
        lineage: String,
        serial: u64,
        n_objects: usize,
        /// Whether a run has left a journal.
        is_pending: bool,
    },
    /// Something that cannot be read here, or that a run has left without a state.
    Unread,
    /// A local state file without content, with traces of an earlier one: Terraform leaves it where it has
    /// migrated a state.
    Emptied,
}

impl StateSummary {
    fn of(file: &StateFile, is_pending: bool) -> Self {
        let objects = file.state.resources.values().flat_map(|resource| resource.objects());
        let (lineage, serial) = (file.lineage.clone(), file.serial);
        Self::State { lineage, serial, n_objects: objects.count(), is_pending }
    }

    /// Whether a state is this one or a later one, so that nothing has to be moved.
    fn is_in(&self, there: &Self) -> bool {
        match (self, there) {
            (
                Self::State { lineage, serial, is_pending: false, .. },
                Self::State { lineage: other, serial: theirs, .. },
            ) => lineage == other && serial <= theirs,
            _ => false,
        }
    }

    fn is_unrelated(&self, there: &Self) -> bool {
        match (self, there) {
            (Self::State { lineage, .. }, Self::State { lineage: other, .. }) => lineage != other,
            _ => false,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::State { serial, n_objects: 1, .. } => format!("1 object, serial {serial}"),
            Self::State { serial, n_objects, .. } => {
                format!("{n_objects} objects, serial {serial}")
            }
            Self::Unread | Self::Emptied => "it cannot be read here".to_owned(),
        }
    }
}

/// Migrates the states of all workspaces, if that is wanted.
///
/// # Errors
/// When the user ends the migration or cannot be asked, or a state cannot be read or written.
pub(super) async fn migrate(
    diags: &mut Diagnostics,
    init: &Init<'_>,
    workspace: &Workspace<'_>,
    both: &Move,
) -> Result<(), Reported> {
    let sources = names(diags, &*both.from).await?;
    let targets = names(diags, &*both.to).await?;
    let keeps_one = targets.is_none();
    let selected = workspace.name();
    let has_several = sources.as_ref().is_some_and(|names| *names != [DEFAULT_WORKSPACE]);
    let extent = match (has_several, keeps_one) {
        (false, _) => Extent::Single,
        (true, false) => Extent::All,
        (true, true) => Extent::Selected,
    };
    let pairs: Vec<(String, String)> = match (sources, targets) {
        (None, _) => vec![(DEFAULT_WORKSPACE.to_owned(), DEFAULT_WORKSPACE.to_owned())],
        (Some(_), None) => vec![(selected.clone(), DEFAULT_WORKSPACE.to_owned())],
        (Some(names), Some(_)) => {
            let (names, others): (Vec<_>, Vec<_>) =
                names.into_iter().partition(|name| Workspaces::is_name(name));
            others.iter().for_each(|name| diags.warn(not_migrated(name)));
            names.into_iter().map(|name| (name.clone(), name)).collect()
        }
    };
    let mut migrating = Vec::new();
    for (source, target) in pairs {
        migrating.extend(both.look(diags, source, target).await?);
    }
    if !migrating.is_empty() {
        match agreed(diags, init, workspace, &Question { both, extent, migrating: &migrating })
            .await?
        {
            true => {
                for Migrating { source, target, .. } in migrating {
                    both.copy(diags, &init.args.lock, &source, &target).await?;
                }
            }
            // As in Terraform, the states of several workspaces are not left behind by one word.
            false if has_several => return Err(diags.error(aborted())),
            false => {}
        }
    }
    // Otherwise the next command would look for a workspace that this backend cannot have.
    if keeps_one && selected != DEFAULT_WORKSPACE && workspace.env.workspace.is_none() {
        workspace.select(diags, DEFAULT_WORKSPACE)?;
        let text = format!(
            "The backend {:?} keeps one state only, so the workspace \"default\" is selected now.",
            both.to.kind()
        );
        init.report.step(Paint::Plain, &text, "workspace_selected");
    }
    Ok(())
}

fn not_migrated(name: &str) -> Diagnostic {
    let detail = format!(
        "The name of the workspace {name:?} is not allowed, so its state stays in the former backend."
    );
    Diagnostic::warning(messages::WORKSPACE_NOT_MIGRATED, detail)
}

fn emptied(name: &str) -> Diagnostic {
    let detail = format!(
        "The local state of the workspace {name:?} is an empty file, as Terraform leaves it after a migration, but the new backend has no state either. If the state was lost, copy its backup over the empty file and run \"formwork init -reconfigure\"."
    );
    Diagnostic::warning(messages::EMPTY_FILE_NOT_MIGRATED, detail)
}

fn aborted() -> Diagnostic {
    let detail = "The former backend has several workspaces. Nothing was changed. Use -reconfigure to leave their states where they are.";
    Diagnostic::error(messages::MIGRATION_ABORTED, detail)
}

/// The workspaces of a backend; `None` if it has none.
async fn names(
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

/// Content of a place; `None` if there is nothing that a migration could lose.
async fn summary(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
    name: &str,
) -> Result<Option<StateSummary>, Reported> {
    let opened = OpenState::open(backend, name).await;
    let mut state = opened.map_err(|error| diags.error(error.diagnostic()))?;
    let file = match state.store.read().await {
        Ok(file) => file,
        Err(StoreError::Emptied { .. })
            if backend.kind() == "local" && !state.intents.is_pending().await =>
        {
            return Ok(Some(StateSummary::Emptied));
        }
        // What cannot be read is something.
        Err(StoreError::Unusable { .. } | StoreError::Emptied { .. }) => {
            return Ok(Some(StateSummary::Unread));
        }
        Err(error) => return Err(diags.error(error.diagnostic())),
    };
    let is_pending = state.intents.is_pending().await;
    Ok(match file {
        Some(file) if is_pending || !file.state.is_empty() => {
            Some(StateSummary::of(&file, is_pending))
        }
        None if is_pending => Some(StateSummary::Unread),
        _ => None,
    })
}

/// Whether a workspace of a backend has a state.
///
/// # Errors
/// When a state cannot be looked for.
pub(super) async fn has_states(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
) -> Result<bool, Reported> {
    let names = names(diags, backend).await?;
    for name in names.unwrap_or_else(|| vec![DEFAULT_WORKSPACE.to_owned()]) {
        if summary(diags, backend, &name).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The question whether states are to be migrated.
struct Question<'m> {
    both: &'m Move,
    extent: Extent,
    migrating: &'m [Migrating],
}

impl Question<'_> {
    fn title(&self) -> String {
        match self.extent {
            Extent::Single => "Do you want to copy existing state to the new backend?".to_owned(),
            Extent::All => {
                format!("Do you want to migrate all workspaces to {:?}?", self.both.to.kind())
            }
            Extent::Selected => "Do you want to copy only your current workspace?".to_owned(),
        }
    }

    /// The states at both ends, and the meaning of the answers.
    fn about(&self) -> String {
        let (from, to) = (self.both.from.kind(), self.both.to.kind());
        let mut lines =
            vec![format!("Pre-existing state was found in the previous {from:?} backend.")];
        for Migrating { source, target, found, there } in self.migrating {
            let there = match there {
                None => "nothing".to_owned(),
                Some(there) if found.is_unrelated(there) => {
                    format!("another state ({}), which a migration never replaces", there.words())
                }
                Some(there) => format!("an older one ({}), which is replaced", there.words()),
            };
            lines.push(format!(
                "Workspace {source:?}: {}. The new {to:?} backend has in {target:?}: {there}.",
                found.words()
            ));
        }
        lines.push(String::new());
        lines.push(match self.extent {
            Extent::Single => {
                "Enter \"yes\" to copy the state, and \"no\" to go on with what is in the new backend.".to_owned()
            }
            Extent::All => "Enter \"yes\" to copy all of them, and \"no\" to change nothing.".to_owned(),
            Extent::Selected => format!(
                "The {to:?} backend keeps one state only. The other workspaces stay in the {from:?} backend. Enter \"yes\" to copy this one, and \"no\" to change nothing."
            ),
        });
        lines.join("\n")
    }
}

/// Whether the state is to be taken along.
async fn agreed(
    diags: &mut Diagnostics,
    init: &Init<'_>,
    workspace: &Workspace<'_>,
    question: &Question<'_>,
) -> Result<bool, Reported> {
    let Init { args, report } = *init;
    if args.force_copy {
        return Ok(true);
    }
    if args.json || !may_ask(workspace.env, args.input) {
        let summary = messages::MIGRATION_NEEDS_APPROVAL;
        let detail = match args.json {
            true => {
                "With -json, no questions can be asked. Use -force-copy to copy the state without one, or run the command without -json."
            }
            false => "Please remove the \"-input=false\" option and try again, or use -force-copy.",
        };
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    let (title, about) = (question.title(), question.about());
    let question = Prompt { title: &title, about: &about, secret: false };
    match ask(report.screen(), question).await {
        Ok(answer) if answer.eq_ignore_ascii_case("yes") => Ok(true),
        Ok(answer) if answer.eq_ignore_ascii_case("no") => Ok(false),
        // Without an answer the state must not stay behind.
        _ => Err(diags.error(Diagnostic::error(
            messages::MIGRATION_UNANSWERED,
            "The question was answered with neither \"yes\" nor \"no\". Nothing was changed.",
        ))),
    }
}

impl Move {
    /// The state of a workspace, if it is to be migrated.
    async fn look(
        &self,
        diags: &mut Diagnostics,
        source: String,
        target: String,
    ) -> Result<Option<Migrating>, Reported> {
        let is_same = self.from.kind() == self.to.kind()
            && self.from.identity(&source) == self.to.identity(&target);
        if is_same {
            return Ok(None);
        }
        let Some(found) = summary(diags, &*self.from, &source).await? else { return Ok(None) };
        let there = summary(diags, &*self.to, &target).await?;
        if let StateSummary::Emptied = found {
            // It may also have been lost.
            if there.is_none() {
                diags.warn(emptied(&source));
            }
            return Ok(None);
        }
        // A copy that an earlier migration has made.
        if there.as_ref().is_some_and(|there| found.is_in(there)) {
            return Ok(None);
        }
        Ok(Some(Migrating { source, target, found, there }))
    }

    /// Copies one state, both ends locked. A state that knows something else is not overwritten.
    async fn copy(
        &self,
        diags: &mut Diagnostics,
        lock: &LockArgs,
        source: &str,
        target: &str,
    ) -> Result<(), Reported> {
        let open = async |diags: &mut Diagnostics, backend: &dyn Backend, name: &str| {
            let opened = OpenState::open(backend, name).await;
            let state = opened.map_err(|error| diags.error(error.diagnostic()))?;
            state_session::open(diags, state, lock, "init").await
        };
        let from = open(diags, &*self.from, source).await?;
        let copied = match open(diags, &*self.to, target).await {
            Ok(mut to) => {
                let put = put(diags, &from, &mut to).await;
                to.unlock(diags).await;
                put
            }
            Err(reported) => Err(reported),
        };
        from.unlock(diags).await;
        copied
    }
}

async fn put(
    diags: &mut Diagnostics,
    from: &StateSession,
    to: &mut StateSession,
) -> Result<(), Reported> {
    // Open operations of an interrupted run must not be lost on the way.
    from.check_unresolved(diags, |_| true)?;
    if to.found {
        check_push(&from.file, &to.file).map_err(|error| {
            let detail = format!(
                "{error}. Nothing was changed.\n\nA migration never replaces another state. To go on with the one in the new backend, answer the question with \"no\". To replace it, go back to the former configuration and write the state to a file with \"formwork state pull\"; then set up the new backend, answer with \"no\", and run \"formwork state push -force FILE\"."
            );
            diags.error(Diagnostic::error(messages::FAILED_TO_WRITE_STATE, detail))
        })?;
    }
    to.overwrite(diags, from.file.clone()).await
}
