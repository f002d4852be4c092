//! `local_file`.

use formwork_sdk::prelude::*;

use super::file_content::{self, ContentDigests, ContentSource, FileToWrite};
use super::permission;
use crate::decode_pem::check_base64;

/// A file with a given content.
#[derive(Model)]
#[attr(exactly_one_of(content, content_base64, sensitive_content, source))]
pub(super) struct FileModel {
    /// Path of the file. Missing directories are created; an existing file is overwritten.
    #[attr(required, replace)]
    filename: String,
    /// The content as text.
    #[attr(optional, replace)]
    content: Option<String>,
    /// The content in base64.
    #[attr(optional, replace, check = check_base64)]
    content_base64: Option<String>,
    /// The content as text, not shown.
    #[attr(
        optional,
        replace,
        sensitive,
        deprecated = "Use the resource type `local_sensitive_file`."
    )]
    sensitive_content: Option<String>,
    /// A file whose content is copied.
    #[attr(optional, replace)]
    source: Option<String>,
    /// The permissions of the file, before the umask, in octal digits.
    #[attr(default = "0777", replace)]
    file_permission: String,
    /// The permissions of created directories, before the umask, in octal digits.
    #[attr(default = "0777", replace)]
    directory_permission: String,
    #[attr(flatten, computed)]
    digests: ContentDigests,
}

/// The resource type.
pub(super) struct LocalFileResource;

impl Resource for LocalFileResource {
    type Model = FileModel;

    fn validate(&self, call: Validate<FileModel>) -> Answer<()> {
        let config = &call.config;
        let file = permission::check_permission("file_permission", &config.file_permission);
        let directory =
            permission::check_permission("directory_permission", &config.directory_permission);
        Problem::fail_if_any([file, directory].into_iter().filter_map(Result::err))
    }

    async fn create(&self, call: Create<FileModel>) -> Answer<FileModelComputed> {
        let planned = call.planned;
        run_blocking(move || {
            let text = planned.content.or(planned.sensitive_content);
            let source = ContentSource {
                text: text.as_deref(),
                base64: planned.content_base64.as_deref(),
                source: planned.source.as_deref(),
            };
            let file = FileToWrite {
                name: &planned.filename,
                permission: &planned.file_permission,
                dir_permission: &planned.directory_permission,
            };
            Ok(FileModelComputed { digests: source.write(&file)? })
        })
        .await
    }

    async fn read(&self, call: Read<FileModel>) -> Answer<Option<FileModel>> {
        let file = call.current;
        run_blocking(move || {
            let same = file_content::file_has_digest(&file.filename, &file.digests.id)?;
            Ok(same.then_some(file))
        })
        .await
    }

    async fn delete(&self, call: Delete<FileModel>) -> Answer<()> {
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
    async fn the_file_exists_until_it_is_destroyed() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("a/b/file.txt");
        let mut object = TestObject::new(provider(), "local_file").await.unwrap();
        assert_eq!(object.apply([named(&path), content("one")]).await, Ok(PlannedAction::Create));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(object.get("id"), &Value::string("fe05bcdcdc4928012781a5f1a2a77cbb5398e106"));
        assert_eq!(object.get("id"), object.get("content_sha1"));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([named(&path), content("one")]).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.apply([named(&path), content("two")]).await, Ok(PlannedAction::Replace));
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        object.destroy().await.unwrap();
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_changed_or_deleted_file_is_recreated() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("file.txt");
        let mut object = TestObject::new(provider(), "local_file").await.unwrap();
        object.apply([named(&path), content("one")]).await.unwrap();
        fs::write(&path, "other").unwrap();
        assert_eq!(object.apply([named(&path), content("one")]).await, Ok(PlannedAction::Create));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        fs::remove_file(&path).unwrap();
        assert_eq!(object.apply([named(&path), content("one")]).await, Ok(PlannedAction::Create));
        fs::remove_file(&path).unwrap();
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn content_comes_from_text_base64_or_another_file() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("file");
        let source = directory.path().join("source");
        fs::write(&source, [0, 1, 255]).unwrap();
        let sources = [
            ("sensitive_content", Value::string("s"), b"s".to_vec()),
            ("content_base64", Value::string("AP8="), vec![0, 255]),
            ("content_base64", Value::string("aGFs\nbG8=\n"), b"hallo".to_vec()),
            ("source", Value::string(source.to_str().unwrap()), vec![0, 1, 255]),
            ("content", Value::string(""), vec![]),
        ];
        for (name, value, bytes) in sources {
            let mut object = TestObject::new(provider(), "local_file").await.unwrap();
            object.apply([named(&path), (name, value)]).await.unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
        }
    }

    #[tokio::test]
    async fn files_have_the_configured_permissions() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("file");
        let mut object = TestObject::new(provider(), "local_file").await.unwrap();
        let permission = ("file_permission", Value::string("0600"));
        object.apply([named(&path), content("x"), permission]).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn invalid_file_arguments_are_refused() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("file");
        let base64 = |text| ("content_base64", Value::string(text));
        let table = [
            (vec![named(&path)], "must be set; none is"),
            (
                vec![named(&path), content("a"), base64("YQ==")],
                "`content` and `content_base64` are",
            ),
            (vec![named(&path), base64("?")], "`content_base64` must be base64"),
            (vec![named(&path), content("a"), ("file_permission", Value::string("rw"))], "octal"),
            (vec![named(directory.path()), content("a")], "cannot be written"),
        ];
        for (config, expected) in table {
            let mut object = TestObject::new(provider(), "local_file").await.unwrap();
            let refusal = object.apply(config).await.unwrap_err();
            assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
            assert!(object.object().is_null());
        }
    }
}
