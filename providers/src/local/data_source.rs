//! The data sources `local_file` and `local_sensitive_file`, which differ in what they show.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_sdk::prelude::*;

use crate::digest::Digests;

/// What is in a file.
#[derive(Model)]
#[attr(loose)]
pub(super) struct File {
    /// Where the file is.
    #[attr(required)]
    filename: Attr<String>,
    /// The content as text. What is not UTF-8 becomes the replacement character.
    #[attr(computed)]
    content: Attr<String>,
    /// The content in base64.
    #[attr(computed)]
    content_base64: Attr<String>,
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

/// The data source.
pub(super) struct LocalFile;

#[async_trait]
impl DataSource for LocalFile {
    type Model = File;

    async fn read(&self, diags: &mut Diagnostics, config: File) -> Answer<File> {
        let bytes = bytes_of(diags, &config.filename.or_default())?;
        let digests = Digests::of(&bytes);
        Ok(File {
            filename: config.filename,
            content: String::from_utf8_lossy(&bytes).into_owned().into(),
            content_base64: STANDARD.encode(&bytes).into(),
            id: digests.sha1.clone().into(),
            content_md5: digests.md5.into(),
            content_sha1: digests.sha1.into(),
            content_sha256: digests.sha256.into(),
            content_base64sha256: digests.base64sha256.into(),
            content_sha512: digests.sha512.into(),
            content_base64sha512: digests.base64sha512.into(),
        })
    }
}

/// What is in a file whose content is not shown.
#[derive(Model)]
#[attr(loose)]
pub(super) struct SensitiveFile {
    /// Where the file is.
    #[attr(required)]
    filename: Attr<String>,
    /// The content as text. What is not UTF-8 becomes the replacement character.
    #[attr(computed, sensitive)]
    content: Attr<String>,
    /// The content in base64.
    #[attr(computed, sensitive)]
    content_base64: Attr<String>,
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

/// The data source.
pub(super) struct LocalSensitiveFile;

#[async_trait]
impl DataSource for LocalSensitiveFile {
    type Model = SensitiveFile;

    async fn read(&self, diags: &mut Diagnostics, config: SensitiveFile) -> Answer<SensitiveFile> {
        let bytes = bytes_of(diags, &config.filename.or_default())?;
        let digests = Digests::of(&bytes);
        Ok(SensitiveFile {
            filename: config.filename,
            content: String::from_utf8_lossy(&bytes).into_owned().into(),
            content_base64: STANDARD.encode(&bytes).into(),
            id: digests.sha1.clone().into(),
            content_md5: digests.md5.into(),
            content_sha1: digests.sha1.into(),
            content_sha256: digests.sha256.into(),
            content_base64sha256: digests.base64sha256.into(),
            content_sha512: digests.sha512.into(),
            content_base64sha512: digests.base64sha512.into(),
        })
    }
}

fn bytes_of(diags: &mut Diagnostics, name: &str) -> Answer<Vec<u8>> {
    fs::read(name).map_err(|error| {
        let detail = format!("The file {name:?} cannot be read: {error}.");
        diags.error(Diagnostic::error("Read local file data source error", detail))
    })
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
        let folder = tempdir().unwrap();
        let path = folder.path().join("file");
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
    async fn a_file_that_is_not_there_is_an_error() {
        let config = [("filename", Value::string("/does/not/exist"))];
        let refusal = read_data(provider(), "local_file", config).await.unwrap_err();
        assert!(refusal.0.contains("cannot be read"), "{refusal:?}");
    }
}
