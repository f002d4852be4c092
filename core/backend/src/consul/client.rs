//! The key of one workspace: one value, or a list of chunks if the state is too large for one. A value that
//! another program has changed is not overwritten.

use std::time::{Duration, Instant};

use formwork_core::disk::MAX_STATE;
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};

use super::server::{Pair, Server, Stored};
use super::session::{RHYTHM, Session};
use crate::cause::Cause;
use crate::compression::{compressed, decompressed};
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, Locking, PutError, RemoteClient};
use crate::store::LockEnd;

/// Attempts to take the lock again after the server has ended the session.
const LOCK_DELAY_ATTEMPTS: u32 = 20;

/// The pause between two of them. The usual delay of the server is 15 seconds.
const LOCK_DELAY_PAUSE: Duration = Duration::from_secs(1);

/// The longest value of a key, unless the server is configured for others.
const CHUNK: usize = 524_288;

/// The state of a workspace.
pub(super) struct ConsulClient {
    server: Server,
    key: String,
    gzip: bool,
    lock: bool,
    /// The version of the key that was last read or written; 0 if there was none.
    known: u64,
    held: Option<(LockInfo, Session)>,
}

/// The value of a key whose state is in chunks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Chunks {
    current_hash: String,
    chunks: Vec<String>,
}

impl ConsulClient {
    /// Makes the client. Asks nothing of the server yet.
    pub(super) fn new(server: Server, key: String, gzip: bool, lock: bool) -> Self {
        Self { server, key, gzip, lock, known: 0, held: None }
    }

    /// The session of the lock.
    #[cfg(test)]
    pub(super) fn session(&self) -> Option<&Session> {
        self.held.as_ref().map(|(_, session)| session)
    }

    fn below(&self, name: &str) -> String {
        // As in Terraform, a slash at the end of the path is not doubled.
        format!("{}/{name}", self.key.trim_end_matches('/'))
    }

    /// Removes the state.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        let old = self.chunks(self.server.get(&self.key).await?.as_ref())?;
        // The list goes first: chunks without a list do no harm, but a list without chunks is a
        // damaged state.
        self.server.delete(&self.key).await?;
        self.remove_chunks(old, "").await;
        Ok(())
    }

    /// The list of chunks in a value, if it is one.
    fn chunks(&self, pair: Option<&Pair>) -> Result<Option<Chunks>, Cause> {
        let content = pair.map(Pair::content).transpose()?.unwrap_or_default();
        // Neither a state nor a compressed one has the fields of a list, so one attempt decides.
        Ok(serde_json::from_slice(&content).ok())
    }

    /// Removes chunks that are not used any more. Some may stay behind: that does no harm.
    async fn remove_chunks(&self, old: Option<Chunks>, new_hash: &str) {
        // The same state has the same hash: then the chunks are in use.
        let Some(old) = old.filter(|old| old.current_hash != new_hash) else { return };
        let prefix = self.below(&format!("tfstate.{}/", old.current_hash));
        if let Err(error) = self.server.delete_below(&prefix).await {
            tracing::warn!(%error, "old chunks of the state stay behind");
        }
    }

    async fn whole(&self, chunks: &Chunks) -> Result<Vec<u8>, Cause> {
        let mut whole = Vec::new();
        for key in &chunks.chunks {
            let pair = self.server.get(key).await?;
            let pair = pair.ok_or_else(|| format!("key {key:?} could not be found"))?;
            whole.extend(pair.content()?);
            // A damaged list could name chunks without end, which would fill the memory.
            if whole.len() as u64 > MAX_STATE {
                return Err(
                    format!("the state is longer than the limit of {MAX_STATE} bytes").into()
                );
            }
        }
        Ok(whole)
    }

    /// Stores a value in chunks, and returns the value that lists them.
    async fn split(&self, value: &[u8], hash: &str) -> Result<Vec<u8>, Cause> {
        let mut chunks = Vec::new();
        for (i, part) in value.chunks(CHUNK).enumerate() {
            // The hash keeps the new chunks apart from those of the stored state, which readers
            // still need.
            let key = self.below(&format!("tfstate.{hash}/{i}"));
            self.server.put(&key, part.to_vec()).await?;
            chunks.push(key);
        }
        Ok(serde_json::to_vec(&Chunks { current_hash: hash.to_owned(), chunks })?)
    }

    async fn holder(&self) -> Result<Option<LockInfo>, Cause> {
        Ok(self.holder_entry().await?.map(|(holder, _)| holder))
    }

    /// The holder of the lock and the version of the key that names it.
    async fn holder_entry(&self) -> Result<Option<(LockInfo, u64)>, Cause> {
        let Some(pair) = self.server.get(&self.below(".lockinfo")).await? else { return Ok(None) };
        Ok(Some((serde_json::from_slice(&pair.content()?)?, pair.modify_index)))
    }

    /// Removes the key of the lock, unless another program has taken it since.
    async fn remove_free_lock(&self) -> Result<(), Cause> {
        let lock = self.below(".lock");
        match self.server.get(&lock).await?.filter(|pair| pair.session.is_none()) {
            Some(pair) => self.server.delete_version(&lock, pair.modify_index).await,
            None => Ok(()),
        }
    }

    async fn take(&mut self, info: &LockInfo) -> Result<Locking, Cause> {
        // Before the request, because the server may count the TTL from its arrival.
        let began = Instant::now();
        let id = self.server.begin_session().await?;
        let lock = self.below(".lock");
        let taken = match self.server.acquire(&lock, &id).await {
            Ok(true) => {
                let info = LockInfo {
                    // The lock has the id of its session, which is what `force-unlock` ends.
                    id: id.clone(),
                    info: format!("consul session: {id}"),
                    path: self.key.clone(),
                    ..info.clone()
                };
                let text = serde_json::to_vec(&info)?;
                match self.server.put(&self.below(".lockinfo"), text).await {
                    Ok(()) => Session::keep(self.server.clone(), id.clone(), began, RHYTHM)
                        .map(|session| Some((info, session)))
                        .map_err(Into::into),
                    Err(error) => Err(error),
                }
            }
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        match taken {
            Ok(Some(held)) => {
                self.held = Some(held);
                Ok(Locking::Taken)
            }
            Ok(None) => {
                self.server.end_session(&id).await?;
                Ok(Locking::Held(self.holder().await?.map(Box::new)))
            }
            Err(error) => {
                // It would end by itself.
                drop(self.server.end_session(&id).await);
                Err(error)
            }
        }
    }

    /// Takes the lock again if the server has ended the session, or may have.
    async fn keep_lock(&mut self) -> Result<(), Cause> {
        for _ in 0..LOCK_DELAY_ATTEMPTS {
            // A server that was away may have kept the session, and a renewal has reached it by now.
            let lost = self.held.as_ref().filter(|(_, session)| session.is_lost());
            // The lost session stays until there is another, so that no later write goes without a lock.
            let Some(info) = lost.map(|(info, _)| info.clone()) else { return Ok(()) };
            let taken = self.take(&info).await;
            let taken = taken.map_err(|error| {
                format!("the lock could not be renewed, and cannot be taken again: {error}")
            })?;
            match taken {
                Locking::Taken | Locking::TakenAs(_) => return Ok(()),
                Locking::Refused(cause) => return Err(cause),
                // The server delays the next lock after a session has ended. The holder is still this run.
                Locking::Held(Some(holder)) if holder.id == info.id => {
                    tokio::time::sleep(LOCK_DELAY_PAUSE).await;
                }
                Locking::Held(holder) => {
                    let holder = holder.map(|holder| holder.holder()).unwrap_or_default();
                    return Err(format!("the session that held the lock has ended, and another program holds the lock now: {holder}").into());
                }
            }
        }
        Err("the session that held the lock has ended, and the server does not grant the lock again".into())
    }
}

fn sum(text: &[u8]) -> String {
    // Terraform compares the MD5 of a state in chunks when it reads them.
    Md5::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[async_trait::async_trait]
impl RemoteClient for ConsulClient {
    fn location(&self) -> String {
        format!("{}/v1/kv/{}", self.server.url, self.key)
    }

    fn lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let Some(pair) = self.server.get(&self.key).await? else {
            // With the version 0 the next write succeeds only if there still is no key.
            self.known = 0;
            return Ok(None);
        };
        self.known = pair.modify_index;
        let chunks = self.chunks(Some(&pair))?;
        let content = match &chunks {
            Some(chunks) => self.whole(chunks).await?,
            None => pair.content()?,
        };
        // The argument `gzip` only says how to write. JSON never begins with this byte.
        let text = if content.first() == Some(&0x1f) { decompressed(&content)? } else { content };
        if let Some(chunks) = chunks
            && chunks.current_hash != sum(&text)
        {
            return Err(format!(
                "the state in {} chunks has the MD5 {}, not the expected {}",
                chunks.chunks.len(),
                sum(&text),
                chunks.current_hash
            )
            .into());
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        self.keep_lock().await?;
        // Read before the key is written: afterwards nothing names the old chunks.
        let old = self.chunks(self.server.get(&self.key).await?.as_ref())?;
        let value = if self.gzip { compressed(&text)? } else { text.clone() };
        let mut new_hash = String::new();
        let mut stored = self.server.put_over(&self.key, &value, self.known).await?;
        if let Stored::TooLarge = stored {
            new_hash = sum(&text);
            // All chunks are stored before a list names them, so a reader finds the old state or
            // the new one.
            let list = self.split(&value, &new_hash).await?;
            stored = self.server.put_over(&self.key, &list, self.known).await?;
        }
        match stored {
            Stored::Yes(version) => self.known = version,
            Stored::TooLarge => {
                return Err(PutError::Failed("the server takes no value of 512 KiB".into()));
            }
            Stored::Stale => {
                // An attempt whose answer was lost may have changed the version.
                let before = self.known;
                if self.get().await?.as_ref() != Some(&text) {
                    self.known = before;
                    return Err(PutError::Changed);
                }
            }
        }
        self.remove_chunks(old, &new_hash).await;
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<Locking, Cause> {
        if !self.lock {
            return Ok(Locking::Taken);
        }
        self.take(info).await
    }

    async fn unlock(&mut self, _id: &str) -> Result<(), Cause> {
        let Some((info, session)) = self.held.take() else { return Ok(()) };
        if session.has_ended() {
            return Err("the session that held the lock has ended before".into());
        }
        // Another program may have released the lock by force, and hold it by now.
        if let Some((_, version)) = self.holder_entry().await?.filter(|(it, _)| it.id == info.id) {
            self.server.delete_version(&self.below(".lockinfo"), version).await?;
        }
        // Released before the session ends: a lock that is lost with its session cannot be taken
        // for the time of the lock delay.
        let released = self.server.release(&self.below(".lock"), &session.id).await?;
        self.remove_free_lock().await?;
        self.server.end_session(&session.id).await?;
        if released { Ok(()) } else { Err("another program has released the lock by force".into()) }
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let version = match self.holder_entry().await? {
            Some((holder, version)) if holder.id == id => version,
            other => {
                let holder = other.map(|(holder, _)| Box::new(holder));
                return Ok(ForceUnlockOutcome::OtherLock(holder));
            }
        };
        self.server.end_session(id).await?;
        self.remove_free_lock().await?;
        // Only this version: another program may have taken the lock and described itself since.
        self.server.delete_version(&self.below(".lockinfo"), version).await?;
        Ok(ForceUnlockOutcome::Released)
    }
}
