//! A state in the format of `show -json`.

use std::collections::BTreeMap;

use formwork_core::addr::{InstanceAddr, InstanceKey, ModuleAddr, ModuleStep, ResourceMode};
use formwork_core::provider::{ProviderPool, add_marks};
use formwork_core::state::checks::CheckResults;
use formwork_core::state::{ObjectState, ObjectStatus, State};
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use super::json_builder::Json;
use super::{checks, terraform_version, value};
use crate::messages;

/// A whole state. The document of an empty state contains only the format version.
///
/// # Errors
/// Returns an error if an object cannot be read with the schema of its provider.
pub(crate) fn state_document(
    diags: &mut Diagnostics,
    state: &State,
    checks: &CheckResults,
    pool: &ProviderPool<'_>,
) -> Result<Json, Reported> {
    if state.is_empty() {
        return Ok(Json::object([("format_version", Json::text("1.0"))]));
    }
    let outputs = state.outputs.iter().map(|(name, output)| {
        let document = Json::object([
            ("sensitive", Json::Bool(output.sensitive)),
            ("value", value::value_to_json(output.value.value())),
            ("type", value::type_to_json(&output.value.value().ty())),
        ]);
        (name.to_string(), document)
    });
    let resources = state_resources(diags, state, pool)?;
    let values = Json::object_of_some([
        ("outputs", Json::Object(outputs.collect()).none_if_empty()),
        ("root_module", Some(module_tree(resources))),
    ]);
    Ok(Json::object_of_some([
        ("format_version", Some(Json::text("1.0"))),
        ("terraform_version", Some(terraform_version())),
        ("values", Some(values)),
        ("checks", checks::checks_document(checks).none_if_empty()),
    ]))
}

/// A resource with its module.
pub(super) type PlacedResource = (ModuleAddr, Json);

/// Arranges resources in the tree of their modules.
pub(super) fn module_tree(resources: Vec<PlacedResource>) -> Json {
    let mut root = Submodule::default();
    for (module, json) in resources {
        let mut current = &mut root;
        for step in module.0.iter() {
            current = current.children.entry(step.clone()).or_default();
        }
        current.resources.push(json);
    }
    root.document(&ModuleAddr::root())
}

/// The resources of a module instance and its child instances.
#[derive(Default)]
struct Submodule {
    resources: Vec<Json>,
    children: BTreeMap<ModuleStep, Self>,
}

impl Submodule {
    fn document(self, addr: &ModuleAddr) -> Json {
        let children = self.children.into_iter().map(|(step, child)| {
            let addr = addr.child_addr(step.name, step.key);
            child.document(&addr)
        });
        Json::object_of_some([
            ("resources", Json::Array(self.resources).none_if_empty()),
            ("address", (!addr.is_root()).then(|| Json::text(addr.to_string()))),
            ("child_modules", Json::Array(children.collect()).none_if_empty()),
        ])
    }
}

fn state_resources(
    diags: &mut Diagnostics,
    state: &State,
    pool: &ProviderPool<'_>,
) -> Result<Vec<PlacedResource>, Reported> {
    let mut placed = Vec::new();
    for (resource, instances) in &state.resources {
        for (key, instance) in &instances.instances {
            let addr = resource.instance_addr(key.clone());
            let current = instance.current.iter().map(|object| (None, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
            for (deposed, object) in current.chain(deposed) {
                let value =
                    decode_object(diags, pool, &instances.provider.provider, &addr, object)?;
                let mut members = instance_members(&addr, &instances.provider.provider.to_string());
                // Terraform omits the version of a deposed object.
                let version = if deposed.is_none() { object.schema_version } else { 0 };
                members.extend([
                    ("schema_version", Some(Json::Int(i64::try_from(version).unwrap_or(i64::MAX)))),
                    ("values", Some(value::value_to_json(&value))),
                    ("sensitive_values", Some(value::sensitive_to_json(&value))),
                    ("depends_on", depends_on(object).none_if_empty()),
                    (
                        "tainted",
                        (object.status == ObjectStatus::Tainted).then_some(Json::Bool(true)),
                    ),
                    ("deposed_key", deposed.map(|key| Json::text(key.0.as_str()))),
                ]);
                placed.push((addr.module.clone(), Json::object_of_some(members)));
            }
        }
    }
    Ok(placed)
}

fn depends_on(object: &ObjectState) -> Json {
    Json::Array(object.dependencies.iter().map(|addr| Json::text(addr.to_string())).collect())
}

/// First members of every description of an instance.
pub(super) fn instance_members(
    addr: &InstanceAddr,
    provider: &str,
) -> Vec<(&'static str, Option<Json>)> {
    let mode = match addr.resource.mode() {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    };
    vec![
        ("address", Some(Json::text(addr.to_string()))),
        ("mode", Some(Json::text(mode))),
        ("type", Some(Json::text(addr.resource.resource_type().as_str()))),
        ("name", Some(Json::text(addr.resource.name().as_str()))),
        ("index", index_to_json(&addr.key)),
        ("provider_name", Some(Json::text(provider))),
    ]
}

pub(super) fn index_to_json(key: &InstanceKey) -> Option<Json> {
    match key {
        InstanceKey::None => None,
        InstanceKey::Int(index) => Some(Json::Written(index.to_string())),
        InstanceKey::Str(key) => Some(Json::text(key.as_str())),
    }
}

/// Decodes an object with the schema of its provider.
///
/// # Errors
/// Returns an error if the provider does not have the resource type, or the object has another schema
/// version.
pub(crate) fn decode_object(
    diags: &mut Diagnostics,
    pool: &ProviderPool<'_>,
    provider: &formwork_core::addr::ProviderAddr,
    addr: &InstanceAddr,
    object: &ObjectState,
) -> Result<Value, Reported> {
    let ty = pool.loaded_provider(provider).and_then(|loaded| {
        loaded.find_resource_type(addr.resource.mode(), addr.resource.resource_type())
    });
    let unreadable = |diags: &mut Diagnostics, reason: String| {
        let detail = format!("The object {addr} in the state cannot be shown: {reason}.");
        diags.error(
            Diagnostic::error(messages::OBJECT_CANNOT_BE_READ, detail).about(addr.to_string()),
        )
    };
    let Some(ty) = ty else {
        return Err(unreadable(
            diags,
            format!("provider {provider} has no type {:?}", addr.resource.resource_type().as_str()),
        ));
    };
    let is_managed = addr.resource.mode() == ResourceMode::Managed;
    if is_managed && object.schema_version != ty.schema.version {
        let reason = format!(
            "it has schema version {}, but the provider is at {}; run `formwork apply -refresh-only` first",
            object.schema_version, ty.schema.version
        );
        return Err(unreadable(diags, reason));
    }
    let value = object.attributes.decode_as(&ty.ty).map_err(|reason| unreadable(diags, reason))?;
    Ok(add_marks(&ty, value.split_marks().0, &object.sensitive))
}
