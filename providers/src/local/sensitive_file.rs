//! `local_sensitive_file`.

use formwork_sdk::prelude::*;

use super::file_content::{self, ContentDigests, ContentSource, FileToWrite};
use super::permission;
use crate::decode_pem::check_base64;

/// A file with a given content that is not shown.
#[derive(Model)]
#[attr(exactly_one_of(content, content_base64, source))]
pub(super) struct SensitiveFileModel {
    /// Path of the file. Missing directories are created; an existing file is overwritten.
    #[attr(required, replace)]
    filename: String,
    /// The content as text.
    #[attr(optional, replace, sensitive)]
    content: Option<String>,
    /// The content in base64.
    #[attr(optional, replace, sensitive, check = check_base64)]
    content_base64: Option<String>,
    /// A file whose content is copied.
    #[attr(optional, replace)]
    source: Option<String>,
    /// The permissions of the file, before the umask, in octal digits.
    #[attr(default = "0700", replace)]
    file_permission: String,
    /// The permissions of created directories, before the umask, in octal digits.
    #[attr(default = "0700", replace)]
    directory_permission: String,
    #[attr(flatten, computed)]
    digests: ContentDigests,
}

/// The resource type.
pub(super) struct LocalSensitiveFileResource;

impl Resource for LocalSensitiveFileResource {
    type Model = SensitiveFileModel;

    fn validate(&self, call: Validate<SensitiveFileModel>) -> Answer<()> {
        let config = &call.config;
        let file = permission::check_permission("file_permission", &config.file_permission);
        let directory =
            permission::check_permission("directory_permission", &config.directory_permission);
        Problem::fail_if_any([file, directory].into_iter().filter_map(Result::err))
    }

    async fn create(&self, call: Create<SensitiveFileModel>) -> Answer<SensitiveFileModelComputed> {
        let planned = call.planned;
        run_blocking(move || {
            let source = ContentSource {
                text: planned.content.as_deref(),
                base64: planned.content_base64.as_deref(),
                source: planned.source.as_deref(),
            };
            let file = FileToWrite {
                name: &planned.filename,
                permission: &planned.file_permission,
                dir_permission: &planned.directory_permission,
            };
            Ok(SensitiveFileModelComputed { digests: source.write(&file)? })
        })
        .await
    }

    async fn read(&self, call: Read<SensitiveFileModel>) -> Answer<Option<SensitiveFileModel>> {
        let file = call.current;
        run_blocking(move || {
            let same = file_content::file_has_digest(&file.filename, &file.digests.id)?;
            Ok(same.then_some(file))
        })
        .await
    }

    async fn delete(&self, call: Delete<SensitiveFileModel>) -> Answer<()> {
        file_content::remove_file_if_present(&call.prior.filename)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::Value;
    use tempfile::tempdir;

    use super::super::provider;

    fn named(path: &Path) -> (&'static str, Value) {
        ("filename", Value::string(path.to_str().unwrap()))
    }

    fn content(text: &str) -> (&'static str, Value) {
        ("content", Value::string(text))
    }

    #[tokio::test]
    async fn the_file_is_readable_only_by_its_owner() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("secrets/file");
        let mut object = TestObject::new(provider(), "local_sensitive_file").await.unwrap();
        assert_eq!(object.apply([named(&path), content("one")]).await, Ok(PlannedAction::Create));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([named(&path), content("one")]).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.apply([named(&path), content("two")]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
        assert!(!path.exists());
    }
}
