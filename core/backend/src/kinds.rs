//! The list of all types of backends, and the type of the local one.

use std::path::Path;
use std::sync::Arc;

use formwork_value::Type;
use formwork_value::schema::Block;

use crate::Backend;
use crate::azurerm::AzureKind;
use crate::consul::ConsulKind;
use crate::gcs::GcsKind;
use crate::http::HttpKind;
use crate::inmem::InMemoryKind;
use crate::kind::{Arguments, BackendKind, ConfigError, optional_attributes};
use crate::kubernetes::KubernetesKind;
use crate::local::{Local, Workspaces};
use crate::pg::PgKind;
use crate::s3::S3Kind;

/// All types of backends, by name.
pub const KINDS: [&dyn BackendKind; 9] = [
    &LocalKind,
    &HttpKind,
    &InMemoryKind,
    &PgKind,
    &S3Kind,
    &AzureKind,
    &GcsKind,
    &ConsulKind,
    &KubernetesKind,
];

/// Returns the type of backend of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn BackendKind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

/// The type of the local backend.
struct LocalKind;

impl BackendKind for LocalKind {
    fn name(&self) -> &'static str {
        "local"
    }

    fn schema(&self) -> Block {
        optional_attributes(&[("path", Type::String), ("workspace_dir", Type::String)])
    }

    fn configure(&self, arguments: &Arguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        // An empty string counts as not set, as in Terraform.
        let path = |name: &str| arguments.text(name).filter(|text| !text.is_empty());
        let (default, folder) = (path("path"), path("workspace_dir"));
        let (default, folder) = (default.as_deref(), folder.as_deref());
        let places =
            Workspaces::of(arguments.root(), default.map(Path::new), folder.map(Path::new));
        Ok(Arc::new(Local { places }))
    }
}
