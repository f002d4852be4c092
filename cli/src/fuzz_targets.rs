//! Fuzz targets for everything that the command line reads from files, servers and programs. No input may
//! make a target panic, hang or grow without bound. `cli/fuzz` runs them under a fuzzer; a test in this file
//! replays the stored examples.

use std::fs;
use std::path::Path;

use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use crate::env::Env;
use crate::fetch::archive::{self, ArchiveFormat};
use crate::fetch::netrc::Netrc;
use crate::fetch::unpack_limits::UnpackLimits;
use crate::fetch::{checksum, credentials, git, host, http, oci};
use crate::install::lockfile::LockFile;
use crate::install::{release_checksums, signature, source};
use crate::modules::manifest::ModuleManifest;
use crate::modules::registry;
use crate::redact;
use crate::settings;
use crate::workspace::backend::InitializedBackend;

/// A target and its name, which is also the name of its examples directory.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 19] = [
    ("zip", zip),
    ("tar", tar),
    ("gzip", gzip),
    ("bzip2", bzip2),
    ("xz", xz),
    ("lock", lock),
    ("netrc", netrc),
    ("settings", settings),
    ("credentials", credentials),
    ("modules", modules),
    ("backend", backend_record),
    ("registry", registry),
    ("discovery", discovery),
    ("package", fuzz_package_address),
    ("checksums", checksums),
    ("signature", signature),
    ("provider_registry", provider_registry),
    ("mirror", mirror),
    ("redact", redact),
];

/// Calls `with` with the input as a string, if it is one.
fn with_text(data: &[u8], with: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(data) {
        with(text);
    }
}

/// A zip archive.
pub fn zip(data: &[u8]) {
    unpack(data, ArchiveFormat::Zip);
}

/// A tar archive.
pub fn tar(data: &[u8]) {
    unpack(data, ArchiveFormat::Tar);
}

/// A tar archive compressed by gzip.
pub fn gzip(data: &[u8]) {
    unpack(data, ArchiveFormat::TarGzip);
}

/// A tar archive compressed by bzip2.
pub fn bzip2(data: &[u8]) {
    unpack(data, ArchiveFormat::TarBzip2);
}

/// A tar archive compressed by xz.
pub fn xz(data: &[u8]) {
    unpack(data, ArchiveFormat::TarXz);
}

/// Limits that a small input can reach.
const SMALL_LIMITS: UnpackLimits = UnpackLimits {
    archive: 1 << 20,
    unpacked: 1 << 16,
    ratio: 100,
    any_ratio: 1 << 14,
    entries: 20,
    path: 60,
    links: true,
};

/// Unpacks an archive. No file may appear outside the target directory, and the content must not exceed the
/// limits, whether or not the archive is accepted.
fn unpack(data: &[u8], format: ArchiveFormat) {
    // In memory if the system supports it: a fuzzer does this thousands of times a second.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let directory = directory.expect("a test that has no directory for temporary files cannot run");
    let (packed, into) = (directory.path().join("packed"), directory.path().join("into"));
    fs::write(&packed, data).expect("a new directory has room for a small file");
    let unpacked = archive::unpack_archive(&packed, format, &into, &SMALL_LIMITS);
    let n_siblings = fs::read_dir(directory.path()).expect("the directory exists").count();
    assert_eq!(n_siblings, 2, "a file was written outside the directory");
    let mut content = UnpackedContent::default();
    content.look_into(&into, &into);
    assert!(content.entries <= SMALL_LIMITS.entries, "{} entries", content.entries);
    // One byte beyond the limit is written, to detect that it is exceeded.
    assert!(content.bytes <= SMALL_LIMITS.unpacked + 1, "{} bytes", content.bytes);
    assert!(unpacked.is_err() || content.outside.is_empty(), "links out: {:?}", content.outside);
}

/// The content of an unpacked archive.
#[derive(Default)]
struct UnpackedContent {
    entries: usize,
    bytes: u64,
    /// Links that lead out of the directory, or are broken.
    outside: Vec<String>,
}

impl UnpackedContent {
    fn look_into(&mut self, root: &Path, directory: &Path) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            self.entries += 1;
            let path = entry.path();
            let metadata = entry.metadata().expect("a listed entry exists");
            if metadata.is_symlink() {
                if !path.canonicalize().is_ok_and(|target| target.starts_with(root)) {
                    self.outside.push(path.display().to_string());
                }
            } else if metadata.is_dir() {
                self.look_into(root, &path);
            } else {
                self.bytes += metadata.len();
            }
        }
    }
}

/// The lock file. Writing and rereading it gives the same content.
pub fn lock(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let read = |text| LockFile::parse(&mut Diagnostics::new(), &mut Sources::new(), text).ok();
    let Some(locks) = read(text) else { return };
    assert_eq!(read(locks.render()).expect("rendered text can be parsed"), locks);
}

/// The file `.netrc`.
pub fn netrc(data: &[u8]) {
    with_text(data, |text| {
        let netrc = Netrc::parse(text);
        for url in ["https://one.example/x", "https://me@one.example:8080/", "one.example"] {
            drop(netrc.authorization(url));
        }
    });
}

/// A CLI configuration file.
pub fn settings(data: &[u8]) {
    let variables = [("HOME".to_owned(), "/home/me".to_owned())].into();
    let env = Env { home: Some("/home/me".into()), environment: variables, ..Env::default() };
    with_text(data, |text| {
        let Ok(settings) = settings::parse_settings(text, &env) else { return };
        let provider = "hashicorp/null".parse().expect("it is the address of a provider");
        for method in settings.methods.iter().flatten() {
            let _covers: bool = method.serves(&provider);
        }
    });
}

/// The token file, and the response of a credentials helper.
pub fn credentials(data: &[u8]) {
    with_text(data, |text| {
        drop(settings::parse_tokens(text));
        drop(credentials::parse_helper_token(text));
    });
}

/// The file `modules.json`. Writing and rereading it gives the same content.
pub fn modules(data: &[u8]) {
    with_text(data, |text| {
        let Ok(manifest) = ModuleManifest::parse(text) else { return };
        let reparsed =
            ModuleManifest::parse(&manifest.render()).expect("rendered text can be parsed");
        assert_eq!(reparsed, manifest);
    });
}

/// The file in the data directory that records the backend.
pub fn backend_record(data: &[u8]) {
    drop(InitializedBackend::parse(data));
}

/// A registry's list of versions. They are in ascending order.
pub fn registry(data: &[u8]) {
    with_text(data, |text| {
        let Ok(listed) = registry::parse_versions(text) else { return };
        let is_sorted = listed.versions.is_sorted_by(|a, b| a.cmp_precedence(b).is_lt());
        assert!(is_sorted, "{:?}", listed.versions);
    });
}

/// A host's discovery document. Its lines are also parsed as URLs and redirects.
pub fn discovery(data: &[u8]) {
    with_text(data, |text| {
        host::fuzz_discovery("https://one.example/.well-known/terraform.json", text);
        let (base, reference) = text.split_once('\n').unwrap_or(("https://one.example/a/b", text));
        host::fuzz_discovery(base, reference);
        drop(http::resolve_reference(base, reference));
        if let Ok(next) = http::resolve_redirect(base, reference) {
            let is_encrypted = |url: &str| url.to_ascii_lowercase().starts_with("https:");
            assert!(!is_encrypted(base) || is_encrypted(&next), "{base} led to {next}");
        }
    });
}

/// The address of a package, with its parameters. No part of it becomes an option of `git`.
pub fn fuzz_package_address(data: &[u8]) {
    with_text(data, |text| {
        drop(checksum::split_checksum(text));
        if let Ok(reference) = git::reference_in_git_address(text) {
            assert!(reference.is_none_or(|reference| !reference.starts_with('-')));
        }
    });
}

/// A list of checksums.
pub fn checksums(data: &[u8]) {
    with_text(data, |text| {
        drop(checksum::find_checksum_in_list(text, "https://one.example/a/b.zip?x=1"));
    });
}

/// An ASCII-armored public key, followed by a signature.
pub fn signature(data: &[u8]) {
    const KEY_END_LINE: &[u8] = b"-----END PGP PUBLIC KEY BLOCK-----\n";
    let document = include_bytes!("install/signature/fixtures/SHA256SUMS");
    let end = data.windows(KEY_END_LINE.len()).rposition(|window| window == KEY_END_LINE);
    let (key, signature_bytes) = data.split_at(end.map_or(0, |index| index + KEY_END_LINE.len()));
    let keys = [String::from_utf8_lossy(key).into_owned()];
    let now = time::OffsetDateTime::UNIX_EPOCH + time::Duration::days(20_000);
    drop(signature::verify_signature(document, signature_bytes, &keys, now));
}

/// Responses of a provider registry: a list of versions, or the description of a package. The lines are also
/// parsed as checksums.
pub fn provider_registry(data: &[u8]) {
    with_text(data, |text| {
        source::fuzz_registry(text);
        let hashes = release_checksums::all_zh_hashes(text);
        assert!(hashes.iter().all(|hash| hash.len() == 67), "{hashes:?}");
        drop(release_checksums::checksum_of_file(text, "a.zip"));
    });
}

/// Responses of a network mirror: a list of versions, or a list of packages.
pub fn mirror(data: &[u8]) {
    with_text(data, |text| {
        source::fuzz_mirror(text);
        oci::fuzz_documents(text);
    });
}

/// Redaction of text with URLs. Source code keeps its length, so that offsets into it remain valid.
pub fn redact(data: &[u8]) {
    with_text(data, |text| {
        assert_eq!(redact::redact_source(text).len(), text.len());
        let redacted = redact::redact_text(text).into_owned();
        assert_eq!(redact::redact_text(&redacted), redacted, "what was redacted stays as it is");
        drop(redact::redact_address(text));
    });
}

#[cfg(test)]
#[path = "../../core/lang/fuzz/change.rs"]
mod change;

#[test]
fn external_data_causes_no_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
