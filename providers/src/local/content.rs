//! What is in a file: writing it, reading it, its digests. Shared by resources and data sources.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path as FilePath;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_sdk::prelude::*;

use super::permission::mode;
use crate::digest::{hex, sha1};

/// Where a file's content comes from; an author sets one of these.
pub(super) struct Given<'m> {
    /// The attributes that are text, by name.
    pub(super) texts: &'m [(&'static str, &'m Attr<String>)],
    pub(super) base64: &'m Attr<String>,
    pub(super) source: &'m Attr<String>,
}

impl Given<'_> {
    /// Checks that the author set exactly one.
    pub(super) fn validate(&self, diags: &mut Diagnostics) -> Answer<()> {
        let others = [("content_base64", self.base64), ("source", self.source)];
        let all = || self.texts.iter().copied().chain(others);
        if all().any(|(_, attr)| attr.is_unknown()) {
            return Ok(());
        }
        let set: Vec<_> = all().filter(|(_, attr)| !attr.is_null()).map(|(name, _)| name).collect();
        if set.len() == 1 {
            return Ok(());
        }
        let names = all().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let found = if set.is_empty() { "none is".to_owned() } else { set.join(" and ") + " are" };
        let detail = format!("Exactly one of {names} must be set; {found} set.");
        Err(diags.error(Diagnostic::error("Invalid Attribute Combination", detail)))
    }

    /// Returns the content.
    pub(super) fn bytes(&self, diags: &mut Diagnostics) -> Answer<Vec<u8>> {
        if let Some(text) = self.texts.iter().find_map(|(_, attr)| attr.get()) {
            return Ok(text.as_bytes().to_vec());
        }
        if let Some(text) = self.base64.get() {
            return STANDARD.decode(text).map_err(|error| {
                let detail = format!("`content_base64` is not base64: {error}.");
                diags.error(Diagnostic::error("Create local file error", detail))
            });
        }
        let Some(source) = self.source.get() else { return Ok(Vec::new()) };
        fs::read(source).map_err(|error| {
            let detail = format!("The source {source:?} cannot be read: {error}.");
            diags.error(Diagnostic::error("Create local file error", detail))
        })
    }
}

/// Writes a file, and makes the folders it is to be in. Permissions are those of what is made; they do
/// not change for what is there.
pub(super) fn write(diags: &mut Diagnostics, file: &Written<'_>, content: &[u8]) -> Answer<()> {
    let fail = |what: &str, error: io::Error| {
        let detail = format!("The {what} {:?} cannot be written: {error}.", file.name);
        Diagnostic::error("Create local file error", detail)
    };
    if let Some(folder) = FilePath::new(file.name).parent()
        && !folder.as_os_str().is_empty()
        && !folder.exists()
    {
        let permission = mode(file.folder_permission).unwrap_or(0o777);
        let made = DirBuilder::new().recursive(true).mode(permission).create(folder);
        made.map_err(|error| diags.error(fail("folder of", error)))?;
    }
    let permission = mode(file.permission).unwrap_or(0o777);
    let mut options = OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).mode(permission).open(file.name);
    let written = opened.and_then(|mut opened| opened.write_all(content));
    written.map_err(|error| diags.error(fail("file", error)))
}

/// A file to be written.
pub(super) struct Written<'m> {
    pub(super) name: &'m str,
    pub(super) permission: &'m str,
    pub(super) folder_permission: &'m str,
}

/// Whether the file still has the content whose SHA-1 digest is `id`. A file that has not, or is gone,
/// is to be made again.
pub(super) fn is_as_written(diags: &mut Diagnostics, name: &str, id: &str) -> Answer<bool> {
    match fs::read(name) {
        Ok(content) => Ok(hex(&sha1(&content)) == id),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => {
            let detail = format!("The file {name:?} cannot be read: {error}.");
            Err(diags.error(Diagnostic::error("Read local file error", detail)))
        }
    }
}

/// Removes a file, if it is there.
pub(super) fn remove(diags: &mut Diagnostics, name: &str) -> Answer<()> {
    match fs::remove_file(name) {
        Err(error) if !is_absent(&error) => {
            let detail = format!("The file {name:?} cannot be removed: {error}.");
            Err(diags.error(Diagnostic::error("Delete local file error", detail)))
        }
        _ => Ok(()),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
