//! The checksum in the address of a package: `checksum=sha256:…`. A file with a different checksum is
//! rejected.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use formwork_core::disk::{open_file, read_text};
use formwork_value::codec::hex;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::http;
use super::{FetchError, url_parameters};
use crate::redact;

/// Maximum length of a checksum file, in bytes.
const MAX_CHECKSUM_LIST_SIZE: u64 = 1 << 20;

/// The expected checksum of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExpectedChecksum {
    /// A checksum in the address itself.
    Value(FileChecksum),
    /// The checksum for the name of the file in a checksum list.
    InList {
        /// Location of the list: a URL, or a path.
        url: String,
    },
}

/// The checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileChecksum {
    kind: ChecksumKind,
    /// The checksum as lowercase hexadecimal digits.
    digits: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChecksumKind {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

const CHECKSUM_KINDS: [ChecksumKind; 4] =
    [ChecksumKind::Md5, ChecksumKind::Sha1, ChecksumKind::Sha256, ChecksumKind::Sha512];

impl ChecksumKind {
    fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    fn n_digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }

    fn file_checksum(self, file: &mut File) -> io::Result<FileChecksum> {
        let digits = match self {
            Self::Md5 => hex_digest::<Md5>(file),
            Self::Sha1 => hex_digest::<Sha1>(file),
            Self::Sha256 => hex_digest::<Sha256>(file),
            Self::Sha512 => hex_digest::<Sha512>(file),
        };
        Ok(FileChecksum { kind: self, digits: digits? })
    }
}

fn hex_digest<D: Digest>(file: &mut File) -> io::Result<String> {
    let mut hash = D::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(hex::encode(&hash.finalize()))
}

impl FileChecksum {
    /// Parses a checksum of the given kind, or of the kind that its number of digits implies.
    fn parse(kind: Option<ChecksumKind>, digits: &str) -> Option<Self> {
        let kind = match kind {
            Some(kind) => kind,
            None => CHECKSUM_KINDS.into_iter().find(|kind| kind.n_digits() == digits.len())?,
        };
        let is_sum = digits.len() == kind.n_digits()
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_sum.then(|| Self { kind, digits: digits.to_ascii_lowercase() })
    }
}

/// Removes the `checksum` parameter from a URL and parses it.
///
/// # Errors
/// The parameter is not a valid checksum.
pub(crate) fn split_checksum(url: &str) -> Result<(String, Option<ExpectedChecksum>), FetchError> {
    let (url, checksum) = url_parameters::take_parameter(url, "checksum");
    let Some(checksum) = checksum.into_iter().next() else { return Ok((url, None)) };
    let expected = match checksum.split_once(':') {
        Some(("file", list_url)) => Some(ExpectedChecksum::InList { url: list_url.to_owned() }),
        Some((name, digits)) => {
            let kind = CHECKSUM_KINDS.into_iter().find(|kind| kind.name() == name);
            kind.and_then(|kind| FileChecksum::parse(Some(kind), digits))
                .map(ExpectedChecksum::Value)
        }
        None => FileChecksum::parse(None, &checksum).map(ExpectedChecksum::Value),
    };
    let expected = expected.ok_or_else(|| {
        FetchError::Address(format!(
            "the checksum {checksum:?} in it is invalid: write md5:, sha1:, sha256: or sha512: and the hexadecimal digits of the checksum, or file: and the address of a checksum list"
        ))
    })?;
    Ok((url, Some(expected)))
}

impl ExpectedChecksum {
    /// Rejects a local checksum list, for an address from a remote source.
    ///
    /// # Errors
    /// The list is a local file.
    pub(super) fn check_list_is_remote(&self) -> Result<(), FetchError> {
        match self {
            Self::InList { url: list_url } if !is_list_remote(list_url) => {
                Err(FetchError::Address(format!(
                    "its checksum list {list_url:?} is a local file, and only local configuration can refer to it"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Verifies the checksum of a file that was downloaded from `url`.
    ///
    /// # Errors
    /// The checksum does not match, or the expected checksum cannot be determined.
    pub(super) fn verify_file(
        &self,
        http: &http::Client,
        url: &str,
        file: &Path,
    ) -> Result<(), FetchError> {
        let sum = match self {
            Self::Value(sum) => sum.clone(),
            Self::InList { url: list_url } => find_checksum_in_list(
                &fetch_checksum_list(http, list_url)?,
                url,
            )
            .ok_or_else(|| {
                FetchError::Address(format!("the checksum list {list_url:?} has no entry for it"))
            })?,
        };
        let actual = sum.kind.file_checksum(&mut open_file(file)?)?;
        if actual == sum {
            return Ok(());
        }
        let name = sum.kind.name();
        Err(FetchError::Checksum(format!(
            "the file has the {name} checksum {}, but {} was expected. The file was changed in transit or at its source, or the checksum is that of another file",
            actual.digits, sum.digits
        )))
    }
}

/// Returns the contents of a checksum list.
fn fetch_checksum_list(http: &http::Client, list_url: &str) -> Result<String, FetchError> {
    if is_list_remote(list_url) {
        return Ok(http.get(list_url, None)?.read_text(MAX_CHECKSUM_LIST_SIZE)?);
    }
    let path = list_url.strip_prefix("file://").unwrap_or(list_url);
    let failed = |error| FetchError::Address(format!("{}: {error}", redact::redact_address(path)));
    read_text(Path::new(path), MAX_CHECKSUM_LIST_SIZE).map_err(failed)
}

fn is_list_remote(list: &str) -> bool {
    list.starts_with("http://") || list.starts_with("https://")
}

/// Finds the checksum for the file of a URL in a list. A line is in the format of `sha256sum`, with or
/// without `--tag`, or it is only a checksum, which applies to any file.
pub(crate) fn find_checksum_in_list(list: &str, url: &str) -> Option<FileChecksum> {
    let address = url.split('?').next().unwrap_or(url);
    let name = address.rsplit('/').next().unwrap_or(address);
    let is_it = |listed_name: &str| {
        let listed_name = listed_name.trim_start_matches('*');
        listed_name == address || listed_name.strip_prefix("./").unwrap_or(listed_name) == name
    };
    list.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [digits] => FileChecksum::parse(None, digits),
            [digits, listed_name] if is_it(listed_name) => FileChecksum::parse(None, digits),
            [kind, listed_name, "=", digits] => {
                let listed_name = listed_name.strip_prefix('(')?.strip_suffix(')')?;
                let kind =
                    CHECKSUM_KINDS.into_iter().find(|it| it.name().eq_ignore_ascii_case(kind))?;
                FileChecksum::parse(Some(kind), digits).filter(|_| is_it(listed_name))
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "0cc175b9c0f1b6a831c399e269772661";
    const SHA1: &str = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";
    const SHA256: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn check(checksum: &str, text: &str) -> Result<(), String> {
        let http =
            http::Client::new(formwork_plugin_protocol::proxy_env::ProxyEnv::default(), |_| ());
        let (url, expected) = split_checksum(&format!("https://h/m.zip?a=1&checksum={checksum}&b"))
            .map_err(|error| error.to_string())?;
        assert_eq!(url, "https://h/m.zip?a=1&b");
        let expected = expected.expect("the argument is set");
        expected.verify_file(&http, &url, file(text).path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_with_another_checksum_is_refused() {
        for sum in [MD5, SHA1, SHA256] {
            assert_eq!(check(sum, "a"), Ok(()));
            assert!(check(sum, "b").unwrap_err().contains(sum));
        }
        for (kind, sum) in [("md5", MD5), ("sha1", SHA1), ("sha256", SHA256)] {
            assert_eq!(check(&format!("{kind}:{sum}"), "a"), Ok(()));
            assert_eq!(check(&format!("{kind}%3A{}", sum.to_uppercase()), "a"), Ok(()));
            assert!(check(&format!("{kind}:{sum}"), "").is_err());
        }
        let long = hex_digest::<Sha512>(&mut file("a").reopen().unwrap()).unwrap();
        assert_eq!(check(&format!("sha512:{long}"), "a"), Ok(()));
    }

    #[test]
    fn invalid_checksums_are_refused_before_the_download() {
        let invalid =
            ["", "xyz", "foo:1", "sha256:", "sha256:00", &format!("sha1:{MD5}"), &MD5[1..]];
        for invalid in invalid {
            assert!(check(invalid, "a").unwrap_err().contains("is invalid"), "{invalid}");
        }
        assert_eq!(
            split_checksum("https://h/m.zip?a=1").unwrap(),
            ("https://h/m.zip?a=1".into(), None)
        );
    }

    #[test]
    fn a_checksum_list_contains_several_files() {
        let lists = [
            format!("{MD5}  other.zip\n{SHA256}  m.zip\n"),
            format!("{SHA256} *./m.zip\n"),
            format!("MD5 (other.zip) = {MD5}\nSHA256 (m.zip) = {SHA256}\n"),
            format!("{SHA256}\n"),
        ];
        for text in lists {
            let list = file(&text);
            let checksum = format!("file:{}", list.path().display());
            assert_eq!(check(&checksum, "a"), Ok(()), "{text}");
            assert!(check(&checksum, "b").unwrap_err().contains(SHA256), "{text}");
        }
        let list = file(&format!("{MD5}  other.zip\n"));
        let none = check(&format!("file:{}", list.path().display()), "a");
        assert!(none.unwrap_err().contains("has no entry for it"));
        assert!(check("file:/nowhere", "a").is_err());
    }
}
