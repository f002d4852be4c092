//! Tests of operations with the library only, and the built-in provider.

mod interrupted;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use formwork_backend::encryption::PlanCipher;
use formwork_backend::local::StateFilePaths;
use formwork_core::addr::{InstanceAddr, Target};
use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::inputs::{self, ResolvedVariable, UnsetVariableTreatment};
use formwork_core::config::module_dirs::LocalModuleDirs;
use formwork_core::config::{Config, ConfigSource};
use formwork_core::eval::HostValues;
use formwork_core::plan::{PlanMode, PlanOptions, plan_file};
use formwork_core::provider::ProviderPool;
use formwork_core::state::file::StateFile;
use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};
use time::OffsetDateTime;

use crate::launcher::{Launcher, LauncherSettings};
use crate::saved_plan::{GeneratedConfigUse, PlanToSave, SavedPlan, SealKeySource};
use crate::{
    Approval, ApprovalPrompt, CancellationToken, Operation, OperationEvent, OperationInputs,
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

/// A directory with a loaded configuration.
struct ConfigDir {
    directory: tempfile::TempDir,
    config: Config,
    sources: Sources,
    variables: BTreeMap<Str, ResolvedVariable>,
    launcher: Launcher,
}

impl ConfigDir {
    fn new() -> Self {
        Self::with_config(CONFIG)
    }

    fn with_config(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("main.tf"), text).unwrap();
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let config_source = ConfigSource {
            files: &FilesOnDisk,
            dir: directory.path(),
            directories: &LocalModuleDirs,
        };
        let config = Config::load(&mut diags, &mut sources, config_source).unwrap();
        let root = &config.root;
        let variables = inputs::resolve_variables(
            &mut diags,
            &mut sources,
            root,
            Vec::new(),
            UnsetVariableTreatment::Error,
        )
        .unwrap();
        let launcher = Launcher::new(LauncherSettings::default(), BTreeMap::new());
        Self { directory, config, sources, variables, launcher }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn state_path(&self) -> std::path::PathBuf {
        self.path().join("terraform.tfstate")
    }

    fn new_operation<'a>(&'a self, pool: &'a ProviderPool<'a>) -> Operation<'a> {
        let Self { config, sources, variables, .. } = self;
        let host = HostValues::for_dir("/work", || OffsetDateTime::UNIX_EPOCH);
        Operation::new(OperationInputs { config, sources, variables, pool }, host)
    }

    async fn open_session(&self) -> StateSession {
        let state = StateFilePaths::from_state_path(self.state_path()).into();
        let options = SessionOptions::new("test", self.path());
        StateSession::open(&mut Diagnostics::new(), state, &options).await.unwrap()
    }

    /// The stored state, if it exists.
    fn stored_state(&self) -> Option<StateFile> {
        Some(StateFile::parse(&std::fs::read(self.state_path()).ok()?).unwrap())
    }

    /// The number of remaining journals.
    fn journal_count(&self) -> usize {
        let directory = self.path().join(".terraform.tfstate.journal");
        std::fs::read_dir(directory).map_or(0, Iterator::count)
    }
}

fn summaries(diags: Diagnostics) -> Vec<String> {
    diags.into_iter().map(|diagnostic| diagnostic.summary).collect()
}

/// Refuses every plan, and counts the requests.
#[derive(Default)]
struct RefusingApproval(Cell<usize>);

#[async_trait(?Send)]
impl Approval for RefusingApproval {
    async fn approve(
        &self,
        diags: &mut Diagnostics,
        request: ApprovalPrompt<'_>,
    ) -> Result<(), Reported> {
        assert_eq!(request.mode, PlanMode::Normal);
        self.0.set(self.0.get() + 1);
        Err(diags.error(Diagnostic::foreign(Severity::Error, "Refused", "Nothing was changed.")))
    }
}

/// Records the names of the events that are not events of the engine.
#[derive(Default)]
struct RecordedEvents(RefCell<Vec<&'static str>>);

impl OperationObserver for RecordedEvents {
    fn on_event(&self, event: &OperationEvent<'_>) {
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
    let directory = ConfigDir::new();
    let (pool, mut diags) = (ProviderPool::new(&directory.launcher), Diagnostics::new());
    let (refusal, events) = (RefusingApproval::default(), RecordedEvents::default());
    let operation = directory.new_operation(&pool).with_approval(&refusal).with_observer(&events);
    let mut session = directory.open_session().await;
    let source = PlanSource::New(PlanOptions::default());
    assert!(operation.apply(&mut diags, &mut session, source).await.is_err());
    session.unlock(&mut diags).await;
    assert_eq!(summaries(diags), ["Refused"]);
    assert_eq!((refusal.0.get(), events.0.take()), (1, vec!["planned"]));
    assert!(directory.stored_state().is_none_or(|file| file.state.is_empty()));
    assert_eq!(directory.journal_count(), 0);
}

#[tokio::test]
async fn apply_refresh_and_destroy_report_events_and_store_the_state() {
    let directory = ConfigDir::new();
    let (pool, mut diags) = (ProviderPool::new(&directory.launcher), Diagnostics::new());
    let events = RecordedEvents::default();
    let operation = directory.new_operation(&pool).with_observer(&events);
    let mut session = directory.open_session().await;
    let source = PlanSource::New(PlanOptions::default());
    let applied = operation.apply(&mut diags, &mut session, source).await.unwrap();
    assert_eq!((applied.counts.added, applied.is_complete), (1, true));
    assert_eq!(directory.stored_state().unwrap().state.resources.len(), 1);
    operation.refresh(&mut diags, &mut session, PlanOptions::default()).await.unwrap();
    let destroy = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
    let source = PlanSource::New(destroy);
    let applied = operation.apply(&mut diags, &mut session, source).await.unwrap();
    assert_eq!(applied.counts.destroyed, 1);
    session.unlock(&mut diags).await;
    assert_eq!(summaries(diags), Vec::<String>::new());
    assert_eq!(events.0.take(), ["planned", "applied", "refreshed", "planned", "applied"]);
    assert!(directory.stored_state().unwrap().state.is_empty());
    assert_eq!(directory.journal_count(), 0);
}

#[tokio::test]
async fn a_plan_is_stale_after_another_plan_was_applied() {
    let directory = ConfigDir::new();
    let (pool, mut diags) = (ProviderPool::new(&directory.launcher), Diagnostics::new());
    let operation = directory.new_operation(&pool);
    let mut session = directory.open_session().await;
    let first_plan =
        operation.plan(&mut diags, &mut session, PlanOptions::default()).await.unwrap();
    let second = operation.plan(&mut diags, &mut session, PlanOptions::default()).await.unwrap();
    let source = PlanSource::Made(Box::new(first_plan));
    assert!(operation.apply(&mut diags, &mut session, source).await.unwrap().is_complete);
    assert!(!diags.has_errors(), "{diags:?}");
    let source = PlanSource::Made(Box::new(second));
    assert!(operation.apply(&mut diags, &mut session, source).await.is_err());
    assert_eq!(summaries(diags), ["Plan is stale"]);
    assert_eq!(directory.stored_state().unwrap().state.resources.len(), 1);
}

#[tokio::test]
async fn a_cancelled_operation_starts_no_change() {
    let directory = ConfigDir::new();
    let (pool, mut diags) = (ProviderPool::new(&directory.launcher), Diagnostics::new());
    let token = CancellationToken::new();
    let operation = directory.new_operation(&pool).with_cancellation(token.clone());
    let mut session = directory.open_session().await;
    let outcome = operation.plan(&mut diags, &mut session, PlanOptions::default()).await.unwrap();
    assert!(!diags.has_errors(), "{diags:?}");
    token.cancel();
    let source = PlanSource::Made(Box::new(outcome));
    let applied = operation.apply(&mut diags, &mut session, source).await;
    session.unlock(&mut diags).await;
    assert_eq!(applied.ok().map_or(0, |applied| applied.counts.added), 0);
    assert!(summaries(diags).contains(&"execution halted".to_owned()));
    assert!(directory.stored_state().is_none_or(|file| file.state.resources.is_empty()));
    assert_eq!(directory.journal_count(), 0);
}

#[tokio::test]
async fn conflicting_options_are_refused_before_a_run_starts() {
    let directory = ConfigDir::new();
    let (pool, events) = (ProviderPool::new(&directory.launcher), RecordedEvents::default());
    let operation = directory.new_operation(&pool).with_observer(&events);
    let mut session = directory.open_session().await;
    let addr: InstanceAddr = "terraform_data.a".parse().unwrap();
    let target = || vec![Target::Instance(addr.clone())];
    let replace = PlanOptions { replace: vec![addr.clone()], ..PlanOptions::default() };
    let refresh = PlanOptions { mode: PlanMode::RefreshOnly, ..PlanOptions::default() };
    for (options, summary) in [
        (PlanOptions { mode: PlanMode::Destroy, ..replace.clone() }, "Unsupported plan mode"),
        (PlanOptions { mode: PlanMode::RefreshOnly, ..replace }, "Unsupported plan mode"),
        (PlanOptions { skip_refresh: true, ..refresh }, "Incompatible refresh options"),
        (
            PlanOptions { targets: target(), excludes: target(), ..PlanOptions::default() },
            "Invalid combination of arguments",
        ),
    ] {
        let mut diags = Diagnostics::new();
        assert!(operation.plan(&mut diags, &mut session, options.clone()).await.is_err());
        assert_eq!(summaries(diags), [summary]);
        let mut diags = Diagnostics::new();
        let source = PlanSource::New(options);
        assert!(operation.apply(&mut diags, &mut session, source).await.is_err());
        assert_eq!(summaries(diags), [summary]);
    }
    session.unlock(&mut Diagnostics::new()).await;
    assert_eq!((events.0.take(), directory.journal_count()), (vec![], 0));
    assert!(directory.stored_state().is_none_or(|file| file.state.is_empty()));
}

#[tokio::test]
async fn a_saved_plan_contains_its_configuration_and_applies_only_to_its_state() {
    let directory = ConfigDir::new();
    let (pool, mut diags) = (ProviderPool::new(&directory.launcher), Diagnostics::new());
    let events = RecordedEvents::default();
    let operation = directory.new_operation(&pool).with_observer(&events);
    let mut session = directory.open_session().await;
    let outcome = operation.plan(&mut diags, &mut session, PlanOptions::default()).await.unwrap();
    let main = directory.path().join("main.tf");
    let contents = PlanToSave {
        plan: &outcome.plan,
        file: &session.file,
        recovered: None,
        config: &directory.config,
        variables: &directory.variables,
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
    let (path, key) = (directory.path().join("plan"), SealKeySource::default());
    contents.write(&path, &key).unwrap();
    // The plan must not require the files in the directory.
    std::fs::remove_file(main).unwrap();

    let open = |diags: &mut Diagnostics| {
        SavedPlan::from_parts(diags, &path, plan_file::read_plan_file(&path).unwrap(), &key)
            .unwrap()
    };
    let saved = open(&mut diags);
    let files = saved.config_files(directory.path(), GeneratedConfigUse::Include);
    let config_source =
        ConfigSource { files: &files, dir: directory.path(), directories: &LocalModuleDirs };
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
