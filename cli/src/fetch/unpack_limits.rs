//! Limits on the contents of archives, and the errors of extraction.

use std::io;

/// Limits on the contents of an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnpackLimits {
    /// Maximum size of the archive itself, in bytes.
    pub(crate) archive: u64,
    /// Maximum size of the extracted contents, in bytes.
    pub(crate) unpacked: u64,
    /// Maximum ratio of the extracted size to the size of the archive.
    pub(crate) ratio: u64,
    /// The extracted size up to which the ratio is not limited, in bytes.
    pub(crate) any_ratio: u64,
    /// Maximum number of files, directories and links.
    pub(crate) entries: usize,
    /// Maximum length of a path, in bytes.
    pub(crate) path: usize,
    /// Whether symbolic links are allowed.
    pub(crate) links: bool,
}

impl UnpackLimits {
    /// Maximum number of decoded bytes in total: the content, its padding, and the headers of all
    /// entries.
    pub(super) fn max_decoded_bytes(&self) -> u64 {
        let entries = (self.entries as u64).saturating_mul(4 << 10);
        self.unpacked.saturating_add(entries).saturating_add(1 << 20)
    }

    /// Returns the limits for modules, with the given maximum size if it is set.
    pub(crate) fn for_module(size: Option<u64>) -> Self {
        let size = size.unwrap_or(Self::MODULE.unpacked);
        Self { archive: size, unpacked: size, ..Self::MODULE }
    }

    /// The limits for modules, which are text files.
    pub(crate) const MODULE: Self = Self {
        archive: 1 << 30,
        unpacked: 1 << 30,
        ratio: 100,
        any_ratio: 16 << 20,
        entries: 50_000,
        path: 1_024,
        links: true,
    };
    /// The limits for providers, which are programs.
    pub(crate) const PROVIDER: Self = Self {
        archive: 2 << 30,
        unpacked: 4 << 30,
        ratio: 100,
        any_ratio: 16 << 20,
        entries: 10_000,
        path: 1_024,
        // The hash of a package does not cover the targets of links.
        links: false,
    };
}

/// Reason why an archive cannot be extracted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    /// The archive is malformed.
    #[error("the archive is not readable: {0}")]
    Malformed(String),
    /// An entry has a path outside of the package.
    #[error("the package contains the unsafe path {0:?}, which is outside of the package")]
    Escapes(String),
    /// An entry is not a file, directory or link.
    #[error("the package contains {0:?}, which is not a file, directory or link")]
    Special(String),
    /// An entry is a link, but links are not allowed.
    #[error(
        "the package contains the symbolic link {0:?}, but a provider package can contain only files and directories"
    )]
    Link(String),
    /// A limit is exceeded.
    #[error("the package is too large: the limit is {limit} {quantity}")]
    TooMuch {
        /// The limit that was reached.
        limit: u64,
        /// Name of the limited quantity.
        quantity: &'static str,
    },
    /// Reading or writing a local file failed.
    #[error("{0}")]
    Disk(#[from] io::Error),
}
