//! The container of saved plans: named parts in a zip archive that only this program reads. The
//! callers define the meaning of the parts.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, to_sentence};
use serde::{Deserialize, Serialize};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::disk::{open_file, parse_json_object};
use crate::messages;

/// The parts of a saved plan by name.
pub type PlanFileParts = BTreeMap<String, Vec<u8>>;

/// The version of the container. It changes whenever an older program could misunderstand a newer
/// plan or the other way round.
const CONTAINER_VERSION: u32 = 1;

/// The part that describes the rest.
const MANIFEST_PART_NAME: &str = "formwork-plan.json";

/// The part that identifies a plan of Terraform.
const TERRAFORM_PLAN_PART_NAME: &str = "tfplan";

/// Limits on reading: a plan may come from anywhere.
const READ_LIMITS: ReadLimits = ReadLimits { n_parts: 100_000, n_bytes: 4 << 30, n_times: 200 };

struct ReadLimits {
    n_parts: usize,
    /// Maximum number of bytes in all parts together.
    n_bytes: u64,
    /// Maximum ratio of the unpacked size to the size of the file. No plan compresses that well; a
    /// file beyond the limit was made to exhaust the reader's memory.
    n_times: u64,
}

/// Files of up to this size may be packed as well as can be.
const MAX_FULLY_COMPRESSED_LEN: u64 = 64 << 10;

#[derive(Serialize, Deserialize)]
struct PlanFileManifest {
    format: u32,
    program: String,
}

/// Why a plan could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// The machine did not do it.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// The operation that failed: `read`, `write`.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a directory.
    #[error("{} is a directory, not a plan file", .0.display())]
    Directory(PathBuf),
    /// It is something else.
    #[error("the file {} is not a plan file", .0.display())]
    NotAPlan(PathBuf),
    /// It is a plan of Terraform.
    #[error("the file {} is a plan made by Terraform", .0.display())]
    Foreign(PathBuf),
    /// It is a plan of another version of this program.
    #[error("the file {} was made by version {version} of this program, but this is {ours}", path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version that made it.
        version: String,
        /// This version.
        ours: &'static str,
    },
    /// It was a plan once.
    #[error("the file {} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        reason: String,
    },
    /// It holds more than any plan does.
    #[error("the file {} holds more than {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The exceeded limit, with its unit.
        limit: String,
    },
}

impl PlanFileError {
    /// Returns the diagnostic: the problem with the file, as it was named, and the remedy.
    #[must_use]
    pub fn diagnostic(&self, name: &str) -> Diagnostic {
        let (blame, remedy) = match self {
            Self::Io { operation: "read", .. } => (Blame::User, "Check its name and permissions."),
            Self::Io { .. } => {
                (Blame::Environment, "Free space or correct the permissions, and plan again.")
            }
            Self::Directory(_) => (
                Blame::User,
                "To use it as the configuration, give the global -chdir flag or run the command in \
                 it.",
            ),
            Self::NotAPlan(_) => {
                (Blame::User, "Plan files are made by the plan command with -out.")
            }
            Self::Foreign(_) => (
                Blame::User,
                "Plans cannot be carried from one program to another. Make one with this program; \
                 the configuration and the state can stay as they are.",
            ),
            Self::OtherVersion { .. } => (
                Blame::User,
                "Plans cannot be carried from one version to another. Plan again with this one.",
            ),
            Self::Damaged { .. } | Self::TooLarge { .. } => {
                (Blame::Environment, "Plan again. Nothing was changed.")
            }
        };
        let summary = match self {
            Self::Io { operation: "write", .. } => messages::FAILED_TO_WRITE_PLAN_FILE.into(),
            Self::OtherVersion { .. } => messages::FAILED_TO_READ_PLAN_FROM_PLAN_FILE.into(),
            _ => messages::FAILED_TO_LOAD_AS_PLAN_FILE.with(&[&format_args!("{name:?}")]),
        };
        Diagnostic::error(summary, format!("{} {remedy}", to_sentence(self))).blamed_on(blame)
    }
}

fn io_error<'p>(
    operation: &'static str,
    path: &'p Path,
) -> impl FnOnce(io::Error) -> PlanFileError + 'p {
    move |source| PlanFileError::Io { operation, path: path.to_owned(), source }
}

/// Writes a plan file. Only the owner may read it, since plans hold the secrets of the state. It
/// is complete or does not exist. A link stays a link, and a device or pipe is only
/// written to.
///
/// # Errors
/// Returns an error if the file cannot be written. An existing file is then unchanged.
pub fn write_plan_file(path: &Path, parts: &[(&str, &[u8])]) -> Result<(), PlanFileError> {
    write_plan_file_bytes(path, &plan_file_to_bytes(path, parts)?)
}

/// Returns the bytes of a plan file; `path` is only for messages.
///
/// # Errors
/// When a part is too large for the container.
pub fn plan_file_to_bytes(path: &Path, parts: &[(&str, &[u8])]) -> Result<Vec<u8>, PlanFileError> {
    // An archive that cannot be ended, as on a full disk, complains on the terminal when it is dropped.
    let mut packed = io::Cursor::new(Vec::new());
    pack_parts(&mut packed, parts).map_err(|error| io_error("write", path)(error.into()))?;
    Ok(packed.into_inner())
}

/// Writes the bytes of a plan file, as [`write_plan_file()`] does.
///
/// # Errors
/// As [`write_plan_file()`].
pub fn write_plan_file_bytes(path: &Path, packed: &[u8]) -> Result<(), PlanFileError> {
    let failed = |error: io::Error| io_error("write", path)(error);
    let existing = std::fs::metadata(path).ok();
    // A rename would replace a device or a pipe with a file.
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let opened = OpenOptions::new().write(true).open(path);
        return opened.and_then(|mut to| to.write_all(packed)).map_err(failed);
    }
    // The target of a link is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = target.as_path();
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    // In the same directory, because a rename does not cross file systems.
    let aside = tempfile::Builder::new()
        .prefix(".formwork-plan-")
        .tempfile_in(directory.unwrap_or(Path::new(".")));
    // Temporary files are readable only by the owner. An existing file keeps its mode.
    let aside = aside.map_err(failed)?;
    if let Some(existing) = existing {
        aside.as_file().set_permissions(existing.permissions()).map_err(failed)?;
    }
    aside.as_file().write_all(packed).map_err(failed)?;
    // Synced before the rename, or the name could refer to an empty file after a power failure.
    aside.as_file().sync_all().map_err(failed)?;
    aside.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Packs parts in the order given. The same parts always make the same bytes.
fn pack_parts(to: impl Write + Seek, parts: &[(&str, &[u8])]) -> zip::result::ZipResult<()> {
    let manifest = PlanFileManifest {
        format: CONTAINER_VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let manifest = serde_json::to_vec(&manifest).map_err(io::Error::from)?;
    let mut zip = ZipWriter::new(to);
    for (name, bytes) in std::iter::once(&(MANIFEST_PART_NAME, manifest.as_slice())).chain(parts) {
        // A fixed time, so that the same parts make the same bytes.
        let options = SimpleFileOptions::default()
            .last_modified_time(zip::DateTime::default())
            .large_file(u32::try_from(bytes.len()).is_err());
        zip.start_file(*name, options)?;
        zip.write_all(bytes)?;
    }
    zip.finish()?;
    Ok(())
}

/// Reads a plan file.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a plan of this version of this program, or
/// is damaged.
pub fn read_plan_file(path: &Path) -> Result<PlanFileParts, PlanFileError> {
    if path.is_dir() {
        return Err(PlanFileError::Directory(path.to_owned()));
    }
    let file = open_file(path).map_err(io_error("read", path))?;
    unpack_parts(path, file, &READ_LIMITS)
}

/// Reads a plan file that is in memory, as [`read_plan_file`] does; `path` is only for messages.
///
/// # Errors
/// As [`read_plan_file`].
pub fn read_plan_file_bytes(path: &Path, bytes: &[u8]) -> Result<PlanFileParts, PlanFileError> {
    unpack_parts(path, io::Cursor::new(bytes), &READ_LIMITS)
}

fn unpack_parts(
    path: &Path,
    mut file: impl Read + Seek,
    limits: &ReadLimits,
) -> Result<PlanFileParts, PlanFileError> {
    let size = file.seek(io::SeekFrom::End(0)).map_err(io_error("read", path))?;
    file.rewind().map_err(io_error("read", path))?;
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic).map_err(io_error("read", path))?;
    // Checked before the archive is parsed: any other file is not a damaged plan.
    if magic != b"PK\x03\x04" {
        return Err(PlanFileError::NotAPlan(path.to_owned()));
    }
    let damaged = |reason: &dyn std::fmt::Display| PlanFileError::Damaged {
        path: path.to_owned(),
        reason: reason.to_string(),
    };
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(|error| damaged(&error))?;
    if archive.len() > limits.n_parts {
        let limit = format!("{} parts", limits.n_parts);
        return Err(PlanFileError::TooLarge { path: path.to_owned(), limit });
    }

    let length = size.max(MAX_FULLY_COMPRESSED_LEN);
    let (n_bytes, limit) = match length.saturating_mul(limits.n_times) {
        most if most < limits.n_bytes => {
            let times = most / size.max(1);
            (most, format!("{most} bytes, which is {times} times its size"))
        }
        _ => (limits.n_bytes, format!("{} bytes", limits.n_bytes)),
    };
    let mut parts = PlanFileParts::new();
    let mut remaining = n_bytes;
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(|error| damaged(&error))?;
        let name = entry.name().map_err(|error| damaged(&error))?.into_owned();
        let mut bytes = Vec::new();
        // The sizes that the archive declares are not trusted.
        entry.take(remaining + 1).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        // At most one byte more than allowed was read, so an excess shows before it fills the
        // memory.
        remaining = remaining.checked_sub(bytes.len() as u64).ok_or_else(|| {
            PlanFileError::TooLarge { path: path.to_owned(), limit: limit.clone() }
        })?;
        parts.insert(name, bytes);
    }
    check_manifest(path, &mut parts)?;
    Ok(parts)
}

fn check_manifest(path: &Path, parts: &mut PlanFileParts) -> Result<(), PlanFileError> {
    let Some(manifest) = parts.remove(MANIFEST_PART_NAME) else {
        return Err(match parts.contains_key(TERRAFORM_PLAN_PART_NAME) {
            true => PlanFileError::Foreign(path.to_owned()),
            false => PlanFileError::NotAPlan(path.to_owned()),
        });
    };
    let ours = env!("CARGO_PKG_VERSION");
    let manifest: PlanFileManifest = parse_json_object(&manifest).map_err(|error| {
        PlanFileError::Damaged { path: path.to_owned(), reason: error.to_string() }
    })?;
    if (manifest.format, manifest.program.as_str()) != (CONTAINER_VERSION, ours) {
        let program = manifest.program;
        return Err(PlanFileError::OtherVersion { path: path.to_owned(), version: program, ours });
    }
    Ok(())
}
