//! States of other configurations, in any backend, for `terraform_remote_state`.

use std::sync::Arc;

use async_trait::async_trait;
use formwork_core::provider::builtin::remote_state::{
    RemoteStateError, RemoteStateSource, RemoteStates,
};
use formwork_core::state::file::{FileError, StateFile};
use formwork_value::{Str, Type, Value};

use crate::arguments::{BackendArguments, BackendEnvironment};
use crate::encrypted_backend::encrypt_backend;
use crate::encryption::RemoteCiphers;
use crate::kind::BackendKind;
use crate::kinds::find_backend_kind;
use crate::unsupported::describe_unsupported_source;
use crate::{Backend, DEFAULT_WORKSPACE, messages};

/// Reads states with the backends of this crate.
///
/// ```
/// use formwork_backend::encryption::RemoteCiphers;
/// use formwork_backend::kind::BackendEnvironment;
/// use formwork_backend::remote_state::RemoteStateReader;
/// use formwork_core::provider::builtin::remote_state::{RemoteStateSource, RemoteStates as _};
/// use formwork_value::Value;
///
/// let reader = RemoteStateReader::new(BackendEnvironment::default(), RemoteCiphers::default());
/// let config = Value::object([("path", Value::string("network.tfstate"))]);
/// let (config, workspace, address) = (&config, None, None);
/// let source = RemoteStateSource { backend: Some("local"), config, workspace, address };
/// assert!(reader.check(&source).is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct RemoteStateReader {
    environment: BackendEnvironment,
    ciphers: RemoteCiphers,
}

impl RemoteStateReader {
    /// Creates a reader that resolves relative paths from the working directory in `environment`,
    /// and decrypts states with the ciphers for them.
    #[must_use]
    pub fn new(environment: BackendEnvironment, ciphers: RemoteCiphers) -> Self {
        Self { environment, ciphers }
    }

    fn configure_backend(
        &self,
        source: &RemoteStateSource<'_>,
    ) -> Result<Arc<dyn Backend>, RemoteStateError> {
        let name = source.backend.unwrap_or_default();
        let kind = expect_backend_kind(name)?;
        let values = config_values(kind, source.config)?;
        let arguments = BackendArguments { values: &values, environment: &self.environment };
        kind.configure(&arguments).map_err(|error| {
            invalid_attribute_error(
                "config",
                format!(
                    "The given configuration is not valid for backend {name:?}: {}.",
                    error.message
                ),
            )
        })
    }
}

#[async_trait]
impl RemoteStates for RemoteStateReader {
    fn check(&self, source: &RemoteStateSource<'_>) -> Result<(), RemoteStateError> {
        // A backend type that is unknown is checked when it is known.
        let Some(name) = source.backend else { return Ok(()) };
        config_values(expect_backend_kind(name)?, source.config).map(drop)
    }

    async fn read(&self, source: &RemoteStateSource<'_>) -> Result<StateFile, RemoteStateError> {
        let cipher = self.ciphers.cipher_for(source.address.unwrap_or_default());
        let backend = encrypt_backend(self.configure_backend(source)?, cipher.clone());
        // As in Terraform, an empty name means no workspace.
        let workspace = source.workspace.filter(|name| !name.is_empty());
        let workspace = workspace.unwrap_or(DEFAULT_WORKSPACE);
        let failed = |error: crate::StoreError| {
            if matches!(error, crate::StoreError::NoWorkspace { .. }) {
                return one_workspace_error(backend.kind(), workspace);
            }
            let detail = match &error {
                crate::StoreError::Unusable { location, error: FileError::Encrypted, .. } => {
                    format!("{location}: {}.\n\n{ENCRYPTED_STATE_REMEDY}", FileError::Encrypted)
                }
                _ => error.diagnostic().detail,
            };
            RemoteStateError { message: messages::REMOTE_STATE_UNREADABLE, detail, attribute: None }
        };
        // As in Terraform, without a lock: a run of the other configuration must not block this
        // one.
        let mut store = backend.open_store(workspace).await.map_err(failed)?;
        store.read().await.map_err(failed)?.ok_or_else(|| RemoteStateError {
            message: messages::REMOTE_STATE_NOT_FOUND,
            detail: format!("No stored state was found at {}.", store.location()),
            attribute: Some("workspace"),
        })
    }
}

/// The next step for an encrypted state without a method. The target `state` is only for the state of this
/// configuration.
const ENCRYPTED_STATE_REMEDY: &str = "States of other configurations have a target of their own in the `encryption` block of a `terraform` block and in TF_ENCRYPTION. Name a method in it that has the keys of the configuration which writes the state:\n\n  remote_state_data_sources {\n    default {\n      method = method.TYPE.NAME\n    }\n  }\n\nA block `remote_state_data_source \"NAME\"` beside `default` is for one data source. Nothing was changed.";

/// Refuses a workspace of a backend that keeps one state. The selected workspace of this configuration has
/// nothing to do with it.
fn one_workspace_error(kind: &str, workspace: &str) -> RemoteStateError {
    RemoteStateError {
        message: messages::REMOTE_STATE_UNREADABLE,
        detail: format!(
            "The argument \"workspace\" is {workspace:?}, but the backend {kind:?} supports only the workspace {DEFAULT_WORKSPACE:?}. Remove the argument."
        ),
        attribute: Some("workspace"),
    }
}

fn invalid_attribute_error(attribute: &'static str, detail: String) -> RemoteStateError {
    let message = messages::INVALID_BACKEND_CONFIGURATION;
    RemoteStateError { message, detail, attribute: Some(attribute) }
}

fn expect_backend_kind(name: &str) -> Result<&'static dyn BackendKind, RemoteStateError> {
    find_backend_kind(name)
        .ok_or_else(|| invalid_attribute_error("backend", describe_unsupported_source(name)))
}

/// Converts the argument values to the schema of the backend.
fn config_values(kind: &dyn BackendKind, config: &Value) -> Result<Value, RemoteStateError> {
    let schema = kind.schema();
    let not_valid = |reason: String| {
        invalid_attribute_error(
            "config",
            format!(
                "The given configuration is not valid for backend {:?}: {reason}.",
                kind.name()
            ),
        )
    };
    let names: Vec<Str> = match config {
        // Unknown values may become valid.
        Value::Null(_) | Value::Unknown(_) => Vec::new(),
        Value::Object(settings) => settings.iter().map(|(name, _)| name.clone()).collect(),
        Value::Map(settings) => settings.iter().map(|(name, _)| name.clone()).collect(),
        _ => return Err(not_valid("an object is required".to_owned())),
    };
    let unknown = names.iter().find(|name| !schema.attributes.contains_key(name.as_str()));
    if let Some(name) = unknown {
        return Err(not_valid(format!("unexpected attribute {name:?}")));
    }
    let empty = Value::object(std::iter::empty::<(Str, Value)>());
    // As in Terraform, a missing configuration is an empty one: the schema decides whether that is
    // sufficient.
    let config = if matches!(config, Value::Null(_)) { &empty } else { config };
    let coerced = schema.coerce(config).map_err(|mismatch| not_valid(mismatch.reason))?;
    Ok(if coerced.is_null() { Value::null(Type::Dynamic) } else { coerced })
}

#[cfg(test)]
mod tests {
    use formwork_value::Number;

    use super::*;

    fn check(config: &Value) -> String {
        let source =
            RemoteStateSource { backend: Some("local"), config, workspace: None, address: None };
        let checked = RemoteStateReader::default().check(&source);
        checked.err().map(|error| error.detail).unwrap_or_default()
    }

    fn settings(name: &str, value: Value) -> Value {
        Value::object([(Str::new(name), value)])
    }

    #[test]
    fn remote_state_arguments_are_the_arguments_of_the_backend() {
        let expected = "The given configuration is not valid for backend \"local\": unexpected attribute \"pth\".";
        assert_eq!(check(&settings("pth", Value::string("x"))), expected);
        let expected =
            "The given configuration is not valid for backend \"local\": an object is required.";
        assert_eq!(check(&Value::string("x")), expected);
        assert_eq!(check(&settings("path", Value::unknown(Type::String))), "");
        assert_eq!(check(&Value::null(Type::Dynamic)), "");
    }

    #[tokio::test]
    async fn a_state_is_read_from_the_file_that_the_arguments_name() {
        let directory = tempfile::tempdir().unwrap();
        let environment = BackendEnvironment {
            root: directory.path().to_owned(),
            ..BackendEnvironment::default()
        };
        let states = RemoteStateReader::new(environment, RemoteCiphers::default());
        // As in a `backend` block, a number is converted to a string.
        let config = settings("path", Value::Number(Number::from(5_i64)));
        let source = RemoteStateSource {
            backend: Some("local"),
            config: &config,
            workspace: None,
            address: None,
        };
        let missing = states.read(&source).await.unwrap_err();
        assert_eq!(missing.message, messages::REMOTE_STATE_NOT_FOUND);
        let text = StateFile { serial: 3, ..StateFile::new_empty() }.to_bytes();
        std::fs::write(directory.path().join("5"), text).unwrap();
        assert_eq!(states.read(&source).await.unwrap().serial, 3);
    }

    #[tokio::test]
    async fn the_target_for_an_encrypted_state_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        std::fs::write(&path, r#"{"encryption_version":"v0","encrypted_data":"AA=="}"#).unwrap();
        let config = settings("path", Value::string(path.display().to_string()));
        let source = RemoteStateSource {
            backend: Some("local"),
            config: &config,
            workspace: None,
            address: None,
        };
        let error = RemoteStateReader::default().read(&source).await.unwrap_err();
        assert!(error.detail.contains("remote_state_data_sources {"), "{}", error.detail);
    }

    #[tokio::test]
    async fn a_workspace_of_a_backend_with_one_state_is_refused_by_the_argument() {
        let config = settings("address", Value::string("http://127.0.0.1:1/state"));
        let source = RemoteStateSource {
            backend: Some("http"),
            config: &config,
            workspace: Some("prod"),
            address: None,
        };
        let error = RemoteStateReader::default().read(&source).await.unwrap_err();
        assert_eq!(error.attribute, Some("workspace"));
        assert_eq!(
            error.detail,
            "The argument \"workspace\" is \"prod\", but the backend \"http\" supports only the workspace \"default\". Remove the argument."
        );
    }

    #[test]
    fn an_unsupported_backend_is_refused_with_a_remedy() {
        let config = Value::null(Type::Dynamic);
        let source = RemoteStateSource {
            backend: Some("remote"),
            config: &config,
            workspace: None,
            address: None,
        };
        let error = RemoteStateReader::default().check(&source).unwrap_err();
        assert_eq!(error.attribute, Some("backend"));
        assert!(error.detail.contains("terraform state pull > FILE"), "{}", error.detail);
        assert!(error.detail.contains("\"tfe_outputs\""), "{}", error.detail);
        // These steps are for the backend of the configuration itself.
        assert!(!error.detail.contains("-reconfigure"), "{}", error.detail);
    }
}
