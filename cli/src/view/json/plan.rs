//! A plan as `show -json` gives it.

use std::borrow::Cow;

use formwork_core::change::{Action, Change};
use formwork_core::config::Config;
use formwork_core::plan::Plan;
use formwork_core::provider::Pool;
use formwork_core::state::checks::CheckResults;
use formwork_value::{Diagnostics, MarkPaths, Marks, Path, Reported, Type, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::state::{head, module};
use super::tree::Json;
use super::{changes, configuration, state, terraform_version, value};

/// Further inputs of the view of a plan.
pub(crate) struct PlanViewInputs<'a> {
    /// The configuration it was made of.
    pub(crate) config: &'a Config,
    /// The providers, loaded.
    pub(crate) pool: &'a Pool<'a>,
    /// Given values of the variables, as JSON.
    pub(crate) given: Vec<(&'a str, &'a str)>,
    /// When it was made.
    pub(crate) time: OffsetDateTime,
}

/// A whole plan.
///
/// # Errors
/// When the prior state cannot be read with the providers' schemas.
pub(crate) fn document(
    diags: &mut Diagnostics,
    plan: &Plan,
    beside: &PlanViewInputs<'_>,
) -> Result<Json, Reported> {
    let variables = beside.given.iter().map(|(name, json)| {
        ((*name).to_owned(), Json::object([("value", Json::Written((*json).to_owned()))]))
    });
    let listed = plan.changes.values().map(Box::as_ref).filter(|change| changes::is_listed(change));
    let outputs =
        plan.outputs.iter().map(|(name, change)| (name.to_string(), changes::output(change)));
    let drift = plan.drifted().map(changes::resource);
    let relevant = plan.relevant.iter().map(|(addr, path)| {
        Json::object([("resource", Json::text(addr.to_string())), ("attribute", value::path(path))])
    });
    let prior = state::document(diags, &plan.prior, &CheckResults::default(), beside.pool)?;
    let time = beside.time.replace_nanosecond(0).unwrap_or(beside.time);
    Ok(Json::some([
        ("format_version", Some(Json::text("1.2"))),
        ("terraform_version", Some(terraform_version())),
        ("variables", Json::Object(variables.collect()).filled()),
        ("planned_values", Some(planned_values(plan, beside.pool))),
        ("resource_drift", Json::Array(drift.collect()).filled()),
        ("resource_changes", Json::Array(listed.map(changes::resource).collect()).filled()),
        ("output_changes", Json::Object(outputs.collect()).filled()),
        ("prior_state", (!plan.prior.is_empty()).then_some(prior)),
        ("configuration", Some(configuration::document(beside.config, beside.pool))),
        ("relevant_attributes", Json::Array(relevant.collect()).filled()),
        ("checks", super::checks::document(&plan.checks).filled()),
        ("timestamp", time.format(&Rfc3339).ok().map(Json::text)),
        ("applyable", Some(Json::Bool(plan.applyable()))),
        ("complete", Some(Json::Bool(!plan.is_limited() && !plan.errored))),
        ("errored", Some(Json::Bool(plan.errored))),
    ]))
}

fn planned_values(plan: &Plan, pool: &Pool<'_>) -> Json {
    let outputs = plan.outputs.iter().filter(|(_, change)| change.action != Action::Delete);
    let outputs = outputs.map(|(name, change)| {
        let known = change.after.is_wholly_known();
        let shown = Json::some([
            ("sensitive", Some(Json::Bool(change.sensitive))),
            ("type", known.then(|| value::type_of(&type_of_output(&change.after)))),
            ("value", known.then(|| value::known(&change.after))),
        ]);
        (name.to_string(), shown)
    });
    let mut resources = Vec::new();
    let kept = plan
        .changes
        .values()
        .filter(|change| change.deposed.is_none() && change.action != Action::Delete);
    for change in kept {
        resources.push((change.addr.clone(), planned(change, pool)));
    }
    resources.sort_by_cached_key(|(addr, _)| addr.to_string());
    let placed = resources.into_iter().map(|(addr, json)| (addr.module, json)).collect();
    Json::some([
        ("outputs", Json::Object(outputs.collect()).filled()),
        ("root_module", Some(module(placed))),
    ])
}

/// A saved plan does not keep the type of a null.
fn type_of_output(value: &Value) -> Type {
    if value.is_null() { Type::Dynamic } else { value.ty() }
}

fn planned(change: &Change, pool: &Pool<'_>) -> Json {
    let name = &change.addr.resource;
    let provider = &change.provider.provider;
    let ty = pool.loaded(provider).and_then(|loaded| loaded.find(name.mode(), name.kind()));
    let version = ty.map_or(0, |ty| ty.schema.version);
    let after = match &change.config_secrets {
        Some(paths) => Cow::Owned(marked_only(&change.after, paths)),
        None => Cow::Borrowed(&change.after),
    };
    described(&change.addr, &provider.to_string(), version, &after)
}

/// A value that is sensitive at these paths and nowhere else.
fn marked_only(value: &Value, paths: &[Path]) -> Value {
    let (plain, marks) = value.clone().split_marks();
    let kept = marks.paths_with(Marks::SENSITIVE).filter(|path| paths.contains(path)).cloned();
    plain.with_marks(&MarkPaths::all(kept, Marks::SENSITIVE))
}

fn described(
    addr: &formwork_core::addr::InstanceAddr,
    provider: &str,
    version: u64,
    planned: &Value,
) -> Json {
    let mut members = head(addr, provider);
    members.extend([
        ("schema_version", Some(Json::Int(i64::try_from(version).unwrap_or(i64::MAX)))),
        ("values", (!planned.is_null()).then(|| value::known(planned)).and_then(Json::filled)),
        ("sensitive_values", Some(value::sensitive(planned))),
    ]);
    Json::some(members)
}
