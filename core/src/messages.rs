//! Messages that the engine reports, with their codes, causes and remedies.

mod applying;
mod blocks;
mod modules;
mod planning;
mod providers;
mod state;
mod test_files;
mod values;

pub use applying::*;
pub use blocks::*;
pub use formwork_lang::messages::*;
use formwork_value::diag::Catalogue;
pub use modules::*;
pub use planning::*;
pub use providers::*;
pub use state::*;
pub use test_files::*;
pub use values::*;

/// The catalogues of the engine, without those of the language.
pub const MESSAGE_CATALOGUES: [&Catalogue; 8] =
    [&BLOCKS, &MODULES, &VALUES, &PROVIDERS, &PLANNING, &APPLYING, &STATE, &TEST_FILES];
