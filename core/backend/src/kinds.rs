//! The list of all backend types, and the type of the local backend.

use std::path::Path;
use std::sync::Arc;

use formwork_value::Type;
use formwork_value::schema::Block;

use crate::Backend;
use crate::arguments::{BackendArguments, optional_attributes_block};
#[cfg(feature = "azurerm")]
use crate::azurerm::AzureBackendKind;
use crate::config_error::ConfigError;
#[cfg(feature = "consul")]
use crate::consul::ConsulBackendKind;
#[cfg(feature = "gcs")]
use crate::gcs::GcsBackendKind;
#[cfg(feature = "http")]
use crate::http::HttpBackendKind;
use crate::inmem::InMemoryBackendKind;
use crate::kind::BackendKind;
#[cfg(feature = "kubernetes")]
use crate::kubernetes::KubernetesBackendKind;
use crate::local::{LocalBackend, Workspaces};
#[cfg(feature = "pg")]
use crate::pg::PgBackendKind;
#[cfg(feature = "s3")]
use crate::s3::S3BackendKind;

/// All backend types of this build, by name.
pub const BACKEND_KINDS: &[&dyn BackendKind] = &[
    &LocalBackendKind,
    #[cfg(feature = "http")]
    &HttpBackendKind,
    &InMemoryBackendKind,
    #[cfg(feature = "pg")]
    &PgBackendKind,
    #[cfg(feature = "s3")]
    &S3BackendKind,
    #[cfg(feature = "azurerm")]
    &AzureBackendKind,
    #[cfg(feature = "gcs")]
    &GcsBackendKind,
    #[cfg(feature = "consul")]
    &ConsulBackendKind,
    #[cfg(feature = "kubernetes")]
    &KubernetesBackendKind,
];

/// Returns the backend type with a name.
#[must_use]
pub fn find_backend_kind(name: &str) -> Option<&'static dyn BackendKind> {
    BACKEND_KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// The type of the local backend.
struct LocalBackendKind;

impl BackendKind for LocalBackendKind {
    fn name(&self) -> &'static str {
        "local"
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn schema(&self) -> Block {
        optional_attributes_block(&[("path", Type::String), ("workspace_dir", Type::String)])
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let path = |name: &str| match arguments.string(name) {
            Some(text) if text.is_empty() => {
                Err(ConfigError::new(format!("the argument {name:?} must not be empty")))
            }
            path => Ok(path),
        };
        let (default, directory) = (path("path")?, path("workspace_dir")?);
        let (default, directory) = (default.as_deref(), directory.as_deref());
        let workspaces = Workspaces::from_paths(
            arguments.working_directory(),
            default.map(Path::new),
            directory.map(Path::new),
        );
        Ok(Arc::new(LocalBackend { workspaces }))
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::Value;

    use super::*;
    use crate::scripted_server::configure_backend_with_variables;

    #[test]
    fn an_empty_path_of_a_local_state_is_an_error() {
        for name in ["path", "workspace_dir"] {
            let configure = |text| {
                let arguments = [(name, Value::string(text))];
                configure_backend_with_variables("local", &arguments, &[]).map(drop)
            };
            let error = configure("").unwrap_err();
            assert_eq!(error.message, format!("the argument {name:?} must not be empty"));
            assert!(configure("x").is_ok());
        }
    }

    #[test]
    fn all_missing_required_arguments_are_reported_together() {
        for (kind, named) in [
            (
                "azurerm",
                "the attributes \"container_name\", \"key\" and \"storage_account_name\" are",
            ),
            ("consul", "the attribute \"path\" is"),
            ("gcs", "the attribute \"bucket\" is"),
            ("kubernetes", "the attribute \"secret_suffix\" is"),
            ("s3", "the attributes \"bucket\" and \"key\" are"),
        ] {
            let error = configure_backend_with_variables(kind, &[], &[]).err().unwrap();
            let rest = error.message.strip_prefix(named).expect(&error.message);
            assert_eq!(rest.contains("AWS_DEFAULT_REGION"), kind == "s3", "{rest}");
        }
        for kind in BACKEND_KINDS {
            let (schema, required) = (kind.schema(), kind.required_arguments());
            assert!(required.is_sorted_by_key(|argument| argument.name), "as Terraform asks");
            for argument in required {
                assert_eq!(schema.attributes[argument.name].implied_type(), Type::String);
            }
        }
    }

    #[test]
    fn only_the_http_backend_keeps_journals_on_one_machine() {
        let local = BACKEND_KINDS.iter().filter(|kind| kind.keeps_journals_on_one_machine());
        let local: Vec<&str> = local.map(|kind| kind.name()).collect();
        assert_eq!(local, ["http"]);
    }

    #[test]
    fn each_type_of_backend_has_a_row_in_the_documentation() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/backends.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, table) = page.split_once("| backend | workspaces | lock |").unwrap();
        let rows = table.lines().skip(2).take_while(|line| line.starts_with("| `"));
        let listed: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        let mut names: Vec<&str> = BACKEND_KINDS.iter().map(|kind| kind.name()).collect();
        assert!(names.iter().all(|name| listed.contains(name)), "{names:?} are in {listed:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), listed.len()), (BACKEND_KINDS.len(), BACKEND_KINDS.len()));
    }
}
