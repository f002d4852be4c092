//! Inputs and outputs of one command: configuration, state, providers, results.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Deref;

use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};
use futures_util::StreamExt as _;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::config::inputs::ResolvedVariable;
use crate::eval::provider_functions::PendingFunctions;
use crate::eval::vertex::EvalInputs;
use crate::eval::{HostValues, ModuleResults, ModuleScope, Results};
use crate::event::{EventObserver, NoEventObserver};
use crate::graph::walk::RecordOrder;
use crate::messages;
use crate::provider::ProviderPool;
use crate::provisioner::ProvisionerSet;
use crate::state::State;

/// Maximum number of rounds in which an evaluation may find new calls of providers' functions:
/// calls whose arguments are results of calls.
const MAX_EVALUATION_ROUNDS: usize = 200;

/// Default number of operations that may be under way at once, as in Terraform.
pub const DEFAULT_PARALLELISM: usize = 10;

/// Inputs and outputs of one phase of one command. Everything is shared and read; only the results,
/// which are written once each, and the stop flag change.
pub struct Session<'a> {
    /// Inputs of the session.
    inputs: SessionInputs<'a>,
    /// Watcher of the run.
    pub watch: &'a dyn EventObserver,
    /// Number of operations that may be under way at once.
    pub(crate) parallelism: usize,
    /// Counts the operations under way; as many as may be at once.
    pub(crate) permits: Semaphore,
    /// In which order the results of visits are recorded.
    pub(crate) finishing: RecordOrder,
}

/// Inputs required to start a session.
#[derive(Clone, Copy)]
pub struct SessionInputs<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The source text of the configuration.
    pub sources: &'a Sources,
    /// The state as it was when the command began.
    pub state: &'a State,
    /// The providers.
    pub pool: &'a ProviderPool<'a>,
    /// Provisioners that may run.
    pub provisioners: &'a ProvisionerSet,
    /// Destination of the results.
    pub results: &'a Results,
    /// Access of expressions to the outside world.
    pub world: &'a HostValues,
    /// Values of the root variables, converted.
    pub variables: &'a BTreeMap<Str, ResolvedVariable>,
    /// Set when the user wants no new operations to start.
    pub stop: &'a Cell<bool>,
}

impl<'a> Deref for Session<'a> {
    type Target = SessionInputs<'a>;

    fn deref(&self) -> &Self::Target {
        &self.inputs
    }
}

impl<'a> Session<'a> {
    /// A session without a watcher, with up to ten operations at once.
    #[must_use]
    pub fn new(inputs: SessionInputs<'a>) -> Self {
        Self {
            inputs,
            watch: &NoEventObserver,
            parallelism: DEFAULT_PARALLELISM,
            permits: Semaphore::new(DEFAULT_PARALLELISM),
            finishing: RecordOrder::Completion,
        }
    }

    /// The same, with a watcher.
    #[must_use]
    pub fn with_observer(self, watch: &'a dyn EventObserver) -> Self {
        Self { watch, ..self }
    }

    /// The same, with so many operations at once; one is always possible.
    #[must_use]
    pub fn with_parallelism(self, parallelism: usize) -> Self {
        // `Semaphore::new` panics with more permits.
        let parallelism = parallelism.clamp(1, Semaphore::MAX_PERMITS);
        Self { parallelism, permits: Semaphore::new(parallelism), ..self }
    }

    /// The same with another order in which results are recorded, for tests that nothing depends on it.
    #[must_use]
    pub fn with_record_order(self, finishing: RecordOrder) -> Self {
        Self { finishing, ..self }
    }
}

impl Session<'_> {
    /// Inputs of evaluation.
    #[must_use]
    pub fn eval_inputs(&self) -> EvalInputs<'_> {
        let SessionInputs { config, results, world, variables, .. } = self.inputs;
        let failure = Severity::Error;
        EvalInputs { config, results, world, variables, checking: false, check: None, failure }
    }

    /// Meaning of names in an instance of a module.
    #[must_use]
    pub fn module_scope<'m>(&'m self, module: &'m ModuleResults) -> ModuleScope<'m> {
        ModuleScope::new(module, self.world)
    }

    /// The same session with another state.
    pub(crate) fn with_state<'s>(&'s self, state: &'s State) -> Session<'s> {
        self.with_inputs(SessionInputs { state, ..self.inputs }).with_observer(self.watch)
    }

    /// A session with the same settings and other inputs. It has no watcher.
    pub(crate) fn with_inputs<'s>(&self, inputs: SessionInputs<'s>) -> Session<'s> {
        Session::new(inputs).with_parallelism(self.parallelism).with_record_order(self.finishing)
    }

    /// Evaluates something, and again after the functions of providers that it calls have answered,
    /// until there is no call without an answer.
    ///
    /// # Errors
    /// When `evaluate` fails, or a provider whose functions are called cannot be used.
    pub async fn evaluate_with_functions<T>(
        &self,
        diags: &mut Diagnostics,
        mut evaluate: impl FnMut(&mut Diagnostics) -> Result<T, Reported>,
    ) -> Result<T, Reported> {
        for _ in 0..MAX_EVALUATION_ROUNDS {
            // Diagnostics of an earlier round are dropped: they may come of results that were still
            // unknown.
            let mut attempt = Diagnostics::new();
            let result = evaluate(&mut attempt);
            let wanted = self.results.provider_functions().take_pending();
            if wanted.is_empty() {
                // The result holds everything that was reported.
                let _ = diags.append(attempt);
                return result;
            }
            self.call_pending_functions(diags, wanted).await?;
        }
        let detail = format!(
            "The evaluation of this called provider functions with new arguments in {MAX_EVALUATION_ROUNDS} consecutive rounds. Arguments that differ in each round, such as `uuid()`, never end the evaluation."
        );
        Err(diags.error(Diagnostic::error(messages::TOO_MANY_CALLS_PROVIDER_FUNCTIONS, detail)))
    }

    async fn call_pending_functions(
        &self,
        diags: &mut Diagnostics,
        wanted: PendingFunctions,
    ) -> Result<(), Reported> {
        let functions = self.results.provider_functions();
        self.pool.load_providers(diags, wanted.providers.iter().cloned()).await?;
        for provider in &wanted.providers {
            if let Some(loaded) = self.pool.loaded_provider(provider) {
                functions.add_signatures(provider, &loaded.provider_schema().functions);
            }
        }
        // One provider after the other: each needs a process only while its own calls are made.
        for calls in wanted.calls.chunk_by(|one, next| one.provider == next.provider) {
            let Some(first) = calls.first() else { continue };
            // Functions need no configuration (protocol, CallFunction), so any instance serves.
            let client = self.pool.unconfigured_client(diags, &first.provider).await?;
            let Some(client) = &client else { continue };
            let answers = calls.iter().map(async |call| {
                let arguments = call.arguments.clone();
                let answer = client.call_function(&call.function, arguments, &call.returns).await;
                functions.record_answer(call, answer);
            });
            // Unordered, because each answer is kept under its call.
            let answers = futures_util::stream::iter(answers);
            answers.buffer_unordered(self.parallelism.max(1)).collect::<()>().await;
        }
        Ok(())
    }

    /// Whether the user wants no new operations to start.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.get()
    }
}
