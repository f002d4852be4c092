//! `formwork apply` and `formwork destroy`: makes the changes, after showing them.

use std::path::Path;

use formwork_backend::OpenState;
use formwork_core::addr;
use formwork_core::apply::{Applied, ChangeCounts, apply};
use formwork_core::eval::Results;
use formwork_core::plan::{Mode, Options, Plan};
use formwork_core::provider::Pool;
use formwork_core::state::journal::{Journal, RunHeader};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::interrupt::{Interrupt, guarded};
use super::operation::{PhaseInputs, PrepareOptions, Prepared, may_ask, options, warn_of_place};
use super::plan::{Making, make_around_open, prepare};
use super::planfile::{self, ToApply};
use super::question::{Prompt, Unanswered, ask};
use super::state_session::StateSession;
use super::unmatched::UnmatchedOptions;
use crate::args::{ApplyArgs, StatePlace, at_once};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::report::{Done, Report};
use crate::view::{self, Screen};
use crate::workspace::Workspace;

/// Purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplyPurpose {
    /// The real objects become as they are written.
    Apply,
    /// The real objects go.
    Destroy,
    /// The state is brought up to date, without a word about what that changes.
    Refresh,
}

/// Runs the command.
pub(super) async fn run(args: &ApplyArgs, env: &Env, purpose: ApplyPurpose) -> Exit {
    let destroying = purpose == ApplyPurpose::Destroy;
    let screen = Screen::of(env);
    let report = Report::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    if let Err(_reported) = check(&mut diags, args, purpose) {
        return report.failed(None, &diags);
    }
    let prepared = match &args.plan {
        Some(path) => match planfile::prepare(&mut diags, env, to_apply(path, args)) {
            Ok((prepared, _)) if destroying => {
                let _ = diags.error(no_plan_to_destroy());
                Err(Some(Box::new(prepared.workspace)))
            }
            prepared => {
                prepared.map(|(prepared, saved)| (prepared, PlanSource::Saved(Box::new(saved))))
            }
        },
        None => fresh(&mut diags, env, args, purpose, &screen).await,
    };
    let (prepared, wanted) = match prepared {
        Ok(both) => both,
        Err(workspace) => return report.failed(workspace.as_deref(), &diags),
    };
    let place = match &wanted {
        PlanSource::Fresh(_) => args.state.place(),
        PlanSource::Saved(saved) => saved.place(args.state.place()),
    };
    let store = open(&mut diags, &prepared, &wanted, &place).await;
    let Ok(store) = store else { return report.failed(Some(&prepared.workspace), &diags) };
    let locked =
        StateSession::open(&mut diags, store, &args.state.lock, "OperationTypeApply").await;
    let Ok(mut locked) = locked else { return report.failed(Some(&prepared.workspace), &diags) };
    let pool = Pool::new(&prepared.launcher);
    let interrupt = Interrupt::default();
    let command = Run {
        args,
        purpose,
        place: &place,
        report: &report,
        prepared: &prepared,
        pool: &pool,
        interrupt: &interrupt,
    };
    let work = command.work(&mut diags, &mut locked, wanted);
    let Some(exit) = guarded(work, (&pool, &prepared), &interrupt).await else {
        return Exit::Failed;
    };
    prepared.launcher.shutdown(&mut diags).await;
    locked.close(&mut diags).await;
    report.diagnostics(&prepared.workspace.sources, &diags);
    match exit {
        Ok(exit) if !diags.has_errors() => exit,
        _ => Exit::Failed,
    }
}

/// Opens the state: in the backend that a saved plan names, else in that of the configuration.
async fn open(
    diags: &mut Diagnostics,
    prepared: &Prepared<'_>,
    wanted: &PlanSource,
    place: &StatePlace,
) -> Result<OpenState, Reported> {
    if let PlanSource::Saved(saved) = wanted
        && let Some(backend) = saved.backend(diags)?
    {
        return prepared.workspace.store_in(diags, &backend, place).await;
    }
    prepared.workspace.warn_of_backend(diags, prepared.config.backend());
    prepared.workspace.store(diags, prepared.config.backend(), place).await
}

fn check(diags: &mut Diagnostics, args: &ApplyArgs, purpose: ApplyPurpose) -> Result<(), Reported> {
    if args.json && args.plan.is_none() && !args.auto_approve {
        return Err(diags.error(Diagnostic::error(
            "Plan file or auto-approve required",
            "Formwork cannot ask for interactive approval when -json is set. You can either apply a saved plan file, or enable the -auto-approve option.",
        )));
    }
    let mode =
        [(args.operation.destroy, "-destroy"), (args.operation.refresh_only, "-refresh-only")];
    let given = mode.into_iter().find(|(given, _)| *given && purpose == ApplyPurpose::Destroy);
    if let Some((_, option)) = given {
        let detail = format!(
            "The option {option} is not valid for `formwork destroy`, which plans to destroy everything."
        );
        return Err(diags.error(Diagnostic::error("Invalid mode option", detail)));
    }
    Ok(())
}

fn to_apply<'a>(path: &'a Path, args: &'a ApplyArgs) -> ToApply<'a> {
    ToApply { path, sources: &args.variables.sources, allow_foreign: args.allow_foreign_plan }
}

fn no_plan_to_destroy() -> Diagnostic {
    Diagnostic::error(
        "Destroy can't be called with a plan file",
        "If this plan was created using plan -destroy, apply it using:\n  formwork apply PLAN",
    )
}

/// Says that the plan left something out.
fn warn_of_limits(diags: &mut Diagnostics, plan: &Plan) {
    let option = if plan.targets.is_empty() { "-exclude" } else { "-target" };
    if plan.is_limited_by_user() {
        let detail = format!(
            "The plan was made with the option {option}, so some changes that the configuration asks for may have been left out, and the values of outputs may not be up to date. To see what is left to do, run:\n    formwork plan"
        );
        diags.warn(Diagnostic::warning("Applied changes may be incomplete", detail));
    }
}

/// Plan to apply.
enum PlanSource {
    /// A plan that is still to be made.
    Fresh(Options),
    /// A plan that was saved.
    Saved(Box<planfile::Saved>),
}

type Ready<'e> = (Prepared<'e>, PlanSource);

async fn fresh<'e>(
    diags: &mut Diagnostics,
    env: &'e Env,
    args: &ApplyArgs,
    purpose: ApplyPurpose,
    screen: &Screen,
) -> Result<Ready<'e>, Option<Box<Workspace<'e>>>> {
    let options =
        options(diags, &args.operation, purpose == ApplyPurpose::Destroy).map_err(|_| None)?;
    warn_of_place(diags, &args.state);
    let preparing = PrepareOptions {
        sources: &args.variables.sources,
        place: &args.state.place(),
        needs_config: options.mode != Mode::Destroy && purpose != ApplyPurpose::Refresh,
        generate: false,
        ask: (!args.json && may_ask(env, args.operation.input)).then_some(screen),
        fills: None,
    };
    prepare(diags, env, &preparing).await.map(|prepared| (prepared, PlanSource::Fresh(options)))
}

/// One run of the command, once everything is ready.
struct Run<'a> {
    args: &'a ApplyArgs,
    purpose: ApplyPurpose,
    place: &'a StatePlace,
    report: &'a Report,
    prepared: &'a Prepared<'a>,
    pool: &'a Pool<'a>,
    interrupt: &'a Interrupt,
}

impl Run<'_> {
    async fn work(
        &self,
        diags: &mut Diagnostics,
        locked: &mut StateSession,
        wanted: PlanSource,
    ) -> Result<Exit, Reported> {
        let mut held = locked.file.state.resources.keys();
        let is_empty = !held.any(|addr| addr.resource.mode() == addr::Mode::Managed);
        if self.purpose == ApplyPurpose::Refresh && is_empty {
            diags.warn(Diagnostic::warning(
                "Empty or non-existent state",
                "The state holds no objects, so there is nothing to bring up to date.",
            ));
        }
        // Before any provider is asked anything: it also shows that what is done can be written down.
        locked.store.check_writable().map_err(|error| diags.error(error.diagnostic()))?;
        if self.purpose != ApplyPurpose::Refresh {
            locked.stop_at_damage(diags).await?;
        }
        let begin = RunHeader {
            operation: "OperationTypeApply",
            base: &locked.file,
            read_from: locked.store.read_from(),
        };
        let journal = locked.intents.begin(begin).await;
        let journal = journal.map_err(|error| diags.error(error.diagnostic()))?;
        if let Some(reason) = locked.intents.local_only() {
            diags.warn(kept_here(&reason));
        }
        let (plan, open) = match self.settle(diags, locked, wanted).await {
            Ok(Some(settled)) => settled,
            nothing => {
                self.end(diags, journal).await;
                return nothing.map(|_| Exit::Failed);
            }
        };
        if self.purpose != ApplyPurpose::Refresh
            && let Err(reported) = locked.claim(diags, &plan, journal.run()).await
        {
            self.end(diags, journal).await;
            return Err(reported);
        }
        let done = match self.purpose {
            ApplyPurpose::Refresh => self.refresh(diags, locked, (plan, journal)).await,
            ApplyPurpose::Apply | ApplyPurpose::Destroy => {
                let applied = self.apply(diags, locked, (&plan, journal)).await;
                applied.map(|applied| self.done(diags, locked, (&plan, applied)))
            }
        };
        for problem in open {
            let _ = diags.error(problem);
        }
        done
    }

    /// Reports a run that came to its end.
    fn done(
        &self,
        diags: &mut Diagnostics,
        locked: &StateSession,
        (plan, (tally, complete)): (&Plan, (ChangeCounts, bool)),
    ) -> Exit {
        warn_of_limits(diags, plan);
        if !diags.has_errors() {
            self.warn(diags);
            let done = Done {
                tally,
                // `apply` applies, whatever the plan does.
                destroying: self.purpose == ApplyPurpose::Destroy,
                out: self.place.out.as_deref(),
            };
            self.report.applied(&done, &locked.file.state);
        }
        if complete { Exit::Done } else { Exit::Failed }
    }

    /// Stores the state that the plan starts from, and reports the outputs in it.
    async fn refresh(
        &self,
        diags: &mut Diagnostics,
        locked: &mut StateSession,
        (plan, journal): (Plan, Journal),
    ) -> Result<Exit, Reported> {
        locked.file.state = plan.prior;
        if let Err(error) = journal.snapshot(&locked.file).await {
            let _ = diags.error(error.diagnostic());
        }
        if locked.save(diags).await.is_ok() {
            self.end(diags, journal).await;
        }
        diags.check()?;
        self.warn(diags);
        self.report.refreshed(&locked.file.state);
        Ok(Exit::Done)
    }

    /// Settles the plan: makes it if it is still to be made, and has it approved. Returns nothing
    /// if it came to no end. Returns also the errors with which the run ends: those for operations
    /// that the plan left open.
    async fn settle(
        &self,
        diags: &mut Diagnostics,
        locked: &mut StateSession,
        wanted: PlanSource,
    ) -> Result<Option<(Plan, Vec<Diagnostic>)>, Reported> {
        let config = &self.prepared.config;
        locked.follow_moves(config);
        let mut options = match wanted {
            PlanSource::Saved(saved) => {
                let recovered = locked.recovered();
                let plan = saved.check(diags, (&locked.file, recovered.as_deref()))?;
                locked.take_evidence(diags, &plan);
                let open = locked.let_through(diags, &plan, config)?;
                self.report.begin(&plan);
                return Ok(Some((plan, open)));
            }
            PlanSource::Fresh(options) => options,
        };
        options.interrupted = locked.interrupted();
        let results = Results::new(config);
        let mut unmatched = UnmatchedOptions::before_plan(config, &locked.file.state, &options);
        self.report.diagnostics(&self.prepared.workspace.sources, &unmatched.warnings());
        let making = Making {
            results: &results,
            state: &locked.file.state,
            options: &options,
            watch: self.report.watch(),
            parallelism: at_once(self.args.operation.parallelism),
            stop: self.interrupt.flag(),
        };
        let (plan, _) = make_around_open(diags, (self.prepared, self.pool), making, locked).await?;
        unmatched.after_plan(diags, (config, &locked.file.state, &options), &results);
        locked.take_evidence(diags, &plan);
        if self.purpose != ApplyPurpose::Refresh {
            self.report.plan(&plan, self.pool);
        }
        diags.check()?;
        if plan.errored {
            return Ok(None);
        }
        let open = locked.let_through(diags, &plan, config)?;
        // `refresh` changes no object, so there is nothing to ask for.
        let asks =
            self.purpose != ApplyPurpose::Refresh && plan.alters() && !self.args.auto_approve;
        if !asks {
            // Results of checks help the user to decide; without a decision, only their results
            // after the apply count.
            diags.drop_checks();
        }
        self.warn(diags);
        if asks {
            self.approve(diags, plan.mode, &unmatched.reminder()).await?;
        }
        Ok(Some((plan, open)))
    }

    /// Shows the warnings there are so far, where they help: before what they are about goes on.
    fn warn(&self, diags: &mut Diagnostics) {
        let warnings = std::mem::take(diags);
        self.report.diagnostics(&self.prepared.workspace.sources, &warnings);
    }

    /// Asks whether to go on, after what there is to be reminded of.
    async fn approve(
        &self,
        diags: &mut Diagnostics,
        mode: Mode,
        reminder: &str,
    ) -> Result<(), Reported> {
        let env = self.prepared.workspace.env;
        let screen = self.report.screen();
        // A pipe may answer, as `yes |` does, unless questions were ruled out.
        if !(env.input && self.args.operation.input) {
            return Err(diags.error(Diagnostic::error(
                "Approval cannot be asked for",
                "These actions need an approval, but questions are not allowed here. Use -auto-approve to go ahead without one, or apply a saved plan.",
            )));
        }
        let (title, about) = match mode {
            Mode::Destroy => (
                "Do you really want to destroy all resources?",
                "Formwork will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to confirm.",
            ),
            Mode::RefreshOnly => (
                "Would you like to update the state to reflect these detected changes?",
                "Formwork will write these changes to the state without modifying any real infrastructure.\nThere is no undo. Only 'yes' will be accepted to confirm.",
            ),
            Mode::Normal => (
                "Do you want to perform these actions?",
                "Formwork will perform the actions described above.\nOnly 'yes' will be accepted to approve.",
            ),
        };
        view::out("\n");
        let about = &format!("{reminder}{about}");
        let question = Prompt { title, about, secret: false };
        // An interrupt during planning does not wait for an answer.
        let answer = match self.interrupt.flag().get() {
            true => Err(Unanswered::Interrupted),
            false => ask(screen, question).await,
        };
        match answer {
            Ok(answer) if answer == "yes" => return Ok(()),
            Err(Unanswered::Interrupted) => {
                let detail = "The run was interrupted before it was approved. Nothing was changed.";
                return Err(diags.error(Diagnostic::error("Error asking for approval", detail)));
            }
            Ok(_) | Err(Unanswered::Ended) => {}
        }
        let what = if mode == Mode::Destroy { "Destroy cancelled" } else { "Apply cancelled" };
        Err(diags.error(Diagnostic::error(what, "Nothing was changed.")))
    }

    /// Applies the plan and stores the state. Returns the number of changes made, and whether
    /// everything was done.
    async fn apply(
        &self,
        diags: &mut Diagnostics,
        locked: &mut StateSession,
        (plan, journal): (&Plan, Journal),
    ) -> Result<(ChangeCounts, bool), Reported> {
        let results = Results::new(&self.prepared.config);
        let world = self.prepared.world(true);
        // A run that is cut off must not leave an empty file in the place of the first state.
        let is_first = !locked.store.is_in_place();
        let must_store =
            plan.must_store_prior_state(&locked.file.state) || locked.must_store_refreshed(plan);
        if is_first || locked.has_taken_over() || must_store {
            let stored = self.store_ground(diags, locked, (plan, &journal)).await;
            if let Err(reported) = stored {
                // Nothing was done yet that another run would have to take over.
                self.end(diags, journal).await;
                return Err(reported);
            }
        }
        let session = self.prepared.session(PhaseInputs {
            state: &locked.file.state,
            pool: self.pool,
            results: &results,
            world: &world,
            watch: self.report.watch(),
            parallelism: at_once(self.args.operation.parallelism),
            stop: self.interrupt.flag(),
        });
        let applied = match apply(&session, diags, plan, &journal).await {
            Ok(applied) => applied,
            Err(reported) => {
                self.end(diags, journal).await;
                return Err(reported);
            }
        };
        let Applied { state, checks, tally, complete } = applied;
        // Said before it is stored, so that a crash between the two does not replay what is there.
        locked.file.state = state;
        locked.file.check_results = checks.to_json();
        if let Err(error) = journal.snapshot(&locked.file).await {
            let _ = diags.error(error.diagnostic());
        }
        if locked.save(diags).await.is_ok() {
            self.end(diags, journal).await;
        }
        if self.interrupt.flag().get() {
            let _ = diags.error(Diagnostic::error(
                "execution halted",
                "The run was interrupted. What was done is in the state.",
            ));
        }
        Ok((tally, complete))
    }

    /// Stores the state that the plan starts from, and the findings about earlier runs.
    async fn store_ground(
        &self,
        diags: &mut Diagnostics,
        locked: &mut StateSession,
        (plan, journal): (&Plan, &Journal),
    ) -> Result<(), Reported> {
        locked.file.state = plan.prior.clone();
        let said = journal.snapshot(&locked.file).await;
        said.map_err(|error| diags.error(error.diagnostic()))?;
        locked.write(diags).await
    }

    async fn end(&self, diags: &mut Diagnostics, journal: Journal) {
        if let Err(error) = journal.end().await {
            let _ = diags.error(error.diagnostic());
        }
    }
}

/// Warns that only this machine has the intents of a run, although its state is shared.
fn kept_here(reason: &str) -> Diagnostic {
    let detail = format!(
        "{reason}. If this machine is lost while this run goes on, what it did since it began is \
         not known anywhere else. `docs/backends.md` says what the backend needs to keep it."
    );
    Diagnostic::warning("The journal of this run is kept on this machine only", detail)
}
