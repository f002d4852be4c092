//! A plan in the format of `show -json`.

use std::borrow::Cow;

use formwork_core::change::{Action, Change};
use formwork_core::config::Config;
use formwork_core::plan::Plan;
use formwork_core::provider::ProviderPool;
use formwork_core::state::checks::CheckResults;
use formwork_value::{Diagnostics, MarkPaths, Marks, Path, Reported, Type, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::json_builder::Json;
use super::state::{instance_members, module_tree};
use super::{changes, configuration, state, terraform_version, value};

/// Further inputs of the plan document.
pub(crate) struct PlanViewInputs<'a> {
    /// The configuration of the plan.
    pub(crate) config: &'a Config,
    /// The providers, loaded.
    pub(crate) pool: &'a ProviderPool<'a>,
    /// The given variable values, as JSON.
    pub(crate) variable_values: Vec<(&'a str, &'a str)>,
    /// Time of creation.
    pub(crate) time: OffsetDateTime,
}

/// The changes of a plan, as members of its document. Absent if there are no changes.
struct ChangeMembers {
    drift: Option<Json>,
    resources: Option<Json>,
    outputs: Option<Json>,
}

impl ChangeMembers {
    fn of(plan: &Plan) -> Self {
        let listed = plan.changes.values().map(Box::as_ref);
        let listed = listed.filter(|change| changes::is_not_data_removal(change));
        let outputs = plan
            .outputs
            .iter()
            .map(|(name, change)| (name.to_string(), changes::output_change_to_json(change)));
        let drift = plan.reported_drift().map(changes::change_to_json);
        Self {
            drift: Json::Array(drift.collect()).none_if_empty(),
            resources: Json::Array(listed.map(changes::change_to_json).collect()).none_if_empty(),
            outputs: Json::Object(outputs.collect()).none_if_empty(),
        }
    }
}

/// The members of a plan in the events of a test run.
pub(crate) fn members_for_test(plan: &Plan) -> Vec<(&'static str, Json)> {
    let ChangeMembers { drift, resources, outputs } = ChangeMembers::of(plan);
    let members = [
        ("resource_drift", drift),
        ("output_changes", outputs),
        ("resource_changes", resources),
        ("relevant_attributes", relevant_attributes(plan).none_if_empty()),
    ];
    let members = members.into_iter().filter_map(|(name, json)| Some((name, json?)));
    [("plan_format_version", Json::text("1.2"))].into_iter().chain(members).collect()
}

/// The attributes that contribute to the changes.
fn relevant_attributes(plan: &Plan) -> Json {
    let relevant = plan.relevant.iter().map(|(addr, path)| {
        Json::object([
            ("resource", Json::text(addr.to_string())),
            ("attribute", value::path_to_json(path)),
        ])
    });
    Json::Array(relevant.collect())
}

/// A whole plan.
///
/// # Errors
/// Returns an error if the prior state cannot be read with the provider schemas.
pub(crate) fn plan_document(
    diags: &mut Diagnostics,
    plan: &Plan,
    inputs: &PlanViewInputs<'_>,
) -> Result<Json, Reported> {
    let variables = inputs.variable_values.iter().map(|(name, json)| {
        ((*name).to_owned(), Json::object([("value", Json::Written((*json).to_owned()))]))
    });
    let ChangeMembers { drift, resources, outputs } = ChangeMembers::of(plan);
    let prior = state::state_document(diags, &plan.prior, &CheckResults::default(), inputs.pool)?;
    let time = inputs.time.replace_nanosecond(0).unwrap_or(inputs.time);
    Ok(Json::object_of_some([
        ("format_version", Some(Json::text("1.2"))),
        ("terraform_version", Some(terraform_version())),
        ("variables", Json::Object(variables.collect()).none_if_empty()),
        ("planned_values", Some(planned_values(plan, inputs.pool))),
        ("resource_drift", drift),
        ("resource_changes", resources),
        ("output_changes", outputs),
        ("prior_state", (!plan.prior.is_empty()).then_some(prior)),
        ("configuration", Some(configuration::config_document(inputs.config, inputs.pool))),
        ("relevant_attributes", relevant_attributes(plan).none_if_empty()),
        ("checks", super::checks::checks_document(&plan.checks).none_if_empty()),
        ("timestamp", time.format(&Rfc3339).ok().map(Json::text)),
        ("applyable", Some(Json::Bool(plan.is_applyable()))),
        ("complete", Some(Json::Bool(!plan.is_limited() && !plan.errored))),
        ("errored", Some(Json::Bool(plan.errored))),
    ]))
}

fn planned_values(plan: &Plan, pool: &ProviderPool<'_>) -> Json {
    let outputs = plan.outputs.iter().filter(|(_, change)| change.action != Action::Delete);
    let outputs = outputs.map(|(name, change)| {
        let is_known = change.after.is_wholly_known();
        let attributes = Json::object_of_some([
            ("sensitive", Some(Json::Bool(change.sensitive))),
            ("type", is_known.then(|| value::type_to_json(&type_of_output(&change.after)))),
            ("value", is_known.then(|| value::value_to_json(&change.after))),
        ]);
        (name.to_string(), attributes)
    });
    let mut resources = Vec::new();
    let unchanged = plan
        .changes
        .values()
        .filter(|change| change.deposed.is_none() && change.action != Action::Delete);
    for change in unchanged {
        resources.push((change.addr.clone(), planned_resource(change, pool)));
    }
    resources.sort_by_cached_key(|(addr, _)| addr.to_string());
    let placed = resources.into_iter().map(|(addr, json)| (addr.module, json)).collect();
    Json::object_of_some([
        ("outputs", Json::Object(outputs.collect()).none_if_empty()),
        ("root_module", Some(module_tree(placed))),
    ])
}

/// A saved plan does not store the type of a null.
fn type_of_output(value: &Value) -> Type {
    if value.is_null() { Type::Dynamic } else { value.ty() }
}

fn planned_resource(change: &Change, pool: &ProviderPool<'_>) -> Json {
    let name = &change.addr.resource;
    let provider = &change.provider.provider;
    let ty = pool
        .loaded_provider(provider)
        .and_then(|loaded| loaded.find_resource_type(name.mode(), name.resource_type()));
    let version = ty.map_or(0, |ty| ty.schema.version);
    let after = match &change.config_secrets {
        Some(paths) => Cow::Owned(with_sensitive_paths(&change.after, paths)),
        None => Cow::Borrowed(&change.after),
    };
    described_resource_to_json(&change.addr, &provider.to_string(), version, &after)
}

/// A value that is sensitive only at these paths.
fn with_sensitive_paths(value: &Value, paths: &[Path]) -> Value {
    let (plain, marks) = value.clone().split_marks();
    let sensitive_paths =
        marks.paths_with(Marks::SENSITIVE).filter(|path| paths.contains(path)).cloned();
    plain.with_marks(&MarkPaths::on_all_paths(sensitive_paths, Marks::SENSITIVE))
}

fn described_resource_to_json(
    addr: &formwork_core::addr::InstanceAddr,
    provider: &str,
    version: u64,
    planned: &Value,
) -> Json {
    let mut members = instance_members(addr, provider);
    members.extend([
        ("schema_version", Some(Json::Int(i64::try_from(version).unwrap_or(i64::MAX)))),
        (
            "values",
            (!planned.is_null())
                .then(|| value::value_to_json(planned))
                .and_then(Json::none_if_empty),
        ),
        ("sensitive_values", Some(value::sensitive_to_json(planned))),
    ]);
    Json::object_of_some(members)
}
