//! One run of a test file: the plan, the apply, and the assertions on the result.

use std::rc::Rc;
use std::time::{Duration, Instant};

use formwork_core::config::parsed_test_file::{TestCommand, TestRun};
use formwork_core::eval::conditions::{AssertOutcome, check_test_assertions};
use formwork_core::eval::{Results, TestLevel, TestScope, TestValues};
use formwork_core::event::NoEventObserver;
use formwork_core::plan::{
    MissingResourceMeaning, Plan, PlanMode, PlanOptions, evaluate_from_state,
};
use formwork_core::provider::ProviderPool;
use formwork_core::session::Session;
use formwork_core::state::State;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Value};

use super::expected_failures::ExpectedFailures;
use super::provider_configs::with_test_providers;
use super::run_overrides::{
    add_overrides, fresh_seed_for_generated_values, warn_of_unmatched_overrides,
};
use super::states::RunConfig;
use super::variables::RunVariableResolver;
use super::{
    RunOfTestFile, RunResult, ShownPlanOrStateRef, TestEvent, TestFileRunner, TestInputs,
    TestModule, TestStatus,
};
use crate::apply::PlanSource;
use crate::messages;
use crate::operation::{Operation, OperationInputs, PhaseInputs};
use crate::plan::PlanOutcome;
use crate::state_session::StateSession;

/// Interval at which a run that takes long is reported to be in progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// A run that is ready to start.
struct ReadyRun {
    config: Rc<RunConfig>,
    /// The values that its assertions can refer to.
    values: TestValues,
    expected: ExpectedFailures,
}

/// A run in progress.
#[derive(Clone, Copy)]
struct RunJob<'a> {
    tests: TestInputs<'a>,
    sources: &'a Sources,
    run: &'a TestRun,
    config: &'a RunConfig,
    /// The values that its assertions can refer to.
    values: &'a TestValues,
    pool: &'a ProviderPool<'a>,
}

/// A plan to apply.
struct ReadyPlan {
    outcome: PlanOutcome,
    /// Failures that the apply must report.
    expected: ExpectedFailures,
}

/// The result of executing a run.
struct RunJobOutcome {
    status: TestStatus,
    work: Option<ShownPlanOrState>,
    /// The outputs, if there are any results.
    outputs: Option<Value>,
    /// Whether the state may have changed.
    has_applied: bool,
}

enum ShownPlanOrState {
    Plan(Box<Plan>),
    State(State),
}

impl RunJobOutcome {
    fn error_without_results(has_applied: bool) -> Self {
        Self { status: TestStatus::Error, work: None, outputs: None, has_applied }
    }
}

impl TestFileRunner<'_> {
    /// Executes a run, and reports it.
    pub(super) async fn run_and_report(
        &mut self,
        sources: &mut Sources,
        run: &TestRun,
    ) -> RunResult {
        let run_of_file = RunOfTestFile { test_file: self.test_file, run };
        let observer = self.inputs.observer;
        observer.on_event(sources, &TestEvent::RunStarted(run_of_file));
        let (started, clock) = ((self.inputs.host.clock)(), Instant::now());
        let mut result = RunResult::with_status_only(run.name.clone(), TestStatus::Error);
        result.n_asserts = run.asserts.len();
        let ready = self.prepare_run(&mut result.diags, sources, run);
        // Each run configures its own providers, like separate invocations of the program.
        let mut pool = ProviderPool::new(self.inputs.launcher).watched_by(self.inputs.calls);
        if let Ok(ready) = &ready {
            pool = pool.with_mocks(ready.config.mocks.clone());
        }
        let mut outcome = RunJobOutcome::error_without_results(false);
        if let Ok(ready) = ready
            && let Ok(state) = self.states.state_of_run(&mut result.diags, run).await
        {
            let ReadyRun { config, values, expected } = ready;
            let (config_of_run, sources) = (&*config, &*sources);
            let job = RunJob {
                tests: self.inputs,
                sources,
                run,
                config: config_of_run,
                values: &values,
                pool: &pool,
            };
            let report_progress =
                |elapsed| observer.on_event(sources, &TestEvent::RunProgress(run_of_file, elapsed));
            let work = job.execute_run_command(&mut result.diags, &mut state.session, expected);
            outcome = await_with_progress_reports(work, report_progress).await;
            // The last run that changed the state has the configuration that can destroy its
            // objects.
            if outcome.has_applied {
                let run_index =
                    self.test_file.runs.iter().position(|other_run| other_run.name == run.name);
                state.last = run_index.map(|run_index| (run_index, config));
            }
        }
        // The outputs are kept even if assertions of the run fail, because later runs are executed
        // anyway.
        if let Some(outputs) = outcome.outputs {
            self.values.runs.insert(run.name.clone(), outputs);
        }
        result.status = outcome.status;
        result.timing = Some((started, clock.elapsed()));
        let work = outcome.work.as_ref().map(|work| match work {
            ShownPlanOrState::Plan(plan) => (ShownPlanOrStateRef::Plan(plan), &pool),
            ShownPlanOrState::State(state) => (ShownPlanOrStateRef::State(state), &pool),
        });
        observer.on_event(sources, &TestEvent::RunDone { run: run_of_file, result: &result, work });
        result
    }

    /// Evaluates the inputs of a run.
    fn prepare_run(
        &self,
        diags: &mut Diagnostics,
        sources: &mut Sources,
        run: &TestRun,
    ) -> Result<ReadyRun, Reported> {
        let (test_file, inputs) = (self.test_file, self.inputs);
        let TestModule { config, dangling } = self.module_of_run(run);
        warn_of_unmatched_overrides(diags, &[config], &run.overrides);
        diags.append(dangling.clone())?;
        let expected = ExpectedFailures::from_run(diags, run)?;
        let runs: Vec<Str> = test_file.runs.iter().map(|run| run.name.clone()).collect();
        let values = &self.values;
        let variables = RunVariableResolver { inputs, test_file, run, config, values, runs: &runs };
        let variables = variables.resolve(diags, sources)?;
        // Providers may quote these values before the engine has evaluated them.
        let secrets = inputs.launcher.secrets();
        variables.inputs.values().for_each(|input| secrets.add_marked_values(&input.value));
        let scope = TestScope {
            values: &variables.of_file,
            level: TestLevel::Run(&runs),
            world: inputs.host,
        };
        let run = RunOfTestFile { test_file, run };
        let (mut config, mut mocks) = with_test_providers(diags, config, run, &scope)?;
        add_overrides(&mut config, &mut mocks, run);
        // Generated values differ from run to run, as in Terraform.
        mocks.seed = fresh_seed_for_generated_values((inputs.host.clock)(), &run.run.name);
        let config = Rc::new(RunConfig { config, variables: variables.inputs, mocks });
        Ok(ReadyRun { config, values: variables.all, expected })
    }

    /// The module of a run.
    pub(super) fn module_of_run(&self, run: &TestRun) -> &TestModule {
        let key = (self.test_file.path.clone(), run.name.clone());
        let run_module = run.module.as_ref().and_then(|_| self.inputs.run_modules.get(&key));
        run_module.unwrap_or(self.inputs.module)
    }
}

/// Executes work, and periodically reports that it is in progress.
pub(super) async fn await_with_progress_reports<T>(
    work: impl Future<Output = T>,
    report_progress: impl Fn(Duration),
) -> T {
    let clock = Instant::now();
    // The work is polled first, because its end makes a report unnecessary.
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            result = &mut work => return result,
            () = tokio::time::sleep(PROGRESS_INTERVAL) => report_progress(clock.elapsed()),
        }
    }
}

/// Options for the plan of a run.
fn plan_options(diags: &mut Diagnostics, run: &TestRun) -> Result<PlanOptions, Reported> {
    let run_options = &run.options;
    if run_options.refresh_only && !run_options.replace.is_empty() {
        let detail = "The option `replace` is allowed only in runs with the mode `normal`.";
        let summary = messages::REPLACEMENT_IN_REFRESH_ONLY_RUN;
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    if !run_options.targets.is_empty() {
        let detail = "You are creating a plan with the target option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe target option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes.";
        diags.warn(Diagnostic::warning(messages::TARGETING_IN_TEST_RUN, detail));
    }
    Ok(PlanOptions {
        mode: if run_options.refresh_only { PlanMode::RefreshOnly } else { PlanMode::Normal },
        skip_refresh: run_options.skip_refresh,
        targets: run_options.targets.clone(),
        replace: run_options.replace.clone(),
        ..PlanOptions::default()
    })
}

/// The problems of an apply, except for its interruption.
fn without_interruption_errors(diags: Diagnostics) -> Diagnostics {
    let mut remaining = Diagnostics::new();
    for diagnostic in diags
        .into_iter()
        .filter(|diagnostic| !diagnostic.is_about_message(messages::EXECUTION_HALTED))
    {
        let _ = remaining.push(diagnostic);
    }
    remaining
}

impl<'a> RunJob<'a> {
    fn operation(&self) -> Operation<'a> {
        let Self { tests, sources, config, pool, .. } = *self;
        let RunConfig { config, variables, .. } = config;
        let inputs = OperationInputs { config, sources, variables, pool };
        Operation::new(inputs, tests.host.clone())
            .with_provisioners(tests.provisioners)
            .with_parallelism(tests.parallelism)
            .with_cancellation(tests.cancellation.clone())
    }

    /// Whether the cancellation has prevented a complete plan.
    fn is_plan_cut_short_by_cancel(&self, planned: &Result<PlanOutcome, Reported>) -> bool {
        let is_complete = planned.as_ref().is_ok_and(|outcome| !outcome.plan.errored);
        self.tests.cancellation.is_cancelled() && !is_complete
    }

    /// Creates the plan, and applies it if the run has the command `apply`.
    async fn execute_run_command(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        expected: ExpectedFailures,
    ) -> RunJobOutcome {
        let operation = self.operation();
        let Ok(options) = plan_options(diags, self.run) else {
            return RunJobOutcome::error_without_results(false);
        };
        let mut plan_diags = Diagnostics::new();
        let planned = operation.plan(&mut plan_diags, session, options).await;
        if self.is_plan_cut_short_by_cancel(&planned) {
            // A partial plan cannot be checked against assertions or expected failures.
            let _ = diags.append(plan_diags);
            let detail = "The run was interrupted while it was planned, and has changed nothing.";
            let _ = diags.error(Diagnostic::error(messages::EXECUTION_HALTED, detail));
            return RunJobOutcome::error_without_results(false);
        }
        match self.run.command {
            TestCommand::Plan => {
                // A plan with expected failures is checked as far as it was completed.
                let failed = diags.append(expected.judge_diagnostics(plan_diags)).is_err();
                match planned {
                    Ok(outcome) if !failed => {
                        self.check_planned_assertions(
                            diags,
                            &operation,
                            &session.file.state,
                            outcome,
                        )
                        .await
                    }
                    // All reported failures are expected.
                    Err(_) if !failed => RunJobOutcome {
                        status: TestStatus::Pass,
                        ..RunJobOutcome::error_without_results(false)
                    },
                    _ => RunJobOutcome::error_without_results(false),
                }
            }
            TestCommand::Apply => {
                let mut expected = expected;
                let mut plan_diags = expected.explain_blocked_apply(plan_diags);
                if plan_diags.has_errors() {
                    let _ = diags.append(plan_diags);
                    return RunJobOutcome::error_without_results(false);
                }
                // The apply evaluates the checks again.
                plan_diags.drop_check_warnings();
                let _ = diags.append(plan_diags);
                let Ok(outcome) = planned else {
                    return RunJobOutcome::error_without_results(false);
                };
                let planned = ReadyPlan { outcome, expected };
                self.apply_and_check_assertions(diags, &operation, session, planned).await
            }
        }
    }

    async fn check_planned_assertions(
        &self,
        diags: &mut Diagnostics,
        operation: &Operation<'_>,
        state: &State,
        outcome: PlanOutcome,
    ) -> RunJobOutcome {
        let PlanOutcome { plan, mut results, .. } = outcome;
        results.null_unknown_parts_of_outputs();
        let world = operation.host_values(false);
        let phase =
            PhaseInputs { state, results: &results, world: &world, watch: &NoEventObserver };
        let engine = operation.engine_session(phase);
        // A provider function may hang.
        let status =
            operation.run_with_graceful_cancel(self.check_assertions(diags, &engine)).await;
        let outputs = Some(results.root().output_object());
        RunJobOutcome {
            status,
            work: Some(ShownPlanOrState::Plan(Box::new(plan))),
            outputs,
            has_applied: false,
        }
    }

    async fn apply_and_check_assertions(
        &self,
        diags: &mut Diagnostics,
        operation: &Operation<'_>,
        session: &mut StateSession,
        planned: ReadyPlan,
    ) -> RunJobOutcome {
        let ReadyPlan { outcome, expected } = planned;
        let mut apply_diags = Diagnostics::new();
        let source = PlanSource::Made(Box::new(outcome));
        let applied = operation.apply(&mut apply_diags, session, source).await;
        // An interrupt that arrived during the last change has prevented nothing.
        if applied.is_ok_and(|outcome| outcome.is_complete) {
            apply_diags = without_interruption_errors(apply_diags);
        }
        let failed = diags.append(expected.judge_diagnostics(apply_diags)).is_err();
        // An expected failure also ends an apply early.
        // The state contains the completed changes anyway, for the cleanup.
        if failed || applied.is_err() {
            return RunJobOutcome::error_without_results(true);
        }
        // Evaluated again on the whole state, because an apply evaluates only what its changes
        // require.
        let (state, results) = (&session.file.state, Results::new(&self.config.config));
        let world = operation.host_values(true);
        let phase =
            PhaseInputs { state, results: &results, world: &world, watch: &NoEventObserver };
        let engine = operation.engine_session(phase);
        // The apply has reported the errors of conditions.
        let missing = MissingResourceMeaning::MayBeEmpty;
        let checking = async {
            let _ = evaluate_from_state(&engine, &mut Diagnostics::new(), missing).await;
            self.check_assertions(diags, &engine).await
        };
        let status = operation.run_with_graceful_cancel(checking).await;
        let outputs = Some(results.root().output_object());
        RunJobOutcome {
            status,
            work: Some(ShownPlanOrState::State(state.clone())),
            outputs,
            has_applied: true,
        }
    }

    /// Evaluates the assertions.
    async fn check_assertions(&self, diags: &mut Diagnostics, engine: &Session<'_>) -> TestStatus {
        let scope = engine.module_scope(engine.results.root()).with_test_values(self.values);
        let judge =
            |diags: &mut Diagnostics| Ok(check_test_assertions(diags, &scope, &self.run.asserts));
        match engine.evaluate_with_functions(diags, judge).await {
            Ok(AssertOutcome::Pass) => TestStatus::Pass,
            Ok(AssertOutcome::Fail) => TestStatus::Fail,
            Ok(AssertOutcome::Error) | Err(_) => TestStatus::Error,
        }
    }
}
