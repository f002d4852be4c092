//! `formwork fmt`: formats configuration files in the canonical style, which the language crate
//! defines.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::ArgAction;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use formwork_core::config::ConfigFiles as _;
use formwork_core::config::files::{FilesOnDisk, into_unicode_name, is_editor_leftover};
use formwork_core::disk::{MAX_CONFIG_FILE_LEN, can_be_replaced_unnoticed, read_stdin};
use formwork_lang::format::format_source;
use formwork_lang::syntax::add_source;
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::human::{diagnostic, text_diff};
use crate::view::{Screen, print_data, print_err};

/// Rewrite configuration files in the canonical format.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-check -recursive",
    "Fail if a file in this directory or below is not in the canonical format."
))]
pub(crate) struct FmtArgs {
    /// Files and directories. Default: the working directory. A single `-` is standard input.
    #[arg(value_name = "PATH", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) paths: Vec<PathBuf>,
    /// Do not list files whose format differs.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) list: bool,
    /// Do not write the formatted source to the files.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) write: bool,
    /// Show a diff of the formatting changes.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) diff: bool,
    /// Do not write files. Exit with status 3 if a file is not in the canonical format.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) check: bool,
    /// Also process subdirectories.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) recursive: bool,
}

/// The suffixes of files that can be formatted.
const FORMATTED_FILE_SUFFIXES: [&str; 4] = [".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl"];

/// The name of standard input.
const STDIN_NAME: &str = "<stdin>";

/// Runs the command.
pub(super) fn run(args: &FmtArgs, env: &Env) -> Exit {
    let from_stdin = args.paths.first().is_some_and(|path| path == Path::new("-"));
    let mut formatter = Formatter {
        mode: FormatMode {
            list: args.list && !from_stdin,
            write: args.write && !from_stdin && !args.check,
            diff: args.diff,
            check: args.check,
            recursive: args.recursive,
        },
        sources: Sources::new(),
        diags: Diagnostics::new(),
        output: String::new(),
        changed: false,
    };
    if from_stdin {
        formatter.format_stdin();
    } else if args.paths.is_empty() {
        formatter.format_dir(Path::new("."));
    } else {
        // As in Terraform: arguments after a missing file are ignored.
        let _ = args.paths.iter().try_for_each(|path| formatter.format_named_path(path));
    }
    formatter.print_result(&Screen::of(env))
}

/// Requested treatment of the files found.
struct FormatMode {
    list: bool,
    write: bool,
    diff: bool,
    check: bool,
    recursive: bool,
}

struct Formatter {
    mode: FormatMode,
    sources: Sources,
    diags: Diagnostics,
    /// Output for stdout.
    output: String,
    changed: bool,
}

impl Formatter {
    /// Prints the results and returns the exit status.
    fn print_result(self, screen: &Screen) -> Exit {
        let failed = self.diags.has_errors();
        // `-check` is a statement about all files, so a partial list is not printed.
        if !(self.mode.check && (failed || !self.mode.list)) {
            print_data(&self.output);
        }
        if failed {
            let rendered =
                diagnostic::render_all_diagnostics(screen, &self.sources, &self.diags, false);
            print_err(&(rendered.warnings + &rendered.errors));
            Exit::CannotFormat
        } else if self.mode.check && self.changed {
            Exit::NotFormatted
        } else {
            Exit::Done
        }
    }

    fn format_stdin(&mut self) {
        match read_stdin(MAX_CONFIG_FILE_LEN) {
            // stdin is never written, so the path is not used.
            Ok(bytes) => {
                self.format_text(STDIN_NAME, Path::new(STDIN_NAME), bytes).unwrap_or_default();
            }
            Err(error) => {
                let _ = self.report_unreadable(STDIN_NAME, &error);
            }
        }
    }

    /// Formats a path that the user specified.
    fn format_named_path(&mut self, path: &Path) -> Result<(), Reported> {
        let path = display_path(path);
        let name = path.display().to_string();
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => self.format_dir(&path),
            Ok(_) if is_formatted_file(&name) => self.format_file(&path),
            Ok(_) => {
                let _ = self.diags.error(Diagnostic::error(
                    messages::UNSUPPORTED_FMT_FILE,
                    format!("`{name}` is not such a file. JSON files are not formatted."),
                ));
            }
            Err(error) => {
                return Err(self.diags.error(
                    Diagnostic::error(
                        messages::NO_FILE_OR_DIRECTORY_AT.with(&[&name]),
                        format!("`{name}` cannot be read: {error}."),
                    )
                    .blamed_on(Blame::Environment),
                ));
            }
        }
        Ok(())
    }

    /// Formats the files in a directory, in the order of their names.
    fn format_dir(&mut self, path: &Path) {
        let names = match file_names_in(path) {
            Ok(names) => names,
            Err(error) => {
                let _ = self.report_unreadable(&path.display().to_string(), &error);
                return;
            }
        };
        for name in names.iter().filter(|name| !is_editor_leftover(name)) {
            let inner = if path == Path::new(".") { PathBuf::from(name) } else { path.join(name) };
            // Links to directories are not followed: they may form a cycle.
            let is_dir = fs::symlink_metadata(&inner).is_ok_and(|metadata| metadata.is_dir());
            if is_dir && self.mode.recursive {
                self.format_dir(&inner);
            } else if !is_dir && is_formatted_file(name) {
                self.format_file(&inner);
            }
        }
    }

    fn format_file(&mut self, path: &Path) {
        let name = path.display().to_string();
        match FilesOnDisk.read(path) {
            // The errors were reported. The other files are formatted anyway.
            Ok(bytes) => self.format_text(&name, path, bytes).unwrap_or_default(),
            Err(error) => {
                let _ = self.report_unreadable(&name, &error);
            }
        }
    }

    fn format_text(&mut self, name: &str, path: &Path, bytes: Vec<u8>) -> Result<(), Reported> {
        let mut parse_diags = Diagnostics::new();
        let source = add_source(&mut parse_diags, &mut self.sources, name, bytes);
        let parsed = format_source(&mut parse_diags, &self.sources, source);
        self.diags.append(parse_diags)?;
        let (new, old) = (parsed?, self.sources.source_text(source));
        if new != *old {
            self.changed = true;
            if self.mode.list {
                self.output.push_str(&format!("{name}\n"));
            }
            if self.mode.write {
                rewrite_file(path, &new)
                    .map_err(|error| report_unwritable(&mut self.diags, name, &error))?;
            }
            if self.mode.diff {
                self.output.push_str(&text_diff::unified_diff(name, old, &new));
            }
        }
        let FormatMode { list, write, diff, check, .. } = self.mode;
        if !(list || write || diff || check) {
            self.output.push_str(&new);
            // The next output, another file or the shell prompt, begins on a new line.
            if !new.ends_with('\n') {
                self.output.push('\n');
            }
        }
        Ok(())
    }

    fn report_unreadable(&mut self, name: &str, error: &io::Error) -> Reported {
        let detail = format!("`{name}` cannot be read: {error}.");
        let diagnostic = Diagnostic::error(messages::FAILED_TO_READ_FILE, detail);
        self.diags.error(diagnostic.blamed_on(Blame::Environment))
    }
}

fn report_unwritable(diags: &mut Diagnostics, name: &str, error: &io::Error) -> Reported {
    let detail = format!("`{name}` cannot be written: {error}. The file is unchanged.");
    diags.error(
        Diagnostic::error(messages::FAILED_TO_WRITE_FILE, detail).blamed_on(Blame::Environment),
    )
}

fn is_formatted_file(name: &str) -> bool {
    FORMATTED_FILE_SUFFIXES.iter().any(|end| name.ends_with(end))
}

/// The file names in a directory, sorted.
fn file_names_in(path: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(path)? {
        names.extend(into_unicode_name(entry?.file_name())?);
    }
    Ok(names)
}

/// A path for display: normalized, and relative to the working directory if it is below it.
fn display_path(path: &Path) -> PathBuf {
    let current_dir = std::env::current_dir().ok();
    let relative_path = current_dir
        .and_then(|current_dir| path.strip_prefix(current_dir).ok().map(Path::to_path_buf));
    let path: PathBuf = relative_path.as_deref().unwrap_or(path).components().collect();
    let near: PathBuf = path.strip_prefix(".").unwrap_or(&path).components().collect();
    if near.as_os_str().is_empty() { PathBuf::from(".") } else { near }
}

/// Writes to a temporary file and renames it, so that the file is complete at any time. The mode is
/// preserved, and a link to the file remains a link. The file is written in place if a new file would differ
/// from it, because it belongs to another user or has several hard links.
fn rewrite_file(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    // A read-only file is not replaced, although the permissions of the directory would allow it.
    drop(fs::OpenOptions::new().write(true).open(&path)?);
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut temp_file = tempfile::NamedTempFile::new_in(directory)?;
    temp_file.write_all(text.as_bytes())?;
    temp_file.as_file().set_permissions(metadata.permissions())?;
    if !can_be_replaced_unnoticed(&metadata, &temp_file.as_file().metadata()?) {
        return fs::write(&path, text);
    }
    temp_file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_keeps_both() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (directory.path().join("one"), directory.path().join("other"));
        fs::write(&first, "a=1").unwrap();
        fs::hard_link(&first, &second).unwrap();
        rewrite_file(&first, "a = 1").unwrap();
        assert_eq!(fs::read_to_string(&second).unwrap(), "a = 1");
        fs::remove_file(&second).unwrap();
        rewrite_file(&first, "a = 2").unwrap();
        assert_eq!(fs::read_to_string(&first).unwrap(), "a = 2");
    }
}
