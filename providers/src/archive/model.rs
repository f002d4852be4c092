//! The model of `archive_file`, the same for the data source and the resource type. Replacement
//! rules do not apply to a data source, and are not in its schema.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::archive_request::{self, ArchiveRequest, ArchiveResult, SourceBlock};
use super::collect_entries;

/// Packs files into an archive.
///
/// The same files result in the same archive, on every machine and in every version. It has the
/// same entries as an archive of the public provider, but is not identical byte for byte, so
/// `output_size` and the digests differ. A state that is used with both providers shows a change of
/// the digests at each switch.
#[derive(Model)]
#[attr(
    exactly_one_of(source, source_content_filename, source_file, source_dir),
    conflicts(source_content, source, source_file, source_dir)
)]
pub(super) struct ArchiveModel {
    /// The form of the archive: `zip` or `tar.gz`.
    #[attr(required, replace, check = archive_request::check_archive_type)]
    pub(super) r#type: String,
    /// Content of the only file of the archive, `source_content_filename`.
    #[attr(optional, replace)]
    pub(super) source_content: Option<String>,
    /// The name of the only file of the archive, whose content is `source_content`.
    #[attr(optional, replace)]
    pub(super) source_content_filename: Option<String>,
    /// The only file to put in.
    #[attr(optional, replace)]
    pub(super) source_file: Option<String>,
    /// The directory to archive.
    #[attr(optional, replace)]
    pub(super) source_dir: Option<String>,
    /// Patterns of files to exclude from `source_dir`: paths relative to it, with `*`, `?`, `[…]`,
    /// `{…}`, and `**` for any number of directories.
    #[attr(optional, replace, check = collect_entries::check_exclude_patterns)]
    pub(super) excludes: Option<BTreeSet<String>>,
    /// Whether to exclude links to directories; otherwise the content of their targets is added.
    #[attr(optional)]
    pub(super) exclude_symlink_directories: Option<bool>,
    /// Path of the archive to write.
    #[attr(required, replace)]
    pub(super) output_path: String,
    /// The permissions of all files in the archive, in octal digits, instead of those they have.
    #[attr(optional, replace, check = archive_request::check_file_mode)]
    pub(super) output_file_mode: Option<String>,
    /// Size of the archive in bytes.
    #[attr(computed)]
    pub(super) output_size: i64,
    /// The MD5 digest of the archive.
    #[attr(computed)]
    pub(super) output_md5: String,
    /// The SHA-1 digest of the archive.
    #[attr(computed)]
    pub(super) output_sha: String,
    /// The SHA-256 digest of the archive.
    #[attr(computed)]
    pub(super) output_sha256: String,
    /// The SHA-256 digest of the archive in base64.
    #[attr(computed)]
    pub(super) output_base64sha256: String,
    /// The SHA-512 digest of the archive.
    #[attr(computed)]
    pub(super) output_sha512: String,
    /// The SHA-512 digest of the archive in base64.
    #[attr(computed)]
    pub(super) output_base64sha512: String,
    /// The SHA-1 digest of the archive.
    #[attr(computed)]
    pub(super) id: String,
    /// A file to put in.
    #[block(replace)]
    pub(super) source: BTreeSet<SourceBlock>,
}

/// Arguments of the author, for all structs of a model that hold them.
macro_rules! impl_archive_request {
    ($($archive:ident)*) => {$(
        impl $archive {
            /// Sources of the archive.
            pub(super) fn archive_request(&self) -> ArchiveRequest<'_> {
                ArchiveRequest {
                    form: &self.r#type,
                    output_path: &self.output_path,
                    output_file_mode: self.output_file_mode.as_deref(),
                    source: &self.source,
                    content: self.source_content.as_deref(),
                    content_filename: self.source_content_filename.as_deref(),
                    file: self.source_file.as_deref(),
                    dir: self.source_dir.as_deref(),
                    excludes: self.excludes.as_ref(),
                    exclude_symlink_directories: self.exclude_symlink_directories.unwrap_or(false),
                }
            }
        }
    )*};
}

impl_archive_request!(ArchiveModelInput ArchiveModel);

impl ArchiveModelDraft {
    /// Checks the configuration.
    pub(super) fn validate(&self) -> Answer<()> {
        let other_sources =
            [&self.source_file, &self.source_content, &self.source_content_filename];
        let is_meant = other_sources.into_iter().all(Attr::is_null);
        archive_request::check_excludes_allowed(is_meant || self.excludes.is_null())
    }
}

impl ArchiveModelComputed {
    /// Attributes of a finished archive.
    pub(super) fn of_result(result: ArchiveResult) -> Self {
        let digests = result.digests;
        Self {
            output_size: result.size,
            output_md5: digests.md5,
            output_sha: digests.sha1.clone(),
            output_sha256: digests.sha256,
            output_base64sha256: digests.base64sha256,
            output_sha512: digests.sha512,
            output_base64sha512: digests.base64sha512,
            id: digests.sha1,
        }
    }
}
