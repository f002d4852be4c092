//! The data source `archive_file`: the archive is created when it is read, usually during planning.

use formwork_sdk::prelude::*;

use super::model::{ArchiveModel, ArchiveModelComputed};

/// The data source.
pub(super) struct ArchiveFileDataSource;

impl DataSource for ArchiveFileDataSource {
    type Model = ArchiveModel;

    fn validate(&self, call: Validate<ArchiveModel>) -> Answer<()> {
        call.config.validate()
    }

    async fn read(&self, call: ReadData<ArchiveModel>) -> Answer<ArchiveModelComputed> {
        let config = call.config;
        run_blocking(move || {
            config.archive_request().create_archive().map(ArchiveModelComputed::of_result)
        })
        .await
    }
}
