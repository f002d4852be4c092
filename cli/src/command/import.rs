//! `formwork import`: an object that is there already belongs to an instance from now on.

use std::iter;
use std::path::Path;

use formwork_core::addr::{InstanceAddr, Mode as ResourceMode, ResourceAddr, Target};
use formwork_core::change::ImportKey;
use formwork_core::config::Config;
use formwork_core::eval::Results;
use formwork_core::moved;
use formwork_core::plan::{Adoption, Mode, Options, Plan};
use formwork_core::provider::Pool;
use formwork_core::state::State;
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::interrupt::{Interrupt, guarded};
use super::operation::{Filling, PrepareOptions, Prepared, may_ask};
use super::plan::{Making, make};
use super::state_session;
use crate::args::{FindingArgs, ImportArgs, StateArgs, at_once};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::human::importing::Importing;
use crate::view::report::Report;
use crate::view::{Paint, Screen, out};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &ImportArgs, env: &Env) -> Exit {
    let taking = ImportCommand {
        finding: &args.finding,
        state: &args.state,
        address: &args.address,
        config: args.config.as_deref(),
        operation: "import",
        must_be_written: true,
    };
    let done = taking
        .run(env, async |diags, finder, locked| {
            let addr = address(diags, &args.address)?;
            let (import_key, unwritten) = (ImportKey::Id(args.id.as_str().into()), None);
            finder
                .take_in(diags, locked, &addr, Adoption { import_key, all: true, unwritten })
                .await?;
            locked.recovery.iter_mut().for_each(|recovery| {
                recovery.decide(&addr, "imported by the user");
            });
            locked.save(diags).await
        })
        .await;
    if done == Exit::Done {
        let screen = Screen::of(env);
        let title = screen.paint(Paint::Green, "Import successful!");
        out(&format!(
            "\n{title}\n\nThe resources that were imported are shown above. These resources are now in\nyour Formwork state and will henceforth be managed by Formwork.\n\n"
        ));
    }
    done
}

/// Reads the address of an instance of a managed resource.
///
/// # Errors
/// When it is none.
pub(super) fn address(diags: &mut Diagnostics, text: &str) -> Result<InstanceAddr, Reported> {
    let addr: InstanceAddr = text.parse().map_err(|error| {
        let detail = format!("{text:?} is not the address of a resource instance: {error}");
        diags.error(Diagnostic::error("Invalid address", detail))
    })?;
    if addr.resource.mode() != ResourceMode::Managed {
        let summary = "A managed resource address is required. Importing into a data resource is not allowed.";
        let detail = format!("{addr} does not name an instance of a managed resource.");
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    Ok(addr)
}

/// A command that takes something into the state.
#[derive(Clone, Copy)]
pub(super) struct ImportCommand<'a> {
    pub(super) finding: &'a FindingArgs,
    pub(super) state: &'a StateArgs,
    /// Address to import to, as given by the user.
    pub(super) address: &'a str,
    /// The folder of the configuration, if it is not the working folder.
    pub(super) config: Option<&'a Path>,
    /// Name of the operation, as in the lock.
    pub(super) operation: &'static str,
    /// Whether there must be a block for it.
    pub(super) must_be_written: bool,
}

impl ImportCommand<'_> {
    /// Gets ready, does the work and puts everything away.
    pub(super) async fn run(
        &self,
        env: &Env,
        work: impl AsyncFnOnce(
            &mut Diagnostics,
            &ObjectFinder<'_>,
            &mut StateSession,
        ) -> Result<(), Reported>,
    ) -> Exit {
        let Self { finding, state, config, operation, must_be_written, .. } = *self;
        let screen = Screen::of(env);
        let report = Report::new(screen, false, env.compact_warnings);
        let mut diags = Diagnostics::new();
        // If the block need not be written, a wrong address is reported later.
        let fills = match must_be_written {
            true => match address(&mut diags, self.address) {
                Ok(addr) => Some(addr),
                Err(_) => return report.failed(None, &diags),
            },
            false => self.address.parse().ok(),
        };
        let fills = fills.as_ref().map(|addr| Filling { addr, must_be_written });
        let place = state.place();
        let preparing = PrepareOptions {
            sources: &finding.variables.sources,
            place: &place,
            needs_config: must_be_written,
            generate: false,
            ask: may_ask(env, finding.input).then_some(&screen),
            fills,
        };
        let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
            return report.failed(None, &diags);
        };
        if let Some(folder) = config {
            workspace.config_folder = folder.to_owned();
        }
        let prepared = match Prepared::prepare(&mut diags, workspace, &preparing).await {
            Ok(prepared) => prepared,
            Err((workspace, _)) => return report.failed(Some(&workspace), &diags),
        };
        let store = prepared.workspace.store(&mut diags, prepared.config.backend(), &place).await;
        let Ok(store) = store else { return report.failed(Some(&prepared.workspace), &diags) };
        let locked = state_session::open(&mut diags, store, &state.lock, operation).await;
        let Ok(mut locked) = locked else {
            return report.failed(Some(&prepared.workspace), &diags);
        };
        locked.follow_moves(&prepared.config);
        let pool = Pool::new(&prepared.launcher);
        let interrupt = Interrupt::default();
        let finder = ObjectFinder {
            prepared: &prepared,
            pool: &pool,
            report: &report,
            screen,
            interrupt: &interrupt,
            parallelism: at_once(finding.parallelism),
        };
        let work = work(&mut diags, &finder, &mut locked);
        let Some(done) = guarded(work, (&pool, &prepared), &interrupt).await else {
            return Exit::Failed;
        };
        prepared.launcher.shutdown(&mut diags).await;
        locked.close(&mut diags).await;
        report.diagnostics(&prepared.workspace.sources, &diags);
        if done.is_err() || diags.has_errors() { Exit::Failed } else { Exit::Done }
    }
}

/// Finds objects.
pub(super) struct ObjectFinder<'a> {
    prepared: &'a Prepared<'a>,
    pool: &'a Pool<'a>,
    report: &'a Report,
    screen: Screen,
    interrupt: &'a Interrupt,
    parallelism: usize,
}

impl ObjectFinder<'_> {
    /// Asks the providers for the objects that interrupted runs may have made. Nothing is taken in: the
    /// plan says what was found.
    ///
    /// # Errors
    /// When the configuration has errors, or a provider does not answer.
    pub(super) async fn ask_for_open(
        &self,
        diags: &mut Diagnostics,
        locked: &StateSession,
    ) -> Result<Plan, Reported> {
        let interrupted = locked.interrupted();
        let options = Options {
            skip_refresh: true,
            targets: interrupted.keys().cloned().map(Target::Instance).collect(),
            interrupted,
            ..Options::default()
        };
        let making = Making {
            results: &Results::new(&self.prepared.config),
            state: &locked.file.state,
            options: &options,
            watch: self.report.watch(),
            parallelism: self.parallelism,
            stop: self.interrupt.flag(),
        };
        let plan = make(diags, self.prepared, self.pool, making).await?;
        diags.check().map(|()| plan)
    }

    /// Finds an object, or several, and takes them into the state, which is not stored yet.
    ///
    /// # Errors
    /// When the place is taken or not there, or the provider finds nothing.
    pub(super) async fn take_in(
        &self,
        diags: &mut Diagnostics,
        locked: &mut StateSession,
        addr: &InstanceAddr,
        adoption: Adoption,
    ) -> Result<(), Reported> {
        if self.is_taken(&locked.file.state, addr) {
            let detail = format!(
                "Formwork is already managing a remote object for {addr}. To import to this address you must first remove the existing object from the state."
            );
            let summary = "Resource already managed by Formwork";
            return Err(diags.error(Diagnostic::error(summary, detail)));
        }
        // As in Terraform, `import` evaluates the whole configuration and reads its data sources.
        let is_import = adoption.all;
        let options = Options {
            mode: Mode::RefreshOnly,
            skip_refresh: true,
            targets: if is_import { vec![] } else { vec![Target::Instance(addr.clone())] },
            adoptions: [(addr.clone(), adoption)].into(),
            ..Options::default()
        };
        let (screen, others) = (self.screen, self.report.watch());
        let watch = Importing { screen, others };
        let making = Making {
            results: &Results::new(&self.prepared.config),
            state: &locked.file.state,
            options: &options,
            watch: &watch,
            parallelism: self.parallelism,
            stop: self.interrupt.flag(),
        };
        let plan = make(diags, self.prepared, self.pool, making).await?;
        diags.check()?;
        let resource = plan.prior.resources.get(&addr.of());
        let object = plan.prior.current(addr);
        let (Some(resource), Some(object)) = (resource, object) else {
            let detail = format!("The run was interrupted before {addr} was found.");
            return Err(diags.error(Diagnostic::error("execution halted", detail)));
        };
        // Further objects that the id stands for have addresses of their own, which were free until
        // now.
        let along = (1..).map(|number| addr.numbered(number));
        let found = along.map_while(|addr| {
            let object = plan.prior.current(&addr)?;
            locked.file.state.current(&addr).is_none().then_some((addr, object))
        });
        let found: Vec<_> = iter::once((addr.clone(), object)).chain(found).collect();
        for (addr, object) in found {
            let held = locked.file.state.resource_mut(addr.of(), &resource.provider);
            held.instances.or_default(&addr.key).current = Some(object.clone());
        }
        let state = &mut locked.file.state;
        state.outputs.clone_from(&plan.prior.outputs);
        if is_import {
            let unknown = plan.unknown_outputs();
            state.outputs.extend(unknown.map(|(name, output)| (name.clone(), output)));
            let is_data = |addr: &ResourceAddr| addr.resource.mode() == ResourceMode::Data;
            state.resources.retain(|addr, _| !is_data(addr));
            let read = plan.prior.resources.iter().filter(|(addr, _)| is_data(addr));
            state.resources.extend(read.map(|(addr, held)| (addr.clone(), held.clone())));
        }
        Ok(())
    }

    /// The written configuration.
    pub(super) fn config(&self) -> &Config {
        &self.prepared.config
    }

    /// Whether something is at an address, or moves there with the next plan.
    pub(super) fn is_taken(&self, state: &State, addr: &InstanceAddr) -> bool {
        state.current(addr).is_some() || moved::after(self.config(), state).current(addr).is_some()
    }
}

/// Makes sure that what is to be imported has a block.
///
/// # Errors
/// When it has none.
pub(super) fn check_place(
    diags: &mut Diagnostics,
    config: &Config,
    addr: &InstanceAddr,
) -> Result<(), Reported> {
    let Some(node) = config.node(&addr.module.path()) else {
        let detail = format!(
            "{} is not defined in the configuration. Please add configuration for this module before importing into it.",
            addr.module
        );
        return Err(diags.error(Diagnostic::error("Import to non-existent module", detail)));
    };
    if !node.module.resources.contains_key(&addr.resource) {
        let module = match addr.module.is_root() {
            true => "the root module".to_owned(),
            false => addr.module.to_string(),
        };
        let detail = format!(
            "Before importing this resource, please create its configuration in {module}. For example:\n\nresource {:?} {:?} {{\n  # (resource arguments)\n}}",
            addr.resource.kind(),
            addr.resource.name(),
        );
        let summary =
            format!("resource address {:?} does not exist in the configuration.", addr.to_string());
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    Ok(())
}
