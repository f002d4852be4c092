//! The data source `archive_file`: the archive is made when it is read, which is mostly while planning.

use formwork_sdk::prelude::*;

use super::model::{Archive, ArchiveComputed};

/// The data source.
pub(super) struct ArchiveFile;

impl DataSource for ArchiveFile {
    type Model = Archive;

    fn validate(&self, call: Validate<Archive>) -> Answer<()> {
        call.config.validate()
    }

    async fn read(&self, call: ReadData<Archive>) -> Answer<ArchiveComputed> {
        let config = call.config;
        run_blocking(move || config.wanted().create_archive().map(ArchiveComputed::of)).await
    }
}
