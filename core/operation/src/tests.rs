//! Operations by the library alone, with the built-in provider.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use formwork_backend::encryption::PlanCipher;
use formwork_backend::local::Files;
use formwork_core::config::files::Disk;
use formwork_core::config::folders::LocalFolders;
use formwork_core::config::inputs::{self, Input, Unset};
use formwork_core::config::{Config, ConfigSource};
use formwork_core::eval::HostValues;
use formwork_core::plan::{Mode, Options, file};
use formwork_core::provider::Pool;
use formwork_core::state::file::StateFile;
use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};
use time::OffsetDateTime;

use crate::launcher::{LaunchSettings, Launcher};
use crate::saved_plan::{Generated, PlanContents, SavedPlan, SealKey};
use crate::{
    Approval, ApprovalRequest, CancellationToken, Operation, OperationEvent, OperationInputs,
    OperationObserver, PlanSource, SessionOptions, StateSession,
};

const CONFIG: &str = r#"
resource "terraform_data" "a" {
  input = "one"
}
output "o" {
  value = terraform_data.a.output
}
"#;

/// A folder with a configuration that was read.
struct Folder {
    folder: tempfile::TempDir,
    config: Config,
    sources: Sources,
    variables: BTreeMap<Str, Input>,
    launcher: Launcher,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.tf"), CONFIG).unwrap();
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let config_source =
            ConfigSource { files: &Disk, dir: folder.path(), folders: &LocalFolders };
        let config = Config::load(&mut diags, &mut sources, config_source).unwrap();
        let root = &config.root;
        let variables =
            inputs::resolve(&mut diags, &mut sources, root, Vec::new(), Unset::Refused).unwrap();
        let launcher = Launcher::new(LaunchSettings::default(), BTreeMap::new());
        Self { folder, config, sources, variables, launcher }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn state_path(&self) -> std::path::PathBuf {
        self.path().join("terraform.tfstate")
    }

    fn operation<'a>(&'a self, pool: &'a Pool<'a>) -> Operation<'a> {
        let Self { config, sources, variables, .. } = self;
        let host = HostValues::of_folder("/work", || OffsetDateTime::UNIX_EPOCH);
        Operation::new(OperationInputs { config, sources, variables, pool }, host)
    }

    async fn session(&self) -> StateSession {
        let state = Files::of(self.state_path()).into();
        let options = SessionOptions::new("test", self.path());
        StateSession::open(&mut Diagnostics::new(), state, &options).await.unwrap()
    }

    /// The stored state, if there is one.
    fn stored(&self) -> Option<StateFile> {
        Some(StateFile::read(&std::fs::read(self.state_path()).ok()?).unwrap())
    }

    /// The number of journals that are left.
    fn n_journals(&self) -> usize {
        let folder = self.path().join(".terraform.tfstate.journal");
        std::fs::read_dir(folder).map_or(0, Iterator::count)
    }
}

fn summaries(diags: Diagnostics) -> Vec<String> {
    diags.into_iter().map(|diagnostic| diagnostic.summary).collect()
}

/// Refuses every plan, and counts the questions.
#[derive(Default)]
struct Refusal(Cell<usize>);

#[async_trait(?Send)]
impl Approval for Refusal {
    async fn approve(
        &self,
        diags: &mut Diagnostics,
        request: ApprovalRequest<'_>,
    ) -> Result<(), Reported> {
        assert_eq!(request.mode, Mode::Normal);
        self.0.set(self.0.get() + 1);
        Err(diags.error(Diagnostic::foreign(Severity::Error, "Refused", "Nothing was changed.")))
    }
}

/// Notes the names of the events that are not of the engine.
#[derive(Default)]
struct Events(RefCell<Vec<&'static str>>);

impl OperationObserver for Events {
    fn see(&self, event: &OperationEvent<'_>) {
        self.0.borrow_mut().push(match event {
            OperationEvent::Engine(_) => return,
            OperationEvent::LockWait { .. } => "lock",
            OperationEvent::Planned { .. } => "planned",
            OperationEvent::SavedPlan(_) => "saved",
            OperationEvent::Applied { .. } => "applied",
            OperationEvent::Refreshed { .. } => "refreshed",
        });
    }
}

#[tokio::test]
async fn a_plan_that_is_not_approved_changes_nothing() {
    let folder = Folder::new();
    let (pool, mut diags) = (Pool::new(&folder.launcher), Diagnostics::new());
    let (refusal, events) = (Refusal::default(), Events::default());
    let operation = folder.operation(&pool).approved_by(&refusal).observed_by(&events);
    let mut session = folder.session().await;
    let source = PlanSource::New(Options::default());
    assert!(operation.apply(&mut diags, &mut session, source).await.is_err());
    session.unlock(&mut diags).await;
    assert_eq!(summaries(diags), ["Refused"]);
    assert_eq!((refusal.0.get(), events.0.take()), (1, vec!["planned"]));
    assert!(folder.stored().is_none_or(|file| file.state.is_empty()));
    assert_eq!(folder.n_journals(), 0);
}

#[tokio::test]
async fn a_run_of_everything_reports_its_events_and_stores_each_state() {
    let folder = Folder::new();
    let (pool, mut diags) = (Pool::new(&folder.launcher), Diagnostics::new());
    let events = Events::default();
    let operation = folder.operation(&pool).observed_by(&events);
    let mut session = folder.session().await;
    let source = PlanSource::New(Options::default());
    let applied = operation.apply(&mut diags, &mut session, source).await.unwrap();
    assert_eq!((applied.counts.added, applied.is_complete), (1, true));
    assert_eq!(folder.stored().unwrap().state.resources.len(), 1);
    operation.refresh(&mut diags, &mut session, Options::default()).await.unwrap();
    let destroy = Options { mode: Mode::Destroy, ..Options::default() };
    let source = PlanSource::New(destroy);
    let applied = operation.apply(&mut diags, &mut session, source).await.unwrap();
    assert_eq!(applied.counts.destroyed, 1);
    session.unlock(&mut diags).await;
    assert_eq!(summaries(diags), Vec::<String>::new());
    assert_eq!(events.0.take(), ["planned", "applied", "refreshed", "planned", "applied"]);
    assert!(folder.stored().unwrap().state.is_empty());
    assert_eq!(folder.n_journals(), 0);
}

#[tokio::test]
async fn a_plan_that_was_made_is_applied_once() {
    let folder = Folder::new();
    let (pool, mut diags) = (Pool::new(&folder.launcher), Diagnostics::new());
    let operation = folder.operation(&pool);
    let mut session = folder.session().await;
    let first = operation.plan(&mut diags, &mut session, Options::default()).await.unwrap();
    let second = operation.plan(&mut diags, &mut session, Options::default()).await.unwrap();
    let source = PlanSource::Made(Box::new(first));
    assert!(operation.apply(&mut diags, &mut session, source).await.unwrap().is_complete);
    assert!(!diags.has_errors(), "{diags:?}");
    let source = PlanSource::Made(Box::new(second));
    assert!(operation.apply(&mut diags, &mut session, source).await.is_err());
    assert_eq!(summaries(diags), ["Plan is stale"]);
    assert_eq!(folder.stored().unwrap().state.resources.len(), 1);
}

#[tokio::test]
async fn a_cancelled_operation_starts_no_change() {
    let folder = Folder::new();
    let (pool, mut diags) = (Pool::new(&folder.launcher), Diagnostics::new());
    let token = CancellationToken::new();
    let operation = folder.operation(&pool).cancelled_by(token.clone());
    let mut session = folder.session().await;
    let made = operation.plan(&mut diags, &mut session, Options::default()).await.unwrap();
    assert!(!diags.has_errors(), "{diags:?}");
    token.cancel();
    let source = PlanSource::Made(Box::new(made));
    let applied = operation.apply(&mut diags, &mut session, source).await;
    session.unlock(&mut diags).await;
    assert_eq!(applied.ok().map_or(0, |applied| applied.counts.added), 0);
    assert!(summaries(diags).contains(&"execution halted".to_owned()));
    assert!(folder.stored().is_none_or(|file| file.state.resources.is_empty()));
    assert_eq!(folder.n_journals(), 0);
}

#[tokio::test]
async fn a_saved_plan_holds_its_configuration_and_is_applied_for_its_state_only() {
    let folder = Folder::new();
    let (pool, mut diags) = (Pool::new(&folder.launcher), Diagnostics::new());
    let events = Events::default();
    let operation = folder.operation(&pool).observed_by(&events);
    let mut session = folder.session().await;
    let made = operation.plan(&mut diags, &mut session, Options::default()).await.unwrap();
    let main = folder.path().join("main.tf");
    let contents = PlanContents {
        plan: &made.plan,
        file: &session.file,
        recovered: None,
        config: &folder.config,
        variables: &folder.variables,
        time: OffsetDateTime::UNIX_EPOCH,
        workspace: "default",
        state: None,
        state_out: None,
        backend: None,
        texts: &[(main.clone(), CONFIG.as_bytes().to_vec())].into(),
        modules: "",
        locks: "",
        cipher: &PlanCipher::default(),
    };
    let (path, key) = (folder.path().join("plan"), SealKey::default());
    contents.write(&path, &key).unwrap();
    // The plan must not need the files of the folder.
    std::fs::remove_file(main).unwrap();

    let open = |diags: &mut Diagnostics| {
        SavedPlan::open(diags, &path, file::read(&path).unwrap(), &key).unwrap()
    };
    let saved = open(&mut diags);
    let files = saved.config_files(folder.path(), Generated::Read);
    let config_source = ConfigSource { files: &files, dir: folder.path(), folders: &LocalFolders };
    let config = Config::load(&mut diags, &mut Sources::new(), config_source).unwrap();
    assert_eq!(config.root.outputs.keys().collect::<Vec<_>>(), ["o"]);

    let source = PlanSource::Saved(Box::new(saved));
    assert!(operation.apply(&mut diags, &mut session, source).await.unwrap().is_complete);
    assert!(!diags.has_errors(), "{diags:?}");
    let again = PlanSource::Saved(Box::new(open(&mut diags)));
    assert!(operation.apply(&mut diags, &mut session, again).await.is_err());
    assert_eq!(summaries(diags), ["Saved plan is stale"]);
    assert_eq!(events.0.take(), ["saved", "applied"]);
}
