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

/// Maximum number of rounds in which an evaluation may find new provider function calls, whose arguments
/// are the results of other calls.
const MAX_EVALUATION_ROUNDS: usize = 200;

/// Default number of concurrent operations, as in Terraform.
pub const DEFAULT_PARALLELISM: usize = 10;

/// Inputs and outputs of one phase of one command. Everything is shared and read-only, except the
/// results, which are each written once, and the stop flag.
pub struct Session<'a> {
    /// Inputs of the session.
    inputs: SessionInputs<'a>,
    /// The observer of the run.
    pub watch: &'a dyn EventObserver,
    /// Maximum number of concurrent operations.
    pub(crate) parallelism: usize,
    /// Limits the concurrent operations.
    pub(crate) permits: Semaphore,
    /// The order in which the results of visits are recorded.
    pub(crate) finishing: RecordOrder,
}

/// Inputs required to start a session.
#[derive(Clone, Copy)]
pub struct SessionInputs<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The source text of the configuration.
    pub sources: &'a Sources,
    /// The state at the start of the command.
    pub state: &'a State,
    /// The providers.
    pub pool: &'a ProviderPool<'a>,
    /// The available provisioners.
    pub provisioners: &'a ProvisionerSet,
    /// Destination of the results.
    pub results: &'a Results,
    /// The host values that expressions can access.
    pub world: &'a HostValues,
    /// The converted values of the root variables.
    pub variables: &'a BTreeMap<Str, ResolvedVariable>,
    /// Set when no new operations may start.
    pub stop: &'a Cell<bool>,
}

impl<'a> Deref for Session<'a> {
    type Target = SessionInputs<'a>;

    fn deref(&self) -> &Self::Target {
        &self.inputs
    }
}

impl<'a> Session<'a> {
    /// Creates a session without an observer, with up to ten concurrent operations.
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

    /// Returns the session with an observer.
    #[must_use]
    pub fn with_observer(self, watch: &'a dyn EventObserver) -> Self {
        Self { watch, ..self }
    }

    /// Returns the session with a maximum number of concurrent operations, at least one.
    #[must_use]
    pub fn with_parallelism(self, parallelism: usize) -> Self {
        // `Semaphore::new` panics with more permits.
        let parallelism = parallelism.clamp(1, Semaphore::MAX_PERMITS);
        Self { parallelism, permits: Semaphore::new(parallelism), ..self }
    }

    /// Returns the session with another record order, for tests that results do not depend on it.
    #[must_use]
    pub fn with_record_order(self, finishing: RecordOrder) -> Self {
        Self { finishing, ..self }
    }
}

impl Session<'_> {
    /// Returns the inputs of an evaluation.
    #[must_use]
    pub fn eval_inputs(&self) -> EvalInputs<'_> {
        let SessionInputs { config, results, world, variables, .. } = self.inputs;
        let failure = Severity::Error;
        EvalInputs { config, results, world, variables, checking: false, check: None, failure }
    }

    /// Returns the scope of a module instance.
    #[must_use]
    pub fn module_scope<'m>(&'m self, module: &'m ModuleResults) -> ModuleScope<'m> {
        ModuleScope::new(module, self.world)
    }

    /// Returns the same session with another state.
    pub(crate) fn with_state<'s>(&'s self, state: &'s State) -> Session<'s> {
        self.with_inputs(SessionInputs { state, ..self.inputs }).with_observer(self.watch)
    }

    /// Returns a session with the same settings and other inputs, without an observer.
    pub(crate) fn with_inputs<'s>(&self, inputs: SessionInputs<'s>) -> Session<'s> {
        Session::new(inputs).with_parallelism(self.parallelism).with_record_order(self.finishing)
    }

    /// Evaluates something, and repeats it after the provider functions that it calls have returned,
    /// until all calls have results.
    ///
    /// # Errors
    /// Returns an error if `evaluate` fails, or if a provider whose functions are called cannot be used.
    pub async fn evaluate_with_functions<T>(
        &self,
        diags: &mut Diagnostics,
        mut evaluate: impl FnMut(&mut Diagnostics) -> Result<T, Reported>,
    ) -> Result<T, Reported> {
        for _ in 0..MAX_EVALUATION_ROUNDS {
            // Diagnostics of an earlier round are dropped, because results that were still unknown may
            // have caused them.
            let mut attempt = Diagnostics::new();
            let result = evaluate(&mut attempt);
            let wanted = self.results.provider_functions().take_pending();
            if wanted.is_empty() {
                // The result contains all diagnostics.
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
        // Sequentially, because each provider needs a process only during its own calls.
        for calls in wanted.calls.chunk_by(|call, next| call.provider == next.provider) {
            let Some(first) = calls.first() else { continue };
            // Functions need no configuration (protocol, CallFunction), so any instance serves.
            let client = self.pool.unconfigured_client(diags, &first.provider).await?;
            let Some(client) = &client else { continue };
            let answers = calls.iter().map(async |call| {
                let arguments = call.arguments.clone();
                let answer = client.call_function(&call.function, arguments, &call.returns).await;
                functions.record_answer(call, answer);
            });
            // Unordered, because each result is stored by its call.
            let answers = futures_util::stream::iter(answers);
            answers.buffer_unordered(self.parallelism.max(1)).collect::<()>().await;
        }
        Ok(())
    }

    /// Returns whether no new operations may start.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.get()
    }
}
