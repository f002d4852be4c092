//! `local_sensitive_file`.

use formwork_sdk::prelude::*;

use super::content::{self, Given, Written};
use super::permission;
use crate::digest::Digests;

/// A file with a given content that is not shown.
#[derive(Model)]
#[attr(loose)]
pub(super) struct SensitiveFile {
    /// Where the file is. Folders that are missing are made; a file that is there is overwritten.
    #[attr(required, replace)]
    filename: Attr<String>,
    /// The content as text.
    #[attr(optional, replace, sensitive)]
    content: Attr<String>,
    /// The content in base64.
    #[attr(optional, replace, sensitive)]
    content_base64: Attr<String>,
    /// A file whose content is copied.
    #[attr(optional, replace)]
    source: Attr<String>,
    /// The permissions of the file, before the umask, in octal digits.
    #[attr(optional_computed, default = "0700", replace)]
    file_permission: Attr<String>,
    /// The permissions of the folders that are made, before the umask, in octal digits.
    #[attr(optional_computed, default = "0700", replace)]
    directory_permission: Attr<String>,
    /// The MD5 digest of the content.
    #[attr(computed)]
    content_md5: Attr<String>,
    /// The SHA-1 digest of the content.
    #[attr(computed)]
    content_sha1: Attr<String>,
    /// The SHA-256 digest of the content.
    #[attr(computed)]
    content_sha256: Attr<String>,
    /// The SHA-256 digest of the content in base64.
    #[attr(computed)]
    content_base64sha256: Attr<String>,
    /// The SHA-512 digest of the content.
    #[attr(computed)]
    content_sha512: Attr<String>,
    /// The SHA-512 digest of the content in base64.
    #[attr(computed)]
    content_base64sha512: Attr<String>,
    /// The SHA-1 digest of the content.
    #[attr(computed)]
    id: Attr<String>,
}

/// The resource type.
pub(super) struct LocalSensitiveFile;

#[async_trait]
impl Resource for LocalSensitiveFile {
    type Model = SensitiveFile;

    fn validate(&self, diags: &mut Diagnostics, config: &SensitiveFile) -> Answer<()> {
        permission::validate(diags, "file_permission", &config.file_permission)?;
        permission::validate(diags, "directory_permission", &config.directory_permission)?;
        config.given(|given| given.validate(diags))
    }

    async fn create(
        &self,
        diags: &mut Diagnostics,
        call: Create<SensitiveFile>,
    ) -> Answer<SensitiveFile> {
        let planned = call.planned;
        let bytes = planned.given(|given| given.bytes(diags))?;
        let file = Written {
            name: &planned.filename.or_default(),
            permission: &planned.file_permission.or_default(),
            folder_permission: &planned.directory_permission.or_default(),
        };
        content::write(diags, &file, &bytes)?;
        let digests = Digests::of(&bytes);
        Ok(SensitiveFile {
            id: digests.sha1.clone().into(),
            content_md5: digests.md5.into(),
            content_sha1: digests.sha1.into(),
            content_sha256: digests.sha256.into(),
            content_base64sha256: digests.base64sha256.into(),
            content_sha512: digests.sha512.into(),
            content_base64sha512: digests.base64sha512.into(),
            ..planned
        })
    }

    async fn read(
        &self,
        diags: &mut Diagnostics,
        call: Read<SensitiveFile>,
    ) -> Answer<Option<SensitiveFile>> {
        let file = call.current;
        let name = file.filename.or_default();
        let same = content::is_as_written(diags, &name, &file.id.or_default())?;
        Ok(same.then_some(file))
    }

    async fn delete(&self, diags: &mut Diagnostics, call: Delete<SensitiveFile>) -> Answer<()> {
        content::remove(diags, &call.prior.filename.or_default())
    }
}

impl SensitiveFile {
    /// Shows where the content comes from.
    fn given<T>(&self, look: impl FnOnce(Given<'_>) -> T) -> T {
        look(Given {
            texts: &[("content", &self.content)],
            base64: &self.content_base64,
            source: &self.source,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use formwork_sdk::testing::{Action, Life};
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
    async fn the_file_is_for_its_owner_alone() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("secrets/file");
        let mut life = Life::new(provider(), "local_sensitive_file").await.unwrap();
        assert_eq!(life.apply([named(&path), content("one")]).await, Ok(Action::Create));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        life.store().await.unwrap();
        assert_eq!(life.apply([named(&path), content("one")]).await, Ok(Action::Nothing));
        assert_eq!(life.apply([named(&path), content("two")]).await, Ok(Action::Replace));
        life.destroy().await.unwrap();
        assert!(!path.exists());
    }
}
