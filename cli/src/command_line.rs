//! Arguments that several commands share, and output that is generated from the parser's description: help
//! texts, manual pages, the command reference and completion candidates.

mod complete;
mod help;
mod help_page;
mod manual;
mod reference;
mod shared_args;
mod state_edit;

pub(crate) use complete::{
    AUTOCOMPLETE_OPTIONS, CompletionNameKind, chdir_dir_of_line, completion_candidates,
};
pub(crate) use help::{command_line_error, find_command, help_text};
pub(crate) use help_page::example;
pub(crate) use reference::{command_help, command_reference, manual_page, manual_pages};
pub(crate) use shared_args::{
    BackupPath, DEFAULT_PARALLELISM_ARG, InitArgs, LockArgs, OperationArgs, StateArgs, StatePaths,
    VariableArgs, VariableSource, ViewArgs, parse_parallelism, path_if_given, path_or_empty,
};
pub(crate) use state_edit::EditArgs;
