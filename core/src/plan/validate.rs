//! Checks a configuration with the schemas of its providers, without state and without values:
//! variables and everything that is only known later are unknown.

mod unsupported;
mod visit;

use std::cell::RefCell;
use std::collections::BTreeMap;

use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use self::visit::Checking;
use super::mention;
use super::vertex::Vertex;
use super::{Options, build};
use crate::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey, Reference};
use crate::config::inputs::{self, Input};
use crate::config::{Repetition, import_problem};
use crate::eval::Expansion;
use crate::eval::import::expand_import;
use crate::eval::references::{ReferenceSite, StaticCheck};
use crate::eval::vertex::EvalInputs;
use crate::graph::VertexId;
use crate::graph::walk::{Next, WalkOptions, walk};
use crate::instance::check_provisioner_kinds;
use crate::messages;
use crate::progress::PhaseLog;
use crate::session::{Session, SessionInputs};
use crate::shared_graph::SharedVertex;
use crate::state::State;

/// Configurations that providers accepted without a word, by resource: the very same need not be
/// shown to them again.
#[derive(Debug, Default)]
pub(crate) struct ValidatedConfigs(RefCell<BTreeMap<ConfigResourceAddr, Value>>);

impl ValidatedConfigs {
    /// Whether the provider of a resource accepted this configuration of an instance. It is forgotten
    /// with that, unless there may be other instances: else all of them were kept twice in the end.
    pub(crate) fn take(&self, addr: &InstanceAddr, config: &Value) -> bool {
        let (resource, mut accepted) = (addr.of().config(), self.0.borrow_mut());
        let is_alone = addr.key == InstanceKey::None && addr.module.is_root();
        match is_alone {
            true => accepted.remove(&resource).as_ref() == Some(config),
            false => accepted.get(&resource) == Some(config),
        }
    }
}

/// Validates the configuration of a session before anything is done with it. As in Terraform, planning
/// repeats the warnings of providers.
///
/// # Errors
/// When it is not valid.
pub(super) async fn validate_first(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<ValidatedConfigs, Reported> {
    let mut found = Diagnostics::new();
    let accepted = check_unknown(session, &mut found).await;
    // Planning evaluates the messages of `check` blocks itself.
    let is_of_check =
        |it: &Diagnostic| it.reports(messages::ERROR_MESSAGE_REFERS_TO_SENSITIVE_VALUES);
    for problem in found.into_iter().filter(|it| accepted.is_err() || !is_of_check(it)) {
        let _ = diags.push(problem);
    }
    accepted
}

/// Validates the configuration of a session. Its state, its results and the values of its variables
/// do not count, and it is not watched.
///
/// # Errors
/// When it is not valid. Everything that can be found at once is reported.
pub async fn validate(session: &Session<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let phase = PhaseLog::begin("validate", session.config.nodes.len());
    let checked = check_unknown(session, diags).await;
    phase.end(0);
    session.pool.tell(diags);
    checked.map(drop)
}

/// Checks a configuration as if nothing existed and no variable had a value yet.
async fn check_unknown(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<ValidatedConfigs, Reported> {
    let variables = session.config.root.variables.iter();
    let variables = variables
        .map(|(name, variable)| (name.clone(), Input::of(inputs::unknown_value(variable))))
        .collect();
    let (state, results) = (State::default(), session.results.beside(session.config));
    let ground =
        SessionInputs { state: &state, results: &results, variables: &variables, ..**session };
    check(&session.on(ground), diags).await
}

/// Result of validating a vertex.
enum ValidateOutcome {
    Nothing,
    Values(Vec<Value>),
    Called(Vec<Expansion>),
    Accepted(Value),
}

/// Reports imports into modules that are not called.
fn check_import_modules(session: &Session<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let config = session.config;
    let mut result = Ok(());
    for import in &config.root.imports {
        let module = import.config_addr().module;
        let is_called = config.nodes.iter().any(|node| node.path == module);
        if let Some(problem) = import_problem(config, import).filter(|_| !is_called) {
            result = Err(diags.error(problem));
        }
    }
    result
}

/// Reports imports into resources that are not written.
fn check_unwritten_imports(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    static_check: &StaticCheck<'_>,
) {
    let config = session.config;
    let scope = session.scope(session.results.root()).with_check(Some(static_check));
    for import in &config.root.imports {
        if config.resource(&import.config_addr()).is_some() {
            continue;
        }
        let is_repeated = matches!(import.repetition, Repetition::ForEach(_));
        let _ = match import_problem(config, import) {
            Some(problem) => Err(diags.error(problem)),
            None if is_repeated => expand_import(diags, &scope, config, import).map(drop),
            None => Ok(()),
        };
    }
}

async fn check(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<ValidatedConfigs, Reported> {
    // In stages, as in Terraform: errors of a later stage are mostly consequences of earlier ones.
    check_provisioner_kinds(session, diags)?;
    check_import_modules(session, diags)?;
    session.config.check_calls(diags)?;
    let options = Options::default();
    let mut draft = build::draft(diags, session, &options)?;
    let loaded = build::load(diags, session, &draft).await;
    // Between the two, because it needs the schemas, and its edges could close a cycle that
    // Terraform does not see.
    unsupported::remove_edges(session, &mut draft);
    let graph = build::frozen(diags, session, draft)?;
    // Only now, so that one run reports both missing providers and cycles.
    loaded?;
    let eval_inputs = EvalInputs { checking: true, ..session.eval_inputs() };
    let static_check = |node: usize, site: ReferenceSite<'_>, reference: &Reference| {
        mention::static_problems(session, node, site, reference)
    };
    let static_check: &StaticCheck<'_> = &static_check;
    // By vertex, so that their order does not depend on timing.
    let mut problems: BTreeMap<VertexId, Diagnostics> = BTreeMap::new();
    let mut deprecated: BTreeMap<VertexId, Vec<Diagnostic>> = BTreeMap::new();
    let mut accepted = ValidatedConfigs::default();
    let stop = || session.is_stopped();
    let finishing = session.finishing;
    let pace = WalkOptions { stop: &stop, finishing, ..WalkOptions::at_most(session.parallelism) };
    let walk = walk(
        &graph,
        pace,
        async |_, vertex| {
            let check = mention::is_suspect(session, vertex).then_some(static_check);
            visit(session, EvalInputs { check, ..eval_inputs }, vertex).await
        },
        |id, vertex, (said, found)| {
            // Dependents of an invalid vertex would only repeat its errors.
            let next = if found.is_err() { Next::SkipDependents } else { Next::Go };
            match (vertex, found) {
                (
                    Vertex::SharedVertex(SharedVertex::Value(value)),
                    Ok(ValidateOutcome::Values(found)),
                ) => {
                    value.record(session.results, found);
                }
                (
                    Vertex::SharedVertex(SharedVertex::Call(call)),
                    Ok(ValidateOutcome::Called(found)),
                ) => {
                    call.record(eval_inputs, found);
                }
                (Vertex::Resource(resource), Ok(ValidateOutcome::Accepted(config))) => {
                    accepted.0.get_mut().insert(resource.addr.clone(), config);
                }
                _ => {}
            }
            problems.insert(id, said);
            let mut warnings = mention::deprecated(session, vertex);
            if !warnings.is_empty() {
                unsupported::remove_warnings(session, vertex, &mut warnings);
                deprecated.insert(id, warnings);
            }
            next
        },
    );
    session.pool.tidying(walk).await;
    check_unwritten_imports(session, diags, static_check);
    for said in graph.order().iter().filter_map(|id| problems.remove(id)) {
        let _ = diags.append(said);
    }
    let deprecated = graph.order().iter().filter_map(|id| deprecated.remove(id)).flatten();
    deprecated.for_each(|warning| diags.warn(warning));
    diags.check().map(|()| accepted)
}

async fn visit(
    session: &Session<'_>,
    eval_inputs: EvalInputs<'_>,
    vertex: &Vertex<'_>,
) -> (Diagnostics, Result<ValidateOutcome, Reported>) {
    let mut diags = Diagnostics::new();
    let found = match vertex {
        Vertex::SharedVertex(SharedVertex::Value(value)) => {
            let find = |diags: &mut Diagnostics| value.visit(diags, eval_inputs);
            session.settled(&mut diags, find).await.map(ValidateOutcome::Values)
        }
        Vertex::SharedVertex(SharedVertex::Call(call)) => {
            let find = |diags: &mut Diagnostics| call.visit(diags, eval_inputs);
            session.settled(&mut diags, find).await.map(ValidateOutcome::Called)
        }
        Vertex::SharedVertex(SharedVertex::Provider(provider)) => {
            let check = Checking { session, check: eval_inputs.check };
            check.provider(&mut diags, provider).await.map(|()| ValidateOutcome::Nothing)
        }
        Vertex::Resource(resource) => {
            Checking { session, check: eval_inputs.check }.resource(&mut diags, resource).await
        }
        Vertex::SharedVertex(_) | Vertex::Read(_) | Vertex::Orphan(_) => {
            Ok(ValidateOutcome::Nothing)
        }
    };
    (diags, found)
}
