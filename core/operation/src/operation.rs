//! The builder of operations: settings that planning, applying, importing and recovering share.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::pin;

use formwork_core::config::Config;
use formwork_core::config::inputs::ResolvedVariable;
use formwork_core::eval::{HostValues, Results};
use formwork_core::event::EventObserver;
use formwork_core::provider::ProviderPool;
use formwork_core::provisioner::ProvisionerSet;
use formwork_core::session::{DEFAULT_PARALLELISM, Session, SessionInputs};
use formwork_core::state::State;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Str};
use tokio_util::sync::CancellationToken;

use crate::observer::{Approval, NoOperationObserver, OperationObserver};

/// Inputs that every operation requires.
///
/// See [`Operation`] for an example.
#[derive(Clone, Copy)]
pub struct OperationInputs<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The source text of the configuration.
    pub sources: &'a Sources,
    /// The values of the root module's variables.
    pub variables: &'a BTreeMap<Str, ResolvedVariable>,
    /// The providers.
    pub pool: &'a ProviderPool<'a>,
}

/// An operation on a configuration and its state, which has not run yet.
///
/// The builder methods add optional inputs, and one of the async methods runs the operation. The
/// caller opens the state before, and closes it after.
///
/// ```
/// use std::path::Path;
///
/// use formwork_backend::local::StateFilePaths;
/// use formwork_core::config::files::FilesOnDisk;
/// use formwork_core::config::inputs::{self, UnsetVariableTreatment};
/// use formwork_core::config::module_dirs::LocalModuleDirs;
/// use formwork_core::config::{Config, ConfigSource};
/// use formwork_core::eval::HostValues;
/// use formwork_core::plan::PlanOptions;
/// use formwork_core::provider::ProviderPool;
/// use formwork_operation::launcher::{Launcher, LauncherSettings};
/// use formwork_operation::{
///     Operation, OperationInputs, PlanSource, SessionOptions, StateSession,
/// };
/// use formwork_value::diag::Sources;
/// use formwork_value::{Diagnostics, Reported};
///
/// async fn apply(diags: &mut Diagnostics, directory: &Path) -> Result<(), Reported> {
///     let mut sources = Sources::new();
///     let directories = &LocalModuleDirs;
///     let config_source = ConfigSource { files: &FilesOnDisk, dir: directory, directories };
///     let config = Config::load(diags, &mut sources, config_source)?;
///     let root = &config.root;
///     let unset = UnsetVariableTreatment::Error;
///     let variables = inputs::resolve_variables(diags, &mut sources, root, Vec::new(), unset)?;
///     // The configuration needs no provider but the built-in one.
///     let launcher = Launcher::new(LauncherSettings::default(), Default::default());
///     let pool = ProviderPool::new(&launcher);
///     let inputs =
///         OperationInputs { config: &config, sources: &sources, variables: &variables, pool: &pool };
///     let clock = || time::OffsetDateTime::UNIX_EPOCH;
///     let host = HostValues::for_dir(&directory.to_string_lossy(), clock);
///
///     let state = StateFilePaths::from_state_path(directory.join("terraform.tfstate")).into();
///     let options = SessionOptions::new("apply", directory);
///     let mut session = StateSession::open(diags, state, &options).await?;
///     let operation = Operation::new(inputs, host).with_parallelism(4);
///     let plan = PlanSource::New(PlanOptions::default());
///     let applied = operation.apply(diags, &mut session, plan).await;
///     session.unlock(diags).await;
///     assert!(applied?.is_complete);
///     diags.fail_if_errors()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let text = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";
/// std::fs::write(directory.path().join("main.tf"), text).unwrap();
/// let mut diags = Diagnostics::new();
/// apply(&mut diags, directory.path()).await.unwrap_or_else(|_| panic!("{diags:?}"));
/// let state = std::fs::read_to_string(directory.path().join("terraform.tfstate")).unwrap();
/// assert!(state.contains("terraform_data"));
/// # }
/// ```
pub struct Operation<'a> {
    pub(crate) inputs: OperationInputs<'a>,
    host: HostValues,
    provisioners: Option<&'a ProvisionerSet>,
    /// The default, used if the caller has set no observer.
    no_provisioners: ProvisionerSet,
    pub(crate) observer: &'a dyn OperationObserver,
    pub(crate) approval: Option<&'a dyn Approval>,
    parallelism: usize,
    pub(crate) cancellation: CancellationToken,
    /// Cancelled as soon as no further work may start.
    stop: Cell<bool>,
}

/// Inputs of one phase of an operation.
///
/// ```
/// use formwork_core::eval::Results;
/// use formwork_core::event::NoEventObserver;
/// use formwork_core::state::State;
/// use formwork_operation::{Operation, PhaseInputs};
///
/// fn is_stopped(operation: &Operation<'_>, state: &State, results: &Results) -> bool {
///     let world = &operation.host_values(false);
///     let inputs = PhaseInputs { state, results, world, watch: &NoEventObserver };
///     operation.engine_session(inputs).is_stopped()
/// }
/// ```
#[derive(Clone, Copy)]
pub struct PhaseInputs<'a> {
    /// The state at the start of the phase.
    pub state: &'a State,
    /// Receiver of the results.
    pub results: &'a Results,
    /// Access of expressions to the file system, the clock and other external inputs.
    pub world: &'a HostValues,
    /// Observer of the engine.
    pub watch: &'a dyn EventObserver,
}

impl<'a> Operation<'a> {
    /// Creates an operation without provisioners and observer, that applies plans without approval
    /// and makes up to ten concurrent calls.
    #[must_use]
    pub fn new(inputs: OperationInputs<'a>, host: HostValues) -> Self {
        Self {
            inputs,
            host,
            provisioners: None,
            no_provisioners: ProvisionerSet::default(),
            observer: &NoOperationObserver,
            approval: None,
            parallelism: DEFAULT_PARALLELISM,
            cancellation: CancellationToken::new(),
            stop: Cell::new(false),
        }
    }

    /// Sets the provisioners that may run.
    #[must_use]
    pub fn with_provisioners(self, provisioners: &'a ProvisionerSet) -> Self {
        Self { provisioners: Some(provisioners), ..self }
    }

    /// Sets an observer.
    #[must_use]
    pub fn with_observer(self, observer: &'a dyn OperationObserver) -> Self {
        Self { observer, ..self }
    }

    /// Requests approval before a plan that changes something is applied.
    #[must_use]
    pub fn with_approval(self, approval: &'a dyn Approval) -> Self {
        Self { approval: Some(approval), ..self }
    }

    /// Sets the maximum number of concurrent calls, which is at least one.
    #[must_use]
    pub fn with_parallelism(self, parallelism: usize) -> Self {
        Self { parallelism, ..self }
    }

    /// Sets a token that cancels the operation. After cancellation no new work starts, and providers
    /// and provisioners are requested to stop soon. The operation still completes by itself, with the
    /// state stored.
    ///
    /// ```
    /// use formwork_operation::prelude::*;
    ///
    /// fn make_cancellable(operation: Operation<'_>) -> (Operation<'_>, CancellationToken) {
    ///     let token = CancellationToken::new();
    ///     (operation.with_cancellation(token.clone()), token)
    /// }
    /// ```
    #[must_use]
    pub fn with_cancellation(self, cancellation: CancellationToken) -> Self {
        Self { cancellation, ..self }
    }

    /// External inputs available to expressions, during an apply or otherwise.
    #[must_use]
    pub fn host_values(&self, applying: bool) -> HostValues {
        HostValues { applying, ..self.host.clone() }
    }

    /// Creates a session of the engine for one phase.
    #[must_use]
    pub fn engine_session<'s>(&'s self, phase: PhaseInputs<'s>) -> Session<'s> {
        let OperationInputs { config, sources, variables, pool } = self.inputs;
        let inputs = SessionInputs {
            config,
            sources,
            state: phase.state,
            pool,
            provisioners: self.provisioners.unwrap_or(&self.no_provisioners),
            results: phase.results,
            world: phase.world,
            variables,
            stop: &self.stop,
        };
        Session::new(inputs).with_observer(phase.watch).with_parallelism(self.parallelism)
    }

    /// Runs the work to completion. After cancellation no new work starts, and providers and
    /// provisioners are requested to stop early.
    pub(crate) async fn run_with_graceful_cancel<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            // A cancellation that arrives when the work ends applies to the following work.
            biased;
            () = self.cancellation.cancelled() => {}
            result = &mut work => return result,
        }
        // Before providers are requested to stop. Otherwise new calls would start after the
        // request.
        self.stop.set(true);
        self.provisioners.iter().for_each(|provisioners| provisioners.stop_all());
        // A provider may take its time to respond. The work does not wait for it.
        let mut stopping = pin!(self.inputs.pool.stop_providers());
        tokio::select! {
            // The work is polled first, because its end makes the response irrelevant.
            biased;
            result = &mut work => return result,
            () = &mut stopping => {}
        }
        work.await
    }

    /// Offers diagnostics to the observer, and keeps the ones it does not take.
    pub(crate) fn offer_diagnostics(&self, diags: &mut Diagnostics) {
        self.observer.offer_diagnostics(diags);
    }
}
