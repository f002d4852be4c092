//! The state of one workspace in a namespace. It is compressed, stored in one or several secrets, written
//! only over the versions that were read, and locked by a lease.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::cluster::{ClusterClient, KubernetesObject, ObjectKind, PutOutcome};
use super::state_copy::{StateCopy, join_secrets};
use crate::cause::Cause;
use crate::compression::compress_gzip;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient};
use crate::store::LockEnd;
use formwork_core::disk::parse_json_object;

/// The label with the name of the workspace.
pub(super) const WORKSPACE_LABEL: &str = "tfstateWorkspace";

/// The label with the argument `secret_suffix`.
pub(super) const SUFFIX_LABEL: &str = "tfstateSecretSuffix";

/// The annotation of the lease that describes the holder.
const LOCK_HOLDER_ANNOTATION: &str = "app.terraform.io/lock-info";

/// Maximum length of the part of a state in one secret.
pub(super) const MAX_CHUNK_LEN: usize = 1_048_576;

/// Maximum length of a name.
const MAX_NAME_LEN: usize = 253;

/// The client of one workspace's state.
pub(super) struct KubernetesClient {
    cluster: Arc<ClusterClient>,
    name: String,
    labels: BTreeMap<String, String>,
    /// The secrets that were last read or written, in the order of their parts.
    known_secrets: Option<Vec<KubernetesObject>>,
    /// Whether the state that was last read is complete only in its copy.
    is_half_written: bool,
}

impl KubernetesClient {
    /// Creates the client. Sends no request yet.
    pub(super) fn new(
        cluster: Arc<ClusterClient>,
        name: String,
        labels: BTreeMap<String, String>,
    ) -> Self {
        Self { cluster, name, labels, known_secrets: None, is_half_written: false }
    }

    /// Returns the name of its first secret.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the labels of its secrets.
    pub(super) fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Whether a process holds the lease.
    pub(super) async fn is_locked(&self) -> Result<bool, Cause> {
        Ok(self.lock_holder().await?.is_some())
    }

    /// Checks that the name is valid for objects.
    ///
    /// # Errors
    /// Returns an error if Kubernetes does not permit the name.
    pub(super) fn check_object_name(&self) -> Result<(), Cause> {
        let name = self.lease_name();
        // Kubernetes requires the names of these objects to be DNS subdomains (RFC 1123).
        let is_label = |label: &str| {
            let is_permitted = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !label.is_empty()
                && label.chars().all(is_permitted)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if name.len() <= MAX_NAME_LEN && name.split('.').all(is_label) {
            return Ok(());
        }
        Err(format!(
            "the secret name {} is invalid: the workspace and secret_suffix must have lower case letters, digits, '-' and '.' only, and begin and end with a letter or digit",
            self.name
        )
        .into())
    }

    fn lease_name(&self) -> String {
        format!("lock-{}", self.name)
    }

    fn secret_name(&self, i: usize) -> String {
        // The first part has the plain name, which Terraform reads for a small state.
        if i == 0 { self.name.clone() } else { format!("{}-part-{i}", self.name) }
    }

    /// Returns the secrets of the state, in the order of their parts.
    async fn read_secrets(&self) -> Result<Vec<KubernetesObject>, Cause> {
        self.cluster.list_in_order(&self.labels).await
    }

    /// Returns the copy of a new state while its secrets are written.
    fn state_copy(&self) -> StateCopy<'_> {
        StateCopy::new(&self.cluster, &self.name, &self.labels)
    }

    /// Deletes the state and its lease.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        self.state_copy().remove().await?;
        for secret in self.read_secrets().await?.iter().rev() {
            self.cluster.delete(ObjectKind::Secret, secret.name()).await?;
        }
        match self.cluster.get(ObjectKind::Lease, &self.lease_name()).await? {
            // A lease without the label was not created for a state, and is not deleted.
            Some(lease) if lease.label("tfstate") == Some("true") => {
                self.cluster.delete(ObjectKind::Lease, &self.lease_name()).await
            }
            _ => Ok(()),
        }
    }

    /// Writes one part, over the known version.
    async fn put_secret(
        &self,
        i: usize,
        chunk: &[u8],
        known_secret: Option<&KubernetesObject>,
    ) -> Result<PutOutcome, Cause> {
        let data = STANDARD.encode(chunk);
        let Some(known_secret) = known_secret else {
            let secret = json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {
                    "name": self.secret_name(i),
                    "namespace": self.cluster.namespace(),
                    "labels": self.labels,
                    "annotations": { "encoding": "gzip" },
                },
                "data": { "tfstate": data },
            });
            return self.cluster.create(ObjectKind::Secret, &KubernetesObject(secret)).await;
        };
        // All other fields are preserved, including the version, which makes the server refuse to
        // replace another version.
        let mut secret = known_secret.clone();
        set_nested_member(&mut secret.0, &["data", "tfstate"], Some(Value::String(data)));
        // A listing omits these fields.
        set_nested_member(&mut secret.0, &["apiVersion"], Some(json!("v1")));
        set_nested_member(&mut secret.0, &["kind"], Some(json!("Secret")));
        self.cluster.update(ObjectKind::Secret, &secret).await
    }

    async fn lock_holder(&self) -> Result<Option<LeaseWithHolder>, Cause> {
        let Some(lease) = self.cluster.get(ObjectKind::Lease, &self.lease_name()).await? else {
            return Ok(None);
        };
        let id = lease.0["spec"]["holderIdentity"].as_str().map(str::to_owned);
        Ok(id.map(|id| LeaseWithHolder { lease, id }))
    }

    /// Writes the holder to the lease, and creates the lease if necessary.
    async fn acquire_lease(
        &self,
        lease: Option<KubernetesObject>,
        info: &LockInfo,
    ) -> Result<PutOutcome, Cause> {
        let text = serde_json::to_string(info)?;
        match lease {
            None => {
                let lease = json!({
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    "metadata": {
                        "name": self.lease_name(),
                        "namespace": self.cluster.namespace(),
                        "labels": self.labels,
                        "annotations": { LOCK_HOLDER_ANNOTATION: text },
                    },
                    "spec": { "holderIdentity": info.id },
                });
                self.cluster.create(ObjectKind::Lease, &KubernetesObject(lease)).await
            }
            Some(mut lease) => {
                // The request includes the version that was read, so only one of two processes
                // succeeds.
                set_nested_member(&mut lease.0, &["spec", "holderIdentity"], Some(json!(info.id)));
                set_nested_member(
                    &mut lease.0,
                    &["metadata", "annotations", LOCK_HOLDER_ANNOTATION],
                    Some(json!(text)),
                );
                self.cluster.update(ObjectKind::Lease, &lease).await
            }
        }
    }
}

/// A lease that has a holder.
struct LeaseWithHolder {
    lease: KubernetesObject,
    /// The id of the holder.
    id: String,
}

impl LeaseWithHolder {
    /// The description of the holder.
    fn lock_info(&self) -> Box<LockInfo> {
        let text = self.lease.0["metadata"]["annotations"][LOCK_HOLDER_ANNOTATION]
            .as_str()
            .unwrap_or_default();
        let info: LockInfo = parse_json_object(text.as_bytes()).unwrap_or_default();
        Box::new(LockInfo { id: self.id.clone(), ..info })
    }
}

/// Sets a field of nested objects, or removes it.
fn set_nested_member(object: &mut Value, path: &[&str], value: Option<Value>) {
    let Some((name, remaining_path)) = path.split_first() else { return };
    // The server omits empty objects, for example the annotations.
    if !object.is_object() {
        *object = json!({});
    }
    let Value::Object(map) = object else { return };
    match (remaining_path, value) {
        ([], Some(value)) => drop(map.insert((*name).to_owned(), value)),
        ([], None) => drop(map.remove(*name)),
        (_, value) => {
            set_nested_member(map.entry(*name).or_insert(Value::Null), remaining_path, value);
        }
    }
}

#[async_trait::async_trait]
impl RemoteClient for KubernetesClient {
    fn location(&self) -> String {
        self.cluster.location(&self.name)
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let secrets = self.read_secrets().await?;
        let mut text = join_secrets(&secrets);
        let copied_text = match &text {
            Ok(_) => None,
            Err(_) => self.state_copy().find_text_for(&secrets).await?,
        };
        self.is_half_written = copied_text.is_some();
        if copied_text.is_some() {
            text = Ok(copied_text);
        }
        self.known_secrets = Some(secrets);
        text
    }

    fn needs_rewrite(&self) -> bool {
        self.is_half_written
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        self.check_object_name()?;
        // Moved out, because after a failure it is not known which parts are stored.
        let known_secrets = match self.known_secrets.take() {
            Some(known_secrets) => known_secrets,
            None => self.read_secrets().await?,
        };
        let content = compress_gzip(&text)?;
        let chunks: Vec<&[u8]> = content.chunks(MAX_CHUNK_LEN).collect();
        // Several secrets cannot be written atomically.
        let needs_copy = chunks.len() > 1 || known_secrets.len() > 1;
        if needs_copy && let Err(error) = self.state_copy().store(&chunks, &known_secrets).await {
            // The journal still has the results of this run.
            tracing::warn!(%error, "the state is written without a copy");
        }
        let mut stored = Vec::new();
        for (i, chunk) in chunks.into_iter().enumerate() {
            match self.put_secret(i, chunk, known_secrets.get(i)).await? {
                PutOutcome::Stored(secret) => stored.push(secret),
                PutOutcome::Refused { .. } => {
                    // An attempt whose response was lost may have changed the version.
                    let name = self.secret_name(i);
                    let current = self.cluster.get(ObjectKind::Secret, &name).await?;
                    let data = STANDARD.encode(chunk);
                    match current {
                        Some(current) if current.0["data"]["tfstate"].as_str() == Some(&data) => {
                            stored.push(current);
                        }
                        _ => return Err(PutError::Changed),
                    }
                }
            }
        }
        // Parts beyond the new end would be read as a part of the state. The last one is deleted first, so that
        // a crash leaves no gap.
        for secret in known_secrets.iter().skip(stored.len()).rev() {
            self.cluster.delete(ObjectKind::Secret, secret.name()).await?;
        }
        self.known_secrets = Some(stored);
        if needs_copy && let Err(error) = self.state_copy().remove().await {
            // Readers use the copy only while the secrets are partly written.
            tracing::warn!(%error, "the copy of the state stays behind");
        }
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        self.check_object_name()?;
        let lease = self.cluster.get(ObjectKind::Lease, &self.lease_name()).await?;
        let id = lease.as_ref().and_then(|lease| lease.0["spec"]["holderIdentity"].as_str());
        if id.is_none()
            && let PutOutcome::Stored(_) = self.acquire_lease(lease, info).await?
        {
            return Ok(LockOutcome::Taken);
        }
        // Another process holds it, or an earlier attempt whose response was lost.
        match self.lock_holder().await? {
            Some(held_lease) if held_lease.id == info.id => Ok(LockOutcome::Taken),
            held_lease => {
                Ok(LockOutcome::Held(held_lease.as_ref().map(LeaseWithHolder::lock_info)))
            }
        }
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        match self.break_lock(id).await? {
            // The lease is deleted with the state of a deleted workspace.
            ForceUnlockOutcome::OtherLock(None)
                if self.cluster.get(ObjectKind::Lease, &self.lease_name()).await?.is_none() =>
            {
                Ok(())
            }
            outcome => outcome.of_own_lock(),
        }
    }

    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        Ok(self.lock_holder().await?.map(|lease| *lease.lock_info()))
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let mut held_lease = self.lock_holder().await?;
        if let Some(lease_with_holder) =
            held_lease.as_ref().filter(|held_lease| held_lease.id == id)
        {
            let mut lease = lease_with_holder.lease.clone();
            // The request includes the version that was read, so a lease that another process has
            // acquired since then is preserved.
            set_nested_member(&mut lease.0, &["spec", "holderIdentity"], None);
            set_nested_member(
                &mut lease.0,
                &["metadata", "annotations", LOCK_HOLDER_ANNOTATION],
                None,
            );
            let updated = self.cluster.update(ObjectKind::Lease, &lease).await?;
            if let PutOutcome::Stored(_) = updated {
                return Ok(ForceUnlockOutcome::Released);
            }
            held_lease = self.lock_holder().await?;
            // No other lock ever has this ID, so an attempt whose response was lost has released
            // it.
            if let PutOutcome::Refused { follows_unclear_attempt: true } = updated
                && held_lease.as_ref().is_none_or(|held_lease| held_lease.id != id)
            {
                return Ok(ForceUnlockOutcome::Released);
            }
        }
        Ok(ForceUnlockOutcome::OtherLock(held_lease.as_ref().map(LeaseWithHolder::lock_info)))
    }
}
