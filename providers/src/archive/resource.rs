//! The resource type `archive_file`: the archive is made when it is created, and again when it is read, so
//! that a change of what it is made of is seen.

use formwork_sdk::prelude::*;

use super::model::{Archive, ArchiveComputed};

/// The resource type.
pub(super) struct ArchiveFile;

impl Resource for ArchiveFile {
    type Model = Archive;

    fn validate(&self, call: Validate<Archive>) -> Answer<()> {
        call.config.validate()
    }

    async fn create(&self, call: Create<Archive>) -> Answer<ArchiveComputed> {
        let planned = call.planned;
        run_blocking(move || planned.wanted().create_archive().map(ArchiveComputed::of)).await
    }

    async fn read(&self, call: Read<Archive>) -> Answer<Option<Archive>> {
        let current = call.current;
        let (current, made) = run_blocking(move || {
            let made = current.wanted().create_archive()?;
            Ok((current, made))
        })
        .await?;
        let computed = ArchiveComputed::of(made);
        Ok(Some(Archive {
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
