//! Runs complete lifecycles of real configurations against a provider: the engine as a library, the
//! provider in the same process, the state in memory. It plans, applies, changes, imports and
//! destroys, and shows planned changes as text. Time is virtual: a handler that waits an hour
//! returns immediately. While a socket is open, time is real, so that no timeout fires early;
//! [`TestEngine::use_real_time`] keeps it so.
//!
//! ```
//! use formwork_sdk::prelude::*;
//! use formwork_sdk_testing::TestEngine;
//!
//! #[derive(Model)]
//! struct Greeting {
//!     #[attr(required)]
//!     name: String,
//!     #[attr(computed)]
//!     text: String,
//! }
//!
//! struct Greeter;
//!
//! impl Resource for Greeter {
//!     type Model = Greeting;
//!
//!     async fn create(&self, call: Create<Greeting>) -> Answer<GreetingComputed> {
//!         Ok(GreetingComputed { text: format!("Hello, {}", call.planned.name) })
//!     }
//! }
//!
//! let mut engine = TestEngine::new(|| {
//!     ProviderDef::new("registry.terraform.io/acme/hello").resource("hello_text", Greeter)
//! });
//! let config = r#"resource "hello_text" "a" { name = "you" }"#;
//! assert_eq!(engine.plan(config).plan_text(), "+ hello_text.a\n    name = \"you\"\n    text = (known after apply)\n");
//! engine.apply(config).expect_applied();
//! engine.plan(config).expect_no_changes();
//! assert_eq!(engine.attribute("hello_text.a", "text"), "Hello, you");
//! engine.destroy(config).expect_applied();
//! ```

mod clock;
mod fault;
mod fault_sweep;
mod loaded_config;
mod plan_text;
mod recording;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use formwork_backend::MemoryState;
use formwork_core::plan::{InterruptedSearchResult, Plan, PlanMode, PlanOptions};
use formwork_core::provider::ProviderPool;
use formwork_core::provisioner::ProvisionerSet;
use formwork_core::state::file::StateFile;
use formwork_core::state::recover::OpenQuestion;
use formwork_core::state::{ObjectAttributes, ObjectState};
use formwork_operation::recover::Decision;
use formwork_operation::{PlanSource, SessionOptions, StateSession};
use formwork_sdk::ProviderDef;
use formwork_value::codec::json;
use formwork_value::{Diagnostics, Value};
use tokio::runtime::Runtime;

pub use fault::CrashFault;
pub use fault_sweep::{FaultCase, FaultSweep, fault_sweep};
pub use recording::{Recording, UnreadableRecording, UnreadableTranscript};

use clock::VirtualClock;
use fault::{FaultLauncher, RecordOrReplay};
use loaded_config::{InMemoryFiles, LoadedConfig};

/// An engine for configurations in tests: a provider, and a state in memory.
pub struct TestEngine {
    front: FaultLauncher,
    /// Local name of the provider in configurations. Its source address follows.
    name: String,
    source: String,
    /// The stored state with the intents of the runs. In memory, because every change waits for its intent.
    state: MemoryState,
    /// The state after the last apply.
    file: StateFile,
    provisioners: ProvisionerSet,
    /// One runtime for all runs, so that threads are not started again for each run.
    runtime: Runtime,
    clock: Arc<VirtualClock>,
}

/// Result of one run.
pub struct RunResult {
    plan: Option<Plan>,
    diags: Diagnostics,
    applied: bool,
}

impl TestEngine {
    /// A test engine without any objects. Each run starts new providers, as if they were processes:
    /// they share only data that the closure `provider` shares.
    #[must_use]
    pub fn new(provider: impl Fn() -> ProviderDef + Send + Sync + 'static) -> Self {
        let source = provider().address().to_owned();
        let name = source.rsplit('/').next().unwrap_or_default().to_owned();
        let front = FaultLauncher::new(Arc::new(provider));
        let (runtime, clock) = VirtualClock::start_runtime();
        Self {
            front,
            name,
            source,
            state: MemoryState::default(),
            file: StateFile::new_empty(),
            provisioners: ProvisionerSet::default(),
            runtime,
            clock,
        }
    }

    /// Uses real time from now on, even while no socket is open: for a provider that waits for
    /// other external events, such as a file of another program.
    pub fn use_real_time(&mut self) {
        self.clock.use_real_time();
    }

    /// Plans without applying.
    pub fn plan(&mut self, config: &str) -> RunResult {
        self.plan_and_maybe_apply(config, PlanMode::Normal, false)
    }

    /// Plans and, if that succeeds, applies. The objects are stored, even if changes failed.
    pub fn apply(&mut self, config: &str) -> RunResult {
        self.plan_and_maybe_apply(config, PlanMode::Normal, true)
    }

    /// Destroys all objects.
    pub fn destroy(&mut self, config: &str) -> RunResult {
        self.plan_and_maybe_apply(config, PlanMode::Destroy, true)
    }

    /// Refreshes the state.
    pub fn refresh(&mut self, config: &str) -> RunResult {
        self.plan_and_maybe_apply(config, PlanMode::RefreshOnly, true)
    }

    /// Runs a complete lifecycle: applies a configuration, expects no further change, reads the
    /// state again as a later run would, and destroys everything.
    ///
    /// # Panics
    /// When any of these steps fails.
    pub fn run_lifecycle(&mut self, config: &str) {
        self.apply(config).expect_applied();
        self.plan(config).expect_no_changes();
        self.destroy(config).expect_applied();
        assert_eq!(self.n_objects(), 0, "nothing is left in the state");
    }

    /// Injects a fault into a call, counted from 0 from now on.
    pub fn inject_fault(&mut self, index: usize, fault: CrashFault) {
        self.front.set_fault(index, fault);
    }

    /// Ends the fault injection. Returns the calls since the last time.
    pub fn end_fault_and_take_calls(&mut self) -> Vec<String> {
        self.front.end_fault_and_take_calls()
    }

    /// Records all calls from now on, as a provider in another process would get them. An injected
    /// fault is not part of the record.
    pub fn record(&mut self, recording: &Recording) {
        self.front.record = RecordOrReplay::Kept(recording.clone());
    }

    /// Answers all calls from the recording from now on. The schema comes from the provider, and
    /// none of its handlers runs. A call that was not recorded is an error that names the expected
    /// one.
    pub fn replay(&mut self, recording: &Recording) {
        self.front.record = RecordOrReplay::Answered(recording.clone());
    }

    /// Number of objects in the state.
    #[must_use]
    pub fn n_objects(&self) -> usize {
        let resources = self.file.state.resources.values();
        resources.map(|resource| resource.instances.len()).sum()
    }

    /// The attribute `id` of each stored object that has one, as a string.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let instances =
            self.file.state.resources.values().flat_map(|resource| resource.instances.values());
        // A deposed object still exists in the service.
        let objects =
            instances.flat_map(|instance| instance.current.iter().chain(instance.deposed.values()));
        objects.filter_map(|object| attribute_text(object, "id")).collect()
    }

    /// An attribute of a stored object: a string unchanged, any other value as JSON.
    ///
    /// # Panics
    /// When the object or the attribute does not exist.
    #[must_use]
    pub fn attribute(&self, address: &str, attribute: &str) -> String {
        let object = self.stored_object(address);
        let text = attribute_text(object, attribute);
        text.unwrap_or_else(|| panic!("{address} has no attribute {attribute:?}"))
    }

    /// Whether a stored object is tainted.
    ///
    /// # Panics
    /// When the object does not exist.
    #[must_use]
    pub fn is_tainted(&self, address: &str) -> bool {
        self.stored_object(address).status == formwork_core::state::ObjectStatus::Tainted
    }

    /// The state as the file that it would be stored in.
    #[must_use]
    pub fn state(&self) -> String {
        String::from_utf8(self.file.to_bytes()).unwrap_or_default()
    }

    /// Replaces the state, for example with the state of an older version of the provider.
    ///
    /// # Panics
    /// When the string is not a state file.
    pub fn set_state(&mut self, text: &str) {
        let file =
            StateFile::parse(text.as_bytes()).expect("the test passes the text of a state file");
        // Journals of earlier runs are about another state.
        self.state = MemoryState::default();
        let mut store = self.state.open().store;
        let stored = self.runtime.block_on(store.overwrite(file.clone()));
        stored.expect("a state in memory can be written");
        self.file = file;
    }

    fn stored_object(&self, address: &str) -> &ObjectState {
        for (name, resource) in &self.file.state.resources {
            for (key, instance) in &resource.instances {
                if name.instance_addr(key.clone()).to_string() == address
                    && let Some(object) = &instance.current
                {
                    return object;
                }
            }
        }
        panic!("there is no object {address} in the state")
    }

    fn plan_and_maybe_apply(&mut self, config: &str, mode: PlanMode, applying: bool) -> RunResult {
        let mut diags = Diagnostics::new();
        let loaded = LoadedConfig::load(&mut diags, &self.config_files_naming_provider(config));
        let Some(loaded) = loaded else { return RunResult { plan: None, diags, applied: false } };
        let options = PlanOptions { mode, ..PlanOptions::default() };
        let (plan, applied, file) = self.runtime.block_on(async {
            let opened =
                StateSession::open(&mut diags, self.state.open(), &session_options()).await;
            let Ok(mut session) = opened else { return (None, false, None) };
            let pool = ProviderPool::new(&self.front);
            let operation = loaded.operation(&pool).with_provisioners(&self.provisioners);
            let mut planned = operation.plan(&mut diags, &mut session, options.clone()).await.ok();
            // A second plan would not contain the objects that the first one has found.
            let may_repeat = planned.as_ref().is_some_and(|planned| {
                let mut searches = planned.plan.searches.values();
                !planned.plan.errored
                    && searches.all(|search| *search != InterruptedSearchResult::Found)
            });
            if may_repeat && retry_open_creations(&mut session) {
                planned = operation.plan(&mut diags, &mut session, options).await.ok();
            }
            let plan = planned.as_ref().map(|planned| planned.plan.clone());
            let planned = planned.filter(|planned| applying && !planned.plan.errored);
            let is_started = planned.is_some();
            let applied = match planned {
                Some(planned) => {
                    let source = PlanSource::Made(Box::new(planned));
                    operation.apply(&mut diags, &mut session, source).await.is_ok()
                }
                None => false,
            };
            // An apply that fails may have stored the state before.
            let file = is_started.then(|| session.file.clone());
            session.unlock(&mut diags).await;
            (plan, applied, file)
        });
        self.file = file.unwrap_or_else(|| self.file.clone());
        RunResult { plan, diags, applied }
    }

    /// The configuration, with a source for the provider if it names none.
    fn config_files_naming_provider(&self, config: &str) -> InMemoryFiles {
        let mut texts = BTreeMap::from([("main.tf".to_owned(), config.to_owned())]);
        if !config.contains("required_providers") {
            let (name, source) = (&self.name, &self.source);
            let text = format!(
                "terraform {{\n  required_providers {{\n    {name} = {{ source = \"{source}\" }}\n  }}\n}}\n"
            );
            texts.insert("providers.tf".to_owned(), text);
        }
        InMemoryFiles(texts)
    }
}

/// The options of a run. The directory does not exist, so nothing is found in it.
fn session_options() -> SessionOptions<'static> {
    SessionOptions::new("OperationTypeApply", Path::new("/no-directory"))
}

/// Decides about interrupted creations whose objects the provider cannot find, as a user would who finds none:
/// the next plan creates them again. Returns whether there were any.
fn retry_open_creations(session: &mut StateSession) -> bool {
    let open = session.unresolved_needing_decision();
    // Other decisions are about an object that is known.
    let open = open.filter(|operation| operation.doubt == OpenQuestion::Effect);
    let open: Vec<_> = open.map(|operation| operation.current_addr().clone()).collect();
    for addr in &open {
        session.decide_without_storing_state(addr, Decision::Retry);
    }
    !open.is_empty()
}

impl RunResult {
    /// The planned changes as text: each object with its action and changed attributes.
    ///
    /// # Panics
    /// When the run has no plan.
    #[must_use]
    pub fn plan_text(&self) -> String {
        match &self.plan {
            Some(plan) => plan_text::render_plan(plan),
            None => panic!("there is no plan: {}", self.messages()),
        }
    }

    /// The diagnostics: summary, and detail below it.
    #[must_use]
    pub fn messages(&self) -> String {
        let problems = self.diags.iter().map(|problem| {
            let kind = if problem.is_error() { "error" } else { "warning" };
            format!("{kind}: {}\n    {}\n", problem.summary, problem.detail.replace('\n', "\n    "))
        });
        problems.collect()
    }

    /// Whether the run applied its plan, without an error. A plan did not.
    #[must_use]
    pub fn has_applied_without_error(&self) -> bool {
        self.applied && !self.diags.has_errors()
    }

    /// Expects that the plan was applied without an error.
    ///
    /// # Panics
    /// When the run has an error, or was only a plan.
    pub fn expect_applied(&self) {
        assert!(self.has_applied_without_error(), "{}", self.messages());
    }

    /// Expects a plan without changes.
    ///
    /// # Panics
    /// When the plan has changes.
    pub fn expect_no_changes(&self) {
        assert!(!self.diags.has_errors(), "{}", self.messages());
        let is_clean = self.plan.as_ref().is_some_and(|plan| !plan.has_changes());
        assert!(is_clean, "there is something left to do:\n{}", self.plan_text());
    }

    /// Expects an error that contains `words`.
    ///
    /// # Panics
    /// When the run has no such error.
    pub fn expect_error(&self, text: &str) {
        assert!(self.diags.has_errors(), "no error, but one was expected: {text}");
        assert!(self.messages().contains(text), "{text:?} is not in\n{}", self.messages());
    }
}

/// An attribute of an object: a string unchanged, any other value as JSON. `None` if it is absent.
fn attribute_text(object: &ObjectState, name: &str) -> Option<String> {
    let text = match &object.attributes {
        ObjectAttributes::Json(text) => text,
        ObjectAttributes::Flatmap(members) => return members.get(name).cloned(),
    };
    let Ok(Value::Object(parts)) = json::decode_untyped(text) else { return None };
    Some(match parts.get(name)? {
        Value::String(text) => text.as_str().to_owned(),
        value => json::encode_untyped(value).unwrap_or_default(),
    })
}

/// The tutorial, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/provider.md")]
struct TutorialDoctest;

#[cfg(test)]
mod tests;
