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
use crate::kind::{BackendKind, BackendSummary};
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

    fn summary(&self) -> BackendSummary {
        BackendSummary { has_workspaces: true, lock: "on the file", release: "with the process" }
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
    use std::collections::BTreeSet;

    use expect_test::expect_file;
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

    /// The table of all types.
    fn backend_table() -> String {
        let mut table = "| backend | workspaces | lock | release after the process dies |\n| --- | --- | --- | --- |\n".to_owned();
        for kind in BACKEND_KINDS {
            let BackendSummary { has_workspaces, lock, release } = kind.summary();
            let workspaces = if has_workspaces { "yes" } else { "no" };
            table += &format!("| `{}` | {workspaces} | {lock} | {release} |\n", kind.name());
        }
        table
    }

    #[test]
    fn the_page_on_backends_lists_each_type() {
        const PAGE: &str = include_str!("../../../docs/backends.md");
        let (open, close) = ("<!-- backends -->\n", "<!-- end of backends -->\n");
        let (before, rest) = PAGE.split_once(open).unwrap();
        let (_, after) = rest.split_once(close).unwrap();
        let page = format!("{before}{open}{}{close}{after}", backend_table());
        expect_file!["../../../docs/backends.md"].assert_eq(&page);
        let names: BTreeSet<&str> = BACKEND_KINDS.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), BACKEND_KINDS.len());
    }
}
