//! The canonical format of configuration files: spaces, indentation, alignment, and the rewrite of some
//! legacy syntax.
//!
//! Works on tokens, not on the tree, so that nothing is lost, and everything that the format does not
//! define stays as written. The module has no file access.

mod line_layout;
mod spaced_token;
mod syntax_rewrites;
mod token_spacing;

use formwork_value::diag::{SourceId, Sources};
use formwork_value::{Diagnostics, Reported};

use crate::syntax::parse_file;

/// Returns a configuration file in the canonical format. The operation is idempotent.
///
/// # Errors
/// Returns an error if the source cannot be parsed: without a tree, insignificant white space cannot be
/// determined.
pub fn format_source(
    diags: &mut Diagnostics,
    sources: &Sources,
    source: SourceId,
) -> Result<String, Reported> {
    let mut parse_diags = Diagnostics::new();
    let body = parse_file(&mut parse_diags, sources, source);
    diags.append(parse_diags)?;
    let text = sources.source_text(source);
    let mut pieces =
        spaced_token::cut_spaced_tokens(text, &syntax_rewrites::find_rewrites(text, &body));
    line_layout::set_token_spaces(&mut pieces);
    Ok(spaced_token::join_spaced_tokens(&pieces))
}

#[cfg(test)]
mod tests;
