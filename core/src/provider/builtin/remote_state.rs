//! `terraform_remote_state`: the root outputs of another configuration's state. Knows the local
//! backend.

use std::path::PathBuf;

use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::Verdict;
use formwork_value::convert::convert;
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
        let detail = format!("There is no backend type named {backend:?} here; use \"local\".");
        diagnostics.push(problem(
            "Invalid backend configuration",
            detail,
            Path::root().attribute("backend"),
        ));
    }
    if let Err(refused) = Settings::read(config) {
        diagnostics.push(problem(
            "Invalid backend configuration",
            refused,
            Path::root().attribute("config"),
        ));
    }
    Verdict { diagnostics }
}

/// What `config` says to the local backend.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    path: Option<Str>,
    workspace_dir: Option<Str>,
}

impl Settings {
    /// Reads what is known. Says what is wrong with the rest.
    fn read(config: &Value) -> Result<Self, String> {
        let mut read = Self::default();
        let given: Vec<(&Str, &Value)> = match attribute(config, "config") {
            None | Some(Value::Null(_) | Value::Unknown(_)) => return Ok(read),
            Some(Value::Object(settings)) => settings.iter().collect(),
            Some(Value::Map(settings)) => settings.iter().collect(),
            Some(_) => return Err("The given configuration is not valid for backend \"local\": an object is required.".to_owned()),
        };
        for (name, value) in given {
            let place = match name.as_str() {
                "path" => &mut read.path,
                "workspace_dir" => &mut read.workspace_dir,
                other => {
                    return Err(format!(
                        "The given configuration is not valid for backend \"local\": unexpected attribute {other:?}."
                    ));
                }
            };
            // As in a `backend` block, a number or a truth value is taken for its text.
            let value = convert(value, &Type::String).map_err(|refused| {
                format!(
                    "The given configuration is not valid for backend \"local\": {name}: {}.",
                    refused.reason
                )
            })?;
            *place = text(Some(&value)).cloned();
        }
        Ok(read)
    }

    /// Where the local backend keeps the state of a workspace, relative to the working folder.
    fn location(&self, workspace: Option<&str>) -> PathBuf {
        const FILE: &str = "terraform.tfstate";
        match workspace.filter(|name| *name != "default") {
            Some(workspace) => {
                let dir = self.workspace_dir.as_deref().unwrap_or("terraform.tfstate.d");
                PathBuf::from(dir).join(workspace).join(FILE)
            }
            None => PathBuf::from(self.path.as_deref().unwrap_or(FILE)),
        }
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
    let workspace = text(attribute(config, "workspace")).map(Str::as_str);
    let path = Settings::read(config).unwrap_or_default().location(workspace);
    match StateFile::load(&path) {
        Ok(Some(file)) => outputs.extend(file.state.outputs.iter().map(|(name, output)| {
            (name.clone(), output.value.value().clone().split_marks().0.into_value())
        })),
        // Defaults stand in for single outputs, not for a state that is not there.
        Ok(None) => diagnostics.push(problem(
            "Unable to find remote state",
            format!("No stored state was found at {}.", path.display()),
            Path::root().attribute("workspace"),
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

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use formwork_value::Number;

    use super::*;

    fn config(settings: Value, defaults: Value) -> Value {
        Value::object([
            (Str::new("backend"), Value::string("local")),
            (Str::new("config"), settings),
            (Str::new("defaults"), defaults),
            (Str::new("outputs"), Value::null(Type::Dynamic)),
            (Str::new("workspace"), Value::null(Type::String)),
        ])
    }

    fn settings(name: &str, value: Value) -> Value {
        Value::object([(Str::new(name), value)])
    }

    fn said(diagnostics: &[ProviderDiagnostic]) -> String {
        diagnostics.iter().map(|said| format!("{}: {}\n", said.summary, said.detail)).collect()
    }

    #[test]
    fn settings_are_those_of_the_local_backend() {
        let refused =
            |settings| said(&validate(&config(settings, Value::null(Type::Dynamic))).diagnostics);
        expect![[r#"
            Invalid backend configuration: The given configuration is not valid for backend "local": unexpected attribute "pth".
        "#]]
        .assert_eq(&refused(settings("pth", Value::string("x"))));
        expect![[r#"
            Invalid backend configuration: The given configuration is not valid for backend "local": an object is required.
        "#]]
        .assert_eq(&refused(Value::string("x")));
        assert_eq!(refused(settings("path", Value::unknown(Type::String))), "");
        let five = config(
            settings("path", Value::Number(Number::from(5_i64))),
            Value::null(Type::Dynamic),
        );
        let five = Settings::read(&five).unwrap();
        assert_eq!(five.location(None), PathBuf::from("5"));
        assert_eq!(
            five.location(Some("w")),
            PathBuf::from("terraform.tfstate.d/w/terraform.tfstate")
        );
    }

    #[test]
    fn defaults_stand_in_for_outputs_but_not_for_a_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.tfstate");
        let config = config(
            settings("path", Value::string(path.to_string_lossy().into_owned())),
            settings("x", Value::string("default")),
        );
        let (_, diagnostics) = read(&config);
        assert!(said(&diagnostics).starts_with("Unable to find remote state: "), "{diagnostics:?}");

        let state = r#"{"version":4,"serial":1,"lineage":"l","outputs":{"y":{"value":"own","type":"string"}},"resources":[]}"#;
        std::fs::write(&path, state).unwrap();
        let (value, diagnostics) = read(&config);
        assert_eq!(said(&diagnostics), "");
        let outputs = attribute(&value, "outputs").unwrap();
        assert_eq!(
            *outputs,
            Value::object([
                (Str::new("x"), Value::string("default")),
                (Str::new("y"), Value::string("own")),
            ])
        );
    }
}
