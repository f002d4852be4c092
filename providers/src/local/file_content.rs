//! Content of files: writing, reading and digests. Shared by resources and data sources.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path as FilePath;

use formwork_sdk::prelude::*;

use super::permission::parse_mode;
use crate::decode_pem;
use crate::digest::{Digests, sha1, to_hex};

/// Attributes of a file's content that all files have.
#[derive(Model)]
pub(super) struct ContentDigests {
    /// The MD5 digest of the content.
    #[attr(computed)]
    content_md5: String,
    /// The SHA-1 digest of the content.
    #[attr(computed)]
    content_sha1: String,
    /// The SHA-256 digest of the content.
    #[attr(computed)]
    content_sha256: String,
    /// The SHA-256 digest of the content in base64.
    #[attr(computed)]
    content_base64sha256: String,
    /// The SHA-512 digest of the content.
    #[attr(computed)]
    content_sha512: String,
    /// The SHA-512 digest of the content in base64.
    #[attr(computed)]
    content_base64sha512: String,
    /// The SHA-1 digest of the content.
    #[attr(computed)]
    pub(super) id: String,
}

impl ContentDigestsComputed {
    pub(super) fn of_content(content: &[u8]) -> Self {
        let digests = Digests::of(content);
        Self {
            id: digests.sha1.clone(),
            content_md5: digests.md5,
            content_sha1: digests.sha1,
            content_sha256: digests.sha256,
            content_base64sha256: digests.base64sha256,
            content_sha512: digests.sha512,
            content_base64sha512: digests.base64sha512,
        }
    }
}

/// Source of a file's content; an author sets one of these.
pub(super) struct ContentSource<'m> {
    /// The content as text.
    pub(super) text: Option<&'m str>,
    pub(super) base64: Option<&'m str>,
    pub(super) source: Option<&'m str>,
}

impl ContentSource<'_> {
    /// Returns the content.
    fn content_bytes(&self) -> Answer<Vec<u8>> {
        if let Some(text) = self.text {
            return Ok(text.as_bytes().to_vec());
        }
        if let Some(text) = self.base64 {
            return decode_pem::decode_base64(text).map_err(|error| {
                let detail = format!("`content_base64` is not base64: {error}.");
                Problem::new("Create local file error", detail)
            });
        }
        let Some(source) = self.source else { return Ok(Vec::new()) };
        fs::read(source).map_err(|error| {
            let detail = format!("The source {source:?} cannot be read: {error}.");
            Problem::new("Create local file error", detail)
        })
    }
}

impl ContentSource<'_> {
    /// Writes a file with the content.
    pub(super) fn write(&self, file: &FileToWrite<'_>) -> Answer<ContentDigestsComputed> {
        let bytes = self.content_bytes()?;
        write_file(file, &bytes)?;
        Ok(ContentDigestsComputed::of_content(&bytes))
    }
}

/// Writes a file, and creates its missing parent directories. The permissions apply to what is
/// created; those of existing files and directories do not change.
fn write_file(file: &FileToWrite<'_>, content: &[u8]) -> Answer<()> {
    let fail = |action: &str, error: io::Error| {
        let detail = format!("The {action} {:?} cannot be written: {error}.", file.name);
        Problem::new("Create local file error", detail)
    };
    if let Some(directory) = FilePath::new(file.name).parent()
        && !directory.as_os_str().is_empty()
        && !directory.exists()
    {
        let permission = parse_mode(file.dir_permission).unwrap_or(0o777);
        let created = crate::file_mode::create_dir_with_mode(directory, permission);
        created.map_err(|error| fail("directory of", error))?;
    }
    let permission = parse_mode(file.permission).unwrap_or(0o777);
    let opened = crate::file_mode::create_file_with_mode(FilePath::new(file.name), permission);
    let written = opened.and_then(|mut opened| opened.write_all(content));
    written.map_err(|error| fail("file", error))
}

/// A file to be written.
pub(super) struct FileToWrite<'m> {
    pub(super) name: &'m str,
    pub(super) permission: &'m str,
    pub(super) dir_permission: &'m str,
}

/// Whether the file still has the content whose SHA-1 digest is `id`. A file with different
/// content, or a deleted one, is created again.
pub(super) fn file_has_digest(name: &str, id: &str) -> Answer<bool> {
    match fs::read(name) {
        Ok(content) => Ok(to_hex(&sha1(&content)) == id),
        Err(error) if is_not_found_error(&error) => Ok(false),
        Err(error) => {
            let detail = format!("The file {name:?} cannot be read: {error}.");
            Err(Problem::new("Read local file error", detail))
        }
    }
}

/// Removes a file, if it exists.
pub(super) fn remove_file_if_present(name: &str) -> Answer<()> {
    match fs::remove_file(name) {
        Err(error) if !is_not_found_error(&error) => {
            let detail = format!("The file {name:?} cannot be removed: {error}.");
            Err(Problem::new("Delete local file error", detail))
        }
        _ => Ok(()),
    }
}

fn is_not_found_error(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
