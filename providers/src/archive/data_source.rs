//! The data source `archive_file`: the archive is made when it is read, which is mostly while planning.

use formwork_sdk::prelude::*;

use super::model::{Archive, ArchiveComputed, ArchiveDraft, ArchiveInput};

/// The data source.
pub(super) struct ArchiveFile;

#[async_trait]
impl DataSource for ArchiveFile {
    type Model = Archive;

    fn validate(&self, diags: &mut Diagnostics, config: &ArchiveDraft) -> Answer<()> {
        config.validate(diags)
    }

    async fn read(&self, diags: &mut Diagnostics, config: ArchiveInput) -> Answer<ArchiveComputed> {
        config.wanted().make(diags).map(ArchiveComputed::of)
    }
}
