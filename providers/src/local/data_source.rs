//! The data sources `local_file` and `local_sensitive_file`, which differ in their sensitive attributes.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_sdk::prelude::*;

use super::file_content::{ContentDigests, ContentDigestsComputed};

/// Content of a file.
#[derive(Model)]
pub(super) struct FileModel {
    /// Path of the file.
    #[attr(required)]
    filename: String,
    /// Content as a string. Bytes that are not UTF-8 become the replacement character.
    #[attr(computed)]
    content: String,
    /// The content in base64.
    #[attr(computed)]
    content_base64: String,
    #[attr(flatten, computed)]
    digests: ContentDigests,
}

/// The data source.
pub(super) struct LocalFileDataSource;

impl DataSource for LocalFileDataSource {
    type Model = FileModel;

    async fn read(&self, call: ReadData<FileModel>) -> Answer<FileModelComputed> {
        let FileData { content, content_base64, digests } =
            read_file_data(call.config.filename).await?;
        Ok(FileModelComputed { content, content_base64, digests })
    }
}

/// Content of a file, sensitive.
#[derive(Model)]
pub(super) struct SensitiveFileModel {
    /// Path of the file.
    #[attr(required)]
    filename: String,
    /// Content as a string. Bytes that are not UTF-8 become the replacement character.
    #[attr(computed, sensitive)]
    content: String,
    /// The content in base64.
    #[attr(computed, sensitive)]
    content_base64: String,
    #[attr(flatten, computed)]
    digests: ContentDigests,
}

/// The data source.
pub(super) struct LocalSensitiveFileDataSource;

impl DataSource for LocalSensitiveFileDataSource {
    type Model = SensitiveFileModel;

    async fn read(&self, call: ReadData<SensitiveFileModel>) -> Answer<SensitiveFileModelComputed> {
        let FileData { content, content_base64, digests } =
            read_file_data(call.config.filename).await?;
        Ok(SensitiveFileModelComputed { content, content_base64, digests })
    }
}

/// Content of a file, sensitive or not.
struct FileData {
    content: String,
    content_base64: String,
    digests: ContentDigestsComputed,
}

async fn read_file_data(name: String) -> Answer<FileData> {
    run_blocking(move || {
        let bytes = fs::read(&name).map_err(|error| {
            let detail = format!("The file {name:?} cannot be read: {error}.");
            Problem::new("Read local file data source error", detail)
        })?;
        Ok(FileData {
            content: String::from_utf8_lossy(&bytes).into_owned(),
            content_base64: STANDARD.encode(&bytes),
            digests: ContentDigestsComputed::of_content(&bytes),
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::fs;

    use formwork_sdk::testing::read_data;
    use formwork_sdk::value::{Path, Value};
    use tempfile::tempdir;

    use super::super::provider;

    #[tokio::test]
    async fn content_and_digests_are_those_of_the_file() {
        let directory = tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, b"a\xff").unwrap();
        for name in ["local_file", "local_sensitive_file"] {
            let config = [("filename", Value::string(path.to_str().unwrap()))];
            let data = read_data(provider(), name, config).await.unwrap();
            let part = |name| Path::root().attribute(name).find(&data).cloned().unwrap();
            assert_eq!(part("content"), Value::string("a\u{fffd}"));
            assert_eq!(part("content_base64"), Value::string("Yf8="));
            assert_eq!(part("content_md5"), Value::string("cc7bb99ae517c38d9547266ff7157071"));
            assert_eq!(part("id"), part("content_sha1"));
        }
    }

    #[tokio::test]
    async fn a_missing_file_is_an_error() {
        let config = [("filename", Value::string("/does/not/exist"))];
        let refusal = read_data(provider(), "local_file", config).await.unwrap_err();
        assert!(refusal.0.contains("cannot be read"), "{refusal:?}");
    }
}
