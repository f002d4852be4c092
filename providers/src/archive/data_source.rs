//! The data source `archive_file`: the archive is made when it is read, which is mostly while planning.

use formwork_sdk::prelude::*;

use super::model::{ArchiveModel, ArchiveModelComputed};

/// The data source.
pub(super) struct ArchiveFileSource;

impl DataSource for ArchiveFileSource {
    type Model = ArchiveModel;

    fn validate(&self, call: Validate<ArchiveModel>) -> Answer<()> {
        call.config.validate()
    }

    async fn read(&self, call: ReadData<ArchiveModel>) -> Answer<ArchiveModelComputed> {
        let config = call.config;
        run_blocking(move || config.wanted().create_archive().map(ArchiveModelComputed::of)).await
    }
}
