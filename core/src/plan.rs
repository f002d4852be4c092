//! Computes the changes of a run. Reads real objects and calls providers, but changes nothing.
//!
//! [`make_plan`] builds a graph, visits it, and records the result of each visit: visits read, the
//! recorder writes. The [`Plan`] holds everything that `apply` needs.

mod attribute_references;
mod choose_action;
mod dependencies;
mod evaluate_from_state;
mod excluded_from_destroy;
mod forgotten_resources;
mod generate_block;
mod graph_analysis;
pub mod plan_file;
mod plan_graph_dot;
pub mod plan_json;
mod planned_resources;
mod prefetch;
mod prior_state;
mod record;
mod relevant_attributes;
mod replace_order;
mod resource_vertex;
mod stored_values;
mod transform;
mod validate;
mod validate_resource;
mod validated_configs;
mod vertex;
mod vertex_kind;
mod visit;
mod visit_outcome;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::{Diagnostic, Diagnostics, Known, Reported, Str, Value};

use crate::addr::{DeposedKey, InstanceAddr, ProviderConfigAddr, Target};
use crate::change::{Action, Change, ImportKey, OutputChange};
use crate::config::Repetition;
use crate::eval::FunctionResultHashes;
use crate::eval::import::{expand_import, unknown_repetition_error};
use crate::instance_steps::unknown_to_null;
use crate::messages;
use crate::moved::{DeclaredObjects, Moves};
use crate::progress::PhaseLog;
use crate::session::{Session, SessionInputs};
use crate::state::checks::CheckResults;
use crate::state::{OutputValue, State};

pub use attribute_references::check_expression_references;
pub use evaluate_from_state::evaluate_from_state;
pub use plan_graph_dot::plan_graph_dot;
pub use stored_values::MissingResourceMeaning;
pub use validate::validate_config;

pub use relevant_attributes::RelevantAttributes;

use transform::PlanGraphBuilder;
use validated_configs::ValidatedConfigs;

/// The kind of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanMode {
    /// Makes the real objects match the configuration.
    #[default]
    Normal,
    /// Destroys all objects in the state.
    Destroy,
    /// Updates the state from the real objects, and changes none.
    RefreshOnly,
}

/// Options of planning.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// The kind of plan to make.
    pub mode: PlanMode,
    /// Whether real objects are not read first.
    pub skip_refresh: bool,
    /// Whether the plan only brings the state up to date before everything is destroyed: nothing is
    /// imported, and a condition that does not hold is a warning.
    pub before_destroy: bool,
    /// Targets that the plan is limited to; everything if empty.
    pub targets: Vec<Target>,
    /// Targets to leave out, with everything that depends on them.
    pub excludes: Vec<Target>,
    /// Instances to be replaced also without a change.
    pub replace: Vec<InstanceAddr>,
    /// Existing objects that are to be imported into these instances. Only for a plan that
    /// is limited to them.
    pub adoptions: BTreeMap<InstanceAddr, AdoptionSource>,
    /// Objects that interrupted runs may have made, as they were to be.
    pub interrupted_creations: BTreeMap<InstanceAddr, Value>,
    /// Instances that are not changed because the outcome of an earlier operation on them is
    /// unknown.
    pub open: BTreeSet<InstanceAddr>,
}

/// The way to find an existing object that an instance adopts.
#[derive(Clone, Debug)]
pub struct AdoptionSource {
    /// The key by which its provider finds it.
    pub import_key: ImportKey,
    /// Whether all objects that the key matches belong to the state, each under an address of its
    /// own. Otherwise a key that matches several objects is refused.
    pub all: bool,
    /// The provider configuration to find it with, if the configuration has no such instance and
    /// neither its block nor the state names another. `None` refuses an instance that is not in the
    /// configuration.
    pub unwritten: Option<ProviderConfigAddr>,
}

/// Result of searching for an object that an interrupted run may have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptedSearchResult {
    /// The provider found it, and it is as it was to be.
    Found,
    /// The provider found none.
    NotCreated,
}

/// Names one planned object: an instance, or a deposed object of it.
pub type ChangeKey = (InstanceAddr, Option<DeposedKey>);

/// All changes, and the inputs needed to apply them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The kind of the plan.
    pub mode: PlanMode,
    /// Targets that the plan is limited to; everything if empty.
    pub targets: Vec<Target>,
    /// Targets that were left out, with everything that depends on them.
    pub excludes: Vec<Target>,
    /// Instances that are not changed because the outcome of an earlier operation on them is
    /// unknown. They are among `excludes`.
    pub open: BTreeSet<InstanceAddr>,
    /// Values of the root variables, defaults included.
    pub variables: BTreeMap<Str, Value>,
    /// The planned action of each object, including `NoOp`.
    pub changes: BTreeMap<ChangeKey, Box<Change>>,
    /// Differences between the state and the real objects.
    pub drift: BTreeMap<ChangeKey, Box<Change>>,
    /// The attributes that contribute to the changes.
    pub relevant: RelevantAttributes,
    /// The planned action of each root output.
    pub outputs: BTreeMap<Str, OutputChange>,
    /// Results of the conditions, as far as they could be evaluated.
    pub checks: CheckResults,
    /// The state before applying, brought up to date with the real objects.
    pub prior: State,
    /// Results of searching for objects that interrupted runs may have made, where a search had
    /// one.
    pub searches: BTreeMap<InstanceAddr, InterruptedSearchResult>,
    /// Results of the calls of provider functions.
    pub functions: FunctionResultHashes,
    /// Whether a managed object that was read again holds a number, in a refresh-only plan. Terraform
    /// takes every such object for changed: the number from the provider and the one from the state have
    /// different precisions.
    pub reread_numbers: bool,
    /// Whether planning failed half-way; such a plan cannot be applied.
    pub errored: bool,
}

impl PlanOptions {
    /// The same options, without changes of instances whose outcome is unknown.
    #[must_use]
    pub fn excluding_unresolved(&self, open: BTreeSet<InstanceAddr>) -> Self {
        let mut options = self.clone();
        options.excludes.extend(open.iter().cloned().map(Target::Instance));
        options.open.extend(open);
        options
    }
}

impl Plan {
    /// Whether the user limited it to a part of the objects.
    #[must_use]
    pub fn is_limited_by_user(&self) -> bool {
        !self.targets.is_empty() || self.excludes.len() > self.open.len()
    }

    /// Whether it covers only a part of the objects.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !self.targets.is_empty() || !self.excludes.is_empty()
    }

    /// The outputs whose values are not known yet, with null for unknown parts, as `import` stores
    /// them.
    pub fn unknown_outputs_with_nulls(&self) -> impl Iterator<Item = (&Str, OutputValue)> {
        let unknown = self.outputs.iter().filter(|(_, change)| !change.after.is_wholly_known());
        unknown.filter_map(|(name, change)| {
            let value = unknown_to_null(&change.after).split_marks().0.into_value();
            let value = Known::new(value).ok()?;
            Some((name, OutputValue { value, sensitive: change.sensitive }))
        })
    }

    /// Whether anything has another address than the stored state gives it.
    fn has_moves(&self) -> bool {
        let mut all = self.changes.values().chain(self.drift.values());
        all.any(|change| change.moved_from.is_some())
    }

    /// Whether the state that the plan starts from has to be stored before anything is done. A
    /// journal records operations by address. A later reader, with only `stored` beside it, must
    /// not take an object for the outcome of an operation if it had another address, was deleted,
    /// was imported, or was made by an earlier run.
    #[must_use]
    pub fn must_store_prior_state(&self, stored: &State) -> bool {
        let is_elsewhere = |(addr, deposed): &ChangeKey| {
            let exists_in = |state: &State| state.find_object(addr, deposed.as_ref()).is_some();
            exists_in(stored) != exists_in(&self.prior)
        };
        self.has_moves() || !self.searches.is_empty() || self.changes.keys().any(is_elsewhere)
    }

    /// Returns the drift to report.
    pub fn reported_drift(&self) -> impl Iterator<Item = &Change> {
        // Drift of deposed objects is left out, since they were to be destroyed anyway.
        self.drift.values().map(Box::as_ref).filter(|change| change.deposed.is_none())
    }

    /// Whether applying would change real objects or outputs, or the state follow drift.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.changes.values().any(|change| change.needs_apply())
            || self.outputs.values().any(|change| change.action != Action::NoOp)
    }

    /// Whether applying the plan alters anything: in a refresh-only plan, anything that drifted.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        !self.errored
            && match self.mode {
                PlanMode::RefreshOnly => self.has_drifted() || self.has_changes(),
                PlanMode::Normal | PlanMode::Destroy => self.has_changes(),
            }
    }

    /// Whether Terraform calls the plan applyable.
    #[must_use]
    pub fn is_applyable(&self) -> bool {
        // Of a refresh-only plan it compares the states: an output that is deleted, or has no value
        // yet, is in both.
        let is_stored = |change: &OutputChange| {
            matches!(change.action, Action::Create | Action::Update)
                && change.after.is_wholly_known()
        };
        match self.mode {
            PlanMode::RefreshOnly => {
                let is_refreshed = self.has_drifted() || self.reread_numbers;
                !self.errored && (is_refreshed || self.outputs.values().any(is_stored))
            }
            PlanMode::Normal | PlanMode::Destroy => self.has_effect(),
        }
    }

    /// Whether an object drifted. A mere change of address is already in the state when the plan is
    /// created.
    fn has_drifted(&self) -> bool {
        self.drift.values().any(|change| change.action != Action::NoOp)
    }
}

/// Makes a plan. The plan is returned even when errors were reported, as far as it came; then it is
/// marked as errored.
///
/// The configuration is validated before anything else: if it can be seen to be wrong without any
/// value, the plan reads nothing, opens nothing and configures nothing. An import skips this
/// validation, since its block may still be empty.
///
/// # Errors
/// When the configuration is not valid, the graph could not be built, or a provider could not be
/// loaded.
pub async fn make_plan(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<Plan, Reported> {
    let n_resources = session.config.nodes.iter().map(|node| node.module.resources.len()).sum();
    let phase = PhaseLog::begin("plan", n_resources);
    let plan = plan_after_validation(session, diags, options).await;
    phase.end(plan.as_ref().map_or(0, |plan| plan.changes.len()));
    session.pool.report_warnings(diags);
    plan
}

/// Makes a plan once nothing is seen to be wrong.
async fn plan_after_validation(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<Plan, Reported> {
    let accepted = match options.adoptions.is_empty() {
        true => validate::validate_before_plan(session, diags).await?,
        false => ValidatedConfigs::default(),
    };
    // Before anything else, so that every later step finds objects under the addresses of their
    // blocks.
    let (moves, state) = Moves::apply_all_moves(session.config, session.state);
    forgotten_resources::check_removed_blocks(diags, session.config)?;
    // The targets of an import are not a choice of the user to leave anything out.
    if options.adoptions.is_empty() {
        moves.check_moves_within_targets(diags, &options.targets)?;
    }
    let session = &session.with_state(&state);
    let inputs = PreparedPlanInputs { moves: &moves, accepted };
    let mut plan_diags = Diagnostics::new();
    let plan = match options.mode == PlanMode::Destroy && !options.skip_refresh && !state.is_empty()
    {
        true => plan_destroy(session, &mut plan_diags, options, inputs).await,
        false => plan_after_moves(session, &mut plan_diags, options, inputs).await,
    };
    if plan.is_ok() {
        // Invalid moves are likely the cause of any other error, so those are not reported.
        let SessionInputs { sources, results, .. } = **session;
        moves.validate_moves(diags, DeclaredObjects { sources, results })?;
    }
    let plan = plan.map(|mut plan| {
        plan.errored |= report_imports_without_block(session, &mut plan_diags, options).is_err();
        plan.relevant = relevant_attributes::find_relevant_attributes(session, &plan);
        plan
    });
    // After errors the plan has only some of the objects, and the warnings would miss the others.
    if !plan_diags.has_errors() {
        moves.warn_of_blocked_moves(&mut plan_diags);
        plan.iter().for_each(|plan| warn_of_forgotten_objects(&mut plan_diags, plan));
    }
    // The partial plan is returned even with errors.
    let _ = diags.append(plan_diags);
    plan
}

/// Inputs of a plan that are found before its graph is built.
struct PreparedPlanInputs<'m> {
    moves: &'m Moves,
    accepted: ValidatedConfigs,
}

/// Plans the end of everything. As in Terraform, a complete normal plan brings the state up to date
/// first: it also reads the data sources and plans changes with the providers, and fails with them.
/// Its warnings and its changes are dropped.
async fn plan_destroy(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
    inputs: PreparedPlanInputs<'_>,
) -> Result<Plan, Reported> {
    let moves = inputs.moves;
    let refreshing = PlanOptions {
        before_destroy: true,
        targets: options.targets.clone(),
        excludes: options.excludes.clone(),
        ..PlanOptions::default()
    };
    // Each result is recorded once, so the two walks need tables of their own.
    let results = session.results.new_for_same_config(session.config);
    let session_inputs = SessionInputs { results: &results, ..**session };
    let refresh_session = &session.with_inputs(session_inputs).with_observer(session.watch);
    let mut refresh_diags = Diagnostics::new();
    let refreshed =
        plan_after_moves(refresh_session, &mut refresh_diags, &refreshing, inputs).await;
    if refresh_diags.has_errors() {
        diags.append(refresh_diags)?;
    }
    let refreshed = refreshed?;
    if refreshed.errored {
        // The run was stopped.
        return Ok(Plan { mode: PlanMode::Destroy, changes: BTreeMap::new(), ..refreshed });
    }
    // The objects were read a moment ago.
    let options = PlanOptions { skip_refresh: true, ..options.clone() };
    let after = &session.with_state(&refreshed.prior);
    let inputs = PreparedPlanInputs { moves, accepted: ValidatedConfigs::default() };
    let mut plan = plan_after_moves(after, diags, &options, inputs).await?;
    // Refreshing brings dependencies in line with the configuration. The objects go in the order in which
    // they were made, as the state had it.
    for ((addr, deposed), change) in &mut plan.changes {
        if let Some(object) = session.state.find_object(addr, deposed.as_ref()) {
            change.prior_dependencies = moves.renamed_dependencies(&object.dependencies);
        }
    }
    Ok(plan)
}

/// Reports imports into resources that are not written.
fn report_imports_without_block(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
) -> Result<(), Reported> {
    let mut result = Ok(());
    let imports = match options.mode {
        PlanMode::Normal => true,
        // As in Terraform, the objects are first read by a plan of the whole configuration.
        PlanMode::Destroy => !options.skip_refresh && !session.state.is_empty(),
        PlanMode::RefreshOnly => false,
    };
    for import in &session.config.root.imports {
        let addr = import.addr_with_constant_keys();
        let wanted = imports
            && (options.targets.is_empty() || options.targets.iter().any(|t| t.contains(&addr)));
        if !wanted || session.config.find_resource(&import.config_addr()).is_some() {
            continue;
        }
        if matches!(import.repetition, Repetition::ForEach(_)) {
            // Each key is judged; there is no error only if there is nothing to import.
            let scope = session.module_scope(session.results.root());
            let expanded = expand_import(diags, &scope, session.config, import);
            let expanded = expanded.and_then(|all| {
                all.map(drop).ok_or_else(|| diags.error(unknown_repetition_error(import, &scope)))
            });
            result = result.and(expanded);
            continue;
        }
        let detail = format!(
            "The configuration for the given import target {addr} does not exist. If you wish to automatically generate config for this resource, use the -generate-config-out option within formwork plan. Otherwise, make sure the target resource exists within your configuration. For example:\n\n  formwork plan -generate-config-out=generated.tf"
        );
        let summary = messages::CONFIGURATION_FOR_IMPORT_TARGET_DOES_NOT_EXIST;
        result = Err(diags.error(Diagnostic::error(summary, detail).at(import.to)));
    }
    result
}

fn warn_of_forgotten_objects(diags: &mut Diagnostics, plan: &Plan) {
    let forgotten = plan.changes.values().filter(|change| change.action == Action::Forget);
    let list: String = forgotten.map(|change| format!("\n - {}", change.addr)).collect();
    if list.is_empty() {
        return;
    }
    let detail = format!(
        "Applying this plan takes these objects out of the state without destroying them:{list}\n\nAfter that they are on their own. To manage them again they have to be imported."
    );
    let summary = messages::OBJECTS_NO_LONGER_MANAGED;
    diags.warn(Diagnostic::warning(summary, detail));
}

/// Makes a plan for a state in which everything has its new address.
async fn plan_after_moves(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
    inputs: PreparedPlanInputs<'_>,
) -> Result<Plan, Reported> {
    let PreparedPlanInputs { moves, accepted } = inputs;
    let built = PlanGraphBuilder::new(session, options).build(diags, moves).await?;
    walk::walk_plan_graph(session, diags, options, &built, &accepted).await
}
