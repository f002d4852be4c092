//! The data source `archive_file`: the archive is made when it is read, which is mostly while planning.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::file::{self, Made, Source, wanted};

/// Files packed into one.
#[derive(Model)]
#[attr(
    exactly_one_of(source, source_content_filename, source_file, source_dir),
    conflicts(source_content, source, source_file, source_dir)
)]
pub(super) struct Archive {
    /// The form of the archive: `zip` or `tar.gz`.
    #[attr(required)]
    r#type: String,
    /// What is in the only file of the archive, `source_content_filename`.
    #[attr(optional)]
    source_content: Option<String>,
    /// The name of the only file of the archive, whose content is `source_content`.
    #[attr(optional)]
    source_content_filename: Option<String>,
    /// The only file to put in.
    #[attr(optional)]
    source_file: Option<String>,
    /// The folder whose files to put in.
    #[attr(optional)]
    source_dir: Option<String>,
    /// Patterns of what to leave out of `source_dir`: names relative to it, with `*`, `?`, `[…]`, `{…}`,
    /// and `**` for any number of folders.
    #[attr(optional)]
    excludes: Option<BTreeSet<String>>,
    /// Whether to leave out folders that are links; otherwise what they lead to is put in.
    #[attr(optional)]
    exclude_symlink_directories: Option<bool>,
    /// Where to put the archive.
    #[attr(required)]
    output_path: String,
    /// The permissions of all files in the archive, in octal digits, instead of those they have.
    #[attr(optional)]
    output_file_mode: Option<String>,
    /// How many bytes the archive has.
    #[attr(computed)]
    output_size: i64,
    /// The MD5 digest of the archive.
    #[attr(computed)]
    output_md5: String,
    /// The SHA-1 digest of the archive.
    #[attr(computed)]
    output_sha: String,
    /// The SHA-256 digest of the archive.
    #[attr(computed)]
    output_sha256: String,
    /// The SHA-256 digest of the archive in base64.
    #[attr(computed)]
    output_base64sha256: String,
    /// The SHA-512 digest of the archive.
    #[attr(computed)]
    output_sha512: String,
    /// The SHA-512 digest of the archive in base64.
    #[attr(computed)]
    output_base64sha512: String,
    /// The SHA-1 digest of the archive.
    #[attr(computed)]
    id: String,
    /// A file to put in.
    #[block]
    source: BTreeSet<Source>,
}

/// The data source.
pub(super) struct ArchiveFile;

#[async_trait]
impl DataSource for ArchiveFile {
    type Model = Archive;

    fn validate(&self, diags: &mut Diagnostics, config: &ArchiveDraft) -> Answer<()> {
        let others = [&config.source_file, &config.source_content, &config.source_content_filename];
        let is_meant = others.into_iter().all(Attr::is_null);
        file::check_excludes(diags, is_meant || config.excludes.is_null())
    }

    async fn read(&self, diags: &mut Diagnostics, config: ArchiveInput) -> Answer<ArchiveComputed> {
        config.wanted().make(diags).map(ArchiveComputed::of)
    }
}

wanted!(ArchiveInput);

impl ArchiveComputed {
    fn of(made: Made) -> Self {
        let digests = made.digests;
        Self {
            output_size: made.size,
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
