//! Stores the journals of runs as secrets next to those of a state.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::codec::hex;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::client::KubernetesClient;
use super::cluster::{ClusterClient, KubernetesObject, ObjectKind, PutOutcome};
use crate::cause::{Cause, PermissionDenied};
use crate::journals::{CreateOutcome, ListedObject, ObjectStore};

/// The label of every secret of a state. Its different value keeps journals out of Terraform's
/// listings.
const STATE_LABEL: &str = "tfstate";

/// The annotation with the name of the object, which is not valid as the name of a secret.
const OBJECT_NAME_ANNOTATION: &str = "formwork-journal-part";

/// The secrets of the journals of one state.
pub(super) struct JournalSecrets {
    pub(super) cluster: Arc<ClusterClient>,
    pub(super) state: KubernetesClient,
}

impl JournalSecrets {
    fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = self.state.labels().clone();
        labels.insert(STATE_LABEL.to_owned(), "journal".to_owned());
        labels
    }

    /// Returns the names of the objects with a prefix.
    async fn list_names(&self, prefix: &str) -> Result<Vec<String>, Cause> {
        // A role may permit to list all secrets, but to access only those of the state by name. In this case a
        // journal could be neither read nor deleted.
        self.cluster.get(ObjectKind::Secret, &self.secret_name(prefix)).await?;
        let labels = self.labels().into_iter().map(|(name, value)| format!("{name}={value}"));
        let secrets = self.cluster.list(&labels.collect::<Vec<_>>().join(",")).await?;
        let names = secrets.iter().filter_map(|secret| secret.annotation(OBJECT_NAME_ANNOTATION));
        Ok(names.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect())
    }

    /// Returns the secret name of an object. Run IDs have uppercase letters, which the names of
    /// secrets must not have.
    fn secret_name(&self, name: &str) -> String {
        let name_hash =
            hex::encode(&Sha256::digest(format!("{}\n{name}", self.state.name()))[..16]);
        // It has another prefix than the name of a state, which could be the same otherwise.
        format!("formwork-journal-{name_hash}")
    }
}

#[async_trait::async_trait]
impl ObjectStore for JournalSecrets {
    fn location(&self, _prefix: &str) -> String {
        format!("{} (secrets with the label {STATE_LABEL}=journal)", self.cluster.location(""))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        match self.list_names(prefix).await {
            // The lease shows whether a run is active.
            Ok(names) => {
                Ok(Ok(names.into_iter().map(|name| ListedObject { name, age: None }).collect()))
            }
            Err(cause) if PermissionDenied::is_cause(&cause) => Ok(Err(format!(
                "Other machines cannot find a journal in the cluster, because its secrets cannot be read: {cause}"
            ))),
            Err(cause) => Err(cause),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        let secret_name = self.secret_name(name);
        let Some(secret) = self.cluster.get(ObjectKind::Secret, &secret_name).await? else {
            return Ok(None);
        };
        let data = STANDARD.decode(secret.0["data"]["part"].as_str().unwrap_or_default());
        let data =
            data.map_err(|error| format!("the secret {secret_name:?} is damaged: {error}"))?;
        Ok(Some(data))
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": self.secret_name(name),
                "namespace": self.cluster.namespace(),
                "labels": self.labels(),
                "annotations": { "encoding": "gzip", OBJECT_NAME_ANNOTATION: name },
            },
            "data": { "part": STANDARD.encode(content) },
        });
        Ok(match self.cluster.create(ObjectKind::Secret, &KubernetesObject(secret)).await {
            Ok(PutOutcome::Stored(_)) => CreateOutcome::Created,
            Ok(PutOutcome::Refused { .. }) => CreateOutcome::Exists,
            Err(cause) if PermissionDenied::is_cause(&cause) => CreateOutcome::Refused(cause),
            Err(cause) => return Err(cause),
        })
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        self.cluster.delete(ObjectKind::Secret, &self.secret_name(name)).await
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        self.state.is_locked().await
    }
}
