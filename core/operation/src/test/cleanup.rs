//! Destroys the objects that the runs of a test file have created, starting with those of the last
//! run.

use std::time::Duration;

use formwork_core::addr::ResourceMode;
use formwork_core::plan::{PlanMode, PlanOptions};
use formwork_core::provider::ProviderPool;
use formwork_core::state::State;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use super::run::await_with_progress_reports;
use super::states::{RunConfig, TestState, has_objects_to_destroy};
use super::{LeftoverObject, RunOfTestFile, TestEvent, TestFileRunner, TestInputs};
use crate::apply::PlanSource;
use crate::operation::{Operation, OperationInputs};

/// Some objects could not be destroyed. They were reported to the observer.
pub(super) struct CleanupFailureShown;

impl TestFileRunner<'_> {
    /// Destroys all objects in the states of the file.
    pub(super) async fn clean_up(&mut self, sources: &Sources) -> Result<(), CleanupFailureShown> {
        let mut result = Ok(());
        let mut states: Vec<&mut TestState> = self.states.open.values_mut().collect();
        // A later run may depend on objects that an earlier one created in another state.
        states.sort_by_key(|state| {
            state.last.as_ref().map(|(run_index, _)| std::cmp::Reverse(*run_index))
        });
        for state in states {
            // Without an applied run, there is no configuration that could destroy objects.
            let Some((run_index, config)) = state.last.clone() else { continue };
            if !has_objects_to_destroy(&state.session.file.state) {
                continue;
            }
            let Some(run) = self.test_file.runs.get(run_index) else { continue };
            let run = RunOfTestFile { test_file: self.test_file, run };
            let cleanup = StateCleanup { tests: self.inputs, sources, run, config: &config };
            let cleaned_up = cleanup.destroy_state_objects(state).await;
            result = result.and(cleaned_up);
        }
        let mut diags = Diagnostics::new();
        self.states.close_and_remove_empty_states(&mut diags).await;
        result
    }
}

/// The destruction of all objects in one state, with the configuration of the run that changed it
/// last.
struct StateCleanup<'a> {
    tests: TestInputs<'a>,
    sources: &'a Sources,
    run: RunOfTestFile<'a>,
    config: &'a RunConfig,
}

impl StateCleanup<'_> {
    /// Destroys all objects in a state.
    async fn destroy_state_objects(
        &self,
        state: &mut TestState,
    ) -> Result<(), CleanupFailureShown> {
        let Self { tests, sources, run, config } = *self;
        let report_event = |event: TestEvent<'_>| tests.observer.on_event(sources, &event);
        report_event(TestEvent::RunTearDown(run, Duration::ZERO));
        let mut diags = Diagnostics::new();
        // The providers of the run have ended, or use its configuration.
        let pool = ProviderPool::new(tests.launcher)
            .with_mocks(config.mocks.clone())
            .watched_by(tests.calls);
        let inputs = OperationInputs {
            config: &config.config,
            sources,
            variables: &config.variables,
            pool: &pool,
        };
        let operation = Operation::new(inputs, tests.host.clone())
            // After a stop request, the providers of the runs end every call.
            .with_provisioners(tests.cleanup_provisioners)
            .with_parallelism(tests.parallelism);
        // Not cancelled by the first interrupt, because that interrupt must not leave objects.
        let options = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
        // The result is in the state and in the diagnostics.
        let work = operation.apply(&mut diags, &mut state.session, PlanSource::New(options));
        let _ = await_with_progress_reports(work, |elapsed| {
            report_event(TestEvent::RunTearDown(run, elapsed));
        })
        .await;
        let leftovers = leftover_objects(&state.session.file.state);
        if diags.is_empty() && leftovers.is_empty() {
            return Ok(());
        }
        let failed = diags.has_errors() || !leftovers.is_empty();
        let path = (!leftovers.is_empty()).then(|| state.state_file_path());
        let can_destroy = config.config.backend().is_none()
            && run.run.module.is_none()
            && run.test_file.providers.is_empty();
        report_event(TestEvent::CleanupFailed {
            run,
            diags: &diags,
            left: &leftovers,
            state: path,
            can_destroy,
        });
        if failed { Err(CleanupFailureShown) } else { Ok(()) }
    }
}

/// The managed objects in a state.
fn leftover_objects(state: &State) -> Vec<LeftoverObject> {
    let mut leftovers = Vec::new();
    // Data sources are dropped with the state.
    let managed =
        state.resources.iter().filter(|(addr, _)| addr.resource.mode() == ResourceMode::Managed);
    for (resource, resource_state) in managed {
        for (key, instance) in &resource_state.instances {
            let addr = resource.instance_addr(key.clone()).to_string();
            if instance.current.is_some() {
                leftovers.push(LeftoverObject { instance: addr.clone(), deposed: None });
            }
            leftovers.extend(instance.deposed.keys().map(|key| LeftoverObject {
                instance: addr.clone(),
                deposed: Some(key.to_string()),
            }));
        }
    }
    leftovers
}
