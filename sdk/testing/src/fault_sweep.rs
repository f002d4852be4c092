//! Faults at every call of a configuration's lifecycle, one run for each.

use std::sync::Arc;

use formwork_sdk::ProviderDef;

use crate::{CrashFault, TestEngine};

/// An injected fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultCase {
    /// The call with the fault.
    pub call: String,
    /// Fault that was injected into the call.
    pub fault: CrashFault,
}

/// Applies a configuration once for each of its calls and each fault, and again without the fault.
/// Returns the injected faults. [`FaultSweep`] does the same with a service that keeps its objects.
///
/// # Panics
/// When, without the fault, the configuration cannot be applied, a further plan has changes, or an object
/// cannot be destroyed.
pub fn fault_sweep(
    provider: impl Fn() -> ProviderDef + Send + Sync + 'static,
    config: &str,
) -> Vec<FaultCase> {
    FaultSweep::new(provider).run(config)
}

/// Removes all objects of a service except those with the given ids.
type RemoveOrphansFn<'s> = Box<dyn FnMut(&[String]) + 's>;

/// A sweep of faults over every call of a configuration's lifecycle, for a service that outlives each run.
///
/// A provider that dies between the creation of an object and its answer leaves an object that no
/// state contains. If the provider cannot find it, by its identity or in a list, an operator has to
/// remove it before the next run. [`FaultSweep::remove_orphans_with`] is that operator: without it,
/// objects accumulate, and a service with unique names rejects the second creation.
/// [`FaultSweep::list_leftovers_with`] takes a function that lists the objects that remain at the
/// end of a run. There must be none.
///
/// ```no_run
/// # use formwork_sdk::ProviderDef;
/// # use formwork_sdk_testing::FaultSweep;
/// # struct Service;
/// # impl Service {
/// #     fn keep_only(&self, ids: &[String]) {}
/// #     fn ids(&self) -> Vec<String> { Vec::new() }
/// # }
/// # fn provider() -> ProviderDef { ProviderDef::new("registry.terraform.io/acme/hello") }
/// # let service = Service;
/// FaultSweep::new(provider)
///     .remove_orphans_with(|stored| service.keep_only(stored))
///     .list_leftovers_with(|| service.ids())
///     .run(r#"resource "hello_text" "a" { name = "you" }"#);
/// ```
pub struct FaultSweep<'s> {
    provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>,
    is_real_time: bool,
    remove_orphans: Option<RemoveOrphansFn<'s>>,
    leftovers: Option<Box<dyn FnMut() -> Vec<String> + 's>>,
}

impl<'s> FaultSweep<'s> {
    /// A sweep over the calls of a provider.
    #[must_use]
    pub fn new(provider: impl Fn() -> ProviderDef + Send + Sync + 'static) -> Self {
        let provider = Arc::new(provider);
        Self { provider, is_real_time: false, remove_orphans: None, leftovers: None }
    }

    /// Calls `remove` after each fault, with the `id` of every object in the state: an object of the
    /// service that is not among them is an orphan.
    #[must_use]
    pub fn remove_orphans_with(mut self, remove: impl FnMut(&[String]) + 's) -> Self {
        self.remove_orphans = Some(Box::new(remove));
        self
    }

    /// Calls `list` when everything is destroyed, for the objects that the service still has.
    #[must_use]
    pub fn list_leftovers_with(mut self, list: impl FnMut() -> Vec<String> + 's) -> Self {
        self.leftovers = Some(Box::new(list));
        self
    }

    /// Uses real time, like [`TestEngine::use_real_time`].
    #[must_use]
    pub fn use_real_time(mut self) -> Self {
        self.is_real_time = true;
        self
    }

    /// Applies a configuration once for each of its calls and each fault, and again without the fault.
    /// Returns the injected faults.
    ///
    /// # Panics
    /// When, without the fault, the configuration cannot be applied, a further plan has changes, an object
    /// cannot be destroyed, or the service keeps an object.
    pub fn run(mut self, config: &str) -> Vec<FaultCase> {
        let mut cases = Vec::new();
        for fault in CrashFault::ALL {
            // Until a run has no such call any more.
            for index in 0.. {
                match self.run_case(config, index, fault) {
                    Some(call) => cases.push(FaultCase { call, fault }),
                    None => break,
                }
            }
        }
        cases
    }

    /// One run with a fault at one call. Returns the call; `None` if the run has fewer calls.
    fn run_case(&mut self, config: &str, index: usize, fault: CrashFault) -> Option<String> {
        let provider = self.provider.clone();
        // A test engine for each case, because a fault leaves a state.
        let mut engine = TestEngine::new(move || provider());
        if self.is_real_time {
            engine.use_real_time();
        }
        engine.inject_fault(index, fault);
        let run_result = engine.apply(config);
        // This ends the fault too, so that the next apply runs without it.
        let call = engine.end_fault_and_take_calls().into_iter().nth(index);
        let after = match &call {
            Some(call) => format!("after {fault:?} at {call}"),
            None => "without a fault".to_owned(),
        };
        // A read-only call is repeated with a new provider process.
        let may_pass = !call.as_ref().is_some_and(|call| call.starts_with("apply "));
        assert!(
            may_pass || !run_result.has_applied_without_error(),
            "{after}: no error was reported"
        );
        if let Some(remove) = &mut self.remove_orphans {
            remove(&engine.ids());
        }
        // A user would repeat the command after the fault, and this must be enough.
        let second_apply = engine.apply(config);
        assert!(second_apply.has_applied_without_error(), "{after}: {}", second_apply.messages());
        engine.plan(config).expect_no_changes();
        // No fault may leave an object in the state that cannot be destroyed.
        let destroyed = engine.destroy(config);
        assert!(
            destroyed.has_applied_without_error() && engine.n_objects() == 0,
            "{after}: {}",
            destroyed.messages()
        );
        if let Some(list) = &mut self.leftovers {
            let leftovers = list();
            assert!(leftovers.is_empty(), "{after}: the service still has {leftovers:?}");
        }
        call
    }
}
