//! Arguments that several commands share, and texts made of the parser's description: help texts,
//! manual pages, the command reference, candidates for completion.

mod complete;
mod help;
mod help_page;
mod manual;
mod reference;
mod shared;
mod state_edit;

pub(crate) use complete::{
    AUTOCOMPLETE_OPTIONS, CompletionNames, candidates, chdir_folder_of_line,
};
pub(crate) use help::{command_line_error, find_command, help_text};
pub(crate) use help_page::example;
pub(crate) use reference::{command_help, command_reference, manual_page, manual_pages};
pub(crate) use shared::{
    BackupPath, DEFAULT_PARALLELISM_ARG, InitArgs, LockArgs, OperationArgs, StateArgs, StatePaths,
    VariableArgs, VariableSource, ViewArgs, parse_parallelism, path_if_given, path_or_empty,
};
pub(crate) use state_edit::EditArgs;
