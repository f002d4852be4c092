//! Arguments of `fmt`.

use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::{OsStringValueParser, TypedValueParser as _};

/// Arguments of `fmt`.
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Files and folders; without any, this folder. A single `-` is standard input.
    #[arg(value_name = "PATH", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) paths: Vec<PathBuf>,
    /// Whether to list files whose layout is not the usual one.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) list: bool,
    /// Whether to write the new layout to the files.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) write: bool,
    /// Whether to show what changes.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) diff: bool,
    /// Write nothing, and end with 3 if the layout of a file is not the usual one.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) check: bool,
    /// Go into folders inside the given ones too.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) recursive: bool,
}
