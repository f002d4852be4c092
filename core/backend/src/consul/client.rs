//! The key of one workspace. Its value is the state, or a list of chunks if the state is too large. A value
//! that another program has changed is not overwritten.

use std::time::{Duration, Instant};

use formwork_core::disk::{MAX_STATE_LEN, parse_json_object};
use formwork_value::codec::hex;
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};

use super::server::{ConditionalPutOutcome, ConsulServer, KeyValue};
use super::session::{ConsulSession, SESSION_TIMES};
use crate::cause::Cause;
use crate::compression::{compress_gzip, decompress_gzip};
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient};
use crate::store::LockEnd;

/// The number of attempts to reacquire the lock after the server has ended the session.
const LOCK_RETAKE_ATTEMPTS: u32 = 20;

/// The pause between two attempts. The default lock delay of the server is 15 seconds.
const LOCK_RETAKE_PAUSE: Duration = Duration::from_secs(1);

/// Maximum length of a value, unless the server is configured differently.
const MAX_CHUNK_LEN: usize = 524_288;

/// The client of one workspace's state.
pub(super) struct ConsulClient {
    server: ConsulServer,
    key: String,
    gzip: bool,
    lock: bool,
    /// The version of the key that was last read or written, or 0 if the key did not exist.
    known_version: u64,
    held: Option<(LockInfo, ConsulSession)>,
}

/// The value of a key whose state is stored in chunks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ChunkList {
    current_hash: String,
    chunks: Vec<String>,
}

impl ConsulClient {
    /// Creates the client. Sends no request yet.
    pub(super) fn new(server: ConsulServer, key: String, gzip: bool, lock: bool) -> Self {
        Self { server, key, gzip, lock, known_version: 0, held: None }
    }

    /// The session of the lock.
    #[cfg(test)]
    pub(super) fn session(&self) -> Option<&ConsulSession> {
        self.held.as_ref().map(|(_, session)| session)
    }

    /// Returns a key below that of the state.
    pub(super) fn key_below(&self, name: &str) -> String {
        // As in Terraform, a trailing slash of the path is not doubled.
        format!("{}/{name}", self.key.trim_end_matches('/'))
    }

    /// Deletes the state.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        let old = self.parse_chunk_list(self.server.get(&self.key).await?.as_ref())?;
        // The list is deleted first: chunks without a list do no harm, but a list without chunks is
        // a damaged state.
        self.server.delete(&self.key).await?;
        self.remove_chunks(old, "").await;
        Ok(())
    }

    /// Parses the list of chunks in a value, if it is one.
    fn parse_chunk_list(&self, pair: Option<&KeyValue>) -> Result<Option<ChunkList>, Cause> {
        let content = pair.map(KeyValue::decode_value).transpose()?.unwrap_or_default();
        // Neither a state nor a compressed one has the fields of a list, so one attempt decides.
        Ok(parse_json_object(&content).ok())
    }

    /// Deletes chunks that are not used any more.
    async fn remove_chunks(&self, old: Option<ChunkList>, new_hash: &str) {
        // Some may remain, which does no harm.
        // The same state has the same hash. In this case the chunks are still in use.
        let Some(old) = old.filter(|old| old.current_hash != new_hash) else { return };
        let prefix = self.key_below(&format!("tfstate.{}/", old.current_hash));
        if let Err(error) = self.server.delete_keys_with_prefix(&prefix).await {
            tracing::warn!(%error, "old chunks of the state stay behind");
        }
    }

    async fn join_chunks(&self, chunks: &ChunkList) -> Result<Vec<u8>, Cause> {
        let mut content = Vec::new();
        for key in &chunks.chunks {
            let pair = self.server.get(key).await?;
            let pair = pair.ok_or_else(|| format!("key {key:?} could not be found"))?;
            content.extend(pair.decode_value()?);
            // A damaged list could refer to any number of chunks, which would fill the memory.
            if content.len() as u64 > MAX_STATE_LEN {
                return Err(
                    format!("the state is longer than the limit of {MAX_STATE_LEN} bytes").into()
                );
            }
        }
        Ok(content)
    }

    /// Stores a value in chunks, and returns the value that lists them.
    async fn store_in_chunks(&self, value: &[u8], hash: &str) -> Result<Vec<u8>, Cause> {
        let mut chunks = Vec::new();
        for (i, part) in value.chunks(MAX_CHUNK_LEN).enumerate() {
            // The hash distinguishes the new chunks from those of the stored state, which readers
            // still need.
            let key = self.key_below(&format!("tfstate.{hash}/{i}"));
            self.server.put(&key, part.to_vec()).await?;
            chunks.push(key);
        }
        Ok(serde_json::to_vec(&ChunkList { current_hash: hash.to_owned(), chunks })?)
    }

    /// Whether a session holds the lock.
    pub(super) async fn is_locked(&self) -> Result<bool, Cause> {
        let lock = self.server.get(&self.key_below(".lock")).await?;
        Ok(lock.is_some_and(|pair| pair.session.is_some()))
    }

    async fn lock_holder(&self) -> Result<Option<LockInfo>, Cause> {
        Ok(self.lock_holder_and_version().await?.map(|(holder, _)| holder))
    }

    /// Returns the holder of the lock and the version of the key that contains it.
    async fn lock_holder_and_version(&self) -> Result<Option<(LockInfo, u64)>, Cause> {
        let Some(pair) = self.server.get(&self.key_below(".lockinfo")).await? else {
            return Ok(None);
        };
        Ok(Some((parse_json_object(&pair.decode_value()?)?, pair.modify_index)))
    }

    /// Deletes the key of the lock, unless another program has acquired it since then.
    async fn remove_free_lock(&self) -> Result<(), Cause> {
        let lock = self.key_below(".lock");
        match self.server.get(&lock).await?.filter(|pair| pair.session.is_none()) {
            Some(pair) => self.server.delete_if_version(&lock, pair.modify_index).await,
            None => Ok(()),
        }
    }

    async fn try_lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        // Before the request, because the server may count the TTL from its arrival.
        let start = Instant::now();
        let id = self.server.begin_session().await?;
        let lock = self.key_below(".lock");
        let held_session = match self.server.acquire_key(&lock, &id).await {
            Ok(true) => {
                let info = LockInfo {
                    // The lock has the ID of its session, which `force-unlock` ends.
                    id: id.clone(),
                    info: format!("consul session: {id}"),
                    path: self.key.clone(),
                    ..info.clone()
                };
                let text = serde_json::to_vec(&info)?;
                match self.server.put(&self.key_below(".lockinfo"), text).await {
                    Ok(()) => ConsulSession::keep_alive(
                        self.server.clone(),
                        id.clone(),
                        start,
                        SESSION_TIMES,
                    )
                    .map(|session| Some((info, session)))
                    .map_err(Into::into),
                    Err(error) => Err(error),
                }
            }
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        match held_session {
            Ok(Some(held_lock)) => {
                self.held = Some(held_lock);
                Ok(LockOutcome::Taken)
            }
            Ok(None) => {
                self.server.end_session(&id).await?;
                Ok(LockOutcome::Held(self.lock_holder().await?.map(Box::new)))
            }
            Err(error) => {
                // It would end by itself.
                drop(self.server.end_session(&id).await);
                Err(error)
            }
        }
    }

    /// Reacquires the lock if the server has ended the session, or may have ended it.
    async fn retake_lost_lock(&mut self) -> Result<(), Cause> {
        for _ in 0..LOCK_RETAKE_ATTEMPTS {
            // A server that was unreachable may have kept the session, and a renewal may have
            // reached it since then.
            let lost_lock = self.held.as_ref().filter(|(_, session)| session.may_have_ended());
            // The lost session is kept until there is another one, so that no later write happens
            // without a lock.
            let Some(info) = lost_lock.map(|(info, _)| info.clone()) else { return Ok(()) };
            let outcome = self.try_lock(&info).await;
            let outcome = outcome.map_err(|error| {
                format!("the lock could not be renewed, and cannot be acquired again: {error}")
            })?;
            match outcome {
                LockOutcome::Taken | LockOutcome::TakenWithId(_) => return Ok(()),
                LockOutcome::Refused(cause) => return Err(cause),
                // The server delays the next lock after a session has ended. The holder is still this run.
                LockOutcome::Held(Some(holder)) if holder.id == info.id => {
                    tokio::time::sleep(LOCK_RETAKE_PAUSE).await;
                }
                LockOutcome::Held(holder) => {
                    let holder = holder.map(|holder| holder.describe_holder()).unwrap_or_default();
                    return Err(format!("the session that held the lock has ended, and another program holds the lock now: {holder}").into());
                }
            }
        }
        Err("the session that held the lock has ended, and the server does not grant the lock again".into())
    }
}

fn md5_hex(text: &[u8]) -> String {
    // Terraform compares the MD5 of a chunked state when it reads it.
    hex::encode(&Md5::digest(text))
}

#[async_trait::async_trait]
impl RemoteClient for ConsulClient {
    fn location(&self) -> String {
        format!("{}/v1/kv/{}", self.server.url, self.key)
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let Some(pair) = self.server.get(&self.key).await? else {
            // With the version 0, the next write succeeds only if the key still does not exist.
            self.known_version = 0;
            return Ok(None);
        };
        self.known_version = pair.modify_index;
        let chunks = self.parse_chunk_list(Some(&pair))?;
        let content = match &chunks {
            Some(chunks) => self.join_chunks(chunks).await?,
            None => pair.decode_value()?,
        };
        // The argument `gzip` applies only to writing. JSON never begins with this byte.
        let text =
            if content.first() == Some(&0x1f) { decompress_gzip(&content)? } else { content };
        if let Some(chunks) = chunks
            && chunks.current_hash != md5_hex(&text)
        {
            return Err(format!(
                "the state in {} chunks has the MD5 {}, not the expected {}",
                chunks.chunks.len(),
                md5_hex(&text),
                chunks.current_hash
            )
            .into());
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        self.retake_lost_lock().await?;
        // Read before the key is written, because after that nothing lists the old chunks.
        let old = self.parse_chunk_list(self.server.get(&self.key).await?.as_ref())?;
        let value = if self.gzip { compress_gzip(&text)? } else { text.clone() };
        let mut new_hash = String::new();
        let mut stored =
            self.server.put_over_version(&self.key, &value, self.known_version).await?;
        if let ConditionalPutOutcome::TooLarge = stored {
            new_hash = md5_hex(&text);
            // All chunks are stored before a list refers to them, so a reader finds the old state
            // or the new one.
            let list = self.store_in_chunks(&value, &new_hash).await?;
            stored = self.server.put_over_version(&self.key, &list, self.known_version).await?;
        }
        match stored {
            ConditionalPutOutcome::Stored(version) => self.known_version = version,
            ConditionalPutOutcome::TooLarge => {
                return Err(PutError::Failed(
                    "the server does not accept a value of 512 KiB".into(),
                ));
            }
            ConditionalPutOutcome::Stale => {
                // An attempt whose response was lost may have changed the version.
                let previous_version = self.known_version;
                if self.get().await?.as_ref() != Some(&text) {
                    self.known_version = previous_version;
                    return Err(PutError::Changed);
                }
            }
        }
        self.remove_chunks(old, &new_hash).await;
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        if !self.lock {
            return Ok(LockOutcome::Taken);
        }
        self.try_lock(info).await
    }

    async fn unlock(&mut self, _id: &str) -> Result<(), Cause> {
        let Some((info, session)) = self.held.take() else { return Ok(()) };
        if session.has_ended() {
            return Err("the session that held the lock has ended before".into());
        }
        // Another program may have released the lock by force, and may hold it now.
        if let Some((_, version)) =
            self.lock_holder_and_version().await?.filter(|(holder, _)| holder.id == info.id)
        {
            self.server.delete_if_version(&self.key_below(".lockinfo"), version).await?;
        }
        // Released before the session ends, because a lock that is lost with its session cannot be
        // acquired during the lock delay.
        let released = self.server.release_key(&self.key_below(".lock"), &session.id).await?;
        self.remove_free_lock().await?;
        self.server.end_session(&session.id).await?;
        if released { Ok(()) } else { Err("another program has released the lock by force".into()) }
    }

    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        self.lock_holder().await
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let version = match self.lock_holder_and_version().await? {
            Some((holder, version)) if holder.id == id => version,
            holder_and_version => {
                let holder = holder_and_version.map(|(holder, _)| Box::new(holder));
                return Ok(ForceUnlockOutcome::OtherLock(holder));
            }
        };
        self.server.end_session(id).await?;
        self.remove_free_lock().await?;
        // Only this version, because another program may have acquired the lock and written its
        // description since then.
        self.server.delete_if_version(&self.key_below(".lockinfo"), version).await?;
        Ok(ForceUnlockOutcome::Released)
    }
}
