//! `terraform_remote_state`: the root outputs of another configuration's state. Knows the local
//! backend.

use std::path::PathBuf;

use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::Verdict;
use formwork_value::schema::Role;
use formwork_value::{Path, Schema, Str, Type, Value};

use super::{problem, schema_of};
use crate::state::file::StateFile;

pub(super) fn schema() -> Schema {
    schema_of(&[
        ("backend", Type::String, Role::Required),
        ("config", Type::Dynamic, Role::Optional),
        ("defaults", Type::Dynamic, Role::Optional),
        ("outputs", Type::Dynamic, Role::Computed),
        ("workspace", Type::String, Role::Optional),
    ])
}

fn text(object: Option<&Value>) -> Option<&Str> {
    match object? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn attribute<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    match object {
        Value::Object(object) => object.get(name),
        Value::Map(map) => map.get(name),
        _ => None,
    }
}

/// Checks what can be checked without reading.
pub(super) fn validate(config: &Value) -> Verdict {
    let mut diagnostics = Vec::new();
    if let Some(backend) = text(attribute(config, "backend"))
        && backend != "local"
    {
        let detail =
            format!("There is no support for the backend {backend:?} here yet; use \"local\".");
        diagnostics.push(problem(
            "Invalid backend configuration",
            detail,
            Path::root().attribute("backend"),
        ));
    }
    if let Some(settings) = attribute(config, "config")
        && !settings.is_null()
        && !settings.is_unknown()
        && !matches!(settings, Value::Object(_) | Value::Map(_))
    {
        let detail = "The configuration must be an object value.".to_owned();
        diagnostics.push(problem(
            "Invalid backend configuration",
            detail,
            Path::root().attribute("config"),
        ));
    }
    Verdict { diagnostics }
}

/// Where the local backend keeps the state, relative to the working folder.
fn location(config: &Value) -> PathBuf {
    let settings = attribute(config, "config").cloned().unwrap_or(Value::null(Type::Dynamic));
    let workspace = text(attribute(config, "workspace")).filter(|name| **name != "default");
    match workspace {
        Some(workspace) => {
            let dir = text(attribute(&settings, "workspace_dir"));
            let dir = dir.map_or("terraform.tfstate.d", |dir| dir.as_str());
            PathBuf::from(dir).join(workspace.as_str()).join("terraform.tfstate")
        }
        None => PathBuf::from(
            text(attribute(&settings, "path")).map_or("terraform.tfstate", |p| p.as_str()),
        ),
    }
}

/// Reads the outputs. They are empty if reading failed.
pub(super) fn read(config: &Value) -> (Value, Vec<ProviderDiagnostic>) {
    let mut outputs: Vec<(Str, Value)> = match attribute(config, "defaults") {
        Some(Value::Object(defaults)) => {
            defaults.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
        }
        Some(Value::Map(defaults)) => {
            defaults.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
        }
        _ => Vec::new(),
    };
    let mut diagnostics = Vec::new();
    let path = location(config);
    match StateFile::load(&path) {
        Ok(Some(file)) => outputs.extend(file.state.outputs.iter().map(|(name, output)| {
            (name.clone(), output.value.value().clone().split_marks().0.into_value())
        })),
        Ok(None) if !outputs.is_empty() => {}
        Ok(None) => diagnostics.push(problem(
            "Unable to find remote state",
            format!("No stored state was found at {}.", path.display()),
            Path::root(),
        )),
        Err(error) => {
            diagnostics.push(problem("Error loading state", error.to_string(), Path::root()));
        }
    }
    let Value::Object(fields) = config else { return (config.clone(), diagnostics) };
    let pairs = fields.iter().map(|(name, value)| match name.as_str() {
        "outputs" => (name.clone(), Value::object(outputs.clone())),
        _ => (name.clone(), value.clone()),
    });
    (Value::object(pairs), diagnostics)
}
