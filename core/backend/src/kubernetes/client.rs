//! The state of one workspace in a namespace: compressed, in one secret or in several, written only over the
//! versions that were read, and locked by a lease.

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

/// The longest part of a state in one secret.
pub(super) const MAX_CHUNK_LEN: usize = 1_048_576;

/// The longest name.
const MAX_NAME_LEN: usize = 253;

/// The state of a workspace.
pub(super) struct KubernetesClient {
    cluster: Arc<ClusterClient>,
    name: String,
    labels: BTreeMap<String, String>,
    /// The secrets that were last read or written, in the order of their parts.
    known: Option<Vec<KubernetesObject>>,
    /// Whether only the copy of the state that was last read is whole.
    is_half_written: bool,
}

impl KubernetesClient {
    /// Makes the client. Asks nothing of the cluster yet.
    pub(super) fn new(
        cluster: Arc<ClusterClient>,
        name: String,
        labels: BTreeMap<String, String>,
    ) -> Self {
        Self { cluster, name, labels, known: None, is_half_written: false }
    }

    /// The name of its first secret.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The labels of its secrets.
    pub(super) fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Whether a process holds the lease.
    pub(super) async fn is_locked(&self) -> Result<bool, Cause> {
        Ok(self.lock_holder().await?.is_some())
    }

    /// Checks that objects can have the name.
    ///
    /// # Errors
    /// When Kubernetes permits no such name.
    pub(super) fn check_object_name(&self) -> Result<(), Cause> {
        let name = self.lease_name();
        // Kubernetes takes DNS subdomains of RFC 1123 as names of these objects.
        let is_label = |label: &str| {
            let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !label.is_empty()
                && label.chars().all(inner)
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
        // The first part has the plain name, under which Terraform looks for a small state.
        if i == 0 { self.name.clone() } else { format!("{}-part-{i}", self.name) }
    }

    /// The secrets of the state, in the order of their parts.
    async fn read_secrets(&self) -> Result<Vec<KubernetesObject>, Cause> {
        self.cluster.list_in_order(&self.labels).await
    }

    /// The copy of a new state while its secrets are written.
    fn state_copy(&self) -> StateCopy<'_> {
        StateCopy::new(&self.cluster, &self.name, &self.labels)
    }

    /// Removes the state and its lease.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        self.state_copy().remove().await?;
        for secret in self.read_secrets().await?.iter().rev() {
            self.cluster.delete(ObjectKind::Secret, secret.name()).await?;
        }
        match self.cluster.get(ObjectKind::Lease, &self.lease_name()).await? {
            // A lease without the label was not made for a state, and is left alone.
            Some(lease) if lease.label("tfstate") == Some("true") => {
                self.cluster.delete(ObjectKind::Lease, &self.lease_name()).await
            }
            _ => Ok(()),
        }
    }

    /// Writes one part, over the version that is known.
    async fn put_secret(
        &self,
        i: usize,
        chunk: &[u8],
        known: Option<&KubernetesObject>,
    ) -> Result<PutOutcome, Cause> {
        let data = STANDARD.encode(chunk);
        let Some(known) = known else {
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
        // All other fields stay. The version among them makes the server refuse to replace another
        // one.
        let mut secret = known.clone();
        set_nested_member(&mut secret.0, &["data", "tfstate"], Some(Value::String(data)));
        // A listing leaves these out.
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

    /// Writes the holder into the lease, and makes the lease if there is none.
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
                // The version that was read goes back with it, so only one of two takers succeeds.
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

/// Sets a member of nested objects, or removes it.
fn set_nested_member(object: &mut Value, path: &[&str], value: Option<Value>) {
    let Some((name, rest)) = path.split_first() else { return };
    // The server leaves out empty objects, for example the annotations.
    if !object.is_object() {
        *object = json!({});
    }
    let Value::Object(map) = object else { return };
    match (rest, value) {
        ([], Some(value)) => drop(map.insert((*name).to_owned(), value)),
        ([], None) => drop(map.remove(*name)),
        (_, value) => set_nested_member(map.entry(*name).or_insert(Value::Null), rest, value),
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
        let copied = match &text {
            Ok(_) => None,
            Err(_) => self.state_copy().find_text_for(&secrets).await?,
        };
        self.is_half_written = copied.is_some();
        if copied.is_some() {
            text = Ok(copied);
        }
        self.known = Some(secrets);
        text
    }

    fn needs_rewrite(&self) -> bool {
        self.is_half_written
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        self.check_object_name()?;
        // Taken out, because after a failure it is not known which parts are stored.
        let known = match self.known.take() {
            Some(known) => known,
            None => self.read_secrets().await?,
        };
        let content = compress_gzip(&text)?;
        let chunks: Vec<&[u8]> = content.chunks(MAX_CHUNK_LEN).collect();
        // Several secrets are not written in one step.
        let needs_copy = chunks.len() > 1 || known.len() > 1;
        if needs_copy && let Err(error) = self.state_copy().store(&chunks, &known).await {
            // The journal still has what this run has done.
            tracing::warn!(%error, "the state is written without a copy");
        }
        let mut stored = Vec::new();
        for (i, chunk) in chunks.into_iter().enumerate() {
            match self.put_secret(i, chunk, known.get(i)).await? {
                PutOutcome::Stored(secret) => stored.push(secret),
                PutOutcome::Refused { .. } => {
                    // An attempt whose answer was lost may have changed the version.
                    let name = self.secret_name(i);
                    let now = self.cluster.get(ObjectKind::Secret, &name).await?;
                    let data = STANDARD.encode(chunk);
                    match now {
                        Some(now) if now.0["data"]["tfstate"].as_str() == Some(&data) => {
                            stored.push(now);
                        }
                        _ => return Err(PutError::Changed),
                    }
                }
            }
        }
        // Parts beyond the new end would be read as a part of the state. The last one goes first, so that a crash
        // leaves no gap.
        for secret in known.iter().skip(stored.len()).rev() {
            self.cluster.delete(ObjectKind::Secret, secret.name()).await?;
        }
        self.known = Some(stored);
        if needs_copy && let Err(error) = self.state_copy().remove().await {
            // Readers use it only while the secrets are half written.
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
        // Another process has it, or an earlier attempt whose answer was lost.
        match self.lock_holder().await? {
            Some(held) if held.id == info.id => Ok(LockOutcome::Taken),
            held => Ok(LockOutcome::Held(held.as_ref().map(LeaseWithHolder::lock_info))),
        }
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        match self.break_lock(id).await? {
            // The lease goes with the state of a workspace that is deleted.
            ForceUnlockOutcome::OtherLock(None)
                if self.cluster.get(ObjectKind::Lease, &self.lease_name()).await?.is_none() =>
            {
                Ok(())
            }
            outcome => outcome.of_own_lock(),
        }
    }

    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        Ok(self.lock_holder().await?.map(|held| *held.lock_info()))
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let mut held = self.lock_holder().await?;
        if let Some(found) = held.as_ref().filter(|held| held.id == id) {
            let mut lease = found.lease.clone();
            // The version that was read goes along, so a lease that another process has taken since
            // stays.
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
            held = self.lock_holder().await?;
            // No other lock ever has this ID, so an attempt whose answer was lost has released it.
            if let PutOutcome::Refused { follows_unclear_attempt: true } = updated
                && held.as_ref().is_none_or(|held| held.id != id)
            {
                return Ok(ForceUnlockOutcome::Released);
            }
        }
        Ok(ForceUnlockOutcome::OtherLock(held.as_ref().map(LeaseWithHolder::lock_info)))
    }
}
