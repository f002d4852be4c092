//! `formwork provider package`: packages a provider for registries and mirrors: an archive for each platform,
//! checksums, their signature, and the manifest.

use std::io::{self, Cursor, Write as _};
use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, open_file, read_user_text_file, set_mode};
use formwork_core::version::Version;
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};
use zip::write::SimpleFileOptions;

use super::signing;
use crate::clock;
use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::install::hash;
use crate::messages;
use crate::platform::Platform;
use crate::view::operation_report::OperationReport;
use crate::view::{Screen, print_out};

/// Package a provider for a registry or mirror: archives, checksums, signature and manifest.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-version=1.0.0 -key=secret.asc target/release/terraform-provider-weather",
    "Pack a release for this platform."
))]
pub(crate) struct ProviderPackageArgs {
    /// A program called terraform-provider-NAME for this platform, or OS_ARCH=PROGRAM for another platform.
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<String>,
    /// The version of the release.
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: String,
    /// File with the secret OpenPGP key that signs the checksums, ASCII-armored. Its passphrase is read from
    /// FORMWORK_SIGNING_PASSPHRASE.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// The manifest, which lists the supported protocol versions.
    #[arg(long, value_name = "FILE", default_value = "terraform-registry-manifest.json")]
    pub(crate) manifest: PathBuf,
    /// Directory for the files.
    #[arg(long, value_name = "DIR", default_value = "dist")]
    pub(crate) out: PathBuf,
}

/// Documents that are added to each archive if they exist.
const PACKED_DOCUMENT_NAMES: [&str; 5] =
    ["LICENSE", "LICENSE.md", "LICENSE.txt", "README.md", "CHANGELOG.md"];

/// Prefix of the names of programs.
const PROGRAM_PREFIX: &str = "terraform-provider-";

/// Runs the command.
pub(super) fn run(args: &ProviderPackageArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let packed = pack_release(&mut diags, args, env);
    let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
    report.report_diagnostics(&Sources::new(), &diags);
    match packed {
        Ok(names) => {
            let list: String = names.iter().map(|name| format!("  {name}\n")).collect();
            print_out(&format!("Wrote to {}:\n{list}", args.out.display()));
            Exit::Done
        }
        Err(Reported { .. }) => Exit::Failed,
    }
}

/// A file of the release.
struct PackedFile {
    name: String,
    bytes: Vec<u8>,
}

fn pack_release(
    diags: &mut Diagnostics,
    args: &ProviderPackageArgs,
    env: &Env,
) -> Result<Vec<String>, Reported> {
    let version: Version = args.version.parse().map_err(|error| {
        let detail =
            format!("-version={:?} is not a version such as 1.2.3: {error}.", args.version);
        diags.error(Diagnostic::error(messages::INVALID_VERSION, detail))
    })?;
    let programs = programs_by_platform(diags, &args.programs)?;
    let kind = provider_name(diags, &programs)?;
    let manifest = read_manifest(diags, &args.manifest)?;
    let base = format!("{PROGRAM_PREFIX}{kind}_{version}");
    let mut files = Vec::new();
    for (platform, program) in &programs {
        let suffix = if platform.os == "windows" { ".exe" } else { "" };
        let bytes = program_archive(&format!("{PROGRAM_PREFIX}{kind}_v{version}{suffix}"), program);
        let bytes = bytes.map_err(|error| report_pack_error(diags, program, &error))?;
        files.push(PackedFile { name: format!("{base}_{platform}.zip"), bytes });
    }
    files.push(PackedFile { name: format!("{base}_manifest.json"), bytes: manifest.into_bytes() });
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut sums = String::new();
    for PackedFile { name, bytes } in &files {
        let sum = hash::zh_hash_of_archive(&mut &bytes[..]);
        let sum = sum.map_err(|error| report_pack_error(diags, Path::new(name), &error))?;
        sums.push_str(&format!("{}  {name}\n", sum.trim_start_matches("zh:")));
    }
    let signature = match &args.key {
        Some(key) => Some(sign_checksums(diags, key, env, sums.as_bytes())?),
        None => {
            let detail = "Without -key=FILE, the checksums have no signature. Registries reject such a release; mirrors accept it.";
            diags.warn(Diagnostic::warning(messages::RELEASE_IS_NOT_SIGNED, detail));
            None
        }
    };
    files.push(PackedFile { name: format!("{base}_SHA256SUMS"), bytes: sums.into_bytes() });
    files.extend(
        signature.map(|bytes| PackedFile { name: format!("{base}_SHA256SUMS.sig"), bytes }),
    );
    write_packed_files(diags, &args.out, &files)?;
    Ok(files.into_iter().map(|file| file.name).collect())
}

/// The programs by platform. A path without a platform is for the platform of this machine.
fn programs_by_platform(
    diags: &mut Diagnostics,
    arguments: &[String],
) -> Result<Vec<(Platform, PathBuf)>, Reported> {
    let mut programs: Vec<(Platform, PathBuf)> = Vec::new();
    for text in arguments {
        let platform_and_path = text.split_once('=').and_then(|(name, path)| {
            let platform: Platform = name.parse().ok()?;
            Some((platform, PathBuf::from(path)))
        });
        let (platform, path) =
            platform_and_path.unwrap_or_else(|| (Platform::current(), text.into()));
        if !path.is_file() {
            let detail = format!(
                "The file {:?} does not exist. Specify the path of a program, or PLATFORM=PATH such as darwin_arm64=build/{PROGRAM_PREFIX}NAME.",
                path.display().to_string()
            );
            return Err(diags.error(Diagnostic::error(messages::NO_SUCH_PROGRAM, detail)));
        }
        if programs.iter().any(|(listed, _)| *listed == platform) {
            let detail =
                format!("Two programs are specified for {platform}. Specify one per platform.");
            return Err(diags.error(Diagnostic::error(messages::DUPLICATE_PLATFORM, detail)));
        }
        programs.push((platform, path));
    }
    Ok(programs)
}

/// The provider name, which all program names must contain.
fn provider_name(
    diags: &mut Diagnostics,
    programs: &[(Platform, PathBuf)],
) -> Result<String, Reported> {
    let mut name: Option<String> = None;
    for (_, path) in programs {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = file.strip_prefix(PROGRAM_PREFIX).and_then(|rest| rest.split(['_', '.']).next());
        let Some(kind) = kind.filter(|kind| !kind.is_empty()) else {
            let detail = format!(
                "{} is not called {PROGRAM_PREFIX}NAME. Provider programs are found by that name.",
                path.display()
            );
            return Err(diags.error(Diagnostic::error(messages::NOT_A_PROVIDER, detail)));
        };
        match &name {
            Some(kind_of_other) if kind_of_other != kind => {
                let detail =
                    format!("The programs belong to two providers, {kind_of_other} and {kind}.");
                return Err(diags.error(Diagnostic::error(messages::DIFFERENT_PROVIDERS, detail)));
            }
            _ => name = Some(kind.to_owned()),
        }
    }
    name.ok_or_else(|| {
        let detail = "Specify the path of at least one program.";
        diags.error(Diagnostic::error(messages::NO_SUCH_PROGRAM, detail))
    })
}

/// The manifest, which must list the protocol versions of the provider.
fn read_manifest(diags: &mut Diagnostics, path: &Path) -> Result<String, Reported> {
    let mut invalid_manifest = |reason: String| {
        let detail = format!(
            "{}: {reason}. The file must list the protocol versions of the provider: {{\"version\": 1, \"metadata\": {{\"protocol_versions\": [\"6.0\"]}}}}.",
            path.display()
        );
        diags.error(Diagnostic::error(messages::INVALID_REGISTRY_MANIFEST, detail))
    };
    let text = read_user_text_file(path, MAX_SMALL_FILE_LEN)
        .map_err(|error| invalid_manifest(error.to_string()))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| invalid_manifest(error.to_string()))?;
    let versions = json["metadata"]["protocol_versions"].as_array();
    let is_version = |version: &serde_json::Value| {
        version.as_str().and_then(|text| text.split_once('.')).is_some()
    };
    let is_fit = versions.is_some_and(|it| !it.is_empty() && it.iter().all(is_version));
    if !is_fit || json["version"] != 1 {
        return Err(invalid_manifest(
            "`version` is not 1, or `protocol_versions` is missing".to_owned(),
        ));
    }
    Ok(text)
}

/// The archive of a program and its documents. Reproducible: the same files produce the same bytes.
fn program_archive(name: &str, program: &Path) -> io::Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    // Without an explicit time, an entry has the earliest time of the format.
    let options = SimpleFileOptions::default();
    let documents = PACKED_DOCUMENT_NAMES.iter().filter(|name| Path::new(name).is_file());
    let entries = documents.map(|name| (*name, Path::new(name), 0o644));
    for (name, path, mode) in entries.chain([(name, program, 0o755)]) {
        archive.start_file(name, options.unix_permissions(mode)).map_err(io::Error::other)?;
        io::copy(&mut open_file(path)?, &mut archive)?;
    }
    Ok(archive.finish().map_err(io::Error::other)?.into_inner())
}

fn report_pack_error(diags: &mut Diagnostics, path: &Path, error: &io::Error) -> Reported {
    let detail = format!("{}: {error}.", path.display());
    diags.error(
        Diagnostic::error(messages::UNABLE_TO_PACK_FILE, detail).blamed_on(Blame::Environment),
    )
}

/// The signature of the checksums, in the binary form that registries require.
fn sign_checksums(
    diags: &mut Diagnostics,
    key: &Path,
    env: &Env,
    document: &[u8],
) -> Result<Vec<u8>, Reported> {
    let signed = read_user_text_file(key, MAX_SMALL_FILE_LEN).map_err(|error| error.to_string());
    let passphrase = env.signing_passphrase.as_deref().unwrap_or_default();
    let signed = signed.and_then(|text| {
        signing::sign_with_secret_key(document, &text, passphrase, clock::current_time())
    });
    signed.map_err(|reason| {
        let detail = format!(
            "{}: {reason}. Export a key with `gpg --export-secret-keys --armor ID`; its passphrase is read from FORMWORK_SIGNING_PASSPHRASE.",
            key.display()
        );
        diags.error(Diagnostic::error(messages::UNABLE_TO_SIGN_CHECKSUMS, detail))
    })
}

/// Writes the files, each to a temporary file that is renamed.
fn write_packed_files(
    diags: &mut Diagnostics,
    directory: &Path,
    files: &[PackedFile],
) -> Result<(), Reported> {
    let written = std::fs::create_dir_all(directory).and_then(|()| {
        files.iter().try_for_each(|file| {
            let mut temp_file = tempfile::NamedTempFile::new_in(directory)?;
            temp_file.write_all(&file.bytes)?;
            set_mode(temp_file.as_file(), 0o644)?;
            temp_file.persist(directory.join(&file.name)).map(drop).map_err(|error| error.error)
        })
    });
    written.map_err(|error| {
        let detail = format!("{}: {error}.", directory.display());
        let diagnostic = Diagnostic::error(messages::UNABLE_TO_WRITE_RELEASE, detail);
        diags.error(diagnostic.blamed_on(Blame::Environment))
    })
}
