//! Checks of the files of a release (H-22, K-07): names, archives, manifest, checksums and signature as
//! registries and hosts expect them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use formwork_plugin_protocol::handshake::Protocol;
use zip::ZipArchive;

use crate::finding::Finding;
use crate::plugin::{self, LaunchOptions};
use crate::report::file_hash;
use crate::suite::{Release, Suite};

/// The most bytes of a file that is read as text.
const MAX_TEXT_FILE_BYTES: u64 = 1 << 20;

/// The most bytes of a program that are searched.
const MAX_PROGRAM_BYTES: u64 = 2 << 30;

/// Directories of sources on the machine of the build, after the home of its user.
const BUILD_MACHINE_SOURCE_PATHS: [&[u8]; 3] = [b"/go/pkg/mod/", b"/.cargo/registry/", b"/go/src/"];

/// Directories of the root that are homes of users, or have them.
const HOME_DIRS: [&str; 3] = ["home", "Users", "root"];

/// The end of the name of the checksums.
const CHECKSUMS_SUFFIX: &str = "_SHA256SUMS";

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.wants_any(&["H-22", "K-07"]) {
        return;
    }
    let Some(release) = suite.options.release.clone() else {
        return suite.note_skipped_rules(
            &["H-22", "K-07"],
            "no release was given; set its directory with -release",
        );
    };
    let files = match ReleaseFiles::read(&release.directory) {
        Ok(files) => files,
        Err(problem) => {
            for rule in ["H-22", "K-07"] {
                suite.record_case(rule, false, || Finding::new(rule, "release", problem.clone()));
            }
            return;
        }
    };
    check_archive_names(suite, &files);
    check_manifest(suite, &files).await;
    check_checksums(suite, &files);
    check_signature(suite, &release, &files);
    check_build_paths(suite, &files);
}

/// The files of a release.
struct ReleaseFiles<'r> {
    directory: &'r Path,
    /// The beginning of all names, `terraform-provider-acme_1.2.3`.
    base: String,
    /// The name of the provider.
    name: String,
    /// The version.
    version: String,
    names: BTreeSet<String>,
    /// The document of checksums.
    document: Vec<u8>,
}

impl<'r> ReleaseFiles<'r> {
    fn read(directory: &'r Path) -> Result<Self, String> {
        let entries = fs::read_dir(directory);
        let entries = entries.map_err(|error| format!("its directory cannot be read: {error}"))?;
        let names: BTreeSet<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let sums: Vec<&String> =
            names.iter().filter(|name| name.ends_with(CHECKSUMS_SUFFIX)).collect();
        let [sums] = sums[..] else {
            return Err(format!(
                "it has {} files whose names end in {CHECKSUMS_SUFFIX}, not one",
                sums.len()
            ));
        };
        let base = sums.trim_end_matches(CHECKSUMS_SUFFIX).to_owned();
        // From the end, because a version has no `_`.
        let parts = base.strip_prefix("terraform-provider-").and_then(|it| it.rsplit_once('_'));
        let Some((name, version)) = parts else {
            return Err(format!("{sums} is not terraform-provider-NAME_VERSION{CHECKSUMS_SUFFIX}"));
        };
        let (name, version) = (name.to_owned(), version.to_owned());
        let document = read_limited_file(&directory.join(sums));
        let document = document.map_err(|error| format!("{sums} cannot be read: {error}"))?;
        Ok(Self { directory, base, name, version, names, document })
    }

    fn archive_names(&self) -> Vec<&String> {
        self.names.iter().filter(|name| name.ends_with(".zip")).collect()
    }

    fn manifest_name(&self) -> String {
        format!("{}_manifest.json", self.base)
    }

    /// The checksums by the names of their files; `Err` with a line that is none.
    fn parse_checksums(&self) -> Result<BTreeMap<String, String>, String> {
        let text = String::from_utf8_lossy(&self.document);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let pair = |line: &str| {
            let (sum, name) = line.split_once(char::is_whitespace)?;
            // `sha256sum` marks binary files with a star.
            let name = name.trim_start().trim_start_matches('*');
            let is_sum = sum.len() == 64 && sum.bytes().all(|it| it.is_ascii_hexdigit());
            is_sum.then(|| (name.to_owned(), sum.to_lowercase()))
        };
        lines.map(|line| pair(line).ok_or_else(|| line.to_owned())).collect()
    }
}

fn read_limited_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_TEXT_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn finding_about_file(rule: &'static str, file: &str, message: impl Into<String>) -> Finding {
    Finding::new(rule, "release", message).with_path(file)
}

/// Checks the names of the archives and of the programs in them.
fn check_archive_names(suite: &mut Suite, files: &ReleaseFiles) {
    let archives = files.archive_names();
    suite.record_case("H-22", !archives.is_empty(), || {
        Finding::new("H-22", "release", "it has no archive").with_expected_and_found(
            format!("{}_linux_amd64.zip", files.base),
            "no file that ends in .zip",
        )
    });
    suite.record_case("H-22", is_registry_version(&files.version), || {
        finding_about_file("H-22", &files.base, "the version is not one of three numbers")
            .with_expected_and_found("1.2.3", files.version.clone())
    });
    for archive in archives {
        let platform = archive.strip_prefix(&format!("{}_", files.base));
        let platform = platform.and_then(|it| it.strip_suffix(".zip")?.split_once('_'));
        suite.record_case(
            "H-22",
            platform.is_some_and(|(os, arch)| !os.is_empty() && !arch.is_empty()),
            || {
                finding_about_file("H-22", archive, "hosts do not find an archive of this name")
                    .with_expected_and_found(format!("{}_OS_ARCH.zip", files.base), archive.clone())
            },
        );
        let program = format!("terraform-provider-{}", files.name);
        let (held, entry_names) = match program_entries(&files.directory.join(archive), &program) {
            Ok(entry_names) => (entry_names.len() == 1, entry_names.join(", ")),
            Err(error) => (false, error.to_string()),
        };
        suite.record_case("H-22", held, || {
            finding_about_file(
                "H-22",
                archive,
                "the archive does not contain exactly one program of the provider",
            )
            .with_expected_and_found(format!("{program}_v{}", files.version), entry_names)
        });
    }
}

/// Whether a string is a version in the form of the registry.
fn is_registry_version(text: &str) -> bool {
    // A pre-release or a build may follow, as in `1.2.3-beta.1`.
    let numbers = text.split(['-', '+']).next().unwrap_or_default();
    let is_number =
        |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    numbers.split('.').count() == 3 && numbers.split('.').all(is_number)
}

/// The entries of an archive that a host starts.
fn program_entries(archive: &Path, program: &str) -> io::Result<Vec<String>> {
    let archive = ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
    let mut names = Vec::new();
    for name in archive.file_names() {
        let name = name.map_err(io::Error::other)?.into_owned();
        let rest = name.strip_prefix(program);
        // A version (`_v1.2.3`) or an extension (`.exe`) may follow it.
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.'])) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Checks that the provider serves the protocols of the manifest.
async fn check_manifest(suite: &mut Suite, files: &ReleaseFiles<'_>) {
    if !suite.is_rule_wanted("H-22") {
        return;
    }
    let name = files.manifest_name();
    let versions = if files.names.contains(&name) {
        match protocols_in_manifest(&files.directory.join(&name)) {
            Ok(versions) => versions,
            Err(problem) => {
                return suite
                    .record_case("H-22", false, || finding_about_file("H-22", &name, problem));
            }
        }
    } else {
        // The registry's assumption about a release without one.
        vec!["5.0".to_owned()]
    };
    let mut served = Vec::new();
    for protocol in Protocol::ALL {
        if serves_protocol(suite, protocol).await {
            served.push(protocol.number().to_string());
        }
    }
    for version in versions {
        let major = version.split('.').next().unwrap_or_default().to_owned();
        suite.record_case("H-22", served.contains(&major), || {
            let message = match files.names.contains(&name) {
                true => "the manifest has a protocol that the provider does not serve",
                false => "without a manifest the registry assumes protocol 5.0",
            };
            finding_about_file("H-22", &name, message)
                .with_expected_and_found(served.join(", "), version.clone())
        });
    }
}

fn protocols_in_manifest(path: &Path) -> Result<Vec<String>, String> {
    let text = read_limited_file(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let json: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| format!("it is not JSON: {error}"))?;
    if json["version"] != 1 {
        return Err("its version is not 1".to_owned());
    }
    let versions = json["metadata"]["protocol_versions"].as_array().into_iter().flatten();
    let versions: Option<Vec<String>> = versions.map(|it| Some(it.as_str()?.to_owned())).collect();
    versions
        .filter(|it| !it.is_empty())
        .ok_or_else(|| "it has no strings in metadata.protocol_versions".to_owned())
}

/// Whether the provider serves a protocol to a host that offers only that.
async fn serves_protocol(suite: &Suite, protocol: Protocol) -> bool {
    // A provider that runs already cannot be started with other versions.
    let Some(program) = suite.program_path() else { return suite.protocol == Some(protocol) };
    // Alone, so that the provider cannot choose another one.
    let versions = protocol.number().to_string();
    let launch = LaunchOptions { versions: versions.into(), ..suite.launch_options() };
    let started = plugin::start_plugin(&program, &launch).await;
    started.is_ok_and(|it| {
        it.child.kill();
        it.handshake.protocol == protocol
    })
}

/// Checks that all files have their checksums.
fn check_checksums(suite: &mut Suite, files: &ReleaseFiles) {
    if !suite.is_rule_wanted("K-07") {
        return;
    }
    let name = format!("{}{CHECKSUMS_SUFFIX}", files.base);
    let sums = match files.parse_checksums() {
        Ok(sums) => sums,
        Err(line) => {
            return suite.record_case("K-07", false, || {
                finding_about_file("K-07", &name, "a line is not a checksum and a name")
                    .with_expected_and_found("64 hexadecimal digits and a name", line)
            });
        }
    };
    let manifest = files.manifest_name();
    let packed = files.names.iter().filter(|it| it.ends_with(".zip") || **it == manifest);
    let needed: BTreeSet<&String> = packed.chain(sums.keys()).collect();
    for file in needed {
        let actual_hash = file_hash(&files.directory.join(file));
        let expected = sums.get(file).cloned().unwrap_or_default();
        // `file_hash` returns `None` for a file that cannot be read.
        let message = match (expected.is_empty(), actual_hash.is_empty()) {
            (true, _) => "a file has no checksum",
            (_, true) => "a checksum is of a file that the release does not have",
            _ => "a file has another checksum",
        };
        suite.record_case("K-07", actual_hash == expected, || {
            finding_about_file("K-07", file, message)
                .with_expected_and_found(expected.clone(), actual_hash.clone())
        });
    }
}

/// Checks the signature over the checksums.
fn check_signature(suite: &mut Suite, release: &Release, files: &ReleaseFiles) {
    let name = format!("{}{CHECKSUMS_SUFFIX}.sig", files.base);
    let signature = match read_limited_file(&files.directory.join(&name)) {
        Ok(signature) => signature,
        Err(error) => {
            return suite.record_case("K-07", false, || {
                finding_about_file("K-07", &name, "the checksums have no signature")
                    .with_expected_and_found("an OpenPGP signature", error.to_string())
            });
        }
    };
    let Some(key) = &release.key else { return };
    let verified = (release.verify)(&files.document, &signature, key);
    suite.record_case("K-07", verified.is_ok(), || {
        finding_about_file("K-07", &name, "the signature of the checksums is not valid")
            .with_expected_and_found(
                "a signature of the given key",
                verified.err().unwrap_or_default(),
            )
    });
}

/// Checks that a program does not have the home of the user who built it.
fn check_build_paths(suite: &mut Suite, files: &ReleaseFiles) {
    if !suite.is_rule_wanted("K-07") {
        return;
    }
    let program = format!("terraform-provider-{}", files.name);
    // One archive represents all, which are usually built on the same machine.
    let Some(archive) = files.archive_names().first().map(|it| (*it).clone()) else { return };
    let home_path =
        find_home_in_program(&files.directory.join(&archive), &program).unwrap_or_default();
    suite.record_case("K-07", home_path.is_none(), || {
        finding_about_file("K-07", &archive, "the program has paths of the machine that built it")
            .with_expected_and_found("no home of a user", home_path.clone().unwrap_or_default())
    });
}

/// The home of a user before the path of a source in the program of an archive.
fn find_home_in_program(archive: &Path, program: &str) -> io::Result<Option<String>> {
    let Some(name) = program_entries(archive, program)?.into_iter().next() else { return Ok(None) };
    let mut archive = ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
    let entry = archive.by_name(&name).map_err(io::Error::other)?;
    let mut entry = entry.take(MAX_PROGRAM_BYTES);
    let mut buffer = Vec::new();
    loop {
        let read = (&mut entry).take(1 << 20).read_to_end(&mut buffer)?;
        if let Some(home_path) = find_home_in_bytes(&buffer) {
            return Ok(Some(home_path));
        }
        if read == 0 {
            return Ok(None);
        }
        // A path may be in two pieces.
        buffer.drain(..buffer.len().saturating_sub(256));
    }
}

fn find_home_in_bytes(bytes: &[u8]) -> Option<String> {
    let find = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).position(|it| it == part);
    BUILD_MACHINE_SOURCE_PATHS.iter().find_map(|source| {
        let index = find(bytes, source)?;
        let before = &bytes[index.saturating_sub(64)..index];
        let home_start = |home: &&str| find(before, format!("/{home}").as_bytes());
        let home = HOME_DIRS.iter().find_map(home_start).map(|it| &before[it..])?;
        let text = String::from_utf8_lossy(home).into_owned();
        // A control character or a space belongs to another literal, so this is not a path.
        text.chars().all(|c| !c.is_control() && c != ' ').then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_before_the_path_of_a_source_is_found() {
        for home in ["Users/ann", "root"] {
            let text = format!("x /{home}/go/pkg/mod/example.com/a@v1/b.go y");
            assert_eq!(find_home_in_bytes(text.as_bytes()), Some(format!("/{home}")));
        }
        assert_eq!(find_home_in_bytes(b"/build/go/pkg/mod/example.com/a.go"), None);
    }

    #[test]
    fn a_version_has_three_numbers_and_may_have_a_suffix() {
        for version in ["1.2.3", "0.0.10", "1.2.3-beta.1", "1.2.3+build.7"] {
            assert!(is_registry_version(version), "{version}");
        }
        for text in ["", "1.2", "v1.2.3", "1.2.x", "1..3", "1.2.3.4", "-1.2.3"] {
            assert!(!is_registry_version(text), "{text}");
        }
    }
}
