//! The copy of a new state that is longer than one secret. It is complete before the first secret of the state
//! is replaced, so that a crash between two of them leaves a state that can be read. Terraform ignores it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::codec::hex;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::cluster::{ClusterClient, KubernetesObject, ObjectKind, PutOutcome};
use crate::cause::Cause;
use crate::compression::decompress_gzip;

/// The label of every secret of a state. Its different value keeps the copy out of Terraform's
/// listings.
const STATE_LABEL: &str = "tfstate";

/// The annotation with the checksums of the secrets that the new state replaces, in their order.
const REPLACED_SUMS_ANNOTATION: &str = "formwork-replaced-sums";

/// The copy of one state.
pub(super) struct StateCopy<'a> {
    cluster: &'a ClusterClient,
    name: &'a str,
    labels: BTreeMap<String, String>,
}

impl<'a> StateCopy<'a> {
    /// Creates the copy of the state with a name and labels.
    pub(super) fn new(
        cluster: &'a ClusterClient,
        name: &'a str,
        labels: &BTreeMap<String, String>,
    ) -> Self {
        let mut labels = labels.clone();
        labels.insert(STATE_LABEL.to_owned(), "next".to_owned());
        Self { cluster, name, labels }
    }

    /// Stores the parts of the state that will replace the one in the given secrets.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond, or if another program
    /// stores a copy concurrently.
    pub(super) async fn store(
        &self,
        chunks: &[&[u8]],
        replaced: &[KubernetesObject],
    ) -> Result<(), Cause> {
        // A copy may remain from a run that was killed.
        self.remove().await?;
        let sums: Vec<String> = replaced.iter().map(content_sum).collect();
        for (i, chunk) in chunks.iter().enumerate() {
            let secret = json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {
                    // `secret_suffix` must not end with a number, so no state has this name.
                    "name": format!("{}-next-{i}", self.name),
                    "namespace": self.cluster.namespace(),
                    "labels": self.labels,
                    "annotations": { "encoding": "gzip", REPLACED_SUMS_ANNOTATION: sums.join(" ") },
                },
                "data": { STATE_LABEL: STANDARD.encode(chunk) },
            });
            match self.cluster.create(ObjectKind::Secret, &KubernetesObject(secret)).await? {
                PutOutcome::Stored(_) | PutOutcome::Refused { follows_unclear_attempt: true } => {}
                PutOutcome::Refused { .. } => {
                    return Err("another program stores a copy at the same time".into());
                }
            }
        }
        Ok(())
    }

    /// Returns the content of the copy, if the secrets of the state are partly replaced by it. An older copy is
    /// useless.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond.
    pub(super) async fn find_text_for(
        &self,
        stored_secrets: &[KubernetesObject],
    ) -> Result<Option<Vec<u8>>, Cause> {
        let copied = self.cluster.list_in_order(&self.labels).await?;
        let Some(first_copy) = copied.first() else { return Ok(None) };
        let recorded_sums =
            first_copy.0["metadata"]["annotations"][REPLACED_SUMS_ANNOTATION].as_str();
        let replaced: Vec<&str> = recorded_sums.unwrap_or_default().split(' ').collect();
        let is_step = stored_secrets.iter().enumerate().all(|(i, secret)| {
            let stored_sum = content_sum(secret);
            replaced.get(i).is_some_and(|replaced_sum| *replaced_sum == stored_sum)
                || copied.get(i).is_some_and(|copy| content_sum(copy) == stored_sum)
        });
        // An incomplete copy is ignored.
        Ok(join_secrets(&copied).ok().flatten().filter(|_| is_step))
    }

    /// Deletes the copy, if it exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond.
    pub(super) async fn remove(&self) -> Result<(), Cause> {
        for secret in self.cluster.list_in_order(&self.labels).await? {
            self.cluster.delete(ObjectKind::Secret, secret.name()).await?;
        }
        Ok(())
    }
}

/// Returns the checksum of the part of a state in a secret.
fn content_sum(secret: &KubernetesObject) -> String {
    let data = secret.0["data"][STATE_LABEL].as_str().unwrap_or_default();
    hex::encode(&Sha256::digest(data))
}

/// Returns the content in the secrets, or `None` if one contains no state.
pub(super) fn join_secrets(secrets: &[KubernetesObject]) -> Result<Option<Vec<u8>>, Cause> {
    let mut content = Vec::new();
    for secret in secrets {
        let Some(data) = secret.0["data"]["tfstate"].as_str() else { return Ok(None) };
        let chunk = STANDARD.decode(data);
        let name = secret.name();
        content.extend(chunk.map_err(|error| format!("the secret {name:?} is damaged: {error}"))?);
    }
    if content.is_empty() {
        return Ok(None);
    }
    let text = decompress_gzip(&content).map_err(|error| {
        let n = secrets.len();
        format!("the state in {n} secrets cannot be decompressed: {error}")
    })?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}
