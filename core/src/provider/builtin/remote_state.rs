//! `terraform_remote_state`: the root outputs of another configuration's state. It is independent of
//! backends: the program that runs the engine provides a [`RemoteStates`].

use std::sync::Arc;

use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_value::diag::Message;
use formwork_value::schema::Role;
use formwork_value::{Path, Schema, Str, Type, Value};

use super::schema_from_attributes;
use crate::messages;
use crate::provider::provider_diagnostics::own_provider_error;
use crate::state::file::StateFile;

/// Reads states of other configurations.
#[async_trait::async_trait]
pub trait RemoteStates: Send + Sync {
    /// Checks the known arguments of a backend.
    ///
    /// # Errors
    /// Returns an error if the backend does not exist, or does not accept these arguments.
    fn check(&self, source: &RemoteStateSource<'_>) -> Result<(), RemoteStateError>;

    /// Reads a state, without locking it.
    ///
    /// # Errors
    /// Returns an error if the state does not exist or cannot be read.
    async fn read(&self, source: &RemoteStateSource<'_>) -> Result<StateFile, RemoteStateError>;
}

/// The state of another configuration, as specified by a data source.
#[derive(Clone, Copy, Debug)]
pub struct RemoteStateSource<'a> {
    /// The type of the backend; `None` while it is unknown.
    pub backend: Option<&'a str>,
    /// The arguments of the backend: an object, or null.
    pub config: &'a Value,
    /// The workspace; `None` for the default one.
    pub workspace: Option<&'a str>,
    /// The address of the data source instance, or `None` during validation.
    pub address: Option<&'a str>,
}

/// The error of a read of the state of another configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteStateError {
    /// The message of the diagnostic.
    pub message: &'static Message,
    /// The detail of the diagnostic.
    pub detail: String,
    /// The attribute of the data source that caused the error, if any.
    pub attribute: Option<&'static str>,
}

impl RemoteStateError {
    fn into_diagnostic(self) -> ProviderDiagnostic {
        let path = self.attribute.map_or(Path::root(), |name| Path::root().attribute(name));
        own_provider_error(self.message, self.detail, path)
    }
}

pub(super) fn schema() -> Schema {
    schema_from_attributes(&[
        ("backend", Type::String, Role::Required),
        ("config", Type::Dynamic, Role::Optional),
        ("defaults", Type::Dynamic, Role::Optional),
        ("outputs", Type::Dynamic, Role::Computed),
        ("workspace", Type::String, Role::Optional),
    ])
}

fn string_value(object: Option<&Value>) -> Option<&Str> {
    match object? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn attribute_value<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    match object {
        Value::Object(object) => object.get(name),
        Value::Map(map) => map.get(name),
        _ => None,
    }
}

/// Reads the specified state from the configuration. A missing `config` is null.
fn remote_state_source<'a>(config: &'a Value, null: &'a Value) -> RemoteStateSource<'a> {
    let text = |name: &str| string_value(attribute_value(config, name)).map(Str::as_str);
    let settings = attribute_value(config, "config").unwrap_or(null);
    let (backend, workspace) = (text("backend"), text("workspace"));
    RemoteStateSource { backend, config: settings, workspace, address: None }
}

fn no_backends_error() -> RemoteStateError {
    RemoteStateError {
        message: messages::NO_BACKENDS,
        detail: "This program does not support reading the states of other configurations."
            .to_owned(),
        attribute: Some("backend"),
    }
}

/// Checks everything that can be checked without reading the state.
pub(super) fn validate_remote_state(
    states: Option<&Arc<dyn RemoteStates>>,
    config: &Value,
) -> DiagnosticsResponse {
    let null = Value::null(Type::Dynamic);
    let source = remote_state_source(config, &null);
    let checked = states.map_or_else(|| Err(no_backends_error()), |states| states.check(&source));
    let defaults = match attribute_value(config, "defaults") {
        Some(Value::Object(_) | Value::Map(_) | Value::Null(_) | Value::Unknown(_)) | None => None,
        Some(_) => Some(RemoteStateError {
            message: messages::INVALID_DEFAULT_VALUES,
            detail: "Defaults must be given in an object value.".to_owned(),
            attribute: Some("defaults"),
        }),
    };
    let errors = checked.err().into_iter().chain(defaults);
    DiagnosticsResponse { diagnostics: errors.map(RemoteStateError::into_diagnostic).collect() }
}

/// Reads the outputs. They are empty if the read failed.
pub(super) async fn read_remote_state(
    states: Option<&Arc<dyn RemoteStates>>,
    config: &Value,
    address: &str,
) -> (Value, Vec<ProviderDiagnostic>) {
    let mut outputs: Vec<(Str, Value)> = match attribute_value(config, "defaults") {
        Some(Value::Object(defaults)) => {
            defaults.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
        }
        Some(Value::Map(defaults)) => {
            defaults.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
        }
        _ => Vec::new(),
    };
    let mut diagnostics = Vec::new();
    let null = Value::null(Type::Dynamic);
    let state = match states {
        Some(states) => {
            let source =
                RemoteStateSource { address: Some(address), ..remote_state_source(config, &null) };
            states.read(&source).await
        }
        None => Err(no_backends_error()),
    };
    match state {
        Ok(file) => outputs.extend(file.state.outputs.iter().map(|(name, output)| {
            // As in Terraform, it is not sensitive here, even if it is sensitive in the other
            // configuration.
            (name.clone(), output.value.value().clone().split_marks().0.into_value())
        })),
        // Defaults replace missing outputs, but not a missing state.
        Err(error) => diagnostics.push(error.into_diagnostic()),
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
    use super::*;

    /// One state, of the backend `one`.
    struct SingleRemoteState;

    #[async_trait::async_trait]
    impl RemoteStates for SingleRemoteState {
        fn check(&self, source: &RemoteStateSource<'_>) -> Result<(), RemoteStateError> {
            match source.backend {
                Some("one") | None => Ok(()),
                Some(other) => Err(RemoteStateError {
                    message: messages::NO_BACKENDS,
                    detail: format!("There is no {other:?}."),
                    attribute: Some("backend"),
                }),
            }
        }

        async fn read(
            &self,
            source: &RemoteStateSource<'_>,
        ) -> Result<StateFile, RemoteStateError> {
            self.check(source)?;
            let text = r#"{"version":4,"serial":1,"lineage":"l","outputs":{"y":{"value":"own","type":"string"}},"resources":[]}"#;
            Ok(StateFile::parse(text.as_bytes()).unwrap())
        }
    }

    fn remote_state_config(backend: &str, defaults: Value) -> Value {
        Value::object([
            (Str::new("backend"), Value::string(backend)),
            (Str::new("config"), Value::null(Type::Dynamic)),
            (Str::new("defaults"), defaults),
            (Str::new("outputs"), Value::null(Type::Dynamic)),
            (Str::new("workspace"), Value::null(Type::String)),
        ])
    }

    #[tokio::test]
    async fn defaults_replace_missing_outputs_but_not_a_missing_state() {
        let states: Arc<dyn RemoteStates> = Arc::new(SingleRemoteState);
        let defaults = Value::object([
            (Str::new("x"), Value::string("default")),
            (Str::new("y"), Value::string("default")),
        ]);
        let (value, diagnostics) =
            read_remote_state(Some(&states), &remote_state_config("one", defaults.clone()), "")
                .await;
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let expected = Value::object([
            (Str::new("x"), Value::string("default")),
            (Str::new("y"), Value::string("own")),
        ]);
        assert_eq!(attribute_value(&value, "outputs"), Some(&expected));
        let (_, diagnostics) =
            read_remote_state(Some(&states), &remote_state_config("two", defaults), "").await;
        assert_eq!(diagnostics[0].detail, "There is no \"two\".");
    }

    #[test]
    fn a_backend_is_checked_before_anything_is_read() {
        let states: Arc<dyn RemoteStates> = Arc::new(SingleRemoteState);
        let check = |states: Option<&Arc<dyn RemoteStates>>, backend: &str| {
            validate_remote_state(states, &remote_state_config(backend, Value::null(Type::Dynamic)))
                .diagnostics
                .len()
        };
        assert_eq!(check(Some(&states), "one"), 0);
        assert_eq!(check(Some(&states), "two"), 1);
        assert_eq!(check(None, "one"), 1);
    }

    #[test]
    fn defaults_are_an_object() {
        let states: Arc<dyn RemoteStates> = Arc::new(SingleRemoteState);
        let check = |defaults: Value| {
            validate_remote_state(Some(&states), &remote_state_config("one", defaults)).diagnostics
        };
        assert_eq!(check(Value::object([("x", Value::string("1"))])), []);
        assert_eq!(check(Value::unknown(Type::Dynamic)), []);
        let [refused] = &check(Value::string("x"))[..] else { panic!("it is refused") };
        assert_eq!(refused.detail, "Defaults must be given in an object value.");
    }
}
