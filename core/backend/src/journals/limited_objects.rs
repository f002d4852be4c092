//! Objects of any length in a service that limits the length of an object: compressed, and split into pieces if
//! necessary.

use formwork_core::disk::{MAX_STATE_LEN, parse_json_object};
use formwork_value::codec::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{CreateOutcome, ListedObject, ObjectStore};
use crate::cause::Cause;
use crate::compression::{compress_gzip, decompress_gzip};

/// The first byte of compressed content. JSON never begins with it.
const GZIP_FIRST_BYTE: u8 = 0x1f;

/// Objects of any length in a store of objects of limited length.
pub(crate) struct LimitedObjects<S> {
    store: S,
    /// The maximum length of an object, in bytes.
    max_len: usize,
}

/// The content of an object whose compressed content is split into pieces.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PieceList {
    /// The hash of the compressed content, which is part of the names of the pieces.
    hash: String,
    n_pieces: usize,
}

impl<S: ObjectStore> LimitedObjects<S> {
    /// Creates objects in a store that limits their length to `max_len` bytes.
    pub(crate) fn new(store: S, max_len: usize) -> Self {
        Self { store, max_len }
    }

    /// Stores content in pieces, and returns the list of them.
    async fn store_pieces(
        &self,
        name: &str,
        content: &[u8],
    ) -> Result<Result<PieceList, CreateOutcome>, Cause> {
        let hash = hex::encode(&Sha256::digest(content)[..16]);
        let mut n_pieces = 0;
        for piece in content.chunks(self.max_len) {
            match self.store.create_object(&piece_name(name, &hash, n_pieces), piece).await? {
                // A piece with this name has this content, because its name contains the hash.
                CreateOutcome::Created | CreateOutcome::Exists => n_pieces += 1,
                outcome @ (CreateOutcome::Conflict(_) | CreateOutcome::Refused(_)) => {
                    return Ok(Err(outcome));
                }
            }
        }
        Ok(Ok(PieceList { hash, n_pieces }))
    }

    async fn join_pieces(&self, name: &str, list: &PieceList) -> Result<Vec<u8>, Cause> {
        let mut content = Vec::new();
        for i in 0..list.n_pieces {
            let piece_name = piece_name(name, &list.hash, i);
            let piece = self.store.read_object(&piece_name).await?;
            content.extend(piece.ok_or_else(|| format!("{piece_name:?} could not be found"))?);
            // A damaged list could refer to any number of pieces, which would fill the memory.
            if content.len() as u64 > MAX_STATE_LEN {
                return Err(
                    format!("{name:?} is longer than the limit of {MAX_STATE_LEN} bytes").into()
                );
            }
        }
        Ok(content)
    }
}

/// The name of a piece. It does not end with a number, so it is not mistaken for a part of a
/// journal.
fn piece_name(name: &str, hash: &str, i: usize) -> String {
    format!("{name}.{hash}.{i}")
}

/// Parses the list of pieces in the content of an object, if it is one.
fn parse_piece_list(content: &[u8]) -> Result<Option<PieceList>, Cause> {
    match content.first() {
        Some(&GZIP_FIRST_BYTE) => Ok(None),
        _ => Ok(Some(parse_json_object(content)?)),
    }
}

#[async_trait::async_trait]
impl<S: ObjectStore> ObjectStore for LimitedObjects<S> {
    fn location(&self, prefix: &str) -> String {
        self.store.location(prefix)
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        self.store.list_objects(prefix).await
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        let Some(content) = self.store.read_object(name).await? else { return Ok(None) };
        let content = match parse_piece_list(&content)? {
            Some(list) => self.join_pieces(name, &list).await?,
            None => content,
        };
        decompress_gzip(&content).map(Some)
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        let content = compress_gzip(content)?;
        if content.len() <= self.max_len {
            return self.store.create_object(name, &content).await;
        }
        // All pieces are stored before a list refers to them, so a reader finds the whole object or
        // none.
        match self.store_pieces(name, &content).await? {
            Ok(list) => self.store.create_object(name, &serde_json::to_vec(&list)?).await,
            Err(outcome) => Ok(outcome),
        }
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        // The list goes first: a list without pieces is a damaged object.
        self.store.remove_object(name).await?;
        // Also pieces without a list, which an attempt that was cut off has left.
        let pieces = self.store.list_objects(&format!("{name}.")).await?;
        for piece in pieces.unwrap_or_default() {
            self.store.remove_object(&piece.name).await?;
        }
        Ok(())
    }

    fn is_known_to_keep_none(&self) -> bool {
        self.store.is_known_to_keep_none()
    }

    fn shows_lock(&self) -> bool {
        self.store.shows_lock()
    }

    fn reason_against_new_journals(&self) -> Option<String> {
        self.store.reason_against_new_journals()
    }

    fn has_lock(&self) -> bool {
        self.store.has_lock()
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        self.store.is_locked().await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;

    /// Objects in memory, none longer than 20 bytes except lists.
    #[derive(Default)]
    struct MemoryObjects(Mutex<BTreeMap<String, Vec<u8>>>);

    #[async_trait::async_trait]
    impl ObjectStore for MemoryObjects {
        fn location(&self, prefix: &str) -> String {
            prefix.to_owned()
        }

        async fn list_objects(
            &self,
            prefix: &str,
        ) -> Result<Result<Vec<ListedObject>, String>, Cause> {
            let objects = self.0.lock().unwrap();
            let names = objects.keys().filter(|name| name.starts_with(prefix));
            Ok(Ok(names.map(|name| ListedObject { name: name.clone(), age: None }).collect()))
        }

        async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
            Ok(self.0.lock().unwrap().get(name).cloned())
        }

        async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
            let mut objects = self.0.lock().unwrap();
            if objects.contains_key(name) {
                return Ok(CreateOutcome::Exists);
            }
            objects.insert(name.to_owned(), content.to_vec());
            Ok(CreateOutcome::Created)
        }

        async fn remove_object(&self, name: &str) -> Result<(), Cause> {
            self.0.lock().unwrap().remove(name);
            Ok(())
        }

        async fn is_locked(&self) -> Result<bool, Cause> {
            Ok(false)
        }
    }

    #[tokio::test]
    async fn an_object_beyond_the_limit_is_stored_and_removed_in_pieces() {
        // Hashes do not compress.
        let sums =
            |n: usize| (0..n).flat_map(|i| Sha256::digest(i.to_string())).collect::<Vec<_>>();
        let objects = LimitedObjects::new(MemoryObjects::default(), 100);
        for (name, content, n_objects) in [("short", sums(1), 1), ("long", sums(100), 1 + 33)] {
            objects.create_object(name, &content).await.unwrap();
            assert_eq!(objects.store.0.lock().unwrap().len(), n_objects, "{name}");
            assert_eq!(objects.read_object(name).await.unwrap().unwrap(), content);
            let again = objects.create_object(name, &content).await.unwrap();
            assert!(matches!(again, CreateOutcome::Exists), "{again:?}");
            // Of other content, no part of the object changes.
            let outcome = objects.create_object(name, &sums(90)).await.unwrap();
            assert!(matches!(outcome, CreateOutcome::Exists), "{outcome:?}");
            assert_eq!(objects.read_object(name).await.unwrap().unwrap(), content);
            // The pieces of that attempt go with the object.
            objects.remove_object(name).await.unwrap();
            assert!(objects.store.0.lock().unwrap().is_empty(), "{name}");
        }
    }

    #[tokio::test]
    async fn an_object_that_lacks_a_piece_is_an_error_and_can_be_removed() {
        let objects = LimitedObjects::new(MemoryObjects::default(), 10);
        objects.create_object("a", b"content that is longer").await.unwrap();
        objects.store.0.lock().unwrap().retain(|name, _| !name.ends_with(".1"));
        let error = objects.read_object("a").await.unwrap_err().to_string();
        assert!(error.contains("could not be found"), "{error}");
        objects.remove_object("a").await.unwrap();
        assert!(objects.store.0.lock().unwrap().is_empty());
    }
}
