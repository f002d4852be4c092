//! Checks a configuration with the schemas of its providers, without state and without values:
//! variables and everything that is only known later are unknown.

mod unsupported_references;

use std::collections::BTreeMap;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::PlanOptions;
use super::attribute_references;
use super::transform::{PlanGraphBuilder, freeze_draft, load_providers};
use super::validated_configs::ValidatedConfigs;
use super::vertex::{PlanVertex, ValidationOutcome, ValidationRecorder};
use crate::addr::Reference;
use crate::config::inputs::{self, ResolvedVariable};
use crate::config::{Repetition, import_problem};
use crate::eval::check_references::{ReferenceLocation, StaticReferenceCheck};
use crate::eval::import::expand_import;
use crate::eval::vertex::EvalInputs;
use crate::graph::VertexId;
use crate::graph::walk::{DependentsDecision, WalkOptions, walk_graph};
use crate::instance_steps::check_provisioner_kinds;
use crate::messages;
use crate::progress::PhaseLog;
use crate::session::{Session, SessionInputs};
use crate::shared_graph::ValidationContext;
use crate::state::State;

/// Validates the configuration of a session before anything is done with it. As in Terraform, planning
/// repeats the warnings of providers.
///
/// # Errors
/// Returns an error if the configuration is invalid.
pub(super) async fn validate_before_plan(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<ValidatedConfigs, Reported> {
    let mut validation_diags = Diagnostics::new();
    let accepted = validate_with_unknowns(session, &mut validation_diags).await;
    // Planning evaluates the messages of `check` blocks itself.
    let is_of_check =
        |it: &Diagnostic| it.is_about_message(messages::ERROR_MESSAGE_REFERS_TO_SENSITIVE_VALUES);
    for problem in validation_diags.into_iter().filter(|it| accepted.is_err() || !is_of_check(it)) {
        let _ = diags.push(problem);
    }
    accepted
}

/// Validates the configuration of a session. Its state, its results and the values of its variables
/// do not count, and it is not watched.
///
/// # Errors
/// Returns an error if the configuration is invalid. All errors that can be found in one pass are
/// reported.
pub async fn validate_config(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let phase = PhaseLog::begin("validate", session.config.nodes.len());
    let checked = validate_with_unknowns(session, diags).await;
    phase.end(0);
    session.pool.report_warnings(diags);
    checked.map(drop)
}

/// Checks a configuration as if nothing existed and no variable had a value yet.
async fn validate_with_unknowns(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<ValidatedConfigs, Reported> {
    let variables = session.config.root.variables.iter();
    let variables = variables
        .map(|(name, variable)| {
            (name.clone(), ResolvedVariable::from_value(inputs::unknown_variable_value(variable)))
        })
        .collect();
    let (state, results) = (State::default(), session.results.new_for_same_config(session.config));
    let session_inputs =
        SessionInputs { state: &state, results: &results, variables: &variables, ..**session };
    walk_validation_graph(&session.with_inputs(session_inputs), diags).await
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
fn check_imports_have_block(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    static_check: &StaticReferenceCheck<'_>,
) {
    let config = session.config;
    let scope =
        session.module_scope(session.results.root()).with_reference_check(Some(static_check));
    for import in &config.root.imports {
        if config.find_resource(&import.config_addr()).is_some() {
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

async fn walk_validation_graph(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<ValidatedConfigs, Reported> {
    // In stages, as in Terraform: errors of a later stage are mostly consequences of earlier ones.
    check_provisioner_kinds(session, diags)?;
    check_import_modules(session, diags)?;
    session.config.check_module_calls(diags)?;
    let options = PlanOptions::default();
    let mut draft = PlanGraphBuilder::new(session, &options).build_draft(diags)?;
    let loaded = load_providers(diags, session, &draft).await;
    // Between the two, because it needs the schemas, and its edges could close a cycle that
    // Terraform does not see.
    unsupported_references::remove_edges_outside_schema(session, &mut draft);
    let graph = freeze_draft(diags, session, draft)?;
    // Only now, so that one run reports both missing providers and cycles.
    loaded?;
    let eval_inputs = EvalInputs { checking: true, ..session.eval_inputs() };
    let static_check = |node: usize, site: ReferenceLocation<'_>, reference: &Reference| {
        attribute_references::static_reference_errors(session, node, site, reference)
    };
    let static_check: &StaticReferenceCheck<'_> = &static_check;
    // By vertex, so that their order does not depend on timing.
    let mut problems: BTreeMap<VertexId, Diagnostics> = BTreeMap::new();
    let mut deprecated: BTreeMap<VertexId, Vec<Diagnostic>> = BTreeMap::new();
    let mut accepted = ValidatedConfigs::default();
    let stop = || session.is_stopped();
    let finishing = session.finishing;
    let pace =
        WalkOptions { stop: &stop, finishing, ..WalkOptions::with_limit(session.parallelism) };
    let walk = walk_graph(
        &graph,
        pace,
        async |_, vertex| {
            let check = attribute_references::may_have_invalid_reference(session, &**vertex)
                .then_some(static_check);
            let eval_inputs = EvalInputs { check, ..eval_inputs };
            validate_vertex(ValidationContext { session, eval_inputs }, vertex).await
        },
        |id, vertex, (vertex_diags, outcome)| {
            // Dependents of an invalid vertex would only repeat its errors.
            let next = if outcome.is_err() {
                DependentsDecision::SkipDependents
            } else {
                DependentsDecision::StartDependents
            };
            if let Ok(outcome) = outcome {
                let accepted = &mut accepted;
                vertex
                    .record_validation(&mut ValidationRecorder { eval_inputs, accepted }, outcome);
            }
            problems.insert(id, vertex_diags);
            let mut warnings = attribute_references::deprecation_warnings(session, &**vertex);
            if !warnings.is_empty() {
                unsupported_references::remove_warnings_outside_schema(
                    session,
                    vertex,
                    &mut warnings,
                );
                deprecated.insert(id, warnings);
            }
            next
        },
    );
    session.pool.run_with_upkeep(walk).await;
    check_imports_have_block(session, diags, static_check);
    for vertex_diags in graph.topological_order().iter().filter_map(|id| problems.remove(id)) {
        let _ = diags.append(vertex_diags);
    }
    let deprecated =
        graph.topological_order().iter().filter_map(|id| deprecated.remove(id)).flatten();
    deprecated.for_each(|warning| diags.warn(warning));
    diags.fail_if_errors().map(|()| accepted)
}

async fn validate_vertex<'c>(
    context: ValidationContext<'_>,
    vertex: &PlanVertex<'c>,
) -> (Diagnostics, Result<ValidationOutcome<'c>, Reported>) {
    let mut diags = Diagnostics::new();
    let outcome = vertex.validate(context, &mut diags).await;
    (diags, outcome)
}
