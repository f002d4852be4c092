//! Downloaded directory trees: confinement checks, copying and searching.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use formwork_core::disk::symlink;
use formwork_value::wildcards::matches_wildcards;

use super::unpack_limits::{ArchiveError, UnpackLimits};

/// Checks that no entry of a directory refers to a path outside of it. Dangling links are removed: they
/// cannot be read, and their targets could be created later.
///
/// # Errors
/// A link has a target outside of the directory, an entry is not a file, directory or link, or a limit is
/// exceeded.
pub(super) fn check_confined(root: &Path, limits: &UnpackLimits) -> Result<(), ArchiveError> {
    let canonical_root = root.canonicalize()?;
    let mut entries = 0_usize;
    visit_entries(&canonical_root, limits, &|_| true, &mut |path, metadata| {
        entries += 1;
        if entries > limits.entries {
            let limit = limits.entries as u64;
            return Err(ArchiveError::TooMuch { limit, quantity: "files, directories and links" });
        }
        let relative_path =
            || path.strip_prefix(&canonical_root).unwrap_or(path).display().to_string();
        if metadata.is_symlink() {
            match path.canonicalize() {
                Ok(target) if target.starts_with(&canonical_root) => {}
                Ok(_) => return Err(ArchiveError::Escapes(relative_path())),
                Err(_) => {
                    let target = std::fs::read_link(path)?;
                    let leaves =
                        target.is_absolute() || climbs_above_root(path, &canonical_root, &target);
                    if leaves {
                        return Err(ArchiveError::Escapes(relative_path()));
                    }
                    std::fs::remove_file(path)?;
                }
            }
        } else if !metadata.is_dir() && !metadata.is_file() {
            return Err(ArchiveError::Special(relative_path()));
        }
        Ok(())
    })
}

/// Whether the path of a link target leaves the root.
fn climbs_above_root(link: &Path, root: &Path, target: &Path) -> bool {
    let mut depth =
        link.strip_prefix(root).map_or(0, |path| path.components().count()) as isize - 1;
    target.components().any(|part| {
        match part {
            std::path::Component::ParentDir => depth -= 1,
            std::path::Component::Normal(_) => depth += 1,
            _ => {}
        }
        depth < 0
    })
}

/// Visits all entries below a directory whose names are selected, sorted by name. Links are not followed,
/// and directories that are not selected are not read.
fn visit_entries(
    root: &Path,
    limits: &UnpackLimits,
    is_wanted: &dyn Fn(&OsStr) -> bool,
    visit: &mut dyn FnMut(&Path, std::fs::FileType) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let mut entries = std::fs::read_dir(&directory)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries.into_iter().filter(|entry| is_wanted(&entry.file_name())) {
            let (path, kind) = (entry.path(), entry.file_type()?);
            if path.as_os_str().len() > root.as_os_str().len() + limits.path {
                let limit = limits.path as u64;
                return Err(ArchiveError::TooMuch {
                    limit,
                    quantity: "bytes in the path of one file",
                });
            }
            visit(&path, kind)?;
            if kind.is_dir() {
                directories.push(path);
            }
        }
    }
    Ok(())
}

/// Treatment of names that begin with a dot when a directory is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HiddenFiles {
    /// Hidden files are copied, except for `.git`.
    Copied,
    /// Hidden files are not copied: they belong to the user of the source directory.
    Left,
}

/// Copies a directory to a path that does not exist yet.
///
/// # Errors
/// An entry cannot be read or written, or a limit is exceeded.
pub(crate) fn copy_dir(
    from: &Path,
    to: &Path,
    limits: &UnpackLimits,
    hidden: HiddenFiles,
) -> Result<(), ArchiveError> {
    // If the directory itself is a link, the contents of its target are copied.
    let from = from.canonicalize()?;
    std::fs::create_dir(to)?;
    let mut remaining = limits.unpacked;
    let is_wanted = |name: &OsStr| match hidden {
        HiddenFiles::Copied => name != ".git",
        HiddenFiles::Left => !name.as_encoded_bytes().starts_with(b"."),
    };
    visit_entries(&from, limits, &is_wanted, &mut |path, kind| {
        let target = to.join(path.strip_prefix(&from).unwrap_or(path));
        if kind.is_dir() {
            std::fs::create_dir(target)?;
        } else if kind.is_symlink() {
            symlink(&std::fs::read_link(path)?, &target)?;
        } else if !kind.is_file() {
            return Err(ArchiveError::Special(path.display().to_string()));
        } else {
            let copied = std::fs::copy(path, target)?;
            remaining = remaining.checked_sub(copied).ok_or(ArchiveError::TooMuch {
                limit: limits.unpacked,
                quantity: "bytes unpacked",
            })?;
        }
        Ok(())
    })
}

/// Returns the only path below a directory that matches a relative path, in which `*` and `?` are
/// wildcards as in a shell.
///
/// # Errors
/// No path matches, or several do. The error is a message for the user.
pub(crate) fn find_single_match(root: &Path, path_pattern: &str) -> Result<PathBuf, String> {
    let mut matches = vec![root.to_owned()];
    for part in path_pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?']) {
            matches = matches
                .into_iter()
                .map(|path| path.join(part))
                .filter(|path| path.exists())
                .collect();
            continue;
        }
        let pattern: Vec<char> = part.chars().collect();
        let is_match =
            |name: &String| matches_wildcards(&pattern, &name.chars().collect::<Vec<_>>());
        let fitting = |path: PathBuf| {
            let names = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let names = names.filter_map(|entry| entry.file_name().into_string().ok());
            let mut names: Vec<_> = names.filter(is_match).collect();
            names.sort();
            names.into_iter().map(move |name| path.join(name)).collect::<Vec<_>>()
        };
        matches = matches.into_iter().flat_map(fitting).collect();
    }
    match matches.len() {
        1 => Ok(matches.remove(0)),
        0 => Err(format!("subdir {path_pattern:?} not found")),
        n => Err(format!("subdir {path_pattern:?} matches {n} paths; it must match exactly one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_must_fit_exactly_one_path() {
        let directory = tempfile::tempdir().unwrap();
        for path in ["repo-1a2b/sub", "other"] {
            std::fs::create_dir_all(directory.path().join(path)).unwrap();
        }
        let find = |pattern| find_single_match(directory.path(), pattern);
        assert_eq!(find("repo-*/sub").unwrap(), directory.path().join("repo-1a2b/sub"));
        assert_eq!(find("").unwrap(), directory.path());
        assert_eq!(
            find("*").unwrap_err(),
            "subdir \"*\" matches 2 paths; it must match exactly one"
        );
        assert_eq!(find("nope").unwrap_err(), "subdir \"nope\" not found");
    }

    #[test]
    fn a_pipe_in_a_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let from = directory.path().join("from");
        std::fs::create_dir(&from).unwrap();
        nix::unistd::mkfifo(&from.join("x.tf"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let copied = copy_dir(
            &from,
            &directory.path().join("to"),
            &UnpackLimits::MODULE,
            HiddenFiles::Copied,
        );
        assert!(matches!(copied, Err(ArchiveError::Special(_))), "{copied:?}");
    }

    #[test]
    fn hidden_files_are_copied_only_if_they_belong_to_the_package() {
        let directory = tempfile::tempdir().unwrap();
        let from = directory.path().join("from");
        for path in [".git", ".terraform", "sub/.git"] {
            std::fs::create_dir_all(from.join(path)).unwrap();
            std::fs::write(from.join(path).join("inside"), "").unwrap();
        }
        for path in ["main.tf", ".terraform.tfstate.journal", "sub/.hidden", "sub/shown"] {
            std::fs::write(from.join(path), "").unwrap();
        }
        let copied = |name: &str, hidden| {
            let to = directory.path().join(name);
            copy_dir(&from, &to, &UnpackLimits::MODULE, hidden).unwrap();
            let mut paths = Vec::new();
            let mut note = |path: &Path, kind: std::fs::FileType| {
                let path = path.strip_prefix(&to).unwrap().display().to_string();
                paths.extend((!kind.is_dir()).then_some(path));
                Ok(())
            };
            visit_entries(&to, &UnpackLimits::MODULE, &|_| true, &mut note).unwrap();
            paths.sort();
            paths
        };
        assert_eq!(copied("project", HiddenFiles::Left), ["main.tf", "sub/shown"]);
        assert_eq!(
            copied("package", HiddenFiles::Copied),
            [
                ".terraform.tfstate.journal",
                ".terraform/inside",
                "main.tf",
                "sub/.hidden",
                "sub/shown",
            ]
        );
    }

    #[test]
    fn links_outside_the_directory_are_refused_and_broken_ones_removed() {
        let error_for = |links: &[(&str, &str)]| {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().join("package");
            std::fs::create_dir_all(root.join("p/q/r")).unwrap();
            std::fs::write(directory.path().join("secret"), "").unwrap();
            for (name, target) in links {
                std::os::unix::fs::symlink(target, root.join(name)).unwrap();
            }
            let verdict = check_confined(&root, &UnpackLimits::MODULE);
            (verdict.is_err(), root.join(links[0].0).symlink_metadata().is_ok())
        };
        assert_eq!(error_for(&[("in", "p/q")]), (false, true));
        assert_eq!(error_for(&[("nowhere", "p/none")]), (false, false));
        assert!(error_for(&[("out", "../secret")]).0);
        assert!(error_for(&[("out", "../later")]).0);
        assert!(error_for(&[("abs", "/etc")]).0);
        // Each link is harmless on its own. Through the first link, the second one leaves the root.
        assert!(error_for(&[("out", "p/q/r/up/../secret"), ("p/q/r/up", "../../..")]).0);
    }
}
