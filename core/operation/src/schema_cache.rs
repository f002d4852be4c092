//! A cache of the schemas of installed providers on disk, by package hash. Providers under
//! development and attached ones have no such hash, so their schemas are never cached.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{create_private_dir, read_file};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_plugin_protocol::stored_schema as stored;
use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};

/// Maximum size of a file that is read.
const MAX_CACHE_FILE_LEN: u64 = 1 << 28;

/// Maximum number of providers whose schemas are cached. The oldest files are deleted first.
const MAX_CACHED_PROVIDERS: usize = 100;

/// The length of the checksum at the beginning of a file.
const CHECKSUM_LEN: usize = 32;

/// The schema cache of a user.
///
/// ```
/// use formwork_core::addr::ProviderAddr;
/// use formwork_operation::schema_cache::SchemaCache;
/// use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
///
/// let directory = tempfile::tempdir().unwrap();
/// let cache = SchemaCache::new(directory.path().to_owned());
/// let addr: ProviderAddr = "acme/thing".parse().unwrap();
/// let (schema, identities) = (ProviderSchema::default(), IdentitySchemas::default());
/// cache.store_schemas(&addr, "h1:a", &schema, &identities);
/// assert_eq!(cache.cached_schemas(&addr, "h1:a"), Some((schema, identities)));
/// ```
#[derive(Clone, Debug)]
pub struct SchemaCache {
    directory: PathBuf,
}

impl SchemaCache {
    /// A cache in a directory, which is created when something is stored in it.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The file of a package.
    fn cache_file_path(&self, addr: &ProviderAddr, hash: &str) -> PathBuf {
        // Another version of this program may read schemas differently.
        let key =
            format!("{}\n{}\n{addr}\n{hash}\n", stored::FORMAT_VERSION, env!("CARGO_PKG_VERSION"));
        self.directory.join(hex::encode(&Sha256::digest(key)))
    }

    /// Returns the schemas of a package, if they are cached and undamaged.
    #[must_use]
    pub fn cached_schemas(
        &self,
        addr: &ProviderAddr,
        hash: &str,
    ) -> Option<(ProviderSchema, IdentitySchemas)> {
        let bytes = read_file(&self.cache_file_path(addr, hash), MAX_CACHE_FILE_LEN).ok()?;
        let schemas = content_if_checksum_matches(&bytes).and_then(stored::decode_schemas);
        if schemas.is_none() {
            tracing::debug!(%addr, "the kept schemas are damaged");
            // An existing file is never replaced, so it would not change.
            self.remove_schemas(addr, hash);
        }
        schemas
    }

    /// Stores the schemas of a package.
    pub fn store_schemas(
        &self,
        addr: &ProviderAddr,
        hash: &str,
        schema: &ProviderSchema,
        identities: &IdentitySchemas,
    ) {
        // A cache that cannot be written has no effect, which is not an error.
        let file = self.cache_file_path(addr, hash);
        // The name contains the package hash, so the content would be the same.
        if file.exists() {
            return;
        }
        let Some(content) = stored::encode_schemas_if_lossless(schema, identities) else { return };
        if let Err(error) = self.write_file(&file, &content) {
            tracing::debug!(%addr, %error, "schemas are not kept");
        }
    }

    /// Deletes the schemas of a package.
    pub fn remove_schemas(&self, addr: &ProviderAddr, hash: &str) {
        if let Err(error) = fs::remove_file(self.cache_file_path(addr, hash)) {
            tracing::debug!(%addr, %error, "there are no schemas to forget");
        }
    }

    fn write_file(&self, file: &Path, content: &[u8]) -> io::Result<()> {
        create_private_dir(&self.directory)?;
        self.remove_oldest_files()?;
        // Renamed into place, so that another process never reads an incomplete file.
        let mut temporary_file = tempfile::NamedTempFile::new_in(&self.directory)?;
        temporary_file.write_all(Sha256::digest(content).as_slice())?;
        temporary_file.write_all(content)?;
        temporary_file.persist(file).map(drop).map_err(|error| error.error)
    }

    /// Deletes the oldest files to make room for one more.
    fn remove_oldest_files(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort();
        // Leaves room for the file that is written next.
        let n_old = (files.len() + 1).saturating_sub(MAX_CACHED_PROVIDERS);
        // Another process may delete the same file. In this case nothing is cached this time.
        files.into_iter().take(n_old).try_for_each(|(_, path)| fs::remove_file(path))
    }
}

/// The content of a file, if it matches its checksum. A truncated file could still decode, with fewer
/// resource types.
fn content_if_checksum_matches(bytes: &[u8]) -> Option<&[u8]> {
    let (sum, content) = bytes.split_first_chunk::<CHECKSUM_LEN>()?;
    (Sha256::digest(content).as_slice() == sum).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_cache(directory: &tempfile::TempDir) -> SchemaCache {
        SchemaCache::new(directory.path().join("formwork/schemas"))
    }

    #[test]
    fn schemas_are_cached_by_package_and_ignored_if_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let cache = new_cache(&directory);
        let addr: ProviderAddr = "acme/thing".parse().unwrap();
        let mut schema = ProviderSchema::default();
        schema.capabilities.plan_destroy = true;
        let identities = IdentitySchemas::default();
        assert_eq!(cache.cached_schemas(&addr, "h1:a"), None);
        cache.store_schemas(&addr, "h1:a", &schema, &identities);
        let expected = || Some((schema.clone(), identities.clone()));
        assert_eq!(cache.cached_schemas(&addr, "h1:a"), expected());
        assert_eq!(cache.cached_schemas(&addr, "h1:b"), None);
        assert_eq!(cache.cached_schemas(&"acme/other".parse().unwrap(), "h1:a"), None);
        let file = cache.cache_file_path(&addr, "h1:a");
        let complete_content = fs::read(&file).unwrap();
        let mut changed = complete_content.clone();
        *changed.last_mut().unwrap() ^= 1;
        for damaged in [
            &changed[..],
            &complete_content[..complete_content.len() - 1],
            &complete_content[..CHECKSUM_LEN - 1],
            &[],
        ] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(cache.cached_schemas(&addr, "h1:a"), None);
            // The next command caches them again.
            cache.store_schemas(&addr, "h1:a", &schema, &identities);
            assert_eq!(cache.cached_schemas(&addr, "h1:a"), expected());
        }
    }

    #[test]
    fn the_number_of_cached_schemas_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let cache = new_cache(&directory);
        let addr: ProviderAddr = "acme/thing".parse().unwrap();
        for n in 0..MAX_CACHED_PROVIDERS + 3 {
            let (schema, identities) = (ProviderSchema::default(), IdentitySchemas::default());
            cache.store_schemas(&addr, &format!("h1:{n}"), &schema, &identities);
        }
        assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), MAX_CACHED_PROVIDERS);
    }
}
