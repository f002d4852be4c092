//! Limits on the contents of archives, and the reasons why one is not unpacked.

use std::io;

/// Limits on the contents of an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnpackLimits {
    /// The size of the archive itself, in bytes.
    pub(crate) archive: u64,
    /// The size of everything in it, in bytes.
    pub(crate) unpacked: u64,
    /// Maximum ratio of that to the size of the archive.
    pub(crate) ratio: u64,
    /// The size up to which it may be as many times larger as it likes.
    pub(crate) any_ratio: u64,
    /// Maximum number of files, folders and links.
    pub(crate) entries: usize,
    /// The length of a path, in bytes.
    pub(crate) path: usize,
    /// Whether symbolic links may be among the entries.
    pub(crate) links: bool,
}

impl UnpackLimits {
    /// Maximum number of decoded bytes in all: the content, its padding, and the headers of all
    /// entries.
    pub(super) fn max_decoded_bytes(&self) -> u64 {
        let entries = (self.entries as u64).saturating_mul(4 << 10);
        self.unpacked.saturating_add(entries).saturating_add(1 << 20)
    }

    /// Those for modules, with another size if the environment sets one.
    pub(crate) fn for_module(size: Option<u64>) -> Self {
        let size = size.unwrap_or(Self::MODULE.unpacked);
        Self { archive: size, unpacked: size, ..Self::MODULE }
    }

    /// For modules, which are text.
    pub(crate) const MODULE: Self = Self {
        archive: 1 << 30,
        unpacked: 1 << 30,
        ratio: 100,
        any_ratio: 16 << 20,
        entries: 50_000,
        path: 1_024,
        links: true,
    };
    /// For providers, which are programs.
    pub(crate) const PROVIDER: Self = Self {
        archive: 2 << 30,
        unpacked: 4 << 30,
        ratio: 100,
        any_ratio: 16 << 20,
        entries: 10_000,
        path: 1_024,
        // The hash of a package says nothing about the targets of links.
        links: false,
    };
}

/// Reasons why an archive is not unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    /// It is malformed.
    #[error("the archive is not readable: {0}")]
    Malformed(String),
    /// An entry would leave the package.
    #[error("the package holds the unsafe path {0:?}, which leads outside of it")]
    Escapes(String),
    /// An entry is neither a file, nor a folder, nor a link.
    #[error("the package holds {0:?}, which is neither a file nor a folder nor a link")]
    Special(String),
    /// An entry is a link, and none is allowed.
    #[error(
        "the package holds the symbolic link {0:?}, and a package of a provider may hold files and folders only"
    )]
    Link(String),
    /// It holds too much.
    #[error("the package holds too much: the limit is {limit} {what}")]
    TooMuch {
        /// The limit that was reached.
        limit: u64,
        /// Name of the limited quantity.
        what: &'static str,
    },
    /// The disk.
    #[error("{0}")]
    Disk(#[from] io::Error),
}
