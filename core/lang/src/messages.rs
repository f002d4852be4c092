//! Messages that the language reports, with their codes, causes and remedies.

mod evaluation;
mod syntax;

pub use evaluation::*;
use formwork_value::diag::Catalogue;
pub use syntax::*;

/// The catalogues of the language.
pub const CATALOGUES: [&Catalogue; 2] = [&SYNTAX, &EVALUATION];
