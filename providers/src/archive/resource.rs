//! The resource type `archive_file`: the archive is created by Create, and again by Read, so that
//! changes of its files are detected.

use formwork_sdk::prelude::*;

use super::model::{ArchiveModel, ArchiveModelComputed};

/// The resource type.
pub(super) struct ArchiveFileResource;

impl Resource for ArchiveFileResource {
    type Model = ArchiveModel;

    fn validate(&self, call: Validate<ArchiveModel>) -> Answer<()> {
        call.config.validate()
    }

    async fn create(&self, call: Create<ArchiveModel>) -> Answer<ArchiveModelComputed> {
        let planned = call.planned;
        run_blocking(move || {
            planned.archive_request().create_archive().map(ArchiveModelComputed::of_result)
        })
        .await
    }

    async fn read(&self, call: Read<ArchiveModel>) -> Answer<Option<ArchiveModel>> {
        let current = call.current;
        let (current, result) = run_blocking(move || {
            let result = current.archive_request().create_archive()?;
            Ok((current, result))
        })
        .await?;
        let computed = ArchiveModelComputed::of_result(result);
        Ok(Some(ArchiveModel {
            output_size: computed.output_size,
            output_md5: computed.output_md5,
            output_sha: computed.output_sha,
            output_sha256: computed.output_sha256,
            output_base64sha256: computed.output_base64sha256,
            output_sha512: computed.output_sha512,
            output_base64sha512: computed.output_base64sha512,
            id: computed.id,
            ..current
        }))
    }
}
